/**
 * The writer: decisions one at a time, intent → effect → settle.
 *
 * Everything that changes the snapshot goes through here. A command is decided on the snapshot as it is when its turn
 * comes. It waits only for commands under way on a resource it resources, so effects on different resources overlap.
 */
import { refused, type Accepted, type Context } from '../core/decision.ts';
import type { Problem } from '../problem.ts';
import { evolve, type Decision, type Effect, type AdminEvent, type Transition } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  doneUnkept,
  ended,
  inProgress,
  outcomeUnknown,
  perhapsKept,
  refusal,
  storeUnavailable,
  type Execution,
} from './execution.ts';
import { areConsistent, type OpenCommand } from './history.ts';
import type { Journal } from './journal.ts';
import { perform, resume, type CommandOptions, type Performed, type Place } from './command.ts';

/** A command in the queue. @internal */
export interface CommandRequest {
  readonly transition: Transition;
  readonly actor?: string;
  /** Checked in the turn of the command, before it is decided and after it is known that the resource exists. */
  readonly condition?: (snapshot: Snapshot) => Problem | undefined;
  /** Takes the command out of the queue; one that has begun goes on. */
  readonly signal?: AbortSignal;
}

/** @internal */
export interface WriterOptions extends Pick<CommandOptions, 'gateway' | 'clock' | 'deadlineMs'> {
  readonly snapshot: Snapshot;
  readonly journal: Journal;
  /** How many commands may wait. */
  readonly waiting: number;
  /** How many commands may be under way at the same time. */
  readonly underWay: number;
  readonly contextOf: (actor: string | undefined) => Context;
  readonly publish: (revision: number, events: readonly AdminEvent[]) => void;
  readonly onError: (error: unknown) => void;
}

type Acceptance = Accepted<Snapshot, AdminEvent, Effect>;

/** What is under way. */
interface InFlight {
  readonly id: string;
  /** Link of what it is about. */
  readonly resource: string;
  readonly actor?: string;
  readonly resources: readonly string[];
  /** Whether its events are kept, or nothing is. A fact that needs no effect comes true only by being kept. */
  readonly asks: 'host' | 'nobody';
  /** Whether somebody was told that its outcome is not known. */
  announced: boolean;
}

/** What holds could not be kept. */
class Unkept extends Error {
  readonly place: Place;

  constructor(place: Place) {
    super('The store has failed');
    this.place = place;
  }
}

/** A command that waits for its turn. */
interface Entry {
  readonly command: CommandRequest;
  readonly answer: (execution: Execution) => void;
  readonly fail: (error: unknown) => void;
  /** What it touched when it was last looked at. */
  resources: readonly string[];
}

/**
 * Takes commands in turn.
 *
 * @internal
 */
export class Writer {
  #snapshot: Snapshot;
  #commands = 0;
  #pumping = false;
  readonly #options: WriterOptions;
  readonly #queue = new Set<Entry>();
  readonly #underWay = new Set<Promise<void>>();
  /** What the commands touch that are under way, but for those of unknown outcome: they may take for ever. */
  readonly #busy = new Set<readonly string[]>();
  /** The resources of the commands under way, and whether the outcome of such a command is unknown. */
  readonly #held = new Map<string, 'busy' | 'unknown'>();
  readonly #closing = new AbortController();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#snapshot = options.snapshot;
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Decides as `execute` would at this moment, and does nothing. */
  decide({ transition, actor, condition }: CommandRequest): Decision {
    const snapshot = this.#snapshot;
    const decision = transition(snapshot, this.#options.contextOf(actor));
    if (decision.outcome === 'refused' && decision.problem.status === 404) return decision;
    const failed = condition?.(snapshot);
    return failed === undefined ? decision : refused(snapshot, failed, decision.resources);
  }

  /** Puts a command into the queue. Its signal takes it out again as long as it has not begun. */
  async execute(command: CommandRequest): Promise<Execution> {
    const { signal } = command;
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) return refusal('closed', 'The administration interface is closed.');
    const { promise, resolve, reject } = withResolvers<Execution>();
    const entry: Entry = { command, answer: resolve, fail: reject, resources: [] };
    const leave = (): void => {
      if (this.#queue.delete(entry)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave);
    this.#queue.add(entry);
    this.#pump();
    // Only now is it known whether it has to wait at all.
    if (this.#queue.size > this.#options.waiting && this.#queue.delete(entry)) {
      resolve(refusal('overloaded', 'Too many commands are waiting. Try again in a moment.'));
    }
    return promise.finally(() => {
      signal?.removeEventListener('abort', leave);
    });
  }

  /** Makes a snapshot the current one, with the facts that made it. */
  record(next: Snapshot, events: readonly AdminEvent[]): void {
    this.#snapshot = next;
    this.#options.journal.mark(next.revision);
    this.#options.publish(next.revision, events);
  }

  /** Finds out what became of what an earlier life began. Resolves when that is known, or is known to take longer. */
  resume(open: OpenCommand): Promise<void> {
    const { command: id, resources, events } = open.intent;
    const inFlight = { ...inFlightOf(id, { resources, events }, 'host'), announced: true };
    const { promise, resolve } = withResolvers<undefined>();
    const onUnknown = (): void => {
      resolve(undefined);
    };
    this.#track(resources, async () => {
      try {
        await resume(open, this.#optionsOf(inFlight, onUnknown));
      } catch (error) {
        // Closing leaves it to the next life; a store that fails has said so itself.
        if (!this.#closing.signal.aborted && !(error instanceof Unkept)) this.#options.onError(error);
      }
      resolve(undefined);
    });
    return promise;
  }

  /** Refuses what is to come, answers what waits, settles what is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    const waiting = [...this.#queue];
    this.#queue.clear();
    for (const { answer } of waiting)
      answer(refusal('closed', 'The administration interface was closed meanwhile.'));
    await Promise.all(this.#underWay);
  }

  /** Gives every command its turn that has one, in the order in which they came. Never nested. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // Whoever waits keeps later commands on the same resource behind it.
    const blocked = new Set<string>();
    try {
      for (const entry of this.#queue) {
        if (this.#busy.size >= this.#options.underWay) break;
        const waits = entry.resources.some((link) => blocked.has(link) || this.#held.get(link) === 'busy');
        if (waits || !this.#takeTurn(entry, blocked)) block(entry.resources, blocked);
      }
    } finally {
      this.#pumping = false;
    }
  }

  /** Decides a command. @returns whether it left the queue */
  #takeTurn(entry: Entry, blocked: ReadonlySet<string>): boolean {
    let decision: Decision;
    try {
      decision = this.decide(entry.command);
      assertDecision(decision);
    } catch (error) {
      entry.fail(error);
      return this.#queue.delete(entry);
    }
    // The transition may have closed the interface, or taken its own command back.
    if (!this.#queue.has(entry)) return true;
    entry.resources = decision.resources;
    if (this.#options.journal.failed) entry.answer(storeUnavailable());
    else if (entry.resources.some((link) => this.#held.get(link) === 'unknown')) entry.answer(inProgress());
    else if (entry.resources.some((link) => blocked.has(link) || this.#held.has(link))) return false;
    else if (decision.outcome === 'accepted') this.#begin(entry, decision);
    else entry.answer(ended(decision));
    return this.#queue.delete(entry);
  }

  #begin(entry: Entry, decision: Acceptance): void {
    this.#commands += 1;
    const id = `${this.#snapshot.epoch}-${String(this.#commands)}`;
    const asks = decision.effects.length === 0 ? 'nobody' : 'host';
    const inFlight = inFlightOf(id, decision, asks);
    this.#track(decision.resources, async () => {
      try {
        entry.answer(await this.#perform(inFlight, decision, entry.answer));
      } catch (error) {
        entry.fail(error);
      }
    });
  }

  /** Keeps others away from resources as long as work on them is under way. */
  #track(links: readonly string[], work: () => Promise<void>): void {
    this.#hold(links, 'busy');
    this.#busy.add(links);
    const done = work().finally(() => {
      this.#busy.delete(links);
      for (const link of links) this.#held.delete(link);
      this.#underWay.delete(done);
      this.#pump();
    });
    this.#underWay.add(done);
  }

  async #perform(inFlight: InFlight, decision: Acceptance, answer: Entry['answer']): Promise<Execution> {
    const { journal } = this.#options;
    const { id, resources } = inFlight;
    const { events, effects } = decision;
    const intent = { type: 'intent', command: id, resources, events, effects } as const;
    try {
      if (inFlight.asks === 'host') await journal.keep(intent, () => undefined);
    } catch (error) {
      if (!journal.failed) throw error;
      return storeUnavailable();
    }
    const onUnknown = (): void => {
      answer(outcomeUnknown(id));
    };
    try {
      return this.#executionOf(await perform(decision, this.#optionsOf(inFlight, onUnknown)));
    } catch (error) {
      if (!(error instanceof Unkept)) throw error;
      return inFlight.asks === 'host' ? doneUnkept(id, heldBy(error.place)) : perhapsKept(id);
    }
  }

  #optionsOf(inFlight: InFlight, onUnknown: () => void): CommandOptions {
    const { gateway, clock, deadlineMs } = this.#options;
    return {
      gateway,
      clock,
      deadlineMs,
      commandId: inFlight.id,
      closing: this.#closing.signal,
      settle: (events, place) => this.#settle(inFlight, events, place),
      onUnknown: () => {
        inFlight.announced = true;
        this.#hold(inFlight.resources, 'unknown');
        this.#busy.delete(inFlight.resources);
        onUnknown();
        this.#pump();
      },
    };
  }

  async #settle(
    inFlight: InFlight,
    facts: readonly AdminEvent[],
    place: Place,
  ): Promise<readonly AdminEvent[]> {
    const events = this.#recorded(inFlight, facts, place);
    // What is not finished stays open in the journal: the next life finds out.
    if (place.at === 'break') return this.#apply(events);
    const { revision } = this.#snapshot;
    const last = place.at === 'end';
    try {
      const record = { type: 'settlement', command: inFlight.id, revision, events, last } as const;
      return await this.#options.journal.keep(record, () => this.#apply(events));
    } catch (error) {
      if (!this.#options.journal.failed) throw error;
      // What the host has done is so, kept or not, and what is shown must say so.
      if (inFlight.asks === 'host') this.#apply(events);
      if (events.length > 0) throw new Unkept(place);
      return events;
    }
  }

  /** The facts as they go on record: with the time at which they came true, and the inFlight they belong to. */
  #recorded(inFlight: InFlight, facts: readonly AdminEvent[], place: Place): readonly AdminEvent[] {
    const stamp = { at: this.#options.contextOf(undefined).now, command: inFlight.id };
    const events: AdminEvent[] = facts.map((event) => Object.freeze({ ...event, ...stamp }));
    if (place.at === 'end' && place.refusal !== undefined && inFlight.announced)
      events.push(failure(inFlight, place.refusal, stamp));
    return Object.freeze(events);
  }

  /** The facts are folded over the snapshot as it is now: reports may have changed it since the decision. */
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

  #hold(links: readonly string[], how: 'busy' | 'unknown'): void {
    for (const link of links) this.#held.set(link, how);
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

function inFlightOf(
  id: string,
  { resources, events }: Pick<Acceptance, 'resources' | 'events'>,
  asks: InFlight['asks'],
): InFlight {
  const [{ resource, actor } = { resource: resources[0] ?? '/', actor: undefined }] = events;
  const inFlight = { id, resource, resources, asks, announced: false };
  return actor === undefined ? inFlight : { ...inFlight, actor };
}

/** What of an inFlight holds where its settlement was to be. */
function heldBy(place: Place): string {
  if (place.at === 'part') {
    const { done, of } = place;
    return `Only ${String(done)} of ${String(of)} parts were done; the gateway was not asked for the rest.`;
  }
  return (place.at === 'end' ? place.refusal : undefined) ?? 'The gateway has done it.';
}

/** Tells those who wait for an inFlight of unknown outcome that it was not done. */
function failure(
  { resource, actor }: InFlight,
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
function assertDecision(decision: unknown): void {
  const { outcome, resources, events, effects } = (decision ?? {}) as Partial<Acceptance>;
  if (!Array.isArray(resources) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A transition must answer with a decision at once: it cannot be an async function');
  }
  if (outcome === 'accepted' && !areConsistent(events, effects))
    throw new TypeError(
      'A transition must make events and effects of known types, an effect for each event that needs one',
    );
}

function block(resources: readonly string[], blocked: Set<string>): void {
  for (const link of resources) blocked.add(link);
}
