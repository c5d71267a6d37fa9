/**
 * References: links that come in, resolved to the things they name and written again in canonical form.
 */
import type { Json } from '../json/value.ts';
import { linkTo, parseLink } from './link.ts';
import { nameKey } from './name.ts';
import { formatPointer } from '../json/pointer.ts';
import type { Fault } from '../problem.ts';

/** Characters of a link that comes in: more than a name of 255 code points takes when it is percent-encoded. */
const longestLink = 4096;

/** How many links a list may hold; a longer one is refused by its shape, and not looked into. */
const mostLinks = 10_000;

/**
 * Finds what a name stands for: the name as it was declared, or `undefined` when there is no such thing.
 *
 * @internal
 */
export type FindName = (collection: string, key: string) => string | undefined;

/** Whether a value is a list of texts, as lists of links are. @internal */
export function isTextList(value: Json | undefined): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  // By index: `every` of a frozen array takes four times as long on Node 20.
  for (let index = value.length - 1; index >= 0; index -= 1)
    if (typeof value[index] !== 'string') return false;
  return true;
}

/** The canonical links and what is wrong with the others. @internal */
export interface Resolved {
  readonly links: readonly string[];
  readonly faults: readonly Fault[];
}

/**
 * Resolves links to things of one collection. A link that is malformed or names nothing is a fault, and so is a
 * second link to the same thing.
 *
 * @param links - relative links, in any spelling of the name
 * @param collection - the collection they must be of, such as `servers`
 * @param find - look-up of names
 * @param path - where the links stand in what was sent
 * @param known - links that are canonical and resolve, as those do that a snapshot holds
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
  const isKnown = known.length === 0 ? undefined : lookUpOf(known);
  for (let position = 0; position < Math.min(links.length, mostLinks); position += 1) {
    const link = links[position] ?? '';
    const resolved = isKnown?.(link) === true ? link : resolveLink(link, collection, find);
    const earlier = resolved === undefined ? undefined : positions.get(resolved);
    if (resolved !== undefined && earlier === undefined) {
      positions.set(resolved, position);
      canonical.push(resolved);
    } else {
      const detail =
        earlier === undefined
          ? unresolved(link, collection)
          : `names the same thing as item ${String(earlier)}`;
      faults.push({ pointer: formatPointer([...path, position]), code: 'link-unresolved', detail });
    }
  }
  return { links: canonical, faults };
}

function lookUpOf(known: readonly string[]): (link: string) => boolean {
  // A few are found fastest by looking at each, many only by a set.
  if (known.length <= 16) return (link) => known.includes(link);
  const set = new Set(known);
  return (link) => set.has(link);
}

/** The canonical form of a link, or `undefined` when it names nothing of the collection. @internal */
export function resolveLink(link: string, collection: string, find: FindName): string | undefined {
  // Longer than any canonical link can be, and folding a name takes time in the square of its length.
  const wanted = link.length > longestLink ? undefined : parseLink(link, collection);
  const name = wanted === undefined ? undefined : find(collection, nameKey(wanted));
  return name === undefined ? undefined : linkTo(collection, name);
}

function unresolved(link: string, collection: string): string {
  const wanted = link.length > longestLink ? undefined : parseLink(link, collection);
  if (wanted === undefined) return `must be a relative link of the form /${collection}/<name>`;
  return `names nothing that exists: GET /${collection} lists what there is`;
}
