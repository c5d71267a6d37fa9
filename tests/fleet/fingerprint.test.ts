/**
 * Nodes that differ in what all must have alike: the key, the hasher, the lease, the names of secret parameters.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createSecretSealer,
  createSnapshot,
  toDocument,
  type Hasher,
} from 'gateway-admin-core';

import { createWorld, outcome, sealerOf, snapshot, type Node, type NodeOptions } from './node.ts';

/** Opens a node, or not. A key is tried in time of its own. */
function opening(world: ReturnType<typeof createWorld>, node: string, how: NodeOptions): Promise<Node> {
  return world.clock.waitFor(world.open(node, 10_000, how));
}

/** A hasher of a host that answers at once. */
function hasherOf(form: string): Hasher {
  const hashOf = (password: string): string => `${form}$${String(password.length)}`;
  return {
    hash: (password) => Promise.resolve(hashOf(password)),
    verify: (password, hash) => Promise.resolve(hash === hashOf(password)),
    knows: (hash) => hash.startsWith(`${form}$`),
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('the key of a fleet', () => {
  const key = { sealer: sealerOf('key 1') };

  it.each([
    ['another key', { sealer: sealerOf('key 2') }, 'seals secrets with another key than this one.'],
    ['no key', {}, 'has a key for secrets that the nodes can share, and this one has none.'],
    ['a key of its own process', { sealer: createSecretSealer() }, 'and this one has none.'],
    ...(['seal', 'open'] as const).map((name) => {
      const sentence = `sealer.${name} did not answer within 10000 ms. The node was not started.`;
      return [`a silent ${name}`, { sealer: { ...key.sealer, [name]: never } }, sentence] as const;
    }),
  ])('keeps a node out that has %s', async (_what, how, sentence) => {
    const world = createWorld();
    await world.open('one', 10_000, key);
    await (await opening(world, 'same', key)).admin.close();
    await expect(opening(world, 'other', how)).rejects.toThrow(sentence);
  });

  it('can be another one once every node with the old one has ended, in whatever way', async () => {
    const world = createWorld();
    const one = await world.open('one', 10_000, key);
    one.cut(true);
    await (await opening(world, 'other', { sealer: sealerOf('key 2') })).admin.close();
    one.cut(false);
  });

  it('is needed to set a secret: the other nodes must be able to open it', async () => {
    const one = await createWorld().open('one');
    const body = '[{"op":"replace","path":"/password","value":"correct horse battery"}]';
    const headers = { 'content-type': 'application/json-patch+json' };
    const patching = outcome(one, 'PATCH', '/services/My-Service', { headers, body });
    expect(await patching).toMatch(/secret-not-storable$/);
  });

  it('lets a node go on that is slow to compare it', async () => {
    const world = createWorld();
    let isSlow = false;
    const { open } = key.sealer;
    const slow = { ...key.sealer, open: (sealed: string) => (isSlow ? never() : open(sealed)) };
    const a = await world.open('a', 5000, { sealer: slow });
    isSlow = true;
    const b = await world.open('b', 5000, key);
    for (let passed = 0; passed < 15_000; passed += 1000) {
      await world.clock.advance(1000);
      expect(b.admin.fleet.nodes()).toMatchObject([{ node: 'b' }, { node: 'a', alive: true }]);
    }
    expect(a.errors.map(String)).toContainEqual(expect.stringContaining('compared again at the next beat'));
  });
});

describe('a node that differs from the others', () => {
  const common = {
    access: { authenticate: createBasicAuthentication() },
    hasher: hasherOf('common'),
    sealer: sealerOf('common'),
    snapshot: createSnapshot({ ...toDocument(snapshot), users: [] }),
  };

  it.each([
    ['its key', { sealer: sealerOf('other') }, 'with another key than this one'],
    ['its hasher', { hasher: hasherOf('other') }, 'in a form that the hasher'],
  ])('in %s is told of at the latest at the next beat, or refused', async (_what, own, told) => {
    const world = createWorld();
    const starting = [world.open('a', 10_000, common), world.open('b', 10_000, { ...common, ...own })];
    const [a, b] = (await world.clock.waitFor(Promise.all(starting))) as [Node, Node];
    await world.clock.advance(13_000);
    for (const { errors } of [a, b]) expect(errors.map(String)).toEqual([expect.stringContaining(told)]);
    await world.clock.waitFor(b.admin.close());
    await expect(opening(world, 'b', { ...common, ...own })).rejects.toThrow(told);
    await world.clock.waitFor(a.admin.close());
  });

  it('in the lease is told of', async () => {
    const world = createWorld();
    const nodes = [await world.open('a', 5000), await world.open('b', 60_000)];
    await world.clock.advance(3000);
    const told = expect.stringContaining('Give all nodes of the fleet the same leaseMs.') as unknown;
    expect(nodes.map(({ errors }) => errors.map(String))).toEqual([[told], [told]]);
  });

  it('in the names of secret parameters takes them over, and never stores a secret as plain text', async () => {
    const world = createWorld({ losesHint: () => true });
    const sealer = createSecretSealer({ key: new Uint8Array(32).fill(1) });
    const b = await world.open('b', 10_000, { sealer });
    const a = await world.open('a', 10_000, { sealer, secretParameters: ['Token'] });
    const planted = 'nobody may read this';
    const body = JSON.stringify([{ op: 'add', path: '/parameters/token', value: planted }]);
    const setting = { headers: { 'content-type': 'application/json' }, body };
    // This node has not read yet what the other one has declared.
    expect(await outcome(b, 'PATCH', '/servers/db-serv-1', setting)).toMatch(/^422 /);
    await world.clock.advance(1500);
    expect(await outcome(b, 'PATCH', '/servers/db-serv-1', setting)).toBe('200');
    await world.clock.advance(1500);
    const sealed = { sealed: expect.any(String) as unknown };
    for (const { admin } of [a, b]) {
      const { parameters } = admin.snapshot.servers.find('db-serv-1')?.settings ?? {};
      expect(parameters).toMatchObject({ password: sealed, token: sealed });
    }
    expect(JSON.stringify(await world.memory.open().load())).not.toContain(planted);
    await a.admin.close();
    await world.open('a', 10_000, { sealer, secretParameters: ['Token'] });
  });
});
