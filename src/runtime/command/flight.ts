/**
 * Flights: all that is known about one command in flight, from its decision to its last settlement. A flight is a row
 * of the table in `turn.ts`; it writes the intent and the settlements of its command, and gives the answer 504.
 */
import type { GatewayPort } from '../../ports/port.ts';
import type { Accepted } from '../../core/decision.ts';
import { isOn } from '../../resources/connection.ts';
import type { CommandInFlight } from '../../resources/command.ts';
import { closings, type AdminEvent, type Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Ground } from '../ground.ts';
import type { CommandSpan } from '../instrumentation/instruments.ts';
import { Fenced, type Basis } from '../journal/basis.ts';
import { endWithoutEvents, unavailableIn, type Journal } from '../journal/journal.ts';
import type { Fold } from '../journal/log.ts';
import { NotKept } from '../journal/record-queue.ts';
import type { Crossings } from './crossing.ts';
import {
  changeLost,
  changePending,
  outcomeUnknown,
  resultLost,
  resultPending,
  type Closed,
  type Execution,
} from './execution.ts';
import type { Group } from './stage.ts';

/** A command in flight, without its outcome. @internal */
export type Command = Omit<CommandInFlight, 'outcome' | 'progress'>;

/** Makes the command of a decision, or of an intent. @internal */
export function commandOf(
  id: string,
  {
    resources,
    events,
    closing,
  }: Pick<Accepted<Snapshot, AdminEvent, Effect>, 'resources' | 'events' | 'closing'>,
): Command {
  const [first = closing && closings[closing.what].headOf(closing)] = events;
  if (first === undefined) throw new TypeError('A command must have at least one event');
  const { type, resource, actor, at: since } = first;
  // A copy: the resources are freed by the same links, and the host may change its list meanwhile.
  const command = { id, type, resource, resources: Object.freeze([...resources]), since };
  return actor === undefined ? command : { ...command, actor };
}

/** How far a command has come. @internal */
export interface Progress {
  /** The number of groups that have settled. */
  readonly done: number;
  /** The number of all groups. */
  readonly of: number;
  /** While the groups are taken back: the place in the records, which come after those of the groups. */
  readonly takingBack?: { readonly part: number; readonly of: number };
}

/** Which settlement of its command: that of a part, or the last one. @internal */
export type PartOrEnd =
  /** One of several settlements; more follow. */
  | ({ readonly at: 'group' } & Progress)
  /** The last settlement; has a `refusal` if the host refused. */
  | { readonly at: 'end'; readonly refusal?: string };

/** The search for the outcome of a command has ended before the outcome was known. @internal */
export class SearchEnded extends Error {
  /** Why the search has ended. */
  readonly why: 'closed' | 'abandoned';

  constructor(why: 'closed' | 'abandoned') {
    super('The search for the outcome of a command has ended');
    this.name = 'SearchEnded';
    this.why = why;
  }
}

/** A record of a command is not journaled, and the command ends with this answer. @internal */
export class NotJournaled extends Error {
  readonly execution: Execution;

  constructor(execution: Execution) {
    super('A record of the command was not journaled');
    this.execution = execution;
  }
}

/** What all commands of an interface share. @internal */
export interface Runtime extends Ground {
  /** The reports that cross commands. */
  readonly crossings: Crossings;
  /** Folds events that the journal does not keep. */
  readonly foldUnkept: Fold;
  /** The current snapshot. */
  readonly present: () => Snapshot;
  /** Makes a snapshot the current one, and publishes the events that led to it. */
  readonly publish: (next: Snapshot, events: readonly AdminEvent[]) => void;
  /** Folds the reports that have crossed a command over the current snapshot. */
  readonly foldCrossing: (commandId: string) => void;
  /** The last call of an abandoned command has ended. */
  readonly onCallEnded: (commandId: string) => void;
  /** Whether a call that nobody waits for can put an effect of a command in place. */
  readonly hasLeftover: (effect: Effect, commandId: string) => boolean;
  /** What was in place was the work of another call: it is taken back when the flight has left its resources. */
  readonly onDoubtJustified: (flight: Flight) => void;
  /** A call has ended after `inspect` had answered that its effect is in place. */
  readonly onOutrun: (command: Command, effect: Effect) => void;
  /** Refuses other commands on the resources of a flight from now on; gives the signal that ends the search. */
  readonly holdAsUnknown: (flight: Flight) => AbortSignal;
}

/** What only some flights have. @internal */
export interface FlightOptions {
  /** Keeps the records of the command. */
  readonly journal: Journal;
  readonly span: CommandSpan | undefined;
  /** Resolves the promise of the caller. Only the first call counts. */
  readonly resolve: (execution: Execution) => void;
  /** What the decision rests on; left out for a command of an earlier life, and without a coordinator. */
  readonly basis?: Basis | undefined;
  /** The effects of the group in flight of a command of an earlier life. */
  readonly effects?: readonly Effect[];
  /**
   * Whether the command has effects. If it has, the gateway has made the change before the settlement. A command
   * without effects takes hold only once its events are journaled.
   */
  readonly asksHost: boolean;
}

/** For a flight that is in no table. */
const gone = Promise.resolve();

/** A command in flight. @internal */
export class Flight {
  readonly id: string;
  readonly command: Command;
  readonly runtime: Runtime;
  readonly span: CommandSpan | undefined;
  /**
   * `pending`: other commands on the same resources wait. `unknown`: other commands on the same resources are refused.
   * An unknown command does not count against `maxInFlight`, because its outcome may never become known.
   */
  outcome: CommandInFlight['outcome'] = 'pending';
  /** How far the command has come, if it has several groups. */
  progress: Progress | undefined;
  /** The keys of the links of the resources that the flight holds; empty before it is in the table. */
  keys: readonly string[] = [];
  /** Resolves when the command has left the table of commands in flight. */
  left = gone;
  readonly #options: FlightOptions;
  /** What was closed, if every effect so far is done. */
  readonly closed = { sessions: 0, connections: 0 };
  /** The effects of the group in flight, from its intent to its settlement. */
  effects: readonly Effect[];
  /** Whether the last call of the command has ended, if the command was abandoned. */
  hasCallEnded = false;
  /** The events that were settled so far. */
  readonly #settled: AdminEvent[] = [];
  /** Whether a record has the resources. */
  #isNamed = false;
  /** Ends the search for the outcome; made when the search begins, or is ended before. */
  #search: AbortController | undefined;

  constructor(command: Command, options: FlightOptions, runtime: Runtime) {
    this.id = command.id;
    this.command = command;
    this.runtime = runtime;
    this.span = options.span;
    this.effects = options.effects ?? [];
    this.#options = options;
  }

  /** Whether a caller got the answer that the outcome is unknown. */
  get isUnknown(): boolean {
    return this.outcome === 'unknown';
  }

  /** Aborts with a {@link SearchEnded} when the search for the outcome ends. */
  get search(): AbortSignal {
    return (this.#search ??= new AbortController()).signal;
  }

  endSearch(why: SearchEnded['why']): void {
    // A command whose outcome is not searched for runs to completion when the interface closes.
    if (why === 'abandoned') this.#search ??= new AbortController();
    this.#search?.abort(new SearchEnded(why));
  }

  /**
   * Asked before each call, so that no call is running.
   *
   * @throws SearchEnded if the command was abandoned: then no further effect is begun
   */
  throwIfAbandoned(): void {
    const reason: unknown = this.#search?.signal.reason;
    if (!(reason instanceof SearchEnded && reason.why === 'abandoned')) return;
    this.hasCallEnded = true;
    throw reason;
  }

  /** The last call has ended after the command was abandoned. */
  callEnded(): void {
    this.hasCallEnded = true;
    this.runtime.onCallEnded(this.id);
  }

  /**
   * Counts what an effect closes, before the host is asked: the table no longer has what ends meanwhile. Only the
   * answer to a command whose effects are all done says the number.
   */
  countClosing(effect: Effect): void {
    const { sessions, connections } = closingOf(effect, this.runtime.present(), this.runtime.gateway);
    this.closed.sessions += sessions;
    this.closed.connections += connections;
  }

  /**
   * Stores the intent of a group before the host is asked for its effects.
   *
   * @param waits - waits for a store that fails, and answers the caller meanwhile
   * @throws NotJournaled if the store does not get the intent
   * @throws SearchEnded if the command was abandoned: an intent after that would open the command again
   */
  async intend({ events, acting }: Group, progress: Progress, waits: boolean): Promise<void> {
    this.throwIfAbandoned();
    const { done, of, takingBack } = progress;
    const place = takingBack ?? { part: done, of };
    if (of > 1) this.progress = { done, of };
    this.effects = acting.map(({ effect }) => effect);
    // An intent is for a later life.
    if (acting.length === 0 || !this.#options.journal.hasStore) return;
    const { id: command, resources } = this.command;
    // A command can have thousands of parts, and rest on thousands of resources: its first intent names them.
    const named = this.#isNamed ? [] : resources;
    this.#isNamed = true;
    const record = { type: 'intent', command, resources: named, ...place, events } as const;
    const keeping = { record, resources, then: () => undefined } as const;
    const part = { at: 'group', ...progress } as const;
    const onLate = (): void => void this.answerUnknown(resultPending(command, doneText(part)));
    // A later group follows an earlier one, whatever has changed since.
    const basis = place.part === 0 ? { basis: this.#options.basis } : {};
    try {
      await this.#options.journal.keep({
        ...keeping,
        ...basis,
        ...(waits ? { use: 'result', onLate } : { use: 'before' }),
      });
    } catch (error) {
      if (error instanceof Fenced) throw new NotJournaled(error.answerTo(command, this.#settled));
      if (!(error instanceof NotKept)) throw error;
      if (waits) throw new NotJournaled(resultLost(command, doneText(part)));
      if (error.isPossible || done > 0) this.#withdraw();
      if (done === 0) throw new NotJournaled(unavailableIn(error.outage));
      throw new NotJournaled({ ...unavailableIn(error.outage, doneText(part)), events: this.#settled });
    }
  }

  /**
   * Journals events, and folds them over the current snapshot.
   *
   * @returns the events as recorded
   * @throws NotJournaled if the journal does not keep the events in this life
   */
  async settle(given: readonly AdminEvent[], which: PartOrEnd): Promise<readonly AdminEvent[]> {
    const events = this.#recorded(given, which);
    const { journal, asksHost, basis } = this.#options;
    const { id, resources } = this.command;
    const { revision } = this.runtime.present();
    const use = this.#useOf(events, which);
    try {
      return await journal.keep({
        record: { type: 'settlement', command: id, revision, events, last: which.at === 'end' },
        resources,
        ...(use === 'change' ? { basis } : {}),
        use,
        then: (fold) => this.#apply(events, fold),
        onLate: () =>
          void this.answerUnknown(asksHost ? resultPending(id, doneText(which)) : changePending(id)),
      });
    } catch (error) {
      const { foldUnkept } = this.runtime;
      if (error instanceof Fenced) {
        const settled = [...this.#settled];
        this.#apply(events, foldUnkept);
        this.#withdraw();
        throw new NotJournaled(error.answerTo(id, settled));
      }
      if (!(error instanceof NotKept)) throw error;
      if (use === 'upkeep') return this.#apply(events, foldUnkept);
      // The store is lost, or the interface closes: the snapshot must show what the host did, even if the journal does
      // not.
      if (asksHost) this.#apply(events, foldUnkept);
      throw new NotJournaled(this.#unsettled(which, error));
    }
  }

  /**
   * Answers the caller that the outcome is unknown. Only the first call answers.
   *
   * @returns the signal that ends the search for the outcome with a {@link SearchEnded}
   */
  answerUnknown(execution: Execution = outcomeUnknown(this.id)): AbortSignal {
    this.span?.ended(execution);
    this.#options.resolve(execution);
    return this.runtime.holdAsUnknown(this);
  }

  /** Ends the command in the store without events: the store may have an intent of it, or may still get one. */
  #withdraw(): void {
    void endWithoutEvents(this.#options.journal, this.command, this.runtime.present().revision);
  }

  /** What the record of a settlement is for. */
  #useOf(events: readonly AdminEvent[], which: PartOrEnd): 'change' | 'upkeep' | 'result' {
    if (!this.#options.asksHost) return 'change';
    const isRefused = which.at === 'end' && which.refusal !== undefined && events.length === 0;
    return isRefused ? 'upkeep' : 'result';
  }

  /** The answer to a command whose settlement will not be journaled in this life. */
  #unsettled(which: PartOrEnd, { isPossible, outage }: NotKept): Execution {
    if (this.#options.asksHost) return resultLost(this.id, doneText(which));
    return isPossible ? changeLost(this.id) : unavailableIn(outage);
  }

  /**
   * Gives events the time of the settlement and the id of the command. Adds `command.failed` if the host refused after
   * the client got the answer that the outcome is unknown.
   */
  #recorded(settled: readonly AdminEvent[], which: PartOrEnd): readonly AdminEvent[] {
    const stamp = { at: this.runtime.clock.now(), command: this.id };
    const events: AdminEvent[] = settled.map((event) => Object.freeze({ ...event, ...stamp }));
    if (this.isUnknown && which.at === 'end' && which.refusal !== undefined)
      events.push(failure(this.command, which.refusal, stamp));
    return Object.freeze(events);
  }

  /** Folds events over the current snapshot, which reports may have changed since the decision. */
  #apply(recorded: readonly AdminEvent[], fold: Fold): readonly AdminEvent[] {
    const events = recorded.length === 0 ? recorded : this.#fold(recorded, fold);
    this.effects = [];
    this.#settled.push(...events);
    this.runtime.foldCrossing(this.id);
    return events;
  }

  #fold(recorded: readonly AdminEvent[], fold: Fold): readonly AdminEvent[] {
    const before = this.runtime.present();
    const { next, events } = fold(before, recorded);
    // The events of a command need a revision of their own, even if reports of the host have made the change already.
    this.runtime.publish(
      next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next,
      events,
    );
    return events;
  }
}

/** The sessions and connections that are open, and that an effect closes. */
function closingOf(
  effect: Effect,
  { sessions: table }: Snapshot,
  { sessionsEnd }: Pick<GatewayPort, 'sessionsEnd'>,
): Closed {
  let ids: readonly number[] = [];
  if (effect.type === 'connections.close') {
    const open = effect.connections.filter((each) => isOn(effect.server, each, table));
    if (sessionsEnd !== true) return { sessions: 0, connections: open.length };
    ids = [...new Set(open.map(({ session }) => session))];
  } else if (effect.type === 'sessions.close')
    ids = effect.sessions
      .filter(({ id, connected }) => table.find(id)?.connected === connected)
      .map(({ id }) => id);
  return {
    sessions: ids.length,
    connections: ids.reduce((sum, id) => sum + table.countConnections(id), 0),
  };
}

/** Says in a sentence how much of a command the host did, for a command whose settlement is not journaled. */
function doneText(which: PartOrEnd): string {
  if (which.at === 'end') return which.refusal ?? 'The gateway made the change.';
  const { done, of, takingBack } = which;
  const back = takingBack === undefined ? '' : ', and are being taken back';
  return `Only ${String(done)} of ${String(of)} parts are done${back}.`;
}

/** The event for a command whose outcome was unknown and that turned out to have failed. */
function failure(
  { resource, actor }: Command,
  reason: string,
  stamp: { readonly at: number; readonly command: string },
): AdminEvent {
  const head = actor === undefined ? { resource } : { actor, resource };
  return Object.freeze({ type: 'command.failed' as const, ...head, ...stamp, reason });
}
