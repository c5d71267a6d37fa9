/**
 * Commands that the others end, or that the store takes back, at a moment that only a store can choose.
 */
import { expect, it } from '@jest/globals';
import {
  createResource,
  EffectRefusedError,
  patchService,
  sequence,
  type Transition,
} from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { hold } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { appendTo, compactLog, foreignRecord } from '../support/foreign-node.ts';
import { limit } from '../support/transition.ts';
import { createWorld, snapshot, type World } from './node.ts';

interface StoredRecord {
  readonly command: string;
  readonly part?: number;
  readonly last?: boolean;
}

/** A store that does something before or after an append. */
function around(
  store: SharedStore,
  act: (records: readonly StoredRecord[], append: () => Promise<string>) => Promise<string>,
): SharedStore {
  return altered(store, {
    append: (records, where) =>
      act(records as unknown as readonly StoredRecord[], () => store.append(records, where)),
  });
}

function creating(name: string): Transition {
  const definition = { name, address: '10.0.0.9', port: 5432, protocol: 'pg' };
  return (from, context) => createResource(from, 'servers', definition, context);
}

it('a command in parts begins no part after the others have ended it, and says that the earlier ones stay', async () => {
  const world = createWorld();
  const other = await world.open('other');
  const one = await world.open('one', 10_000, {
    wrap: (store) =>
      around(store, async ([{ command, part } = { command: '' }], append) => {
        const end = { node: 'other', why: 'abandoned' };
        if (part === 1) await appendTo(world.memory.open(), foreignRecord(command, end));
        return append();
      }),
  });
  expect(await one.admin.execute(sequence(creating('db-8'), creating('db-9')))).toMatchObject({
    outcome: 'refused',
    problem: { code: 'fenced', detail: expect.stringContaining('Earlier parts of the command') },
    events: [{ type: 'server.created', resource: '/servers/db-8' }],
  });
  await world.clock.advance(100);
  for (const { admin } of [one, other])
    expect(['db-8', 'db-9'].map((name) => admin.snapshot.servers.find(name)?.name)).toEqual([
      'db-8',
      undefined,
    ]);
  expect(one.gateway.applied.map(({ type }) => type)).toEqual(['server.create']);
});

it('a set-back to before the way back of a command does not let its node say that nothing was changed', async () => {
  const world = createWorld();
  const listing = hold();
  let restore: (() => void) | undefined;
  const a = await world.open('a', 10_000, {
    wrap: (store) =>
      around(store, ([first], append) => {
        if (first?.last === true) restore = void restore?.();
        return append();
      }),
  });
  a.gateway.will('done', listing.apply);
  const list = [{ op: 'add', path: '/servers/-', value: '/servers/db-9' }] as const;
  const refused = a.admin.execute(
    sequence(creating('db-9'), (from, context) => patchService(from, 'My Service', list, context)),
  );
  await listing.begun;
  restore = world.memory.backup();
  await world.clock.settle();
  listing.fail(new EffectRefusedError('No room.'));
  await world.clock.advance(5000);
  expect(await refused).toMatchObject({ outcome: 'refused', problem: { code: 'fenced' } });
  expect(a.admin.fleet.snapshot.servers.find('db-9')).toBeDefined();
  expect(a.gateway.differences(a.admin.snapshot)).toEqual([]);
});

// The first part of the other command is in no state any more, and counts all the same.
it('a change whose answer was lost shows what it was in the log, although others have gone on', async () => {
  const world: World = createWorld();
  const b = await world.open('b');
  const limitIn = ({ services }: typeof snapshot) => services.find('my-service')?.settings.max_connection;
  let [inLog, isLost]: [number | undefined, boolean] = [undefined, false];
  const a = await world.open('a', 10_000, {
    wrap: (store) =>
      around(store, async ([first, ...others], append) => {
        if (isLost || first?.last !== false || others.length === 0) return append();
        isLost = true;
        await append();
        await b.admin.fleet.forget('a');
        inLog = limitIn(b.admin.fleet.snapshot);
        await b.admin.execute(limit(8));
        await compactLog(world.memory.open(), snapshot);
        throw new Error('The answer was lost');
      }),
  });
  void a.admin.execute(sequence(creating('db-8'), creating('db-9')));
  const patching = a.admin.execute(limit(7));
  await world.clock.advance(5000);
  const patched = await patching;
  expect([inLog, 'snapshot' in patched && limitIn(patched.snapshot)]).toEqual([7, 7]);
  expect(a.errors.map(String).filter((error) => error.includes('gone back'))).toEqual([]);
});
