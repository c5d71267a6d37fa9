/**
 * Patch views: what a JSON Patch sees of a resource, and which parts of it may change.
 *
 * A patch view is data. The rules that follow from it are the same for every resource: no operation beyond the
 * modifiable fields, none that reads a secret, one validation of the whole result, all faults at once.
 */
import * as z from 'zod/mini';

import type { Json } from './json.ts';
import { applyOperations, diff, type Operation, type ParsedOperation } from './patch.ts';
import { hasReservedKey, parsePointer, reservedToken, sameJson } from './pointer.ts';
import { ok, problemOf, type Fault, type ProblemCode, type Result } from './problem.ts';
import { isTextList, resolveLinks, type FindName } from './reference.ts';
import type { Protector } from './route.ts';
import { isSealed, passwordFault } from './secret.ts';
import { parseShape } from './shape.ts';

/** A JSON object. @internal */
export type JsonObject = Readonly<Record<string, Json>>;

/** Shape of a JSON Patch document (RFC 6902 §3), for documentation. The strict check is `parseOperations`. @internal */
export const patchShape = z.array(
  z.looseObject({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: z.string(),
    from: z.optional(z.string()),
    value: z.optional(z.unknown()),
  }),
);

/** Whether a value is a JSON object. @internal */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One modifiable field of a patch view. @internal */
export interface PatchField {
  /** Collection that its links must be of; left out for fields that hold no links. */
  readonly links?: string;
  /** Name under which the sealed text is kept. Only for a secret: such a field can be written and never read. */
  readonly sealedAs?: string;
  /** A list or map that is empty when it was never set, so that removing it empties it. */
  readonly empty?: Json;
}

/** What a JSON Patch sees of a resource. @internal */
export interface PatchView<T extends object> {
  /** The modifiable fields. */
  readonly fields: Readonly<Record<string, PatchField>>;
  /** The fields of the representation that cannot be modified. A `test` may read them. */
  readonly readOnly: readonly string[];
  /** Other spellings of a first token. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Shape of all settings together. */
  readonly shape: z.core.$ZodType<T>;
  /** Turns a shorthand of this resource into what it stands for; `settings` is the state the operation meets. */
  readonly expand?: (operation: ParsedOperation, settings: JsonObject) => ParsedOperation;
  /** Rules beyond the shape, checked on the whole result. */
  readonly check?: (before: T, after: T) => readonly Fault[];
}

/** What a patch comes to. @internal */
export interface Patched<T> {
  /** The settings afterwards; the same object when nothing changes. */
  readonly after: T;
  /** The operations that are needed to get there; empty when a secret was only written again. */
  readonly operations: readonly Operation[];
}

/**
 * Applies a patch to the settings of a resource, under the rules of its view.
 *
 * @param view - the view
 * @param shown - the fields of the representation that cannot be modified; a `test` may read them
 * @param before - the settings as they are
 * @param operations - the parsed operations
 * @param find - look-up of names for links
 * @returns the settings afterwards, or every fault with its operation
 * @internal
 */
export function patchSettings<T extends object>(
  view: PatchView<T>,
  shown: JsonObject,
  before: T,
  operations: readonly ParsedOperation[],
  find: FindName,
): Result<Patched<T>> {
  const faults = operations.flatMap((operation) => ruleFaults(view, operation));
  if (faults.length > 0) return { ok: false, problem: problemOf(faults) };
  const translated = operations.map((operation) => translate(view, operation));
  const applied = apply(view, { ...shown, ...emptyFields(view), ...(before as JsonObject) }, translated);
  if (!applied.ok) return applied;
  const after = validate(view, applied.value, before, translated, find);
  if (!after.ok) return after;
  return ok(
    outcome(
      before,
      after.value,
      operations.some((operation) => secretOf(view, operation.path) !== undefined),
    ),
  );
}

/**
 * Puts sealed texts in the place of the secrets of a patch. A value that cannot be a secret is replaced too, by one
 * that the rules refuse: nothing that a client sends can pass for sealed text, and nothing unsealed goes on.
 *
 * @internal
 */
export async function sealOperations<T extends object>(
  view: PatchView<T>,
  operations: readonly ParsedOperation[],
  protector: Pick<Protector, 'seal'>,
): Promise<readonly ParsedOperation[]> {
  return Promise.all(
    operations.map(async (operation) => {
      if (secretOf(view, operation.path) === undefined || operation.value === undefined) return operation;
      const { value } = operation;
      if (typeof value !== 'string' || passwordFault(value) !== undefined)
        return { ...operation, value: null };
      return { ...operation, value: { sealed: await protector.seal(value) } };
    }),
  );
}

function outcome<T extends object>(before: T, after: T, secretWritten: boolean): Patched<T> {
  if (sameJson(before as JsonObject, after as JsonObject)) {
    // Writing a secret always counts as a change, so that a no-op cannot confirm a guess.
    return { after: secretWritten ? after : before, operations: [] };
  }
  return { after, operations: diff(before as JsonObject, after as JsonObject) };
}

function apply<T extends object>(
  view: PatchView<T>,
  document: JsonObject,
  operations: readonly ParsedOperation[],
): Result<JsonObject> {
  if (view.expand === undefined) return applyOperations(document, operations) as Result<JsonObject>;
  let current = document;
  for (const operation of operations) {
    const applied = applyOperations(current, [view.expand(operation, current)]);
    if (!applied.ok) return applied;
    current = applied.value as JsonObject;
  }
  return ok(current);
}

/** What can be said against an operation before it is tried. */
function ruleFaults<T extends object>(view: PatchView<T>, operation: ParsedOperation): readonly Fault[] {
  const fault = (pointer: string, code: ProblemCode, detail: string): readonly Fault[] => [
    { pointer, operation: operation.index, code, detail },
  ];
  for (const tokens of operation.from === undefined ? [operation.path] : [operation.path, operation.from]) {
    const pointer = textOf(tokens);
    const reserved = reservedToken(tokens);
    if (reserved !== undefined)
      return fault(pointer, 'reserved-key', `"${reserved}" cannot be used as a key`);
    const refusal = fieldRefusal(view, operation, tokens);
    if (refusal !== undefined) return fault(pointer, ...refusal);
  }
  const inside = operation.value === undefined ? undefined : hasReservedKey(operation.value);
  if (inside === undefined) return [];
  return fault(
    textOf(operation.path) + inside,
    'reserved-key',
    'the value has a member with a reserved name',
  );
}

function fieldRefusal<T extends object>(
  view: PatchView<T>,
  operation: ParsedOperation,
  tokens: readonly string[],
): [ProblemCode, string] | undefined {
  const names = Object.keys(view.fields).join(', ');
  const [token] = tokens;
  if (token === undefined)
    return ['op-not-allowed', `a patch changes fields, not the whole resource: ${names}`];
  const field = fieldOf(view, token);
  if (field === undefined) {
    if (!view.readOnly.includes(token))
      return ['field-unknown', `there is no such field; these can be modified: ${names}`];
    if (operation.op === 'test') return undefined;
    return ['field-not-modifiable', `this field cannot be modified; these can: ${names}`];
  }
  return field.sealedAs === undefined ? undefined : secretRefusal(operation, tokens);
}

/** The same answer whatever is there and whatever was guessed. */
function secretRefusal(
  operation: ParsedOperation,
  tokens: readonly string[],
): [ProblemCode, string] | undefined {
  const writes = operation.op === 'add' || operation.op === 'replace' || operation.op === 'remove';
  if (!writes || tokens.length > 1) {
    return ['field-write-only', 'this field can be set and removed, and in no way read or compared'];
  }
  if (operation.op === 'remove' || isSealed(operation.value)) return undefined;
  return [
    'password-unacceptable',
    'must be a text of 1 to 1024 bytes without control characters (a program seals it first)',
  ];
}

/** Writes an operation in the terms of the stored settings. */
function translate<T extends object>(view: PatchView<T>, operation: ParsedOperation): ParsedOperation {
  const path = storedTokens(view, operation.path);
  const from = operation.from === undefined ? {} : { from: storedTokens(view, operation.from) };
  const [token = ''] = operation.path;
  const field = fieldOf(view, token);
  const whole = operation.path.length === 1 && field !== undefined;
  if (whole && operation.op === 'remove' && field.empty !== undefined) {
    return { ...operation, op: 'add', path, value: field.empty };
  }
  const op = whole && operation.op === 'replace' ? 'add' : operation.op;
  if (field?.sealedAs !== undefined && isSealed(operation.value)) {
    return { ...operation, op, path, value: operation.value.sealed };
  }
  return { ...operation, ...from, op, path };
}

function storedTokens<T extends object>(view: PatchView<T>, tokens: readonly string[]): readonly string[] {
  const [token, ...rest] = tokens;
  if (token === undefined) return tokens;
  const name = aliasOf(view, token);
  return [fieldOf(view, name)?.sealedAs ?? name, ...rest];
}

function validate<T extends object>(
  view: PatchView<T>,
  document: JsonObject,
  before: T,
  operations: readonly ParsedOperation[],
  find: FindName,
): Result<T> {
  const settings = Object.fromEntries(
    storedNames(view).flatMap((name) => (Object.hasOwn(document, name) ? [[name, document[name]]] : [])),
  ) as JsonObject;
  const parsed = parseShape(view.shape, settings);
  const resolved = resolveFields(view, settings, find);
  const after = parsed.ok ? { ...parsed.value, ...resolved.links } : before;
  const broken = parsed.ok ? (view.check?.(before, after) ?? []) : parsed.faults;
  const faults = [...broken, ...resolved.faults].map((fault) => locate(fault, operations));
  return faults.length > 0 ? { ok: false, problem: problemOf(faults) } : ok(after);
}

/** Resolves the links as they were written, so that a fault of another field does not hide one of a link. */
function resolveFields<T extends object>(
  view: PatchView<T>,
  settings: JsonObject,
  find: FindName,
): { readonly links: JsonObject; readonly faults: readonly Fault[] } {
  const links: Record<string, readonly string[]> = {};
  const faults: Fault[] = [];
  for (const [name, { links: collection }] of Object.entries(view.fields)) {
    const written = settings[name];
    if (collection === undefined || !isTextList(written)) continue;
    const resolved = resolveLinks(written, collection, find, [name]);
    links[name] = resolved.links;
    faults.push(...resolved.faults);
  }
  return { links, faults };
}

/** Adds the last operation that wrote at, above or below the faulty place. */
function locate(fault: Fault, operations: readonly ParsedOperation[]): Fault {
  const place = parsePointer(fault.pointer) ?? [];
  const writer = operations.findLast(
    ({ op, path }) =>
      op !== 'test' &&
      path.every((token, depth) => depth >= place.length || token === place[depth] || token === '-'),
  );
  return writer === undefined ? fault : { ...fault, operation: writer.index };
}

function emptyFields<T extends object>(view: PatchView<T>): JsonObject {
  return Object.fromEntries(
    Object.entries(view.fields).flatMap(([name, { empty }]) => (empty === undefined ? [] : [[name, empty]])),
  );
}

function storedNames<T extends object>(view: PatchView<T>): readonly string[] {
  return Object.entries(view.fields).map(([name, { sealedAs }]) => sealedAs ?? name);
}

function fieldOf<T extends object>(view: PatchView<T>, token: string): PatchField | undefined {
  const name = aliasOf(view, token);
  return Object.hasOwn(view.fields, name) ? view.fields[name] : undefined;
}

function aliasOf<T extends object>(view: PatchView<T>, token: string): string {
  return (Object.hasOwn(view.aliases, token) ? view.aliases[token] : undefined) ?? token;
}

function secretOf<T extends object>(view: PatchView<T>, tokens: readonly string[]): string | undefined {
  const [token = ''] = tokens;
  return fieldOf(view, token)?.sealedAs;
}

function textOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
