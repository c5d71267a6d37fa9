import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  EffectRefusedError,
  hostProblem,
  patchServer,
  startService,
  stopService,
} from 'gateway-admin-core';
import type { Effect, GatewayPort, Transition, Veto } from 'gateway-admin-core';
import { createSharedMemory, openFleet, type OpenFleetOptions } from 'gateway-admin-core/fleet';
import { createScriptedGateway, hold } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { limit } from '../support/transition.ts';
import { createWorld, limitsAt, send, snapshot, type Node } from './node.ts';

const stop: Transition = (from, context) => stopService(from, 'My Service', context);
const start: Transition = (from, context) => startService(from, 'My Service', context);

function stateAt({ admin }: Pick<Node, 'admin'>): string | undefined {
  return admin.snapshot.services.find('my-service')?.state;
}

/** A promise that the test resolves. */
function signal() {
  let give = (): void => undefined;
  const promise = new Promise<void>((resolve) => (give = resolve));
  return { promise, give };
}

describe('two nodes', () => {
  it('never say that a tag of the other node is old, however short an outage is', async () => {
    const outcomes = new Set<string>();
    for (let turns = 0; turns < 30; turns += 1) {
      const world = createWorld({ losesHint: () => true });
      const [answered, late] = [signal(), signal()];
      let isHeld = false;
      const a = await world.open('a');
      const b = await world.open('b', undefined, {
        limits: { storeDeadlineMs: 500 },
        wrap: (store) =>
          altered(store, {
            read: async (after) => {
              if (isHeld) await answered.promise;
              return store.read(after);
            },
          }),
        clock: {
          ...world.clock,
          sleep: (ms, aborted) => (isHeld && ms === 500 ? late.promise : world.clock.sleep(ms, aborted)),
        },
      });
      await a.admin.execute(limit(7));
      isHeld = true;
      const { headers } = await send(a, { target: '/services/My-Service' });
      const ifMatch = { link: '/services/My-Service', etag: headers['etag'] ?? '' };
      const patching = b.admin.execute(limit(8), { ifMatch });
      await world.clock.settle();
      // The store answers, and the deadline ends some microtasks later: before or after the journal gets the answer.
      answered.give();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      late.give();
      isHeld = false;
      await world.clock.advance(5000);
      const execution = await patching;
      outcomes.add(execution.outcome === 'refused' ? execution.problem.code : execution.outcome);
    }
    expect([...outcomes].sort()).toEqual(['accepted', 'store-unavailable']);
  });

  it('decide a command of a host on the last change of its resources, in any spelling of the names', async () => {
    const world = createWorld();
    const [one, other] = [await world.open('one'), await world.open('other')];
    const held = hold();
    one.gateway.will(held.apply);
    const first = one.admin.execute(limit(7));
    await world.clock.advance(100);
    const seen: (number | undefined)[] = [];
    const second = other.admin.execute((from, context) => {
      seen.push(from.services.find('My Service')?.settings.max_connection);
      const decision = limit(8)(from, context);
      return decision.outcome === 'accepted'
        ? { ...decision, resources: ['/services/MY-SERVICE'] }
        : decision;
    });
    await world.clock.advance(1000);
    held.done();
    await world.clock.advance(5000);
    expect([(await first).outcome, (await second).outcome]).toEqual(['accepted', 'accepted']);
    expect([limitsAt([one, other]), seen.at(-1)]).toEqual([[8, 8], 7]);
  });
});

describe('a node that follows', () => {
  it('does not ask the rule of its host again, nor wait for its audit records', async () => {
    const world = createWorld();
    const notAda = { status: 409, title: 'Not Ada', detail: 'Only Ada may do that.' } as const;
    const veto: Veto = (_decision, { actor }) =>
      actor === 'ada' ? undefined : hostProblem('host-not-ada', notAda);
    const sink = {
      append: () => Promise.reject(new Error('The disk is full')),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const a = await world.open('a', 10_000, { veto });
    const b = await world.open('b', 10_000, { veto, observe: { audit: { required: true, sink } } });
    const unkept = b.admin.execute(stop, { actor: 'ada' });
    await world.clock.advance(60_000);
    await unkept;
    expect(await b.admin.execute(limit(8), { actor: 'ada' })).toMatchObject({
      problem: { code: 'audit-unavailable' },
    });
    expect((await a.admin.execute(limit(7), { actor: 'ada' })).outcome).toBe('accepted');
    await world.clock.advance(1000);
    expect(limitsAt([b])).toEqual([7]);
    expect(await a.admin.execute(limit(9))).toMatchObject({ problem: { code: 'host-not-ada' } });
  });

  it('never says that it has followed because it closes', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a'), await world.open('b')];
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await a.admin.execute(limit(7));
    await world.clock.advance(2000);
    b.gateway.will(held.apply);
    const last = b.admin.execute((from, context) =>
      patchServer(from, 'db-serv-1', [{ op: 'replace', path: '/port', value: 7007 }], context),
    );
    await world.clock.settle();
    const closing = b.admin.close();
    await world.clock.advance(3000);
    const behind = [{ resource: '/services/My-Service' }];
    expect(a.admin.fleet.nodes()).toMatchObject([{ node: 'a' }, { node: 'b', behind }]);
    held.done();
    await Promise.all([last, closing]);
  });
});

describe('openFleet', () => {
  it.each([
    [{ node: 'a?' }, 'The option node must be the name of this node: 1 to 64 letters'],
    [{ node: undefined }, 'The option node must be the name of this node'],
    [{ leaseMs: 2999 }, 'The option leaseMs must be a whole number from 3000 on'],
    [{ leaseMs: 1000.5 }, 'The option leaseMs must be a whole number'],
    [{ store: createMemoryStore() }, 'The option store must have the function read: openFleet needs'],
    [{ lease: 1 }, 'lease'],
  ])('refuses %j', async (change, message) => {
    const gateway = createScriptedGateway({ snapshot });
    const options = { snapshot, gateway, node: 'a', store: createSharedMemory().open(), ...change };
    await expect(openFleet(options as OpenFleetOptions)).rejects.toThrow(message);
  });
});

describe('forget', () => {
  it('ends nothing of the node that is asked', async () => {
    const one = await createWorld().open('one');
    await expect(one.admin.fleet.forget('one')).rejects.toThrow('A node cannot forget itself: close it');
    expect((await one.admin.execute(limit(7))).outcome).toBe('accepted');
    for (const name of [undefined, null, 5, {}, '', 'a?', 'ä', 'x'.repeat(65)])
      await expect(one.admin.fleet.forget(name as string)).rejects.toThrow('forget takes the name of a node');
  });

  it('rejects with an Error after the end of its node, whatever the store has thrown', async () => {
    const world = createWorld();
    let isDown = false;
    const down = 'down' as unknown as Error;
    const one = await world.open('one', 10_000, {
      wrap: (store) =>
        altered(store, {
          read: (after) => (isDown ? Promise.reject(down) : store.read(after)),
          announce: (...given) => (isDown ? Promise.resolve(new Map()) : store.announce(...given)),
        }),
    });
    await world.open('other');
    isDown = true;
    await world.clock.advance(2000);
    await one.admin.close();
    const error = expect.objectContaining({ name: 'Error', cause: 'down' }) as unknown as Error;
    await expect(one.admin.fleet.forget('other')).rejects.toThrow(error);
  });
});

describe('a node', () => {
  it('starts a service that has failed at this node alone: the fleet gets a new revision all the same', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    const { revision } = a.admin.fleet.snapshot;
    expect((await a.admin.execute(start)).outcome).toBe('accepted');
    expect(stateAt(a)).toBe('started');
    await world.clock.advance(2000);
    expect(a.admin.fleet.snapshot.revision).toBeGreaterThan(revision);
    expect(b.admin.fleet.snapshot.revision).toBe(a.admin.fleet.snapshot.revision);
    expect([a.errors, b.errors]).toEqual([[], []]);
  });

  it('has a gateway as the fleet has it before its host opens what the interface shows', async () => {
    const world = createWorld();
    const a = await world.open('a');
    await world.open('b');
    a.gateway.will(hold().apply);
    void a.admin.execute(stop).catch(() => undefined);
    await world.clock.settle();
    a.cut(true);
    await world.clock.advance(20_000);
    // The gateway has outlived the interface, and has done what the fleet took back meanwhile.
    const asked: string[] = [];
    const apply = async ({ type }: Effect): Promise<void> => Promise.resolve(void asked.push(type));
    const gateway: GatewayPort = { apply, inspect: async () => Promise.resolve('not-in-place') };
    const store = world.memory.open();
    const opening = openFleet({
      ...{ node: 'a', gateway, store, snapshot: a.admin.snapshot, clock: world.clock },
    });
    const opened = opening.then((admin) => [stateAt({ admin }), ...asked]);
    await world.clock.advance(5000);
    expect(await opened).toEqual(['started', 'service.start']);
    expect(asked).toEqual(['service.start']);
    const again = await opening;
    expect(stateAt({ admin: again })).toBe('started');
  });
});
