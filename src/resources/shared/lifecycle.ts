/**
 * The lifecycle of services and monitors: the commands that start and stop them, and the reports of the host.
 *
 * A kind gets its events, effects, reports and routes from the functions here; the state machine is one table.
 */
import * as z from 'zod/mini';

import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Change,
  type Context,
  type EffectOf,
  type EffectTable,
  type EventOf,
  type EventTable,
} from '../../core/decision.ts';
import { defineLifecycle, nextState } from '../../core/lifecycle.ts';
import type { ReportTable } from '../../core/report.ts';
import * as shape from '../../core/shape.ts';
import { quoted, type Result } from '../../problem.ts';
import { linkOf, revise, shownVersion, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';
import type { Decision, Effect } from '../index.ts';
import type { About } from './kind.ts';
import { finder, lookUp } from './look-up.ts';
import { commandRoute, type BoundRoute } from './route.ts';

/**
 * The state of a service or monitor. Only a report of the host leads to `failed`.
 *
 * @see Gateway Administration REST Interface, "States and transitions"; docs/spec-choices.md 16.
 *
 * @public
 */
export type LifecycleState = 'started' | 'stopped' | 'failed';

/**
 * The lifecycle of services and monitors: the next state for each state and each command.
 *
 * @see Gateway Administration REST Interface, "States and transitions"; docs/spec-choices.md 16.
 *
 * @public
 */
export const lifecycle = defineLifecycle<LifecycleState, 'start' | 'stop'>({
  started: { start: 'started', stop: 'stopped' },
  stopped: { start: 'started', stop: 'stopped' },
  failed: { start: 'started', stop: 'failed' },
});

/** Shape of a state. @internal */
export const lifecycleState = z.enum(['started', 'stopped', 'failed']);

/** The collection of each kind that starts and stops. @internal */
const collections = { service: 'services', monitor: 'monitors' } as const;

/** A kind that starts and stops. @internal */
type Startable = keyof typeof collections;

/** The events of a lifecycle. Only the host reports `failed`. @internal */
export type LifecycleEvent<K extends Startable> = About<K> &
  EventOf<`${K}.started` | `${K}.stopped` | `${K}.failed`>;

/** The effects of a lifecycle. @internal */
export type LifecycleEffect<K extends Startable> = About<K> & EffectOf<`${K}.start` | `${K}.stop`>;

/** The report of a lifecycle: the service or monitor has failed. @internal */
export type LifecycleReport<K extends Startable> = About<K> & { readonly type: `${K}.failed` };

/** The lifecycle of one kind. @internal */
export interface KindLifecycle<K extends Startable> {
  readonly kind: K;
  readonly events: EventTable<Snapshot, LifecycleEvent<K>>;
}

type Command = 'start' | 'stop';
type Thing = Collections[(typeof collections)[Startable]];

/** A draft of a service or monitor. */
interface Draft {
  state: LifecycleState;
  started?: number;
}

/**
 * Creates the lifecycle of a kind: its events, and the undo of each event.
 *
 * @param kind - the kind
 * @param onStart - a further change at the start; gets the time in milliseconds since 1970-01-01T00:00:00Z
 * @internal
 */
export function lifecycleOf<K extends Startable>(
  kind: K,
  onStart?: (draft: Draft, at: number) => void,
): KindLifecycle<K> {
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
    [`${kind}.failed`]: { origin: 'report', evolve: becomes('failed') },
  };
  // The cast is needed because the compiler does not see that the computed keys are the event types of the kind.
  const machine = { kind, events: events as unknown as KindLifecycle<K>['events'] };
  return machine;

  function opposite(command: Command) {
    return (snapshot: Snapshot, event: About<K>, context: Context): Decision =>
      decideLifecycle(machine, command, snapshot, event[kind], context);
  }

  function becomes(state: LifecycleState, change?: (draft: Draft, at: number) => void) {
    return (snapshot: Snapshot, event: About<K> & { readonly at: number }, by: Change): Snapshot =>
      revise<'services' | 'monitors'>(snapshot, collections[kind], event[kind], by, (draft) => {
        draft.state = state;
        change?.(draft, event.at);
      });
  }
}

/** Gives the undo of the effects of a lifecycle: start undoes stop, stop undoes start. @internal */
export function lifecycleEffects<K extends Startable>(kind: K): EffectTable<LifecycleEffect<K>> {
  const effects = {
    [`${kind}.start`]: (effect: object) => ({ ...effect, type: `${kind}.stop` }),
    [`${kind}.stop`]: (effect: object) => ({ ...effect, type: `${kind}.start` }),
  };
  return effects as unknown as EffectTable<LifecycleEffect<K>>;
}

/** Gives the events that follow from the reports of a lifecycle. @internal */
export function lifecycleReports<K extends Startable>(
  kind: K,
): ReportTable<Snapshot, LifecycleReport<K>, LifecycleEvent<K>> {
  const type = `${kind}.failed` as const;
  const failed = {
    shape: z.strictObject({ type: z.literal(type), [kind]: shape.text(255) }),
    event(snapshot: Snapshot, report: About<K>, at: number) {
      const found = snapshot[collections[kind]].find(report[kind]);
      if (found === undefined)
        return { contradiction: `names the ${kind} ${quoted(report[kind])}, which does not exist` };
      if (found.state === 'failed') return undefined;
      return { type, at, resource: linkOf(collections[kind], found), [kind]: found.key };
    },
  };
  return { [type]: failed } as unknown as ReturnType<typeof lifecycleReports<K>>;
}

/** Decides a command about the resource of a name: one event and one effect, or unchanged. @internal */
export function decideLifecycle<K extends Startable>(
  machine: KindLifecycle<K>,
  command: Command,
  snapshot: Snapshot,
  name: string,
  context: Context,
): Decision {
  const found: Result<Thing> = lookUp(snapshot, collections[machine.kind], name);
  if (!found.ok) return refused(snapshot, found.problem);
  return decideFound(machine, command, snapshot, found.value, context);
}

function decideFound<K extends Startable>(
  { kind, events }: KindLifecycle<K>,
  command: Command,
  snapshot: Snapshot,
  thing: Thing,
  context: Context,
): Decision {
  const resource = linkOf(collections[kind], thing);
  const state = nextState(lifecycle, thing.state, command);
  if (state === thing.state) return unchanged(snapshot, [resource]);
  const about = { [kind]: thing.key };
  const event = { type: `${kind}.${state}`, ...eventHead(resource, context), ...about };
  const effect = { type: `${kind}.${command}`, resource, ...about };
  // The casts are needed because a computed member is lost on the types.
  const change = { events: [event as unknown as LifecycleEvent<K>], effects: [effect as unknown as Effect] };
  return accepted(events, snapshot, [resource], change) as Decision;
}

/** The endpoints of a lifecycle: `PUT /<kind>/:name/<command>`, and the same path in the plural. @internal */
export function lifecycleRoutes<K extends Startable>(machine: KindLifecycle<K>): readonly BoundRoute[] {
  const { kind } = machine;
  const collection = collections[kind];
  return (['stop', 'start'] as const).map((command) =>
    commandRoute<Thing>({
      id: `${collection}.${command}`,
      method: 'PUT',
      path: `/${kind}/:name/${command}`,
      aliases: [`/${collection}/:name/${command}`],
      summary: `${command === 'stop' ? 'Stops' : 'Starts'} a ${kind}.`,
      find: finder<'services' | 'monitors'>(collection),
      version: (snapshot, thing) => shownVersion(snapshot, collection, thing),
      link: (thing) => linkOf(collection, thing),
      decide: (snapshot, thing, context) => decideFound(machine, command, snapshot, thing, context),
    }),
  );
}
