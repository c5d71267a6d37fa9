/**
 * Updates: what an event and an effect say of a change of settings.
 */
import { difference } from '../json/diff.ts';
import type { Operation } from '../json/patch.ts';
import { differingMembers } from './change.ts';
import { settingsIn, type Fields } from './field.ts';
import { isSealed } from './secret.ts';

/**
 * A change of settings: of the settings, those that differ.
 *
 * @public
 */
export interface Update<T extends object> {
  /** The settings that differ, as they were before; without those that were not there. */
  readonly from: Partial<T>;
  /** The same settings, as they are now; without those that are gone. */
  readonly to: Partial<T>;
  /** The operations (RFC 6902) that lead from the settings before to those after. Equal parts are not mentioned. */
  readonly operations: readonly Operation[];
}

/** Gives the update that leads from some settings to others, by the names of their fields. @internal */
export function updateBetween<T extends object>(fields: Fields, before: T, after: T): Update<T> {
  const { from, to } = differingMembers(before, after);
  const [old, now] = [settingsIn(fields, from), settingsIn(fields, to)];
  // A secret is replaced as a whole.
  return { from, to, operations: difference(old, now, isSealed) } as Update<T>;
}
