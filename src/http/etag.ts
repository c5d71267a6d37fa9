/**
 * Entity tags: the version of a representation, and the conditions that speak of it.
 *
 * A tag is `"<epoch>.<command>.<live>"`. Edits are guarded by the first two parts alone, so that a counter which
 * moves between a GET and a PATCH does not spoil the edit; caches compare the whole tag.
 */
import { percentEncode } from '../core/link.ts';
import type { Version } from '../core/version.ts';
import { fail, ok, type Result } from '../problem.ts';

/** What is not `etagc` (RFC 9110 §8.8.3) in ASCII, and `%`, so that different projections give different tags. */
const unsafeInTag = /[^!#$&-~]/gu;

/**
 * Writes an entity tag.
 *
 * @param epoch - what tells this life of the snapshot from others; {@link isEpoch} holds for it
 * @param version - when something that the representation shows last changed
 * @param projection - what was selected of the representation, as any text; empty when it is all of it
 * @returns a strong entity tag; different projections have different tags
 *
 * @see RFC 9110 §8.8.3; docs/spec-choices.md 34.
 *
 * @internal
 */
export function formatEtag(epoch: string, version: Version, projection = ''): string {
  const suffix = projection === '' ? '' : `;${percentEncode(projection, unsafeInTag)}`;
  return `"${epoch}.${String(version.command)}.${String(version.live)}${suffix}"`;
}

/**
 * Reads the value of `If-Match` or `If-None-Match`. Refused with `header-invalid` unless it is `*` or a list of
 * entity tags; a list may have empty elements. Takes time in proportion to the length.
 *
 * @param header - the value of the field
 * @returns `*`, or the tags in order, each with its quotes and, when it is weak, its `W/`
 *
 * @see RFC 9110 §5.6.1, §8.8.3, §13.1.1.
 *
 * @internal
 */
export function parseEntityTags(header: string): Result<'*' | readonly string[]> {
  if (/^[ \t]*\*[ \t]*$/.test(header)) return ok('*');
  // A tag has no escapes: the parts at odd places are what stands between quotes.
  const parts = header.split('"');
  if (parts.length % 2 === 0 || !parts.every((part, index) => partRule(index, parts.length).test(part))) {
    return fail('header-invalid', malformed);
  }
  return ok(parts.flatMap((part, index) => (index % 2 === 0 ? [] : [toTag(part, parts[index - 1] ?? '')])));
}

const malformed =
  'If-Match and If-None-Match take either * or entity tags in double quotes, separated by commas, such as "x.7.9".';

function toTag(opaque: string, before: string): string {
  return `${before.endsWith('W/') ? 'W/' : ''}"${opaque}"`;
}

function partRule(index: number, count: number): RegExp {
  if (index % 2 === 1) return /^[\x21\x23-\x7e\x80-\xff]*$/;
  if (index === count - 1) return /^[ \t,]*$/;
  return index === 0 ? /^[ \t,]*(?:W\/)?$/ : /^[ \t]*,[ \t,]*(?:W\/)?$/;
}

/**
 * Tells whether `If-Match` lets a change happen: the epoch and the last command have to agree. The live part and
 * the projection are not compared, which departs from strong comparison on purpose; weak tags never match.
 *
 * @param tags - what {@link parseEntityTags} gives
 * @param epoch - the epoch of the snapshot
 * @param version - when the resource last changed; left out where the representation carries no tag
 * @returns true when the change may happen. `*` always holds: whether the resource exists is asked before
 *
 * @see RFC 9110 §13.1.1; docs/spec-choices.md 34.
 *
 * @internal
 */
export function satisfiesIfMatch(
  tags: '*' | readonly string[],
  epoch: string,
  version: Version | undefined,
): boolean {
  if (tags === '*') return true;
  if (version === undefined) return false;
  // No epoch has a dot in it, so the beginning of the tag says it all.
  const current = `"${epoch}.${String(version.command)}.`;
  return tags.some((tag) => tag.startsWith(current));
}

/**
 * Tells whether `If-None-Match` lets the representation be sent. Whole tags are compared, weakly.
 *
 * @param tags - what {@link parseEntityTags} gives
 * @param etag - the tag of the representation; left out where it carries none
 * @returns true when no tag matches: send it. `*` never holds for a representation that exists
 *
 * @see RFC 9110 §8.8.3.2, §13.1.2; docs/spec-choices.md 34.
 *
 * @internal
 */
export function satisfiesIfNoneMatch(tags: '*' | readonly string[], etag: string | undefined): boolean {
  if (tags === '*') return false;
  return etag === undefined || !tags.some((tag) => opaqueTag(tag) === opaqueTag(etag));
}

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
