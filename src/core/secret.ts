/**
 * Secrets: the rules for a password, the sealed form of a secret, and redaction.
 *
 * A secret reaches the core only hashed or sealed. Redaction takes even these forms out of everything that is shown.
 */
import { parsePointer } from '../json/pointer.ts';
import {
  isArray,
  isContainer,
  isObject,
  setMember,
  type Json,
  type JsonContainer,
  type JsonObject,
} from '../json/value.ts';
import type { Fault, Result } from '../problem.ts';
import { normalForm, utf8Length } from './text.ts';

/**
 * A secret as it is stored, in its own place: the text that a port of the host has made of it. A transition accepts no
 * other form of a secret, and nothing that is shown has it. `sealed` is a text from the {@link SecretSealer} port; of
 * an admin user, a hash from the {@link Hasher} port. The library does not look inside.
 *
 * @public
 */
export type Sealed = Readonly<Record<'sealed', string>>;

/** Whether a value is sealed text. @internal */
export function isSealed(value: unknown): value is Sealed {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'sealed')) return false;
  return (
    typeof (value as { readonly sealed: unknown }).sealed === 'string' && Object.keys(value).length === 1
  );
}

/**
 * The operations on secrets, with the ports of the host behind them.
 *
 * @public
 */
export interface SecretPorts {
  /**
   * Hashes the password of an admin user. Refused if too many passwords are being hashed, or the hasher takes too long.
   */
  hash(password: string): Promise<Result<string>>;
  /** The objection of the host to the password of an admin user; `undefined` if there is none. */
  objection(password: string): string | undefined;
  /** Seals a secret that the host must read again; `undefined` if the secret could not be read after a restart. */
  seal(secret: string): Promise<string | undefined>;
  /** Whether the name of a parameter is declared secret. */
  isSecretParameter(name: string): boolean;
}

/** Whether a secret is anywhere in a value. @internal */
export function hasSecret(value: Json): boolean {
  return isContainer(value) && (isSealed(value) || Object.values<Json>(value).some(hasSecret));
}

/** What a client sent, with its secrets sealed, and the faults of the secrets that cannot be sealed. @internal */
export interface Sealing<T> {
  /** Has a text that opens to nothing in place of each faulty secret, so that the rest can be checked. */
  readonly sealed: T;
  readonly faults: readonly Fault[];
}

/** Stands for a faulty secret. The command is refused, so nobody opens the text. @internal */
export const unsealable = 'unsealable';

/** Longest password, in bytes of UTF-8 in Unicode form NFC. */
const longestPassword = 1024;

const tooLong = `must have at most ${String(longestPassword)} bytes`;

/**
 * Explains why a password is not acceptable. The message never quotes the password.
 *
 * A password has 1 to 1024 bytes of UTF-8 in form NFC, and no control characters, because Basic authentication cannot
 * carry control characters. A password with more than 30 combining marks in a row has at most 1024 bytes as written.
 *
 * @returns the message; `undefined` if the password is acceptable
 *
 * @see RFC 7617 §2.
 *
 * @internal
 */
export function passwordFault(password: Json): string | undefined {
  if (typeof password !== 'string') return 'must be a string';
  if (password === '') return 'must have at least one character';
  if (!password.isWellFormed()) return 'must not contain lone surrogates';
  if (utf8Length(password) > 4 * longestPassword) return tooLong;
  if (/\p{Cc}/u.test(password)) return 'must not contain control characters';
  return utf8Length(normalForm(password)) > longestPassword ? tooLong : undefined;
}

/**
 * Creates the function that redacts secrets in plain JSON.
 *
 * The function leaves out every member that is sealed text, or an entry with sealed text, at any depth. In a list, and
 * in what a change leads from and to, `null` takes the place. A JSON Patch operation whose pointer leads to a secret of
 * clients, such as `password`, or into one, loses its value, which can be plain text.
 *
 * @internal
 */
export function createRedactor(places: SecretPlaces): (value: Json | object) => Json {
  return (value) => {
    if (!isContainer(value as Json)) return value as Json;
    const root: Record<string, Json> = {};
    // A list of containers left to copy replaces recursion, so no value is too deep.
    const pending: (Copying | Leaving)[] = [
      { source: { value: value as Json }, target: root, isSide: false },
    ];
    const open = new Set<JsonContainer>();
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if ('left' in next) {
        open.delete(next.left);
        continue;
      }
      if (open.has(next.source))
        throw new TypeError('redactSecrets: the value is circular, so it is not JSON');
      open.add(next.source);
      pending.push({ left: next.source });
      copyMembers(next, places, pending);
    }
    return root['value'] ?? null;
  };
}

/** How redaction knows secrets that are not sealed text alone. @internal */
export interface SecretPlaces {
  /** The names of the fields that are secret as a whole. */
  readonly names: ReadonlySet<string>;
  /** Whether an object is an entry of a map with the secret in one of its members. */
  readonly isEntry: (this: void, value: JsonObject) => boolean;
}

/** A container whose members are still to be copied, and the copy that gets them. */
interface Copying {
  readonly source: JsonContainer;
  readonly target: Json[] | Record<string, Json>;
  /** Whether the container is what a change leads from or to, or lies in it. */
  readonly isSide: boolean;
}

/** A container whose members are copied. */
interface Leaving {
  readonly left: JsonContainer;
}

function copyMembers(
  { source, target, isSide }: Copying,
  places: SecretPlaces,
  pending: (Copying | Leaving)[],
): void {
  const isHidden = isArray(source) ? () => false : hiddenMember(source, places);
  for (const [name, member] of isArray(source) ? source.entries() : Object.entries(source)) {
    const isLeftOut = isHidden(name, member);
    if (isLeftOut && !isSide) continue;
    let copy = isLeftOut || isSealed(member) ? null : member;
    if (isContainer(copy)) {
      const empty: Copying['target'] = isArray(copy) ? [] : {};
      const isOneSide = (name === 'from' || name === 'to') && 'type' in source;
      pending.push({ source: copy, target: empty, isSide: isSide || isOneSide });
      copy = empty;
    }
    if (Array.isArray(target)) target.push(copy);
    else setMember(target, String(name), copy);
  }
}

/** Tells which members of an object are left out: sealed text, and the value of an operation on a secret. */
function hiddenMember(
  { op, path, from }: JsonObject,
  { names, isEntry }: SecretPlaces,
): (name: string | number, member: Json) => boolean {
  const isOnSecret =
    typeof op === 'string' &&
    typeof path === 'string' &&
    [path, from].some(
      (pointer) => typeof pointer === 'string' && parsePointer(pointer)?.some((token) => names.has(token)),
    );
  return (name, member) =>
    isSealed(member) || (isObject(member) && isEntry(member)) || (isOnSecret && name === 'value');
}

/** Puts a text in the place of each secret, the same for all, so that a reader sees that there is one. @internal */
export function maskSecrets(value: unknown): Json {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value as Json;
  if (isSealed(value)) return '[redacted]';
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [name, maskSecrets(member)]),
  );
}
