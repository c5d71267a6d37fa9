/**
 * Decisions: the results of transitions.
 *
 * A transition reads a snapshot and returns events (what happened) and effects (what the host must do). Folding the
 * events over the snapshot gives the next snapshot. Commands, replay and dry runs all use this fold.
 */
import { deepFreeze } from '../json/value.ts';
import { Batch } from './batch.ts';
import type { Note } from './note.ts';
import { problemOf, type Fault, type Problem } from '../problem.ts';
import type { TimeFormat } from './time.ts';

/**
 * The inputs of a transition besides the snapshot, such as the time and the caller.
 *
 * @public
 */
export interface Context {
  /** The current time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
  /** Name of the caller, for the events; left out if the caller is unknown. */
  readonly actor?: string;
  /** Id of the command that the transition undoes, for the events; left out if it undoes none. */
  readonly undoes?: string;
  /** The format of the times that a `test` in a JSON Patch compares; UTC if left out. */
  readonly times?: TimeFormat;
  /** Whether callers must authenticate. If `required`, the last user cannot be deleted. */
  readonly authentication?: 'required' | 'none';
  /**
   * Whether a user name is that of an administrator; left out if the roles of users are not known. If callers must
   * authenticate, the last administrator cannot be deleted.
   */
  readonly isAdministrator?: (user: string) => boolean;
  /**
   * The last revision at which a session or connection may have opened to be closed: a command with the mark of a plan
   * closes no later one. Left out if all that are open may be closed.
   */
  readonly openedUpTo?: number;
  /** The time of the plan of `openedUpTo`: a session is no older then. Left out without a plan. */
  readonly plannedAt?: number;
  /**
   * Gives the idle time of a session as the host knows it now, by the id of the session; `undefined` if the host has
   * none. Left out if the stored idle times are to be used.
   */
  readonly idleOf?: (session: number) => number | undefined;
}

/**
 * The members of every event. An event says what happened, as plain JSON.
 *
 * @public
 */
export interface EventBase {
  /** The type of the event, such as `service.stopped`. */
  readonly type: string;
  /** The time of the event, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: number;
  /** Name of the caller; left out for a report of the host, or if the caller is unknown. */
  readonly actor?: string;
  /** Link of the resource that changed. */
  readonly resource: string;
  /** Id of the command that this one undoes, by the history; left out if it undoes none. */
  readonly undoes?: string;
  /** Id of the command that settled with this event; left out in a decision and for a report of the host. */
  readonly command?: string;
  /**
   * The place in the log of the fleet; left out for an event that the other nodes do not share, and without a fleet.
   */
  readonly fleet?: FleetPlace;
}

/**
 * The place of an event in the log that the nodes of a fleet share.
 *
 * @public
 */
export interface FleetPlace {
  /** The position behind the record of the event, or behind a later record of the same change. */
  readonly position: string;
  /** The name of the node that was asked for the change. */
  readonly node: string;
}

/**
 * An event of the given type, or of one of the given types.
 *
 * @public
 */
export type EventHead<T extends string> = T extends string ? EventBase & { readonly type: T } : never;

/**
 * The members of every effect. An effect says what the host must do, as plain JSON.
 *
 * @public
 */
export interface EffectBase {
  /** The type of the effect, such as `service.stop`. */
  readonly type: string;
  /** Link of the resource of the effect. */
  readonly resource: string;
}

/**
 * An effect of the given type, or of one of the given types.
 *
 * @public
 */
export type EffectHead<T extends string> = T extends string ? EffectBase & { readonly type: T } : never;

/**
 * What a closing closes: the sessions or connections that were open at the decision, and meet the criteria then and
 * when they are closed. A selection is no list: there can be a million of them. Plain JSON.
 *
 * @public
 */
export interface Selection extends Pick<EventBase, 'at' | 'actor' | 'resource' | 'undoes'> {
  /** What is closed. */
  readonly what: 'sessions' | 'connections';
  /**
   * What all of them have in common: the criteria of `closeSessions`, which are none if all sessions are closed. Of
   * connections, the name of their server.
   */
  readonly where: Readonly<Record<string, string | number>>;
  /** As in the context: with the mark of a plan, what has opened after this revision stays open. */
  readonly openedUpTo?: number;
  /** As in the context: the time of the plan. */
  readonly plannedAt?: number;
}

/**
 * The transition was accepted; `next` is the snapshot after the change.
 *
 * @public
 */
export interface Accepted<S, E extends EventBase, F extends EffectBase> {
  /** The snapshot changes. */
  readonly outcome: 'accepted';
  /**
   * The snapshot after the events, and after the whole closing. The fold runs when `next` is first read; the result is
   * kept. In a decision of this library `next` is a getter, so a copy made with `{ ...decision }` has no `next`.
   */
  readonly next: S;
  /** Links of the resources the decision rests on. */
  readonly resources: readonly string[];
  /** The events, in order; without those of the closing. */
  readonly events: readonly E[];
  /** The effects, in order. Empty if only the state of the library changes, such as an admin user. */
  readonly effects: readonly F[];
  /** What is closed after that, a batch at a time; left out if nothing is. */
  readonly closing?: Selection;
  /** What stays as it is, although the caller may expect a change. Left out if there is nothing. */
  readonly notes?: readonly Note[];
}

/**
 * The transition changes nothing: the requested state is already in place.
 *
 * @public
 */
export interface Unchanged<S> {
  /** Says that nothing changes. */
  readonly outcome: 'unchanged';
  /** The snapshot that was given: the same object. */
  readonly next: S;
  /** Links of the resources the decision rests on. */
  readonly resources: readonly string[];
  /** What stays as it is, although the caller may expect a change. Left out if there is nothing. */
  readonly notes?: readonly Note[];
}

/**
 * The transition was refused; `problem` says why.
 *
 * @public
 */
export interface Refused<S> {
  /** Says that nothing changes. */
  readonly outcome: 'refused';
  /** The snapshot that was given: the same object. */
  readonly next: S;
  /** Links of the resources the decision rests on; empty if there is no such resource. */
  readonly resources: readonly string[];
  /** The reason. */
  readonly problem: Problem;
}

/**
 * The result of a transition.
 *
 * @public
 */
export type DecisionOf<S, E extends EventBase = EventBase, F extends EffectBase = EffectBase> =
  Accepted<S, E, F> | Unchanged<S> | Refused<S>;

/**
 * A transition whose arguments are all bound, except the snapshot and the context. `execute`, `plan` and `sequence`
 * take such a transition.
 *
 * @public
 */
export type TransitionOf<S, E extends EventBase = EventBase, F extends EffectBase = EffectBase> = (
  snapshot: S,
  context: Context,
) => DecisionOf<S, E, F>;

/** Makes a decision that changes nothing. @internal */
export function unchanged<S>(
  snapshot: S,
  resources: readonly string[],
  notes: readonly Note[] = [],
): Unchanged<S> {
  return { outcome: 'unchanged', next: snapshot, resources, ...(notes.length > 0 && { notes }) };
}

/** Makes a decision that refuses. @internal */
export function refused<S>(snapshot: S, problem: Problem, resources: readonly string[] = []): Refused<S> {
  return { outcome: 'refused', next: snapshot, resources, problem };
}

/**
 * Refuses a command for faults that were found before its decision, such as those of its secrets. The answer has the
 * faults of the decision too, so that no fault hides another one.
 *
 * @param faults - the faults; the decision stands if there are none
 * @internal
 */
export function refusedFor<S, D extends DecisionOf<S>>(
  faults: readonly Fault[],
  snapshot: S,
  decision: D,
): D | Refused<S> {
  if (faults.length === 0) return decision;
  const { status, errors = [] } = decision.outcome === 'refused' ? decision.problem : {};
  const all = [...(status === 422 ? errors : []), ...faults];
  const inOrder = all.toSorted((one, other) => (one.operation ?? 0) - (other.operation ?? 0));
  return refused(snapshot, problemOf(inOrder), decision.resources);
}

/**
 * The fold that an `evolve` is part of, as the event sees it.
 *
 * @internal
 */
export interface FoldContext {
  /** The revision of the next snapshot. */
  readonly revision: number;
  /** The batch of the fold. What the batch has made is changed in place. */
  readonly batch: Batch;
}

/**
 * One row of a table of events: how an event of the type changes a snapshot.
 *
 * @internal
 */
export type EventRow<S, E, D = unknown> = ReportedRow<S, E> | CommandRow<S, E, D>;

interface EvolvingRow<S, E> {
  /** Gives the snapshot after the event; the same snapshot if the resource of the event is gone. Never throws. */
  evolve(this: void, snapshot: S, event: E, fold: FoldContext): S;
}

/** A row for reports of the host. A reported change is already in place: no effect causes or undoes the change. */
interface ReportedRow<S, E> extends EvolvingRow<S, E> {
  readonly scope?: never;
  readonly effect?: never;
  readonly revert?: never;
}

interface CommandRow<S, E, D> extends EvolvingRow<S, E> {
  /** `node` if the event is about this gateway alone; left out if all nodes of a fleet share the change. */
  readonly scope?: 'node';
  /** The effect that causes the event; left out if only the state of the library changes. */
  readonly effect?: string;
  /** The transition that undoes the event; `irreversible` if it closes, flushes, or changes or deletes a user. */
  readonly revert: 'irreversible' | ((this: void, snapshot: S, event: E, context: Context) => D);
  /** Gives the events of a closing, one for each batch; left out for an event of no closing. */
  readonly closing?: (this: void, snapshot: S, closing: Selection, idleOf: Context['idleOf']) => Iterable<E>;
}

/** A row for each type of event. @internal */
export type EventTable<S, E extends EventBase> = {
  readonly [T in E['type']]: EventRow<S, Extract<E, { readonly type: T }>, DecisionOf<S>>;
};

/**
 * A row for each type of effect: how the effect is undone. An `irreversible` effect must be the last effect of a
 * command.
 *
 * @internal
 */
export type EffectTable<F extends EffectBase> = {
  readonly [T in F['type']]: 'irreversible' | Reversible<Extract<F, { readonly type: T }>, F>;
};

/** How an effect is undone. */
interface Reversible<G, F> {
  /** The aspect of the resource that the effect changes. An effect and its undo change the same aspect. */
  readonly aspect: string;
  /** Gives the effect that undoes an effect; `undefined` if the effect stands even when the command fails. */
  readonly undo: (this: void, effect: G) => F | undefined;
  /** The event settles before anything after it begins, because reports may be about what the effect creates. */
  readonly settlesFirst?: true;
  /** Nothing of the resource is left for the host to look at. */
  readonly deletes?: true;
  /** The links of what must still be there to undo the effect once its event has settled. */
  readonly undoRestsOn?: (this: void, effect: G) => readonly string[];
  /**
   * Says why the host must not be asked now, whatever the decision knew: the rest of a sentence. `undefined` if it may
   * be.
   */
  readonly obstacle?: (this: void, snapshot: unknown, effect: G) => string | undefined;
  /** Gives the report that the applied effect amounts to; left out if no report gives the aspect. */
  readonly confirms?: (this: void, effect: G) => object;
}

/** The part of a snapshot that the fold reads. @internal */
export interface Revisioned {
  readonly revision: number;
}

/** A fold in progress: takes events one by one, then gives one snapshot. @internal */
export interface Folding<S, E> {
  /** The state so far. The next `apply` may change parts of the state in place, so do not keep the state. */
  current(this: void): S;
  /** Applies an event; tells whether the event changed the state. */
  apply(this: void, event: E): boolean;
  /** The next snapshot; the initial snapshot itself if nothing changed. */
  finish(this: void): S;
}

/**
 * Begins a fold. The fold is one change: it raises the revision by one for any number of events.
 *
 * @throws TypeError, from `apply`, for an event of unknown type: to skip the event would make the snapshot wrong
 * @internal
 */
export function beginFold<S extends Revisioned, E extends EventBase>(
  table: EventTable<S, E>,
  snapshot: S,
): Folding<S, E> {
  const revision = snapshot.revision + 1;
  const batch = new Batch();
  const context: FoldContext = { revision, batch };
  let current = snapshot;
  return {
    current: () => current,
    apply(event) {
      if (!Object.hasOwn(table, event.type)) throw new TypeError(`There is no event of type "${event.type}"`);
      const row = table[event.type as E['type']];
      const before = batch.changes;
      const next = row.evolve(current, event as Extract<E, { readonly type: E['type'] }>, context);
      const changed = next !== current || batch.changes !== before;
      current = next;
      return changed;
    },
    finish() {
      if (current === snapshot) return snapshot;
      batch.end();
      // The first change has made a copy, unless the row has frozen its state.
      const next: S = Object.isFrozen(current) ? { ...current } : current;
      return Object.freeze(Object.assign(next, { revision }));
    },
  };
}

/**
 * Folds events over a snapshot, as one change.
 *
 * @returns the next snapshot; the same object if the events change nothing
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function fold<S extends Revisioned, E extends EventBase>(
  table: EventTable<S, E>,
  snapshot: S,
  events: Iterable<E>,
): S {
  const folding = beginFold(table, snapshot);
  for (const event of events) folding.apply(event);
  return folding.finish();
}

/** Events, and the effects that cause them, in order. @internal */
export interface EventsAndEffects<E, F> {
  readonly events: readonly E[];
  readonly effects: readonly F[];
  /** What is closed after that. */
  readonly closing?: Selection;
}

/** What a decision is made of: its effects follow from its events. */
type Deciding<E> = Omit<EventsAndEffects<E, never>, 'effects'> & {
  /** The idle times by which the closing selects. */
  readonly idleOf?: Context['idleOf'];
  /** The host has done everything already, and is asked for nothing. */
  readonly isInPlace?: true;
};

/** The members that an effect does not have. The criteria of a closing are why something is closed. */
const ofEvents: ReadonlySet<string> = new Set<keyof EventBase | 'criteria'>([
  ...(['type', 'at', 'actor', 'undoes', 'command', 'fleet'] as const),
  'criteria',
]);

/** The effects of events: an event that is read again has the same object. */
const knownEffects = new WeakMap<EventBase, EffectBase>();

/**
 * Gives the effect that causes an event: what the event says of its resource, without who, when and why. `undefined` if
 * only the state of the library changes. The effect shares the objects of the event.
 *
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function effectOf<S, E extends EventBase>(table: EventTable<S, E>, event: E): EffectBase | undefined {
  const { effect: effectType } = table[event.type as E['type']];
  if (effectType === undefined) return undefined;
  const known = knownEffects.get(event);
  if (known !== undefined) return known;
  // A loop, because each command makes an effect, and the other ways take three times as long.
  const effect: Record<string, unknown> = { type: effectType };
  for (const [name, value] of Object.entries(event)) if (!ofEvents.has(name)) effect[name] = value;
  knownEffects.set(event, Object.freeze(effect as object as EffectBase));
  return effect as object as EffectBase;
}

/** The snapshot of the decision of each closing. */
const snapshots = new WeakMap<object, unknown>();

/**
 * Gives the snapshot on which a closing was decided; `undefined` for a closing that {@link accepted} has not seen.
 *
 * @internal
 */
export function decidedOn(closing: object): unknown {
  return snapshots.get(closing);
}

/**
 * An accepted decision that folds its events on the first read of `next`. The writer and most callers never read
 * `next`.
 */
class AcceptedDecision<S extends Revisioned, E extends EventBase, F extends EffectBase> implements Accepted<
  S,
  E,
  F
> {
  readonly outcome = 'accepted';
  readonly resources: readonly string[];
  readonly events: readonly E[];
  readonly effects: readonly F[];
  declare readonly closing?: Selection;
  declare readonly notes?: readonly Note[];
  readonly #table: EventTable<S, E>;
  readonly #before: S;
  readonly #idleOf: Context['idleOf'];
  #next: S | undefined;

  constructor(
    table: EventTable<S, E>,
    before: S,
    resources: readonly string[],
    { events, closing, idleOf, isInPlace }: Deciding<E>,
    notes: readonly Note[],
  ) {
    this.#table = table;
    this.#before = before;
    this.#idleOf = idleOf;
    this.resources = resources;
    this.events = deepFreeze(events);
    // The table has the effects of its events.
    const effects = isInPlace ? [] : events.flatMap((event) => effectOf(table, event) ?? []);
    this.effects = Object.freeze(effects as F[]);
    if (closing !== undefined) snapshots.set((this.closing = deepFreeze(closing)), before);
    if (notes.length > 0) this.notes = notes;
    // Frozen, so that no caller can replace the events after the check.
    Object.freeze(this);
  }

  // A class, because a getter in an object literal makes each decision several times as expensive.
  get next(): S {
    return (this.#next ??= fold(this.#table, this.#before, this.#all()));
  }

  *#all(): Generator<E> {
    yield* this.events;
    const { closing } = this;
    if (closing === undefined) return;
    const row = this.#table[`${closing.what}.closed` as E['type']] as Pick<
      CommandRow<S, E, unknown>,
      'closing'
    >;
    yield* row.closing?.(this.#before, closing, this.#idleOf) ?? [];
  }

  static isInstance(decision: object): boolean {
    return #next in decision;
  }
}

/**
 * Makes a decision that accepts, with the effects of its events. Freezes the events and the closing.
 *
 * @internal
 */
export function accepted<S extends Revisioned, E extends EventBase, F extends EffectBase>(
  table: EventTable<S, E>,
  snapshot: S,
  resources: readonly string[],
  change: Deciding<E>,
  notes: readonly Note[] = [],
): Accepted<S, E, F> {
  return new AcceptedDecision<S, E, F>(table, snapshot, resources, change, notes);
}

/**
 * Tells whether {@link accepted} made the decision. The events of such a decision are known to fold, and to have no
 * secret in plain text. A decision from a host is checked before the runtime applies its effects.
 *
 * @internal
 */
export function isTrusted(decision: object): boolean {
  return AcceptedDecision.isInstance(decision);
}

/**
 * Combines transitions into one transition: all or nothing, one change, one revision.
 *
 * @param tell - gives the problem of the sequence if the transition at a position is refused
 * @returns a function from transitions to a transition, for the given tables
 * @internal
 */
export function sequenceFor<S extends Revisioned, E extends EventBase, F extends EffectBase>(
  events: EventTable<S, E>,
  effects: EffectTable<F>,
  tell: (problem: Problem, position: number) => Problem = inSequence,
): (transitions: readonly TransitionOf<S, E, F>[]) => TransitionOf<S, E, F> {
  return (transitions) => (snapshot, context) => {
    const decisions: DecisionOf<S, E, F>[] = [];
    for (const [position, transition] of transitions.entries()) {
      const decision = transition(decisions.at(-1)?.next ?? snapshot, context);
      decisions.push(decision);
      if (decision.outcome === 'refused')
        return refused(snapshot, tell(decision.problem, position), resourcesOf(decisions));
    }
    const resources = resourcesOf(decisions);
    const notes = decisions.flatMap((decision) =>
      decision.outcome === 'refused' ? [] : (decision.notes ?? []),
    );
    const accepting = decisions.filter((decision) => decision.outcome === 'accepted');
    if (accepting.length === 0) return unchanged(snapshot, resources, notes);
    const all = [...decisions, { resources: needsOfUndo(effects, accepting) }];
    const change = { ...(context.idleOf && { idleOf: context.idleOf }), ...together(accepting) };
    const whole = accepted<S, E, F>(events, snapshot, resourcesOf(all), change, notes);
    if (accepting.every(isTrusted)) return whole;
    // A plain object, so that the runtime checks it: a host has built one of the decisions.
    return { ...whole, next: whole.next, effects: accepting.flatMap((decision) => decision.effects) };
  };
}

/** Joins decisions, of which at most one closes. */
function together<E, F>(decisions: readonly EventsAndEffects<E, F>[]): Deciding<E> {
  const closing = decisions.find((decision) => decision.closing !== undefined)?.closing;
  return {
    events: decisions.flatMap(({ events }) => events),
    ...(closing && { closing }),
  };
}

function inSequence(problem: Problem, position: number): Problem {
  const detail = `Transition ${String(position + 1)} of the sequence: ${problem.detail}`;
  return Object.freeze({ ...problem, detail });
}

function resourcesOf(
  decisions: readonly Pick<Accepted<unknown, EventBase, EffectBase>, 'resources'>[],
): readonly string[] {
  return [...new Set(decisions.flatMap((decision) => decision.resources))];
}

/**
 * The links of what must still be there to undo the effects that others follow: a later effect can be refused.
 *
 * @throws RangeError if one of them is irreversible
 */
function needsOfUndo<S extends Revisioned, E extends EventBase, F extends EffectBase>(
  table: EffectTable<F>,
  decisions: readonly Accepted<S, E, F>[],
): readonly string[] {
  const acting = decisions.filter(({ effects, closing }) => closing !== undefined || effects.length > 0);
  return acting.slice(0, -1).flatMap(({ effects, closing }) => {
    if (closing !== undefined) throw notLast(`${closing.what}.close`);
    return effects.flatMap((effect) => {
      const row = table[effect.type as F['type']];
      if (row === 'irreversible') throw notLast(effect.type);
      return row.undoRestsOn?.(effect as never) ?? [];
    });
  });
}

function notLast(type: string): RangeError {
  return new RangeError(
    `"${type}" cannot be undone: put that transition last, and use only one such transition`,
  );
}

/** The common members of an event of a transition. @internal */
export function eventHead(resource: string, { now, actor, undoes }: Context): Omit<EventBase, 'type'> {
  return {
    at: now,
    ...(actor === undefined ? {} : { actor }),
    resource,
    ...(undoes === undefined ? {} : { undoes }),
  };
}
