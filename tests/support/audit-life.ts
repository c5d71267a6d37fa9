/**
 * Lives of an audit file, and what is in its directory after them.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from '@jest/globals';
import type { AuditRecord } from 'gateway-admin-core';
import { openAuditFile, type AuditFile, type AuditFileOptions } from 'gateway-admin-core/audit-file';

import type { NodeFiles } from './watched-files.ts';

/** Opens an audit file on a file system that a test watches. */
export const openAuditWith: (
  directory: string,
  options: AuditFileOptions,
  files: NodeFiles,
) => Promise<AuditFile> = openAuditFile;

/** A record whose text has so many characters. */
export function auditRecord(number: number, length = 3): AuditRecord {
  return {
    kind: 'write',
    id: `a.${String(number)}`,
    time: 'ä'.repeat(length),
    outcome: 'accepted',
    revision: 1,
  };
}

/** Opens an audit file with the real disk, appends a record, and closes it. Gives what was repaired. */
export async function appendTo(directory: string, number: number): Promise<string | undefined> {
  const sink = await openAuditFile(directory);
  await sink.append([auditRecord(number)]).finally(() => sink[Symbol.asyncDispose]());
  return sink.repaired;
}

/** The names of the files with records, in their order. */
export async function filesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.jsonl')).sort();
}

/** The lines of all files, in their order. Each of them ends with a line break. */
export async function linesIn(directory: string): Promise<readonly string[]> {
  const texts = await Promise.all(
    (await filesIn(directory)).map((name) => readFile(join(directory, name), 'utf8')),
  );
  return texts.flatMap((text) => {
    expect(text.at(-1) ?? '\n').toBe('\n');
    return text.split('\n').slice(0, -1);
  });
}

/** The numbers of the records in all files. Each line is a record. */
export async function numbersIn(directory: string): Promise<readonly number[]> {
  return (await linesIn(directory)).map(numberOf);
}

/** The number of a record; throws if the line is not one. */
export function numberOf(line: string): number {
  const { id } = JSON.parse(line) as AuditRecord;
  return Number(id.slice('a.'.length));
}

/** What an audit file was given. */
export class AuditLedger {
  /** What it has confirmed. */
  kept: readonly number[] = [];
  /** What it was asked to keep, and has not confirmed. */
  pending: readonly number[] = [];
  #next = 0;

  /** Appends so many records of such a length. A failed call is made again, up to so many times. */
  async append(sink: AuditFile, count: number, length = 3, repeats = 0): Promise<void> {
    this.pending = Array.from({ length: count }, () => this.#next++);
    await keep(
      sink,
      this.pending.map((number) => auditRecord(number, length)),
      repeats,
    );
    this.kept = [...this.kept, ...this.pending];
    this.pending = [];
  }

  /** Takes note of what is in the files. From then on, that is kept. */
  settle(found: readonly number[]): void {
    this.kept = found;
    this.pending = [];
  }

  copy(): AuditLedger {
    return Object.assign(new AuditLedger(), { kept: this.kept, pending: this.pending });
  }

  /**
   * Expects that what was confirmed was found once and in order, and behind that at most a part of the call in flight.
   *
   * @param least - how many of the last confirmed records must be there; all of them if left out
   */
  expectIn(found: readonly number[], least = this.kept.length): void {
    const rest = this.pending.filter((number) => found.includes(number));
    const kept = this.kept.slice(
      -Math.max(Math.min(least, this.kept.length), found.length - rest.length) || Infinity,
    );
    expect({ found, ledger: this }).toEqual({ found: [...kept, ...rest], ledger: this });
  }
}

async function keep(sink: AuditFile, records: readonly AuditRecord[], repeats: number): Promise<void> {
  try {
    await sink.append(records);
  } catch (error) {
    if (repeats === 0) throw error;
    await keep(sink, records, repeats - 1);
  }
}
