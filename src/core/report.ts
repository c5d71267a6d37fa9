/**
 * Reports: the changes that a host reports on its own, and the events that follow from them.
 *
 * The reported change has already happened, so a report cannot be refused. A report that is malformed or contradicts
 * the snapshot changes nothing and becomes a fault; the other reports of the list still count.
 */
import type * as z from 'zod/mini';

import { beginFold, type EventBase, type EventTable, type Revisioned } from './decision.ts';
import { deepFreeze, type JsonObject } from '../json/value.ts';
import { copyJson } from '../json/copy.ts';
import { formatPointer } from '../json/pointer.ts';
import { faultsOf, type Fault } from '../problem.ts';
import { parseShape } from './shape.ts';

/** The members that every report has. @internal */
export interface ReportBase {
  readonly type: string;
}

/** Why a report cannot be true. @internal */
export interface Contradiction {
  /** The reason; the text goes on from the place. */
  readonly contradiction: string;
  /** The place within the report; left out for the report as a whole. */
  readonly path?: readonly (string | number)[];
  /** The link of a resource that the report names, and that does not exist. */
  readonly missing?: string;
}

/** One row of a table of reports. */
interface ReportRow<S, O, E> {
  readonly shape: z.core.$ZodType<O>;
  /**
   * The event that follows from the report, or several events in order. `undefined` if the snapshot says the same
   * already, or if the session or connection is gone: both happen when a report and a command cross.
   */
  readonly event: (
    this: void,
    snapshot: S,
    report: O,
    at: number,
  ) => E | readonly E[] | Contradiction | undefined;
  /**
   * The aspect of a resource that the report describes as a whole. Left out for a report of a single change, such as a
   * session that was closed.
   *
   * A report of a whole aspect can arrive while a command on this aspect is in flight. The report is newer than the
   * command, so it is folded once more when the command settles.
   */
  readonly whole?: {
    /** The aspect of the resource; see the `aspect` of an effect. */
    readonly aspect: string;
    /** Gives the link of the resource, which may be created at the moment. */
    readonly resource: (this: void, report: O) => string;
  };
  /**
   * Gives the resource, and when what is reported began there; the time is left out if the report does not say it. What
   * began before the resource was created belongs to an earlier resource of the name.
   */
  readonly began?: (this: void, report: O) => { readonly link: string; readonly at?: number | undefined };
}

/** A row for each type of report. @internal */
export type ReportTable<S, O extends ReportBase, E extends EventBase> = {
  readonly [T in O['type']]: ReportRow<S, Extract<O, { readonly type: T }>, E>;
};

/**
 * The result of folding reports over a snapshot.
 *
 * @internal
 */
export interface FoldedReports<S, E extends EventBase> {
  /** The snapshot after the reports; the same object if the reports bring nothing new. */
  readonly next: S;
  /** The events that follow from the reports, in order. */
  readonly events: readonly E[];
  /** Faults of the reports that are malformed or contradict the snapshot. Their pointers start at the list. */
  readonly faults: readonly Fault[];
}

/** A report of the whole of an aspect, which may cross a command in flight. @internal */
export interface CrossingReport {
  /** Link of the resource. */
  readonly link: string;
  /** The aspect of the resource. */
  readonly aspect: string;
  /** The report, deep-frozen. */
  readonly report: JsonObject;
}

/** What a runtime says about reports that cross commands. @internal */
export interface CrossingHooks {
  /**
   * Gets each report of the whole of an aspect. If the function gives true, a contradiction of the report is no fault
   * yet, because the report is folded again later.
   */
  readonly hold?: (this: void, report: CrossingReport) => boolean;
  /**
   * Whether a report is late: the resource was deleted a moment ago. If its name is used again, `began` tells the two
   * resources apart. Left out if nothing was deleted.
   */
  readonly isLate?: ((this: void, link: string, began?: number) => boolean) | undefined;
}

/**
 * Folds a list of reports over a snapshot, as one change.
 *
 * @param tables - the tables of reports and events
 * @param snapshot - the present snapshot
 * @param given - the reports, not yet checked
 * @param at - the time of the reports, in milliseconds since 1970-01-01T00:00:00Z
 * @param crossing - what the runtime says about reports that cross commands
 * @internal
 */
export function foldReports<S extends Revisioned, O extends ReportBase, E extends EventBase>(
  tables: { readonly reports: ReportTable<S, O, E>; readonly events: EventTable<S, E> },
  snapshot: S,
  given: readonly unknown[],
  at: number,
  crossing: CrossingHooks = {},
): FoldedReports<S, E> {
  const folding = beginFold(tables.events, snapshot);
  const events: E[] = [];
  const faults: Fault[] = [];
  for (const [position, report] of given.entries()) {
    const read = interpret(tables.reports, folding.current(), report, { position, at, crossing });
    if ('faults' in read) for (const fault of read.faults) faults.push(fault);
    else for (const event of read.events) if (folding.apply(event)) events.push(event);
  }
  return { next: folding.finish(), events, faults };
}

interface Interpreting {
  readonly position: number;
  readonly at: number;
  readonly crossing: CrossingHooks;
}

function interpret<S, O extends ReportBase, E extends EventBase>(
  table: ReportTable<S, O, E>,
  snapshot: S,
  reported: unknown,
  { position, at, crossing: { hold, isLate } }: Interpreting,
): { readonly events: readonly E[] } | { readonly faults: readonly Fault[] } {
  // A copy is made first: a value from the host may change, or throw, while it is read.
  const json = copyJson(reported, { depth: 8, undefinedMembers: 'left-out' });
  if (!json.ok)
    return {
      faults: faultsOf(json.problem).map(({ pointer, detail }) => ({
        pointer: formatPointer([position]) + pointer,
        code: 'validation-failed',
        detail,
      })),
    };
  const report = json.value;
  const row = rowOf(table, report);
  if (row === undefined)
    return faulty(position, `must be a report; its "type" must be one of ${Object.keys(table).join(', ')}`);
  const parsed = parseShape(row.shape, report, [position]);
  if (!parsed.ok) return { faults: parsed.faults };
  const link = row.whole?.resource(parsed.value);
  const aspect = row.whole?.aspect ?? '';
  const comesAgain =
    link !== undefined && hold?.({ link, aspect, report: deepFreeze(report as JsonObject) }) === true;
  const follows = row.event(snapshot, parsed.value, at);
  if (follows === undefined || (isLate && isOfEarlier(row, parsed.value, isLate))) return { events: [] };
  if ('contradiction' in follows) {
    const { contradiction, path, missing } = follows;
    const isIgnored = comesAgain || (missing !== undefined && isLate?.(missing) === true);
    return isIgnored ? { events: [] } : faulty(position, contradiction, path);
  }
  return { events: deepFreeze(isList(follows) ? follows : [follows]) };
}

/** Whether a report is about a resource that has made way for another one of its name. */
function isOfEarlier<O>(
  { began }: Pick<ReportRow<never, O, unknown>, 'began'>,
  report: O,
  isLate: NonNullable<CrossingHooks['isLate']>,
): boolean {
  const begun = began?.(report);
  return begun?.at !== undefined && isLate(begun.link, begun.at);
}

/** Whether a value is a list, of one value or a list of them. @internal */
export function isList<E>(value: E | readonly E[]): value is readonly E[] {
  return Array.isArray(value);
}

function faulty(
  position: number,
  detail: string,
  path: readonly (string | number)[] = [],
): { readonly faults: readonly Fault[] } {
  return { faults: [{ pointer: formatPointer([position, ...path]), code: 'validation-failed', detail }] };
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
