/**
 * The outbox: what is on its way to a port that keeps it, such as a store or an audit sink.
 *
 * What arrives while the port is busy goes with the next call, so that many items share one disk write. A call that
 * fails is made again, with growing pauses, until the port answers. This is an outage; `onError` gets the error once.
 */
import type { Clock } from '../../ports/port.ts';
import { backoff, type Pauses, beforeDeadline, late, type Deadline } from './waiting.ts';

/** The port does not answer. @internal */
export interface Outage {
  /** The error of the last call that failed. */
  readonly error: unknown;
  /** When the outage began, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
  /** The pause before the next call, in milliseconds; left out if no further call is made. */
  readonly retryAfterMs?: number;
}

/** A call that failed. */
interface Failure {
  readonly error: unknown;
  /** Whether the port has not answered in time. The call can still be answered. */
  readonly isLate: boolean;
}

/** An answer of the port. */
interface Answer<R> {
  readonly value: R;
}

/** The port of an outbox, and what follows from its failures. @internal */
export interface OutboxOptions {
  readonly clock: Clock;
  /** The deadline of one call, in milliseconds. */
  readonly deadlineMs: number;
  /** Makes the next call. A rejection ends the outbox. */
  readonly work: () => Promise<void>;
  /**
   * Waits before a call is made again.
   *
   * @param late - the answers of the calls that were late; a call that fails rejects
   * @param signal - aborts when there is no reason to wait any more
   * @returns the answer of a late call, if that comes first
   */
  readonly wait: <R>(
    late: readonly Promise<Answer<R>>[],
    pauseMs: number,
    signal: AbortSignal,
  ) => Promise<Answer<R> | undefined>;
  /** Whether no call is made again after an error. If left out, every call is made again. */
  readonly isFinal?: (error: unknown) => boolean;
  /** Makes the error for a call that is late. */
  readonly lateError: () => Error;
  /** Called when an outage begins, and when the outbox ends: then there is no `retryAfterMs`. */
  readonly onOutage?: (outage: Outage, isLate: boolean) => void;
  /** Called when an outage has ended with an answer. */
  readonly onAnswer?: () => void;
  /** Gets the error with which an outage begins, and the one with which the outbox ends. */
  readonly onError: (error: unknown) => void;
}

/** The pauses between two calls of a port that fails. @internal */
export const portPauses: Pauses = { firstMs: 100, longestMs: 5000 };

/** Hands items to a port. @internal */
export class Outbox<T extends { readonly size: number }> {
  /** What the port has not kept yet, in order. */
  items: T[] = [];
  /** The present outage; `undefined` while the port answers. */
  outage: Outage | undefined;
  readonly #options: OutboxOptions;
  #working: Promise<void> | undefined;
  /** Aborts when failed calls are no longer made again. */
  readonly #stopped = new AbortController();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** The first items, up to a size in bytes; at least one item. */
  take(mostBytes: number): T[] {
    let bytes = 0;
    const tooMany = this.items.findIndex(({ size }) => (bytes += size) > mostBytes);
    return tooMany === -1 ? [...this.items] : this.items.slice(0, Math.max(1, tooMany));
  }

  /** Makes calls until no work is left. Resolves then, or when the outbox ends. */
  work(): Promise<void> {
    return (this.#working ??= this.#work());
  }

  /**
   * Makes a call until the port answers.
   *
   * @throws the error of the call if the error is final, or failed calls are not made again
   */
  async call<R>(attempt: (deadline: Deadline) => Promise<R>): Promise<R> {
    const unanswered: Promise<Answer<R>>[] = [];
    const { signal } = this.#stopped;
    let pauses: ReturnType<typeof backoff> | undefined;
    for (;;) {
      // Read before the call: a call that is made after the beginning of the end is the last one.
      const isLast = signal.aborted;
      const answer = await this.#answerOf(attempt, unanswered);
      if ('value' in answer) return this.answered(answer.value);
      if (isLast || this.#isFinal(answer.error)) throw answer.error;
      pauses ??= backoff(portPauses);
      const pauseMs = pauses.next().value;
      this.#fail(answer, pauseMs);
      const lateAnswer = await this.#options.wait(unanswered, pauseMs, signal);
      if (lateAnswer !== undefined) return this.answered(lateAnswer.value);
    }
  }

  /** The port has answered. Gives the answer. */
  answered<R>(answer: R): R {
    const before = this.outage;
    this.outage = undefined;
    if (before !== undefined) this.#options.onAnswer?.();
    return answer;
  }

  /** From now on, a failed call is not made again; a call that has failed already is made once more, at once. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Stops. Resolves when nothing is left, or the last call has failed. */
  async close(): Promise<void> {
    this.stop();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { work, onOutage, onError } = this.#options;
    // Wait one microtask, so that items of the same turn of the event loop go with one call.
    await Promise.resolve();
    try {
      while (this.items.length > 0) await work();
    } catch (error) {
      if (this.outage === undefined || this.#isFinal(error)) onError(error);
      this.outage = { error, since: this.#since() };
      onOutage?.(this.outage, false);
    } finally {
      // Reset in the same turn in which the last work was done: later work must start a new loop.
      this.#working = undefined;
    }
  }

  #isFinal(error: unknown): boolean {
    return this.#options.isFinal?.(error) === true;
  }

  async #answerOf<R>(
    attempt: (deadline: Deadline) => Promise<R>,
    unanswered: Promise<Answer<R>>[],
  ): Promise<Answer<R> | Failure> {
    const { clock, deadlineMs, lateError } = this.#options;
    let call: Promise<R> | undefined;
    try {
      const value = await beforeDeadline(clock, deadlineMs, (deadline) => (call = attempt(deadline)));
      if (value !== late) return { value };
      const answer = Promise.resolve(call as Promise<R>).then((found) => ({ value: found }));
      // After the last call, nobody waits for it.
      answer.catch(() => undefined);
      unanswered.push(answer);
      return { error: lateError(), isLate: true };
    } catch (error) {
      return { error, isLate: false };
    }
  }

  /** When the present outage began: now, if there was none before. */
  #since(): number {
    return this.outage?.since ?? this.#options.clock.now();
  }

  #fail({ error, isLate }: Failure, retryAfterMs: number): void {
    const before = this.outage;
    const outage = { error, since: this.#since(), retryAfterMs };
    this.outage = outage;
    if (before !== undefined) return;
    this.#options.onError(error);
    this.#options.onOutage?.(outage, isLate);
  }
}
