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

  /** Gives the item of a number; `undefined` if there is no such item yet. */
  at(number: number): T | undefined {
    return this.#entry(number)?.item;
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

  read<Item>(
    start: Start,
    signal: AbortSignal | undefined,
    view: LogView<T, Item>,
  ): AsyncIterableIterator<Item> {
    const reader: Reader = { signal, ended: false, resume: () => undefined };
    const items = this.#follow(start, reader, view);
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

  #dropOldest(): void {
    this.#bytes -= this.#ring[this.#oldest % this.#capacity]?.size ?? 0;
    this.#ring[this.#oldest % this.#capacity] = undefined;
    this.#oldest += 1;
  }

  #entry(number: number): { readonly item: T } | undefined {
    return number < this.#count ? this.#ring[number % this.#capacity] : undefined;
  }

  async *#follow<Item>(
    start: Start,
    reader: Reader,
    { show, gap }: LogView<T, Item>,
  ): AsyncGenerator<Item, undefined> {
    let { position, complete } = start;
    let missed = 0;
    while (!reader.ended && reader.signal?.aborted !== true) {
      if (position < this.#oldest) {
        missed = this.#oldest - position;
        [position, complete] = [this.#oldest, false];
      }
      const entry = this.#entry(position);
      if (!complete) {
        complete = true;
        yield gap(entry?.item, missed);
      } else if (entry !== undefined) {
        position += 1;
        yield show(entry.item);
      } else if (this.#closed) {
        return;
      } else {
        await this.#arrival(reader);
      }
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
