/**
 * What a node of a fleet answers and shows between two readings of the log. No node gets a hint here, so each one knows
 * what the others have done only from the reading of every second, unless an answer needs more.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createSecretSealer,
  createSnapshot,
  EffectRefusedError,
  stopService,
  toDocument,
  type AdminRequest,
  type AdminResponse,
  type Hasher,
} from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { credentials } from '../support/log-in.ts';
import { limit } from '../support/transition.ts';
import { altered, compact, createWorld, sealerOf, snapshot, type Node, type World } from './node.ts';

const service = '/services/My-Service';
const json = { 'content-type': 'application/json' };

/** A fleet of two nodes without hints. */
async function openPair(how: Parameters<World['open']>[2] = {}) {
  const world = createWorld({ losesHint: () => true });
  const [a, b] = [await world.open('a', 10_000, how), await world.open('b', 10_000, how)];
  // Both have read what the other one has begun with.
  await world.clock.advance(1500);
  return { world, a, b };
}

async function send({ admin }: Node, request: Omit<AdminRequest, 'headers'> & Partial<AdminRequest>) {
  const handled = await admin.handle({ headers: {}, ...request });
  if (!handled.matched) throw new Error('No route');
  return handled.response;
}

/** The status, with the code of a problem. */
function outcomeOf({ status, body }: AdminResponse): string {
  const { code } = JSON.parse(typeof body === 'string' && body !== '' ? body : '{}') as { code?: string };
  return code === undefined ? String(status) : `${String(status)} ${code}`;
}

async function outcome(node: Node, method: string, target: string, more: Partial<AdminRequest> = {}) {
  return outcomeOf(await send(node, { method, target, ...more }));
}

function limitPatch(value: number, test?: number): Partial<AdminRequest> {
  const tests = test === undefined ? [] : [{ op: 'test', path: '/max_connection', value: test }];
  const operations = [...tests, { op: 'replace', path: '/max_connection', value }];
  return { headers: json, body: JSON.stringify(operations) };
}

/** What a client sees of the service: the part of its tag that If-Match compares, and its limit. */
async function seen(node: Node): Promise<{ readonly tag: string; readonly limit: number }> {
  const { headers, body } = await send(node, { method: 'GET', target: service });
  const { max_connection: shown } = JSON.parse(body as string) as { max_connection: number };
  return { tag: (headers['etag'] ?? '').split('.').slice(0, 2).join('.'), limit: shown };
}

function closing({ world, a, b }: Awaited<ReturnType<typeof openPair>>): Promise<void> {
  return world.clock.waitFor(Promise.all([a, b].map(({ admin }) => admin.close()))).then(() => undefined);
}

describe('one tag, one content', () => {
  it('holds while a gateway follows one change and the next one is stored', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    await world.clock.advance(1500);
    const known = new Map([[(await seen(a)).tag, 100]]);
    b.gateway.otherwise({ apply: () => world.clock.sleep(400) });
    for (const value of [7, 8, 9]) {
      expect(await outcome(a, 'PATCH', service, limitPatch(value))).toBe('200');
      known.set((await seen(a)).tag, value);
      for (let passed = 0; passed < 150; passed += 10) {
        const { tag, limit: shown } = await seen(b);
        expect(known.get(tag)).toBe(shown);
        await world.clock.advance(10);
      }
    }
    await closing({ world, a, b });
  });

  it('holds for filters, which show the services that use them', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    const operations = [{ op: 'replace', path: '/filters', value: ['/filters/Hint'] }];
    await send(a, { method: 'PATCH', target: service, headers: json, body: JSON.stringify(operations) });
    await world.clock.advance(1500);
    for (const target of ['/filters/Query-Log', '/filters/Hint', '/filters', '/services', service]) {
      const [one, other] = [
        await send(a, { method: 'GET', target }),
        await send(b, { method: 'GET', target }),
      ];
      const tags = [one, other].map(({ headers }) =>
        (headers['etag'] ?? '').split('.').slice(0, 2).join('.'),
      );
      expect(tags[0]).toBe(tags[1]);
    }
    await closing(pair);
  });

  it('holds from one node to another, and from one life to the next: each has listeners of its own', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    await a.admin.execute((state, context) => stopService(state, 'My Service', context));
    await world.clock.waitFor(a.admin.close());
    const document = toDocument(snapshot);
    const services = (document.services ?? []).map((each) => ({ ...each, listeners: [] }));
    const gateway = { ...document.gateway, user: 'other' };
    const logs = { ...document.logs, logdir: '/other' };
    const moved = createSnapshot({ ...document, services, gateway, logs, modules: [] });
    const again = await world.open('a', 10_000, { snapshot: moved });
    const other = await world.open('c');
    for (const target of [`${service}/listeners`, '/gateway', '/gateway/logs', '/gateway/modules']) {
      const [one, two] = [
        await send(again, { method: 'GET', target }),
        await send(other, { method: 'GET', target }),
      ];
      expect(one.body).not.toBe(two.body);
      expect(one.headers['etag']).not.toBe(two.headers['etag']);
    }
    await world.clock.waitFor(other.admin.close());
    await closing({ world, a: again, b });
  });

  it('holds for a change that the gateway has made in part', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    const both = new Map<string, string>();
    const note = async (node: Node): Promise<string> => {
      const { tag, limit: shown } = await seen(node);
      const content = `${String(shown)} ${String(node.admin.snapshot.services.find('my-service')?.state)}`;
      expect(both.get(tag) ?? content).toBe(content);
      both.set(tag, content);
      return content;
    };
    await note(a);
    // The gateway follows the stop, refuses the settings, and refuses to start again.
    b.gateway.otherwise({ apply: new EffectRefusedError('No.') });
    b.gateway.will('done');
    await a.admin.execute((state, context) => stopService(state, 'My Service', context));
    await note(a);
    await a.admin.execute(limit(7));
    const shown = new Set<string>();
    for (let passed = 0; passed < 5000; passed += 250) {
      for (const node of [a, b]) shown.add(await note(node));
      await world.clock.advance(250);
    }
    expect([...shown].toSorted()).toEqual(['100 started', '100 stopped', '7 stopped']);
    b.gateway.otherwise({ apply: 'done' });
    await closing(pair);
  });
});

describe('an answer that rests on the state alone', () => {
  it('costs one reading for all that wait at the same time', async () => {
    let reads = 0;
    const counting = (store: SharedStore): SharedStore =>
      altered(store, { read: (after) => ((reads += 1), store.read(after)) });
    const pair = await openPair({ wrap: counting });
    reads = 0;
    const all = Array.from({ length: 50 }, () => outcome(pair.b, 'DELETE', '/users/nobody'));
    expect(new Set(await Promise.all(all))).toEqual(new Set(['404 user-not-found']));
    // The first one reads at once, and the others came while it did.
    expect(reads).toBeLessThanOrEqual(2);
    await closing(pair);
  });
});

describe('a caller', () => {
  const password = 'correct horse';
  const withoutUsers = createSnapshot({ ...toDocument(snapshot), users: [] });
  const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
  const as = (name: string, secret = password): Readonly<Record<string, string>> => ({
    ...json,
    authorization: credentials(name, secret),
  });

  /** A fleet in which ada and eve can log in at both nodes. */
  async function openWithUsers() {
    const pair = await openPair({ access: { authenticate }, snapshot: withoutUsers });
    const { world, a } = pair;
    expect(await a.admin.createFirstUser({ name: 'joan', password })).toMatchObject({ outcome: 'accepted' });
    const body = (name: string): string => JSON.stringify({ name, password });
    expect(await outcome(a, 'PUT', '/users', { headers: as('joan'), body: body('eve') })).toBe('204');
    await world.clock.advance(1500);
    return pair;
  }

  const acts: readonly (readonly [string, string, string, string])[] = [
    ['changes a service', 'PATCH', service, limitPatch(5).body as string],
    ['stops a service', 'PUT', '/service/My-Service/stop', ''],
    ['closes the sessions of a service', 'DELETE', `${service}/sessions`, ''],
    ['flushes the logs', 'POST', '/gateway/logs/flush', ''],
    ['creates a user', 'PUT', '/users', JSON.stringify({ name: 'mallory', password })],
    ['changes the mode', 'PATCH', '/', JSON.stringify([{ op: 'replace', path: '/read_only', value: true }])],
    ['plans', 'PUT', '/service/My-Service/stop?dry_run=true', ''],
  ];

  it.each(acts)('who was deleted at another node %s nowhere', async (_what, method, target, body) => {
    const pair = await openWithUsers();
    const { world, a, b } = pair;
    b.admin.report({
      type: 'session.opened',
      session: {
        id: 1,
        service: 'My Service',
        user: 'app',
        address: '10.0.0.9',
        connected: world.clock.now(),
      },
    } as never);
    expect(await outcome(a, 'DELETE', '/users/eve', { headers: as('joan') })).toBe('204');
    const applied = b.gateway.applied.length;
    expect(await outcome(b, method, target, { headers: as('eve'), body })).toBe('401 unauthenticated');
    expect(b.gateway.applied).toHaveLength(applied);
    expect(await outcome(b, method, target, { headers: as('joan'), body })).toMatch(/^20/);
    await closing(pair);
  });

  it.each(acts)('whose password was changed at another node %s nowhere with the old one', async (...act) => {
    const [, method, target, body] = act;
    const pair = await openWithUsers();
    const { a, b } = pair;
    const patch = JSON.stringify([{ op: 'replace', path: '/password', value: 'battery staple' }]);
    expect(await outcome(a, 'PATCH', '/users/eve', { headers: as('joan'), body: patch })).toBe('200');
    expect(await outcome(b, method, target, { headers: as('eve'), body })).toBe('401 unauthenticated');
    await closing(pair);
  });

  it.each(acts)('without a log-in %s nowhere once there is a user at another node', async (...act) => {
    const [, method, target, body] = act;
    const pair = await openPair({ access: { authenticate }, snapshot: withoutUsers });
    const { a, b } = pair;
    expect(await a.admin.createFirstUser({ name: 'ada', password })).toMatchObject({ outcome: 'accepted' });
    expect(await outcome(b, method, target, { headers: json, body })).toBe('401 unauthenticated');
    await closing(pair);
  });

  it('is 503, not 401, at a node that cannot know of the user; a probe without a log-in is answered at once', async () => {
    const pair = await openWithUsers();
    const { world, a, b } = pair;
    const body = JSON.stringify({ name: 'grace', password });
    expect(await outcome(a, 'PUT', '/users', { headers: as('joan'), body })).toBe('204');
    b.cut(true);
    const asked = outcome(b, 'PATCH', service, { ...limitPatch(5), headers: as('grace') });
    expect(await asked).toBe('503 store-unavailable');
    expect((await send(b, { method: 'GET', target: '/' })).status).toBe(200);
    expect(await outcome(b, 'GET', service)).toBe('401 unauthenticated');
    b.cut(false);
    await world.clock.advance(6000);
    await closing(pair);
  });

  it('who was just created at another node can log in, and acts', async () => {
    const pair = await openWithUsers();
    const { a, b } = pair;
    const body = JSON.stringify({ name: 'grace', password });
    expect(await outcome(a, 'PUT', '/users', { headers: as('joan'), body })).toBe('204');
    expect(await outcome(b, 'PATCH', service, { ...limitPatch(5), headers: as('grace') })).toBe('200');
    await closing(pair);
  });
});

describe('the read-only mode', () => {
  const readOnly = (value: boolean): Partial<AdminRequest> => ({
    headers: json,
    body: JSON.stringify([{ op: 'replace', path: '/read_only', value }]),
  });

  it('of the host holds at its own node at once, and at the others once it is stored', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    a.admin.readOnly = true;
    expect(a.admin.readOnly).toBe(true);
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('403 read-only');
    expect(await outcome(b, 'PATCH', service, limitPatch(7))).toBe('403 read-only');
    a.admin.readOnly = false;
    await world.clock.advance(1500);
    expect([a.admin.readOnly, b.admin.readOnly]).toEqual([false, false]);
    await closing(pair);
  });

  it('ends as the host has set it last, also after changes in an outage', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    a.cut(true);
    a.admin.readOnly = true;
    await world.clock.advance(1000);
    a.admin.readOnly = false;
    await world.clock.advance(1000);
    a.cut(false);
    await world.clock.advance(10_000);
    expect([a.admin.readOnly, b.admin.readOnly]).toEqual([false, false]);
    await closing(pair);
  });

  it('of the host holds at its own node through an outage, and at the others after it', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    a.cut(true);
    await world.clock.advance(1500);
    a.admin.readOnly = true;
    for (let passed = 0; passed < 5000; passed += 500) {
      expect(a.admin.readOnly).toBe(true);
      await world.clock.advance(500);
    }
    a.cut(false);
    await world.clock.advance(8000);
    expect([a.admin.readOnly, b.admin.readOnly]).toEqual([true, true]);
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('403 read-only');
    await closing(pair);
  });

  it('is not changed by a user who is deleted while the change is on its way, and the log says who has changed it', async () => {
    const world = createWorld({ losesHint: () => true });
    const line: { held?: Promise<void> } = {};
    const slow = (store: SharedStore): SharedStore =>
      altered(store, {
        append: async (...how) => {
          await line.held;
          return store.append(...how);
        },
      });
    const a = await world.open('a');
    const b = await world.open('b', 10_000, { wrap: slow });
    await world.clock.advance(1500);
    let goOn = (): void => undefined;
    line.held = new Promise((resolve) => (goOn = resolve));
    const changing = outcome(b, 'PATCH', '/', { ...readOnly(true), principal: { name: 'Grace' } });
    await world.clock.advance(10);
    expect(await outcome(a, 'DELETE', '/users/Grace', { principal: { name: 'ada' } })).toBe('204');
    goOn();
    await world.clock.advance(100);
    expect(await changing).toBe('401 unauthenticated');
    expect([a.admin.readOnly, b.admin.readOnly]).toEqual([false, false]);
    expect(await outcome(b, 'PATCH', '/', { ...readOnly(true), principal: { name: 'ada' } })).toBe('200');
    const { records } = await world.memory.open().load();
    expect(records.at(-1)).toMatchObject({ type: 'mode', readOnly: true, actor: 'ada' });
    await closing({ world, a, b });
  });
});

function limitsShown(nodes: readonly Node[]): readonly unknown[] {
  return nodes.map(({ admin }) => admin.snapshot.services.find('my-service')?.settings.max_connection);
}

describe('two processes under one name', () => {
  const begin: Readonly<Record<string, (world: World) => Promise<readonly [Node, Node]>>> = {
    'that begin at the same moment': (world) => Promise.all([world.open('a'), world.open('a')]),
    'of which one begins while the other one stalls': async (world) => {
      const line = { held: undefined as Promise<void> | undefined };
      const through = async <T>(call: () => Promise<T>): Promise<T> => {
        await line.held;
        return call();
      };
      const stalling = (store: SharedStore): SharedStore =>
        altered(store, {
          append: (...how) => through(() => store.append(...how)),
          read: (after) => through(() => store.read(after)),
          announce: (...how) => through(() => store.announce(...how)),
        });
      const first = await world.open('a', 10_000, { wrap: stalling });
      let goOn = (): void => undefined;
      line.held = new Promise((resolve) => (goOn = resolve));
      const pending = first.admin.execute(limit(5));
      pending.catch(() => undefined);
      const opening = world.open('a');
      await world.clock.advance(3000);
      const second = await opening;
      expect(await second.admin.execute(limit(6))).toMatchObject({ outcome: 'accepted' });
      goOn();
      return [first, second];
    },
  };

  it.each(Object.keys(begin))('%s: the first one takes no more commands, and says so', async (how) => {
    const world = createWorld();
    const both = (await begin[how]?.(world)) ?? [];
    await world.clock.advance(3000);
    const [out, on] = both.toSorted((one, other) => other.errors.length - one.errors.length);
    if (out === undefined || on === undefined) throw new Error('Two processes are needed');
    const sentence = 'Another process has begun under the name of the node "a"';
    expect([out.errors.map(String), on.errors]).toEqual([[expect.stringContaining(sentence)], []]);
    expect(await out.admin.execute(limit(7))).toMatchObject({ problem: { code: 'closed', status: 503 } });
    const { body } = await send(out, { method: 'GET', target: '/' });
    expect(JSON.parse(body as string)).toMatchObject({ ready: false });
    expect(await on.admin.execute(limit(8))).toMatchObject({ outcome: 'accepted' });
    await world.clock.waitFor(out.admin.close());
    await world.clock.advance(3000);
    const third = await world.open('b');
    await world.clock.advance(1500);
    // The announcement of the process that goes on was not taken out with the other one.
    expect(third.admin.fleet.nodes()).toMatchObject([{ node: 'b' }, { node: 'a', alive: true }]);
    expect(limitsShown([on, third])).toEqual([8, 8]);
    await closing({ world, a: on, b: third });
  });
});

/** A hasher of a host that answers at once. */
function hasherOf(form: string): Hasher {
  const hashOf = (password: string): string => `${form}$${String(password.length)}`;
  return {
    hash: (password) => Promise.resolve(hashOf(password)),
    verify: (password, hash) => Promise.resolve(hash === hashOf(password)),
    knows: (hash) => hash.startsWith(`${form}$`),
  };
}

describe('a node that differs from the others', () => {
  const begin = {
    'another key': { sealer: sealerOf('other'), told: 'with another key than this one' },
    'another hasher': { hasher: hasherOf('other'), told: 'in a form that the hasher' },
  };
  const common = {
    access: { authenticate: createBasicAuthentication() },
    hasher: hasherOf('common'),
    sealer: sealerOf('common'),
    snapshot: createSnapshot({ ...toDocument(snapshot), users: [] }),
  };

  it.each(Object.entries(begin))(
    'in %s is told of at the latest at the next beat, or refused',
    async (_what, { told, ...own }) => {
      const world = createWorld();
      const starting = [world.open('a', 10_000, common), world.open('b', 10_000, { ...common, ...own })];
      const [a, b] = (await world.clock.waitFor(Promise.all(starting))) as [Node, Node];
      await world.clock.advance(13_000);
      for (const { errors } of [a, b]) expect(errors.map(String)).toEqual([expect.stringContaining(told)]);
      await world.clock.waitFor(b.admin.close());
      const again = world.clock.waitFor(world.open('b', 10_000, { ...common, ...own }));
      await expect(again).rejects.toThrow(told);
      await world.clock.waitFor(a.admin.close());
    },
  );

  it('in the lease is told of', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a', 5000), await world.open('b', 60_000)];
    await world.clock.advance(3000);
    for (const { errors } of [a, b])
      expect(errors.map(String)).toEqual([
        expect.stringContaining('Give all nodes of the fleet the same leaseMs.'),
      ]);
    await closing({ world, a, b });
  });

  it('in the names of secret parameters takes over the names, and never stores a secret as plain text', async () => {
    const world = createWorld({ losesHint: () => true });
    const sealer = createSecretSealer({ key: new Uint8Array(32).fill(1) });
    const b = await world.open('b', 10_000, { sealer });
    const a = await world.open('a', 10_000, { sealer, secretParameters: ['Token'] });
    const setting = (value: string): Partial<AdminRequest> => ({
      headers: json,
      body: JSON.stringify([{ op: 'add', path: '/parameters/token', value }]),
    });
    // This node has not read yet what the other one has declared.
    const planted = 'nobody may read this';
    expect(await outcome(b, 'PATCH', '/servers/db-serv-1', setting(planted))).toMatch(/^422 /);
    await world.clock.advance(1500);
    expect(await outcome(b, 'PATCH', '/servers/db-serv-1', setting(planted))).toBe('200');
    await world.clock.advance(1500);
    for (const { admin } of [a, b]) {
      const { settings } = admin.snapshot.servers.find('db-serv-1') ?? {};
      expect([settings?.parameters['token'], Object.keys(settings?.parametersSealed ?? {})]).toEqual([
        undefined,
        ['password', 'token'],
      ]);
    }
    expect(JSON.stringify(await world.memory.open().load())).not.toContain(planted);
    await world.clock.waitFor(a.admin.close());
    const again = await world.open('a', 10_000, { sealer, secretParameters: ['Token'] });
    await closing({ world, a: again, b });
  });
});

describe('a node in an outage of the store', () => {
  it('answers a body that does not arrive at once when the node closes, also while a command is in flight', async () => {
    const world = createWorld();
    const a = await world.open('a');
    const held = hold();
    a.gateway.will(held.apply);
    const stopping = outcome(a, 'PUT', '/service/My-Service/stop');
    const never = (): Promise<never> => new Promise(() => undefined);
    const patching = outcome(a, 'PATCH', service, { headers: json, body: never });
    await world.clock.advance(100);
    const closed = a.admin.close();
    await world.clock.settle();
    expect(await patching).toBe('503 closed');
    held.done();
    await world.clock.waitFor(closed);
    expect(await stopping).toBe('204');
  });
});

describe('a command of this node in a log that another node has compacted', () => {
  it('goes on with the intent that was kept, and holds its resource no longer than it runs', async () => {
    const world = createWorld({ losesHint: () => true });
    let isLost = false;
    const losing = (store: SharedStore): SharedStore =>
      altered(store, {
        append: async (...how) => {
          const [[record]] = how as unknown as [readonly [{ readonly type?: string }]];
          if (record.type !== 'intent' || isLost) return store.append(...how);
          isLost = true;
          await store.append(...how);
          await compact(world);
          return store.append(...how);
        },
      });
    const a = await world.open('a', 10_000, { wrap: losing });
    const b = await world.open('b');
    const patching = outcome(a, 'PATCH', service, limitPatch(7));
    await world.clock.advance(3000);
    expect(await patching).toBe('200');
    expect(await outcome(b, 'PATCH', service, limitPatch(8))).toBe('200');
    await closing({ world, a, b });
  });
});

describe('a node that was killed in the middle of a command', () => {
  it('is forgotten by a node that has not read of the command', async () => {
    const pair = await openPair();
    const { world, a, b } = pair;
    b.gateway.will(hold().apply);
    void b.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.advance(10);
    b.cut(true);
    await a.admin.fleet.forget('b');
    expect(await outcome(a, 'PATCH', service, limitPatch(8))).toBe('200');
    await world.clock.waitFor(a.admin.close());
  });
});

describe('a busy fleet', () => {
  it('can be joined: a process that begins reads on and tries again', async () => {
    const world = createWorld();
    const a = await world.open('a');
    let loads = 0;
    let changes = 0;
    const busy = (store: SharedStore): SharedStore =>
      altered(store, {
        load: async () => {
          loads += 1;
          return store.load();
        },
        append: async (...how) => {
          // Another node is faster each time, for a while.
          if (changes < 20) await a.admin.execute(limit((changes += 1)));
          return store.append(...how);
        },
      });
    const b = await world.open('b', 10_000, { wrap: busy });
    expect([loads, changes, b.admin.snapshot.services.find('my-service')?.settings.max_connection]).toEqual([
      1, 20, 20,
    ]);
    await closing({ world, a, b });
  });

  it('goes on to hear a node whose key is slow to compare', async () => {
    const world = createWorld();
    let isSlow = false;
    const sealer = {
      ...sealerOf('common'),
      open: (sealed: string) =>
        isSlow ? new Promise<never>(() => undefined) : sealerOf('common').open(sealed),
    };
    const a = await world.open('a', 5000, { sealer });
    isSlow = true;
    const b = await world.open('b', 5000, { sealer: sealerOf('common') });
    for (let passed = 0; passed < 15_000; passed += 1000) {
      await world.clock.advance(1000);
      expect(b.admin.fleet.nodes()).toMatchObject([{ node: 'b' }, { node: 'a', alive: true }]);
    }
    expect(a.errors.map(String)).toContainEqual(expect.stringContaining('compared again at the next beat'));
    await closing({ world, a, b });
  });

  it('does not carry out a command that was cancelled while another node was faster', async () => {
    const pair = await openPair();
    const { a, b } = pair;
    const cancelling = new AbortController();
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('200');
    const patching = b.admin.execute(limit(8), { signal: cancelling.signal });
    cancelling.abort(new Error('Cancelled'));
    await expect(patching).rejects.toThrow('Cancelled');
    await pair.world.clock.advance(3000);
    expect(limitsShown([a, b])).toEqual([7, 7]);
    await closing(pair);
  });
});

describe('a store whose end and records do not fit together', () => {
  it('is a store that does not answer: told once, tried again with growing pauses, and used again when mended', async () => {
    const world = createWorld();
    let isBroken = false;
    let appends = 0;
    const breaking = (store: SharedStore): SharedStore =>
      altered(store, {
        append: (records, options) => {
          appends += 1;
          return store.append(records, isBroken ? { expectedPosition: '9.another' } : options);
        },
      });
    const a = await world.open('a', 10_000, { wrap: breaking });
    const b = await world.open('b');
    isBroken = true;
    appends = 0;
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('503 store-unavailable');
    await world.clock.advance(60_000);
    expect(a.errors.map(String)).toEqual([expect.stringContaining('restore both from the same backup')]);
    expect(appends).toBeLessThan(30);
    isBroken = false;
    await world.clock.advance(6000);
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('200');
    await closing({ world, a, b });
  });
});
