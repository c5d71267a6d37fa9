/**
 * Tables of the pages that are written by hand, held against what the library does.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Admin,
  type AdminEvent,
  canRevert,
  type Context,
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  type Decision,
  flushLogs,
  type GatewayDocument,
  type HostReport,
  problemTable,
  routes,
  type Snapshot,
  toDocument,
} from 'gateway-admin-core';
import * as library from 'gateway-admin-core';

import { additions, type Endpoint, endpoints, targetOf, withQuery } from '../contract/endpoint.ts';
import { documentDescriptions } from '../openapi/description.ts';
import { wholeOf } from '../support/closing.ts';
import { sampleSnapshot } from '../support/document.ts';
import { credentials } from '../support/log-in.ts';
import { planted } from '../support/planted.ts';
import { read } from '../support/project.ts';
import { openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';
import { type Sent, transports } from '../support/transport.ts';
import { blocksOfMarkdown } from './code-block.ts';
import { anchorsOf } from './link.ts';
import { codesOf, type Table, tablesOf } from './table.ts';
import { alertTable, effectTable, eventTable, type Field, fieldTables, reportTable } from './tables.ts';

const tables = tablesOf(read('docs/events.md'));
const common = tableWith('Member').rows.flatMap(([name = '']) => codesOf(name));
const eventRows = tableWith('Type').rows.map(([type = '', members = '', from = '', undo = '']) => ({
  type: codesOf(type)[0] ?? '',
  members: codesOf(members),
  from,
  undo,
}));

function tableWith(first: string): Table {
  const table = tables.find(({ header }) => header[0] === first);
  if (table === undefined) throw new Error(`There is no table with the column "${first}"`);
  return table;
}

const commands = [
  ...endpoints.filter(({ method }) => method !== 'GET'),
  ...additions.filter(({ method, path }) => method === 'PATCH' && path === '/'),
];

const statistics = { reads: 1, writes: 1, buffered_writes: 0, high_water_events: 0, low_water_events: 0 };
const facts = { state: 'a', user: 'b', address: 'c', service: 'My Service', connected: 7 };
const report: readonly HostReport[] = [
  { type: 'session.opened', id: 77, ...facts },
  { type: 'session.updated', id: 77, state: 'd' },
  { type: 'connection.opened', session: 77, id: 1, server: 'db-serv-1', role: 'e', state: 'f' },
  { type: 'connection.updated', session: 77, id: 1, role: 'g', statistics },
  { type: 'connection.closed', session: 77, id: 1 },
  { type: 'session.closed', id: 77, connected: 7 },
  { type: 'server.reported', server: 'db-serv-1', status: ['slave'], reason: 'No route.' },
  { type: 'service.reported', service: 'My Service', state: 'failed', reason: 'No route.', started: 0 },
  { type: 'monitor.reported', monitor: 'Main Monitor', state: 'failed', reason: 'No route.', started: 0 },
];

/** The first event of each type, as readers of running interfaces get it. */
async function oneOfEach(): Promise<ReadonlyMap<string, AdminEvent>> {
  const lists = await Promise.all([...commands.map(commanded), reportedAndFailed(), loggedIn(), completed()]);
  return new Map(lists.flat().map((event) => [event.type, event]));
}

/** The events of a command. */
async function commanded(endpoint: Endpoint): Promise<readonly AdminEvent[]> {
  const { admin } = runAdmin({ access: { authenticate: () => Promise.resolve({ name: 'ada' }) } });
  const reader = admin.events();
  const { send } = await transports.core(admin);
  await send(endpoint.method, targetOf(endpoint), sentWith(endpoint));
  await admin.close();
  return eventsOf(reader);
}

function sentWith({ body }: Endpoint): Sent {
  return body === undefined
    ? {}
    : { headers: { 'content-type': body.type }, body: JSON.stringify(body.json) };
}

/** The events of reports, and of a command that was not done although its outcome was unknown at first. */
async function reportedAndFailed(): Promise<readonly AdminEvent[]> {
  const gateway = sampleGateway();
  const { admin, clock } = runAdmin({ gateway });
  const reader = admin.events();
  admin.report(report);
  gateway.will('failBefore').willSee(new Error('I cannot see.'), 'not-in-place');
  await admin.execute(flushLogs, { actor: 'ada' });
  await clock.advance(1000);
  await admin.close();
  return eventsOf(reader);
}

/** The events of a log-in with a hash that is cheaper than new ones. */
async function loggedIn(): Promise<readonly AdminEvent[]> {
  const { admin, clock } = runAdmin({
    access: { authenticate: createBasicAuthentication() },
    hasher: {
      verify: () => Promise.resolve(true),
      needsRehash: (hash) => hash === planted.hash,
      hash: () => Promise.resolve('of a higher cost'),
    },
  });
  const reader = admin.events();
  const headers = { authorization: credentials('ada', 'engine') };
  await admin.handle({ method: 'GET', target: '/services', headers });
  await clock.settle();
  await admin.close();
  return eventsOf(reader);
}

/** The events once everything that is open is reported: nothing is open on what drains. */
async function completed(): Promise<readonly AdminEvent[]> {
  const { admin } = await openRunning(createMemoryStore());
  const reader = admin.events();
  admin.report({ type: 'sessions.complete' });
  await admin.close();
  return eventsOf(reader);
}

async function eventsOf(reader: ReturnType<Admin['events']>): Promise<readonly AdminEvent[]> {
  const events: AdminEvent[] = [];
  for await (const item of reader) if ('event' in item) events.push(item.event);
  return events;
}

describe('the table of events', () => {
  let found: ReadonlyMap<string, AdminEvent>;

  beforeAll(async () => {
    found = await oneOfEach();
  });

  it('has a row for each type', () => {
    expect(eventRows.map(({ type }) => type).toSorted()).toEqual(Object.keys(eventTable).toSorted());
  });

  // Promise: event-table
  it.each(eventRows)('says of $type which members it has', ({ type, members, from }) => {
    const event = found.get(type);
    const expected = from === 'command' ? common : common.filter((name) => !/^(actor|command)$/.test(name));
    expect(Object.keys(event ?? {}).toSorted()).toEqual([...expected, ...members].toSorted());
  });

  it.each(eventRows)(
    'says of $type where it comes from and whether it can be undone',
    ({ type, from, undo }) => {
      const origin = 'revert' in eventTable[type as AdminEvent['type']] ? 'command' : 'report';
      const isRevertible = canRevert({ type, at: 0, resource: '/' } as AdminEvent);
      expect([from, undo]).toEqual([origin, isRevertible ? 'yes' : 'no']);
    },
  );
});

type Command = (snapshot: Snapshot, context: Context) => Decision;

/** The functions that decide about a snapshot. `adoptDocument` is in the table of those that combine commands. */
type CommandName = Exclude<
  {
    [N in keyof typeof library]: (typeof library)[N] extends (
      snapshot: Snapshot,
      ...given: never[]
    ) => Pick<Decision, 'outcome'>
      ? N
      : never;
  }[keyof typeof library],
  'adoptDocument'
>;

const interval = [{ op: 'replace', path: '/monitor_interval', value: 7 }] as const;
const port = [{ op: 'replace', path: '/port', value: 7 }] as const;
const connections = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;
const hold = [{ op: 'replace', path: '/read_only', value: true }] as const;
const parameter = [{ op: 'add', path: '/parameters/new', value: 'x' }] as const;

/** A call of each function that changes the sample: a new function without a call does not compile. */
const calls: Readonly<Record<CommandName, Command>> = {
  startService: (snapshot, context) => library.startService(snapshot, 'Report Service', context),
  stopService: (snapshot, context) => library.stopService(snapshot, 'My Service', context),
  drain: (snapshot, context) => library.drain(snapshot, 'services', 'My Service', {}, context),
  resume: (snapshot, context) => library.resume(snapshot, 'services', 'Spare Service', context),
  patchService: (snapshot, context) => library.patchService(snapshot, 'My Service', connections, context),
  closeServiceSessions: (snapshot, context) => library.closeServiceSessions(snapshot, 'My Service', context),
  patchServer: (snapshot, context) => library.patchServer(snapshot, 'db-serv-1', port, context),
  closeServerConnections: (snapshot, context) =>
    library.closeServerConnections(snapshot, 'db-serv-1', context),
  startMonitor: (snapshot, context) => library.startMonitor(snapshot, 'Idle Monitor', context),
  stopMonitor: (snapshot, context) => library.stopMonitor(snapshot, 'Main Monitor', context),
  patchMonitor: (snapshot, context) => library.patchMonitor(snapshot, 'Main Monitor', interval, context),
  patchFilter: (snapshot, context) => library.patchFilter(snapshot, 'Hint', parameter, context),
  closeSessions: (snapshot, context) => library.closeSessions(snapshot, { user: 'alice' }, context),
  closeSession: (snapshot, context) => library.closeSession(snapshot, 9, context),
  flushLogs: library.flushLogs,
  createResource: (snapshot, context) =>
    library.createResource(
      snapshot,
      'servers',
      { name: 'db-9', address: '10.0.0.9', port: 5432, protocol: 'pg' },
      context,
    ),
  createListener: (snapshot, context) =>
    library.createListener(
      snapshot,
      'My Service',
      { name: 'new', protocol: 'pgclient', address: '::', port: 4011 },
      context,
    ),
  deleteListener: (snapshot, context) =>
    library.deleteListener(snapshot, 'My Service', 'My Listener', context),
  deleteResource: (snapshot, context) => library.deleteResource(snapshot, 'servers', 'Spare DB', context),
  createUser: (snapshot, context) =>
    library.createUser(snapshot, { name: 'eve', password: { sealed: 'x' } }, context),
  changePassword: (snapshot, context) => library.changePassword(snapshot, 'ada', { sealed: 'x' }, context),
  deleteUser: (snapshot, context) => library.deleteUser(snapshot, 'ada', context),
  patchInterface: (snapshot, context) => library.patchInterface(snapshot, hold, context),
};

const table = tablesOf(read('docs/functions.md')).find(({ header }) => header.includes('Endpoint'));
const functionRows = (table?.rows ?? []).map(([call = '', events = '', effects = '', endpoint = '']) => ({
  name: /\w+/.exec(call)?.[0] ?? '',
  call: codesOf(call)[0] ?? '',
  events: codesOf(events),
  effects: codesOf(effects),
  endpoint: codesOf(endpoint)[0] ?? '',
}));

/** The events of the plan that an endpoint gives. */
async function eventsAt(name: string): Promise<readonly string[]> {
  const endpoint = endpoints.concat(additions).find(({ method, path }) => `${method} ${path}` === name);
  if (endpoint === undefined) throw new RangeError(`There is no endpoint ${name}`);
  const { body } = endpoint;
  const handled = await runAdmin().admin.handle({
    method: endpoint.method,
    target: withQuery(targetOf(endpoint), 'dry_run=true'),
    headers: body === undefined ? {} : { 'content-type': body.type },
    ...(body === undefined ? {} : { body: JSON.stringify(body.json) }),
  });
  const plan = handled.matched && typeof handled.response.body === 'string' ? handled.response.body : '{}';
  const { events = [] } = JSON.parse(plan) as { readonly events?: readonly { readonly type: string }[] };
  return events.map(({ type }) => type);
}

describe('the table of the pure functions', () => {
  it('has every function that decides a command', () => {
    expect(functionRows.map(({ name }) => name).toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  it.each(functionRows)(
    'gives the events, the effects and the endpoint of $name',
    async ({ name, call, events, effects, endpoint }) => {
      const snapshot = sampleSnapshot();
      const whole = wholeOf(calls[name as CommandName](snapshot, { now: 0 }), snapshot);
      expect(whole.events.map(({ type }) => type)).toEqual(events);
      expect(whole.effects.map(({ type }) => type)).toEqual(effects);
      expect(await eventsAt(endpoint)).toEqual(events);
      const { length } =
        (library as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>)[name] ?? {};
      expect(call.replace(/\{.*?\}/, 'user').split(',')).toHaveLength(length ?? NaN);
    },
  );
});

/** The rows of the table with this first column. */
function rowsOf(page: string, first: string): readonly (readonly string[])[] {
  return tablesOf(read(page)).find(({ header }) => header[0] === first)?.rows ?? [];
}

/** What stands in backquotes in a column of a table. */
function column(page: string, first: string, at: number): readonly (readonly string[])[] {
  return rowsOf(page, first).map((row) => codesOf(row[at] ?? ''));
}

function isPatchable({ setting, patched }: Field): boolean {
  return setting !== undefined && patched !== false;
}

describe('the table of effects', () => {
  it('has a row for each type, and says which effects cannot be undone', () => {
    const rows = rowsOf('docs/ports.md', 'Effect').map((row) => [
      codesOf(row[0] ?? '')[0],
      row[3] === 'nothing',
    ]);
    const table = Object.entries(effectTable).map(([type, inverse]) => [type, inverse === 'irreversible']);
    expect(rows.toSorted()).toEqual(table.toSorted());
  });
});

describe('the table of reports', () => {
  it('has a row for each type, with its members', () => {
    const table = Object.entries(reportTable).map(([type, { shape }]) => [
      type,
      ...Object.keys((shape as unknown as { shape: object }).shape),
    ]);
    const types = column('docs/ports.md', 'Report', 0);
    const members = column('docs/ports.md', 'Report', 1);
    const rows = types.map(([type = ''], at) => [type, 'type', ...(members[at] ?? [])]);
    const sorted = (each: readonly string[]): readonly string[] => [
      each[0] ?? '',
      ...each.slice(1).toSorted(),
    ];
    expect(rows.map(sorted).toSorted()).toEqual(table.map(sorted).toSorted());
  });
});

describe('the table of alerts', () => {
  it('has a row for each code, with its level', () => {
    const rows = rowsOf('docs/runtime.md', 'Code').map(([code = '', level]) => [codesOf(code)[0], level]);
    expect(rows).toEqual(Object.entries(alertTable).map(([code, { level }]) => [code, level]));
  });
});

describe('the table of the fields that can be patched', () => {
  it('has each modifiable field of each kind, and says where it is patched', () => {
    const rows = rowsOf('docs/patching.md', 'Resource').map(([kind = '', path = '', fields = '']) => [
      kind,
      codesOf(path)[0],
      codesOf(fields.replace(/ \(also.*?\)/, '')).toSorted(),
    ]);
    const tables = Object.entries(fieldTables).flatMap(([kind, { all }]) => {
      const settings = all.filter(isPatchable);
      const route = routes.find(({ id }) => [`${kind}s.patch`, `${kind}.patch`].includes(id));
      return settings.length === 0
        ? []
        : [[kind, route?.path, settings.map(({ patchName }) => patchName).toSorted()]];
    });
    expect(rows).toEqual(tables);
  });
});

describe('the table of rules for the result of a patch', () => {
  it('names every modifiable field, and no other', () => {
    const settings = new Set(
      Object.values(fieldTables).flatMap(({ all }) =>
        all.filter(isPatchable).map(({ patchName }) => patchName),
      ),
    );
    const rule = tablesOf(read('docs/spec-choices.md')).find(({ heading }) => heading.startsWith('26.'));
    const named = new Set(rule?.rows.flatMap(([fields = '']) => codesOf(fields)));
    expect([...named].toSorted()).toEqual([...settings].toSorted());
  });
});

const page = read('docs/document.md');
const [smallest, complete] = blocksOfMarkdown('docs/document.md', page)
  .filter(({ language }) => language === 'json')
  .map(({ code }) => JSON.parse(code) as GatewayDocument);

/** The path of the objects of each chapter, by heading. */
const chapters = new Map(
  [...page.matchAll(/^## (.*)\n\nPath: `(.*)`$/gm)].map(([, title = '', path = '']) => [title, path]),
);

/** The rows of the page: the paths in a document, and whether a document can set the field. */
const fieldRows = tablesOf(page).flatMap(({ heading, rows: cells }) => {
  const chapter = chapters.get(heading);
  if (chapter === undefined) return [];
  return cells.map((row) => ({
    path: `${chapter}.${codesOf(row[0] ?? '').join('')}`,
    isDerived: /^(?:Ignored|Derived)/.test(row.at(-1) ?? ''),
  }));
});

/** Whether a value has something at a path; `*` is any item or member. */
function has(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const members = name === '*' ? Object.values(value) : [(value as Readonly<Record<string, unknown>>)[name]];
  return members.some((member) => has(member, rest));
}

describe('the page of the gateway document', () => {
  // Promise: document-fields
  it('has each field that the interfaces document', () => {
    const written = new Set(fieldRows.map(({ path }) => path));
    const inChapter = (path: string): boolean =>
      [...chapters.values()].some((each) => path.startsWith(`${each}.`));
    const documented = Object.keys(documentDescriptions()).filter(inChapter);
    expect(documented.length).toBeGreaterThan(90);
    expect(documented.filter((path) => !written.has(path))).toEqual([]);
  });

  it('has an example with every field but the derived ones', () => {
    const missing = fieldRows.filter(({ path, isDerived }) => !isDerived && !has(complete, path.split('.')));
    expect(missing).toEqual([]);
    expect(fieldRows.filter(({ isDerived }) => isDerived).map(({ path }) => path)).toEqual([
      'services.*.current_connections',
      'filters.*.services',
      'sessions.*.connections.*.service',
    ]);
  });

  it.each([
    ['smallest', smallest],
    ['complete', complete],
  ])('has a %s example that loads and survives a round trip', (_name, document = {}) => {
    const saved = toDocument(createSnapshot(document));
    expect(saved).toMatchObject(document);
    expect(toDocument(createSnapshot(saved))).toEqual(saved);
  });
});

// Promise: problem-sections
it('the page of problems has a row for each code, with its status, its meaning, what to do, and an anchor', () => {
  const problems = read('docs/errors.md');
  const table = tablesOf(problems).find(({ header }) => header[0] === 'Code');
  const rows = (table?.rows ?? []).map(([code = '', status]) => [codesOf(code)[0], status]);
  const codes = Object.entries(problemTable).map(([code, { status }]) => [code, String(status)]);
  expect(rows.toSorted()).toEqual(codes.toSorted());
  for (const [, , ...sentences] of table?.rows ?? [])
    expect(sentences).toEqual([expect.stringMatching(/\w.*\.$/), expect.stringMatching(/\w.*\.$/)]);
  expect(anchorsOf(problems)).toEqual(expect.arrayContaining(Object.keys(problemTable)));
});
