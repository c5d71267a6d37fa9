/**
 * Arbitrary gateway documents, for the laws that hold of all of them.
 */
import * as fc from 'fast-check';
import { linkTo, nameKey, serverStatusWords, type GatewayDocument } from 'gateway-admin-core';

import { nameFault } from '../../src/core/name.ts';

/** Names that operators give, and names that trip programs up. */
const names = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom('db-1', 'My Service', 'MY OTHER', 'a', 'B', 'Main Monitor') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('__proto__', 'constructor', 'length', 'eu/west', '100%', 'Köln', '...', '0'),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }) },
  )
  .filter((name) => nameFault(name) === undefined);

const reserved = new Set(['__proto__', 'constructor', 'prototype']);
const text = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .filter((value) => !/\p{Cc}/u.test(value) && value.isWellFormed());
const key = fc
  .oneof(fc.constantFrom('a', 'weight', 'toString'), text)
  .filter((value) => value !== '' && !reserved.has(value));
const instant = fc
  .integer({ min: Date.parse('0001-01-02T00:00:00Z') / 1000, max: Date.parse('9999-12-30T00:00:00Z') / 1000 })
  .map((seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00'));
const count = fc.nat(50);
const flag = fc.boolean();
const state = fc.constantFrom('started' as const, 'stopped' as const, 'failed' as const);
const address = fc.constantFrom('localhost', '127.0.0.1', '::1', '/run/db.sock', 'db_1.example.test');
const port = fc.integer({ min: 1, max: 65535 });
const status = fc.uniqueArray(fc.constantFrom(...serverStatusWords));
const number = fc
  .double({ noDefaultInfinity: true, noNaN: true, min: -1e9, max: 1e9 })
  .map((value) => (Object.is(value, -0) ? 0 : value));
const members = <K extends string, T>(
  value: fc.Arbitrary<T>,
  ...of: readonly K[]
): fc.Arbitrary<Record<K, T>> => fc.record(Object.fromEntries(of.map((name) => [name, value])));
const dictionary = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true });

/** Things with names that differ as keys. */
function named<T extends object>(
  of: fc.Arbitrary<T>,
  maxLength: number,
): fc.Arbitrary<(T & { name: string })[]> {
  return fc
    .uniqueArray(names, { maxLength, selector: nameKey })
    .chain((list) => fc.tuple(...list.map((name) => of.map((rest) => ({ ...rest, name })))));
}

/** Links to some of the things, each once. */
function linksTo(collection: string, of: readonly { readonly name: string }[]): fc.Arbitrary<string[]> {
  return fc.shuffledSubarray(of.map(({ name }) => linkTo(collection, name)));
}

const optional = { requiredKeys: [] };
const path = text;
const gateway = fc.record(
  { config: path, datadir: path, user: text, threads: count, version: text, commit: text, started: instant },
  optional,
);
const logs = fc.record(
  {
    logdir: path,
    maxlog: flag,
    log_levels: members(flag, 'error', 'warning', 'notice', 'info', 'debug'),
    log_augmentation: members(flag, 'function'),
    log_throttling: members(number, 'limit', 'window', 'suppression'),
    last_flushed: instant,
  },
  optional,
);
const threads = fc.record({
  load_average: members(number, 'historic', 'current', '1min', '5min', '15min'),
  threads: fc.array(
    fc.record({
      id: count,
      state: text,
      file_descriptors: count,
      event: fc.array(text, { maxLength: 2 }),
      run_time: number,
    }),
    { maxLength: 2 },
  ),
});
const task = fc.record({ name: text, type: text, frequency: number, next_due: instant });
const loaded = fc.record({ name: text, type: text, version: text, api_version: text, maturity: text });
const server = fc.record({
  address,
  port,
  protocol: text,
  status,
  parameters: dictionary(fc.oneof(number, text)),
});
const filter = fc.record({
  module: text,
  parameters: dictionary(fc.record({ value: text, configurable: flag })),
});
const user = fc.record({ name: fc.stringMatching(/^[A-Za-z0-9]{1,5}$/), passwordHash: key });
const listener = fc.record(
  { name: names, protocol: text, address, port, ssl: text, ssl_cert: text },
  { requiredKeys: ['name', 'protocol', 'address', 'port'] },
);
const statistics = members(
  number,
  'reads',
  'writes',
  'buffered_writes',
  'high_water_events',
  'low_water_events',
);

type Named = readonly { readonly name: string }[];

function services(servers: Named, filters: Named): fc.Arbitrary<NonNullable<GatewayDocument['services']>> {
  return named(
    fc.record(
      {
        router: text,
        state,
        listeners: fc.array(listener, { maxLength: 2 }),
        servers: linksTo('servers', servers),
        filters: linksTo('filters', filters),
        router_options: dictionary(text),
        started: instant,
        user: text,
        passwordSealed: text,
        root_user: flag,
        version_string: text,
        weightby: text,
        connection_timeout: count,
        max_connection: count,
        strip_db_esc: flag,
      },
      { requiredKeys: ['router', 'state', 'listeners', 'servers', 'filters', 'router_options'] },
    ),
    3,
  );
}

function monitors(servers: Named): fc.Arbitrary<NonNullable<GatewayDocument['monitors']>> {
  const limit = fc.nat(100);
  return named(
    fc.record({
      module: text,
      state,
      servers: linksTo('servers', servers),
      monitor_interval: port,
      connect_timeout: limit,
      read_timeout: limit,
      write_timeout: limit,
    }),
    2,
  );
}

function sessions(of: Named, servers: Named): fc.Arbitrary<NonNullable<GatewayDocument['sessions']>> {
  if (of.length === 0) return fc.constant([]);
  const session = fc.record({
    id: fc.oneof(fc.nat(9), fc.maxSafeNat()),
    state: text,
    user: text,
    address: text,
    service: oneLink('services', of),
    connected: instant,
    idle: number,
    connections: connectionsTo(servers),
  });
  return fc
    .uniqueArray(session, { maxLength: 6, selector: ({ id }) => id })
    .map((list) => list.toSorted((a, b) => a.id - b.id));
}

function connectionsTo(
  servers: Named,
): fc.Arbitrary<NonNullable<NonNullable<GatewayDocument['sessions']>[number]['connections']>> {
  if (servers.length === 0) return fc.constant([]);
  const server = oneLink('servers', servers);
  const connection = fc.record({ id: fc.nat(9), state: text, role: text, server, statistics });
  return fc.uniqueArray(connection, { maxLength: 3, selector: ({ id }) => id });
}

function oneLink(collection: string, of: Named): fc.Arbitrary<string> {
  return fc.constantFrom(...of.map(({ name }) => linkTo(collection, name)));
}

/** Valid documents in the very form in which `toDocument` writes them. */
export const documents: fc.Arbitrary<GatewayDocument> = fc
  .tuple(
    named(server, 4),
    named(filter, 3),
    fc.uniqueArray(user, { maxLength: 3, selector: ({ name }) => nameKey(name) }),
  )
  .chain(([servers, filters, users]) =>
    fc.tuple(services(servers, filters), monitors(servers)).chain(([withoutTotals, watching]) =>
      fc
        .tuple(sessions(withoutTotals, servers), fc.array(count, { minLength: 3, maxLength: 3 }))
        .chain(([open, more]) => {
          const withTotals = withoutTotals.map((each, at) => ({
            ...each,
            total_connections:
              open.filter(({ service }) => service === linkTo('services', each.name)).length +
              (more[at] ?? 0),
          }));
          return fc.record({
            format: fc.constant(1 as const),
            gateway,
            logs,
            threads,
            tasks: fc.array(task, { maxLength: 2 }),
            modules: fc.array(loaded, { maxLength: 2 }),
            servers: fc.constant(servers),
            services: fc.constant(withTotals),
            monitors: fc.constant(watching),
            filters: fc.constant(filters),
            users: fc.constant(users),
            sessions: fc.constant(open),
          });
        }),
    ),
  );
