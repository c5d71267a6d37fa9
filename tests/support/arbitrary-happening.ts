/**
 * Arbitrary commands and reports, for the laws that hold of all of them.
 */
import * as fc from 'fast-check';
import {
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  createUser,
  deleteUser,
  flushLogs,
  linkTo,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  sequence,
  serverStatusWords,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type HostReport,
  type Operation,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

/** Says, for any snapshot, what is done: `pick` chooses among the things that there are. */
export interface Act {
  readonly verb: keyof typeof verbs;
  readonly pick: number;
  readonly value: number;
}

/** The thing picked, or one that is not there. */
function picked(of: Iterable<{ readonly name: string }>, pick: number): string {
  const list = [...of];
  return list[pick % (list.length + 1)]?.name ?? 'nothing';
}

function sessionOf({ sessions: table }: Snapshot, pick: number): number {
  const list = [...table];
  return list[pick % (list.length + 1)]?.id ?? 12345;
}

function someLinks(
  of: Iterable<{ readonly name: string }>,
  collection: string,
  value: number,
): readonly string[] {
  return [...of].filter((_, at) => (value >> at) % 2 === 1).map(({ name }) => linkTo(collection, name));
}

const replace = (at: string, value: unknown): Operation => ({ op: 'replace', path: at, value }) as Operation;

/** What can be commanded. */
const verbs = {
  startService:
    ({ pick }) =>
    (from, context) =>
      startService(from, picked(from.services, pick), context),
  stopService:
    ({ pick }) =>
    (from, context) =>
      stopService(from, picked(from.services, pick), context),
  startMonitor:
    ({ pick }) =>
    (from, context) =>
      startMonitor(from, picked(from.monitors, pick), context),
  stopMonitor:
    ({ pick }) =>
    (from, context) =>
      stopMonitor(from, picked(from.monitors, pick), context),
  closeSession:
    ({ pick }) =>
    (from, context) =>
      closeSession(from, sessionOf(from, pick), context),
  closeServiceSessions:
    ({ pick }) =>
    (from, context) =>
      closeServiceSessions(from, picked(from.services, pick), context),
  closeServerConnections:
    ({ pick }) =>
    (from, context) =>
      closeServerConnections(from, picked(from.servers, pick), context),
  flushLogs: () => (from, context) => flushLogs(from, context),
  createUser:
    ({ value }) =>
    (from, context) =>
      createUser(from, { name: `user${String(value % 4)}`, passwordHash: 'x' }, context),
  deleteUser:
    ({ pick }) =>
    (from, context) =>
      deleteUser(from, picked(from.users, pick), context),
  patchService:
    ({ pick, value }) =>
    (from, context) =>
      patchService(
        from,
        picked(from.services, pick),
        [
          replace('/servers', someLinks(from.servers, 'servers', value)),
          replace('/filters', someLinks(from.filters, 'filters', value >> 1)),
          replace('/max_connection', (value % 7) - 1),
        ],
        context,
      ),
  patchServer:
    ({ pick, value }) =>
    (from, context) =>
      patchServer(
        from,
        picked(from.servers, pick),
        [
          replace(
            '/status',
            serverStatusWords.filter((_, at) => (value >> at) % 2 === 1),
          ),
          replace('/port', value % 70000),
        ],
        context,
      ),
  patchMonitor:
    ({ pick, value }) =>
    (from, context) =>
      patchMonitor(
        from,
        picked(from.monitors, pick),
        [replace('/servers', someLinks(from.servers, 'servers', value))],
        context,
      ),
  patchFilter:
    ({ pick, value }) =>
    (from, context) =>
      patchFilter(
        from,
        picked(from.filters, pick),
        [{ op: 'add', path: `/parameters/p${String(value % 3)}/value`, value: String(value % 5) }],
        context,
      ),
  drain:
    ({ pick }) =>
    (from, context) => {
      const name = picked(from.services, pick);
      return sequence(
        (now, within) => stopService(now, name, within),
        (now, within) => closeServiceSessions(now, name, within),
      )(from, context);
    },
} as const satisfies Record<string, (act: { readonly pick: number; readonly value: number }) => Transition>;

/** Commands. */
export const acts: fc.Arbitrary<Act> = fc.record({
  verb: fc.constantFrom(...(Object.keys(verbs) as Act['verb'][])),
  pick: fc.nat(9),
  value: fc.nat(100_000),
});

/** The transition of a command. */
export function stepOf(act: Act): Transition {
  return verbs[act.verb](act);
}

/** Says, for any snapshot, what the host reports. */
export interface Report {
  readonly type: HostReport['type'];
  readonly pick: number;
  readonly value: number;
}

/** Reports, sound and unsound. */
export const reports: fc.Arbitrary<Report> = fc.record({
  type: fc.constantFrom<HostReport['type'][]>(
    'session.opened',
    'session.opened',
    'session.updated',
    'session.closed',
    'connection.opened',
    'connection.opened',
    'connection.updated',
    'connection.closed',
    'server.reported',
    'service.failed',
    'monitor.failed',
  ),
  pick: fc.nat(9),
  value: fc.nat(9),
});

/** The report of a report. */
export function observationOf({ type, pick, value }: Report, snapshot: Snapshot): HostReport {
  const session = sessionOf(snapshot, pick);
  const now = snapshot.sessions.find(session);
  const line = { state: `state ${String(value)}`, user: 'someone', address: '10.0.0.1' };
  switch (type) {
    case 'session.opened':
      return { type, id: value, ...line, service: picked(snapshot.services, pick), connected: pick * 1000 };
    case 'session.updated':
      return { type, id: session, state: line.state };
    case 'session.closed':
      return { type, id: session, connected: value === 0 ? 1 : (now?.connected ?? 0) };
    case 'connection.opened':
      return {
        type,
        session,
        id: value,
        server: picked(snapshot.servers, value),
        role: 'Slave',
        state: line.state,
      };
    case 'connection.updated':
      return { type, session, id: value % 3, role: line.state };
    case 'connection.closed':
      return { type, session, id: now?.connections[value % 3]?.id ?? value };
    case 'server.reported':
      return {
        type,
        server: picked(snapshot.servers, pick),
        status: serverStatusWords.filter((_, at) => (value >> at) % 2 === 1),
      };
    case 'service.failed':
      return { type, service: picked(snapshot.services, pick) };
    case 'monitor.failed':
      return { type, monitor: picked(snapshot.monitors, pick) };
  }
}
