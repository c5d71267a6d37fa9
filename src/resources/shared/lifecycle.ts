/**
 * The lifecycle that services and monitors share: what starts and stops them, and what the host reports of them.
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
import type { Result } from '../../problem.ts';
import { linkOf, revise, shownVersion, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';
import type { Decision, Effect } from '../index.ts';
import type { About } from './kind.ts';
import { finder, lookUp } from './look-up.ts';
import { commandRoute, type BoundRoute } from './route.ts';

/**
 * The states of a service or monitor. Only the host reports `failed`.
 *
 * @public
 */
export type LifecycleState = 'started' | 'stopped' | 'failed';

/**
 * The lifecycle of services and monitors: for each state, where each command leads.
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

/** The kinds that start and stop, each with its collection. @internal */
const collections = { service: 'services', monitor: 'monitors' } as const;

/** A kind that starts and stops. @internal */
type Startable = keyof typeof collections;

/** What happens to a thing that starts and stops. `failed` is only reported by the host. @internal */
export type LifecycleEvent<K extends Startable> = About<K> &
  EventOf<`${K}.started` | `${K}.stopped` | `${K}.failed`>;

/** What the host is asked to do with a thing that starts and stops. @internal */
export type LifecycleEffect<K extends Startable> = About<K> & EffectOf<`${K}.start` | `${K}.stop`>;

/** What the host reports of a thing that starts and stops: it failed. @internal */
export type LifecycleReport<K extends Startable> = About<K> & { readonly type: `${K}.failed` };

/** The lifecycle of one kind. @internal */
export interface KindLifecycle<K extends Startable> {
  readonly kind: K;
  readonly events: EventTable<Snapshot, LifecycleEvent<K>>;
}

type Command = 'start' | 'stop';
type Thing = Collections[(typeof collections)[Startable]];

/** A draft of a thing that starts and stops. */
interface Draft {
  state: LifecycleState;
  started?: number;
}

/**
 * Gives a kind its lifecycle.
 *
 * @param kind - the kind
 * @param onStart - what else changes in a thing when it starts, at an instant
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
  // The keys are computed, so the compiler cannot see that they are the event types of the kind.
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

/** How the effects of a lifecycle are undone: each by the other. @internal */
export function lifecycleEffects<K extends Startable>(kind: K): EffectTable<LifecycleEffect<K>> {
  const effects = {
    [`${kind}.start`]: (effect: object) => ({ ...effect, type: `${kind}.stop` }),
    [`${kind}.stop`]: (effect: object) => ({ ...effect, type: `${kind}.start` }),
  };
  return effects as unknown as EffectTable<LifecycleEffect<K>>;
}

/** What follows from the reports of a lifecycle. @internal */
export function lifecycleReports<K extends Startable>(
  kind: K,
): ReportTable<Snapshot, LifecycleReport<K>, LifecycleEvent<K>> {
  const type = `${kind}.failed` as const;
  const failed = {
    shape: z.strictObject({ type: z.literal(type), [kind]: shape.text(255) }),
    event(snapshot: Snapshot, report: About<K>, at: number) {
      const found = snapshot[collections[kind]].find(report[kind]);
      if (found === undefined) return { contradiction: `names a ${kind} that does not exist` };
      if (found.state === 'failed') return undefined;
      return { type, at, resource: linkOf(collections[kind], found), [kind]: found.key };
    },
  };
  return { [type]: failed } as unknown as ReturnType<typeof lifecycleReports<K>>;
}

/** Decides a command about the thing of a name: one event and one effect, or unchanged. @internal */
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
  // A computed member is lost on the types.
  const told = { events: [event as unknown as LifecycleEvent<K>], effects: [effect as unknown as Effect] };
  return accepted(events, snapshot, [resource], told) as Decision;
}

/** The endpoints of a lifecycle: `PUT /<kind>/:name/<command>`, and the same in the plural. @internal */
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
