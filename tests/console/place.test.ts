import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { formatPlace, home, parsePlace, tabs, views, type Place } from '../../console/place.ts';

const word = fc.string({ unit: 'grapheme' });
const number = fc.oneof(
  fc.nat(999_999_999),
  fc.nat(9_999_999).map((each) => each / 1000),
);
const search = fc.record(
  {
    service: word,
    server: word,
    user: word,
    address: word,
    idle_over: number,
    older_than: number,
  },
  { requiredKeys: [] },
);

/** A place without empty criteria, and without a tab of a drawer that is closed. */
const places = fc
  .record({
    view: fc.constantFrom(...views),
    find: word,
    open: fc.oneof(
      fc.constant(''),
      word.map((each) => `/${each}`),
    ),
    tab: fc.constantFrom(...tabs),
    search,
  })
  .map((place): Place => {
    const given = Object.entries(place.search).filter(([, value]) => value !== '');
    return { ...place, tab: place.open === '' ? home.tab : place.tab, search: Object.fromEntries(given) };
  });

describe('the fragment of a place', () => {
  it('leads to the same place', () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parsePlace(formatPlace(place))).toEqual(place);
        expect(parsePlace(`#${formatPlace(place)}`)).toEqual(place);
      }),
    );
  });

  it('stays in an address as it is', () => {
    fc.assert(
      fc.property(places, (place) => {
        const fragment = formatPlace(place);
        expect(new URL(`https://gateway.example/#${fragment}`).hash.slice(1)).toBe(fragment);
      }),
    );
  });

  it('is empty at home, and short where little is said', () => {
    expect(formatPlace(home)).toBe('');
    expect(formatPlace({ ...home, tab: 'settings' })).toBe('');
    expect(formatPlace({ ...home, view: 'history' })).toBe('history');
    expect(formatPlace({ ...home, open: '/services/Sales' })).toBe('?open=/services/Sales');
    expect(formatPlace({ ...home, view: 'sessions', search: { service: 'Sales', idle_over: 60 } })).toBe(
      'sessions?service=Sales&idle_over=60',
    );
  });

  it('may be any text, and is then a place that a fragment leads to again', () => {
    const names = fc.constantFrom('find', 'open', 'tab', 'service', 'idle_over', 'other');
    const values = [
      '',
      '1e9',
      '-1',
      '0.0000001',
      '00.50',
      '9'.repeat(30),
      'settings',
      '/x',
      'x',
      '%',
      '%ff',
      '\ud800',
    ];
    const pair = fc.tuple(names, fc.constantFrom(...values)).map((each) => each.join('='));
    const view = fc.constantFrom('', '#', 'sessions', 'nowhere');
    const named = fc.tuple(view, fc.array(pair)).map(([first, pairs]) => `${first}?${pairs.join('&')}`);
    const texts = fc.oneof(named, fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(texts, (text) => {
        const place = parsePlace(text);
        expect(parsePlace(formatPlace(place))).toEqual(place);
      }),
      { numRuns: 1000 },
    );
    expect(parsePlace('#nowhere?tab=nothing&idle_over=-1&open=services/Sales&other=x')).toEqual(home);
  });
});
