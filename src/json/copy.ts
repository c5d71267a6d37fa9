/**
 * Copies: turns a JavaScript value from the same process into plain, frozen JSON, or refuses the value.
 *
 * Values from a program can do more than JSON: a getter can throw, an object can contain itself. A copy is made once,
 * at the border, and the rest of the library works with plain data.
 */
import { ok, problemOf, type Result } from '../problem.ts';
import { formatPointer } from './pointer.ts';
import { isPlain, setMember, type Json, type JsonContainer, type JsonLimits } from './value.ts';

/**
 * Copies any JavaScript value as plain JSON.
 *
 * Refused with `patch-malformed`: functions, symbols, bigints, `undefined`, numbers that are not finite, instances of
 * classes, arrays with holes, cycles, values that are nested too deeply, and getters or proxies that throw. Members
 * that are not enumerable or have a symbol as key are left out. Each property is read at most once, even if two places
 * share one object.
 *
 * @param value - the value; never changed
 * @param rules - how deep the value may be nested; the copy recurses to the same depth. With `undefinedMembers`, a
 *   member that is `undefined` is left out, as in `JSON.stringify`
 * @returns a deeply frozen copy
 *
 * @see docs/spec-choices.md 28.
 *
 * @internal
 */
export function copyJson(value: unknown, { undefinedMembers, ...limits }: CopyRules): Result<Json> {
  if (isScalar(value)) return ok(value);
  return copyWith({ ...beginWalk(limits), undefinedMembers }, () => value);
}

/** What {@link copyJson} accepts. */
interface CopyRules extends JsonLimits {
  readonly undefinedMembers?: 'left-out';
}

/** A copy without the items of one list. @internal */
export interface DeferringCopy {
  /** The copy, with an empty list in place of the list. */
  readonly copy: Json;
  /**
   * Copies the items of the list one at a time, so that no two copies need be in memory. The first item that is refused
   * is the last one.
   */
  readonly items: () => Iterable<Result<Json>>;
}

/**
 * Copies any JavaScript value as {@link copyJson} does, but defers the items of one list.
 *
 * @param value - the value; never changed
 * @param member - the name of the member of `value` with the list. Without such a list there are no items
 * @param limits - as for {@link copyJson}
 *
 * @internal
 */
export function copyDeferring(value: unknown, member: string, limits: JsonLimits): Result<DeferringCopy> {
  const deferred: Deferred = { member, list: [], length: 0 };
  const copied = copyWith({ ...beginWalk(limits), deferred }, () => value);
  if (!copied.ok) return copied;
  return ok({ copy: copied.value, items: () => copyItems(deferred, limits) });
}

function* copyItems({ member, list, length }: Deferred, limits: JsonLimits): Generator<Result<Json>> {
  for (let index = 0; index < length; index += 1) {
    const walk = beginWalk(limits, [member, index]);
    const item = copyWith(walk, () => list[index]);
    yield item;
    if (!item.ok) return;
  }
}

function beginWalk({ depth }: JsonLimits, path: (string | number)[] = []): Walk {
  return { depth, outer: path.length, path, open: new Set(), done: new Map(), deepest: 0 };
}

function copyWith(walk: Walk, read: () => unknown): Result<Json> {
  let copy: Json | undefined;
  try {
    copy = copyOf(walk, read());
  } catch {
    walk.reason = 'cannot be read: a getter or a proxy throws; give plain data';
  }
  if (copy !== undefined) return ok(copy);
  const fault = {
    pointer: formatPointer(walk.path),
    code: 'patch-malformed',
    detail: walk.reason ?? 'must be JSON',
  } as const;
  return { ok: false, problem: problemOf([fault]) };
}

/** The progress of a copy. */
interface Walk {
  readonly depth: number;
  /** The number of containers around the value. */
  readonly outer: number;
  /** Tokens of the place that is being read. */
  readonly path: (string | number)[];
  /** The arrays and objects around that place. */
  readonly open: Set<object>;
  /** The finished copies by source. `height` is the number of levels in the copy, itself included. */
  readonly done: Map<object, { readonly copy: JsonContainer; readonly height: number }>;
  /** The deepest level that the walk has reached inside the innermost open container. */
  deepest: number;
  /** Why the value is refused; `undefined` until then. */
  reason?: string;
  /** The list whose items are copied later. */
  readonly deferred?: Deferred;
  /** What becomes of members that are `undefined`; they are refused if left out. */
  readonly undefinedMembers?: CopyRules['undefinedMembers'] | undefined;
}

/** A list whose items are copied later: a member of the outermost object. */
interface Deferred {
  readonly member: string;
  /** The list; an empty one until the walk finds the member. */
  list: readonly unknown[];
  /** The length of the list, read once. */
  length: number;
}

/** Copies one value; `undefined` if the value is refused. */
function copyOf(walk: Walk, value: unknown): Json | undefined {
  if (isScalar(value)) return value;
  if (typeof value === 'object') return copyOfContainer(walk, value);
  const kind = typeof value === 'number' ? 'number that is not finite' : typeof value;
  const isMember = value === undefined && typeof walk.path.at(-1) === 'string';
  return refuseValue(walk, `must be JSON, which has no ${kind}${isMember ? '; leave the member out' : ''}`);
}

function isScalar(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean' || value === null;
}

function copyOfContainer(walk: Walk, source: object): JsonContainer | undefined {
  if (walk.open.has(source)) return refuseValue(walk, 'must not contain itself');
  const known = walk.done.get(source);
  const depth = walk.outer + walk.open.size + (known?.height ?? 1);
  if (depth > walk.depth)
    return refuseValue(walk, `must not be nested more than ${String(walk.depth)} levels deep`);
  walk.deepest = Math.max(walk.deepest, depth);
  if (known !== undefined) return known.copy;
  if (!isPlain(source)) return refuseValue(walk, `must be a plain object or array${classOf(source)}`);
  const { deepest } = walk;
  walk.deepest = depth;
  walk.open.add(source);
  const copy = Array.isArray(source) ? copyOfArray(walk, source) : copyOfObject(walk, source);
  if (copy === undefined) return undefined;
  walk.open.delete(source);
  walk.done.set(source, { copy, height: walk.deepest - depth + 1 });
  walk.deepest = Math.max(walk.deepest, deepest);
  return Object.freeze(copy);
}

/** The class of an instance, as the end of a sentence. */
function classOf(source: object): string {
  const { name } = (source as { readonly constructor?: { readonly name?: unknown } }).constructor ?? {};
  const isClass =
    typeof name === 'string' && /^[A-Z]\w{0,63}$/.test(name) && name !== 'Object' && name !== 'Array';
  return isClass ? `, not a ${name}` : '';
}

function copyOfArray(walk: Walk, source: readonly unknown[]): Json[] | undefined {
  const copy: Json[] = [];
  const { length } = source;
  // A hole in an array reads as `undefined`, and `undefined` is refused.
  for (let index = 0; index < length; index += 1) {
    walk.path.push(index);
    const child = copyOf(walk, source[index]);
    if (child === undefined) return undefined;
    walk.path.pop();
    copy.push(child);
  }
  return copy;
}

function copyOfObject(walk: Walk, source: object): Record<string, Json> | undefined {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(source)) {
    walk.path.push(key);
    const member = (source as Readonly<Record<string, unknown>>)[key];
    const isLeftOut = member === undefined && walk.undefinedMembers === 'left-out';
    const child = isLeftOut ? undefined : (defer(walk, member) ?? copyOf(walk, member));
    if (child === undefined && !isLeftOut) return undefined;
    walk.path.pop();
    if (child !== undefined) setMember(copy, key, child);
  }
  return copy;
}

/** Notes the list whose items are copied later. Gives the empty list in its place; `undefined` for any other value. */
function defer({ deferred, path, depth }: Walk, member: unknown): Json | undefined {
  if (deferred === undefined || path.length !== 1 || path[0] !== deferred.member || depth < 2)
    return undefined;
  if (!Array.isArray(member) || !isPlain(member)) return undefined;
  deferred.list = member;
  deferred.length = member.length;
  return Object.freeze([]);
}

function refuseValue(walk: Walk, reason: string): JsonContainer | undefined {
  walk.reason = reason;
  return undefined;
}
