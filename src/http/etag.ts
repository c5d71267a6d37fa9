/**
 * Entity tags: what they say of a representation, and the conditions of a request that compare it.
 *
 * A tag is `"<content>.<epoch>-<revision>"`. The content is a digest of what commands change, so equal content has an
 * equal first part: at every node, after every restart, after an undo. `If-Match` compares only that. Therefore a PATCH
 * is accepted even if a counter has changed since the GET. `If-None-Match` compares the whole tag.
 *
 * The tag of a session is `"<id>.<connected>"`, and `If-Match` compares all of it.
 */
import type { Validator } from '../core/content.ts';
import { percentEncode } from '../core/link.ts';
import { fail, ok, type Result } from '../problem.ts';

/** Characters that a tag must escape: all except the `etagc` of ASCII (RFC 9110 §8.8.3), and `%` itself. */
const unsafeInTag = /[^!#$&-~]/gu;

/**
 * Writes an entity tag.
 *
 * @param epoch - text that distinguishes this life of the snapshot from others; must pass {@link isEpoch}
 * @param validator - what the tag says of the representation
 * @param projection - the selected part of the representation, as any text; empty for the whole representation
 * @returns a strong entity tag; different projections have different tags
 *
 * @see RFC 9110 §8.8.3; docs/spec-choices.md 34.
 *
 * @internal
 */
export function formatEtag(epoch: string, { content, revision }: Validator, projection = ''): string {
  const suffix = projection === '' ? '' : `;${percentEncode(projection, unsafeInTag)}`;
  return `"${content}.${epoch}-${String(revision)}${suffix}"`;
}

/**
 * Parses the value of `If-Match` or `If-None-Match`.
 *
 * Refused with `header-invalid` unless the value is `*` or a list of entity tags, which may have empty elements. The
 * time grows in proportion to the length.
 *
 * @param header - the value of the header
 * @returns `*`, or the tags in order; each tag has its quotes and, if it is weak, its `W/`
 *
 * @see RFC 9110 §5.6.1, §8.8.3, §13.1.1.
 *
 * @internal
 */
export function parseEntityTags(header: string): Result<'*' | readonly string[]> {
  if (/^[ \t]*\*[ \t]*$/.test(header)) return ok('*');
  // A tag contains no escapes, so the parts at odd positions are the texts between quotes.
  const parts = header.split('"');
  if (parts.length % 2 === 0 || !parts.every((part, index) => partRule(index, parts.length).test(part))) {
    return fail('header-invalid', malformed);
  }
  return ok(parts.flatMap((part, index) => (index % 2 === 0 ? [] : [toTag(part, parts[index - 1] ?? '')])));
}

const malformed =
  'If-Match and If-None-Match must be * or a list of entity tags in double quotes, such as "x.y-7", "z.y-9".';

function toTag(opaque: string, before: string): string {
  return `${before.endsWith('W/') ? 'W/' : ''}"${opaque}"`;
}

function partRule(index: number, count: number): RegExp {
  if (index % 2 === 1) return /^[\x21\x23-\x7e\x80-\xff]*$/;
  if (index === count - 1) return /^[ \t,]*$/;
  return index === 0 ? /^[ \t,]*(?:W\/)?$/ : /^[ \t]*,[ \t,]*(?:W\/)?$/;
}

/**
 * Tells whether `If-Match` allows a change: one of the tags must have the content of the resource. Of a tag
 * without a content, all is compared.
 *
 * The revision and the projection are not compared, and the weak form of a tag matches too, because a proxy that
 * compresses makes tags weak. This departs from the strong comparison of RFC 9110 on purpose: what is compared is no
 * property of the bytes.
 *
 * @param tags - the result of {@link parseEntityTags}
 * @param etag - the tag of the resource; `undefined` if its representation has none
 * @returns true if the change is allowed. `*` always allows the change, because the caller has checked that the
 *   resource exists
 *
 * @see RFC 9110 §13.1.1; docs/spec-choices.md 34.
 *
 * @internal
 */
export function satisfiesIfMatch(tags: '*' | readonly string[], etag: string | undefined): boolean {
  if (tags === '*') return true;
  if (etag === undefined) return false;
  const current = comparedPart(etag);
  return tags.some((tag) => comparedPart(tag) === current);
}

/** The part of a tag that `If-Match` compares. */
function comparedPart(tag: string): string {
  const opaque = opaqueTag(tag);
  return withContent.exec(opaque)?.[1] ?? opaque;
}

/** A tag with a digest. That of a session has none. */
const withContent = /^"([A-Za-z0-9_-]{22})\./;

/**
 * Tells whether `If-None-Match` asks for the representation. Whole tags are compared, with the weak comparison.
 *
 * @param tags - the result of {@link parseEntityTags}
 * @param etag - the tag of the representation; left out for a representation without a tag
 * @returns true if no tag matches, so the representation is to be sent. Always false for `*`
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
