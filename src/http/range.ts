/**
 * Pages: the `range` parameter, and the `Link` header with the neighbouring pages.
 */
import { percentEncode } from '../core/link.ts';
import { fail, ok, type Result } from '../problem.ts';
import type { Listing } from './route.ts';

/**
 * A page of a list; both ends are included.
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
 * Parses the `range` parameter: two zero-based positions `first-last`, both included, in digits only.
 *
 * Refused with `range-invalid`: a reversed, open or negative range, a repeated parameter, and a position that is no
 * safe integer.
 *
 * @param values - the value of each occurrence of the parameter, percent-decoded
 * @returns the range. {@link clipRange} adapts the range to the length of the list
 *
 * @see docs/spec-choices.md 14.
 *
 * @internal
 */
export function parseRange(values: readonly string[]): Result<Range> {
  const [value, repeated] = values;
  if (value === undefined || repeated !== undefined) return refuse('must be given exactly once');
  const ends = /^(\d+)-(\d+)$/.exec(value);
  if (ends === null)
    return refuse('must be two positions, such as range=0-99, both included and counted from 0');
  const [first, last] = [Number(ends[1]), Number(ends[2])];
  if (first > last) return refuse('must begin with the lower position');
  if (!Number.isSafeInteger(last))
    return refuse(`must not have a position above ${String(Number.MAX_SAFE_INTEGER)}`);
  return ok({ first, last });
}

function refuse(rule: string): Result<never> {
  return fail('range-invalid', `The parameter "range" ${rule}.`);
}

/**
 * Cuts a range to the length of a list. A range past the end gives no elements.
 *
 * @param range - the requested range; left out for the whole list
 * @param total - number of elements in the list
 * @param start - the position from which the range counts
 * @returns the number of elements to skip and the number to take; together at most `total`
 *
 * @see docs/spec-choices.md 14.
 *
 * @internal
 */
export function clipRange(
  range: Range | undefined,
  total: number,
  start = 0,
): { offset: number; length: number } {
  if (range === undefined) return { offset: start, length: total - start };
  const offset = Math.min(start + range.first, total);
  return { offset, length: Math.min(start + range.last + 1, total) - offset };
}

/** Characters that a query must escape (RFC 3986 §3.4). Existing escapes stay. */
const unsafeInQuery = /[^\w.~!$&'()*+,;=:@/?%-]/gu;

/**
 * Gives the value of the `Link` header with the neighbouring pages, as references with a query only, which are valid
 * below any base path.
 *
 * The pages neither overlap nor leave a gap, so the first page may be shorter. For a range past the end, `prev` leads
 * to the last elements. Of a list whose pages can begin after an element, `next` leads on after the last one of the
 * page.
 *
 * @param range - the requested range
 * @param total - number of elements in the list
 * @param otherQuery - the rest of the raw query, without `range` and `after`; may be empty
 * @param after - how a page begins after an element; left out for a list whose pages begin at a position alone
 * @returns the value; `undefined` if there is no neighbouring page
 *
 * @see RFC 8288 §3; docs/spec-choices.md 14.
 *
 * @internal
 */
export function rangeLinks(
  range: Range,
  total: number,
  otherQuery: string,
  after?: Listing['after'],
): string | undefined {
  const rest = otherQuery === '' ? '' : `${percentEncode(otherQuery, unsafeInQuery)}&`;
  const start = after?.start ?? 0;
  const page = { first: start + range.first, last: start + range.last };
  const [next, previous] = [nextRange(page, total), previousRange(page, total)];
  const queries = {
    next: next && after ? queryAfter(after.idAt(page.last), size(range)) : rangeQuery(next),
    prev: rangeQuery(previous),
  };
  const links = Object.entries(queries).flatMap(([relation, query]) =>
    query === undefined ? [] : [`<?${rest}${query}>; rel="${relation}"`],
  );
  return links.length === 0 ? undefined : links.join(', ');
}

function queryAfter(id: number, length: number): string {
  return `after=${String(id)}&range=0-${String(length - 1)}`;
}

function rangeQuery(range: Range | undefined): string | undefined {
  return range && `range=${String(range.first)}-${String(range.last)}`;
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
