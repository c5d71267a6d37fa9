/**
 * The handler: request → limits → route → origin → authenticate → authorise → query and body → turn of the command → response.
 *
 * The handler is independent of any transport. Requests and responses are plain values.
 */
import { formatEtag, parseEntityTags, satisfiesIfNoneMatch } from '../../http/etag.ts';
import type { Version } from '../../core/version.ts';
import { selectFields } from '../../http/fields.ts';
import { fail, ok, problem, type Problem, type Result } from '../../problem.ts';
import { clipRange, rangeLinks } from '../../http/range.ts';
import type { Acted, Listing, PathParameters } from '../../http/route.ts';
import { brokenEscape } from '../../core/link.ts';
import type { SecretPorts } from '../../core/secret.ts';
import { createRouter, type Match, type Place } from '../../http/router.ts';
import type { AdminRequest, AdminResponse } from '../../http/message.ts';
import { refused } from '../../core/decision.ts';
import type { Json } from '../../json/value.ts';
import type { Clock } from '../../ports/port.ts';
import {
  boundRoutes,
  type BoundResourceRoute,
  type BoundRoute,
  type Decision,
  type Transition,
} from '../../resources/index.ts';
import { isAction, type BoundAction } from '../../resources/shared/route.ts';
import type { Surroundings } from '../../resources/shared/rendering.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { failureOf, transitionAt, versionAt, type Conditions } from '../command/condition.ts';
import type { Execution, Refusal } from '../command/execution.ts';
import type { Attempt } from '../audit/attempt.ts';
import type { Audit } from '../audit/audit.ts';
import { LateAnswer } from '../host/deadline.ts';
import type { RequestSpan } from '../instrumentation/instruments.ts';
import type { Limits } from '../limits.ts';
import { callerLinks, Overruled } from '../journal/basis.ts';
import { readerOf, shareOfCaller } from '../password/share.ts';
import type { CommandRequest } from '../command/turn.ts';
import { parseEventId, type EventId } from '../read/event-log.ts';
import { accessHeaders, admit, isOpen, type AccessOptions, type Caller } from './access.ts';
import { readBody } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { crossOriginHeaders, originProblem, type Origins } from './origin.ts';
import { actionPlan, toPlan } from './plan.ts';
import { parseQuery, type Query } from './query.ts';
import { checkRequest, RequestError, type CheckedRequest } from './request.ts';
import { empty, json, jsonText, list, refusal, stream, type Reply } from './respond.ts';
import { findAll } from './search.ts';
import type { TextCache } from './text-cache.ts';

/**
 * The result of `handle`: a response, or `matched: false` if the interface has nothing at the path. The host can then
 * try its own routes.
 *
 * @public
 */
export type Handled =
  | {
      /** The path belongs to the interface. */
      readonly matched: true;
      /** The response. */
      readonly response: AdminResponse;
    }
  | {
      /** The path does not belong to the interface. */
      readonly matched: false;
    };

/** The options of the handler. @internal */
export interface HandlerOptions extends AccessOptions {
  readonly execute: (command: CommandRequest) => Promise<Execution>;
  readonly decide: (command: CommandRequest) => Decision;
  /** The refusal of every command at this moment; `undefined` if commands are possible. */
  readonly refuseAll: () => Refusal | undefined;
  /** The refusal of every command after `close`; `undefined` before. */
  readonly refuseClosed: () => Refusal | undefined;
  readonly secrets: Pick<SecretPorts, 'seal' | 'objection'>;
  readonly origins: Origins;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly surroundings: Surroundings;
  readonly streams: EventStreams;
  /** Aborts when the interface begins to close. */
  readonly closing: AbortSignal;
  readonly texts: TextCache;
  readonly audit: Pick<Audit, 'attempt'>;
  readonly onError: (error: unknown) => void;
}

type CommandRoute = Extract<BoundResourceRoute, { readonly kind: 'command' }>;
type ReadRoute = Exclude<BoundResourceRoute, CommandRoute>;

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

const router = createRouter(boundRoutes);

/** Makes the `handle` function of an interface. @internal */
export function createRequestHandler(options: HandlerOptions): (request: AdminRequest) => Promise<Handled> {
  return async (request) => {
    const attempt = options.audit.attempt();
    const span = options.instruments.request();
    const reply = await replyTo(options, request, attempt, span);
    if (reply === undefined) return { matched: false };
    const { problem } = reply;
    if (problem !== undefined) attempt.fail(problem.code);
    const ending = attempt.end();
    if (ending !== undefined) await ending;
    span.ended(reply.status, problem);
    return { matched: true, response: problem === undefined ? reply : withoutProblem(reply) };
  };
}

/** The response of a reply. @internal */
export function withoutProblem({ problem: _problem, ...response }: Reply): AdminResponse {
  return response;
}

/** Answers a request; `undefined` if the interface has nothing at the path. Never rejects. */
async function replyTo(
  options: HandlerOptions,
  request: AdminRequest,
  attempt: Attempt,
  span: RequestSpan,
): Promise<Reply | undefined> {
  let asked: AdminRequest | undefined;
  try {
    const checked = checkRequest(request);
    asked = checked.request;
    span.received(asked);
    const { method, target } = asked;
    const end = target.indexOf('?');
    const match = router.match(method, end === -1 ? target : target.slice(0, end));
    if (match.found === 'nothing') return undefined;
    if (match.found !== 'place') span.routed(match.route.id);
    const rawQuery = end === -1 ? '' : target.slice(end + 1);
    const reply = respond(options, { checked, match, rawQuery, attempt });
    return complete(options, asked, reply instanceof Promise ? await reply : reply);
  } catch (error) {
    const reply = failureReply(options, request, error);
    return asked === undefined ? reply : complete(options, asked, reply);
  }
}

/** The reply to a request that has thrown. @internal */
export function failureReply({ onError }: HandlerOptions, request: AdminRequest, error: unknown): Reply {
  const isLate = error instanceof LateAnswer;
  if (!isLate && hasLeft(request)) return refusal(goneAway());
  onError(error);
  if (isLate) return refusal(problem('overloaded', error.detail));
  const isCallers = error instanceof RequestError;
  return refusal(problem('internal', isCallers ? `${error.message}. ${nothingDone}` : internalError));
}

/** Adds what depends on the sender and not on the route, and leaves out what the method does not have. @internal */
export function complete(options: HandlerOptions, request: AdminRequest, reply: Reply): Reply {
  const access = reply.problem && accessHeaders(options, request, reply.problem);
  const origin = crossOriginHeaders(request, options.origins, reply.headers['allow']);
  const every = options.coordinator?.headers;
  const isWhole = access === undefined && origin === undefined && every === undefined;
  const whole = isWhole ? reply : { ...reply, headers: { ...access, ...reply.headers, ...origin, ...every } };
  return withoutBody(request, whole);
}

const internalError =
  'The administration interface failed with an internal error. The error was reported to the gateway. If you sent a ' +
  'command, read the resource before you send the command again.';

const nothingDone = 'The program that called handle must correct the request. Nothing was changed.';

/** Whether the client has disconnected. A program can give a value that is no request. */
function hasLeft(request: Partial<AdminRequest> | null | undefined): boolean {
  return request?.signal?.aborted === true;
}

/** HEAD is GET without the body (RFC 9110 §9.3.2). */
function withoutBody({ method }: AdminRequest, reply: Reply): Reply {
  if (method !== 'HEAD') return reply;
  const { body: _body, ...rest } = reply;
  return rest;
}

/** A request whose path was found. */
interface Arrival {
  readonly checked: CheckedRequest;
  readonly match: Exclude<Match<BoundRoute>, { readonly found: 'nothing' }>;
  readonly rawQuery: string;
  readonly attempt: Attempt;
}

/** A reply, or the promise of one. A request that waits for nothing is answered without a promise. */
type Replying = Reply | Promise<Reply>;

function respond(options: HandlerOptions, arrival: Arrival): Replying {
  const { checked, match, rawQuery, attempt } = arrival;
  const { request } = checked;
  const isTooLong = request.target.length > options.limits.maxTargetBytes;
  const fault = isTooLong ? targetTooLong(options.limits) : checked.problem;
  if (match.found === 'place')
    return fault === undefined ? withoutRoute(request, match.place) : refusal(fault);
  const { route } = match;
  const isWriting = route.kind === 'command';
  if (fault !== undefined) {
    attempt.receive(request, isWriting ? match : undefined);
    return refusal(fault);
  }
  const query = parseQuery(route, rawQuery);
  const isDryRun = query.ok && query.value.dryRun;
  attempt.receive(request, isWriting && !isDryRun ? match : undefined);
  if (match.found === 'broken-escape') return refusal(problem('path-encoding-invalid', brokenEscape('path')));
  const { parameters } = match;
  const asking = {
    isWriting,
    isOpen: isOpen(options, request, options.snapshot()),
  };
  const foreign = originProblem(request, asking, options.origins);
  if (foreign !== undefined) return refusal(foreign);
  const answer = (caller: Result<Caller>): Replying => {
    if (!caller.ok) return turnAway(options, request, { route, parameters, query }, caller.problem);
    // A response that nobody reads is not rendered.
    if (hasSignal(request) || !asking.isOpen) request.signal?.throwIfAborted();
    if (!query.ok) return refusal(query.problem);
    const asked = { parameters, query: query.value, caller: caller.value, attempt };
    if (isAction(route)) return act(options, request, { route, ...asked });
    if (route.kind === 'stream') return follow(options, request, asked);
    if (route.kind !== 'command') return read(options, request, { route, ...asked });
    return command(options, request, { route, ...asked });
  };
  const admitted = admit(options, request, match, (principal) => {
    attempt.identify(principal);
  });
  return admitted instanceof Promise ? admitted.then(answer) : answer(admitted);
}

/** Whether a request has a signal already. An adapter can make one when it is read, and nobody has aborted that one. */
function hasSignal(request: AdminRequest): boolean {
  return Object.hasOwn(request, 'signal');
}

/** The response to a caller who may not use the route: the fields that everybody may read, or the refusal. */
function turnAway(
  options: HandlerOptions,
  request: AdminRequest,
  { route, parameters, query }: Omit<Asked<BoundRoute>, 'query'> & { readonly query: Result<Query> },
  reason: Problem,
): Replying {
  // Whoever sends wrong credentials must learn that they are wrong.
  const isStranger = reason.code === 'unauthenticated' && request.headers['authorization'] === undefined;
  const open = route.kind === 'item' ? route.publicFields : undefined;
  if (!isStranger || route.kind !== 'item' || open === undefined) return refusal(reason);
  if (!query.ok) return refusal(query.problem);
  const fields = (query.value.fields ?? route.fields).filter((name) => open.includes(name));
  return read(options, request, { route, parameters, query: { ...query.value, fields } });
}

/** The response at a known path to a method without a route: to `OPTIONS`, or to a method that is not allowed. */
function withoutRoute({ method }: AdminRequest, { allow, routes: here }: Place<BoundRoute>): Reply {
  const [patchType] = here.get('PATCH')?.mediaTypes ?? [];
  const accept = patchType === undefined ? {} : { 'accept-patch': patchType };
  if (method === 'OPTIONS') return empty(204, { allow, ...accept });
  if (knownMethods.has(method)) {
    return refusal(problem('method-not-allowed', `This path supports only ${allow}.`), { allow });
  }
  return refusal(problem('method-unknown', `The method is unknown. This path supports only ${allow}.`), {
    allow,
  });
}

/** A request that was matched and read, for one route. */
interface Asked<R> {
  readonly route: R;
  readonly parameters: PathParameters;
  readonly query: Query;
}

/** A request of a caller who may use the route. */
interface Authorized {
  readonly caller: Caller;
  readonly attempt: Attempt;
}

function read(
  { snapshot: current, surroundings, texts }: HandlerOptions,
  request: AdminRequest,
  { route, parameters, query }: Asked<ReadRoute>,
): Replying {
  const noneMatch = entityTags(request.headers['if-none-match']);
  if (!noneMatch.ok) return refusal(noneMatch.problem);
  const snapshot = current();
  const found = route.find(snapshot, parameters);
  if (!found.ok) return refusal(found.problem);
  const etag = etagOf(snapshot, route.version?.(snapshot, found.value), query);
  const headers = etag === undefined ? {} : { etag };
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
      return select?.(item) ?? item;
    };
    return jsonText(200, textOf(represent), headers);
  }
  const each = select && ((element: unknown): unknown => select(element as object));
  const answer = (listing: Listing): Reply =>
    list(
      listing,
      clipRange(query.range, listing.total),
      each,
      { ...headers, ...pageHeaders(query, listing.total) },
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

/** Opens a stream of events. */
function follow(
  { snapshot, streams }: HandlerOptions,
  request: AdminRequest,
  { query: { after, types }, caller }: Pick<Asked<BoundRoute>, 'query'> & Authorized,
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

function lastEventId(header: string | undefined): Result<EventId | undefined> {
  if (header === undefined) return ok(undefined);
  const id = parseEventId(header);
  if (id !== undefined) return ok(id);
  const detail =
    'The header Last-Event-ID must be the id of an event of GET /events. Leave the header out to read from now on.';
  return fail('header-invalid', detail);
}

function etagOf(snapshot: Snapshot, version: Version | undefined, query?: Query): string | undefined {
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

function pageHeaders({ range, rest }: Query, total: number): Readonly<Record<string, string>> {
  const count = { 'x-total-count': String(total) };
  const link = range === undefined ? undefined : rangeLinks(range, total, rest);
  return link === undefined ? count : { ...count, link };
}

function entityTags(header: string | undefined): Result<'*' | readonly string[] | undefined> {
  return header === undefined ? { ok: true, value: undefined } : parseEntityTags(header);
}

/** The conditions of a writing request, or the problem with a header. */
function conditionsOf({ headers }: AdminRequest): Result<Conditions> {
  const [ifMatch, ifNoneMatch] = [entityTags(headers['if-match']), entityTags(headers['if-none-match'])];
  if (!ifMatch.ok) return ifMatch;
  if (!ifNoneMatch.ok) return ifNoneMatch;
  return ok({
    ...(ifMatch.value === undefined ? {} : { ifMatch: ok(ifMatch.value) }),
    ...(ifNoneMatch.value === undefined ? {} : { ifNoneMatch: ifNoneMatch.value }),
  });
}

/** Does an action, or says with `dry_run` whether the action would be done. */
async function act(
  options: HandlerOptions,
  request: AdminRequest,
  { route, parameters, query, caller, attempt }: Asked<BoundAction> & Authorized,
): Promise<Reply> {
  const conditions = conditionsOf(request);
  if (!conditions.ok) return refusal(conditions.problem);
  const body = await bodyOf(request, route, options);
  if (!body.ok) return refusal(body.problem, acceptFor(route, body.problem));
  for (;;) {
    const unread = await catchUp(options);
    if (unread !== undefined) return refusal(unread.problem, retryAfter(unread));
    try {
      return await actNow(options, { route, parameters, query, caller, attempt }, { body, conditions });
    } catch (error) {
      // Others have changed the users or the mode: the caller is checked again.
      if (!(error instanceof Overruled)) throw error;
    }
  }
}

/** Checks the caller and acts in one turn of the event loop, so that nothing can come in between. */
async function actNow(
  options: HandlerOptions,
  { route, parameters, query, caller, attempt }: Asked<BoundAction> & Authorized,
  {
    body,
    conditions,
  }: { readonly body: { readonly value: Json }; readonly conditions: { readonly value: Conditions } },
): Promise<Reply> {
  const { snapshot, surroundings } = options;
  const late = caller.refusalIn(snapshot());
  if (late !== undefined) return refusal(late);
  const found = route.findIn(surroundings, parameters, body.value);
  if (!found.ok) return refusal(found.problem);
  attempt.ask(body.value);
  const failed = failureOf(conditions.value, snapshot().epoch, () => undefined);
  if (failed !== undefined) return refusal(failed);
  const decided = route.decide(surroundings, found.value);
  if (decided.outcome === 'refused') return refusal(decided.problem, retryAfter(decided));
  if (query.dryRun) return json(200, actionPlan(decided), {});
  const acted = options.refuseAll() ?? (await decided.act(caller.principal?.name));
  if (acted.outcome === 'refused') return refusal(acted.problem, retryAfter(acted));
  attempt.act(decided);
  return route.answer === undefined ? empty(204, {}) : json(200, route.answer(surroundings), {});
}

/** Reads the body, if the route has one. */
function bodyOf(
  request: AdminRequest,
  route: BoundAction | CommandRoute,
  options: HandlerOptions,
): Result<Json> | Promise<Result<Json>> {
  return route.mediaTypes.length === 0 ? ok(null) : readBody(request, route, options);
}

type AskedCommand = Asked<CommandRoute> & Authorized;

async function command(options: HandlerOptions, request: AdminRequest, asked: AskedCommand): Promise<Reply> {
  const { route, parameters, query, caller, attempt } = asked;
  const conditions = conditionsOf(request);
  if (!conditions.ok) return refusal(conditions.problem);
  const body = await bodyOf(request, route, options);
  if (!body.ok) return refusal(body.problem, acceptFor(route, body.problem));
  const secrets: SecretPorts = {
    ...options.secrets,
    isSecretParameter: isSecretIn(options.snapshot()),
    hash: (password) => options.passwords.hash(shareOfCaller(request, caller.principal), password),
  };
  const change = await route.command(parameters, body.value, secrets);
  if (!change.ok) return refusal(change.problem);
  attempt.ask(body.value);
  const toDo: CommandRequest = {
    transition: checked(caller, transitionAt(asked, conditions.value, change.value.decide)),
    restsOn: callerLinks,
    ...(caller.principal === undefined ? {} : { actor: caller.principal.name }),
    // A client that disconnects cancels its command, if the command has not started.
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  if (query.dryRun) return plan(options, asked, toDo, await catchUp(options));
  return conclude(options, request, asked, await attempt.execute(toDo, options.execute));
}

/** Takes in what a decision outside the turns rests on. Gives the refusal if that is not possible. */
async function catchUp(options: HandlerOptions): Promise<Refusal | undefined> {
  return options.refuseClosed() ?? options.coordinator?.catchUp(callerLinks);
}

/** Makes a transition that first checks whether the caller still may send the command. */
function checked({ refusalIn }: Caller, transition: Transition): Transition {
  return (snapshot, context) => {
    const problem = refusalIn(snapshot);
    return problem === undefined ? transition(snapshot, context) : refused(snapshot, problem, []);
  };
}

function plan(
  options: HandlerOptions,
  asked: AskedCommand,
  toDo: CommandRequest,
  unread: Refusal | undefined,
): Reply {
  if (unread !== undefined) return refusal(unread.problem, retryAfter(unread));
  const planned = toPlan(options.decide(toDo), options.snapshot(), (snapshot) => versionAt(asked, snapshot));
  if (planned.outcome !== 'refused') return json(200, planned, {});
  const { problem } = planned;
  return refusal(problem, retryAfter({ outcome: 'refused', problem }));
}

async function conclude(
  options: HandlerOptions,
  request: AdminRequest,
  asked: AskedCommand,
  execution: Execution,
): Promise<Reply> {
  if (execution.outcome === 'refused' || execution.outcome === 'unknown')
    return refusal(execution.problem, retryAfter(execution));
  const { route, parameters, caller } = asked;
  const { coordinator, authenticate, onError } = options;
  const needsLogIn = (authenticate ?? caller.principal) !== undefined;
  const error = needsLogIn ? undefined : route.errorIfOpen?.(execution.snapshot);
  if (error !== undefined) onError(error);
  const { snapshot } = execution;
  const etag = etagOf(snapshot, versionAt(asked, snapshot));
  const headers = {
    ...(await coordinator?.settled(request, execution)),
    ...(etag === undefined ? {} : { etag }),
  };
  if (route.answer === undefined) return empty(204, headers);
  const found = route.find(snapshot, parameters);
  if (!found.ok) return refusal(found.problem);
  return json(200, route.answer(snapshot, found.value, options.surroundings), headers);
}

/** The problems that pass by themselves. A client need not know the load of the gateway: a second is long enough. */
const passing: readonly string[] = ['overloaded', 'command-in-progress', 'outcome-unknown'];

/** The header that says when a request can succeed; none if that is not known. @internal */
export function retryAfter(
  execution: Extract<Execution | Acted, { readonly problem: Problem }>,
): Readonly<Record<string, string>> {
  const given = execution.outcome === 'refused' ? execution.retryAfterMs : undefined;
  const retryAfterMs = given ?? (passing.includes(execution.problem.code) ? 1000 : undefined);
  return retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
}

function acceptFor(
  { method, mediaTypes: [type] }: BoundRoute,
  { code }: Problem,
): Readonly<Record<string, string>> {
  if (code !== 'unsupported-media-type' || type === undefined) return {};
  return { [method === 'PATCH' ? 'accept-patch' : 'accept']: type };
}

function targetTooLong({ maxTargetBytes }: Limits): Problem {
  const detail = `The path and the query together may have at most ${String(maxTargetBytes)} bytes. Shorten them.`;
  return problem('uri-too-long', detail);
}

function goneAway(): Problem {
  return problem('closed', 'The client disconnected before the command started. Nothing was changed.');
}
