/**
 * How a client learns how far the other nodes have come.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRefusedError } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { limit } from '../support/transition.ts';
import { createWorld, limitsAt, send, type Node, type World } from './node.ts';

let world: World;
let one: Node;
let other: Node;

beforeEach(async () => {
  world = createWorld();
  [one, other] = [await world.open('one'), await world.open('other')];
});

afterEach(async () => {
  await one.admin.close();
  await other.admin.close();
});

const stop = { method: 'PUT', target: '/service/My-Service/stop' };

describe('an answer of a node', () => {
  // Promise: fleet-node-named
  it.each([
    ['a list', 'GET', '/sessions', 200],
    ['a refusal', 'DELETE', '/sessions/7', 404],
    ['a command', 'PUT', '/service/My-Service/stop', 204],
    ['a method that is not allowed', 'PUT', '/services', 405],
  ])('has the name of the node: %s', async (_what, method, target, status) => {
    const answer = await world.clock.waitFor(send(one, { method, target }));
    expect(answer).toMatchObject({ status, headers: { 'fleet-node': 'one' } });
  });

  it('has the place of an accepted command in the log, or else the end of the log', async () => {
    const next = other.admin.events().next();
    const { status, headers } = await send(one, stop);
    const position = headers['fleet-position'];
    expect([status, position]).toEqual([204, one.admin.fleet.position]);
    await world.clock.advance(2000);
    expect(await next).toMatchObject({ value: { event: { fleet: { position, node: 'one' } } } });
    await other.admin.execute(limit(7));
    const { headers: later } = await send(one, stop);
    expect(later['fleet-position']).not.toBe(position);
    expect(later['fleet-position']).toBe(one.admin.fleet.position);
    expect(one.admin.fleet.position).toBe(other.admin.fleet.position);
  });
});

describe('a client that prefers to wait', () => {
  it.each([
    ...[
      'wait',
      'wait=',
      'wait=-1',
      'wait=soon',
      'waits=5',
      'x; wait=5',
      'wait=5x',
      '',
      'wait=5.5',
      'wait="5',
    ],
    ...['wait=5"', 'wait; a=b, wait=5', 'wait=soon, wait=5', 'foo="a, wait=5"', 'foo="a, wait=5'],
    String.raw`foo="\", wait=5"`,
  ])('is answered at once if the preference is %j', async (prefer) => {
    const { status, headers } = await send(one, { ...stop, headers: { prefer } });
    expect(status).toBe(204);
    expect(headers).not.toHaveProperty('preference-applied');
  });

  it.each([
    ['WAIT = "3"; a="b, c", wait=5', '3'],
    ['wait=99999999999999999999', '60'],
  ])('is answered in time if the preference is %j', async (prefer, seconds) => {
    const { headers } = await world.clock.waitFor(send(one, { ...stop, headers: { prefer } }));
    expect(headers['preference-applied']).toBe(`wait=${seconds}`);
  });

  it('and leaves is not waited for any longer', async () => {
    other.cut(true);
    const left = new AbortController();
    const handling = send(one, { ...stop, headers: { prefer: 'wait=60' }, signal: left.signal });
    await world.clock.advance(100);
    left.abort();
    // The clock stands still: only the signal can end the wait.
    expect(await handling).toMatchObject({ status: 204, headers: { 'fleet-waiting': 'other' } });
    other.cut(false);
  });
});

describe('execute', () => {
  it('can wait for the other nodes, and says where and why one could not follow', async () => {
    const how = { settle: 'fleet', waitMs: 5000 } as const;
    expect(await world.clock.waitFor(one.admin.execute(limit(7), how))).toMatchObject({
      outcome: 'accepted',
      nodes: [
        { node: 'one', outcome: 'applied', behind: [] },
        { node: 'other', outcome: 'applied', behind: [] },
      ],
    });
    expect(limitsAt([other])).toEqual([7]);
    other.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    const { nodes } = await world.clock.waitFor(one.admin.execute(limit(8), { settle: 'fleet' }));
    const behind = [{ resource: '/services/My-Service', code: 'effect-refused' }];
    expect(nodes?.[1]).toMatchObject({ node: 'other', outcome: 'behind', behind });
  });

  it.each(['while its own gateway is asked', 'while the others follow'])(
    'waits no longer when its signal aborts %s',
    async (when) => {
      await world.clock.advance(2000);
      const [own, others] = [hold(), hold()];
      one.gateway.will(own.apply);
      other.gateway.will(others.apply);
      const leave = new AbortController();
      const how = { settle: 'fleet', waitMs: 60_000, signal: leave.signal } as const;
      const patching = one.admin.execute(limit(7), how);
      await world.clock.settle();
      if (when === 'while the others follow') own.done();
      await world.clock.advance(1000);
      leave.abort();
      own.done();
      const { outcome, nodes } = await patching;
      expect([outcome, nodes?.[1]?.outcome]).toEqual(['accepted', 'waiting']);
      await world.clock.settle();
      others.done();
    },
  );

  it.each([
    [{ settle: 'all' }, "The option settle must be 'fleet', or left out to wait for this node alone"],
    [{ waitMs: -1 }, 'The option waitMs must be a whole number of milliseconds, from 0 on'],
    [{ wait: 1 }, /wait/],
    [null, 'The options of a command must be an object'],
    [5, 'The options of a command must be an object'],
  ])('refuses the options %j', async (options, message) => {
    await expect(one.admin.execute(limit(7), options as object)).rejects.toThrow(message);
  });
});

it('the first user of a fleet is created once', async () => {
  const execution = await one.admin.createFirstUser({ name: 'eve', password: 'correct horse battery' });
  expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'user-exists' } });
});
