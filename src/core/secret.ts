/**
 * Secrets: the rules for a password, the sealed form of a secret, and redaction.
 *
 * A secret reaches the core only hashed or sealed. Redaction takes even these forms out of everything that is shown.
 */
import { formatPointer, parsePointer } from '../json/pointer.ts';
import {
  isArray,
  isContainer,
  setMember,
  type Json,
  type JsonContainer,
  type JsonObject,
} from '../json/value.ts';
import type { Fault, Result } from '../problem.ts';
import { normalForm, utf8Length } from './text.ts';

/**
 * Sealed text in place of a secret. A transition accepts no other form of a secret.
 *
 * @public
 */
export interface Sealed {
  /** The sealed text from the {@link SecretSealer} port. The library does not look inside. */
  readonly sealed: string;
}

/** Whether a value is sealed text. @internal */
export function isSealed(value: Json | undefined): value is Json & Sealed {
  return (
    typeof value === 'object' && value !== null && 'sealed' in value && typeof value['sealed'] === 'string'
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

/** The names of a secret. @internal */
export interface SecretName {
  /** The name under which the hashed or sealed form is stored. */
  readonly stored: string;
  /** The name that clients know. */
  readonly client: string;
  /** Whether everything that clients know by that name is secret. False for a map of which some entries are secret. */
  readonly whole: boolean;
}

/** Gives the names of members and fields that are secret as a whole. @internal */
export function namesOf(secrets: readonly SecretName[]): ReadonlySet<string> {
  return new Set(secrets.flatMap(({ stored, client, whole }) => (whole ? [stored, client] : [stored])));
}

/** The names that redaction looks for. */
interface Names {
  /** By the stored name of a secret: the name that clients know. */
  readonly client: ReadonlyMap<string, string>;
  /** The names by which clients know what is secret as a whole. */
  readonly whole: ReadonlySet<string>;
  /** The maps of parameters. Clients choose the names of the entries, so a name can be that of a stored secret. */
  readonly map: ReadonlySet<string>;
}

/**
 * Creates the function that redacts secrets in plain JSON.
 *
 * The function removes every member with the stored name of a secret, and every sealed text, at any depth. A JSON Patch
 * operation whose pointer leads to a secret, or into one, loses its value, and its pointer gets the name that clients
 * know. An entry of a map of parameters is no secret because it has the name of a stored secret. An operation on an
 * entry that is named like a secret of clients, such as `password`, loses its value all the same.
 *
 * @param secrets - the names of each secret
 * @internal
 */
export function createRedactor(secrets: readonly SecretName[]): (value: Json | object) => Json {
  const names: Names = {
    client: new Map(secrets.map(({ stored, client }) => [stored, client])),
    whole: new Set(secrets.filter(({ whole }) => whole).map(({ client }) => client)),
    map: new Set(secrets.filter(({ whole }) => !whole).map(({ client }) => client)),
  };
  return (value) => {
    if (!isContainer(value as Json)) return value as Json;
    const root: Record<string, Json> = {};
    // A list of containers left to copy replaces recursion, so no value is too deep.
    const pending: (Copying | Leaving)[] = [{ source: { value: value as Json }, target: root, isMap: false }];
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
      copyMembers(next, names, pending);
    }
    return root['value'] ?? null;
  };
}

/** A container whose members are still to be copied, and the copy that gets them. */
interface Copying {
  readonly source: JsonContainer;
  readonly target: Json[] | Record<string, Json>;
  /** Whether clients choose the names of the members. */
  readonly isMap: boolean;
}

/** A container whose members are copied. */
interface Leaving {
  readonly left: JsonContainer;
}

function copyMembers({ source, target, isMap }: Copying, names: Names, pending: (Copying | Leaving)[]): void {
  const members = isArray(source) ? source.entries() : Object.entries(redactOperation(source, names));
  for (const [name, member] of members) {
    const isHidden = isSealed(member) && Object.keys(member).length === 1;
    if (typeof name === 'string' && (isHidden || (!isMap && names.client.has(name)))) continue;
    let copy = isHidden ? null : member;
    if (isContainer(copy)) {
      const empty: Copying['target'] = isArray(copy) ? [] : {};
      pending.push({ source: copy, target: empty, isMap: names.map.has(String(name)) });
      copy = empty;
    }
    if (Array.isArray(target)) target.push(copy);
    else setMember(target, String(name), copy);
  }
}

/** A JSON Patch operation without the secrets in it. Every other object stays as it is. */
function redactOperation(value: JsonObject, names: Names): JsonObject {
  const { op, path, from } = value;
  if (typeof op !== 'string' || typeof path !== 'string') return value;
  const tokens = parsePointer(path) ?? [];
  const sources = typeof from === 'string' ? (parsePointer(from) ?? []) : [];
  const isStored = (token: string, at: number, pointer: readonly string[]): boolean =>
    names.client.has(token) && !names.map.has(pointer[at - 1] ?? '');
  const isSecret = (token: string, at: number, pointer: readonly string[]): boolean =>
    names.whole.has(token) || isStored(token, at, pointer);
  if (!tokens.some(isSecret) && !sources.some(isSecret)) return value;
  const shown = (pointer: readonly string[]): string =>
    formatPointer(
      pointer.map((token, at) => (isStored(token, at, pointer) ? (names.client.get(token) ?? token) : token)),
    );
  return { op, ...(typeof from === 'string' ? { from: shown(sources) } : {}), path: shown(tokens) };
}

/**
 * Puts a mark in the place of each secret, so that a reader sees that there is one. A map of secrets keeps its names.
 *
 * @param value - plain data, such as a service with its settings
 * @param secrets - the names under which secrets are stored
 * @returns a copy with the marks
 * @internal
 */
export function maskSecrets(value: unknown, secrets: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, secrets));
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      secrets.has(name) ? marked(member) : maskSecrets(member, secrets),
    ]),
  );
}

function marked(secret: unknown): Json {
  if (typeof secret !== 'object' || secret === null) return '[redacted]';
  return Object.fromEntries(
    Object.entries(secret).map(([name, member]: [string, unknown]) => [name, marked(member)]),
  );
}
