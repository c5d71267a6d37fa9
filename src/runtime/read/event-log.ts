/**
 * The event log: ordered and bounded, and readers can resume after the id of an event.
 */
import { type Json, sizeOf } from '../../json/value.ts';
import type { AdminEvent } from '../../resources/index.ts';
import { BoundedLog, Cursor, type LogView, type Start } from './bounded-log.ts';

/**
 * An event with its id.
 *
 * @public
 */
export interface PublishedEvent {
  /**
   * `<life>.<revision>.<index>`, such as `5f0c8e21a9b3.7.0`: the life of the interface, which is another one after each
   * start; the revision that the event made; and the position among the events of that revision.
   */
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
  /** The id to resume with after the gap: that of the last missing event. */
  readonly id: string;
  /** Id of the event after the gap; left out if there is no such event yet. */
  readonly next?: string;
  /**
   * Number of missing events of all types. Left out for the first gap of a reader that has resumed, because the number
   * is not known.
   */
  readonly missed?: number;
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

/** The parts of an event id. @internal */
export interface EventId {
  readonly life: string;
  readonly revision: number;
  readonly index: number;
}

/** Parses an event id; `undefined` if a text is not an event id. @internal */
export function parseEventId(text: string): EventId | undefined {
  const [, life, revision, index] = /^([0-9a-f]{1,64})\.(\d{1,16})\.(\d{1,16})$/.exec(text) ?? [];
  return life === undefined ? undefined : { life, revision: Number(revision), index: Number(index) };
}

/** An event with its point in the life. */
interface LoggedEvent extends Point {
  readonly event: AdminEvent;
}

/** Keeps the last events, for any number of readers. @internal */
export class EventLog {
  readonly #log: BoundedLog<LoggedEvent>;
  readonly #life: string;
  readonly #view: LogView<LoggedEvent, PublishedEvent | EventGap> = {
    show: (entry) => ({ id: this.#idOf(entry), event: entry.event }),
    gap: (next, missed, last) => ({
      gap: true,
      id: this.#idOf(last ?? beginning),
      ...(next !== undefined && { next: this.#idOf(next) }),
      ...(missed > 0 && { missed }),
    }),
  };

  /**
   * @param capacity - the largest number of kept events
   * @param life - a text that no other life has, so that no event id is used twice
   */
  constructor(capacity: number, life: string) {
    this.#log = new BoundedLog(capacity, ({ event }, most) => sizeOf(event as unknown as Json, most));
    this.#life = life;
  }

  append(revision: number, events: readonly AdminEvent[]): void {
    this.#log.append(events.map((event, index) => ({ event, revision, index })));
  }

  /** @throws RangeError when `after` is not an event id */
  read({ after, signal }: EventsOptions = {}): AsyncIterableIterator<PublishedEvent | EventGap> {
    return this.#log.read(this.#start(after === undefined ? undefined : idOf(after)), signal, this.#view);
  }

  /** The place of a reader that takes the events by itself: after an event, or from now on. */
  cursor(after?: EventId): Cursor<LoggedEvent, PublishedEvent | EventGap> {
    return new Cursor(this.#log, this.#start(after), this.#view);
  }

  /** Called whenever events are appended or the log closes. A function that gives `false` is not called again. */
  get waiting(): Set<() => boolean> {
    return this.#log.waiting;
  }

  /**
   * The id of the newest event. Before the first event, an id that is lower than the id of every event of this life.
   */
  get newest(): string {
    return this.#idOf(this.#log.at(this.#log.count - 1) ?? beginning);
  }

  /** Ends each reader after the reader has read the events in the log. */
  close(): void {
    this.#log.close();
  }

  #idOf({ revision, index }: Point): string {
    return `${this.#life}.${String(revision)}.${String(index)}`;
  }

  /** The first event after an id, and whether the log has every event between the id and that event. */
  #start(after: EventId | undefined): Start {
    const { oldest, count, dropped } = this.#log;
    if (after === undefined) return { position: count, complete: true };
    if (after.life !== this.#life) return { position: oldest, complete: false };
    let [low, high] = [oldest, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#log.at(middle);
      if (entry === undefined || isAfter(entry, after)) high = middle;
      else low = middle + 1;
    }
    // An id of this life that is higher than the newest event was never given out.
    const isKnown = !isAfter(after, this.#log.at(count - 1) ?? beginning);
    // Nothing is missing after the last event that was dropped.
    const hasRest = low > oldest || dropped === undefined || !isAfter(dropped, after);
    return { position: low, complete: isKnown && hasRest };
  }
}

/** A point in the life of an interface: an event id without the life. */
type Point = Omit<EventId, 'life'>;

/** Before every event: the first event makes revision 1 or a later one. */
const beginning: Point = { revision: 0, index: 0 };

/** @throws RangeError when a text is not an event id */
function idOf(text: string): EventId {
  const id = parseEventId(text);
  if (id !== undefined) return id;
  throw new RangeError('An event id must have the form <life>.<revision>.<index>, such as 5f0c8e21a9b3.7.0');
}

function isAfter(entry: Point, { revision, index }: Point): boolean {
  return entry.revision > revision || (entry.revision === revision && entry.index > index);
}
