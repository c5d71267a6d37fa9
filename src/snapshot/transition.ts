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
} from '../core/decision.ts';
import { checkJson } from '../core/json.ts';
import { stepLifecycle, type Lifecycle } from '../core/lifecycle.ts';
import { parseOperations, type Operation, type ParsedOperation } from '../core/patch.ts';
import { patchSettings, type JsonObject, type PatchView } from '../core/patch-view.ts';
import type { Result } from '../core/problem.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import type { Update } from '../core/update.ts';
import { linkOf, lookUp, nameFinder, type Collections, type Snapshot } from './snapshot.ts';

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
export function decideStep<
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
  if (stepLifecycle(startable.lifecycle, state, command) === state) return unchanged(snapshot, [link]);
  const { event, effect } = startable.consequence(command, eventHead(link, context), found.value.key);
  return accepted(startable.events, snapshot, [link], { events: [event], effects: [effect] });
}

/** How the things of a collection are patched. @internal */
export interface Patchable<K extends keyof Collections, T extends object, E extends EventBase, F> {
  readonly collection: K;
  readonly view: PatchView<T>;
  readonly events: EventTable<Snapshot, E>;
  /** The settings of one thing. */
  settings(this: void, entity: Collections[K]): T;
  /** The representation: it answers a patch, and a `test` may read its fields. */
  shown(this: void, snapshot: Snapshot, entity: Collections[K], times: TimeFormat): object;
  /** What follows from an update. */
  consequence(this: void, head: Omit<EventBase, 'type'>, key: string, update: Update<T>): Consequence<E, F>;
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
  const found = lookUp(snapshot, patchable.collection, name);
  if (!found.ok) return refused(snapshot, found.problem);
  const link = linkOf(patchable.collection, found.value);
  const before = patchable.settings(found.value);
  const shown = (): JsonObject => patchable.shown(snapshot, found.value, context.times ?? utc) as JsonObject;
  const patched = patchSettings(patchable.view, shown, before, operations, nameFinder(snapshot));
  if (!patched.ok) return refused(snapshot, patched.problem, [link]);
  const { after, operations: needed } = patched.value;
  if (after === before) return unchanged(snapshot, [link]);
  const update = { before, after, operations: needed };
  const { event, effect } = patchable.consequence(eventHead(link, context), found.value.key, update);
  return accepted(patchable.events, snapshot, [link], { events: [event], effects: [effect] });
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
  const parsed = operationsOf(operations);
  return parsed.ok
    ? decidePatch(patchable, snapshot, name, parsed.value, context)
    : refused(snapshot, parsed.problem);
}

function operationsOf(operations: unknown): Result<readonly ParsedOperation[]> {
  const json = checkJson(operations, { depth: 32 });
  return json.ok ? parseOperations(json.value) : json;
}
