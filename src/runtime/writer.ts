/**
 * The writer: everything that changes the snapshot goes through here, one decision at a time: intent → effect → settle.
 */
import { isTrusted, type Context } from '../core/decision.ts';
import { evolve, type AdminEvent, type Decision } from '../resources/index.ts';
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
import { recover } from './recovery.ts';
import {
  Turns,
  type Acceptance,
  type Command,
  type CommandRequest,
  type TurnOptions,
  type Waiting,
} from './turn.ts';

/** @internal */
export interface WriterOptions
  extends
    Pick<CommandOptions, 'gateway' | 'clock' | 'deadlineMs'>,
    Pick<TurnOptions, 'maxQueued' | 'maxInFlight'> {
  readonly snapshot: Snapshot;
  readonly journal: Journal;
  readonly contextOf: (actor: string | undefined) => Context;
  readonly publish: (revision: number, events: readonly AdminEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

/** A command that is performed, or recovered. */
interface Performing {
  readonly command: Command;
  /**
   * Whether the host does it. What the host has done is so, whether the journal keeps it or not. A command without
   * effects takes hold only once its events are in the journal.
   */
  readonly asksHost: boolean;
}

/** The store failed at a settlement of events that hold, or may hold after a restart. */
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
   * Decides as `execute` would at this moment, and does nothing.
   *
   * @throws whatever the transition throws; TypeError when it gives no decision
   */
  decide({ transition, actor }: CommandRequest): Decision {
    const decision = transition(this.#snapshot, this.#options.contextOf(actor));
    assertDecision(decision);
    return decision;
  }

  /** Executes a command when its turn comes. */
  execute(request: CommandRequest): Promise<Execution> {
    return this.#turns.wait(request);
  }

  /** Makes a snapshot the current one, with the events that made it. */
  record(next: Snapshot, events: readonly AdminEvent[]): void {
    this.#snapshot = next;
    this.#options.journal.mark(next.revision);
    this.#options.publish(next.revision, events);
  }

  /**
   * Finds out what became of a command that an earlier life began.
   *
   * @returns resolves when that is known, or is known to take longer
   */
  recover(open: OpenCommand): Promise<void> {
    const { command: id, resources, events } = open.intent;
    const since = events[0]?.at ?? this.#options.clock.now();
    const command = commandOf(id, { resources, events }, since);
    return new Promise((resolve) => {
      // Somebody may have been told in the earlier life that its outcome is unknown.
      this.#turns.hold(command, 'unknown', async () => {
        try {
          await recover(open, this.#optionsOf({ command, asksHost: true }, resolve));
        } catch (error) {
          // Closing leaves it to the next life; a store that fails has said so itself.
          if (!this.#closing.signal.aborted && !(error instanceof Unkept)) this.#options.onError(error);
        }
        resolve();
      });
    });
  }

  /** Refuses commands to come, answers those that wait, and settles those in flight. */
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

  /** A host may put together a decision of its own. An event that does not fold would make the journal unreadable. */
  #assertFolds({ events }: Acceptance): void {
    try {
      evolve(this.#snapshot, events);
    } catch (cause) {
      throw new TypeError('A transition must make events that can be folded over the snapshot', { cause });
    }
  }

  #optionsOf(performing: Performing, onUnknown: () => void): CommandOptions {
    const { gateway, clock, deadlineMs } = this.#options;
    return {
      gateway,
      clock,
      deadlineMs,
      commandId: performing.command.id,
      closing: this.#closing.signal,
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
    // What is not finished stays open in the journal: the next life finds out.
    if (place.at === 'break') return this.#apply(events);
    const { revision } = this.#snapshot;
    const last = place.at === 'end';
    try {
      const record = { type: 'settlement', command: performing.command.id, revision, events, last } as const;
      return await this.#options.journal.keep(record, () => this.#apply(events));
    } catch (error) {
      if (!this.#options.journal.failed) throw error;
      // What the host has done is so, kept or not, and what is shown must say so.
      if (performing.asksHost) this.#apply(events);
      if (events.length > 0) throw new Unkept(place);
      return events;
    }
  }

  /** The events as they go on record: with the time of the settlement, and the command they belong to. */
  #recorded(performing: Performing, settled: readonly AdminEvent[], place: Place): readonly AdminEvent[] {
    const stamp = { at: this.#options.contextOf(undefined).now, command: performing.command.id };
    const events: AdminEvent[] = settled.map((event) => Object.freeze({ ...event, ...stamp }));
    const isRefused = place.at === 'end' && place.refusal !== undefined;
    if (isRefused && this.#turns.isUnknown(performing.command.id))
      events.push(failure(performing.command, place.refusal, stamp));
    return Object.freeze(events);
  }

  /** Folds events over the snapshot as it is now: reports may have changed it since the decision. */
  #apply(events: readonly AdminEvent[]): readonly AdminEvent[] {
    if (events.length === 0) return events;
    const before = this.#snapshot;
    const next = evolve(before, events);
    // A command is a revision of its own even when the host's reports have told all of it already.
    this.record(next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next, events);
    return events;
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

/** What of a command holds where its settlement could not be kept. */
function heldBy(place: Place): string {
  if (place.at === 'part') {
    const { done, of } = place;
    return `Only ${String(done)} of ${String(of)} parts were done; the gateway was not asked for the rest.`;
  }
  return (place.at === 'end' ? place.refusal : undefined) ?? 'The gateway has done it.';
}

/** Tells those who wait for a command of unknown outcome that it was not done. */
function failure(
  { resource, actor }: Command,
  reason: string,
  stamp: { readonly at: number; readonly command: string },
): AdminEvent {
  const head = actor === undefined ? { resource } : { actor, resource };
  return Object.freeze({ type: 'command.failed' as const, ...head, ...stamp, reason });
}

/**
 * A function that is no transition, such as an async one, must not stop the queue for everyone; an event of unknown
 * type must not get into the journal, which nobody could read then.
 */
function assertDecision(decision: unknown): asserts decision is Decision {
  const { outcome, resources, events, effects } = (decision ?? {}) as Partial<Acceptance>;
  if (!Array.isArray(resources) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A transition must answer with a decision at once: it cannot be an async function');
  }
  if (outcome === 'accepted' && !isTrusted(decision as object) && !areConsistent(events, effects))
    throw new TypeError(
      'A transition must make events and effects of known types, an effect for each event that needs one',
    );
}
