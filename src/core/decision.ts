/**
 * Decisions: what a transition returns.
 *
 * A transition looks at a snapshot and returns events (what happened) and effects (what the host must do). A fold over
 * the events alone makes the next snapshot, so the same few lines serve the live path, replay and dry run.
 */
import { deepFreeze } from '../json/value.ts';
import { createOwner, type Owner } from './ordered-map.ts';
import type { Problem } from '../problem.ts';
import type { TimeFormat } from './time.ts';

/**
 * What a transition may know besides the snapshot: the time and who asked.
 *
 * @public
 */
export interface Context {
  /** The current time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
  /** Name of whoever asked, for the record. Left out when nobody is known. */
  readonly actor?: string;
  /** How times are written where a JSON Patch tests one; UTC when left out. */
  readonly times?: TimeFormat;
  /** Whether callers have to authenticate. Then the last one who can is not deleted. */
  readonly authentication?: 'required' | 'none';
}

/**
 * What every event has: something that happened, as plain JSON.
 *
 * @public
 */
export interface EventBase {
  /** What happened, such as `service.stopped`. */
  readonly type: string;
  /** When it happened, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: number;
  /** Name of whoever asked for it; left out when it was reported by the host or nobody is known. */
  readonly actor?: string;
  /** Link of the resource it happened to. */
  readonly resource: string;
  /** Id of the command that settled with it; left out in a decision and in what the host reports. */
  readonly command?: string;
}

/**
 * An event of one type, or of one of several.
 *
 * @public
 */
export type EventOf<T extends string> = T extends string ? EventBase & { readonly type: T } : never;

/**
 * What every effect has: something the host must do, as plain JSON.
 *
 * @public
 */
export interface EffectBase {
  /** What the host is asked to do, such as `service.stop`. */
  readonly type: string;
  /** Link of the resource it is about. */
  readonly resource: string;
}

/**
 * An effect of one type, or of one of several.
 *
 * @public
 */
export type EffectOf<T extends string> = T extends string ? EffectBase & { readonly type: T } : never;

/**
 * The transition may happen: `next` is the snapshot once it has.
 *
 * @public
 */
export interface Accepted<S, E extends EventBase, F extends EffectBase> {
  /** Says that the snapshot changes. */
  readonly outcome: 'accepted';
  /**
   * The old snapshot with {@link Accepted.events} folded over it. The fold runs when `next` is first read, and its result
   * is kept. In a decision of this library `next` is a getter, so a copy made with `{ ...decision }` lacks it.
   */
  readonly next: S;
  /** Links of the resources the decision rests on. */
  readonly resources: readonly string[];
  /** What happens, in order. */
  readonly events: readonly E[];
  /** What the host must do, in order. Empty when only our own records change. */
  readonly effects: readonly F[];
}

/**
 * What was asked for is so already.
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
  /** Links of the resources the decision rests on; empty when there is no such resource. */
  readonly resources: readonly string[];
  /** Why. */
  readonly problem: Problem;
}

/**
 * The answer of a transition.
 *
 * @public
 */
export type DecisionOf<S, E extends EventBase, F extends EffectBase> =
  Accepted<S, E, F> | Unchanged<S> | Refused<S>;

/**
 * A transition with everything given but the snapshot and the context: what `execute`, `plan` and `sequence` take.
 *
 * @public
 */
export type TransitionOf<S, E extends EventBase, F extends EffectBase> = (
  snapshot: S,
  context: Context,
) => DecisionOf<S, E, F>;

/** @internal */
export function unchanged<S>(snapshot: S, resources: readonly string[]): Unchanged<S> {
  return { outcome: 'unchanged', next: snapshot, resources };
}

/** @internal */
export function refused<S>(snapshot: S, problem: Problem, resources: readonly string[] = []): Refused<S> {
  return { outcome: 'refused', next: snapshot, resources, problem };
}

/**
 * What the fold tells an `evolve` about the change it belongs to.
 *
 * @internal
 */
export interface Change {
  /** The revision of the snapshot that is being made. */
  readonly revision: number;
  /** Whether a command or the host's report brings the change; see {@link nextVersion}. */
  readonly origin: Origin;
  /** Token of the batch, so that persistent maps may change nodes that only this batch has seen. */
  readonly owner: Owner;
}

/** Where an event comes from. */
type Origin = 'command' | 'report';

/**
 * One row of a table of events: how a snapshot looks once it has happened.
 *
 * @internal
 */
export type EventRow<S, E, D = unknown> = ReportedRow<S, E> | CommandRow<S, E, D>;

interface EvolvingRow<S, E> {
  /** Total: an event about a thing that is gone gives the snapshot it was given. */
  evolve(this: void, snapshot: S, event: E, change: Change): S;
}

/** What the host reports is so already: no effect makes it true, and no command undoes it. */
interface ReportedRow<S, E> extends EvolvingRow<S, E> {
  readonly origin: 'report';
  readonly effect?: never;
  readonly revert?: never;
}

interface CommandRow<S, E, D> extends EvolvingRow<S, E> {
  readonly origin: 'command';
  /** The effect that makes this event true; left out when only our own records change. */
  readonly effect?: string;
  /** Decides what undoes it; `irreversible` for what is closed, deleted or written away. */
  readonly revert: 'irreversible' | ((this: void, snapshot: S, event: E, context: Context) => D);
}

/** A row for each type of event. @internal */
export type EventTable<S, E extends EventBase> = {
  readonly [T in E['type']]: EventRow<
    S,
    Extract<E, { readonly type: T }>,
    DecisionOf<S, EventBase, EffectBase>
  >;
};

/**
 * A row for each type of effect: how to take it back. `irreversible` effects can only be the last of a command.
 *
 * @internal
 */
export type EffectTable<F extends EffectBase> = {
  readonly [T in F['type']]: 'irreversible' | ((effect: Extract<F, { readonly type: T }>) => F);
};

/** What the fold needs to know of a snapshot. @internal */
export interface Revisioned {
  readonly revision: number;
}

/** A fold that goes on event by event and makes one snapshot in the end. @internal */
export interface Folding<S, E> {
  /** The state so far. It belongs to the fold: nobody may keep it. */
  current(this: void): S;
  /** Takes an event in; says whether it changed anything. */
  apply(this: void, event: E): boolean;
  /** The next snapshot, or the very one that the fold began with when nothing changed. */
  finish(this: void): S;
}

/**
 * Begins a fold: one change, whose revision is one more than that of the snapshot, however many events there are.
 *
 * @throws TypeError, from `apply`, for an event of unknown type: skipping a fact would falsify the snapshot in silence
 * @internal
 */
export function beginFold<S extends Revisioned, E extends EventBase>(
  table: EventTable<S, E>,
  snapshot: S,
): Folding<S, E> {
  const revision = snapshot.revision + 1;
  const owner = createOwner();
  const changes = {
    command: { revision, origin: 'command', owner },
    report: { revision, origin: 'report', owner },
  } as const satisfies Record<Origin, Change>;
  let current = snapshot;
  return {
    current: () => current,
    apply(event) {
      if (!Object.hasOwn(table, event.type)) throw new TypeError(`There is no event of type "${event.type}"`);
      const row = table[event.type as E['type']];
      const next = row.evolve(
        current,
        event as Extract<E, { readonly type: E['type'] }>,
        changes[row.origin],
      );
      const changed = next !== current;
      current = next;
      return changed;
    },
    finish: () => (current === snapshot ? snapshot : Object.freeze({ ...current, revision })),
  };
}

/**
 * Folds events over a snapshot, as one change.
 *
 * @returns the next snapshot, or the same object when the events change nothing
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function fold<S extends Revisioned, E extends EventBase>(
  table: EventTable<S, E>,
  snapshot: S,
  events: readonly E[],
): S {
  const folding = beginFold(table, snapshot);
  for (const event of events) folding.apply(event);
  return folding.finish();
}

/** An accepted decision that folds its events when somebody reads `next`: the writer and most callers never do. */
class AcceptedDecision<S extends Revisioned, E extends EventBase, F extends EffectBase> implements Accepted<
  S,
  E,
  F
> {
  readonly outcome = 'accepted';
  readonly resources: readonly string[];
  readonly events: readonly E[];
  readonly effects: readonly F[];
  readonly #table: EventTable<S, E>;
  readonly #before: S;
  #next: S | undefined;

  constructor(
    table: EventTable<S, E>,
    before: S,
    resources: readonly string[],
    { events, effects }: { readonly events: readonly E[]; readonly effects: readonly F[] },
  ) {
    this.#table = table;
    this.#before = before;
    this.resources = resources;
    this.events = deepFreeze(events);
    this.effects = deepFreeze(effects);
    // Whoever holds the decision cannot give it other events than those that were checked.
    Object.freeze(this);
  }

  // A class and not a literal: a getter in a literal makes each decision several times as expensive.
  get next(): S {
    return (this.#next ??= fold(this.#table, this.#before, this.events));
  }

  static isInstance(decision: object): boolean {
    return #next in decision;
  }
}

/**
 * Accepts: freezes the events and the effects.
 *
 * @internal
 */
export function accepted<S extends Revisioned, E extends EventBase, F extends EffectBase>(
  table: EventTable<S, E>,
  snapshot: S,
  resources: readonly string[],
  change: { readonly events: readonly E[]; readonly effects: readonly F[] },
): Accepted<S, E, F> {
  return new AcceptedDecision(table, snapshot, resources, change);
}

/**
 * Tells whether {@link accepted} made a decision, so that its events are known to fold. A decision that a host has put
 * together is checked before it is performed.
 *
 * @internal
 */
export function isTrusted(decision: object): boolean {
  return AcceptedDecision.isInstance(decision);
}

/**
 * Makes one transition of several: all or nothing, one change, one revision.
 *
 * @returns a function from transitions to a transition, for the given tables
 * @internal
 */
export function sequenceFor<S extends Revisioned, E extends EventBase, F extends EffectBase>(
  events: EventTable<S, E>,
  effects: EffectTable<F>,
): (...transitions: readonly TransitionOf<S, E, F>[]) => TransitionOf<S, E, F> {
  return (...transitions) =>
    (snapshot, context) => {
      const decisions: DecisionOf<S, E, F>[] = [];
      for (const [position, transition] of transitions.entries()) {
        const decision = transition(decisions.at(-1)?.next ?? snapshot, context);
        decisions.push(decision);
        if (decision.outcome === 'refused')
          return refuseStep(snapshot, decisions, decision.problem, position);
      }
      const resources = resourcesOf(decisions);
      const accepting = decisions.filter((decision) => decision.outcome === 'accepted');
      if (accepting.length === 0) return unchanged(snapshot, resources);
      assertIrreversibleLast(effects, accepting);
      const whole = accepted(events, snapshot, resources, {
        events: accepting.flatMap((decision) => decision.events),
        effects: accepting.flatMap((decision) => decision.effects),
      });
      // What a host has put together stays its own: a plain object, which is checked before it is performed.
      return accepting.every(isTrusted) ? whole : { ...whole, next: whole.next };
    };
}

function refuseStep<S, E extends EventBase, F extends EffectBase>(
  snapshot: S,
  decisions: readonly DecisionOf<S, E, F>[],
  problem: Problem,
  position: number,
): Refused<S> {
  const detail = `Transition ${String(position + 1)} of the sequence: ${problem.detail}`;
  return refused(snapshot, Object.freeze({ ...problem, detail }), resourcesOf(decisions));
}

function resourcesOf<S, E extends EventBase, F extends EffectBase>(
  decisions: readonly DecisionOf<S, E, F>[],
): readonly string[] {
  return [...new Set(decisions.flatMap((decision) => decision.resources))];
}

/** What was closed stays closed, so nothing that could still be refused may follow it. */
function assertIrreversibleLast<S, E extends EventBase, F extends EffectBase>(
  table: EffectTable<F>,
  decisions: readonly Accepted<S, E, F>[],
): void {
  const acting = decisions.filter((decision) => decision.effects.length > 0);
  const early = acting
    .slice(0, -1)
    .flatMap((decision) => decision.effects)
    .find((effect) => table[effect.type as F['type']] === 'irreversible');
  if (early !== undefined) {
    throw new RangeError(
      `"${early.type}" cannot be taken back: put that transition last, and only one such transition`,
    );
  }
}

/** The head of an event that a transition makes. @internal */
export function eventHead(resource: string, { now, actor }: Context): Omit<EventBase, 'type'> {
  return actor === undefined ? { at: now, resource } : { at: now, actor, resource };
}
