/**
 * The modifiable fields of the Gateway Administration REST Interface: one row for each, with a value that is another
 * than that of the sample and values that are refused.
 */

/** One modifiable field. */
export interface ModifiableField {
  /** Where the resource is read. */
  readonly read: string;
  /** Where it is patched. */
  readonly patch: string;
  readonly field: string;
  /** A value that is taken. */
  readonly value: unknown;
  /** Where the value is shown; left out where it is never shown. */
  readonly shownAs?: string;
  /** Whether it can be unset. */
  readonly optional: boolean;
  /** Values that are refused. */
  readonly refused: readonly unknown[];
}

type Row = readonly [
  field: string,
  value: unknown,
  refused: readonly unknown[],
  more?: 'optional' | 'hidden',
];

const notText = [1, true, null, {}, [], 'a\u0000b', 'a\nb', 'x'.repeat(256), '\ud800'];
const notLimit = [-1, 0.5, '1', true, null, {}, []];
const notBoolean = ['true', 0, null, {}];
const notLinks = (collection: string): readonly unknown[] => [
  null,
  'a',
  {},
  [1],
  [`/${collection}/no-such-thing`],
  ['/other/thing'],
  [`http://gateway.test/${collection}/Hint`],
  [`/${collection}`],
  [`/${collection}/..`],
  [`/${collection}/a?b`],
];

const rows = (read: string, patch: string, table: readonly Row[]): readonly ModifiableField[] =>
  table.map(([field, value, refused, more]) => ({
    read,
    patch,
    field,
    value,
    refused,
    optional: more !== undefined || field === 'filters',
    ...(more === 'hidden' ? {} : { shownAs: field === 'state' ? 'status' : field }),
  }));

/** Every modifiable field, in the order of the description. */
export const modifiableFields: readonly ModifiableField[] = [
  ...rows('/services/My-Service', '/services/My-Service', [
    [
      'servers',
      ['/servers/db-serv-3', '/servers/db-serv-1'],
      [...notLinks('servers'), twice('/servers/db-serv-1')],
    ],
    [
      'router_options',
      { mode: 'slave' },
      [null, [], 'a', { a: 1 }, { a: null }, { a: {} }, { '': 'a' }, many(1001)],
    ],
    ['filters', ['/filters/Spare', '/filters/Hint'], [...notLinks('filters'), twice('/filters/Hint')]],
    ['user', 'somebody', notText, 'optional'],
    ['password', 'a new secret', ['', 1, null, {}, 'a\u0007b', 'x'.repeat(1025)], 'hidden'],
    ['root_user', true, notBoolean, 'optional'],
    ['version_string', '10.1', notText, 'optional'],
    ['weightby', 'app_weight', notText, 'optional'],
    ['connection_timeout', 0, notLimit, 'optional'],
    ['max_connection', 0, notLimit, 'optional'],
    ['strip_db_esc', false, notBoolean, 'optional'],
  ]),
  ...rows('/servers/db-serv-1', '/servers/db-serv-1', [
    [
      'address',
      'fe80::1%eth0',
      ['', 'a b', 'a\tb', 'host:5432', '10.0.0.1:80', '[::1]', 'x'.repeat(256), 'a\u0000', 1, null, ':::'],
    ],
    ['port', 65535, [0, -1, 65536, 1.5, '5432', null, true]],
    [
      'parameters',
      { weight: 0.5, zone: 'a' },
      [null, [], { a: null }, { a: true }, { a: {} }, { a: [] }, many(1001)],
    ],
    [
      'state',
      ['maintenance', 'synced'],
      [null, 'master', {}, [1], ['Master'], ['down'], Array.from({ length: 17 }, () => 'master')],
    ],
  ]),
  ...rows('/monitors/Main-Monitor', '/monitor/Main-Monitor', [
    ['servers', [], [...notLinks('servers'), twice('/servers/db-serv-1')]],
    ['monitor_interval', 2147483647, [0, -1, 2147483648, 1.5, '1000', null]],
    ['connect_timeout', 0, notLimit],
    ['read_timeout', 7, notLimit],
    ['write_timeout', 8, notLimit],
  ]),
  ...rows('/filters/Hint', '/filter/Hint', [
    [
      'parameters',
      { match: { value: 'x', configurable: true }, source: { value: '127.0.0.1', configurable: false } },
      [null, [], 'a', {}, { match: { value: 'x', configurable: true } }],
    ],
  ]),
];

function twice(link: string): readonly string[] {
  return [link, link.toUpperCase().replace(/^\/[A-Z]+/, (start) => start.toLowerCase())];
}

function many(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${String(index)}`, 'a']));
}
