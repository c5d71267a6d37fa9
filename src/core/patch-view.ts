/**
 * Patch views: what a JSON Patch sees of a resource, and which parts of it may change.
 *
 * A patch view is data. The rules that follow from it are the same for every resource: no operation beyond the
 * modifiable fields, none that reads a secret, one validation of the whole result, all faults at once.
 */
import * as z from 'zod/mini';

import { deepFreeze } from './freeze.ts';
import type { Json } from './json.ts';
import { applyOperations, type Operation, type ParsedOperation } from './patch.ts';
import { formatPointer, hasReservedKey, parsePointer, reservedToken, sameJson } from './pointer.ts';
import { ok, problemOf, type Fault, type ProblemCode, type Result } from './problem.ts';
import { isTextList, resolveLinks, type FindName } from './reference.ts';
import type { Protector } from './route.ts';
import { isSealed, passwordFault } from './secret.ts';
import { parseShape } from './shape.ts';
import { updateOperations } from './update.ts';

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

/** One modifiable field of a patch view. */
interface PatchField {
  /** Collection that its links must be of; left out for fields that hold no links. */
  readonly links?: string;
  /** Name under which the sealed text is kept. Only for a secret: such a field can be written and never read. */
  readonly sealedAs?: string;
  /** What the field is when it was never set; removing it makes it so again. Left out for one that is absent then. */
  readonly empty?: Json;
}

/** What a JSON Patch sees of a resource, as it is declared. @internal */
export interface PatchViewRules<T extends object> {
  /** The modifiable fields. */
  readonly fields: Readonly<Record<string, PatchField>>;
  /** The fields of the representation that cannot be modified. A `test` may read them. */
  readonly readOnly: readonly string[];
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
export interface PatchView<T extends object> extends PatchViewRules<T> {
  /** The names of the modifiable fields, for people. */
  readonly names: string;
  /** The field that a first token speaks of, with its name. */
  field(this: void, token: string): (PatchField & { readonly name: string }) | undefined;
  /** Fields with links. */
  readonly linked: readonly (readonly [name: string, collection: string])[];
  /** Fields that are never absent, with what they are when they were never set. */
  readonly emptied: readonly (readonly [name: string, empty: Json])[];
  /** The secret, if there is one: its name for clients and its name in the settings. */
  readonly secret: { readonly name: string; readonly sealedAs: string } | undefined;
}

/** Declares a patch view. @internal */
export function definePatchView<T extends object>(rules: PatchViewRules<T>): PatchView<T> {
  const fields = Object.entries(rules.fields).map(([name, field]) => ({ ...field, name }));
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
  const faults = operations.flatMap((operation) => ruleFaults(view, operation));
  if (faults.length > 0) return { ok: false, problem: problemOf(faults) };
  const old = toClient(view, before);
  const readsMore = operations.some(({ path: [token = ''] }) => view.field(token) === undefined);
  const translated = operations.flatMap((operation) => withoutGap(view, translate(view, operation)));
  const applied = apply(view, readsMore ? { ...shown(), ...old } : old, translated);
  if (!applied.ok) return applied;
  const result = withEmpty(view, readsMore ? withoutShown(view, applied.value) : applied.value);
  const valid = validate(view, result, before, old, translated, find);
  if (!valid.ok) return valid;
  const after = toStored(view, valid.value);
  if (sameJson(before as JsonObject, after as JsonObject)) {
    // Writing a secret always counts as a change, so that a no-op cannot confirm a guess.
    const written = operations.some((operation) => isSecret(view, operation));
    return ok({ after: written ? after : before, operations: [] });
  }
  return ok({ after, operations: updateOperations(before, after) });
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
      const { value } = operation;
      if (value === undefined || !isSecret(view, operation)) return operation;
      if (typeof value !== 'string' || passwordFault(value) !== undefined)
        return { ...operation, value: null };
      return { ...operation, value: { sealed: await protector.seal(value) } };
    }),
  );
}

function isSecret<T extends object>(
  { secret, field }: PatchView<T>,
  { path: [token = ''] }: ParsedOperation,
): boolean {
  return secret !== undefined && field(token)?.name === secret.name;
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
  const { [from]: value = null, ...rest } = settings;
  return Object.freeze({ ...rest, [to]: value });
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

function apply<T extends object>(
  { expand }: PatchView<T>,
  document: JsonObject,
  operations: readonly ParsedOperation[],
): Result<JsonObject> {
  if (expand === undefined) return applyOperations(document, operations) as Result<JsonObject>;
  let current = document;
  for (const operation of operations) {
    // What a shorthand stands for is new, and becomes a part of the settings.
    const applied = applyOperations(current, [deepFreeze(expand(operation, current))]);
    if (!applied.ok) return applied;
    current = applied.value as JsonObject;
  }
  return ok(current);
}

/** What can be said against an operation before it is tried. */
function ruleFaults<T extends object>(view: PatchView<T>, operation: ParsedOperation): readonly Fault[] {
  const { path, from, value } = operation;
  const refusal =
    placeRefusal(view, operation, path) ??
    (from === undefined ? undefined : placeRefusal(view, operation, from));
  if (refusal !== undefined) return [refusal];
  if (value !== undefined && isOversize(value)) {
    const detail = 'holds a map of more than 1000 members or a list of more than 10000 items';
    return [{ pointer: formatPointer(path), operation: operation.index, code: 'validation-failed', detail }];
  }
  const inside = value === undefined ? undefined : hasReservedKey(value);
  if (inside === undefined) return [];
  const detail = 'the value has a member with a reserved name';
  return [
    { pointer: formatPointer(path) + inside, operation: operation.index, code: 'reserved-key', detail },
  ];
}

function placeRefusal<T extends object>(
  view: PatchView<T>,
  operation: ParsedOperation,
  tokens: readonly string[],
): Fault | undefined {
  const refusal = reservedRefusal(tokens) ?? fieldRefusal(view, operation, tokens);
  if (refusal === undefined) return undefined;
  const [code, detail] = refusal;
  return { pointer: formatPointer(tokens), operation: operation.index, code, detail };
}

/** Larger than any field may be: refused before it is copied for each operation that follows. */
function isOversize(value: Json): boolean {
  const left: Json[] = [value];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (typeof each !== 'object' || each === null) continue;
    const members = Object.values(each) as readonly Json[];
    if (members.length > (Array.isArray(each) ? 10_000 : 1000)) return true;
    for (const member of members) left.push(member);
  }
  return false;
}

type Refusal = readonly [code: ProblemCode, detail: string];

function reservedRefusal(tokens: readonly string[]): Refusal | undefined {
  const reserved = reservedToken(tokens);
  return reserved === undefined ? undefined : ['reserved-key', `"${reserved}" cannot be used as a key`];
}

function fieldRefusal<T extends object>(
  { field: fieldOf, names, readOnly }: PatchView<T>,
  operation: ParsedOperation,
  tokens: readonly string[],
): Refusal | undefined {
  const [token] = tokens;
  if (token === undefined)
    return ['op-not-allowed', `a patch changes fields, not the whole resource: ${names}`];
  const field = fieldOf(token);
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

/** Writes an operation in the terms of the settings: aliases, fields that were never set, sealed values. */
function translate<T extends object>(view: PatchView<T>, operation: ParsedOperation): ParsedOperation {
  const { op, path, from, value } = operation;
  const [token = ''] = path;
  const field = view.field(token);
  if (field === undefined) return operation;
  const place = {
    path: named(view, path),
    ...(from === undefined ? {} : { from: named(view, from) }),
    ...(field.sealedAs !== undefined && isSealed(value) ? { value: value.sealed } : {}),
  };
  const whole = path.length === 1;
  if (whole && op === 'remove' && field.empty !== undefined)
    return { ...operation, ...place, op: 'add', value: field.empty };
  return { ...operation, ...place, op: whole && op === 'replace' ? 'add' : op };
}

/** Moving away a list that is never absent leaves an empty one, as removing it does. */
function withoutGap<T extends object>(
  view: PatchView<T>,
  operation: ParsedOperation,
): readonly ParsedOperation[] {
  const { op, path, from, index } = operation;
  const [source] = from ?? [];
  const empty = source === undefined || from?.length !== 1 ? undefined : view.field(source)?.empty;
  if (op !== 'move' || source === path[0] || empty === undefined || from === undefined) return [operation];
  return [
    { ...operation, op: 'copy' },
    { op: 'add', index, path: from, value: empty },
  ];
}

function named<T extends object>({ field }: PatchView<T>, tokens: readonly string[]): readonly string[] {
  const [token = '', ...rest] = tokens;
  const name = field(token)?.name ?? token;
  return name === token ? tokens : [name, ...rest];
}

function validate<T extends object>(
  view: PatchView<T>,
  settings: JsonObject,
  before: T,
  old: JsonObject,
  operations: readonly ParsedOperation[],
  find: FindName,
): Result<T> {
  const parsed = parseShape(view.shape, settings);
  const resolved = resolveFields(view, settings, old, find);
  const canonical = { ...settings, ...resolved.links } as unknown as T;
  const after = parsed.ok ? (view.normalize?.(canonical) ?? canonical) : before;
  const broken = parsed.ok ? (view.check?.(before, after) ?? []) : parsed.faults;
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
  settings: JsonObject,
  old: JsonObject,
  find: FindName,
): { readonly links: JsonObject; readonly faults: readonly Fault[] } {
  const links: Record<string, readonly string[]> = {};
  const faults: Fault[] = [];
  for (const [name, collection] of view.linked) {
    const written = settings[name];
    if (written === old[name] || !isTextList(written)) continue;
    const resolved = resolveLinks(written, collection, find, [name]);
    links[name] = resolved.links;
    for (const fault of resolved.faults) faults.push(fault);
  }
  return { links, faults };
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
