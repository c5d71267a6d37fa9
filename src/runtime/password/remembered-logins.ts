/**
 * Remembered log-ins: log-ins that were verified a short time ago, so that not every request hashes a password.
 *
 * A log-in is remembered as a fingerprint of network, name and password, under a key that is drawn for the process. It
 * belongs to the user object of the snapshot: a user who is deleted, or gets another password or hash, is another
 * object or none.
 *
 * A remembered log-in is answered at once, also while all places for hashing are taken. An attacker who fills the
 * places could use this: if a guess is not answered at once, the guess is wrong. The hashing would then no longer limit
 * the number of guesses. A log-in is therefore remembered for its own network alone. A guess from another network is
 * hashed, or throttled unseen. Clients behind one proxy are one network if the host does not say where a request comes
 * from (`peer`).
 */
import type { User } from '../../resources/user.ts';
import type { Clock } from '../../ports/port.ts';
import { createSigner } from './signer.ts';

/** How long a log-in is remembered, in milliseconds. */
const rememberedMs = 300_000;

/** The log-ins that were verified a short time ago. @internal */
export interface RememberedLogins {
  /**
   * Gives a text that only the same network, the same name, in any case, and the same password have. No password
   * follows from the text.
   */
  fingerprint(network: string, name: string, password: string): string | Promise<string>;
  /** Whether the log-in of a user with this fingerprint is remembered. */
  has(user: User | undefined, fingerprint: string): boolean;
  /** Remembers a log-in of a user for five minutes: one for each network, and at most {@link mostNetworks}. */
  add(user: User, fingerprint: string): void;
}

/** The largest number of networks for which a user is remembered. */
const mostNetworks = 16;

/**
 * Creates the memory of log-ins. Its size is bounded by the number of users.
 *
 * @param clock - measures the five minutes
 * @internal
 */
export function createRememberedLogins(clock: Pick<Required<Clock>, 'monotonic'>): RememberedLogins {
  /** The fingerprints of each user with the end of their time, the oldest first. */
  const logins = new WeakMap<User, Map<string, number>>();
  const sign = createSigner();
  return {
    fingerprint: (network, name, password) => sign(JSON.stringify([network, name.toLowerCase(), password])),
    has: (user, fingerprint) =>
      user !== undefined && clock.monotonic() < (logins.get(user)?.get(fingerprint) ?? -Infinity),
    add(user, fingerprint) {
      const own = logins.get(user) ?? new Map<string, number>();
      logins.set(user, own);
      own.delete(fingerprint);
      own.set(fingerprint, clock.monotonic() + rememberedMs);
      const [oldest = ''] = own.keys();
      if (own.size > mostNetworks) own.delete(oldest);
    },
  };
}

/**
 * The networks where a log-in failed a short time ago.
 *
 * A client who guesses passwords fails again and again. Log-ins of such a network share the turns of the queue with
 * each other, and leave the other turns to clients without a failed log-in.
 *
 * @internal
 */
export interface FailedLogins {
  /** Whether a log-in of a network failed a short time ago. */
  standingOf(this: void, network: string): 'failed' | 'fresh';
  /** Remembers a network for as long as a verified log-in. A user who needs a new turn then has no old failure. */
  add(this: void, network: string): void;
}

/** The largest number of networks that are remembered: it bounds the memory. */
const mostFailedNetworks = 10_000;

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
      if (ends.size > mostFailedNetworks) ends.delete(oldest);
    },
  };
}
