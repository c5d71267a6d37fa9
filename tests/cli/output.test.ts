import { PassThrough } from 'node:stream';

import { describe, expect, it } from '@jest/globals';

import { counted, Output } from '../../src/cli/output.ts';

/** What a table prints. */
function printed(rows: readonly (readonly string[])[]): string {
  const stdout = new PassThrough({ highWaterMark: 2 ** 30 });
  const streams = { stdout, stderr: new PassThrough() } as unknown as ConstructorParameters<typeof Output>[0];
  new Output(streams, false).table(['name', 'state'], rows);
  return String(stdout.read());
}

describe('a table of the command line', () => {
  it('prints any number of rows', () => {
    const count = 300_000;
    const lines = printed(Array.from({ length: count }, (_, at) => [`s${String(at)}`, 'idle'])).split('\n');
    expect([lines.length, lines[1], lines[count]]).toEqual([count + 2, 's0       idle', 's299999  idle']);
  });

  it('aligns no row with a name of thousands of characters', () => {
    const long = 'x'.repeat(30_000);
    const rows = Array.from({ length: 5000 }, () => ['short', 'idle']);
    const text = printed([[long, 'idle'], ...rows]);
    expect(text).toContain(`\n${long}  idle\nshort${' '.repeat(997)}idle\n`);
    expect(text.length).toBeLessThan(6_000_000);
  });
});

describe('a number of things', () => {
  it('has no control characters, whatever an answer has for the number', () => {
    expect(counted(1200, 'session')).toBe('1,200 sessions');
    expect(counted('\x1b[2J' as unknown as number, 'session')).toBe('\\u001b[2J sessions');
  });
});
