/**
 * Basic authentication of the admin users of the snapshot.
 *
 * Hashing is what costs: everything that carries no guess is answered without it, and whatever does carry one takes
 * the same work and gets the same answer whether the user exists or not.
 */
import { passwordFault } from '../core/secret.ts';
import type { AdminRequest, Principal } from '../http/message.ts';
import { createBoundedQueue } from './bounded-queue.ts';
import type { Authenticate, Hasher } from './port.ts';

/**
 * How {@link createBasicAuthentication} finds out who asks.
 *
 * @public
 */
export interface BasicAuthenticationOptions {
  /** What made the hashes of the users. Users whose hash another one made cannot log in. */
  readonly hasher: Hasher;
  /** What a client shows where it asks for a password: printable ASCII; `gateway admin` when left out. */
  readonly realm?: string;
  /** How many passwords are verified at the same time, at least 1; 2 when left out. */
  readonly concurrency?: number;
  /** How many log-ins wait for their turn, 0 or more; 64 when left out. Those beyond are throttled. */
  readonly waiting?: number;
}

/**
 * Creates the Basic authentication of admin users. Use it over TLS or on the loopback interface only: each request
 * carries the password.
 *
 * A request without credentials, or with malformed ones, is answered at once. An unknown user and a wrong password
 * get the same answer for the same work. At most so many passwords are verified at the same time and so many wait;
 * a log-in beyond them is throttled, whoever it is for, and nobody is locked out. A log-in whose request was aborted
 * while it waited is not verified.
 *
 * @param options - the hasher and the limits; see {@link BasicAuthenticationOptions}
 * @returns what finds the principal: its name is that of the user, as it was declared
 * @throws RangeError when the realm is not printable ASCII, or a limit is not a whole number in its range
 *
 * @example
 * ```ts
 * import { createBasicAuthentication, createPbkdf2Hasher, createSnapshot } from 'gateway-admin-core';
 *
 * const hasher = createPbkdf2Hasher();
 * const snapshot = createSnapshot({ users: [{ name: 'ada', passwordHash: await hasher.hash('engine') }] });
 * const authenticate = createBasicAuthentication({ hasher });
 *
 * const headers = { authorization: `Basic ${btoa('ada:engine')}` };
 * await authenticate({ method: 'GET', target: '/services', headers }, snapshot); // => { name: 'ada' }
 * await authenticate({ method: 'GET', target: '/services', headers: {} }, snapshot); // => undefined
 * authenticate.challenge; // => 'Basic realm="gateway admin", charset="UTF-8"'
 * ```
 *
 * @see RFC 7617; docs/spec-choices.md 32.
 *
 * @public
 */
export function createBasicAuthentication(options: BasicAuthenticationOptions): Authenticate {
  const { hasher, realm = 'gateway admin', concurrency = 2, waiting = 64 } = options;
  const challenge = challengeFor(realm);
  const queue = createBoundedQueue({ concurrency, waiting });
  const decoyHash = decoyHashOf(hasher);
  const authenticate: Authenticate = async (request, snapshot) => {
    const credentials = parseCredentials(request.headers['authorization']);
    if (credentials === undefined) return undefined;
    // Names are ASCII: a letter that only folds to ASCII, such as the Kelvin sign, is that of no user.
    const user = /^[A-Za-z0-9]{1,64}$/.test(credentials.name)
      ? snapshot.users.find(credentials.name)
      : undefined;
    return queue(async () => {
      if (isAborted(request)) return undefined;
      // Before it is known whether it is needed: the log-in that has it made takes longer, whomever it is for.
      const decoy = await decoyHash();
      const matches = await hasher.verify(credentials.password, user?.passwordHash ?? decoy);
      return matches && user !== undefined ? principalOf(user) : undefined;
    }, 'throttled');
  };
  return Object.freeze(Object.assign(authenticate, { challenge }));
}

function isAborted({ signal }: AdminRequest): boolean {
  return signal?.aborted === true;
}

/** The declared name, which is not always what the client wrote, and nothing else of the user. */
function principalOf({ name }: Principal): Principal {
  return { name };
}

/** A hash to verify against when there is no user: made once, by the hasher that made those of the users. */
function decoyHashOf(hasher: Hasher): () => Promise<string> {
  let made: Promise<string> | undefined;
  return () => {
    made ??= hasher.hash('nobody').catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** Longer than any name with any acceptable password, whatever its normalisation form. */
const maxHeaderLength = 8192;

/** Reads `Basic <base64 of name:password>`; gives nothing unless it is a password that somebody may have. */
function parseCredentials(header: string | undefined): Credentials | undefined {
  if (header === undefined || header.length > maxHeaderLength) return undefined;
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const bytes = decodeBase64(token);
  const text = bytes && decodeText(bytes);
  if (text === undefined || /\p{Cc}/u.test(text)) return undefined;
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  const password = text.slice(colon + 1).normalize('NFC');
  return passwordFault(password) === undefined ? { name: text.slice(0, colon), password } : undefined;
}

/** The bytes, or nothing unless the text is the one that base64 gives for them, padding included (RFC 4648 §3). */
function decodeBase64(text = ''): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const binary = atob(text);
  if (btoa(binary) !== text) return undefined;
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function challengeFor(realm: string): string {
  if (!/^[ -~]*$/.test(realm)) {
    throw new RangeError('The realm of Basic authentication is printable ASCII: a header carries it');
  }
  return `Basic realm="${realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`;
}
