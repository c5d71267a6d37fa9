/**
 * Drafts: documents under change. A patch changes a draft at the places that its pointers name, and the original
 * document stays as it was.
 *
 * A draft copies the containers on the way to a changed place, each at most once. All other parts are shared with the
 * original.
 */
import { type Json, isArray, isContainer, sameJson, setMember, type JsonContainer } from './value.ts';
import { childOf, parseIndex, valueAt } from './pointer.ts';

/** A document under change; the original stays as it was. @internal */
export interface Draft {
  document: Json;
  /** The number of changes so far. */
  changes: number;
  /** The copies that belong to this draft alone and may be changed. Each copy has only one place in the document. */
  owned: (Json[] | Record<string, Json>)[];
}

/** Inserts a value between items, or sets a member. False if the place does not exist. @internal */
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
  // Most inserts append, and `splice` is slow.
  if (index === items.length) items.push(value);
  else items.splice(index, 0, value);
  return true;
}

/** Replaces a value, unless the new value is equal. False if the place does not exist. @internal */
export function replaceAt(draft: Draft, path: readonly string[], value: Json): boolean {
  const old = valueAt(draft.document, path);
  if (old === undefined) return false;
  putUnlessSame(draft, path, old, value);
  return true;
}

function putUnlessSame(draft: Draft, path: readonly string[], old: Json | undefined, value: Json): void {
  if (old === undefined || !sameJson(old, value)) putAt(draft, path, value);
}

/** Removes a value. False if the place does not exist, and for the whole document. @internal */
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
  // A copy with a `delete` would make the object slow for the rest of its life.
  for (const key of Object.keys(parent)) if (key !== token) setMember(rest, key, parent[key] ?? null);
  draft.owned.push(rest);
  putAt(draft, above, rest);
  return true;
}

/**
 * Freezes the copies of the draft. Needed before a value gets a second place in the document, because a change of one
 * place would change the other. @internal
 */
export function freezeOwned(draft: Draft): void {
  for (const container of draft.owned) Object.freeze(container);
  draft.owned = [];
}

/**
 * Freezes the changed document. Gives the original instead if several changes have cancelled each other out.
 *
 * @param last - first token of the place that was changed last, where a difference is likely
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

/** Copies the containers along a path into the draft, and gives the innermost one. The path must exist. */
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

/** Arrays are spread: `slice` of a frozen array is hundreds of times slower on Node 20. */
function copyOf(value: JsonContainer): Draft['owned'][number] {
  if (isArray(value)) return [...value];
  // `Object.assign` gives objects that freeze faster than spread ones, but would set the prototype for `__proto__`.
  return Object.hasOwn(value, '__proto__') ? { ...value } : Object.assign({}, value);
}

function setChild(container: Draft['owned'][number], token: string, value: Json): void {
  if (Array.isArray(container)) container[Number(token)] = value;
  else setMember(container, token, value);
}
