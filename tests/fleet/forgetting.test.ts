/**
 * Takes nodes out of a fleet over the interface: dead ones, and no others.
 */
import { describe, expect, it } from '@jest/globals';
import { hold } from 'gateway-admin-core/testing';

import { inShort, readAudit } from '../support/audit-reader.ts';
import type { Running } from '../support/running-admin.ts';
import { limit } from '../support/transition.ts';
import { createWorld, storedIn, type Node, type World } from './node.ts';

const leaseMs = 3000;

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

  it('refuses a node whose announcement this version cannot read', async () => {
    const world = createWorld();
    const b = await world.open('b', leaseMs);
    await world.memory.open().announce('new', { form: 'of later versions' });
    await world.clock.advance(60_000);
    expect(await forget(b, 'new')).toBe('409 node-alive');
    await close(world, [b]);
  });
});
