/**
 * Values, names, paths and queries that are refused.
 */
import {
  noPatches,
  patches,
  refused,
  requests,
  service,
  users,
  values,
  type BadInput,
} from '../support/input.ts';

const [server, monitor, filter] = ['/servers/db-serv-1', '/monitor/Main-Monitor', '/filter/Hint'];
const many = JSON.stringify(
  Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${String(n)}`, 'v'])),
);
const words = JSON.stringify(Array.from({ length: 17 }, () => 'master'));
const invalid = '422 validation-failed';

/** Texts with what no text may have. */
const strange = [
  ...[String.raw`"a\u0000b"`, String.raw`"a\u0007b"`, String.raw`"a\nb"`, String.raw`"a\u009f"`],
  ...[String.raw`"\ud800"`, String.raw`"\udc00\ud800"`, JSON.stringify('x'.repeat(256))],
];
const notTexts = ['7', 'true', 'null', '{}', '[]', '["x"]'];
const notLimits = ['-1', '0.5', '"1"', 'true', 'null', '[]', '{}'];
const notFlags = ['"true"', '0', 'null', '{}'];
const notPasswords = [
  ...['""', '7', 'null', '{}', '[]', '["planted"]', '{"sealed":"v1.planted"}', String.raw`"planted\u0000"`],
  ...[String.raw`"a\u0007b"`, String.raw`"\ud800"`, JSON.stringify('é'.repeat(513))],
];
/** Each with the place of its fault. */
const notParameters: Parameters<typeof values>[3] = [
  ...[many, 'null', '[]', '"a"'],
  ...at('/a', '{"a":null}', '{"a":{}}', '{"a":{"b":1}}', '{"a":[]}', String.raw`{"a":"\u0000"}`),
  ...at('/', '{"":"a"}'),
];

function at(place: string, ...texts: readonly string[]): readonly (readonly [string, string])[] {
  return texts.map((text) => [text, place]);
}

/** Values of fields. */
export const badValues: readonly BadInput[] = [
  ...values(invalid, server, '/port', ['0', '-1', '65536', '80.5', '"5432"', 'true', 'null', '{}']),
  ...values(invalid, server, '/address', [
    ...['""', '"a b"', String.raw`"a\tb"`, '" db"', '"db "', String.raw`"a\u00a0b"`, '7', 'null'],
    ...['"host:5432"', '"10.0.0.1:80"', '"[::1]"', '"[::1]:80"', '":::"', '"1:2"', ...strange],
  ]),
  ...values(invalid, server, '/parameters', notParameters),
  ...values(invalid, server, '/state', [
    ...at('/0', '["down"]', '["Master"]', '[7]', '[["master"]]'),
    ...at('/1', '["master","Running"]'),
    ...[words, '"master"', 'null', '{}'],
  ]),
  ...values(invalid, monitor, '/monitor_interval', ['0', '-1', '2147483648', '0.5', '"1000"', 'null']),
  ...['/connect_timeout', '/read_timeout', '/write_timeout'].flatMap((field) =>
    values(invalid, monitor, field, notLimits),
  ),
  ...values(invalid, monitor, '/parameters', notParameters),
  ...['/connection_timeout', '/max_connection'].flatMap((field) =>
    values(invalid, service, field, notLimits),
  ),
  ...['/user', '/version_string', '/weightby'].flatMap((field) =>
    values(invalid, service, field, [...strange, ...notTexts]),
  ),
  ...['/root_user', '/strip_db_esc'].flatMap((field) => values(invalid, service, field, notFlags)),
  ...values(invalid, '/', '/read_only', notFlags),
  ...patches(
    invalid,
    '/',
    Object.fromEntries(
      [...strange.slice(0, -1), ...notTexts, '""', JSON.stringify('x'.repeat(1025))].map((value) => [
        `replace /read_only true|add /read_only_reason ${value}`,
        ['1 /read_only_reason'],
      ]),
    ),
  ),
  ...values(invalid, service, '/router_options', [
    ...[many, 'null', '[]', '"a"', '["a"]'],
    ...at('/a', '{"a":1}', '{"a":true}', '{"a":null}', '{"a":{}}', '{"a":["b"]}', String.raw`{"a":"\u0000"}`),
    ['{"a":"b","c":{"d":"e"}}', '/c'],
    ['{"":"a"}', '/'],
    [String.raw`{"\u0000":"a"}`, '/\u0000'],
    [JSON.stringify({ a: 'x'.repeat(4097) }), '/a'],
  ]),
  ...values(invalid, filter, '/parameters/match/value', [
    ...['7', 'true', 'null', '{"value":"x"}', String.raw`"\u0000"`],
  ]),
  ...['null', '[]', '"a"'].flatMap((value) =>
    patches(invalid, filter, {
      [`replace /parameters ${value}`]: ['0 /parameters', '0 /parameters/source'],
    }),
  ),
  ...values('422 parameter-not-configurable', filter, '/parameters', [
    ...at('/source', '{}', '{"match":{"value":"x","configurable":true}}'),
  ]),
  ...[service, '/users/ada'].flatMap((target) =>
    values('422 password-unacceptable', target, '/password', notPasswords),
  ),
  ...links(service, '/servers', '/servers/0', ['/servers/DB-SERVER-2', '/servers/db%20server%202']),
  ...links(service, '/filters', '/filters/1', ['/filters/query-log', '/filters/Query%20Log']),
  ...links(monitor, '/servers', '/servers/0', ['/servers/DB-SERVER-2', '/servers/db%20server%202']),
];

/** Links that lead nowhere; the last two are to what is in the list already. */
function links(
  target: string,
  list: '/servers' | '/filters',
  item: string,
  twice: readonly [string, string],
): readonly BadInput[] {
  const other = list === '/servers' ? 'filters/Hint' : 'servers/db-serv-1';
  const [one] = twice;
  const wrong = [
    ...[`${list}/nothing`, `/${other}`, '/other/thing', `http://gateway.test${list}/Hint`],
    ...[`//gateway.test/${one}`, list, `${list}/`, `${list}/.`, `${list}/..`, `${one}?a=b`, `${one}#a`],
    ...[`${one}/`, `${list}/../${other}`, one.slice(1), `${list}/%zz`, `${one} `, '', 'constructor'],
  ];
  const inList = at('/0', ...wrong.map((link) => JSON.stringify([link])));
  const texts = wrong.map((link) => JSON.stringify(link));
  return [
    ...values(invalid, target, list, ['null', '"a"', '{}', ['[1]', '/0']]),
    ...values('422 link-unresolved', target, list, [...inList, [JSON.stringify(twice), '/1']]),
    ...values('422 link-unresolved', target, item, texts),
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
    '{"name":"joan","password":{"sealed":"planted"}}': ['/password'],
    '{"name":"a b","password":""}': ['/name', '/password'],
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
      `DELETE /sessions/${name}`,
    ]),
  ]),
  ...'constructor __proto__ length toString prototype hasOwnProperty %00 %EF%BB%BF a%2Fb %252e'
    .split(' ')
    .flatMap((name) => [
      ...requests('404 service-not-found', [`GET /services/${name}`, `PUT /service/${name}/stop`]),
      ...requests('404 server-not-found', [`GET /servers/${name}`, `DELETE /servers/${name}/connections`]),
      ...requests('404 monitor-not-found', [`GET /monitors/${name}`, `PUT /monitor/${name}/stop`]),
      ...requests('404 filter-not-found', [`GET /filters/${name}`]),
      ...requests('404 user-not-found', [`DELETE /users/${name}`]),
    ]),
  ...requests(
    '400 session-id-invalid',
    [
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
      '%31a',
      '%D9%A3',
    ].flatMap((id) => [`GET /sessions/${id}`, `DELETE /sessions/${id}`, `GET /sessions/${id}/connections`]),
  ),
  ...requests('404 session-not-found', ['GET /sessions/1', 'DELETE /sessions/9007199254740991']),
  ...requests(
    '400 range-invalid',
    [
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
      ],
      ...['-1-2', '1--2', '%200-1', '0x0-0x1', '1e1-1e2', '%D9%A0-%D9%A1', '0.0-1', '0%E2%80%931'],
    ].flatMap((range) => elements.map((list) => `GET ${list}?range=${range}`)),
  ),
  ...requests('400 fields-invalid', [
    ...['', ',', 'nothing', 'name,', 'NAME', '__proto__', 'constructor', 'toString', 'password', '*'].flatMap(
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
  ...requests('501 method-unknown', ['PROPFIND /services', 'PURGE /sessions/9', 'LOCK /users/ada']),
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
    'DELETE /servers/none?nonsense=1',
    'PUT /history/none/undo',
  ]),
  ...noPatches('403 read-only', { '[{"op":"replace","path":"/max_connection","value":50}]': [], '{': [] }),
].map((input) => ({ ...input, readOnly: true as const }));
