/**
 * Failed log-ins: the networks where a log-in failed a short time ago.
 *
 * A client who guesses passwords fails again and again. Log-ins of such a network share the turns of the queue with
 * each other, and leave the other turns to clients without a failed log-in.
 */
import type { Clock } from '../../ports/port.ts';
import { rememberedMs } from './remembered-logins.ts';

/** The networks where a log-in failed a short time ago. @internal */
export interface FailedLogins {
  /** Whether a log-in of a network failed a short time ago. */
  standingOf(this: void, network: string): 'failed' | 'fresh';
  /** Remembers a network for as long as a verified log-in. A user who needs a new turn then has no old failure. */
  add(this: void, network: string): void;
}

/** The largest number of networks that are remembered: it bounds the memory. */
const mostNetworks = 10_000;

/**
 * Creates the memory of failed log-ins. Its size is bounded.
 *
 * @param clock - measures the time
 * @internal
 */
export function createFailedLogins(clock: Pick<Required<Clock>, 'monotonic'>): FailedLogins {
  /** The end of each memory, the oldest first. */
  const ends = new Map<string, number>();
  return {
    standingOf: (network) => (clock.monotonic() < (ends.get(network) ?? -Infinity) ? 'failed' : 'fresh'),
    add(network) {
      ends.delete(network);
      ends.set(network, clock.monotonic() + rememberedMs);
      const [oldest = ''] = ends.keys();
      if (ends.size > mostNetworks) ends.delete(oldest);
    },
  };
}
