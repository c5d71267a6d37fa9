/**
 * Queries: what a request asks for beside its path.
 */
import { parseFields } from '../../http/fields.ts';
import { fail, ok, type Result } from '../../problem.ts';
import { parseRange, type Range } from '../../http/range.ts';
import type { Route } from '../../http/route.ts';

/** A query that has been read. @internal */
export interface Query {
  /** The fields asked for, in canonical order; left out for all. */
  readonly fields?: readonly string[];
  /** The range asked for; left out for all. */
  readonly range?: Range;
  /** Whether the command is only to be planned. */
  readonly dryRun: boolean;
  /** The query without its range, encoded. */
  readonly rest: string;
}

const nothing: Query = Object.freeze({ dryRun: false, rest: '' });

/**
 * Reads a query. A parameter that the route does not list is refused: a `range` that is silently ignored makes a pager
 * loop for ever.
 *
 * @param raw - the query as it was written, without `?`
 * @internal
 */
export function parseQuery(route: Pick<Route, 'query' | 'fields'>, raw: string): Result<Query> {
  if (raw === '') return ok(nothing);
  const query = new URLSearchParams(raw);
  const stranger = [...query.keys()].find((name) => !route.query.some((known) => known === name));
  if (stranger !== undefined) return fail('query-invalid', unsupported(stranger, route.query));
  const fields = query.has('fields') ? parseFields(query.getAll('fields'), route.fields) : undefined;
  if (fields?.ok === false) return fields;
  const range = query.has('range') ? parseRange(query.getAll('range')) : undefined;
  if (range?.ok === false) return range;
  const dryRun = query.getAll('dry_run');
  if (dryRun.length > 1 || dryRun.some((value) => value !== 'true' && value !== 'false')) {
    return fail('query-invalid', 'The parameter "dry_run" is "true" or "false", once.');
  }
  return ok({
    ...(fields === undefined ? {} : { fields: fields.value }),
    ...(range === undefined ? {} : { range: range.value }),
    dryRun: dryRun[0] === 'true',
    rest: withoutRange(query),
  });
}

function unsupported(stranger: string, known: readonly string[]): string {
  const supported = known.length === 0 ? 'It takes no query parameters.' : `It takes: ${known.join(', ')}.`;
  return `The parameter ${JSON.stringify(stranger.slice(0, 40))} is not supported here. ${supported}`;
}

function withoutRange(query: URLSearchParams): string {
  return new URLSearchParams([...query].filter(([name]) => name !== 'range')).toString();
}
