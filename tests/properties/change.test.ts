/**
 * The laws of changes, for three and four definitions of one service that have nothing to do with each other.
 *
 * The definitions are made of few values, so that one often has what another has.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  evolve,
  nameKey,
  toDocument,
  type AdminEvent,
  type Json,
  type Snapshot,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { thawedPlaces } from '../support/frozen.ts';
import {
  applied,
  changeBetween,
  conflicts,
  fieldTables,
  inverse,
  joined,
  merged,
  namedResources,
  pruned,
  type Fields,
} from '../support/internal.ts';

type Definition = Readonly<Record<string, Json>>;
type Change = NonNullable<ReturnType<typeof changeBetween>>;

const { service: fields } = fieldTables as Readonly<Record<'service', Fields>>;
const link = '/services/Sales';

const optionNames = ['a', 'b/c', '~', '__proto__', 'constructor', '7'];
const options = fc.dictionary(
  fc.constantFrom(...optionNames),
  fc.constantFrom<Json>(1, 'one', { sealed: 'opaque' }),
  { noNullPrototype: true, maxKeys: 4 },
);

function linksOf(collection: string): fc.Arbitrary<readonly string[]> {
  return fc.shuffledSubarray(['a', 'b', 'c', 'd', 'E-%C3%A9'].map((name) => `/${collection}/${name}`));
}

const listeners = fc
  .shuffledSubarray(['one', 'Two', '3'])
  .chain((names) =>
    fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), port: fc.constantFrom(1, 2) }))),
  );

const drains = fc.constantFrom<Json>(
  { since: '2016-09-10T00:00:00Z', from: 'started' },
  { since: '2016-09-10T00:00:00Z', from: 'started', reason: 'update' },
);

/** Definitions of a service, which have what has a default. */
const definitions = fc.record(
  {
    name: fc.constant('Sales'),
    router: fc.constantFrom('one', 'one', 'other'),
    state: fc.constantFrom('started', 'stopped'),
    router_options: options,
    filters: linksOf('filters'),
    servers: linksOf('servers'),
    user: fc.constantFrom('ada', 'bob'),
    password: fc.constantFrom({ sealed: 'opaque' }, { sealed: 'other' }),
    max_connection: fc.constantFrom(0, 1),
    drain: drains,
    listeners,
  },
  {
    requiredKeys: ['name', 'router', 'state', 'router_options', 'filters', 'servers', 'listeners'],
    noNullPrototype: true,
  },
) as fc.Arbitrary<Definition>;

const maybe = fc.option(definitions, { nil: undefined, freq: 5 });

/** A value as a text, whatever the order of its members. A matcher of Jest takes a member `constructor` for a class. */
function text(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** A definition as a text: the order of listeners is no content. */
function plain(definition: Definition | undefined): string {
  return text(definition ? { ...definition, listeners: byName(definition) } : null);
}

function byName({ listeners: all = [] }: Definition): Definition {
  return Object.fromEntries((all as readonly Definition[]).map((each) => [String(each['name']), each]));
}

/** A definition as a text, whatever the order of its links. */
function unordered(definition: Definition | undefined): string {
  return text(definition ? Object.fromEntries(partsOf(definition)) : null);
}

const between = (from?: Definition, to?: Definition): Change | undefined =>
  changeBetween(fields, link, from, to);

/** Definitions before and after a change, and one that has other values than the first in some members. */
const movedOn = fc
  .tuple(definitions, definitions, definitions, fc.infiniteStream(fc.boolean()))
  .map(([before, after, other, coin]) => {
    const mixed = Object.keys({ ...before, ...other }).map((name) => {
      const { [name]: value } = coin.next().value ? other : before;
      return [name, value] as const;
    });
    return [before, after, Object.fromEntries(mixed.filter(([, value]) => value !== undefined))] as const;
  }) as fc.Arbitrary<readonly [Definition, Definition, Definition]>;

/** The parts of a definition by their pointers: of a list, which links it has. */
function partsOf(definition: Definition): ReadonlyMap<string, string> {
  const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
  const below = (name: string, parts: Definition): readonly (readonly [string, Json])[] =>
    Object.entries(parts).map(([key, part]) => [`/${name}/${escaped(key)}`, part]);
  const all = Object.entries(definition).flatMap(([name, value]) => {
    if (name === 'router_options') return below(name, value as Definition);
    if (name === 'listeners')
      return Object.entries(byName(definition)).flatMap(([key, each]) =>
        below(name, { [key.toLowerCase()]: each }),
      );
    if (name !== 'filters' && name !== 'servers') return [[`/${name}`, value] as const];
    return (value as readonly string[]).map((each) => [`/${name}/${escaped(each)}`, true] as const);
  });
  return new Map(all.map(([pointer, part]) => [pointer, JSON.stringify(part)]));
}

/** Where a part is in the way: no pointer leads to a link that has come or gone, so its list is in the way. */
function placeOf(pointer: string): string {
  return pointer.replace(/^(\/(?:filters|servers))\/.*$/, '$1');
}

/** The pointers of the parts in which two definitions differ. */
function differing(one: Definition, other: Definition): readonly string[] {
  const [parts, others] = [partsOf(one), partsOf(other)];
  return [...new Set([...parts.keys(), ...others.keys()])].filter(
    (pointer) => parts.get(pointer) !== others.get(pointer),
  );
}

/** The members whose links are in both, and in another order. */
function reordered(one: Definition, other: Definition): readonly string[] {
  const orderIn = (definition: Definition, others: Definition, name: string): string => {
    const [list, other] = [definition[name], others[name]] as (readonly string[])[];
    return text(list?.filter((each) => other?.includes(each)));
  };
  return ['filters', 'servers'].filter((name) => orderIn(one, other, name) !== orderIn(other, one, name));
}

const runs = { numRuns: 5000 };

describe('A change between two definitions', () => {
  it('makes the one of the other, forward and back, whole and pruned', () => {
    fc.assert(
      fc.property(maybe, maybe, (before, after) => {
        const change = between(before, after);
        if (change === undefined) {
          expect(plain(before)).toBe(plain(after));
          return;
        }
        expect(plain(before)).not.toBe(plain(after));
        const back = inverse(change);
        expect(plain(applied(before, change))).toBe(plain(after));
        expect(plain(applied(after, back))).toBe(plain(before));
        for (const each of [change, pruned(fields, change)]) {
          expect(plain(merged(fields, before, each))).toBe(plain(after));
          expect(plain(merged(fields, after, inverse(each)))).toBe(plain(before));
          expect(conflicts(fields, before, each)).toStrictEqual([]);
          expect(conflicts(fields, after, inverse(each))).toStrictEqual([]);
          expect(text(pruned(fields, each))).toBe(text(pruned(fields, change)));
        }
        expect(text(pruned(fields, back))).toBe(text(inverse(pruned(fields, change))));
      }),
      runs,
    );
  });

  it('does so for what any two documents have of any kind', () => {
    const entries = documents.map((document) => toDocument(createSnapshot(document)));
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        for (const { collection, fields: own } of namedResources) {
          const [[before], [after]] = [one, other].map(
            ({ [collection as 'servers']: all = [] }) => all as unknown as readonly Definition[],
          ) as [readonly Definition[], readonly Definition[]];
          const change = changeBetween(own, link, before, after);
          if (change === undefined) continue;
          for (const each of [change, pruned(own, change)]) {
            expect(plain(merged(own, before, each))).toBe(plain(after));
            expect(plain(merged(own, after, inverse(each)))).toBe(plain(before));
          }
          expect(plain(applied(before, change))).toBe(plain(after));
        }
      }),
    );
  });

  it('is frozen, and so is what comes of it', () => {
    fc.assert(
      fc.property(definitions, definitions, definitions, (before, after, present) => {
        const change = between(before, after);
        if (change === undefined) return;
        const made = [change, pruned(fields, change), inverse(change), applied(present, change)];
        expect(thawedPlaces([...made, merged(fields, present, change), ...joined(fields, [change])])).toEqual(
          ['(the whole)'],
        );
      }),
    );
  });

  it('has no member in its pruned form that is equal before and after', () => {
    fc.assert(
      fc.property(definitions, definitions, (before, after) => {
        const change = between(before, after);
        const { from = {}, to = {} } = change === undefined ? {} : pruned(fields, change);
        const parts = new Set([...Object.keys(from), ...Object.keys(to)]);
        const expected = differing(before, after).map((pointer) => pointer.split('/')[1] ?? '');
        expect(parts).toStrictEqual(new Set([...expected, ...reordered(before, after)]));
      }),
      runs,
    );
  });
});

describe('Joined changes', () => {
  it('lead from the first definition to the last', () => {
    fc.assert(
      fc.property(fc.array(maybe, { minLength: 2, maxLength: 5 }), fc.boolean(), (all, isPruned) => {
        const steps = all.slice(1).flatMap((after, at) => between(all[at], after) ?? []);
        const changes = isPruned ? steps.map((step) => pruned(fields, step)) : steps;
        const net = joined(fields, changes);
        const [first, last] = [all[0], all.at(-1)];
        const end = net.reduce<Definition | undefined>((now, each) => merged(fields, now, each), first);
        expect(plain(end)).toBe(plain(last));
        const start = net.reduceRight((now, each) => merged(fields, now, inverse(each)), last);
        expect(plain(start)).toBe(plain(first));
        if (between(first, last) === undefined) expect(net).toStrictEqual([]);
      }),
      runs,
    );
  });

  it('are a deletion and a creation, if no update leads from the one to the other', () => {
    fc.assert(
      fc.property(definitions, definitions, (before, after) => {
        const [gone, back] = [between(before, undefined), between(undefined, after)] as [Change, Change];
        const net = joined(fields, [gone, back]);
        const change = between(before, after);
        const update = change === undefined ? [] : [pruned(fields, change)];
        expect(text(net)).toBe(text(before['router'] === after['router'] ? update : [gone, back]));
      }),
    );
  });
});

describe('A change of a definition that has moved on', () => {
  it('has in its way what has changed since, and nothing else', () => {
    fc.assert(
      fc.property(movedOn, ([before, after, present]) => {
        const change = between(before, after);
        if (change === undefined) return;
        const orders = reordered(before, after).map((name) => `/${name}`);
        const since = new Set(differing(before, present));
        const inTheWay = differing(before, after).filter((pointer) => since.has(pointer));
        const expected = [...new Set(inTheWay.map(placeOf))];
        const isInOrder = (pointer: string): boolean => orders.every((name) => !pointer.startsWith(name));
        const found = conflicts(fields, present, change);
        expect(found.filter(isInOrder).toSorted()).toStrictEqual(expected.filter(isInOrder).toSorted());
        expect(conflicts(fields, present, pruned(fields, change))).toStrictEqual(found);
      }),
      runs,
    );
  });

  it('changes what it touches alone, and can be taken back, if nothing is in its way', () => {
    fc.assert(
      fc.property(movedOn, ([before, after, present]) => {
        const change = between(before, after);
        if (change === undefined || conflicts(fields, present, change).length > 0) return;
        const next = merged(fields, present, change) ?? {};
        const touched = new Set(differing(before, after));
        expect(differing(present, next).toSorted()).toStrictEqual([...touched].toSorted());
        expect(differing(next, after).filter((pointer) => touched.has(pointer))).toStrictEqual([]);
        const orders = reordered(before, after).map((name) => `/${name}`);
        const back = conflicts(fields, next, inverse(change));
        expect(back.filter((pointer) => !orders.includes(pointer))).toStrictEqual([]);
        expect(unordered(merged(fields, next, inverse(change)))).toBe(unordered(present));
      }),
      runs,
    );
  });

  it('knows a link in any spelling, and puts one that comes behind the one that it followed', () => {
    const listed = (servers: readonly string[]): Definition => ({ name: 'Sales', router: 'one', servers });
    const serversAfter = (
      from: readonly string[],
      to: readonly string[],
      now: readonly string[],
    ): unknown => {
      const change = between(listed(from), listed(to)) as Change;
      const inTheWay = conflicts(fields, listed(now), change);
      return inTheWay.length > 0 ? inTheWay : merged(fields, listed(now), change)?.['servers'];
    };
    const [a, b, c, d] = ['/servers/a', '/servers/b', '/servers/c', '/servers/d'] as const;

    expect(serversAfter([a], [a, b], [c, a, d])).toStrictEqual([c, a, b, d]);
    expect(serversAfter([a], [a, b], [d])).toStrictEqual([d, b]);
    expect(serversAfter([a, b], [b], [c, '/servers/A', b])).toStrictEqual([c, b]);
    expect(serversAfter([a], [a, '/servers/B'], [b, a])).toStrictEqual(['/servers']);
    expect(serversAfter([a, b, c], [c, b, a], [a, d, b, c])).toStrictEqual(['/servers']);
    expect(serversAfter([a, b], [b, a], [a, b, c])).toStrictEqual([b, a, c]);
    expect(between(listed([a]), listed(['/servers/A']))).toBeUndefined();
  });

  it('goes word by word in a list of words, and is there as it is wanted if nothing came between', () => {
    const { server: ofServers } = fieldTables as Readonly<Record<'server', Fields>>;
    const all = ['maintenance', 'master', 'running', 'slave'];
    const lists = fc.shuffledSubarray(all);
    const listed = (status: readonly string[]): Definition => ({ name: 'db', status });
    fc.assert(
      fc.property(lists, lists, lists, (before, after, present) => {
        const change = changeBetween(ofServers, link, listed(before), listed(after));
        expect(change === undefined).toBe(text(before) === text(after));
        if (change === undefined) return;
        expect(pruned(ofServers, change)).toStrictEqual(change);
        const wordsAfter = (now: readonly string[]): unknown =>
          merged(ofServers, listed(now), change)?.['status'];
        expect(wordsAfter(before)).toStrictEqual(after);
        const goes = before.filter((word) => !after.includes(word));
        const comes = after.filter((word) => !before.includes(word));
        // A monitor may have found again what comes. If it has found another word, its own words are no longer those.
        const isOfMonitor = [...goes, ...comes].some((word) => word !== 'maintenance');
        const isNews = (word: string): boolean =>
          word !== 'maintenance' && !before.includes(word) && !after.includes(word);
        const isInTheWay =
          goes.some((word) => !present.includes(word)) || (isOfMonitor && present.some(isNews));
        expect(conflicts(ofServers, listed(present), change)).toStrictEqual(isInTheWay ? ['/status'] : []);
        if (isInTheWay || text(present) === text(before)) return;
        const stays = present.filter((word) => !goes.includes(word));
        expect(wordsAfter(present)).toStrictEqual([
          ...stays,
          ...comes.filter((word) => !present.includes(word)),
        ]);
      }),
      runs,
    );
  });

  it('is in the way as a whole when it comes or goes', () => {
    const [sales, other] = [
      { name: 'Sales', router: 'one' },
      { name: 'Sales', router: 'other' },
    ];
    const [comes, goes] = [between(undefined, sales), between(sales, undefined)] as [Change, Change];
    const update = between(sales, other) as Change;

    expect([undefined, sales].map((present) => conflicts(fields, present, comes))).toStrictEqual([[], ['']]);
    expect([undefined, sales, other].map((present) => conflicts(fields, present, goes))).toStrictEqual([
      [''],
      [],
      [''],
    ]);
    expect(conflicts(fields, undefined, update)).toStrictEqual(['']);
    expect([applied(other, comes), applied(undefined, update)]).toStrictEqual([other, undefined]);
  });
});

describe('The fold of events', () => {
  const kinds = [
    ['services', 'service'],
    ['servers', 'server'],
    ['monitors', 'monitor'],
    ['filters', 'filter'],
  ] as const;

  /** The settings of a definition, or all else. */
  const settingsOf = ({ all }: Fields, definition: Definition, are = true): Definition => {
    const names = new Set(all.filter(({ setting }) => setting !== undefined).map(({ name }) => name));
    return Object.fromEntries(Object.entries(definition).filter(([name]) => names.has(name) === are));
  };

  /** What callers want in a definition, and the words of the monitor if these are asked for. */
  const wanted = ({ all }: Fields, definition: Definition | undefined, withWords: boolean): string => {
    const seen = new Set(all.filter(({ seen: isSeen }) => isSeen === true).map(({ name }) => name));
    const members = Object.entries(definition ?? {}).filter(([name]) => !seen.has(name));
    const isWanted = (word: Json): boolean => withWords || word === 'maintenance';
    const isStatus = (name: string, value: Json): value is Json[] =>
      name === 'status' && Array.isArray(value);
    const told = members.map(([name, value]) => [
      name,
      isStatus(name, value) ? value.filter(isWanted) : value,
    ]);
    return plain(Object.fromEntries(told) as Definition);
  };

  /** A definition as a gateway has it: a service that is not stopped does not drain. */
  const undrained = (kind: string, definition: Definition): Definition => {
    const { drain: _drain, ...rest } = definition;
    return kind === 'service' && definition['state'] !== 'stopped' ? rest : definition;
  };

  it('makes of a definition what an update makes of it, also if it has moved on', () => {
    fc.assert(
      fc.property(documents, documents, documents, fc.boolean(), (own, old, now, isMoved) => {
        const snapshot = createSnapshot(own);
        for (const [collection, kind] of kinds) {
          const ofKind = fieldTables[kind] as Fields;
          const definitionIn = (of: Snapshot): Definition | undefined =>
            (toDocument(of)[collection] as readonly Definition[] | undefined)?.[0];
          const [present, from, to] = [snapshot, ...[old, now].map((each) => createSnapshot(each))].map(
            definitionIn,
          );
          if (present === undefined || from === undefined || to === undefined) continue;
          const rest = settingsOf(ofKind, present, false);
          const before = isMoved ? { ...rest, ...settingsOf(ofKind, from) } : present;
          const change = changeBetween(ofKind, link, before, { ...rest, ...settingsOf(ofKind, to) });
          if (change === undefined) continue;
          const key = nameKey(String(present['name']));
          const event = {
            type: `${kind}.updated`,
            at: 0,
            resource: link,
            [kind]: key,
            ...change,
            operations: [],
          };
          const found = definitionIn(evolve(snapshot, [event as unknown as AdminEvent]));
          const expected = undrained(kind, applied(present, change) ?? {});
          // The monitor may have reported other words since.
          expect(wanted(ofKind, found, !isMoved)).toBe(wanted(ofKind, expected, !isMoved));
        }
      }),
    );
  });
});
