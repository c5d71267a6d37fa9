/**
 * A node on a store of the host that answers wrongly, throws, never ends, or gives hints for nothing.
 */
import { describe, expect, it } from '@jest/globals';
import { createPbkdf2Hasher, StoreConflictError, systemClock } from 'gateway-admin-core';
import { createSharedMemory, openFleet, type SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { limit } from '../support/transition.ts';
import { createWorld, snapshot, type Node } from './node.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const silently = (): Promise<never> =>
  new Promise((_resolve, reject) => {
    (reject as () => void)();
  });
const boom = (): never => {
  throw new Error('boom');
};

/** A store with some functions of its own. The compiler cannot know what they answer. */
function misbehaving(functions: (store: SharedStore) => Readonly<Record<string, unknown>>) {
  return (store: SharedStore): SharedStore =>
    ({
      durable: store.durable,
      load: () => store.load(),
      append: (records, where) => store.append(records, where),
      compact: (state, where) => store.compact(state, where),
      read: (after) => store.read(after),
      changed: (after, signal) => store.changed(after, signal),
      announce: (node, status) => store.announce(node, status),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      ...functions(store),
    }) satisfies SharedStore;
}

/** A node of a fleet that has begun, on a store that misbehaves. */
async function openOn(functions: (store: SharedStore) => Readonly<Record<string, unknown>>) {
  const world = createWorld();
  await (await world.open('first')).admin.close();
  return { world, node: await world.open('a', 10_000, { wrap: misbehaving(functions) }) };
}

async function executed({ world, node }: Awaited<ReturnType<typeof openOn>>): Promise<string> {
  const execution = await world.clock.waitFor(node.admin.execute(limit(7)));
  return execution.outcome === 'refused' ? execution.problem.code : execution.outcome;
}

/** The error of a node whose store gives no hints. */
function noHints(reason: string): string {
  return `The shared store gives no hints: ${reason}. Changes go on, and nodes see those of others up to a second later.`;
}

function told({ errors }: Node): readonly string[] {
  return errors.map((error) => (error as Error).message);
}

describe('a store whose hints are wrong', () => {
  it.each([
    ['throws', boom, ['boom']],
    ['answers nothing', () => undefined, []],
    ['rejects with nothing', silently, ['The shared store rejected changed() and did not say why']],
    ['never ends', never, []],
    ['resolves at once, always', () => Promise.resolve(), []],
  ])('is read once a second if changed %s', async (_what, changed, reasons) => {
    const opened = await openOn(() => ({ changed }));
    const { world, node } = opened;
    const other = await world.open('b');
    expect((await other.admin.execute(limit(8))).outcome).toBe('accepted');
    await world.clock.advance(2000);
    expect(node.admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(8);
    expect(await executed(opened)).toBe('accepted');
    await node.admin.close();
    await other.admin.close();
    expect(told(node)).toEqual(reasons.map((reason) => noHints(reason)));
  });

  it('is not read more than a hundred times a second', async () => {
    let reads = 0;
    const { world, node } = await openOn((store) => ({
      changed: () => Promise.resolve(),
      read: (after: string) => {
        reads += 1;
        return store.read(after);
      },
    }));
    await world.clock.advance(10_000);
    expect(reads).toBeLessThan(1000);
    await node.admin.close();
  });

  it('does not collect calls that ignore their signal', async () => {
    let calls = 0;
    const { world, node } = await openOn(() => ({
      changed: () => {
        calls += 1;
        return never();
      },
    }));
    await world.clock.advance(60_000);
    expect(calls).toBe(10);
    await node.admin.close();
  });
});

describe('a store that answers something else', () => {
  const steps = [
    undefined,
    {},
    [null],
    [{ records: 5, position: '9.x' }],
    [{ records: [], position: 5 }],
    [{ records: [], position: {} }],
    [{ records: [], position: 'a\r\nx: y' }],
  ];

  it.each(steps)('refuses commands, and says once why: read gives %j', async (answer) => {
    const opened = await openOn(() => ({ read: () => Promise.resolve(answer) }));
    await opened.world.clock.advance(10_000);
    expect(await executed(opened)).toBe('store-unavailable');
    expect(told(opened.node)).toEqual([
      expect.stringMatching(
        /^The shared store answered read\(\) with (undefined|an object) instead of 'gone', or/,
      ),
    ]);
    await opened.node.admin.close();
  });

  it('refuses commands while it gives the same step twice', async () => {
    const opened = await openOn((store) => ({
      read: async (after: string) => {
        const found = await store.read(after);
        return found === 'gone' ? found : [...found, { records: [], position: after }];
      },
    }));
    await opened.world.clock.advance(3000);
    expect(await executed(opened)).toBe('store-unavailable');
    await opened.node.admin.close();
  });

  it.each([undefined, 5, '', 'x'.repeat(256), '{"sealed":"planted-secret"}\n'])(
    'is asked again, and quoted nowhere, if append gives %j',
    async (answer) => {
      let isWrong = false;
      const opened = await openOn((store) => ({
        append: async (...how: Parameters<SharedStore['append']>) => {
          const position = await store.append(...how);
          return isWrong ? answer : position;
        },
      }));
      isWrong = true;
      expect(await executed(opened)).toBe('store-unavailable');
      isWrong = false;
      await opened.world.clock.advance(10_000);
      expect(await executed(opened)).toBe('accepted');
      expect(told(opened.node)).toEqual([
        expect.stringMatching(/^The shared store answered append\(\) with .* instead of a position/),
      ]);
      expect(String(told(opened.node))).not.toContain('planted-secret');
      await opened.node.admin.close();
    },
  );

  it('is told of in a sentence if it rejects with nothing', async () => {
    let isSilent = false;
    const opened = await openOn((store) => ({
      append: (...how: Parameters<SharedStore['append']>) => (isSilent ? silently() : store.append(...how)),
    }));
    isSilent = true;
    expect(await executed(opened)).toBe('store-unavailable');
    expect(told(opened.node)).toEqual(['The shared store rejected append() and did not say why.']);
    await opened.node.admin.close();
  });

  it.each([
    ['load', undefined, /answered load\(\) with undefined/],
    ['load', { records: null, position: '1' }, /answered load\(\)/],
    ['load', { records: [] }, /answered load\(\)/],
    ['compact', undefined, /answered compact\(\)/],
    ['announce', undefined, /answered announce\(\) with undefined/],
    ['announce', {}, /answered announce\(\)/],
  ])('cannot be opened if %s gives %j', async (name, answer, sentence) => {
    const wrap = misbehaving(() => ({ [name]: () => Promise.resolve(answer) }));
    await expect(createWorld({ wrap }).open('a')).rejects.toThrow(sentence);
  });
});

describe('the beginning of a fleet', () => {
  it('ends if the store is empty, and says without end that others were faster', async () => {
    const wrap = misbehaving(() => ({ compact: () => Promise.reject(new StoreConflictError('1', '2')) }));
    await expect(createWorld({ wrap }).open('a')).rejects.toThrow(StoreConflictError);
  });
});

describe('a store that is emptied under its nodes', () => {
  it('gets no change without a configuration before it', async () => {
    const empty = { isEmpty: false };
    const { world, node } = await openOn((store) => ({
      read: (after: string) => (empty.isEmpty ? Promise.resolve('gone') : store.read(after)),
      load: async () => {
        const { position, ...stored } = await store.load();
        return empty.isEmpty ? { records: [], position } : { ...stored, position };
      },
    }));
    empty.isEmpty = true;
    await world.clock.advance(2000);
    expect(await node.admin.execute(limit(7))).toMatchObject({ problem: { code: 'store-unavailable' } });
    expect(told(node)).toEqual([
      expect.stringMatching(/^The shared store is empty: its content was deleted/),
    ]);
    expect(node.gateway.applied).toEqual([]);
    await node.admin.close();
  });
});

describe('a store that takes no announcements', () => {
  it('makes no wait for other nodes longer', async () => {
    let hangs = false;
    const { world, node } = await openOn((store) => ({
      announce: (...how: Parameters<SharedStore['announce']>) => (hangs ? never() : store.announce(...how)),
    }));
    const other = await world.open('b');
    await world.clock.advance(2000);
    hangs = true;
    const begin = world.clock.monotonic();
    await world.clock.waitFor(node.admin.execute(limit(7), { settle: 'fleet', waitMs: 2000 }));
    expect(world.clock.monotonic() - begin).toBeLessThanOrEqual(2000);
    hangs = false;
    await world.clock.waitFor(node.admin.close());
    await other.admin.close();
  });
});

describe('what hostile nodes say', () => {
  const status = { beat: 1, boot: 'z', version: '1', levels: [1, 1], leaseMs: 10_000, behind: [] };
  const said = { ...status, position: 'p', applied: 'p' };

  it.each([
    ['a name that would end a header', 'x\r\nset-cookie: y', said],
    ['a time that no calendar has', 'b', { ...said, behind: [{ resource: '/services/x', since: 1e300 }] }],
    ['a position of a megabyte', 'b', { ...said, position: 'x'.repeat(1_000_000) }],
  ])('is not shown: %s', async (_what, name, hostile) => {
    const world = createWorld();
    const node = await world.open('a');
    await world.memory.open().announce(name, hostile);
    await world.clock.advance(2000);
    const get = await node.admin.handle({ method: 'GET', target: '/fleet', headers: {} });
    const put = { method: 'PUT', target: '/service/My-Service/stop', headers: { prefer: 'wait=1' } };
    const stopping = await world.clock.waitFor(node.admin.handle(put));
    expect(get).toMatchObject({ response: { status: 200 } });
    expect(JSON.stringify(get).length).toBeLessThan(2000);
    expect(stopping).toMatchObject({ response: { status: 204, headers: { 'fleet-applied': 'a' } } });
    expect(told(node)).toEqual([]);
    await node.admin.close();
  });

  it.each([null, 5, { ...said, beat: 'x' }, { ...said, levels: [] }])(
    'keeps no node from its start: %j',
    async (hostile) => {
      const world = createWorld();
      await world.memory.open().announce('b', hostile);
      const node = await world.open('a');
      expect(node.admin.fleet.nodes().map(({ node }) => node)).toEqual(['a']);
      await node.admin.close();
    },
  );

  it.each([
    { type: 'service.updated', at: 1 },
    { type: 'service.updated', resource: '/services/My-Service', before: {}, after: null, at: 1 },
    { type: 'user.created', resource: '/users/x', at: 1, user: { passwordHash: 'planted-secret' } },
  ])('ends commands, with a sentence, if it does not fold: %j', async (event) => {
    const record = {
      level: 1,
      node: 'b',
      life: 'x',
      command: 'b-1',
      resources: [],
      type: 'settlement',
      events: [event],
      last: true,
    };
    const world = createWorld();
    const node = await world.open('a');
    const store = world.memory.open();
    const { position } = await store.load();
    await store.append([record], { expectedPosition: position });
    await world.clock.advance(2000);
    const sentence = /^The shared store contains a record that does not fit the configuration before it/;
    expect(told(node)).toEqual([expect.stringMatching(sentence)]);
    expect(await node.admin.execute(limit(7))).toMatchObject({ problem: { code: 'store-unavailable' } });
    await node.admin.close();
    await expect(world.open('c')).rejects.toThrow(sentence);
  });
});

describe('a node that closes', () => {
  it('is not heard again by way of a client that waits for other nodes', async () => {
    const world = createWorld();
    const [a, b] = [await world.open('a'), await world.open('b')];
    b.gateway.will(hold().apply);
    const waiting = a.admin.execute(limit(7), { settle: 'fleet', waitMs: 60_000 });
    await world.clock.advance(1000);
    await a.admin.close();
    expect((await waiting).nodes).toMatchObject([{ node: 'a' }, { node: 'b', outcome: 'waiting' }]);
    await world.clock.advance(5000);
    expect(b.admin.fleet.nodes().map(({ node }) => node)).toEqual(['b']);
    await world.clock.advance(20_000);
    await b.admin.close();
  });
});

describe('a command that waits for another node', () => {
  it('keeps the process alive until it is answered', async () => {
    const kept: number[] = [];
    const memory = createSharedMemory();
    const clock = {
      ...systemClock,
      sleep: (...[milliseconds, signal, how]: Parameters<typeof systemClock.sleep>) => {
        if (how?.keepAlive !== false) kept.push(milliseconds);
        return systemClock.sleep(milliseconds / 100, signal, how);
      },
    };
    const admin = await openFleet({
      snapshot,
      clock,
      node: 'a',
      store: memory.open(),
      hasher: createPbkdf2Hasher({ rounds: 1 }),
      gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
      limits: { effectDeadlineMs: 12_345 },
    });
    const event = { type: 'service.stopped', resource: '/services/My-Service', at: 1 };
    const effect = { type: 'service.stop', resource: '/services/My-Service' };
    const head = { level: 1, node: 'b', life: 'x', command: 'b-1', resources: ['/services/My-Service'] };
    const intent = { ...head, type: 'intent', part: 0, of: 1, events: [event], effects: [effect] };
    const store = memory.open();
    const { position } = await store.load();
    await store.append([intent], { expectedPosition: position });
    const answered = admin.execute(limit(7));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kept).toContain(12_345);
    await answered;
    await admin.close();
  });
});
