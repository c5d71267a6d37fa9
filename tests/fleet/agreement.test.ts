import { expect, it } from '@jest/globals';

import { Agreement } from '../../src/fleet/agreement.ts';

const at = (position: string, configuration: string) => ({
  position,
  history: { configuration: () => configuration },
});

it('tells once that another node has another configuration at the same position', () => {
  const [here, there] = [new Agreement(), new Agreement()];
  here.digestOf(at('7.a', '[1]'));
  const other = there.digestOf(at('7.a', '[2]'));
  expect([here.compare('there', other), here.differs('there')]).toEqual([true, true]);
  expect([here.compare('there', other), here.differs('there')]).toEqual([false, true]);
  here.digestOf(at('8.b', '[3]'));
  expect(here.compare('there', there.digestOf(at('8.b', '[3]')))).toBe(false);
  expect(here.differs('there')).toBe(false);
});

it('compares nothing at another position: after a set-back a revision can come again', () => {
  const [here, there] = [new Agreement(), new Agreement()];
  here.digestOf(at('7.a', '[1]'));
  expect(here.compare('there', there.digestOf(at('7.b', '[2]')))).toBe(false);
  expect(here.differs('there')).toBe(false);
});

it('remembers enough positions for a node that is behind, and no more', () => {
  const [here, there] = [new Agreement(), new Agreement()];
  for (let each = 1; each <= 33; each += 1) here.digestOf(at(String(each), 'here'));
  expect(here.compare('there', there.digestOf(at('1', 'there')))).toBe(false);
  expect(here.compare('there', there.digestOf(at('2', 'there')))).toBe(true);
});
