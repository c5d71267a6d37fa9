/**
 * Differences: the JSON Patch that leads from one JSON value to another, and the patch that leads back.
 *
 * Both patches come from one walk, while the old values are at hand. The walk skips equal members, and equal items at
 * both ends of a list. Only the differing middle of a short list needs a search for the fewest edits.
 */
import { createPatch } from 'rfc6902';

import { type Json, assertObject, isArray, isContainer, sameJson } from './value.ts';
import { usualLimits, type Operation } from './patch.ts';
import { formatToken } from './pointer.ts';

/** The difference between two values. @internal */
export interface Difference {
  /** The operations that lead from the first value to the second. Equal parts are not mentioned. */
  readonly operations: readonly Operation[];
  /**
   * The operations that lead back. A `test` of the present value precedes each of these operations, so that the inverse
   * overwrites no later change. An `add` of a member has no such `test`, because no `test` can say that a member is
   * absent. The code that applies the inverse must check the absence itself (`present: 'refuse'`).
   */
  readonly inverse: readonly Operation[];
}

/**
 * How `diff` makes a patch.
 *
 * @public
 */
export interface DiffOptions {
  /**
   * Whether the patch contains guards: a `test` of the present value before each `remove` and `replace`, and a `test`
   * of the neighbouring item before each `add` to a list. A guarded patch fails if the place has changed in the
   * meantime. An `add` of a member has no guard, because no `test` can say that a member is absent (RFC 6902 §4.6):
   * such an `add` replaces a member that was added in the meantime. Default false.
   */
  readonly guards?: boolean;
}

/**
 * Creates a JSON Patch that turns one document into another.
 *
 * The patch does not mention equal members, and replaces a list as a whole if most items differ. The patch stays within
 * the default limits of `PatchRules` for operations and pointers: if the differences are too many, the patch replaces
 * whole members, or the whole document.
 *
 * @param from - plain JSON: the document as it is
 * @param to - plain JSON: the document as it should be
 * @param options - whether the patch contains guards
 * @returns the operations; none if the documents are equal
 *
 * @example
 * ```ts
 * import { diff } from 'gateway-admin-core/json';
 *
 * diff({ port: 3306 }, { port: 3307 }); // => [{ "op": "replace", "path": "/port", "value": 3307 }]
 * diff({ port: 3306 }, {}, { guards: true }).map(({ op }) => op); // => ["test", "remove"]
 * ```
 *
 * @see RFC 6902 §4.
 *
 * @public
 */
export function diff(from: Json, to: Json, options: DiffOptions = {}): readonly Operation[] {
  assertObject(options, 'options');
  // The inverse of the opposite change leads in the wanted direction, and an inverse contains guards.
  return options.guards === true
    ? compareWithin(to, from, 'inverse').inverse
    : difference(from, to).operations;
}

/**
 * Gives the operations that lead from one value to another, and the operations that lead back. The operations are
 * frozen; the values in them are not.
 *
 * @param isWhole - tells which values are replaced as a whole; none by default
 *
 * @see RFC 6902 §4.
 *
 * @internal
 */
export function difference(before: Json, after: Json, isWhole?: IsWhole): Difference {
  return compareWithin(before, after, 'operations', isWhole);
}

type IsWhole = (value: Json) => boolean;

/** The operations found so far, in both directions. */
interface Ways {
  readonly operations: Operation[];
  readonly inverse: Operation[];
  readonly isWhole: IsWhole | undefined;
}

/** The depths to try, in order: as deep as pointers may be, members of members, members, only the whole document. */
const depths = [usualLimits.maxPointerTokens, 2, 1, 0];

/** Compares at the greatest depth that keeps the patch named by `limited` within the limits. */
function compareWithin(before: Json, after: Json, limited: keyof Difference, isWhole?: IsWhole): Difference {
  let ways: Ways = { operations: [], inverse: [], isWhole };
  for (const depth of depths) {
    ways = { operations: [], inverse: [], isWhole };
    compare(ways, '', before, after, depth);
    if (isWithin(ways[limited])) break;
  }
  Object.freeze(ways.operations);
  Object.freeze(ways.inverse);
  return ways;
}

function isWithin(patch: readonly Operation[]): boolean {
  if (patch.length > usualLimits.maxOperations) return false;
  return patch.every(({ path }) => path.length <= usualLimits.maxPointerLength);
}

/** Adds the operations for one place. `levels` is the number of levels below the place that may be compared. */
function compare(ways: Ways, path: string, before: Json, after: Json, levels: number): void {
  if (before === after) return;
  if (isContainer(before) && isContainer(after)) {
    if (levels === 0 || ways.isWhole?.(before) || ways.isWhole?.(after)) {
      if (sameJson(before, after)) return;
    } else if (isArray(before)) {
      if (isArray(after)) return compareItems(ways, path, before, after, levels);
    } else if (!isArray(after)) return compareMembers(ways, path, before, after, levels);
  }
  noteReplaced(ways, path, before, after);
}

type Members = Readonly<Record<string, Json>>;

function compareMembers(ways: Ways, path: string, before: Members, after: Members, levels: number): void {
  // `Object.entries` would take five times as long when nothing differs. Inherited members never equal a JSON value, so
  // a look at own members is needed only where the values differ.
  for (const key in before) {
    const old = before[key] ?? null;
    if (after[key] !== old && !Object.hasOwn(after, key)) noteRemoved(ways, path + formatToken(key), old);
  }
  for (const key in after) {
    const [old, now] = [before[key], after[key] ?? null];
    if (old === now) continue;
    if (Object.hasOwn(before, key)) compare(ways, path + formatToken(key), old ?? null, now, levels - 1);
    else noteAdded(ways, path + formatToken(key), now);
  }
}

type Items = readonly Json[];

function compareItems(ways: Ways, path: string, before: Items, after: Items, levels: number): void {
  const start = sharedStart(before, after);
  const end = sharedEnd(before, after, start);
  const gone = before.length - start - end;
  const come = after.length - start - end;
  const most = usualLimits.maxOperations;
  const short = areShort(before, after);
  if (gone === come && (gone === 1 || !short)) {
    for (let at = start; at < start + gone; at += 1) {
      compare(ways, placeIn(path, at), before[at] ?? null, after[at] ?? null, levels - 1);
    }
  } else if (gone + come > most || (!short && gone + come > after.length)) {
    noteReplaced(ways, path, before, after);
  } else if (gone === 0) {
    noteInserted(ways, path, after, { start, count: come, last: end === 0 });
  } else if (come === 0) {
    noteTaken(ways, path, before, after, start);
  } else {
    const edits = short ? editList(before, after) : exchange(after, start, { gone, come });
    for (const edit of edits) ways.operations.push(Object.freeze({ ...edit, path: path + edit.path }));
    // The edits do not say which old item became which new item, so the inverse replaces the whole list.
    noteWayBack(ways, path, before, after);
  }
}

/** The number of equal items at the start of two lists. */
function sharedStart(before: Items, after: Items): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && sameJson(before[count] ?? null, after[count] ?? null)) count += 1;
  return count;
}

/** The number of equal items at the end of two lists, not counting the first `start` items. */
function sharedEnd(before: Items, after: Items, start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && sameJson(before.at(-1 - count) ?? null, after.at(-1 - count) ?? null)) count += 1;
  return count;
}

/** Whether a search for the fewest edits pays off. The search compares every item with every other item. */
function areShort(before: Items, after: Items): boolean {
  return before.length * after.length <= 1000 && areScalars(before) && areScalars(after);
}

function areScalars(items: Items): boolean {
  for (let at = items.length - 1; at >= 0; at -= 1) if (isContainer(items[at] ?? null)) return false;
  return true;
}

/**
 * The fewest edits that turn one list of scalars into another, with paths relative to the list. The time grows with the
 * product of the two lengths.
 */
function editList(before: Items, after: Items): readonly Operation[] {
  return createPatch(before, after);
}

/** The edits that remove some items of a list and insert others in their place. */
function exchange(
  after: Items,
  start: number,
  { gone, come }: { readonly gone: number; readonly come: number },
): readonly Operation[] {
  const removes = Array.from({ length: gone }, () => remove(placeIn('', start)));
  const adds = Array.from({ length: come }, (_, each) =>
    add(placeIn('', start + each), after[start + each] ?? null),
  );
  return [...removes, ...adds];
}

function noteAdded({ operations, inverse }: Ways, path: string, value: Json): void {
  operations.push(add(path, value));
  inverse.push(test(path, value), remove(path));
}

function noteRemoved({ operations, inverse }: Ways, path: string, value: Json): void {
  operations.push(remove(path));
  inverse.push(add(path, value));
}

function noteReplaced(ways: Ways, path: string, before: Json, after: Json): void {
  ways.operations.push(replace(path, after));
  noteWayBack(ways, path, before, after);
}

function noteWayBack({ inverse }: Ways, path: string, before: Json, after: Json): void {
  inverse.push(test(path, after), replace(path, before));
}

/** The inserted items of a list; `last` says whether no old item follows them. */
interface Inserted {
  readonly start: number;
  readonly count: number;
  readonly last: boolean;
}

function noteInserted(ways: Ways, path: string, after: Items, { start, count, last }: Inserted): void {
  const first = placeIn(path, start);
  for (let at = start; at < start + count; at += 1) {
    const item = after[at] ?? null;
    ways.operations.push(add(last ? `${path}/-` : placeIn(path, at), item));
    // Each `remove` moves the next inserted item to the position of the first one.
    ways.inverse.push(test(first, item), remove(first));
  }
}

function noteTaken(ways: Ways, path: string, before: Items, after: Items, start: number): void {
  const count = before.length - after.length;
  ways.inverse.push(besideOf(path, after, start));
  for (let at = start; at < start + count; at += 1) {
    ways.operations.push(remove(placeIn(path, start)));
    ways.inverse.push(add(placeIn(path, at), before[at] ?? null));
  }
}

/** A test of the item beside the place of removed items: the inverse may insert them only next to that item. */
function besideOf(path: string, items: Items, at: number): Operation {
  const beside = Math.min(at, items.length - 1);
  return beside === -1 ? test(path, items) : test(placeIn(path, beside), items[beside] ?? null);
}

function placeIn(path: string, index: number): string {
  return `${path}/${String(index)}`;
}

function add(path: string, value: Json): Operation {
  return Object.freeze({ op: 'add', path, value });
}

function remove(path: string): Operation {
  return Object.freeze({ op: 'remove', path });
}

function replace(path: string, value: Json): Operation {
  return Object.freeze({ op: 'replace', path, value });
}

function test(path: string, value: Json): Operation {
  return Object.freeze({ op: 'test', path, value });
}
