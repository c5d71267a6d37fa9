/**
 * JSON values: their types, and the operations that every value supports: comparing, measuring, freezing.
 *
 * No function here recurses, so no value is too deep.
 */

/**
 * A JSON value. The library never changes one.
 *
 * @public
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON array or object. @internal */
export type JsonContainer = Extract<Json, object>;

/** A JSON object. @internal */
export type JsonObject = Readonly<Record<string, Json>>;

/**
 * Limits on JSON.
 *
 * @public
 */
export interface JsonLimits {
  /** The largest number of nested arrays and objects. An array of scalars has depth 1. */
  readonly depth: number;
}

/** Whether a value is an array or an object. @internal */
export function isContainer(value: Json): value is JsonContainer {
  return typeof value === 'object' && value !== null;
}

/** Whether a value is an array. @internal */
export function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether an object is an array or a plain object and no instance of a class, in this realm or another. @internal */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isList = Array.isArray(value);
  if (prototype === (isList ? Array.prototype : Object.prototype)) return true;
  const parent = prototype === null ? null : (Object.getPrototypeOf(prototype) as object | null);
  if (!isList) return parent === null;
  return parent !== null && Object.getPrototypeOf(parent) === null;
}

/** Whether a value is a JSON object. @internal */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an object: an empty one in place of anything else. @internal */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The members of an object whose names meet a condition. @internal */
export function pick<T>(
  object: Readonly<Record<string, T>>,
  isMeant: (name: string) => boolean,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isMeant(name)));
}

/** Whether a value is a string. @internal */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** @throws TypeError if an argument is not a string @internal */
export function assertText(value: unknown, argument: string): void {
  if (!isText(value)) throw new TypeError(`${argument} must be a string`);
}

/** @throws TypeError unless an argument is an object or an array @internal */
export function assertObject(value: unknown, argument: string): void {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${argument} must be an object`);
}

/** Sets an own member of any name. @internal */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  // An assignment to this name would set the prototype instead.
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/**
 * Tells whether two JSON values are equal: numbers by value, lists item by item, objects member by member in any order.
 *
 * @param a - one value
 * @param b - the other value
 * @returns true if the values are equal
 *
 * @example
 * ```ts
 * import { sameJson } from 'gateway-admin-core/json';
 *
 * sameJson({ a: 1, b: [2] }, { b: [2], a: 1 }); // => true
 * ```
 *
 * @see RFC 6902 §4.6.
 *
 * @public
 */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b)) return false;
  const pairs: ContainerPair[] = [[a, b]];
  for (const pair of pairs) if (!sameChildren(pair, pairs)) return false;
  return true;
}

type ContainerPair = readonly [JsonContainer, JsonContainer];

/** Whether the children of two containers are equal. Child containers go to `pending` and are compared later. */
function sameChildren([left, right]: ContainerPair, pending: ContainerPair[]): boolean {
  if (isArray(left)) {
    if (!isArray(right) || left.length !== right.length) return false;
    // Loops over frozen arrays run by index: `every`, `some` and `for … of` take four times as long on Node 20.
    for (let index = 0; index < left.length; index += 1) {
      if (!sameOrPending(left[index] ?? null, right[index] ?? null, pending)) return false;
    }
    return true;
  }
  if (isArray(right)) return false;
  const keys = Object.keys(left);
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false;
    if (!sameOrPending(left[key] ?? null, right[key] ?? null, pending)) return false;
  }
  return keys.length === Object.keys(right).length;
}

function sameOrPending(left: Json, right: Json, pending: ContainerPair[]): boolean {
  if (left === right) return true;
  if (!isContainer(left) || !isContainer(right)) return false;
  pending.push([left, right]);
  return true;
}

/**
 * Gives the length of the JSON of a value, or up to one more for each array and object. Each character counts as one
 * byte. Escapes count only in texts of 100 to 10,000,000 characters: to look for them in a short text takes too long.
 *
 * @param most - the counting may stop above this number; the result then is some larger number
 * @internal
 */
export function sizeOf(value: Json, most: number): number {
  if (!isContainer(value)) return scalarSize(value);
  const pending: JsonContainer[] = [value];
  let size = 0;
  for (let container = pending.pop(); container !== undefined && size <= most; container = pending.pop()) {
    size += 2;
    if (isArray(container)) {
      // A comma for each item, one more than there is.
      size += container.length;
      for (let index = container.length - 1; index >= 0; index -= 1) {
        const item = container[index] ?? null;
        if (isContainer(item)) pending.push(item);
        else size += scalarSize(item);
      }
      continue;
    }
    // `Object.entries` alone takes twice the time.
    for (const key in container) {
      const member = container[key] ?? null;
      size += scalarSize(key) + 2;
      if (isContainer(member)) pending.push(member);
      else size += scalarSize(member);
    }
  }
  return size;
}

/** The JSON of a text of many millions of characters may be too long to be a text itself. */
function scalarSize(value: Exclude<Json, object> | null): number {
  // eslint-disable-next-line @typescript-eslint/restrict-template-expressions -- `String` takes five times as long
  if (typeof value !== 'string') return `${value}`.length;
  return value.length < 100 || value.length > 1e7 ? value.length + 2 : JSON.stringify(value).length;
}

/**
 * Freezes plain data to any depth. A frozen object is assumed to be frozen to any depth.
 *
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  if (!isThawed(value)) return value;
  const pending: object[] = [value];
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    Object.freeze(each);
    if (Array.isArray(each)) {
      for (const item of each as readonly unknown[]) if (isThawed(item)) pending.push(item);
      continue;
    }
    const members = each as Readonly<Record<string, unknown>>;
    // `Object.values` takes several times as long. Most objects are small and have frozen members.
    for (const key in members) {
      const member = members[key];
      if (isThawed(member)) pending.push(member);
    }
  }
  return value;
}

/** Whether an array or object is frozen to any depth, the containers inside it one by one. @internal */
export function isDeepFrozen(value: JsonContainer): boolean {
  const pending = [value];
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    if (!Object.isFrozen(each)) return false;
    for (const member of Object.values(each)) if (isContainer(member)) pending.push(member);
  }
  return true;
}

function isThawed(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value);
}
