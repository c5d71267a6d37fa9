/**
 * Links: relative paths that name a resource, and the percent-encoding of such paths.
 */

import { assertText } from '../json/value.ts';
import { quoted } from '../problem.ts';
import { nameKey } from './name.ts';

/** The characters that a path segment must escape: all except `pchar` (RFC 3986 §3.3), and `%` itself. */
const unsafeInSegment = /[^\w.~!$&'()*+,;=:@-]/gu;

/** Names that a path shows as they are. Most names are of this kind. */
const plainSegment = /^[\w.~-]*$/;

/**
 * Gives the canonical link of a resource: white space becomes hyphens, letters keep their case, and characters that a
 * URL does not allow are percent-encoded.
 *
 * @param collection - the first segment of the path, such as `services`
 * @param name - the name of the resource as declared, or the id of a session
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
  const text = String(name);
  return `/${collection}/${plainSegment.test(text) ? text : encodeSegment(text.replace(/\s/g, '-'))}`;
}

/**
 * Gives the key of the resource that a link names. Looks at the text alone: the resource need not exist yet, as when
 * one command creates a server and a service that lists it.
 *
 * @param link - a link of one resource, such as those in the settings `servers` and `filters`
 * @returns the key, as {@link nameKey} gives it for the name in the link
 * @throws TypeError for a text that is no link of one resource
 *
 * @example
 * ```ts
 * import { keyOf } from 'gateway-admin-core/gateway-port';
 *
 * keyOf('/servers/DB-1'); // => "db-1"
 * keyOf('/servers/eu%2Fwest'); // => "eu/west"
 * ```
 *
 * @see docs/spec-choices.md 4.
 *
 * @public
 */
export function keyOf(link: string): string {
  assertText(link, 'link');
  const [, collection = ''] = link.split('/', 2);
  const name = collection === '' ? undefined : parseLink(link, collection);
  if (name === undefined)
    throw new TypeError(`The link of a resource is a path such as /servers/db-1, not ${quoted(link)}`);
  return nameKey(name);
}

/** Percent-encodes one path segment. @see RFC 3986 §3.3. @internal */
export function encodeSegment(segment: string): string {
  return percentEncode(segment, unsafeInSegment);
}

/**
 * Gives the name in a link from a client or a document.
 *
 * Refused, with `undefined`: absolute URLs, links of another collection, a query, a fragment, `.` and `..`, further
 * segments, an empty name, and broken escapes.
 *
 * @param link - the link
 * @param collection - the collection that the link must belong to, such as `servers`
 * @returns the name, percent-decoded and not folded. {@link nameKey} gives the key for a look-up
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
 * Percent-decodes one path segment, once. An escaped slash stays in the segment.
 *
 * @param segment - the text between two slashes of a path
 * @returns the decoded text; `undefined` if an escape is broken or the decoded bytes are not UTF-8
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

/** Explains why {@link decodeSegment} refuses a part of a request. @internal */
export function brokenEscape(part: 'path' | 'query'): string {
  const fault = `The ${part} contains a percent sign that does not begin an escape of UTF-8, such as %20.`;
  return `${fault} Write a percent sign itself as %25.`;
}

/**
 * Percent-encodes, as UTF-8, the characters that a pattern matches. Never refused: half of a surrogate pair becomes
 * U+FFFD.
 *
 * @param text - any text
 * @param unsafe - pattern with the flags `gu` that matches single characters: all that are not ASCII, and none of
 *   `A-Z a-z 0-9 - _ . ! ~ * ' ( )`
 * @returns the text with an escape in place of each matched character
 *
 * @see RFC 3986 §2.1.
 *
 * @internal
 */
export function percentEncode(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (character) =>
    encodeURIComponent(/\p{Cs}/u.test(character) ? '\u{FFFD}' : character),
  );
}

/** Links that fold as a whole: ASCII without an escape. Most links are of this kind. */
const plainLink = /^[!-$&-~]{0,1024}$/;

/**
 * Folds a link for comparison: each segment as {@link nameKey} folds the name. A slash of a name stays escaped, so that
 * no two links have one key.
 *
 * @internal
 */
export function linkKey(link: string): string {
  if (plainLink.test(link)) return link.toLowerCase();
  return link
    .split('/')
    .map((segment) => nameKey(decodeSegment(segment) ?? segment).replace(/[%/]/g, encodeURIComponent))
    .join('/');
}

/** Whether a link is that of a place, or below the place: a listener is below its service. @internal */
export function isWithin(link: string, place: string): boolean {
  return `${linkKey(link)}/`.startsWith(`${linkKey(place)}/`);
}

/** The link of the service of a listener; of anything else, its own. @internal */
export function ownerOf(link: string): string {
  return link.split('/').slice(0, 3).join('/');
}
