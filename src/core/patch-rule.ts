/**
 * Rules of patches: which operations a patch view allows, and their translation to operations on the settings.
 *
 * Every rule is checked before the first operation is applied, so the answer lists all faults at once.
 */
import {
  deepFreeze,
  isArray,
  isContainer,
  isObject,
  pick,
  type Json,
  type JsonContainer,
  type JsonObject,
} from '../json/value.ts';
import type { ParsedOperation } from '../json/patch.ts';
import { formatPointer, hasReservedKey, reservedToken } from '../json/pointer.ts';
import type { Fault, ProblemCode } from '../problem.ts';
import type { Field } from './field.ts';
import { mostLinks } from './reference.ts';
import { isSealed } from './secret.ts';
import { mostMembers } from './shape.ts';

/** One modifiable field of a patch view. @internal */
export interface PatchField extends Pick<Field, 'links' | 'secret' | 'secretEntries'> {
  /** Name in a patch. */
  readonly name: string;
  /** The empty value, which a patch restores when it removes the field. Left out for a field that may be absent. */
  readonly empty?: Json;
}

/** An operation of a patch, with its secrets sealed. @internal */
export interface SealedOperation extends ParsedOperation {
  /** The faults that sealing has found in the value. They are not told if another rule refuses the operation. */
  readonly faults?: readonly Fault[];
}

/** The part of a patch view that decides which operations are allowed. @internal */
export interface PatchRules {
  /** The names of the modifiable fields, for people. */
  readonly names: string;
  /** The fields of the representation that a patch cannot change. A `test` may read them. */
  readonly readOnly: readonly string[];
  /** The lists of things that commands of their own create and delete, such as `listeners`. */
  readonly apart: readonly string[];
  /** The modifiable field with this name or alias, which is the first token of a pointer. */
  field(this: void, token: string): PatchField | undefined;
  /** Whether the entry with this name is secret, in a map that can have secret entries. */
  isSecretEntry(this: void, name: string): boolean;
}

/** The operations of a patch after the check. @internal */
export interface Prepared {
  /** The faults of the operations, at most one for each place that an operation names. */
  readonly faults: readonly Fault[];
  /** The allowed operations on what clients see: aliases are replaced, and a removed field gets its empty value. */
  readonly open: readonly ParsedOperation[];
  /** The allowed operations on secrets, which clients do not see. They write or remove a whole secret each. */
  readonly secret: readonly ParsedOperation[];
  /** Whether a `test` reads a field that a patch cannot change. */
  readonly readsMore: boolean;
  /** Whether the operations write a secret, and do not remove it again. */
  readonly writesSecret: boolean;
}

/** Checks each operation of a patch and translates the allowed ones. @internal */
export function prepareOperations(rules: PatchRules, operations: readonly SealedOperation[]): Prepared {
  const faults: Fault[] = [];
  const open: ParsedOperation[] = [];
  const secret: ParsedOperation[] = [];
  const written = new Set<string>();
  let readsMore = false;
  for (const { faults: own = [], ...operation } of operations) {
    const field = rules.field(operation.path[0] ?? '');
    const refused = placeFaults(rules, operation, field);
    if (refused.length > 0) {
      faults.push(...refused);
      continue;
    }
    const oversize = valueFault(operation);
    // Found once, and not in a value that is too large: to find them folds every name.
    const secrets = oversize === undefined ? secretEntriesIn(rules, operation, field) : [];
    const fault = oversize ?? entryFault(operation, field, secrets);
    if (fault !== undefined) faults.push(fault);
    else if (own.length > 0) faults.push(...own);
    else if (field === undefined) {
      readsMore = true;
      open.push(operation);
    } else if (isSecretPlace(rules, operation.path, field)) {
      noteSecret(written, operation);
      secret.push(secretOperation(operation, field));
    } else {
      for (const each of secrets) noteSecret(written, each);
      secret.push(...secrets);
      open.push(...openOperations(rules, withoutEntries(operation, secrets), field));
    }
  }
  return { faults, open, secret, readsMore, writesSecret: written.size > 0 };
}

/** Notes whether a secret is written. The operations before a `remove` leave nothing of the secret. */
function noteSecret(written: Set<string>, { op, path }: ParsedOperation): void {
  const secret = formatPointer(path.slice(0, 2));
  if (op === 'remove') written.delete(secret);
  else written.add(secret);
}

/** The faults of the places that an operation names. */
function placeFaults(
  rules: PatchRules,
  operation: ParsedOperation,
  field: PatchField | undefined,
): readonly Fault[] {
  const { path, from } = operation;
  const places = [
    [path, field] as const,
    ...(from === undefined ? [] : [[from, rules.field(from[0] ?? '')] as const]),
  ];
  const faults = places.flatMap(([place, each]) => {
    const refusal = placeRefusal(rules, operation, place, each);
    return refusal === undefined ? [] : [faultAt(operation, place, refusal)];
  });
  // An operation that reads a secret or writes into one has the same answer whatever else it does.
  const secret = faults.find(({ code }) => code === 'field-write-only');
  return secret === undefined ? faults : [secret];
}

/** The fault of the value of an operation, as far as it is known before the operation is applied. */
function valueFault(operation: ParsedOperation): Fault | undefined {
  const { index, path, value = null } = operation;
  if (!isContainer(value)) return undefined;
  if (isOversize(value)) return faultAt(operation, path, oversize);
  const inside = hasReservedKey(value);
  if (inside === undefined) return undefined;
  const detail = '__proto__, constructor and prototype are not allowed as keys';
  return { pointer: formatPointer(path) + inside, operation: index, code: 'reserved-key', detail };
}

/** The fault of the first secret entry in the value for a whole map. */
function entryFault(
  operation: ParsedOperation,
  field: PatchField | undefined,
  secrets: readonly ParsedOperation[],
): Fault | undefined {
  for (const { path, value } of secrets) {
    const refusal = secretRefusal(operation.op, secretOf(field, path, value));
    if (refusal !== undefined) return faultAt(operation, path, refusal);
  }
  return undefined;
}

type Refusal = readonly [code: ProblemCode, detail: string];

/** The members of the largest object in a field: a map with its secrets, which are counted apart. */
const mostOfObject = 2 * mostMembers;

const oversize: Refusal = [
  'validation-failed',
  `must not contain an object of more than ${String(mostOfObject)} members or a list of more than ${String(mostLinks)} items`,
];

function faultAt({ index }: ParsedOperation, tokens: readonly string[], [code, detail]: Refusal): Fault {
  return { pointer: formatPointer(tokens), operation: index, code, detail };
}

/** Whether a value is larger than any field may be. Such a value would be copied for each operation that follows. */
function isOversize(value: JsonContainer): boolean {
  // A value from the same process may contain one object many times. Each object is visited once.
  const seen = new Set([value]);
  for (const container of seen) {
    const members = Object.values<Json>(container);
    if (members.length > (isArray(container) ? mostLinks : mostOfObject)) return true;
    for (const member of members) if (isContainer(member)) seen.add(member);
  }
  return false;
}

function placeRefusal(
  rules: PatchRules,
  operation: ParsedOperation,
  tokens: readonly string[],
  field: PatchField | undefined,
): Refusal | undefined {
  const { names, readOnly, apart } = rules;
  const reserved = reservedToken(tokens);
  if (reserved !== undefined) return ['reserved-key', `"${reserved}" is not allowed as a key`];
  const [token] = tokens;
  if (token === undefined)
    return [
      'op-not-allowed',
      `must name a field, because a patch cannot change the whole resource; modifiable fields: ${names}`,
    ];
  if (field !== undefined) {
    if (!isSecretPlace(rules, tokens, field)) return undefined;
    return secretRefusal(operation.op, secretOf(field, tokens, operation.value));
  }
  if (apart.includes(token)) {
    const way = `POST …/${token} creates one, DELETE …/${token}/NAME deletes one`;
    return ['field-unknown', `cannot be patched: ${way}; modifiable fields: ${names}`];
  }
  if (!readOnly.includes(token))
    return ['field-unknown', `names no field of this resource; modifiable fields: ${names}`];
  return operation.op === 'test'
    ? undefined
    : ['field-not-modifiable', `names a field that cannot be modified; modifiable fields: ${names}`];
}

/** Whether a place is a secret, or is inside a secret. */
function isSecretPlace(
  { isSecretEntry }: PatchRules,
  [, name]: readonly string[],
  { secret, secretEntries }: PatchField,
): boolean {
  if (secret === true) return true;
  return secretEntries !== undefined && name !== undefined && isSecretEntry(name);
}

/** The secret entries in the value for a whole map, each as an operation that adds the entry. */
function secretEntriesIn(
  { isSecretEntry }: PatchRules,
  { index, path, value }: ParsedOperation,
  field: PatchField | undefined,
): readonly ParsedOperation[] {
  if (field?.secretEntries === undefined || path.length > 1 || !isObject(value)) return [];
  return Object.entries(value)
    .filter(([name]) => isSecretEntry(name))
    .map(([name, entry]) => ({ index, op: 'add', path: [field.name, name], from: undefined, value: entry }));
}

/** What an operation gives as a secret: `whole` tells whether the place is a whole secret, and not a part of one. */
interface GivenSecret {
  readonly whole: boolean;
  readonly text: Json | undefined;
}

function secretOf(
  field: Pick<PatchField, 'secretEntries'> | undefined,
  { length, [2]: last }: readonly string[],
  value: Json | undefined,
): GivenSecret {
  const member = field?.secretEntries;
  if (member === undefined) return { whole: length === 1, text: value };
  if (member === true) return { whole: length === 2, text: value };
  if (length === 2) return { whole: true, text: isObject(value) ? value[member] : undefined };
  return { whole: length === 3 && last === member, text: value };
}

/** The answer depends neither on the stored secret nor on a guess, so that no client can test a guess. */
function secretRefusal(op: ParsedOperation['op'], { whole, text }: GivenSecret): Refusal | undefined {
  const writes = op === 'add' || op === 'replace' || op === 'remove';
  if (!writes || !whole) {
    return [
      'field-write-only',
      'names a secret, which a patch cannot read or compare; add, replace or remove the whole secret',
    ];
  }
  if (op === 'remove' || isSealed(text)) return undefined;
  return ['password-unacceptable', 'must be sealed first, as { "sealed": … }'];
}

/** Translates an operation on a secret to an operation on the settings. */
function secretOperation({ op, path, ...rest }: ParsedOperation, field: PatchField): ParsedOperation {
  return { ...rest, op: path.length === 1 && op === 'replace' ? 'add' : op, path: named(path, field) };
}

/** Takes the secret entries out of the value for a whole map. Stored secret entries that the value lacks stay. */
function withoutEntries(operation: ParsedOperation, secrets: readonly ParsedOperation[]): ParsedOperation {
  if (secrets.length === 0) return operation;
  const names = new Set(secrets.map(({ path: [, entry] }) => entry));
  const open = pick(operation.value as JsonObject, (entry) => !names.has(entry));
  return { ...operation, value: deepFreeze(open) };
}

/** Translates an operation on what clients see to operations on the settings. */
function openOperations(
  rules: PatchRules,
  { index, op, path, from, value }: ParsedOperation,
  field: PatchField,
): readonly ParsedOperation[] {
  const place = named(path, field);
  const whole = path.length === 1;
  if (whole && op === 'remove' && field.empty !== undefined) return [setting(index, place, field.empty)];
  if (from === undefined)
    return [{ index, op: whole && op === 'replace' ? 'add' : op, path: place, from, value }];
  const origin = rules.field(from[0] ?? '');
  const source = named(from, origin);
  // A field that is never absent becomes empty when its value is moved away, as when it is removed.
  if (op === 'move' && from.length === 1 && origin?.empty !== undefined && origin !== field)
    return [{ index, op: 'copy', path: place, from: source, value }, setting(index, source, origin.empty)];
  return [{ index, op, path: place, from: source, value }];
}

function setting(index: number, path: readonly string[], value: Json): ParsedOperation {
  return { index, op: 'add', path, from: undefined, value };
}

function named(tokens: readonly string[], field: PatchField | undefined): readonly string[] {
  return field === undefined ? tokens : [field.name, ...tokens.slice(1)];
}
