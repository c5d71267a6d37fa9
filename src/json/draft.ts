/**
 * Drafts: documents that are being changed at the places that pointers name, while the ones they started from stay as
 * they were.
 *
 * What a change touches is copied, once for each draft, and all the rest is shared.
 */
import { type Json, isArray, isContainer, sameJson, setMember, type JsonContainer } from './value.ts';
import { childOf, parseIndex, valueAt } from './pointer.ts';

/** A document that is being changed, while the one it started from stays as it was. @internal */
export interface Draft {
  document: Json;
  /** How often something changed. */
  changes: number;
  /** Copies that belong to this draft alone, so that they can be changed. Each is in the document only once. */
  owned: (Json[] | Record<string, Json>)[];
}

/** Puts a value in, between items or as a member. False when there is no such place. @internal */
export function insertAt(draft: Draft, path: readonly string[], value: Json): boolean {
  const token = path[path.length - 1];
  if (token === undefined) return replaceAt(draft, path, value);
  const parent = valueAt(draft.document, path, path.length - 1);
  if (parent === undefined || !isContainer(parent)) return false;
  if (!isArray(parent)) {
    putUnlessSame(draft, path, childOf(parent, token), value);
    return true;
  }
  const index = token === '-' ? parent.length : parseIndex(token);
  if (index === undefined || index > parent.length) return false;
  const items = openParent(draft, path) as Json[];
  // Most go to the end, and `splice` is slow.
  if (index === items.length) items.push(value);
  else items.splice(index, 0, value);
  return true;
}

/** Puts a value in the place of another, unless they are equal. False when there is no such place. @internal */
export function replaceAt(draft: Draft, path: readonly string[], value: Json): boolean {
  const old = valueAt(draft.document, path);
  if (old === undefined) return false;
  putUnlessSame(draft, path, old, value);
  return true;
}

function putUnlessSame(draft: Draft, path: readonly string[], old: Json | undefined, value: Json): void {
  if (old === undefined || !sameJson(old, value)) putAt(draft, path, value);
}

/** Takes a value out. False when there is no such place; the whole document is none. @internal */
export function removeAt(draft: Draft, path: readonly string[]): boolean {
  const token = path[path.length - 1];
  const above = path.slice(0, -1);
  const parent = valueAt(draft.document, above) ?? null;
  if (token === undefined || !isContainer(parent) || childOf(parent, token) === undefined) return false;
  if (isArray(parent)) {
    (openParent(draft, path) as Json[]).splice(Number(token), 1);
    return true;
  }
  const rest: Record<string, Json> = {};
  // Not a copy with a `delete`, which makes objects slow for good.
  for (const key of Object.keys(parent)) if (key !== token) setMember(rest, key, parent[key] ?? null);
  draft.owned.push(rest);
  putAt(draft, above, rest);
  return true;
}

/** Freezes what the draft has made: needed before anything gets a second place in the document. @internal */
export function freezeOwned(draft: Draft): void {
  for (const container of draft.owned) Object.freeze(container);
  draft.owned = [];
}

/**
 * Freezes the changed document, or gives back the one before when several changes have taken each other back.
 *
 * @param last - a token at the root, of the place changed last: where a difference is found soonest
 * @internal
 */
export function finish(draft: Draft, before: Json, last: string): Json {
  freezeOwned(draft);
  const { document, changes } = draft;
  const back = changes > 1 && sameJson(childOf(before, last) ?? null, childOf(document, last) ?? null);
  return back && sameJson(before, document) ? before : document;
}

function putAt(draft: Draft, path: readonly string[], value: Json): void {
  const token = path[path.length - 1];
  if (token === undefined) {
    draft.document = value;
    draft.changes += 1;
  } else setChild(openParent(draft, path), token, value);
}

/** Makes the containers along a path the draft's own, and gives the innermost. The path must exist. */
function openParent(draft: Draft, path: readonly string[]): Draft['owned'][number] {
  let parent = own(draft, draft.document);
  draft.document = parent;
  draft.changes += 1;
  for (let depth = 0; depth < path.length - 1; depth += 1) {
    const token = path[depth] ?? '';
    const child = own(draft, childOf(parent, token) ?? null);
    setChild(parent, token, child);
    parent = child;
  }
  return parent;
}

function own(draft: Draft, value: Json): Draft['owned'][number] {
  for (const mine of draft.owned) if (mine === value) return mine;
  const copy = isContainer(value) ? copyOf(value) : {};
  draft.owned.push(copy);
  return copy;
}

/** Arrays are spread, because `slice` of frozen ones is hundreds of times slower on Node 20. */
function copyOf(value: JsonContainer): Draft['owned'][number] {
  if (isArray(value)) return [...value];
  // Spread of a literal gives objects that are slow to freeze; but `assign` would set the prototype.
  return Object.hasOwn(value, '__proto__') ? { ...value } : Object.assign({}, value);
}

function setChild(container: Draft['owned'][number], token: string, value: Json): void {
  if (Array.isArray(container)) container[Number(token)] = value;
  else setMember(container, token, value);
}
