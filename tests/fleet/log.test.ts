/**
 * The log of a fleet: its history, what it is compacted to, and what no version can read.
 */
import { describe, expect, it } from '@jest/globals';
import { createSnapshot, StoreLostError, type Json } from 'gateway-admin-core';
import { createSharedMemory, openFleet, type FleetGap, type FleetRecord } from 'gateway-admin-core/fleet';

import { altered } from '../support/altered-store.ts';
import { appendTo, replaceState, foreignRecord } from '../support/foreign-node.ts';
import { limit } from '../support/transition.ts';
import { createWorld, type Node, type World } from './node.ts';

const over = { done: true, value: undefined };

/** The records of the history behind a position, up to the present end. */
async function historyOf({ admin }: Node, after: string): Promise<readonly FleetRecord[]> {
  const records: FleetRecord[] = [];
  for await (const step of admin.fleet.history({ after })) {
    if ('records' in step) records.push(...step.records);
    if (step.position === admin.fleet.position) break;
  }
  return records;
}

async function openPair(): Promise<{ world: World; one: Node; other: Node }> {
  const world = createWorld();
  return { world, one: await world.open('one'), other: await world.open('other') };
}

async function close(...nodes: readonly Node[]): Promise<void> {
  for (const { admin } of nodes) await admin.close();
}

describe('the history of a fleet', () => {
  it('is the same at every node, has what was refused, and can be read on at another node', async () => {
    const { world, one, other } = await openPair();
    const start = one.admin.fleet.position;
    await one.admin.execute(limit(7), { actor: 'ada' });
    const middle = one.admin.fleet.position;
    await world.clock.advance(2000);
    other.gateway.will('failBefore');
    await other.admin.execute(limit(8));
    await world.clock.advance(2000);
    const whole = await historyOf(one, start);
    const short = whole.map(({ type, node, events }) => [type, node, events.length]);
    expect(short).toEqual([
      ['intent', 'one', 1],
      ['settlement', 'one', 1],
      ['intent', 'other', 1],
      ['settlement', 'other', 0],
    ]);
    expect(whole[1]).toMatchObject({
      command: whole[0]?.command,
      resources: ['/services/My-Service'],
      events: [{ type: 'service.updated', actor: 'ada', from: { max_connection: 100 } }],
    });
    expect([await historyOf(other, start), await historyOf(other, middle)]).toEqual([whole, whole.slice(2)]);
    // For those who read the log as a table.
    const { records } = await world.memory.open().load();
    expect(records.slice(-4)).toMatchObject([{ actor: 'ada' }, { actor: 'ada' }, {}, {}]);
    expect(records.at(-1)).not.toHaveProperty('actor');
  });

  it('has a step without records where a node begins', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const after = one.admin.fleet.position;
    await world.open('other');
    const { position } = await world.memory.open().load();
    const step = await one.admin.fleet.history({ after }).next();
    expect(step).toMatchObject({ value: { position, records: [] } });
  });

  it('is followed as it happens, until the signal aborts', async () => {
    const { world, one, other } = await openPair();
    const leave = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const step of other.admin.fleet.history({ signal: leave.signal })) seen.push(step.position);
    })();
    await world.clock.settle();
    const after = one.admin.fleet.position;
    await one.admin.execute(limit(7));
    await world.clock.advance(2000);
    expect(seen.at(-1)).toBe(one.admin.fleet.position);
    const history = one.admin.fleet.history({ after, signal: leave.signal });
    expect(await history.next()).toMatchObject({ value: { records: [{ type: 'intent' }] } });
    leave.abort();
    await reading;
    // There would be another step.
    expect(await history.next()).toEqual(over);
  });

  it.each([[false], [true]])('ends with its signal, and with its node; in an outage: %s', async (isOut) => {
    const world = createWorld();
    const one = await world.open('one');
    one.cut(isOut);
    await world.clock.advance(5000);
    const { signal, leave } = ((leave) => ({ signal: leave.signal, leave }))(new AbortController());
    const { fleet } = one.admin;
    const left = [fleet.history({ signal }).next(), fleet.history({ after: fleet.position, signal }).next()];
    const closed = fleet.history().next();
    const lost = isOut ? fleet.history({ after: 'x', signal }).next() : over;
    await world.clock.settle();
    leave.abort();
    expect([...(await Promise.all(left)), await lost]).toEqual([over, over, over]);
    await close(one);
    expect(await closed).toEqual(over);
  });

  it('says where steps are missing, and once that the store was set back', async () => {
    const world = createWorld();
    const one = await world.open('one');
    const { value } = (await one.admin.fleet.history({ after: '99.lost' }).next()) as { value: FleetGap };
    expect(value).toEqual({ gap: true, position: one.admin.fleet.position });
    const restore = world.memory.backup();
    await one.admin.execute(limit(7));
    const reading = one.admin.fleet.history();
    restore();
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
    let [reads, isBehind] = [0, false];
    const one = await world.open('one');
    const other = await world.open('other', 10_000, {
      wrap: (store) =>
        altered(store, {
          changed: () => new Promise(() => undefined),
          read: (after) => {
            reads += Number(isBehind);
            return store.read(after);
          },
        }),
    });
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

  it.each([null, 5, { after: 5 }, { after: null }, { signal: 5 }, { afterr: '1' }])(
    'takes no options such as %j',
    async (options) => {
      const one = await createWorld().open('one');
      expect(() => one.admin.fleet.history(options as object)).toThrow(TypeError);
    },
  );
});

describe('a log that has grown over many short lives', () => {
  it('is compacted, also after another node was faster', async () => {
    const world = createWorld();
    await close(await world.open('one'));
    const store = world.memory.open();
    const records = Array.from({ length: 10_000 }, (_none, index) => foreignRecord(`c-${String(index)}`));
    await appendTo(store, ...records);
    const calls: string[] = [];
    const wrap = (own: typeof store) =>
      altered(own, {
        read: (after) => (calls.push('read'), own.read(after)),
        compact: async (...how) => {
          calls.push('compact');
          if (calls.filter((call) => call === 'compact').length === 1)
            await appendTo(store, foreignRecord('b-1'));
          return own.compact(...how);
        },
      });
    const one = await world.open('one', 10_000, { wrap });
    await one.admin.execute(limit(7));
    await world.clock.advance(2000);
    expect((await store.load()).records.length).toBeLessThan(10);
    expect(calls.slice(calls.indexOf('compact'))).toEqual(
      expect.arrayContaining(['compact', 'read', 'compact']),
    );
    expect(one.errors).toEqual([]);
  });
});

const unreadable = 'that this version cannot read. Update this node';
const later = 'of format 4, and this version of gateway-admin-core reads format 3';

describe('a log that this version cannot read', () => {
  it.each([
    [{ format: 4 }, `a state ${later}`],
    [{ format: 4, open: 'of a later version' }, `a state ${later}`],
    ...[{ format: 'x' }, { open: {} }, { document: { services: {} } }].map(
      (change) => [change, `a state ${unreadable}, or restore a backup.`] as const,
    ),
  ])('opens no node: a state with %j', async (change, sentence) => {
    const world = createWorld();
    await close(await world.open('one'));
    await replaceState(world.memory.open(), change);
    await expect(world.open('one')).rejects.toThrow(`The shared store contains ${sentence}`);
  });

  const event = { type: 'service.updated', resource: '/services/My-Service', at: 1 };
  const user = {
    type: 'user.created',
    resource: '/users/x',
    at: 1,
    user: { password: { sealed: 'planted-secret' } },
  };
  it.each<readonly [string, Json, string]>([
    ['node-outdated', { type: 'later', format: 4 }, `a record ${later}`],
    ['node-outdated', foreignRecord('b-1', { format: 4 }), `a record ${later}`],
    ...[null, 5, { type: 'later' }, foreignRecord('b-1', { last: 'x' })].map(
      (record) => ['store-unavailable', record, `a record ${unreadable}`] as const,
    ),
    ...[{ type: event.type, at: 1 }, { ...event, before: {}, after: null }, user].map((each) => {
      const sentence = 'a record that does not fit the configuration before it';
      return ['store-unavailable', foreignRecord('b-1', { events: [each] }), sentence] as const;
    }),
  ])('ends commands with %s, and says why: the record %j', async (code, record, sentence) => {
    const world = createWorld();
    const one = await world.open('one');
    await appendTo(world.memory.open(), record);
    await world.clock.advance(3000);
    const told = expect.stringMatching(new RegExp(`^\\w+: The shared store contains ${sentence}`)) as unknown;
    expect(one.errors.map(String)).toEqual([told]);
    expect(String(one.errors)).not.toContain('planted-secret');
    expect(await one.admin.execute(limit(7))).toMatchObject({ problem: { code } });
    await close(one);
    await expect(world.open('one')).rejects.toThrow(`The shared store contains ${sentence}`);
  });
});

it('a lost store is neither read nor written again', async () => {
  const world = createWorld();
  let [isLost, calls] = [false, 0];
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
  for (let time = 0; time < 2; time += 1)
    await expect(one.admin.fleet.forget('other')).rejects.toThrow('Gone');
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
    await openFleet({
      snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', listeners }] }),
      gateway: { apply: async () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
      store: Object.assign(store, { addresses: [{ host, port }] }),
      node: 'one',
      observe: { onError: (error) => errors.push(error) },
    });
    const told = errors.filter((error) => String(error).includes('through the listener "Sales In"'));
    expect(told).toHaveLength(count);
  });
});
