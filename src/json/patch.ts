/**
 * JSON Patch (RFC 6902): strict and atomic.
 *
 * A patch applies as a whole, or is refused as a whole. The document is never changed: the result copies the containers
 * on the way to a changed place and shares the rest. The package rfc6902 does not apply patches here, because that
 * package continues after a failed operation and writes to inherited members.
 */
import { finish, insertAt, removeAt, replaceAt, freezeOwned, type Draft } from './draft.ts';
import { copyJson } from './copy.ts';
import * as pointer from './pointer.ts';
import {
  assertObject,
  isContainer,
  isDeepFrozen,
  isPlain,
  sameJson,
  sizeOf,
  type Json,
  type JsonContainer,
  type JsonLimits,
} from './value.ts';
import { fail, ok, problem, problemOf, type Fault, type ProblemCode, type Result } from '../problem.ts';

/**
 * One operation of a JSON Patch. `path` and `from` are JSON Pointers.
 *
 * @see RFC 6902 §4.
 *
 * @public
 */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/**
 * Limits of a patch. A member that is left out has the value of the administration interface.
 *
 * @public
 */
export interface PatchRules {
  /** The largest number of operations. Default 100. */
  readonly maxOperations?: number;
  /** The longest pointer, in UTF-16 code units. Default 1,024. */
  readonly maxPointerLength?: number;
  /** The largest number of tokens in a pointer. Default 32. */
  readonly maxPointerTokens?: number;
  /**
   * The largest document after an operation that adds, replaces, copies or moves a value: roughly its bytes as JSON. A
   * character counts as one byte, and an escape in a text of fewer than 100 characters is not counted. Default
   * 1,048,576 (1 MiB).
   */
  readonly maxResultBytes?: number;
  /**
   * How `__proto__`, `constructor` and `prototype` are treated in pointers and as keys of values. `refuse`, the
   * default, refuses the patch; `plain` treats them like any other key. Neither ever reaches a prototype.
   */
  readonly reservedKeys?: 'refuse' | 'plain';
}

/** An operation of valid form, with its pointers parsed. @internal */
export interface ParsedOperation {
  /** Zero-based position in the patch. */
  readonly index: number;
  readonly op: Operation['op'];
  /** Tokens of `path`. */
  readonly path: readonly string[];
  /** Tokens of `from`, for `move` and `copy`. */
  readonly from?: readonly string[] | undefined;
  /** Value of `add`, `replace` and `test`, deeply frozen. */
  readonly value?: Json | undefined;
}

/** The limits of the administration interface, which are the defaults of {@link PatchRules}. @internal */
export const usualLimits = {
  maxOperations: 100,
  maxPointerLength: 1024,
  maxPointerTokens: 32,
  maxResultBytes: 1_048_576,
};

/** Greatest nesting depth of the operations of {@link applyPatch}. */
const deepestOperations = 500;

/**
 * Applies a JSON Patch to a document: all operations, or none.
 *
 * Refused when
 * - the value is no patch (`patch-malformed`) or has too many operations (`patch-too-many-operations`),
 * - a pointer breaks the grammar or a limit (`pointer-invalid`),
 * - a pointer or a value uses a reserved key (`reserved-key`),
 * - a place does not exist (`patch-path-missing`),
 * - a `test` fails (`patch-test-failed`),
 * - an operation removes the root, or moves a value into its own child (`op-not-allowed`),
 * - the result is too large (`patch-result-too-large`).
 *
 * The faults of the problem name the operation. Members that RFC 6902 does not define are ignored.
 *
 * @param document - plain JSON; never changed
 * @param operations - list of {@link Operation}, not yet checked; values may be nested 500 levels deep
 * @param rules - limits that differ from the defaults
 * @returns the new document. New parts are frozen; parts that the patch does not change are the same objects. If the
 *   patch changes nothing, the result is the given document itself
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
 * @see RFC 6902 §3 to §5; docs/spec-choices.md 21, 28 and 29.
 *
 * @public
 */
export function applyPatch(document: Json, operations: unknown, rules: PatchRules = {}): Result<Json> {
  assertObject(rules, 'rules');
  const parsed = copyOperations(operations, { depth: deepestOperations }, rules);
  return parsed.ok ? applyOperations(document, parsed.value, rules) : parsed;
}

/**
 * Parses a patch document that is frozen JSON. Refused with every fault in the form of the operations; the pointers
 * lead into the patch document.
 *
 * @see RFC 6902 §3 and §4; docs/spec-choices.md 28.
 *
 * @internal
 */
export function parseOperations(value: Json, rules: PatchRules = {}): Result<readonly ParsedOperation[]> {
  return readOperations(value, rules, ok as Admit);
}

/**
 * Parses a patch from a program, as {@link parseOperations} does. The list may be any JavaScript value; the values of
 * its operations are copied.
 *
 * @param list - the patch, not yet checked
 * @param limits - how deep the values may be nested
 * @param rules - limits that differ from the defaults
 * @internal
 */
export function copyOperations(
  list: unknown,
  limits: JsonLimits,
  rules: PatchRules = {},
): Result<readonly ParsedOperation[]> {
  return readOperations(list, rules, (operand) => copyJson(operand, limits));
}

/** The member that each operation has besides its path. */
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

/** The progress of parsing a patch. */
interface Reading {
  readonly limits: Limits;
  /** Turns the value of an operation into frozen JSON. */
  readonly admit: Admit;
  readonly faults: Fault[];
  /** Position of the operation that is being parsed. */
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
      return fail(
        'patch-malformed',
        'A JSON Patch must be an array of operations, such as [{"op":"replace","path":"/a","value":1}].',
      );
    const { length } = list;
    if (length > maxOperations) {
      const most = `at most ${String(maxOperations)} are allowed. Send several patches`;
      return fail('patch-too-many-operations', `The patch has ${String(length)} operations; ${most}.`);
    }
    for (; reading.index < length; reading.index += 1) {
      operations.push(readOperation(reading, list[reading.index]));
    }
  } catch {
    blame(reading, '', 'patch-malformed', 'cannot be read: a getter or a proxy throws; give plain data');
  }
  if (reading.faults.length === 0) return ok(operations);
  const whole = problemOf(reading.faults);
  const mixed = reading.faults.some(({ code }) => code !== whole.code);
  return { ok: false, problem: mixed ? problem('patch-malformed', whole.detail, reading.faults) : whole };
}

/** Records a fault for each member that is not valid. An operation with a fault is returned too, and never applied. */
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

/** An object that may be an operation. */
type Given = Readonly<Partial<Record<'op' | 'path' | 'from' | 'value', unknown>>>;

// Reads own members only, each once, because a getter may give another value the second time. A single function for any
// name would make the parsing of a patch take half as long again.
const ownOp = (item: Given): unknown => (Object.hasOwn(item, 'op') ? item.op : undefined);
const ownPath = (item: Given): unknown => (Object.hasOwn(item, 'path') ? item.path : undefined);
const ownFrom = (item: Given): unknown => (Object.hasOwn(item, 'from') ? item.from : undefined);
const ownValue = (item: Given): unknown => (Object.hasOwn(item, 'value') ? item.value : undefined);

function readPointer(reading: Reading, name: 'path' | 'from', text: unknown): readonly string[] {
  const { maxPointerLength: length, maxPointerTokens } = reading.limits;
  if (typeof text !== 'string') {
    blame(reading, `/${name}`, 'patch-malformed', text === undefined ? 'is required' : 'must be a string');
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
 * Applies operations to a document: all of them, or none. Refused with the fault of the first operation that fails.
 *
 * @see RFC 6902 §4 and §5; docs/spec-choices.md 28 and 29.
 *
 * @internal
 */
export function applyOperations(
  document: Json,
  operations: readonly ParsedOperation[],
  rules: PatchRules = {},
): Result<Json> {
  const draft: Draft = { document, changes: 0, owned: [] };
  const run: Run = { draft, rules, before: document, measured: undefined, added: 0 };
  for (const operation of operations) {
    const fault = reservedFault(run, operation) ?? perform(run, operation);
    if (fault !== undefined) return { ok: false, problem: problemOf([fault]) };
  }
  const after = finish(draft, document, operations.at(-1)?.path[0] ?? '');
  if (run.measured !== undefined) passSizeOn(document, after, run.measured + run.added);
  return ok(after);
}

/**
 * Documents from this size on are measured once. For smaller ones, to remember the size takes longer than to measure.
 */
const largeSize = 16_384;

/** Upper bounds of the sizes of large documents, frozen to any depth. To measure one takes longer than to patch it. */
const sizes = new WeakMap<JsonContainer, number>();

/** An upper bound of the size of a document; some larger number than `most` if the document is larger. */
function knownSize(document: Json, most: number): number {
  const known = sizes.get(document as JsonContainer);
  if (known !== undefined) return known;
  const size = sizeOf(document, most);
  if (size >= largeSize && size <= most && isContainer(document) && isDeepFrozen(document))
    sizes.set(document, size);
  return size;
}

/**
 * Keeps the bound for the patched document, which is frozen as the document before was: the next patch starts there.
 */
function passSizeOn(before: Json, after: Json, size: number): void {
  if (size >= largeSize && isContainer(before) && isContainer(after) && sizes.has(before))
    sizes.set(after, size);
}

/** The progress of applying a patch. */
interface Run {
  readonly draft: Draft;
  readonly rules: PatchRules;
  /** The document before the patch. */
  readonly before: Json;
  /** An upper bound of the size of the document at the last measurement; `undefined` before the first one. */
  measured: number | undefined;
  /** An upper bound of what the operations have added since then. */
  added: number;
}

function reservedFault({ rules }: Run, operation: ParsedOperation): Fault | undefined {
  if (rules.reservedKeys === 'plain') return undefined;
  const { path, from, value = null } = operation;
  const tokens = from !== undefined && pointer.reservedToken(from) !== undefined ? from : path;
  const inside = pointer.reservedToken(tokens) === undefined ? pointer.hasReservedKey(value) : '';
  if (inside === undefined) return undefined;
  const place = inside === '' ? tokens : [...path, ...(pointer.parsePointer(inside) ?? [])];
  return faultOf(
    operation,
    'reserved-key',
    '__proto__, constructor and prototype are not allowed as keys',
    place,
  );
}

function perform(run: Run, operation: ParsedOperation): Fault | undefined {
  const { draft } = run;
  const { op, path, from = path, value = null } = operation;
  switch (op) {
    case 'add':
      return settle(run, operation, value, insertAt(draft, path, value));
    case 'remove':
      if (path.length === 0)
        return faultOf(
          operation,
          'op-not-allowed',
          'must not be empty: a patch cannot remove the whole document',
        );
      return removeAt(draft, path) ? undefined : missing(run, operation, path);
    case 'replace':
      return settle(run, operation, value, replaceAt(draft, path, value));
    case 'move':
      return move(run, operation, from);
    case 'copy': {
      // A value at two places must be frozen: otherwise a change of one place would change the other.
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
        : faultOf(
            operation,
            'patch-test-failed',
            'does not equal the value of the test; read the present value and adapt the patch',
          );
    }
  }
}

function move(run: Run, operation: ParsedOperation, from: readonly string[]): Fault | undefined {
  const { draft } = run;
  const { path } = operation;
  const within = from.every((token, depth) => token === path[depth]);
  if (within && path.length > from.length)
    return faultOf(operation, 'op-not-allowed', 'lies inside the value that the operation moves');
  const value = pointer.valueAt(draft.document, from);
  if (value === undefined) return missing(run, operation, from);
  if (within) return undefined;
  const done = removeAt(draft, from) && insertAt(draft, path, value);
  // The value is counted already. The new name may be longer than the old one.
  return settle(run, operation, '', done);
}

/** Checks an added value: did its place exist (`done`), and is the document still small enough? */
function settle(run: Run, operation: ParsedOperation, value: Json, done: boolean): Fault | undefined {
  const { draft, rules } = run;
  const { path } = operation;
  if (!done) return missing(run, operation, path);
  if (draft.changes === 0) return undefined;
  const { maxResultBytes: most = usualLimits.maxResultBytes } = rules;
  run.measured ??= knownSize(run.before, most);
  // With the name of the value, a colon and a comma. In a list, there is only the comma.
  run.added += sizeOf(value, most) + sizeOf(path[path.length - 1] ?? '', most) + 2;
  // Removed values are not subtracted: a sum that is too high only leads to a new measurement.
  if (run.measured + run.added <= most) return undefined;
  run.measured = sizeOf(draft.document, most);
  run.added = 0;
  if (run.measured <= most) return undefined;
  return faultOf(
    operation,
    'patch-result-too-large',
    `would make the document larger than ${String(most)} bytes`,
  );
}

function missing({ draft }: Run, operation: ParsedOperation, tokens: readonly string[]): Fault {
  return faultOf(operation, 'patch-path-missing', pointer.explainMiss(draft.document, tokens), tokens);
}

function faultOf(operation: ParsedOperation, code: ProblemCode, detail: string, at = operation.path): Fault {
  return { pointer: pointer.formatPointer(at), operation: operation.index, code, detail };
}
