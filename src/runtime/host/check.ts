/**
 * Checks: values from a host without types. A table has the check of each member of an object.
 */
import { assertMembers } from '../../core/member.ts';
import { isText } from '../../json/value.ts';

export { isText };

/** The members of an object of unknown kind. @internal */
export type Members = Readonly<Record<PropertyKey, unknown>>;

/**
 * Checks a value at a place, such as `access.authorize`. Throws a TypeError with a sentence that names the place.
 *
 * @internal
 */
export type Check = (value: unknown, place: string) => void;

/** The check of each member. A table without the check of a member does not compile. @internal */
export type Checks<T> = { readonly [Member in keyof T]-?: Check };

/** Makes a check from a condition, and from the sentence about a value that does not meet it. @internal */
export function must(is: (value: unknown) => boolean, sentence: (place: string) => string): Check {
  return (value, place) => {
    if (!is(value)) throw new TypeError(sentence(place));
  };
}

/** Makes the check of a value that may be left out. @internal */
export function optional(check: Check): Check {
  return (value, place) => {
    if (value !== undefined) check(value, place);
  };
}

/**
 * Checks the names of the members of an object, and then each member of the table.
 *
 * @param what - what a member is, such as `option of createAdmin`
 * @param prefix - begins the place of each member
 * @throws TypeError for an unknown member, and for the first member of a wrong type
 * @internal
 */
export function assertEach(
  object: Members,
  checks: Readonly<Record<string, Check>>,
  what: string,
  prefix = '',
): void {
  assertMembers(object, Object.keys(checks), what);
  for (const [name, check] of Object.entries(checks)) check(object[name], prefix + name);
}

/** Whether a value can be used as an abort signal, also one of another realm. @internal */
export function isSignal(value: unknown): value is AbortSignal {
  return isObject(value) && typeof value['aborted'] === 'boolean' && isFunction(value['addEventListener']);
}

/** Whether a value is an object; a function is not. @internal */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** Whether a value is a function. @internal */
export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Whether a value is true or false. @internal */
export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** Whether a value is a list of strings. @internal */
export function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

/**
 * Whether a value is a promise. Such a value gets a handler, because its rejection must not end the process.
 *
 * @internal
 */
export function isThenable(value: unknown): value is Promise<unknown> {
  if (!isObject(value) || typeof value['then'] !== 'function') return false;
  Promise.resolve(value).catch(() => undefined);
  return true;
}
