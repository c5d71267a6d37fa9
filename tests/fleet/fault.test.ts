/**
 * Faults of a fleet that a simulation has found, each in the smallest fleet that shows it.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createResource,
  createSnapshot,
  createUser,
  EffectRefusedError,
  flushLogs,
  HostError,
  patchService,
  sequence,
  stopService,
  toDocument,
  type Clock,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import type { FleetStep, SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { Members } from '../../src/fleet/members.ts';
import { level } from '../../src/fleet/shared-history.ts';
import { guardClock, type GuardedClock } from '../../src/runtime/host/guard.ts';
import { limit, port } from '../support/transition.ts';
import { altered, compact, createWorld, storedIn, type Node, type World } from './node.ts';

const stop: Transition = (state, context) => stopService(state, 'My Service', context);

function limitsOf(nodes: readonly Node[]): readonly (number | undefined)[] {
  return nodes.flatMap(({ admin }) =>
    [admin.snapshot, admin.fleet.snapshot].map(
      ({ services }) => services.find('my-service')?.settings.max_connection,
    ),
  );
}

/** The command number of the entity tag of the service. */
function commandNumberIn({ services }: Snapshot): number | undefined {
  return services.find('my-service')?.version.command;
}

/** A store that answers `announce` only if it may. */
function announcing(store: SharedStore, announce: SharedStore['announce']): SharedStore {
  return altered(store, { announce });
}

async function abandonedIn(world: World): Promise<number> {
  return (await storedIn(world)).abandoned.length;
}

async function closeAll(nodes: readonly Node[]): Promise<void> {
  for (const { admin } of nodes) await admin.close();
}

describe('a command that waits for two nodes', () => {
  it('is decided on what both have done', async () => {
    const world = createWorld({ losesHint: () => true });
    const [held, other] = [hold(), hold()];
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a, b] = nodes;
    a.gateway.will(held.apply, other.apply);
    const first = Promise.all([a.admin.execute(limit(7)), a.admin.execute(port(7007))]);
    await world.clock.advance(1500);
    const later = Promise.all([b.admin.execute(limit(8)), b.admin.execute(port(8008))]);
    await world.clock.settle();
    held.done();
    other.done();
    await world.clock.advance(5000);
    expect((await first).map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
    expect(await later).toMatchObject([
      { events: [{ before: { max_connection: 7 }, after: { max_connection: 8 } }] },
      { events: [{ before: { port: 7007 }, after: { port: 8008 } }] },
    ]);
    await closeAll(nodes);
  });
});

describe('what belongs to one node', () => {
  it('is not followed by the others', async () => {
    const world = createWorld();
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a, b] = nodes;
    const execution = await a.admin.execute(sequence(stop, flushLogs));
    expect(execution.outcome).toBe('accepted');
    await world.clock.advance(3000);
    expect(b.admin.fleet.nodes()[0]?.behind).toEqual([]);
    await closeAll(nodes);
  });
});

describe('a node that closes', () => {
  it('is heard until its last command has ended', async () => {
    const world = createWorld();
    const held = hold();
    const nodes = [await world.open('a', 3000), await world.open('b', 3000)] as const;
    const [a, b] = nodes;
    a.gateway.will(held.apply);
    const last = a.admin.execute(limit(7));
    await world.clock.settle();
    const closed = a.admin.close();
    await world.clock.advance(6000);
    held.done();
    await closed;
    expect((await last).outcome).toBe('accepted');
    await world.clock.advance(2000);
    expect(limitsOf([b])).toEqual([7, 7]);
    await closeAll(nodes);
  });
});

/** A clock as a node has it. */
function guarded(clock: Clock): GuardedClock {
  return guardClock(clock, () => undefined);
}

/** What a node says of itself. */
const status = {
  ...{ boot: 'x', version: '1', leaseMs: 10_000, position: '', applied: '', behind: [], drains: [] },
  levels: [level, level] as [number, number],
};

describe('a node of which the store knows nothing', () => {
  it('is silent from the first question on', async () => {
    const world = createWorld();
    const clock = guarded(world.clock);
    const members = new Members({ store: world.memory.open(), node: 'a', clock, deadlineMs: 1000 });
    await members.announce(status, 1000);
    expect(members.silenceOf('b')).toBe(0);
    await members.announce(status, 1000);
    expect(members.silenceOf('b')).toBe(1000);
  });
});

describe('the silence of a node', () => {
  /** The members as node a sees them, with what node b has said last. */
  async function heard() {
    const world = createWorld();
    const { memory } = world;
    const clock = { ...world.clock };
    const line = { isCut: false };
    const store = memory.open();
    const announce: SharedStore['announce'] = (node, said) =>
      line.isCut ? Promise.reject(new Error('The line is cut')) : store.announce(node, said);
    const options = { store: { announce }, node: 'a', clock: guarded(clock), deadlineMs: 1000 };
    const members = new Members(options);
    await store.announce('b', { ...status, beat: 1 });
    await members.announce(status, 1000);
    /** A beat some time after the last announcement, before which this node could hear for some time. */
    const beat = async (passedMs: number, elapsedMs = passedMs): Promise<void> => {
      await clock.advance(passedMs);
      await members.announce(status, elapsedMs);
    };
    return { members, store, line, clock, beat };
  }

  it('begins when the node was heard last, also between two beats', async () => {
    const { members, store, beat } = await heard();
    await store.announce('b', { ...status, beat: 2 });
    await beat(900, 0);
    await beat(100, 1000);
    expect(members.silenceOf('b')).toBe(100);
    await beat(1000);
    await beat(300, 0);
    expect(members.silenceOf('b')).toBe(1100);
  });

  it.each([
    ['goes back', -3_600_000],
    ['fails', NaN],
  ])('is counted by the beats if the clock %s', async (_what, now) => {
    const { members, clock, beat } = await heard();
    clock.monotonic = () => now;
    await beat(1000);
    await beat(1000);
    expect(members.silenceOf('b')).toBe(2000);
  });

  it('counts anew after every failed call: in an outage, nobody can be heard', async () => {
    const { members, line, beat } = await heard();
    await beat(9000);
    expect([members.silenceOf('b'), members.silenceOf('c')]).toEqual([9000, 0]);
    await beat(1000);
    expect([members.silenceOf('b'), members.silenceOf('c')]).toEqual([10_000, 1000]);
    line.isCut = true;
    await expect(members.announce(status, 1000)).rejects.toThrow('The line is cut');
    line.isCut = false;
    await members.announce(status, 0);
    expect([members.silenceOf('b'), members.silenceOf('c')]).toEqual([0, 0]);
  });

  it('is over when the node says something that this version cannot read', async () => {
    const { members, store, beat } = await heard();
    await beat(20_000);
    expect(members.silenceOf('b')).toBe(20_000);
    await store.announce('b', { beats: 'of a later version' });
    await beat(1000);
    await beat(20_000);
    expect(members.silenceOf('b')).toBe(0);
  });
});

describe('a call of announce that never ends', () => {
  it('does not make a node silent', async () => {
    const world = createWorld();
    let calls = 0;
    const nodes = [
      await world.open('a', 4000, {
        wrap: (store) =>
          announcing(store, (node, status) => {
            calls += 1;
            return calls === 5 ? new Promise(() => undefined) : store.announce(node, status);
          }),
      }),
      await world.open('b', 4000),
    ] as const;
    for (let second = 0; second < 10; second += 1) {
      await world.clock.advance(1000);
      expect(nodes[1].admin.fleet.nodes().every(({ alive }) => alive)).toBe(true);
    }
    expect(calls).toBeGreaterThan(6);
    await closeAll(nodes);
  });
});

describe('a store that was set back', () => {
  it('takes commands on what others had changed', async () => {
    const world = createWorld();
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a, b] = nodes;
    const restore = world.memory.backup();
    for (const value of [7, 8]) await a.admin.execute(limit(value));
    await world.clock.advance(2000);
    restore();
    await world.clock.advance(3000);
    expect((await b.admin.execute(limit(9))).outcome).toBe('accepted');
    await world.clock.advance(2000);
    expect(limitsOf(nodes)).toEqual([9, 9, 9, 9]);
    await closeAll(nodes);
  });

  it('to before the end of a command ends the command again', async () => {
    const world = createWorld();
    const held = hold();
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a, b] = nodes;
    a.gateway.will(held.apply);
    const lost = a.admin.execute(limit(7));
    await world.clock.settle();
    const restore = world.memory.backup();
    held.done();
    await lost;
    await world.clock.advance(2000);
    restore();
    await world.clock.advance(3000);
    expect(limitsOf(nodes)).toEqual([100, 100, 100, 100]);
    expect((await b.admin.execute(limit(9))).outcome).toBe('accepted');
    await closeAll(nodes);
  });

  const db = { name: 'db-9', address: '10.0.0.9', port: 5432, protocol: 'pgbackend' };
  const createAndList = sequence(
    (snapshot, context) => createResource(snapshot, 'servers', db, context),
    (snapshot, context) =>
      patchService(
        snapshot,
        'My Service',
        [{ op: 'add', path: '/servers/-', value: '/servers/db-9' }],
        context,
      ),
  );

  it('to before the way back of a command does not let its node say that nothing was changed', async () => {
    const world = createWorld();
    const listing = hold();
    let restore = (): void => undefined;
    const setBackAtTheEnd = (store: SharedStore): SharedStore =>
      altered(store, {
        append: (...how) => {
          const [[record]] = how as unknown as [readonly [{ readonly last?: boolean }]];
          if (record.last === true) {
            restore();
            restore = () => undefined;
          }
          return store.append(...how);
        },
      });
    const a = await world.open('a', 10_000, { wrap: setBackAtTheEnd });
    a.gateway.will('done', listing.apply);
    const refused = a.admin.execute(createAndList);
    await listing.begun;
    const back = world.memory.backup();
    await world.clock.settle();
    a.gateway.will('done');
    listing.fail(new EffectRefusedError('No room.'));
    restore = back;
    await world.clock.advance(5000);
    expect(await refused).toMatchObject({ outcome: 'refused', problem: { code: 'fenced' } });
    expect(a.admin.fleet.snapshot.servers.find('db-9')).toBeDefined();
    expect(a.gateway.differences(a.admin.snapshot)).toEqual([]);
    await closeAll([a]);
  });

  it('to before a part of a command fences the command', async () => {
    const world = createWorld();
    const [creating, listing] = [hold(), hold()];
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a] = nodes;
    a.gateway.will(creating.apply, listing.apply);
    const lost = a.admin.execute(createAndList);
    await creating.begun;
    const restore = world.memory.backup();
    creating.done();
    await listing.begun;
    restore();
    await world.clock.advance(2000);
    listing.done();
    expect(await lost).toMatchObject({ outcome: 'refused', problem: { code: 'fenced' } });
    await world.clock.advance(5000);
    for (const { admin, gateway } of nodes) {
      expect(() => createSnapshot(toDocument(admin.snapshot))).not.toThrow();
      expect(gateway.differences(admin.snapshot)).toEqual([]);
    }
    await closeAll(nodes);
  });

  it('to before the begin of a command fences the command', async () => {
    const world = createWorld();
    const held = hold();
    const nodes = [await world.open('a'), await world.open('b')] as const;
    const [a] = nodes;
    const restore = world.memory.backup();
    a.gateway.will(held.apply);
    const lost = a.admin.execute(limit(7));
    await world.clock.settle();
    restore();
    await world.clock.advance(2000);
    held.done();
    expect(await lost).toMatchObject({ problem: { code: 'fenced' } });
    await world.clock.advance(3000);
    expect(limitsOf(nodes)).toEqual([100, 100, 100, 100]);
    expect(a.gateway.differences(a.admin.snapshot)).toEqual([]);
    await closeAll(nodes);
  });
});

describe('a node that is not heard while it reads', () => {
  /** A fleet in which the others end the command of a, and a hears of that before its gateway answers. */
  async function endedByOthers() {
    const world = createWorld();
    const held = hold();
    let isMute = false;
    const mute = (store: SharedStore): SharedStore =>
      announcing(store, (node, status) =>
        isMute ? Promise.reject(new Error('Nobody hears this')) : store.announce(node, status),
      );
    const nodes = [await world.open('a', 3000, { wrap: mute }), await world.open('b', 3000)] as const;
    await world.clock.advance(2000);
    nodes[0].gateway.will(held.apply);
    const lost = nodes[0].admin.execute(limit(7));
    await world.clock.settle();
    isMute = true;
    await world.clock.advance(6000);
    expect(await abandonedIn(world)).toBe(1);
    isMute = false;
    return { world, held, lost, nodes };
  }

  it('never takes what others have ended for accepted', async () => {
    const { world, held, lost, nodes } = await endedByOthers();
    held.done();
    expect(await lost).toMatchObject({ problem: { code: 'fenced' } });
    await world.clock.advance(3000);
    expect(limitsOf(nodes)).toEqual([100, 100, 100, 100]);
    expect(nodes[0].gateway.differences(nodes[0].admin.snapshot)).toEqual([]);
    expect(await abandonedIn(world)).toBe(0);
    await closeAll(nodes);
  });
});

describe('a command whose intent the store has kept without an answer', () => {
  it('leaves the list of its node when the node has heard that others have ended it', async () => {
    const world = createWorld();
    let loses = false;
    const lossy = (store: SharedStore): SharedStore => ({
      ...announcing(store, (node, status) => store.announce(node, status)),
      async append(records, options) {
        const position = await store.append(records, options);
        if (loses) throw new Error('The answer was lost');
        return position;
      },
    });
    const nodes = [await world.open('a', 3000, { wrap: lossy }), await world.open('b', 3000)] as const;
    const [a] = nodes;
    await world.clock.advance(2000);
    loses = true;
    expect(await a.admin.execute(limit(7))).toMatchObject({ problem: { code: 'store-unavailable' } });
    a.cut(true);
    loses = false;
    await world.clock.advance(6000);
    expect(await abandonedIn(world)).toBe(1);
    a.cut(false);
    await world.clock.advance(10_000);
    expect(await abandonedIn(world)).toBe(0);
    expect(a.gateway.applied).toEqual([]);
    await closeAll(nodes);
  });
});

describe('a change that the store has kept without an answer', () => {
  type StoredRecord = Readonly<Record<string, unknown>>;

  /**
   * A store that loses the answer to the append that is asked for. Others then do something, and compact the log.
   */
  function losing(
    world: World,
    isAsked: (first: StoredRecord | undefined, others: readonly StoredRecord[]) => boolean,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ) {
    let isLost = false;
    return (store: SharedStore): SharedStore =>
      altered(store, {
        async append(records, options) {
          const [first, ...others] = records as unknown as readonly StoredRecord[];
          if (isLost || !isAsked(first, others)) return store.append(records, options);
          isLost = true;
          await store.append(records, options);
          await meanwhile();
          await compact(world);
          throw new Error('The answer was lost');
        },
      });
  }

  const server = (name: string): Transition => {
    const definition = { name, protocol: 'pg', address: '10.0.0.9', port: 5432 };
    return (state, context) => createResource(state, 'servers', definition, context);
  };

  it('is accepted, also if the log is compacted before the node can read it', async () => {
    const world = createWorld();
    const a = await world.open('a', 10_000, {
      wrap: losing(world, (first) => first?.['type'] === 'settlement'),
    });
    const creating = a.admin.execute((state, context) =>
      createUser(state, { name: 'eve', passwordHash: 'x' }, context),
    );
    await world.clock.advance(5000);
    expect((await creating).outcome).toBe('accepted');
    expect(a.admin.snapshot.users.find('eve')).toBeDefined();
    await closeAll([a]);
  });

  it('is accepted as a whole, if it was the first part of several', async () => {
    const world = createWorld();
    const a = await world.open('a', 10_000, { wrap: losing(world, (first) => first?.['last'] === false) });
    const creating = a.admin.execute(sequence(server('db-8'), server('db-9')));
    await world.clock.advance(5000);
    expect(await creating).toMatchObject({
      outcome: 'accepted',
      events: [{ resource: '/servers/db-8' }, { resource: '/servers/db-9' }],
    });
    await closeAll([a]);
  });

  // The first part of the other command is in no state any more, and counts all the same.
  it('has the entity tag that it had in the log, although others forgot the node and changed it again', async () => {
    const world = createWorld();
    const b = await world.open('b');
    let inLog: number | undefined;
    const wrap = losing(
      world,
      (first, others) => first?.['last'] === false && others.length > 0,
      async () => {
        inLog = commandNumberIn((await storedIn(world)).snapshot);
        await b.admin.fleet.forget('a');
        await b.admin.execute(limit(8));
      },
    );
    const a = await world.open('a', 10_000, { wrap });
    void a.admin.execute(sequence(server('db-8'), server('db-9')));
    const patching = a.admin.execute(limit(7));
    await world.clock.advance(5000);
    const patched = await patching;
    expect('snapshot' in patched && commandNumberIn(patched.snapshot)).toBe(inLog);
    expect(a.errors.map(String).filter((error) => error.includes('gone back'))).toEqual([]);
    await closeAll([a, b]);
  });
});

describe('a node that is forgotten', () => {
  it('has no commands any more, neither open ones nor those that others have ended', async () => {
    const world = createWorld();
    const nodes = [await world.open('a', 3000), await world.open('b', 3000), await world.open('c')] as const;
    const [a, b, c] = nodes;
    a.gateway.will(hold().apply);
    void a.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.settle();
    a.cut(true);
    await world.clock.advance(6000);
    expect(await abandonedIn(world)).toBe(1);
    c.gateway.will(hold().apply);
    void c.admin.execute(port(7007)).catch(() => undefined);
    await world.clock.settle();
    c.cut(true);
    const after = b.admin.fleet.position;
    await Promise.all([b.admin.fleet.forget('a'), b.admin.fleet.forget('c')]);
    const { open, abandoned } = await storedIn(world);
    expect([open, abandoned]).toEqual([[], []]);
    expect((await b.admin.execute(port(8008))).outcome).toBe('accepted');
    const first = await b.admin.fleet.history({ after }).next();
    const { records } = first.value as FleetStep;
    expect(records.map(({ node, why }) => [node, why])).toEqual([['a', 'forgotten']]);
    await world.clock.advance(60_000);
    await closeAll([b]);
  });

  it('is forgotten although another node appends at the same moment', async () => {
    const world = createWorld({ losesHint: () => true });
    const nodes = [await world.open('a', 3000), await world.open('b', 3000), await world.open('c')] as const;
    const [a, b, c] = nodes;
    a.gateway.will(hold().apply);
    void a.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.advance(2000);
    a.cut(true);
    await c.admin.execute(port(7007));
    await b.admin.fleet.forget('a');
    expect((await storedIn(world)).open).toEqual([]);
    await world.clock.advance(60_000);
    await closeAll([b, c]);
  });
});

describe('a command that two nodes end', () => {
  it('is abandoned, also if the other node forgets this one at the same moment', async () => {
    const world = createWorld({ losesHint: () => true });
    const held = hold();
    const [a, b] = [await world.open('a'), await world.open('b')];
    a.gateway.will(held.apply).otherwise({ inspect: 'not-in-place' });
    const stuck = a.admin.execute(limit(7));
    await world.clock.advance(a.admin.limits.effectDeadlineMs);
    expect((await stuck).outcome).toBe('unknown');
    const [{ id } = { id: '' }] = a.admin.commands();
    // The node that is asked to abandon the command has not read yet that it was forgotten.
    await b.admin.fleet.forget('a');
    expect(await a.admin.abandon(id)).toMatchObject({ outcome: 'accepted', events: [] });
    expect(a.admin.commands()).toEqual([]);
    a.gateway.otherwise({});
    await world.clock.advance(5000);
    expect((await a.admin.execute(limit(8))).outcome).toBe('accepted');
    expect(a.errors.filter((error) => !(error instanceof HostError))).toEqual([]);
    await closeAll([a, b]);
  });

  it('stays on the list of its node', async () => {
    const world = createWorld();
    const held = hold();
    const [a, b] = [await world.open('a', 3000), await world.open('b', 3000)];
    a.gateway.will(held.apply);
    void a.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.settle();
    a.cut(true);
    await world.clock.advance(6000);
    const store = world.memory.open();
    const { position, records } = await store.load();
    const end = records.find((record) => JSON.stringify(record).includes('abandoned'));
    await store.append([end ?? null], { expectedPosition: position });
    expect(await abandonedIn(world)).toBe(1);
    held.done();
    a.cut(false);
    await world.clock.advance(10_000);
    await closeAll([a, b]);
  });
});
