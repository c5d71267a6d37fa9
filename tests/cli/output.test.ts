import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { answering, answeringServers } from './answering-server.ts';
import { command } from './command-line.ts';

const open = answeringServers(afterEach);

/** What the program prints of services, whatever an interface has in them. */
async function listed(services: readonly object[], ...args: readonly string[]): Promise<string> {
  const url = await open(answering(services));
  const { code, out } = await command(['list', 'services', '--url', url, ...args]);
  expect(code).toBe(0);
  return out;
}

/** What the program prints of a list with two columns. */
const tableOf = (rows: readonly (readonly [name: unknown, state: unknown])[]): Promise<string> =>
  listed(
    rows.map(([name, state]) => ({ name, state })),
    '--fields',
    'name,state',
  );

describe('a table of the command line', () => {
  it('prints any number of rows', async () => {
    const count = 300_000;
    const lines = (await tableOf(Array.from({ length: count }, (_, at) => [`s${String(at)}`, 'idle']))).split(
      '\n',
    );
    expect([lines.length, lines[1], lines[count]]).toEqual([count + 2, 's0       idle', 's299999  idle']);
  });

  it.each([61, 255, 30_000])('makes no other row wider for a name of %d characters', async (length) => {
    const long = 'x'.repeat(length);
    expect(
      await tableOf([
        [long, 'idle'],
        ['short', 'idle'],
      ]),
    ).toBe(['NAME   STATE', `${long}  idle`, 'short  idle', ''].join('\n'));
  });

  it('aligns names of up to 60 characters', async () => {
    const table = await tableOf([
      ['x'.repeat(60), 'idle'],
      ['short', 'idle'],
    ]);
    expect(table.split('\n')[2]).toBe(`short${' '.repeat(57)}idle`);
  });

  it('lines columns up as a terminal shows them: wide characters have two columns', async () => {
    const widths = { a: 1, é: 1, 'e\u0301': 1, я: 1, 日: 2, 한: 2, Ｗ: 2, ｱ: 1, あ: 2, '🙂': 2 } as const;
    const parts = fc.array(fc.constantFrom(...(Object.keys(widths) as (keyof typeof widths)[])), {
      minLength: 1,
    });
    const widthOf = (text: readonly (keyof typeof widths)[]): number =>
      text.reduce((sum, part) => sum + widths[part], 0);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(parts, parts), { minLength: 1 }), async (given) => {
        const widest = Math.max('NAME'.length, ...given.map(([first]) => widthOf(first)));
        const lines = await tableOf(given.map(([first, second]) => [first.join(''), second.join('')]));
        expect(lines.split('\n').slice(1, -1)).toEqual(
          given.map(
            ([first, second]) =>
              `${first.join('')}${' '.repeat(widest - widthOf(first) + 2)}${second.join('')}`,
          ),
        );
      }),
    );
  });
});

describe('the output of the command line', () => {
  const controls = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

  // Promise: command-line-terminal
  it('shows no control character of anybody else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect((await tableOf([[value, value]])).replaceAll('\n', '')).not.toMatch(controls);
        expect((await listed([{ value }], '--json')).replaceAll('\n', '')).not.toMatch(controls);
      }),
    );
    expect(await tableOf([['a\x1b[2Jb\u202ec', 'idle']])).toContain('\na\\u001b[2Jb\\u202ec  idle\n');
  });

  it('keeps JSON the same value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        expect(JSON.parse(await listed([{ value }], '--json'))).toEqual(
          JSON.parse(JSON.stringify([{ value }])),
        );
      }),
    );
  });
});
