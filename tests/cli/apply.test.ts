import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSecretSealer,
  createSnapshot,
  EffectRefusedError,
  patchService,
  toDocument,
  type GatewayDocument,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';
import { applyPatch, diff, parsePointer, type Json } from 'gateway-admin-core/json';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { givenDocuments } from '../support/arbitrary-document.ts';
import { sampleDocument } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command, servers, type Result } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();

interface Served extends Running {
  readonly url: string;
  readonly ask: (args: readonly string[], document?: unknown) => Promise<Result>;
}

/** Runs the interface on a document. A document that is given to a command is its standard input. */
async function serving(
  document: GatewayDocument,
  options: Parameters<typeof runAdmin>[0] = {},
): Promise<Served> {
  const running = runAdmin({ snapshot: createSnapshot(document), name: 'eu-1', ...options });
  const url = await serve(running.admin);
  return {
    ...running,
    url,
    ask: (args, given) => command([...args, '--url', url], { input: JSON.stringify(given) }),
  };
}

async function exported({ ask }: Served): Promise<Exported> {
  const { code, out, err } = await ask(['export']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Exported;
}

type Entry = Record<string, unknown> & { readonly name: string };
type Exported = Record<'servers' | 'filters' | 'monitors' | 'services', Entry[]>;

const apply = ['apply', '-', '--yes'];
const nothing = { code: 0, out: 'Nothing to do: eu-1 is as - says.\n', err: '' };
/** A document that says of each kind that there is none. */
const empty = { services: [], servers: [], monitors: [], filters: [] };
const nothingButMore = 'Nothing to do: eu-1 is as - says, and has more.\n';

/** Documents that can be a body: no name is a path segment that URLs resolve. */
const reachable = givenDocuments.filter((document) => !/"\.{1,2}"/.test(JSON.stringify(document)));

/** Other values for the settings of a document. */
const wishes = fc.record({
  state: fc.constantFrom('started', 'stopped'),
  limit: fc.option(fc.nat(1000), { nil: undefined }),
  interval: fc.integer({ min: 1, max: 60_000 }),
  status: fc.constantFrom([], ['maintenance']),
  port: fc.integer({ min: 1, max: 65_535 }),
});

/** An operation in a line, with the value that a document has in its place. */
function lineOf(operation: Operation, document: Json): string {
  const { op, path } = operation;
  const sign = { add: '+', remove: '-', replace: '~', test: '?', move: '?', copy: '?' }[op];
  const value = 'value' in operation ? ` = ${JSON.stringify(operation.value)}` : '';
  const old = (parsePointer(path) ?? []).reduce<unknown>(
    (inner, token) => (inner as Readonly<Record<string, unknown>>)[token],
    document,
  );
  return `${sign} ${path}${value}${op === 'add' ? '' : ` (was ${JSON.stringify(old)})`}`;
}

describe('gateway-admin apply', () => {
  it('finds nothing to do for what export prints, and does nothing', async () => {
    await fc.assert(
      fc.asyncProperty(reachable, async (document) => {
        const served = await serving(document);
        expect(await served.ask(['plan', '-'], await exported(served))).toEqual({
          ...nothing,
          out: `${nothing.out}Nothing was done on eu-1.\n`,
        });
        expect(await served.ask(apply, await exported(served))).toEqual(nothing);
        expect(appliedTo(served.gateway)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  // Promise: apply-idempotent
  it('makes the gateway as the document says, and then finds nothing to do', async () => {
    await fc.assert(
      fc.asyncProperty(reachable, wishes, async (document, { state, limit, interval, status, port }) => {
        const served = await serving(document);
        const wanted = await exported(served);
        for (const service of wanted.services) {
          Object.assign(service, { state, filters: [] });
          if (limit === undefined) delete service['max_connection'];
          else service['max_connection'] = limit;
        }
        for (const monitor of wanted.monitors) Object.assign(monitor, { state, monitor_interval: interval });
        for (const server of wanted.servers)
          Object.assign(server, { status, port, parameters: { zone: 'eu' } });
        const planned = await served.ask(['plan', '-'], wanted);
        expect(planned.code).toBe(0);
        expect(appliedTo(served.gateway)).toEqual([]);
        const notes = Array.from(planned.out.matchAll(/^note: (.*\n)/gm), ([, note]) => note);
        expect(await served.ask(apply, wanted)).toMatchObject({ code: 0, err: notes.join('') });
        expect(await exported(served)).toEqual(wanted);
        expect(await served.ask(apply, wanted)).toEqual(nothing);
      }),
      { numRuns: 25 },
    );
  });

  it('shows each change with the value before it, and what closes and continues', async () => {
    const { ask } = await serving(sampleDocument);
    const services = [{ ...exportedService, state: 'stopped', max_connection: 7, weightby: undefined }];
    expect((await ask(['plan', '-'], { services })).out).toBe(
      [
        'RESOURCE              CHANGE',
        '/services/My-Service  stop',
        '/services/My-Service  - /weightby (was "report_weight")',
        '                      ~ /max_connection = 7 (was 100)',
        '2 sessions continue',
        'note: The gateway may close sessions because of this. It does not say which.',
        'Nothing was done on eu-1.',
        '',
      ].join('\n'),
    );
    const { out } = await ask(['plan', '-', '--json'], { services });
    expect(JSON.parse(out)).toMatchObject({
      changes: [{ resource: '/services/My-Service', changes: ['stop'] }, {}],
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 2 },
      notes: expect.arrayContaining([expect.objectContaining({ code: 'gateway-may-close' })]),
    });
  });

  it('gives programs what was done, and an empty plan if nothing is to do', async () => {
    const { ask } = await serving(sampleDocument);
    const monitors = [{ name: 'Idle Monitor', module: 'pgmon' }];
    const closed = { sessions: 0, connections: 0 };
    const done = await ask([...apply, '--json'], { monitors });
    expect(JSON.parse(done.out)).toEqual({ outcome: 'accepted', command: expect.any(String), closed });
    const again = await ask([...apply, '--json'], { monitors });
    expect(JSON.parse(again.out)).toEqual({ outcome: 'unchanged', closed });
    const plan = await ask(['plan', '-', '--json'], { monitors });
    expect(JSON.parse(plan.out)).toEqual({
      ...{ changes: [], closes: closed, stays: { sessions: 0 } },
      notes: ['/monitors/Main-Monitor', '/monitors/Failed-Monitor'].map((resource) =>
        expect.objectContaining({ code: 'left-as-it-is', resource }),
      ),
    });
    const all = await ask(['plan', '-', '--json'], empty);
    expect(JSON.parse(all.out)).toMatchObject({
      notes: expect.arrayContaining([expect.objectContaining({ code: 'left-as-it-is', count: 4 })]),
    });
  });

  it.each([
    [
      'removed in a row',
      ['/servers/s3'],
      ['- /servers/0 (was "/servers/s1")', '- /servers/0 (was "/servers/s2")'],
    ],
    [
      'removed, replaced and added',
      ['/servers/s2', '/servers/s4', '/servers/s1'],
      [
        '- /servers/0 (was "/servers/s1")',
        '~ /servers/1 = "/servers/s4" (was "/servers/s3")',
        '+ /servers/- = "/servers/s1"',
      ],
    ],
  ])('shows the value before each change of a list: %s', async (_case, wanted, told) => {
    const names = ['s1', 's2', 's3', 's4'];
    const servers = names.map((name) => ({ name, address: '10.0.0.1', port: 1, protocol: 'pg' }));
    const service = { name: 'S', router: 'r', servers: names.slice(0, 3).map((name) => `/servers/${name}`) };
    const { ask } = await serving({ servers, services: [service] });
    const plan = await ask(['plan', '-', '--json'], { services: [{ ...service, servers: wanted }] });
    expect(JSON.parse(plan.out)).toMatchObject({ changes: [{ changes: told }] });
  });

  it('shows the value before each change, whatever changes', async () => {
    const settings = fc.record({
      servers: fc.uniqueArray(fc.constantFrom('/servers/s1', '/servers/s2', '/servers/s3', '/servers/s4')),
      router_options: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('0', '1')),
      max_connection: fc.nat(2),
    });
    const servers = [1, 2, 3, 4].map((at) => ({
      ...{ name: `s${String(at)}`, address: '10.0.0.1', port: 1, protocol: 'pg' },
    }));
    const service = { name: 'S', router: 'r' };
    await fc.assert(
      fc.asyncProperty(settings, settings, async (before, after) => {
        const { admin, ask } = await serving({ servers, services: [{ ...service, ...before }] });
        const execution = await admin.execute((snapshot, context) =>
          patchService(snapshot, 'S', diff(before, after), context),
        );
        const events = execution.outcome === 'accepted' ? execution.events : [];
        const operations = events.flatMap((event) =>
          event.type === 'service.updated' ? event.operations : [],
        );
        const { out } = await ask(['history']);
        let now: Json = before;
        const told = operations.map((operation) => {
          const line = lineOf(operation, now);
          const applied = applyPatch(now, [operation]);
          now = applied.ok ? applied.value : null;
          return line;
        });
        expect(Array.from(out.matchAll(/^ {4}(.*)$/gm), ([, line]) => line)).toEqual(told);
        expect(now).toEqual(after);
      }),
      { numRuns: 50 },
    );
  });

  it('leaves out what it cannot apply, and says so: users and secrets', async () => {
    const { ask, gateway } = await serving(sampleDocument, {
      sealer: createSecretSealer({ key: new Uint8Array(32) }),
      secretParameters: ['password'],
    });
    const [first] = sampleDocument.servers ?? [];
    const parameters = { ...first?.parameters, password: 'planted-secret' };
    const given = {
      $schema: './gateway-document.schema.json',
      servers: [{ ...first, parameters }],
      services: sampleDocument.services,
      users: sampleDocument.users,
    };
    const { code, out, err } = await ask(apply, given);
    expect([code, out]).toEqual([0, nothingButMore]);
    expect(err.trimEnd().split('\n').toSorted()).toEqual([
      '/servers/DB-Server-2: not in the document, left as it is',
      '/servers/Spare-DB: not in the document, left as it is',
      '/servers/db-serv-3: not in the document, left as it is',
      'Left out: /servers/0/parametersSealed',
      'Left out: /servers/db-serv-1/parameters/password',
      'Left out: /services/0/listeners/1/parametersSealed',
      'Left out: /services/0/passwordSealed',
      'Left out: /services/0/router_optionsSealed',
      'Left out: /services/3/drain',
      'Left out: /users',
    ]);
    expect(appliedTo(gateway)).toEqual([]);
    expect(`${out}${err}`).not.toMatch(/planted|nobody-reads/);
    expect(planted.sealed).toContain('nobody-reads');
    // Programs get no remarks.
    expect(await ask([...apply, '--json'], given)).toMatchObject({ code: 0, err: '' });
  });

  it('makes the other changes of a resource that has a secret', async () => {
    const { ask, admin } = await serving(sampleDocument, {
      sealer: createSecretSealer({ key: new Uint8Array(32) }),
      secretParameters: ['password'],
    });
    const [first] = sampleDocument.servers ?? [];
    const { parametersSealed: _sealed, ...server } = first as unknown as Entry;
    const parameters = { ...first?.parameters, password: 'planted-secret', zone: 'eu' };
    const { code, out, err } = await ask(apply, { servers: [{ ...server, port: 7777, parameters }] });
    expect([code, err.split('\n')[0]]).toEqual([0, 'Left out: /servers/db-serv-1/parameters/password']);
    expect(out).toContain('/port = 7777');
    expect(admin.snapshot.servers.find('db-serv-1')?.settings).toMatchObject({
      port: 7777,
      parameters: { zone: 'eu' },
    });
    expect(JSON.stringify(admin.snapshot)).not.toContain('planted-secret');
  });

  // Promise: apply-prune
  it('brings an empty gateway to a document of every kind and back, each with one undo', async () => {
    const served = await serving({});
    const { ask, admin } = served;
    const whole = {
      servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['maintenance'] }],
      filters: [
        { name: 'Hint', module: 'hintfilter', parameters: { match: { value: 'x', configurable: true } } },
      ],
      monitors: [{ name: 'Watch', module: 'pgmon', servers: ['/servers/db-1'] }],
      services: [
        { name: 'Sales', router: 'cli', servers: ['/servers/db-1'], filters: ['/filters/Hint'] },
        {
          ...{ name: 'Off', router: 'cli', state: 'stopped' },
          listeners: [{ name: 'l', protocol: 'pg', address: '::1', port: 4000 }],
        },
      ],
    };
    const before = toDocument(admin.snapshot);
    const there = await ask(apply, whole);
    expect([there.code, there.err]).toEqual([0, '']);
    expect(there.out).toContain('/services/Sales  create');
    expect(admin.snapshot.services.find('sales')?.state).toBe('started');
    expect(admin.snapshot.services.find('off')?.listeners).toHaveLength(1);
    expect(await ask(apply, whole)).toEqual(nothing);
    const kept = await ask(apply, { servers: [] });
    expect([kept.code, kept.out]).toEqual([0, nothingButMore]);
    expect(kept.err).toBe('/servers/db-1: not in the document, left as it is\n');
    const gone = await ask([...apply, '--prune', '--allow-empty'], empty);
    expect([gone.code, gone.err]).toEqual([0, '']);
    expect(gone.out).toMatch(
      /\ndeletes 2 services, 1 server, 1 monitor, 1 filter: everything\nDone: apply - \(\d+ changes\) on eu-1\. Deleted 2 services, 1 server, 1 monitor, 1 filter: everything\.\n$/,
    );
    expect(withoutTimes(toDocument(admin.snapshot))).toEqual(withoutTimes(before));
    expect((await ask(['undo', '--last'])).code).toBe(0);
    // What comes back stands last.
    expect(namesIn(admin.snapshot).toSorted()).toEqual(['Hint', 'Off', 'Sales', 'Watch', 'db-1']);
    expect(admin.snapshot.services.find('sales')?.state).toBe('started');
  });

  it('tells what stays of an empty document, and never that the gateway is as the document says', async () => {
    const { ask } = await serving(sampleDocument);
    const { code, out, err } = await ask(['plan', '-'], empty);
    expect([code, out]).toEqual([0, `${nothingButMore}Nothing was done on eu-1.\n`]);
    expect(err.split('\n').slice(0, 2)).toEqual([
      '/servers/db-serv-1: not in the document, left as it is',
      '/servers/DB-Server-2: not in the document, left as it is',
    ]);
    expect(err).toContain('more: not in the document, left as they are\n');
    const plan = await ask(['plan', '-', '--only', 'filters', '--json'], empty);
    expect(JSON.parse(plan.out)).toMatchObject({
      changes: [],
      notes: ['/filters/Hint', '/filters/Query-Log', '/filters/Spare'].map((resource) => ({
        code: 'left-as-it-is',
        resource,
      })),
    });
  });

  // Promise: apply-absent
  it.each([
    [['--prune'], 'services, servers, monitors or filters'],
    [[], 'services, servers, monitors or filters'],
    [['--prune', '--only', 'monitors,filters'], 'monitors or filters'],
    [['--prune', '--only', 'filters'], 'filters'],
  ])('compares no kind that the document does not name: %j', async (options, kinds) => {
    const { ask, admin, gateway } = await serving(sampleDocument);
    const before = admin.snapshot;
    const told = `- has no ${kinds}, so nothing was compared.`;
    for (const document of [{}, { users: [] }, { servers: undefined, logs: { syslog: true } }]) {
      const { code, out } = await ask([...apply, ...options], document);
      expect([code, out]).toEqual([0, `Nothing to do: ${told}\n`]);
      const planned = await ask(['plan', '-', ...options, '--json'], document);
      expect(JSON.parse(planned.out)).toMatchObject({
        changes: [],
        notes: [{ code: 'nothing-compared', detail: told }],
      });
    }
    expect([admin.snapshot, appliedTo(gateway)]).toEqual([before, []]);
  });

  // Promise: apply-absent
  it('prunes the kinds that the document names, and leaves the others alone', async () => {
    const { ask, admin } = await serving({
      servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
      monitors: [{ name: 'Watch', module: 'pgmon', state: 'stopped' }],
      filters: [{ name: 'Hint', module: 'hintfilter' }],
      services: [{ name: 'Off', router: 'cli', state: 'stopped' }],
    });
    const { code, out, err } = await ask([...apply, '--prune'], { monitors: [], filters: [] });
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/\nDone: .* on eu-1\. Deleted 1 monitor, 1 filter\.\n$/);
    expect(namesIn(admin.snapshot)).toEqual(['db-1', 'Off']);
  });

  // Promise: apply-empty
  it('leaves no gateway without any resource, unless --allow-empty says so', async () => {
    const { ask, admin, gateway } = await serving({
      servers: ['db-1', 'db-2', 'db-3'].map((name) => ({ name, address: name, port: 1, protocol: 'pg' })),
      monitors: [{ name: 'Watch', module: 'pgmon', state: 'stopped' }],
      services: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, router: 'cli', state: 'stopped' })),
    });
    const before = admin.snapshot;
    const everything = '5 services, 3 servers, 1 monitor: everything';
    for (const args of [
      ['apply', '-', '--prune'],
      ['apply', '-', '--prune', '--yes'],
      ['plan', '-', '--prune'],
    ])
      for (const document of [empty, { services: [], servers: [], monitors: [] }]) {
        expect(await ask(args, document)).toEqual({
          code: 1,
          out: '',
          err:
            `gateway-admin: The document deletes ${everything}. Nothing was done. If no resource is to be left, say ` +
            '--allow-empty beside --prune.\n',
        });
      }
    // A single resource that stays is enough.
    expect((await ask(['plan', '-', '--prune'], { services: [], monitors: [] })).code).toBe(0);
    const alone = await ask(['plan', '-', '--allow-empty'], empty);
    expect([alone.code, alone.err]).toEqual([2, 'gateway-admin: --allow-empty stands beside --prune.\n']);
    const asked = await ask(['apply', '-', '--prune', '--allow-empty'], empty);
    expect([asked.code, asked.err]).toEqual([
      2,
      expect.stringContaining(`Apply - (9 changes) on eu-1? It deletes ${everything}. Nobody can be asked`),
    ]);
    expect([admin.snapshot, appliedTo(gateway)]).toEqual([before, []]);
    expect((await ask([...apply, '--prune', '--allow-empty'], empty)).code).toBe(0);
    expect(namesIn(admin.snapshot)).toEqual([]);
    expect((await ask([...apply, '--prune'], empty)).out).toBe('Nothing to do: eu-1 is as - says.\n');
  });

  it('shows the address of what is created, deleted and moved', async () => {
    const [listener, server] = [
      { name: 'l', protocol: 'pg', address: '127.0.0.1', port: 55_432 },
      { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' },
    ];
    const [sales, ask] = [
      { name: 'Sales', router: 'cli', listeners: [listener] },
      (
        await serving({
          servers: [server],
          services: [{ name: 'Sales', router: 'cli', listeners: [listener] }],
        })
      ).ask,
    ];
    const { out } = await ask(['plan', '-', '--prune'], {
      servers: [{ ...server, name: 'db-2', address: 'fe80::1' }],
      services: [
        { ...sales, listeners: [{ ...listener, port: 15_432 }] },
        { ...sales, name: 'New', listeners: [{ ...listener, address: '/run/l.sock', port: undefined }] },
      ],
    });
    expect(out.split('\n').slice(1, -2)).toEqual([
      '/servers/db-2                create [fe80::1]:5432',
      '/services/New                create',
      '                             + listener l /run/l.sock',
      '/services/Sales/listeners/l  delete (was 127.0.0.1:55432)',
      '/services/Sales/listeners/l  create 127.0.0.1:15432',
      '/services/New                start',
      '/servers/db-1                delete (was 10.0.0.1:5432)',
      'closes 0 sessions and 0 backend connections',
      'deletes 1 server, 1 listener',
    ]);
  });

  it('leaves listeners alone if --only does not name them', async () => {
    const listener = { name: 'l', protocol: 'pg', address: '127.0.0.1', port: 4000 };
    const { ask, admin } = await serving({
      services: [{ name: 'Sales', router: 'cli', listeners: [listener] }],
    });
    const ofStaging = {
      services: [
        { name: 'Sales', router: 'cli', max_connection: 7, listeners: [{ ...listener, port: 5000 }] },
        { name: 'New', router: 'cli', listeners: [listener] },
      ],
    };
    const services = await ask([...apply, '--only', 'services'], ofStaging);
    const note = 'The gateway may close sessions because of this. It does not say which.\n';
    expect([services.code, services.err]).toEqual([0, `Left out: /services/1/listeners\n${note}`]);
    expect(admin.snapshot.services.find('sales')).toMatchObject({
      settings: { max_connection: 7 },
      listeners: [{ port: 4000 }],
    });
    expect(admin.snapshot.services.find('new')?.listeners).toEqual([]);
    const both = await ask([...apply, '--only', 'listeners,services'], ofStaging);
    expect([both.code, both.err]).toEqual([0, '']);
    expect(admin.snapshot.services.find('sales')?.listeners).toMatchObject([{ port: 5000 }]);
    expect(admin.snapshot.services.find('new')?.listeners).toMatchObject([{ port: 4000 }]);
    expect(await ask([...apply, '--only', 'listeners'], ofStaging)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--only takes listeners beside services.'),
    });
  });

  it('names the resource of the gateway that uses what would be deleted', async () => {
    const { ask, gateway } = await serving(sampleDocument);
    const { code, err } = await ask([...apply, '--prune', '--only', 'servers'], { servers: [] });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        '\n  /servers/db-serv-1 would be deleted, and /services/My-Service of the gateway uses it\n',
      ),
    ]);
    expect(err).not.toContain('/services/0');
    expect(appliedTo(gateway)).toEqual([]);
  });

  it('says what another address of a server means', async () => {
    const { ask } = await serving({
      servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
    });
    const { out } = await ask(['plan', '-'], {
      servers: [{ name: 'db-1', address: '10.0.0.2', port: 5432, protocol: 'pg' }],
    });
    expect(out).toContain('sends its clients to another database');
  });

  it('deletes only in the kinds that --only names', async () => {
    const { ask, admin } = await serving({
      filters: [{ name: 'Hint', module: 'hintfilter' }],
      monitors: [{ name: 'Watch', module: 'pgmon', state: 'stopped' }],
    });
    const only = ['--prune', '--only', 'filters,servers'];
    expect((await ask([...apply, ...only], { filters: [], servers: [], monitors: [] })).code).toBe(0);
    expect(namesIn(admin.snapshot)).toEqual(['Watch']);
    const wrong = await ask([...apply, '--only', 'sessions'], {});
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining(
        '--only takes services, servers, monitors, filters, listeners, with commas between them, and not sessions.',
      ),
    ]);
  });

  it.each([
    [
      'a field that cannot change',
      { services: [{ name: 'Bare Service', router: 'other', state: 'stopped' }] },
      '/services/0/router: the document has "other", and "cli" is in use; this field cannot change while the gateway runs',
    ],
    [
      'a fault',
      { servers: [{ name: 'db-serv-3', address: '::1', port: 0, protocol: 'p' }] },
      '/servers/0/port must be',
    ],
    [
      'a link to nothing',
      { monitors: [{ name: 'Idle Monitor', module: 'pgmon', servers: ['/servers/x'] }] },
      '/monitors/0/servers/0 ',
    ],
  ])('refuses %s, with its place in the document', async (_case, document, told) => {
    const { ask, gateway } = await serving(sampleDocument);
    const { code, out, err } = await ask(apply, document);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(told)]);
    expect(appliedTo(gateway)).toEqual([]);
  });

  it.each([
    ['null', 'The document must be an object, not null'],
    ['[]', 'The document must be an object, not an array'],
    ['{"services":{}}', '/services must be an array, not an object'],
    ['{"services":null}', '/services must be an array, not null'],
    ['{"services":[null]}', '/services/0 must be an object, not null'],
    ['{"services":[{"name":5,"router":"r"}]}', '/services/0/name must be a string, not a number'],
    ['{"services":[{"router":"r"}]}', '/services/0/name is required'],
    ['{"servers":[{"name":"a"},{"name":"A"}]}', '/servers/1/name names the same server as an earlier entry'],
    ['{"service":[]}', '/service is not a known field'],
    ['{"__proto__":{"services":[]}}', '/__proto__ is not allowed as a key'],
    [
      '{"services":[{"__proto__":{"name":"S"},"router":"r"}]}',
      '/services/0/__proto__ is not allowed as a key',
    ],
  ])('tells the faults of the document %s', async (text, told) => {
    const { ask } = await serving(sampleDocument);
    const file = join(await newDirectory(), 'document.json');
    writeFileSync(file, text);
    const { code, out, err } = await ask(['plan', file]);
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(`\n  ${told}`)]);
  });

  it('reads a file that begins with a byte order mark', async () => {
    const { ask } = await serving(sampleDocument);
    const file = join(await newDirectory(), 'document.json');
    writeFileSync(file, '\ufeff{"format":1}');
    expect(await ask(['plan', file, '--only', 'monitors', '--prune'])).toMatchObject({ code: 0, err: '' });
  });

  it('refuses a file that is no JSON, and a file that is not there', async () => {
    const { ask } = await serving(sampleDocument);
    const file = join(await newDirectory(), 'broken.json');
    writeFileSync(file, '{"services": [}');
    expect(await ask(['apply', file])).toMatchObject({ code: 1, err: expect.stringContaining(`${file}: `) });
    expect(await ask(['apply', '/no/such/file'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ENOENT'),
    });
  });

  it('tells scripts with an exit code of its own that the gateway differs', async () => {
    const { ask, gateway } = await serving(sampleDocument);
    const monitors = [{ name: 'Idle Monitor', module: 'pgmon', state: 'started' }];
    const plan = await ask(['plan', '-', '--exit-code'], { monitors });
    expect([plan.code, plan.err]).toEqual([
      6,
      expect.stringMatching(/\ngateway-admin: The gateway differs from -\.\n$/),
    ]);
    expect(plan.out).toBe((await ask(['plan', '-'], { monitors })).out);
    expect((await ask(['plan', '-'], { monitors })).code).toBe(0);
    const same = [{ ...monitors[0], state: 'stopped' }];
    expect((await ask(['plan', '-', '--exit-code'], { monitors: same })).code).toBe(0);
    const wrong = [{ ...monitors[0], state: 'gone' }];
    expect((await ask(['plan', '-', '--exit-code'], { monitors: wrong })).code).toBe(1);
    expect(appliedTo(gateway)).toEqual([]);
  });

  it('changes nothing without a yes', async () => {
    const { ask, gateway } = await serving(sampleDocument);
    const { code, err } = await ask(['apply', '-'], {
      monitors: [{ name: 'Idle Monitor', module: 'pgmon' }],
    });
    expect([code, err]).toEqual([
      2,
      expect.stringMatching('Apply - [(]1 change[)] on eu-1[?] Nobody can be asked'),
    ]);
    expect(appliedTo(gateway)).toEqual([]);
  });

  // Promise: apply-atomic
  it.each([0, 1, 2])('makes all changes or none: the gateway refuses number %i', async (before) => {
    const gateway = createScriptedGateway({ snapshot: createSnapshot(sampleDocument) });
    const { ask, admin } = await serving(sampleDocument, { gateway });
    gateway.will(...Array<'done'>(before).fill('done'), new EffectRefusedError('not today'));
    const { revision } = admin.snapshot;
    const { code, out, err } = await ask(apply, threeChanges);
    expect([code, out]).toEqual([1, expect.not.stringContaining('Done')]);
    expect(err).toContain('not today');
    expect(admin.snapshot.revision).toBe(revision);
  });

  it.each([
    ['its outcome is unknown', 'outcome-unknown', 4],
    ['the user may not do this any more', 'forbidden', 5],
  ])('ends with the exit code of the answer: %s', async (_why, told, exitCode) => {
    const gateway = createScriptedGateway({ snapshot: createSnapshot(sampleDocument) });
    let isPlanning = true;
    const { ask, clock, admin } = await serving(sampleDocument, {
      gateway,
      access: {
        authorize(_principal, route, _parameters, how) {
          isPlanning &&= route.kind !== 'command' || how?.dryRun === true;
          return isPlanning || told !== 'forbidden';
        },
      },
    });
    gateway
      .will('done', () => {
        void clock.advance(admin.limits.effectDeadlineMs);
        return new Promise(() => undefined);
      })
      .otherwise({ inspect: 'not-in-place' });
    const { code, out, err } = await ask(apply, threeChanges);
    expect([code, out]).toEqual([exitCode, expect.not.stringContaining('Done')]);
    expect(err).toContain(`(${told})`);
  });

  const limitTo =
    (value: number) =>
    async ({ admin }: Running): Promise<void> => {
      const operations = [{ op: 'add', path: '/max_connection', value }] as const;
      await admin.execute((snapshot, context) => patchService(snapshot, 'Bare Service', operations, context));
    };

  // Promise: apply-atomic-tags
  it('overwrites no change of somebody else that its plan did not show', async () => {
    const { ask, admin } = await interrupted(limitTo(70));
    const { code, out, err } = await ask(apply, threeChanges);
    expect([code, out, err]).toEqual([
      6,
      expect.not.stringContaining('Done'),
      [
        ...leftBehind,
        'The gateway may close sessions because of this. It does not say which.',
        'Since then: also /services/Bare-Service  ~ /max_connection = 7 (was 70), ' +
          'no longer /services/Bare-Service  + /max_connection = 7.',
        'The plan has changed:',
        '  /services/Bare-Service  ~ /max_connection = 7 (was 70)',
        '  /monitors/Idle-Monitor  ~ /monitor_interval = 77 (was 2000)',
        '  /monitors/Idle-Monitor  start',
        '  note: The gateway may close sessions because of this. It does not say which.',
        'gateway-admin: Nothing was done.',
        '',
      ].join('\n'),
    ]);
    expect(admin.snapshot.services.find('bare-service')?.settings.max_connection).toBe(70);
  });

  it('asks again on a terminal, and then does what the plan of now shows', async () => {
    const file = join(await newDirectory(), 'document.json');
    writeFileSync(file, JSON.stringify(threeChanges));
    const { url, admin } = await interrupted(limitTo(70));
    const answers = { input: 'y\ny\n', isTerminal: true };
    const { code, out, err } = await command(['apply', file, '--url', url], answers);
    expect([code, err.split('[y/N]').length - 1, err]).toEqual([
      0,
      2,
      expect.stringContaining('~ /max_connection = 7 (was 70)'),
    ]);
    expect(out).toContain(`Done: apply ${file} (3 changes) on eu-1.`);
    expect(admin.snapshot.services.find('bare-service')?.settings.max_connection).toBe(7);
  });

  it('finds its changes anew, because a list may have other places by then', async () => {
    const servers = ['/servers/db-serv-3', '/servers/db-serv-1'];
    const { ask, admin } = await interrupted(async (running) => {
      await running.admin.execute((snapshot, context) =>
        patchService(
          snapshot,
          'My Service',
          [{ op: 'add', path: '/servers/0', value: servers[0] ?? '' }],
          context,
        ),
      );
    });
    const given = { services: [{ ...exportedService, servers: ['/servers/db-serv-1'] }] };
    const { code, err } = await ask(apply, given);
    expect([code, err]).toEqual([6, expect.stringMatching(/- \/servers\/0 [^]*- \/servers\/1 /)]);
    expect(admin.snapshot.services.find('my-service')?.settings.servers).toHaveLength(3);
  });

  it('makes its changes although somebody else changes another field', async () => {
    const { ask, admin } = await interrupted(async (running) => {
      await running.admin.execute((snapshot, context) =>
        patchService(snapshot, 'Bare Service', [{ op: 'add', path: '/user', value: 'x' }], context),
      );
    });
    expect((await ask(apply, threeChanges)).code).toBe(0);
    expect(admin.snapshot.services.find('bare-service')?.settings).toMatchObject({
      user: 'x',
      max_connection: 7,
    });
  });

  it('says how to apply a document that makes more changes than a sequence takes', async () => {
    const monitors = Array.from({ length: 101 }, (_none, at) => ({ name: `M${String(at)}`, module: 'm' }));
    const started = monitors.map((monitor) => ({ ...monitor, state: 'started' as const }));
    const served = await serving({
      monitors: monitors.map((each) => ({ ...each, state: 'stopped' as const })),
    });
    const { code, out, err } = await served.ask(apply, { monitors: started });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('The document makes 101 changes, and the gateway makes fewer at once.');
    expect((await served.ask(apply, { monitors: started.slice(0, 100) })).code).toBe(0);
    expect((await served.ask(apply, { monitors: started.slice(100) })).code).toBe(0);
    expect(appliedTo(served.gateway)).toHaveLength(101);
  });

  it('names the resource at which the interface refuses', async () => {
    const { ask } = await serving(sampleDocument, {
      access: { authorize: (_principal, route) => route.id !== 'monitors.start' },
    });
    const { code, err } = await ask(apply, threeChanges);
    expect([code, err]).toEqual([
      5,
      expect.stringMatching(/^gateway-admin: \/monitors\/Idle-Monitor\/start: /m),
    ]);
  });
});

const threeChanges = {
  monitors: [{ name: 'Idle Monitor', module: 'pgmon', monitor_interval: 77 }],
  services: [{ name: 'Bare Service', router: 'cli', state: 'stopped', max_connection: 7 }],
};

/** An interface in which something happens between the plan and the command. */
async function interrupted(happen: (running: Running) => Promise<void>): Promise<Served> {
  let isPlanned = false;
  const served: Served = await serving(sampleDocument, {
    access: {
      authorize(_principal, { kind }, _parameters, how) {
        if (kind !== 'command') return true;
        if (how?.dryRun === true) isPlanned = true;
        else if (isPlanned) {
          isPlanned = false;
          void happen(served);
        }
        return true;
      },
    },
  });
  return served;
}

const [service] = sampleDocument.services ?? [];
const {
  passwordSealed: _password,
  router_optionsSealed: _options,
  ...exportedService
} = service as unknown as Entry;

/** What is told of the resources of the sample that three changes are not about. */
const leftBehind = [
  ...['/services/My-Service', '/services/Report-Service', '/services/Spare-Service'],
  ...['/monitors/Main-Monitor', '/monitors/Failed-Monitor'],
].map((link) => `${link}: not in the document, left as it is`);

function namesIn({ servers, filters, monitors, services }: Snapshot): readonly string[] {
  return [...servers, ...filters, ...monitors, ...services].map(({ name }) => name);
}

function withoutTimes(document: GatewayDocument): unknown {
  const { logs: _logs, ...rest } = document;
  return rest;
}
