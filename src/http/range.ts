/**
 * Pages: the `range` parameter and the links to the neighbouring pages.
 */
import { percentEncode } from '../core/link.ts';
import { fail, ok, type Result } from '../problem.ts';

/**
 * A window over a list, both ends included.
 *
 * @public
 */
export interface Range {
  /** Zero-based position of the first element. */
  readonly first: number;
  /** Zero-based position of the last element; never less than {@link Range.first}. */
  readonly last: number;
}

/**
 * Reads the `range` parameter: `first-last`, zero-based, both ends included, digits only. Anything else is refused
 * with `range-invalid`: reversed, open, negative, repeated, not a safe integer.
 *
 * @param values - the value of each occurrence of the parameter, percent-decoded
 * @returns the range as it was asked for; whether the list is that long is a question for {@link clipRange}
 *
 * @see docs/spec-choices.md 14.
 *
 * @internal
 */
export function parseRange(values: readonly string[]): Result<Range> {
  const [value, repeated] = values;
  if (value === undefined || repeated !== undefined) return refuse('is given exactly once');
  const ends = /^(\d+)-(\d+)$/.exec(value);
  if (ends === null) return refuse('is two positions, such as range=0-99, both included and counted from 0');
  const [first, last] = [Number(ends[1]), Number(ends[2])];
  if (first > last) return refuse('begins with the lower position');
  if (!Number.isSafeInteger(last)) return refuse(`has no position above ${String(Number.MAX_SAFE_INTEGER)}`);
  return ok({ first, last });
}

function refuse(rule: string): Result<never> {
  return fail('range-invalid', `The parameter "range" ${rule}.`);
}

/**
 * Cuts a range to a list. A range past the end gives no elements.
 *
 * @param range - what was asked for; without it the whole list
 * @param total - how many elements the list has
 * @returns how many elements to skip and how many to take; together never more than `total`
 *
 * @see docs/spec-choices.md 14.
 *
 * @internal
 */
export function clipRange(range: Range | undefined, total: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: total };
  const offset = Math.min(range.first, total);
  return { offset, length: Math.min(range.last + 1, total) - offset };
}

/** What cannot stand for itself in a query (RFC 3986 §3.4). Escapes that are there already are kept. */
const unsafeInQuery = /[^\w.~!$&'()*+,;=:@/?%-]/gu;

/**
 * Gives the value of the `Link` header that leads to the neighbouring pages, as query-only references: they hold
 * below any base path. The pages neither overlap nor leave a gap, so the first one may be shorter; from past the
 * end `prev` leads to the last elements.
 *
 * @param range - the range that was asked for
 * @param total - how many elements the list has
 * @param otherQuery - the rest of the raw query, without `range`; may be empty
 * @returns the value, or nothing when there is no neighbouring page
 *
 * @see RFC 8288 §3; docs/spec-choices.md 14.
 *
 * @internal
 */
export function rangeLinks(range: Range, total: number, otherQuery: string): string | undefined {
  const rest = otherQuery === '' ? '' : `${percentEncode(otherQuery, unsafeInQuery)}&`;
  const links = Object.entries({ next: nextRange(range, total), prev: previousRange(range, total) }).flatMap(
    ([relation, page]) =>
      page === undefined
        ? []
        : [`<?${rest}range=${String(page.first)}-${String(page.last)}>; rel="${relation}"`],
  );
  return links.length === 0 ? undefined : links.join(', ');
}

function nextRange(range: Range, total: number): Range | undefined {
  const first = range.last + 1;
  return first < total ? { first, last: range.last + size(range) } : undefined;
}

function previousRange(range: Range, total: number): Range | undefined {
  const last = Math.min(range.first, total) - 1;
  return last < 0 ? undefined : { first: Math.max(0, last + 1 - size(range)), last };
}

function size(range: Range): number {
  return range.last - range.first + 1;
}
