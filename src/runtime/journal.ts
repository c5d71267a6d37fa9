/**
 * The journal: writes down what a restart has to know, before anybody relies on it.
 *
 * Records that arrive while the store is busy go to it together, with one wait for the disk: that is all there is to
 * group commit, and it works with every store.
 */
import { type Json, sizeOf } from '../json/value.ts';
import type { Clock, ConfigurationStore } from '../ports/port.ts';
import { beforeDeadline } from './deadline.ts';
import type { History, JournalRecord } from './history.ts';
import { longestUnmarked } from './life.ts';

/** Where the writer writes things down. @internal */
export interface Journal {
  /** Whether it keeps nothing any more: what the store did last is not known. */
  readonly failed: boolean;
  /**
   * Keeps a record.
   *
   * @param record - the record
   * @param then - called once it is kept, in the order of the records and before the next one
   * @returns what `then` gives; rejects when it is not known whether the record is kept
   */
  keep<T>(record: JournalRecord, then: () => T): Promise<T>;
  /** Says how far revisions have come, where they come far without a record. */
  mark(revision: number): void;
  /** Lets go of the store once all that was given is kept. */
  close(): Promise<void>;
}

/** The journal of an interface of which nothing outlives the process. @internal */
export const noJournal: Journal = Object.freeze({
  failed: false,
  keep: async <T>(_record: JournalRecord, then: () => T) => Promise.resolve(then()),
  mark: () => undefined,
  close: () => Promise.resolve(),
});

/** @internal */
export interface JournalOptions {
  readonly store: ConfigurationStore;
  /** Where the store has the next record go. */
  readonly position: string;
  /** What the store holds. */
  readonly history: History;
  readonly clock: Clock;
  /** How long the store may take to keep something, in milliseconds. */
  readonly deadlineMs: number;
  /** Told when the store fails. */
  readonly onError: (error: unknown) => void;
}

/** What the store holds is put together when it has grown by so much, whichever comes first. */
const growth = { records: 10_000, bytes: 64 * 1024 * 1024 };

/** What goes to the store in one call is bounded, however much waits. */
const mostBytesAtOnce = 16 * 1024 * 1024;

interface Pending {
  readonly record: JournalRecord;
  /** Roughly how many bytes it takes. */
  readonly size: number;
  readonly kept: () => void;
  readonly lost: (error: Error) => void;
}

/**
 * Opens the journal of a store: puts together what it holds, so that it starts short.
 *
 * @throws whatever the store rejects with
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
        reject(new Error('The store has failed before.'));
        return;
      }
      const kept = (): void => {
        try {
          resolve(then());
        } catch (error) {
          // It is kept all the same: the records after it must not suffer.
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
      // All that was promised is kept by now.
      this.#options.onError(error);
    }
  }

  /** Keeps what is pending, and what comes meanwhile, until nothing is left. */
  async #flush(): Promise<void> {
    // What is asked for in the same turn goes together.
    await Promise.resolve();
    try {
      while (this.#pending.length > 0) {
        await this.#append(this.#pending.slice(0, this.#fitting()));
        if (this.#grown.records >= growth.records || this.#grown.bytes >= growth.bytes) await this.compact();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      // In the same turn in which nothing was left: who comes in the next one must not rely on a loop that has ended.
      this.#flushing = undefined;
    }
  }

  /** How many of the pending records go together: at least one. */
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

  /** A store that does not answer must not hold up everybody for ever. */
  async #inTime<T>(call: Promise<T>): Promise<T> {
    const { clock, deadlineMs } = this.#options;
    const answer = await beforeDeadline(clock, deadlineMs, async () => ({ given: await call }));
    if (answer === 'late') throw new Error(`The store did not answer within ${String(deadlineMs)} ms.`);
    return answer.given;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('Something was thrown that is no error', { cause: error });
}
