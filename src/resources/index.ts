/**
 * The list of kinds, and what follows from it: the unions of events, effects and reports, the fold, the routes, the
 * form of documents, redaction.
 */
import * as z from 'zod/mini';

import {
  fold,
  sequenceFor,
  type Context,
  type EffectTable,
  type EventRow,
  type EventTable,
} from '../core/decision.ts';
import type { Fields } from '../core/field.ts';
import { secretNames } from '../core/field.ts';
import { foldReports, type ReportTable } from '../core/report.ts';
import { createRedactor } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { Route } from '../http/route.ts';
import type { Json } from '../json/value.ts';
import type { Fault, Problem } from '../problem.ts';
import type { Collections, Snapshot } from '../snapshot/snapshot.ts';
import { commandKind, type CommandEvent } from './command.ts';
import {
  connectionKind,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionReport,
} from './connection.ts';
import { filterKind, type FilterEffect, type FilterEvent } from './filter.ts';
import { gatewayDocument, gatewayKind, loadGateway, saveGateway } from './gateway.ts';
import { loadLogs, logDocument, logKind, saveLogs, type LogEffect, type LogEvent } from './log.ts';
import { monitorKind, type MonitorEffect, type MonitorEvent, type MonitorReport } from './monitor.ts';
import { serverKind, type ServerEffect, type ServerEvent, type ServerReport } from './server.ts';
import { serviceKind, type ServiceEffect, type ServiceEvent, type ServiceReport } from './service.ts';
import { sessionKind, type SessionEffect, type SessionEvent, type SessionReport } from './session.ts';
import type { BoundRoute } from './shared/route.ts';
import { userKind, type UserEvent } from './user.ts';

/** Every kind, in the order of the interface. */
const kinds = [
  serviceKind,
  serverKind,
  monitorKind,
  gatewayKind,
  logKind,
  sessionKind,
  connectionKind,
  filterKind,
  userKind,
  commandKind,
] as const;

/**
 * Everything that can happen: plain JSON, told apart by `type`. docs/events.md has a row for each type.
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
 * Everything that the host can be asked to do: plain JSON, told apart by `type`. docs/ports.md has a row for each type.
 *
 * @public
 */
export type Effect =
  ServiceEffect | ServerEffect | MonitorEffect | LogEffect | SessionEffect | ConnectionEffect | FilterEffect;

/**
 * Everything that the host can report: plain JSON, told apart by `type`. docs/ports.md has a row for each type.
 *
 * @public
 */
export type HostReport = ServiceReport | ServerReport | MonitorReport | SessionReport | ConnectionReport;

/**
 * The answer of a transition.
 *
 * @public
 */
export type Decision =
  | {
      /** The snapshot changes. */
      readonly outcome: 'accepted';
      /** The given snapshot with the events folded over it. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on. */
      readonly resources: readonly string[];
      /** What happened, in order. */
      readonly events: readonly AdminEvent[];
      /** What the host must do, in order. Empty when only the records of this library change. */
      readonly effects: readonly Effect[];
    }
  | {
      /** The snapshot is as the command wants it already. */
      readonly outcome: 'unchanged';
      /** The given snapshot: the same object. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on. */
      readonly resources: readonly string[];
    }
  | {
      /** The command was refused; `problem` says why. */
      readonly outcome: 'refused';
      /** The given snapshot: the same object. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on; empty when there is no such resource. */
      readonly resources: readonly string[];
      /** Why. */
      readonly problem: Problem;
    };

/**
 * A transition with every argument but the snapshot and the context: what `execute`, `plan` and `sequence` take.
 *
 * @public
 */
export type Transition = (snapshot: Snapshot, context: Context) => Decision;

/** What each event does to a snapshot. @internal */
export const eventTable = merged(kinds.map(({ events }) => events)) as EventTable<Snapshot, AdminEvent>;

/** How each effect is undone. @internal */
export const effectTable = merged(kinds.map(({ effects }) => effects)) as EffectTable<Effect>;

/** What follows from each report. @internal */
export const reportTable = merged(kinds.map(({ reports }) => reports)) as ReportTable<
  Snapshot,
  HostReport,
  AdminEvent
>;

/** The table of fields of each kind and of its parts, by the name of the chapter that describes it. @internal */
export const fieldTables = merged(kinds.map(({ fields }) => fields)) as Readonly<Record<string, Fields>>;

function merged(tables: readonly object[]): object {
  return Object.freeze(Object.assign({}, ...tables) as object);
}

/** The fields of the things with names, which stand in a gateway document under their collection. @internal */
export const collectionFields: Readonly<Record<keyof Collections, Fields>> = {
  servers: tableOf('server'),
  services: tableOf('service'),
  monitors: tableOf('monitor'),
  filters: tableOf('filter'),
  users: tableOf('user'),
};

function tableOf(name: string): Fields {
  const table = fieldTables[name];
  if (table === undefined) throw new RangeError(`No kind declares the fields of a ${name}`);
  return table;
}

/** Shape of a session in a gateway document, with its connections. @internal */
export const sessionDocument = z.extend(tableOf('session').document, {
  connections: z.exactOptional(
    z.array(z.extend(tableOf('connection').document, { id: z.exactOptional(shape.id) })),
  ),
});

/** The members of a document that tell of the gateway as a whole. @internal */
export const wholeDocument = { ...gatewayDocument, ...logDocument };

/** The parts of a snapshot that tell of the gateway as a whole. */
type Whole = ReturnType<typeof loadGateway> & ReturnType<typeof loadLogs>;

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

/**
 * Version of the interface that the routes implement: goes up as its description does.
 *
 * @public
 */
export const contractVersion = '1.0';

/** Every route with the functions that serve it, in the order of the interface. @internal */
export const boundRoutes: readonly BoundRoute[] = Object.freeze(kinds.flatMap((kind) => [...kind.routes]));

/**
 * Every endpoint of the interface, in the order of its description.
 *
 * @example
 * ```ts
 * import { routes } from 'gateway-admin-core';
 *
 * routes.filter(({ path }) => path === '/services/:name').map(({ method }) => method); // => ['GET', 'PATCH']
 * ```
 *
 * @public
 */
export const routes: readonly Route[] = Object.freeze([...boundRoutes]);

/**
 * Takes secrets out of plain JSON before a person or another program sees it: events, effects, decisions, plans,
 * documents, JSON Patches.
 *
 * Every member that stores a declared secret goes, at any depth. An operation of a JSON Patch that reads or writes a
 * secret keeps its pointer and loses its value.
 *
 * @param value - plain JSON, of any depth
 * @returns a copy without secrets
 *
 * @example
 * ```ts
 * import { redactSecrets } from 'gateway-admin-core';
 *
 * redactSecrets({ type: 'user.created', name: 'ada', passwordHash: 'opaque' }); // => { type: 'user.created', name: 'ada' }
 * redactSecrets([{ op: 'add', path: '/services/0/passwordSealed', value: 'opaque' }]); // => [{ op: 'add', path: '/services/0/password' }]
 * ```
 *
 * docs/spec-choices.md 24 and 31.
 *
 * @public
 */
export const redactSecrets: (value: Json | object) => Json = createRedactor(
  Object.values(fieldTables).flatMap(secretNames),
);

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
 * evolve(snapshot, events).services.get('sales')?.state; // => 'stopped'
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
 * undone?.next.services.get('sales')?.settings.max_connection; // => 100
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
 * applyReports(snapshot, report, { now: 0 }).next.servers.get('db-1')?.settings.state; // => ['running']
 * ```
 *
 * @public
 */
export function applyReports(
  snapshot: Snapshot,
  report: HostReport | readonly HostReport[],
  context: Pick<Context, 'now'>,
): AppliedReports {
  const tables = { reports: reportTable, events: eventTable };
  return foldReports(tables, snapshot, isList(report) ? report : [report], context.now);
}

/**
 * What reports come to.
 *
 * @public
 */
export interface AppliedReports {
  /** The snapshot with the reports folded in; the same object when they told nothing new. */
  readonly next: Snapshot;
  /** The events that follow, in order. */
  readonly events: readonly AdminEvent[];
  /** What is malformed or contradicts the snapshot. Such reports change nothing; the others hold. */
  readonly faults: readonly Fault[];
}

function isList(report: HostReport | readonly HostReport[]): report is readonly HostReport[] {
  return Array.isArray(report);
}
