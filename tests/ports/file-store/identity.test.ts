import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync } from 'node:fs';
import {
  appendFile,
  chmod,
  copyFile,
  cp,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import * as promises from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it, jest } from '@jest/globals';
import { StoreLostError } from 'gateway-admin-core';
import { StoreLockedError, openFileStore } from 'gateway-admin-core/file-store';

import { appendIn, historyIn, openStoreWith } from '../../support/store-life.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { failingDisk, nodeFiles, watchedFiles, type NodeFiles } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();

/** Creates a directory whose own name a test may remove. */
async function place(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'store');
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

function makePipe(path: string): Promise<unknown> {
  return promisify(execFile)('mkfifo', [path]);
}

async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function lockIn(directory: string): Promise<string> {
  const [name = 'none'] = (await readdir(directory)).filter((each) => each.startsWith('lock-'));
  return join(directory, name);
}

/** Replaces a file in a directory by a copy of it. */
async function replaceByCopy(directory: string, name: string): Promise<void> {
  await copyFile(join(directory, name), join(directory, 'copy'));
  await rename(join(directory, 'copy'), join(directory, name));
}

/** Replaces a file in a directory by a link to it. */
async function replaceByLink(directory: string, name: string): Promise<void> {
  await rename(join(directory, name), join(directory, 'moved'));
  await symlink('moved', join(directory, name));
}

/** Replaces what is at a path by an empty file. */
async function replaceByFile(path: string): Promise<void> {
  await rename(path, `${path}-moved`);
  await writeFile(path, '');
}

async function replaceDirectoryByCopy(directory: string): Promise<void> {
  await rename(directory, `${directory}-moved`);
  await mkdir(directory);
  for (const name of await readdir(`${directory}-moved`))
    await link(join(`${directory}-moved`, name), join(directory, name));
}

async function replaceLock(directory: string): Promise<void> {
  const lock = await lockIn(directory);
  await unlink(lock);
  await writeFile(lock, '');
}

type Does = (path: string) => Promise<unknown>;
type Change = readonly [name: string, change: Does, named: RegExp];

/** Does something with a file of a directory. */
const inside =
  (name: string, does: Does): Does =>
  (directory) =>
    does(join(directory, name));
const toSnapshot = (does: Does): Does => inside('snapshot', does);
const toJournal = (does: Does): Does => inside('journal-1', does);

/** What another program does to the directory of an open store, and the path that the store must name. */
const changes: readonly Change[] = [
  ['removes the lock', async (at) => unlink(await lockIn(at)), /lock-\w+\.sock was removed or replaced/],
  ['replaces the lock', replaceLock, /lock-\w+\.sock was removed or replaced/],
  ['removes the journal', toJournal(unlink), /journal-1 was removed or replaced/],
  ['copies the journal', (at) => replaceByCopy(at, 'journal-1'), /journal-1 was removed or replaced/],
  ['links the journal', (at) => replaceByLink(at, 'journal-1'), /journal-1 was removed or replaced/],
  ['cuts the journal', toJournal((path) => truncate(path, 50)), /journal-1 has 50 bytes instead of/],
  ['empties the journal', toJournal((path) => truncate(path, 0)), /journal-1 has 0 bytes instead of/],
  ['writes to it', toJournal((path) => appendFile(path, 'x')), /journal-1 has \d+ bytes instead of/],
  ['removes the directory', (at) => rm(at, { recursive: true }), /store was removed or replaced/],
  ['moves the directory', (at) => rename(at, `${at}-moved`), /store was removed or replaced/],
  ['replaces the directory by a copy', replaceDirectoryByCopy, /store was removed or replaced/],
  ['replaces the directory by a file', replaceByFile, /store was removed or replaced/],
  ['replaces the one above by a file', inside('..', replaceByFile), /store was removed or replaced/],
];

/** The same for the snapshot of an open store that has compacted its records. */
const snapshotChanges: readonly Change[] = [
  ['removes the snapshot', toSnapshot(unlink), /snapshot was removed or replaced/],
  ['copies the snapshot', (at) => replaceByCopy(at, 'snapshot'), /snapshot was removed or replaced/],
  ['links the snapshot', (at) => replaceByLink(at, 'snapshot'), /snapshot was removed or replaced/],
  ['cuts the snapshot', toSnapshot((path) => truncate(path, 50)), /snapshot has 50 bytes instead of/],
  ['writes to it', toSnapshot((path) => appendFile(path, 'x')), /snapshot has \d+ bytes instead of/],
  ['opens the snapshot', toSnapshot((path) => chmod(path, 0o666)), /snapshot was opened .* \(mode 666\)/],
  ['opens the journal', inside('journal-2', (path) => chmod(path, 0o660)), /journal-2 was opened .* 660\)/],
  ['opens the directory', (at) => chmod(at, 0o770), /store was opened to other users/],
];

/** A disk with which another program does something right after a journal was synced. */
function sabotaged() {
  const program = { acts: (): Promise<unknown> => Promise.resolve() };
  const files = watchedFiles(async ({ method, path }, make) => {
    const result = await make();
    if (method === 'datasync' && basename(path).startsWith('journal-')) await program.acts();
    return result;
  });
  return { program, files };
}

describe('an open store whose snapshot another program changes', () => {
  /** A store with a snapshot, of this process or of an earlier one. */
  async function compacted(
    directory: string,
    of: 'this process' | 'an earlier one',
    files: NodeFiles = nodeFiles,
  ) {
    const store = await openStoreWith(directory, files);
    const first = await store.load();
    const position = await store.compact('state', { expectedPosition: first.position });
    if (of === 'this process') return { store, position };
    await store[Symbol.asyncDispose]();
    const again = await openStoreWith(directory, files);
    return { store: again, position: (await again.load()).position };
  }

  const lives = ['this process', 'an earlier one'] as const;

  // Promise: store-taken
  it.each(lives.flatMap((of) => snapshotChanges.map((change) => [of, ...change] as const)))(
    'confirms nothing from then on: the snapshot is of %s, and the program %s',
    async (of, _name, change, named) => {
      for (const call of ['append', 'compact'] as const) {
        const directory = await place();
        const { store, position } = await compacted(directory, of);
        const where = { expectedPosition: await store.append(['kept'], { expectedPosition: position }) };
        await change(directory);
        const lost = await rejectionOf(
          call === 'append' ? store.append(['lost'], where) : store.compact({}, where),
        );
        expect(lost).toBeInstanceOf(StoreLostError);
        expect((lost as StoreLostError).message).toMatch(named);
        await expect(store.append(['later'], where)).rejects.toBe(lost);
        await store[Symbol.asyncDispose]();
      }
    },
  );

  it.each(snapshotChanges)(
    'confirms no call during which it happens: the program %s',
    async (_name, change) => {
      const directory = await place();
      const { program, files } = sabotaged();
      const { store, position } = await compacted(directory, 'an earlier one', files);
      program.acts = () => change(directory);
      await expect(store.append(['lost'], { expectedPosition: position })).rejects.toBeInstanceOf(
        StoreLostError,
      );
      await store[Symbol.asyncDispose]();
    },
  );

  it('confirms nothing if a snapshot is put into a directory that has none yet', async () => {
    const directory = await place();
    const store = await openFileStore(directory);
    const { position } = await store.load();
    await writeFile(join(directory, 'snapshot'), 'text', { mode: 0o600 });
    const lost = await rejectionOf(store.append(['lost'], { expectedPosition: position }));
    expect(lost).toBeInstanceOf(StoreLostError);
    expect(String(lost)).toContain('snapshot was added while');
    await store[Symbol.asyncDispose]();
  });

  it.each(['snapshot', 'journal-2', 'store'])('confirms nothing if %s gets another owner', async (name) => {
    const directory = await place();
    let isGiven = false;
    const look = ((...call: Parameters<typeof lstatSync>) => {
      const status = lstatSync(...call) as { uid: bigint } | undefined;
      if (status !== undefined && isGiven && basename(String(call[0])) === name) status.uid += 1n;
      return status;
    }) as typeof lstatSync;
    const { store, position } = await compacted(directory, 'this process', { ...promises, lstatSync: look });
    isGiven = true;
    const lost = await rejectionOf(store.append(['lost'], { expectedPosition: position }));
    expect(lost).toBeInstanceOf(StoreLostError);
    expect(String(lost)).toMatch(new RegExp(`${name} was given to the user with the id \\d+ while`));
    await store[Symbol.asyncDispose]();
  });

  it.each(['before', 'after'] as const)(
    'goes on after a compaction that failed, %s any step',
    async (when) => {
      for (let step = 1, done = false; !done; step += 1) {
        const directory = await place();
        let left = Infinity;
        const files = watchedFiles(async ({ method }, make) => {
          left -= 1;
          const fault = Object.assign(new Error(`EIO: i/o error, ${method}`), { code: 'EIO' });
          if (left === 0 && when === 'before') throw fault;
          const result = await make();
          if (left === 0) throw fault;
          return result;
        });
        const { store, position } = await compacted(directory, 'this process', files);
        left = step;
        const failed = await rejectionOf(store.compact('next', { expectedPosition: position }));
        done = left > 0;
        left = Infinity;
        expect(failed).not.toBeInstanceOf(StoreLostError);
        const next = await store.compact('next', { expectedPosition: position });
        await store.append(['kept'], { expectedPosition: next });
        await store[Symbol.asyncDispose]();
        expect(await historyIn(directory)).toMatchObject({ state: 'next', records: ['kept'] });
      }
    },
  );
});

describe('an open store whose directory another program changes', () => {
  /** An open store that has kept a record. */
  async function kept(directory: string, files: NodeFiles = nodeFiles) {
    const store = await openStoreWith(directory, files);
    const first = await store.load();
    return {
      store,
      where: { expectedPosition: await store.append(['kept'], { expectedPosition: first.position }) },
    };
  }

  // Promise: store-taken
  it.each(changes)('confirms nothing from then on: the program %s', async (_name, change, named) => {
    for (const call of ['append', 'compact'] as const) {
      const directory = await place();
      const { store, where } = await kept(directory);
      await change(directory);
      const lost = await rejectionOf(
        call === 'append' ? store.append(['lost'], where) : store.compact({}, where),
      );
      expect(lost).toBeInstanceOf(StoreLostError);
      const { message } = lost as StoreLostError;
      expect(message).toMatch(named);
      expect(message).toContain(`while the directory ${directory} was open`);
      expect(message).toMatch(
        /, so another process may use the directory\. The last call was not confirmed, .* restart this process\.$/,
      );
      // For good, and whatever is called.
      await expect(store.append(['later'], where)).rejects.toBe(lost);
      await expect(store.compact({}, where)).rejects.toBe(lost);
      await store[Symbol.asyncDispose]();
    }
  });

  it.each(changes)('confirms no append during which it happens: the program %s', async (_name, change) => {
    const directory = await place();
    const { program, files } = sabotaged();
    const { store, where } = await kept(directory, files);
    program.acts = () => change(directory);
    await expect(store.append(['lost'], where)).rejects.toBeInstanceOf(StoreLostError);
    program.acts = () => Promise.resolve();
    await expect(store.append(['later'], where)).rejects.toBeInstanceOf(StoreLostError);
    await store[Symbol.asyncDispose]();
  });

  it('does not repeat a failed call on a journal that another program has cut meanwhile', async () => {
    const directory = await place();
    const disk = failingDisk();
    const { store, where } = await kept(directory, disk.files);
    disk.fails = true;
    await expect(store.append(['lost'], where)).rejects.toThrow('EIO');
    disk.fails = false;
    await truncate(join(directory, 'journal-1'), 50);
    const lost = await rejectionOf(store.append(['lost'], where));
    expect(lost).toBeInstanceOf(StoreLostError);
    expect(String(lost)).toContain('journal-1 has 50 bytes instead of');
    await store[Symbol.asyncDispose]();
  });

  it('writes nothing into a directory that took the place of its own', async () => {
    const directory = await place();
    const store = await openFileStore(directory);
    const { position } = await store.load();
    await rename(directory, `${directory}-moved`);
    await mkdir(directory);
    await expect(store.compact({}, { expectedPosition: position })).rejects.toThrow(StoreLostError);
    await store[Symbol.asyncDispose]();
    expect(await readdir(directory)).toEqual([]);
  });

  // Promise: second-writer
  it('leaves the content to a second store that opened after the lock was removed', async () => {
    const directory = await place();
    const { store: first, where } = await kept(directory);
    await expect(openFileStore(directory)).rejects.toThrow(StoreLockedError);
    await unlink(await lockIn(directory));
    const second = await openFileStore(directory);
    const history = await second.load();
    await expect(first.append(['lost'], where)).rejects.toThrow(StoreLostError);
    await first[Symbol.asyncDispose]();
    await second.append(['of the second'], { expectedPosition: history.position });
    await second[Symbol.asyncDispose]();
    expect((await historyIn(directory)).records).toEqual(['kept', 'of the second']);
  });

  it('is not lost because the file system fails to look at it', async () => {
    const directory = await place();
    let broken = false;
    const look = ((...call: Parameters<typeof lstatSync>) => {
      if (broken) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      return lstatSync(...call);
    }) as typeof lstatSync;
    const store = await openStoreWith(directory, { ...promises, lstatSync: look });
    const { position } = await store.load();
    broken = true;
    const failed = await rejectionOf(store.append([1], { expectedPosition: position }));
    expect(failed).not.toBeInstanceOf(StoreLostError);
    expect(String(failed)).toContain('EIO');
    await store[Symbol.asyncDispose]();
  });
});

/** What must not be at the path of the directory. */
const places: readonly [name: string, make: (path: string) => Promise<unknown>, refusal: RegExp][] = [
  [
    'a link to a directory',
    async (path) => {
      await mkdir(`${path}-real`, { mode: 0o700 });
      await symlink(`${path}-real`, path);
    },
    /is a symbolic link.* Give the path of the directory itself, or use a directory inside it\.$/,
  ],
  ['a link to nothing', (path) => symlink(`${path}-gone`, path), /is a symbolic link/],
  ['a file', (path) => writeFile(path, 'text'), /is not a directory\. Give the path of a directory/],
  ['a pipe', makePipe, /is not a directory/],
  [
    'a directory that the group may write to',
    (path) => open(path, 0o770),
    /^Other users may write to .* \(mode 770\), and could replace its files\. Close the directory to other users: chmod 700 \/.*use a directory inside it\.$/,
  ],
  ['a directory that others may write to', (path) => open(path, 0o702), /\(mode 702\).* chmod 700 /],
  ['a directory for everybody', (path) => open(path, 0o1777), /Other users may write to/],
];

async function open(path: string, mode: number): Promise<void> {
  await mkdir(path);
  await chmod(path, mode);
}

describe('openFileStore', () => {
  it.each([
    ['a directory that a volume opens to its group', (path: string) => open(path, 0o2775)],
    [
      'a link, as systemd makes one for StateDirectory',
      async (path: string) => {
        await mkdir(`${path}-private`, { mode: 0o700 });
        await symlink(`${path}-private`, path);
      },
    ],
  ])('opens a directory inside %s', async (_name, make) => {
    const path = join(await temporaryDirectory(), 'volume');
    await make(path);
    await expect(openFileStore(path)).rejects.toThrow(/use a directory inside it\.$/);
    const inside = join(path, 'store');
    await appendIn(inside, 1);
    await appendIn(inside, 2);
    expect((await historyIn(inside)).records).toHaveLength(2);
  });

  // Promise: directory-refused
  it.each([
    [
      'EROFS',
      /^The directory .*\/a cannot be created: the disk is read-only\. Mount the disk for writing, or/,
    ],
    ['EACCES', /cannot be created: the user of this process has no right to write there\. Give/],
    ['ENOSPC', /cannot be created: the disk is full\. Make room/],
    ['ENOENT', /cannot be created: .*Check the path and its disk\.$/],
  ])('says in a sentence why a directory cannot be created: %s', async (code, sentence) => {
    const files = watchedFiles(({ method }, make) =>
      method === 'mkdir' ? Promise.reject(Object.assign(new Error(code), { code })) : make(),
    );
    const path = join(await temporaryDirectory(), 'a', 'b');
    await expect(openStoreWith(path, files)).rejects.toThrow(sentence);
  });

  it('says that a part of the path is a file, and ends at a place where the system creates nothing', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    await expect(openFileStore(join(file, 'store'))).rejects.toThrow(/: a part of the path is a file\./);
    if (process.platform === 'linux')
      await expect(openFileStore('/proc/gateway/store')).rejects.toThrow(
        /^The directory \/proc\/gateway cannot/,
      );
  });

  // Promise: safe-place
  it.each(places)('refuses %s, and says what to do', async (_name, make, refusal) => {
    const path = join(await temporaryDirectory(), 'store');
    await make(path);
    const before = lstatSync(path);
    await expect(openFileStore(path)).rejects.toThrow(refusal);
    const { ino, mode, size } = lstatSync(path);
    expect({ ino, mode, size }).toEqual({ ino: before.ino, mode: before.mode, size: before.size });
  });

  it.each([
    [0o700, 0o600],
    [0o750, 0o640],
    [0o755, 0o644],
  ])(
    'takes a directory and files that only their owner may write to: modes %i and %i',
    async (mode, ofFile) => {
      const path = join(await temporaryDirectory(), 'store');
      await open(path, mode);
      await appendIn(path, 'kept');
      await chmod(join(path, 'journal-1'), ofFile);
      expect((await historyIn(path)).records).toEqual(['kept']);
    },
  );

  // Promise: safe-file
  it.each(['journal-1', 'snapshot', 'journal-2.new'])(
    'refuses %s that other users may write to, and says what to do',
    async (name) => {
      const directory = await place();
      await appendIn(directory, 'kept');
      const path = join(directory, name);
      if (name !== 'journal-1') await writeFile(path, '', { mode: 0o600 });
      const before = await readdir(directory);
      for (const mode of ['620', '602', '666', '660']) {
        await chmod(path, parseInt(mode, 8));
        const refusal = new RegExp(`Other users may write to .*${name} \\(mode ${mode}\\).*chmod 600 `);
        await expect(historyIn(directory)).rejects.toThrow(refusal);
        expect(await readdir(directory)).toEqual(before);
      }
    },
  );

  it('is refused on Windows, before anything is created', async () => {
    const path = join(await temporaryDirectory(), 'store');
    const own = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
    Object.defineProperty(process, 'platform', { ...own, value: 'win32' });
    try {
      await expect(openFileStore(path)).rejects.toThrow(
        /cannot be kept durable, because directories cannot be synced on Windows\. Use Unix, or keep the content/,
      );
    } finally {
      Object.defineProperty(process, 'platform', own);
    }
    expect(existsSync(path)).toBe(false);
  });

  it('takes a directory and files of any mode on a platform without user ids, and no link', async () => {
    const directory = await place();
    await appendIn(directory, 'kept');
    await chmod(directory, 0o770);
    await chmod(join(directory, 'journal-1'), 0o660);
    await symlink(directory, `${directory}-link`);
    const own = Object.getOwnPropertyDescriptor(process, 'geteuid') ?? {};
    Object.defineProperty(process, 'geteuid', { ...own, value: undefined });
    try {
      expect((await historyIn(directory)).records).toEqual(['kept']);
      await expect(openFileStore(`${directory}-link`)).rejects.toThrow(/is a symbolic link/);
    } finally {
      Object.defineProperty(process, 'geteuid', own);
    }
  });

  it('takes a directory below a link', async () => {
    const top = await temporaryDirectory();
    await mkdir(join(top, 'real'));
    await symlink(join(top, 'real'), join(top, 'link'));
    await appendIn(join(top, 'link', 'store'), 'kept');
    expect((await historyIn(join(top, 'real', 'store'))).records).toEqual(['kept']);
  });
});

describe('load', () => {
  // Promise: ordinary-files
  it.each(['journal-3', 'journal-4', 'snapshot', 'snapshot.new', 'journal-1.new'])(
    'refuses links, pipes and directories in the place of %s, and leaves them as they are',
    async (name) => {
      const directory = await place();
      await appendIn(directory, 'kept');
      const store = await openFileStore(directory);
      const { position } = await store.load();
      const next = await store.compact(1, { expectedPosition: position });
      await store.compact(2, { expectedPosition: next });
      await store[Symbol.asyncDispose]();
      const path = join(directory, name);
      await cp(directory, `${directory}-real`, { recursive: true });
      await writeFile(join(`${directory}-real`, name), 'text', { flag: 'a' });
      const strange: readonly [() => Promise<unknown>, RegExp][] = [
        [
          () => symlink(join(`${directory}-real`, name), path),
          /is a symbolic link, and only ordinary files are used/,
        ],
        [
          () => makePipe(path),
          /is a pipe, and .* Nothing was changed\. Move .* away, and restore the whole directory from a backup if/,
        ],
        [() => mkdir(path), /is a directory, and only ordinary files are used/],
      ];
      for (const [make, refusal] of strange) {
        await rm(path, { force: true, recursive: true });
        await make();
        const content = await readFile(join(`${directory}-real`, name));
        await expect(historyIn(directory)).rejects.toThrow(refusal);
        expect(await readFile(join(`${directory}-real`, name))).toEqual(content);
        expect(lstatSync(path).isFile()).toBe(false);
      }
    },
  );
});

/** The real file system, in which one file looks like another one. */
function withLookOf(path: string, other: string): NodeFiles {
  const look = ((at: string, options: { readonly bigint: true }) =>
    lstatSync(at === path ? other : at, options)) as NodeFiles['lstatSync'];
  return { ...nodeFiles, lstatSync: look };
}

describe('what is no ordinary file', () => {
  it('is named, also a socket and a device', async () => {
    const directory = await place();
    await appendIn(directory, 1);
    const journal = join(directory, 'journal-1');
    const socket = join(await temporaryDirectory(), 'socket');
    const server = createServer();
    await once(server.listen(socket), 'listening');
    for (const [other, kind] of [
      [socket, 'a socket'],
      ['/dev/null', 'a device'],
    ] as const) {
      const store = await openStoreWith(directory, withLookOf(journal, other));
      await expect(store.load()).rejects.toThrow(`${journal} is ${kind}, and only ordinary files are used`);
      await store[Symbol.asyncDispose]();
    }
    await once(server.close(), 'close');
  });
});

describe('the owner', () => {
  it('is the user of the process, for the directory', async () => {
    const directory = await place();
    await appendIn(directory, 1);
    const own = lstatSync(directory).uid;
    const user = jest.spyOn(process as Required<typeof process>, 'geteuid').mockReturnValue(own + 1);
    const refusal = new RegExp(
      `store belongs to the user with the id ${String(own)}, .* Run the process as the owner, or change the owner: chown -R ${String(own + 1)} /`,
    );
    await expect(historyIn(directory)).rejects.toThrow(refusal);
    user.mockReturnValue(own);
    await expect(historyIn(directory)).resolves.toMatchObject({ records: [1] });
    user.mockRestore();
  });

  it('is the user of the process, for each file', async () => {
    const directory = await place();
    await appendIn(directory, 1);
    const journal = join(directory, 'journal-1');
    const own = lstatSync(journal).uid;
    const given = ((at: string, options: { readonly bigint: true }) => {
      const status = lstatSync(at, options);
      if (at === journal) status.uid = BigInt(own + 1);
      return status;
    }) as NodeFiles['lstatSync'];
    const store = await openStoreWith(directory, { ...nodeFiles, lstatSync: given });
    const refusal = `journal-1 belongs to the user with the id ${String(own + 1)}, `;
    await expect(store.load()).rejects.toThrow(refusal);
    await store[Symbol.asyncDispose]();
  });
});
