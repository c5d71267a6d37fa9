/**
 * What the host and the operator learn of a node that is behind, and what they do to a fleet.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { drain, EffectRefusedError, type Measurement } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../support/audit-reader.ts';
import { compactLog } from '../support/foreign-node.ts';
import { takeLines, type Line } from '../support/taken-line.ts';
import { limit, port } from '../support/transition.ts';
import { createWorld, outcome, snapshot, type Node, type World } from './node.ts';

type Drained = Parameters<typeof drain>[1];

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

describe('a gateway that does not follow', () => {
  it('is written to the log once, and once more when it follows', async () => {
    two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    for (const value of [7, 8]) {
      await one.admin.execute(limit(value));
      await world.clock.advance(100_000);
    }
    const written = (): readonly string[] => lines.map(([level, message]) => `${level} ${message}`);
    expect(written().filter((line) => line === 'error Error')).toHaveLength(1);
    expect(written()).not.toContain('info Change followed');
    two.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(100_000);
    const followed = lines.filter(([, message]) => message === 'Change followed');
    expect(followed).toEqual([['info', 'Change followed', { resource: '/services/My-Service' }]]);
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

it('a retry of the host asks the gateway at once', async () => {
  two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
  await one.admin.execute(limit(7));
  await world.clock.advance(130_000);
  const asked = two.gateway.applied.length;
  two.gateway.otherwise({ apply: 'done' });
  two.admin.fleet.retry();
  await world.clock.advance(10);
  expect([two.gateway.applied.length, two.admin.fleet.nodes()[0]?.behind]).toEqual([asked + 1, []]);
});

it('what clients do to the fleet is audited, and a node that was taken out leaves nothing behind', async () => {
  const records = readAudit(two.admin);
  const gone = await world.open('A-1', leaseMs);
  gone.gateway.will(hold().apply);
  void gone.admin.execute(limit(7)).catch(() => undefined);
  await world.clock.advance(2000);
  gone.cut(true);
  const forget = (name: string) => outcome(two, 'DELETE', `/fleet/${name}`);
  const alive = await forget('A-1');
  await world.clock.advance(leaseMs + 2000);
  const unknown = await forget('a-1');
  const planned = await forget('A-1?dry_run=true');
  expect(two.admin.fleet.nodes().map(({ node }) => node)).toContain('A-1');
  const answers = [alive, unknown, planned, await forget('A-1'), await forget('A-1')];
  expect(answers).toEqual(['409 node-alive', '404 node-not-found', '200', '204', '404 node-not-found']);
  await compactLog(world.memory.open(), snapshot);
  expect(JSON.stringify(await world.memory.open().load())).not.toContain('A-1');
  await outcome(two, 'POST', '/fleet/behind/retry');
  await world.clock.settle();
  expect(inShort(records)).toEqual([
    'nobody fleet.forget refused node-alive',
    'nobody fleet.forget refused node-not-found',
    'nobody fleet.forget accepted',
    'nobody fleet.forget refused node-not-found',
    'nobody fleet.retry unchanged',
  ]);
  expect(records[2]).toMatchObject({ route: { path: '/fleet/A-1' } });
});

it('the plan of a drain says that its numbers are those of one node', async () => {
  const { admin, gateway } = await world.open('three', leaseMs, { supports: ['drain'] });
  admin.report({ type: 'sessions.complete' });
  admin.report(gateway.openSession('My Service'));
  const detailsOf = (...[collection, name, how]: readonly [Drained, string, object]) => {
    const plan = admin.plan((from, context) => drain(from, collection, name, how, context));
    return plan.outcome === 'refused' ? [] : (plan.notes ?? []).map(({ detail }) => detail);
  };
  expect(detailsOf('services', 'My Service', { timeout: 60, then: 'close' })).toEqual([
    'What is left of My-Service is closed after 60 s. Now it has 1 session at this node.',
  ]);
  const [server] = admin.snapshot.servers;
  expect(detailsOf('servers', server?.name ?? '', {})).toContain(
    `${String(server?.name)} takes no new sessions. Now it has 0 connections at this node.`,
  );
  await admin.close();
});
