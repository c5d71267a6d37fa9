/**
 * Closings: a command that closes many sessions or connections decides which, and lists none. They are read from the
 * table a batch at a time, so that no event or effect is too large, and no batch blocks the event loop.
 */
import {
  accepted,
  eventHead,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EventBase,
  type EventTable,
  type Revisioned,
  type Selection,
} from '../../core/decision.ts';
import { deepFreeze } from '../../json/value.ts';
import type { State } from '../../snapshot/state.ts';

/**
 * The largest number of sessions or connections that one event or effect closes, and that are looked at in one turn of
 * the event loop.
 *
 * @internal
 */
export const batchSize = 1000;

/** Those among which all are that a selection closes. */
interface Found<T> {
  /** The number of them. */
  readonly size: number;
  /** At most `length` of them, from position `offset` on. */
  readonly range: (offset: number, length: number) => readonly T[];
  /** Whether one is closed. */
  readonly isWanted: (item: T) => boolean;
  /** Whether all of them are closed. */
  readonly isExact: boolean;
}

/** How sessions are closed, or connections. */
interface Row<T, E> {
  readonly find: (snapshot: State, selection: Selection, idleOf?: Context['idleOf']) => Found<T>;
  /** Gives one as it is in a later snapshot; `undefined` if it has ended by then. */
  readonly again: (item: T, later: State) => T | undefined;
  /** Makes the event of a batch. */
  readonly eventOf: (items: readonly T[], selection: Selection) => E;
}

/** When a batch is looked at. @internal */
export interface Look {
  /** The snapshot of the decision. */
  readonly decided: State;
  /** The present snapshot: what has ended by now, or no longer meets the criteria, is left out. */
  readonly present: State;
  readonly idleOf?: Context['idleOf'] | undefined;
}

/** The functions that close sessions, or connections. @internal */
export interface Closing<E> {
  /** Gives the number of batches, and of all that are closed; `undefined` if only the batches tell that. */
  readonly extentOf: (
    selection: Selection,
    decided: State,
  ) => { readonly batches: number; readonly count: number | undefined };
  /** Gives the event of a batch, from number 0 on; `undefined` if nothing of it is to be closed. */
  readonly batchAt: (number: number, selection: Selection, look: Look) => E | undefined;
  /** The event without what it closes. */
  readonly headOf: (selection: Selection) => E;
  /** The events of all batches; see the row of the event. */
  readonly eventsOf: (snapshot: State, selection: Selection, idleOf: Context['idleOf']) => Iterable<E>;
}

/** Makes the functions of a row. @internal */
export function defineClosing<T, E>({ find, again, eventOf }: Row<T, E>): Closing<E> {
  const extentOf: Closing<E>['extentOf'] = (selection, decided) => {
    const { size, isExact } = find(decided, selection);
    return { batches: Math.ceil(size / batchSize), count: isExact ? size : undefined };
  };
  const batchAt: Closing<E>['batchAt'] = (number, selection, { decided, present, idleOf }) => {
    const { range, isWanted } = find(decided, selection, idleOf);
    const wanted = range(number * batchSize, batchSize).filter(isWanted);
    const isLeft = (item: T): boolean => {
      const now = again(item, present);
      return now !== undefined && isWanted(now);
    };
    const items = present === decided ? wanted : wanted.filter(isLeft);
    return items.length === 0 ? undefined : deepFreeze(eventOf(items, selection));
  };
  return {
    extentOf,
    batchAt,
    headOf: (selection) => eventOf([], selection),
    *eventsOf(snapshot, selection, idleOf) {
      const look = { decided: snapshot, present: snapshot, idleOf };
      for (let number = 0; number < extentOf(selection, snapshot).batches; number += 1) {
        const batch = batchAt(number, selection, look);
        if (batch !== undefined) yield batch;
      }
    },
  };
}

/** The members of a selection that its events have. @internal */
export function headOfSelection(selection: Selection): Omit<EventBase, 'type'> {
  const { what: _what, where: _where, openedUpTo: _revision, plannedAt: _time, ...head } = selection;
  return head;
}

/**
 * Decides a closing. Unchanged if nothing is to be closed. If more than one batch may be, the decision looks at none of
 * them, and is accepted: to look at all would block the event loop.
 *
 * @internal
 */
export function decideClosing<S extends State & Revisioned, E extends EventBase, F extends EffectBase>(
  events: EventTable<S, E>,
  { extentOf, batchAt }: Closing<E>,
  snapshot: S,
  { what, resource, where }: Pick<Selection, 'what' | 'resource' | 'where'>,
  context: Context,
): DecisionOf<S, E, F> {
  const { openedUpTo, plannedAt, idleOf } = context;
  const closing: Selection = {
    ...{ what, ...eventHead(resource, context), where },
    ...(openedUpTo === undefined ? {} : { openedUpTo }),
    ...(plannedAt === undefined ? {} : { plannedAt }),
  };
  // Not the service or server itself: a command on it of unknown outcome must not keep what is open there from being
  // closed.
  const restsOn = [resource.endsWith(`/${what}`) ? resource : `${resource}/${what}`];
  const look = { decided: snapshot, present: snapshot, idleOf };
  if (extentOf(closing, snapshot).batches <= 1 && batchAt(0, closing, look) === undefined)
    return unchanged(snapshot, restsOn);
  return accepted(events, snapshot, restsOn, { ...context, events: [], closing });
}
