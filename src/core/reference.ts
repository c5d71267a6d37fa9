/**
 * References: links that come in, resolved to the things they name and written again in canonical form.
 */
import type { Json } from './json.ts';
import { linkTo, parseLink } from './link.ts';
import { nameKey } from './name.ts';
import { formatPointer } from './pointer.ts';
import type { Fault } from './problem.ts';

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
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
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
 * @internal
 */
export function resolveLinks(
  links: readonly string[],
  collection: string,
  find: FindName,
  path: readonly (string | number)[],
): Resolved {
  const resolved = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [position, link] of links.entries()) {
    if (position >= mostLinks) break;
    const canonical = resolveLink(link, collection, find);
    const earlier = canonical === undefined ? undefined : resolved.get(canonical);
    if (canonical === undefined || earlier !== undefined) {
      const detail =
        earlier === undefined
          ? unresolved(link, collection)
          : `names the same thing as item ${String(earlier)}`;
      faults.push({ pointer: formatPointer([...path, position]), code: 'link-unresolved', detail });
    } else {
      resolved.set(canonical, position);
    }
  }
  return { links: [...resolved.keys()], faults };
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
