import { mkdir, readFile, readdir, rename, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { StoreConflictError, type ConfigurationStore } from 'gateway-admin-core';
import { DamagedStoreError, StoreLockedError, openFileStore } from 'gateway-admin-core/file-store';
import { storeAudits } from 'gateway-admin-core/testing';

import { encodeFrame, encodeHeader, encodeSnapshot } from '../../support/frame.ts';
import {
  Ledger,
  appendIn,
  historyIn,
  liveFully,
  numbersIn,
  openStoreWith,
} from '../../support/store-life.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { failingDisk, watchedFiles, type FileCall } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();

const audits = storeAudits(async () => {
  const directory = await temporaryDirectory();
  return { open: () => openFileStore(directory) };
});

/** The same on a disk that fails when an audit says so: it writes nothing, writes a half, or does not sync. */
const auditsOnFailingDisk = storeAudits(async () => {
  const directory = await temporaryDirectory();
  let next: 'nothing' | 'part' | 'everything' | undefined;
  const files = watchedFiles(async ({ method, parameters }, make) => {
    const kept = next;
    const fails = kept !== undefined && method === (kept === 'everything' ? 'datasync' : 'write');
    if (!fails) return make();
    next = undefined;
    if (kept === 'part') {
      const [bytes, offset, length, position] = parameters;
      await make([bytes, offset, Math.floor(Number(length) / 2), position]);
    }
    if (kept === 'everything') await make();
    throw new Error('EIO: the disk failed');
  });
  return { open: () => openStoreWith(directory, files), failNext: (kept) => (next = kept) };
});

describe('a file store', () => {
  it.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_name, audit) => {
    await expect(audit.run()).resolves.toBeUndefined();
  });

  // Promise: repeated-call
  it.each(auditsOnFailingDisk.map((audit) => [audit.name, audit] as const))(
    'on a disk that fails: %s',
    async (_name, audit) => {
      await expect(audit.run()).resolves.toBeUndefined();
    },
  );

  it('says that what is in it outlives the process', async () => {
    const store = await openFileStore(await temporaryDirectory());
    expect(store.durable).toBe(true);
    await store[Symbol.asyncDispose]();
  });

  it('makes its directory and all above it, and lets nobody else read any of it', async () => {
    const top = join(await temporaryDirectory(), 'a');
    const directory = join(top, 'b', 'c');
    const store = await openFileStore(directory);
    await liveFully(store, new Ledger());
    const paths = [top, directory, ...(await readdir(directory)).map((name) => join(directory, name))];
    const modes = await Promise.all(
      paths.map(async (path) => [path, (await stat(path)).mode & 0o777] as const),
    );
    const files = modes.filter(([path]) => /journal|snapshot/.test(path));
    expect(files.map(([, mode]) => mode.toString(8))).toEqual(['600', '600']);
    expect(modes.slice(0, 2).map(([, mode]) => mode.toString(8))).toEqual(['700', '700']);
    await store[Symbol.asyncDispose]();
  });

  // Promise: store-create
  it('is refused with create: false if its directory was deleted or is empty, and nothing is created', async () => {
    const top = await temporaryDirectory();
    const directory = join(top, 'store');
    await expect(openFileStore(directory, { create: false })).rejects.toThrow(
      /store does not exist, and the option create is false\. .* restore a backup/,
    );
    expect(await readdir(top)).toEqual([]);
    await mkdir(directory, { mode: 0o700 });
    const empty = await openFileStore(directory, { create: false });
    await expect(empty.load()).rejects.toThrow(/store contains no store, and the option create is false/);
    await empty[Symbol.asyncDispose]();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is opened with create: false once it has begun', async () => {
    const directory = await temporaryDirectory();
    await appendIn(directory, 1);
    const store = await openFileStore(directory, { create: false });
    expect((await store.load()).records).toHaveLength(1);
    await store[Symbol.asyncDispose]();
  });

  it('waits until the disk has the names of the directories that it makes', async () => {
    const synced: string[] = [];
    const watched = watchedFiles(({ method, path }, make) => {
      if (method === 'sync') synced.push(path);
      return make();
    });
    const top = await temporaryDirectory();
    const store = await openStoreWith(join(top, 'a', 'b'), watched);
    expect(synced).toEqual([join(top, 'a'), top]);
    await store[Symbol.asyncDispose]();
    synced.length = 0;
    await (await openStoreWith(join(top, 'a', 'b'), watched))[Symbol.asyncDispose]();
    expect(synced).toEqual([join(top, 'a')]);
  });

  it('works in a directory that somebody else made in one that cannot be read', async () => {
    const directory = await temporaryDirectory();
    const watched = watchedFiles(({ method, path }, make) =>
      method === 'open' && path === dirname(directory)
        ? Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' }))
        : make(),
    );
    const store = await openStoreWith(directory, watched);
    expect((await store.load()).records).toEqual([]);
    await store[Symbol.asyncDispose]();
  });

  it('leaves one journal behind, a snapshot once it was compacted, and no lock', async () => {
    const directory = await temporaryDirectory();
    await appendIn(directory, 1);
    expect(await readdir(directory)).toEqual(['journal-1']);
    const store = await openFileStore(directory);
    const { position } = await store.load();
    await store.compact(null, { expectedPosition: position });
    await store[Symbol.asyncDispose]();
    expect(await readdir(directory)).toEqual(['journal-2', 'snapshot']);
  });

  it('has one write and one wait for the disk for each append, however many records', async () => {
    const calls: FileCall[] = [];
    const watched = watchedFiles((call, make) => {
      calls.push(call);
      return make();
    });
    const store = await openStoreWith(await temporaryDirectory(), watched);
    const { position } = await store.load();
    calls.length = 0;
    await store.append(
      Array.from({ length: 1000 }, (_none, index) => index),
      { expectedPosition: position },
    );
    expect(calls.map(({ method }) => method)).toEqual(['write', 'datasync']);
    await store[Symbol.asyncDispose]();
  });

  it('goes on where a write stopped short without an error', async () => {
    const directory = await temporaryDirectory();
    const slow = watchedFiles(({ method, parameters }, make) => {
      const [bytes, offset, , position] = parameters;
      return make(method === 'write' ? [bytes, offset, 1, position] : parameters);
    });
    await appendIn(directory, 'before');
    const store = await openStoreWith(directory, slow);
    const { position } = await store.load();
    await store.append(['ä€💾'], { expectedPosition: position });
    await store[Symbol.asyncDispose]();
    expect((await historyIn(directory)).records).toEqual(['before', 'ä€💾']);
  });

  it('is refused when another program cuts the file that is read', async () => {
    const directory = await temporaryDirectory();
    await appendIn(directory, 'before');
    const path = join(directory, 'journal-1');
    const cut = watchedFiles(async ({ method }, make) => {
      if (method === 'read') await truncate(path, 20);
      return make();
    });
    const store = await openStoreWith(directory, cut);
    await expect(store.load()).rejects.toThrow(
      `${path} became shorter during the read: another program writes to the file`,
    );
    await store[Symbol.asyncDispose]();
  });

  it('fails when the system takes none of what is written, time and again', async () => {
    const directory = await temporaryDirectory();
    await appendIn(directory, 'before');
    let isIdle = false;
    const idle = watchedFiles(({ method, parameters: [buffer] }, make) =>
      isIdle && method === 'write' ? Promise.resolve({ bytesWritten: 0, buffer }) : make(),
    );
    const store = await openStoreWith(directory, idle);
    const { position } = await store.load();
    isIdle = true;
    const failed = store.append(['lost'], { expectedPosition: position });
    await expect(failed).rejects.toThrow(
      /failed: the system wrote nothing\. Nothing of this call is confirmed\./,
    );
    await store[Symbol.asyncDispose]();
  });

  it('refuses another call than the one that failed, and says which call to make', async () => {
    const directory = await temporaryDirectory();
    const disk = failingDisk();
    const store = await openStoreWith(directory, disk.files);
    const { position } = await store.load();
    disk.fails = true;
    await expect(store.append(['kept'], { expectedPosition: position })).rejects.toThrow('EIO');
    disk.fails = false;
    await expect(store.append(['lost'], { expectedPosition: position })).rejects.toThrow(
      `The last call of the store in ${directory} failed. Make the same call again first.`,
    );
    await store.append(['kept'], { expectedPosition: position });
    await store[Symbol.asyncDispose]();
    expect((await historyIn(directory)).records).toEqual(['kept']);
  });

  it('takes calls made at once in their order; the second conflicts, and neither is lost or mixed', async () => {
    const directory = await temporaryDirectory();
    const store = await openFileStore(directory);
    const { position } = await store.load();
    const [first, second] = await Promise.allSettled([
      store.append(['first'], { expectedPosition: position }),
      store.append(['second'], { expectedPosition: position }),
    ]);
    expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
    expect((second as PromiseRejectedResult).reason).toBeInstanceOf(StoreConflictError);
    await store[Symbol.asyncDispose]();
    expect((await historyIn(directory)).records).toEqual(['first']);
  });

  it('takes nothing before it is loaded, and is loaded once', async () => {
    const store = await openFileStore(await temporaryDirectory());
    await expect(store.append([1], { expectedPosition: '' })).rejects.toThrow('Call load() first');
    await store.load();
    await expect(store.load()).rejects.toThrow('loaded already');
    await store[Symbol.asyncDispose]();
    await expect(store.load()).rejects.toThrow(/^The directory \/.* is closed\. Open the directory again\.$/);
  });

  it('takes the compaction of another writer for no repeated one, though both store the same state', async () => {
    const store = await openFileStore(await temporaryDirectory());
    const first = await store.load();
    // The store gives no position before the first one.
    const before = first.position.replace(/^1\./, '0.');
    const same = { sum: 1 };
    const conflicts = async (expectedPosition: string): Promise<void> =>
      expect(store.compact(same, { expectedPosition })).rejects.toThrow(StoreConflictError);
    await conflicts(before);
    const second = await store.compact(same, { expectedPosition: first.position });
    const third = await store.compact(same, { expectedPosition: second });
    for (const position of [before, first.position, 'elsewhere']) await conflicts(position);
    expect(await store.compact(same, { expectedPosition: second })).toBe(third);
    await store[Symbol.asyncDispose]();
  });

  it('goes on after a record that was too large to keep', async () => {
    const directory = await temporaryDirectory();
    const store = await openFileStore(directory);
    const { position } = await store.load();
    const tooLarge = store.append(['ä'.repeat(2 ** 27)], { expectedPosition: position });
    await expect(tooLarge).rejects.toThrow(
      new RangeError(`One call can store at most ${String(2 ** 28 - 1)} bytes, not ${String(2 ** 28 + 4)}`),
    );
    await store.append([1], { expectedPosition: position });
    await store[Symbol.asyncDispose]();
    expect((await historyIn(directory)).records).toEqual([1]);
  });
});

describe('a directory that is in use', () => {
  it('cannot be opened a second time, by whatever path, until the first store is disposed of', async () => {
    const [top, other] = [await temporaryDirectory(), await temporaryDirectory()];
    const directory = join(top, 'store');
    await symlink(top, join(other, 'link'));
    const link = join(other, 'link', 'store');
    const first = await openFileStore(directory);
    await expect(openFileStore(directory)).rejects.toThrow(StoreLockedError);
    await expect(openFileStore(link)).rejects.toThrow(StoreLockedError);
    await first[Symbol.asyncDispose]();
    await (await openFileStore(link))[Symbol.asyncDispose]();
  });
});

describe('a path that is no directory', () => {
  it('is refused, and left as it is', async () => {
    const path = join(await temporaryDirectory(), 'file');
    await writeFile(path, 'text');
    await expect(openFileStore(path)).rejects.toThrow(/is not a directory/);
    expect(await readFile(path, 'utf8')).toBe('text');
  });
});

/** A directory in which numbers were kept: those of the snapshot 0 to 4, those of the journal 5 to 7. */
async function livedIn(): Promise<string> {
  const directory = await temporaryDirectory();
  const store = await openFileStore(directory);
  await liveFully(store, new Ledger());
  await store[Symbol.asyncDispose]();
  return directory;
}

/** Expects that loading is refused so, twice, and that nothing in the directory has changed. */
async function expectRefusal(directory: string, refusal: RegExp): Promise<unknown> {
  const names = await readdir(directory);
  const contents = await Promise.all(names.map((name) => readFile(join(directory, name))));
  await expect(historyIn(directory)).rejects.toThrow(refusal);
  const error: unknown = await historyIn(directory).catch((reason: unknown) => reason);
  expect(await readdir(directory)).toEqual(names);
  expect(await Promise.all(names.map((name) => readFile(join(directory, name))))).toEqual(contents);
  return error;
}

describe('files that no crash leaves', () => {
  // Promise: missing-file
  it('are refused when the journal that the snapshot names is missing', async () => {
    const directory = await livedIn();
    await rename(join(directory, 'journal-3'), join(directory, 'elsewhere'));
    const error = await expectRefusal(
      directory,
      /journal-3 is damaged at byte 0: the file is missing.*backup/s,
    );
    expect(error).toBeInstanceOf(DamagedStoreError);
    expect(error).toMatchObject({ path: join(directory, 'journal-3'), offset: 0 });
  });

  it('are refused when the snapshot is missing', async () => {
    const directory = await livedIn();
    await rename(join(directory, 'snapshot'), join(directory, 'elsewhere'));
    await expectRefusal(directory, /journal-1 is damaged at byte 0: the file is missing/);
  });

  it('are refused when the journal has the name of another', async () => {
    const directory = await livedIn();
    await rename(join(directory, 'journal-3'), join(directory, 'journal-1'));
    await rename(join(directory, 'snapshot'), join(directory, 'elsewhere'));
    await expectRefusal(directory, /journal-1 is damaged at byte 0/);
  });

  it('are refused when there is an older snapshot, so that newer records would be lost', async () => {
    const [directory, older] = [await livedIn(), await temporaryDirectory()];
    await appendIn(older, 1);
    await rename(join(older, 'journal-1'), join(directory, 'journal-1'));
    await rename(join(directory, 'snapshot'), join(directory, 'elsewhere'));
    await expectRefusal(
      directory,
      /journal-3 is damaged at byte 0: the snapshot that this journal continues from is missing/,
    );
  });

  it.each([
    ['journal-4', Buffer.concat([encodeHeader(4, 4), encodeFrame('[8]', 4, encodeHeader(4, 4).length)])],
    ['journal-5', encodeHeader(5, 5)],
  ])('are refused when there is a journal that follows no snapshot: %s', async (name, content) => {
    const directory = await livedIn();
    await writeFile(join(directory, name), content);
    await expectRefusal(
      directory,
      /damaged at byte 0: the snapshot that this journal continues from is missing/,
    );
  });

  it.each([
    ['an empty journal', '', 0, 'the file does not begin with a whole header'],
    [
      'the beginning of its header',
      encodeHeader(1, 1).subarray(0, 20),
      0,
      'the file does not begin with a whole header',
    ],
    [
      'something else than records',
      Buffer.concat([encodeHeader(1, 1), encodeFrame('{}', 1, 39)]),
      39,
      'the frame does not contain a list of records',
    ],
    [
      'a text',
      'This is not a journal. It is longer than a header.',
      0,
      'the file does not begin with a whole header',
    ],
  ])('are refused when there is %s', async (_what, content, offset, damage) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'journal-1'), content);
    const refusal = new RegExp(`journal-1 is damaged at byte ${String(offset)}: ${damage}`);
    expect(await expectRefusal(directory, refusal)).toMatchObject({ offset });
  });

  it.each([
    [
      'no state',
      encodeHeader(3, 0),
      /snapshot is damaged at byte \d+: the snapshot does not contain exactly one state/,
    ],
    [
      'two',
      Buffer.concat([encodeSnapshot('{}', 3), encodeFrame('{}', 0, encodeSnapshot('{}', 3).length)]),
      /does not contain exactly one state/,
    ],
    ['zeros behind it', Buffer.concat([encodeSnapshot('{}', 3), Buffer.alloc(700)]), /snapshot is damaged/],
    [
      'another last byte than was written',
      Buffer.concat([encodeSnapshot('{}', 3).subarray(0, -1), Buffer.from(']')]),
      /snapshot is damaged at byte \d+: the checksum of the frame is wrong/,
    ],
  ])('are refused when the snapshot has %s', async (_what, content, refusal) => {
    const directory = await livedIn();
    await writeFile(join(directory, 'snapshot'), content);
    await expectRefusal(directory, refusal);
  });

  it('are refused when a file is longer than any that a store writes', async () => {
    const directory = await livedIn();
    await truncate(join(directory, 'snapshot'), 2 ** 30 + 1);
    await expect(historyIn(directory)).rejects.toThrow(/snapshot is damaged at byte 1073741824/);
  });

  // Promise: newer-files
  it('are refused when a later version has written them, with the way out', async () => {
    const header = encodeFrame(JSON.stringify({ format: 2, generation: 1 }), 1, 0);
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'journal-1'), Buffer.concat([header, Buffer.from('in a new way')]));
    const error = await expectRefusal(
      directory,
      /has format 2, and this version reads format 1. Start the version/,
    );
    expect(error).not.toBeInstanceOf(DamagedStoreError);
  });
});

describe('files that an interrupted compaction leaves', () => {
  it.each([
    ['snapshot.new', 'anything'],
    ['journal-1.new', 'anything'],
    ['journal-2', 'what was put together'],
    ['journal-4', ''],
    ['journal-4', encodeHeader(4, 4).subarray(0, 7)],
    ['journal-4', encodeHeader(4, 4)],
  ])('are removed: %s', async (name, content) => {
    const directory = await livedIn();
    await writeFile(join(directory, name), content);
    const { repaired, ...history } = await historyIn(directory);
    expect(numbersIn(history)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(repaired).toBeUndefined();
    expect(await readdir(directory)).toEqual(['journal-3', 'snapshot']);
  });

  it('are told from files that are somebody else’s, which stay', async () => {
    const directory = await livedIn();
    const others = ['journal-03', 'journal-4.bak', 'notes.new', 'snapshot-1'];
    for (const name of others) await writeFile(join(directory, name), 'mine');
    await mkdir(join(directory, 'lost+found'));
    await historyIn(directory);
    expect(await readdir(directory)).toEqual(['journal-3', 'lost+found', 'snapshot', ...others].sort());
  });
});

describe('a torn end', () => {
  // Promise: torn-end
  it('is removed once, and load says so in repaired', async () => {
    const directory = await livedIn();
    const path = join(directory, 'journal-3');
    const { size } = await stat(path);
    await truncate(path, size - 1);
    const { repaired, ...history } = await historyIn(directory);
    expect(repaired).toMatch(
      /journal-3 ended with an unfinished write.* The last 2[0-9]{3} bytes of the file, from byte [0-9]+ on, were removed\. The store had not confirmed/,
    );
    expect(numbersIn(history)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await historyIn(directory)).toEqual(history);
    await appendIn(directory, { number: 9 });
    expect(numbersIn(await historyIn(directory))).toEqual([0, 1, 2, 3, 4, 5, 6, 9]);
  });
});

describe('the disposal of a file store', () => {
  it('gives the directory back when loading was refused', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'journal-1'), '');
    const store: ConfigurationStore = await openFileStore(directory);
    await expect(store.load()).rejects.toThrow(DamagedStoreError);
    await store[Symbol.asyncDispose]();
    expect(await readdir(directory)).toEqual(['journal-1']);
  });
});
