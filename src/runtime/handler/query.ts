/**
 * Queries: the parameters `fields`, `range`, `may`, `dry_run`, `mark`, `after` and `types` of a request, and the search
 * parameters of its route.
 */
import { brokenEscape, decodeSegment } from '../../core/link.ts';
import { parseInstant } from '../../core/time.ts';
import { parseFields } from '../../http/fields.ts';
import { fail, ok, quoted, type Result } from '../../problem.ts';
import { parseRange, type Range } from '../../http/range.ts';
import type { Route, SearchValues } from '../../http/route.ts';
import { adopted } from '../../resources/partial-document.ts';
import { parseSessionId } from '../../resources/shared/look-up.ts';
import { parseMark, type Mark } from '../plan/mark.ts';
import { parseEventId, type EventId } from '../read/event-log.ts';

/** A parsed query. @internal */
export interface Query {
  /** The selected fields, in canonical order; left out for all fields. */
  readonly fields?: readonly string[];
  /** The selected range; left out for the whole list. */
  readonly range?: Range;
  /** The values of the search parameters; left out if none is given. */
  readonly search?: SearchValues;
  /** The event after which a stream begins; left out if the stream begins with the next new event. */
  readonly after?: EventId;
  /** The wanted types of events, or their first words; left out for all types. */
  readonly types?: ReadonlySet<string>;
  /** The mark of the plan that the command must carry out. */
  readonly mark?: Mark;
  /** Whether the command is a dry run. */
  readonly dryRun: boolean;
  /** Whether a resource is read with what the caller may do. */
  readonly may: boolean;
  /** The other parameters, without `range` and `after`, encoded. */
  readonly rest: string;
  /** The part of an entity tag that stands for the selected fields, elements and range. */
  readonly projection: string;
}

/** The query of a request without one. @internal */
export const noQuery = Object.freeze({
  ok: true,
  value: Object.freeze<Query>({ dryRun: false, may: false, rest: '', projection: '' }),
} as const);

/**
 * Parses a query. A parameter that the route does not support is refused: if an unsupported `range` were ignored, a
 * client that reads page by page would never end. A broken escape is refused too.
 *
 * @param route - the route of the request
 * @param raw - the query as the client sent it, without `?`
 * @internal
 */
export function parseQuery(route: Asked, raw: string): Result<Query> {
  if (raw === '') return noQuery;
  const last = lastQueries.get(route);
  if (last?.raw === raw) return last.parsed;
  const parsed = parseNew(route, raw);
  lastQueries.set(route, { raw, parsed });
  return parsed;
}

type Asked = Pick<Route, 'query' | 'search' | 'fields'>;

/** The last query of each route: who polls sends the same one again. Its length is bounded like that of a target. */
const lastQueries = new WeakMap<Asked, { readonly raw: string; readonly parsed: Result<Query> }>();

function parseNew(route: Asked, raw: string): Result<Query> {
  // The parser would replace what is no UTF-8, and would take away a question mark at the beginning.
  if (decodeSegment(raw) === undefined) return fail('query-invalid', brokenEscape('query'));
  const query = new URLSearchParams(`?${raw}`);
  const known: readonly string[] = [...route.query, ...route.search];
  const stranger = [...query.keys()].find((name) => !known.includes(name));
  if (stranger !== undefined) return fail('query-invalid', unsupported(stranger, known));
  const fields = query.has('fields') ? parseFields(query.getAll('fields'), route.fields) : undefined;
  if (fields?.ok === false) return fields;
  const range = query.has('range') ? parseRange(query.getAll('range')) : undefined;
  if (range?.ok === false) return range;
  const search = parseSearch(query, route.search);
  if (!search.ok) return search;
  const after = route.search.includes('after')
    ? undefined
    : parseOnce(query, 'after', parseEventId, 'the id of an event of GET /events');
  if (after?.ok === false) return after;
  const types = query.has('types') ? parseTypes(query.getAll('types')) : undefined;
  if (types?.ok === false) return types;
  const dryRun = parseWord(query, 'dry_run');
  if (!dryRun.ok) return dryRun;
  const may = parseWord(query, 'may');
  if (!may.ok) return may;
  if (may.value && fields !== undefined) return fail('query-invalid', mayIsWhole);
  const mark = parseOnce(query, 'mark', parseMark, 'the mark of a plan (dry_run=true)');
  if (mark?.ok === false) return mark;
  const selection = {
    ...(fields === undefined ? {} : { fields: fields.value }),
    ...(range === undefined ? {} : { range: range.value }),
    ...(search.value === undefined ? {} : { search: search.value }),
  };
  return ok({
    ...selection,
    ...(after === undefined ? {} : { after: after.value }),
    ...(types === undefined ? {} : { types: types.value }),
    ...(mark === undefined ? {} : { mark: mark.value }),
    dryRun: dryRun.value,
    may: may.value,
    rest: withoutPlace(query),
    projection: projectionOf(selection),
  });
}

/** A query for some of the fields that a query asks for. @internal */
export function withFields(query: Query, fields: readonly string[]): Query {
  return { ...query, fields, projection: projectionOf({ ...query, fields }) };
}

function projectionOf({ fields, search, range }: Pick<Query, 'fields' | 'search' | 'range'>): string {
  const cut = range === undefined ? '' : `${String(range.first)}-${String(range.last)}`;
  const selected = search === undefined ? '' : new URLSearchParams(search).toString();
  return [fields?.join(',') ?? '', selected, cut].filter((part) => part !== '').join(';');
}

/** What `only` can name. */
const collections: readonly string[] = [...adopted.map(({ collection }) => collection), 'listeners'];

const mayIsWhole =
  'The parameter "may" goes with the whole resource, and not with "fields". Leave one of them out.';

const word = { fits: isWord, form: '"true" or "false"' } as const;

/** What a search parameter must be, if it is more than a text: an unknown name selects nothing. */
const forms: Readonly<Record<string, { readonly fits: (text: string) => boolean; readonly form: string }>> = {
  since: { fits: isInstant, form: 'an instant, such as 2016-08-29T09:52:31Z' },
  before: { fits: isInstant, form: 'an instant, such as 2016-08-29T09:52:31Z' },
  idle_over: { fits: isAmount, form: 'a number of at least 0, such as 600' },
  after: { fits: (text) => parseSessionId(text).ok, form: 'the id of a session, such as 28' },
  older_than: { fits: isAmount, form: 'a number of seconds of at least 0, such as 3600' },
  all: word,
  detach: word,
  prune: word,
  allow_empty: word,
  only: {
    fits: areCollections,
    form: `a list of ${collections.join(', ')}, with commas between them, and listeners only beside services`,
  },
};

function isWord(text: string): boolean {
  return text === 'true' || text === 'false';
}

function areCollections(text: string): boolean {
  const names = text.split(',');
  const isAlone = names.includes('listeners') && !names.includes('services');
  return !isAlone && names.every((name) => collections.includes(name));
}

function isInstant(text: string): boolean {
  return parseInstant(text) !== undefined;
}

function isAmount(text: string): boolean {
  return /^\d{1,15}(?:\.\d{1,15})?$/.test(text);
}

/** The values of the search parameters. */
function parseSearch(query: URLSearchParams, names: readonly string[]): Result<SearchValues | undefined> {
  const given = names.filter((name) => query.has(name));
  if (given.length === 0) return ok(undefined);
  const repeated = given.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) return fail('query-invalid', `The parameter "${repeated}" must be given once.`);
  const strange = given.find((name) => forms[name]?.fits(query.get(name) ?? '') === false);
  if (strange !== undefined)
    return fail('query-invalid', `The parameter "${strange}" must be ${forms[strange]?.form ?? 'a text'}.`);
  return ok(Object.fromEntries(given.map((name) => [name, query.get(name) ?? ''])));
}

/** Parses a parameter that can be given once; `undefined` if it is not given. */
function parseOnce<T>(
  query: URLSearchParams,
  name: string,
  parse: (text: string) => T | undefined,
  what: string,
): Result<T> | undefined {
  const [value, ...more] = query.getAll(name);
  if (value === undefined) return undefined;
  const parsed = more.length === 0 ? parse(value) : undefined;
  if (parsed !== undefined) return ok(parsed);
  return fail('query-invalid', `The parameter "${name}" must be given once, as ${what}.`);
}

/** Parses a parameter that is false if it is not given. */
function parseWord(query: URLSearchParams, name: string): Result<boolean> {
  const parse = (text: string): boolean | undefined => (isWord(text) ? text === 'true' : undefined);
  return parseOnce(query, name, parse, word.form) ?? ok(false);
}

/** The wanted types. A type that does not exist is no error, because another version of the library may have it. */
function parseTypes(values: readonly string[]): Result<ReadonlySet<string>> {
  const types = values.flatMap((value) => value.split(',')).map((type) => type.trim());
  const stranger = types.find((type) => !/^[a-z]+(?:\.[a-z]+)*$/.test(type));
  if (stranger === undefined) return ok(new Set(types));
  const detail =
    `The parameter "types" must be types of events, or their first words, separated by commas, such as ` +
    `service,server.updated; ${quoted(stranger)} is neither.`;
  return fail('query-invalid', detail);
}

function unsupported(stranger: string, known: readonly string[]): string {
  const supported = known.length === 0 ? 'Leave it out' : `Supported: ${known.join(', ')}`;
  return `The parameter ${JSON.stringify(stranger.slice(0, 40))} is not supported here. ${supported}.`;
}

function withoutPlace(query: URLSearchParams): string {
  return new URLSearchParams([...query].filter(([name]) => name !== 'range' && name !== 'after')).toString();
}
