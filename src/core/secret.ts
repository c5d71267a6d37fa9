/**
 * Secrets: what a password must be like, and the form in which one may come near the core.
 */
import type { Json } from '../json/value.ts';

/**
 * Sealed text in the place of a secret: the only form in which a transition accepts one.
 *
 * @public
 */
export interface Sealed {
  /** What the `secrets` port made of the secret; opaque here. */
  readonly sealed: string;
}

/** Whether a value is sealed text. @internal */
export function isSealed(value: Json | undefined): value is Json & Sealed {
  return (
    typeof value === 'object' && value !== null && 'sealed' in value && typeof value['sealed'] === 'string'
  );
}

/**
 * Turns secrets into what may be kept: the ports stand behind it.
 *
 * @public
 */
export interface SecretPorts {
  /** Hashes the password of an admin user; gives `undefined` when too many are being hashed. */
  hash(password: string): Promise<string | undefined>;
  /** What the host has against the password of an admin user; `undefined` for nothing. */
  objection(password: string): string | undefined;
  /** Seals a secret that the host has to read again; gives `undefined` when it could not be read after a restart. */
  seal(secret: string): Promise<string | undefined>;
}

/**
 * Says what is wrong with a password, or `undefined` when nothing is. Never prints it.
 *
 * A password has 1 to 1024 bytes of UTF-8 and no control characters, which Basic authentication could not carry
 * (RFC 7617 §2).
 *
 * @internal
 */
export function passwordFault(password: Json): string | undefined {
  if (typeof password !== 'string') return 'must be a string';
  if (password === '') return 'must have at least one character';
  if (!password.isWellFormed()) return 'must not contain lone surrogates';
  // Before it is normalised: that takes time in the square of a long run of combining marks.
  if (utf8Length(password) > 4096) return 'must have at most 1024 bytes';
  if (/\p{Cc}/u.test(password)) return 'must not contain control characters';
  return utf8Length(password.normalize('NFC')) > 1024 ? 'must have at most 1024 bytes' : undefined;
}

function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return length;
}

/** Members that hold hashes and sealed texts, each with the name that clients know. */
const secretMembers: ReadonlyMap<string, string> = new Map([
  ['passwordHash', 'password'],
  ['passwordSealed', 'password'],
]);

/**
 * Takes hashes and sealed texts out of what a reader is shown: members that hold them, and the values of patch
 * operations on such members.
 *
 * @param value - plain JSON, such as an event or a list of effects
 * @returns the same without them
 *
 * @example
 * ```ts
 * import { redactSecrets } from 'gateway-admin-core';
 *
 * redactSecrets({ type: 'user.created', name: 'ada', passwordHash: 'opaque' }); // => { type: 'user.created', name: 'ada' }
 * ```
 *
 * @public
 */
export function redactSecrets(value: Json | object): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(redactSecrets);
  const { path, ...rest } = value as Readonly<Record<string, Json>>;
  const name = typeof path === 'string' && 'op' in rest ? secretMembers.get(path.slice(1)) : undefined;
  if (name !== undefined) return { op: rest['op'] ?? null, path: `/${name}` };
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>)
      .filter(([member]) => !secretMembers.has(member))
      .map(([member, content]) => [member, redactSecrets(content)]),
  );
}

/**
 * State as a reader may be shown it in full: hashes and sealed texts give way to a mark, so that it can still be seen
 * that there is one.
 *
 * @param value - plain data, such as a service with its settings
 * @returns a copy with the mark in the place of each secret
 * @internal
 */
export function maskSecrets(value: unknown): Json {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      secretMembers.has(name) ? '[redacted]' : maskSecrets(member),
    ]),
  );
}
