/**
 * Updates: a change of settings, as events and effects carry it.
 */
import { difference, type Difference } from '../json/diff.ts';
import { type Json, sameJson } from '../json/value.ts';
import type { Operation } from '../json/patch.ts';
import { isSealed } from './secret.ts';

/**
 * A change of the settings of one resource.
 *
 * @public
 */
export interface Update<T> {
  /** All settings before the change. */
  readonly before: T;
  /** All settings after the change. */
  readonly after: T;
  /** The operations (RFC 6902) that lead from `before` to `after`. Equal parts are not mentioned. */
  readonly operations: readonly Operation[];
}

/**
 * A change of the settings of one resource, with its inverse.
 *
 * @public
 */
export interface ReversibleUpdate<T> extends Update<T> {
  /**
   * The operations that lead from `after` back to `before`. A `test` of the value after the change precedes each of
   * these operations, so the inverse fails if that value has changed since. An `add` of a member has no such `test`,
   * because no `test` can say that a member is absent; {@link revert}, which applies the inverse, checks the absence
   * itself.
   */
  readonly inverse: readonly Operation[];
}

/** The difference of two settings. A secret is replaced as a whole. @internal */
export function differenceOf(before: object, after: object): Difference {
  return difference(before as Json, after as Json, isSealed);
}

/** Gives the update that leads from `after` to `before`. @internal */
export function invertUpdate<T extends object, U extends Update<T>>(update: U): U {
  const { before, after } = update;
  const { operations } = differenceOf(after, before);
  return { ...update, before: after, after: before, operations };
}

/** An update that need not have the settings that it does not change. @internal */
export type Changed<T> = Pick<Update<Partial<T>>, 'before' | 'after'>;

/**
 * Applies the changed fields of an update to settings that may have changed since. Fields that the update does not
 * change keep their present value.
 *
 * @internal
 */
export function mergeUpdate<T extends object>(present: T, { before, after }: Changed<T>): T {
  if (present === before) return after as T;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T & string>;
  const merged: Partial<T> = { ...present };
  for (const name of names) {
    if (!(name in after)) Reflect.deleteProperty(merged, name);
    else if (!sameField(before, after, name)) merged[name] = after[name];
  }
  return merged as T;
}

/** The settings that an update changes, before and after it. @internal */
export function changedBy<T extends object>({ before, after }: Changed<T>): Changed<T> {
  return { before: differing(before, after), after: differing(after, before) };
}

/** The fields of settings that other settings do not have, or have with another value. */
function differing<T extends object>(settings: T, others: T): T {
  const fields = Object.entries(settings).filter(([name]) => !sameField(others, settings, name as keyof T));
  return Object.fromEntries(fields) as T;
}

/**
 * All settings before and after an update, from those that it changes.
 *
 * @param present - has the settings that the update does not change
 * @internal
 */
export function wholeUpdate<T extends object>(
  present: T,
  { before, after }: Changed<T>,
): Pick<Update<T>, 'before' | 'after'> {
  const changed = { ...before, ...after };
  const rest = Object.fromEntries(Object.entries(present).filter(([name]) => !(name in changed)));
  return { before: { ...rest, ...before } as T, after: { ...rest, ...after } as T };
}

function sameField<T extends object>(before: Partial<T>, after: Partial<T>, name: keyof T): boolean {
  return name in before && sameJson(before[name] as Json, after[name] as Json);
}
