/**
 * Differences: the JSON Patch that leads from one JSON value to another.
 *
 * The walk skips equal members, and equal items at both ends of a list. Only the differing middle of a short list needs
 * a search for the fewest edits.
 */
import { createPatch } from 'rfc6902';

import { type Json, isArray, isContainer, sameJson } from './value.ts';
import { usualLimits, type Operation } from './patch.ts';
import { formatToken } from './pointer.ts';

/**
 * Creates a JSON Patch that turns one document into another.
 *
 * The patch does not mention equal members, and replaces a list as a whole if most items differ. The patch stays within
 * the default limits of `PatchRules` for operations and pointers: if the differences are too many, the patch replaces
 * whole members, or the whole document.
 *
 * @param from - plain JSON: the document as it is
 * @param to - plain JSON: the document as it should be
 * @returns the operations, which are frozen; none if the documents are equal
 *
 * @example
 * ```ts
 * import { diff } from 'gateway-admin-core/json';
 *
 * diff({ port: 3306 }, { port: 3307 }); // => [{ "op": "replace", "path": "/port", "value": 3307 }]
 * ```
 *
 * @see RFC 6902 §4.
 *
 * @public
 */
export function diff(from: Json, to: Json): readonly Operation[] {
  return difference(from, to);
}

/**
 * As {@link diff}, with values that are replaced as a whole.
 *
 * @param isWhole - tells which values these are; none by default
 * @internal
 */
export function difference(before: Json, after: Json, isWhole?: IsWhole): readonly Operation[] {
  let operations: Operation[] = [];
  for (const depth of depths) {
    operations = [];
    compare({ operations, isWhole }, '', before, after, depth);
    if (isWithin(operations)) break;
  }
  return Object.freeze(operations);
}

type IsWhole = (value: Json) => boolean;

/** The operations found so far. */
interface Found {
  readonly operations: Operation[];
  readonly isWhole: IsWhole | undefined;
}

/** The depths to try, in order: as deep as pointers may be, members of members, members, only the whole document. */
const depths = [usualLimits.maxPointerTokens, 2, 1, 0];

function isWithin(patch: readonly Operation[]): boolean {
  if (patch.length > usualLimits.maxOperations) return false;
  return patch.every(({ path }) => path.length <= usualLimits.maxPointerLength);
}

/** Adds the operations for one place. `levels` is the number of levels below the place that may be compared. */
function compare(found: Found, path: string, before: Json, after: Json, levels: number): void {
  if (before === after) return;
  if (isContainer(before) && isContainer(after)) {
    if (levels === 0 || found.isWhole?.(before) || found.isWhole?.(after)) {
      if (sameJson(before, after)) return;
    } else if (isArray(before)) {
      if (isArray(after)) return compareItems(found, path, before, after, levels);
    } else if (!isArray(after)) return compareMembers(found, path, before, after, levels);
  }
  found.operations.push(replace(path, after));
}

type Members = Readonly<Record<string, Json>>;

function compareMembers(found: Found, path: string, before: Members, after: Members, levels: number): void {
  // `Object.entries` would take five times as long when nothing differs. Inherited members never equal a JSON value, so
  // a look at own members is needed only where the values differ.
  for (const key in before) {
    const isGone = after[key] !== before[key] && !Object.hasOwn(after, key);
    if (isGone) found.operations.push(remove(path + formatToken(key)));
  }
  for (const key in after) {
    const [old, now] = [before[key], after[key] ?? null];
    if (old === now) continue;
    if (Object.hasOwn(before, key)) compare(found, path + formatToken(key), old ?? null, now, levels - 1);
    else found.operations.push(add(path + formatToken(key), now));
  }
}

type Items = readonly Json[];

function compareItems(found: Found, path: string, before: Items, after: Items, levels: number): void {
  const start = sharedStart(before, after);
  const end = sharedEnd(before, after, start);
  const gone = before.length - start - end;
  const come = after.length - start - end;
  const most = usualLimits.maxOperations;
  const short = areShort(before, after);
  if (gone === come && (gone === 1 || !short)) {
    for (let at = start; at < start + gone; at += 1) {
      compare(found, placeIn(path, at), before[at] ?? null, after[at] ?? null, levels - 1);
    }
  } else if (gone + come > most || (!short && gone + come > after.length)) {
    found.operations.push(replace(path, after));
  } else {
    const edits =
      short && gone > 0 && come > 0
        ? editList(before, after)
        : exchange(after, start, { gone, come, isLast: gone === 0 && end === 0 });
    for (const edit of edits) found.operations.push(Object.freeze({ ...edit, path: path + edit.path }));
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
  { gone, come, isLast }: { readonly gone: number; readonly come: number; readonly isLast: boolean },
): readonly Operation[] {
  const removes = Array.from({ length: gone }, () => remove(placeIn('', start)));
  const adds = Array.from({ length: come }, (_, each) =>
    add(isLast ? '/-' : placeIn('', start + each), after[start + each] ?? null),
  );
  return [...removes, ...adds];
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
