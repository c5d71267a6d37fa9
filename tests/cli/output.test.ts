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

  it.each([61, 255, 30_000])('makes no other row wider for a name of %d characters', (length) => {
    const long = 'x'.repeat(length);
    expect(
      printed([
        [long, 'idle'],
        ['short', 'idle'],
      ]),
    ).toBe(['NAME   STATE', `${long}  idle`, 'short  idle', ''].join('\n'));
  });

  it('aligns names of up to 60 characters', () => {
    const rows = [
      ['x'.repeat(60), 'idle'],
      ['short', 'idle'],
    ];
    expect(printed(rows).split('\n')[2]).toBe(`short${' '.repeat(57)}idle`);
  });
});

describe('a number of things', () => {
  it('has no control characters, whatever an answer has for the number', () => {
    expect(counted(1200, 'session')).toBe('1,200 sessions');
    expect(counted('\x1b[2J' as unknown as number, 'session')).toBe('\\u001b[2J sessions');
  });
});
