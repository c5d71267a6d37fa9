/**
 * The journal: stores the records that a restart needs. An intent is stored before the host is asked, and a settlement
 * before the client gets the answer.
 *
 * Records that arrive while the store is busy are appended together in the next call (group commit). Many commands share
 * one disk write, with any store.
 */
import { type Json, sizeOf } from '../json/value.ts';
import type { Clock, ConfigurationStore } from '../ports/port.ts';
import { beforeDeadline } from './deadline.ts';
import type { History, JournalRecord } from './history.ts';
import { longestUnmarked } from './life.ts';

/** The journal of a writer. @internal */
export interface Journal {
  /** Whether the store has failed. A failed journal stores nothing any more. */
  readonly failed: boolean;
  /**
   * Stores a record.
   *
   * @param record - the record
   * @param then - called when the record is stored, before `then` of the next record
   * @returns the result of `then`; rejects if the record may not be stored, or if `then` throws
   */
  keep<T>(record: JournalRecord, then: () => T): Promise<T>;
  /** Stores the current revision, if the last stored revision is far behind. */
  mark(revision: number): void;
  /** Disposes of the store when every record is stored. */
  close(): Promise<void>;
}

/** The journal of an interface without a store: stores nothing. @internal */
export const noJournal: Journal = Object.freeze({
  failed: false,
  keep: async <T>(_record: JournalRecord, then: () => T) => Promise.resolve(then()),
  mark: () => undefined,
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
  /** The deadline of one call to the store, in milliseconds. */
  readonly deadlineMs: number;
  /** Gets the error if the store fails. */
  readonly onError: (error: unknown) => void;
}

/** The journal is compacted after this many records or bytes, whichever comes first. */
const growth = { records: 10_000, bytes: 64 * 1024 * 1024 };

/** The largest size of the records in one call to the store. A single larger record is still stored. */
const mostBytesAtOnce = 16 * 1024 * 1024;

/** A record that is not stored yet. */
interface Pending {
  readonly record: JournalRecord;
  /** Approximate size as JSON, in bytes. */
  readonly size: number;
  readonly kept: () => void;
  readonly lost: (error: Error) => void;
}

/**
 * Opens the journal of a store, and compacts the content of the store.
 *
 * @throws the error of the store, or an Error if the store does not answer in time
 * @internal
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const journal = new StoreJournal(options);
  await journal.compact();
  return journal;
}

class StoreJournal implements Journal {
  failed = false;
  readonly #options: JournalOptions;
  #position: string;
  #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #grown = { records: 0, bytes: 0 };

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  keep<T>(record: JournalRecord, then: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.failed) {
        reject(new Error('The configuration store has failed, and is not called again.'));
        return;
      }
      const kept = (): void => {
        try {
          resolve(then());
        } catch (error) {
          // The record itself is stored, so the journal stores the later records as usual.
          reject(asError(error));
        }
      };
      const size = sizeOf(record as unknown as Json, growth.bytes);
      this.#pending.push({ record, size, kept, lost: reject });
      this.#flushing ??= this.#flush();
    });
  }

  mark(revision: number): void {
    const { history } = this.#options;
    if (this.failed || revision - history.revision < longestUnmarked) return;
    this.keep({ type: 'mark', revision }, () => undefined).catch(() => undefined);
  }

  async compact(): Promise<void> {
    const { store, history } = this.#options;
    this.#position = await this.#inTime(
      store.compact(history.toState(), { expectedPosition: this.#position }),
    );
    this.#grown = { records: 0, bytes: 0 };
  }

  async close(): Promise<void> {
    await this.#flushing;
    try {
      await this.#inTime(this.#options.store[Symbol.asyncDispose]());
    } catch (error) {
      // Every record is stored by now, so the failed disposal is only reported.
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
      this.#fail(error);
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
    this.#position = await this.#inTime(store.append(records, { expectedPosition: this.#position }));
    for (const { record, size, kept } of batch) {
      this.#pending.shift();
      history.take(record);
      this.#grown.records += 1;
      this.#grown.bytes += size;
      kept();
    }
  }

  #fail(error: unknown): void {
    this.failed = true;
    this.#options.onError(error);
    for (const { lost } of this.#pending.splice(0)) lost(asError(error));
  }

  /** Limits the time of a call to the store, because every command waits for the store. */
  async #inTime<T>(call: Promise<T>): Promise<T> {
    const { clock, deadlineMs } = this.#options;
    const answer = await beforeDeadline(clock, deadlineMs, async () => ({ given: await call }));
    if (answer === 'late')
      throw new Error(`The configuration store did not answer within ${String(deadlineMs)} ms.`);
    return answer.given;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('A value that is not an Error was thrown; see the cause', { cause: error });
}
