/**
 * The journal: stores the records that a restart needs. An intent is stored before the host is asked, and a settlement
 * before the client gets the answer.
 *
 * Records that arrive while the store is busy are appended together in the next call (group commit). Many commands share
 * one disk write, with any store.
 *
 * A call that fails is made again, with growing pauses, until the store answers. During such an outage the journal takes
 * the results of commands in flight, and gives up the records of commands that have not changed anything yet.
 */
import { type Json, sizeOf } from '../json/value.ts';
import { isStoreLost } from '../ports/port-error.ts';
import type { Clock, ConfigurationStore } from '../ports/port.ts';
import { beforeDeadline } from './deadline.ts';
import type { History, JournalRecord } from './history.ts';
import type { Instruments } from './instrumentation/instruments.ts';
import { longestUnmarked } from './life.ts';

/** The store does not answer. @internal */
export interface Outage {
  /** The error with which the outage began. */
  readonly error: unknown;
  /** The pause before the next try, in milliseconds; left out if the store is lost, or the interface closes. */
  readonly retryAfterMs?: number;
}

/** What a record is about. The use decides what happens to the record in an outage. */
type RecordUse = keyof typeof uses;

/** What happens to a record in an outage. */
interface Handling {
  /** Whether the record is given up, unless a call of the store contains the record already. */
  readonly isGivenUp: boolean;
  /** Whether the promise of the record stays pending while the record can still be stored. */
  readonly waits: boolean;
}

const uses = {
  /** The gateway is not called before the record is stored. */
  intent: { isGivenUp: true, waits: false },
  /** The record itself is the change. */
  change: { isGivenUp: true, waits: true },
  /** The gateway has made the change. */
  result: { isGivenUp: false, waits: true },
  /** Nothing was changed, and the answer does not depend on the record. */
  refusal: { isGivenUp: false, waits: false },
} as const satisfies Record<string, Handling>;

/** A record, with its use. */
interface Keeping<T> {
  readonly record: JournalRecord;
  readonly use: RecordUse;
  /** Called when the record is stored, before `then` of the next record. */
  readonly then: () => T;
  /** Called if the record is not stored in time. The record can still be stored later. Can be called again. */
  readonly onLate?: () => void;
}

/** The error for a record that the promise no longer waits for. @internal */
export class NotKept extends Error {
  /** Whether the store may contain the record, or may still get it. */
  readonly isPossible: boolean;
  readonly outage: Outage;

  constructor(isPossible: boolean, outage: Outage) {
    super('The configuration store does not answer, and this record is not confirmed.');
    this.name = 'NotKept';
    this.isPossible = isPossible;
    this.outage = outage;
  }
}

/** The journal of a writer. @internal */
export interface Journal {
  /** The present outage; `undefined` while the store answers. */
  readonly outage: Outage | undefined;
  /**
   * Stores a record.
   *
   * @returns the result of `then`; rejects with {@link NotKept}, or with the error that `then` throws
   */
  keep<T>(keeping: Keeping<T>): Promise<T>;
  /** Stores the current revision, if the last stored revision is far behind. */
  mark(revision: number): void;
  /** From now on, a failed call is not made again; a call that has failed already is made once more, at once. */
  stopRepeating(): void;
  /** Disposes of the store when every record is stored or given up. */
  close(): Promise<void>;
}

/** The journal of an interface without a store: stores nothing. @internal */
export const noJournal: Journal = Object.freeze({
  outage: undefined,
  keep: async <T>({ then }: Keeping<T>) => Promise.resolve(then()),
  mark: () => undefined,
  stopRepeating: () => undefined,
  close: () => Promise.resolve(),
});

/** The options of {@link openJournal}. @internal */
export interface JournalOptions {
  readonly store: ConfigurationStore;
  /** The position of the next record. */
  readonly position: string;
  /** The history from the content of the store. */
  readonly history: History;
  readonly clock: Clock;
  /**
   * The deadline of one call to the store, in milliseconds. In an outage, also the time after which a record counts as
   * late.
   */
  readonly deadlineMs: number;
  readonly instruments: Instruments;
  /** Gets the error with which an outage begins, and the error with which the store is lost. */
  readonly onError: (error: unknown) => void;
}

/** The journal is compacted after this many records or bytes, whichever comes first. */
const growth = { records: 10_000, bytes: 64 * 1024 * 1024 };

/** The largest size of the records in one call to the store. A single larger record is still stored. */
const mostBytesAtOnce = 16 * 1024 * 1024;

const firstPauseMs = 100;
/** Longest pause between two calls of a store that fails, in milliseconds. @internal */
export const longestPauseMs = 5000;

/** A call that failed. */
interface Failure {
  readonly error: unknown;
  /** Whether the store has not answered in time. The call can still be answered. */
  readonly isLate: boolean;
}

/** A record that is not stored yet. */
interface Pending {
  readonly record: JournalRecord;
  readonly handling: Handling;
  /** Approximate size as JSON, in bytes. */
  readonly size: number;
  readonly kept: () => void;
  readonly notKept: (error: NotKept) => void;
  readonly late: () => void;
  /** Whether a call of the store contains the record. */
  isSent: boolean;
}

/**
 * Opens the journal of a store, and compacts the content of the store.
 *
 * Until {@link OpenedJournal.startRepeating}, the first call that fails ends the journal: nothing was promised to a
 * client yet, and the host learns at once that the store does not work.
 *
 * @throws the error of the store, or an Error if the store does not answer in time
 * @internal
 */
export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  const journal = new StoreJournal(options);
  await journal.compact();
  return journal;
}

/** The journal of a store. @internal */
export interface OpenedJournal extends Journal {
  /** From now on, a failed call is made again until the store answers. */
  startRepeating(): void;
}

class StoreJournal implements OpenedJournal {
  outage: Outage | undefined;
  readonly #options: JournalOptions;
  #position: string;
  #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #grown = { records: 0, bytes: 0 };
  #repeats = false;
  /** Aborts when failed calls are no longer made again. */
  readonly #stopped = new AbortController();
  /** Aborts when the present outage ends. */
  #answered = new AbortController();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  keep<T>({ record, use, then, onLate = () => undefined }: Keeping<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const kept = (): void => {
        try {
          resolve(then());
        } catch (error) {
          // The record itself is stored, so the journal stores the later records as usual.
          reject(asError(error));
        }
      };
      const size = sizeOf(record as unknown as Json, growth.bytes);
      const pending = {
        record,
        handling: uses[use],
        size,
        kept,
        notKept: reject,
        late: onLate,
        isSent: false,
      };
      if (this.outage !== undefined && !this.#endures(pending, this.outage)) return;
      this.#pending.push(pending);
      this.#flushing ??= this.#flush();
    });
  }

  mark(revision: number): void {
    const { history } = this.#options;
    if (this.outage !== undefined || revision - history.revision < longestUnmarked) return;
    const record = { type: 'mark', revision } as const;
    this.keep({ record, use: 'intent', then: () => undefined }).catch(() => undefined);
  }

  async compact(): Promise<void> {
    const { store, history } = this.#options;
    const state = history.toState();
    const expectedPosition = this.#position;
    this.#position = await this.#untilAnswered('compact', () => store.compact(state, { expectedPosition }));
    this.#grown = { records: 0, bytes: 0 };
  }

  startRepeating(): void {
    this.#repeats = true;
  }

  stopRepeating(): void {
    this.#stopped.abort();
  }

  async close(): Promise<void> {
    this.stopRepeating();
    await this.#flushing;
    try {
      const { store, clock, deadlineMs } = this.#options;
      const disposed = await beforeDeadline(clock, deadlineMs, () => store[Symbol.asyncDispose]());
      if (disposed === 'late') throw lateError(deadlineMs);
    } catch (error) {
      // No record is pending any more, so the failed disposal is only reported.
      this.#options.onError(error);
    }
  }

  /** Stores pending records until none is left. */
  async #flush(): Promise<void> {
    // Wait one microtask, so that records of the same turn of the event loop are stored in one call.
    await Promise.resolve();
    try {
      while (this.#pending.length > 0) {
        await this.#append(this.#pending.slice(0, this.#fitting()));
        if (this.#grown.records >= growth.records || this.#grown.bytes >= growth.bytes) await this.compact();
      }
    } catch (error) {
      this.#end(error);
    } finally {
      // Reset in the same turn in which the queue became empty: a later record must start a new loop.
      this.#flushing = undefined;
    }
  }

  /** The number of pending records that fit into one call; at least one. */
  #fitting(): number {
    let bytes = 0;
    const tooMany = this.#pending.findIndex(({ size }) => (bytes += size) > mostBytesAtOnce);
    return tooMany === -1 ? this.#pending.length : Math.max(1, tooMany);
  }

  async #append(batch: readonly Pending[]): Promise<void> {
    const { store, history } = this.#options;
    const records = batch.map(({ record }) => record as unknown as Json);
    const expectedPosition = this.#position;
    for (const pending of batch) pending.isSent = true;
    this.#position = await this.#untilAnswered('append', () => store.append(records, { expectedPosition }));
    this.#options.instruments.appended(batch.reduce((bytes, { size }) => bytes + size, 0));
    for (const { record, size, kept } of batch) {
      this.#pending.shift();
      history.take(record);
      this.#grown.records += 1;
      this.#grown.bytes += size;
      kept();
    }
  }

  /**
   * Makes a call until the store answers. The store may have kept any part of a failed call, so no other call can follow.
   *
   * @throws the error of the store if the store is lost, or failed calls are not made again
   */
  async #untilAnswered(name: 'append' | 'compact', call: () => Promise<string>): Promise<string> {
    const { clock } = this.#options;
    // A call that was late can still answer in a pause.
    const late: Promise<string>[] = [];
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const isLast = this.#stopped.signal.aborted;
      const latest = this.#options.instruments.storeCall(name, call);
      const answer = await this.#answerOf(latest);
      if ('position' in answer) return this.#endOutage(answer.position);
      if (isLast || !this.#repeats || isStoreLost(answer.error)) throw answer.error;
      if (answer.isLate) late.push(latest.catch(() => new Promise<never>(() => undefined)));
      this.#beginOutage(answer, pauseMs);
      const pause = clock.sleep(pauseMs, this.#stopped.signal).then(() => undefined);
      const position = await Promise.race([...late, pause]);
      if (position !== undefined) return this.#endOutage(position);
    }
  }

  async #answerOf(call: Promise<string>): Promise<{ readonly position: string } | Failure> {
    const { clock, deadlineMs } = this.#options;
    try {
      const answer = await beforeDeadline(clock, deadlineMs, async () => ({ position: await call }));
      return answer === 'late' ? { error: lateError(deadlineMs), isLate: true } : answer;
    } catch (error) {
      return { error, isLate: false };
    }
  }

  #beginOutage({ error, isLate }: Failure, retryAfterMs: number): void {
    const before = this.outage;
    this.outage = { error: before === undefined ? error : before.error, retryAfterMs };
    if (before !== undefined) return;
    this.#options.onError(error);
    this.#answered = new AbortController();
    const { outage } = this;
    this.#pending = this.#pending.filter((pending) => this.#endures(pending, outage));
    if (isLate) for (const { handling, late } of this.#pending) if (handling.waits) late();
  }

  /** Gives the position with which the store has answered. */
  #endOutage(position: string): string {
    if (this.outage !== undefined) {
      this.#answered.abort();
      this.#options.instruments.storeAnswers();
    }
    this.outage = undefined;
    return position;
  }

  /** Applies an outage to a record. Returns whether the record stays in the queue. */
  #endures({ handling, isSent, notKept, late }: Pending, outage: Outage): boolean {
    if (outage.retryAfterMs === undefined || (handling.isGivenUp && !isSent)) {
      notKept(new NotKept(isSent, outage));
      return false;
    }
    if (handling.waits) void this.#watch(late);
    else notKept(new NotKept(true, outage));
    return true;
  }

  /** Calls a function if the outage lasts as long as the deadline. */
  async #watch(late: () => void): Promise<void> {
    const { clock, deadlineMs } = this.#options;
    const { signal } = this.#answered;
    await clock.sleep(deadlineMs, signal);
    if (!signal.aborted) late();
  }

  /** Ends the journal: gives up all records. */
  #end(error: unknown): void {
    if (this.outage === undefined || isStoreLost(error)) this.#options.onError(error);
    const outage = { error };
    this.outage = outage;
    this.#answered.abort();
    for (const { isSent, notKept } of this.#pending.splice(0)) notKept(new NotKept(isSent, outage));
  }
}

/** The error for a call that the store has not answered in time. */
function lateError(deadlineMs: number): Error {
  return new Error(`The configuration store did not answer within ${String(deadlineMs)} ms.`);
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('A value that is not an Error was thrown; see the cause', { cause: error });
}
