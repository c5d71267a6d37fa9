/**
 * Remembered log-ins: log-ins that were verified a short time ago, so that not every request hashes a password.
 *
 * A log-in is remembered as a fingerprint of name and password, under a key that is drawn for the process. It belongs to
 * the user object of the snapshot: a user who is deleted, or gets another password or hash, is another object or none.
 */
import type { User } from '../../resources/user.ts';
import type { Clock } from '../../ports/port.ts';

/** How long a log-in is remembered, in milliseconds. @internal */
export const rememberedMs = 300_000;

/** The log-ins that were verified a short time ago. @internal */
export interface RememberedLogins {
  /** Gives a text that only the same name, in any case, and the same password have. No password follows from the text. */
  fingerprint(name: string, password: string): Promise<string>;
  /** Whether the log-in of a user with this fingerprint is remembered. */
  has(user: User | undefined, fingerprint: string): boolean;
  /** Remembers a log-in of a user for five minutes. A user has one password, and so one log-in to remember. */
  add(user: User, fingerprint: string): void;
}

/** A remembered log-in. */
interface Login {
  readonly fingerprint: string;
}

/**
 * Creates the memory of log-ins. Its size is bounded by the number of users.
 *
 * @param clock - measures the five minutes
 * @internal
 */
export function createRememberedLogins(clock: Clock): RememberedLogins {
  const logins = new WeakMap<User, Login>();
  let key: Promise<CryptoKey> | undefined;
  return {
    async fingerprint(name, password) {
      key ??= drawKey();
      // Neither a name nor a password has a control character, so no two pairs have the same text.
      const text = new TextEncoder().encode(`${name.toLowerCase()}\0${password}`);
      const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await key, text));
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    },
    has: (user, fingerprint) => user !== undefined && logins.get(user)?.fingerprint === fingerprint,
    add(user, fingerprint) {
      const login: Login = { fingerprint };
      logins.set(user, login);
      const forget = (): void => {
        if (logins.get(user) === login) logins.delete(user);
      };
      clock.sleep(rememberedMs, undefined, { keepAlive: false }).then(forget, forget);
    },
  };
}

function drawKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}
