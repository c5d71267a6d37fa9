/**
 * The event log: ordered and bounded, and readers can resume.
 *
 * All readers read from one shared ring buffer, so a slow reader costs nothing and delays nobody. If the ring has
 * overwritten events that a reader has not read, the reader gets one gap and continues with the oldest event left.
 */
import { type Json, sizeOf } from '../json/value.ts';
import type { AdminEvent } from '../resources/index.ts';
import { onAbort } from './abort-listener.ts';

/**
 * An event with its id.
 *
 * @public
 */
export interface PublishedEvent {
  /** `<revision>.<index>`: the revision that the event made, and the position among the events of that revision. */
  readonly id: string;
  /** The event. */
  readonly event: AdminEvent;
  /** Always absent; tells an event from a gap. */
  readonly gap?: undefined;
}

/**
 * The item that a reader gets in place of missing events. The reader was too slow, or resumed after an event that the
 * log no longer has.
 *
 * @public
 */
export interface EventGap {
  /** Id of the event after the gap; left out if there is no such event yet. */
  readonly next?: string;
  /** Tells a gap from an event. */
  readonly gap: true;
}

/**
 * The options of {@link Admin.events}.
 *
 * @public
 */
export interface EventsOptions {
  /** Id of the last event that the reader has processed. If left out, reading starts with the next new event. */
  readonly after?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

interface Entry extends PublishedEvent {
  readonly revision: number;
  readonly index: number;
  /** Approximate size as JSON, in bytes. */
  readonly size: number;
}

/** A reader of the log. */
interface Reader {
  /** Ends the reader when it aborts. */
  readonly signal: AbortSignal | undefined;
  /** Whether the caller has ended the reader. */
  ended: boolean;
  /** Continues the reader if it waits for an event. */
  resume: () => void;
}

/** Largest total size of the kept events. Events can be large, because updates contain complete settings. */
const mostBytes = 64 * 1024 * 1024;

/** Keeps the last events, for any number of readers. @internal */
export class EventLog {
  readonly #ring: (Entry | undefined)[] = [];
  readonly #capacity: number;
  /** Wakes the readers that have read every event. */
  readonly #waiting = new Set<() => void>();
  /** The number of events ever appended. Event number n is at position n % capacity of the ring. */
  #count = 0;
  /** The number of the oldest kept event. */
  #oldest = 0;
  #bytes = 0;
  #closed = false;

  readonly #beginning: number;

  /**
   * @param capacity - the largest number of kept events
   * @param beginning - the first revision of this life; events of earlier lives are not in the log
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
    const reader: Reader = { signal, ended: false, resume: () => undefined };
    const events = this.#follow(start, reader);
    return {
      next: () => events.next(),
      return: () => {
        reader.ended = true;
        // Otherwise `return` would wait for the next event, which may never come.
        reader.resume();
        return events.return(undefined);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Ends each reader after the reader has read the events in the log. */
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

  /** The number of the first event after an id, and whether the log has every event between the id and that event. */
  #after(id: string): { readonly position: number; readonly complete: boolean } {
    if (!/^\d+\.\d+$/.test(id))
      throw new RangeError('An event id must have the form <revision>.<index>, such as 7.0');
    const [revision = 0, index = 0] = id.split('.').map(Number);
    let [low, high] = [this.#oldest, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entry(middle);
      if (entry === undefined || isAfter(entry, revision, index)) high = middle;
      else low = middle + 1;
    }
    const newest = this.#entry(this.#count - 1);
    // An id that is higher than the newest event is from another life, so the events in between are unknown.
    const strange =
      newest === undefined
        ? revision > this.#beginning
        : isAfter({ ...newest, revision, index }, newest.revision, newest.index);
    const known = low > this.#oldest || (this.#oldest === 0 && revision >= this.#beginning);
    return { position: low, complete: !strange && known };
  }

  async *#follow(
    start: { readonly position: number; readonly complete: boolean },
    reader: Reader,
  ): AsyncGenerator<PublishedEvent | EventGap, undefined> {
    let { position, complete } = start;
    while (!reader.ended && reader.signal?.aborted !== true) {
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
        await this.#arrival(reader);
      }
    }
  }

  /**
   * Resolves when an event is appended, the log closes, or the reader ends. A reader that does not wait has no listener on
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

function isAfter(entry: Entry, revision: number, index: number): boolean {
  return entry.revision > revision || (entry.revision === revision && entry.index > index);
}
