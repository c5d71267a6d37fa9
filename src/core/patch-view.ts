/**
 * Patch views: what a JSON Patch sees of a resource, and which parts of it may change.
 *
 * A patch view is data. The rules that follow from it are the same for every resource: no operation beyond the
 * modifiable fields, none that reads a secret, one validation of the whole result, all faults at once.
 */
import * as z from 'zod/mini';

import { deepFreeze, isObject, type Json, type JsonObject, sameJson } from '../json/value.ts';
import { difference, type Difference } from '../json/diff.ts';
import { applyOperations, type OwnPatchRules, type ParsedOperation } from '../json/patch.ts';
import { prepareOperations, type FieldRules, type PatchRules } from './patch-rule.ts';
import { formatPointer, parsePointer } from '../json/pointer.ts';
import { fail, ok, problemOf, type Fault, type Result } from '../problem.ts';
import { isTextList, resolveLinks, type FindName } from './reference.ts';
import { type SecretPorts, passwordFault } from './secret.ts';
import { parseShape } from './shape.ts';

/** Shape of a JSON Patch document (RFC 6902 §3), for documentation. The strict check is `parseOperations`. @internal */
export const patchShape = z.array(
  z.looseObject({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: z.string(),
    from: z.optional(z.string()),
    value: z.optional(z.unknown()),
  }),
);

/** What a JSON Patch sees of a resource, as it is declared. @internal */
export interface PatchViewRules<T extends object> {
  /** The modifiable fields. */
  readonly fields: Readonly<Record<string, FieldRules>>;
  readonly readOnly: PatchRules['readOnly'];
  /** Other spellings of a first token. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Shape of all settings together, with a secret under the name of its field. It must not transform. */
  readonly shape: z.core.$ZodType<T>;
  /** Turns a shorthand of this resource into what it stands for; `settings` is the state the operation meets. */
  readonly expand?: (operation: ParsedOperation, settings: JsonObject) => ParsedOperation;
  /** Brings valid settings into the form in which they are kept. */
  readonly normalize?: (settings: T) => T;
  /** Rules beyond the shape, checked on the whole result. */
  readonly check?: (before: T, after: T) => readonly Fault[];
}

/** What a JSON Patch sees of a resource. @internal */
export interface PatchView<T extends object> extends PatchViewRules<T>, PatchRules {
  /** Fields with links. */
  readonly linked: readonly (readonly [name: string, collection: string])[];
  /** Fields that are never absent, with what they are when they were never set. */
  readonly emptied: readonly (readonly [name: string, empty: Json])[];
  /** The secret, if there is one: its name for clients and its name in the settings. */
  readonly secret: { readonly name: string; readonly sealedAs: string } | undefined;
}

/** Declares a patch view. @internal */
export function definePatchView<T extends object>(rules: PatchViewRules<T>): PatchView<T> {
  // Frozen, because what a field is when it was never set becomes a part of settings.
  const fields = Object.entries(rules.fields).map(([name, field]) => deepFreeze({ ...field, name }));
  const byToken = new Map(fields.map((field) => [field.name, field]));
  for (const [alias, name] of Object.entries(rules.aliases ?? {})) {
    const field = byToken.get(name);
    if (field !== undefined) byToken.set(alias, field);
  }
  const secret = fields.find(({ sealedAs }) => sealedAs !== undefined);
  return Object.freeze({
    ...rules,
    shape: z.compile(rules.shape),
    names: fields.map(({ name }) => name).join(', '),
    field: (token: string) => byToken.get(token),
    linked: fields.flatMap(({ name, links }) => (links === undefined ? [] : [[name, links] as const])),
    emptied: fields.flatMap(({ name, empty }) => (empty === undefined ? [] : [[name, empty] as const])),
    secret: secret?.sealedAs === undefined ? undefined : { name: secret.name, sealedAs: secret.sealedAs },
  });
}

/** What a patch comes to: how the settings differ, which is in nothing when a secret was only written again. @internal */
export interface Patched<T> extends Difference {
  /** The settings afterwards; the same object when nothing changes. */
  readonly after: T;
}

/**
 * Applies a patch to the settings of a resource, under the rules of its view.
 *
 * @param view - the view
 * @param shown - gives the representation; a `test` may read its fields
 * @param before - the settings as they are
 * @param operations - the parsed operations
 * @param find - look-up of names for links
 * @returns the settings afterwards, or every fault with its operation
 * @internal
 */
export function patchSettings<T extends object>(
  view: PatchView<T>,
  shown: () => JsonObject,
  before: T,
  operations: readonly ParsedOperation[],
  find: FindName,
): Result<Patched<T>> {
  const { faults, prepared, readsMore, writesSecret } = prepareOperations(view, operations);
  if (faults.length > 0) return { ok: false, problem: problemOf(faults) };
  const old = toClient(view, before);
  const applied = apply(view, readsMore ? { ...shown(), ...old } : old, prepared);
  if (!applied.ok) return applied;
  const result = withEmpty(view, readsMore ? withoutShown(view, applied.value) : applied.value);
  const patched = conclude(view, { before, old, result, operations: prepared }, find, view.check);
  // Writing a secret always counts as a change, so that a no-op cannot confirm a guess.
  if (!writesSecret || !patched.ok || patched.value.after !== before) return patched;
  return ok({ ...patched.value, after: Object.freeze({ ...before }) });
}

/** The inverse goes where the change was, however large that is, and puts nothing where something is by now. */
const revertRules: OwnPatchRules = { maxResultBytes: Infinity, present: 'refuse' };

/**
 * Applies the inverse of an update to the settings of a resource. The result has to be valid as that of a patch has;
 * what a client may not patch or read is no matter, because it had been so before.
 *
 * @param view - the view
 * @param before - the settings as they are
 * @param operations - the parsed inverse, in the terms of the settings
 * @param find - look-up of names for links
 * @returns the settings afterwards, or what stands in the way: a guard that fails, a place that is gone
 * @internal
 */
export function revertSettings<T extends object>(
  view: PatchView<T>,
  before: T,
  operations: readonly ParsedOperation[],
  find: FindName,
): Result<Patched<T>> {
  const old = toClient(view, before);
  const renamed = operations.map((operation) => withClientName(view, operation));
  const applied = applyOperations(old, renamed, revertRules);
  if (!applied.ok) return applied;
  const result = applied.value;
  if (!isObject(result)) return fail('op-not-allowed', 'An inverse changes fields, not the whole resource.');
  return conclude(view, { before, old, result, operations: renamed }, find, undefined);
}

/**
 * Puts sealed texts in the place of the secrets of a patch. A value that cannot be a secret is replaced too, by one
 * that the rules refuse: nothing that a client sends can pass for sealed text, and nothing unsealed goes on.
 *
 * @returns the operations; refused with `secret-not-storable` when a secret could not be read after a restart
 * @internal
 */
export async function sealOperations<T extends object>(
  view: PatchView<T>,
  operations: readonly ParsedOperation[],
  secrets: Pick<SecretPorts, 'seal'>,
): Promise<Result<readonly ParsedOperation[]>> {
  const faults: Fault[] = [];
  const sealing = operations.map(async (operation, index) => {
    const { value } = operation;
    if (value === undefined || !isSecret(view, operation)) return operation;
    if (typeof value !== 'string' || passwordFault(value) !== undefined) return { ...operation, value: null };
    const sealed = await secrets.seal(value);
    if (sealed !== undefined) return { ...operation, value: { sealed } };
    // A `test` is refused by the rules: whether a secret can be stored is none of its business.
    if (operation.op !== 'test') faults.push(notStorable(operation, index));
    return { ...operation, value: null };
  });
  const sealed = await Promise.all(sealing);
  return faults.length === 0 ? ok(sealed) : { ok: false, problem: problemOf(faults) };
}

function notStorable({ path }: ParsedOperation, operation: number): Fault {
  const detail =
    'cannot be stored: the key that seals secrets ends with the process of the gateway, and the configuration ' +
    'does not. Give the gateway a key for its secrets first';
  return { pointer: formatPointer(path), operation, code: 'secret-not-storable', detail };
}

function isSecret<T extends object>(
  { field }: PatchView<T>,
  { path: [token = ''] }: ParsedOperation,
): boolean {
  return field(token)?.sealedAs !== undefined;
}

/** The settings with their secret under the name that clients know, so that every fault speaks of that name. */
function toClient<T extends object>({ secret }: PatchView<T>, settings: T): JsonObject {
  return secret === undefined
    ? (settings as JsonObject)
    : renamed(settings as JsonObject, secret.sealedAs, secret.name);
}

function toStored<T extends object>({ secret }: PatchView<T>, settings: T): T {
  if (secret === undefined) return settings;
  return renamed(settings as JsonObject, secret.name, secret.sealedAs) as T;
}

function renamed(settings: JsonObject, from: string, to: string): JsonObject {
  if (!Object.hasOwn(settings, from)) return settings;
  const copy: Record<string, Json> = {};
  // Not by taking the member out and spreading the rest, which takes five times as long.
  for (const [name, value] of Object.entries(settings)) copy[name === from ? to : name] = value;
  return Object.freeze(copy);
}

function withClientName<T extends object>(
  { secret }: PatchView<T>,
  operation: ParsedOperation,
): ParsedOperation {
  const [token, ...rest] = operation.path;
  if (secret === undefined || token !== secret.sealedAs) return operation;
  return { ...operation, path: [secret.name, ...rest] };
}

function withoutShown<T extends object>(view: PatchView<T>, document: JsonObject): JsonObject {
  return Object.freeze(
    Object.fromEntries(Object.entries(document).filter(([name]) => view.field(name)?.name === name)),
  );
}

/** A list or map that was moved away is empty, not absent. */
function withEmpty<T extends object>({ emptied }: PatchView<T>, settings: JsonObject): JsonObject {
  if (emptied.every(([name]) => Object.hasOwn(settings, name))) return settings;
  return Object.freeze({ ...Object.fromEntries(emptied), ...settings });
}

const plainKeys: OwnPatchRules = { reservedKeys: 'plain' };

function apply<T extends object>(
  { expand }: PatchView<T>,
  document: JsonObject,
  operations: readonly ParsedOperation[],
): Result<JsonObject> {
  // The rules of the view have seen to reserved keys; only a shorthand can still turn a value into one.
  if (expand === undefined) return applyOperations(document, operations, plainKeys) as Result<JsonObject>;
  let current = document;
  for (const operation of operations) {
    // What a shorthand stands for is new, and becomes a part of the settings.
    const applied = applyOperations(current, [deepFreeze(expand(operation, current))]);
    if (!applied.ok) return applied;
    current = applied.value as JsonObject;
  }
  return ok(current);
}

/** What a patch did, before it is known whether the result is valid. */
interface Change<T> {
  /** The settings as they are. */
  readonly before: T;
  /** The same, as clients know them. */
  readonly old: JsonObject;
  /** What the operations made of them. */
  readonly result: JsonObject;
  /** The operations, for the faults. */
  readonly operations: readonly ParsedOperation[];
}

const unchanged: Difference = { operations: [], inverse: [] };

/** Validates what a patch made of the settings, and says what differs. */
function conclude<T extends object>(
  view: PatchView<T>,
  change: Change<T>,
  find: FindName,
  check: PatchView<T>['check'],
): Result<Patched<T>> {
  const { before, old, result } = change;
  if (result === old) return ok({ after: before, ...unchanged });
  const valid = validate(view, change, find, check);
  if (!valid.ok) return valid;
  const after = toStored(view, valid.value);
  const { operations, inverse } = difference(before as JsonObject, after as JsonObject);
  return ok({ after: operations.length === 0 ? before : after, operations, inverse });
}

function validate<T extends object>(
  view: PatchView<T>,
  { before, old, result, operations }: Change<T>,
  find: FindName,
  check: PatchView<T>['check'],
): Result<T> {
  const parsed = parseShape(view.shape, result);
  const resolved = resolveFields(view, result, old, find);
  const canonical = resolved.settings as unknown as T;
  const after = parsed.ok ? (view.normalize?.(canonical) ?? canonical) : before;
  const broken = parsed.ok ? (check?.(before, after) ?? []) : parsed.faults;
  if (broken.length === 0 && resolved.faults.length === 0) return ok(deepFreeze(after));
  const faults = [...broken, ...resolved.faults].map((fault) => locate(fault, operations));
  return { ok: false, problem: problemOf(faults) };
}

/**
 * Resolves the links as they were written, so that a fault of another field does not hide one of a link. Fields that
 * the patch did not touch are the same objects as before, and resolved already.
 */
function resolveFields<T extends object>(
  view: PatchView<T>,
  written: JsonObject,
  old: JsonObject,
  find: FindName,
): { readonly settings: JsonObject; readonly faults: readonly Fault[] } {
  let settings = written;
  const faults: Fault[] = [];
  for (const [name, collection] of view.linked) {
    const [before, now] = [old[name], written[name]];
    if (now === before || !isTextList(now)) continue;
    // What the settings had before is canonical, and nothing can be removed that a link names.
    const known = before as readonly string[];
    const resolved = resolveLinks(now, collection, find, [name], known);
    for (const fault of resolved.faults) faults.push(fault);
    if (!sameJson(now, resolved.links)) settings = { ...settings, [name]: resolved.links };
  }
  return { settings, faults };
}

/** Adds the last operation that wrote, or took away, at, above or below the faulty place. */
function locate(fault: Fault, operations: readonly ParsedOperation[]): Fault {
  const place = parsePointer(fault.pointer) ?? [];
  const writer = operations.findLast(
    ({ op, path, from }) =>
      op !== 'test' && (isNear(path, place) || (op === 'move' && from !== undefined && isNear(from, place))),
  );
  return writer === undefined ? fault : { ...fault, operation: writer.index };
}

function isNear(path: readonly string[], place: readonly string[]): boolean {
  return path.every((token, depth) => depth >= place.length || token === place[depth] || token === '-');
}
