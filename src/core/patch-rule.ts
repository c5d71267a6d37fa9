/**
 * Rules of patches: which operations a patch view allows, and their translation to operations on the settings.
 *
 * Every rule is checked before the first operation is applied, so the answer lists all faults at once.
 */
import { type Json, isArray, isContainer, type JsonContainer } from '../json/value.ts';
import type { ParsedOperation } from '../json/patch.ts';
import { formatPointer, hasReservedKey, reservedToken } from '../json/pointer.ts';
import type { Fault, ProblemCode } from '../problem.ts';
import { isSealed } from './secret.ts';

/** One modifiable field of a patch view. @internal */
export interface PatchField {
  /** Name in a patch. */
  readonly name: string;
  /** The collection that the links of the field belong to; left out for a field without links. */
  readonly links?: string;
  /** Name under which the sealed text is stored. Only for a secret, which a patch can write and never read. */
  readonly sealedAs?: string;
  /** The empty value, which a patch restores when it removes the field. Left out for a field that may be absent. */
  readonly empty?: Json;
}

/** The part of a patch view that decides which operations are allowed. @internal */
export interface PatchRules {
  /** The names of the modifiable fields, for people. */
  readonly names: string;
  /** The fields of the representation that a patch cannot change. A `test` may read them. */
  readonly readOnly: readonly string[];
  /** The modifiable field with this name or alias, which is the first token of a pointer. */
  field(this: void, token: string): PatchField | undefined;
}

/** The operations of a patch after the check. @internal */
export interface Prepared {
  /** The faults of the operations, at most one for each operation. */
  readonly faults: readonly Fault[];
  /**
   * The allowed operations, translated to operations on the settings: aliases and sealed values are replaced, and a
   * removed field gets its empty value.
   */
  readonly prepared: readonly ParsedOperation[];
  /** Whether a `test` reads a field that a patch cannot change. */
  readonly readsMore: boolean;
  /** Whether an operation writes a secret. */
  readonly writesSecret: boolean;
}

/** Checks each operation of a patch and translates the allowed ones. @internal */
export function prepareOperations(rules: PatchRules, operations: readonly ParsedOperation[]): Prepared {
  const faults: Fault[] = [];
  const prepared: ParsedOperation[] = [];
  let [readsMore, writesSecret] = [false, false];
  for (const operation of operations) {
    const field = rules.field(operation.path[0] ?? '');
    const fault = ruleFault(rules, operation, field);
    if (fault !== undefined) faults.push(fault);
    else if (field === undefined) {
      readsMore = true;
      prepared.push(operation);
    } else {
      writesSecret ||= field.sealedAs !== undefined;
      for (const each of translate(rules, operation, field)) prepared.push(each);
    }
  }
  return { faults, prepared, readsMore, writesSecret };
}

/** The fault of an operation, as far as it is known before the operation is applied. */
function ruleFault(
  rules: PatchRules,
  operation: ParsedOperation,
  field: PatchField | undefined,
): Fault | undefined {
  const { index, path, from, value } = operation;
  const refusal = placeRefusal(rules, operation, path, field);
  if (refusal !== undefined) return faultAt(operation, path, refusal);
  if (from !== undefined) {
    const refused = placeRefusal(rules, operation, from, rules.field(from[0] ?? ''));
    if (refused !== undefined) return faultAt(operation, from, refused);
  }
  if (value === undefined || !isContainer(value)) return undefined;
  if (isOversize(value)) return faultAt(operation, path, oversize);
  const inside = hasReservedKey(value);
  if (inside === undefined) return undefined;
  const detail = '__proto__, constructor and prototype are not allowed as keys';
  return { pointer: formatPointer(path) + inside, operation: index, code: 'reserved-key', detail };
}

type Refusal = readonly [code: ProblemCode, detail: string];

const oversize: Refusal = [
  'validation-failed',
  'must not contain an object of more than 1000 members or a list of more than 10000 items',
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
    if (members.length > (isArray(container) ? 10_000 : 1000)) return true;
    for (const member of members) if (isContainer(member)) seen.add(member);
  }
  return false;
}

function placeRefusal(
  { names, readOnly }: PatchRules,
  operation: ParsedOperation,
  tokens: readonly string[],
  field: PatchField | undefined,
): Refusal | undefined {
  const reserved = reservedToken(tokens);
  if (reserved !== undefined) return ['reserved-key', `"${reserved}" is not allowed as a key`];
  const [token] = tokens;
  if (token === undefined)
    return [
      'op-not-allowed',
      `must name a field, because a patch cannot change the whole resource; modifiable fields: ${names}`,
    ];
  if (field !== undefined) return field.sealedAs === undefined ? undefined : secretRefusal(operation, tokens);
  if (!readOnly.includes(token))
    return ['field-unknown', `names no field of this resource; modifiable fields: ${names}`];
  return operation.op === 'test'
    ? undefined
    : ['field-not-modifiable', `names a field that cannot be modified; modifiable fields: ${names}`];
}

/** The answer depends neither on the stored secret nor on a guess, so that no client can test a guess. */
function secretRefusal({ op, value }: ParsedOperation, tokens: readonly string[]): Refusal | undefined {
  const writes = op === 'add' || op === 'replace' || op === 'remove';
  if (!writes || tokens.length > 1) {
    return [
      'field-write-only',
      'names a secret, which a patch cannot read or compare; add, replace or remove the whole field',
    ];
  }
  if (op === 'remove' || isSealed(value)) return undefined;
  const form = 'a string of 1 to 1024 bytes in UTF-8 without control characters';
  return ['password-unacceptable', `must be ${form}; a program seals it first and gives { "sealed": … }`];
}

/** Translates an operation to operations on the settings. */
function translate(
  rules: PatchRules,
  { index, op, path, from, value }: ParsedOperation,
  field: PatchField,
): readonly ParsedOperation[] {
  const place = named(path, field);
  const whole = path.length === 1;
  if (whole && op === 'remove' && field.empty !== undefined) return [setting(index, place, field.empty)];
  const plain = field.sealedAs !== undefined && isSealed(value) ? value.sealed : value;
  if (from === undefined)
    return [{ index, op: whole && op === 'replace' ? 'add' : op, path: place, from, value: plain }];
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
  if (field === undefined || tokens[0] === field.name) return tokens;
  return [field.name, ...tokens.slice(1)];
}
