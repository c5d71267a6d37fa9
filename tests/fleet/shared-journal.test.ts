import { describe, expect, it } from '@jest/globals';
import { createSnapshot, type Json } from 'gateway-admin-core';
import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';

import { level, levelRecord, modeRecord, restoreShared } from '../../src/fleet/shared-history.ts';
import { Entries } from '../../src/runtime/journal/entries.ts';
import { SharedJournal } from '../../src/fleet/shared-journal.ts';
import { SharedLog } from '../../src/fleet/shared-log.ts';
import { watchersOf } from '../../src/runtime/options.ts';

const given = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });

/** A journal on a store that has the record of a life. The names of its later calls go to `calls`. */
async function openJournal(store: SharedStore, calls: string[] = [], errors: unknown[] = []) {
  const { position, ...stored } = await store.load();
  const log: SharedLog = new SharedLog({
    store: Object.assign(Object.create(store) as SharedStore, {
      append: (...given: Parameters<SharedStore['append']>) => (calls.push('append'), store.append(...given)),
      compact: (...given: Parameters<SharedStore['compact']>) => (
        calls.push('compact'),
        store.compact(...given)
      ),
      read: (after: string) => (calls.push('read'), store.read(after)),
    }),
    writing: { node: 'one', life: 'a' },
    given,
    history: restoreShared(stored, given, level),
    highest: level,
    position,
    isInFlight: () => false,
    isRecovering: () => false,
    align: (own) => own,
    onMove: () => undefined,
    onChange: () => undefined,
    onSuperseded: () => undefined,
    onError: (error) => errors.push(error),
  });
  await log.begin((_name, call) => call(), stored.state === undefined);
  calls.length = 0;
  const onError = (error: unknown): void => void errors.push(error);
  const journal = new SharedJournal({
    ...watchersOf({ onError }),
    log,
    own: new Entries(),
    deadlineMs: 1000,
  });
  return { log, journal };
}

describe('the journal of a node', () => {
  it.each(['append', 'compact'] as const)('reads, and goes on, after a conflict at %s', async (call) => {
    const memory = createSharedMemory();
    const [calls, errors]: [string[], unknown[]] = [[], []];
    const { log, journal } = await openJournal(memory.open(), calls, errors);
    const other = memory.open();
    const { position } = await other.load();
    const foreign = levelRecord(level, { node: 'two', life: 'b' }) as unknown as Json;
    await other.append([foreign], { expectedPosition: position });
    if (call === 'compact') await journal.compact();
    const mode = modeRecord({ node: 'one', life: 'a' }, 'mode a-1', { readOnly: true, actor: undefined });
    const kept = journal.enter(log.entryOf(mode), { use: 'result', then: () => log.history.isReadOnly });
    expect(await kept).toBe(true);
    expect(calls).toEqual([call, 'read', 'append']);
    expect([journal.outage, errors]).toEqual([undefined, []]);
  });

  it('reads on with nothing while the store is out of reach, and says so at once', async () => {
    const failed = (): Promise<never> => Promise.reject(new Error('The disk is full'));
    const { journal } = await openJournal(Object.assign(createSharedMemory().open(), { read: failed }));
    journal.startRepeating();
    expect(await journal.readOn()).toMatchObject({ error: { message: 'The disk is full' } });
    expect(await journal.readOn()).toBe(journal.outage);
    await journal.close();
  });

  it('reads the log once for all that wait for the same read', async () => {
    const calls: string[] = [];
    const { journal } = await openJournal(createSharedMemory().open(), calls);
    await Promise.all([journal.readOn(), journal.readOn(), journal.readOn()]);
    expect(calls).toEqual(['read']);
    await journal.readOn();
    expect(calls).toEqual(['read', 'read']);
  });
});
