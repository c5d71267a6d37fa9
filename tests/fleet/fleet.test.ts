import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createUser,
  EffectRefusedError,
  hostProblem,
  patchServer,
  flushLogs,
  startService,
  stopService,
} from 'gateway-admin-core';
import type { Decision, Effect, GatewayPort, Transition, Veto } from 'gateway-admin-core';
import {
  createSharedMemory,
  openFleet,
  type OpenFleetOptions,
  type SharedStore,
} from 'gateway-admin-core/fleet';
import { createScriptedGateway, hold } from 'gateway-admin-core/testing';

import { appliedTo } from '../support/running-admin.ts';
import { limit } from '../support/transition.ts';
import { altered, createWorld, snapshot, type Node } from './node.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);

type Accepted = Extract<Decision, { readonly outcome: 'accepted' }>;

function serviceOf({ admin }: Node) {
  return admin.snapshot.services.find('my-service');
}

async function tagOf({ admin }: Node): Promise<string> {
  const handled = await admin.handle({ method: 'GET', target: '/services/My-Service', headers: {} });
  return handled.matched ? (handled.response.headers['etag'] ?? '') : '';
}

/** The part of an entity tag that `If-Match` compares. */
function commandPart(tag: string): string {
  return tag.split('.').slice(0, 2).join('.');
}

/** A promise that the test resolves. */
function signal() {
  let give = (): void => undefined;
  const promise = new Promise<void>((resolve) => (give = resolve));
  return { promise, give };
}

describe('two nodes', () => {
  it('follow each other', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    const execution = await a.admin.execute(stop);
    expect(execution.outcome).toBe('accepted');
    expect(serviceOf(b)?.state).toBe('started');
    await world.clock.advance(2000);
    expect(serviceOf(b)?.state).toBe('stopped');
    expect(appliedTo(b.gateway)).toEqual(['service.stop /services/My-Service']);
    expect((await b.admin.execute(limit(7))).outcome).toBe('accepted');
    await world.clock.advance(2000);
    expect(serviceOf(a)?.settings.max_connection).toBe(7);
    expect([a.errors, b.errors]).toEqual([[], []]);
    await a.admin.close();
    await b.admin.close();
  });

  it('have the same entity tags', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    await a.admin.execute(limit(7));
    await world.clock.advance(2000);
    const [tag, other] = [await tagOf(a), await tagOf(b)];
    expect(commandPart(other)).toBe(commandPart(tag));
    const patched = await b.admin.execute(limit(8), { ifMatch: { link: '/services/My-Service', etag: tag } });
    expect(patched.outcome).toBe('accepted');
    const late = await a.admin.execute(limit(9), { ifMatch: { link: '/services/My-Service', etag: tag } });
    expect(late).toMatchObject({ outcome: 'refused', problem: { code: 'precondition-failed' } });
    await a.admin.close();
    await b.admin.close();
  });

  it('accept a tag of the other node before they have read of the change', async () => {
    const world = createWorld({ losesHint: () => true });
    const [a, b] = [await world.open('a'), await world.open('b')];
    await a.admin.execute(limit(7));
    const tag = await tagOf(a);
    expect(serviceOf(b)?.settings.max_connection).toBe(100);
    const patching = b.admin.execute(limit(8), { ifMatch: { link: '/services/My-Service', etag: tag } });
    await world.clock.advance(3000);
    expect((await patching).outcome).toBe('accepted');
    const late = b.admin.execute(limit(9), { ifMatch: { link: '/services/My-Service', etag: tag } });
    await world.clock.advance(3000);
    expect(await late).toMatchObject({ problem: { code: 'precondition-failed' } });
    await a.admin.close();
    await b.admin.close();
  });

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

  it('do not both change a resource at once', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    const both = Promise.all([a.admin.execute(limit(7)), b.admin.execute(limit(8))]);
    await world.clock.advance(5000);
    expect((await both).map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
    await world.clock.advance(5000);
    expect(serviceOf(a)?.settings.max_connection).toBe(serviceOf(b)?.settings.max_connection);
    await a.admin.close();
    await b.admin.close();
  });

  it('decide a waiting command only when this gateway has followed, however many resources were read at once', async () => {
    // Without hints, a node reads once a second: all changes of the other node at once.
    const world = createWorld({ losesHint: () => true });
    const held = hold();
    const [a, b] = [await world.open('a'), await world.open('b')];
    const tag = await tagOf(b);
    a.gateway.will(held.apply);
    const first = a.admin.execute(limit(7));
    await world.clock.advance(2000);
    const late = b.admin.execute(limit(8), { ifMatch: { link: '/services/My-Service', etag: tag } });
    const other = await a.admin.execute((snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'add', path: '/parameters/weight', value: 2 }], context),
    );
    expect(other.outcome).toBe('accepted');
    held.done();
    await first;
    await world.clock.advance(2000);
    expect(await late).toMatchObject({ outcome: 'refused', problem: { code: 'precondition-failed' } });
    expect(serviceOf(b)?.settings.max_connection).toBe(7);
    await a.admin.close();
    await b.admin.close();
  });

  it('create a user once', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    const create: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'eve', passwordHash: 'x' }, context);
    const both = Promise.all([a.admin.execute(create), b.admin.execute(create)]);
    await world.clock.advance(5000);
    expect((await both).map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'refused']);
    expect(b.admin.snapshot.users.find('eve')).toBeDefined();
    await a.admin.close();
    await b.admin.close();
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

  it('may leave the first compaction without an answer: the start fails', async () => {
    const world = createWorld();
    const compact = (): Promise<never> => new Promise(() => undefined);
    const opening = world.open('a', 10_000, { wrap: (store) => altered(store, { compact }) });
    opening.catch(() => undefined);
    await world.clock.advance(40_000);
    await expect(opening).rejects.toThrow('did not answer compact() within 30000 ms');
  });

  it('may refuse announcements: the host is told once, and again after they worked', async () => {
    const world = createWorld();
    let isMute = false;
    const a = await world.open('a', 10_000, {
      wrap: (store) =>
        altered(store, {
          announce: (node, status) =>
            isMute ? Promise.reject(new Error('permission denied')) : store.announce(node, status),
        }),
    });
    for (const round of [1, 2]) {
      isMute = true;
      await world.clock.advance(30_000);
      expect(a.errors).toHaveLength(round);
      isMute = false;
      await world.clock.advance(5000);
    }
    expect(a.errors[0]).toMatchObject({
      message: expect.stringContaining('cannot announce itself there') as unknown,
      cause: { message: 'permission denied' },
    });
    a.cut(true);
    await world.clock.advance(30_000);
    expect(a.errors.slice(2).map(String)).toEqual(['Error: The line is cut']);
    a.cut(false);
    await a.admin.close();
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
  it('goes on with the configuration and the tags of the fleet after a restart', async () => {
    const world = createWorld();
    const a = await world.open('a');
    await a.admin.execute(limit(7));
    const tag = await tagOf(a);
    await a.admin.close();
    const again = await world.open('a');
    expect(serviceOf(again)?.settings.max_connection).toBe(7);
    expect(commandPart(await tagOf(again))).toBe(commandPart(tag));
    expect(await tagOf(again)).not.toBe(tag);
    await again.admin.close();
  });

  it('closes while the store is out of reach', async () => {
    const world = createWorld();
    const a = await world.open('a');
    a.cut(true);
    await world.clock.advance(5000);
    let isClosed = false;
    const closing = a.admin.close().then(() => (isClosed = true));
    await world.clock.advance(20_000);
    expect(isClosed).toBe(true);
    await closing;
  });

  it('is refused under a name that is in use', async () => {
    const world = createWorld();
    const a = await world.open('a');
    const other = world.open('a');
    other.catch(() => undefined);
    await world.clock.advance(3000);
    await expect(other).rejects.toThrow('Another process runs the node "a" of this fleet.');
    await a.admin.close();
  });

  it('answers a command with an unmet condition when the store fails meanwhile', async () => {
    const world = createWorld();
    const a = await world.open('a');
    a.cut(true);
    const ifMatch = { link: '/services/My-Service', etag: '"elsewhere.1.1"' };
    const patching = a.admin.execute(limit(7), { ifMatch });
    await world.clock.advance(1000);
    a.cut(false);
    expect(await patching).toMatchObject({ problem: { code: 'store-unavailable' } });
    await world.clock.advance(10_000);
    expect(await a.admin.execute(limit(7), { ifMatch })).toMatchObject({
      problem: { code: 'precondition-failed' },
    });
    await a.admin.close();
  });

  it('says where its gateway does not follow, and why, and waits with commands there', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await a.admin.execute(limit(7));
    await world.clock.advance(3000);
    const [behind] = b.admin.fleet.nodes()[0]?.behind ?? [];
    expect(behind).toMatchObject({ resource: '/services/My-Service', code: 'effect-refused' });
    expect(a.admin.fleet.nodes()[1]?.behind).toEqual([behind]);
    const waiting = b.admin.execute(stop);
    await world.clock.advance(15_000);
    expect(await waiting).toMatchObject({ outcome: 'refused', problem: { code: 'node-behind' } });
    // By level: what is taken back is never asked for.
    const asked = b.gateway.applied.length;
    b.gateway.otherwise({ apply: 'done' });
    await a.admin.execute(limit(100));
    await world.clock.advance(3000);
    expect(b.admin.fleet.nodes()[0]?.behind).toEqual([]);
    expect(b.gateway.applied.length).toBe(asked);
    expect((await b.admin.execute(stop)).outcome).toBe('accepted');
    await a.admin.close();
    await b.admin.close();
  });

  it('that is silent in the middle of a command loses it after the lease, and takes back what it did', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a', 3000), await world.open('b', 3000)];
    a.gateway.will(held.apply);
    const lost = a.admin.execute(limit(7));
    await world.clock.settle();
    a.cut(true);
    const waiting = b.admin.execute(limit(8));
    await world.clock.advance(2000);
    expect(serviceOf(b)?.settings.max_connection).toBe(100);
    await world.clock.advance(3000);
    expect((await waiting).outcome).toBe('accepted');
    a.cut(false);
    held.done();
    await world.clock.advance(20_000);
    expect(await lost).toMatchObject({
      problem: { code: expect.stringMatching(/fenced|outcome-unknown/) as unknown },
    });
    expect(serviceOf(a)?.settings.max_connection).toBe(8);
    expect(a.gateway.differences(a.admin.snapshot)).toEqual([]);
    expect((await a.admin.execute(limit(9))).outcome).toBe('accepted');
    await a.admin.close();
    await b.admin.close();
  });

  it('that has read the end of its command before its gateway is done answers that it was fenced', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a', 3000), await world.open('b', 3000)];
    a.gateway.will(held.apply);
    const lost = a.admin.execute(limit(7));
    await world.clock.settle();
    a.cut(true);
    await world.clock.advance(5000);
    a.cut(false);
    await world.clock.advance(4000);
    held.done();
    await world.clock.advance(5000);
    const detail =
      'The other nodes of the fleet took this one for dead and have ended the command. What this node did is being taken ' +
      'back. Look at the state, and send the command again.';
    expect(await lost).toMatchObject({ outcome: 'refused', problem: { code: 'fenced', detail } });
    expect([a, b].map((node) => serviceOf(node)?.settings.max_connection)).toEqual([100, 100]);
    expect(a.gateway.differences(a.admin.snapshot)).toEqual([]);
    expect((await a.admin.execute(limit(9))).outcome).toBe('accepted');
    await a.admin.close();
    await b.admin.close();
  });

  it('refuses commands while the store is out of reach, and goes on by itself', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.cut(true);
    await world.clock.advance(2000);
    expect(await a.admin.execute(stop)).toMatchObject({ problem: { code: 'store-unavailable' } });
    await b.admin.execute(stop);
    a.cut(false);
    await world.clock.advance(10_000);
    expect(serviceOf(a)?.state).toBe('stopped');
    expect((await a.admin.execute(limit(7))).outcome).toBe('accepted');
    await a.admin.close();
    await b.admin.close();
  });

  it('follows a store that was set back, and says so', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    await a.admin.execute(limit(7));
    await world.clock.advance(2000);
    const restore = world.memory.backup();
    await a.admin.execute(limit(8));
    await b.admin.execute(stop);
    await world.clock.advance(2000);
    restore();
    await world.clock.advance(3000);
    for (const node of [a, b]) {
      expect(serviceOf(node)).toMatchObject({ state: 'started', settings: { max_connection: 7 } });
      expect(node.gateway.differences(node.admin.snapshot)).toEqual([]);
      expect(node.errors.map(String)).toEqual([expect.stringContaining('has gone back')]);
    }
    await a.admin.close();
    await b.admin.close();
  });

  it('finds out about its commands of an earlier life', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.gateway.will(held.apply);
    void a.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.settle();
    // The process dies: nothing of it reaches the store any more.
    a.cut(true);
    await world.clock.advance(20_000);
    expect((await b.admin.execute(stop)).outcome).toBe('accepted');
    const opening = world.open('a');
    await world.clock.advance(5000);
    const again = await opening;
    expect(serviceOf(again)).toMatchObject({ state: 'stopped', settings: { max_connection: 100 } });
    expect((await again.admin.execute(limit(9))).outcome).toBe('accepted');
    await again.admin.close();
    await b.admin.close();
  });

  it('does not ask again about the part of a command that an earlier life has settled', async () => {
    const world = createWorld();
    const before = await world.open('a', 10_000, {
      wrap: (store) =>
        altered(store, {
          append: async (records, where) => {
            const position = await store.append(records, where);
            // The process dies between two parts: the next record does not reach the store.
            if (records.some((record) => (record as { last?: boolean }).last === false)) before.cut(true);
            return position;
          },
        }),
    });
    const after = before.admin.fleet.position;
    // A decision that the host has built: an irreversible effect in the middle ends the first part.
    const inParts: Transition = (snapshot, context) => {
      const first = limit(7)(snapshot, context);
      const second = flushLogs(first.next, context);
      const all = [first, second, stop(second.next, context)].filter(
        ({ outcome }) => outcome === 'accepted',
      ) as Accepted[];
      return {
        outcome: 'accepted',
        next: all.at(-1)?.next ?? snapshot,
        events: all.flatMap(({ events }) => events),
        effects: all.flatMap(({ effects }) => effects),
        resources: all.flatMap(({ resources }) => resources),
      };
    };
    void before.admin.execute(inParts).catch(() => undefined);
    await world.clock.advance(20_000);
    const a = await world.clock.waitFor(world.open('a'));
    expect(serviceOf(a)).toMatchObject({ state: 'started', settings: { max_connection: 7 } });
    expect(a.gateway.calls).toEqual([]);
    const types: string[] = [];
    for await (const step of a.admin.fleet.history({ after })) {
      if ('records' in step)
        types.push(...step.records.map(({ type, events }) => `${type} ${String(events.length)}`));
      if (step.position === a.admin.fleet.position) break;
    }
    expect(types).toEqual(['intent 1', 'settlement 1', 'settlement 0']);
    await a.admin.close();
  });

  it('does not open if the store does not keep what became of its commands of an earlier life', async () => {
    const world = createWorld();
    const before = await world.open('a');
    before.gateway.will(hold().apply);
    void before.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.settle();
    before.cut(true);
    await world.clock.advance(20_000);
    const append = (): Promise<never> => Promise.reject(new Error('The disk is full'));
    const opening = world.open('a', 10_000, { wrap: (store) => altered(store, { append }) });
    await expect(world.clock.waitFor(opening)).rejects.toThrow('The disk is full');
    const a = await world.clock.waitFor(world.open('a'));
    expect((await a.admin.execute(limit(8))).outcome).toBe('accepted');
    await a.admin.close();
  });

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

  it('closes while the store is out of reach', async () => {
    const world = createWorld();
    const a = await world.open('a');
    a.cut(true);
    await world.clock.advance(5000);
    let isClosed = false;
    void a.admin.close().then(() => (isClosed = true));
    await world.clock.advance(1000);
    expect(isClosed).toBe(true);
  });
});
