/**
 * Checks: the type of a value from a host without types.
 */
import { isText } from '../../json/value.ts';

export { isText };

/** The members of an object of unknown kind. @internal */
export type Members = Readonly<Record<PropertyKey, unknown>>;

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

/** Whether a value is left out, or passes a check. @internal */
export function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}
