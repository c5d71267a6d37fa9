/**
 * The list of kinds, and what follows from it: the unions of events and effects, the fold, the table of routes.
 */
import {
  fold,
  sequenceFor,
  type Context,
  type DecisionOf,
  type EffectTable,
  type EventRow,
  type EventTable,
  type TransitionOf,
} from '../core/decision.ts';
import { foldReports, type ReportTable, type AppliedReports } from '../core/report.ts';
import type { DocumentPart } from '../core/field.ts';
import type { RouteOf } from '../http/route.ts';
import type { Rendering } from './shared/rendering.ts';
import type { Collections, Snapshot } from '../snapshot/snapshot.ts';
import {
  connectionEffects,
  connectionEvents,
  connectionReports,
  connectionRoutes,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionReport,
} from './connection.ts';
import {
  filterDocument,
  filterEffects,
  filterEvents,
  filterRoutes,
  type FilterEffect,
  type FilterEvent,
} from './filter.ts';
import { gatewayDocument, gatewayRoutes, loadGateway, saveGateway } from './gateway.ts';
import {
  loadLogs,
  logDocument,
  logEffects,
  logEvents,
  logRoutes,
  saveLogs,
  type LogEffect,
  type LogEvent,
} from './log.ts';
import {
  monitorDocument,
  monitorEffects,
  monitorEvents,
  monitorReports,
  monitorRoutes,
  type MonitorEffect,
  type MonitorEvent,
  type MonitorReport,
} from './monitor.ts';
import { commandEvents, type CommandEvent } from './command.ts';
import {
  serverDocument,
  serverEffects,
  serverEvents,
  serverReports,
  serverRoutes,
  type ServerEffect,
  type ServerEvent,
  type ServerReport,
} from './server.ts';
import {
  serviceDocument,
  serviceEffects,
  serviceEvents,
  serviceReports,
  serviceRoutes,
  type ServiceEffect,
  type ServiceEvent,
  type ServiceReport,
} from './service.ts';
import {
  sessionEffects,
  sessionEvents,
  sessionReports,
  sessionRoutes,
  type SessionEffect,
  type SessionEvent,
  type SessionReport,
} from './session.ts';
import { userDocument, userEvents, userRoutes, type UserEvent } from './user.ts';

/**
 * Everything that can happen.
 *
 * @public
 */
export type AdminEvent =
  | ServiceEvent
  | ServerEvent
  | MonitorEvent
  | LogEvent
  | SessionEvent
  | ConnectionEvent
  | FilterEvent
  | UserEvent
  | CommandEvent;

/**
 * Everything that the host can be asked to do.
 *
 * @public
 */
export type Effect =
  ServiceEffect | ServerEffect | MonitorEffect | LogEffect | SessionEffect | ConnectionEffect | FilterEffect;

/**
 * Everything that the host can report.
 *
 * @public
 */
export type HostReport = ServiceReport | ServerReport | MonitorReport | SessionReport | ConnectionReport;

/**
 * The answer of a transition.
 *
 * @public
 */
export type Decision = DecisionOf<Snapshot, AdminEvent, Effect>;

/**
 * A transition with everything given but the snapshot and the context.
 *
 * @public
 */
export type Transition = TransitionOf<Snapshot, AdminEvent, Effect>;

/**
 * A route of this interface.
 *
 * @public
 */
export type Route = RouteOf<Snapshot, AdminEvent, Effect, Rendering>;

/** What each event does to a snapshot. @internal */
export const eventTable: EventTable<Snapshot, AdminEvent> = {
  ...serviceEvents,
  ...serverEvents,
  ...monitorEvents,
  ...logEvents,
  ...sessionEvents,
  ...connectionEvents,
  ...filterEvents,
  ...userEvents,
  ...commandEvents,
};

/** How each effect is taken back. @internal */
export const effectTable: EffectTable<Effect> = {
  ...serviceEffects,
  ...serverEffects,
  ...monitorEffects,
  ...logEffects,
  ...sessionEffects,
  ...connectionEffects,
  ...filterEffects,
};

const reportTable: ReportTable<Snapshot, HostReport, AdminEvent> = {
  ...serviceReports,
  ...serverReports,
  ...monitorReports,
  ...sessionReports,
  ...connectionReports,
};

/** How the things with names stand in a gateway document. @internal */
export const documentParts = {
  servers: serverDocument,
  services: serviceDocument,
  monitors: monitorDocument,
  filters: filterDocument,
  users: userDocument,
} satisfies Record<keyof Collections, unknown> as unknown as {
  readonly [K in keyof Collections]: DocumentPart<Collections[K], never>;
};

/** The members of a document that tell of the gateway as a whole. @internal */
export const wholeDocument = { ...gatewayDocument, ...logDocument };

/** Makes the parts of a snapshot that tell of the gateway as a whole. @internal */
export function loadWhole(
  document: Parameters<typeof loadGateway>[0] & Parameters<typeof loadLogs>[0],
): Whole {
  return { ...loadGateway(document), ...loadLogs(document) };
}

/** Writes the members of a document that tell of the gateway as a whole. @internal */
export function saveWhole(snapshot: Snapshot): object {
  return { ...saveGateway(snapshot), ...saveLogs(snapshot) };
}

/** The parts of a snapshot that tell of the gateway as a whole. @internal */
export type Whole = ReturnType<typeof loadGateway> & ReturnType<typeof loadLogs>;

/**
 * Version of the interface that the routes implement: goes up as its description does.
 *
 * @public
 */
export const contractVersion = '1.0';

/**
 * Every route of the interface, in the order of its description.
 *
 * @public
 */
export const routes: readonly Route[] = Object.freeze<Route[]>([
  ...serviceRoutes,
  ...serverRoutes,
  ...monitorRoutes,
  ...gatewayRoutes,
  ...logRoutes,
  ...sessionRoutes,
  ...connectionRoutes,
  ...filterRoutes,
  ...userRoutes,
]);

/**
 * Folds events over a snapshot, as one change: history, replay and undo are made of this.
 *
 * @param snapshot - the state to start from
 * @param events - the facts, in order
 * @returns the next snapshot, one revision later; the same object when the events change nothing. An event about a
 *   thing that is gone changes nothing
 * @throws TypeError for an event of unknown type
 *
 * @example
 * ```ts
 * import { createSnapshot, evolve, stopService } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const decision = stopService(snapshot, 'Sales', { now: 0 });
 * const events = decision.outcome === 'accepted' ? decision.events : [];
 * evolve(snapshot, events).services.find('sales')?.state; // => 'stopped'
 * ```
 *
 * @public
 */
export function evolve(snapshot: Snapshot, events: readonly AdminEvent[]): Snapshot {
  return fold(eventTable, snapshot, events);
}

/**
 * Makes one transition of several: all or nothing, one change, one revision.
 *
 * @param transitions - the transitions, each of which sees what the ones before it did. The transitions whose effects cannot be taken
 *   back (closing, flushing) go last, and there is one such transition at most
 * @returns the transition; it throws a RangeError when the order breaks that rule
 *
 * @example
 * ```ts
 * import { closeServiceSessions, createSnapshot, sequence, stopService } from 'gateway-admin-core';
 *
 * const drain = sequence(
 *   (snapshot, context) => stopService(snapshot, 'Sales', context),
 *   (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context),
 * );
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * drain(snapshot, { now: 0 }).outcome; // => 'accepted'
 * ```
 *
 * @public
 */
export const sequence: (...transitions: readonly Transition[]) => Transition = sequenceFor(
  eventTable,
  effectTable,
);

/**
 * Undoes what an event tells of: what was started is stopped, what was stopped is started, a user who was created is
 * deleted, and settings that were changed are changed back.
 *
 * It is a transition like any other, decided on the snapshot it is given. Two things are guarded:
 *
 * - Settings changed elsewhere since stay as they are; where somebody changed the same place since, the transition is refused
 *   with `patch-test-failed`, or with `patch-path-missing` when the place is gone. So it is when the event has been
 *   undone already. Passwords are changed back too, which no patch can do.
 * - A user is deleted only when it is the one who was created; one who was given the same name since stays, and the
 *   transition is refused with `patch-test-failed`.
 *
 * Starting and stopping are not guarded: the opposite is done, whoever started or stopped the thing since, and nothing
 * when it is so already.
 *
 * @param event - what happened: an event of a decision, of `admin.events()` or of a journal, with its secrets
 * @returns the transition, with an event of its own
 * @throws RangeError for an event that cannot be undone, or whose type is unknown: ask {@link canRevert} before
 *
 * @example
 * ```ts
 * import { createSnapshot, patchService, revert } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', max_connection: 100 }] });
 * const operations = [{ op: 'replace', path: '/max_connection', value: 5 }] as const;
 * const patched = patchService(snapshot, 'Sales', operations, { now: 0 });
 * const [event] = patched.outcome === 'accepted' ? patched.events : [];
 * const undone = event && revert(event)(patched.next, { now: 1 });
 * undone?.next.services.find('sales')?.settings.max_connection; // => 100
 * ```
 *
 * @public
 */
export function revert(event: AdminEvent): Transition {
  const decide = revertOf(event.type);
  if (decide !== undefined) return (snapshot, context) => decide(snapshot, event, context);
  const can = Object.keys(eventTable).filter((type) => revertOf(type) !== undefined);
  throw new RangeError(`What "${event.type}" tells of cannot be undone. What can: ${can.join(', ')}.`);
}

/**
 * Says whether {@link revert} can make a transition of an event. Whether the transition is accepted is decided on a snapshot.
 *
 * @param event - what happened
 * @returns false for what was closed, deleted or flushed, for what the host reports, and for a type that is unknown,
 *   such as one of a later version
 *
 * @example
 * ```ts
 * import { canRevert } from 'gateway-admin-core';
 *
 * const head = { at: 0, resource: '/services/Sales', service: 'sales' };
 * canRevert({ type: 'service.stopped', ...head }); // => true
 * canRevert({ type: 'service.failed', ...head }); // => false
 * ```
 *
 * @public
 */
export function canRevert(event: AdminEvent): boolean {
  return revertOf(event.type) !== undefined;
}

/** What undoes the events of a type; `undefined` when nothing does, or when the type is unknown. */
function revertOf(type: string): Revert | undefined {
  if (!Object.hasOwn(eventTable, type)) return undefined;
  // The row of an event takes that very event, and wishes what its kind can wish; the index hides both.
  const { revert } = eventTable[type as AdminEvent['type']] as EventRow<Snapshot, AdminEvent, Decision>;
  return revert === 'irreversible' ? undefined : revert;
}

type Revert = (snapshot: Snapshot, event: AdminEvent, context: Context) => Decision;

/**
 * Folds what the host reports over a snapshot, as one change.
 *
 * @param snapshot - the state to start from
 * @param report - one report, or several in order
 * @param context - the time of the report
 * @returns the next snapshot, the events that follow, and the faults: a report that is malformed or contradicts
 *   what is known changes nothing, and the others hold
 *
 * @example
 * ```ts
 * import { createSnapshot, applyReports } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * const report = { type: 'server.reported', server: 'db-1', status: ['running'] } as const;
 * applyReports(snapshot, report, { now: 0 }).next.servers.find('db-1')?.settings.state; // => ['running']
 * ```
 *
 * @public
 */
export function applyReports(
  snapshot: Snapshot,
  report: HostReport | readonly HostReport[],
  context: Pick<Context, 'now'>,
): AppliedReports<Snapshot, AdminEvent> {
  const tables = { reports: reportTable, events: eventTable };
  return foldReports(tables, snapshot, isList(report) ? report : [report], context.now);
}

function isList(report: HostReport | readonly HostReport[]): report is readonly HostReport[] {
  return Array.isArray(report);
}
