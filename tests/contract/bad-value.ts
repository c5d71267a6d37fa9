/**
 * Values, names, paths and queries that are refused.
 */
import { noPatches, refused, requests, service, users, values, type BadInput } from '../support/input.ts';

const [server, monitor, filter] = ['/servers/db-serv-1', '/monitor/Main-Monitor', '/filter/Hint'];
const many = JSON.stringify(
  Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${String(n)}`, 'v'])),
);
const words = JSON.stringify(Array.from({ length: 17 }, () => 'master'));
const invalid = '422 validation-failed';

/** Texts with what no text may have. */
const strange = [
  String.raw`"a\u0000b"`,
  String.raw`"a\u0007b"`,
  String.raw`"a\nb"`,
  String.raw`"a\u009f"`,
].concat([String.raw`"\ud800"`, String.raw`"\udc00\ud800"`, JSON.stringify('x'.repeat(256))]);
const notLimits = ['-1', '0.5', '"1"', 'true', 'null', '[]'];

/** Values of fields. */
export const badValues: readonly BadInput[] = [
  ...values(invalid, server, '/port', ['0', '-1', '65536', '80.5', '"5432"', 'null', '{}']),
  ...values(invalid, server, '/address', [
    ...[
      '""',
      '"a b"',
      String.raw`"a\tb"`,
      '"host:5432"',
      '"10.0.0.1:80"',
      '"[::1]"',
      '"[::1]:80"',
      '7',
      'null',
    ],
    ...['" db"', '"db "', String.raw`"a\u00a0b"`, '":::"', '"1:2"', ...strange],
  ]),
  ...values(invalid, server, '/parameters', [
    many,
    'null',
    '[]',
    ['{"a":null}', '/a'],
    ['{"a":{"b":1}}', '/a'],
    [String.raw`{"a":"\u0000"}`, '/a'],
  ]),
  ...values(invalid, server, '/state', [
    ['["down"]', '/0'],
    ['["master","Running"]', '/1'],
    ['[7]', '/0'],
    ['[["master"]]', '/0'],
    words,
    '"master"',
    'null',
  ]),
  ...values(invalid, monitor, '/monitor_interval', ['0', '-1', '2147483648', '0.5', '"1000"', 'null']),
  ...['/connect_timeout', '/read_timeout', '/write_timeout'].flatMap((field) =>
    values(invalid, monitor, field, notLimits),
  ),
  ...['/connection_timeout', '/max_connection'].flatMap((field) =>
    values(invalid, service, field, notLimits),
  ),
  ...['/user', '/version_string', '/weightby'].flatMap((field) =>
    values(invalid, service, field, [...strange, '7', 'null', '["x"]']),
  ),
  ...['/root_user', '/strip_db_esc'].flatMap((field) =>
    values(invalid, service, field, ['"true"', '0', 'null']),
  ),
  ...values(invalid, service, '/router_options', [
    many,
    '"a"',
    '["a"]',
    ['{"a":1}', '/a'],
    ['{"a":true}', '/a'],
    ['{"a":null}', '/a'],
    ['{"a":"b","c":{"d":"e"}}', '/c'],
    ['{"a":["b"]}', '/a'],
    ['{"":"a"}', '/'],
    [String.raw`{"a":"\u0000"}`, '/a'],
    [String.raw`{"\u0000":"a"}`, '/\u0000'],
    [JSON.stringify({ a: 'x'.repeat(4097) }), '/a'],
  ]),
  ...values(invalid, filter, '/parameters/match/value', [
    '7',
    'true',
    'null',
    '{"value":"x"}',
    String.raw`"\u0000"`,
  ]),
  ...values('422 password-unacceptable', service, '/password', [
    ...['""', '7', 'null', '{}', '["planted"]', '{"sealed":"v1.planted"}', String.raw`"planted\u0000"`],
    ...[String.raw`"\ud800"`, JSON.stringify('é'.repeat(513))],
  ]),
  ...links('/servers', '/servers/0', 'servers', ['/servers/DB-SERVER-2', '/servers/db%20server%202']),
  ...links('/filters', '/filters/1', 'filters', ['/filters/query-log', '/filters/Query%20Log']),
];

/** Links that lead nowhere; the last two are to what is in the list already. */
function links(
  list: string,
  item: string,
  collection: 'servers' | 'filters',
  twice: readonly [string, string],
): readonly BadInput[] {
  const other = collection === 'servers' ? 'filters/Hint' : 'servers/db-serv-1';
  const [one] = twice;
  const wrong = [
    ...[
      `/${collection}/nothing`,
      `/${other}`,
      `http://gateway.test/${collection}/Hint`,
      `//gateway.test/${one}`,
    ],
    ...[
      `/${collection}`,
      `/${collection}/`,
      `/${collection}/.`,
      `/${collection}/..`,
      `${one}?a=b`,
      `${one}#a`,
    ],
    ...[
      `${one}/`,
      `/${collection}/../${other}`,
      one.slice(1),
      `/${collection}/%zz`,
      `${one} `,
      '',
      'constructor',
    ],
  ];
  return [
    ...values('422 link-unresolved', service, list, [
      ...wrong.map((link) => [JSON.stringify([link]), '/0'] as const),
      [JSON.stringify(twice), '/1'],
    ]),
    ...values(
      '422 link-unresolved',
      service,
      item,
      wrong.map((link) => JSON.stringify(link)),
    ),
  ];
}

/** Admin users to be created. */
export const badUsers: readonly BadInput[] = [
  ...users(invalid, {
    '{"name":"","password":"planted"}': ['/name'],
    '{"name":"ada lovelace","password":"planted"}': ['/name'],
    [String.raw`{"name":"ada\u0000","password":"planted"}`]: ['/name'],
    [String.raw`{"name":"ada\n","password":"planted"}`]: ['/name'],
    [String.raw`{"name":"\ud800","password":"planted"}`]: ['/name'],
    '{"name":"\u212Aarl","password":"planted"}': ['/name'],
    [`{"name":"${'a'.repeat(65)}","password":"planted"}`]: ['/name'],
    '{"name":["joan"],"password":"planted"}': ['/name'],
    '{"password":"planted"}': ['/name'],
    '{"name":"joan"}': ['/password'],
    '{"name":"joan","password":["planted"]}': ['/password'],
    '[]': [''],
    null: [''],
    '"planted"': [''],
  }),
  ...users('422 password-unacceptable', {
    '{"name":"joan","password":""}': ['/password'],
    [String.raw`{"name":"joan","password":"planted\u0000"}`]: ['/password'],
    [JSON.stringify({ name: 'joan', password: 'x'.repeat(1025) })]: ['/password'],
  }),
  ...users('422 field-unknown', {
    '{"name":"joan","password":"planted","role":"admin"}': ['/role'],
    '{"name":"joan","password":"planted","isAdmin":true,"toString":1}': ['/isAdmin', '/toString'],
    '{"name":"joan","password":"planted","__proto__":{"admin":true}}': ['/__proto__'],
    [JSON.stringify({
      name: 'joan',
      password: 'planted',
      ...Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`k${String(n)}`, 1])),
    })]: Array.from({ length: 20 }, (_, n) => `/k${String(n)}`),
  }),
];

const elements = ['/services', '/services/My-Service/listeners', '/sessions', '/sessions/9/connections'];

/** Paths, methods and queries. */
export const badTargets: readonly BadInput[] = [
  ...requests('400 path-encoding-invalid', [
    ...['%zz', '%', '%2', '%C0%AF', '%ED%A0%80', '%FF', '%E2%82'].flatMap((name) => [
      `GET /services/${name}`,
      `PUT /service/${name}/stop`,
      `DELETE /users/${name}`,
    ]),
  ]),
  ...['constructor', '__proto__', 'length', 'toString', 'prototype', '%00', '%EF%BB%BF'].flatMap((name) => [
    ...requests('404 service-not-found', [`GET /services/${name}`, `PUT /service/${name}/stop`]),
    ...requests('404 server-not-found', [`GET /servers/${name}`, `DELETE /servers/${name}/connections`]),
    ...requests('404 monitor-not-found', [`GET /monitors/${name}`, `PUT /monitor/${name}/stop`]),
    ...requests('404 filter-not-found', [`GET /filters/${name}`]),
    ...requests('404 user-not-found', [`DELETE /users/${name}`]),
  ]),
  ...requests('400 session-id-invalid', [
    ...[
      '01',
      '-1',
      '+1',
      '1.0',
      '1e3',
      '0x9',
      'nine',
      '9007199254740992',
      '9'.repeat(400),
      '%20',
      '9%20',
    ].flatMap((id) => [`GET /sessions/${id}`, `DELETE /sessions/${id}`]),
  ]),
  ...requests('404 session-not-found', ['GET /sessions/1', 'DELETE /sessions/9007199254740991']),
  ...requests('400 range-invalid', [
    ...[
      '',
      '1',
      '-',
      '1-',
      '-1',
      '2-1',
      '0-1,3-4',
      'a-b',
      '0-9007199254740992',
      '0-1&range=0-1',
      '%30-1%20',
    ].flatMap((range) => elements.map((list) => `GET ${list}?range=${range}`)),
  ]),
  ...requests('400 fields-invalid', [
    ...['', ',', 'nothing', 'name,', 'NAME', '__proto__', 'constructor', 'passwordSealed', '*'].flatMap(
      (fields) => [`GET /services?fields=${fields}`, `GET /services/My-Service?fields=${fields}`],
    ),
  ]),
  ...requests('400 query-invalid', [
    ...['GET /services?limit=1', 'GET /services/My-Service?range=0-1', 'GET /services?_method=DELETE'],
    ...['GET /services??range=0-0', 'PUT /service/My-Service/stop??dry_run=true', 'GET /sessions?user=%FF'],
    ...[
      'DELETE /sessions/9?fields=id',
      'PUT /service/My-Service/stop?force=true',
      'GET /services?__proto__=1',
    ],
    ...['PUT /service/My-Service/stop?dry_run=yes', 'DELETE /sessions/9?dry_run=true&dry_run=true'],
    ...['POST /gateway/logs/flush?dry_run', 'DELETE /users/ada?dry_run=1', 'DELETE /users/ada?mark=1'],
    ...['%zz', '%', '%2', '%C0%AF', '%ED%A0%80', '%E2%82', 'a%C3&%A9'].flatMap((text) => [
      `GET /sessions?user=${text}`,
      `GET /services?range=${text}`,
      `GET /services?fields=name,${text}`,
      `GET /services?${text}`,
      `PUT /service/My-Service/stop?dry_run=true${text}`,
    ]),
    ...['service', 'server', 'user', 'address'].flatMap((name) => [
      `GET /sessions?${name}=a&${name}=b`,
      `GET /sessions?${name}=&${name}=`,
      `GET /sessions/9?${name}=a`,
      `GET /services/My-Service/sessions?${name}=a`,
      `DELETE /services/My-Service/sessions?${name}=a`,
    ]),
    ...['GET /sessions?User=alice', 'GET /sessions?id=9', 'GET /sessions?state=x', 'GET /servers?service=a'],
  ]),
  ...requests('400 query-invalid', [
    ...['', '7.0', 'a.7', 'a.7.0&after=a.7.0', 'A.7.0', 'a.-7.0', 'a.7.0%20', `a.${'9'.repeat(17)}.0`].map(
      (after) => `GET /events?after=${after}`,
    ),
    ...['', ',', 'service,', 'Service', 'service.', '.updated', 'service.*', '*', '__proto__', 'a%0Ab'].map(
      (types) => `GET /events?types=${types}`,
    ),
    ...[
      'GET /events?fields=id',
      'GET /events?range=0-1',
      'GET /services?after=a.7.0',
      'GET /users?types=user',
    ],
  ]),
  ...['', '7.0', 'a.7', '*', 'a.7.0, a.8.0', 'null'].map((id) => ({
    what: `Last-Event-ID: ${id}`,
    method: 'GET',
    target: '/events',
    headers: { 'last-event-id': id },
    ...refused('400 header-invalid'),
  })),
  ...['PUT /service/My-Service/stop', 'DELETE /users/ada', 'GET /services'].map((row) => {
    const [method = '', target = ''] = row.split(' ');
    const headers = { authorization: 'Basic eDp5, Basic eDp6' };
    return {
      what: `${row} with two headers Authorization`,
      method,
      target,
      headers,
      ...refused('400 header-invalid'),
    };
  }),
  ...requests('405 method-not-allowed', [
    ...['PUT /services', 'PUT /services/My-Service', 'DELETE /services', 'PATCH /users'],
    ...['GET /service/My-Service/stop', 'POST /service/My-Service/stop', 'GET /monitor/Main-Monitor'],
  ]),
  // Node's server itself refuses a method that it has never heard of.
  ...requests('501 method-unknown', [
    'PROPFIND /services',
    'PURGE /sessions/9',
    'LOCK /service/My-Service/stop',
  ]),
  ...requests('414 uri-too-long', [`GET /services/${'x'.repeat(8192)}`, `DELETE /users/${'x'.repeat(9000)}`]),
];

/** Commands, good and bad, to an interface that is read-only. */
export const commandsWhileReadOnly: readonly BadInput[] = [
  ...requests('403 read-only', [
    'PUT /service/My-Service/stop',
    'PUT /service/My-Service/stop?dry_run=false',
    'DELETE /services/My-Service/sessions',
    'DELETE /users/ada',
    'DELETE /users/nobody',
    'POST /servers',
    'DELETE /servers/Spare-DB',
    'DELETE /commands/none?nonsense=1',
  ]),
  ...noPatches('403 read-only', { '[{"op":"replace","path":"/max_connection","value":50}]': [], '{': [] }),
].map((input) => ({ ...input, readOnly: true as const }));
