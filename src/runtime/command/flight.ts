/**
 * Flights: all that is known about one command in flight, from its decision to its last settlement. A flight is a row of the
 * table in `turn.ts`; it writes the intent and the settlements of its command, and answers that the outcome is unknown.
 */
import type { Clock, GatewayPort } from '../../ports/port.ts';
import type { CommandInFlight } from '../../resources/command.ts';
import { eventTable, evolve, type AdminEvent } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { CommandSpan, Instruments } from '../instrumentation/instruments.ts';
import { NotKept, unavailableIn, type Journal } from '../journal/journal.ts';
import { Fenced, type Basis, type Placed } from '../journal/log.ts';
import type { Crossings } from './crossing.ts';
import {
  changeLost,
  changePending,
  outcomeUnknown,
  resultLost,
  resultPending,
  type Execution,
} from './execution.ts';
import { isActing, type Group } from './stage.ts';

/** A command in flight, without its outcome. @internal */
export type Command = Omit<CommandInFlight, 'outcome'>;

/** Makes the command of a decision. @internal */
export function commandOf(
  id: string,
  { resources, events }: { readonly resources: readonly string[]; readonly events: readonly AdminEvent[] },
): Command {
  const [first] = events;
  if (first === undefined) throw new TypeError('A command must have at least one event');
  const { type, resource, actor, at: since } = first;
  // A copy, because the resources are free again only under the same links.
  const command = { id, type, resource, resources: Object.freeze([...resources]), since };
  return actor === undefined ? command : { ...command, actor };
}

/** The position of a settlement in its command. @internal */
export type Place =
  /** One of several settlements; more follow. */
  | { readonly at: 'part'; readonly done: number; readonly of: number }
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

/** The settlement of a command is not journaled, and the command ends with this answer. @internal */
export class NotSettled extends Error {
  readonly execution: Execution;

  constructor(execution: Execution) {
    super('The settlement was not journaled');
    this.execution = execution;
  }
}

/** What all commands of an interface share. @internal */
export interface Runtime {
  readonly gateway: GatewayPort;
  readonly clock: Clock;
  /** The deadline of one call to the host, in milliseconds. */
  readonly deadlineMs: number;
  readonly instruments: Instruments | undefined;
  readonly onError: (error: unknown) => void;
  /** The reports that cross commands. */
  readonly crossings: Crossings;
  /** The current snapshot. */
  readonly snapshot: () => Snapshot;
  /** The time for events, in milliseconds. */
  readonly now: () => number;
  /** Makes a snapshot the current one, and publishes the events that led to it. */
  readonly record: (next: Snapshot, events: readonly AdminEvent[]) => void;
  /** Folds reports of the host over the current snapshot. */
  readonly foldReports: (reports: readonly unknown[]) => void;
  /** Takes note that the outcome of a flight is unknown; gives the signal that ends the search. */
  readonly becameUnknown: (flight: Flight) => AbortSignal;
}

/** What only some flights have. @internal */
export interface FlightOptions {
  /** Keeps the records of the command. */
  readonly journal: Journal;
  readonly span: CommandSpan | undefined;
  /** Answers the caller. Only the first answer counts. */
  readonly answer: (execution: Execution) => void;
  /** What the decision rests on; left out for a command of an earlier life. */
  readonly basis?: Basis;
  /**
   * Whether the command has effects. If it has, the gateway has made the change before the settlement. A command without
   * effects takes hold only once its events are journaled.
   */
  readonly asksHost: boolean;
  /**
   * `pending`: other commands on the same resources wait. `unknown`: other commands on the same resources are refused. An
   * unknown command does not count against `maxInFlight`, because its outcome may never become known.
   */
  readonly outcome: CommandInFlight['outcome'];
}

/** A command in flight. @internal */
export class Flight {
  readonly command: Command;
  readonly runtime: Runtime;
  readonly span: CommandSpan | undefined;
  outcome: CommandInFlight['outcome'];
  /** Resolves when the command has left the table of commands in flight. */
  left: Promise<void> = Promise.resolve();
  readonly #options: FlightOptions;
  /** The events that were settled so far. */
  readonly #settled: AdminEvent[] = [];
  /** Ends the search for the outcome; made when the search begins, or is ended before. */
  #search: AbortController | undefined;

  constructor(command: Command, options: FlightOptions, runtime: Runtime) {
    this.command = command;
    this.runtime = runtime;
    this.span = options.span;
    this.outcome = options.outcome;
    this.#options = options;
  }

  get id(): string {
    return this.command.id;
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

  /** @throws SearchEnded if the command was abandoned: then no further effect is begun */
  throwIfAbandoned(): void {
    const reason: unknown = this.#search?.signal.reason;
    if (reason instanceof SearchEnded && reason.why === 'abandoned') throw reason;
  }

  /**
   * Stores the intent of a group before the host is asked for its effects.
   *
   * @param part - the number of groups that have settled
   * @param of - the number of all groups
   * @throws NotSettled if the store does not get the intent
   */
  async intend(group: Group, part: number, of: number): Promise<void> {
    const effects = group.filter(isActing).map(({ effect }) => effect);
    if (effects.length === 0) return;
    const { id: command, resources } = this.command;
    const events = group.map(({ event }) => event);
    const record = { type: 'intent', command, resources, part, of, events, effects } as const;
    const keeping = { record, resources, use: 'intent', then: () => undefined } as const;
    try {
      // A later part follows an earlier one, whatever has changed since.
      await this.#options.journal.keep({ ...keeping, ...(part === 0 ? this.#basis : {}) });
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      if (error.isPossible || part > 0) this.withdraw();
      const held = part === 0 ? undefined : heldBy({ at: 'part', done: part, of });
      const refused = unavailableIn(error.outage, held);
      throw new NotSettled(part === 0 ? refused : { ...refused, events: this.#settled });
    }
  }

  /**
   * Journals events, and folds them over the current snapshot.
   *
   * @returns the events as recorded
   * @throws NotSettled if the journal does not keep the events in this life
   */
  async settle(given: readonly AdminEvent[], place: Place): Promise<readonly AdminEvent[]> {
    const events = this.#recorded(given, place);
    const { journal, asksHost } = this.#options;
    const { id, resources } = this.command;
    const { revision } = this.runtime.snapshot();
    const last = place.at === 'end';
    const isRefused = last && place.refusal !== undefined && events.length === 0;
    const use = !asksHost ? 'change' : isRefused ? 'refusal' : 'result';
    try {
      return await journal.keep({
        record: { type: 'settlement', command: id, revision, events, last },
        resources,
        ...(use === 'change' ? this.#basis : {}),
        use,
        then: (placed) => this.#apply(events, placed),
        onLate: () => void this.unknown(asksHost ? resultPending(id, heldBy(place)) : changePending(id)),
      });
    } catch (error) {
      if (error instanceof Fenced) {
        this.#apply(events, journal.present);
        this.withdraw();
        throw new NotSettled(error.answerTo(id));
      }
      if (!(error instanceof NotKept)) throw error;
      if (use === 'refusal') return this.#apply(events, journal.present);
      // The store is lost, or the interface closes: the snapshot must show what the host did, even if the journal does not.
      if (asksHost) this.#apply(events, journal.present);
      throw new NotSettled(this.#unsettled(place, error));
    }
  }

  /**
   * Answers the caller that the outcome is unknown. Only the first call answers.
   *
   * @returns the signal that ends the search for the outcome with a {@link SearchEnded}
   */
  unknown(execution: Execution = outcomeUnknown(this.id)): AbortSignal {
    this.span?.ended(execution);
    this.#options.answer(execution);
    return this.runtime.becameUnknown(this);
  }

  /** Ends the command in the journal if the gateway was not asked: the store may still get the intent. */
  withdraw(): void {
    const { id, resources } = this.command;
    const { revision } = this.runtime.snapshot();
    const record = { type: 'settlement', command: id, revision, events: [], last: true } as const;
    this.#options.journal
      .keep({ record, resources, use: 'refusal', then: () => undefined })
      .catch(() => undefined);
  }

  get #basis(): { readonly basis?: Basis } {
    const { basis } = this.#options;
    return basis === undefined ? {} : { basis };
  }

  /** The answer to a command whose settlement will not be journaled in this life. */
  #unsettled(place: Place, { isPossible, outage }: NotKept): Execution {
    if (this.#options.asksHost) return resultLost(this.id, heldBy(place));
    return isPossible ? changeLost(this.id) : unavailableIn(outage);
  }

  /**
   * Gives events the time of the settlement and the id of the command. Adds `command.failed` if the host refused after
   * the client was told that the outcome is unknown.
   */
  #recorded(settled: readonly AdminEvent[], place: Place): readonly AdminEvent[] {
    const stamp = { at: this.runtime.now(), command: this.id };
    const events: AdminEvent[] = settled.map((event) => Object.freeze({ ...event, ...stamp }));
    if (this.isUnknown && place.at === 'end' && place.refusal !== undefined)
      events.push(failure(this.command, place.refusal, stamp));
    return Object.freeze(events);
  }

  /** Folds events over the current snapshot, which reports may have changed since the decision. */
  #apply(recorded: readonly AdminEvent[], placed: Placed): readonly AdminEvent[] {
    const events = placedEvents(recorded, placed);
    this.#fold(events, placed);
    this.#settled.push(...events);
    const crossing = this.runtime.crossings.take(this.id);
    // A contradiction is no error: the report may be older than the end of the effect.
    if (crossing.length > 0) this.runtime.foldReports(crossing);
    return events;
  }

  #fold(events: readonly AdminEvent[], { align }: Placed): void {
    if (events.length === 0) return;
    const before = this.runtime.snapshot();
    const folded = evolve(before, events);
    const next = align(folded, folded.revision);
    // The events of a command need a revision of their own, even if reports of the host have made the change already.
    this.runtime.record(
      next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next,
      events,
    );
  }
}

/** Gives the events that other nodes share their place in the log. */
function placedEvents(events: readonly AdminEvent[], { fleet }: Placed): readonly AdminEvent[] {
  if (fleet === undefined) return events;
  return Object.freeze(
    events.map((event) =>
      eventTable[event.type].scope === 'node' ? event : Object.freeze({ ...event, fleet }),
    ),
  );
}

/** A sentence about the part of a command that the host did, for a command whose settlement is not journaled. */
function heldBy(place: Place): string {
  if (place.at === 'part') {
    const { done, of } = place;
    return `Only ${String(done)} of ${String(of)} parts are done.`;
  }
  return place.refusal ?? 'The gateway made the change.';
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
