/**
 * Departed resources: what was deleted a moment ago. A report about such a resource was on its way, and is no fault.
 */
import { linkKey } from '../../core/link.ts';
import type { AdminEvent } from '../../resources/index.ts';

/** How long a report about a deleted resource may be on its way, in milliseconds. */
const lateMs = 60_000;

/** Keeps the links of the resources that were deleted in the last minute. @internal */
export class Departed {
  readonly #now: () => number;
  /** The end of the minute, by the key of the link, in the order of the deletions. */
  readonly #until = new Map<string, number>();

  /** @param now - milliseconds that never go back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes in the events of a change. */
  take(events: readonly AdminEvent[]): void {
    for (const { type, resource } of events) {
      if (!type.endsWith('.deleted')) continue;
      const key = linkKey(resource);
      // A key that is set again keeps its old place.
      this.#until.delete(key);
      this.#until.set(key, this.#now() + lateMs);
    }
  }

  has(link: string): boolean {
    const now = this.#now();
    for (const [key, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(key);
    }
    return this.#until.has(linkKey(link));
  }
}
