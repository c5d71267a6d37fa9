/**
 * Departed resources: what was deleted a moment ago. A report about such a resource was on its way, and is no fault.
 */
import { linkKey } from '../../core/link.ts';
import type { Clock } from '../../ports/port.ts';
import type { AdminEvent } from '../../resources/index.ts';
import { isCreation, isDeletion } from '../journal/entry-event.ts';

/** How long a report about a deleted resource may be on its way, in milliseconds. */
const lateMs = 60_000;

/** When a resource departed and came again. */
interface Departure {
  /** The end of the minute, in milliseconds that never go back. */
  readonly until: number;
  /** When the name was used again, by both clocks. Left out while no resource has the name. */
  createdAgain?: { readonly now: number; readonly monotonic: number };
}

/** Keeps the links of the resources that were deleted in the last minute. @internal */
export class Departed {
  readonly #clock: Clock;
  /** By the key of the link, in the order of the deletions. */
  readonly #departures = new Map<string, Departure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#departures.size === 0;
  }

  /** Takes in the events of a change. */
  take(events: readonly AdminEvent[]): void {
    for (const event of events) {
      if (isDeletion(event)) this.#delete(linkKey(event.resource));
      else if (!this.isEmpty && isCreation(event)) {
        const departure = this.#departures.get(linkKey(event.resource));
        if (departure !== undefined)
          departure.createdAgain = { now: this.#clock.now(), monotonic: this.#monotonic() };
      }
    }
  }

  /**
   * Whether a resource departed in the last minute. If its name is used again, only what began before that is about the
   * departed resource.
   *
   * @param began - when what is reported began, in milliseconds since 1970-01-01T00:00:00Z; `undefined` if not known.
   *   Only the second counts: a host may have no more than whole seconds
   */
  has(link: string, began?: number): boolean {
    const now = this.#monotonic();
    for (const [key, { until }] of this.#departures) {
      if (until > now) break;
      this.#departures.delete(key);
    }
    const departure = this.#departures.get(linkKey(link));
    if (departure?.createdAgain === undefined) return departure !== undefined;
    // The time of day may have been set since the creation, before or after what is reported began: the earlier counts.
    const { createdAgain } = departure;
    const created = Math.min(createdAgain.now, this.#clock.now() - (now - createdAgain.monotonic));
    return began !== undefined && secondOf(began) < secondOf(created);
  }

  #delete(key: string): void {
    // A key that is set again keeps its old place.
    this.#departures.delete(key);
    this.#departures.set(key, { until: this.#monotonic() + lateMs });
  }

  #monotonic(): number {
    return this.#clock.monotonic?.() ?? this.#clock.now();
  }
}

function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
