/**
 * Basic authentication of the admin users.
 */
import { assertMembers } from '../core/member.ts';
import { assertText } from '../json/value.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Authenticate } from './port.ts';

/**
 * Options of {@link createBasicAuthentication}.
 *
 * @public
 */
export interface BasicAuthenticationOptions {
  /** Text that a client shows when it asks for a password: printable ASCII. Default `gateway admin`. */
  readonly realm?: string;
  /**
   * Whether everybody may administer the gateway as long as there is no admin user. Default `false`: then the first
   * user must be in the document, or be created with {@link Admin.createFirstUser}.
   */
  readonly openUntilFirstUser?: boolean;
}

/**
 * Creates the Basic authentication of admin users. Each request contains the password: use Basic authentication only
 * over TLS or on the loopback interface.
 *
 * A request without credentials, or with malformed ones, is answered at once. An unknown user and a wrong password get
 * the same answer after the same work. When too many log-ins wait, the next log-in is throttled; no user is ever locked
 * out. A log-in that was verified is remembered for five minutes, until the user is deleted or gets another password.
 *
 * @param options - the realm, and whether a log-in is needed before there is a user
 * @returns the function that authenticates a request. The name of the principal is the declared name of the user
 * @throws TypeError for an unknown option, and if `openUntilFirstUser` is not true or false
 * @throws RangeError when the realm is not printable ASCII
 *
 * @example
 * ```ts
 * import { createAdmin, createBasicAuthentication, createPbkdf2Hasher, createSnapshot } from 'gateway-admin-core';
 *
 * const hasher = createPbkdf2Hasher();
 * const admin = createAdmin({
 *   snapshot: createSnapshot({ users: [{ name: 'ada', password: { sealed: await hasher.hash('engine') } }] }),
 *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
 *   access: { authenticate: createBasicAuthentication() },
 * });
 *
 * const statusOf = async (headers: Record<string, string>) => {
 *   const handled = await admin.handle({ method: 'GET', target: '/services', headers });
 *   return handled.matched && handled.response.status;
 * };
 * await statusOf({ authorization: `Basic ${btoa('ada:engine')}` }); // => 200
 * await statusOf({}); // => 401
 * ```
 *
 * @see RFC 7617; Gateway Administration REST Interface, "Authentication"; docs/spec-choices.md 32.
 *
 * @public
 */
export function createBasicAuthentication(options: BasicAuthenticationOptions = {}): Authenticate {
  assertMembers(options, ['realm', 'openUntilFirstUser'], 'option of createBasicAuthentication');
  const { realm = 'gateway admin', openUntilFirstUser = false } = options;
  assertText(realm, 'realm');
  // A text such as "false" would open the interface to everybody.
  if (typeof openUntilFirstUser !== 'boolean')
    throw new TypeError('The option openUntilFirstUser must be true or false');
  const authenticate: Authenticate = (request, _snapshot, verifyPassword) => {
    const credentials = parseCredentials(request.headers['authorization']);
    return credentials === undefined
      ? Promise.resolve(undefined)
      : verifyPassword(credentials.name, credentials.password);
  };
  const isOpen = { isOpen: ({ users }: Snapshot) => users.size === 0 };
  return Object.freeze(
    Object.assign(authenticate, { challenge: challengeFor(realm) }, openUntilFirstUser ? isOpen : {}),
  );
}

interface Credentials {
  readonly name: string;
  readonly password: string;
}

/**
 * Longest header `Authorization`: longer than any name with any acceptable password, in every Unicode normalisation
 * form.
 */
const maxHeaderLength = 8192;

/** Parses `Basic <base64 of name:password>`. */
function parseCredentials(header: string | undefined): Credentials | undefined {
  if (header === undefined || header.length > maxHeaderLength) return undefined;
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const text = decodeText(decodeBase64(token));
  if (text === undefined || /\p{Cc}/u.test(text)) return undefined;
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Decodes base64 to a character for each byte; `undefined` unless the text is the canonical one for the bytes, padding
 * included (RFC 4648 §3).
 */
function decodeBase64(text = ''): string | undefined {
  if (text.length % 4 !== 0) return undefined;
  const binary = atob(text);
  return btoa(binary) === text ? binary : undefined;
}

/** Decodes UTF-8 that has a character for each byte. ASCII is its own UTF-8. */
function decodeText(binary: string | undefined): string | undefined {
  if (binary === undefined || !/[\x80-\xff]/.test(binary)) return binary;
  try {
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
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
