/**
 * Transitions that several kinds of resources share: stepping a lifecycle, patching settings.
 */
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EventBase,
  type EventTable,
} from '../../core/decision.ts';
import { nextState, type Lifecycle } from '../../core/lifecycle.ts';
import { copyOperations, type Operation, type ParsedOperation } from '../../json/patch.ts';
import { patchSettings, revertSettings, type Patched, type PatchView } from '../../core/patch-view.ts';
import type { JsonObject } from '../../json/value.ts';
import { problem, type Result } from '../../problem.ts';
import { createTimeFormat, type TimeFormat } from '../../core/time.ts';
import type { ReversibleUpdate, Update } from '../../core/update.ts';
import {
  linkOf,
  lookUp,
  nameFinder,
  singular,
  type Collections,
  type Snapshot,
} from '../../snapshot/snapshot.ts';

const utc = createTimeFormat('UTC');

/** The fact and the wish that a transition comes to. */
interface Consequence<E, F> {
  readonly event: E;
  readonly effect: F;
}

/** How the things of a collection are started and stopped. @internal */
export interface Startable<
  K extends keyof Collections,
  State extends string,
  C extends string,
  E extends EventBase,
  F,
> {
  readonly collection: K;
  readonly lifecycle: Lifecycle<State, C>;
  readonly events: EventTable<Snapshot, E>;
  state(this: void, entity: Collections[K]): State;
  /** What follows from a command that changes the state. */
  consequence(this: void, command: C, head: Omit<EventBase, 'type'>, key: string): Consequence<E, F>;
}

/** Decides a command of a lifecycle: one event and one effect, or unchanged. @internal */
export function decideLifecycle<
  K extends keyof Collections,
  State extends string,
  C extends string,
  E extends EventBase,
  F extends EffectBase,
>(
  startable: Startable<K, State, C, E, F>,
  command: C,
  snapshot: Snapshot,
  name: string,
  context: Context,
): DecisionOf<Snapshot, E, F> {
  const found = lookUp(snapshot, startable.collection, name);
  if (!found.ok) return refused(snapshot, found.problem);
  const link = linkOf(startable.collection, found.value);
  const state = startable.state(found.value);
  if (nextState(startable.lifecycle, state, command) === state) return unchanged(snapshot, [link]);
  const { event, effect } = startable.consequence(command, eventHead(link, context), found.value.key);
  return accepted(startable.events, snapshot, [link], { events: [event], effects: [effect] });
}

/** How the things of a collection are patched. @internal */
export interface Patchable<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
> {
  readonly collection: K;
  readonly view: PatchView<T>;
  readonly events: EventTable<Snapshot, E>;
  /** The fact that an update comes to; it has the inverse. */
  readonly event: Extract<E['type'], `${string}.updated`>;
  /** The wish that an update comes to. */
  readonly effect: Extract<F['type'], `${string}.update`>;
  /** The settings of one thing. */
  settings(this: void, entity: Collections[K]): T;
  /** The representation: it answers a patch, and a `test` may read its fields. */
  shown(this: void, snapshot: Snapshot, entity: Collections[K], times: TimeFormat): object;
}

/** Decides a patch: one event and one effect, or unchanged, or refused with every fault. @internal */
export function decidePatch<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
>(
  patchable: Patchable<K, T, E, F>,
  snapshot: Snapshot,
  name: string,
  operations: readonly ParsedOperation[],
  context: Context,
): DecisionOf<Snapshot, E, F> {
  return decideUpdate(patchable, snapshot, name, context, (entity) => {
    const shown = (): JsonObject => patchable.shown(snapshot, entity, context.times ?? utc) as JsonObject;
    return patchSettings(patchable.view, shown, patchable.settings(entity), operations, nameFinder(snapshot));
  });
}

/** Checks the form of a patch that a program gives; see {@link decidePatch}. @internal */
export function patchAsGiven<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
>(
  patchable: Patchable<K, T, E, F>,
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): DecisionOf<Snapshot, E, F> {
  const parsed = copyOperations(operations, valueLimits);
  return parsed.ok
    ? decidePatch(patchable, snapshot, name, parsed.value, context)
    : refused(snapshot, parsed.problem);
}

/** A body is at most 32 deep, of which the list and the operation are two. */
const valueLimits = { depth: 30 };

/** There may be two operations for each that a patch may have, and sealed texts are where no client can point. */
const inverseRules = { maxOperations: Infinity, maxPointerLength: Infinity };

/** What the event of an update has to say for the update to be undone: of which thing it is, and the inverse. */
type Reversible<K extends keyof Collections> = Pick<ReversibleUpdate<unknown>, 'inverse'> & {
  readonly [Kind in (typeof singular)[K]]: string;
};

/**
 * Decides what undoes an update that happened: its inverse, with one event and one effect, as for a patch; refused
 * when what the update changed has changed since.
 *
 * @internal
 */
export function revertUpdate<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
>(
  patchable: Patchable<K, T, E, F>,
  snapshot: Snapshot,
  event: Reversible<K>,
  context: Context,
): DecisionOf<Snapshot, E, F> {
  // An event may come out of a journal: what it holds is not frozen then.
  const parsed = copyOperations(event.inverse, valueLimits, inverseRules);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  // Copies could show a secret under another name, and grow without end.
  if (parsed.value.some(({ op }) => op === 'copy' || op === 'move')) {
    const detail = 'The inverse of an event has no copy and no move. Take the event as it was published.';
    return refused(snapshot, problem('op-not-allowed', detail));
  }
  const key = event[singular[patchable.collection]];
  return decideUpdate(patchable, snapshot, key, context, (entity) =>
    revertSettings(patchable.view, patchable.settings(entity), parsed.value, nameFinder(snapshot)),
  );
}

function decideUpdate<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
>(
  patchable: Patchable<K, T, E, F>,
  snapshot: Snapshot,
  name: string,
  context: Context,
  change: (entity: Collections[K]) => Result<Patched<T>>,
): DecisionOf<Snapshot, E, F> {
  const found = lookUp(snapshot, patchable.collection, name);
  if (!found.ok) return refused(snapshot, found.problem);
  const link = linkOf(patchable.collection, found.value);
  const patched = change(found.value);
  if (!patched.ok) return refused(snapshot, patched.problem, [link]);
  const before = patchable.settings(found.value);
  const { after, operations, inverse } = patched.value;
  if (after === before) return unchanged(snapshot, [link]);
  const about = { [singular[patchable.collection]]: found.value.key };
  const update: Update<T> = { before, after, operations };
  const event = { type: patchable.event, ...eventHead(link, context), ...about, ...update, inverse };
  const effect = { type: patchable.effect, resource: link, ...about, ...update };
  // The name of the member is computed, and a computed one is lost on the type.
  const told = { events: [event as EventBase as E], effects: [effect as EffectBase as F] };
  return accepted(patchable.events, snapshot, [link], told);
}
