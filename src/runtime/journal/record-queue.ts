/**
 * The record queue: the records on their way into the log of a store.
 *
 * Records go through an outbox: many commands share one disk write, with any store (group commit). During an outage the
 * queue takes the results of commands in flight, and gives up the records of commands that have not changed anything
 * yet.
 */
import { sizeOf, type Json } from '../../json/value.ts';
import { isStoreLost } from '../../ports/port-error.ts';
import type { Clock } from '../../ports/port.ts';
import { beforeDeadline, late } from '../host/waiting.ts';
import { Outbox, type Outage } from '../host/outbox.ts';
import type { Instruments, StoreCall } from '../instrumentation/instruments.ts';
import type { Ask, Fold, Log, Queued } from './log.ts';

/** What a record is for. The use decides what happens to the record in an outage. */
type RecordUse = keyof typeof uses;

/** What happens to a record in an outage. */
interface Handling {
  /** Whether the record is given up, unless a call of the store contains the record already. */
  readonly isGivenUp: boolean;
  /** Whether the promise of the record stays pending while the record can still be stored. */
  readonly waits: boolean;
}

const uses = {
  /** Nothing happens before the record is stored, such as an intent or an abandonment. */
  before: { isGivenUp: true, waits: false },
  /** The record itself is the change. */
  change: { isGivenUp: true, waits: true },
  /** The gateway has made the change. Also for a call to the log of a fleet that must be made. */
  result: { isGivenUp: false, waits: true },
  /** Nothing was changed, and no answer depends on the record, such as the end of a refused command. */
  upkeep: { isGivenUp: false, waits: false },
} as const satisfies Record<string, Handling>;

/** What follows once a record is stored. @internal */
export interface Afterwards<T> {
  readonly use: RecordUse;
  /** Called when the record is stored, before `then` of the next record. */
  readonly then: (fold: Fold) => T;
  /** Called if the record is not stored in time. The record can still be stored later. Can be called again. */
  readonly onLate?: (() => void) | undefined;
  /** Called before the promise rejects if the record will not be stored any more. */
  readonly onDropped?: () => void;
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

/** The options of {@link RecordQueue}. @internal */
export interface RecordQueueOptions<R> {
  readonly log: Log<R>;
  readonly clock: Clock;
  /**
   * The deadline of one call to the store, in milliseconds. In an outage, also the time after which a record counts as
   * late.
   */
  readonly deadlineMs: number;
  /** The number of records in the store since the last compaction; 0 by default. */
  readonly records?: number;
  readonly instruments: Instruments | undefined;
  /** Gets the error with which an outage begins, and the error with which the store is lost. */
  readonly onError: (error: unknown) => void;
}

/** The log is compacted after this many records or bytes, whichever comes first. */
const growth = { records: 10_000, bytes: 64 * 1024 * 1024 };

/** The largest size of the records in one call to the store. A single larger record is still stored. */
const mostBytesAtOnce = 16 * 1024 * 1024;

/** A record that is not stored yet. */
interface Pending<R> extends Queued<R> {
  readonly handling: Handling;
  /** Approximate size as JSON, in bytes; 0 if nothing is stored. */
  readonly size: number;
  readonly notKept: (error: Error) => void;
  readonly late: () => void;
  readonly dropped: () => void;
}

/**
 * Hands records to a log.
 *
 * Until {@link RecordQueue.startRepeating}, the first call that fails ends the queue: nothing was promised to a client
 * yet, and the host learns at once that the store does not work.
 *
 * @internal
 */
export class RecordQueue<R> {
  readonly hasStore = true;
  readonly #options: RecordQueueOptions<R>;
  readonly #outbox: Outbox<Pending<R>>;
  #grown: { records: number; bytes: number };
  #repeats = false;
  /** Aborts when the present outage ends. */
  #answered = new AbortController();

  constructor(options: RecordQueueOptions<R>) {
    this.#options = options;
    this.#grown = { records: options.records ?? 0, bytes: 0 };
    const { clock, deadlineMs, instruments, onError } = options;
    this.#outbox = new Outbox({
      clock,
      deadlineMs,
      work: () => this.#flush(),
      // A call that was late can still be answered in a pause.
      wait: (late, pauseMs, signal) =>
        Promise.race([...late.map(untilAnswered), clock.sleep(pauseMs, signal).then(() => undefined)]),
      isFinal: (error) => !this.#repeats || isStoreLost(error),
      lateError: () => lateError(deadlineMs),
      onOutage: (outage, isLate) => {
        this.#cutOff(outage, isLate);
      },
      onAnswer: () => {
        this.#answered.abort();
        instruments?.storeAnswers();
      },
      onError,
    });
  }

  /** See {@link Journal}. */
  get outage(): Outage | undefined {
    return this.#outbox.outage;
  }

  /**
   * Stores a record.
   *
   * @param record - the record
   * @param json - the stored form; left out if the log stores nothing
   * @returns the result of `then`; rejects with {@link NotKept}, with the error for which the log does not take the
   *   record, or with the error that `then` throws
   */
  put<T>(record: R, json: Json | undefined, afterwards: Afterwards<T>): Promise<T> {
    const { use, then, onLate = () => undefined, onDropped = () => undefined } = afterwards;
    return new Promise((resolve, reject) => {
      const pending: Pending<R> = {
        record,
        handling: uses[use],
        size: json === undefined ? 0 : sizeOf(json, growth.bytes),
        isSent: false,
        kept: (fold) => {
          this.#leave(pending);
          this.#grow(pending.size);
          try {
            resolve(then(fold));
          } catch (error) {
            // The record itself is stored, so the queue stores the later records as usual.
            reject(asError(error));
          }
        },
        refused: (error) => {
          this.#leave(pending);
          onDropped();
          reject(error);
        },
        notKept: reject,
        late: onLate,
        dropped: onDropped,
      };
      if (this.outage !== undefined && !this.#endures(pending, this.outage)) return;
      this.#outbox.items.push(pending);
      void this.#outbox.work();
    });
  }

  /**
   * Replaces the records by the state that they lead to.
   *
   * @throws the error of the store, or an Error if the store does not answer in time
   */
  async compact(): Promise<void> {
    if (await this.#options.log.compact(this.#ask)) this.#grown = { records: 0, bytes: 0 };
  }

  /** Resolves when no record is left, or the queue has ended. */
  idle(): Promise<void> {
    return this.#outbox.work();
  }

  /** From now on, a failed call is made again until the store answers. */
  startRepeating(): void {
    this.#repeats = true;
  }

  /** From now on, a failed call is not made again; a call that has failed already is made once more, at once. */
  stopRepeating(): void {
    this.#outbox.stop();
  }

  /** Disposes of the store when every record is stored or given up. */
  async close(): Promise<void> {
    await this.#outbox.close();
    try {
      const { log, clock, deadlineMs } = this.#options;
      const disposed = await beforeDeadline(clock, deadlineMs, () => log.dispose());
      if (disposed === late) throw lateError(deadlineMs);
    } catch (error) {
      // No record is pending any more, so the failed disposal is only reported.
      this.#options.onError(error);
    }
  }

  async #flush(): Promise<void> {
    const bytes = this.#grown.bytes;
    await this.#options.log.append(this.#outbox.take(mostBytesAtOnce), this.#ask);
    if (this.#grown.bytes > bytes) this.#options.instruments?.appended(this.#grown.bytes - bytes);
    if (this.#grown.records >= growth.records || this.#grown.bytes >= growth.bytes) await this.compact();
  }

  #leave(pending: Pending<R>): void {
    const { items } = this.#outbox;
    const at = items.indexOf(pending);
    if (at === 0) items.shift();
    else items.splice(at, 1);
  }

  #grow(bytes: number): void {
    this.#grown.records += Math.sign(bytes);
    this.#grown.bytes += bytes;
  }

  /**
   * Makes a call until the store answers. The store may have kept any part of a failed call, so no other call can
   * follow.
   */
  readonly #ask: Ask = <T>(name: StoreCall, call: () => Promise<T>): Promise<T> =>
    this.#outbox.call(measured(this.#options, name, call));

  /** The store does not answer, or the queue ends: gives up what cannot wait for the store. */
  #cutOff(outage: Outage, isLate: boolean): void {
    this.#answered.abort();
    this.#answered = new AbortController();
    const enduring = this.#outbox.items.filter((pending) => this.#endures(pending, outage));
    this.#outbox.items = enduring;
    if (isLate) for (const { handling, late } of enduring) if (handling.waits) late();
  }

  /** Applies an outage to a record. Returns whether the record stays in the queue. */
  #endures({ handling, isSent, notKept, late, dropped }: Pending<R>, outage: Outage): boolean {
    if (outage.retryAfterMs === undefined || (handling.isGivenUp && !isSent)) {
      dropped();
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
}

/** A call to the store, measured if there are instruments. @internal */
export function measured<T>(
  { instruments }: Pick<RecordQueueOptions<never>, 'instruments'>,
  name: StoreCall,
  call: () => Promise<T>,
): () => Promise<T> {
  return instruments === undefined ? call : () => instruments.storeCall(name, call);
}

/** A call that fails is as one that is never answered. */
function untilAnswered<T>(call: Promise<T>): Promise<T> {
  return call.catch(() => new Promise<never>(() => undefined));
}

/** The error for a call that the store has not answered in time. */
function lateError(deadlineMs: number): Error {
  return new Error(`The configuration store did not answer within ${String(deadlineMs)} ms.`);
}

/** @internal */
export function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('A value that is not an Error was thrown; see the cause', { cause: error });
}
