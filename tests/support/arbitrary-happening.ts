/**
 * Arbitrary commands and reports, for the laws that hold of all of them.
 */
import * as fc from 'fast-check';
import {
  changePassword,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  closeSessions,
  createListener,
  createResource,
  createUser,
  deleteListener,
  deleteResource,
  deleteUser,
  drain,
  flushLogs,
  linkTo,
  patchFilter,
  patchInterface,
  patchMonitor,
  patchServer,
  patchService,
  resume,
  sequence,
  serverStatusWords,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type Context,
  type Decision,
  type HostReport,
  type Operation,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import type * as z from 'zod/mini';

import { valuesOf } from './arbitrary-shape.ts';
import { reportTable } from './internal.ts';
import { shown } from './shown.ts';

/** What is done to any snapshot. */
export interface Act {
  /** A command, by the id of its route, or a sequence of several. */
  readonly verb: keyof typeof verbs;
  /** Chooses among the things that there are. */
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

type Collection = 'services' | 'servers' | 'monitors' | 'filters' | 'users';
type Verb = (act: Omit<Act, 'verb'> & { readonly among?: Snapshot | undefined }) => Transition;
type OfName = (snapshot: Snapshot, name: string, context: Context) => Decision;
type Patch = (
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
) => Decision;

/** A command about a thing that it names. */
const named =
  (collection: Collection, transition: OfName): Verb =>
  ({ pick, among }) =>
  (from, context) =>
    transition(from, picked((among ?? from)[collection], pick), context);

const patched =
  (
    collection: Collection,
    transition: Patch,
    operations: (value: number, from: Snapshot) => readonly Operation[],
  ): Verb =>
  ({ pick, value, among }) =>
  (from, context) =>
    transition(from, picked((among ?? from)[collection], pick), operations(value, among ?? from), context);

type Configured = Exclude<Collection, 'users'>;

/** Creates a resource; of few names, so that some exist. */
const created =
  <C extends Configured>(
    collection: C,
    define: (value: number, from: Snapshot) => Omit<Parameters<typeof createResource<C>>[2], 'name'>,
  ): Verb =>
  ({ value, among }) =>
  (from, context) => {
    const definition = { name: `New ${String(value % 3)}`, ...define(value, among ?? from) };
    return createResource(from, collection, definition as never, context);
  };

const deleted =
  (collection: Configured): Verb =>
  ({ pick, value, among }) =>
  (from, context) =>
    deleteResource(from, collection, picked((among ?? from)[collection], pick), context, {
      detach: value % 2 === 0,
    });

/** Sets or clears the word of the administrator; the other words stay. */
const maintenance = (wordsOf: (others: readonly string[]) => readonly string[]): Verb =>
  named('servers', (from, name, context) => {
    const words = shown(from.servers.find(name))?.settings.state ?? [];
    const value = wordsOf(words.filter((word) => word !== 'maintenance'));
    return patchServer(from, name, [{ op: 'replace', path: '/state', value: [...value] }], context);
  });

const draining =
  (collection: 'services' | 'servers'): Verb =>
  ({ pick, value, among }) =>
  (from, context) => {
    const options = [
      {},
      { reason: 'kernel' },
      { timeout: (value % 5) + 1, then: value % 2 === 0 ? 'close' : 'resume' },
    ] as const;
    return drain(
      from,
      collection,
      picked((among ?? from)[collection], pick),
      options[value % 3] ?? {},
      context,
    );
  };

const stopAndClose: OfName = (from, name, context) =>
  sequence(
    (now, within) => stopService(now, name, within),
    (now, within) => closeServiceSessions(now, name, within),
  )(from, context);

/** What can be commanded: each command by the id of its route, and a sequence. */
export const verbs = {
  'services.start': named('services', startService),
  'services.stop': named('services', stopService),
  'services.create': created('services', (value, { servers, filters }) => ({
    router: 'cli',
    state: value % 2 === 0 ? ('started' as const) : ('stopped' as const),
    servers: someLinks(servers, 'servers', value),
    filters: someLinks(filters, 'filters', value >> 1),
  })),
  'services.delete': deleted('services'),
  'services.createListener':
    ({ pick, value, among }) =>
    (from, context) =>
      createListener(
        from,
        picked((among ?? from).services, pick),
        { name: `new ${String(value % 3)}`, protocol: 'pg', address: '::1', port: (value % 2) + 1 },
        context,
      ),
  'services.deleteListener':
    ({ pick, value, among }) =>
    (from, context) => {
      const service = picked((among ?? from).services, pick);
      const listeners = (among ?? from).services.find(service)?.listeners ?? [];
      return deleteListener(from, service, picked(listeners, value), context);
    },
  'services.drain': draining('services'),
  'services.resume': named('services', (from, name, context) => resume(from, 'services', name, context)),
  'services.closeSessions': named('services', closeServiceSessions),
  'services.patch': patched('services', patchService, (value, { servers, filters }) => [
    replace('/servers', someLinks(servers, 'servers', value)),
    replace('/filters', someLinks(filters, 'filters', value >> 1)),
    replace('/max_connection', (value % 7) - 1),
  ]),
  'servers.create': created('servers', (value) => ({ address: '::1', port: value % 70000, protocol: 'pg' })),
  'servers.delete': deleted('servers'),
  'servers.setMaintenance': maintenance((words) => ['maintenance', ...words]),
  'servers.clearMaintenance': maintenance((words) => words),
  'servers.drain': draining('servers'),
  'servers.resume': named('servers', (from, name, context) => resume(from, 'servers', name, context)),
  'servers.closeConnections': named('servers', closeServerConnections),
  'servers.patch': patched('servers', patchServer, (value) => [
    replace(
      '/status',
      serverStatusWords.filter((_, at) => (value >> at) % 2 === 1),
    ),
    replace('/port', value % 70000),
  ]),
  'monitors.start': named('monitors', startMonitor),
  'monitors.stop': named('monitors', stopMonitor),
  'monitors.patch': patched('monitors', patchMonitor, (value, { servers }) => [
    replace('/servers', someLinks(servers, 'servers', value)),
  ]),
  'monitors.create': created('monitors', (value, { servers }) => ({
    module: 'pgmon',
    servers: someLinks(servers, 'servers', value),
  })),
  'monitors.delete': deleted('monitors'),
  'gateway.flushLogs': () => flushLogs,
  'sessions.closeMany':
    ({ pick, value, among }) =>
    (from, context) => {
      const { services, servers, sessions } = among ?? from;
      const { user = '', address = '' } = sessions.find(sessionOf(from, pick)) ?? {};
      const criteria = [
        ...[{ service: picked(services, pick) }, { server: picked(servers, pick) }, { user }, { address }],
        ...[{ idle_over: value % 7 }, { older_than: value }, { all: true }, {}],
        { service: picked(services, pick), user },
      ] as const;
      return closeSessions(from, criteria[value % criteria.length] ?? {}, context);
    },
  'sessions.close':
    ({ pick }) =>
    (from, context) =>
      closeSession(from, sessionOf(from, pick), context),
  'filters.patch': patched('filters', patchFilter, (value) => [
    { op: 'add', path: `/parameters/p${String(value % 3)}/value`, value: String(value % 5) },
  ]),
  'filters.create': created('filters', () => ({ module: 'tee' })),
  'filters.delete': deleted('filters'),
  'users.create':
    ({ value }) =>
    (from, context) =>
      createUser(from, { name: `user${String(value % 4)}`, password: { sealed: 'x' } }, context),
  'users.patch':
    ({ pick, value }) =>
    (from, context) =>
      changePassword(from, picked(from.users, pick), { sealed: `hash ${String(value % 3)}` }, context),
  'users.delete': named('users', deleteUser),
  'interface.patch':
    ({ value }) =>
    (from, context) => {
      const reason = { op: 'add', path: '/read_only_reason', value: String(value % 3) } as const;
      const mode = replace('/read_only', value % 3 > 0);
      return patchInterface(from, value % 2 === 0 ? [mode] : [mode, reason], context);
    },
  stopAndClose: named('services', stopAndClose),
} as const satisfies Readonly<Record<string, Verb>>;

/** Commands. */
export const acts: fc.Arbitrary<Act> = fc.record({
  verb: fc.constantFrom(...(Object.keys(verbs) as Act['verb'][])),
  pick: fc.nat(9),
  value: fc.nat(100_000),
});

/**
 * The transition of a command.
 *
 * @param among - where the names of the command are chosen; left out for the snapshot of the decision
 */
export function transitionOf(act: Act, among?: Snapshot): Transition {
  return verbs[act.verb]({ ...act, among });
}

/** What the host reports of any snapshot. */
export interface Report {
  /** A report of the right shape, about nothing in particular. */
  readonly told: HostReport;
  /** Chooses among the things that there are. */
  readonly pick: number;
  readonly value: number;
}

/** Reports, sound and unsound; those that open something come more often, so that there is something to close. */
export const reports: fc.Arbitrary<Report> = fc.record({
  told: fc.oneof(
    ...Object.entries(reportTable).map(([type, { shape }]) => ({
      weight: type.endsWith('.opened') ? 2 : 1,
      arbitrary: valuesOf(shape as z.core.$ZodType<HostReport, HostReport>, type),
    })),
  ),
  pick: fc.nat(9),
  value: fc.nat(9),
});

/** The report with the names and ids of things that there are, most of the time. */
export function reportOf({ told, pick, value }: Report, snapshot: Snapshot): HostReport {
  const { services, servers, monitors, sessions } = snapshot;
  const opens = told.type.endsWith('.opened');
  const session = sessionOf(snapshot, pick);
  const now = sessions.find(session);
  const connection = opens ? value : (now?.connections[value % 3]?.id ?? value);
  const sessionId = opens ? value : session;
  const subjects: Readonly<Record<string, number | string>> = {
    service: picked(services, pick),
    server: picked(servers, 'session' in told ? value : pick),
    monitor: picked(monitors, pick),
    session,
    id: 'session' in told ? connection : sessionId,
    connected: told.type === 'session.opened' ? pick * 1000 : value === 0 ? 1 : (now?.connected ?? 0),
  };
  const named = Object.entries(told).map(([member, given]: [string, unknown]) => [
    member,
    member === 'connections' ? connectionsOf(given, snapshot, value) : (subjects[member] ?? given),
  ]);
  return Object.fromEntries(named) as HostReport;
}

/** The connections of a new session, to servers that there are, most of the time. */
function connectionsOf(given: unknown, { servers }: Snapshot, value: number): readonly object[] {
  return (given as readonly object[]).map((each, at) => ({
    ...each,
    id: value === 0 ? 0 : at,
    server: picked(servers, value + at),
  }));
}
