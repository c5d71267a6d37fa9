/**
 * Reports: what a host reports of itself, and the facts that follow.
 */
import type * as z from 'zod/mini';

import { beginFold, type EventBase, type EventTable, type Revisioned } from './decision.ts';
import { deepFreeze } from '../json/value.ts';
import { copyJson } from '../json/copy.ts';
import type { Fault } from '../problem.ts';
import { parseShape } from './shape.ts';

/** What every report has. @internal */
export interface ReportBase {
  readonly type: string;
}

/** Why a report cannot be true; a sentence that goes on from its place. */
interface Contradiction {
  readonly contradiction: string;
}

/** One row of a table of reports. */
interface ReportRow<S, O, E> {
  readonly shape: z.core.$ZodType<O>;
  /**
   * The fact that follows; `undefined` when what is reported is known already, or is about a thing that is gone, as
   * happens when a report and a command cross.
   */
  readonly event: (this: void, snapshot: S, report: O, at: number) => E | Contradiction | undefined;
}

/** A row for each type of report. @internal */
export type ReportTable<S, O extends ReportBase, E extends EventBase> = {
  readonly [T in O['type']]: ReportRow<S, Extract<O, { readonly type: T }>, E>;
};

/**
 * What reports come to.
 *
 * @internal
 */
export interface FoldedReports<S, E extends EventBase> {
  /** The snapshot with the report folded in; the same object when it told nothing new. */
  readonly next: S;
  /** The facts that follow, in order. */
  readonly events: readonly E[];
  /** What is malformed or contradicts what is known. Such reports change nothing; the others hold. */
  readonly faults: readonly Fault[];
}

/**
 * Folds a report over a snapshot, as one change.
 *
 * @internal
 */
export function foldReports<S extends Revisioned, O extends ReportBase, E extends EventBase>(
  tables: { readonly reports: ReportTable<S, O, E>; readonly events: EventTable<S, E> },
  snapshot: S,
  given: readonly unknown[],
  at: number,
): FoldedReports<S, E> {
  const folding = beginFold(tables.events, snapshot);
  const events: E[] = [];
  const faults: Fault[] = [];
  for (const [position, report] of given.entries()) {
    const told = interpret(tables.reports, folding.current(), report, position, at);
    if ('faults' in told) for (const fault of told.faults) faults.push(fault);
    else if (told.event !== undefined && folding.apply(told.event)) events.push(told.event);
  }
  return { next: folding.finish(), events, faults };
}

function interpret<S, O extends ReportBase, E extends EventBase>(
  table: ReportTable<S, O, E>,
  snapshot: S,
  given: unknown,
  position: number,
  at: number,
): { readonly event: E | undefined } | { readonly faults: readonly Fault[] } {
  // A copy: a host may give anything, and what it gives may change or throw when it is read.
  const json = copyJson(given, { depth: 8 });
  if (!json.ok) return faulty(position, 'is not plain JSON');
  const report = json.value;
  const row = rowOf(table, report);
  if (row === undefined) return faulty(position, 'is not a report of a known type');
  const parsed = parseShape(row.shape, report, [position]);
  if (!parsed.ok) return { faults: parsed.faults };
  const told = row.event(snapshot, parsed.value, at);
  if (told === undefined) return { event: undefined };
  return 'contradiction' in told ? faulty(position, told.contradiction) : { event: deepFreeze(told) };
}

function faulty(position: number, detail: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ pointer: `/${String(position)}`, code: 'validation-failed', detail }] };
}

function rowOf<S, O extends ReportBase, E extends EventBase>(
  table: ReportTable<S, O, E>,
  report: unknown,
): ReportRow<S, unknown, E> | undefined {
  if (typeof report !== 'object' || report === null || !('type' in report)) return undefined;
  const { type } = report;
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return undefined;
  return table[type as O['type']] as ReportRow<S, unknown, E>;
}
