/**
 * The list of kinds, and everything that follows from the list: the unions of events, effects and reports, the fold,
 * the routes, the form of documents, and redaction.
 */
import * as z from 'zod/mini';

import {
  accepted,
  effectOf,
  fold,
  refused,
  sequenceFor,
  type Context,
  type EffectBase,
  type EffectTable,
  type EventBase,
  type EventRow,
  type EventTable,
  type Selection,
  unchanged,
} from '../core/decision.ts';
import { lacksValue } from '../core/change.ts';
import { definitionIn, secretNames, type Fields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { assertMembers } from '../core/member.ts';
import type { Note } from '../core/note.ts';
import { foldReports, isList, type CrossingHooks, type ReportTable } from '../core/report.ts';
import { createRedactor } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { ProbeRoute, ResourceRoute, Route, StreamRoute, WholeRoute } from '../http/route.ts';
import { copyJson } from '../json/copy.ts';
import { deepFreeze, isObject, type Json } from '../json/value.ts';
import { fail, ok, type Fault, type Problem, type Result } from '../problem.ts';
import { commandKind, type CommandEvent } from './command.ts';
import {
  connectionClosing,
  connectionKind,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionReport,
} from './connection.ts';
import { eventKind } from './event.ts';
import {
  filterKind,
  isSealedParameter,
  type FilterDocument,
  type FilterEffect,
  type FilterEvent,
} from './filter.ts';
import { fleetKind } from './fleet.ts';
import { gatewayKind } from './gateway.ts';
import { alertKind } from './alert.ts';
import { historyKind } from './history.ts';
import { listenerKind, listenerSteps, type ListenerEffect, type ListenerEvent } from './listening.ts';
import { logKind, type LogEffect, type LogEvent } from './log.ts';
import { interfaceKind, type InterfaceEvent } from './mode.ts';
import {
  monitorKind,
  type MonitorDocument,
  type MonitorEffect,
  type MonitorEvent,
  type MonitorReport,
} from './monitor.ts';
import { sequenceKind } from './sequence.ts';
import { documentKind } from './document-route.ts';
import {
  serverKind,
  type ServerDocument,
  type ServerEffect,
  type ServerEvent,
  type ServerReport,
} from './server.ts';
import {
  serviceKind,
  type ServiceDocument,
  type ServiceEffect,
  type ServiceEvent,
  type ServiceReport,
} from './service.ts';
import {
  sessionClosing,
  sessionKind,
  type SessionEffect,
  type SessionEvent,
  type SessionReport,
} from './session.ts';
import { collectionOf, find } from '../snapshot/state.ts';
import type { Surroundings } from './shared/rendering.ts';
import { adoptionFor, type AdoptionOptions, type AdoptOptions } from './shared/adoption.ts';
import {
  documentDifferences,
  onlyInDocument,
  type DocumentDifference,
  keyIn,
} from './shared/document-difference.ts';
import { drainsBroughtBack, keepingDrains } from './shared/returning-drain.ts';
import type { AdoptionSteps, NamedResources, Whole } from './shared/kind.ts';
import { creationRoute, deletionRoute } from './shared/membership-route.ts';
import { membershipOf, type MembershipEffect, type MembershipEvent } from './shared/membership.ts';
import type { BoundAction } from './shared/route.ts';
import { valueLimits } from './shared/settings.ts';
import { assertInputs, assertSnapshot, collections, type Snapshot } from './snapshot.ts';
import { userKind, type UserEvent } from './user.ts';

/** Every kind, in the order of the interface. */
const kinds = [
  withParts(serviceKind, listenerSteps),
  listenerKind,
  serverKind,
  monitorKind,
  gatewayKind,
  logKind,
  sessionKind,
  connectionKind,
  filterKind,
  userKind,
  sequenceKind,
  documentKind,
  commandKind,
  fleetKind,
  eventKind,
  alertKind,
  historyKind,
  interfaceKind,
] as const;

/**
 * Every event: plain JSON, distinguished by `type`. docs/events.md has a row for each type.
 *
 * @public
 */
export type AdminEvent =
  | ServiceEvent
  | ListenerEvent
  | ServerEvent
  | MonitorEvent
  | LogEvent
  | SessionEvent
  | ConnectionEvent
  | FilterEvent
  | UserEvent
  | InterfaceEvent
  | CommandEvent
  | MembershipEvent<'service', ServiceDocument>
  | MembershipEvent<'server', ServerDocument>
  | MembershipEvent<'monitor', MonitorDocument>
  | MembershipEvent<'filter', FilterDocument>;

/**
 * Every effect that the host must be able to apply: plain JSON, distinguished by `type`. docs/ports.md has a row for
 * each type.
 *
 * @public
 */
export type Effect =
  | ServiceEffect
  | ListenerEffect
  | ServerEffect
  | MonitorEffect
  | LogEffect
  | SessionEffect
  | ConnectionEffect
  | FilterEffect
  | MembershipEffect<'service', ServiceDocument>
  | MembershipEffect<'server', ServerDocument>
  | MembershipEffect<'monitor', MonitorDocument>
  | MembershipEffect<'filter', FilterDocument>;

/**
 * The event of a type, such as `EventOf<'service.stopped'>`.
 *
 * @public
 */
export type EventOf<Type extends AdminEvent['type']> = Extract<AdminEvent, { readonly type: Type }>;

/**
 * The effect of a type, such as `EffectOf<'service.stop'>`.
 *
 * @public
 */
export type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>;

/**
 * Every report that the host can send: plain JSON, distinguished by `type`. docs/ports.md has a row for each type.
 *
 * @public
 */
export type HostReport = ServiceReport | ServerReport | MonitorReport | SessionReport | ConnectionReport;

/**
 * The decision of a transition: accepted, unchanged or refused.
 *
 * @public
 */
export type Decision =
  | {
      /** The snapshot changes. */
      readonly outcome: 'accepted';
      /** The snapshot after the events. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on. */
      readonly resources: readonly string[];
      /** The events: what happened, in order. */
      readonly events: readonly AdminEvent[];
      /**
       * The effects: what the host must do, in order. Empty if the change concerns only the state of the library, such
       * as an admin user.
       */
      readonly effects: readonly Effect[];
      /**
       * What is closed after that: sessions or connections, a batch of at most 1,000 at a time. `events` and `effects`
       * do not list them. Left out if nothing is.
       */
      readonly closing?: Selection;
      /** What stays as it is, although the caller may expect a change. Left out if there is nothing. */
      readonly notes?: readonly Note[];
    }
  | {
      /** The snapshot already has the requested state. */
      readonly outcome: 'unchanged';
      /** The given snapshot: the same object. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on. */
      readonly resources: readonly string[];
      /** What stays as it is, although the caller may expect a change. Left out if there is nothing. */
      readonly notes?: readonly Note[];
    }
  | {
      /** The request was refused; `problem` says why. */
      readonly outcome: 'refused';
      /** The given snapshot: the same object. */
      readonly next: Snapshot;
      /** Links of the resources that the decision rests on; empty if there is no such resource. */
      readonly resources: readonly string[];
      /** Why the request was refused. */
      readonly problem: Problem;
    };

/**
 * A transition with all arguments bound except the snapshot and the context: the argument of `execute`, `plan` and
 * {@link sequence}.
 *
 * @public
 */
export type Transition = (snapshot: Snapshot, context: Context) => Decision;

/** The kinds of named resources, in the order of a gateway document. @internal */
export const namedResources: readonly NamedResources<Snapshot>[] = collections.flatMap(({ collection }) =>
  kinds.flatMap(({ resources }) => (resources?.collection === collection ? [resources] : [])),
);

/** The creation and deletion of the resources that a document configures. @internal */
export const membership = membershipOf<Snapshot>(
  oneTable(kinds.map(({ events }) => events)) as EventTable<Snapshot, EventBase>,
  oneTable(kinds.map(({ effects }) => effects)) as EffectTable<EffectBase>,
  namedResources.filter(({ adoption }) => adoption !== undefined),
);

/** The change of a snapshot by each event. @internal */
export const eventTable = Object.freeze(membership.events) as EventTable<Snapshot, AdminEvent>;

/** Gives the effect that causes an event; `undefined` if only the state of the library changes. @internal */
export function effectBehind(event: AdminEvent): Effect | undefined {
  return effectOf(eventTable, event) as Effect | undefined;
}

/** Gives the effects that cause events, in order. @internal */
export function effectsOf(events: readonly AdminEvent[]): readonly Effect[] {
  return events.flatMap((event) => effectBehind(event) ?? []);
}

/** The undo of each effect. @internal */
export const effectTable = Object.freeze(membership.effects) as EffectTable<Effect>;

/** The functions that close what a selection says. @internal */
export const closings = { sessions: sessionClosing, connections: connectionClosing } as const;

/** The event that follows from each report. @internal */
export const reportTable = merged(kinds.map(({ reports }) => reports)) as ReportTable<
  Snapshot,
  HostReport,
  AdminEvent
>;

/** The field tables of all kinds and their parts, by the name of the chapter that describes the fields. @internal */
export const fieldTables = merged(kinds.map(({ fields }) => fields)) as Readonly<Record<string, Fields>>;

/** The fields of what an event or an effect is about; `undefined` if that is no resource with fields. @internal */
export function fieldsOf({ type }: { readonly type: string }): Fields | undefined {
  const kind = type.slice(0, type.indexOf('.'));
  return Object.hasOwn(fieldTables, kind) ? fieldTables[kind] : undefined;
}

/** The names of the fields that are secret as a whole. @internal */
export const namesOfSecrets: ReadonlySet<string> = secretNames(Object.values(fieldTables));

/** A part names its resource, so only here can the kind of the resource name the part. */
function withParts(kind: typeof serviceKind, steps: AdoptionSteps): typeof serviceKind {
  const { resources } = kind;
  if (resources?.adoption === undefined) return kind;
  const adoption = { ...resources.adoption, ...steps };
  return { ...kind, resources: { ...resources, adoption } };
}

function merged(tables: readonly object[]): object {
  return Object.freeze(oneTable(tables));
}

function oneTable(tables: readonly object[]): object {
  return Object.assign({}, ...tables) as object;
}

const { session, connection } = fieldTables as Readonly<Record<'session' | 'connection', Fields>>;

/** Shape of a session with its connections in a gateway document. @internal */
export const sessionDocument = z.strictObject({
  ...session.document.shape,
  connections: z.exactOptional(
    z.array(z.strictObject({ ...connection.document.shape, id: z.exactOptional(shape.id) })),
  ),
});

/** The members of a snapshot and of a gateway document about the whole gateway. @internal */
export const wholes: readonly Whole<Snapshot>[] = kinds.flatMap(({ whole }) => whole ?? []);

/** A route of the interface with the functions that serve the route. @internal */
export type BoundRoute =
  BoundResourceRoute | BoundAction | WholeRoute | StreamRoute | ProbeRoute<Surroundings>;

/** A route about a resource of the gateway. @internal */
export type BoundResourceRoute = ResourceRoute<Snapshot, Decision, Surroundings>;

/** Every route with the functions that serve it, in the order of the interface. @internal */
export const boundRoutes: readonly BoundRoute[] = Object.freeze(
  // The decisions of a kind are decisions about its own events and effects.
  kinds.flatMap((kind) =>
    withMembership(kind.resources, kind.routes as readonly BoundRoute[]).map(frozenRoute),
  ),
);

/** The routes of a kind, with those that create and delete its resources. */
function withMembership(
  named: NamedResources<Snapshot> | undefined,
  own: readonly BoundRoute[],
): readonly BoundRoute[] {
  const item = own.find(({ kind }) => kind === 'item');
  if (named?.adoption === undefined || item?.kind !== 'item') return own;
  const membershipRoutes = [creationRoute(named, membership, item), deletionRoute(named, membership)];
  return [...own, ...(membershipRoutes as readonly BoundRoute[])];
}

/** Freezes a route with its lists: a change would change the interface, and what a caller may do. */
function frozenRoute(route: BoundRoute): BoundRoute {
  const members: readonly unknown[] = Object.values(route);
  for (const each of [route, ...members.filter((member) => Array.isArray(member))]) Object.freeze(each);
  return route;
}

/**
 * Every endpoint of the interface, in the order of its description.
 *
 * @example
 * ```ts
 * import { routes } from 'gateway-admin-core';
 *
 * routes.filter(({ path }) => path === '/services/:name').map(({ method }) => method); // => ['GET', 'PATCH', 'DELETE']
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints".
 *
 * @public
 */
export const routes: readonly Route[] = Object.freeze([...boundRoutes]);

/**
 * Removes secrets from plain JSON before a person or another program sees it: from events, effects, decisions, plans,
 * documents and JSON Patches.
 *
 * The result lacks every secret in its stored form, which is `{ sealed }`, at any depth. In what a change leads `from`
 * and `to`, `null` marks its place, so that one sees what has changed; `evolve` leaves such a secret as it is, and
 * `revert` refuses the event. A JSON Patch operation on a secret keeps its pointer and loses its value, also in plain
 * text.
 *
 * @param value - plain JSON, of any depth
 * @returns a copy without secrets
 * @throws TypeError if the value is circular
 *
 * @example
 * ```ts
 * import { redactSecrets } from 'gateway-admin-core';
 *
 * redactSecrets({ type: 'user.created', password: { sealed: 'opaque' } }); // => { type: 'user.created' }
 * redactSecrets([{ op: 'add', path: '/password', value: 'plain' }]); // => [{ op: 'add', path: '/password' }]
 * ```
 *
 * @see docs/spec-choices.md 24 and 31.
 *
 * @public
 */
export const redactSecrets: (value: Json | object) => Json = createRedactor({
  names: namesOfSecrets,
  isEntry: isSealedParameter,
});

/**
 * Folds events over a snapshot, as one change. Use this function for history and for a mirror of a gateway.
 *
 * An event about a resource that no longer exists changes nothing. An event of a type that this version does not know
 * changes nothing either: a gateway of a later version may send new types. A deletion removes its link from all lists.
 *
 * @param snapshot - the snapshot before the events
 * @param events - the events, in order
 * @returns the snapshot after the events, one revision later; the same object if the events change nothing
 * @throws TypeError unless each event is an object with a type
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
  assertSnapshot(snapshot);
  if (!Array.isArray(events)) throw new TypeError('events must be a list of events');
  for (const event of events) assertEvent(event);
  return foldKnown(snapshot, events.filter(isKnown));
}

/** Folds events that this version has made, or has checked. @internal */
export function foldKnown(snapshot: Snapshot, events: readonly AdminEvent[]): Snapshot {
  return fold(eventTable, snapshot, events);
}

function isKnown({ type }: AdminEvent): boolean {
  return Object.hasOwn(eventTable, type);
}

/**
 * Combines several transitions into one: all or nothing, one change, one revision.
 *
 * Each transition sees the snapshot after the transitions before it. Refused if one of them is refused.
 *
 * @param transitions - the transitions. Only the last one may have effects that cannot be undone (closing, flushing)
 * @returns the combined transition, which throws a RangeError when an earlier transition has effects that cannot be
 *   undone
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
export function sequence(...transitions: readonly Transition[]): Transition {
  for (const transition of transitions) assertTransition(transition);
  return combine(transitions);
}

const combine = sequenceFor(eventTable, effectTable);

/** As {@link sequence}, of transitions that name themselves in their refusals. @internal */
export const combineNamed = sequenceFor(eventTable, effectTable, (problem) => problem);

/** The differences of a document, which may be older than a drain; see {@link adoptDocument}. @internal */
export function differencesOfDocument(snapshot: Snapshot, given: Snapshot): readonly DocumentDifference[] {
  return documentDifferences(
    namedResources.filter(isListedIn(given)),
    snapshot,
    keepingDrains(snapshot, given),
  );
}

/** Tests whether the document of a snapshot has the list of a kind. A document without the list says nothing of it. */
function isListedIn(given: Snapshot): (named: NamedResources) => boolean {
  return (named) => !collectionOf(given, named).isAbsent;
}

/** The links of the resources that only the document has, and that a running interface can create. @internal */
export function onlyGiven(snapshot: Snapshot, given: Snapshot): readonly string[] {
  return documentDifferences(namedResources, snapshot, given).flatMap(({ detail, obstacle, resource }) =>
    detail === onlyInDocument && obstacle === undefined ? [resource] : [],
  );
}

/**
 * Takes the part of a gateway document over that can change while the gateway runs: services, servers, monitors and
 * filters with their settings, and whether services and monitors are started. One decision, all or nothing.
 *
 * - A resource that is only in the document is created. One that the document lacks stays as it is, unless `prune` is
 *   given: then it is stopped and deleted.
 * - A kind of which the document has no list is not compared: its resources stay as they are, also with `prune`. An
 *   empty list says that the kind has no resources. Without any list, the decision is unchanged, with the note
 *   `nothing-compared`.
 * - A setting that the document leaves out is unset, or gets its default. Rules about what a client may patch do not
 *   apply, for example about parameters of filters that are not configurable.
 * - Of the status of a server, only `maintenance` is taken over. The host reports the other words.
 * - What drains goes on to drain if the document says nothing of it. Its state in the document is then that after the
 *   drain.
 * - Admin users are never taken over, so no log-in comes back from a document. Sessions, logs and everything else that
 *   belongs to the process are not taken over either.
 *
 * Unchanged if nothing differs. Refused with `op-not-allowed`, with a fault for each place, if the document differs
 * where the gateway cannot change while it runs: the name, router, module or protocol of a resource, or a link to a
 * resource that is not taken over. Refused with `resource-in-use` if a resource that must go has sessions or
 * connections, or is listed by a resource that stays as it is. Refused with `document-empty` if no server, service,
 * monitor or filter would be left, unless `allowEmpty` is given.
 *
 * @param snapshot - the snapshot to decide on
 * @param given - the snapshot of the document; see {@link createSnapshot}
 * @param context - the time and the caller
 * @param options - `only`: the links of the resources to take over; all resources by default. Refused with
 *   `link-unresolved` if a link names no service, server, monitor or filter of either snapshot
 *   `prune`: deletes what the document lacks. `allowEmpty`: also if nothing is left then
 * @returns the decision: first everything that is created, then everything that stops, the changed settings, everything
 *   that starts, and everything that is deleted. Each event has one effect. The notes name what stays
 *
 * @example
 * ```ts
 * import { adoptDocument, createSnapshot } from 'gateway-admin-core';
 *
 * const sales = { name: 'Sales', router: 'readconnroute' };
 * const snapshot = createSnapshot({ services: [sales] });
 * const given = createSnapshot({ services: [{ ...sales, max_connection: 100, state: 'stopped' }] });
 * const decision = adoptDocument(snapshot, given, { now: 0 });
 * decision.outcome === 'accepted' && decision.effects.map(({ type }) => type); // => ['service.stop', 'service.update']
 * ```
 *
 * @see docs/spec-choices.md 47.
 *
 * @public
 */
export function adoptDocument(
  snapshot: Snapshot,
  given: Snapshot,
  context: Context,
  options: AdoptOptions = {},
): Decision {
  assertInputs(snapshot, context);
  assertSnapshot(given, 'given');
  assertAdoptOptions(options);
  return adoptWithDrains(snapshot, keepingDrains(snapshot, given), context, {
    ...options,
    isCompared: isListedIn(given),
  });
}

/**
 * As {@link adoptDocument}, of a configuration that was in use: what did not drain then drains no longer, every kind is
 * compared, and the configuration may be empty. What the gateway cannot change while it runs is deleted and created.
 *
 * @internal
 */
export function restoreConfiguration(snapshot: Snapshot, given: Snapshot, context: Context): Decision {
  return adoptWithDrains(snapshot, given, context, { prune: true, allowEmpty: true, replace: true });
}

function adoptWithDrains(
  snapshot: Snapshot,
  wanted: Snapshot,
  context: Context,
  options: AdoptionOptions,
): Decision {
  const { given, notes } = drainsBroughtBack(snapshot, wanted, context.now);
  const decision = adopt(snapshot, given, context, options) as Decision;
  // The option `only` can leave resources out.
  const told = notes.filter(({ resource = '' }) => decision.resources.includes(resource));
  if (told.length === 0) return decision;
  return combineNamed([() => unchanged(snapshot, [], told), () => decision])(snapshot, context);
}

/** A decision that creates everything that a document configures, each resource as it is. @internal */
export function creationOf(
  snapshot: Snapshot,
  { now: at }: Context,
): Extract<Decision, { readonly outcome: 'accepted' }> {
  const created = namedResources
    .filter(({ adoption }) => adoption !== undefined)
    .flatMap(({ collection, singular, fields }) =>
      Array.from(snapshot[collection as 'services'], (thing) => ({
        resource: linkTo(collection, thing.name),
        [singular]: thing.key,
        to: definitionIn(fields, thing),
        kind: singular,
      })),
    );
  const changes = (verb: string, more: object): readonly object[] =>
    created.map(({ kind, ...change }) => ({ type: `${kind}.${verb}`, ...more, ...change }));
  return {
    outcome: 'accepted',
    next: snapshot,
    resources: created.map(({ resource }) => resource),
    events: changes('created', { at }) as AdminEvent[],
    effects: changes('create', {}) as Effect[],
  };
}

const adopt = adoptionFor<Snapshot>(membership, namedResources);

/**
 * Makes resources as another snapshot has them: creates, changes or deletes each, or puts it in the place of another
 * one with its name.
 *
 * @internal
 */
export function followResources(
  snapshot: Snapshot,
  followed: Snapshot,
  context: Context,
  links: readonly string[],
): Decision {
  // Some may have come and gone.
  const only = links.filter((link) =>
    [snapshot, followed].some((state) =>
      namedResources.some((named) => find(state, named, keyIn(link, named.collection)) !== undefined),
    ),
  );
  if (only.length === 0) return unchanged(snapshot, links);
  return adopt(snapshot, followed, context, {
    only,
    prune: true,
    allowEmpty: true,
    replace: true,
  }) as Decision;
}

/** A decision before the gateway is open: it opens what the snapshot shows, and is asked for nothing. @internal */
export function atStart(decision: Decision, snapshot: Snapshot): Decision {
  if (decision.outcome !== 'accepted') return decision;
  const { events, resources } = decision;
  return accepted(eventTable, snapshot, resources, { events, isInPlace: true });
}

/** @throws TypeError if the options are none */
function assertAdoptOptions(options: unknown): asserts options is AdoptOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(
      "The options of adoptDocument must be an object, such as { only: ['/services/sales'] }",
    );
  assertMembers(
    options,
    ['only', 'prune', 'allowEmpty'] satisfies readonly (keyof AdoptOptions)[],
    'option of adoptDocument',
  );
  const { only, ...switches } = options as Partial<Record<keyof AdoptOptions, unknown>>;
  for (const [name, value] of Object.entries(switches))
    if (value !== undefined && typeof value !== 'boolean')
      throw new TypeError(`${name} must be true or false`);
  if (only !== undefined && !(isList(only) && only.every((link) => typeof link === 'string')))
    throw new TypeError("only must be a list of links, such as ['/services/sales']");
}

/** @throws TypeError if a value is no function @internal */
export function assertTransition(transition: unknown): asserts transition is Transition {
  if (typeof transition === 'function') return;
  throw new TypeError(
    'A transition must be a function, such as (snapshot, context) => stopService(snapshot, name, context)',
  );
}

/** @throws TypeError if a value has no type */
function assertEvent(event: unknown): asserts event is AdminEvent {
  if (typeof (event as Partial<AdminEvent> | null | undefined)?.type !== 'string')
    throw new TypeError('An event must be an object with a type');
}

/**
 * Creates the transition that undoes an event: stops what was started, starts what was stopped, deletes what was
 * created, creates what was deleted, or changes settings back.
 *
 * The transition is decided on the snapshot of its turn:
 *
 * - Settings that the event changed must still have their new values. Otherwise the transition is refused with
 *   `patch-test-failed`, with a fault for each such place; the same happens if the event has been undone already. Other
 *   settings keep their present values. Passwords are changed back too, which no patch can do.
 * - The resource must be valid afterwards: a drain comes back only to a stopped service. Otherwise the transition is
 *   refused with `validation-failed`.
 * - A created resource is deleted only if the present resource of that name is as it was created; a created user, only
 *   if the password is the same. Otherwise the transition is refused with `patch-test-failed`.
 * - Starting and stopping have no such check. The transition is unchanged if the wanted state is already present.
 * - A drain whose deadline has passed comes back without the deadline, and the decision has a note.
 *
 * @param event - an event of a decision, of `admin.events()` or of a journal, with its secrets
 * @returns the transition, which has its own events
 * @throws RangeError when the event cannot be undone, or its type is unknown; check with {@link canRevert} first
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
 * @see docs/events.md.
 *
 * @public
 */
export function revert(event: AdminEvent): Transition {
  assertEvent(event);
  const decide = revertOf(event.type);
  if (decide !== undefined) {
    const whole = wholeEvent(event);
    return (snapshot, context) => {
      assertInputs(snapshot, context);
      return whole.ok
        ? decide(snapshot, whole.value, context)
        : refused(snapshot, whole.problem, [event.resource]);
    };
  }
  const can = Object.keys(eventTable).filter((type) => revertOf(type) !== undefined);
  throw new RangeError(
    `An event of type "${event.type}" cannot be undone. These types can: ${can.join(', ')}.`,
  );
}

/**
 * Tells whether {@link revert} can create a transition for an event. That transition may still be refused.
 *
 * @param event - the event
 * @returns false for events of closing and flushing, of changed passwords and deleted users, for events that the host
 *   reports, and for unknown types, such as those of a later version
 *
 * @example
 * ```ts
 * import { canRevert } from 'gateway-admin-core';
 *
 * const head = { at: 0, resource: '/services/Sales', service: 'sales' };
 * canRevert({ type: 'service.stopped', from: { state: 'started' }, to: { state: 'stopped' }, ...head }); // => true
 * canRevert({ type: 'service.reported', state: 'failed', ...head }); // => false
 * ```
 *
 * @public
 */
export function canRevert(event: AdminEvent): boolean {
  assertEvent(event);
  return revertOf(event.type) !== undefined;
}

/** An event of a host with what it leads from and to as plain JSON; refused if it cannot be as it was published. */
function wholeEvent(event: AdminEvent): Result<AdminEvent> {
  const sides: Record<string, Json> = {};
  for (const side of ['from', 'to'] as const) {
    const { [side]: given }: Partial<Record<typeof side, Json>> = event as object;
    if (given === undefined) continue;
    const copied = copyJson(given, valueLimits);
    if (!copied.ok) return copied;
    if (!isObject(copied.value)) return fail('op-not-allowed', `"${side}" must be an object. ${asPublished}`);
    if (lacksValue(copied.value))
      return fail('patch-malformed', `The event has lost a value. ${asPublished}`);
    sides[side] = deepFreeze(copied.value);
  }
  return ok({ ...event, ...sides });
}

const asPublished = 'Pass the event as it was published, with its secrets.';

/** Gives the function that undoes events of a type; `undefined` if there is none, or the type is unknown. */
function revertOf(type: string): Revert | undefined {
  if (!Object.hasOwn(eventTable, type)) return undefined;
  // The index hides that the row takes exactly this type of event, and gives effects of its own kind.
  const { revert } = eventTable[type as AdminEvent['type']] as EventRow<Snapshot, AdminEvent, Decision>;
  return revert === 'irreversible' ? undefined : revert;
}

type Revert = (snapshot: Snapshot, event: AdminEvent, context: Context) => Decision;

/**
 * Folds reports of the host over a snapshot, as one change.
 *
 * A report that is malformed, or contradicts the snapshot, changes nothing and becomes a fault. The other reports
 * count.
 *
 * @param snapshot - the snapshot before the reports
 * @param report - one report, or several reports in order
 * @param context - the time of the reports, in milliseconds since 1970-01-01T00:00:00Z
 * @returns the snapshot after the reports, the events that follow from them, and the faults
 *
 * @example
 * ```ts
 * import { createSnapshot, applyReports } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }] });
 * const report = { type: 'server.reported', server: 'db-1', status: ['running'] } as const;
 * applyReports(snapshot, report, { now: 0 }).next.servers.find('db-1')?.seen.status; // => ['running']
 * ```
 *
 * @public
 */
export function applyReports(
  snapshot: Snapshot,
  report: HostReport | readonly HostReport[],
  context: Pick<Context, 'now'>,
): AppliedReports {
  assertInputs(snapshot, context);
  return foldHostReports(snapshot, report, context.now);
}

/** As {@link applyReports}, for a runtime that has commands in flight; see {@link foldReports}. @internal */
export function foldHostReports(
  snapshot: Snapshot,
  report: unknown,
  now: number,
  crossing?: CrossingHooks,
): AppliedReports {
  const tables = { reports: reportTable, events: eventTable };
  return foldReports(tables, snapshot, isList(report) ? report : [report], now, crossing);
}

/**
 * The result of applying reports.
 *
 * @public
 */
export interface AppliedReports {
  /** The snapshot after the reports; the same object if the reports bring nothing new. */
  readonly next: Snapshot;
  /** The events that follow from the reports, in order. */
  readonly events: readonly AdminEvent[];
  /** Faults of the reports that are malformed or contradict the snapshot. Such reports change nothing. */
  readonly faults: readonly Fault[];
}
