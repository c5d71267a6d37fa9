/**
 * Arbitrary gateway documents, for the laws that hold of all of them.
 *
 * The fields come from the tables of the kinds. What no shape can know is said here: names that differ, links that
 * resolve, ids, totals, and the form in which documents are written.
 */
import * as fc from 'fast-check';
import { linkTo, nameKey, serverStatusWords, type GatewayDocument } from 'gateway-admin-core';
import * as z from 'zod/mini';

import { objectsOf, valuesOf, type Shapes } from './arbitrary-shape.ts';
import { fieldTables, namedResources, wholes, type Fields } from './internal.ts';

type Field = Fields['all'][number];
type Entry = Readonly<Record<string, unknown>>;
/** Values that take the place of those of a shape, by the name of the member. */
type Own = Readonly<Record<string, fc.Arbitrary<unknown>>>;
type Named = Entry & { readonly name: string };
/** Things by their collection. */
type Things = Readonly<Record<string, readonly Named[]>>;
/** A session in a document, with its connections. */
type Session = Entry & { readonly id: number; readonly service: string };

/** How the entries of a document are written. */
interface Form {
  /** The shapes of the members. */
  readonly shapes: (fields: Fields) => Shapes;
  /** Values of some members. */
  readonly own: Own;
  /** The shape of the entries in the open of a map that can have secret ones. */
  readonly openIn: (map: Field) => z.core.$ZodType;
  /** Gives the links of a thing. */
  readonly linksTo: (collection: string, name: string) => fc.Arbitrary<string>;
}

/** The shapes of what a kind stores, as `toDocument` writes it. */
const stored: ReadonlyMap<Fields, Shapes> = new Map(
  Object.values(fieldTables).map((fields) => [fields, storedShapes(fields)]),
);

function storedShapes({ all }: Fields): Shapes {
  const fields = all.filter(({ derived }) => derived !== true);
  const shapes = fields.map(({ name, shape, optional }) => [
    name,
    optional === true ? z.exactOptional(shape) : shape,
  ]);
  return Object.fromEntries(shapes) as Shapes;
}

/** A status with `maintenance` first. */
function asStored(words: readonly string[]): readonly string[] {
  return [...words].sort((one, other) => Number(other === 'maintenance') - Number(one === 'maintenance'));
}

/** How `toDocument` writes: what has a default is there, what is derived is not, and values are as they are stored. */
const written: Form = {
  shapes: (fields) => stored.get(fields) ?? {},
  own: { status: fc.uniqueArray(fc.constantFrom(...serverStatusWords)).map(asStored) },
  openIn: ({ open, shape }) => open ?? shape,
  linksTo: (collection, name) => fc.constant(linkTo(collection, name)),
};

/** How people may write: in every form that the shapes of documents accept. */
const given: Form = {
  shapes: ({ document }) => document.shape,
  // All services together have a total too, which is a safe integer only when each is far from the largest.
  own: { total_connections: fc.nat() },
  openIn: ({ open, shape, given: written = open ?? shape }) => written,
  linksTo(collection, name) {
    const spellings = [name, nameKey(name)].map((each) => `/${collection}/${encodeURIComponent(each)}`);
    return fc.constantFrom(linkTo(collection, name), ...spellings);
  },
};

/** How many things of a collection there are at most. */
const most: Readonly<Record<string, number>> = { servers: 4, services: 3, monitors: 2, filters: 3, users: 3 };

type Tables = readonly (readonly [collection: string, fields: Fields])[];
const tables: Tables = namedResources.map(({ collection, fields }) => [collection, fields]);
const isLinking = ([, fields]: Tables[number]): boolean => Object.keys(fields.links).length > 0;
const linking = tables.filter(isLinking);
const unlinked = tables.filter((table) => !isLinking(table));

/** The things of some collections. Their links are to things that there are already. */
function thingsOf(form: Form, some: Tables, there: Things): fc.Arbitrary<Things> {
  const lists = some.map(([collection, fields]) => [
    collection,
    namedThings(form, collection, fields, {
      ...form.own,
      ...mapsIn(form, fields),
      ...entriesIn(form, fields),
      ...linksIn(form, fields, there),
    }),
  ]);
  return fc.record(Object.fromEntries(lists) as Record<string, fc.Arbitrary<readonly Named[]>>);
}

/** Things with names that differ as keys. */
function namedThings(
  form: Form,
  collection: string,
  fields: Fields,
  own: Own,
): fc.Arbitrary<readonly Named[]> {
  const { name: nameShape = z.string(), ...shapes } = form.shapes(fields);
  const things = objectsOf(shapes, own, collection)
    .filter(hasRequired(fields))
    .map(withSoundDrain(collection));
  const names = fc.uniqueArray(
    valuesOf(nameShape as z.core.$ZodType<string, string>, `a name in ${collection}`),
    {
      maxLength: most[collection] ?? 2,
      selector: nameKey,
    },
  );
  return names.chain((list) => fc.tuple(...list.map((name) => things.map((rest) => ({ ...rest, name })))));
}

/**
 * A service that drains is stopped, and its drain says what it was; a server does neither. No deadline comes in a test.
 */
function withSoundDrain(collection: string): (entry: Entry) => Entry {
  return (entry) => {
    const { drain, ...plain } = entry;
    if (drain === undefined) return entry;
    const { from = 'started', until, ...rest } = drain as { readonly from?: string; readonly until?: string };
    const others = until === undefined ? rest : { ...rest, until: '9999-01-01T00:00:00+00:00' };
    return collection === 'services'
      ? { ...plain, state: 'stopped', drain: { ...others, from } }
      : { ...plain, drain: others };
  };
}

/** Names of secret entries. No entry in the open has such a name. */
const secretNames = ['password', 'PASSWORD', 'Secret Key', 'pin'];

/** Secrets as they are stored. */
const sealedTexts = valuesOf(tableOf('service').all.find(({ secret }) => secret)?.shape ?? z.never());

/** The maps that can have secret entries, with some of both kinds. */
function mapsIn(form: Form, { all }: Fields): Own {
  const members = all.flatMap((field) => {
    const { name, secretEntries: member } = field;
    if (member === undefined) return [];
    const requiredKeys = form === given ? [String(member)] : undefined;
    const entry =
      member === true
        ? sealedTexts
        : fc.record(
            { [member]: sealedTexts, configurable: fc.boolean() },
            { ...(requiredKeys && { requiredKeys }) },
          );
    const options = { maxKeys: 2, noNullPrototype: true };
    const secrets = fc.dictionary(fc.constantFrom(...secretNames), entry, options);
    const open = valuesOf(form.openIn(field), name) as fc.Arbitrary<Entry>;
    // The single entry of a filter has no other beside it.
    const map = fc.tuple(open, secrets).map(([some, more]) => ('name' in some ? some : { ...some, ...more }));
    return [[name, map] as const];
  });
  return Object.fromEntries(members);
}

/** The members with lists of entries that have a table of their own, and names that differ as keys. */
function entriesIn(form: Form, { all }: Fields): Own {
  const members = all.flatMap(({ name: list, entries }) => {
    if (entries === undefined) return [];
    const some = objectsOf(form.shapes(entries), mapsIn(form, entries), list);
    const options = { maxLength: 3, selector: ({ name }: Entry) => nameKey(String(name)) };
    return [[list, fc.uniqueArray(some.filter(hasRequired(entries)), options)] as const];
  });
  return Object.fromEntries(members);
}

/** Tells whether an entry has each member that nothing else in the entry replaces. */
function hasRequired({ all }: Fields): (entry: Entry) => boolean {
  const rules = all.flatMap(({ name, required }) => (required === undefined ? [] : [{ name, ...required }]));
  return (entry) =>
    rules.every(({ name, member, pattern }) => name in entry || pattern.test(String(entry[member])));
}

/** The members with links: to some of the things, each once. */
function linksIn(form: Form, fields: Fields, there: Things): Own {
  const members = Object.entries(fields.links).map(([member, collection]) => {
    const some = fc.shuffledSubarray([...(there[collection] ?? [])]);
    return [
      member,
      some.chain((list) => fc.tuple(...list.map(({ name }) => form.linksTo(collection, name)))),
    ];
  });
  return Object.fromEntries(members) as Own;
}

function oneLink(form: Form, collection: string, there: readonly Named[]): fc.Arbitrary<string> {
  return fc.constantFrom(...there).chain(({ name }) => form.linksTo(collection, name));
}

/** Sessions with ids that differ, on the services and with connections to the servers. */
function sessionsOf(form: Form, { services = [], servers = [] }: Things): fc.Arbitrary<readonly Session[]> {
  if (services.length === 0) return fc.constant([]);
  const session = objectsOf(
    form.shapes(tableOf('session')),
    { service: oneLink(form, 'services', services) },
    'a session',
  ) as fc.Arbitrary<Session>;
  const list = fc.uniqueArray(session, { maxLength: 6, selector: ({ id }) => id });
  return list.chain((some) =>
    fc.tuple(
      ...some.map((each) => connectionsOf(form, servers).map((connections) => ({ ...each, connections }))),
    ),
  );
}

const connectionId = z.int();

function connectionsOf(form: Form, servers: readonly Named[]): fc.Arbitrary<readonly Entry[]> {
  if (servers.length === 0) return fc.constant([]);
  const shapes = { ...form.shapes(tableOf('connection')), id: connectionId };
  const own = { id: fc.nat(9), server: oneLink(form, 'servers', servers) };
  return fc.uniqueArray(objectsOf(shapes, own, 'a connection'), { maxLength: 3, selector: ({ id }) => id });
}

function tableOf(kind: string): Fields {
  const fields = fieldTables[kind];
  if (fields === undefined) throw new RangeError(`There is no table of the fields of a ${kind}`);
  return fields;
}

/** The members that are neither things nor sessions; `toDocument` writes each. */
const whole = fc.record({
  format: fc.constant(2),
  ...Object.fromEntries(
    wholes.flatMap(({ document }) =>
      Object.entries(document).map(([member, shape]) => [member, valuesOf(shape, member)]),
    ),
  ),
});

/** The parts of a document. */
interface Parts {
  readonly members: object;
  readonly things: Things;
  readonly sessions: readonly Session[];
}

function partsOf(form: Form): fc.Arbitrary<Parts> {
  return thingsOf(form, unlinked, {})
    .chain((there) => thingsOf(form, linking, there).map((more): Things => ({ ...there, ...more })))
    .chain((things) =>
      fc.record({ members: whole, things: fc.constant(things), sessions: sessionsOf(form, things) }),
    );
}

/** Valid documents, each in a form in which people may write it. */
export const givenDocuments: fc.Arbitrary<GatewayDocument> = partsOf(given).map(
  ({ members, things, sessions }) => ({ ...members, ...things, sessions }) as unknown as GatewayDocument,
);

/** Valid documents in the very form in which `toDocument` writes them. */
export const documents: fc.Arbitrary<GatewayDocument> = fc
  .tuple(partsOf(written), fc.array(fc.nat(50), { minLength: 3, maxLength: 3 }))
  .map(([{ members, things, sessions }, more]) => {
    const services = things['services']?.map((service, at) => ({
      ...service,
      total_connections: countOf(sessions, service) + (more[at] ?? 0),
    }));
    const inOrder = sessions.toSorted((a, b) => a.id - b.id);
    return { ...members, ...things, services, sessions: inOrder } as unknown as GatewayDocument;
  });

function countOf(sessions: readonly Session[], { name }: Named): number {
  return sessions.filter(({ service }) => service === linkTo('services', name)).length;
}
