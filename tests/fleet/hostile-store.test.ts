/**
 * A node on a store of the host that answers wrongly, throws, never ends, or gives hints for nothing.
 */
import { describe, expect, it } from '@jest/globals';
import { createPbkdf2Hasher, StoreConflictError, systemClock } from 'gateway-admin-core';
import { createSharedMemory, openFleet, type SharedStore } from 'gateway-admin-core/fleet';

import { altered } from '../support/altered-store.ts';
import { appendTo, said, foreignRecord } from '../support/foreign-node.ts';
import { limit } from '../support/transition.ts';
import { createWorld, limitsAt, send, snapshot, type Node } from './node.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const silently = (): Promise<never> =>
  new Promise((_resolve, reject) => {
    (reject as () => void)();
  });
const boom = (): never => {
  throw new Error('boom');
};

/** Functions of a store that misbehave. The compiler cannot know what they answer. */
type Misbehaving = (store: SharedStore) => Readonly<Record<string, unknown>>;

/** A node of a fleet that has begun, on a store that misbehaves. */
async function openOn(functions: Misbehaving) {
  const world = createWorld();
  await (await world.open('first')).admin.close();
  const wrap = (store: SharedStore) => altered(store, functions(store));
  return { world, node: await world.open('a', 10_000, { wrap }) };
}

async function executed({ world, node }: Awaited<ReturnType<typeof openOn>>): Promise<string> {
  const execution = await world.clock.waitFor(node.admin.execute(limit(7)));
  return execution.outcome === 'refused' ? execution.problem.code : execution.outcome;
}

function told({ errors }: Pick<Node, 'errors'>): readonly string[] {
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
    expect(limitsAt([node])).toEqual([8]);
    expect(await executed(opened)).toBe('accepted');
    await world.clock.advance(2000);
    const consequence = 'Changes go on, and nodes see those of others up to a second later.';
    expect(told(node)).toEqual(
      reasons.map((reason) => `The shared store gives no hints: ${reason}. ${consequence}`),
    );
  });

  it('is not read more than a hundred times a second', async () => {
    let reads = 0;
    const { world } = await openOn((store) => ({
      changed: () => Promise.resolve(),
      read: (after: string) => ((reads += 1), store.read(after)),
    }));
    await world.clock.advance(10_000);
    expect(reads).toBeLessThan(1000);
  });

  it('does not collect calls that ignore their signal', async () => {
    let calls = 0;
    const { world } = await openOn(() => ({ changed: () => ((calls += 1), never()) }));
    await world.clock.advance(60_000);
    expect(calls).toBe(10);
  });
});

describe('a store that answers something else', () => {
  it.each([
    undefined,
    {},
    [null],
    [{ records: 5, position: '9.x' }],
    [{ records: [], position: 5 }],
    [{ records: [], position: {} }],
    [{ records: [], position: 'a\r\nx: y' }],
  ])('refuses commands, and says once why: read gives %j', async (answer) => {
    const opened = await openOn(() => ({ read: () => Promise.resolve(answer) }));
    await opened.world.clock.advance(10_000);
    expect(await executed(opened)).toBe('store-unavailable');
    const sentence = /^The shared store answered read\(\) with (undefined|an object) instead of 'gone', or/;
    expect(told(opened.node)).toEqual([expect.stringMatching(sentence)]);
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
      const sentence = /^The shared store answered append\(\) with .* instead of a position/;
      expect(told(opened.node)).toEqual([expect.stringMatching(sentence)]);
      expect(String(told(opened.node))).not.toContain('planted-secret');
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
  });

  it.each([
    ['load', undefined, /answered load\(\) with undefined/],
    ['load', { records: null, position: '1' }, /answered load\(\)/],
    ['load', { records: [] }, /answered load\(\)/],
    ['compact', undefined, /answered compact\(\)/],
    ['announce', undefined, /answered announce\(\) with undefined/],
    ['announce', {}, /answered announce\(\)/],
  ])('cannot be opened if %s gives %j', async (name, answer, sentence) => {
    const wrap = (store: SharedStore) => altered(store, { [name]: () => Promise.resolve(answer) });
    await expect(createWorld({ wrap }).open('a')).rejects.toThrow(sentence);
  });

  it('ends the beginning of a fleet if it says without end that others were faster', async () => {
    const compact = () => Promise.reject(new StoreConflictError('1', '2'));
    const wrap = (store: SharedStore) => altered(store, { compact });
    await expect(createWorld({ wrap }).open('a')).rejects.toThrow(StoreConflictError);
  });

  it('gets no change without a configuration before it, once it is empty', async () => {
    const empty = { isEmpty: false };
    const opened = await openOn((store) => ({
      read: (after: string) => (empty.isEmpty ? Promise.resolve('gone') : store.read(after)),
      load: async () => {
        const { position, ...stored } = await store.load();
        return empty.isEmpty ? { records: [], position } : { ...stored, position };
      },
    }));
    empty.isEmpty = true;
    await opened.world.clock.advance(2000);
    expect(await executed(opened)).toBe('store-unavailable');
    const { node } = opened;
    expect(told(node)).toEqual([
      expect.stringMatching(/^The shared store is empty: its content was deleted/),
    ]);
    expect(node.gateway.applied).toEqual([]);
  });

  it('makes no wait for other nodes longer if it takes no announcements', async () => {
    let hangs = false;
    const { world, node } = await openOn((store) => ({
      announce: (...how: Parameters<SharedStore['announce']>) => (hangs ? never() : store.announce(...how)),
    }));
    await world.open('b');
    await world.clock.advance(2000);
    hangs = true;
    const begin = world.clock.monotonic();
    await world.clock.waitFor(node.admin.execute(limit(7), { settle: 'fleet', waitMs: 2000 }));
    expect(world.clock.monotonic() - begin).toBeLessThanOrEqual(2000);
  });
});

describe('what hostile nodes say', () => {
  it.each([
    ['a name that would end a header', 'x\r\nset-cookie: y', said],
    ['a time that no calendar has', 'b', { ...said, behind: [{ resource: '/services/x', since: 1e300 }] }],
    ['a position of a megabyte', 'b', { ...said, position: 'x'.repeat(1_000_000) }],
  ])('is not shown: %s', async (_what, name, hostile) => {
    const world = createWorld();
    const node = await world.open('a', 3000);
    await world.memory.open().announce(name, hostile);
    await world.clock.advance(2000);
    const { status, body = '' } = await send(node, { target: '/fleet' });
    expect([status, String(body).length < 2000]).toEqual([200, true]);
    const put = { method: 'PUT', target: '/service/My-Service/stop', headers: { prefer: 'wait=1' } };
    const stopping = await world.clock.waitFor(send(node, put));
    expect(stopping).toMatchObject({ status: 204, headers: { 'fleet-applied': 'a' } });
    expect(told(node)).toEqual([]);
  });

  it.each([null, 5, { ...said, beat: 'x' }, { ...said, format: [] }])(
    'keeps no node from its start: %j',
    async (hostile) => {
      const world = createWorld();
      await world.memory.open().announce('b', hostile);
      const { admin } = await world.open('a');
      expect(admin.fleet.nodes().map(({ node }) => node)).toEqual(['a']);
    },
  );
});

it('a command that waits for another node keeps the process alive until it is answered', async () => {
  const kept: number[] = [];
  const store = createSharedMemory().open();
  const clock = {
    ...systemClock,
    sleep: (...[milliseconds, signal, how]: Parameters<typeof systemClock.sleep>) => {
      if (how?.keepAlive !== false) kept.push(milliseconds);
      return systemClock.sleep(milliseconds / 100, signal, how);
    },
  };
  const admin = await openFleet({
    ...{ snapshot, clock, node: 'a', store, hasher: createPbkdf2Hasher({ rounds: 1 }) },
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    limits: { effectDeadlineMs: 12_345 },
  });
  const resource = '/services/My-Service';
  const intent = {
    ...{ type: 'intent', part: 0, of: 1, resources: [resource] },
    events: [
      { type: 'service.stopped', resource, at: 1, from: { state: 'started' }, to: { state: 'stopped' } },
    ],
  };
  await appendTo(store, foreignRecord('b-1', intent));
  const answered = admin.execute(limit(7));
  while (!kept.includes(12_345)) await new Promise((resolve) => setImmediate(resolve));
  await answered;
  await admin.close();
});
