import { describe, expect, it } from '@jest/globals';
import {
  canRevert,
  closeServerConnections,
  closeSession,
  createUser,
  deleteUser,
  flushLogs,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminEvent,
  type HostReport,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

import { eventTable } from '../../src/resources/index.ts';
import { read } from '../support/project.ts';
import { runAdmin, sampleGateway } from '../support/running-admin.ts';
import { codesOf, tablesOf, type Table } from './table.ts';

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

const add = (path: string, value: string | number): readonly Operation[] => [{ op: 'add', path, value }];

const transitions: readonly Transition[] = [
  (snapshot, context) => stopService(snapshot, 'My Service', context),
  (snapshot, context) => startService(snapshot, 'My Service', context),
  (snapshot, context) => patchService(snapshot, 'My Service', add('/max_connection', 7), context),
  (snapshot, context) => patchServer(snapshot, 'db-serv-3', add('/port', 7), context),
  (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context),
  (snapshot, context) => startMonitor(snapshot, 'Main Monitor', context),
  (snapshot, context) => patchMonitor(snapshot, 'Main Monitor', add('/monitor_interval', 7), context),
  (snapshot, context) => patchFilter(snapshot, 'Hint', add('/parameters/match', 'insert'), context),
  flushLogs,
  (snapshot, context) => createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context),
  (snapshot, context) => deleteUser(snapshot, 'newcomer', context),
  (snapshot, context) => closeServerConnections(snapshot, 'DB Server 2', context),
  (snapshot, context) => closeSession(snapshot, 9, context),
];

const facts = { state: 'a', user: 'b', address: 'c', service: 'My Service', connected: 7 };
const report: readonly HostReport[] = [
  { type: 'session.opened', id: 77, ...facts },
  { type: 'session.updated', id: 77, state: 'd' },
  { type: 'connection.opened', session: 77, id: 1, server: 'db-serv-1', role: 'e', state: 'f' },
  { type: 'connection.updated', session: 77, id: 1, role: 'g' },
  { type: 'connection.closed', session: 77, id: 1 },
  { type: 'session.closed', id: 77, connected: 7 },
  { type: 'server.reported', server: 'db-serv-1', status: ['slave'] },
  { type: 'service.failed', service: 'My Service' },
  { type: 'monitor.failed', monitor: 'Main Monitor' },
];

/** One event of each type, from a gateway that does everything at first, and then does not say that it did nothing. */
async function oneOfEach(): Promise<ReadonlyMap<string, AdminEvent>> {
  const gateway = sampleGateway();
  const { admin, clock } = runAdmin({ gateway });
  const reader = admin.events();
  for (const transition of transitions) await admin.execute(transition, { actor: 'ada' });
  admin.report(report);
  gateway.will('failBefore').willSee(new Error('I cannot see.'), 'not-in-place');
  await admin.execute(flushLogs, { actor: 'ada' });
  await clock.advance(1000);
  await admin.close();
  const events = new Map<string, AdminEvent>();
  for await (const item of reader) if ('event' in item) events.set(item.event.type, item.event);
  return events;
}

describe('the table of events', () => {
  it('has a row for each type', () => {
    expect(rows.map(({ type }) => type).toSorted()).toEqual(Object.keys(eventTable).toSorted());
  });

  // Promise: event-table
  it.each(rows)('says of $type which members it has', async ({ type, members, from }) => {
    const event = (await oneOfEach()).get(type);
    const expected = from === 'command' ? common : common.filter((name) => !/^(actor|command)$/.test(name));
    expect(Object.keys(event ?? {}).toSorted()).toEqual([...expected, ...members].toSorted());
  });

  it.each(rows)('says of $type where it comes from and whether it can be undone', ({ type, from, undo }) => {
    const { origin } = eventTable[type as AdminEvent['type']];
    const isRevertible = canRevert({ type, at: 0, resource: '/' } as AdminEvent);
    expect([from, undo]).toEqual([origin, isRevertible ? 'yes' : 'no']);
  });
});
