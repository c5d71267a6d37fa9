/**
 * The writer: decisions one at a time, intent → effect → settle.
 *
 * Everything that changes the snapshot goes through here. A command is decided on the snapshot as it is when its turn
 * comes. It waits only for commands under way on a resource it touches, so effects on different resources overlap.
 */
import { refused, type Accepted, type Context } from '../core/decision.ts';
import { problem, type Problem, type ProblemCode } from '../core/problem.ts';
import { evolve, type Decision, type Effect, type Event, type Step } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { perform, type OperationOptions, type Performed } from './operation.ts';

/**
 * What became of a command.
 *
 * @public
 */
export type Execution =
  | {
      /** It happened. */
      readonly outcome: 'accepted';
      /** The snapshot in which it has. */
      readonly snapshot: Snapshot;
      /** What happened, as it was recorded. */
      readonly events: readonly Event[];
    }
  | {
      /** It was so already; nothing was done. */
      readonly outcome: 'unchanged';
      /** The snapshot on which this was decided. */
      readonly snapshot: Snapshot;
    }
  | {
      /** It was refused; nothing was done unless the problem says so. */
      readonly outcome: 'refused';
      /** Why. */
      readonly problem: Problem;
    }
  | {
      /** The host did not say in time whether it was done. It is found out; if it was, an event will tell. */
      readonly outcome: 'unknown';
      /** What to do next. */
      readonly problem: Problem;
      /** Identifies the operation in the events that settle it. */
      readonly operationId: string;
    };

/** A command in the queue. @internal */
export interface Command {
  readonly step: Step;
  readonly actor?: string;
  /** Checked in the turn of the command, before it is decided and after it is known that the resource exists. */
  readonly condition?: (snapshot: Snapshot) => Problem | undefined;
  /** Takes the command out of the queue; one that has begun goes on. */
  readonly signal?: AbortSignal;
}

/** @internal */
export interface WriterOptions extends Pick<OperationOptions, 'gateway' | 'clock' | 'deadlineMs'> {
  readonly snapshot: Snapshot;
  /** How many commands may wait. */
  readonly waiting: number;
  readonly contextOf: (actor: string | undefined) => Context;
  readonly publish: (revision: number, events: readonly Event[]) => void;
}

/** A command that waits for its turn. */
interface Entry {
  readonly command: Command;
  readonly answer: (execution: Execution) => void;
  readonly fail: (error: unknown) => void;
  /** What it touched when it was last looked at. */
  touches: readonly string[];
}

/**
 * Takes commands in turn.
 *
 * @internal
 */
export class Writer {
  #snapshot: Snapshot;
  #operations = 0;
  #pumping = false;
  readonly #options: WriterOptions;
  readonly #queue = new Set<Entry>();
  readonly #underWay = new Set<Promise<void>>();
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
  decide({ step, actor, condition }: Command): Decision {
    const snapshot = this.#snapshot;
    const decision = step(snapshot, this.#options.contextOf(actor));
    if (decision.outcome === 'refused' && decision.problem.status === 404) return decision;
    const failed = condition?.(snapshot);
    return failed === undefined ? decision : refused(snapshot, failed, decision.touches);
  }

  /** Puts a command into the queue. Its signal takes it out again as long as it has not begun. */
  async execute(command: Command): Promise<Execution> {
    const { signal } = command;
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) return refusal('closed', 'The administration interface is closed.');
    const { promise, resolve, reject } = withResolvers<Execution>();
    const entry: Entry = { command, answer: resolve, fail: reject, touches: [] };
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
  record(next: Snapshot, events: readonly Event[]): void {
    // The place of the store: a settlement is journalled here before it is shown.
    this.#snapshot = next;
    this.#options.publish(next.revision, events);
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
        const waits = entry.touches.some((link) => blocked.has(link) || this.#held.get(link) === 'busy');
        if (waits || !this.#takeTurn(entry, blocked)) block(entry.touches, blocked);
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
    entry.touches = decision.touches;
    if (entry.touches.some((link) => this.#held.get(link) === 'unknown')) entry.answer(inProgress());
    else if (entry.touches.some((link) => blocked.has(link) || this.#held.has(link))) return false;
    else if (decision.outcome === 'accepted') this.#begin(entry, decision);
    else entry.answer(ended(decision));
    return this.#queue.delete(entry);
  }

  #begin(entry: Entry, decision: Accepted<Snapshot, Event, Effect>): void {
    this.#hold(decision.touches, 'busy');
    this.#operations += 1;
    const operationId = `${this.#snapshot.epoch}-${String(this.#operations)}`;
    const done = this.#perform(entry, decision, operationId).finally(() => {
      for (const link of decision.touches) this.#held.delete(link);
      this.#underWay.delete(done);
      this.#pump();
    });
    this.#underWay.add(done);
  }

  async #perform(
    entry: Entry,
    decision: Accepted<Snapshot, Event, Effect>,
    operationId: string,
  ): Promise<void> {
    // The place of the store: the intent is journalled here before the host is asked for anything.
    try {
      const performed = await perform(decision, {
        ...this.#options,
        operationId,
        closing: this.#closing.signal,
        settle: (events) => this.#settle(operationId, events),
        onUnknown: () => {
          this.#hold(decision.touches, 'unknown');
          entry.answer(unknown(operationId));
          this.#pump();
        },
      });
      entry.answer(executionOf(performed, this.#snapshot));
    } catch (error) {
      entry.fail(error);
    }
  }

  /** The facts are folded over the snapshot as it is now: reports may have changed it since the decision. */
  #settle(operation: string, events: readonly Event[]): readonly Event[] {
    const at = this.#options.contextOf(undefined).now;
    const stamped = Object.freeze(events.map((event) => Object.freeze({ ...event, at, operation })));
    const before = this.#snapshot;
    const next = evolve(before, stamped);
    // A command is a revision of its own even when the host's reports have told all of it already.
    this.record(
      next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next,
      stamped,
    );
    return stamped;
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

/** A step that is not a transition, such as an async function, must not stop the queue for everyone. */
function assertDecision(decision: unknown): void {
  const { outcome, touches } = (decision ?? {}) as { readonly outcome?: unknown; readonly touches?: unknown };
  if (!Array.isArray(touches) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A step must answer with a decision at once: it cannot be an async function');
  }
}

function block(touches: readonly string[], blocked: Set<string>): void {
  for (const link of touches) blocked.add(link);
}

function ended(decision: Exclude<Decision, { readonly outcome: 'accepted' }>): Execution {
  if (decision.outcome === 'refused') return { outcome: 'refused', problem: decision.problem };
  return { outcome: 'unchanged', snapshot: decision.next };
}

function executionOf(performed: Performed, snapshot: Snapshot): Execution {
  if (performed.refusal !== undefined) return refusal('effect-refused', performed.refusal);
  return { outcome: 'accepted', snapshot, events: performed.events };
}

function refusal(code: ProblemCode, detail: string): Execution {
  return { outcome: 'refused', problem: problem(code, detail) };
}

function inProgress(): Execution {
  return refusal(
    'operation-in-progress',
    'It is not yet known what became of an earlier command on this resource. Try again in a moment.',
  );
}

function unknown(operationId: string): Execution {
  const detail =
    `The gateway did not say in time whether it was done (operation ${operationId}). It is being found out: ` +
    'read the resource again. If it was done, an event with the id of this operation will tell.';
  return { outcome: 'unknown', problem: problem('outcome-unknown', detail), operationId };
}
