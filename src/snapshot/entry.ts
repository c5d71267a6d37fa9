/**
 * Entries of a gateway document: checked against the fields of their kind, and made into resources.
 */
import { loadFields, type Fields } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import { isTextList, resolveLinks, type FindName } from '../core/reference.ts';
import { parseShape } from '../core/shape.ts';
import { asObject, deepFreeze, isArray, type Json, type JsonObject } from '../json/value.ts';
import { formatPointer, hasReservedKey, reservedToken } from '../json/pointer.ts';
import type { Fault } from '../problem.ts';
import type { ConfiguredEntity } from './state.ts';

type Path = readonly (string | number)[];

/** An entry after its check. @internal */
interface Checked {
  /** The entry with canonical links; left out if its shape is wrong. */
  readonly entry?: object;
  readonly faults: readonly Fault[];
}

/**
 * Checks an entry, and resolves its links.
 *
 * @param path - the place of the entry, for the faults
 * @param find - look-up of names for links
 * @internal
 */
export function checkEntry(fields: Fields, entry: Json, path: Path, find: FindName): Checked {
  const parsed = parseShape(fields.document, entry, path);
  const members = asObject(entry);
  const resolved = resolveEntry(fields.links, members, path, find);
  const faults = [...resolved.faults, ...innerNameFaults(fields, members, path)];
  if (parsed.ok) return { entry: { ...parsed.value, ...resolved.links }, faults };
  return { faults: [...parsed.faults, ...faults] };
}

/** The names of a list of entries. @internal */
interface Names {
  /** The names by key. */
  readonly names: ReadonlyMap<string, string>;
  /** The faults of the names: two names with one key, because no path could distinguish them. */
  readonly faults: readonly Fault[];
}

/**
 * Gives the names in a list of entries.
 *
 * @param singular - what an entry is, such as `server`
 * @param path - the place of the list, for the faults
 * @param mostFaults - the number of faults that are given
 * @internal
 */
export function namesIn(
  entries: readonly Json[],
  singular: string,
  path: Path,
  mostFaults = Infinity,
): Names {
  const names = new Map<string, string>();
  const faults: Fault[] = [];
  for (const [position, entry] of entries.entries()) {
    const name = asObject(entry)['name'];
    // The shape refuses such a name anyway, and a fault for the same name twice would quote it twice.
    if (typeof name !== 'string' || name.length > 4096) continue;
    const key = nameKey(name);
    const earlier = names.get(key);
    if (earlier === undefined) {
      names.set(key, name);
      continue;
    }
    if (faults.length >= mostFaults) continue;
    const pair = `${JSON.stringify(name)} and ${JSON.stringify(earlier)}`;
    const detail = `names the same ${singular} as an earlier entry: ${pair} have the same key; rename one of them`;
    faults.push({ pointer: formatPointer([...path, position, 'name']), code: 'validation-failed', detail });
  }
  return { names, faults };
}

/** The faults of the names in the lists of an entry, such as the listeners of a service. */
function innerNameFaults({ all }: Fields, entry: JsonObject, path: Path): readonly Fault[] {
  return all.flatMap(({ name, entries }) => {
    const list = entries === undefined ? undefined : entry[name];
    const singular = name.replace(/s$/, '');
    return list !== undefined && isArray(list) ? namesIn(list, singular, [...path, name]).faults : [];
  });
}

/** Resolves the links as written, so that a fault elsewhere in the entry does not hide the fault of a link. */
function resolveEntry(
  fields: Readonly<Record<string, string>>,
  entry: JsonObject,
  path: Path,
  find: FindName,
): { readonly links: JsonObject; readonly faults: readonly Fault[] } {
  const links: Record<string, readonly string[]> = {};
  const faults: Fault[] = [];
  for (const [field, collection] of Object.entries(fields)) {
    const written = entry[field];
    if (!isTextList(written)) continue;
    const resolved = resolveLinks(written, collection, find, [...path, field]);
    links[field] = resolved.links;
    for (const fault of resolved.faults) faults.push(fault);
  }
  return { links, faults };
}

/** Creates the resource of a valid entry with canonical links. @internal */
export function loadEntity(fields: Fields, entry: object, revision = 0): ConfiguredEntity {
  const { rest, seen, settings } = loadFields(fields, entry);
  // The cast is safe: `defineFields` makes the compiler check the table of a kind against its interfaces.
  const own = { key: nameKey(String(rest['name'])), revision, settings };
  return deepFreeze(
    Object.assign(rest, own, fields.seen.rest.length > 0 && { seen }),
  ) as unknown as ConfiguredEntity;
}

/**
 * Gives a fault for each reserved key in a value.
 *
 * @param value - plain JSON of limited depth
 * @param path - the place of the value in the document
 * @internal
 */
export function reservedFaults(value: Json, path: readonly (string | number)[] = []): readonly Fault[] {
  return hasReservedKey(value) === undefined ? [] : faultsIn(value, path);
}

/** Recursion is safe, because the depth is limited. */
function faultsIn(value: Json, path: readonly (string | number)[]): readonly Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as JsonObject).flatMap(([name, member]) => {
    const place = [...path, name];
    if (reservedToken([name]) === undefined) return faultsIn(member, place);
    return [{ pointer: formatPointer(place), code: 'reserved-key', detail: 'is not allowed as a key' }];
  });
}
