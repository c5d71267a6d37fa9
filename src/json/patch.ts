/**
 * JSON Patch (RFC 6902): strict, atomic, path-copying.
 *
 * Every operation does exactly what it says at places that exist, or the whole patch is refused. A document is never
 * changed: what a patch touches is copied, once, and all the rest is shared. rfc6902 does not apply patches here, because
 * it continues after a failed operation and writes to inherited members.
 */
import { finish, insertAt, removeAt, replaceAt, freezeOwned, type Draft } from './draft.ts';
import { copyJson } from './copy.ts';
import * as pointer from './pointer.ts';
import { isArray, isPlain, sameJson, sizeOf, type Json, type JsonLimits } from './value.ts';
import { fail, ok, problem, problemOf, type Fault, type ProblemCode, type Result } from '../problem.ts';

/**
 * One operation of a JSON Patch (RFC 6902 §4). `path` and `from` are JSON Pointers.
 *
 * @public
 */
export type Operation =
  | { readonly op: 'add'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'move'; readonly from: string; readonly path: string }
  | { readonly op: 'copy'; readonly from: string; readonly path: string }
  | { readonly op: 'test'; readonly path: string; readonly value: Json };

/**
 * What a patch may do. What is left out is as the administration interface has it.
 *
 * @public
 */
export interface PatchRules {
  /** How many operations a patch may have. Default 100. */
  readonly maxOperations?: number;
  /** How long a pointer may be, in UTF-16 units. Default 256. */
  readonly maxPointerLength?: number;
  /** How many tokens a pointer may have. Default 32. */
  readonly maxPointerTokens?: number;
  /** How large the document may be once something was put in: roughly its bytes as JSON. Default 1 MiB. */
  readonly maxResultBytes?: number;
  /**
   * What becomes of `__proto__`, `constructor` and `prototype` in pointers and as keys of values: `refuse`, the
   * default, refuses the patch; `plain` takes them for keys like any other. Neither ever reaches a prototype.
   */
  readonly reservedKeys?: 'refuse' | 'plain';
}

/** What else a patch of our own may do. @internal */
export interface OwnPatchRules extends PatchRules {
  /**
   * What becomes of an `add` of a member that is there: `replace`, the default, is RFC 6902 §4.1; `refuse` takes it
   * for a `test` that failed, because no operation can say that a member must be absent.
   */
  readonly present?: 'replace' | 'refuse';
}

/** An operation whose form is right. @internal */
export interface ParsedOperation {
  /** Position in the patch, from 0. */
  readonly index: number;
  readonly op: Operation['op'];
  /** Tokens of the place it is about. */
  readonly path: readonly string[];
  /** Tokens of the source of `move` and `copy`. */
  readonly from?: readonly string[] | undefined;
  /** Value of `add`, `replace` and `test`, deeply frozen. */
  readonly value?: Json | undefined;
}

/** The limits of the administration interface. @internal */
export const usualLimits = {
  maxOperations: 100,
  maxPointerLength: 256,
  maxPointerTokens: 32,
  maxResultBytes: 1_048_576,
};

/**
 * Applies a JSON Patch to a document: all of its operations, or none.
 *
 * It is refused when it is no patch (`patch-malformed`), a pointer breaks the grammar or a limit (`pointer-invalid`),
 * it is too long (`patch-too-many-operations`), uses a reserved key (`reserved-key`), names a place that is not there
 * (`patch-path-missing`), a `test` fails (`patch-test-failed`), the root is removed or something is moved into its own
 * child (`op-not-allowed`), and when the result gets too large (`patch-result-too-large`). The faults in the problem
 * name the operation. Members that RFC 6902 does not know are ignored.
 *
 * @param document - plain JSON; it is never changed
 * @param operations - list of {@link Operation}, unchecked; values in it are at most 500 deep
 * @param rules - limits that differ from the usual ones
 * @returns the new document, frozen where it is new. What the patch does not touch is the same object, and so is the
 *   whole document when nothing changes
 *
 * @example
 * ```ts
 * import { applyPatch } from 'gateway-admin-core/json';
 *
 * const service = { router: 'readwritesplit', servers: ['/servers/a'] };
 * const patched = applyPatch(service, [{ op: 'add', path: '/servers/-', value: '/servers/b' }]);
 * patched.ok && patched.value; // => { "router": "readwritesplit", "servers": ["/servers/a", "/servers/b"] }
 *
 * const refused = applyPatch(service, [{ op: 'remove', path: '/servers/1' }]);
 * refused.ok || refused.problem.code; // => "patch-path-missing"
 * ```
 *
 * RFC 6902 §3 to §5; docs/spec-choices.md 21, 28 and 29.
 *
 * @public
 */
export function applyPatch(document: Json, operations: unknown, rules: PatchRules = {}): Result<Json> {
  const parsed = copyOperations(operations, { depth: 500 }, rules);
  return parsed.ok ? applyOperations(document, parsed.value, rules) : parsed;
}

/**
 * Reads a patch document that is frozen JSON: the form of each operation, or every fault with its pointer into the
 * document.
 *
 * RFC 6902 §3 and §4; docs/spec-choices.md 28.
 *
 * @internal
 */
export function parseOperations(value: Json, rules: PatchRules = {}): Result<readonly ParsedOperation[]> {
  return readOperations(value, rules, (operand) => ok(operand as Json));
}

/**
 * Reads a patch that a program gives, as {@link parseOperations} does: any JavaScript value, of which only the values
 * of operations are copied.
 *
 * @param list - what was given
 * @param limits - how deep the values may be
 * @param rules - limits that differ from the usual ones
 * @internal
 */
export function copyOperations(
  list: unknown,
  limits: JsonLimits,
  rules: PatchRules = {},
): Result<readonly ParsedOperation[]> {
  return readOperations(list, rules, (operand) => copyJson(operand, limits));
}

/** What each operation has besides its path. */
const operands = {
  add: 'value',
  remove: 'nothing',
  replace: 'value',
  move: 'from',
  copy: 'from',
  test: 'value',
} as const satisfies Record<Operation['op'], string>;
const operandOf = new Map<unknown, 'value' | 'from' | 'nothing'>(Object.entries(operands));

type Admit = (value: unknown) => Result<Json>;

/** Where the reading of a patch stands. */
interface Reading {
  readonly limits: Limits;
  /** Turns a value into frozen JSON. */
  readonly admit: Admit;
  readonly faults: Fault[];
  /** Position of the operation that is read. */
  index: number;
}

type Limits = typeof usualLimits;

function limitsOf({
  maxOperations = usualLimits.maxOperations,
  maxPointerLength = usualLimits.maxPointerLength,
  maxPointerTokens = usualLimits.maxPointerTokens,
  maxResultBytes = usualLimits.maxResultBytes,
}: PatchRules): Limits {
  return { maxOperations, maxPointerLength, maxPointerTokens, maxResultBytes };
}

function readOperations(list: unknown, rules: PatchRules, admit: Admit): Result<readonly ParsedOperation[]> {
  const limits = limitsOf(rules);
  const { maxOperations } = limits;
  const reading: Reading = { limits, admit, faults: [], index: 0 };
  const operations: ParsedOperation[] = [];
  try {
    if (!Array.isArray(list) || !isPlain(list))
      return fail('patch-malformed', 'A JSON Patch is an array of operations.');
    const { length } = list;
    if (length > maxOperations) {
      const most = `at most ${String(maxOperations)} are accepted`;
      return fail('patch-too-many-operations', `The patch has ${String(length)} operations; ${most}.`);
    }
    for (; reading.index < length; reading.index += 1) {
      operations.push(readOperation(reading, list[reading.index]));
    }
  } catch {
    blame(reading, '', 'patch-malformed', 'cannot be read: a getter or a proxy throws');
  }
  if (reading.faults.length === 0) return ok(operations);
  const whole = problemOf(reading.faults);
  const mixed = reading.faults.some(({ code }) => code !== whole.code);
  return { ok: false, problem: mixed ? problem('patch-malformed', whole.detail, reading.faults) : whole };
}

/** What cannot be read becomes a fault; what stands in its place is never used. */
function readOperation(reading: Reading, item: unknown): ParsedOperation {
  const { index } = reading;
  if (typeof item !== 'object' || item === null || Array.isArray(item) || !isPlain(item)) {
    blame(reading, '', 'patch-malformed', 'must be a plain object');
    return { index, op: 'test', path: [] };
  }
  const given = { op: ownOp(item), path: ownPath(item), from: ownFrom(item), value: ownValue(item) };
  const op = given.op as Operation['op'];
  const operand = operandOf.get(op);
  if (operand === undefined)
    blame(reading, '/op', 'patch-malformed', `must be one of ${Object.keys(operands).join(', ')}`);
  const path = readPointer(reading, 'path', given.path);
  const from = operand === 'from' ? readPointer(reading, 'from', given.from) : undefined;
  const value = operand === 'value' ? readValue(reading, given.value) : undefined;
  return { index, op, path, from, value };
}

/** What may be an operation. */
type Given = Readonly<Partial<Record<'op' | 'path' | 'from' | 'value', unknown>>>;

// Own members only, each read once: what a getter says the second time may be something else. One function for each,
// because one for any name makes the reading of a patch take half as long again.
const ownOp = (item: Given): unknown => (Object.hasOwn(item, 'op') ? item.op : undefined);
const ownPath = (item: Given): unknown => (Object.hasOwn(item, 'path') ? item.path : undefined);
const ownFrom = (item: Given): unknown => (Object.hasOwn(item, 'from') ? item.from : undefined);
const ownValue = (item: Given): unknown => (Object.hasOwn(item, 'value') ? item.value : undefined);

function readPointer(reading: Reading, name: 'path' | 'from', text: unknown): readonly string[] {
  const { maxPointerLength: length, maxPointerTokens } = reading.limits;
  if (typeof text !== 'string') {
    blame(reading, `/${name}`, 'patch-malformed', text === undefined ? 'is required' : 'must be a text');
    return [];
  }
  const tokens = text.length > length ? undefined : pointer.recallPointer(text);
  if (tokens !== undefined && tokens.length <= maxPointerTokens) return tokens;
  const most = `at most ${String(length)} characters and ${String(maxPointerTokens)} tokens`;
  const rule = `must be "" or start with "/", have 0 or 1 after each "~", and ${most}`;
  blame(reading, `/${name}`, 'pointer-invalid', rule);
  return [];
}

function readValue(reading: Reading, value: unknown): Json | undefined {
  if (value === undefined) blame(reading, '/value', 'patch-malformed', 'is required');
  const admitted = value === undefined ? undefined : reading.admit(value);
  if (admitted === undefined || admitted.ok) return admitted?.value;
  for (const fault of admitted.problem.errors ?? []) {
    blame(reading, `/value${fault.pointer}`, fault.code, fault.detail);
  }
  return undefined;
}

function blame({ faults, index }: Reading, place: string, code: ProblemCode, detail: string): void {
  faults.push({ pointer: `/${String(index)}${place}`, operation: index, code, detail });
}

/**
 * Applies operations to a document, which is never changed: all of them, or none, and the fault of the one at fault.
 *
 * RFC 6902 §4 and §5; docs/spec-choices.md 28 and 29.
 *
 * @internal
 */
export function applyOperations(
  document: Json,
  operations: readonly ParsedOperation[],
  rules: OwnPatchRules = {},
): Result<Json> {
  const draft: Draft = { document, changes: 0, owned: [] };
  const run: Run = { draft, rules, size: 0 };
  for (const operation of operations) {
    const fault = reservedFault(run, operation) ?? perform(run, operation);
    if (fault !== undefined) return { ok: false, problem: problemOf([fault]) };
  }
  return ok(finish(draft, document, operations.at(-1)?.path[0] ?? ''));
}

/** Where the application of a patch stands. */
interface Run {
  readonly draft: Draft;
  readonly rules: OwnPatchRules;
  /** No less than the size of the document; 0 before it is measured. */
  size: number;
}

function reservedFault({ rules }: Run, operation: ParsedOperation): Fault | undefined {
  if (rules.reservedKeys === 'plain') return undefined;
  const { path, from, value = null } = operation;
  const tokens = from !== undefined && pointer.reservedToken(from) !== undefined ? from : path;
  const inside = pointer.reservedToken(tokens) === undefined ? pointer.hasReservedKey(value) : '';
  if (inside === undefined) return undefined;
  const place = inside === '' ? tokens : [...path, ...(pointer.parsePointer(inside) ?? [])];
  return faultOf(operation, 'reserved-key', '__proto__, constructor and prototype cannot be keys', place);
}

function perform(run: Run, operation: ParsedOperation): Fault | undefined {
  const { draft, rules } = run;
  const { op, path, from = path, value = null } = operation;
  switch (op) {
    case 'add':
      if (rules.present === 'refuse' && isMember(draft.document, path))
        return faultOf(
          operation,
          'patch-test-failed',
          'is there, where nothing was when this was to be added',
        );
      return settle(run, operation, value, insertAt(draft, path, value));
    case 'remove':
      if (path.length === 0) return faultOf(operation, 'op-not-allowed', 'the document cannot be removed');
      return removeAt(draft, path) ? undefined : missing(run, operation, path);
    case 'replace':
      return settle(run, operation, value, replaceAt(draft, path, value));
    case 'move':
      return move(run, operation, from);
    case 'copy': {
      // What will be in two places must not be changed in one of them.
      freezeOwned(draft);
      const source = pointer.valueAt(draft.document, from);
      if (source === undefined) return missing(run, operation, from);
      return settle(run, operation, source, insertAt(draft, path, source));
    }
    case 'test': {
      const found = pointer.valueAt(draft.document, path);
      if (found === undefined) return missing(run, operation, path);
      const same = sameJson(found, value);
      return same
        ? undefined
        : faultOf(operation, 'patch-test-failed', 'is not equal to the value of the test');
    }
  }
}

/** Whether a path leads to a member of an object, and not to an item of a list, which makes room. */
function isMember(document: Json, path: readonly string[]): boolean {
  const parent = pointer.valueAt(document, path, path.length - 1) ?? null;
  return !isArray(parent) && pointer.childOf(parent, path.at(-1) ?? '') !== undefined;
}

function move(run: Run, operation: ParsedOperation, from: readonly string[]): Fault | undefined {
  const { draft } = run;
  const { path } = operation;
  const within = from.every((token, depth) => token === path[depth]);
  if (within && path.length > from.length) return faultOf(operation, 'op-not-allowed', 'is in what is moved');
  const value = pointer.valueAt(draft.document, from);
  if (value === undefined) return missing(run, operation, from);
  if (within || (removeAt(draft, from) && insertAt(draft, path, value))) return undefined;
  return missing(run, operation, path);
}

/** Checks, once a value has been put in, whether there was a place for it and whether it is too much. */
function settle(run: Run, operation: ParsedOperation, value: Json, done: boolean): Fault | undefined {
  const { draft, rules, size } = run;
  if (!done) return missing(run, operation, operation.path);
  if (draft.changes === 0) return undefined;
  const { maxResultBytes: most = usualLimits.maxResultBytes } = rules;
  const sum = size + sizeOf(value, most) + (operation.path[operation.path.length - 1]?.length ?? 0) + 4;
  // What was taken out is not subtracted: a sum that is too high is only a reason to measure.
  run.size = size === 0 || sum > most ? sizeOf(draft.document, most) : sum;
  if (run.size <= most) return undefined;
  return faultOf(operation, 'patch-result-too-large', `makes the document larger than ${String(most)} bytes`);
}

function missing({ draft }: Run, operation: ParsedOperation, tokens: readonly string[]): Fault {
  return faultOf(operation, 'patch-path-missing', pointer.explainMiss(draft.document, tokens), tokens);
}

function faultOf(operation: ParsedOperation, code: ProblemCode, detail: string, at = operation.path): Fault {
  return { pointer: pointer.formatPointer(at), operation: operation.index, code, detail };
}
