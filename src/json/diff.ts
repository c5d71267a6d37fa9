/**
 * Differences: how to get from one JSON value to another, and back.
 *
 * Both ways are found in one walk, because the old values are at hand then. What is alike is passed over: members by
 * their keys, the items of a list from both its ends. Only where a short list is really edited does it take a search.
 */
import { createPatch } from 'rfc6902';

import { type Json, isArray, isContainer, sameJson } from './value.ts';
import { usualLimits, type Operation } from './patch.ts';
import { formatToken } from './pointer.ts';

/** How two values differ. @internal */
export interface Difference {
  /** The operations that lead from the first value to the second: only those that are needed. */
  readonly operations: readonly Operation[];
  /**
   * The operations that lead back, each with a `test` before it of what the first value became: whoever changed it
   * since is not overruled. An `add` of a member has none, because no `test` can say that a member is absent: whoever
   * applies it has to see to that.
   */
  readonly inverse: readonly Operation[];
}

/** How a patch is made. @public */
export interface DiffOptions {
  /**
   * Puts a `test` before each `remove` and `replace` of what is there now, and before each `add` to a list of the
   * item beside the place: who changed that meanwhile is not overruled. An `add` of a member has no guard, because no
   * `test` can say that a member is absent (RFC 6902 §4.6): one that was added meanwhile is replaced.
   */
  readonly guards?: boolean;
}

/**
 * Makes a JSON Patch that turns one document into another.
 *
 * Members that stay are not mentioned; lists that differ much are replaced. The patch keeps to the default limits of
 * `PatchRules` for operations and pointers: where the differences are too many, whole members are replaced, or
 * the whole document.
 *
 * @param from - plain JSON, the document as it is
 * @param to - plain JSON, the document as it should be
 * @param options - how the patch is made
 * @returns the operations; none when the documents are equal
 *
 * @example
 * ```ts
 * import { diff } from 'gateway-admin-core/json';
 *
 * diff({ port: 3306 }, { port: 3307 }); // => [{ "op": "replace", "path": "/port", "value": 3307 }]
 * diff({ port: 3306 }, {}, { guards: true }).map(({ op }) => op); // => ["test", "remove"]
 * ```
 *
 * RFC 6902 §4.
 *
 * @public
 */
export function diff(from: Json, to: Json, { guards = false }: DiffOptions = {}): readonly Operation[] {
  // The inverse of the change that leads back from there is the guarded way to go there.
  return guards ? compareWithin(to, from, 'inverse').inverse : difference(from, to).operations;
}

/**
 * Gives the operations that lead from one value to another, and back. They are frozen, not what they hold.
 *
 * RFC 6902 §4.
 *
 * @internal
 */
export function difference(before: Json, after: Json): Difference {
  return compareWithin(before, after, 'operations');
}

/** The two ways, as far as they are known. */
interface Ways {
  readonly operations: Operation[];
  readonly inverse: Operation[];
}

/** How deep to look for differences: as deep as pointers may be, then at members of members, at members, not at all. */
const depths = [usualLimits.maxPointerTokens, 2, 1, 0];

/** Looks as deep as it can so that the patch in question is within the limits. */
function compareWithin(before: Json, after: Json, limited: keyof Ways): Difference {
  let ways: Ways = { operations: [], inverse: [] };
  for (const depth of depths) {
    ways = { operations: [], inverse: [] };
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

/** Notes how two values at one place differ; `levels` says how deep their differences are looked for. */
function compare(ways: Ways, path: string, before: Json, after: Json, levels: number): void {
  if (before === after) return;
  if (isContainer(before) && isContainer(after)) {
    if (levels === 0) {
      if (sameJson(before, after)) return;
    } else if (isArray(before)) {
      if (isArray(after)) return compareItems(ways, path, before, after, levels);
    } else if (!isArray(after)) return compareMembers(ways, path, before, after, levels);
  }
  noteReplaced(ways, path, before, after);
}

type Members = Readonly<Record<string, Json>>;

function compareMembers(ways: Ways, path: string, before: Members, after: Members, levels: number): void {
  // Not `Object.entries`, which takes five times as long where nothing differs. What a prototype has is equal to
  // nothing in JSON, so that it is enough to ask for own members where there is a difference.
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
  } else if (gone + come > most || (gone > 0 && !short && gone + come > after.length)) {
    noteReplaced(ways, path, before, after);
  } else if (gone === 0) {
    noteInserted(ways, path, after, { start, count: come, last: end === 0 });
  } else if (come === 0) {
    noteTaken(ways, path, before, after, start);
  } else {
    const edits = short ? editList(before, after) : exchange(after, start, { gone, come });
    for (const edit of edits) ways.operations.push(Object.freeze({ ...edit, path: path + edit.path }));
    // What became of one item cannot be told then, so that the inverse is about the whole list.
    noteWayBack(ways, path, before, after);
  }
}

/** How many items two lists have alike at the start. */
function sharedStart(before: Items, after: Items): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && sameJson(before[count] ?? null, after[count] ?? null)) count += 1;
  return count;
}

/** How many items two lists have alike at the end, behind the first `start`. */
function sharedEnd(before: Items, after: Items, start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && sameJson(before.at(-1 - count) ?? null, after.at(-1 - count) ?? null)) count += 1;
  return count;
}

/** Whether two lists are such that a search for the fewest edits pays: it compares every item with every other. */
function areShort(before: Items, after: Items): boolean {
  return before.length * after.length <= 1000 && areScalars(before) && areScalars(after);
}

function areScalars(items: Items): boolean {
  for (let at = items.length - 1; at >= 0; at -= 1) if (isContainer(items[at] ?? null)) return false;
  return true;
}

/**
 * The fewest edits that turn one list of scalars into another, with paths from the list on.
 *
 * Takes time in the product of their lengths.
 */
function editList(before: Items, after: Items): readonly Operation[] {
  return createPatch(before, after);
}

/** The edits that put some items of a list in the place of others. */
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

/** Which items of a list were put in, and whether they are its last. */
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
    // Once the one before it is gone, each of them is where the first one was.
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

/** A test of what is beside the place where items were taken out: there they belong, if anywhere. */
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
