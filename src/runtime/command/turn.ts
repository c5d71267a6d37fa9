/**
 * Turns: the queue of waiting commands, and the table of commands in flight.
 *
 * Commands are decided one at a time, in order of arrival. A command gets its turn when none of its resources belongs
 * to a busy command in flight, or to a command that arrived earlier and still waits. Effects on different resources
 * therefore overlap. The state of every command in flight is in one table in this file.
 *
 * This class and the writer call each other in this order: `wait` queues the command; at its turn, `decide` of the
 * writer decides it, and `begin` of the writer makes its flight, or `ended` the answer if nothing changes; `begin`
 * calls `hold`, which puts the flight into the table and starts its work. The work resolves the promise of the caller.
 * If others have overtaken the decision, the work calls `putBack`, and the command is decided again.
 */
import type { Accepted } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import type { CommandInFlight } from '../../resources/command.ts';
import type { AdminEvent, Effect, Transition } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Ground } from '../ground.ts';
import { onAbort } from '../host/waiting.ts';
import type { Planned } from '../plan/plan.ts';
import type { Performed } from './command.ts';
import { SearchEnded, type Command, type Flight } from './flight.ts';
import {
  inProgress,
  refusal,
  type Decided,
  type Execution,
  type Refusal,
  type Unaccepted,
} from './execution.ts';
import { unavailableIn, type Journal } from '../journal/journal.ts';
import { insert, Queue, type QueueItem } from './queue.ts';

/** A command as the caller sends it. @internal */
export interface CommandRequest {
  readonly transition: Transition;
  /** Name of the principal who sends the command, for the events. */
  readonly actor?: string;
  /** Cancels the command if it has not started. A started command runs to completion. */
  readonly signal?: AbortSignal;
  /** Links of what the decision rests on besides its resources, such as the users among whom the caller is. */
  readonly restsOn?: readonly string[];
  /** What a plan of the command shows; with a mark, the command must do what that plan has shown. */
  readonly planned?: Planned;
  /** Gets what becomes of the command. */
  readonly trace?: Trace;
  /** The command was decided elsewhere, so it is exempt from limits, refusals, the coordinator and the veto. */
  readonly isDecided?: true;
  /** Keeps the records of the command; the journal of the interface if left out. */
  readonly journal?: Journal;
  /** Carries the decision out; by default the gateway is asked for its effects, and its events settle. */
  readonly perform?: (flight: Flight) => Promise<Performed>;
}

/** What has become of a command on its way, for the audit record. @internal */
export interface Trace {
  /** Links of the resources, once the command was decided: those of the last decision. */
  resources?: readonly string[];
  /** The command, once the gateway is asked. */
  begun?: { readonly command: Command; readonly decision: Acceptance };
  /** The outcome of a command that was answered as unknown, once the outcome is known. */
  late?: Execution;
  /** Called when `late` is there. */
  onLate?: (this: void, execution: Execution) => void;
}

/** An accepted decision. @internal */
export type Acceptance = Accepted<Snapshot, AdminEvent, Effect>;

/** A command that waits for its turn. @internal */
export interface Waiting extends QueueItem {
  readonly request: CommandRequest;
  /** Resolves the promise of the caller. Only the first call counts. */
  readonly resolve: (execution: Execution | Promise<Execution>) => void;
  /** Rejects the promise of the caller. */
  readonly reject: (error: unknown) => void;
  /** `true` while the coordinator follows for the command, `false` after that, `undefined` before. */
  isReadingOn?: boolean;
  /** Made when the coordinator first says that others are in the way. */
  patience?: Patience;
}

/** What {@link Turns} calls of the writer. */
interface Deciding {
  /** Decides a command on the current state. Throws if the transition throws. */
  readonly decide: (request: CommandRequest) => Decided;
  /** Gives the result of a command that changes nothing. */
  readonly ended: (decision: Unaccepted, request: CommandRequest) => Execution | Promise<Execution>;
  /** Makes the flight of a command whose turn has come, and lets {@link Turns.hold} start its work. */
  readonly begin: (decision: Acceptance, waiting: Waiting) => void;
}

/** How long a command still waits for others to get out of its way. */
interface Patience {
  isOver: boolean;
  /** Aborts when the command is answered. */
  readonly answered: AbortController;
}

const sendAgain = 'Nothing was changed. Send the command again when the interface is running again.';

/**
 * Gives commands their turns.
 *
 * @internal
 */
export class Turns {
  readonly #ground: Ground;
  readonly #writer: Deciding;
  readonly #queue = new Queue<Waiting>();
  /**
   * The waiting commands to look at, in order of arrival. Each of the others waits for an earlier command, for one in
   * flight, for room, or for the coordinator.
   */
  #due: Waiting[] = [];
  /** The table of commands in flight, by id. The next two members are derived from this table. */
  readonly #inFlight = new Map<string, Flight>();
  /** The flights, by the key of the link of each resource that a flight holds. */
  readonly #holders = new Map<string, Flight>();
  /** The number of `pending` flights. */
  #pendingCount = 0;
  #pumping = false;
  #closed = false;

  constructor(ground: Ground, writer: Deciding) {
    this.#ground = ground;
    this.#writer = writer;
  }

  /**
   * Puts a command into the queue. If the signal of the command aborts before the command starts, the command leaves
   * the queue.
   *
   * @returns the result; rejects if the transition throws, or with the reason of the signal
   */
  wait(request: CommandRequest): Promise<Execution> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      signal?.throwIfAborted();
      const closed = this.refuseClosed();
      if (closed !== undefined) return resolve(closed);
      const stopListening = signal && onAbort(signal, () => this.#cancel(waiting));
      const answering =
        <T>(answer: (given: T) => void) =>
        (given: T): void => {
          stopListening?.();
          waiting.patience?.answered.abort();
          answer(given);
        };
      const ends = { resolve: answering(resolve), reject: answering(reject) };
      const waiting: Waiting = { request, ...ends, place: 0, resources: [] };
      return this.#enqueue(waiting);
    });
  }

  /** The signal of a waiting command has aborted. */
  #cancel(waiting: Waiting): void {
    if (!this.#leave(waiting)) return;
    waiting.reject(waiting.request.signal?.reason);
    // Later, because the same abort may make other commands leave too.
    queueMicrotask(() => {
      this.#pump();
    });
  }

  #enqueue(waiting: Waiting): void {
    this.#queue.add(waiting);
    insert(this.#due, waiting);
    this.#pump();
    // The limit is checked after the pump, because a command that need not wait has left the queue by now.
    const isTooMany = this.#queue.size > this.#ground.limits.maxQueued && waiting.request.isDecided !== true;
    if (isTooMany && this.#leave(waiting)) {
      waiting.resolve(
        refusal('overloaded', 'Too many commands are waiting. Nothing was changed. Try again in a moment.'),
      );
    }
    this.#countCommands();
  }

  /** Decides the waiting commands again, because something outside has changed. */
  retry(): void {
    this.#pumpAll();
  }

  /** Puts a command that had its turn back to the head of the queue, to be decided again. */
  putBack(waiting: Waiting): void {
    const closed = this.refuseClosed();
    if (closed !== undefined) return waiting.resolve(closed);
    const { signal } = waiting.request;
    if (signal?.aborted === true) return waiting.reject(signal.reason);
    delete waiting.isReadingOn;
    // The same object: the signal of the caller removes it from the queue.
    this.#queue.addFirst(waiting);
    insert(this.#due, waiting);
  }

  /** The refusal of every command after {@link close}; `undefined` before. */
  refuseClosed(): Refusal | undefined {
    if (!this.#closed) return undefined;
    return refusal('closed', `The administration interface is closed. ${sendAgain}`);
  }

  /** Puts a command into the table of commands in flight until the work that performs the command ends. */
  hold(flight: Flight, work: () => Promise<void>): void {
    this.#inFlight.set(flight.id, flight);
    flight.keys = keysOf(flight.command.resources);
    for (const key of flight.keys) this.#holders.set(key, flight);
    if (flight.isUnknown) this.#countCommands();
    else this.#pendingCount += 1;
    flight.left = work().finally(() => {
      this.#release(flight);
    });
  }

  /**
   * Makes a command in flight `unknown`, also while the interface closes, until the command leaves the table.
   *
   * @returns the signal that ends the search for the outcome with a {@link SearchEnded}
   */
  holdAsUnknown(flight: Flight): AbortSignal {
    const isHeld = this.#inFlight.has(flight.id);
    if (isHeld && !flight.isUnknown) {
      flight.outcome = 'unknown';
      this.#makeRoom(flight);
    }
    return this.#closed || !isHeld ? AbortSignal.abort(new SearchEnded('closed')) : flight.search;
  }

  /** The commands in flight, in the order of their turns. */
  list(): readonly CommandInFlight[] {
    return Array.from(this.#inFlight.values(), ({ command, outcome, progress }) => ({
      ...command,
      outcome,
      ...(progress && { progress }),
    }));
  }

  /** Ends the search for the outcome of a command. Resolves when the command has left the table. */
  async abandon(id: string): Promise<void> {
    const flight = this.#inFlight.get(id);
    flight?.endSearch('abandoned');
    await flight?.left;
  }

  /**
   * The refusal of a command on resources of which a command of unknown outcome holds one; `undefined` if none does.
   */
  refuseUnknown(resources: readonly string[]): Refusal | undefined {
    return this.#refuseHeld(keysOf(resources));
  }

  /** The refusal of every command, also while the store does not answer. */
  #refuseAll(): Refusal | undefined {
    const { refuseAll, journal } = this.#ground;
    return refuseAll() ?? (journal.outage && unavailableIn(journal.outage));
  }

  #refuseHeld(keys: readonly string[]): Refusal | undefined {
    for (const key of keys) {
      const flight = this.#holders.get(key);
      if (flight?.isUnknown === true) return inProgress(flight.id);
    }
    return undefined;
  }

  /** Refuses waiting commands and later ones. Resolves when the commands in flight have left the table. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [...this.#queue];
    this.#queue.clear();
    this.#due = [];
    for (const { resolve } of waiting)
      resolve(
        refusal('closed', `The administration interface closed before the command started. ${sendAgain}`),
      );
    this.#countCommands();
    const flights = [...this.#inFlight.values()];
    for (const flight of flights) flight.endSearch('closed');
    await Promise.all(flights.map(({ left }) => left));
  }

  #release(flight: Flight): void {
    this.#inFlight.delete(flight.id);
    for (const key of flight.keys) if (this.#holders.get(key) === flight) this.#holders.delete(key);
    if (flight.isUnknown) this.#pump();
    else this.#makeRoom(flight);
  }

  /** Lets the commands go on that have waited for a flight, because the flight is not pending any more. */
  #makeRoom({ keys }: Flight): void {
    const wasFull = this.#pendingCount >= this.#ground.limits.maxInFlight;
    this.#pendingCount -= 1;
    if (wasFull) return this.#pumpAll();
    this.#wake(keys);
    return this.#pump();
  }

  /** Removes a command from the queue. Gives whether it was there. */
  #leave(waiting: Waiting): boolean {
    const isLeaving = this.#queue.delete(waiting);
    if (isLeaving) this.#wake(waiting.resources);
    return isLeaving;
  }

  /** Makes the commands due that wait first for these resources. */
  #wake(keys: readonly string[]): void {
    for (const key of keys) {
      const first = this.#queue.firstFor(key);
      if (first !== undefined) insert(this.#due, first);
    }
  }

  /** Gives the instruments the numbers of commands, unless these still change. */
  #countCommands(): void {
    if (this.#pumping) return;
    const [waiting, inFlight] = [this.#queue.size, this.#inFlight.size];
    this.#ground.instruments?.commands({ waiting, inFlight, unknown: inFlight - this.#pendingCount });
  }

  /** Looks at every waiting command. A nested call does nothing. */
  #pumpAll(): void {
    if (this.#pumping) return;
    this.#due = [...this.#queue];
    this.#pumpDue();
  }

  /** Looks at every command that may go on by now: with a coordinator, any of them, as far as this class can tell. */
  #pump(): void {
    if (this.#ground.coordinator !== undefined) this.#pumpAll();
    else this.#pumpDue();
  }

  /** Gives a turn to every due command that need not wait, in order of arrival. */
  #pumpDue(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) {
        const mustStay =
          !this.#queue.has(next) || this.#isHeldBack(next) || this.#mustWait(next, next.resources);
        if (!mustStay) this.#takeTurn(next);
      }
    } finally {
      this.#pumping = false;
    }
    this.#countCommands();
  }

  /** Whether a command must wait, whatever its resources are. One whose signal has aborted is about to leave. */
  #isHeldBack({ request, isReadingOn }: Waiting): boolean {
    if (isReadingOn === true || request.signal?.aborted === true) return true;
    return this.#pendingCount >= this.#ground.limits.maxInFlight && request.isDecided !== true;
  }

  /**
   * Whether a command must wait for another one that uses one of its resources. A command that was decided elsewhere
   * passes the commands in the queue, which may wait for the coordinator.
   */
  #mustWait(waiting: Waiting, keys: readonly string[]): boolean {
    const passes = waiting.request.isDecided === true;
    return keys.some((key) => {
      const { place } = (passes ? undefined : this.#queue.firstFor(key)) ?? waiting;
      return place < waiting.place || this.#holders.get(key)?.outcome === 'pending';
    });
  }

  /** Decides a command, and answers or starts the command unless it must wait. */
  #takeTurn(waiting: Waiting): void {
    const { request } = waiting;
    let decision: Decided;
    let keys: readonly string[];
    try {
      decision = this.#writer.decide(request);
      keys = keysOf(decision.resources);
    } catch (error) {
      waiting.reject(error);
      this.#leave(waiting);
      return;
    }
    // The transition may have closed the interface, or cancelled its own command.
    if (!this.#queue.has(waiting)) return;
    const { resources } = decision;
    if (request.trace !== undefined) request.trace.resources = resources;
    const isDecided = request.isDecided === true;
    const refused = (isDecided ? undefined : this.#refuseAll()) ?? this.#refuseHeld(keys);
    const coordinator = isDecided ? undefined : this.#ground.coordinator;
    const obstacle = coordinator?.refusalFor(resources, request.restsOn ?? []);
    if (refused !== undefined) waiting.resolve(refused);
    else if (obstacle !== undefined && this.#hasWaited(waiting)) waiting.resolve(obstacle);
    else if (obstacle !== undefined || this.#mustWait(waiting, keys)) return this.#waitFor(waiting, keys);
    else if (decision.outcome === 'accepted') this.#writer.begin(decision, waiting);
    else if (this.#mustReadOn(waiting, decision)) return this.#waitFor(waiting, keys);
    else {
      // First, because to complete a refusal can call the host, which can abort this command or close the interface.
      this.#leave(waiting);
      return waiting.resolve(this.#writer.ended(decision, request));
    }
    this.#leave(waiting);
  }

  /** Lets a command wait for the resources of its last decision, and no longer for those of the one before. */
  #waitFor(waiting: Waiting, keys: readonly string[]): void {
    const [before, now] = [waiting.resources, new Set(keys)];
    this.#queue.waitFor(waiting, keys);
    this.#wake(before.filter((key) => !now.has(key)));
  }

  /**
   * Lets the coordinator follow once for a command that changes nothing or is refused: the answer must rest on what
   * others have changed too. The command keeps its place in the queue, and is decided again after news.
   *
   * @returns whether the command waits
   */
  #mustReadOn(waiting: Waiting, decision: Unaccepted): boolean {
    const { coordinator } = this.#ground;
    const { request } = waiting;
    if (coordinator === undefined || waiting.isReadingOn !== undefined || request.isDecided === true)
      return false;
    waiting.isReadingOn = true;
    // The coordinator follows for all commands that wait by now.
    const others = [...this.#queue].filter((each) => each.isReadingOn === undefined);
    void coordinator.readOn().then((found) => {
      const hasFollowed = found === 'news' || found === undefined;
      for (const each of hasFollowed ? [waiting, ...others] : [waiting]) each.isReadingOn = false;
      if (found !== 'news' && this.#leave(waiting))
        waiting.resolve(found ?? this.#writer.ended(decision, request));
      this.#pumpAll();
    });
    return true;
  }

  /** Whether others were in the way of a command for as long as it may wait. */
  #hasWaited(waiting: Waiting): boolean {
    waiting.patience ??= this.#patience();
    return waiting.patience.isOver;
  }

  #patience(): Patience {
    const { clock, limits } = this.#ground;
    const patience = { isOver: false, answered: new AbortController() };
    const { signal } = patience.answered;
    void clock.sleep(limits.effectDeadlineMs, signal).then(() => {
      patience.isOver = true;
      if (!signal.aborted) this.#pumpAll();
    });
    return patience;
  }
}

/** Links by their keys: two commands can spell the name of a new resource in different ways. */
function keysOf(resources: readonly unknown[]): readonly string[] {
  // A decision that the host has built can contain anything.
  return resources.map((link) => linkKey(String(link)));
}
