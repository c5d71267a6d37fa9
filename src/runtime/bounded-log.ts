/**
 * The bounded log: keeps the last items in order, for any number of readers.
 *
 * All readers read from one shared ring buffer, so a slow reader costs nothing and delays nobody. If the ring has
 * overwritten items that a reader has not read, the reader gets one gap and continues with the oldest item left.
 */
import { onAbort } from './abort-listener.ts';

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
  /** Gives what the reader gets for missing items: the item after the gap, if there is one, and how many are missing. */
  readonly gap: (next: T | undefined, missed: number) => Item;
}

/** A reader of the log. */
interface Reader {
  /** Ends the reader when it aborts. */
  readonly signal: AbortSignal | undefined;
  /** Whether the caller has ended the reader. */
  ended: boolean;
  /** Continues the reader if it waits for an item. */
  resume: () => void;
}

/**
 * Largest total size of the kept items, in bytes. Items can be large, because updates contain complete settings.
 *
 * @internal
 */
export const mostBytes = 64 * 1024 * 1024;

/** Keeps the last items, for any number of readers. @internal */
export class BoundedLog<T> {
  readonly #ring: ({ readonly item: T; readonly size: number } | undefined)[] = [];
  readonly #capacity: number;
  readonly #sizeOf: (item: T, most: number) => number;
  /** Wakes the readers that have read every item. */
  readonly #waiting = new Set<() => void>();
  /** The number of items ever appended. Item number n is at position n % capacity of the ring. */
  #count = 0;
  /** The number of the oldest kept item. */
  #oldest = 0;
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

  /** Gives the item of a number from the oldest one on; `undefined` if there is no such item yet. */
  at(number: number): T | undefined {
    return number < this.#count ? this.#ring[number % this.#capacity]?.item : undefined;
  }

  append(items: readonly T[]): void {
    for (const item of items) {
      const size = this.#sizeOf(item, mostBytes);
      if (this.#count - this.#oldest === this.#capacity) this.#dropOldest();
      this.#ring[this.#count % this.#capacity] = { item, size };
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
    const reader: Reader = { signal, ended: false, resume: () => undefined };
    const items = this.#follow(new Cursor(this, start, view), reader);
    return {
      next: () => items.next(),
      return: () => {
        reader.ended = true;
        // Otherwise `return` would wait for the next item, which may never come.
        reader.resume();
        return items.return(undefined);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
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

  /** Resolves when an item is appended, the log closes, or the signal aborts; the signal must not have aborted before. */
  arrival(signal: AbortSignal): Promise<void> {
    return this.#arrival({ signal, ended: false, resume: () => undefined });
  }

  #dropOldest(): void {
    this.#bytes -= this.#ring[this.#oldest % this.#capacity]?.size ?? 0;
    this.#ring[this.#oldest % this.#capacity] = undefined;
    this.#oldest += 1;
  }

  async *#follow<Item extends object>(
    cursor: Cursor<T, Item>,
    reader: Reader,
  ): AsyncGenerator<Item, undefined> {
    while (!reader.ended && reader.signal?.aborted !== true) {
      const item = cursor.take();
      if (item !== undefined) yield item;
      else if (this.#closed) return;
      else await this.#arrival(reader);
    }
  }

  /**
   * Resolves when an item is appended, the log closes, or the reader ends. A reader that does not wait has no listener on
   * its signal, so an abandoned reader leaks nothing.
   */
  #arrival(reader: Reader): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        this.#waiting.delete(resume);
        leave?.();
        resolve();
      };
      reader.resume = resume;
      this.#waiting.add(resume);
      const leave = reader.signal === undefined ? undefined : onAbort(reader.signal, resume);
    });
  }

  #wake(): void {
    for (const resume of [...this.#waiting]) resume();
  }
}

/** The place of one reader in a log. @internal */
export class Cursor<T, Item extends object> {
  readonly #log: Pick<BoundedLog<T>, 'oldest' | 'at'>;
  readonly #view: LogView<T, Item>;
  #position: number;
  #complete: boolean;

  constructor(
    log: Pick<BoundedLog<T>, 'oldest' | 'at'>,
    { position, complete }: Start,
    view: LogView<T, Item>,
  ) {
    this.#log = log;
    this.#view = view;
    this.#position = position;
    this.#complete = complete;
  }

  /** Takes the next item, or the gap before the next item; `undefined` if there is nothing to take yet. */
  take(): Item | undefined {
    const missed = Math.max(0, this.#log.oldest - this.#position);
    this.#position += missed;
    const item = this.#log.at(this.#position);
    if (!this.#complete || missed > 0) {
      this.#complete = true;
      return this.#view.gap(item, missed);
    }
    if (item === undefined) return undefined;
    this.#position += 1;
    return this.#view.show(item);
  }
}
