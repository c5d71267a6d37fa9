/**
 * Updates: how a change of settings is told, in events and in effects.
 */
import type { Json } from './json.ts';
import { diff, type Operation } from './patch.ts';
import { formatPointer, sameJson } from './pointer.ts';

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
  /** The operations (RFC 6902) that lead from `before` to `after`: only those that are needed. */
  readonly operations: readonly Operation[];
}

/**
 * Gives the operations that lead from some settings to others, field by field: a field that is the same object needs
 * none, and only fields that hold lists or maps on both sides are looked into.
 *
 * @internal
 */
export function updateOperations(before: object, after: object): readonly Operation[] {
  const [old, now] = [before as JsonFields, after as JsonFields];
  const gone = Object.keys(old).filter((name) => !Object.hasOwn(now, name));
  const removes = gone.map((name): Operation => ({ op: 'remove', path: formatPointer([name]) }));
  return [
    ...removes,
    ...Object.entries(now).flatMap(([name, value]) => fieldOperations(name, old[name], value)),
  ];
}

type JsonFields = Readonly<Record<string, Json>>;

function fieldOperations(name: string, before: Json | undefined, after: Json): readonly Operation[] {
  if (before === after) return [];
  const path = formatPointer([name]);
  if (before === undefined) return [{ op: 'add', path, value: after }];
  if (sameJson(before, after)) return [];
  const inside =
    typeof before === 'object' && typeof after === 'object' && Array.isArray(before) === Array.isArray(after);
  if (!inside) return [{ op: 'replace', path, value: after }];
  return diff(before, after).map((operation) => ({ ...operation, path: path + operation.path }));
}

/** The same update, backwards. @internal */
export function invertUpdate<T extends object, U extends Update<T>>(update: U): U {
  const { before, after } = update;
  return { ...update, before: after, after: before, operations: updateOperations(after, before) };
}

/**
 * Puts what an update changed into settings that may have changed otherwise since. Fields that the update leaves
 * alone keep their present value.
 *
 * @internal
 */
export function mergeUpdate<T extends object>(present: T, { before, after }: Update<T>): T {
  if (present === before) return after;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T & string>;
  const merged: Partial<T> = { ...present };
  for (const name of names) {
    if (!(name in after)) Reflect.deleteProperty(merged, name);
    else if (!sameField(before, after, name)) merged[name] = after[name];
  }
  return merged as T;
}

function sameField<T extends object>(before: T, after: T, name: keyof T): boolean {
  return name in before && sameJson(before[name] as Json, after[name] as Json);
}
