/**
 * The log of a fleet: its history, its levels, the key and the agreement of its nodes.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createSecretSealer,
  createSnapshot,
  deleteUser,
  EffectRefusedError,
  stopService,
  StoreLostError,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import {
  createSharedMemory,
  openFleet,
  type FleetGap,
  type FleetRecord,
  type FleetStep,
  type SharedStore,
} from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { level, levelRecord, restoreShared } from '../../src/fleet/shared-history.ts';
import { limit } from '../support/transition.ts';
import { altered, createWorld, sealerOf, snapshot, type Node, type World } from './node.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

async function close(...nodes: readonly Node[]): Promise<void> {
  for (const { admin } of nodes) await admin.close();
}

/** The records of the history behind a position, up to the present end. */
async function historyOf({ admin }: Node, after: string): Promise<readonly FleetRecord[]> {
  const records: FleetRecord[] = [];
  if (after === admin.fleet.position) return records;
  for await (const step of admin.fleet.history({ after })) {
    if ('records' in step) records.push(...step.records);
    if (step.position === admin.fleet.position) break;
  }
  return records;
}

describe('the history of a fleet', () => {
  it('is the same at every node, and can be read on at another node', async () => {
    const world = createWorld();
    const [one, other] = [await world.open('one'), await world.open('other')];
    const start = one.admin.fleet.position;
    await one.admin.execute(limit(7), { actor: 'ada' });
    const middle = one.admin.fleet.position;
    await world.clock.advance(2000);
    await other.admin.execute(stop);
    await world.clock.advance(2000);
    const whole = await historyOf(one, start);
    expect(whole.map(({ type, node, events }) => [type, node, events[0]?.type])).toEqual([
      ['intent', 'one', 'service.updated'],
      ['settlement', 'one', 'service.updated'],
      ['intent', 'other', 'service.stopped'],
      ['settlement', 'other', 'service.stopped'],
    ]);
    expect(whole[1]?.events[0]).toMatchObject({ actor: 'ada', before: { max_connection: 100 } });
    expect(await historyOf(other, start)).toEqual(whole);
    expect(await historyOf(other, middle)).toEqual(whole.slice(2));
    await close(one, other);
  });

  it('has what was tried and refused', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const start = one.admin.fleet.position;
    one.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await one.admin.execute(limit(7));
    await world.clock.settle();
    const [intent, settlement] = await historyOf(one, start);
    expect(intent).toMatchObject({ type: 'intent', resources: ['/services/My-Service'] });
    expect(settlement).toMatchObject({ type: 'settlement', command: intent?.command, events: [] });
    await close(one);
  });

  it('is followed as it happens, until the signal aborts', async () => {
    const world = createWorld();
    const [one, other] = [await world.open('one'), await world.open('other')];
    const leave = new AbortController();
    const seen: (FleetStep | FleetGap)[] = [];
    const reading = (async () => {
      for await (const step of other.admin.fleet.history({ signal: leave.signal })) seen.push(step);
    })();
    await world.clock.settle();
    await one.admin.execute(limit(7));
    await world.clock.advance(2000);
    expect(seen.at(-1)?.position).toBe(one.admin.fleet.position);
    leave.abort();
    await reading;
    await close(one, other);
  });

  it('gives no further step once its signal aborts', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const after = one.admin.fleet.position;
    await one.admin.execute(limit(7));
    const leave = new AbortController();
    const history = one.admin.fleet.history({ after, signal: leave.signal });
    expect(await history.next()).toMatchObject({ value: { records: [{ type: 'intent' }] } });
    leave.abort();
    expect(await history.next()).toEqual({ done: true, value: undefined });
    await close(one);
  });

  it('ends when its node closes', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const reading = one.admin.fleet.history().next();
    await world.clock.settle();
    await close(one);
    expect(await reading).toEqual({ done: true, value: undefined });
  });

  it('ends in an outage of the store when the signal aborts, and when the node closes', async () => {
    const world = createWorld();
    const one = await world.open('one');
    one.cut(true);
    await world.clock.advance(2000);
    const leave = new AbortController();
    const { fleet } = one.admin;
    const [left, closed] = [fleet.history({ signal: leave.signal }).next(), fleet.history().next()];
    await world.clock.settle();
    leave.abort();
    expect(await left).toEqual({ done: true, value: undefined });
    await close(one);
    expect(await closed).toEqual({ done: true, value: undefined });
  });

  it('says where steps are missing', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const { value } = (await one.admin.fleet.history({ after: '99.lost' }).next()) as {
      readonly value: FleetGap;
    };
    expect(value).toEqual({ gap: true, position: one.admin.fleet.position });
    await close(one);
  });

  it('says once that the store was set back, however long the node takes to find out', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const restore = world.memory.backup();
    await one.admin.execute(limit(7));
    const reading = one.admin.fleet.history();
    one.cut(true);
    restore();
    one.cut(false);
    expect(await world.clock.waitFor(reading.next())).toMatchObject({ value: { gap: true } });
    const second = { isThere: false };
    const next = reading.next().finally(() => (second.isThere = true));
    await world.clock.settle();
    expect(second.isThere).toBe(false);
    await close(one);
    await next;
  });

  it('waits, without reading again and again, if it is ahead of its node', async () => {
    const world = createWorld();
    let reads = 0;
    let isBehind = false;
    const slow = (store: SharedStore): SharedStore =>
      Object.assign(Object.create(store) as SharedStore, {
        durable: false,
        load: () => store.load(),
        append: store.append.bind(store),
        compact: store.compact.bind(store),
        announce: store.announce.bind(store),
        changed: () => new Promise<void>(() => undefined),
        read: (after: string) => {
          if (isBehind) reads += 1;
          return store.read(after);
        },
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      });
    const [one, other] = [await world.open('one'), await world.open('other', 10_000, { wrap: slow })];
    const { position } = other.admin.fleet;
    await world.clock.advance(500);
    await one.admin.execute(limit(7));
    isBehind = true;
    const reading = other.admin.fleet.history({ after: position });
    while (!(await reading.next()).done && reads < 1);
    const last = reading.next();
    await world.clock.settle();
    expect(reads).toBeLessThan(5);
    isBehind = false;
    await close(one, other);
    await last;
  });

  it('ends with its signal, also while the store does not answer', async () => {
    const world = createWorld();
    const one = await world.open('one');
    one.cut(true);
    await world.clock.advance(5000);
    const leave = new AbortController();
    const reading = one.admin.fleet.history({ after: 'x', signal: leave.signal }).next();
    await world.clock.settle();
    leave.abort();
    expect(await reading).toEqual({ done: true, value: undefined });
    one.cut(false);
    await close(one);
  });

  it.each([null, 5, { after: 5 }, { after: null }, { signal: 5 }, { afterr: '1' }])(
    'takes no options such as %j',
    async (options) => {
      const world = createWorld();
      const one = await world.open('one');
      expect(() => one.admin.fleet.history(options as object)).toThrow(TypeError);
      await close(one);
    },
  );
});

describe('the records of a command', () => {
  it('name the principal, for those who read the log as a table', async () => {
    const world = createWorld();
    const one = await world.open('one');
    await one.admin.execute(limit(7), { actor: 'ada' });
    await one.admin.execute(limit(8));
    const { records } = await world.memory.open().load();
    expect(records.map((record) => (record as { readonly actor?: string }).actor)).toEqual([
      'ada',
      'ada',
      undefined,
      undefined,
    ]);
    await close(one);
  });
});

describe('a log that has grown over many short lives', () => {
  it('is compacted', async () => {
    const world = createWorld();
    await close(await world.open('one'));
    const store = world.memory.open();
    const { position } = await store.load();
    const end = { level, node: 'one', life: 'x', resources: [], type: 'settlement', events: [], last: true };
    const records = Array.from({ length: 10_000 }, (_none, index) => ({
      ...end,
      command: `c-${String(index)}`,
    }));
    await store.append(records, { expectedPosition: position });
    const one = await world.open('one');
    await one.admin.execute(limit(7));
    await world.clock.settle();
    expect((await store.load()).records.length).toBeLessThan(10);
    await close(one);
    expect(one.errors).toEqual([]);
  });
});

describe('a store that was set back', () => {
  it('leads to other revisions than before, also with the same commands in another order', async () => {
    const world = createWorld();
    const one = await world.open('one');
    await one.admin.execute(limit(7));
    await one.admin.execute((snapshot, context) => deleteUser(snapshot, 'ada', context));
    const { records, ...rest } = await world.memory.open().load();
    const [intent, settlement, deletion] = records;
    expect(records).toHaveLength(3);
    const orders = [records, [deletion, intent, settlement] as readonly Json[]];
    const [before, after] = orders.map((each) => restoreShared({ ...rest, records: each }, snapshot, level));
    const [was, is] = [before, after].map((each) => (each?.toState() as Record<string, Json>)['document']);
    expect(is).toEqual(was);
    expect(after?.snapshot.revision).not.toBe(before?.snapshot.revision);
    await close(one);
  });

  it('is noticed by a node that reads it only after many other changes', async () => {
    const world = createWorld();
    const [one, other] = [await world.open('one'), await world.open('other')];
    const restore = world.memory.backup();
    await one.admin.execute(limit(7));
    await world.clock.advance(2000);
    other.cut(true);
    restore();
    await world.clock.advance(2000);
    for (let round = 0; round < 20; round += 1) await one.admin.execute(limit(round));
    other.cut(false);
    await world.clock.advance(10_000);
    expect(other.admin.fleet.snapshot.revision).toBe(one.admin.fleet.snapshot.revision);
    expect(other.errors.map(String)).toContainEqual(expect.stringContaining('has gone back'));
    await close(one, other);
  });

  it('leads to no entity tag that a client can have from before', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const restore = world.memory.backup();
    const versions = new Set<number>();
    for (let round = 0; round < 5; round += 1) {
      restore();
      await world.clock.advance(3000);
      await one.admin.execute(limit(7));
      versions.add(one.admin.snapshot.services.find('my-service')?.version.command ?? 0);
    }
    expect(versions.size).toBe(5);
    await close(one);
  });
});

/** Lets time pass until a node has opened, or was refused. A key is tried in time of its own. */
async function opened({ clock }: World, opening: Promise<Node>): Promise<Node> {
  const tried: { isOver?: true } = {};
  const settled = opening.finally(() => (tried.isOver = true));
  settled.catch(() => undefined);
  while (tried.isOver === undefined) await clock.advance(500);
  return settled;
}

/** Lets the log need records of the next level. */
async function append({ memory }: World, record: unknown): Promise<void> {
  const store = memory.open();
  const { position } = await store.load();
  await store.append([record as Json], { expectedPosition: position });
}

async function raise(world: World): Promise<void> {
  await append(world, levelRecord(level + 1, { node: 'new', life: 'x' }));
}

/** Changes members of the stored state, as a version of another time or a damaged backup would. */
async function replaceState({ memory }: World, change: object): Promise<void> {
  const store = memory.open();
  const { position, state } = await store.load();
  await store.compact({ ...(state as object), ...change }, { expectedPosition: position });
}

describe('a node that is older than the log', () => {
  it('goes on to show what it last had, and refuses commands', async () => {
    const world = createWorld();
    const one = await world.open('one');
    await raise(world);
    await world.clock.advance(3000);
    expect(await one.admin.execute(stop)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'node-outdated', status: 503 },
    });
    const { matched } = await one.admin.handle({
      method: 'GET',
      target: '/services/My-Service',
      headers: {},
    });
    expect(matched).toBe(true);
    expect(one.gateway.applied).toEqual([]);
    expect(one.errors.map(String)).toEqual([expect.stringMatching(/of level 3, .* up to level 2\. Update/)]);
    await close(one);
  });

  it('cannot be opened', async () => {
    const world = createWorld();
    await close(await world.open('one'));
    await raise(world);
    await expect(world.open('one')).rejects.toThrow('Update gateway-admin-core on this node.');
  });

  it.each([
    ['a state', 'that it cannot read', { format: 3, level: level + 1 }],
    ['a state', 'that looks like its own', { level: level + 1 }],
  ])('cannot be opened on %s of a later level %s', async (what, _how, change) => {
    const world = createWorld();
    await close(await world.open('one'));
    await replaceState(world, change);
    await expect(world.open('one')).rejects.toThrow(`contains ${what} of level ${String(level + 1)}, and`);
  });

  it.each([
    ['that it cannot read', { type: 'later', level: level + 1 }],
    ['that looks like its own', { ...levelRecord(level, { node: 'new', life: 'x' }), level: level + 1 }],
  ])('refuses commands after a record of a later level %s', async (_how, record) => {
    const world = createWorld();
    const one = await world.open('one');
    await append(world, record);
    await world.clock.advance(3000);
    expect(await one.admin.execute(stop)).toMatchObject({ problem: { code: 'node-outdated' } });
    expect(one.errors.map(String)).toEqual([
      expect.stringContaining(`contains a record of level ${String(level + 1)}, and`),
    ]);
    await close(one);
  });
});

describe('a log that no version can read', () => {
  it.each([{ format: 3 }, { level: 'x' }, { open: {} }, { document: { services: {} } }])(
    'opens no node: a state with %j',
    async (change) => {
      const world = createWorld();
      await close(await world.open('one'));
      await replaceState(world, change);
      await expect(world.open('one')).rejects.toThrow(
        'The shared store contains a state that this version cannot read. Update this node, or restore a backup.',
      );
    },
  );

  it.each([null, 5, { type: 'later' }, { ...levelRecord(level, { node: 'one', life: 'x' }), to: 'x' }])(
    'ends commands, with a sentence: the record %j',
    async (record) => {
      const world = createWorld();
      const one = await world.open('one');
      await append(world, record);
      await world.clock.advance(3000);
      const sentence = 'The shared store contains a record that this version cannot read. Update this node';
      expect(one.errors.map(String)).toEqual([expect.stringContaining(sentence)]);
      expect(await one.admin.execute(stop)).toMatchObject({ problem: { code: 'store-unavailable' } });
      await close(one);
      await expect(world.open('one')).rejects.toThrow(sentence);
    },
  );
});

describe('a lost store', () => {
  it('is neither read nor written again', async () => {
    const world = createWorld();
    let isLost = false;
    let calls = 0;
    const counted = <T>(call: () => Promise<T>): Promise<T> => {
      calls += 1;
      return isLost ? Promise.reject(new StoreLostError('Gone')) : call();
    };
    const one = await world.open('one', 10_000, {
      wrap: (store) =>
        altered(store, {
          read: (after) => counted(() => store.read(after)),
          append: (records, where) => counted(() => store.append(records, where)),
        }),
    });
    await world.clock.advance(2000);
    isLost = true;
    const before = calls;
    expect(await one.admin.execute(limit(7))).toMatchObject({ problem: { code: 'store-unavailable' } });
    await world.clock.advance(60_000);
    expect(calls).toBe(before + 1);
    await close(one);
  });
});

describe('forget', () => {
  it('ends nothing of the node that is asked', async () => {
    const world = createWorld();
    const one = await world.open('one');
    await expect(one.admin.fleet.forget('one')).rejects.toThrow('A node cannot forget itself: close it');
    expect((await one.admin.execute(limit(7))).outcome).toBe('accepted');
    await close(one);
  });

  it('rejects with the error of a lost store', async () => {
    const world = createWorld();
    let isLost = false;
    const one = await world.open('one', 10_000, {
      wrap: (store) =>
        altered(store, {
          append: (records, where) =>
            isLost ? Promise.reject(new StoreLostError('Gone')) : store.append(records, where),
        }),
    });
    const other = await world.open('other');
    other.gateway.will(hold().apply);
    void other.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.advance(2000);
    other.cut(true);
    isLost = true;
    for (let time = 0; time < 2; time += 1)
      await expect(one.admin.fleet.forget('other')).rejects.toThrow('Gone');
    await close(one);
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
    const other = await world.open('other');
    isDown = true;
    await world.clock.advance(2000);
    await close(one);
    await expect(one.admin.fleet.forget('other')).rejects.toThrow(
      expect.objectContaining({ name: 'Error', cause: 'down' }),
    );
    await close(other);
  });

  it.each([undefined, null, 5, {}, '', 'a?', 'ä', 'x'.repeat(65)])(
    'takes no name such as %j',
    async (name) => {
      const world = createWorld();
      const one = await world.open('one');
      await expect(one.admin.fleet.forget(name as string)).rejects.toThrow('forget takes the name of a node');
      await close(one);
    },
  );
});

describe('the level of a log', () => {
  it('rises when every node reads the new one, and not before', async () => {
    const world = createWorld();
    const next = [level, level + 1] as const;
    const [old, young] = [await world.open('old'), await world.open('young', 10_000, { levels: next })];
    await world.clock.advance(5000);
    expect((await old.admin.execute(limit(7))).outcome).toBe('accepted');
    await close(old);
    await world.clock.advance(5000);
    await expect(world.open('old')).rejects.toThrow('Update gateway-admin-core on this node.');
    expect((await young.admin.execute(limit(8))).outcome).toBe('accepted');
    const again = await world.open('old', 10_000, { levels: next });
    expect(again.admin.fleet.snapshot.services.find('my-service')?.settings.max_connection).toBe(8);
    await close(again, young);
  });

  it('is raised once, without an error, if another node is faster by a moment', async () => {
    const world = createWorld();
    const next = [level, level + 1] as const;
    // A log begins at the level of its first node.
    await close(await world.open('old'));
    let [appended, isOpen] = [0, false];
    const one = await world.open('one', 10_000, {
      levels: next,
      wrap: (store) =>
        altered(store, {
          append: async (records, where) => {
            appended += Number(isOpen);
            if (isOpen) await raise(world);
            return store.append(records, where);
          },
        }),
    });
    isOpen = true;
    const after = one.admin.fleet.position;
    await world.clock.advance(10_000);
    expect([appended, one.errors]).toEqual([1, []]);
    // A reader of the history sees a step without records.
    const history = one.admin.fleet.history({ after });
    expect(await history.next()).toMatchObject({
      value: { position: one.admin.fleet.position, records: [] },
    });
    await close(one);
    await expect(world.open('old')).rejects.toThrow('Update gateway-admin-core on this node.');
  });

  it('waits for a node that was killed, until that node is forgotten', async () => {
    const world = createWorld();
    const next = [level, level + 1] as const;
    const [old, young] = [await world.open('old'), await world.open('young', 10_000, { levels: next })];
    old.cut(true);
    await world.clock.advance(60_000);
    const start = young.admin.fleet.position;
    await young.admin.fleet.forget('old');
    await world.clock.advance(5000);
    expect(young.admin.fleet.position).not.toBe(start);
    old.cut(false);
    await world.clock.advance(10_000);
    expect(await old.admin.execute(stop)).toMatchObject({ problem: { code: 'node-outdated' } });
    await close(old, young);
  });
});

describe('the key of a fleet', () => {
  it('is the same at all nodes', async () => {
    const world = createWorld();
    const one = await world.open('one', 10_000, { sealer: sealerOf('key 1') });
    const other = await world.open('other', 10_000, { sealer: sealerOf('key 1') });
    await close(one, other);
  });

  it.each([
    ['another key', { sealer: sealerOf('key 2') }, 'seals secrets with another key than this one.'],
    ['no key', {}, 'has a key for secrets that the nodes can share, and this one has none.'],
    ['a key of its own process', { sealer: createSecretSealer() }, 'and this one has none.'],
  ])('keeps a node out that has %s', async (_what, how, sentence) => {
    const world = createWorld();
    const one = await world.open('one', 10_000, { sealer: sealerOf('key 1') });
    await expect(opened(world, world.open('other', 10_000, how))).rejects.toThrow(sentence);
    await close(one);
  });

  it.each(['seal', 'open'] as const)(
    'is not waited for without end: %s of the sealer never answers',
    async (name) => {
      const world = createWorld();
      const one = await world.open('one', 10_000, { sealer: sealerOf('key 1') });
      const sealer = { ...sealerOf('key 1'), [name]: () => new Promise<never>(() => undefined) };
      await expect(opened(world, world.open('other', 10_000, { sealer }))).rejects.toThrow(
        `sealer.${name} did not answer within 10000 ms. The node was not started.`,
      );
      await close(one);
    },
  );

  it('can be another one once every node with the old one has ended, in whatever way', async () => {
    const world = createWorld();
    const one = await world.open('one', 10_000, { sealer: sealerOf('key 1') });
    one.cut(true);
    await close(await opened(world, world.open('other', 10_000, { sealer: sealerOf('key 2') })));
    one.cut(false);
    await close(one);
  });

  it('is needed to set a secret: the other nodes must be able to open it', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const handled = await one.admin.handle({
      method: 'PATCH',
      target: '/services/My-Service',
      headers: { 'content-type': 'application/json-patch+json' },
      body: '[{"op":"replace","path":"/password","value":"correct horse battery"}]',
    });
    const { body } = handled.matched ? handled.response : { body: '' };
    expect(JSON.parse(body as string)).toMatchObject({ code: 'secret-not-storable' });
    await close(one);
  });
});

describe('a node that reads something else out of the log', () => {
  it('is found out at every node, and shown in the list', async () => {
    const world = createWorld();
    const lying = (store: SharedStore): SharedStore => ({
      ...store,
      read: async (after) => {
        const text = JSON.stringify(await store.read(after));
        return JSON.parse(text.replaceAll('"max_connection":7', '"max_connection":70')) as ReturnType<
          SharedStore['read']
        >;
      },
    });
    const one = await world.open('one');
    const other = await world.open('other', 10_000, { wrap: (store) => lying(altered(store, {})) });
    await world.clock.advance(3000);
    expect(one.admin.fleet.nodes().map(({ differs }) => differs)).toEqual([false, false]);
    await one.admin.execute(limit(7));
    await world.clock.advance(5000);
    for (const [node, name] of [
      [one, 'other'],
      [other, 'one'],
    ] as const) {
      expect(node.admin.fleet.nodes().map(({ differs }) => differs)).toEqual([false, true]);
      expect(node.errors.map(String)).toEqual([
        expect.stringContaining(`The node "${name}" has read another configuration`),
      ]);
    }
    await close(one, other);
  });
});

describe('a store that is reached through the gateway itself', () => {
  it.each([
    ['127.0.0.1', 4006, 1],
    ['db.internal', 4006, 0],
    ['127.0.0.1', 5432, 0],
  ])('at %s:%i leads to %i warnings', async (host, port, count) => {
    const errors: unknown[] = [];
    const listeners = [{ name: 'Sales In', protocol: 'pgclient', address: '0.0.0.0', port: 4006 }];
    const store = createSharedMemory().open();
    const admin = await openFleet({
      snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', listeners }] }),
      gateway: { apply: async () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
      store: Object.assign(store, { addresses: [{ host, port }] }),
      node: 'one',
      observe: { onError: (error) => errors.push(error) },
    });
    expect(
      errors.filter((error) => String(error).includes('is reached through the listener "Sales In"')),
    ).toHaveLength(count);
    await admin.close();
  });
});
