/**
 * Basic authentication of the admin users in the snapshot.
 *
 * Hashing is expensive, so a request without a password is answered without hashing. Every request with a password
 * costs the same work and gets the same answer, whether or not the user exists.
 */
import { passwordFault } from '../core/secret.ts';
import type { AdminRequest, Principal } from '../http/message.ts';
import { createBoundedQueue } from './bounded-queue.ts';
import type { Authenticate, Hasher } from './port.ts';

/**
 * Options of {@link createBasicAuthentication}.
 *
 * @public
 */
export interface BasicAuthenticationOptions {
  /** The hasher that hashed the passwords of the users. A user with a hash of another hasher cannot log in. */
  readonly hasher: Hasher;
  /** Text that a client shows when it asks for a password: printable ASCII. Default `gateway admin`. */
  readonly realm?: string;
  /** Largest number of passwords that are verified at the same time, at least 1. Default 2. */
  readonly maxInFlight?: number;
  /** Largest number of log-ins that wait for their turn, at least 0. Default 64. Further log-ins are throttled. */
  readonly maxQueued?: number;
}

/**
 * Creates the Basic authentication of admin users. Each request contains the password: use Basic authentication only
 * over TLS or on the loopback interface.
 *
 * A request without credentials, or with malformed ones, is answered at once. An unknown user and a wrong password get
 * the same answer after the same work. When too many log-ins wait, the next log-in is throttled, for whichever user; no
 * user is ever locked out. A log-in is not verified if its request is aborted while the log-in waits.
 *
 * @param options - the hasher and the limits; see {@link BasicAuthenticationOptions}
 * @returns the function that authenticates a request. The name of the principal is the declared name of the user
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
 * @see RFC 7617; Gateway Administration REST Interface, "Authentication"; docs/spec-choices.md 32.
 *
 * @public
 */
export function createBasicAuthentication(options: BasicAuthenticationOptions): Authenticate {
  const { hasher, realm = 'gateway admin', maxInFlight = 2, maxQueued = 64 } = options;
  const challenge = challengeFor(realm);
  const queue = createBoundedQueue({ maxInFlight, maxQueued });
  const decoyHash = decoyHashOf(hasher);
  const authenticate: Authenticate = async (request, snapshot) => {
    const credentials = parseCredentials(request.headers['authorization']);
    if (credentials === undefined) return undefined;
    // Names are ASCII. A letter that only folds to ASCII, such as the Kelvin sign, belongs to no user.
    const user = /^[A-Za-z0-9]{1,64}$/.test(credentials.name)
      ? snapshot.users.find(credentials.name)
      : undefined;
    return queue(async () => {
      if (isAborted(request)) return undefined;
      // Awaited for every user: otherwise the duration of the first log-in would tell whether its user exists.
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

/** Only the name, as declared; the client may have used another case. */
function principalOf({ name }: Principal): Principal {
  return { name };
}

/** The hash to verify against if there is no such user. Made once, with the hasher of the users. */
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

/** Longer than any name with any acceptable password, in every Unicode normalisation form. */
const maxHeaderLength = 8192;

/** Parses `Basic <base64 of name:password>`; `undefined` unless the password is acceptable. */
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

/** Decodes base64; `undefined` unless the text is the canonical one for the bytes, padding included (RFC 4648 §3). */
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
    throw new RangeError(
      'The realm of Basic authentication must be printable ASCII, because a header carries it',
    );
  }
  return `Basic realm="${realm.replace(/["\\]/g, '\\$&')}", charset="UTF-8"`;
}
