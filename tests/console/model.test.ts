/**
 * The parts of the page that need no browser: pure functions, and the client of the page. They have no entry, so this
 * file imports them.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  problem,
  routes,
} from 'gateway-admin-core';
import { createClient, sendTo } from 'gateway-admin-core/client';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

import { addressOf, commandOf, connect } from '../../console/connection.ts';
import { rowFits } from '../../console/find.ts';
import { collections, createModel, type Message, type Model, reduce, rowsOf } from '../../console/model.ts';
import { instantOnClocks } from '../../console/instant.ts';
import { formatPlace, home, parsePlace, type Place, views, zoneOwners } from '../../console/place.ts';
import { durationText, setClock, tookText, whenText, zones } from '../../console/time.ts';
import { highest, windowOf } from '../../console/window.ts';
import { runAdmin } from '../support/running-admin.ts';

const origin = 'https://gateway.example:8443';

describe('the address of the interface', () => {
  // Promise: console-path
  it.each([
    ['/', 'admin', '/admin'],
    ['/console', '../', '/'],
    ['/console', '../admin', '/admin'],
    ['/a/b/', '../', '/a/'],
    ['/x/console', '../', '/x/'],
    ['/x/console', '../admin', '/x/admin'],
    ['/x/console', '/admin', '/admin'],
    ['/a%20b/console', '../', '/a%20b/'],
  ])('of a page at %s with the path %s is %s', (page, path, expected) => {
    for (const slash of ['', '/', '//'])
      for (const rest of ['', '?file=x', '#sessions?user=../x', '?a=/b/#/c/d'])
        expect(addressOf(origin + page.replace(/\/$/, '') + slash + rest, path)).toBe(origin + expected);
  });

  it('is at the origin of the page, whatever the path of the page and the option are', () => {
    const unit = fc.constantFrom('/', '\\', '.', '..', ':', '@', 'a', '%2F', '\t', '\0');
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (page, adminPath) => {
        try {
          createConsole({ adminPath });
        } catch {
          return;
        }
        expect(new URL(addressOf(`${origin}/${page}`, adminPath)).origin).toBe(origin);
      }),
      { numRuns: 1000 },
    );
  });
});

it.each(['engine', 'a:b c', 'pässwörd 🔑'])(
  'the password %s reaches the interface as it is',
  async (password) => {
    const hasher = createPbkdf2Hasher({ rounds: 1 });
    const name = 'ada';
    const { admin } = runAdmin({
      snapshot: createSnapshot({ users: [{ name, password: { sealed: await hasher.hash(password) } }] }),
      access: { authenticate: createBasicAuthentication(), authorize: () => true },
    });
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
      const answers = [password, `${password}x`].map(async (each) =>
        (await connect(address, { name, password: each })).interface.get(),
      );
      expect(await Promise.all(answers)).toMatchObject([
        { ok: true },
        { problem: { code: 'unauthenticated' } },
      ]);
    } finally {
      server.close().closeAllConnections();
    }
  },
);

describe('the method of a client that makes a change', () => {
  const client = createClient(sendTo(runAdmin().admin));

  it('is there for each command of the interface, with its plan', () => {
    for (const { id, kind } of routes)
      if (kind === 'command')
        expect(commandOf(client, id as never)).toHaveProperty('plan', expect.any(Function));
  });

  it('is named when there is none', () => {
    expect(() => commandOf(client, 'services.none' as never)).toThrow('The client has no services.none');
  });
});

const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(), fc.boolean());
const row = fc.dictionary(
  fc.string({ minLength: 1 }),
  fc.oneof(value, fc.array(value), fc.record({ inner: value })),
);

/** The values that a row has at any depth. */
function valuesOf(each: unknown): readonly unknown[] {
  return typeof each === 'object' && each !== null ? Object.values(each).flatMap(valuesOf) : [each];
}

describe('a row fits', () => {
  it('what is in one of its values, in letters of any case, and any number of such words', () => {
    fc.assert(
      fc.property(row, fc.nat(), fc.nat(), (given, one, other) => {
        const values = valuesOf(given).map(String);
        const words = [values[one % values.length] ?? '', values[other % values.length] ?? ''];
        expect(rowFits(words.join(' '), given)).toBe(true);
        expect(rowFits(words.join('\t').toLowerCase(), given)).toBe(true);
      }),
    );
  });

  it('no word that is in none of its values: not a name of a field, not a sign between two values', () => {
    const given = {
      name: 'Sales',
      drain: { state: 'draining', by: 'ada' },
      servers: ['/servers/a', '/servers/b'],
    };
    for (const find of ['name', 'state', '"', ',', '{', 'Sales/', 'adaada', 'a/servers', 'sales x'])
      expect([find, rowFits(find, given)]).toEqual([find, false]);
    for (const find of ['', '  ', 'SALES', 'draining ada', '/servers/b sal'])
      expect([find, rowFits(find, given)]).toEqual([find, true]);
  });
});

/** Freezes plain data: the model may change nothing that a message has. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const service = fc.record({ name: fc.constantFrom('Sales', 'Stock', 'Web'), current_connections: fc.nat(9) });
const states = ['connecting', 'open', 'waiting'] as const;

/** Messages of every type, at times that grow. */
const histories = fc
  .array(
    fc.oneof(
      fc.record(
        { type: fc.constant('closed'), problem: fc.constant(problem('unauthenticated', 'x')) },
        { requiredKeys: ['type'] },
      ),
      fc.record({ type: fc.constant('gateway'), gateway: fc.constant({ may: [] }) }),
      fc.record({ type: fc.constant('failed'), detail: fc.constantFrom('a', 'b') }),
      fc.record({ type: fc.constant('stream'), state: fc.constantFrom(...states) }),
      fc.record({ type: fc.constant('event'), event: fc.constant({}) }),
      fc.record({ type: fc.constant('gap'), isRestart: fc.boolean() }),
      fc.record({
        type: fc.constant('list'),
        collection: fc.constantFrom(...collections),
        elements: fc.uniqueArray(service, { selector: ({ name }) => name }),
        total: fc.nat(),
      }),
    ),
    { size: 'medium', maxLength: 60 },
  )
  .map(
    (all) =>
      all.map((message, at) =>
        deepFreeze(message.type === 'closed' ? message : { ...message, at, id: `life.${String(at)}` }),
      ) as unknown as readonly Message[],
  );

function modelOf(history: readonly Message[]): Model {
  return history.reduce<Model>((model, message) => reduce(deepFreeze(model), message), createModel(-1));
}

/** The messages of a type. */
function ofType<T extends Message['type']>(history: readonly Message[], type: T) {
  return history.filter((each): each is Extract<Message, { readonly type: T }> => each.type === type);
}

/** A law of the model after any messages. */
function law(name: string, check: (model: Model, history: readonly Message[]) => void): void {
  it(name, () => {
    fc.assert(
      fc.property(histories, (history) => {
        check(modelOf(history), history);
      }),
      { numRuns: 300 },
    );
  });
}

describe('the model', () => {
  law('is the same after the same messages', (model, history) => {
    expect(modelOf(history)).toEqual(model);
  });

  law('has each list as it was read last', (model, history) => {
    for (const collection of collections) {
      const last = ofType(history, 'list').findLast((each) => each.collection === collection);
      const { elements, total, at } = last ?? {};
      expect(model.lists[collection]).toEqual(last && { elements, total, at });
      expect(rowsOf(model, collection)).toEqual(elements ?? []);
    }
  });

  law('has the counters of the services that there are, as they were seen', (model, history) => {
    const seen = ofType(history, 'list').filter(({ collection }) => collection === 'services');
    const counts = (name: string): readonly unknown[] => {
      const all = seen.map(({ elements }) =>
        elements.find((each) => (each as { name: string }).name === name),
      );
      // A service that was gone begins anew.
      const begin = all.lastIndexOf(undefined) + 1;
      return all
        .slice(begin)
        .map((each) => (each as unknown as { current_connections: number }).current_connections);
    };
    const names = (seen.at(-1)?.elements ?? []).map((each) => (each as { name: string }).name);
    expect([...model.trails]).toEqual(names.map((name) => [name, counts(name)]));
  });

  law(
    'says since when the stream is as it is: between two attempts, it is as broken as before',
    (model, history) => {
      const runs = [{ state: 'connecting', since: -1 }];
      for (const { state, at } of ofType(history, 'stream')) {
        const shown = state === 'connecting' && runs.at(-1)?.state === 'waiting' ? 'waiting' : state;
        if (shown !== runs.at(-1)?.state) runs.push({ state: shown, since: at });
      }
      expect(model.stream).toEqual(runs.at(-1));
    },
  );

  law('says since when nothing could be read, and why at last', (model, history) => {
    const success = history.findLastIndex(({ type }) => type === 'list' || type === 'gateway');
    const [first, ...others] = ofType(history.slice(success + 1), 'failed');
    expect(model.fault).toEqual(first && { since: first.at, detail: (others.at(-1) ?? first).detail });
  });

  law('says whether the person may read, and what was missed last', (model, history) => {
    const access = history.findLast(({ type }) => type === 'closed' || type === 'gateway');
    expect(model.access.state).toBe(
      access === undefined ? 'opening' : access.type === 'closed' ? 'closed' : 'open',
    );
    const why = access?.type === 'closed' ? access.problem : undefined;
    expect(model.access).toEqual({
      state: model.access.state,
      ...(why === undefined ? {} : { problem: why }),
    });
    expect(model.gateway).toBe(ofType(history, 'gateway').at(-1)?.gateway);
    const gap = ofType(history, 'gap').at(-1);
    expect(model.renewal).toEqual(gap && { why: gap.isRestart ? 'restart' : 'gap', at: gap.at });
  });

  it('is the same object after a state of the stream that it has', () => {
    for (const [before, state] of [
      ['open', 'open'],
      ['waiting', 'waiting'],
      ['waiting', 'connecting'],
    ] as const) {
      const model = reduce(createModel(0), { type: 'stream', state: before, at: 1 });
      expect(reduce(model, { type: 'stream', state, at: 2 })).toBe(model);
    }
  });

  it('keeps the last 200 events, the newest first, and the last 60 values of a counter', () => {
    const events = Array.from(
      { length: 500 },
      (_, at) => ({ type: 'event', id: String(at), event: {} }) as Message,
    );
    expect(modelOf(events).events.map(({ id }) => id)).toEqual(
      Array.from({ length: 200 }, (_, at) => String(499 - at)),
    );
    const lists = Array.from({ length: 100 }, (_, at) => {
      const elements = [{ name: 'Sales', current_connections: at }];
      return { type: 'list', collection: 'services', elements, total: 1, at } as const;
    });
    expect(modelOf(lists).trails.get('Sales')).toEqual(Array.from({ length: 60 }, (_, at) => 40 + at));
  });
});

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

/** A word for some of the lists. */
const sections = (word: fc.Arbitrary<string>) =>
  fc.record({ services: word, servers: word, users: word }, { requiredKeys: [] });

/** A place without empty criteria. */
const places = fc
  .record({
    view: fc.constantFrom(...views),
    find: word,
    open: fc.oneof(
      fc.constant(''),
      word.map((each) => `/${each}`),
    ),
    zone: fc.constantFrom(...zoneOwners),
    search,
    past: fc.record({ actor: word, type: word, since: word }, { requiredKeys: [] }),
    sort: sections(fc.constantFrom('name', '-name', '-state')),
    only: sections(fc.constantFrom('wrong', 'failed')),
    closed: sections(fc.constant('')),
  })
  .map((place): Place => {
    const given = Object.entries(place.search).filter(([, value]) => value !== '');
    const past = Object.entries(place.past).filter(([, value]) => value !== '');
    return { ...place, search: Object.fromEntries(given), past: Object.fromEntries(past) };
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
    expect(formatPlace({ ...home, view: 'history' })).toBe('history');
    expect(formatPlace({ ...home, open: '/services/Sales' })).toBe('?open=/services/Sales');
    expect(formatPlace({ ...home, view: 'sessions', search: { service: 'Sales', idle_over: 60 } })).toBe(
      'sessions?service=Sales&idle_over=60',
    );
    const sorted = { sort: { servers: '-name' }, only: { services: 'wrong' }, closed: { users: '' } };
    expect(formatPlace({ ...home, ...sorted })).toBe('?sort=servers:-name&only=services:wrong&closed=users');
  });

  it('may be any text, and is then a place that a fragment leads to again', () => {
    const names = fc.constantFrom('find', 'open', 'tab', 'service', 'idle_over', 'sort', 'only', 'other');
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
      'services:-name,servers:state',
      'services:,servers,__proto__:x',
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

const seconds: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

describe('a duration', () => {
  it('is said in its largest unit, and is never longer than it was', () => {
    fc.assert(
      fc.property(fc.nat(400_000_000), (milliseconds) => {
        const [, count = '', unit = ''] = /^(\d+) (s|min|h|d)$/.exec(durationText(milliseconds)) ?? [];
        const size = (seconds[unit] ?? Number.NaN) * 1000;
        expect(Number(count) * size).toBeLessThanOrEqual(milliseconds);
        expect((Number(count) + 1) * size).toBeGreaterThan(milliseconds);
        if (milliseconds >= 1000) expect(Number(count)).toBeGreaterThan(0);
        for (const other of Object.values(seconds))
          if (other * 1000 > size) expect(milliseconds).toBeLessThan(other * 1000);
      }),
    );
  });

  it('of a clock that differs is 0', () => {
    expect([-5000, 999].map(durationText)).toEqual(['0 s', '0 s']);
    expect([59_999, 60_000, 3_600_000, 86_400_000].map(durationText)).toEqual([
      '59 s',
      '1 min',
      '1 h',
      '1 d',
    ]);
  });

  it('of an act has tenths of seconds while it is short', () => {
    expect([0, 74, 340, 9940].map(tookText)).toEqual(['0.0 s', '0.1 s', '0.3 s', '9.9 s']);
    expect([10_000, 12_600, 75_000].map(tookText)).toEqual(['10 s', '13 s', '75 s']);
  });
});

it('an event that is told twice is one', () => {
  const told = { type: 'event', id: 'life.0.1', event: {} as never, at: 0 } as const;
  const once = reduce(createModel(0), told);
  expect(once.events).toHaveLength(1);
  expect(reduce(once, told)).toBe(once);
});

describe('what the clocks of a gateway showed', () => {
  it('is the instant that another clock shows otherwise', () => {
    const clock = (time_zone: string): void => setClock({ now: '2026-11-26T13:05:09+00:00', time_zone });
    for (const [zone, summer, winter] of [
      ['Europe/Helsinki', 3, 2],
      ['America/New_York', -4, -5],
      ['UTC', 0, 0],
    ] as const) {
      clock(zone);
      expect(instantOnClocks('Wed Sep  9 14:12:37 2026')).toBe(Date.UTC(2026, 8, 9, 14 - summer, 12, 37));
      expect(instantOnClocks('Wed Dec  9 00:12:37 2026')).toBe(Date.UTC(2026, 11, 9, 0 - winter, 12, 37));
    }
    clock('a zone that the browser does not know');
    expect(zones.gateway).toBe('UTC');
  });
});

describe('a moment', () => {
  const now = new Date(2026, 10, 26, 13, 5, 9).getTime();

  it('of today is a time of day, and any other has its date', () => {
    expect(whenText(now - 3_600_000, now)).toMatch(/^12\D05\D09$/);
    for (const days of [-366, -31, -1, 1]) {
      const at = new Date(2026, 10, 26 + days, 13, 5, 9).getTime();
      expect(whenText(at, now)).toContain(String(new Date(at).getFullYear()));
      expect(whenText(at, now)).toMatch(/13\D05\D09$/);
    }
  });

  it('after midnight is not written as hour 24', () => {
    expect(whenText(new Date(2026, 10, 26, 0, 1, 2).getTime(), now)).toMatch(/^0?0\D01\D02$/);
  });
});

/** The whole list has up to ten million rows. */
const totals = fc.oneof(fc.nat(2000), fc.nat(10_000_000), fc.constant(10_000_000));
const lists = fc.record({
  total: totals,
  rowHeight: fc.integer({ min: 16, max: 60 }),
  visible: fc.integer({ min: 120, max: 4000 }),
});
type List = typeof lists extends fc.Arbitrary<infer T> ? T : never;

/** A position of a share of the list, as a browser scrolls: in whole pixels, and at times beyond the ends. */
function positionIn(share: number, { total, rowHeight, visible }: List): number {
  const { height } = windowOf(total, rowHeight, 0, visible);
  return Math.round(share * (height - visible));
}

/** Where rows are, from the top of what is visible: the first drawn one, and the end of the last one. */
function drawnAt(scrolled: number, { total, rowHeight, visible }: List) {
  const { first, end, height, top } = windowOf(total, rowHeight, scrolled, visible);
  const at = Math.min(Math.max(0, scrolled), Math.max(0, height - visible));
  return { first, end, height, from: top - at, to: top - at + (end - first) * rowHeight };
}

/** Where to scroll to so that a row is at the top. The inverse of {@link windowOf}. */
function scrollTo(row: number, total: number, rowHeight: number, visible: number): number {
  const whole = total * rowHeight;
  const most = Math.max(0, Math.min(whole, highest) - visible);
  const scale = whole <= visible ? 0 : most / (whole - visible);
  return Math.min(most, row * rowHeight * scale);
}

describe('the window of a list', () => {
  it('covers what is visible at every position, with few rows', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: -0.1, max: 1.1, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        const { first, end, from, to, height } = drawnAt(positionIn(share, list), list);
        expect(height).toBeLessThanOrEqual(15_000_000);
        expect([first >= 0, end <= total, first <= end]).toEqual([true, true, true]);
        expect(end - first).toBeLessThanOrEqual(visible / rowHeight + 23);
        expect(from).toBeLessThanOrEqual(1e-6);
        expect(to).toBeGreaterThanOrEqual(Math.min(visible, total * rowHeight) - 1e-6);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows each row as a whole at some position that a browser can have', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        fc.pre(total > 0);
        const row = Math.floor(share * total);
        const scrolled = Math.floor(scrollTo(row, total, rowHeight, visible));
        const { first, end, from } = drawnAt(scrolled, list);
        const top = from + (row - first) * rowHeight;
        expect([first <= row, row < end]).toEqual([true, true]);
        expect(top).toBeGreaterThanOrEqual(-1e-6);
        expect(top + rowHeight).toBeLessThanOrEqual(visible + 1e-6);
      }),
      { numRuns: 2000 },
    );
  });

  it('has a row at its top where scrollTo leads, unless the list ends before', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        const row = Math.floor(share * total);
        const scrolled = scrollTo(row, total, rowHeight, visible);
        const { first, from, height } = drawnAt(scrolled, list);
        const lowest = Math.max(0, total * rowHeight - visible);
        expect(from + (row - first) * rowHeight).toBeCloseTo(Math.max(0, row * rowHeight - lowest), 3);
        expect(scrolled).toBeLessThanOrEqual(Math.max(0, height - visible));
      }),
      { numRuns: 2000 },
    );
  });

  it('is unscaled where a browser can draw the whole list', () => {
    const [rowHeight, visible] = [28, 600];
    const total = Math.floor(highest / rowHeight);
    expect(windowOf(total, rowHeight, 2800, visible)).toEqual({
      first: 90,
      end: 133,
      height: total * rowHeight,
      top: 2520,
    });
    expect(windowOf(0, rowHeight, 0, visible)).toEqual({ first: 0, end: 0, height: 0, top: 0 });
  });
});
