/**
 * The journal: stores the records that a restart needs. An intent is stored before the host is asked, and a settlement
 * before the client gets the answer.
 *
 * Records go through an outbox: many commands share one disk write, with any store (group commit). During an outage the
 * journal takes the results of commands in flight, and gives up the records of commands that have not changed anything yet.
 */
import { sizeOf } from '../../json/value.ts';
import { isConflict, isStoreLost } from '../../ports/port-error.ts';
import type { Clock } from '../../ports/port.ts';
import { beforeDeadline } from '../host/deadline.ts';
import { Outbox, type Outage } from '../host/outbox.ts';
import { storeUnavailable, type Refusal } from '../command/execution.ts';
import type { Instruments, StoreCall } from '../instrumentation/instruments.ts';
import { longestUnmarked } from './life.ts';
import {
  LogEnded,
  nowhere,
  type Ask,
  type Basis,
  type Entering,
  type Entry,
  type Log,
  type Look,
  type Placed,
} from './log.ts';

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

/** A record, with its use. @internal */
export interface Keeping<T> extends Entering, Following<T> {}

/** What follows once a record is stored. */
interface Following<T> {
  readonly use: RecordUse;
  /** Called when the record is stored, before `then` of the next record. */
  readonly then: (placed: Placed) => T;
  /** Called if the record is not stored in time. The record can still be stored later. Can be called again. */
  readonly onLate?: () => void;
}

/**
 * The refusal of a command in an outage of the store.
 *
 * @param held - what earlier parts of the command have done, in a sentence
 * @internal
 */
export function unavailableIn({ error, retryAfterMs }: Outage, held?: string): Refusal {
  return error instanceof LogEnded ? error.refusal(held) : storeUnavailable(retryAfterMs, held);
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
   * Says whether another node holds a resource, or has changed one and this gateway has not followed yet.
   *
   * @param resources - the links of the resources that a command changes
   * @param links - the links of what the decision rests on besides; nobody holds these
   * @returns `undefined` if nothing is in the way
   */
  obstacleTo(resources: readonly string[], links: readonly string[]): Refusal | undefined;
  /** See {@link Log}. */
  readonly moment: Basis['since'];
  /** See {@link Log}. */
  readonly present: Placed;
  /**
   * Stores a record.
   *
   * @returns the result of `then`; rejects with {@link NotKept}, with the objection of the log, or with the error that
   *   `then` throws
   */
  keep<T>(keeping: Keeping<T>): Promise<T>;
  /** The position of the log; an empty text without a store. */
  readonly position: string;
  /**
   * Takes in what others have appended up to now. All callers that wait share one read.
   *
   * @returns the outage if the store did not answer at some time meanwhile; no promise if nobody else can append
   */
  readOn(): Promise<Outage | undefined> | undefined;
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
  obstacleTo: () => undefined,
  position: '',
  moment: 0,
  present: nowhere,
  readOn: () => undefined,
  keep: async <T>({ then }: Keeping<T>) => Promise.resolve(then(nowhere)),
  mark: () => undefined,
  stopRepeating: () => undefined,
  close: () => Promise.resolve(),
});

/** The options of {@link openJournal}. @internal */
export interface JournalOptions {
  readonly log: Log;
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

/** The journal is compacted after this many records or bytes, whichever comes first. */
const growth = { records: 10_000, bytes: 64 * 1024 * 1024 };

/** The largest size of the records in one call to the store. A single larger record is still stored. */
const mostBytesAtOnce = 16 * 1024 * 1024;

/** A record that is not stored yet. */
interface Pending {
  readonly entry: Entry;
  readonly handling: Handling;
  /** Approximate size as JSON, in bytes. */
  readonly size: number;
  readonly kept: (placed: Placed) => void;
  readonly notKept: (error: Error) => void;
  readonly late: () => void;
  /** Whether a call of the store contains the record. */
  isSent: boolean;
}

/**
 * Opens the journal of a log.
 *
 * Until {@link OpenedJournal.startRepeating}, the first call that fails ends the journal: nothing was promised to a
 * client yet, and the host learns at once that the store does not work.
 *
 * @internal
 */
export function openJournal(options: JournalOptions): OpenedJournal {
  return new StoreJournal(options);
}

/** The journal of a store. @internal */
export interface OpenedJournal extends Journal {
  /**
   * Replaces the records by the state that they lead to.
   *
   * @throws the error of the store, or an Error if the store does not answer in time
   */
  compact(): Promise<void>;
  /** Takes in what others have appended, as soon as the store is free. Resolves when that is done, or the journal has ended. */
  follow(): Promise<void>;
  /** Stores an entry of the log, as {@link Journal.keep} stores a record. */
  put<T>(entry: Entry, following: Following<T>): Promise<T>;
  /**
   * Makes another call to the log as soon as the store is free.
   *
   * @returns what the call gives; rejects if the call conflicts with what others have appended, or the journal has ended
   */
  inTurn<T>(call: (ask: Ask) => Promise<T>): Promise<T>;
  /** From now on, a failed call is made again until the store answers. */
  startRepeating(): void;
}

/** Is called with nothing once the log was read, or with the outage that begins before that. */
type Reader = (outage?: Outage) => void;

/** A call that waits for the store to be free. */
interface WaitingCall {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

class StoreJournal implements OpenedJournal {
  readonly #options: JournalOptions;
  readonly #outbox: Outbox<Pending>;
  #calls: WaitingCall[] = [];
  #grown: { records: number; bytes: number };
  /** Whether others may have appended something. */
  #isBehind = false;
  #repeats = false;
  /** Callers that wait for the next read of the log. */
  #readers: Reader[] = [];
  /** Callers that wait for the present read. */
  #reading: Reader[] = [];
  /** Aborts when the present outage ends. */
  #answered = new AbortController();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#grown = { records: options.records ?? 0, bytes: 0 };
    const { clock, deadlineMs, instruments, onError } = options;
    this.#outbox = new Outbox({
      clock,
      deadlineMs,
      work: () => this.#flush(),
      hasWork: () => this.#isBehind || this.#calls.length > 0,
      // A call that was late can still be answered in a pause.
      wait: (late, pauseMs, signal) =>
        Promise.race([...late.map(untilAnswered), clock.sleep(pauseMs, signal).then(() => undefined)]),
      isFinal: (error) => !this.#repeats || isStoreLost(error),
      lateError: () => lateError(deadlineMs),
      onOutage: (outage, isLate) => this.#cutOff(outage, isLate),
      onAnswer: () => {
        this.#answered.abort();
        instruments?.storeAnswers();
      },
      onError,
    });
  }

  get outage(): Outage | undefined {
    return this.#outbox.outage;
  }

  obstacleTo(resources: readonly string[], links: readonly string[]): Refusal | undefined {
    return this.#options.log.obstacleTo?.(resources, links);
  }

  get moment(): number {
    return this.#options.log.moment;
  }

  get present(): Placed {
    return this.#options.log.present ?? nowhere;
  }

  keep<T>(keeping: Keeping<T>): Promise<T> {
    const entry = this.#options.log.enter(keeping);
    if (entry === undefined) return new Promise((resolve) => resolve(keeping.then(nowhere)));
    return 'json' in entry ? this.put(entry, keeping) : this.#look(entry, keeping);
  }

  /** Looks whether others are in the way of something that is not stored. */
  async #look<T>({ objection }: Look, { then }: Following<T>): Promise<T> {
    const outage = await this.readOn();
    if (outage !== undefined) throw new NotKept(false, outage);
    const error = objection();
    if (error !== undefined) throw error;
    return then(nowhere);
  }

  put<T>(entry: Entry, { use, then, onLate = () => undefined }: Following<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const kept = (placed: Placed): void => {
        try {
          resolve(then(placed));
        } catch (error) {
          // The record itself is stored, so the journal stores the later records as usual.
          reject(asError(error));
        }
      };
      const pending = {
        entry,
        handling: uses[use],
        size: sizeOf(entry.json, growth.bytes),
        kept,
        notKept: reject,
        late: onLate,
        isSent: false,
      };
      if (this.outage !== undefined && !this.#endures(pending, this.outage)) return;
      this.#outbox.items.push(pending);
      void this.#outbox.work();
    });
  }

  mark(revision: number): void {
    const { log } = this.#options;
    if (revision - log.revision < longestUnmarked) return;
    const record = { type: 'mark', revision } as const;
    this.keep({ record, resources: [], use: 'intent', then: () => undefined }).catch(() => undefined);
  }

  get position(): string {
    return this.#options.log.position;
  }

  readOn(): Promise<Outage | undefined> | undefined {
    if (this.#options.log.follow === undefined) return undefined;
    // Not through an outage, which can last for hours.
    if (this.outage !== undefined) return Promise.resolve(this.outage);
    return new Promise((resolve) => {
      this.#readers.push(resolve);
      this.#isBehind = true;
      void this.#outbox.work();
    });
  }

  async follow(): Promise<void> {
    if (this.outage !== undefined && this.outage.retryAfterMs === undefined) return;
    this.#isBehind = true;
    await this.#outbox.work();
  }

  async inTurn<T>(call: (ask: Ask) => Promise<T>): Promise<T> {
    if (this.outage !== undefined && this.outage.retryAfterMs === undefined) throw asError(this.outage.error);
    return new Promise((resolve, reject) => {
      this.#calls.push({ run: async () => resolve(await call(this.#ask)), reject });
      void this.#outbox.work();
    });
  }

  async compact(): Promise<void> {
    try {
      await this.#options.log.compact(this.#ask);
      this.#grown = { records: 0, bytes: 0 };
    } catch (error) {
      // After what others have appended, the next append leads to another try.
      this.#assertFollows(error);
    }
  }

  startRepeating(): void {
    this.#repeats = true;
  }

  stopRepeating(): void {
    this.#outbox.stop();
  }

  async close(): Promise<void> {
    await this.#outbox.close();
    try {
      const { log, clock, deadlineMs } = this.#options;
      const disposed = await beforeDeadline(clock, deadlineMs, () => log.dispose());
      if (disposed === 'late') throw lateError(deadlineMs);
    } catch (error) {
      // No record is pending any more, so the failed disposal is only reported.
      this.#options.onError(error);
    }
  }

  async #flush(): Promise<void> {
    if (this.#isBehind) await this.#catchUp();
    await this.#makeCall();
    this.#giveUpOvertaken();
    if (this.#outbox.items.length > 0) await this.#append(this.#outbox.take(mostBytesAtOnce));
    if (this.#grown.records >= growth.records || this.#grown.bytes >= growth.bytes) await this.compact();
  }

  async #makeCall(): Promise<void> {
    const next = this.#calls.shift();
    try {
      await next?.run();
    } catch (error) {
      next?.reject(error);
      this.#assertFollows(error);
    }
  }

  async #append(batch: readonly Pending[]): Promise<void> {
    const { log, instruments } = this.#options;
    for (const pending of batch) pending.isSent = true;
    try {
      await log.append(
        batch.map(({ entry }) => entry.json),
        this.#ask,
      );
    } catch (error) {
      this.#assertFollows(error);
      return;
    }
    instruments?.appended(batch.reduce((bytes, { size }) => bytes + size, 0));
    for (const { entry, size, kept } of batch) {
      this.#outbox.items.shift();
      this.#grown.records += 1;
      this.#grown.bytes += size;
      kept(entry.take());
    }
  }

  /** @throws the error, unless it says that others have appended something, which can be read */
  #assertFollows(error: unknown): void {
    if (this.#options.log.follow === undefined || !isConflict(error)) throw error;
    this.#outbox.answered(undefined);
    this.#isBehind = true;
  }

  /** Takes in what others have appended, and what the store has kept of calls that seemed to fail. */
  async #catchUp(): Promise<void> {
    this.#isBehind = false;
    [this.#reading, this.#readers] = [this.#readers, []];
    await this.#options.log.follow?.(this.#ask);
    const pending = this.#outbox.items;
    this.#outbox.items = pending.filter(({ entry }) => entry.found() === undefined);
    for (const { entry, kept } of pending) {
      const placed = entry.found();
      if (placed !== undefined) kept(placed);
    }
    for (const reader of this.#reading.splice(0)) reader();
  }

  #giveUpOvertaken(): void {
    const pending = this.#outbox.items;
    // Set before the calls: a caller may store another record.
    this.#outbox.items = pending.filter(({ entry }) => entry.objection() === undefined);
    for (const { entry, notKept } of pending) {
      const objection = entry.objection();
      if (objection === undefined) continue;
      entry.drop();
      notKept(objection);
    }
  }

  /** Makes a call until the store answers. The store may have kept any part of a failed call, so no other call can follow. */
  readonly #ask: Ask = <T>(name: StoreCall, call: () => Promise<T>): Promise<T> =>
    this.#outbox.call(() => measured(this.#options, name, call));

  /** The store does not answer, or the journal ends: gives up what cannot wait for the store. */
  #cutOff(outage: Outage, isLate: boolean): void {
    const isEnd = outage.retryAfterMs === undefined;
    if (isEnd) for (const { reject } of this.#calls.splice(0)) reject(outage.error);
    for (const reader of [...this.#reading.splice(0), ...this.#readers.splice(0)]) reader(outage);
    this.#answered.abort();
    this.#answered = new AbortController();
    const enduring = this.#outbox.items.filter((pending) => this.#endures(pending, outage));
    this.#outbox.items = enduring;
    if (isLate) for (const { handling, late } of enduring) if (handling.waits) late();
  }

  /** Applies an outage to a record. Returns whether the record stays in the queue. */
  #endures({ entry, handling, isSent, notKept, late }: Pending, outage: Outage): boolean {
    if (outage.retryAfterMs === undefined || (handling.isGivenUp && !isSent)) {
      entry.drop();
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

/** Makes a call to the store. An error that the store throws at once is a rejection. @internal */
export async function measured<T>(
  { instruments }: Pick<JournalOptions, 'instruments'>,
  name: StoreCall,
  call: () => Promise<T>,
): Promise<T> {
  return instruments === undefined ? call() : instruments.storeCall(name, call);
}

/** A call that fails is as one that is never answered. */
function untilAnswered<T>(call: Promise<T>): Promise<T> {
  return call.catch(() => new Promise<never>(() => undefined));
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
