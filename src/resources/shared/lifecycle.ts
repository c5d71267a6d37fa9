/**
 * The lifecycle of services and monitors: the commands that start and stop them, and the reports of the host.
 *
 * A kind gets its events, effects, reports and routes from the functions here; the state machine is one table.
 */
import * as z from 'zod/mini';

import type { Named, Singular } from '../../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Change,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
} from '../../core/decision.ts';
import { defineLifecycle, nextState } from '../../core/lifecycle.ts';
import type { ReportTable } from '../../core/report.ts';
import { linkTo } from '../../core/link.ts';
import * as shape from '../../core/shape.ts';
import { cutToBytes } from '../../core/text.ts';
import { quoted } from '../../problem.ts';
import { linkOf, replace, shownVersion, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import type { About, AdoptionSteps } from './kind.ts';
import { finder, linkOfCollection, lookUp, reported } from './look-up.ts';
import { commandRoute, endpointOf, type KindRoute } from './route.ts';

/** Longest reason, in bytes of UTF-8. */
const longestReason = 1024;

/** The row of a field with a reason. @internal */
export const reasonField = { shape: shape.text(longestReason), optional: true, kept: false } as const;

/** The row of a field that says since when something is as the host sees it. @internal */
export const sinceField = { shape: shape.instant, time: 'iso8601', optional: true, kept: false } as const;

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

/** The state that callers want. A failed service or monitor is wanted. @internal */
export function wantedState(state: LifecycleState): 'started' | 'stopped' {
  return state === 'stopped' ? 'stopped' : 'started';
}

/** The fields of a lifecycle. @internal */
export const lifecycleFields = {
  state: {
    shape: z.enum(['started', 'stopped', 'failed']),
    defined: z.enum(['started', 'stopped']),
    default: 'started',
    kept: wantedState,
  },
  state_reason: reasonField,
  state_since: sinceField,
} as const;

/** What the host sees of a service or monitor that is wanted. @internal */
interface Seen {
  /** Whether the service or monitor runs. */
  readonly state: 'started' | 'failed';
  /** Why the service or monitor has failed, for operators. */
  readonly reason?: string;
  /** Time of the last start, in milliseconds since 1970-01-01T00:00:00Z. A monitor does not show this time. */
  readonly started?: number;
}

/** The events of a lifecycle. @internal */
export type LifecycleEvent<K extends string> = About<K> &
  (EventHead<`${K}.started` | `${K}.stopped`> | (EventHead<`${K}.reported`> & Seen));

/**
 * The effects of a lifecycle. A start says from which state: a start of a failed service or monitor is not undone,
 * because the service or monitor was wanted before the command.
 *
 * @internal
 */
export type LifecycleEffect<K extends string> = About<K> &
  ((EffectHead<`${K}.start`> & { readonly from: 'stopped' | 'failed' }) | EffectHead<`${K}.stop`>);

/** The decision of a lifecycle. */
type LifecycleDecision<S, K extends string> = DecisionOf<S, LifecycleEvent<K>, LifecycleEffect<K>>;

/**
 * The report of a lifecycle: whether the service or monitor runs. The host may repeat the report at any time. A report
 * about a stopped service or monitor changes nothing.
 *
 * @internal
 */
export type LifecycleReport<K extends string> = About<K> & { readonly type: `${K}.reported` } & Seen;

/** The state of a service or monitor, and the reason for it. @internal */
export interface Lived {
  /** State of the service or monitor. */
  readonly state: LifecycleState;
  /** Why the service or monitor has failed, in the words of the host; left out unless it has failed with a reason. */
  readonly state_reason?: string;
  /**
   * Since when the service or monitor has failed, in milliseconds since 1970-01-01T00:00:00Z; left out unless failed.
   */
  readonly state_since?: number;
}

/** A resource that starts and stops. @internal */
type Thing = ConfiguredEntity & Lived;

/** The lifecycle of one kind. `S` is the snapshot. @internal */
export interface KindLifecycle<S extends State, K extends Singular> {
  readonly named: Named<Thing, K>;
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

/** A copy of a service or monitor that is being changed. */
type Draft = Omit<Thing, keyof Lived> & { -readonly [M in keyof Lived]: Lived[M] } & {
  started?: number;
  startAssumed?: true;
};

interface LifecycleHooks<S> {
  readonly instead?: Instead<S>;
  readonly onStart?: (this: void, draft: Draft, at: number) => void;
  readonly onFail?: (this: void, draft: Draft) => void;
}

/**
 * Creates the lifecycle of a kind: its events, and the undo of each event.
 *
 * @param named - the collection of the kind
 * @param hooks - `onStart` takes the time of a start into the draft, in milliseconds since 1970-01-01T00:00:00Z;
 *   `onFail` changes the draft when the host reports a failure; `instead` decides a command about a thing that drains
 * @internal
 */
export function lifecycleOf<S extends State, K extends Singular>(
  named: Named<Thing, K>,
  { onStart, onFail, instead }: LifecycleHooks<S> = {},
): KindLifecycle<S, K> {
  const kind = named.singular;
  const events = {
    [`${kind}.started`]: {
      origin: 'command',
      effect: `${kind}.start`,
      revert: opposite('stop'),
      evolve: becomes('started', onStart),
    },
    [`${kind}.stopped`]: {
      origin: 'command',
      effect: `${kind}.stop`,
      revert: opposite('start'),
      evolve: becomes('stopped'),
    },
    [`${kind}.reported`]: { origin: 'report', evolve: seen },
  };
  // The cast is needed because the compiler does not see that the computed keys are the event types of the kind.
  const machine = { named, events: events as unknown as KindLifecycle<S, K>['events'], instead };
  return machine;

  function opposite(command: Command) {
    return (snapshot: S, event: About<K>, context: Context): LifecycleDecision<S, K> =>
      decideLifecycle(machine, command, snapshot, event[kind], context);
  }

  function becomes(state: LifecycleState, change?: (draft: Draft, at: number) => void) {
    return (snapshot: S, event: About<K> & { readonly at: number }, by: Change): S =>
      replace(snapshot, named, event[kind], by, (before) => {
        const draft = entering(before, state);
        change?.(draft, event.at);
        return draft;
      });
  }

  function seen(snapshot: S, event: About<K> & Seen & { readonly at: number }, by: Change): S {
    return replace(snapshot, named, event[kind], by, (before) => {
      const next = nextState(lifecycle, before.state, `report-${event.state}`);
      if (next === 'stopped') return before;
      const draft: Draft = entering(before, next);
      if (next === 'failed') {
        draft.state_since ??= event.at;
        if (event.reason !== undefined) draft.state_reason = event.reason;
        onFail?.(draft);
      } else if (event.started !== undefined) onStart?.(draft, event.started);
      return isSame(before, draft) ? before : draft;
    });
  }
}

/** A copy in a state. A reason belongs to a failure alone, and stays as long as the failure. */
function entering(before: Thing, state: LifecycleState): Draft {
  if (state === 'failed' || before.state !== 'failed') return { ...before, state };
  const { state_reason: _reason, state_since: _since, ...rest } = before;
  return { ...rest, state };
}

/** Whether a copy has the members of the original. */
function isSame(before: Thing, draft: object): boolean {
  const members = Object.entries(draft);
  if (members.length !== Object.keys(before).length) return false;
  return members.every(([name, value]) => before[name as keyof Thing] === value);
}

/** Gives the undo of the effects of a lifecycle: start undoes stop, stop undoes start. @internal */
export function lifecycleEffects<K extends Singular>({
  singular: kind,
}: Named<Thing, K>): EffectTable<LifecycleEffect<K>> {
  const effects = {
    [`${kind}.start`]: {
      aspect: 'state',
      undo: ({ from, ...effect }: { readonly from: string }) =>
        from === 'stopped' ? { ...effect, type: `${kind}.stop` } : undefined,
      confirms: ({ [kind]: key }: About<K>) => ({ type: `${kind}.reported`, [kind]: key, state: 'started' }),
    },
    [`${kind}.stop`]: {
      aspect: 'state',
      undo: (effect: object) => ({ ...effect, type: `${kind}.start`, from: 'stopped' }),
    },
  };
  return effects as unknown as EffectTable<LifecycleEffect<K>>;
}

/** Gives the events that follow from the reports of a lifecycle. @internal */
export function lifecycleReports<K extends Singular>(
  named: Named<Thing, K>,
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
    began: (report: About<K> & Seen) => ({ link: linkTo(collection, report[kind]), at: report.started }),
    event(snapshot: State, report: About<K> & Seen, at: number) {
      const { reason, ...rest } = report;
      const found = reported(snapshot, named, report[kind]);
      if ('contradiction' in found) return found;
      if (found.state === 'stopped' && report.state === 'started')
        return { contradiction: `says that the ${kind} ${quoted(found.name)} runs, which is stopped` };
      const seen = { ...rest, ...(reason === undefined ? {} : { reason: readableReason(reason) }) };
      if (!isNews(kind, found, seen)) return undefined;
      return { ...seen, type, at, resource: linkOf(collection, found), [kind]: found.key };
    },
  };
  return { [type]: row } as unknown as ReturnType<typeof lifecycleReports<K>>;
}

/** Whether a report says more than the snapshot. A monitor shows no time of its start. */
function isNews(
  kind: string,
  thing: Thing & { readonly started?: number },
  { state, reason, started }: Seen,
): boolean {
  const next = nextState(lifecycle, thing.state, `report-${state}`);
  if (next === 'stopped') return false;
  if (next !== thing.state) return true;
  if (state === 'failed') return reason !== undefined && reason !== thing.state_reason;
  return kind === 'service' && started !== undefined && started !== thing.started;
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
  thing: Thing,
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
  thing: Thing,
  context: Context,
): LifecycleDecision<S, K> {
  const resource = linkOf(collection, thing);
  const state = nextState(lifecycle, thing.state, command);
  if (state === thing.state) return unchanged(snapshot, [resource]);
  const about = { [kind]: thing.key };
  const event = { type: `${kind}.${state}`, ...eventHead(resource, context), ...about };
  const from = command === 'start' ? { from: thing.state } : {};
  const effect = { type: `${kind}.${command}`, resource, ...about, ...from };
  // The casts are needed because a computed member is lost on the types.
  const change = { events: [event] as never, effects: [effect] as never };
  return accepted(events, snapshot, [resource], change);
}

/** Creates the steps of an adoption that stop and start a thing, as a gateway document wants it. @internal */
export function lifecycleSteps<S extends State, K extends Singular>(
  machine: KindLifecycle<S, K>,
): Pick<AdoptionSteps, 'stop' | 'start'> {
  const step =
    (command: Command, to: LifecycleState) =>
    (snapshot: S, present: Thing, wanted: Thing, context: Context): LifecycleDecision<S, K> =>
      wantedState(wanted.state) === to && wantedState(present.state) !== to
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
    commandRoute<Thing>({
      ...endpointOf(named, command),
      role: 'operator',
      aliases: [`/${collection}/:name/${command}`],
      summary: `${command === 'stop' ? 'Stops' : 'Starts'} a ${singular}.`,
      find: finder(named),
      version: (snapshot, thing) => shownVersion(snapshot, collection, thing),
      link: (thing) => linkOf(collection, thing),
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
