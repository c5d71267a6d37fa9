/**
 * The writer: holds the current snapshot, and takes each command through intent → effect → settlement.
 *
 * Every change of the snapshot goes through `record`: the settlements of commands, and the reports of the host.
 */
import { isTrusted, refused, type Context } from '../core/decision.ts';
import {
  evolve,
  foldHostReports,
  type AdminEvent,
  type AppliedReports,
  type Decision,
} from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { perform, type CommandOptions, type Performed, type Place } from './command.ts';
import {
  doneUnkept,
  outcomeUnknown,
  perhapsKept,
  refusal,
  storeUnavailable,
  type Execution,
} from './execution.ts';
import { areConsistent, type OpenCommand } from './history.ts';
import type { Journal } from './journal.ts';
import { Crossings } from './crossing.ts';
import { recover } from './recovery.ts';
import { ReportError } from './report-error.ts';
import {
  Turns,
  type Acceptance,
  type Command,
  type CommandRequest,
  type TurnOptions,
  type Waiting,
} from './turn.ts';
import type { Veto } from './veto.ts';

/** The options of {@link Writer}. @internal */
export interface WriterOptions
  extends
    Pick<CommandOptions, 'gateway' | 'clock' | 'deadlineMs'>,
    Pick<TurnOptions, 'maxQueued' | 'maxInFlight'> {
  readonly snapshot: Snapshot;
  readonly journal: Journal;
  readonly contextOf: (actor: string | undefined) => Context;
  /** The guarded rule of the host; left out if the host has none. */
  readonly veto: Veto | undefined;
  readonly publish: (revision: number, events: readonly AdminEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

/** A command that is performed, or recovered after a restart. */
interface Performing {
  readonly command: Command;
  /**
   * Whether the command has effects. If it has, the snapshot shows what the host did, even if the store fails. A command
   * without effects takes hold only once its events are journaled.
   */
  readonly asksHost: boolean;
}

/** The store failed at a settlement that has events. The events may or may not be stored. */
class Unkept extends Error {
  readonly place: Place;

  constructor(place: Place) {
    super('The store has failed');
    this.place = place;
  }
}

/**
 * Decides and performs commands, and holds the current snapshot.
 *
 * @internal
 */
export class Writer {
  #snapshot: Snapshot;
  #commands = 0;
  readonly #options: WriterOptions;
  readonly #turns: Turns;
  readonly #crossings = new Crossings();
  readonly #closing = new AbortController();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#snapshot = options.snapshot;
    this.#turns = new Turns({
      maxQueued: options.maxQueued,
      maxInFlight: options.maxInFlight,
      decide: (request) => this.decide(request),
      refuseAll: () => (options.journal.failed ? storeUnavailable() : undefined),
      begin: (decision, waiting) => {
        this.#begin(decision, waiting);
      },
    });
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /**
   * Decides a command on the current snapshot, and shows an accepted decision to the veto of the host. Changes nothing.
   *
   * @throws the error that the transition throws; TypeError if the transition returns no decision
   */
  decide({ transition, actor }: CommandRequest): Decision {
    const snapshot = this.#snapshot;
    const context = this.#options.contextOf(actor);
    const decision = transition(snapshot, context);
    assertDecision(decision);
    const problem = decision.outcome === 'accepted' ? this.#options.veto?.(decision, context) : undefined;
    return problem === undefined ? decision : refused(snapshot, problem, decision.resources);
  }

  /** Executes a command when its turn comes. */
  execute(request: CommandRequest): Promise<Execution> {
    return this.#turns.wait(request);
  }

  /** Folds reports of the host over the current snapshot, as one change. */
  report(given: unknown): void {
    const { faults } = this.#foldReports(given);
    if (faults.length > 0) this.#options.onError(new ReportError(faults));
  }

  #foldReports(given: unknown): AppliedReports {
    const { now } = this.#options.contextOf(undefined);
    const folded = foldHostReports(this.#snapshot, given, now, (crossing) => this.#crossings.note(crossing));
    if (folded.events.length > 0) this.#record(folded.next, folded.events);
    return folded;
  }

  /** Makes `next` the current snapshot, and publishes the events that led to it. */
  #record(next: Snapshot, events: readonly AdminEvent[]): void {
    this.#snapshot = next;
    this.#options.journal.mark(next.revision);
    this.#options.publish(next.revision, events);
  }

  /**
   * Finds out the outcome of a command that an earlier life left in flight.
   *
   * @returns resolves when the outcome is known, or when the host has not answered in time
   */
  recover(open: OpenCommand): Promise<void> {
    const { command: id, resources, events } = open.intent;
    const since = events[0]?.at ?? this.#options.clock.now();
    const command = commandOf(id, { resources, events }, since);
    // The host was called in the earlier life, so every report of this life is newer.
    for (const effect of open.intent.effects) this.#crossings.begin(id, effect);
    return new Promise((resolve) => {
      // `unknown` from the start: a client of the earlier life may have got a 504, and then needs an event either way.
      this.#turns.hold(command, 'unknown', async () => {
        try {
          await recover(open, this.#optionsOf({ command, asksHost: true }, resolve));
        } catch (error) {
          // After a close, the next life recovers the command. A failure of the store has gone to `onError` already.
          if (!this.#closing.signal.aborted && !(error instanceof Unkept)) this.#options.onError(error);
        }
        resolve();
      });
    });
  }

  /** Refuses waiting commands and later ones. Resolves when every started command has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#turns.close();
  }

  #begin(decision: Acceptance, { answer, fail }: Waiting): void {
    this.#commands += 1;
    const id = `${this.#snapshot.epoch}-${String(this.#commands)}`;
    const command = commandOf(id, decision, this.#options.clock.now());
    this.#turns.hold(command, 'busy', async () => {
      try {
        answer(await this.#perform(command, decision, answer));
      } catch (error) {
        fail(error);
      }
    });
  }

  async #perform(command: Command, decision: Acceptance, answer: Waiting['answer']): Promise<Execution> {
    if (!isTrusted(decision)) this.#assertFolds(decision);
    const { journal } = this.#options;
    const { id, resources } = command;
    const { events, effects } = decision;
    const performing: Performing = { command, asksHost: effects.length > 0 };
    try {
      const intent = { type: 'intent', command: id, resources, events, effects } as const;
      if (performing.asksHost) await journal.keep(intent, () => undefined);
    } catch (error) {
      if (!journal.failed) throw error;
      return storeUnavailable();
    }
    const onUnknown = (): void => {
      answer(outcomeUnknown(id));
    };
    try {
      return this.#executionOf(await perform(decision, this.#optionsOf(performing, onUnknown)));
    } catch (error) {
      if (!(error instanceof Unkept)) throw error;
      return performing.asksHost ? doneUnkept(id, heldBy(error.place)) : perhapsKept(id);
    }
  }

  /** Checks a decision that the host has built. An event that does not fold would make the journal unreadable. */
  #assertFolds({ events }: Acceptance): void {
    try {
      evolve(this.#snapshot, events);
    } catch (cause) {
      const message = 'A transition must return events that can be folded over the snapshot; see the cause';
      throw new TypeError(message, { cause });
    }
  }

  #optionsOf(performing: Performing, onUnknown: () => void): CommandOptions {
    const { gateway, clock, deadlineMs, onError } = this.#options;
    return {
      gateway,
      clock,
      deadlineMs,
      onError,
      commandId: performing.command.id,
      closing: this.#closing.signal,
      crossings: this.#crossings,
      settle: (events, place) => this.#settle(performing, events, place),
      onUnknown: () => {
        onUnknown();
        this.#turns.setUnknown(performing.command.id);
      },
    };
  }

  async #settle(
    performing: Performing,
    settled: readonly AdminEvent[],
    place: Place,
  ): Promise<readonly AdminEvent[]> {
    const events = this.#recorded(performing, settled, place);
    // No settlement is journaled, so the command stays open, and the next life finds out the outcome.
    if (place.at === 'break') return this.#apply(performing, events);
    const { revision } = this.#snapshot;
    const last = place.at === 'end';
    try {
      const record = { type: 'settlement', command: performing.command.id, revision, events, last } as const;
      return await this.#options.journal.keep(record, () => this.#apply(performing, events));
    } catch (error) {
      if (!this.#options.journal.failed) throw error;
      // The snapshot must show what the host did, even if the journal does not.
      if (performing.asksHost) this.#apply(performing, events);
      if (events.length > 0) throw new Unkept(place);
      return events;
    }
  }

  /**
   * Gives events the time of the settlement and the id of the command. Adds `command.failed` if the host refused after
   * the client was told that the outcome is unknown.
   */
  #recorded(performing: Performing, settled: readonly AdminEvent[], place: Place): readonly AdminEvent[] {
    const stamp = { at: this.#options.contextOf(undefined).now, command: performing.command.id };
    const events: AdminEvent[] = settled.map((event) => Object.freeze({ ...event, ...stamp }));
    const isRefused = place.at === 'end' && place.refusal !== undefined;
    if (isRefused && this.#turns.isUnknown(performing.command.id))
      events.push(failure(performing.command, place.refusal, stamp));
    return Object.freeze(events);
  }

  /** Folds events over the current snapshot, which reports may have changed since the decision. */
  #apply({ command }: Performing, events: readonly AdminEvent[]): readonly AdminEvent[] {
    this.#foldSettled(events);
    const crossing = this.#crossings.take(command.id);
    // A contradiction is no error: the report may be older than the end of the effect.
    if (crossing.length > 0) this.#foldReports(crossing);
    return events;
  }

  #foldSettled(events: readonly AdminEvent[]): void {
    if (events.length === 0) return;
    const before = this.#snapshot;
    const next = evolve(before, events);
    // The events of a command need a revision of their own, even if reports of the host have made the change already.
    this.#record(
      next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next,
      events,
    );
  }

  #executionOf({ events, refusal: reason }: Performed): Execution {
    if (reason !== undefined) return refusal('effect-refused', reason, events);
    return { outcome: 'accepted', snapshot: this.#snapshot, events };
  }
}

function commandOf(
  id: string,
  { resources, events }: Pick<Acceptance, 'resources' | 'events'>,
  since: number,
): Command {
  const [{ resource, actor } = { resource: resources[0] ?? '/', actor: undefined }] = events;
  const command = { id, resource, resources, since };
  return actor === undefined ? command : { ...command, actor };
}

/** A sentence about the part of a command that the host did, for a command whose settlement was not journaled. */
function heldBy(place: Place): string {
  if (place.at === 'part') {
    const { done, of } = place;
    return `Only ${String(done)} of ${String(of)} parts were done. The gateway was not asked for the other parts.`;
  }
  return (place.at === 'end' ? place.refusal : undefined) ?? 'The gateway made the change.';
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

/**
 * Checks the return value of a transition. A wrong value, such as the promise of an async function, must not block the
 * queue. An event of unknown type must not reach the journal, because the journal would be unreadable.
 */
function assertDecision(decision: unknown): asserts decision is Decision {
  const { outcome, resources, events, effects } = (decision ?? {}) as Partial<Acceptance>;
  if (!Array.isArray(resources) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A transition must return a decision at once; it cannot be an async function');
  }
  if (outcome === 'accepted' && !isTrusted(decision as object) && !areConsistent(events, effects))
    throw new TypeError(
      'A transition must return events and effects of known types, with an effect for each event that needs one',
    );
}
