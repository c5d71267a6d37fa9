/**
 * Links: relative paths that name a resource, and the percent-encoding they need.
 */

/** What cannot stand for itself in a path segment: all but `pchar` (RFC 3986 §3.3), and `%`. */
const unsafeInSegment = /[^\w.~!$&'()*+,;=:@-]/gu;

/**
 * Gives the canonical link of a resource: white space as hyphens, case kept, percent-encoded where a URL needs it.
 *
 * @param collection - the first segment of the path, such as `services`
 * @param name - the name of the resource as it was declared, or the id of a session
 * @returns the link, such as `/services/Read-Write-Split`
 *
 * @example
 * ```ts
 * import { linkTo } from 'gateway-admin-core';
 *
 * linkTo('servers', 'DB 1'); // => "/servers/DB-1"
 * linkTo('servers', 'eu/west?'); // => "/servers/eu%2Fwest%3F"
 * linkTo('sessions', 7); // => "/sessions/7"
 * ```
 *
 * @see Gateway Administration REST Interface, "Conventions"; RFC 3986 §3.3; docs/spec-choices.md 4.
 *
 * @public
 */
export function linkTo(collection: string, name: string | number): string {
  return `/${collection}/${percentEncode(String(name).replace(/\s/g, '-'), unsafeInSegment)}`;
}

/**
 * Gives the name that a link from outside speaks of. Nothing is given for anything but the relative path of a
 * resource of that collection: absolute URLs, another collection, a query, a fragment, `..`, further segments, an
 * empty name, broken escapes.
 *
 * @param link - what a patch or a document has in the place of a link
 * @param collection - the collection that it has to belong to, such as `servers`
 * @returns the name, percent-decoded and not folded; look it up by its {@link nameKey}
 *
 * @see docs/spec-choices.md 4.
 *
 * @internal
 */
export function parseLink(link: string, collection: string): string | undefined {
  const prefix = `/${collection}/`;
  if (!link.startsWith(prefix)) return undefined;
  const segment = link.slice(prefix.length);
  if (/[/?#]/.test(segment)) return undefined;
  const name = decodeSegment(segment);
  return name === '' || name === '.' || name === '..' ? undefined : name;
}

/**
 * Percent-decodes one path segment, once. An escaped slash stays part of it.
 *
 * @param segment - the text between two slashes of a path
 * @returns the decoded text, or nothing when an escape is broken or what it encodes is not UTF-8
 *
 * @see RFC 3986 §2.1; docs/spec-choices.md 3.
 *
 * @internal
 */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * Percent-encodes, as UTF-8, the characters that a pattern picks. Never refuses: half of a surrogate pair is
 * written as U+FFFD.
 *
 * @param text - any text
 * @param unsafe - pattern with the flags `gu` that picks single characters: all that are not ASCII, and none of
 * `A-Z a-z 0-9 - _ . ! ~ * ' ( )`
 * @returns the text, made of escapes and of characters that the pattern does not pick
 *
 * @see RFC 3986 §2.1
 *
 * @internal
 */
export function percentEncode(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (character) =>
    encodeURIComponent(/\p{Cs}/u.test(character) ? '\u{FFFD}' : character),
  );
}
