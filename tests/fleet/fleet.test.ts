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
import {
  createSharedMemory,
  openFleet,
  type OpenFleetOptions,
  type SharedStore,
} from 'gateway-admin-core/fleet';
import { createScriptedGateway, hold } from 'gateway-admin-core/testing';

import { limit } from '../support/transition.ts';
import { altered, createWorld, snapshot, type Node } from './node.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);

function serviceOf({ admin }: Node) {
  return admin.snapshot.services.find('my-service');
}

async function tagOf({ admin }: Node): Promise<string> {
  const handled = await admin.handle({ method: 'GET', target: '/services/My-Service', headers: {} });
  return handled.matched ? (handled.response.headers['etag'] ?? '') : '';
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
      const read = async (store: SharedStore, after: string) => {
        if (isHeld) await answered.promise;
        return store.read(after);
      };
      const a = await world.open('a');
      const b = await world.open('b', undefined, {
        limits: { storeDeadlineMs: 500 },
        wrap: (store) => altered(store, { read: (after) => read(store, after) }),
        clock: {
          ...world.clock,
          sleep: (ms, aborted) => (isHeld && ms === 500 ? late.promise : world.clock.sleep(ms, aborted)),
        },
      });
      await a.admin.execute(limit(7));
      isHeld = true;
      const ifMatch = { link: '/services/My-Service', etag: await tagOf(a) };
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
      await a.admin.close();
      await b.admin.close();
    }
    expect([...outcomes].sort()).toEqual(['accepted', 'store-unavailable']);
  });
});

describe('a node that follows', () => {
  it('does not ask the rule of its host again, nor wait for its audit records', async () => {
    const world = createWorld();
    const veto: Veto = (_decision, { actor }) =>
      actor === 'ada'
        ? undefined
        : hostProblem('host-not-ada', { status: 409, title: 'Not Ada', detail: 'Only Ada may do that.' });
    const failing = { append: () => Promise.reject(new Error('The disk is full')) };
    const a = await world.open('a', 10_000, { veto });
    const b = await world.open('b', 10_000, {
      veto,
      observe: {
        audit: { required: true, sink: { ...failing, [Symbol.asyncDispose]: () => Promise.resolve() } },
      },
    });
    const unkept = b.admin.execute(stop, { actor: 'ada' });
    await world.clock.advance(60_000);
    await unkept;
    expect(await b.admin.execute(limit(8), { actor: 'ada' })).toMatchObject({
      problem: { code: 'audit-unavailable' },
    });
    expect((await a.admin.execute(limit(7), { actor: 'ada' })).outcome).toBe('accepted');
    await world.clock.advance(1000);
    expect(serviceOf(b)?.settings.max_connection).toBe(7);
    expect(await a.admin.execute(limit(9))).toMatchObject({ problem: { code: 'host-not-ada' } });
    const closing = Promise.all([a.admin.close(), b.admin.close()]);
    await world.clock.advance(60_000);
    await closing;
  });

  it('never says that it has followed because it closes', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a'), await world.open('b')];
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await a.admin.execute(limit(7));
    await world.clock.advance(2000);
    b.gateway.will(held.apply);
    const last = b.admin.execute((snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value: 7007 }], context),
    );
    await world.clock.settle();
    const closing = b.admin.close();
    await world.clock.advance(3000);
    expect(a.admin.fleet.nodes()[1]).toMatchObject({
      node: 'b',
      behind: [{ resource: '/services/My-Service' }],
    });
    held.done();
    await last;
    await closing;
    await a.admin.close();
  });
});

describe('a store that does little more than its port asks for', () => {
  it('may throw at once when it has no hints', async () => {
    const world = createWorld();
    const changed = (): never => {
      throw new Error('There are no hints');
    };
    const a = await world.open('a', 10_000, { wrap: (store) => altered(store, { changed }) });
    const b = await world.open('b');
    await b.admin.execute(stop);
    await world.clock.advance(2000);
    expect(serviceOf(a)?.state).toBe('stopped');
    await a.admin.close();
    await b.admin.close();
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

describe('a node', () => {
  it('starts a service that has failed at this node alone: the fleet gets a new revision all the same', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    const { revision } = a.admin.fleet.snapshot;
    expect((await a.admin.execute(start)).outcome).toBe('accepted');
    expect(serviceOf(a)?.state).toBe('started');
    await world.clock.advance(2000);
    expect(a.admin.fleet.snapshot.revision).toBeGreaterThan(revision);
    expect(b.admin.fleet.snapshot.revision).toBe(a.admin.fleet.snapshot.revision);
    expect([a.errors, b.errors]).toEqual([[], []]);
    await a.admin.close();
    await b.admin.close();
  });

  it('asks its gateway for nothing before its host can open what the interface shows', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.gateway.will(hold().apply);
    void a.admin.execute(stop).catch(() => undefined);
    await world.clock.settle();
    a.cut(true);
    await world.clock.advance(20_000);
    // The gateway has outlived the interface, and has done what the fleet took back meanwhile.
    const asked: string[] = [];
    const apply = async ({ type }: Effect): Promise<void> => Promise.resolve(void asked.push(type));
    const gateway: GatewayPort = { apply, inspect: async () => Promise.resolve('in-place') };
    const opening = openFleet({
      ...{ node: 'a', gateway, store: world.memory.open(), snapshot: a.admin.snapshot, clock: world.clock },
    });
    const opened = opening.then((admin) => [admin.snapshot.services.find('my-service')?.state, ...asked]);
    await world.clock.advance(5000);
    expect(await opened).toEqual(['stopped']);
    expect(asked).toEqual(['service.start']);
    const again = await opening;
    expect(again.snapshot.services.find('my-service')?.state).toBe('started');
    await again.close();
    await b.admin.close();
  });
});
