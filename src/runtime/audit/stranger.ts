/**
 * Strangers: attempts that are refused before their caller is known, such as failed log-ins.
 *
 * Anybody can make any number of them. Therefore each kind of attempt of each peer leaves at most one record a second,
 * with a count, and the number of peers that are remembered is bounded.
 */
import type { Clock } from '../../ports/port.ts';
import type { AuditEntry } from './record.ts';

/** The entries that can stand for several attempts. @internal */
export type StrangerEntry = Extract<AuditEntry, { readonly kind: 'write' | 'failed-log-in' }>;

/** The records of one key, in the present second. */
interface Tally {
  readonly entry: StrangerEntry;
  /** The attempts that are not recorded yet. */
  count: number;
}

/** The largest number of peers whose attempts are counted apart. */
const mostPeers = 100;

/** The time from one record of a kind of attempt of a peer to the next, in milliseconds. */
const pauseMs = 1000;

/** Counts the attempts of strangers. @internal */
export class Strangers {
  readonly #tallies = new Map<string, Tally>();
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #record: (entry: StrangerEntry) => void;

  /** @param record - gets each entry for the log */
  constructor(clock: Pick<Clock, 'sleep'>, record: (entry: StrangerEntry) => void) {
    this.#clock = clock;
    this.#record = record;
  }

  /**
   * Counts one attempt. The first one of a second is recorded at once, the others together at the end of the second.
   *
   * @param kind - a text that is equal for attempts of one kind; there are few kinds
   * @param entry - the entry for one attempt
   */
  note(kind: string, entry: StrangerEntry): void {
    const { peer, ...others } = entry;
    const own = JSON.stringify([kind, peer ?? null]);
    const isCrowded = this.#tallies.size >= mostPeers && !this.#tallies.has(own);
    const [key, shown] = isCrowded ? [kind, { ...others, several: true as const }] : [own, entry];
    const tally = this.#tallies.get(key);
    if (tally !== undefined) tally.count += 1;
    else void this.#begin(key, { entry: shown, count: 1 });
  }

  /** Records at once the attempts that are counted and not recorded yet. */
  close(): void {
    for (const tally of this.#tallies.values()) this.#tell(tally);
  }

  async #begin(key: string, tally: Tally): Promise<void> {
    this.#tallies.set(key, tally);
    while (this.#tell(tally)) await this.#clock.sleep(pauseMs, undefined, { keepAlive: false });
    this.#tallies.delete(key);
  }

  /** Tells whether there was something to record. */
  #tell(tally: Tally): boolean {
    const { entry, count } = tally;
    tally.count = 0;
    if (count > 0) this.#record({ ...entry, count });
    return count > 0;
  }
}
