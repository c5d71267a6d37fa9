/**
 * Turns: which commands wait, which are in flight, and whose turn it is.
 *
 * Commands are decided one at a time, in the order in which they came. A command has its turn when none of its resources
 * belongs to a command in flight or to one that waits longer, so effects on different resources overlap. What is in
 * flight, and in which state, stands in one table here.
 */
import type { Accepted } from '../core/decision.ts';
import type { AdminEvent, Decision, Effect, Transition } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { ended, inProgress, refusal, type Execution } from './execution.ts';

/** What is asked for. @internal */
export interface CommandRequest {
  readonly transition: Transition;
  /** Name of the principal who asks, for the record. */
  readonly actor?: string;
  /** Takes the command out of the queue. A command in flight goes on. */
  readonly signal?: AbortSignal;
}

/** A command that has had its turn. @internal */
export interface Command {
  readonly id: string;
  /** Link of the resource that the command is about. */
  readonly resource: string;
  /** Links of the resources that no other command may have meanwhile. */
  readonly resources: readonly string[];
  /** Name of the principal who asked. */
  readonly actor?: string;
  /** The time of its turn, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
}

/**
 * The state of a command in flight. `busy`: other commands on its resources wait for it. `unknown`: the host did not say in
 * time what became of it, and somebody was told so. Other commands on its resources are refused then, and it no longer
 * counts against `maxInFlight`, because it may take for ever.
 *
 * @internal
 */
export type FlightState = 'busy' | 'unknown';

/** A decision whose turn it is. @internal */
export type Acceptance = Accepted<Snapshot, AdminEvent, Effect>;

/** A command that waits for its turn. @internal */
export interface Waiting {
  readonly request: CommandRequest;
  /** Answers whoever waits. Only the first answer counts. */
  readonly answer: (execution: Execution) => void;
  readonly fail: (error: unknown) => void;
}

/** @internal */
export interface TurnOptions {
  /** How many commands may wait. */
  readonly maxQueued: number;
  /** How many commands may be `busy` at the same time. */
  readonly maxInFlight: number;
  /** Decides on the state of this moment; throws when the transition does. */
  readonly decide: (request: CommandRequest) => Decision;
  /** What every command is answered with at this moment, whatever it asks for. */
  readonly refuseAll: () => Execution | undefined;
  /** Performs a command whose turn it is; calls {@link Turns.hold}. */
  readonly begin: (decision: Acceptance, waiting: Waiting) => void;
}

/** In the queue, with the resources that its last decision rested on; none before the first. */
interface Entry extends Waiting {
  resources: readonly string[];
}

/** A row of the table of commands in flight. */
interface Row {
  readonly command: Command;
  state: FlightState;
  /** Resolves when the command has left the table. */
  left: Promise<void>;
}

/**
 * Gives commands their turns.
 *
 * @internal
 */
export class Turns {
  readonly #options: TurnOptions;
  readonly #queue = new Set<Entry>();
  /** The table of commands in flight, by id. The next two members follow from it. */
  readonly #inFlight = new Map<string, Row>();
  /** The rows by the links of the resources that they hold. */
  readonly #holders = new Map<string, Row>();
  /** How many rows are `busy`. */
  #busyCount = 0;
  #pumping = false;
  #closed = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /**
   * Puts a command into the queue. Its signal takes it out again as long as it waits.
   *
   * @returns the answer; rejects when the transition throws, or with the reason of the signal
   */
  async wait(request: CommandRequest): Promise<Execution> {
    const { signal } = request;
    signal?.throwIfAborted();
    if (this.#closed) return refusal('closed', 'The administration interface is closed.');
    const { promise, resolve, reject } = withResolvers<Execution>();
    const entry: Entry = { request, answer: resolve, fail: reject, resources: [] };
    const leave = (): void => {
      if (this.#queue.delete(entry)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave);
    this.#queue.add(entry);
    this.#pump();
    // Only now is it known whether it has to wait at all.
    if (this.#queue.size > this.#options.maxQueued && this.#queue.delete(entry)) {
      resolve(refusal('overloaded', 'Too many commands are waiting. Try again in a moment.'));
    }
    return promise.finally(() => {
      signal?.removeEventListener('abort', leave);
    });
  }

  /** Puts a command into the table of those in flight, for as long as `work` takes. */
  hold(command: Command, state: FlightState, work: () => Promise<void>): void {
    const row: Row = { command, state, left: Promise.resolve() };
    this.#inFlight.set(command.id, row);
    for (const link of command.resources) this.#holders.set(link, row);
    if (state === 'busy') this.#busyCount += 1;
    row.left = work().finally(() => {
      this.#release(row);
    });
  }

  /** Notes that the outcome of a command in flight is unknown. It stays so until the command settles. */
  setUnknown(id: string): void {
    const row = this.#inFlight.get(id);
    if (row?.state !== 'busy') return;
    row.state = 'unknown';
    this.#busyCount -= 1;
    this.#pump();
  }

  /** Whether the outcome of a command in flight is unknown. */
  isUnknown(id: string): boolean {
    return this.#inFlight.get(id)?.state === 'unknown';
  }

  /** Refuses commands to come, answers those that wait, and waits for those in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [...this.#queue];
    this.#queue.clear();
    for (const { answer } of waiting)
      answer(refusal('closed', 'The administration interface was closed meanwhile.'));
    await Promise.all(Array.from(this.#inFlight.values(), ({ left }) => left));
  }

  #release(row: Row): void {
    const { id, resources } = row.command;
    this.#inFlight.delete(id);
    if (row.state === 'busy') this.#busyCount -= 1;
    for (const link of resources) if (this.#holders.get(link) === row) this.#holders.delete(link);
    this.#pump();
  }

  /** Gives every command its turn that has one, in the order in which they came. Never nested. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // A command that waits keeps later ones on the same resource behind it.
    const claimed = new Set<string>();
    try {
      for (const entry of this.#queue) {
        if (this.#busyCount >= this.#options.maxInFlight) break;
        if (this.#mustWait(entry, claimed) || !this.#takeTurn(entry, claimed)) {
          for (const link of entry.resources) claimed.add(link);
        }
      }
    } finally {
      this.#pumping = false;
    }
  }

  /** @param claimed - the resources of commands that wait longer */
  #mustWait({ resources }: Entry, claimed: ReadonlySet<string>): boolean {
    return resources.some((link) => claimed.has(link) || this.#holders.get(link)?.state === 'busy');
  }

  /** Decides a command, and answers or begins it if it need not wait. @returns whether it left the queue */
  #takeTurn(entry: Entry, claimed: ReadonlySet<string>): boolean {
    let decision: Decision;
    try {
      decision = this.#options.decide(entry.request);
    } catch (error) {
      entry.fail(error);
      return this.#queue.delete(entry);
    }
    // The transition may have closed the interface, or taken its own command out of the queue.
    if (!this.#queue.has(entry)) return true;
    entry.resources = decision.resources;
    const refused = this.#options.refuseAll() ?? this.#refuseUnknown(entry);
    if (refused !== undefined) entry.answer(refused);
    else if (this.#mustWait(entry, claimed)) return false;
    else if (decision.outcome === 'accepted') this.#options.begin(decision, entry);
    else entry.answer(ended(decision));
    return this.#queue.delete(entry);
  }

  #refuseUnknown({ resources }: Entry): Execution | undefined {
    const isUnknown = resources.some((link) => this.#holders.get(link)?.state === 'unknown');
    return isUnknown ? inProgress() : undefined;
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
} {
  let settle: [(value: T) => void, (error: unknown) => void] | undefined;
  const promise = new Promise<T>((...both) => (settle = both));
  const [resolve, reject] = settle ?? [() => undefined, () => undefined];
  return { promise, resolve, reject };
}
