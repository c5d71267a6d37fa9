/**
 * Reading: the answers of the routes that change nothing, which are resources, lists and the stream of events.
 */
import type { Version } from '../../core/version.ts';
import { formatEtag, parseEntityTags, satisfiesIfNoneMatch } from '../../http/etag.ts';
import { selectFields } from '../../http/fields.ts';
import { clipRange, rangeLinks } from '../../http/range.ts';
import type { Listing, May, Route } from '../../http/route.ts';
import { fail, ok, type Problem, type Result } from '../../problem.ts';
import type { BoundResourceRoute } from '../../resources/index.ts';
import type { Surroundings } from '../../resources/shared/rendering.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { readerOf } from '../password/share.ts';
import { parseEventId, type EventId } from '../read/event-log.ts';
import { shownCaller, type Caller } from './access.ts';
import type { Arrival, HandlerOptions, Replying } from './arrival.ts';
import type { Query } from './query.ts';
import { empty, jsonText, list, refusal, stream, type Headers, type Reply } from './respond.ts';
import { findAll } from './search.ts';

type ReadRoute = Exclude<BoundResourceRoute, { readonly kind: 'command' }>;

/** What decides on the answer to a read. */
interface Asked extends Pick<Arrival<Route>, 'request' | 'parameters' | 'query' | 'caller'> {
  /** What the caller may do with the resource; left out if the request does not ask. */
  readonly may?: readonly May[];
}

/** Answers with a resource or a list. @internal */
export function read(
  route: ReadRoute,
  { request, parameters, query, caller, may }: Asked,
  options: HandlerOptions,
): Replying {
  const noneMatch = entityTags(request.headers['if-none-match']);
  if (!noneMatch.ok) return refusal(noneMatch.problem);
  const { texts } = options;
  const surroundings = withFields(query, surroundingsFor(caller, options));
  const snapshot = options.snapshot();
  const found = route.find(snapshot, parameters);
  if (!found.ok) return refusal(found.problem);
  // No version stands for what a caller may do, which depends on the caller and on the moment.
  const tagging = may === undefined ? route : undefined;
  const etag = etagOf(snapshot, tagging?.version?.(snapshot, found.value), query);
  const shownTag = etag ?? tagging?.conditionTag?.(found.value);
  const headers: Headers = shownTag === undefined ? {} : { etag: shownTag };
  if (etag !== undefined && noneMatch.value !== undefined && !satisfiesIfNoneMatch(noneMatch.value, etag)) {
    return empty(304, headers);
  }
  const select = query.fields === undefined ? undefined : selectFields(query.fields, route.fieldAliases);
  const isWhole = query.fields === undefined && query.search === undefined;
  const textOf = (represent: () => unknown): string =>
    texts.textOf({ route, found: found.value, etag, isWhole }, represent);
  if (route.kind === 'item') {
    const represent = (): unknown => {
      const item = route.read(snapshot, found.value, surroundings);
      return may === undefined ? (select?.(item) ?? item) : { ...item, may };
    };
    return jsonText(200, textOf(represent), headers);
  }
  const each = select && ((element: unknown): unknown => select(element as object));
  const answer = (listing: Listing): Reply =>
    list(
      listing,
      clipRange(query.range, listing.total, listing.after?.start),
      each,
      { ...headers, ...pageHeaders(query, listing) },
      textOf,
    );
  if (query.search === undefined || route.select === undefined)
    return answer(route.list(snapshot, found.value, surroundings));
  const selected = route.select(snapshot, found.value, surroundings, query.search);
  // Not at once: a search is long, and its first part must not delay the program that calls `handle`.
  return Promise.resolve(selected)
    .then((search) => findAll(search, request.signal))
    .then(answer);
}

/** What a route sees besides the snapshot, with the fields that the client asks for. */
function withFields({ fields }: Query, surroundings: Surroundings): Surroundings {
  return fields === undefined ? surroundings : { ...surroundings, fields };
}

/** What a route sees besides the snapshot, with the caller. @internal */
export function surroundingsFor({ principal }: Caller, options: HandlerOptions): Surroundings {
  const { surroundings } = options;
  if (principal === undefined) return surroundings;
  return { ...surroundings, caller: () => shownCaller(options, principal) };
}

/** Opens a stream of events. @internal */
export function follow(
  { request, query: { after, types }, caller }: Arrival<Route>,
  { snapshot, streams }: HandlerOptions,
): Reply {
  const { method, headers, signal } = request;
  const last = lastEventId(headers['last-event-id']);
  if (!last.ok) return refusal(last.problem);
  const reader = readerOf(request, caller.principal);
  const full = streams.refusal(reader);
  if (full !== undefined) return refusal(full);
  // Nobody would read or end the body of an answer to HEAD.
  if (method === 'HEAD') return stream();
  // A browser that connects again sends the header, and the parameter as it was at first.
  const from = last.value ?? after;
  const body = streams.open({
    reader,
    ...(from === undefined ? {} : { after: from }),
    ...(types === undefined ? {} : { types }),
    ...(signal === undefined ? {} : { signal }),
    refusal: () => caller.refusalIn(snapshot()),
  });
  return stream(body);
}

/** Answers with a status alone. A probe that finds the interface not ready asks again. @internal */
export function probe(problem: Problem | undefined): Reply {
  return problem === undefined ? empty(204) : refusal(problem, { 'retry-after': '1' });
}

function lastEventId(header: string | undefined): Result<EventId | undefined> {
  if (header === undefined) return ok(undefined);
  const id = parseEventId(header);
  if (id !== undefined) return ok(id);
  const detail =
    'The header Last-Event-ID must be the id of an event of GET /events. Leave the header out to read from now on.';
  return fail('header-invalid', detail);
}

/** The entity tag of a representation; `undefined` if it has no version. @internal */
export function etagOf(snapshot: Snapshot, version: Version | undefined, query?: Query): string | undefined {
  return version === undefined
    ? undefined
    : formatEtag(snapshot.epoch, version, query === undefined ? '' : projectionOf(query));
}

/** The part of an entity tag that stands for the selected fields, elements and range. */
function projectionOf({ fields, search, range }: Query): string {
  const cut = range === undefined ? '' : `${String(range.first)}-${String(range.last)}`;
  const selected = search === undefined ? '' : new URLSearchParams(search).toString();
  return [fields?.join(',') ?? '', selected, cut].filter((part) => part !== '').join(';');
}

function pageHeaders({ range, rest }: Query, { total, after }: Listing): Readonly<Record<string, string>> {
  const count = { 'x-total-count': String(total) };
  const link = range === undefined ? undefined : rangeLinks(range, total, rest, after);
  return link === undefined ? count : { ...count, link };
}

/** The entity tags of a header; `undefined` without the header. @internal */
export function entityTags(header: string | undefined): Result<'*' | readonly string[] | undefined> {
  return header === undefined ? { ok: true, value: undefined } : parseEntityTags(header);
}
