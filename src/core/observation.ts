/**
 * Observations: what a host reports of itself, and the facts that follow.
 */
import type * as z from 'zod/mini';

import { beginFold, type EventBase, type EventTable, type Revisioned } from './decision.ts';
import { deepFreeze } from './freeze.ts';
import { checkJson } from './json.ts';
import type { Fault } from './problem.ts';
import { parseShape } from './shape.ts';

/** What every observation has. @internal */
export interface ObservationBase {
  readonly type: string;
}

/** Why an observation cannot be true; a sentence that goes on from its place. */
interface Contradiction {
  readonly contradiction: string;
}

/** One row of a table of observations. */
interface ObservationRow<S, O, E> {
  readonly shape: z.core.$ZodType<O>;
  /**
   * The fact that follows; `undefined` when what is reported is known already, or is about a thing that is gone, as
   * happens when a report and a command cross.
   */
  readonly event: (this: void, snapshot: S, observation: O, at: number) => E | Contradiction | undefined;
}

/** A row for each type of observation. @internal */
export type ObservationTable<S, O extends ObservationBase, E extends EventBase> = {
  readonly [T in O['type']]: ObservationRow<S, Extract<O, { readonly type: T }>, E>;
};

/**
 * What a report comes to.
 *
 * @public
 */
export interface Observed<S, E extends EventBase> {
  /** The snapshot with the report folded in; the same object when it told nothing new. */
  readonly next: S;
  /** The facts that follow, in order. */
  readonly events: readonly E[];
  /** What is malformed or contradicts what is known. Such observations change nothing; the others hold. */
  readonly faults: readonly Fault[];
}

/**
 * Folds a report over a snapshot, as one change.
 *
 * @internal
 */
export function observeWith<S extends Revisioned, O extends ObservationBase, E extends EventBase>(
  tables: { readonly observations: ObservationTable<S, O, E>; readonly events: EventTable<S, E> },
  snapshot: S,
  report: readonly unknown[],
  at: number,
): Observed<S, E> {
  const folding = beginFold(tables.events, snapshot);
  const events: E[] = [];
  const faults: Fault[] = [];
  for (const [position, observation] of report.entries()) {
    const told = interpret(tables.observations, folding.current(), observation, position, at);
    if ('faults' in told) for (const fault of told.faults) faults.push(fault);
    else if (told.event !== undefined && folding.apply(told.event)) events.push(told.event);
  }
  return { next: folding.finish(), events, faults };
}

function interpret<S, O extends ObservationBase, E extends EventBase>(
  table: ObservationTable<S, O, E>,
  snapshot: S,
  given: unknown,
  position: number,
  at: number,
): { readonly event: E | undefined } | { readonly faults: readonly Fault[] } {
  // A copy: a host may give anything, and what it gives may change or throw when it is read.
  const json = checkJson(given, { depth: 8 });
  if (!json.ok) return faulty(position, 'is not plain JSON');
  const observation = json.value;
  const row = rowOf(table, observation);
  if (row === undefined) return faulty(position, 'is not an observation of a known type');
  const parsed = parseShape(row.shape, observation, [position]);
  if (!parsed.ok) return { faults: parsed.faults };
  const told = row.event(snapshot, parsed.value, at);
  if (told === undefined) return { event: undefined };
  return 'contradiction' in told ? faulty(position, told.contradiction) : { event: deepFreeze(told) };
}

function faulty(position: number, detail: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ pointer: `/${String(position)}`, code: 'validation-failed', detail }] };
}

function rowOf<S, O extends ObservationBase, E extends EventBase>(
  table: ObservationTable<S, O, E>,
  observation: unknown,
): ObservationRow<S, unknown, E> | undefined {
  if (typeof observation !== 'object' || observation === null || !('type' in observation)) return undefined;
  const { type } = observation;
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return undefined;
  return table[type as O['type']] as ObservationRow<S, unknown, E>;
}
