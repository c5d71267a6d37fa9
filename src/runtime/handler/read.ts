/**
 * Reading: the answers of the routes that change nothing, which are resources, lists and the stream of events.
 */
import { satisfiesIfNoneMatch } from '../../http/etag.ts';
import { selectFields } from '../../http/fields.ts';
import { clipRange, rangeLinks } from '../../http/range.ts';
import type { Listing, ProbeRoute, Route, Search } from '../../http/route.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { fail, ok, type Result } from '../../problem.ts';
import type { BoundResourceRoute } from '../../resources/index.ts';
import type { Surroundings } from '../../resources/shared/rendering.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { digestsFor, failureOf, tagOf } from '../command/condition.ts';
import { readerOf } from '../password/share.ts';
import { parseEventId, type EventId } from '../read/event-log.ts';
import { shownCaller } from './access.ts';
import type { Arrival, Replying } from './arrival.ts';
import type { Running } from '../running.ts';
import type { Query } from './query.ts';
import { empty, jsonText, list, refusal, stream, type Headers, type Reply } from './respond.ts';
import type { Reading, TextCache } from './text-cache.ts';

type ItemRoute = Extract<BoundResourceRoute, { readonly kind: 'item' }>;
type ListRoute = Extract<BoundResourceRoute, { readonly kind: 'list' }>;
type ReadRoute = ItemRoute | ListRoute;
type BoundProbe = ProbeRoute<Surroundings>;

/** What the path of a request leads to, and what is shown of it. */
interface There {
  readonly snapshot: Snapshot;
  readonly found: unknown;
  readonly reading: Reading;
  readonly headers: Headers;
}

/** Answers with a resource or a list. @internal */
export function read(arrival: Arrival<ReadRoute>, running: Running): Replying {
  const { route, parameters, query, may } = arrival;
  const { ifMatch, ifNoneMatch } = arrival.conditions;
  const { snapshot } = running.writer;
  const missing = digestsFor(route, snapshot);
  if (missing !== undefined) return missing.then(() => read(arrival, running));
  const found = route.find(snapshot, parameters, running.surroundings);
  if (!found.ok) return refusal(found.problem);
  const known = route.validator?.(snapshot, found.value);
  const tag = tagOf(route, found.value, snapshot.epoch, known, query.projection);
  const failed = ifMatch && failureOf({ ifMatch }, () => tag);
  if (failed !== undefined) return refusal(failed);
  // No tag stands for what a caller may do, which depends on the caller and on the moment.
  const [validator, etag] = may === undefined ? [known, tag] : [];
  const headers: Headers = etag === undefined ? {} : { etag };
  // Only a tag with a revision stands for every figure that is shown.
  if (validator !== undefined && ifNoneMatch !== undefined && !satisfiesIfNoneMatch(ifNoneMatch, etag))
    return empty(304, headers);
  const by = route.kind === 'item' ? route.read : route;
  const thing = thingOf(route, found.value);
  const reading = { by, thing, revision: validator?.revision, ...shown(snapshot, query.projection, query) };
  const there = { snapshot, found: found.value, reading, headers };
  return route.kind === 'item'
    ? readItem(route, there, arrival, running)
    : readList(route, there, arrival, running);
}

function readItem(
  route: ItemRoute,
  { snapshot, found, reading, headers }: There,
  arrival: Arrival<ReadRoute>,
  running: Running,
): Reply {
  const { query, may } = arrival;
  const write = (): string => {
    const item = route.read(snapshot, found, surroundingsFor(arrival, running));
    return JSON.stringify(may === undefined ? (selecting(route, query)?.(item) ?? item) : { ...item, may });
  };
  return jsonText(200, running.texts.textOf(reading, write), headers);
}

function readList(
  route: ListRoute,
  { snapshot, found, reading, headers }: There,
  arrival: Arrival<ReadRoute>,
  running: Running,
): Replying {
  const { request, query } = arrival;
  const { texts } = running;
  const surroundings = surroundingsFor(arrival, running);
  const answer = (listing: Listing): Reply =>
    list(
      listing,
      clipRange(query.range, listing.total, listing.after?.start),
      { ...headers, ...pageHeaders(query, listing) },
      {
        part: partWriter(
          listing,
          selecting(route, query),
          shown(snapshot, query.fields?.join(',') ?? '', query),
          texts,
        ),
        keep: (write) => texts.textOf(reading, write),
      },
    );
  if (query.search === undefined || route.select === undefined)
    return answer(route.list(snapshot, found, surroundings));
  const selected = route.select(snapshot, found, surroundings, query.search);
  // Not at once: a search is long, and its first part must not delay the program that calls `handle`.
  return Promise.resolve(selected)
    .then((search) => findAll(search, request.signal))
    .then(answer);
}

/** Makes the function that gives the fields that a client asks for; `undefined` if it asks for all. */
function selecting({ fieldAliases }: ReadRoute, { fields }: Query): ((whole: object) => object) | undefined {
  return fields === undefined ? undefined : selectFields(fields, fieldAliases);
}

function shown({ epoch }: Snapshot, part: string, { fields }: Query): Pick<Reading, 'tagged' | 'isWhole'> {
  // To select no field is a part without a name.
  return { tagged: `${epoch};${part}`, isWhole: part === '' && fields === undefined };
}

/**
 * What a text is kept for: things of one route can have one revision. A path without parameters leads to one thing.
 */
function thingOf(route: Route, found: unknown): object | undefined {
  if (typeof found === 'object' && found !== null) return found;
  return route.path.includes(':') ? undefined : route;
}

/** Makes the function that gives the text of a part of a list: of things, their own texts that are kept. */
function partWriter(
  { slice, things }: Listing,
  select: ((element: object) => object) | undefined,
  shown: Pick<Reading, 'tagged' | 'isWhole'>,
  texts: TextCache,
): (offset: number, length: number) => string {
  if (things === undefined) {
    const each = select as (element: unknown) => unknown;
    return (offset, length) => {
      const elements = slice(offset, length);
      return JSON.stringify(select === undefined ? elements : elements.map(each));
    };
  }
  const { by, range, revision, represent } = things;
  const textOf = texts.each({ by, ...shown }, (thing) => {
    const element = represent(thing);
    return JSON.stringify(select?.(element) ?? element);
  });
  return (offset, length) => {
    const elements = range(offset, length).map((thing) => textOf(thing, revision(thing)));
    return `[${elements.join(',')}]`;
  };
}

/** What a route sees besides the snapshot, with the caller, and the fields that the client asks for. @internal */
export function surroundingsFor(
  { query: { fields, range }, caller: { principal } }: Pick<Arrival, 'query' | 'caller'>,
  running: Running,
): Surroundings {
  const { surroundings } = running;
  if (principal === undefined && fields === undefined && range === undefined) return surroundings;
  return {
    ...surroundings,
    ...(principal && { caller: () => shownCaller(running, principal) }),
    ...(fields && { fields }),
    ...(range && { range }),
  };
}

/** Opens a stream of events. @internal */
export function streamEvents(
  { request, query: { after, types }, caller }: Arrival<Route>,
  { writer, streams }: Running,
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
    refusal: () => caller.refusalIn(writer.snapshot),
  });
  return stream(body);
}

/** Answers with a status alone. A probe that finds the interface not ready asks again. @internal */
export function probe({ route }: Arrival<BoundProbe>, { surroundings }: Running): Reply {
  const problem = route.problem(surroundings);
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

function pageHeaders({ range, rest }: Query, { total, after }: Listing): Readonly<Record<string, string>> {
  const count = { 'x-total-count': String(total) };
  const link = range === undefined ? undefined : rangeLinks(range, total, rest, after);
  return link === undefined ? count : { ...count, link };
}

/** The number of candidates that one turn of the event loop looks at. */
const pieceLength = 5000;

/**
 * Finds the elements of a search. A long search is cut into pieces, so that the event loop is not blocked. All pieces
 * look at one snapshot.
 *
 * @param selected - a list whose elements are known, or a search
 * @param signal - aborts the search when the client disconnects
 * @throws the reason of the signal
 */
async function findAll(selected: Listing | Search, signal?: AbortSignal): Promise<Listing> {
  if ('slice' in selected) return selected;
  const found: unknown[] = [];
  for (let start = 0; start < selected.candidates; start += pieceLength) {
    if (start > 0) await nextTurn();
    signal?.throwIfAborted();
    for (const each of selected.wanted(start, pieceLength)) found.push(each);
  }
  return selected.listing(found);
}
