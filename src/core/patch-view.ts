/**
 * Patch views: the fields of a resource that a JSON Patch can read, and the fields that it can change.
 *
 * A patch view is data. The rules are the same for every resource: an operation changes modifiable fields only, no
 * operation reads a secret, the whole result is validated once, and the answer lists all faults.
 */
import * as z from 'zod/mini';

import { deepFreeze, isObject, pick, type Json, type JsonObject, sameJson } from '../json/value.ts';
import { applyOperations, type ParsedOperation } from '../json/patch.ts';
import { prepareOperations, type PatchField, type PatchRules, type SealedOperation } from './patch-rule.ts';
import { parsePointer } from '../json/pointer.ts';
import { fail, faultsOf, ok, problemOf, type Fault, type Problem, type Result } from '../problem.ts';
import { isShown, objectOf, openEntries, type Field, type Fields } from './field.ts';
import { isTextList, resolveLinks, type FindName } from './reference.ts';
import { mapEntries, misplacedFaults } from './secret-entry.ts';
import { parseShape } from './shape.ts';

/** The parts of a patch view that do not follow from the fields of the kind. @internal */
export interface PatchHooks<T extends object> {
  /** Replaces a shorthand for a value by the full value. Gives back an operation without a shorthand as it is. */
  readonly complete?: (operation: ParsedOperation) => ParsedOperation;
  /**
   * Replaces a shorthand that depends on the present settings by the full operation; `settings` is the state before the
   * operation, with the stored names.
   */
  readonly expand?: (operation: ParsedOperation, settings: JsonObject) => ParsedOperation;
  /**
   * Checks rules that shapes cannot express, on the whole result, which can be wrong in other ways. The operations and
   * the pointers of the faults have the stored names.
   */
  readonly check?: (before: T, after: JsonObject, operations: readonly ParsedOperation[]) => readonly Fault[];
}

/** The fields of a resource as a JSON Patch sees them. @internal */
export interface PatchView<T extends object> extends PatchHooks<T>, PatchRules {
  /** Shape of all settings together. The shape must not transform values. */
  readonly shape: z.core.$ZodType<T>;
  /** Shape of the settings that clients see, without secrets. */
  readonly open: z.core.$ZodType;
  /** The names of the settings that no patch can change. */
  readonly fixed: ReadonlySet<string>;
  /** The fields with links, each with its collection. */
  readonly linked: readonly (readonly [name: string, collection: string])[];
  /** The modifiable fields that are secret as a whole, or have secret entries. */
  readonly secretive: readonly PatchField[];
  /** The fields whose stored form differs, each with the function that gives the stored form. */
  readonly normalized: readonly (readonly [name: string, normalize: (value: never) => unknown])[];
}

/**
 * Creates the patch view of a kind from its fields.
 *
 * @internal
 */
export function patchViewOf<T extends object>(fields: Fields, hooks: PatchHooks<T> = {}): PatchView<T> {
  const settings = fields.all.filter(({ setting }) => setting !== undefined);
  const patchable = settings.filter(({ patched }) => patched !== false);
  const fixed = new Set(
    settings.filter((field) => !patchable.includes(field)).map(({ patchName }) => patchName),
  );
  const byToken = new Map<string, PatchField>();
  for (const field of patchable) {
    const patchField = patchFieldOf(field);
    byToken.set(field.patchName, patchField);
    if (isShown(field)) byToken.set(field.name, patchField);
  }
  return Object.freeze({
    ...hooks,
    shape: objectOf(settings, 'patchName', settingShape) as z.core.$ZodType as z.core.$ZodType<T>,
    open: objectOf(
      settings.filter(({ secret }) => secret !== true),
      'patchName',
      ({ shape, open = shape, optional }) => (optional === true ? z.exactOptional(open) : open),
    ),
    names: patchable.map(({ patchName }) => patchName).join(', '),
    readOnly: fields.all
      .filter((field) => isShown(field) && (field.setting === undefined || fixed.has(field.patchName)))
      .map(({ name }) => name),
    apart: fields.all
      .filter(({ shown, entries }) => shown === false && entries !== undefined)
      .map(({ name }) => name),
    field: (token: string) => byToken.get(token),
    isSecretEntry: () => false,
    fixed,
    linked: settings.flatMap(({ patchName, links }) =>
      links === undefined ? [] : [[patchName, links] as const],
    ),
    secretive: [...new Set(byToken.values())].filter(
      ({ secret, secretEntries }) => secret === true || secretEntries !== undefined,
    ),
    normalized: settings.flatMap(({ patchName, normalize }) =>
      normalize === undefined ? [] : [[patchName, normalize] as const],
    ),
  });
}

function patchFieldOf({
  patchName,
  links,
  secret,
  secretEntries,
  hiddenWhenEmpty,
  default: empty,
}: Field): PatchField {
  return Object.freeze({
    name: patchName,
    ...(links === undefined ? {} : { links }),
    ...(secret === undefined ? {} : { secret }),
    ...(secretEntries === undefined ? {} : { secretEntries }),
    ...(hiddenWhenEmpty === true && empty !== undefined ? { empty } : {}),
  });
}

/**
 * Gives the view in which the entries with certain names are secret, in every map that can have secret entries.
 *
 * @param isSecretEntry - whether an entry is secret, by its name
 * @internal
 */
export function withSecretEntries<T extends object>(
  view: PatchView<T>,
  isSecretEntry: (name: string) => boolean,
): PatchView<T> {
  return { ...view, isSecretEntry };
}

function settingShape({ shape, optional }: Field): z.core.SomeType {
  return optional === true ? z.exactOptional(shape) : shape;
}

/**
 * Applies a patch to the settings of a resource, under the rules of its view.
 *
 * @param view - the view
 * @param shown - gives the representation, whose fields a `test` may read
 * @param before - the present settings
 * @param operations - the parsed operations
 * @param find - look-up of names for links
 * @returns the settings after the patch; the same object if the patch changes nothing, and an equal one if it has only
 *   written a secret again. Refused with every fault, each with its operation
 * @internal
 */
export function patchSettings<T extends object>(
  view: PatchView<T>,
  shown: () => JsonObject,
  before: T,
  operations: readonly SealedOperation[],
  find: FindName,
): Result<T> {
  const full = completeOperations(view, operations);
  const { faults, open, secret, readsMore, writesSecret } = prepareOperations(view, full);
  const { visible, hidden } = split(view, before as JsonObject);
  const applied = bothOf(
    apply(view, readsMore ? withShown(view, visible, shown()) : visible, open),
    apply(view, hidden, secret),
  );
  // An operation that a rule refuses may be the reason why a later one cannot run.
  if (!applied.ok && faults.length > 0) return { ok: false, problem: problemOf(faults) };
  if (!applied.ok) return applied;
  const [now, kept] = applied.value;
  const after = { visible: readsMore ? withoutShown(view, visible, now) : now, hidden: kept };
  const result = bothParts(view, before as JsonObject, { visible, hidden }, after);
  // A client hears of what it sees: the forms and numbers of secrets are no concern of its.
  const whole = [view.shape, result] as const;
  const checks = [[view.open, after.visible] as const, ...(after.hidden === hidden ? [] : [whole])];
  const candidate = { before, result, checks, operations: inOrder([...open, ...secret]), writesSecret };
  const patched = conclude(view, candidate, find, view.check);
  if (faults.length > 0) return { ok: false, problem: problemOf(withFaultsOfResult(faults, full, patched)) };
  // Writing a secret always counts as a change. Otherwise `unchanged` would confirm a guess.
  if (!writesSecret || !patched.ok || patched.value !== before) return patched;
  return ok(Object.freeze({ ...before }));
}

function inOrder(operations: readonly ParsedOperation[]): readonly ParsedOperation[] {
  return operations.toSorted((one, other) => one.index - other.index);
}

/** The results of operations on what clients see and on secrets; the problem of the first operation that fails. */
function bothOf(
  open: Result<JsonObject>,
  secret: Result<JsonObject>,
): Result<readonly [open: JsonObject, secret: JsonObject]> {
  if (open.ok && secret.ok) return ok([open.value, secret.value]);
  const [first] = [open, secret]
    .flatMap((each) => (each.ok ? [] : [each.problem]))
    .toSorted((one, other) => operationOf(one) - operationOf(other));
  return first === undefined ? fail('validation-failed', 'is not valid') : { ok: false, problem: first };
}

function operationOf({ errors = [] }: Problem): number {
  return errors[0]?.operation ?? Infinity;
}

/** Settings in two parts: what clients see, and the secrets in their places, which no operation can read. */
interface Split {
  readonly visible: JsonObject;
  readonly hidden: JsonObject;
}

function split<T extends object>({ secretive }: PatchView<T>, settings: JsonObject): Split {
  let visible = settings;
  const hidden: Record<string, Json> = {};
  for (const field of secretive) {
    const { name, secretEntries } = field;
    const value = settings[name];
    if (secretEntries === undefined) {
      if (value === undefined) continue;
      visible = pick(visible, (each) => each !== name);
      hidden[name] = value;
    } else if (value !== undefined) {
      const map = value as JsonObject;
      const open = openEntries(field, map);
      if (open !== map) visible = { ...visible, [name]: open };
      hidden[name] = open === map ? {} : pick(map, (each) => !Object.hasOwn(open, each));
    }
  }
  return { visible, hidden: Object.freeze(hidden) };
}

/** The settings of both parts after a patch; what the patch has not changed is the same object as before. */
function bothParts<T extends object>(
  view: PatchView<T>,
  before: JsonObject,
  old: Split,
  now: Split,
): JsonObject {
  if (now.visible === old.visible && now.hidden === old.hidden) return before;
  const whole: Record<string, Json> = {};
  for (const name of new Set([before, now.visible, now.hidden].flatMap(Object.keys))) {
    const [open, secret] = [now.visible[name], now.hidden[name]];
    const isSame = open === old.visible[name] && secret === old.hidden[name];
    const value = isSame ? before[name] : withSecret(view.field(name), open, secret);
    if (value !== undefined) whole[name] = value;
  }
  return Object.freeze(whole);
}

/** The value of a field with the secrets in it. What is no map keeps no secret entries. */
function withSecret(
  field: PatchField | undefined,
  open: Json | undefined,
  secret: Json | undefined,
): Json | undefined {
  if (field?.secretEntries === undefined) return secret ?? open;
  return isObject(open) ? Object.freeze({ ...open, ...(secret as JsonObject) }) : open;
}

/**
 * The faults of the operations, and those that the result of the other operations has. A fault at a place that a
 * refused operation names may be gone once that operation is right.
 */
function withFaultsOfResult(
  faults: readonly Fault[],
  operations: readonly ParsedOperation[],
  result: Result<unknown>,
): readonly Fault[] {
  if (result.ok) return faults;
  const refused = new Set(faults.map(({ operation }) => operation));
  const places = operations.flatMap(({ index, path, from }) =>
    refused.has(index) ? [path, ...(from === undefined ? [] : [from])] : [],
  );
  const others = faultsOf(result.problem).filter(({ pointer }) => {
    const place = parsePointer(pointer) ?? [];
    return !places.some((each) => isNear(each, place));
  });
  return [...faults, ...others].toSorted((a, b) => (a.operation ?? Infinity) - (b.operation ?? Infinity));
}

/**
 * Replaces the settings of a resource by others that do not come from a patch.
 *
 * The result must be valid, as for a patch. The rules about fields that a client may not change do not apply, because
 * the settings come from the host, or were there before.
 *
 * @param view - the view
 * @param before - the present settings
 * @param given - the settings to take over, with the stored names of the fields
 * @param find - look-up of names for links
 * @returns the given settings with canonical links; the same object if they are equal to the present ones. Refused if a
 *   link does not resolve
 * @internal
 */
export function replaceSettings<T extends object>(
  view: PatchView<T>,
  before: T,
  given: T,
  find: FindName,
): Result<T> {
  const result = given as JsonObject;
  const checks = [[view.shape, result]] as const;
  return conclude(view, { before, result, checks, operations: [], writesSecret: false }, find, undefined);
}

/**
 * Replaces the shorthands for values. The values are frozen, because they can become part of the settings. @internal
 */
export function completeOperations<T extends object>(
  { complete }: PatchView<T>,
  operations: readonly SealedOperation[],
): readonly SealedOperation[] {
  return complete === undefined ? operations : operations.map((operation) => deepFreeze(complete(operation)));
}

/** The settings, and every field that is shown. A setting that no patch can change is as it is shown. */
function withShown<T extends object>(
  { fixed }: PatchView<T>,
  settings: JsonObject,
  shown: JsonObject,
): JsonObject {
  return { ...shown, ...pick(settings, (name) => !fixed.has(name)) };
}

/** The settings of a result of {@link withShown}. */
function withoutShown<T extends object>(
  view: PatchView<T>,
  settings: JsonObject,
  result: JsonObject,
): JsonObject {
  const { fixed } = view;
  return Object.freeze({
    ...pick(result, (name) => view.field(name)?.name === name),
    ...pick(settings, (name) => fixed.has(name)),
  });
}

const plainKeys = { reservedKeys: 'plain' } as const;

function apply<T extends object>(
  { expand }: PatchView<T>,
  document: JsonObject,
  operations: readonly ParsedOperation[],
): Result<JsonObject> {
  // `prepareOperations` has refused reserved keys. Only a shorthand can still turn a value into a key.
  if (expand === undefined) return applyOperations(document, operations, plainKeys) as Result<JsonObject>;
  let current = document;
  for (const operation of operations) {
    // Frozen, because the expanded value is new and becomes a part of the settings.
    const applied = applyOperations(current, [deepFreeze(expand(operation, current))]);
    if (!applied.ok) return applied;
    current = applied.value as JsonObject;
  }
  return ok(current);
}

/** The settings before and after the operations of a patch. The result is not validated yet. */
interface Candidate<T> {
  /** The present settings. */
  readonly before: T;
  /** The settings after the operations. */
  readonly result: JsonObject;
  /** What is checked, each with its shape, until something has faults. */
  readonly checks: readonly (readonly [shape: z.core.$ZodType, value: JsonObject])[];
  /** The operations, which the faults refer to. */
  readonly operations: readonly ParsedOperation[];
  /** Whether the operations write a secret. They are checked then even if the secret stays the same. */
  readonly writesSecret: boolean;
}

/** Validates the result of a patch. What is equal to the present settings is the same object. */
function conclude<T extends object>(
  view: PatchView<T>,
  candidate: Candidate<T>,
  find: FindName,
  check: PatchView<T>['check'],
): Result<T> {
  const { before, result, writesSecret } = candidate;
  if (result === before && !writesSecret) return ok(before);
  const valid = validate(view, candidate, find, check);
  return valid.ok && sameJson(valid.value as Json, before as Json) ? ok(before) : valid;
}

function validate<T extends object>(
  view: PatchView<T>,
  { before, result, checks, operations }: Candidate<T>,
  find: FindName,
  check: PatchView<T>['check'],
): Result<T> {
  const wrong = firstFaults(checks);
  const resolved = resolveFields(view, result, before as JsonObject, find);
  const canonical = resolved.settings as unknown as T;
  const after = wrong.length === 0 ? normalize(view, canonical) : before;
  const broken = (wrong.length === 0 ? entryFaults(view, before, after) : wrong).concat(
    check?.(before, canonical as JsonObject, operations) ?? none,
  );
  if (broken.length === 0 && resolved.faults.length === 0) return ok(deepFreeze(after));
  const faults = [...broken, ...resolved.faults].map((fault) => locate(fault, operations));
  return { ok: false, problem: problemOf(faults) };
}

function firstFaults(checks: Candidate<unknown>['checks']): readonly Fault[] {
  for (const [shape, value] of checks) {
    const parsed = parseShape(shape, value);
    if (!parsed.ok) return parsed.faults;
  }
  return none;
}

/**
 * Refuses entries in the wrong form that the patch has written. No patch brings a plain secret, but an undo or another
 * snapshot can.
 */
function entryFaults<T extends object>(
  { secretive, isSecretEntry }: PatchView<T>,
  before: T,
  after: T,
): readonly Fault[] {
  const changed = secretive.filter(({ name }) => mapOf(before, name) !== mapOf(after, name));
  const written = mapEntries(changed, after as JsonObject).filter(
    ({ map, name, value }) => mapOf(before, map)[name] !== value,
  );
  return misplacedFaults(written, isSecretEntry);
}

const none: readonly never[] = [];

function mapOf(settings: object, name: string): JsonObject {
  return (settings as Readonly<Record<string, JsonObject>>)[name] ?? {};
}

/** Brings valid settings into their stored form. */
function normalize<T extends object>({ normalized }: PatchView<T>, settings: T): T {
  if (normalized.length === 0) return settings;
  const stored = { ...settings } as Record<string, unknown>;
  for (const [name, form] of normalized) stored[name] = form(stored[name] as never);
  return stored as T;
}

/**
 * Resolves links in the settings as written, so that a fault of another field does not hide the fault of a link. A
 * field that the patch did not change is the same object as before, and its links are resolved already.
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
    // The links of the present settings are canonical and resolve, because a linked resource cannot be removed.
    const known = before as readonly string[];
    const resolved = resolveLinks(now, collection, find, [name], known);
    for (const fault of resolved.faults) faults.push(fault);
    if (!sameJson(now, resolved.links)) settings = { ...settings, [name]: resolved.links };
  }
  return { settings, faults };
}

/** Adds to a fault the index of the last operation that wrote at, above or below the faulty place, or moved it away. */
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
