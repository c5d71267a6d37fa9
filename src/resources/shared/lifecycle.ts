/**
 * The lifecycle of services and monitors: the commands that start and stop them, and the reports of the host.
 *
 * A kind gets its events, effects, reports and routes from the functions here; the state machine is one table.
 */
import * as z from 'zod/mini';

import type { Written } from '../../core/change.ts';
import type { Named, Singular } from '../../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EventHead,
  type EventTable,
  type FoldContext,
} from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
import { defineLifecycle, nextState } from '../../core/lifecycle.ts';
import type { ReportTable } from '../../core/report.ts';
import { linkTo } from '../../core/link.ts';
import * as shape from '../../core/shape.ts';
import { cutToBytes } from '../../core/text.ts';
import { sameJson, type Json } from '../../json/value.ts';
import { quoted } from '../../problem.ts';
import { linkOf, replace, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import { foldOf } from './change-fold.ts';
import type { About, AdoptionSteps, Changing } from './kind.ts';
import { linkOfCollection, lookUp, reported } from './look-up.ts';
import { atResource, commandRoute, endpointOf, type KindRoute } from './route.ts';

/** Longest reason, in bytes of UTF-8. */
const longestReason = 1024;

/** The row of a field with a reason. @internal */
export const reasonField = { shape: shape.text(longestReason), optional: true, seen: true } as const;

/** The row of a field that says since when something is as the host sees it. @internal */
export const sinceField = { shape: shape.instant, time: 'iso8601', optional: true, seen: true } as const;

/**
 * The state of a service or monitor. Only a report of the host leads to `failed`; the host then retries on its own.
 *
 * @see Gateway Administration REST Interface, "States and transitions"; docs/spec-choices.md 16.
 *
 * @public
 */
export type LifecycleState = 'started' | 'stopped' | 'failed';

/**
 * An input of the lifecycle of services and monitors: a command of a caller, or a report of the host.
 *
 * @public
 */
export type LifecycleInput = 'start' | 'stop' | 'report-failed' | 'report-started';

/**
 * The lifecycle of services and monitors: the next state for each state, and each command or report.
 *
 * `stopped` and not stopped are what callers want; only commands switch between them. `failed` is what the host sees of
 * a service or monitor that is wanted. So no report changes a stopped one.
 *
 * @see Gateway Administration REST Interface, "States and transitions"; docs/spec-choices.md 6 and 16.
 *
 * @public
 */
export const lifecycle = defineLifecycle<LifecycleState, LifecycleInput>({
  started: { start: 'started', stop: 'stopped', 'report-failed': 'failed', 'report-started': 'started' },
  stopped: { start: 'started', stop: 'stopped', 'report-failed': 'stopped', 'report-started': 'stopped' },
  failed: { start: 'started', stop: 'stopped', 'report-failed': 'failed', 'report-started': 'started' },
});

/** The fields of a lifecycle. @internal */
export const lifecycleFields = {
  state: {
    shape: z.enum(['started', 'stopped', 'failed']),
    default: 'started',
    // A failed service or monitor is wanted.
    wanted: z.enum(['started', 'stopped']),
  },
  state_reason: reasonField,
  state_since: sinceField,
} as const;

/** What the host reports of a service or monitor that is wanted. @internal */
interface Reported {
  /** Whether the service or monitor runs. */
  readonly state: 'started' | 'failed';
  /** Why the service or monitor has failed, for operators. */
  readonly reason?: string;
  /** Time of the last start, in milliseconds since 1970-01-01T00:00:00Z. A monitor does not show this time. */
  readonly started?: number;
}

/** What a start or a stop changes. A start of what has failed has `started` in both. @internal */
interface StateWritten {
  /** The state before. */
  readonly from: { readonly state: WantedState };
  /** The state after. */
  readonly to: { readonly state: WantedState };
}

/** The events of a lifecycle. @internal */
export type LifecycleEvent<K extends string> = About<K> &
  ((EventHead<`${K}.started` | `${K}.stopped`> & StateWritten) | (EventHead<`${K}.reported`> & Reported));

/**
 * The effects of a lifecycle. A start of a failed service or monitor is not undone, because the service or monitor was
 * wanted before the command: `from` says so.
 *
 * @internal
 */
export type LifecycleEffect<K extends string> = About<K> &
  EffectHead<`${K}.start` | `${K}.stop`> &
  StateWritten;

/** The decision of a lifecycle. */
type LifecycleDecision<S, K extends string> = DecisionOf<S, LifecycleEvent<K>, LifecycleEffect<K>>;

/**
 * The report of a lifecycle: whether the service or monitor runs. The host may repeat the report at any time. A report
 * about a stopped service or monitor changes nothing.
 *
 * @internal
 */
export type LifecycleReport<K extends string> = About<K> & { readonly type: `${K}.reported` } & Reported;

/**
 * The state of a service or monitor that callers want.
 *
 * @public
 */
export type WantedState = 'started' | 'stopped';

/**
 * What the host has seen of a monitor since its last start. Belongs to one life of the gateway.
 *
 * @public
 */
export interface SeenRun {
  /** The state that is shown in place of the wanted one; left out unless the host has seen a failure. */
  readonly state?: 'failed';
  /** Why it has failed, in the words of the gateway; left out unless it has failed with a reason. */
  readonly state_reason?: string;
  /** Since when it has failed, in milliseconds since 1970-01-01T00:00:00Z; left out unless it has failed. */
  readonly state_since?: number;
}

/** A resource that starts and stops. @internal */
export interface Lived extends ConfiguredEntity {
  readonly state: WantedState;
  readonly seen: SeenRun;
}

/** The state that clients see. @internal */
export function shownState({ state, seen }: Pick<Lived, 'state' | 'seen'>): LifecycleState {
  return seen.state ?? state;
}

/** The lifecycle of one kind. `S` is the snapshot. @internal */
export interface KindLifecycle<S extends State, K extends Singular> {
  readonly named: Named<Lived, K>;
  readonly events: EventTable<S, LifecycleEvent<K>>;
  readonly instead?: Instead<S> | undefined;
}

/** Decides a command about a thing in another way; `undefined` if there is none. */
type Instead<S> = (
  this: void,
  command: Command,
  snapshot: S,
  thing: never,
  context: Context,
) => DecisionOf<S> | undefined;

type Command = 'start' | 'stop';

/**
 * Creates the lifecycle of a kind: its events, and the undo of each event.
 *
 * @param named - the collection of the kind
 * @param instead - decides a command about a thing that drains
 * @internal
 */
export function lifecycleOf<S extends State, K extends Singular, T extends Lived = Lived>(
  named: Changing<S, T> & Named<T, K>,
  instead?: Instead<S>,
): KindLifecycle<S, K> {
  const kind = named.singular;
  const evolve = foldOf(named);
  const events = {
    [`${kind}.started`]: { effect: `${kind}.start`, revert: opposite('stop'), evolve },
    [`${kind}.stopped`]: { effect: `${kind}.stop`, revert: opposite('start'), evolve },
    [`${kind}.reported`]: { evolve: sees },
  };
  // The cast is needed because the compiler does not see that the computed keys are the event types of the kind.
  const machine = { named, events: events as unknown as KindLifecycle<S, K>['events'], instead };
  return machine;

  function opposite(command: Command) {
    return (snapshot: S, event: About<K> & StateWritten, context: Context): LifecycleDecision<S, K> =>
      // What had failed was wanted before.
      event.from.state === event.to.state
        ? unchanged(snapshot, [linkTo(named.collection, event[kind])])
        : decideLifecycle(machine, command, snapshot, event[kind], context);
  }

  function sees(snapshot: S, event: About<K> & Reported & { readonly at: number }, fold: FoldContext): S {
    return replace(snapshot, named, event[kind], fold, (before) => {
      // No report changes what is stopped; see the table `lifecycle`.
      if (before.state === 'stopped') return before;
      const { state, started } = event;
      const start = started === undefined ? {} : seenOfStart(named.fields, started);
      const seen =
        state === 'failed' ? failing(before.seen, event) : { ...withoutFailure(before.seen), ...start };
      return sameJson(seen as Json, before.seen as Json) ? before : { ...before, seen: Object.freeze(seen) };
    });
  }
}

/**
 * A resource whose state a change has written: of a new run, nothing is seen but its start, and of a stopped one no
 * failure.
 *
 * @internal
 */
export function withState<T extends Lived>(
  fields: Fields,
  thing: T,
  { to: { state }, at }: Written & { readonly at: number },
): T {
  if (state === undefined) return thing;
  const seen = state === 'started' ? Object.freeze(seenOfStart(fields, at)) : withoutFailure(thing.seen);
  return { ...thing, seen };
}

/** What is seen of a start at a time, in milliseconds since 1970-01-01T00:00:00Z. */
function seenOfStart({ seen: { rest } }: Fields, at: number): Seen {
  return rest.some(({ name }) => name === 'started') ? { started: at } : {};
}

/** What is seen of a failure. A reason stays as long as the failure, and a start that was assumed was none. */
function failing(before: Seen, { at, reason }: Reported & { readonly at: number }): Seen {
  return {
    ...(before.startAssumed === true ? {} : before),
    state: 'failed',
    ...(before.state === 'failed' ? {} : { state_since: at }),
    ...(reason === undefined ? {} : { state_reason: reason }),
  };
}

/** What can be seen of a service or monitor. */
type Seen = SeenRun & { readonly started?: number; readonly startAssumed?: true };

function withoutFailure<T extends SeenRun>(seen: T): T {
  const { state: _state, state_reason: _reason, state_since: _since, ...rest } = seen;
  return Object.freeze(rest) as T;
}

/** Gives the events that follow from the reports of a lifecycle. @internal */
export function lifecycleReports<K extends Singular>(
  named: Named<Lived, K>,
): ReportTable<State, LifecycleReport<K>, LifecycleEvent<K>> {
  const { collection, singular: kind } = named;
  const type = `${kind}.reported` as const;
  const row = {
    shape: z.strictObject({
      type: z.literal(type),
      [kind]: shape.text(255),
      state: z.enum(['started', 'failed']),
      reason: z.optional(z.string()),
      started: z.optional(shape.milliseconds),
    }),
    whole: {
      aspect: 'state',
      resource: (report: About<K>) => linkTo(collection, report[kind]),
    },
    began: (report: About<K> & Reported) => ({ link: linkTo(collection, report[kind]), at: report.started }),
    event(snapshot: State, report: About<K> & Reported, at: number) {
      const { reason, ...rest } = report;
      const found = reported(snapshot, named, report[kind]);
      if ('contradiction' in found) return found;
      if (found.state === 'stopped' && report.state === 'started')
        return { contradiction: `says that the ${kind} ${quoted(found.name)} runs, which is stopped` };
      const why = reason === undefined ? {} : { reason: readableReason(reason) };
      return { ...rest, ...why, type, at, resource: linkOf(collection, found), [kind]: found.key };
    },
  };
  return { [type]: row } as unknown as ReturnType<typeof lifecycleReports<K>>;
}

/** Decides a command about the resource of a name: one event and one effect, or unchanged. @internal */
export function decideLifecycle<S extends State, K extends Singular>(
  machine: KindLifecycle<S, K>,
  command: Command,
  snapshot: S,
  name: string,
  context: Context,
): LifecycleDecision<S, K> {
  const found = lookUp(snapshot, machine.named, name);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(machine.named)]);
  return decideFound(machine, command, snapshot, found.value, context);
}

function decideFound<S extends State, K extends Singular>(
  machine: KindLifecycle<S, K>,
  command: Command,
  snapshot: S,
  thing: Lived,
  context: Context,
): LifecycleDecision<S, K> {
  const instead = machine.instead?.(command, snapshot, thing as never, context);
  return (
    (instead as LifecycleDecision<S, K> | undefined) ?? decideMove(machine, command, snapshot, thing, context)
  );
}

/** Decides a start or stop from the state alone. @internal */
export function decideMove<S extends State, K extends Singular>(
  { named: { collection, singular: kind }, events }: KindLifecycle<S, K>,
  command: Command,
  snapshot: S,
  thing: Lived,
  context: Context,
): LifecycleDecision<S, K> {
  const resource = linkOf(collection, thing);
  const present = shownState(thing);
  const state = nextState(lifecycle, present, command);
  if (state === present) return unchanged(snapshot, [resource]);
  const written = { from: { state: thing.state }, to: { state } };
  const event = { type: `${kind}.${state}`, ...eventHead(resource, context), [kind]: thing.key, ...written };
  // The cast is needed because a computed member is lost on the types.
  return accepted(events, snapshot, [resource], { events: [event] as never });
}

/** Creates the steps of an adoption that stop and start a thing, as a gateway document wants it. @internal */
export function lifecycleSteps<S extends State, K extends Singular>(
  machine: KindLifecycle<S, K>,
): Pick<AdoptionSteps, 'stop' | 'start'> {
  const step =
    (command: Command, to: WantedState) =>
    (snapshot: S, present: Lived, wanted: Lived, context: Context): LifecycleDecision<S, K> =>
      wanted.state === to && present.state !== to
        ? decideFound(machine, command, snapshot, present, context)
        : unchanged(snapshot, []);
  return { stop: step('stop', 'stopped'), start: step('start', 'started') };
}

/** The endpoints of a lifecycle: `PUT /<kind>/:name/<command>`, and the same path in the plural. @internal */
export function lifecycleRoutes<S extends State, K extends Singular>(
  machine: KindLifecycle<S, K>,
): readonly KindRoute[] {
  const { named } = machine;
  const { collection, singular } = named;
  return (['stop', 'start'] as const).map((command) =>
    commandRoute<Lived>({
      ...endpointOf(named, command),
      role: 'operator',
      aliases: [`/${collection}/:name/${command}`],
      summary: `${command === 'stop' ? 'Stops' : 'Starts'} a ${singular}.`,
      ...atResource<Lived>(named),
      decide: (snapshot: S, thing, context) => decideFound(machine, command, snapshot, thing, context),
    }),
  );
}

/** The reason of the host as one line of text. What the host sees must not get lost because of its reason. @internal */
export function readableReason(reason: string): string {
  return cutToBytes(reason, longestReason)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ');
}
