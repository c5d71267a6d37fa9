/**
 * Waiting: deadlines of calls, pauses between the tries of a call, listeners on abort signals, the calls for which a
 * closing interface waits, and turns for other work.
 */
import type { Clock } from '../../ports/port.ts';
import { nextTurn, startAlarm, systemSleep } from '../../ports/system-clock.ts';
import { HostError } from './host-error.ts';

/** The deadline of one call. @internal */
export class Deadline {
  #isOver = false;
  #controller: AbortController | undefined;

  /**
   * Aborts when the deadline has passed. Made when it is first read, because most calls read no signal, and a signal
   * takes as long as a whole decision.
   */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort(passed());
    return this.#controller.signal;
  }

  /** The deadline has passed. */
  end(): void {
    this.#isOver = true;
    this.#controller?.abort(passed());
  }
}

function passed(): Error {
  return new Error('The deadline has passed');
}

/** What there is in place of an answer when the deadline has passed. @internal */
export const late = Symbol('late');

/**
 * Waits for a call until a deadline. At the deadline the signal aborts; the call itself may still run.
 *
 * @param clock - measures the deadline
 * @param deadlineMs - the time to wait, in milliseconds
 * @param call - gets the deadline
 * @returns the result of the call, or {@link late}; rejects if the call rejects or throws before the deadline
 * @internal
 */
export function beforeDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  call: (deadline: Deadline) => Promise<T>,
): Promise<T | typeof late> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline();
    // Started before the call, so that an answer at the very end is late.
    const cancel = startTimer(clock, deadlineMs, () => {
      deadline.end();
      resolve(late);
    });
    const fail = (error: Error): void => {
      cancel();
      reject(error);
    };
    try {
      Promise.resolve(call(deadline)).then((answer) => {
        cancel();
        resolve(answer);
      }, fail);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Calls a function once, when a time has passed. The result cancels the call. */
function startTimer(clock: Clock, milliseconds: number, end: () => void): () => void {
  // A signal to wake the sleep takes longer than all the rest of a short call.
  if (clock.sleep === systemSleep) return startAlarm(milliseconds, end);
  const answered = new AbortController();
  void clock.sleep(milliseconds, answered.signal).then(() => {
    if (!answered.signal.aborted) end();
  });
  // A string as the reason, because the default reason is an error, which records a stack each time.
  return () => {
    answered.abort('answered');
  };
}

/** The functions with this deadline, each with the sentence that a client gets. */
const sentences = {
  'hasher.hash': 'The password was not hashed in time.',
  'hasher.verify': 'The password was not checked in time.',
  'sealer.seal': 'The secret was not sealed in time.',
  'sealer.open': 'The secret was not opened in time.',
  authenticate: 'The log-in was not checked in time.',
  principal: 'The log-in was not checked in time.',
} as const;

type TimedCall = keyof typeof sentences;

/** The error for a function of the host that has not answered in time. @internal */
export class LateAnswer extends HostError {
  /** What has happened, for the client. */
  readonly detail: string;

  /** @param instead - a sentence about the consequence */
  constructor(call: TimedCall, deadlineMs: number, instead = 'The request was answered with 503.') {
    super(`${call} did not answer within ${String(deadlineMs)} ms. ${instead}`, { call });
    this.detail = `${sentences[call]} Nothing was changed. Try again later.`;
  }
}

/** How long a function of the host may take. @internal */
export interface HostDeadline {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Whether the function waits for work of the library, which has a deadline of its own. */
  readonly isWaiting?: () => boolean;
  /** A sentence about the consequence. */
  readonly instead?: string;
}

/**
 * Calls a function of the host.
 *
 * @throws LateAnswer if the function does not answer in time; the error of the function
 * @internal
 */
export async function answerInTime<T>(
  call: TimedCall,
  { clock, deadlineMs, isWaiting, instead }: HostDeadline,
  run: () => Promise<T>,
): Promise<T> {
  const answer = run();
  for (;;) {
    const first = await beforeDeadline(clock, deadlineMs, () => answer);
    if (first !== late) return first;
    if (isWaiting?.() !== true) throw new LateAnswer(call, deadlineMs, instead);
  }
}

/** The first pause and the longest one, in milliseconds. @internal */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pauses between the tries of what the interface does by itself, such as to follow another node. @internal */
export const tryPauses: Pauses = { firstMs: 1000, longestMs: 60_000 };

/** Gives pauses in milliseconds, without end: each is twice as long as the one before, up to the longest. @internal */
export function* backoff({ firstMs, longestMs }: Pauses): Generator<number, never> {
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, longestMs)) yield pauseMs;
}

/** The callbacks that wait for one signal, and the listener that calls them. */
interface Shared {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listeners = new WeakMap<AbortSignal, Shared>();

/**
 * Calls a function when a signal aborts. Does nothing for a signal that has aborted before.
 *
 * @param signal - the signal
 * @param callback - a function of its own for each call
 * @returns a function that ends the waiting. The last one to end removes the listener from the signal
 * @internal
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const shared = listeners.get(signal) ?? listenTo(signal);
  shared.callbacks.add(callback);
  return () => {
    if (!shared.callbacks.delete(callback) || shared.callbacks.size > 0) return;
    signal.removeEventListener('abort', shared.listener);
    listeners.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  const shared = { callbacks, listener };
  signal.addEventListener('abort', listener);
  listeners.set(signal, shared);
  return shared;
}

/** The calls without an answer. @internal */
export class PendingAnswers {
  readonly #pending = new Set<Promise<unknown>>();

  /** Takes a call. Returns the same promise. */
  track<T>(answer: Promise<T>): Promise<T> {
    this.#pending.add(answer);
    const end = (): void => {
      this.#pending.delete(answer);
    };
    answer.then(end, end);
    return answer;
  }

  /**
   * Resolves when every call that was taken so far has its answer. Who waits for such an answer gets it first, because
   * callers of the same promise are called in the order in which they came.
   */
  async given(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}

/** The longest piece, in milliseconds. A step that cannot be cut may take longer. */
const pieceMs = 5;

/**
 * Begins a piece.
 *
 * @returns tells whether the piece is over
 * @internal
 */
export function beginPiece(): () => boolean {
  const begin = performance.now();
  return () => performance.now() - begin >= pieceMs;
}

/**
 * Does work in pieces: other work of the process gets its turn after some milliseconds.
 *
 * @param work - yields where it can pause
 * @param signal - ends the work when it aborts
 * @internal
 */
export async function inPieces<T>(work: Iterator<undefined, T>, signal?: AbortSignal): Promise<T> {
  for (let isOver = beginPiece(); ;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (!isOver()) continue;
    await nextTurn();
    signal?.throwIfAborted();
    isOver = beginPiece();
  }
}
