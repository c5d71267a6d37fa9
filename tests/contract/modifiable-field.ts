/**
 * The modifiable fields of the Gateway Administration REST Interface: one row for each, with what it must be, and a value
 * that is another than that of the sample. Values that are refused are in bad-value.ts. The rules are
 * docs/spec-choices.md 26 in their plainest form; they share no code with the sources.
 */
import { isIP } from 'node:net';

/** The kinds of resources that can be patched. */
export type Kind = 'service' | 'server' | 'monitor' | 'filter' | 'user' | 'interface';

/** The canonical forms of links, by every spelling that is used. */
export type Links = ReadonlyMap<string, string>;

/** Says whether a value is what a field must be. */
type Check = (value: unknown, links: Links) => boolean;

/** One modifiable field. */
export interface ModifiableField {
  readonly kind: Kind;
  /** Where the resource is read, or a list whose first element it is. */
  readonly read: string;
  /** Where it is patched. */
  readonly patch: string;
  readonly field: string;
  readonly is: Check;
  /** A value that is taken. */
  readonly value: unknown;
  /** Where the value is shown; left out where it is never shown. */
  readonly shownAs?: string;
  /** What else is shown after a change. */
  readonly moves?: object;
  /** The value is a secret: it is never shown, and is stored sealed or hashed. */
  readonly secret?: true;
  /** Entries of the map can be secret: the whole of one, or this member of it. */
  readonly secretEntries?: true | 'value';
  /**
   * What becomes of it when it is removed; a field that is `needed` cannot be. A `port` is needed where there is no
   * socket.
   */
  readonly removed: 'needed' | 'absent' | 'empty' | 'port';
}

type Row = readonly [
  field: string,
  is: Check,
  value: unknown,
  more?:
    | 'optional'
    | 'hidden when empty'
    | 'port'
    | { readonly shownAs: string; readonly moves: object }
    | 'secret'
    | 'needed secret'
    | { readonly secretEntries: true | 'value'; readonly hidden?: 'when empty' },
];

const isText =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && Array.from(value).length <= most && !/\p{Cc}|\p{Cs}/u.test(value);
const isReason: Check = (value, links) => value !== '' && isText(1024)(value, links);
const isBetween =
  (least: number, most: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
const isMap =
  (check: Check): Check =>
  (value, links) =>
    isMembers(value) &&
    Object.keys(value).length <= 1000 &&
    Object.entries(value).every(
      ([key, member]) => key !== '' && isText(255)(key, links) && check(member, links),
    );
/** A map whose values are no objects; its entries cannot have the name of the stored form of a secret. */
const isPlainMap =
  (check: Check): Check =>
  (value, links) =>
    isMap(check)(value, links) && !Object.hasOwn(value as object, 'sealed');
const isLimit = isBetween(0, Number.MAX_SAFE_INTEGER);
const isFlag: Check = (value) => typeof value === 'boolean';
const isLinks =
  (collection: string): Check =>
  (value, links) => {
    const found = Array.isArray(value) ? value.map((each) => links.get(each as string)) : [undefined];
    return found.every((link) => link?.startsWith(`/${collection}/`)) && new Set(found).size === found.length;
  };
const isAddress: Check = (value, links) =>
  typeof value === 'string' &&
  value !== '' &&
  isText(255)(value, links) &&
  !/\s/.test(value) &&
  (isIP(value) !== 0 ||
    value.startsWith('/') ||
    /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_.])?$/u.test(value));
const words: unknown[] = ['master', 'slave', 'synced', 'running', 'maintenance'];
const isStatus: Check = (value) =>
  Array.isArray(value) && value.length <= 16 && value.every((word) => words.includes(word));
const isParameter: Check = (value, links) =>
  isMembers(value) &&
  Object.keys(value).sort().join() === 'configurable,value' &&
  isText(4096)(value['value'], links) &&
  isFlag(value['configurable'], links);

/** Whether a value has members. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isParameterValue: Check = (value, links) =>
  Number.isFinite(value) || isFlag(value, links) || isText(4096)(value, links);
const rows = (kind: Kind, read: string, patch: string, table: readonly Row[]): readonly ModifiableField[] =>
  table.map(([field, is, value, more]) => ({
    kind,
    read,
    patch,
    field,
    is,
    value,
    ...namesIn(field, more),
    removed: removedAs(more),
  }));

function removedAs(more: Row[3]): ModifiableField['removed'] {
  if (more === 'port') return more;
  const isHidden = more === 'hidden when empty' || (typeof more === 'object' && 'hidden' in more);
  return isHidden ? 'empty' : more === 'optional' || more === 'secret' ? 'absent' : 'needed';
}

function namesIn(
  field: string,
  more: Row[3],
): Pick<ModifiableField, 'shownAs' | 'moves' | 'secret' | 'secretEntries'> {
  if (more === 'secret' || more === 'needed secret') return { secret: true };
  if (typeof more !== 'object') return { shownAs: field };
  return 'secretEntries' in more ? { shownAs: field, secretEntries: more.secretEntries } : more;
}

/** Every modifiable field, in the order in which the fields are shown. */
export const modifiableFields: readonly ModifiableField[] = [
  ...rows('service', '/services/My-Service', '/services/My-Service', [
    ['router_options', isPlainMap(isText(4096)), { mode: 'slave' }, { secretEntries: true }],
    ['filters', isLinks('filters'), ['/filters/Spare', '/filters/Hint'], 'hidden when empty'],
    ['servers', isLinks('servers'), ['/servers/db-serv-3', '/servers/db-serv-1']],
    ['user', isText(255), 'somebody', 'optional'],
    ['password', isText(8192), 'a new secret', 'secret'],
    ['root_user', isFlag, true, 'optional'],
    ['version_string', isText(255), '10.1', 'optional'],
    ['weightby', isText(255), 'app_weight', 'optional'],
    ['connection_timeout', isLimit, 0, 'optional'],
    ['max_connection', isLimit, 0, 'optional'],
    ['strip_db_esc', isFlag, false, 'optional'],
  ]),
  ...rows('server', '/servers/db-serv-1', '/servers/db-serv-1', [
    ['address', isAddress, 'fe80::1%eth0'],
    ['port', isBetween(1, 65535), 65535, 'port'],
    [
      'state',
      isStatus,
      ['maintenance', 'synced'],
      { shownAs: 'status', moves: { status_since: '2016-09-10T03:00:00+03:00' } },
    ],
    [
      'parameters',
      isPlainMap(isParameterValue),
      { weight: 0.5, zone: 'a', archive: false },
      { secretEntries: true },
    ],
  ]),
  ...rows('monitor', '/monitors/Main-Monitor', '/monitor/Main-Monitor', [
    ['monitor_interval', isBetween(1, 2_147_483_647), 2147483647],
    ['connect_timeout', isLimit, 0],
    ['read_timeout', isLimit, 7],
    ['write_timeout', isLimit, 8],
    ['servers', isLinks('servers'), []],
    [
      'parameters',
      isPlainMap(isParameterValue),
      { user: 'watcher', lag_limit: 1.5, failover: false },
      { secretEntries: true, hidden: 'when empty' },
    ],
  ]),
  ...rows('filter', '/filters/Hint', '/filter/Hint', [
    [
      'parameters',
      isMap(isParameter),
      { match: { value: 'x', configurable: true }, source: { value: '127.0.0.1', configurable: false } },
      { secretEntries: 'value' },
    ],
  ]),
  ...rows('user', '/users', '/users/ADA', [['password', isText(4096), 'a new password', 'needed secret']]),
  // Of an interface that is read-only.
  ...rows('interface', '/', '/', [
    [
      'read_only',
      isFlag,
      false,
      { shownAs: 'read_only', moves: { read_only_since: undefined, read_only_reason: undefined } },
    ],
    ['read_only_reason', isReason, 'The network is changed.', 'optional'],
  ]),
];
