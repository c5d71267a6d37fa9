import { execFile } from 'node:child_process';
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import { StoreLostError, stopService } from 'gateway-admin-core';
import { StoreLockedError, openAuditFile } from 'gateway-admin-core/audit-file';
import { openFileStore } from 'gateway-admin-core/file-store';

import {
  appendTo,
  auditRecord,
  filesIn,
  linesIn,
  numbersIn,
  openAuditWith,
} from '../../support/audit-life.ts';
import { runAdmin } from '../../support/running-admin.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { watchedFiles } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();
const first = 'audit-000001.jsonl';

/** A directory whose own name a test may remove. */
async function place(): Promise<string> {
  return join(await temporaryDirectory(), 'audit');
}

describe('an audit file', () => {
  it('has one line of JSON for each record, in the order of the calls, and for its owner only', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory);
    const records = [
      auditRecord(1),
      { ...auditRecord(2), time: 'one line\nand\u2028more "€💾"' },
      auditRecord(3),
    ];
    await Promise.all(records.map((record) => sink.append([record])));
    await sink[Symbol.asyncDispose]();
    expect((await linesIn(directory)).map((line) => JSON.parse(line) as unknown)).toEqual(records);
    expect(await readdir(directory)).toEqual([first]);
    expect((await stat(join(directory, first))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(sink.repaired).toBeUndefined();
  });

  it('confirms records after the disk has all their bytes, also if a write stops short', async () => {
    const directory = await place();
    let synced = 0;
    const files = watchedFiles(async ({ method, parameters, path }, make) => {
      const [bytes, offset, length, position] = parameters;
      if (method === 'write') return make([bytes, offset, Math.min(Number(length), 7), position]);
      const result = await make();
      if (method === 'datasync') synced = (await stat(path)).size;
      return result;
    });
    const sink = await openAuditWith(directory, {}, files);
    await sink.append([auditRecord(1), auditRecord(2)]);
    expect(synced).toBe((await stat(join(directory, first))).size);
    expect(await numbersIn(directory)).toEqual([1, 2]);
    await sink[Symbol.asyncDispose]();
  });

  it('keeps the records of an interface, and many waiting records with one wait for the disk', async () => {
    const directory = await place();
    let syncs = 0;
    const files = watchedFiles(({ method }, make) => {
      if (method === 'datasync') syncs += 1;
      return make();
    });
    const { admin } = runAdmin({
      observe: { audit: { sink: await openAuditWith(directory, {}, files), required: true } },
    });
    const stop = { method: 'PUT', target: '/services/My-Service/stop', headers: {} };
    await Promise.all(Array.from({ length: 100 }, () => admin.handle(stop)));
    expect(await linesIn(directory)).toHaveLength(100);
    expect(syncs).toBeLessThan(10);
    await admin.close();
    await appendTo(directory, 1);
  });

  it('waits at its disposal for the calls in flight, and refuses later calls', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory);
    const calls = [sink.append([auditRecord(1)]), sink.append([auditRecord(2)])];
    await Promise.all([sink[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
    expect(await numbersIn(directory)).toEqual([1, 2]);
    await Promise.all(calls);
    await expect(sink.append([auditRecord(3)])).rejects.toThrow(
      /audit is closed\. Open the directory again\.$/,
    );
  });

  it.each([
    [{ maxBytes: 0 }, 'maxBytes must be a whole number from 1 on, not 0'],
    [{ maxBytes: 1.5 }, 'maxBytes must be a whole number from 1 on, not 1.5'],
    [{ maxFiles: 1 }, 'maxFiles must be a whole number from 2 on, not 1'],
    [{ maxFiles: Infinity }, 'maxFiles must be a whole number from 2 on, not Infinity'],
  ])('refuses %j, and leaves no trace', async (options, message) => {
    const directory = await place();
    const refused = openAuditFile(directory, options);
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(message);
    await expect(stat(directory)).rejects.toThrow('ENOENT');
  });
});

describe('the rotation of an audit file', () => {
  const { length } = `${JSON.stringify(auditRecord(1))}\n`;
  const size = Buffer.byteLength(`${JSON.stringify(auditRecord(1))}\n`);

  // Promise: audit-file-rotation
  it('begins a new file before one is larger than maxBytes, and keeps every record', async () => {
    const directory = await place();
    expect(size).toBeGreaterThan(length);
    const sink = await openAuditFile(directory, { maxBytes: 2 * size });
    for (const number of [1, 2, 3, 4, 5]) await sink.append([auditRecord(number)]);
    // The records of one call stay together.
    await sink.append([6, 7, 8].map((number) => auditRecord(number)));
    await sink[Symbol.asyncDispose]();
    const sizes = (await filesIn(directory)).map(async (name) => {
      const { size: bytes, mode } = await stat(join(directory, name));
      return [name, bytes / size, mode & 0o777];
    });
    expect(await Promise.all(sizes)).toEqual([
      [first, 2, 0o600],
      ['audit-000002.jsonl', 2, 0o600],
      ['audit-000003.jsonl', 1, 0o600],
      ['audit-000004.jsonl', 3, 0o600],
    ]);
    expect(await numbersIn(directory)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('keeps at most maxFiles files, and those that cannot be removed', async () => {
    const directory = await place();
    const files = watchedFiles(({ method, path }, make) =>
      method === 'unlink' && basename(path) === 'audit-000003.jsonl'
        ? Promise.reject(new Error('EPERM: the file is immutable'))
        : make(),
    );
    const sink = await openAuditWith(directory, { maxBytes: 1, maxFiles: 3 }, files);
    const kept: (readonly string[])[] = [];
    for (const number of [1, 2, 3, 4, 5, 6, 7]) {
      await sink.append([auditRecord(number)]);
      if (number === 4) await unlink(join(directory, 'audit-000002.jsonl'));
      kept.push((await filesIn(directory)).map((name) => name.slice(-'1.jsonl'.length, -'.jsonl'.length)));
    }
    await sink[Symbol.asyncDispose]();
    expect(kept.map((numbers) => numbers.join(''))).toEqual(['1', '12', '123', '34', '345', '3456', '3567']);
  });

  it('does not remove the file that was written last for a file that another program has added', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory, { maxBytes: 1, maxFiles: 2 });
    await sink.append([auditRecord(1)]);
    await copyFile(join(directory, first), join(directory, 'audit-000009.jsonl'));
    await sink.append([auditRecord(2)]);
    await sink[Symbol.asyncDispose]();
    expect(await filesIn(directory)).toEqual([first, 'audit-000002.jsonl', 'audit-000009.jsonl']);
  });

  it('leaves finished files to other programs, and continues behind the highest number', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory, { maxBytes: 1 });
    for (const number of [1, 2, 3]) await sink.append([auditRecord(number)]);
    await rename(join(directory, first), join(directory, 'archived'));
    await writeFile(join(directory, 'audit-000004.jsonl'), 'of somebody else');
    await sink.append([auditRecord(4)]);
    await sink[Symbol.asyncDispose]();
    expect(await readFile(join(directory, 'audit-000004.jsonl'), 'utf8')).toBe('of somebody else');
    await unlink(join(directory, 'audit-000004.jsonl'));
    await copyFile(join(directory, 'audit-000005.jsonl'), join(directory, 'audit-999999.jsonl'));
    const again = await openAuditFile(directory, { maxBytes: 1 });
    await again.append([auditRecord(5)]);
    await again[Symbol.asyncDispose]();
    expect(await filesIn(directory)).toContain('audit-1000000.jsonl');
    await appendTo(directory, 6);
    expect(await readFile(join(directory, 'audit-1000000.jsonl'), 'utf8')).toContain('"a.6"');
  });
});

describe('a directory of an audit file', () => {
  // Promise: store-create
  it('is refused with create: false if it was deleted or has no records, and nothing is created', async () => {
    const top = await temporaryDirectory();
    const directory = join(top, 'audit');
    await expect(openAuditFile(directory, { create: false })).rejects.toThrow(
      /audit does not exist, and the/,
    );
    expect(await readdir(top)).toEqual([]);
    await mkdir(directory, { mode: 0o700 });
    await expect(openAuditFile(directory, { create: false })).rejects.toThrow(
      /contains no audit file, and the/,
    );
    expect(await readdir(directory)).toEqual([]);
    await (await openAuditFile(directory))[Symbol.asyncDispose]();
    await (await openAuditFile(directory, { create: false }))[Symbol.asyncDispose]();
  });

  it('is in use by one sink or store at a time', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory);
    const [second, store] = await Promise.allSettled([openAuditFile(directory), openFileStore(directory)]);
    for (const refused of [second, store]) {
      expect(refused).toMatchObject({ reason: expect.any(StoreLockedError) as unknown });
      expect(refused).toMatchObject({ reason: { message: expect.stringContaining(directory) as unknown } });
    }
    await sink[Symbol.asyncDispose]();
    await appendTo(directory, 1);
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['a link to a file', (path) => symlink('../target', path), /is a symbolic link, and only ordinary files/],
    ['a pipe', (path) => promisify(execFile)('mkfifo', [path]), /is a pipe, and only ordinary files/],
    ['a directory', (path) => mkdir(path), /is a directory, and only ordinary files/],
  ])('is refused if the newest file is %s, and is not locked then', async (_what, make, refusal) => {
    const directory = await place();
    await writeFile(join(directory, '..', 'target'), 'text');
    await appendTo(directory, 1);
    await make(join(directory, 'audit-000002.jsonl'));
    await expect(appendTo(directory, 2)).rejects.toThrow(refusal);
    expect(await readFile(join(directory, '..', 'target'), 'utf8')).toBe('text');
    await rm(join(directory, 'audit-000002.jsonl'), { recursive: true });
    await appendTo(directory, 2);
  });

  it('is refused if other users may write to the directory', async () => {
    const directory = await place();
    await mkdir(directory);
    await chmod(directory, 0o777);
    await expect(openAuditFile(directory)).rejects.toThrow(/\(mode 777\).* chmod 700 /);
  });
});

async function lockIn(directory: string): Promise<string> {
  const [name = 'none'] = (await readdir(directory)).filter((each) => each.startsWith('lock-'));
  return join(directory, name);
}

/** What another program does to the newest file, and what the error must name. */
type Change = readonly [name: string, change: (directory: string) => Promise<unknown>, named: RegExp];
const changes: readonly Change[] = [
  ['removes the file', (at) => unlink(join(at, first)), /000001\.jsonl was removed or replaced/],
  // As logrotate does with copytruncate.
  ['cuts the file', (at) => truncate(join(at, first), 0), /000001\.jsonl has 0 bytes instead of \d\d+ /],
  ['writes to it', (at) => appendFile(join(at, first), 'more\n'), /000001\.jsonl has \d+ bytes instead of/],
  ['removes the lock', async (at) => unlink(await lockIn(at)), /lock-\w+\.sock was removed/],
  ['moves the directory', (at) => rename(at, `${at}-moved`), /audit was removed or replaced/],
  ['opens the file', (at) => chmod(join(at, first), 0o666), /000001\.jsonl was opened .* \(mode 666\)/],
];

describe('an open audit file whose directory another program changes', () => {
  // Promise: audit-file-taken
  it.each(changes)('keeps nothing from then on: the program %s', async (_name, change, named) => {
    const directory = await place();
    const sink = await openAuditFile(directory, { maxBytes: 1 });
    await sink.append([auditRecord(1)]);
    await change(directory);
    const lost: unknown = await sink.append([auditRecord(2)]).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(StoreLostError);
    expect(String(lost)).toMatch(named);
    expect(String(lost)).toMatch(/not confirmed, and every later call is refused.* restart this process\.$/);
    await expect(sink.append([auditRecord(2)])).rejects.toBe(lost);
    await sink[Symbol.asyncDispose]();
  });

  it.each(changes)(
    'confirms no record during whose writing it happens: the program %s',
    async (_name, change) => {
      const directory = await place();
      let sabotage: (() => Promise<unknown>) | undefined;
      const files = watchedFiles(async ({ method }, make) => {
        const result = await make();
        if (method === 'datasync') await sabotage?.();
        return result;
      });
      const sink = await openAuditWith(directory, {}, files);
      await sink.append([auditRecord(1)]);
      sabotage = () => change(directory);
      await expect(sink.append([auditRecord(2)])).rejects.toThrow(StoreLostError);
      sabotage = undefined;
      await expect(sink.append([auditRecord(2)])).rejects.toThrow(StoreLostError);
      await sink[Symbol.asyncDispose]();
    },
  );

  // Promise: audit-file-renamed
  it('continues in the next file if the newest one is renamed, as logrotate does, and loses no record', async () => {
    const directory = await place();
    const sink = await openAuditFile(directory);
    await sink.append([auditRecord(1)]);
    await rename(join(directory, first), join(directory, `${first}.1`));
    await writeFile(join(directory, first), '', { mode: 0o644 });
    await sink.append([auditRecord(2)]);
    await sink.append([auditRecord(3)]);
    await rename(join(directory, 'audit-000002.jsonl'), join(await temporaryDirectory(), 'moved'));
    await sink.append([auditRecord(4)]);
    await sink[Symbol.asyncDispose]();
    expect(await filesIn(directory)).toEqual([first, 'audit-000003.jsonl']);
    expect(await readFile(join(directory, `${first}.1`), 'utf8')).toContain('"a.1"');
    expect(await readFile(join(directory, 'audit-000003.jsonl'), 'utf8')).toMatch(/^\{.*"a\.4".*\}\n$/);
  });

  it('keeps a record once, in the new file, if the newest one is renamed while the record is written', async () => {
    const directory = await place();
    let isRenamed = false;
    const files = watchedFiles(async ({ method }, make) => {
      const result = await make();
      if (method !== 'write' || isRenamed) return result;
      isRenamed = true;
      await rename(join(directory, first), join(directory, 'rotated'));
      return result;
    });
    const sink = await openAuditWith(directory, {}, files);
    await sink.append([auditRecord(1)]);
    await sink[Symbol.asyncDispose]();
    expect(await readFile(join(directory, 'rotated'), 'utf8')).toBe('');
    expect(await readFile(join(directory, 'audit-000002.jsonl'), 'utf8')).toContain('"a.1"');
  });

  it('is opened again with create: false if all its files were renamed', async () => {
    const directory = await place();
    await (await openAuditFile(directory))[Symbol.asyncDispose]();
    await rename(join(directory, first), join(directory, `${first}.1`));
    await (await openAuditFile(directory, { create: false }))[Symbol.asyncDispose]();
    expect((await readdir(directory)).sort()).toEqual([first, `${first}.1`]);
  });

  it('does not fill a file that was cut while a failed call is repeated', async () => {
    const directory = await place();
    let fails = false;
    const files = watchedFiles(async ({ method }, make) => {
      if (method === 'datasync' && fails) throw new Error('EIO: the disk failed');
      return make();
    });
    const sink = await openAuditWith(directory, {}, files);
    await sink.append([auditRecord(1)]);
    fails = true;
    await expect(sink.append([auditRecord(2)])).rejects.toThrow('EIO');
    fails = false;
    await truncate(join(directory, first), 3);
    await expect(sink.append([auditRecord(2)])).rejects.toThrow('has 3 bytes instead of');
    expect((await stat(join(directory, first))).size).toBe(3);
    await sink[Symbol.asyncDispose]();
  });
});

describe('an interface with an audit file on a full disk', () => {
  // Promise: audit-file-full
  it('refuses commands until there is space again, and then continues without a restart', async () => {
    const directory = await place();
    let isFull = false;
    const files = watchedFiles(async ({ method, parameters }, make) => {
      if (method !== 'write' || !isFull) return make();
      const [bytes, offset, length, position] = parameters;
      await make([bytes, offset, Math.floor(Number(length) / 2), position]);
      throw new Error('ENOSPC: no space left on device, write');
    });
    const sink = await openAuditWith(directory, {}, files);
    const { admin, clock, errors } = runAdmin({ observe: { audit: { sink, required: true } } });
    const stop = (actor: string) =>
      admin.execute((state, context) => stopService(state, 'My Service', context), { actor });
    await stop('before');
    isFull = true;
    const late = stop('during');
    while (errors.length === 0) await clock.settle();
    await Promise.all([clock.advance(20_000), late]);
    expect(await stop('refused')).toMatchObject({
      outcome: 'refused',
      problem: { code: 'audit-unavailable' },
    });
    expect(await linesIn(directory)).toHaveLength(1);
    isFull = false;
    while ((await stop('after')).outcome === 'refused') await clock.advance(5000);
    const actors = (await linesIn(directory)).map((line) => (JSON.parse(line) as { actor: string }).actor);
    expect([...new Set(actors)]).toEqual(['before', 'during', 'refused', 'after']);
    expect(String(errors[0])).toMatch(
      /Writing to .*000001\.jsonl failed: ENOSPC: no space left on device, write\. No record of this call is kept\./,
    );
    await admin.close();
  });
});
