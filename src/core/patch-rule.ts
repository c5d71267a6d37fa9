/**
 * Rules of patches: which operations a patch view allows, and what they mean in terms of the settings.
 *
 * All of it is known before anything is tried, so that every fault is told at once.
 */
import { type Json, isArray, isContainer, type JsonContainer } from '../json/value.ts';
import type { ParsedOperation } from '../json/patch.ts';
import { formatPointer, hasReservedKey, reservedToken } from '../json/pointer.ts';
import type { Fault, ProblemCode } from '../problem.ts';
import { isSealed } from './secret.ts';

/** One modifiable field, as it is declared. @internal */
export interface FieldRules {
  /** Collection that its links must be of; left out for fields that hold no links. */
  readonly links?: string;
  /** Name under which the sealed text is kept. Only for a secret: such a field can be written and never read. */
  readonly sealedAs?: string;
  /** What the field is when it was never set; removing it makes it so again. Left out for one that is absent then. */
  readonly empty?: Json;
}

/** One modifiable field. */
interface PatchField extends FieldRules {
  readonly name: string;
}

/** What the rules have to know of a patch view. @internal */
export interface PatchRules {
  /** The names of the modifiable fields, for people. */
  readonly names: string;
  /** The fields of the representation that cannot be modified. A `test` may read them. */
  readonly readOnly: readonly string[];
  /** The field that a first token speaks of. */
  field(this: void, token: string): PatchField | undefined;
}

/** Operations that were looked at. @internal */
export interface Prepared {
  /** What can be said against them, at most one fault for each. */
  readonly faults: readonly Fault[];
  /** The others, in terms of the settings: without aliases, shorthands for what was never set, and sealed values. */
  readonly prepared: readonly ParsedOperation[];
  /** Whether a `test` reads a field that cannot be modified. */
  readonly readsMore: boolean;
  /** Whether one of them writes a secret. */
  readonly writesSecret: boolean;
}

/** Looks at each operation of a patch once. @internal */
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

/** What can be said against an operation before it is tried. */
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
  const detail = 'the value has a member with a reserved name';
  return { pointer: formatPointer(path) + inside, operation: index, code: 'reserved-key', detail };
}

type Refusal = readonly [code: ProblemCode, detail: string];

const oversize: Refusal = [
  'validation-failed',
  'holds a map of more than 1000 members or a list of more than 10000 items',
];

function faultAt({ index }: ParsedOperation, tokens: readonly string[], [code, detail]: Refusal): Fault {
  return { pointer: formatPointer(tokens), operation: index, code, detail };
}

/** Larger than any field may be: refused before it is copied for each operation that follows. */
function isOversize(value: JsonContainer): boolean {
  // A value of an in-process caller may hold one object many times over: looking once is enough.
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
  if (reserved !== undefined) return ['reserved-key', `"${reserved}" cannot be used as a key`];
  const [token] = tokens;
  if (token === undefined)
    return ['op-not-allowed', `a patch changes fields, not the whole resource: ${names}`];
  if (field !== undefined) return field.sealedAs === undefined ? undefined : secretRefusal(operation, tokens);
  if (!readOnly.includes(token))
    return ['field-unknown', `there is no such field; these can be modified: ${names}`];
  return operation.op === 'test'
    ? undefined
    : ['field-not-modifiable', `this field cannot be modified; these can: ${names}`];
}

/** The same answer whatever is there and whatever was guessed. */
function secretRefusal({ op, value }: ParsedOperation, tokens: readonly string[]): Refusal | undefined {
  const writes = op === 'add' || op === 'replace' || op === 'remove';
  if (!writes || tokens.length > 1) {
    return ['field-write-only', 'this field can be set and removed, and in no way read or compared'];
  }
  if (op === 'remove' || isSealed(value)) return undefined;
  const form = 'a text of 1 to 1024 bytes without control characters';
  return ['password-unacceptable', `must be ${form} (a program seals it first)`];
}

/** Writes an operation in terms of the settings: aliases, fields that were never set, sealed values. */
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
  // Moving away a list that is never absent leaves an empty one, as removing it does.
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
