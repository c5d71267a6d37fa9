/**
 * What a node of a fleet answers and shows between two readings of the log. No node gets a hint here, so each one knows
 * what the others have done only from the reading of every second, unless an answer needs more.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createSnapshot,
  stopService,
  toDocument,
  type AdminRequest,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { compactLog } from '../support/foreign-node.ts';
import { credentials } from '../support/log-in.ts';
import { limit, port } from '../support/transition.ts';
import { createWorld, limitsAt, outcome, send, snapshot, type Node, type NodeOptions } from './node.ts';
import { setReadOnly } from '../support/read-only.ts';

const service = '/services/My-Service';
const json = { 'content-type': 'application/json' };

/** A fleet of two nodes without hints. */
async function openPair(how: NodeOptions = {}) {
  const world = createWorld({ losesHint: () => true });
  const [a, b] = [await world.open('a', 10_000, how), await world.open('b', 10_000, how)];
  // Both have read what the other one has begun with.
  await world.clock.advance(1500);
  return { world, a, b };
}

function limitPatch(value: number): Partial<AdminRequest> {
  return { headers: json, body: JSON.stringify([{ op: 'replace', path: '/max_connection', value }]) };
}

it('what belongs to a node has another tag at each node, and in each life', async () => {
  const { world, a } = await openPair();
  await a.admin.execute((state, context) => stopService(state, 'My Service', context));
  await a.admin.close();
  const document = toDocument(snapshot);
  const moved = createSnapshot({
    ...document,
    services: (document.services ?? []).map((each) => ({ ...each, listeners: [] })),
    gateway: { ...document.gateway, user: 'other' },
    logs: { ...document.logs, logdir: '/other' },
    modules: [],
  });
  const again = await world.open('a', 10_000, { snapshot: moved });
  const other = await world.open('c');
  const contentOf = ({ headers }: Awaited<ReturnType<typeof send>>): string | undefined =>
    headers['etag']?.split('.')[0];
  for (const target of [`${service}/listeners`, '/gateway', '/gateway/logs', '/gateway/modules']) {
    const [one, two] = [await send(again, { target }), await send(other, { target })];
    const isShared = target.startsWith(service);
    expect([target, one.body === two.body]).toEqual([target, isShared]);
    expect([target, contentOf(one) === contentOf(two)]).toEqual([target, isShared]);
  }
});

it('an answer that rests on the state alone costs one reading for all that wait at the same time', async () => {
  let reads = 0;
  const { b } = await openPair({
    wrap: (store) => altered(store, { read: (after) => ((reads += 1), store.read(after)) }),
  });
  reads = 0;
  const all = Array.from({ length: 50 }, () => outcome(b, 'DELETE', '/users/nobody'));
  expect(new Set(await Promise.all(all))).toEqual(new Set(['404 user-not-found']));
  // The first one reads at once, and the others came while it did.
  expect(reads).toBeLessThanOrEqual(2);
});

describe('a caller', () => {
  const password = 'correct horse';
  const access = { authenticate: createBasicAuthentication({ openUntilFirstUser: true }) };
  const withoutUsers = { access, snapshot: createSnapshot({ ...toDocument(snapshot), users: [] }) };
  const as = (name: string): Readonly<Record<string, string>> => ({
    ...json,
    authorization: credentials(name, password),
  });
  const acts = [
    ['PATCH', service, limitPatch(5).body as string],
    ['PUT', '/service/My-Service/stop?dry_run=true', ''],
  ] as const;
  const user = (name: string) => ({ headers: as('joan'), body: JSON.stringify({ name, password }) });

  /** A fleet in which joan and eve can log in at both nodes. */
  async function openWithUsers() {
    const pair = await openPair(withoutUsers);
    expect(await pair.a.admin.createFirstUser({ name: 'joan', password })).toMatchObject({
      outcome: 'accepted',
    });
    expect(await outcome(pair.a, 'PUT', '/users', user('eve'))).toBe('204');
    await pair.world.clock.advance(1500);
    return pair;
  }

  it.each(acts)('whose password was changed at another node does nothing: %s %s', async (...act) => {
    const [method, target, body] = act;
    const { a, b } = await openWithUsers();
    const patch = JSON.stringify([{ op: 'replace', path: '/password', value: 'battery staple' }]);
    expect(await outcome(a, 'PATCH', '/users/eve', { headers: as('joan'), body: patch })).toBe('200');
    expect(await outcome(b, method, target, { headers: as('eve'), body })).toBe('401 unauthenticated');
    expect(await outcome(b, method, target, { headers: as('joan'), body })).toBe('200');
  });

  it.each(acts)('without a log-in does nothing once another node has a user: %s %s', async (...act) => {
    const [method, target, body] = act;
    const { a, b } = await openPair(withoutUsers);
    expect(await a.admin.createFirstUser({ name: 'ada', password })).toMatchObject({ outcome: 'accepted' });
    expect(await outcome(b, method, target, { headers: json, body })).toBe('401 unauthenticated');
  });

  it('who is new at another node can act; without the store, that is a 503, and a probe goes on', async () => {
    const { a, b } = await openWithUsers();
    expect(await outcome(a, 'PUT', '/users', user('grace'))).toBe('204');
    expect(await outcome(b, 'PATCH', service, { ...limitPatch(5), headers: as('grace') })).toBe('200');
    expect(await outcome(a, 'PUT', '/users', user('lynn'))).toBe('204');
    b.cut(true);
    const asked = outcome(b, 'PATCH', service, { ...limitPatch(6), headers: as('lynn') });
    expect(await asked).toBe('503 store-unavailable');
    expect(await outcome(b, 'GET', '/')).toBe('200');
    expect(await outcome(b, 'GET', service)).toBe('401 unauthenticated');
  });
});

describe('the read-only mode', () => {
  it('of the host holds at every node once it is stored', async () => {
    const { world, a, b } = await openPair();
    await setReadOnly(a.admin, true);
    expect(a.admin.readOnly).toBe(true);
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('403 read-only');
    expect(await outcome(b, 'PATCH', service, limitPatch(7))).toBe('403 read-only');
    await setReadOnly(a.admin, false);
    await world.clock.advance(1500);
    expect([a.admin.readOnly, b.admin.readOnly]).toEqual([false, false]);
  });

  it('is not changed by a user who is deleted meanwhile, and the log says who has changed it', async () => {
    const world = createWorld({ losesHint: () => true });
    let [goOn, held] = [(): void => undefined, Promise.resolve()];
    const a = await world.open('a');
    const b = await world.open('b', 10_000, {
      wrap: (store) => altered(store, { append: (...how) => held.then(() => store.append(...how)) }),
    });
    await world.clock.advance(1500);
    held = new Promise((resolve) => (goOn = resolve));
    const body = JSON.stringify([{ op: 'replace', path: '/read_only', value: true }]);
    const act = (name: string) => outcome(b, 'PATCH', '/', { headers: json, body, principal: { name } });
    const changing = act('Grace');
    await world.clock.advance(10);
    expect(await outcome(a, 'DELETE', '/users/Grace', { principal: { name: 'ada' } })).toBe('204');
    goOn();
    await world.clock.advance(100);
    expect([await changing, a.admin.readOnly, b.admin.readOnly]).toEqual([
      '401 unauthenticated',
      false,
      false,
    ]);
    expect(await act('ada')).toBe('200');
    const { records } = await world.memory.open().load();
    expect(records.at(-1)).toMatchObject({ actor: 'ada', events: [{ to: { read_only: true } }] });
  });
});

it('of two processes that begin under one name at the same moment, one takes no more commands, and says so', async () => {
  const world = createWorld();
  const both = await Promise.all([world.open('a'), world.open('a')]);
  await world.clock.advance(3000);
  const [out, on] = both.toSorted((one, other) => other.errors.length - one.errors.length) as [Node, Node];
  const sentence = 'Another process has begun under the name of the node "a"';
  expect([out.errors.map(String), on.errors]).toEqual([[expect.stringContaining(sentence)], []]);
  expect(await out.admin.execute(limit(7))).toMatchObject({ problem: { code: 'closed', status: 503 } });
  expect(await on.admin.execute(limit(8))).toMatchObject({ outcome: 'accepted' });
});

it('a command whose intent was kept before a compaction goes on, and holds its resource no longer', async () => {
  const world = createWorld({ losesHint: () => true });
  let isLost = false;
  const a = await world.open('a', 10_000, {
    wrap: (store) =>
      altered(store, {
        append: async (...how) => {
          const [[record]] = how as unknown as [readonly [{ readonly type?: string }]];
          if (record.type !== 'intent' || isLost) return store.append(...how);
          isLost = true;
          await store.append(...how);
          await compactLog(world.memory.open(), snapshot);
          return store.append(...how);
        },
      }),
  });
  const b = await world.open('b');
  const patching = outcome(a, 'PATCH', service, limitPatch(7));
  await world.clock.advance(3000);
  expect(await patching).toBe('200');
  expect(await outcome(b, 'PATCH', service, limitPatch(8))).toBe('200');
});

describe('a node that was killed in the middle of a command', () => {
  it('is forgotten with the command, also if others have not read of it, or append at the same moment', async () => {
    const { world, a, b } = await openPair();
    const c = await world.open('c');
    await world.clock.advance(1500);
    for (const [node, command] of [[b, limit(7)] as const, [c, port(7007)] as const]) {
      node.gateway.will(hold().apply);
      void node.admin.execute(command).catch(() => undefined);
      await world.clock.advance(10);
      node.cut(true);
    }
    const after = a.admin.fleet.position;
    await Promise.all([a.admin.fleet.forget('b'), a.admin.fleet.forget('c')]);
    expect(await outcome(a, 'PATCH', service, limitPatch(8))).toBe('200');
    expect((await a.admin.execute(port(8008))).outcome).toBe('accepted');
    const ends: unknown[] = [];
    for await (const step of a.admin.fleet.history({ after })) {
      if ('records' in step) ends.push(...step.records.map(({ node, why }) => [node, why]));
      if (step.position === a.admin.fleet.position) break;
    }
    expect(ends).toEqual(
      expect.arrayContaining([
        ['b', 'forgotten'],
        ['c', 'forgotten'],
      ]),
    );
  });

  it('abandons its command, also if another node forgets it at the same moment', async () => {
    const { world, a, b } = await openPair();
    a.gateway.will(hold().apply).otherwise({ inspect: 'not-in-place' });
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
    expect(a.errors.filter((error) => (error as Error).name !== 'HostError')).toEqual([]);
  });
});

describe('a busy fleet', () => {
  it('can be joined: a process that begins reads on and tries again', async () => {
    const world = createWorld();
    const a = await world.open('a');
    let [loads, changes] = [0, 0];
    const b = await world.open('b', 10_000, {
      wrap: (store) =>
        altered(store, {
          load: () => ((loads += 1), store.load()),
          append: async (...how) => {
            // Another node is faster each time, for a while.
            if (changes < 20) await a.admin.execute(limit((changes += 1)));
            return store.append(...how);
          },
        }),
    });
    expect([loads, changes, ...limitsAt([b])]).toEqual([1, 20, 20]);
  });

  it('does not carry out a command that was cancelled while another node was faster', async () => {
    const { world, a, b } = await openPair();
    const cancelling = new AbortController();
    expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('200');
    const patching = b.admin.execute(limit(8), { signal: cancelling.signal });
    cancelling.abort(new Error('Cancelled'));
    await expect(patching).rejects.toThrow('Cancelled');
    await world.clock.advance(3000);
    expect(limitsAt([a, b])).toEqual([7, 7]);
  });
});

it('a store whose end and records do not fit together does not answer: told once, tried again with pauses', async () => {
  const world = createWorld();
  let [isBroken, appends] = [false, 0];
  const a = await world.open('a', 10_000, {
    wrap: (store) =>
      altered(store, {
        append: (records, options) => {
          appends += 1;
          return store.append(records, isBroken ? { expectedPosition: '9.another' } : options);
        },
      }),
  });
  isBroken = true;
  appends = 0;
  expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('503 store-unavailable');
  await world.clock.advance(60_000);
  expect(a.errors.map(String)).toEqual([expect.stringContaining('restore both from the same backup')]);
  expect(appends).toBeLessThan(30);
  isBroken = false;
  await world.clock.advance(6000);
  expect(await outcome(a, 'PATCH', service, limitPatch(7))).toBe('200');
});

// A set-back also takes the numbers of lives back.
it('the later of two processes of a node goes on, although the store was set back before it was opened', async () => {
  const world = createWorld();
  await world.open('b');
  const restore = world.memory.backup();
  for (const passing of ['c', 'd']) await (await world.open(passing)).admin.close();
  const earlier = await world.open('a');
  earlier.cut(true);
  await world.clock.advance(1500);
  restore();
  const later = await world.clock.waitFor(world.open('a'));
  earlier.cut(false);
  await world.clock.advance(10_000);
  expect(await earlier.admin.execute(limit(7))).toMatchObject({ problem: { code: 'closed' } });
  expect(await later.admin.execute(limit(8))).toMatchObject({ outcome: 'accepted' });
});
