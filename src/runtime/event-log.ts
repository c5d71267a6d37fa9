/**
 * The event log: ordered and bounded, and readers can resume after the id of an event.
 */
import { type Json, sizeOf } from '../json/value.ts';
import type { AdminEvent } from '../resources/index.ts';
import { BoundedLog, type LogView, type Start } from './bounded-log.ts';

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
}

const view: LogView<Entry, PublishedEvent | EventGap> = {
  show: ({ id, event }) => ({ id, event }),
  gap: (next) => (next === undefined ? { gap: true } : { gap: true, next: next.id }),
};

/** Keeps the last events, for any number of readers. @internal */
export class EventLog {
  readonly #log: BoundedLog<Entry>;
  readonly #beginning: number;

  /**
   * @param capacity - the largest number of kept events
   * @param beginning - the first revision of this life; events of earlier lives are not in the log
   */
  constructor(capacity: number, beginning: number) {
    this.#log = new BoundedLog(capacity, ({ event }, most) => sizeOf(event as unknown as Json, most));
    this.#beginning = beginning;
  }

  append(revision: number, events: readonly AdminEvent[]): void {
    this.#log.append(
      events.map((event, index) => ({ id: `${String(revision)}.${String(index)}`, event, revision, index })),
    );
  }

  /** @throws RangeError when `after` is not an event id */
  read({ after, signal }: EventsOptions = {}): AsyncIterableIterator<PublishedEvent | EventGap> {
    const start = after === undefined ? { position: this.#log.count, complete: true } : this.#after(after);
    return this.#log.read(start, signal, view);
  }

  /** Ends each reader after the reader has read the events in the log. */
  close(): void {
    this.#log.close();
  }

  /** The first event after an id, and whether the log has every event between the id and that event. */
  #after(id: string): Start {
    if (!/^\d+\.\d+$/.test(id))
      throw new RangeError('An event id must have the form <revision>.<index>, such as 7.0');
    const [revision = 0, index = 0] = id.split('.').map(Number);
    const { oldest, count } = this.#log;
    let [low, high] = [oldest, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#log.at(middle);
      if (entry === undefined || isAfter(entry, revision, index)) high = middle;
      else low = middle + 1;
    }
    const newest = this.#log.at(count - 1);
    // An id that is higher than the newest event is from another life, so the events in between are unknown.
    const strange =
      newest === undefined
        ? revision > this.#beginning
        : isAfter({ ...newest, revision, index }, newest.revision, newest.index);
    const known = low > oldest || (oldest === 0 && revision >= this.#beginning);
    return { position: low, complete: !strange && known };
  }
}

function isAfter(entry: Entry, revision: number, index: number): boolean {
  return entry.revision > revision || (entry.revision === revision && entry.index > index);
}
