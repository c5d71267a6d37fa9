import { describe, expect, it } from '@jest/globals';

import { exists, read } from '../support/project.ts';
import { codesOf, tablesOf } from './table.ts';
import { testNamesIn } from './test-name.ts';

const promises = tablesOf(read('docs/promises.md'))
  .filter(({ header }) => header[0] === 'Promise')
  .flatMap(({ rows }) => rows)
  .map(([promise = '', file = '', test = '']) => ({
    promise,
    file: codesOf(file)[0] ?? file,
    test: codesOf(test)[0] ?? test,
  }));

describe('the page of promises', () => {
  it('has promises', () => {
    expect(promises.length).toBeGreaterThan(80);
  });

  it('makes each promise once', () => {
    const texts = promises.map(({ promise }) => promise);
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
  });

  it.each(promises)('names a test that keeps "$promise"', ({ file, test }) => {
    expect(exists(file) ? testNamesIn(read(file)) : `There is no ${file}`).toContain(test);
  });
});

describe('the names of the tests in a file', () => {
  it.each([
    ['a test', "it('does it', () => {});", ['does it']],
    [
      'groups',
      "describe('a', () => { describe('b', () => { it('c', f); }); it('d', f); });",
      ['a b c', 'a d'],
    ],
    ['tables', "describe.each(rows)('a %s', () => { it.each(f(x))('b $name', f); });", ['a %s b $name']],
    ['templates', 'it(`leads to ${next}, at once`, f);', ['leads to ${next}, at once']],
    ['quotes', 'it("says \'no\'", f);', ["says 'no'"]],
    ['skipped tests', "it.skip('a', f); describe.skip('b', () => { it('c', f); }); it.todo('d');", []],
    ['other calls', "expect('a'); item('b', f); it(name, f); split('it');", []],
  ])('are those of %s', (_what, text, names) => {
    expect(testNamesIn(text)).toEqual(names);
  });
});
