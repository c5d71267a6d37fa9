/**
 * The handler: request → limits → route → authenticate → authorise → query and body → the command's turn → respond.
 *
 * It knows no transport: a request and a response are plain values.
 */
import { formatEtag, parseEntityTags, satisfiesIfNoneMatch } from '../../http/etag.ts';
import type { Version } from '../../core/version.ts';
import { selectFields } from '../../http/fields.ts';
import { ok, problem, type Problem, type Result } from '../../problem.ts';
import { clipRange, rangeLinks } from '../../http/range.ts';
import type { PathParameters } from '../../http/route.ts';
import type { SecretPorts } from '../../core/secret.ts';
import { createRouter, type Match, type Place } from '../../http/router.ts';
import type { AdminRequest, AdminResponse, Principal } from '../../http/message.ts';
import type { Authenticate } from '../../ports/port.ts';
import { routes, type Decision, type Route } from '../../resources/index.ts';
import type { Rendering } from '../../resources/shared/rendering.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { onlyIfMatch, subjectOf } from '../condition.ts';
import type { Execution } from '../execution.ts';
import type { Limits } from '../limits.ts';
import type { CommandRequest } from '../turn.ts';
import { readBody } from './body.ts';
import { toPlan } from './plan.ts';
import { parseQuery, type Query } from './query.ts';
import { empty, json, list, refusal } from './respond.ts';

/**
 * What became of a request: a response, or the word that there is nothing here at its path, so that the host's own
 * routes go on.
 *
 * @public
 */
export type Handled =
  | {
      /** There is something at this path. */
      readonly matched: true;
      /** The response. */
      readonly response: AdminResponse;
    }
  | {
      /** There is nothing at this path. */
      readonly matched: false;
    };

/** Decides whether a principal may use a route. Answer without looking at the resource. @public */
export type Authorize = (
  principal: Principal | undefined,
  route: Route,
  parameters: PathParameters,
) => boolean;

/** What the handler is made of. @internal */
export interface HandlerOptions {
  readonly snapshot: () => Snapshot;
  readonly execute: (command: CommandRequest) => Promise<Execution>;
  readonly decide: (command: CommandRequest) => Decision;
  readonly secrets: SecretPorts;
  readonly authenticate: Authenticate | undefined;
  readonly authorize: Authorize | undefined;
  readonly limits: Limits;
  readonly rendering: Rendering;
  readonly onError: (error: unknown) => void;
}

type Found = Extract<Match<Route>, { readonly found: 'route' }>;
type CommandRoute = Extract<Route, { readonly kind: 'command' }>;
type ReadRoute = Exclude<Route, CommandRoute>;

/** The methods of RFC 9110 §9.3 and RFC 5789. */
const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
]);

const router = createRouter(routes);

/** The reading route of each path, for what a command is about. */
const readers: ReadonlyMap<string, ReadRoute> = new Map(
  routes.flatMap((route) => (route.kind === 'command' ? [] : [[route.path, route]])),
);

/** Makes a handler. @internal */
export function createRequestHandler(options: HandlerOptions): (request: AdminRequest) => Promise<Handled> {
  return async (request) => {
    try {
      const [path = '', ...query] = request.target.split('?');
      if (request.target.length > options.limits.maxTargetBytes)
        return matched(refusal(targetTooLong(options.limits)));
      const match = router.match(request.method, path);
      if (match.found === 'nothing') return { matched: false };
      return matched(withoutBody(request, await respond(options, request, match, query.join('?'))));
    } catch (error) {
      if (request.signal?.aborted === true) return matched(refusal(goneAway()));
      options.onError(error);
      return matched(
        refusal(problem('internal', 'Something is broken inside. The host has been told; try again later.')),
      );
    }
  };
}

function matched(response: AdminResponse): Handled {
  return { matched: true, response };
}

/** HEAD is GET without the body (RFC 9110 §9.3.2). */
function withoutBody({ method }: AdminRequest, { status, headers, body }: AdminResponse): AdminResponse {
  return method === 'HEAD' || body === undefined ? { status, headers } : { status, headers, body };
}

async function respond(
  options: HandlerOptions,
  request: AdminRequest,
  match: Exclude<Match<Route>, { readonly found: 'nothing' }>,
  rawQuery: string,
): Promise<AdminResponse> {
  if (match.found === 'broken-escape') return refusal(brokenEscape());
  if (match.found === 'place') return withoutRoute(request, match.place);
  const principal = await identify(options, request);
  if (!principal.ok) return refusal(principal.problem, challengeFor(options, principal.problem));
  const { route, subject } = match;
  if (!isAllowed(options, principal.value, match)) return refusal(forbidden());
  const query = parseQuery(route, rawQuery);
  if (!query.ok) return refusal(query.problem);
  if (route.kind !== 'command') return read(options, request, route, subject, query.value);
  return command(options, request, { route, subject, query: query.value, principal: principal.value });
}

/** What is said at a path that is known, to a method that has no route there. */
function withoutRoute({ method }: AdminRequest, { allow, routes: here }: Place<Route>): AdminResponse {
  const patch = here.get('PATCH');
  const accept = patch?.kind === 'command' ? { 'accept-patch': patch.body?.mediaTypes[0] ?? '' } : {};
  if (method === 'OPTIONS') return empty(204, { allow, ...accept });
  if (knownMethods.has(method)) {
    return refusal(problem('method-not-allowed', `This path takes ${allow}.`), { allow });
  }
  return refusal(problem('method-unknown', `The method is unknown. This path takes ${allow}.`), { allow });
}

/** Nothing but `true` allows: a hook that forgets to answer, or answers with a promise, lets nobody in. */
function isAllowed({ authorize }: HandlerOptions, principal: Principal | undefined, match: Found): boolean {
  if (authorize === undefined) return true;
  const allowed: unknown = authorize(principal, match.route, parametersOf(match));
  // A promise is no yes, and one that rejects must not end the process.
  if (allowed instanceof Promise) allowed.catch(() => undefined);
  return allowed === true;
}

/** An admin user who was deleted, or given another password, while the log-in was checked is not let in. */
function isStillThere({ name }: Principal, before: Snapshot, now: Snapshot): boolean {
  return before.users.find(name)?.passwordHash === now.users.find(name)?.passwordHash;
}

/** Whether a hook has named somebody. Hosts written without types answer `null`, `false` or a promise, too. */
function isPrincipal(value: unknown): value is Principal {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

async function identify(
  { authenticate, snapshot }: HandlerOptions,
  request: AdminRequest,
): Promise<Result<Principal | undefined>> {
  if (request.principal === undefined && authenticate === undefined) return { ok: true, value: undefined };
  const asked = request.principal === undefined;
  const before = snapshot();
  const principal: unknown = asked ? await authenticate?.(request, before) : request.principal;
  if (isPrincipal(principal) && isStillThere(principal, before, snapshot()))
    return { ok: true, value: principal };
  if (principal !== 'throttled') {
    return { ok: false, problem: problem('unauthenticated', 'Name and password are missing or wrong.') };
  }
  return {
    ok: false,
    problem: problem('login-throttled', 'Too many log-ins at once. Try again in a second.'),
  };
}

function challengeFor({ authenticate }: HandlerOptions, { code }: Problem): Readonly<Record<string, string>> {
  if (code === 'login-throttled') return { 'retry-after': '1' };
  return { 'www-authenticate': authenticate?.challenge ?? 'Host realm="gateway admin"' };
}

/** The variable segment of the path by its name, for the host's `authorize`. */
function parametersOf({ route, subject }: Found): PathParameters {
  const name = /:(\w+)/.exec(route.path)?.[1];
  return name === undefined ? {} : { [name]: subject };
}

function read(
  { snapshot: current, rendering }: HandlerOptions,
  request: AdminRequest,
  route: ReadRoute,
  subject: string,
  query: Query,
): AdminResponse {
  const snapshot = current();
  const version = route.version?.(snapshot, subject);
  const etag = version === undefined ? undefined : formatEtag(snapshot.epoch, version, projectionOf(query));
  const headers = etag === undefined ? {} : { etag };
  const noneMatch = entityTags(request.headers['if-none-match']);
  if (!noneMatch.ok) return refusal(noneMatch.problem);
  if (etag !== undefined && noneMatch.value !== undefined && !satisfiesIfNoneMatch(noneMatch.value, etag)) {
    return empty(304, headers);
  }
  const select = query.fields === undefined ? undefined : selectFields(query.fields, route.fieldAliases);
  if (route.kind === 'item') {
    const item = route.read(snapshot, subject, rendering);
    return item.ok ? json(200, select?.(item.value) ?? item.value, headers) : refusal(item.problem);
  }
  const listing = route.list(snapshot, subject, rendering);
  if (!listing.ok) return refusal(listing.problem);
  const pages = pageHeaders(query, listing.value.total);
  const each = (element: unknown): unknown => select?.(element as object) ?? element;
  return list(listing.value, clipRange(query.range, listing.value.total), each, { ...headers, ...pages });
}

/** Tells the entity tags of different cuts of one thing apart. */
function projectionOf({ fields, range }: Query): string {
  const cut = range === undefined ? '' : `${String(range.first)}-${String(range.last)}`;
  return [fields?.join(',') ?? '', cut].filter((part) => part !== '').join(';');
}

function pageHeaders({ range, rest }: Query, total: number): Readonly<Record<string, string>> {
  const count = { 'x-total-count': String(total) };
  const link = range === undefined ? undefined : rangeLinks(range, total, rest);
  return link === undefined ? count : { ...count, link };
}

function entityTags(header: string | undefined): Result<'*' | readonly string[] | undefined> {
  return header === undefined ? { ok: true, value: undefined } : parseEntityTags(header);
}

interface Asked {
  readonly route: CommandRoute;
  readonly subject: string;
  readonly query: Query;
  readonly principal: Principal | undefined;
}

async function command(options: HandlerOptions, request: AdminRequest, asked: Asked): Promise<AdminResponse> {
  const { route, subject, query, principal } = asked;
  const ifMatch = entityTags(request.headers['if-match']);
  if (!ifMatch.ok) return refusal(ifMatch.problem);
  const body = route.body === undefined ? undefined : await readBody(request, route.body, options.limits);
  if (body?.ok === false) return refusal(body.problem, acceptFor(route, body.problem));
  const transition = await route.command(subject, body?.value ?? null, options.secrets);
  if (!transition.ok)
    return refusal(
      transition.problem,
      transition.problem.code === 'login-throttled' ? { 'retry-after': '1' } : {},
    );
  const about = subjectOf(route, subject, (snapshot) => aboutOf(asked, snapshot));
  const tags = ifMatch.value;
  const toDo: CommandRequest = {
    transition: tags === undefined ? transition.value : onlyIfMatch(about, ok(tags), transition.value),
    ...(principal === undefined ? {} : { actor: principal.name }),
    // A client that goes away takes its command back, as long as that has not begun.
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  return query.dryRun ? plan(options, asked, toDo) : conclude(options, asked, await options.execute(toDo));
}

/** The version of what a command is about. */
function aboutOf({ route, subject }: Asked, snapshot: Snapshot): Version | undefined {
  return readers.get(route.about)?.version?.(snapshot, subject);
}

function plan(options: HandlerOptions, asked: Asked, toDo: CommandRequest): AdminResponse {
  const about = (snapshot: Snapshot): Version | undefined => aboutOf(asked, snapshot);
  const planned = toPlan(options.decide(toDo), options.snapshot(), about);
  return planned.outcome === 'refused' ? refusal(planned.problem) : json(200, planned, {});
}

function conclude({ rendering }: HandlerOptions, asked: Asked, execution: Execution): AdminResponse {
  if (execution.outcome === 'refused' || execution.outcome === 'unknown') {
    return refusal(execution.problem, execution.problem.code === 'overloaded' ? { 'retry-after': '1' } : {});
  }
  const { snapshot } = execution;
  const version = aboutOf(asked, snapshot);
  const headers = version === undefined ? {} : { etag: formatEtag(snapshot.epoch, version) };
  const answer = asked.route.answer?.(snapshot, asked.subject, rendering);
  if (answer === undefined) return empty(204, {});
  return answer.ok ? json(200, answer.value, headers) : refusal(answer.problem);
}

function acceptFor({ method, body }: CommandRoute, { code }: Problem): Readonly<Record<string, string>> {
  if (code !== 'unsupported-media-type' || body === undefined) return {};
  return { [method === 'PATCH' ? 'accept-patch' : 'accept']: body.mediaTypes[0] };
}

function targetTooLong({ maxTargetBytes }: Limits): Problem {
  return problem('uri-too-long', `The request target may have at most ${String(maxTargetBytes)} bytes.`);
}

function brokenEscape(): Problem {
  const detail =
    'A percent sign in the path must begin an escape of UTF-8, such as %20; write a percent sign itself as %25.';
  return problem('path-encoding-invalid', detail);
}

function goneAway(): Problem {
  return problem('closed', 'The client went away before its command had its turn: nothing was done.');
}

function forbidden(): Problem {
  return problem(
    'forbidden',
    'You are not allowed to do this. Ask whoever administers the rights on this gateway.',
  );
}
