import { describe, expect, it } from '@jest/globals';

import { AuditLog } from '../../../src/runtime/audit/audit-log.ts';
import { mostBytes } from '../../../src/runtime/audit/change.ts';
import type { WriteEntry } from '../../../src/runtime/audit/record.ts';

const outcome = { kind: 'write', outcome: 'accepted', revision: 2 } as const;

/** An entry that counts how often its operations are read: each pass over the change reads them once. */
function counted(value: string): { readonly entry: WriteEntry; readonly passes: () => number } {
  let passes = 0;
  const item = {
    type: 'monitor.updated',
    resource: '/monitors/m',
    get operations() {
      passes += 1;
      return [
        { op: 'replace', path: '/passwordSealed', value: { sealed: 'opaque' } },
        { op: 'add', path: '/user', value },
      ];
    },
  };
  return { entry: { ...outcome, decided: [item] }, passes: () => passes };
}

/** A log that nobody has read, and all that a reader gets of it. */
function logOf(...entries: readonly WriteEntry[]): () => Promise<readonly unknown[]> {
  const log = new AuditLog(10, 'a', { now: () => 0 });
  const [first, ...others] = [outcome, ...entries];
  log.append(first);
  for (const entry of others) log.append(entry);
  log.close();
  return async () => {
    const records: unknown[] = [];
    for await (const record of log.read({ after: 'a.1' })) records.push(record);
    return records;
  };
}

describe('the audit log', () => {
  it('passes over a change once, for its size, while nobody reads its record', () => {
    const { entry, passes } = counted('x');
    logOf(entry);
    expect(passes()).toBe(1);
  });

  it('makes a record for its first reader, and once for all readers', async () => {
    const { entry, passes } = counted('x');
    const read = logOf(entry);
    const [record] = await read();
    const once = passes();
    expect(await read()).toEqual([record]);
    expect((await read())[0]).toBe(record);
    expect(passes()).toBe(once);
    expect(record).toEqual({
      ...outcome,
      id: 'a.2',
      time: '1970-01-01T00:00:00+00:00',
      change: [
        {
          type: 'monitor.updated',
          resource: '/monitors/m',
          operations: [
            { op: 'replace', path: '/password' },
            { op: 'add', path: '/user', value: 'x' },
          ],
        },
      ],
    });
  });

  it('makes a record of a large change at once, because the record is small', async () => {
    const { entry, passes } = counted('x'.repeat(mostBytes));
    const read = logOf(entry);
    const made = passes();
    expect(made).toBeGreaterThan(1);
    expect(await read()).toMatchObject([{ change: [{ type: 'monitor.updated', resource: '/monitors/m' }] }]);
    expect(passes()).toBe(made);
  });
});
