/**
 * The tables of docs/fleet.md: each row is run, and each run has a row.
 */
import { describe, expect, it } from '@jest/globals';
import { deleteUser, EffectRefusedError, type AdminResponse, type Json } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { level, levelRecord } from '../../src/fleet/shared-history.ts';
import { tablesOf } from '../docs/table.ts';
import { read } from '../support/project.ts';
import { altered, createWorld, storedIn, type Node, type World } from './node.ts';

const service = '/services/My-Service';

/** Two nodes, and the world that they are in. */
interface Pair {
  readonly world: World;
  readonly a: Node;
  readonly b: Node;
}

type Run = (pair: Pair) => Promise<void>;

async function ask(
  { admin }: Node,
  method: string,
  headers = {},
  body?: unknown,
  target = service,
): Promise<AdminResponse> {
  const type = { 'content-type': 'application/json-patch+json' };
  const request = { method, target, headers: { ...type, ...headers }, body: JSON.stringify(body) };
  const handled = await admin.handle(request);
  if (!handled.matched) throw new Error('No route');
  return handled.response;
}

/** Sets the limit of clients. Gives the status, with the code of a problem. */
async function limit(node: Node, clients: number, headers = {}): Promise<string> {
  const patch = [{ op: 'add', path: '/max_connection', value: clients }];
  const { status, body } = await ask(node, 'PATCH', headers, patch);
  const { code } = JSON.parse(body as string) as { readonly code?: string };
  return code === undefined ? String(status) : `${String(status)} ${code}`;
}

function limitAt({ admin }: Node): number | undefined {
  return admin.snapshot.services.find('my-service')?.settings.max_connection;
}

/** The limit at both nodes, whose gateways do what their interfaces show. */
function limits({ a, b }: Pair): readonly (number | undefined)[] {
  for (const { gateway, admin } of [a, b]) expect(gateway.differences(admin.snapshot)).toEqual([]);
  return [limitAt(a), limitAt(b)];
}

async function isReady({ admin }: Node): Promise<unknown> {
  const handled = await admin.handle({ method: 'GET', target: '/', headers: {} });
  return (
    handled.matched && (JSON.parse(handled.response.body as string) as { readonly ready: boolean }).ready
  );
}

/** A hint that never comes. */
function forEver(): Promise<void> {
  return new Promise(() => undefined);
}

function behindAt({ admin }: Node): readonly (string | undefined)[] {
  return (admin.fleet.nodes()[0]?.behind ?? []).map(({ code }) => code);
}

/** Begins a change at node a that its gateway does not end. */
async function begin({ world, a }: Pair, clients: number) {
  const held = hold();
  a.gateway.will(held.apply);
  const answer = limit(a, clients);
  await world.clock.advance(500);
  return { held, answer };
}

/** Closes nodes. One that is cut off waits for its gateway, but not for ever. */
async function close({ clock }: World, nodes: readonly Node[]): Promise<void> {
  const closing = Promise.all(nodes.map(({ admin }) => admin.close()));
  await clock.advance(60_000);
  await closing;
}

/** What the node answers, by the first column of the table. */
const answers: Readonly<Record<string, Run>> = {
  '204 or 200': async (pair) => {
    expect(await limit(pair.a, 7)).toBe('200');
    expect(limitAt(pair.a)).toBe(7);
    await pair.world.clock.advance(100);
    expect(limits(pair)).toEqual([7, 7]);
  },
  '204 or 200, unchanged': async (pair) => {
    expect(await limit(pair.a, 7)).toBe('200');
    expect(await limit(pair.b, 100)).toBe('200');
    await pair.world.clock.advance(2000);
    expect(limits(pair)).toEqual([100, 100]);
    const tag = (await ask(pair.b, 'GET')).headers['etag'];
    const again = await ask(pair.b, 'PATCH', {}, [{ op: 'add', path: '/max_connection', value: 100 }]);
    expect([again.status, again.headers['etag']]).toEqual([200, tag]);
  },
  '401, 404, 409, 412, 422': async (pair) => {
    const tag = (await ask(pair.a, 'GET')).headers['etag'] ?? '';
    expect(await limit(pair.b, 7)).toBe('200');
    expect(await limit(pair.a, 8, { 'if-match': tag })).toBe('412 precondition-failed');
    const later = (await ask(pair.b, 'GET')).headers['etag'] ?? '';
    expect(await limit(pair.a, 8, { 'if-match': later })).toBe('200');
    await pair.world.clock.advance(2000);
    expect(limits(pair)).toEqual([8, 8]);
  },
  '409 `effect-refused`': async (pair) => {
    pair.a.gateway.will(new EffectRefusedError('No room.'));
    expect(await limit(pair.a, 7)).toBe('409 effect-refused');
    await pair.world.clock.advance(2000);
    expect(limits(pair)).toEqual([100, 100]);
    expect(pair.b.gateway.applied).toEqual([]);
  },
  '409 `command-in-progress`': async (pair) => {
    const { held, answer } = await begin(pair, 7);
    const waiting = limit(pair.b, 8);
    await pair.world.clock.advance(12_000);
    expect(await waiting).toBe('409 command-in-progress');
    expect(limitAt(pair.b)).toBe(100);
    held.done();
    await pair.world.clock.advance(20_000);
    await answer;
    expect(limits(pair)).toEqual([7, 7]);
  },
  '409 `node-behind`': async (pair) => {
    pair.b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await limit(pair.a, 7);
    await pair.world.clock.advance(100);
    const waiting = limit(pair.b, 8);
    await pair.world.clock.advance(12_000);
    expect(await waiting).toBe('409 node-behind');
    expect(await limit(pair.a, 9)).toBe('200');
  },
  '503 `store-unavailable`': async (pair) => {
    pair.a.cut(true);
    await pair.world.clock.advance(2000);
    expect(await limit(pair.a, 7)).toBe('503 store-unavailable');
    expect((await ask(pair.a, 'GET')).status).toBe(200);
    pair.a.cut(false);
    await pair.world.clock.advance(10_000);
    expect(limits(pair)).toEqual([100, 100]);
    expect(pair.a.gateway.applied).toEqual([]);
  },
  '503 `node-outdated`': async (pair) => {
    const store = pair.world.memory.open();
    const { position } = await store.load();
    const record = levelRecord(level + 1, { node: 'new', life: 'x' }) as unknown as Json;
    await store.append([record], { expectedPosition: position });
    await pair.world.clock.advance(3000);
    expect(await limit(pair.a, 7)).toBe('503 node-outdated');
    expect((await ask(pair.a, 'GET')).status).toBe(200);
    expect(limits(pair)).toEqual([100, 100]);
  },
  '503 `closed`': async (pair) => {
    pair.a.cut(true);
    const opening = pair.world.open('a', 5000);
    await pair.world.clock.advance(3000);
    const again = await opening;
    pair.a.cut(false);
    await pair.world.clock.advance(6000);
    expect(await limit(pair.a, 7)).toBe('503 closed');
    expect(await limit(again, 8)).toBe('200');
    expect(await limit(pair.b, 9)).toBe('200');
    await close(pair.world, [again]);
  },
  '503 `fenced`': async (pair) => {
    const { held, answer } = await begin(pair, 7);
    pair.a.cut(true);
    await pair.world.clock.advance(7000);
    expect(await limit(pair.b, 8)).toBe('200');
    pair.a.cut(false);
    held.done();
    await pair.world.clock.advance(10_000);
    expect(await answer).toBe('503 fenced');
    expect(limits(pair)).toEqual([8, 8]);
  },
  '504 `outcome-unknown`': async (pair) => {
    const { held, answer } = await begin(pair, 7);
    await pair.world.clock.advance(12_000);
    expect(await answer).toBe('504 outcome-unknown');
    const waiting = limit(pair.b, 8);
    await pair.world.clock.advance(1000);
    expect(limitAt(pair.b)).toBe(100);
    held.done();
    await pair.world.clock.advance(20_000);
    expect(await waiting).toBe('200');
    expect(limits(pair)).toEqual([8, 8]);
  },
};

/** What follows a failure, by the first column of the table. */
const failures: Readonly<Record<string, Run>> = {
  'two nodes change the same resource at once': async (pair) => {
    const tag = (await ask(pair.a, 'GET')).headers['etag'] ?? '';
    const both = Promise.all([limit(pair.a, 7, { 'if-match': tag }), limit(pair.b, 8, { 'if-match': tag })]);
    await pair.world.clock.advance(5000);
    expect([...(await both)].sort()).toEqual(['200', '412 precondition-failed']);
    const [first] = limits(pair);
    expect(limits(pair)).toEqual([first, first]);
    const again = Promise.all([limit(pair.a, 17), limit(pair.b, 18)]);
    await pair.world.clock.advance(5000);
    expect(await again).toEqual(['200', '200']);
  },
  'the gateway of another node refuses a change': async (pair) => {
    const { b, world } = pair;
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await limit(pair.a, 7);
    await world.clock.advance(500);
    expect(behindAt(b)).toEqual(['effect-refused']);
    const asked = b.gateway.applied.length;
    await world.clock.advance(1000);
    expect(b.gateway.applied.length).toBeGreaterThan(asked);
    // Between two tries, which are a minute apart by now.
    await world.clock.advance(130_000);
    b.gateway.otherwise({ apply: 'done' });
    await limit(pair.a, 8);
    await world.clock.advance(100);
    expect(behindAt(b)).toEqual([]);
    expect(limits(pair)).toEqual([8, 8]);
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await limit(pair.a, 9);
    await world.clock.advance(130_000);
    b.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
    expect(limits(pair)).toEqual([9, 9]);
  },
  'a gateway that has refused would now follow': async (pair) => {
    const { a, b, world } = pair;
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await limit(a, 7);
    await world.clock.advance(130_000);
    expect(b.errors.map(String)).toEqual([expect.stringContaining(service)]);
    b.gateway.otherwise({ apply: 'done' });
    expect((await ask(b, 'POST', {}, undefined, '/fleet/behind/retry')).status).toBe(204);
    await world.clock.advance(10);
    expect(limits(pair)).toEqual([7, 7]);
  },
  'a node cannot reach the store': async (pair) => {
    const { a, b, world } = pair;
    const { held, answer } = await begin(pair, 7);
    b.cut(true);
    await world.clock.advance(6000);
    const aliveAt = ({ admin }: Node): readonly boolean[] => admin.fleet.nodes().map(({ alive }) => alive);
    expect([aliveAt(a), aliveAt(b)]).toEqual([
      [true, false],
      [true, false],
    ]);
    b.cut(false);
    await world.clock.advance(1000);
    held.done();
    expect(await answer).toBe('200');
    await world.clock.advance(6000);
    expect([aliveAt(a), aliveAt(b), limits(pair)]).toEqual([
      [true, true],
      [true, true],
      [7, 7],
    ]);
  },
  'a change is taken back before a gateway follows': async (pair) => {
    const { a, b, world } = pair;
    b.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await limit(a, 7);
    await world.clock.advance(500);
    const asked = b.gateway.applied.length;
    b.gateway.otherwise({ apply: 'done' });
    await limit(a, 100);
    await world.clock.advance(100);
    expect(b.gateway.applied.length).toBe(asked);
    expect(limits(pair)).toEqual([100, 100]);
  },
  'a node dies in the middle of a command': async (pair) => {
    const { world, b } = pair;
    await begin(pair, 7);
    pair.a.cut(true); // Nothing of the process reaches the store any more.
    const waiting = limit(b, 8);
    const opening = world.open('a', 5000);
    await world.clock.advance(1500);
    expect(limitAt(b)).toBe(100);
    await world.clock.advance(1500);
    const a = await opening;
    expect(await waiting).toBe('200');
    expect(limits({ ...pair, a })).toEqual([8, 8]);

    const { answer } = await begin({ ...pair, a }, 9);
    answer.catch(() => undefined);
    a.cut(true);
    const late = limit(b, 10);
    await world.clock.advance(3000);
    expect(limitAt(b)).toBe(8);
    await world.clock.advance(4000);
    expect(await late).toBe('200');
    expect(limitAt(b)).toBe(10);
    await close(world, [a]);
  },
  'a dead node will not come back': async (pair) => {
    const { world, a, b } = pair;
    const forget = (name: string) => ask(b, 'DELETE', {}, undefined, `/fleet/${name}`);
    await begin(pair, 7);
    a.cut(true);
    await world.clock.advance(2000);
    expect([(await forget('a')).status, (await forget('b')).status]).toEqual([409, 409]);
    await world.clock.advance(6000);
    expect((await forget('a')).status).toBe(204);
    expect(b.admin.fleet.nodes().map(({ node }) => node)).toEqual(['b']);
    const { open, abandoned } = await storedIn(world);
    expect([open, abandoned]).toEqual([[], []]);
    expect(await limit(b, 8)).toBe('200');
  },
  'a node is paused for longer than the lease': async (pair) => {
    const { held, answer } = await begin(pair, 7);
    pair.a.cut(true);
    await pair.world.clock.advance(7000);
    pair.a.cut(false);
    held.done();
    await pair.world.clock.advance(10_000);
    expect(await answer).toBe('503 fenced');
    expect(limits(pair)).toEqual([100, 100]);
  },
  'a node has not read the last change yet': async (pair) => {
    // The node gets no hints, and reads again in a second.
    const c = await pair.world.open('c', 5000, {
      wrap: (store) => altered(store, { changed: () => forEver() }),
    });
    await pair.world.clock.advance(1500);
    expect(await limit(pair.a, 7)).toBe('200');
    expect(await limit(c, 100)).toBe('200');
    await pair.world.clock.advance(2000);
    expect([...limits(pair), limitAt(c)]).toEqual([100, 100, 100]);
    await close(pair.world, [c]);
  },
  'a user is deleted while another node is behind': async (pair) => {
    const c = await pair.world.open('c', 5000, {
      wrap: (store) => altered(store, { changed: () => forEver() }),
    });
    await pair.world.clock.advance(1500);
    const as = { principal: { name: 'ada' } };
    const deleting = await pair.a.admin.execute((state, context) => deleteUser(state, 'ada', context));
    expect(deleting.outcome).toBe('accepted');
    const stop = { method: 'PUT', target: '/service/My-Service/stop', headers: {} };
    expect(await c.admin.handle({ ...stop, ...as })).toMatchObject({ response: { status: 401 } });
    expect(c.gateway.applied).toEqual([]);
    await close(pair.world, [c]);
  },
  'the answer of the store gets lost': async (pair) => {
    let isLost = false;
    const c = await pair.world.open('c', 5000, {
      wrap: (store) =>
        altered(store, {
          append: async (records, options) => {
            const position = await store.append(records, options);
            const [{ type }] = records as readonly [{ readonly type: string }];
            if (type !== 'settlement' || isLost) return position;
            isLost = true;
            c.cut(true);
            throw new Error('The connection broke');
          },
        }),
    });
    const answering = ask(c, 'PATCH', {}, [{ op: 'add', path: '/max_connection', value: 7 }]);
    await pair.world.clock.advance(50);
    expect(await limit(pair.a, 8)).toBe('200');
    c.cut(false);
    await pair.world.clock.advance(6000);
    const { status, headers, body } = await answering;
    expect([status, JSON.parse(body as string)]).toEqual([
      200,
      expect.objectContaining({ max_connection: 7 }),
    ]);
    expect(await limit(c, 9, { 'if-match': headers['etag'] })).toBe('412 precondition-failed');
    expect([...limits(pair), limitAt(c)]).toEqual([8, 8, 8]);
    await close(pair.world, [c]);
  },
  'two processes run under one name': async (pair) => {
    const both = await Promise.all([pair.world.open('c', 5000), pair.world.open('c', 5000)]);
    await pair.world.clock.advance(2000);
    const [out, on] = both.toSorted((one, other) => other.errors.length - one.errors.length) as [Node, Node];
    expect([await limit(out, 7), await limit(on, 8)]).toEqual(['503 closed', '200']);
    expect([await isReady(out), await isReady(on)]).toEqual([false, true]);
    expect([out.errors.length, on.errors.length]).toEqual([1, 0]);
    await close(pair.world, both);
  },
  'a node cannot announce itself': async (pair) => {
    const mute = { is: false };
    const c = await pair.world.open('c', 5000, {
      wrap: (store) =>
        altered(store, {
          announce: (node, status) =>
            mute.is && status !== null ? Promise.reject(new Error('No.')) : store.announce(node, status),
        }),
    });
    mute.is = true;
    await pair.world.clock.advance(6000);
    expect(await limit(c, 7)).toBe('503 store-unavailable');
    expect([c.gateway.applied, await isReady(c)]).toEqual([[], false]);
    expect((await ask(c, 'GET')).status).toBe(200);
    mute.is = false;
    await pair.world.clock.advance(2000);
    expect(await limit(c, 7)).toBe('200');
    await close(pair.world, [c]);
  },
  'the store is out of reach': async (pair) => {
    for (const node of [pair.a, pair.b]) node.cut(true);
    await pair.world.clock.advance(60_000);
    for (const node of [pair.a, pair.b]) {
      expect((await ask(node, 'GET')).status).toBe(200);
      expect(await limit(node, 7)).toBe('503 store-unavailable');
    }
    expect(limits(pair)).toEqual([100, 100]);
    for (const node of [pair.a, pair.b]) node.cut(false);
    await pair.world.clock.advance(10_000);
    for (const node of [pair.a, pair.b]) expect(await limit(node, limitAt(node) === 7 ? 8 : 7)).toBe('200');
  },
  'the store was set back to a backup': async (pair) => {
    await limit(pair.a, 7);
    await pair.world.clock.advance(2000);
    const restore = pair.world.memory.backup();
    await limit(pair.a, 8);
    await pair.world.clock.advance(2000);
    expect(limits(pair)).toEqual([8, 8]);
    restore();
    await pair.world.clock.advance(3000);
    for (const { errors } of [pair.a, pair.b])
      expect(errors.map(String)).toEqual([expect.stringContaining('has gone back')]);
    expect(limits(pair)).toEqual([7, 7]);
  },
};

const tables = tablesOf(read('docs/fleet.md'));

describe.each([
  ['What an answer means', answers],
  ['What happens when something fails', failures],
] as const)('the table "%s"', (heading, runs) => {
  const rows = tables.find((table) => table.heading === heading)?.rows.map(([first = '']) => first) ?? [];

  it('has a row for each run, and a run for each row', () => {
    expect(rows).toEqual(Object.keys(runs));
  });

  // Promise: fleet-failures
  it.each(rows)('is right about: %s', async (row) => {
    const world = createWorld();
    const [a, b] = [await world.open('a', 5000), await world.open('b', 5000)];
    await world.clock.advance(100);
    await runs[row]?.({ world, a, b });
    await close(world, [a, b]);
  });
});
