/**
 * The audit file after power failures, failures of the disk, and the death of its process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, type FileHandle, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type AuditFile, type AuditFileOptions, openAuditFile } from 'gateway-admin-core/audit-file';

import {
  appendTo,
  AuditLedger,
  auditRecord,
  filesIn,
  linesIn,
  numberOf,
  numbersIn,
  openAuditWith,
} from '../../support/audit-life.ts';
import { buildPackage } from '../../support/built-package.ts';
import { type Disk, DiskLog, restoreDisk } from '../../support/disk-log.ts';
import { root } from '../../support/project.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { watchedFiles, type Watcher } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();
const first = 'audit-000001.jsonl';

/** Some records have several sectors, and the records go to several files. */
async function live(sink: AuditFile, ledger: AuditLedger, repeats = 0): Promise<void> {
  await ledger.append(sink, 1, 3, repeats);
  await ledger.append(sink, 3, 400, repeats);
  await ledger.append(sink, 2, 3, repeats);
}

const small = { maxBytes: 2800 };

describe('an audit file after a crash', () => {
  async function oneOf(...numbers: readonly number[]): Promise<{ directory: string; path: string }> {
    const directory = await temporaryDirectory();
    for (const number of numbers) await appendTo(directory, number);
    return { directory, path: join(directory, first) };
  }

  // Promise: audit-file-torn
  it('has every whole line, and is continued, wherever the last line was cut', async () => {
    const { directory, path } = await oneOf(1, 2);
    const text = await readFile(path);
    const start = text.indexOf('\n') + 1;
    // Every tenth byte, and each byte near the ends of the line.
    const cuts = Array.from({ length: text.length - start }, (_none, index) => start + index).filter(
      (cut) => cut % 10 === 0 || cut < start + 3 || cut > text.length - 4,
    );
    for (const cut of cuts) {
      await writeFile(path, text.subarray(0, cut));
      const repaired = await appendTo(directory, 3);
      // Only the line break is missing: the record is whole.
      const isWhole = cut === text.length - 1;
      expect([cut, await numbersIn(directory)]).toEqual([cut, isWhole ? [1, 2, 3] : [1, 3]]);
      if (isWhole) expect(repaired).toMatch(/000001\.jsonl ended without a line break, .* was added\.$/);
      else if (cut === start) expect(repaired).toBeUndefined();
      else
        expect(repaired).toContain(
          `The last ${String(cut - start)} bytes of the file, from byte ${String(start)} on`,
        );
      expect(await appendTo(directory, 4)).toBeUndefined();
    }
  });

  it('has no zeros that were left behind its end', async () => {
    const { directory, path } = await oneOf(1);
    const { size } = await stat(path);
    await truncate(path, size + 70_000);
    expect(await appendTo(directory, 2)).toMatch(/The last 70000 bytes of the file, .* were removed/);
    expect(await numbersIn(directory)).toEqual([1, 2]);
  });

  // Promise: audit-file-damage
  it('stays as it is if lines in the middle are damaged, and continues in a new file', async () => {
    const { directory, path } = await oneOf(1);
    const { size } = await stat(path);
    await truncate(path, size + 5);
    await appendFile(path, `}\n${JSON.stringify(auditRecord(2))}\n{"half`);
    // Zeros behind the end as well, further than what is read at once.
    await truncate(path, size + 70_000);
    const before = await readFile(path);
    const repaired = await appendTo(directory, 3);
    expect(repaired).toContain(`${path} has zeros from byte ${String(size)} on`);
    expect(repaired).toMatch(/left as it is, and the next record goes to .*audit-000002\.jsonl\.$/);
    expect(await readFile(path)).toEqual(before);
    expect(await readFile(join(directory, 'audit-000002.jsonl'), 'utf8')).toBe(
      `${JSON.stringify(auditRecord(3))}\n`,
    );
    expect(await appendTo(directory, 4)).toBeUndefined();
  });

  it('does not lose lines that are longer than what is read at once', async () => {
    const directory = await temporaryDirectory();
    const sink = await openAuditFile(directory);
    await sink.append([auditRecord(1, 50_000), auditRecord(2, 200_000)]);
    await sink[Symbol.asyncDispose]();
    await truncate(join(directory, first), (await stat(join(directory, first))).size - 3);
    await appendTo(directory, 3);
    expect(await numbersIn(directory)).toEqual([1, 3]);
  });
});

/** Disks that power failures left, each with what the audit file there had been given by then. */
class Wrecks {
  readonly #found = new Map<string, { readonly disk: Disk; readonly ledger: AuditLedger }>();

  get size(): number {
    return this.#found.size;
  }

  /** Adds all that a power failure at this moment may leave. */
  add(log: DiskLog, ledger: AuditLedger): void {
    for (const disk of log.afterPowerFailure()) {
      const content = [...disk].map(([name, bytes]) => `${name}: ${bytes.toString('latin1')}`).sort();
      this.#found.set(JSON.stringify([content, ledger]), { disk, ledger: ledger.copy() });
    }
  }

  /**
   * Expects that an audit file can go on from each of them.
   *
   * @param least - how many of the last confirmed records must be there
   * @returns how often something was repaired, and how often a file was left
   */
  async expectSound(least?: number): Promise<{ repaired: number; left: number }> {
    const directory = await temporaryDirectory();
    const count = { repaired: 0, left: 0 };
    for (const { disk, ledger } of this.#found.values()) {
      await restoreDisk(directory, disk);
      const repaired = await appendTo(directory, 1000);
      if (repaired !== undefined) count.repaired += 1;
      const isLeft = repaired?.includes('left as it is') === true;
      if (isLeft) count.left += 1;
      // Only a file that was left has lines that are no records.
      const lines = (await linesIn(directory)).filter((line) => !(isLeft && line.includes('\0')));
      const numbers = lines.map(numberOf);
      expect(numbers.pop()).toBe(1000);
      ledger.expectIn(numbers, least);
    }
    return count;
  }
}

/** A life on a disk that is looked at after each change and each sync. */
async function wrecksOf(
  options: AuditFileOptions,
  live: (sink: AuditFile, ledger: AuditLedger) => Promise<void>,
) {
  const [wrecks, ledger, directory] = [new Wrecks(), new AuditLedger(), await temporaryDirectory()];
  const log = new DiskLog(directory, () => wrecks.add(log, ledger));
  const sink = await openAuditWith(directory, options, log.files);
  await live(sink, ledger);
  await sink[Symbol.asyncDispose]();
  wrecks.add(log, ledger);
  return wrecks;
}

describe('an audit file after a power failure', () => {
  // Promise: audit-file-power
  it('has every confirmed record once and in order, after a power failure at any moment, also of a rotation', async () => {
    const wrecks = await wrecksOf(small, live);
    expect(wrecks.size).toBeGreaterThan(10);
    const { repaired, left } = await wrecks.expectSound();
    expect(repaired).toBeGreaterThan(3);
    expect(left).toBeGreaterThan(0);
  });

  it('has the last maxFiles - 1 files, after a power failure at any moment while files are removed', async () => {
    const wrecks = await wrecksOf({ maxBytes: 1, maxFiles: 3 }, async (sink, ledger) => {
      for (let count = 0; count < 5; count += 1) await ledger.append(sink, 1);
    });
    expect(wrecks.size).toBeGreaterThan(20);
    await wrecks.expectSound(2);
  });

  it('has every confirmed record after a failed sync and a power failure at any moment', async () => {
    let wrecked = 0;
    for (let failAt = 1; ; failAt += 1) {
      const [wrecks, ledger, directory] = [new Wrecks(), new AuditLedger(), await temporaryDirectory()];
      const log = new DiskLog(directory, () => wrecks.add(log, ledger));
      const sink = await openAuditWith(directory, small, log.files);
      let syncs = 0;
      log.failsSync = () => (syncs += 1) === failAt;
      await ledger.append(sink, 1, 200, 1);
      await ledger.append(sink, 1, 200, 1);
      await sink[Symbol.asyncDispose]();
      await wrecks.expectSound();
      wrecked += wrecks.size;
      if (syncs < failAt) break;
    }
    expect(wrecked).toBeGreaterThan(30);
  });

  it('has nothing of a failed call in an older file, after a power failure at any later moment', async () => {
    const [wrecks, ledger, directory] = [new Wrecks(), new AuditLedger(), await temporaryDirectory()];
    let fails = false;
    const log = new DiskLog(directory, () => {
      if (fails) {
        fails = false;
        throw new Error('ENOSPC');
      }
      wrecks.add(log, ledger);
    });
    const sink = await openAuditWith(directory, small, log.files);
    await ledger.append(sink, 1);
    fails = true;
    // The whole line was written when the call fails.
    await expect(ledger.append(sink, 1)).rejects.toThrow('ENOSPC');
    await ledger.append(sink, 1, 2000);
    await sink[Symbol.asyncDispose]();
    wrecks.add(log, ledger);
    await wrecks.expectSound();
  });

  it('is continued with what is on the disk, at whatever moment the earlier process was killed', async () => {
    let wrecked = 0;
    for (let killAt = 1; ; killAt += 1) {
      const [wrecks, ledger, directory] = [new Wrecks(), new AuditLedger(), await temporaryDirectory()];
      let changes = 0;
      const killed = new DiskLog(directory, () => {
        if ((changes += 1) >= killAt) throw new Error('killed');
      });
      killed.isGone = () => changes >= killAt;
      const sink = await openAuditWith(directory, { maxBytes: 1 }, killed.files).catch(() => undefined);
      if (sink !== undefined) {
        await live(sink, ledger).catch(() => undefined);
        await sink[Symbol.asyncDispose]();
      }
      const log = new DiskLog(directory, () => undefined, killed);
      const second = await openAuditWith(directory, { maxBytes: 1 }, log.files);
      ledger.settle(await numbersIn(directory));
      wrecks.add(log, ledger);
      await ledger.append(second, 1);
      await second[Symbol.asyncDispose]();
      wrecks.add(log, ledger);
      await wrecks.expectSound();
      wrecked += wrecks.size;
      if (changes < killAt) break;
    }
    expect(wrecked).toBeGreaterThan(6);
  });
});

/** Makes a disk on which a call fails. */
type Failing = (failAt: number) => { readonly watcher: Watcher; readonly hasFailed: () => boolean };

/** A disk on which so many calls fail in such a way. */
function failing(times: number, fail: (make: () => Promise<unknown>) => Promise<never>): Failing {
  return (failAt) => {
    let calls = 0;
    return {
      watcher: (_call, make) => {
        calls += 1;
        return calls >= failAt && calls < failAt + times ? fail(make) : make();
      },
      hasFailed: () => calls >= failAt,
    };
  };
}

/** A disk that is full: one write stops in the middle, and so many later ones fail at once. */
const fullFor =
  (refused: number): Failing =>
  (failAt) => {
    let writes = 0;
    return {
      watcher: ({ method, parameters }, make) => {
        if (method === 'write') writes += 1;
        if (method !== 'write' || writes < failAt || writes > failAt + refused) return make();
        if (writes > failAt) return Promise.reject(new Error('ENOSPC'));
        const [bytes, offset, length, position] = parameters;
        return make([bytes, offset, Math.ceil(Number(length) / 2), position]);
      },
      hasFailed: () => writes >= failAt,
    };
  };

describe('an audit file when a call of the disk fails', () => {
  // Promise: audit-file-failure
  it.each([
    ['before anything was done', failing(1, () => Promise.reject(new Error('EIO'))), true],
    [
      'after it was done',
      failing(1, async (make) => {
        await make();
        throw new Error('EIO');
      }),
      true,
    ],
    ['three times', failing(3, () => Promise.reject(new Error('EIO'))), true],
    ['and all later ones too', failing(Infinity, () => Promise.reject(new Error('EIO'))), false],
    ['because it is full', fullFor(Infinity), false],
    ['because it is full for a while', fullFor(2), true],
  ])(
    'keeps what it confirmed once and in order, and goes on when the disk works: it fails %s',
    async (_how, make, recovers) => {
      for (let failAt = 1; ; failAt += 1) {
        const [directory, ledger, { watcher, hasFailed }] = [
          await temporaryDirectory(),
          new AuditLedger(),
          make(failAt),
        ];
        const sink = await openAuditWith(directory, small, watchedFiles(watcher)).catch(() => undefined);
        if (sink !== undefined) {
          const error = await live(sink, ledger, 4).catch((reason: unknown) => reason as Error);
          await sink[Symbol.asyncDispose]();
          if (recovers) expect([failAt, error]).toEqual([failAt, undefined]);
          if (error !== undefined)
            expect(error.message).toMatch(/^Writing to .* failed: .* disk works and has space\.$/);
        }
        await appendTo(directory, 1000);
        const numbers = [...(await numbersIn(directory))];
        expect(numbers.pop()).toBe(1000);
        ledger.expectIn(numbers);
        if (!hasFailed()) break;
      }
    },
  );

  it('leaves nothing of a call that a full disk has refused', async () => {
    const [directory, ledger, { watcher }] = [
      await temporaryDirectory(),
      new AuditLedger(),
      fullFor(Infinity)(3),
    ];
    const sink = await openAuditWith(directory, {}, watchedFiles(watcher));
    await expect(live(sink, ledger)).rejects.toThrow('ENOSPC');
    expect(ledger.kept.length).toBeGreaterThan(0);
    expect(await numbersIn(directory)).toEqual(ledger.kept);
    await sink[Symbol.asyncDispose]();
  });

  it('leaves no empty files if the names cannot be kept for a while', async () => {
    const directory = await temporaryDirectory();
    let syncs = 0;
    const files = watchedFiles(({ method }, make) =>
      method === 'sync' && (syncs += 1) > 3 && syncs < 7 ? Promise.reject(new Error('EIO')) : make(),
    );
    const [sink, ledger] = [await openAuditWith(directory, { maxBytes: 1 }, files), new AuditLedger()];
    await ledger.append(sink, 1);
    await ledger.append(sink, 1);
    await ledger.append(sink, 1, 3, 3);
    await sink[Symbol.asyncDispose]();
    expect(syncs).toBeGreaterThan(6);
    expect(await filesIn(directory)).toEqual([1, 2, 3].map((number) => `audit-00000${String(number)}.jsonl`));
  });

  it.each(['stat', 'read', 'datasync'])(
    'is refused, and leaves no file open, if %s of the newest file fails at the opening',
    async (failing) => {
      const directory = await temporaryDirectory();
      await appendTo(directory, 1);
      const touched = new Set<FileHandle>();
      const files = watchedFiles(async ({ method, path, file }, make) => {
        if (file !== undefined) touched.add(file);
        if (method === failing && path.endsWith(first)) throw new Error('EIO: the disk failed');
        return make();
      });
      await expect(openAuditWith(directory, {}, files)).rejects.toThrow('EIO: the disk failed');
      expect([...touched].map(({ fd }) => fd)).toEqual([...touched].map(() => -1));
      await appendTo(directory, 2);
      expect(await numbersIn(directory)).toEqual([1, 2]);
    },
  );

  it('makes room for a new file before the new file', async () => {
    const directory = await temporaryDirectory();
    const full = watchedFiles(async ({ method, parameters }, make) => {
      const isFull = (await filesIn(directory)).length >= 3;
      if (isFull && method === 'open' && parameters[1] === 'wx') throw new Error('ENOSPC');
      return make();
    });
    const sink = await openAuditWith(directory, { maxBytes: 1, maxFiles: 3 }, full);
    for (let number = 1; number < 6; number += 1) await sink.append([auditRecord(number)]);
    expect(await numbersIn(directory)).toEqual([3, 4, 5]);
    await sink[Symbol.asyncDispose]();
  });
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ count: fc.integer({ min: 1, max: 3 }), length: fc.nat(400), repeats: fc.nat(2) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constantFrom('write', 'datasync', 'sync', 'open', 'truncate', 'readdir', 'unlink'),
      times: fc.integer({ min: 1, max: 4 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
);

describe('an audit file', () => {
  // Promise: audit-file-sequence
  it('has the confirmed records in order and once after any sequence of appends, failures and openings', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 2000 }),
        async (steps, maxBytes) => {
          const [directory, ledger] = [await temporaryDirectory(), new AuditLedger()];
          let fault = { method: '', times: 0, part: 0 };
          const files = watchedFiles(async ({ method, parameters }, make) => {
            if (method !== fault.method || fault.times === 0) return make();
            fault = { ...fault, times: fault.times - 1 };
            const [bytes, offset, length, position] = parameters;
            if (method === 'write')
              await make([bytes, offset, Math.floor(Number(length) * fault.part), position]);
            else if (method !== 'open' && fault.part > 0.5) await make();
            throw new Error('EIO');
          });
          let sink = await openAuditWith(directory, { maxBytes }, files);
          for (const each of steps) {
            if (each === 'reopen') {
              await sink[Symbol.asyncDispose]();
              fault = { ...fault, times: 0 };
              sink = await openAuditWith(directory, { maxBytes }, files);
              const found = await numbersIn(directory);
              ledger.expectIn(found);
              ledger.settle(found);
            } else if ('method' in each) fault = each;
            else await ledger.append(sink, each.count, each.length, each.repeats).catch(() => undefined);
          }
          fault = { ...fault, times: 0 };
          await ledger.append(sink, 1);
          ledger.expectIn(await numbersIn(directory));
          await sink[Symbol.asyncDispose]();
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Appends records without end, several at once, and prints the number of each one that is confirmed. */
const program = `
import { writeSync } from 'node:fs';
const { openAuditFile } = await import(process.argv[1]);
const [directory, start] = process.argv.slice(2);
const sink = await openAuditFile(directory, { maxBytes: 100_000 });
for (let next = Number(start); ;) {
  const numbers = Array.from({ length: 1 + next % 20 }, () => next++);
  const time = 'x'.repeat(next % 1000);
  const records = numbers.map((number) => ({ kind: 'dropped', id: 'a.' + number, time, count: 1 }));
  await sink.append(records);
  writeSync(1, numbers.join('\\n') + '\\n');
}
`;

/** Runs the program until it has printed so many numbers, and kills it. Gives the numbers. */
async function killed(directory: string, start: number, count: number): Promise<readonly number[]> {
  const entry = pathToFileURL(`${root}dist/ports/audit-file/audit-file.js`).href;
  const parameters = ['--input-type=module', '--eval', program, entry, directory, String(start)];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const numbers: number[] = [];
  // What was printed before the end is read to its end.
  for await (const line of createInterface(child.stdout)) {
    if (numbers.push(Number(line)) === count) child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  return numbers;
}

beforeAll(buildPackage);

// Promise: audit-file-killed
it('an audit file has every confirmed record after its process was killed, and each line can be read', async () => {
  const directory = await temporaryDirectory();
  const confirmed: number[] = [];
  for (const [run, count] of [1, 200, 1000].entries()) {
    const start = run * 1_000_000;
    const last = start + 999_999;
    confirmed.push(...(await killed(directory, start, count)), last);
    await appendTo(directory, last);
    const found = await numbersIn(directory);
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((number) => confirmed.includes(number))).toEqual(confirmed);
  }
  expect((await filesIn(directory)).length).toBeGreaterThan(2);
});
