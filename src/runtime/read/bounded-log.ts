/**
 * The bounded log: keeps the last items in order, for any number of readers.
 *
 * All readers read from one shared ring buffer, so a slow reader costs nothing and delays nobody. If the ring has
 * overwritten items that a reader has not read, the reader gets one gap and continues with the oldest item left.
 */
import { onAbort } from '../host/waiting.ts';

/** Where a reader begins. @internal */
export interface Start {
  /** The number of the first item to read. */
  readonly position: number;
  /** Whether no item is missing before that position. Otherwise the reader gets a gap first. */
  readonly complete: boolean;
}

/** How a reader sees the items. @internal */
export interface LogView<T, Item> {
  /** Gives what the reader gets for an item. */
  readonly show: (item: T) => Item;
  /**
   * Gives what the reader gets for missing items: the items after and before the end of the gap, if there are such, and
   * how many are missing; 0 if that is not known.
   */
  readonly gap: (next: T | undefined, missed: number, last: T | undefined) => Item;
}

/**
 * Largest total size of the kept items, in bytes. Items can be large, because updates contain complete settings.
 */
const mostBytes = 64 * 1024 * 1024;

/** Keeps the last items, for any number of readers. @internal */
export class BoundedLog<T> {
  readonly #ring: (T | undefined)[] = [];
  /** The size of each item of the ring. */
  readonly #sizes: number[] = [];
  readonly #capacity: number;
  readonly #sizeOf: (item: T, most: number) => number;
  /** Called whenever items are appended or the log closes. A function that gives `false` is not called again. */
  readonly waiting = new Set<() => boolean>();
  /** The number of items ever appended. Item number n is at position n % capacity of the ring. */
  #count = 0;
  /** The number of the oldest kept item. */
  #oldest = 0;
  #dropped: T | undefined;
  #bytes = 0;
  #closed = false;

  /**
   * @param capacity - the largest number of kept items
   * @param sizeOf - gives the approximate size of an item in bytes; need not count further than `most`
   */
  constructor(capacity: number, sizeOf: (item: T, most: number) => number) {
    this.#capacity = capacity;
    this.#sizeOf = sizeOf;
  }

  /** The number of items ever appended: the position after the newest item. */
  get count(): number {
    return this.#count;
  }

  /** The number of the oldest kept item. */
  get oldest(): number {
    return this.#oldest;
  }

  /** The item before the oldest kept one; `undefined` if every item is kept. */
  get dropped(): T | undefined {
    return this.#dropped;
  }

  /** Gives the item of a number from the oldest one on; `undefined` if there is no such item yet. */
  at(number: number): T | undefined {
    return number < this.#count ? this.#ring[number % this.#capacity] : undefined;
  }

  /** Gives the item before that of a number from the oldest one on; `undefined` if there was none. */
  before(number: number): T | undefined {
    return number === this.#oldest ? this.#dropped : this.at(number - 1);
  }

  append(items: readonly T[]): void {
    for (const item of items) {
      const size = this.#sizeOf(item, mostBytes);
      if (this.#count - this.#oldest === this.#capacity) this.#dropOldest();
      this.#ring[this.#count % this.#capacity] = item;
      this.#sizes[this.#count % this.#capacity] = size;
      this.#count += 1;
      this.#bytes += size;
      while (this.#bytes > mostBytes && this.#oldest < this.#count - 1) this.#dropOldest();
    }
    this.#wake();
  }

  read<Item extends object>(
    start: Start,
    signal: AbortSignal | undefined,
    view: LogView<T, Item>,
  ): AsyncIterableIterator<Item> {
    return new Reader(new Cursor(this, start, view), this.waiting, signal);
  }

  /** Ends each reader after the reader has read the items in the log. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Whether no item is appended any more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  #dropOldest(): void {
    const place = this.#oldest % this.#capacity;
    this.#bytes -= this.#sizes[place] ?? 0;
    this.#dropped = this.#ring[place];
    this.#ring[place] = undefined;
    this.#oldest += 1;
  }

  #wake(): void {
    for (const wake of [...this.waiting]) if (!wake()) this.waiting.delete(wake);
  }
}

/**
 * A reader of a log. One object for the life of the reader: an async generator, and a listener for each item, would
 * take ten times as long.
 */
class Reader<T, Item extends object> implements AsyncIterableIterator<Item, undefined> {
  readonly #cursor: Cursor<T, Item>;
  readonly #waiting: BoundedLog<T>['waiting'];
  readonly #signal: AbortSignal | undefined;
  readonly #pending: ((result: IteratorResult<Item, undefined>) => void)[] = [];
  #ended = false;
  /** Removes the listener on the signal; `undefined` while there is none. */
  #leave: (() => void) | undefined;

  constructor(cursor: Cursor<T, Item>, waiting: BoundedLog<T>['waiting'], signal: AbortSignal | undefined) {
    this.#cursor = cursor;
    this.#waiting = waiting;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#pending.length === 0 ? this.#take() : undefined;
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve) => {
      this.#pending.push(resolve);
      this.#waiting.add(this.#wake);
      if (this.#signal !== undefined) this.#leave ??= onAbort(this.#signal, this.#end);
    });
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    this.#end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Gives what is new to the callers that wait. The reader listens on, because its loop asks for the next item in a
   * moment. An item that finds nobody waiting ends the listening: the loop was left.
   */
  readonly #wake = (): boolean => {
    if (this.#pending.length === 0) return this.#stopListening();
    while (this.#pending.length > 0) {
      const result = this.#take();
      if (result === undefined) break;
      this.#pending.shift()?.(result);
    }
    return !this.#ended;
  };

  /** Ends the reader. The callers that wait get no item any more. */
  readonly #end = (): void => {
    this.#ended = true;
    this.#waiting.delete(this.#wake);
    this.#stopListening();
    for (const resolve of this.#pending.splice(0)) resolve({ value: undefined, done: true });
  };

  /** The next result; `undefined` if there is none yet. */
  #take(): IteratorResult<Item, undefined> | undefined {
    const value = this.#isOver() ? undefined : this.#cursor.take();
    if (value !== undefined) return { value, done: false };
    if (!this.#isOver() && this.#cursor.isWaiting) return undefined;
    this.#ended = true;
    this.#stopListening();
    return { value: undefined, done: true };
  }

  #isOver(): boolean {
    // A reader that listens to the signal has ended with it.
    return this.#ended || (this.#leave === undefined && this.#signal?.aborted === true);
  }

  #stopListening(): false {
    this.#leave?.();
    this.#leave = undefined;
    return false;
  }
}

/** The place of one reader in a log. @internal */
export class Cursor<T, Item extends object> {
  readonly #log: Pick<BoundedLog<T>, 'oldest' | 'count' | 'at' | 'before' | 'isClosed'>;
  readonly #view: LogView<T, Item>;
  #position: number;
  #complete: boolean;

  constructor(
    log: Pick<BoundedLog<T>, 'oldest' | 'count' | 'at' | 'before' | 'isClosed'>,
    { position, complete }: Start,
    view: LogView<T, Item>,
  ) {
    this.#log = log;
    this.#view = view;
    this.#position = position;
    this.#complete = complete;
  }

  /** Passes over items that a reader does not want, at most so many of them and no gap. */
  skip(most: number, isUnwanted: (item: Item) => boolean): void {
    for (let left = most; left > 0 && this.#complete && this.#position >= this.#log.oldest; left -= 1) {
      const item = this.#log.at(this.#position);
      if (item === undefined || !isUnwanted(this.#view.show(item))) return;
      this.#position += 1;
    }
  }

  /** Whether the next item is yet to come. */
  get isWaiting(): boolean {
    return this.#complete && this.#position === this.#log.count && !this.#log.isClosed;
  }

  /** Takes the next item, or the gap before the next item; `undefined` if there is nothing to take yet. */
  take(): Item | undefined {
    const missed = Math.max(0, this.#log.oldest - this.#position);
    this.#position += missed;
    const item = this.#log.at(this.#position);
    if (!this.#complete || missed > 0) {
      const known = this.#complete ? missed : 0;
      this.#complete = true;
      return this.#view.gap(item, known, this.#log.before(this.#position));
    }
    if (item === undefined) return undefined;
    this.#position += 1;
    return this.#view.show(item);
  }
}
