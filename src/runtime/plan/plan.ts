/**
 * Plans: the description of what a command would do.
 */
import type { EventsAndEffects, Context, Selection } from '../../core/decision.ts';
import { countOf, firstShown, mostShown } from '../../core/excerpt.ts';
import { nameKey } from '../../core/name.ts';
import type { Validator } from '../../core/content.ts';
import { formatEtag } from '../../http/etag.ts';
import type { Operation } from '../../json/patch.ts';
import type { Json } from '../../json/value.ts';
import type { Note } from '../../core/note.ts';
import { problem, type Problem } from '../../problem.ts';
import {
  closings,
  effectsOf,
  redactSecrets,
  type AdminEvent,
  type Decision,
  type Effect,
} from '../../resources/index.ts';
import type { IndexedSessionTable, Session } from '../../snapshot/session/table.ts';
import { formatMark, markOf, type Mark } from './mark.ts';
import { sessionsOf } from '../../snapshot/state.ts';
import type { Look } from '../../resources/shared/closing.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { groupsOf } from '../command/stage.ts';
import type { GuardedForesee } from '../host/guard.ts';
import { mayCloseNotes, notesOf } from './note.ts';

/**
 * What a command would do now: the result of `admin.plan` for a command that is not refused, and the body of the
 * response to `?dry_run=true`.
 *
 * @public
 */
export interface Plan {
  /** Whether anything would change. */
  readonly outcome: 'accepted' | 'unchanged';
  /**
   * The mark of the plan. The same command with this mark does what the plan shows, or is refused with
   * `precondition-failed`: it closes no session or connection that has opened since, and those that have ended need
   * no closing. Values of secrets are not bound, because a plan does not show them.
   */
  readonly mark: string;
  /**
   * The JSON Patch operations of the events that are shown, with secrets redacted. If there is a `count`, later
   * events may have others. Left out if the shown events would change no settings.
   */
  readonly patch?: readonly Operation[];
  /**
   * The events that would happen, with secrets redacted: the first 100. A list of sessions or connections has the
   * first 100 and their number as `count`. A teardown of many parts is shown as one event.
   */
  readonly events: readonly Foreseen[];
  /** The effects that the host would be asked for, with secrets redacted: the first 100; lists as in `events`. */
  readonly effects: readonly Foreseen[];
  /** The number of events of each type; left out if `events`, and so `patch`, have all. */
  readonly count?: Readonly<Record<string, number>>;
  /**
   * The entity tag that the resource would get. Left out if the representation has no entity tag, for a command
   * that settles in parts, such as a teardown of more than 1,000 sessions or a creation with a start, for one that
   * sets a secret, or if `admin.plan` is called without `ifMatch` and therefore does not know the resource.
   */
  readonly etag?: string;
  /** The sessions and connections that this command would close. */
  readonly closes: {
    /** Number of sessions. */
    readonly sessions: number;
    /** Number of backend connections, including the connections of the closed sessions. */
    readonly connections: number;
  };
  /** The sessions that this command would not close, although they lose their service or some connections. */
  readonly stays: {
    /**
     * Number of sessions: the open sessions of a stopped service, and the sessions that lose connections to a
     * server. A session that would close does not count. 0 for a command that stops no service and closes no
     * connections of a server.
     */
    readonly sessions: number;
  };
  /**
   * What the numbers do not count: what follows by itself, or what the gateway may do. Left out if there is
   * nothing.
   */
  readonly notes?: readonly Note[];
}

/** An event or an effect of a plan. `count` is the number of the sessions or connections of a list. @internal */
type Foreseen = Readonly<Record<string, Json>> & {
  readonly type: string;
  readonly resource: string;
  readonly count?: number;
};

/** Why a command would be refused: `admin.plan` gives it in place of a plan. @internal */
export interface PlanRefusal {
  /** The command would be refused. */
  readonly outcome: 'refused';
  /** Why. */
  readonly problem: Problem;
}

/** What is planned. @internal */
export interface Planned {
  /** Gives the digits of what is asked for; see {@link commandDigits}. */
  readonly digits: () => string;
  /** The mark of the plan that the command must carry out. */
  readonly mark?: Mark;
  /** Gives what the tag of the resource says in a snapshot; left out if no resource, or not its content, is known. */
  readonly validatorIn?: ((snapshot: Snapshot) => Validator | undefined) | undefined;
  /** Notes besides those that follow from the decision. */
  readonly notes?: readonly Note[];
}

/** Whether the content after an event is not known before: the birth of a password, the time of a drain. */
function isOfItsTime(event: AdminEvent): boolean {
  const { to = {} } = event as { readonly to?: object };
  return event.type === 'user.created' || event.type === 'user.updated' || 'drain' in to;
}

/** Where a plan is made. */
interface PlanScope {
  /** The snapshot on which the decision was made. */
  readonly snapshot: Snapshot;
  /** The life of the interface. */
  readonly life: string;
  /** The context of the decision. */
  readonly context: Context;
  readonly foresee: GuardedForesee;
  /** Whether a session ends with its connection. */
  readonly sessionsEnd: boolean;
  /** Where the numbers of notes are counted; see {@link notesOf}. */
  readonly where: string;
}

/**
 * Makes the plan of a decision, in steps. To look at all that a closing by criteria may close takes long: a caller can
 * give other work its turn after each step.
 *
 * @internal
 */
export function* planning(
  decision: Decision,
  { digits, validatorIn, notes = [] }: Planned,
  { snapshot, life, context, foresee, sessionsEnd, where }: PlanScope,
): Generator<undefined, Plan | PlanRefusal> {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem };
  const changes: EventsAndEffects<AdminEvent, Effect> = decision.outcome === 'accepted' ? decision : nothing;
  const shown = yield* shownOf(changes, snapshot, context, sessionsEnd);
  const { events, effects, batches, closes, stays } = shown;
  const outcome = events.length === 0 ? 'unchanged' : decision.outcome;
  const patch = firstShown(changes.events).flatMap((event) =>
    'operations' in event ? event.operations : [],
  );
  // Each part makes a revision, so the last entity tag is not known.
  const isWhole = batches <= 1 && groupsOf(events).length === 1;
  const validator = isWhole && !changes.events.some(isOfItsTime) ? validatorIn?.(decision.next) : undefined;
  const items = closes.sessions || closes.connections;
  const instant = { life, revision: snapshot.revision, at: Math.trunc(context.now), items };
  return {
    outcome,
    mark: formatMark(markOf({ ...changes, resources: decision.resources }, snapshot, digits(), instant)),
    ...(patch.length === 0 ? {} : { patch: redactSecrets(patch) as unknown as readonly Operation[] }),
    events: firstShown(events).map(shownOne),
    effects: firstShown(effects).map(shownOne),
    ...countOf(events, mostShown),
    ...(validator && { etag: formatEtag(snapshot.epoch, validator) }),
    closes,
    stays,
    ...shownNotes([
      ...notes,
      ...(decision.notes ?? []),
      ...(decision.outcome === 'unchanged'
        ? []
        : [
            ...notesOf(shown, snapshot, where).filter(
              ({ code }) => !sessionsEnd || code !== 'sessions-lose-connection',
            ),
            ...(foresee(decision, snapshot) ?? mayCloseNotes(events)),
          ]),
    ]),
  };
}

function shownNotes(notes: readonly Note[]): { readonly notes?: readonly Note[] } {
  return notes.length === 0 ? {} : { notes };
}

/**
 * The refusal of a command that no longer does what its plan showed.
 *
 * @param misfit - what does not fit, in a sentence
 * @param plan - the plan as it is now
 * @internal
 */
export function planChanged(misfit: string, plan: Plan): Problem {
  const next =
    'Nothing was changed. Read the plan in this response, and send the command with the mark of that plan.';
  return Object.freeze({ ...problem('precondition-failed', `${misfit} ${nowOf(plan)} ${next}`), plan });
}

/** The largest number of changes that a sentence names. */
const mostNamed = 10;

/** A sentence about what a command would do. */
function nowOf({ effects, events, closes }: Plan): string {
  const changes = (effects.length > 0 ? effects : events) as readonly {
    readonly type: string;
    readonly resource: string;
  }[];
  if (changes.length === 0) return 'It would change nothing now.';
  const closed =
    closes.sessions + closes.connections > 0
      ? `, which closes ${String(closes.sessions)} sessions and ${String(closes.connections)} connections`
      : '';
  const said = changes.slice(0, mostNamed).map(({ type, resource }) => `${type} of ${resource}`);
  const more = changes.length > mostNamed ? ', and more' : '';
  return `It would do this now: ${said.join(', ')}${more}${closed}.`;
}

const nothing: EventsAndEffects<AdminEvent, Effect> = { events: [], effects: [] };

/** What a plan shows of a decision. A closing is one event and one effect. */
interface Shown extends Pick<Footprint, 'closes' | 'stays'> {
  readonly events: readonly AdminEvent[];
  readonly effects: readonly Effect[];
  /** The number of batches of the closing. */
  readonly batches: number;
}

/** The largest number of sessions or connections that an item of a plan lists. */
const mostIdentities = 100;

function* shownOf(
  { events, effects, closing }: EventsAndEffects<AdminEvent, Effect>,
  snapshot: Snapshot,
  { idleOf }: Context,
  sessionsEnd: boolean,
): Generator<undefined, Shown> {
  const footprint = new Footprint(snapshot, sessionsEnd);
  footprint.add(effects);
  const { closes, stays } = footprint;
  if (closing === undefined) return { events, effects, batches: 0, closes, stays };
  const look = { decided: snapshot, present: snapshot, idleOf };
  const { first, count, batches } = yield* closedBy(closing, look, footprint);
  const head = {
    ...closings[closing.what].headOf(closing),
    [closing.what]: first,
    count,
  } as object as AdminEvent;
  return {
    events: count === 0 ? events : [...events, head],
    effects: count === 0 ? effects : [...effects, ...effectsOf([head])],
    batches,
    closes,
    stays,
  };
}

/**
 * Gives the first and the number of those whom a closing closes: by the counters of the table if that would take
 * several batches, else batch by batch.
 */
function* closedBy(
  closing: Selection,
  look: Look,
  footprint: Footprint,
): Generator<undefined, { first: readonly unknown[]; count: number; batches: number }> {
  const { extentOf, batchAt } = closings[closing.what];
  const { batches, count: all } = extentOf(closing, look.decided);
  const known = batches > 1 ? all : undefined;
  const first: unknown[] = [];
  let count = known ?? 0;
  for (let number = 0; number < batches; number += 1) {
    const effects = effectsOf([batchAt(number, closing, look) ?? []].flat());
    const list = effects.flatMap(listIn);
    if (first.length < mostIdentities) first.push(...list);
    if (known !== undefined) {
      footprint.addCounted(closing);
      break;
    }
    footprint.add(effects);
    count += list.length;
    if (batches > 1) yield;
  }
  return { first, count, batches };
}

/** The list of an event or effect that closes; empty for any other. */
function listIn(change: AdminEvent | Effect): readonly unknown[] {
  if ('sessions' in change) return change.sessions;
  return 'connections' in change ? change.connections : [];
}

function shownOne(change: AdminEvent | Effect): Foreseen {
  return redactSecrets(cut(change)) as Foreseen;
}

/** Cuts a list of sessions or connections to the first identities, with the number of all as `count`. */
function cut(change: AdminEvent | Effect): object {
  const what = 'sessions' in change ? 'sessions' : 'connections';
  if (!(what in change)) return change;
  const list = listIn(change);
  const { count = list.length } = change as { readonly count?: number };
  return { ...change, [what]: list.slice(0, mostIdentities), count };
}

/** Counts the sessions and connections that effects close, and the sessions that continue. */
class Footprint {
  readonly closes = { sessions: 0, connections: 0 };
  readonly stays = { sessions: 0 };
  readonly #sessionsEnd: boolean;
  readonly #table: IndexedSessionTable;
  /** The keys of the services that the effects stop. */
  readonly #stopped = new Set<string>();
  /** The sessions that the effects cut off from a server. */
  readonly #cut = new Set<number>();

  constructor(snapshot: Snapshot, sessionsEnd: boolean) {
    this.#sessionsEnd = sessionsEnd;
    this.#table = sessionsOf(snapshot);
  }

  /** Adds effects that follow those before. */
  add(effects: readonly Effect[]): void {
    const closed = new Set<number>();
    const cutting = new Set<number>();
    for (const effect of effects) {
      if (effect.type === 'service.stop' && !this.#stopped.has(effect.service)) {
        this.#stopped.add(effect.service);
        // By counters, because a service may have a million sessions.
        this.stays.sessions += this.#table.countOfService(effect.service);
      }
      if (effect.type === 'sessions.close') for (const { id } of effect.sessions) closed.add(id);
      if (effect.type !== 'connections.close') continue;
      if (this.#sessionsEnd) {
        for (const { session } of effect.connections) if (!this.#cut.has(session)) closed.add(session);
        for (const { session } of effect.connections) this.#cut.add(session);
        continue;
      }
      this.closes.connections += effect.connections.length;
      for (const { session } of effect.connections) if (!this.#cut.has(session)) cutting.add(session);
    }
    this.closes.sessions += closed.size;
    for (const id of closed) {
      this.closes.connections += this.#table.countConnections(id);
      if (this.#isStopped(this.#table.find(id))) this.stays.sessions -= 1;
    }
    for (const id of cutting) {
      this.#cut.add(id);
      if (!closed.has(id) && !this.#isStopped(this.#table.find(id))) this.stays.sessions += 1;
    }
  }

  /** Adds a closing that closes all of a service or server, by the counters of the table. */
  addCounted({ what, where }: Selection): void {
    const table = this.#table;
    if (what === 'sessions') {
      const key = nameKey(String(where['service']));
      const count = table.countOfService(key);
      this.closes.sessions += count;
      this.closes.connections += table.countConnectionsOfService(key);
      if (this.#stopped.has(key)) this.stays.sessions -= count;
      return;
    }
    const key = nameKey(String(where['server']));
    const all = this.#stopped.size === 0 ? [] : table.rangeOfServer(key, 0, Infinity);
    this.closes.connections += table.countOfServer(key);
    if (this.#sessionsEnd) {
      this.closes.sessions += table.countSessionsOfServer(key);
      return;
    }
    this.stays.sessions +=
      table.countSessionsOfServer(key) - all.filter((each) => this.#isStopped(each)).length;
  }

  #isStopped(session: Session | undefined): boolean {
    return session !== undefined && this.#stopped.has(session.service);
  }
}
