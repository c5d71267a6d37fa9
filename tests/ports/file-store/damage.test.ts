import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';

import type { ConfigurationStore } from 'gateway-admin-core';
import { DamagedStoreError, openFileStore } from 'gateway-admin-core/file-store';

import { DiskLog, restoreDisk, type Disk } from '../../support/disk-log.ts';
import {
  Ledger,
  appendIn,
  historyIn,
  liveFully,
  numbersIn,
  openStoreWith,
  repeating,
} from '../../support/store-life.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { watchedFiles, type Watcher } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();

/** What loading gives, or that it was refused as damaged. */
async function loaded(directory: string): Promise<readonly number[] | 'refused'> {
  return historyIn(directory).then(numbersIn, (error: unknown) => {
    if (error instanceof DamagedStoreError) return 'refused';
    throw error;
  });
}

describe('a damaged journal or snapshot', () => {
  let directory: string;
  let journal: Buffer;
  let snapshot: Buffer;
  /** Where the appends begin; the last entry is the end. */
  const offsets: number[] = [];

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const store = await openFileStore(directory);
    const ledger = new Ledger();
    let { position } = await store.load();
    position = await ledger.append(store, position, 2);
    position = await ledger.compact(store, position);
    for (const count of [1, 3, 1, 2]) {
      offsets.push(Number(position.split('.')[1]));
      position = await ledger.append(store, position, count);
    }
    await store[Symbol.asyncDispose]();
    journal = await readFile(join(directory, 'journal-2'));
    snapshot = await readFile(join(directory, 'snapshot'));
    offsets.push(journal.length);
  });

  /** The numbers that are whole in the first so many bytes of the journal. */
  function numbersBefore(end: number): readonly number[] {
    const counts = [2, 3, 6, 7, 9];
    const whole = offsets.filter((offset) => offset <= end).length;
    return Array.from({ length: counts[whole - 1] ?? 0 }, (_none, index) => index);
  }

  async function load(
    changedJournal: Buffer,
    changedSnapshot = snapshot,
  ): Promise<readonly number[] | 'refused'> {
    await writeFile(join(directory, 'journal-2'), changedJournal);
    await writeFile(join(directory, 'snapshot'), changedSnapshot);
    return loaded(directory);
  }

  // Promise: journal-cut
  it('is read up to a cut at any byte of the journal, and refused when the header of the journal is cut', async () => {
    // Every fifth byte, and each byte near the ends of the frames.
    const isNear = (cut: number): boolean => offsets.some((offset) => Math.abs(cut - offset) < 3);
    const cuts = Array.from({ length: journal.length + 1 }, (_none, index) => index);
    for (const cut of cuts.filter((index) => index % 5 === 0 || isNear(index))) {
      const expected = cut < (offsets[0] ?? 0) ? 'refused' : numbersBefore(cut);
      expect([cut, await load(journal.subarray(0, cut))]).toEqual([cut, expected]);
    }
  });

  // Promise: snapshot-cut
  it('is refused when the snapshot is cut at any byte', async () => {
    for (let cut = 0; cut < snapshot.length; cut += 1) {
      expect([cut, await load(journal, snapshot.subarray(0, cut))]).toEqual([cut, 'refused']);
    }
  });

  // No flipped bit can pass for a torn end: the length of a frame is checked by itself, so that nothing can seem to be
  // cut; and a sector that was not written is zeros, which no single bit makes of JSON or of the header of a frame.
  // Promise: journal-bit
  it('is refused when any bit of the header or of the last two appends of the journal is flipped', async () => {
    const [end = 0, start = 0] = [offsets[0], offsets.at(-3)];
    const places = Array.from(journal.keys()).filter((index) => index < end || index >= start);
    for (const index of places)
      expect([index, await load(flipped(journal, index))]).toEqual([index, 'refused']);
  });

  // Promise: snapshot-bit
  it('is refused when any bit of the snapshot is flipped', async () => {
    for (const index of snapshot.keys())
      expect([index, await load(journal, flipped(snapshot, index))]).toEqual([index, 'refused']);
  });
});

/** Flips one bit of a byte, of each byte another one. The tests of frames flip them all, without a disk. */
function flipped(bytes: Buffer, index: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(index) ^ (1 << (index % 8)), index);
  return changed;
}

/** Notes what a failing disk does: which call fails, and how. */
type Failing = (failAt: number) => { readonly watcher: Watcher; readonly failed: () => boolean };

class DiskError extends Error {}

/** A disk on which one call fails. */
function failingOnce(fail: (make: () => Promise<unknown>) => Promise<never>): Failing {
  return (failAt) => {
    let calls = 0;
    return {
      watcher: (_call, make) => ((calls += 1) === failAt ? fail(make) : make()),
      failed: () => calls >= failAt,
    };
  };
}

/** Does it and says that it failed. */
async function failAfter(make: () => Promise<unknown>): Promise<never> {
  await make();
  throw new DiskError('failed in the end');
}

/** A disk that is gone from a call on. */
const failingFromThen: Failing = (failAt) => {
  let calls = 0;
  return {
    watcher: (_call, make) => ((calls += 1) >= failAt ? Promise.reject(new DiskError('gone')) : make()),
    failed: () => calls >= failAt,
  };
};

/** A disk that is full: one write stops in the middle, and so many later ones fail at once. */
const fullFor =
  (refused: number): Failing =>
  (failAt) => {
    let calls = 0;
    let writes = 0;
    return {
      watcher: async ({ method, parameters }, make) => {
        calls += 1;
        if (calls < failAt || method !== 'write') return make();
        writes += 1;
        const [bytes, offset, length, position] = parameters as [Buffer, number, number, number];
        if (writes > 1 + refused) return make();
        if (writes > 1) throw new DiskError('ENOSPC');
        return make([bytes, offset, Math.floor(length / 2), position]);
      },
      failed: () => calls >= failAt,
    };
  };

describe('a file store when a call of the disk fails', () => {
  // Promise: disk-failure
  it.each([
    ['before anything was done', failingOnce(() => Promise.reject(new DiskError('refused'))), true],
    ['after it was done', failingOnce(failAfter), true],
    ['and all later ones too', failingFromThen, false],
    ['because it is full', fullFor(Infinity), false],
    ['because it is full for a while', fullFor(2), true],
  ])(
    'keeps what it acknowledged once, and the same calls succeed once the disk works: it fails %s',
    async (_how, failing, recovers) => {
      let failures = 0;
      let recoveries = 0;
      for (let failAt = 1; ; failAt += 1) {
        const directory = await temporaryDirectory();
        const { watcher, failed } = failing(failAt);
        const ledger = new Ledger();
        const error = await openStoreWith(directory, watchedFiles(watcher)).then(
          (store) => endOf(store, ledger),
          (reason: unknown) => reason,
        );
        expect(error === undefined || error instanceof Error).toBe(true);
        if (error !== undefined) failures += 1;
        else if (failed()) recoveries += 1;
        const begun = ledger.kept.length > 0 || ledger.pending.length > 0;
        if (recovers && begun) expect([failAt, error]).toEqual([failAt, undefined]);
        const history = await historyIn(directory);
        expect([failAt, ledger.allows(history), numbersIn(history), ledger]).toEqual([
          failAt,
          true,
          expect.anything(),
          expect.anything(),
        ]);
        await appendIn(directory, { number: -1 });
        expect(numbersIn(await historyIn(directory)).at(-1)).toBe(-1);
        if (!failed()) break;
      }
      expect(failures).toBeGreaterThan(5);
      expect(recoveries > 10).toBe(recovers);
    },
    120_000,
  );
});

/** Has a store live until something fails time and again; gives what failed. */
async function endOf(store: ConfigurationStore, ledger: Ledger): Promise<unknown> {
  try {
    await liveFully(repeating(store, 4), ledger);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

/** Different disks that power failures left, each with what the store there had been given by then. */
class Wrecks {
  readonly #found = new Map<string, { readonly disk: Disk; readonly ledger: Ledger }>();

  get size(): number {
    return this.#found.size;
  }

  /** Adds all that a power failure at this moment may leave. */
  add(log: DiskLog, ledger: Ledger): void {
    for (const disk of log.afterPowerFailure()) {
      const content = [...disk].map(([name, bytes]) => `${name}: ${bytes.toString('latin1')}`).sort();
      const copy = Object.assign(new Ledger(), structuredClone(ledger));
      this.#found.set(JSON.stringify([content, ledger]), { disk, ledger: copy });
    }
  }

  /** Expects that a store can go on from each of them; gives how often it had to repair something. */
  async expectSound(): Promise<number> {
    const directory = await temporaryDirectory();
    let repairs = 0;
    for (const { disk, ledger } of this.#found.values()) {
      await restoreDisk(directory, disk);
      const history = await historyIn(directory);
      if (history.repaired !== undefined) repairs += 1;
      expect([ledger.allows(history), numbersIn(history), ledger]).toEqual([
        true,
        numbersIn(history),
        ledger,
      ]);
    }
    return repairs;
  }
}

describe('a file store after a power failure', () => {
  // Promise: power-failure
  it('has every acknowledged record, and all or nothing of the call in flight, after a power failure at any moment', async () => {
    const [wrecks, ledger, directory] = [new Wrecks(), new Ledger(), await temporaryDirectory()];
    const log = new DiskLog(directory, () => wrecks.add(log, ledger));
    const store = await openStoreWith(directory, log.files);
    await liveFully(store, ledger);
    await store[Symbol.asyncDispose]();
    wrecks.add(log, ledger);
    expect(wrecks.size).toBeGreaterThan(50);
    expect(await wrecks.expectSound()).toBeGreaterThan(10);
  });

  // Promise: failed-sync
  it('has every acknowledged record after a failed sync and a power failure at any moment', async () => {
    const wrecks = new Wrecks();
    for (let failAt = 1; ; failAt += 1) {
      const [ledger, directory] = [new Ledger(), await temporaryDirectory()];
      const log = new DiskLog(directory, () => wrecks.add(log, ledger));
      const store = await openStoreWith(directory, log.files);
      let syncs = 0;
      let loaded = false;
      log.failsSync = () => loaded && (syncs += 1) === failAt;
      const watched = { ...repeating(store, 1), load: () => store.load().finally(() => (loaded = true)) };
      await liveFully(watched, ledger);
      await store[Symbol.asyncDispose]();
      wrecks.add(log, ledger);
      if (syncs < failAt) break;
    }
    expect(wrecks.size).toBeGreaterThan(100);
    await wrecks.expectSound();
  });

  // Promise: loaded-state
  it('loads the same content again, at whatever moment the earlier process was killed', async () => {
    const wrecks = new Wrecks();
    for (let killAt = 1; ; killAt += 1) {
      const [ledger, directory] = [new Ledger(), await temporaryDirectory()];
      let changes = 0;
      const first = new DiskLog(directory, () => {
        if ((changes += 1) >= killAt) throw new Error('killed');
      });
      const killed = await openStoreWith(directory, first.files);
      await liveFully(killed, ledger).catch(() => undefined);
      await killed[Symbol.asyncDispose]();
      const second = new DiskLog(directory, () => wrecks.add(second, ledger), first);
      const store = await openStoreWith(directory, second.files);
      const { position, ...history } = await store.load();
      expect(ledger.allows({ position, ...history })).toBe(true);
      ledger.settle({ position, ...history });
      wrecks.add(second, ledger);
      await ledger.append(store, position, 1);
      await store[Symbol.asyncDispose]();
      wrecks.add(second, ledger);
      if (changes < killAt) break;
    }
    expect(wrecks.size).toBeGreaterThan(200);
    await wrecks.expectSound();
  });

  // Promise: loaded-state
  it('keeps what it loaded after the earlier process could not sync', async () => {
    const [wrecks, ledger, directory] = [new Wrecks(), new Ledger(), await temporaryDirectory()];
    const log = new DiskLog(directory, () => undefined);
    const first = await openStoreWith(directory, log.files);
    const { position: start } = await first.load();
    log.failsSync = () => true;
    await expect(ledger.append(first, start, 1)).rejects.toThrow('the sync failed');
    await first[Symbol.asyncDispose]();
    log.failsSync = () => false;
    const second = await openStoreWith(directory, log.files);
    const { position, ...history } = await second.load();
    ledger.settle({ position, ...history });
    expect(ledger.kept).toEqual([0]);
    wrecks.add(log, ledger);
    await ledger.append(second, position, 1);
    wrecks.add(log, ledger);
    await second[Symbol.asyncDispose]();
    expect(await wrecks.expectSound()).toBe(0);
  });
});
