import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  canRevert,
  createBasicAuthentication,
  createMemoryStore,
  flushLogs,
  type Admin,
  type AdminEvent,
  type HostReport,
} from 'gateway-admin-core';

import { endpoints, targetOf, type Endpoint } from '../contract/endpoint.ts';
import { credentials } from '../support/log-in.ts';
import { planted } from '../support/planted.ts';
import { read } from '../support/project.ts';
import { openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';
import { transports, type Sent } from '../support/transport.ts';
import { codesOf, tablesOf, type Table } from './table.ts';
import { eventTable } from './tables.ts';

const tables = tablesOf(read('docs/events.md'));
const common = tableWith('Member').rows.flatMap(([name = '']) => codesOf(name));
const rows = tableWith('Type').rows.map(([type = '', members = '', from = '', undo = '']) => ({
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

const commands = endpoints.filter(({ method }) => method !== 'GET');

const facts = { state: 'a', user: 'b', address: 'c', service: 'My Service', connected: 7 };
const report: readonly HostReport[] = [
  { type: 'session.opened', id: 77, ...facts },
  { type: 'session.updated', id: 77, state: 'd' },
  { type: 'connection.opened', session: 77, id: 1, server: 'db-serv-1', role: 'e', state: 'f' },
  { type: 'connection.updated', session: 77, id: 1, role: 'g' },
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
    expect(rows.map(({ type }) => type).toSorted()).toEqual(Object.keys(eventTable).toSorted());
  });

  // Promise: event-table
  it.each(rows)('says of $type which members it has', ({ type, members, from }) => {
    const event = found.get(type);
    const expected = from === 'command' ? common : common.filter((name) => !/^(actor|command)$/.test(name));
    expect(Object.keys(event ?? {}).toSorted()).toEqual([...expected, ...members].toSorted());
  });

  it.each(rows)('says of $type where it comes from and whether it can be undone', ({ type, from, undo }) => {
    const { origin } = eventTable[type as AdminEvent['type']];
    const isRevertible = canRevert({ type, at: 0, resource: '/' } as AdminEvent);
    expect([from, undo]).toEqual([origin, isRevertible ? 'yes' : 'no']);
  });
});
