/**
 * References: links from clients and documents, resolved to the resources that they name and written in canonical form.
 */
import type { Json } from '../json/value.ts';
import { linkTo, parseLink } from './link.ts';
import { nameKey } from './name.ts';
import { formatPointer } from '../json/pointer.ts';
import { quoted, type Fault } from '../problem.ts';

/** Longest link, in characters. A name of 255 code points needs less, also when percent-encoded. @internal */
export const longestLink = 4096;

/** Most links in a list. The shape of the list refuses longer ones; their further links are not resolved. @internal */
export const mostLinks = 10_000;

/**
 * Finds a resource by collection and key, and gives its name as declared; `undefined` if there is no such resource.
 *
 * @internal
 */
export type FindName = (collection: string, key: string) => string | undefined;

/** Whether a value is a list of texts, as a list of links is. @internal */
export function isTextList(value: Json | undefined): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  // By index: `every` of a frozen array takes four times as long on Node 20.
  for (let index = value.length - 1; index >= 0; index -= 1)
    if (typeof value[index] !== 'string') return false;
  return true;
}

/** The links that resolve, in canonical form, and a fault for each other link. @internal */
export interface Resolved {
  readonly links: readonly string[];
  readonly faults: readonly Fault[];
}

/**
 * Resolves links to resources of one collection. The result has a `link-unresolved` fault for each link that is
 * malformed, names no resource, or names the same resource as an earlier link.
 *
 * @param links - relative links, with the name in any spelling
 * @param collection - the collection that the links must belong to, such as `servers`
 * @param find - look-up of names
 * @param path - the place of the links in the JSON that was sent
 * @param known - links that are known to be canonical and to resolve, such as those of a snapshot
 * @internal
 */
export function resolveLinks(
  links: readonly string[],
  collection: string,
  find: FindName,
  path: readonly (string | number)[],
  known: readonly string[] = [],
): Resolved {
  const canonical: string[] = [];
  const positions = new Map<string, number>();
  const faults: Fault[] = [];
  const isKnown = lookUpOf(known);
  for (let position = 0; position < Math.min(links.length, mostLinks); position += 1) {
    const link = links[position] ?? '';
    const resolved = isKnown(link) ? link : canonicalLink(link, collection, find);
    const earlier = resolved === undefined ? undefined : positions.get(resolved);
    if (resolved !== undefined && earlier === undefined) {
      positions.set(resolved, position);
      canonical.push(resolved);
    } else {
      const detail =
        earlier === undefined
          ? unresolved(link, collection)
          : `names the same resource as item ${String(earlier)}`;
      faults.push({ pointer: formatPointer([...path, position]), code: 'link-unresolved', detail });
    }
  }
  return { links: canonical, faults };
}

function lookUpOf(known: readonly string[]): (link: string) => boolean {
  // A list is faster for a few links, a set for many.
  if (known.length <= 16) return (link) => known.includes(link);
  const set = new Set(known);
  return (link) => set.has(link);
}

/** Gives the canonical form of a link; `undefined` if the link names no resource of the collection. @internal */
export function canonicalLink(link: string, collection: string, find: FindName): string | undefined {
  // No canonical link is longer, and the time to fold a name grows with the square of its length.
  const wanted = link.length > longestLink ? undefined : parseLink(link, collection);
  const name = wanted === undefined ? undefined : find(collection, nameKey(wanted));
  return name === undefined ? undefined : linkTo(collection, name);
}

function unresolved(link: string, collection: string): string {
  const wanted = link.length > longestLink ? undefined : parseLink(link, collection);
  // The text is quoted only if it has the form of a link: any other text may be a secret in the wrong place.
  if (wanted === undefined) return `must be a relative link of the form /${collection}/<name>`;
  return `${quoted(link)} names no existing resource: correct the link`;
}
