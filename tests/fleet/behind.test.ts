/**
 * A node that is behind: the operator learns of it, and can let the node try again. What a node shows of the others.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRefusedError, type Measurement } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../support/audit-reader.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { takeLines, type Line } from '../support/taken-line.ts';
import { limit, port } from '../support/transition.ts';
import { createWorld, type Node, type World } from './node.ts';

const leaseMs = 3000;
let world: World;
let one: Node;
let two: Node;
let lines: readonly Line[];
let behind: number[];

beforeEach(async () => {
  const taken = takeLines();
  lines = taken.lines;
  behind = [];
  world = createWorld();
  one = await world.open('one', leaseMs);
  two = await world.open('two', leaseMs, {
    observe: {
      logger: taken.logger,
      onMeasurement: ({ name, value }: Measurement) => {
        if (name === 'gateway_admin_fleet_behind') behind.push(value);
      },
    },
  });
  await world.clock.advance(100);
});

afterEach(async () => {
  for (const { admin } of [one, two]) await admin.close();
});

/** How often the gateway of the second node was asked. */
const asked = (): number => two.gateway.applied.length;

/** Sends `POST /fleet/behind/retry`. Gives the status, with the outcome of a plan or the code of a problem. */
async function retry({ admin }: Pick<Running, 'admin'>, query = ''): Promise<string> {
  const target = `/fleet/behind/retry${query}`;
  const handled = await admin.handle({ method: 'POST', target, headers: {} });
  if (!handled.matched) throw new Error('No route');
  const { status, body = '{}' } = handled.response;
  const { code, outcome = code } = JSON.parse(body as string) as { code?: string; outcome?: string };
  return outcome === undefined ? String(status) : `${String(status)} ${outcome}`;
}

describe('a gateway that does not follow', () => {
  it.each([
    ['refuses', new EffectRefusedError('No room.'), 'The gateway refused: No room.', 100],
    ['does not say', hold().apply, 'The gateway did not say in time', 25_000],
  ])('and %s goes to onError once, with what to do, and to the log again when it follows', async (...row) => {
    const [, answer, reason, ms] = row;
    two.gateway.otherwise({ apply: answer, inspect: () => new Promise(() => undefined) });
    await one.admin.execute(limit(7));
    await world.clock.advance(ms);
    const ofResource = two.errors.map(String).filter((text) => text.includes('has not followed'));
    expect(ofResource).toEqual([
      expect.stringMatching(
        `/services/My-Service that another node has made. ${reason}.*POST /fleet/behind/retry`,
      ),
    ]);
    expect(lines.filter(([level, message]) => level === 'error' && message === 'Error')).toHaveLength(
      two.errors.length,
    );
    await one.admin.execute(limit(8));
    await world.clock.advance(100_000);
    expect(two.errors.filter((error) => String(error).includes('has not followed'))).toHaveLength(1);
    expect(lines.some(([, message]) => message === 'Change followed')).toBe(false);
    two.gateway.otherwise({ apply: 'done', inspect: 'in-place' });
    await world.clock.advance(100_000);
    const followed = lines.filter(([, message]) => message === 'Change followed');
    expect(followed).toEqual([['info', 'Change followed', { resource: '/services/My-Service' }]]);
    expect(one.errors).toEqual([]);
  });

  it('is told anew for each resource, and after the node has followed', async () => {
    const refusal = new EffectRefusedError('No room.');
    two.gateway.otherwise({ apply: refusal });
    await one.admin.execute(limit(7));
    await one.admin.execute(port(7007));
    await world.clock.advance(100);
    expect(two.errors.map((error) => /\/s[^ ]+/.exec(String(error))?.[0])).toEqual([
      '/services/My-Service',
      '/servers/db-serv-1',
    ]);
    two.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(2000);
    two.gateway.otherwise({ apply: refusal });
    await one.admin.execute(limit(9));
    await world.clock.advance(100);
    expect(two.errors).toHaveLength(3);
    two.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(2000);
  });

  it('is not told while the gateway is asked for the first time', async () => {
    const held = hold();
    two.gateway.will(held.apply);
    await one.admin.execute(limit(7));
    await world.clock.advance(5000);
    expect(behind.at(-1)).toBe(1);
    held.done();
    await world.clock.advance(100);
    expect([two.errors, lines.some(([, message]) => message === 'Change followed')]).toEqual([[], false]);
  });

  it('is measured: the number of resources, when it changes', async () => {
    two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await one.admin.execute(limit(7));
    await world.clock.advance(100);
    await one.admin.execute(port(7007));
    await world.clock.advance(3000);
    expect(behind).toEqual([0, 1, 2]);
    two.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(10_000);
    expect(behind.slice(3)).toEqual([1, 0]);
  });
});

describe('POST /fleet/behind/retry', () => {
  it.each([
    ['a client', async () => expect(await retry(two)).toBe('204')],
    [
      'the host',
      () => {
        two.admin.fleet.retry();
        return Promise.resolve();
      },
    ],
  ])('asks the gateway at once, for %s', async (_who, ask) => {
    two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await one.admin.execute(limit(7));
    await world.clock.advance(130_000);
    const before = asked();
    expect(await retry(two, '?dry_run=true')).toBe('200 accepted');
    await world.clock.advance(10);
    expect(asked()).toBe(before);
    two.gateway.otherwise({ apply: 'done' });
    await ask();
    await world.clock.advance(10);
    expect([asked(), two.admin.fleet.nodes()[0]?.behind]).toEqual([before + 1, []]);
  });

  it('has nothing to do at a node that is in step, and outside a fleet no fleet', async () => {
    const records = readAudit(two.admin);
    expect(await retry(two, '?dry_run=true')).toBe('200 unchanged');
    expect([await retry(two), asked()]).toEqual(['204', 0]);
    await world.clock.settle();
    expect(inShort(records)).toEqual(['nobody fleet.retry unchanged']);
    expect(await retry(runAdmin())).toBe('404 node-not-found');
  });
});

describe('the list of nodes', () => {
  function seenAt({ admin }: Node): readonly unknown[] {
    return admin.fleet.nodes().map(({ node, alive, seen }) => [node, alive, seen]);
  }

  it('says when each node was last heard, and that one is silent after the lease', async () => {
    two.cut(true);
    await world.clock.advance(1500);
    expect(seenAt(one)).toEqual([
      ['one', true, 0],
      ['two', true, 1],
    ]);
    await world.clock.advance(8000);
    expect(seenAt(one)).toEqual([
      ['one', true, 0],
      ['two', false, 9],
    ]);
    two.cut(false);
    await world.clock.advance(10_000);
    expect(seenAt(one)).toEqual([
      ['one', true, 0],
      ['two', true, 0],
    ]);
  });

  it('takes no node for alive that a node has not heard, because the node itself is cut off', async () => {
    two.cut(true);
    await world.clock.advance(60_000);
    expect(seenAt(two)).toEqual([
      ['two', true, 0],
      ['one', false, 60],
    ]);
    // No command of a node ends because of that.
    const held = hold();
    one.gateway.will(held.apply);
    const execution = one.admin.execute(limit(7));
    await world.clock.advance(100);
    two.cut(false);
    await world.clock.advance(6000);
    held.done();
    expect((await execution).outcome).toBe('accepted');
    await world.clock.advance(1000);
    expect(seenAt(two)[1]).toEqual(['one', true, 0]);
  });
});
