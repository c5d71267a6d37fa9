/**
 * Bad input, and what is answered: one table for each kind of it, and one for what only looks bad.
 */
import { patchOf, writers, type BadInput, type FineInput } from '../support/input.ts';
import { badBytes, noPatch } from './bad-body.ts';
import { badDefinitions, badDeletions, fineDefinitions } from './bad-definition.ts';
import { badPatches } from './bad-patch.ts';
import { badSequences } from './bad-sequence.ts';
import { badTargets, badUsers, badValues, commandsWhileReadOnly } from './bad-value.ts';

/** What is refused, by kind. */
export const badInputs: Readonly<Record<string, readonly BadInput[]>> = {
  'bytes and JSON': badBytes,
  'no patch': noPatch,
  'a patch': badPatches,
  'a value': badValues,
  'a user': badUsers,
  'a definition': badDefinitions,
  'a deletion': badDeletions,
  'a sequence': badSequences,
  'a target': badTargets,
  'a command while read-only': commandsWhileReadOnly,
};

const [patch] = writers;
const junk = { 'content-type': 'text/plain' };

/** What is fine although it looks bad. */
export const fineInputs: readonly FineInput[] = [
  ...fineDefinitions,
  {
    what: 'a byte order mark',
    ...patch,
    body: new TextEncoder().encode(`\ufeff${patchOf('replace /user "x"')}`),
    status: 200,
    changes: true,
  },
  {
    what: 'members that RFC 6902 does not know',
    ...patch,
    body: '[{"op":"replace","path":"/user","value":"x","from":7,"comment":{"__proto__":1},"__proto__":{}}]',
    status: 200,
    changes: true,
  },
  ...unchanging('/services/My-Service', [
    'test /name "My Service"|test /state "started"|test /total_connections 10|test /filters/0 "/filters/Query-Log"',
    'test /started "2016-08-29T12:52:31+03:00"',
    ...[
      'move /servers /servers',
      'move /servers/0 /servers/0',
      'replace /user "service_user"|test /current_connections 2',
    ],
    'move /router_options/weights /router_options/weights',
    'add /filters/- "/filters/Spare"|remove /filters/2',
    'replace /servers ["/servers/DB-SERV-1","/servers/db%20server%202"]',
  ]),
  ...unchanging('/servers/db-serv-1', [
    'test /address "192.168.121.58"|test /protocol "pgbackend"|replace /port 5432',
    'add /parameters/x 1|remove /parameters/x',
    'add /status/- "master"',
    'move /parameters/report_weight /parameters/report_weight',
  ]),
  ...unchanging('/filter/Hint', [
    'replace /parameters/match/value "select"|replace /parameters/source/value "127.0.0.1"',
    'test /parameters/source {"configurable":false,"value":"127.0.0.1"}',
    'test /services ["/services/My-Service","/services/Report-Service"]',
    'add /parameters/new "x"|remove /parameters/new',
  ]),
  ...['add /user "x"', 'replace /user "x"'].map((text) => ({
    ...{ what: `${text}, of which there is none`, ...patch, target: '/services/Bare-Service' },
    ...{ body: patchOf(text), status: 200, changes: true },
  })),
  { what: 'no operations', ...patch, body: '[]', status: 200, changes: false },
  ...[
    '127.0.0.1',
    '::1',
    'fe80::1%eth0',
    'localhost',
    'db_1.example.test',
    'köln.example',
    '/run/db.sock',
  ].map((address) => ({
    what: `the address ${address}`,
    ...patch,
    target: '/servers/db-serv-1',
    body: patchOf(`replace /address "${address}"`),
    status: 200,
    changes: true,
  })),
  ...['GET /services', 'GET /sessions/9'].map((row) => ({ ...bodied(row), status: 200, changes: false })),
  ...['DELETE /sessions/9', 'PUT /service/My-Service/stop', 'POST /gateway/logs/flush'].map((row) => ({
    ...bodied(row),
    status: 204,
    changes: true,
  })),
  {
    what: 'a header that pretends another method',
    method: 'GET',
    target: '/sessions/9',
    headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' },
    status: 200,
    changes: false,
  },
  ...[
    'MY-SERVICE',
    '%4dy-Service',
    'mY%20sERVICE',
    'my%09service',
    'My%C2%A0Service',
    'My%E2%80%83Service',
    'My%E3%80%80Service',
  ].map((name) => ({
    what: `the service ${name}`,
    method: 'PUT',
    target: `/service/${name}/stop`,
    headers: {},
    status: 204,
    changes: true,
  })),
  ...[
    'types=nothing',
    'types=service,service&types=user',
    'types=%20service%20,user.created',
    'after=0.0.0',
  ].map((query) => ({
    what: `GET /events?${query}`,
    method: 'GET',
    target: `/events?${query}`,
    headers: {},
    status: 200,
    changes: false,
  })),
];

/** A request, as `<method> <target>`, with a body that nobody asked for. */
function bodied(row: string): Pick<FineInput, 'what' | 'method' | 'target' | 'headers' | 'body'> {
  const [method = '', target = ''] = row.split(' ');
  return { what: `a body on ${row}`, method, target, headers: junk, body: '{ not JSON \u0000' };
}

/** Patches that change nothing. */
function unchanging(target: string, rows: readonly string[]): readonly FineInput[] {
  return rows.map((what) => ({ what, ...patch, target, body: patchOf(what), status: 200, changes: false }));
}
