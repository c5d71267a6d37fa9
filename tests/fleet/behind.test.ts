/**
 * A node that is behind: the operator learns of it, and can let the node try again. What a node shows of the others.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRefusedError, type Measurement } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../support/audit-reader.ts';
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

describe('a retry', () => {
  it('of the host asks the gateway at once', async () => {
    two.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await one.admin.execute(limit(7));
    await world.clock.advance(130_000);
    const asked = two.gateway.applied.length;
    two.gateway.otherwise({ apply: 'done' });
    two.admin.fleet.retry();
    await world.clock.advance(10);
    expect([two.gateway.applied.length, two.admin.fleet.nodes()[0]?.behind]).toEqual([asked + 1, []]);
  });

  it('of a client is audited', async () => {
    const records = readAudit(two.admin);
    await two.admin.handle({ method: 'POST', target: '/fleet/behind/retry', headers: {} });
    await world.clock.settle();
    expect(inShort(records)).toEqual(['nobody fleet.retry unchanged']);
  });
});
