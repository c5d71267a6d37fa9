/**
 * Definitions of new resources and deletions that are refused, and those that only look as if they should be.
 */
import { refused, requests, type BadInput, type FineInput } from '../support/input.ts';

type Kind = 'services' | 'servers' | 'monitors' | 'filters';

/** What a definition of each kind needs. */
const needed: Readonly<Record<Kind, object>> = {
  services: { name: 'New', router: 'cli' },
  servers: { name: 'New', address: '10.0.0.9', port: 5432, protocol: 'pgbackend' },
  monitors: { name: 'New', module: 'pgmon' },
  filters: { name: 'New', module: 'tee' },
};

const json = { 'content-type': 'application/json' };

/** A request that creates a resource with these members, written as JSON, besides what it needs. */
function creation(
  kind: Kind,
  members: string,
): Pick<BadInput, 'what' | 'method' | 'target' | 'headers' | 'body'> {
  const given = members.startsWith('{') ? (JSON.parse(members) as object) : undefined;
  // The JSON of a client can have a member "__proto__", which the spread of an object keeps.
  const body = given === undefined ? members : JSON.stringify({ ...needed[kind], ...given });
  const what = members.length > 100 ? `${members.slice(0, 100)}…` : members;
  return { what: `${kind} ${what}`, method: 'POST', target: `/${kind}`, headers: json, body };
}

/** Definitions that are refused, each with the pointers of its faults. */
function definitions(
  refusal: Parameters<typeof refused>[0],
  kind: Kind,
  rows: Readonly<Record<string, readonly string[]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([members, pointers]) => ({
    ...creation(kind, members),
    ...refused(refusal),
    ...(pointers.length === 0 ? {} : { faults: pointers.map((pointer) => `- ${pointer}`) }),
  }));
}

/** Deletions of what is in use, each with the places of the uses. Nothing is open: a store keeps no sessions. */
function inUse(rows: Readonly<Record<string, readonly string[]>>): readonly BadInput[] {
  return Object.entries(rows).flatMap(([target, pointers]) =>
    requests('409 resource-in-use', [`DELETE ${target}`]).map((row) => ({
      ...row,
      faults: pointers.map((pointer) => `- ${pointer}`),
    })),
  );
}

const invalid = '422 validation-failed';
const seen = '422 field-not-modifiable';
const listener = (members: object): string =>
  JSON.stringify({ listeners: [{ name: 'L', protocol: 'p', address: '::', port: 4010, ...members }] });
const many = JSON.stringify({
  router_options: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${String(n)}`, 'v'])),
});

/** Definitions of new resources. */
export const badDefinitions: readonly BadInput[] = [
  ...definitions(invalid, 'services', {
    null: [''],
    '[]': [''],
    '"planted"': [''],
    '{"name":""}': ['/name'],
    '{"name":7}': ['/name'],
    '{"name":" New"}': ['/name'],
    [String.raw`{"name":"a\u0000b"}`]: ['/name'],
    [String.raw`{"name":"a\u202eb"}`]: ['/name'],
    [String.raw`{"name":"\ud800"}`]: ['/name'],
    [JSON.stringify({ name: 'x'.repeat(256) })]: ['/name'],
    [JSON.stringify({ name: `x${'\u0301'.repeat(4000)}` })]: ['/name'],
    '{"router":null}': ['/router'],
    '{"router_options":{"a":1}}': ['/router_options/a'],
    [many]: ['/router_options'],
    '{"max_connection":-1}': ['/max_connection'],
    '{"state":"running"}': ['/state'],
    '{"servers":"/servers/db-serv-1"}': ['/servers'],
    '{"listeners":{}}': ['/listeners'],
    [listener({ port: 65_536 })]: ['/listeners/0/port'],
    [JSON.stringify({
      listeners: ['L 1', 'l-1', 'L 2'].map((name) => ({ name, protocol: 'p', address: '/l' })),
    })]: ['/listeners/1/name'],
    [listener({ address: 'host:4010' })]: ['/listeners/0/address'],
  }),
  ...definitions(invalid, 'servers', {
    '[]': [''],
    '{"port":0}': ['/port'],
    '{"address":"a b"}': ['/address'],
    '{"status":["down"]}': ['/status/0'],
    '{"parameters":{"a":{"b":1}}}': ['/parameters/a'],
  }),
  ...definitions(invalid, 'monitors', { '{"monitor_interval":0}': ['/monitor_interval'] }),
  ...definitions(invalid, 'filters', {
    '{"parameters":{"a":7}}': ['/parameters/a'],
    // A secret is in an object, too.
    '{"parameters":{"password":5}}': ['/parameters/password'],
    '{"parameters":{"password":null}}': ['/parameters/password'],
    '{"parameters":{"password":"planted"}}': ['/parameters/password'],
    '{"parameters":{"password":["planted"]}}': ['/parameters/password'],
  }),
  ...definitions('422 field-unknown', 'services', {
    '{"nothing":"planted"}': ['/nothing'],
  }),
  ...definitions('422 field-unknown', 'servers', {
    '{"password":"planted"}': ['/password'],
    '{"password":{"sealed":"v1.planted"}}': ['/password'],
  }),
  ...definitions('422 reserved-key', 'services', {
    '{"router_options":{"constructor":"a"}}': ['/router_options/constructor'],
    '{"router_options":{"__proto__":"a"}}': ['/router_options/__proto__'],
  }),
  ...(['servers', 'monitors'] as const).flatMap((kind) =>
    definitions('422 reserved-key', kind, {
      '{"parameters":{"constructor":"x"}}': ['/parameters/constructor'],
      '{"parameters":{"__proto__":"x"}}': ['/parameters/__proto__'],
      '{"parameters":{"prototype":"x"}}': ['/parameters/prototype'],
    }),
  ),
  ...definitions('422 reserved-key', 'filters', {
    '{"parameters":{"constructor":{"value":"x"}}}': ['/parameters/constructor'],
    '{"parameters":{"__proto__":{"value":"x"}}}': ['/parameters/__proto__'],
  }),
  ...definitions('422 link-unresolved', 'services', {
    '{"servers":["/servers/nothing"]}': ['/servers/0'],
    '{"servers":["/filters/Hint"]}': ['/servers/0'],
    '{"servers":["http://gateway.test/servers/db-serv-1"]}': ['/servers/0'],
    '{"servers":["/servers/db-serv-1","/servers/DB-SERV-1"]}': ['/servers/1'],
    '{"filters":["/filters/../servers/db-serv-1"]}': ['/filters/0'],
  }),
  ...definitions('422 link-unresolved', 'monitors', { '{"servers":["/servers/New"]}': ['/servers/0'] }),
  ...definitions(seen, 'services', {
    '{"total_connections":0}': ['/total_connections'],
    '{"started":"2016-08-29T12:52:31+03:00"}': ['/started'],
    '{"state":"failed","state_reason":"planted"}': ['/state', '/state_reason'],
    '{"state_since":"2016-08-29T12:52:31+03:00"}': ['/state_since'],
  }),
  ...definitions(seen, 'servers', {
    '{"status":["running"]}': ['/status/0'],
    '{"status":["maintenance","master"]}': ['/status/1'],
    '{"status_reason":"planted","status_since":"2016-08-29T12:52:31+03:00"}': [
      '/status_reason',
      '/status_since',
    ],
  }),
  ...definitions(seen, 'monitors', { '{"state":"failed"}': ['/state'] }),
  ...definitions('422 password-unacceptable', 'services', {
    '{"password":""}': ['/password'],
    '{"password":{"sealed":"v1.planted"}}': ['/password'],
    [JSON.stringify({ password: 'planted'.repeat(200) })]: ['/password'],
    '{"router_options":{"PassWord":7}}': ['/router_options/PassWord'],
    '{"router_options":{"password":{"sealed":"v1.planted"}}}': ['/router_options/password'],
    [listener({ parameters: { password: true } })]: ['/listeners/0/parameters/password'],
    [listener({ parameters: { password: { sealed: 'v1.planted' } } })]: ['/listeners/0/parameters/password'],
  }),
  ...(['servers', 'monitors'] as const).flatMap((kind) =>
    definitions('422 password-unacceptable', kind, {
      '{"parameters":{"PASSWORD":{"sealed":"v1.planted"}}}': ['/parameters/PASSWORD'],
    }),
  ),
  ...definitions('422 password-unacceptable', 'filters', {
    '{"parameters":{"password":{"configurable":true}}}': ['/parameters/password'],
    '{"parameters":{"name":"password","value":""}}': ['/parameters/password'],
    '{"parameters":{"password":{"value":{"sealed":"v1.planted"}}}}': ['/parameters/password'],
  }),
  // No text from a client passes for sealed text, under whatever name.
  ...definitions(invalid, 'services', {
    '{"user":{"sealed":"v1.planted"}}': ['/user'],
    '{"router_options":{"mode":{"sealed":"v1.planted"}}}': ['/router_options/mode'],
    '{"router_options":{"sealed":"v1.planted"}}': ['/router_options/sealed'],
    [listener({ parameters: { sealed: 7 } })]: ['/listeners/0/parameters/sealed'],
    [listener({ parameters: { mode: { sealed: 'v1.planted' } } })]: ['/listeners/0/parameters/mode'],
  }),
  ...(['servers', 'monitors'] as const).flatMap((kind) =>
    definitions(invalid, kind, {
      '{"parameters":{"mode":{"sealed":"v1.planted"}}}': ['/parameters/mode'],
      '{"parameters":{"sealed":"v1.planted"}}': ['/parameters/sealed'],
    }),
  ),
  ...definitions(invalid, 'filters', {
    '{"parameters":{"mode":{"value":{"sealed":"v1.planted"}}}}': ['/parameters/mode'],
    '{"parameters":{"mode":{"sealed":"v1.planted"}}}': ['/parameters/mode/value', '/parameters/mode/sealed'],
    '{"parameters":{"name":"mode","value":{"sealed":"v1.planted"}}}': ['/parameters/value'],
    '{"parameters":{"password":{"sealed":"v1.planted"}}}': [
      '/parameters/password/sealed',
      '/parameters/password',
    ],
  }),
  // No fault hides another one.
  ...definitions(invalid, 'services', {
    '{"name":"x","router":7,"password":5}': ['/router', '/password'],
    '{"password":{"sealed":"planted"},"router_options":{"a":{"sealed":"planted"}},"nothing":1}': [
      '/router_options/a',
      '/nothing',
      '/password',
    ],
    '{"servers":["/servers/nothing"],"router_options":{"password":7,"a":1}}': [
      '/router_options/a',
      '/servers/0',
      '/router_options/password',
    ],
    '{"drain":{"until":7},"state":"failed","total_connections":1,"password":null}': [
      '/total_connections',
      '/state',
      '/drain',
      '/password',
    ],
    [listener({ port: 0, parameters: { password: 7, a: [] } })]: [
      '/listeners/0/port',
      '/listeners/0/parameters/a',
      '/listeners/0/parameters/password',
    ],
  }),
  ...definitions(invalid, 'servers', {
    '{"name":"","port":0,"status":["running"],"drain":{},"parameters":{"password":7,"a":[]}}': [
      '/status/0',
      '/name',
      '/port',
      '/parameters/a',
      '/drain',
      '/parameters/password',
    ],
  }),
  ...definitions(invalid, 'monitors', {
    '{"module":7,"servers":["/servers/nothing"],"parameters":{"password":7}}': [
      '/module',
      '/servers/0',
      '/parameters/password',
    ],
  }),
  ...definitions(invalid, 'filters', {
    '{"module":7,"parameters":{"password":{"value":""},"a":{"value":7}}}': [
      '/module',
      '/parameters/a/value',
      '/parameters/password',
    ],
  }),
  ...definitions('409 resource-exists', 'services', {
    '{"name":"My Service"}': [],
    '{"name":"MY-SERVICE","router":"readconnroute"}': [],
    '{"name":"SPARE SERVICE","state":"stopped"}': [],
  }),
  ...definitions('409 resource-exists', 'filters', { '{"name":"spare"}': [] }),
];

/** Deletions. */
export const badDeletions: readonly BadInput[] = [
  ...inUse({
    '/services/My-Service': ['/services/My Service/state'],
    '/services/Report-Service': ['/services/Report Service/state'],
    '/servers/DB-SERV-3': ['/services/Report Service/servers/0'],
    '/servers/db-serv-1': [
      '/services/My Service/servers/0',
      '/monitors/Main Monitor/servers/0',
      '/monitors/Failed Monitor/servers/0',
    ],
    '/servers/db-serv-3?detach=false': ['/services/Report Service/servers/0'],
    '/monitors/Main-Monitor': ['/monitors/Main Monitor/state'],
    '/filters/Hint': ['/services/My Service/filters/1', '/services/Report Service/filters/0'],
  }),
  ...(['service', 'server', 'monitor', 'filter'] as const).flatMap((kind) =>
    requests(`404 ${kind}-not-found`, [`DELETE /${kind}s/nothing`, `DELETE /${kind}s/__proto__`]),
  ),
  ...requests('404 server-not-found', ['DELETE /servers/__proto__?detach=true']),
  ...requests('404 filter-not-found', ['DELETE /filters/nothing?detach=true']),
  ...requests('400 query-invalid', [
    'DELETE /services/Spare-Service?detach=true',
    'DELETE /monitors/Main-Monitor?detach=true',
    'DELETE /servers/Spare-DB?detach=',
    'DELETE /servers/Spare-DB?detach=yes',
    'DELETE /servers/Spare-DB?detach=true&detach=true',
    'DELETE /servers/Spare-DB?Detach=true',
    'DELETE /servers/Spare-DB?force=true',
    'POST /servers?detach=true',
  ]),
  ...requests('405 method-not-allowed', ['PUT /servers', 'DELETE /servers', 'POST /servers/Spare-DB']),
];

const fine = (kind: Kind, members: string, status: 200 | 201): FineInput => ({
  ...creation(kind, members),
  status,
  changes: status === 201,
});

/** Definitions and deletions that only look bad. */
export const fineDefinitions: readonly FineInput[] = [
  fine('services', '{"name":"Spare Service","state":"stopped"}', 200),
  fine('services', '{"state":"stopped","current_connections":7}', 201),
  fine('services', '{"name":"constructor","state":"stopped"}', 201),
  fine('servers', '{"name":"Spare DB","address":"10.0.0.4","port":5435,"status":[]}', 200),
  fine('servers', '{"name":"a/b","status":["maintenance"]}', 201),
  fine('filters', '{"name":"Spare","module":"tee","services":["/services/My-Service"]}', 200),
  fine('filters', '{"parameters":{"name":"password","value":"plum"}}', 201),
  ...['/servers/spare%20db', '/servers/db-serv-3?detach=true', '/filters/Hint?detach=true'].map((target) => ({
    what: `the deletion of ${target}`,
    method: 'DELETE',
    target,
    headers: {},
    status: 204,
    changes: true,
  })),
];
