/**
 * The fields of the Gateway Administration REST Interface, chapter "Resources and their fields": one row for each.
 */
import type { Shown } from './endpoint.ts';

/** Text formats. */
const formats = {
  text: /^[^]*$/,
  iso8601: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/,
  rfc5322:
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d [+-]\d{4}$/,
  asctime:
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?: [1-9]|[123]\d) \d\d:\d\d:\d\d \d{4}$/,
  hexadecimal: /^[0-9a-f]+$/,
  status: /^(?:master|slave|synced|running|maintenance)$/,
  'server link': /^\/servers\/[^/\s]+$/,
  'service link': /^\/services\/[^/\s]+$/,
  'filter link': /^\/filters\/[^/\s]+$/,
  'session link': /^\/sessions\/\d+$/,
} as const;

/** What a value is: a type of JSON, a text of some format, or a list of such. */
export type Kind =
  'number' | 'boolean' | 'object' | 'objects' | keyof typeof formats | `${keyof typeof formats}[]`;

/** One field. */
export interface Field {
  readonly of: Shown;
  /**
   * Name, or names with dots between them for a member of an object; `[]` goes into each item of a list, `{}` into each
   * entry of a map.
   */
  readonly name: string;
  readonly kind: Kind;
  /** `always`: in each representation. `applicable`: in that of the sample that has it, not in that which lacks it. */
  readonly presence: 'always' | 'applicable';
  /** What the sample shows: of a list or map that is gone into, of each of its items. */
  readonly sample: unknown;
  /** Where the sample shows the field, if not where it shows the others. */
  readonly at?: string;
}

/** A name that ends with `?` is that of a field that is there when it applies. */
type Row = readonly [name: string, kind: Kind, sample: unknown, at?: string];

const rows = (of: Shown, table: readonly Row[]): readonly Field[] =>
  table.map(([name, kind, sample, at]) => ({
    ...(at === undefined ? {} : { at }),
    of,
    name: name.replace('?', ''),
    kind,
    sample,
    presence: name.endsWith('?') ? 'applicable' : 'always',
  }));

/** The drain of the sample that a service or a server shows, and each of its members. */
function drainRows(at: string, own: Readonly<Record<string, string>>): readonly Row[] {
  const drain = {
    ...{ state: 'drained', since: '2016-08-29T15:00:00+03:00', until: '2016-08-29T15:10:00+03:00' },
    ...{ then: 'close', ...own, sessions: 0, connections: 0 },
  };
  const kindOf = (name: string, value: unknown): Kind =>
    typeof value === 'number' ? 'number' : ['since', 'until'].includes(name) ? 'iso8601' : 'text';
  const members = Object.entries(drain).map(([name, value]): Row => [
    `drain.${name}?`,
    kindOf(name, value),
    value,
    at,
  ]);
  return [['drain?', 'object', drain, at], ...members];
}

/** Every field, in the order of the description. */
export const fields: readonly Field[] = [
  ...rows('service', [
    ['name', 'text', 'My Service'],
    ['router', 'text', 'readconnroute'],
    ['router_options', 'object', { router_options: 'master', weights: 'on' }],
    ['state', 'text', 'started'],
    ['state_reason?', 'text', 'port 4009 is in use', '/services/Report-Service'],
    ['state_since?', 'iso8601', '2016-08-29T14:00:00+03:00', '/services/Report-Service'],
    ['total_connections', 'number', 10],
    ['current_connections', 'number', 2],
    ['started?', 'iso8601', '2016-08-29T12:52:31+03:00'],
    ['filters?', 'filter link[]', ['/filters/Query-Log', '/filters/Hint']],
    ['servers', 'server link[]', ['/servers/db-serv-1', '/servers/DB-Server-2']],
    ['user?', 'text', 'service_user'],
    ['root_user?', 'boolean', false],
    ['version_string?', 'text', '9.6-gateway'],
    ['weightby?', 'text', 'report_weight'],
    ['connection_timeout?', 'number', 300],
    ['max_connection?', 'number', 100],
    ['strip_db_esc?', 'boolean', true],
    ...drainRows('/services/Spare-Service', { reason: 'old version', by: 'Grace', from: 'stopped' }),
  ]),
  ...rows('listener', [
    ['name', 'text', 'Secure Listener'],
    ['protocol', 'text', 'pgclient'],
    ['address', 'text', '::'],
    ['port?', 'number', 4007],
    ['ssl?', 'text', 'required'],
    ['ssl_cert?', 'text', '/etc/gateway/cert.pem'],
    ['ssl_key?', 'text', '/etc/gateway/key.pem'],
    ['ssl_ca_cert?', 'text', '/etc/gateway/ca.pem'],
    ['parameters?', 'object', { max_clients: 50, ciphers: 'HIGH', tcp_keepalive: false }],
  ]),
  ...rows('server', [
    ['name', 'text', 'db-serv-1'],
    ['address', 'text', '192.168.121.58'],
    ['port?', 'number', 5432],
    ['protocol', 'text', 'pgbackend'],
    ['status', 'status[]', ['master', 'running']],
    ['status_reason?', 'text', 'in recovery', '/servers/DB-Server-2'],
    ['status_since?', 'iso8601', '2016-08-29T14:00:00+03:00', '/servers/DB-Server-2'],
    ['parameters', 'object', { report_weight: 10, app_weight: '2' }],
    ...drainRows('/servers/Spare-DB', { reason: 'new kernel', by: 'ada' }),
  ]),
  ...rows('connection', [
    ['state', 'text', 'In use'],
    ['role', 'text', 'Slave'],
    ['server', 'server link', '/servers/DB-Server-2'],
    ['service', 'service link', '/services/My-Service'],
    ['statistics?', 'object', expect5(5, 4, 3, 2, 1)],
    ['statistics.reads?', 'number', 5],
    ['statistics.writes?', 'number', 4],
    ['statistics.buffered_writes?', 'number', 3],
    ['statistics.high_water_events?', 'number', 2],
    ['statistics.low_water_events?', 'number', 1],
    ['session?', 'session link', '/sessions/9', '/servers/db-serv-1/connections?fields=session'],
    ['user?', 'text', 'alice', '/servers/db-serv-1/connections?fields=user'],
    ['address?', 'text', '192.168.121.1', '/sessions/9/connections?fields=address'],
  ]),
  ...rows('monitor', [
    ['name', 'text', 'Main Monitor'],
    ['module', 'text', 'pgmon'],
    ['state', 'text', 'started'],
    ['state_reason?', 'text', 'cannot log in', '/monitors/Failed-Monitor'],
    ['state_since?', 'iso8601', '2016-08-29T14:00:00+03:00', '/monitors/Failed-Monitor'],
    ['monitor_interval', 'number', 2500],
    ['connect_timeout', 'number', 5],
    ['read_timeout', 'number', 4],
    ['write_timeout', 'number', 3],
    ['servers', 'server link[]', ['/servers/db-serv-1', '/servers/DB-Server-2']],
    ['parameters?', 'object', { user: 'watcher', lag_limit: 30, failover: true }],
  ]),
  ...rows('instance', [
    ['config?', 'text', '/etc/gateway.cnf'],
    ['cachedir?', 'text', '/var/cache/gateway'],
    ['datadir?', 'text', '/var/lib/gateway/data'],
    ['libdir?', 'text', '/usr/lib/gateway'],
    ['piddir?', 'text', '/var/run/gateway'],
    ['execdir?', 'text', '/usr/bin'],
    ['languagedir?', 'text', '/var/lib/gateway'],
    ['user?', 'text', 'gateway'],
    ['threads?', 'number', 4],
    ['version?', 'text', '2.1.0'],
    ['commit?', 'hexadecimal', '54ef99d5fe2d1ed4ba8c9b4b4d65ff6a1ea4d7b1'],
    ['started?', 'rfc5322', 'Wed, 31 Aug 2016 23:29:26 +0300'],
  ]),
  ...rows('thread information', [
    ['load_average', 'object', { historic: 1.05, current: 1, '1min': 0.5, '5min': 0.25, '15min': 0.1 }],
    ['load_average.historic', 'number', 1.05],
    ['load_average.current', 'number', 1],
    ['load_average.1min', 'number', 0.5],
    ['load_average.5min', 'number', 0.25],
    ['load_average.15min', 'number', 0.1],
    ['threads', 'objects', undefined],
    ['threads.[].id', 'number', [0, 1]],
    ['threads.[].state', 'text', ['processing', 'polling']],
    ['threads.[].file_descriptors', 'number', [1, 0]],
    ['threads.[].event', 'text[]', [['in', 'out'], []]],
    ['threads.[].run_time', 'number', [300, 0]],
  ]),
  ...rows('logging', [
    ['logdir?', 'text', '/var/log/gateway'],
    ['maxlog?', 'boolean', true],
    ['syslog?', 'boolean', false],
    ['log_levels?', 'object', { error: true, warning: true, notice: true, info: false, debug: false }],
    ['log_levels.error?', 'boolean', true],
    ['log_levels.warning?', 'boolean', true],
    ['log_levels.notice?', 'boolean', true],
    ['log_levels.info?', 'boolean', false],
    ['log_levels.debug?', 'boolean', false],
    ['log_augmentation?', 'object', { function: false }],
    ['log_augmentation.function?', 'boolean', false],
    ['log_throttling?', 'object', { limit: 8, window: 2, suppression: 10 }],
    ['log_throttling.limit?', 'number', 8],
    ['log_throttling.window?', 'number', 2],
    ['log_throttling.suppression?', 'number', 10],
    ['last_flushed?', 'rfc5322', 'Wed, 31 Aug 2016 23:29:26 +0300'],
  ]),
  ...rows('task', [
    ['name', 'text', 'Load Average'],
    ['type', 'text', 'repeated'],
    ['frequency', 'number', 10],
    ['next_due', 'asctime', 'Mon Sep  5 14:12:37 2016'],
  ]),
  ...rows('module', [
    ['name', 'text', 'pgclient'],
    ['type', 'text', 'Protocol'],
    ['version', 'text', 'V1.1.0'],
    ['api_version', 'text', '1.1.0'],
    ['maturity', 'text', 'GA'],
  ]),
  ...rows('session', [
    ['id', 'number', 9],
    ['state', 'text', 'Session ready for routing'],
    ['user', 'text', 'alice'],
    ['address', 'text', '192.168.121.1'],
    ['service', 'service link', '/services/My-Service'],
    ['connected', 'asctime', 'Fri Sep  9 14:12:37 2016'],
    ['idle', 'number', 42],
    ['etag?', 'text', '"9.1473419557000"', '/sessions?fields=etag&range=1-1'],
  ]),
  ...rows('filter', [
    ['name', 'text', 'Hint'],
    ['module', 'text', 'hintfilter'],
    [
      'parameters',
      'object',
      { match: { value: 'select', configurable: true }, source: { value: '127.0.0.1', configurable: false } },
    ],
    ['parameters.{}.value', 'text', ['select', '127.0.0.1']],
    ['parameters.{}.configurable', 'boolean', [true, false]],
    ['services', 'service link[]', ['/services/My-Service', '/services/Report-Service']],
  ]),
  ...rows('user', [['name', 'text', 'ada']]),
  ...rows('command', [
    ['id', 'text', 'sample-1'],
    ['type', 'text', 'service.created'],
    ['resource', 'service link', '/services/New-Service'],
    ['resources', 'text[]', ['/services', '/services/New-Service']],
    ['actor?', 'text', 'ada'],
    ['since', 'iso8601', '2016-09-10T03:00:00+03:00'],
    ['outcome', 'text', 'unknown'],
    ['progress?', 'object', { done: 0, of: 2 }],
    ['progress.done?', 'number', 0],
    ['progress.of?', 'number', 2],
  ]),
  ...rows('interface', [
    ['name?', 'text', 'eu-1'],
    ['environment?', 'text', 'test'],
    ['user?', 'text', 'ada'],
    ['role?', 'text', 'administrator'],
    ['ready', 'boolean', true],
    ['read_only', 'boolean', true],
    ['read_only_since?', 'iso8601', undefined],
    ['read_only_by?', 'text', 'ada'],
    ['read_only_reason?', 'text', 'The network is changed.'],
    ['store?', 'text', 'ok'],
    ['unknown_outcomes', 'number', undefined],
    ['now', 'iso8601', undefined],
    ['time_zone', 'text', 'Europe/Helsinki'],
    ['version', 'text', undefined],
    ['links', 'object', undefined],
  ]),
  ...rows('fleet node', [
    ['node', 'text', 'paris'],
    ['version', 'text', undefined],
    ['alive', 'boolean', true],
    ['seen', 'number', undefined],
    ['position', 'text', undefined],
    ['applied', 'text', undefined],
    ['behind', 'objects', undefined],
    ['behind.[].resource', 'service link', ['/services/My-Service']],
    ['behind.[].since', 'iso8601', undefined],
    ['behind.[].code', 'text', ['effect-refused']],
    ['behind.[].detail', 'text', ['The gateway refused: The port is taken. Nothing was changed.']],
    ['drains', 'objects', undefined],
    ['drains.[].resource', 'text', ['/servers/Spare-DB', '/services/Spare-Service']],
    ['drains.[].state', 'text', ['drained', 'drained']],
    ['drains.[].sessions', 'number', [0, 0]],
    ['drains.[].connections', 'number', [0, 0]],
    ['differs', 'boolean', false],
  ]),
  ...rows('history entry', [
    ['id', 'text', undefined],
    ['at', 'iso8601', undefined],
    ['actor?', 'text', 'ada'],
    ['revision', 'number', undefined],
    ['resources', 'text[]', ['/monitors/Main-Monitor']],
    ['events', 'objects', undefined],
    ['events.[].type', 'text', ['monitor.stopped']],
    ['events.[].resource', 'text', ['/monitors/Main-Monitor']],
    ['count?', 'object', { 'monitor.stopped': 1 }, '/history/sample-1?range=1-1&fields=count'],
    ['undo', 'text', 'possible'],
    ['undoes?', 'text', undefined, '/history?range=2-2'],
    ['undone_by?', 'text', undefined, '/history?range=3-3'],
  ]),
  ...rows('alert', [
    ['code', 'text', 'service-failed'],
    ['resource', 'text', '/services/Report-Service'],
    ['since?', 'iso8601', '2016-08-29T14:00:00+03:00'],
    ['detail', 'text', 'Report Service has failed: port 4009 is in use.'],
    ['level', 'text', 'error'],
    ['acts?', 'objects', undefined],
    ['acts.[].id?', 'text', ['services.start']],
    ['acts.[].resource?', 'text', ['/services/Report-Service']],
    ['acts.[].inputs?', 'objects', [[{ name: 'server', choices: 'servers' }]], '/alerts?range=2-2'],
    ['acts.[].text?', 'text', ['Start Report Service again']],
  ]),
];

/** Whether a field is one of several things in a list or map, of which there may be none. */
export function isBelowSeveral({ name }: Field): boolean {
  return name.includes('[]') || name.includes('{}');
}

function expect5(...[reads, writes, buffered_writes, high_water_events, low_water_events]: number[]): object {
  return { reads, writes, buffered_writes, high_water_events, low_water_events };
}

/** Where representations of one kind are found. */
export interface Place {
  /** The one that has all fields. */
  readonly full: string;
  /** The one that has as few as possible. */
  readonly bare: string;
  /** Whether that is the one of a gateway of which nothing is known. */
  readonly bareWhereEmpty?: boolean;
  /** The interface that has the one with all fields, if it is another one than for most. */
  readonly fullWith?: 'store' | 'fleet' | 'history' | 'outage';
}

/** Where the representations are found. */
export const places: Readonly<Partial<Record<Shown, Place>>> = {
  service: { full: '/services/My-Service', bare: '/services/Bare-Service' },
  listener: {
    full: '/services/My-Service/listeners?range=1-1',
    bare: '/services/My-Service/listeners?range=2-2',
  },
  server: { full: '/servers/db-serv-1', bare: '/servers/db-serv-3' },
  connection: { full: '/sessions/9/connections?range=0-0', bare: '/servers/db-serv-1/connections' },
  monitor: { full: '/monitors/Main-Monitor', bare: '/monitors/Idle-Monitor' },
  instance: { full: '/gateway', bare: '/gateway', bareWhereEmpty: true },
  'thread information': { full: '/gateway/threads', bare: '/gateway/threads', bareWhereEmpty: true },
  logging: { full: '/gateway/logs', bare: '/gateway/logs', bareWhereEmpty: true },
  task: { full: '/gateway/tasks', bare: '/gateway/tasks' },
  module: { full: '/gateway/modules', bare: '/gateway/modules' },
  session: { full: '/sessions/9', bare: '/sessions/0' },
  filter: { full: '/filters/Hint', bare: '/filters/Spare' },
  user: { full: '/users', bare: '/users' },
  command: { full: '/commands?range=0-0', bare: '/commands?range=1-1' },
  interface: { full: '/', bare: '/', fullWith: 'store', bareWhereEmpty: true },
  alert: { full: '/alerts?range=1-1', bare: '/alerts?range=4-4', fullWith: 'outage' },
  'history entry': { full: '/history?range=0-0', bare: '/history?range=1-1', fullWith: 'history' },
  'fleet node': { full: '/fleet?range=1-1', bare: '/fleet?range=0-0', fullWith: 'fleet' },
};

/** The values of a field in a representation: several below a list or map, none where it is left out. */
export function valuesAt(shown: unknown, name: string): readonly unknown[] {
  return name.split('.').reduce<readonly unknown[]>(
    (values, part) =>
      values.flatMap((value): readonly unknown[] => {
        if (part === '[]') return value as readonly unknown[];
        if (part === '{}') return Object.values(value as object);
        const members = value as Readonly<Record<string, unknown>>;
        return Object.hasOwn(members, part) ? [members[part]] : [];
      }),
    [shown],
  );
}

/** Whether a value is of a kind. */
export function isOf(kind: Kind, value: unknown): boolean {
  if (kind.endsWith('[]')) {
    const item = kind.slice(0, -2) as keyof typeof formats;
    return Array.isArray(value) && value.every((each) => isOf(item, each));
  }
  if (kind === 'objects') return Array.isArray(value) && value.every((each) => isOf('object', each));
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (kind === 'number' || kind === 'boolean') return typeof value === kind;
  return typeof value === 'string' && formats[kind as keyof typeof formats].test(value);
}
