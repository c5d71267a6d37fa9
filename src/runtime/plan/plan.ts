/**
 * Plans: the description of what a command would do.
 */
import { partsOf, type Changes } from '../../core/decision.ts';
import { countOf, firstShown, mostShown } from '../../core/excerpt.ts';
import { parseLink } from '../../core/link.ts';
import type { Version } from '../../core/version.ts';
import { formatEtag } from '../../http/etag.ts';
import type { Operation } from '../../json/patch.ts';
import type { Json } from '../../json/value.ts';
import type { Note } from '../../core/note.ts';
import { problem, type Problem } from '../../problem.ts';
import { redactSecrets, type AdminEvent, type Decision, type Effect } from '../../resources/index.ts';
import type { Session } from '../../snapshot/session/table.ts';
import { formatMark, markOf, type Mark } from './mark.ts';
import { sessionsOf } from '../../snapshot/state.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { groupsOf } from '../command/stage.ts';
import type { GuardedForesee } from '../host/guard.ts';
import { mayCloseNotes, notesOf } from './note.ts';

/**
 * What a command would do now: the result of `admin.plan`, and the body of the response to `?dry_run=true`.
 *
 * Over HTTP, a refused dry run gets the error response of the command itself, so the body is never a `refused` plan.
 *
 * @public
 */
export type Plan =
  | {
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
      readonly events: readonly Json[];
      /** The effects that the host would be asked for, with secrets redacted: the first 100; lists as in `events`. */
      readonly effects: readonly Json[];
      /** The number of events of each type; left out if `events`, and so `patch`, have all. */
      readonly count?: Readonly<Record<string, number>>;
      /**
       * The entity tag that the resource would get. Left out if the representation has no entity tag, for a command
       * that settles in parts, such as a teardown of more than 1,000 sessions or a creation with a start, or if
       * `admin.plan` is called without `ifMatch` and therefore does not know the resource.
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
  | {
      /** The command would be refused. */
      readonly outcome: 'refused';
      /** Why. */
      readonly problem: Problem;
    };

/** What is planned. @internal */
export interface Planned {
  /** Gives the digits of what is asked for; see {@link commandDigits}. */
  readonly digits: () => string;
  /** The mark of the plan that the command must carry out. */
  readonly mark?: Mark;
  /** Gives the version of the resource in a snapshot; left out if no resource is known. */
  readonly versionIn?: ((snapshot: Snapshot) => Version | undefined) | undefined;
  /** Notes besides those that follow from the decision. */
  readonly notes?: readonly Note[];
}

/** Where a plan is made. */
interface PlanScope {
  /** The snapshot on which the decision was made. */
  readonly snapshot: Snapshot;
  /** The life of the interface. */
  readonly life: string;
  /** The time of the decision, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
  readonly foresee: GuardedForesee;
  /** Where the numbers of notes are counted; see {@link notesOf}. */
  readonly where: string;
}

/**
 * Makes the plan of a decision, in steps. Only the parts of a closing by criteria say what it closes, and to make them
 * all takes long: a caller can give other work its turn after each step.
 *
 * @internal
 */
export function* planning(
  decision: Decision,
  { digits, versionIn, notes = [] }: Planned,
  { snapshot, life, now, foresee, where }: PlanScope,
): Generator<undefined, Plan> {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem };
  const changes = decision.outcome === 'accepted' ? decision : undefined;
  const shown = changes === undefined ? nothing : yield* shownOf(changes, snapshot);
  const { events, effects, total, found } = shown;
  const outcome = found !== undefined && events.length === 0 ? 'unchanged' : decision.outcome;
  const patch = firstShown(events).flatMap((event: AdminEvent) =>
    'operations' in event ? event.operations : [],
  );
  // Each part makes a revision, so the last entity tag is not known.
  const isWhole = total === undefined && (changes === undefined || groupsOf(changes).length === 1);
  const version = isWhole ? versionIn?.(decision.next) : undefined;
  const { revision } = snapshot;
  const items = found === undefined ? {} : { items: total ?? 0 };
  const instant = { life, revision, at: Math.trunc(now), ...items };
  return {
    outcome,
    mark: formatMark(markOf(changes, digits(), instant)),
    ...(patch.length === 0 ? {} : { patch: redactSecrets(patch) as unknown as readonly Operation[] }),
    events: firstShown(events).map((event) => redactSecrets(cut(event, total))),
    effects: firstShown(effects).map((effect) => redactSecrets(cut(effect, total))),
    ...countOf(events, mostShown),
    ...(version === undefined ? {} : { etag: formatEtag(snapshot.epoch, version) }),
    ...(found ?? (total === undefined ? footprintOf(effects, snapshot) : teardownOf(effects, snapshot))),
    ...shownNotes([
      ...notes,
      ...(decision.notes ?? []),
      ...(decision.outcome === 'unchanged'
        ? []
        : [
            ...notesOf({ events, effects }, snapshot, where),
            ...(foresee(decision, snapshot) ?? mayCloseNotes(events)),
          ]),
    ]),
  };
}

function shownNotes(notes: readonly Note[]): { readonly notes?: readonly Note[] } {
  return notes.length === 0 ? {} : { notes };
}

/** The plan of a command that is not refused. */
type MarkedPlan = Extract<Plan, { readonly mark: string }>;

/**
 * The refusal of a command that no longer does what its plan showed.
 *
 * @param misfit - what does not fit, in a sentence
 * @param plan - the plan as it is now
 * @internal
 */
export function planChanged(misfit: string, plan: MarkedPlan): Problem {
  const next =
    'Nothing was changed. Read the plan in this response, and send the command with the mark of that plan.';
  return Object.freeze({ ...problem('precondition-failed', `${misfit} ${nowOf(plan)} ${next}`), plan });
}

/** The largest number of changes that a sentence names. */
const mostNamed = 10;

/** A sentence about what a command would do. */
function nowOf({ effects, events, closes }: MarkedPlan): string {
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

const nothing: Shown = { events: [], effects: [], total: undefined };

/** What a plan shows of a decision. */
interface Shown extends Changes<AdminEvent, Effect> {
  /** The number of sessions or connections that a long teardown closes; left out if everything is shown. */
  readonly total: number | undefined;
  /** What a closing by criteria closes, of which only the parts say anything; left out of any other decision. */
  readonly found?: Footprint;
}

/** Of a long teardown, only the first part is made, unless only the parts say what they close. */
function* shownOf(decision: Changes<AdminEvent, Effect>, snapshot: Snapshot): Generator<undefined, Shown> {
  const { count, items, heads, make } = partsOf<AdminEvent, Effect>(decision);
  if (heads !== undefined) return yield* foundIn(make(), snapshot);
  if (count === 1) return { events: decision.events, effects: decision.effects, total: undefined };
  const [first = nothing] = make();
  return { ...first, total: items };
}

/** Makes all parts, and counts what they close. */
function* foundIn(
  parts: Iterable<Changes<AdminEvent, Effect>>,
  snapshot: Snapshot,
): Generator<undefined, Shown> {
  const [events, effects] = [[] as AdminEvent[], [] as Effect[]];
  const earlier = { stopped: new Set<string>(), cut: new Set<number>() };
  let total = 0;
  const [closes, stays] = [{ sessions: 0, connections: 0 }, { sessions: 0 }];
  let isFirst = true;
  for (const part of parts) {
    if (!isFirst) yield;
    isFirst = false;
    for (const event of part.events) append(events, event);
    for (const effect of part.effects) append(effects, effect);
    const more = footprintOf(part.effects, snapshot, earlier);
    total += part.effects.reduce((sum, effect) => sum + (listIn(effect)?.length ?? 0), 0);
    closes.sessions += more.closes.sessions;
    closes.connections += more.closes.connections;
    stays.sessions += more.stays.sessions;
  }
  return { events, effects, total, found: { closes, stays } };
}

/**
 * Appends an event or an effect. The parts of one closing become one item, whose list is as long as a plan shows it.
 */
function append<T extends AdminEvent | Effect>(all: T[], one: T): void {
  const last = all.at(-1);
  const [list, next] = [listIn(last), listIn(one)];
  if (list === undefined || next === undefined || last?.type !== one.type) all.push(one);
  else if (list.length < mostIdentities) {
    const member = 'sessions' in one ? 'sessions' : 'connections';
    all.splice(-1, 1, { ...last, [member]: [...list, ...next] });
  }
}

/** The list of an event or effect that closes. */
function listIn(closing: AdminEvent | Effect | undefined): readonly unknown[] | undefined {
  if (closing === undefined) return undefined;
  if ('sessions' in closing) return closing.sessions;
  return 'connections' in closing ? closing.connections : undefined;
}

/** The largest number of sessions or connections that an item of a plan lists. */
const mostIdentities = 100;

/** Cuts a list of sessions or connections to the first identities, with the number of all as `count`. */
function cut(change: AdminEvent | Effect, total: number | undefined): object {
  if ('sessions' in change)
    return {
      ...change,
      sessions: change.sessions.slice(0, mostIdentities),
      count: total ?? change.sessions.length,
    };
  if ('connections' in change) {
    const { connections } = change;
    return {
      ...change,
      connections: connections.slice(0, mostIdentities),
      count: total ?? connections.length,
    };
  }
  return change;
}

type Footprint = Pick<Extract<Plan, { readonly closes: unknown }>, 'closes' | 'stays'>;

/** Counts as {@link footprintOf} does, for a teardown whose effects are not all made: by the counters of the table. */
function teardownOf(effects: readonly Effect[], snapshot: Snapshot): Footprint {
  const { services, servers } = snapshot;
  const last = effects.at(-1);
  const table = sessionsOf(snapshot);
  const stopped = effects.flatMap((effect) => (effect.type === 'service.stop' ? [effect.service] : []));
  const keyOf = (collection: typeof services | typeof servers, name: string): string =>
    collection.find(parseLink(last?.resource ?? '', name) ?? '')?.key ?? '';
  const onStopped = stopped.reduce((sum, key) => sum + table.countOfService(key), 0);
  if (last?.type === 'sessions.close') {
    const key = keyOf(services, 'services');
    const count = table.countOfService(key);
    const closes = { sessions: count, connections: table.countConnectionsOfService(key) };
    return { closes, stays: { sessions: onStopped - (stopped.includes(key) ? count : 0) } };
  }
  const key = keyOf(servers, 'servers');
  const isOnStopped = ({ service }: Session): boolean => stopped.includes(service);
  const twice = stopped.length === 0 ? 0 : table.rangeOfServer(key, 0, Infinity).filter(isOnStopped).length;
  const closes = { sessions: 0, connections: table.countOfServer(key) };
  return { closes, stays: { sessions: table.countSessionsOfServer(key) + onStopped - twice } };
}

/**
 * Counts the sessions and connections that effects close, and the sessions that continue.
 *
 * @param earlier - what earlier parts of the same decision have stopped, and cut off from a server
 */
function footprintOf(
  effects: readonly Effect[],
  { sessions }: Snapshot,
  { stopped, cut } = { stopped: new Set<string>(), cut: new Set<number>() },
): Footprint {
  const stopping = new Set<string>();
  const closed = new Set<number>();
  const cutting = new Set<number>();
  let connections = 0;
  for (const effect of effects) {
    if (effect.type === 'service.stop') stopping.add(effect.service);
    if (effect.type === 'sessions.close') for (const { id } of effect.sessions) closed.add(id);
    if (effect.type !== 'connections.close') continue;
    connections += effect.connections.length;
    for (const { session } of effect.connections) if (!cut.has(session)) cutting.add(session);
  }
  for (const service of stopping) stopped.add(service);
  for (const session of cutting) cut.add(session);
  for (const id of closed) connections += sessions.countConnections(id);
  const isStopped = (id: number): boolean => stopped.has(sessions.find(id)?.service ?? '');
  // Counters, not loops, because a service may have a million sessions.
  let stays = 0;
  for (const service of stopping) stays += sessions.countOfService(service);
  for (const id of closed) if (isStopped(id)) stays -= 1;
  for (const id of cutting) if (!closed.has(id) && !isStopped(id)) stays += 1;
  return { closes: { sessions: closed.size, connections }, stays: { sessions: stays } };
}
