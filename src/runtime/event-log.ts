/**
 * The event log: ordered, bounded, resumable.
 *
 * Readers pull from one shared ring. A slow reader costs nothing and holds nobody up: when the ring has gone past it,
 * it is told that there is a gap, once, and goes on from the oldest event that is left.
 */
import { type Json, sizeOf } from '../json/value.ts';
import type { AdminEvent } from '../resources/index.ts';

/**
 * An event, with its place in the order.
 *
 * @public
 */
export interface PublishedEvent {
  /** `<revision>.<index>`: the revision that the event made, and its place among the events of that revision. */
  readonly id: string;
  /** The event. */
  readonly event: AdminEvent;
  /** Says that this is no gap. */
  readonly gap?: undefined;
}

/**
 * Says that events are missing here: the reader was too slow, or asks for what the log no longer has.
 *
 * @public
 */
export interface EventGap {
  /** Id of the event that follows the gap; left out when there is none yet. */
  readonly next?: string;
  /** Says that this is no event. */
  readonly gap: true;
}

/**
 * From where, and how long, events are read.
 *
 * @public
 */
export interface EventsOptions {
  /** Id of the last event that the reader has seen; reading begins with the next one to come when it is left out. */
  readonly after?: string;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

interface Entry extends PublishedEvent {
  readonly revision: number;
  readonly index: number;
  /** Roughly how many bytes it takes as JSON. */
  readonly size: number;
}

/** How many bytes of events are kept, however few events they are: updates carry whole settings. */
const mostBytes = 64 * 1024 * 1024;

/** The last events, for any number of readers. @internal */
export class EventLog {
  readonly #ring: (Entry | undefined)[] = [];
  readonly #capacity: number;
  /** Those who have read all there is. */
  readonly #waiting = new Set<() => void>();
  /** How many events there have ever been; the event of number n stands at n % capacity. */
  #count = 0;
  /** The number of the oldest event that is kept. */
  #oldest = 0;
  #bytes = 0;
  #closed = false;

  readonly #beginning: number;

  /**
   * @param capacity - how many events are kept
   * @param beginning - the revision at which this life of the gateway began: what an earlier one saw is not here
   */
  constructor(capacity: number, beginning: number) {
    this.#capacity = capacity;
    this.#beginning = beginning;
  }

  append(revision: number, events: readonly AdminEvent[]): void {
    for (const [index, event] of events.entries()) {
      const id = `${String(revision)}.${String(index)}`;
      const size = sizeOf(event as unknown as Json, mostBytes);
      if (this.#count - this.#oldest === this.#capacity) this.#dropOldest();
      this.#ring[this.#count % this.#capacity] = Object.freeze({ id, event, revision, index, size });
      this.#count += 1;
      this.#bytes += size;
      while (this.#bytes > mostBytes && this.#oldest < this.#count - 1) this.#dropOldest();
    }
    this.#wake();
  }

  /** @throws RangeError when `after` is not an event id */
  read({ after, signal }: EventsOptions = {}): AsyncIterableIterator<PublishedEvent | EventGap> {
    const start = after === undefined ? { position: this.#count, complete: true } : this.#after(after);
    // An end of its own, so that `return` need not wait for an event that may never come.
    const ended = new AbortController();
    const signals = signal === undefined ? [ended.signal] : [ended.signal, signal];
    const events = this.#follow(start, signals);
    return {
      next: () => events.next(),
      return: () => {
        ended.abort();
        return events.return(undefined);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Ends all reading once what is there has been read. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #dropOldest(): void {
    this.#bytes -= this.#ring[this.#oldest % this.#capacity]?.size ?? 0;
    this.#ring[this.#oldest % this.#capacity] = undefined;
    this.#oldest += 1;
  }

  #entry(number: number): Entry | undefined {
    return number < this.#count ? this.#ring[number % this.#capacity] : undefined;
  }

  /** The number of the first event after an id, and whether none before it is missing. */
  #after(id: string): { readonly position: number; readonly complete: boolean } {
    if (!/^\d+\.\d+$/.test(id)) throw new RangeError('An event id has the form <revision>.<index>');
    const [revision = 0, index = 0] = id.split('.').map(Number);
    let [low, high] = [this.#oldest, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entry(middle);
      if (entry === undefined || isAfter(entry, revision, index)) high = middle;
      else low = middle + 1;
    }
    const newest = this.#entry(this.#count - 1);
    // An id that is yet to come is of another life of the gateway: what the reader missed cannot be told.
    const strange =
      newest === undefined
        ? revision > this.#beginning
        : isAfter({ ...newest, revision, index }, newest.revision, newest.index);
    const known = low > this.#oldest || (this.#oldest === 0 && revision >= this.#beginning);
    return { position: low, complete: !strange && known };
  }

  async *#follow(
    start: { readonly position: number; readonly complete: boolean },
    signals: readonly AbortSignal[],
  ): AsyncGenerator<PublishedEvent | EventGap, undefined> {
    let { position, complete } = start;
    while (!signals.some(({ aborted }) => aborted)) {
      if (position < this.#oldest) [position, complete] = [this.#oldest, false];
      const entry = this.#entry(position);
      if (!complete) {
        complete = true;
        yield entry === undefined ? { gap: true } : { gap: true, next: entry.id };
      } else if (entry !== undefined) {
        position += 1;
        yield { id: entry.id, event: entry.event };
      } else if (this.#closed) {
        return;
      } else {
        await this.#arrival(signals);
      }
    }
  }

  /**
   * Resolves when something was appended, the log was closed, or a signal aborts. Leaves nothing behind, as
   * `AbortSignal.any` would on a signal that lives long.
   */
  #arrival(signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        this.#waiting.delete(resume);
        for (const signal of signals) signal.removeEventListener('abort', resume);
        resolve();
      };
      this.#waiting.add(resume);
      for (const signal of signals) signal.addEventListener('abort', resume);
    });
  }

  #wake(): void {
    for (const resume of [...this.#waiting]) resume();
  }
}

function isAfter(entry: Entry, revision: number, index: number): boolean {
  return entry.revision > revision || (entry.revision === revision && entry.index > index);
}
