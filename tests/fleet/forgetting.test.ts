/**
 * Takes nodes out of a fleet over the interface: dead ones, and no others.
 */
import { describe, expect, it } from '@jest/globals';
import { stopService, type Transition } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../support/audit-reader.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { limit } from '../support/transition.ts';
import { altered, createWorld, storedIn, type Node, type World } from './node.ts';

const leaseMs = 3000;
const stop: Transition = (state, context) => stopService(state, 'My Service', context);

/** Sends `DELETE /fleet/:node`. Gives the status, with the code of a problem. */
async function forget({ admin }: Pick<Running, 'admin'>, name: string, query = ''): Promise<string> {
  const handled = await admin.handle({ method: 'DELETE', target: `/fleet/${name}${query}`, headers: {} });
  if (!handled.matched) throw new Error('No route');
  const { status, body } = handled.response;
  const { code } = (status < 400 ? {} : JSON.parse(body as string)) as { readonly code?: string };
  return code === undefined ? String(status) : `${String(status)} ${code}`;
}

function namesAt({ admin }: Node): readonly string[] {
  return admin.fleet.nodes().map(({ node }) => node);
}

async function close({ clock }: World, nodes: readonly Node[]): Promise<void> {
  const closing = Promise.all(nodes.map(({ admin }) => admin.close()));
  await clock.advance(60_000);
  await closing;
}

describe('DELETE /fleet/:node', () => {
  it('takes a dead node out, once its lease is over, with its commands and its last life', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('A-1', leaseMs), await world.open('b', leaseMs)];
    const records = readAudit(b.admin);
    a.gateway.will(hold().apply);
    void a.admin.execute(limit(7)).catch(() => undefined);
    await world.clock.advance(2000);
    a.cut(true);
    expect(await forget(b, 'A-1')).toBe('409 node-alive');
    await world.clock.advance(leaseMs + 2000);
    expect((await storedIn(world)).abandoned).toHaveLength(1);
    expect(await forget(b, 'a-1')).toBe('404 node-not-found');
    expect(await forget(b, 'A-1', '?dry_run=true')).toBe('200');
    expect(namesAt(b)).toEqual(['b', 'A-1']);
    expect(await forget(b, 'A-1')).toBe('204');
    expect(namesAt(b)).toEqual(['b']);
    const { open, abandoned, ...rest } = await storedIn(world);
    expect([open, abandoned]).toEqual([[], []]);
    expect((await storedIn(world)).lifeOf('A-1')).toBeUndefined();
    expect(JSON.stringify(rest)).not.toContain('A-1');
    expect(await forget(b, 'A-1')).toBe('404 node-not-found');
    await world.clock.settle();
    expect(inShort(records)).toEqual([
      'nobody fleet.forget refused node-alive',
      'nobody fleet.forget refused node-not-found',
      'nobody fleet.forget accepted',
      'nobody fleet.forget refused node-not-found',
    ]);
    expect(records[2]).toMatchObject({ route: { path: '/fleet/A-1' } });
    await close(world, [b]);
  });

  it('knows a node that has ended by its last life', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    await a.admin.close();
    await world.clock.advance(2000);
    expect(namesAt(b)).toEqual(['b']);
    expect([await forget(b, 'a'), await forget(b, 'a')]).toEqual(['204', '404 node-not-found']);
    await close(world, [b]);
  });

  it('refuses a node that runs, and the node itself, however long they have', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a', leaseMs), await world.open('b', leaseMs)];
    for (const ms of [0, 1000, 60_000]) {
      await world.clock.advance(ms);
      expect([await forget(b, 'a'), await forget(b, 'b')]).toEqual(['409 node-alive', '409 node-alive']);
    }
    expect(namesAt(b)).toEqual(['b', 'a']);
    await close(world, [a, b]);
  });

  it('refuses a node whose announcement this version cannot read', async () => {
    const world = createWorld();
    const b = await world.open('b', leaseMs);
    await world.memory.open().announce('new', { form: 'of later versions' });
    await world.clock.advance(60_000);
    expect(await forget(b, 'new')).toBe('409 node-alive');
    await close(world, [b]);
  });

  it('counts the silence anew after a time in which nobody could be heard', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    for (const node of [a, b]) node.cut(true);
    await world.clock.advance(60_000);
    expect(await forget(b, 'a')).toBe('503 store-unavailable');
    b.cut(false);
    await world.clock.advance(6000);
    expect(await forget(b, 'a')).toBe('409 node-alive');
    await world.clock.advance(10_000);
    expect(await forget(b, 'a')).toBe('204');
    await close(world, [b]);
  });

  it('answers 503 if the store does not, and takes the node out when the store does', async () => {
    const world = createWorld();
    const held = hold();
    let isSlow = false;
    const a = await world.open('a');
    const b = await world.open('b', leaseMs, {
      wrap: (store) =>
        altered(store, {
          append: async (...given) => {
            if (isSlow) await held.apply({} as never, {} as never, () => undefined);
            return store.append(...given);
          },
        }),
    });
    await a.admin.close();
    await world.clock.advance(2000);
    isSlow = true;
    const answer = forget(b, 'a');
    await world.clock.advance(b.admin.limits.storeDeadlineMs + 1000);
    expect(await answer).toBe('503 store-unavailable');
    isSlow = false;
    held.done();
    await world.clock.advance(10_000);
    expect(await forget(b, 'a')).toBe('404 node-not-found');
    await close(world, [b]);
  });

  it('says outside a fleet that there is none', async () => {
    expect(await forget(runAdmin(), 'a')).toBe('404 node-not-found');
  });
});

describe('a node that was taken out and was not dead', () => {
  it('is a node of the fleet again when it is back', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a', leaseMs), await world.open('b', leaseMs)];
    a.cut(true);
    await world.clock.advance(leaseMs + 3000);
    expect(await forget(b, 'a')).toBe('204');
    a.cut(false);
    await world.clock.advance(10_000);
    expect((await a.admin.execute(stop)).outcome).toBe('accepted');
    expect((await storedIn(world)).lifeOf('a')).toBeDefined();
    expect(namesAt(b)).toEqual(['b', 'a']);
    await close(world, [a, b]);
  });

  it('ends when it is back if another process has begun under its name', async () => {
    const world = createWorld();
    const first = await world.open('a', leaseMs);
    await first.admin.close();
    const [zombie, b] = [await world.open('a', leaseMs), await world.open('b', leaseMs)];
    zombie.cut(true);
    await world.clock.advance(leaseMs + 3000);
    expect(await forget(b, 'a')).toBe('204');
    const next = await world.open('a', leaseMs);
    zombie.cut(false);
    await world.clock.advance(10_000);
    const told = 'Another process has begun under the name of the node "a"';
    expect(zombie.errors.map(String).at(-1)).toContain(told);
    expect(await zombie.admin.execute(limit(7))).toMatchObject({ problem: { status: 503 } });
    expect(next.errors).toEqual([]);
    expect((await next.admin.execute(limit(8))).outcome).toBe('accepted');
    await close(world, [zombie, next, b]);
  });
});
