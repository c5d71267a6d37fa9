/**
 * Watched servers: since when a monitor looks at each server. No snapshot says that, and a monitor needs some time for
 * its first look.
 */
import { watchedIn } from '../../resources/alert.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Ground } from '../ground.ts';

/** Keeps the servers at which a monitor looks. @internal */
export class WatchedServers {
  readonly #clock: Ground['clock'];
  #monitors: Snapshot['monitors'] | undefined;
  #since: ReadonlyMap<string, number> = new Map();
  /** Gives since when a monitor looks at a server, by its link, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since = (link: string): number | undefined => this.#since.get(link);

  constructor({ clock, first }: Ground) {
    this.#clock = clock;
    this.look(first);
  }

  /** Looks after a change. */
  look({ monitors }: Snapshot): void {
    if (monitors === this.#monitors) return;
    this.#monitors = monitors;
    const now = this.#clock.now();
    const links = [...watchedIn({ monitors }).keys()];
    this.#since = new Map(links.map((link) => [link, this.#since.get(link) ?? now]));
  }
}
