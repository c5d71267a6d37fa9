/**
 * The handler: request → route → steps → response.
 *
 * The handler is independent of any transport. Requests and responses are plain values. `step.ts` has the steps in
 * order.
 */
import { brokenEscape } from '../../core/link.ts';
import type { AdminRequest, AdminResponse } from '../../http/message.ts';
import type { Route } from '../../http/route.ts';
import { createRouter, type KnownPath, type Match } from '../../http/router.ts';
import { problem, type Problem } from '../../problem.ts';
import { boundRoutes, type BoundRoute } from '../../resources/index.ts';
import { LateAnswer } from '../host/waiting.ts';
import type { Limits } from '../limits.ts';
import { accessHeaders } from './access.ts';
import { arrive, take, type Arrival, type Ways } from './arrival.ts';
import type { Running } from '../running.ts';
import { crossOriginHeaders } from './origin.ts';
import { parseQuery } from './query.ts';
import { checkRequest, hasLeft, RequestError, type CheckedRequest } from './request.ts';
import { empty, refusal, type Reply } from './respond.ts';
import { ways } from './step.ts';

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
export function createRequestHandler(running: Running): (request: AdminRequest) => Promise<Handled> {
  return async (given) => {
    const span = running.instruments?.request();
    const ended = await run(running, given, ways, (checked) => {
      const { request } = checked;
      span?.received(request);
      const { path, query } = partsOf(request);
      const match = router.match(request.method, path);
      if (match.found === 'nothing') return undefined;
      const isTooLong = request.target.length > running.limits.maxTargetBytes;
      const fault = isTooLong ? targetTooLong(running.limits) : checked.problem;
      if (match.found === 'path')
        return fault === undefined ? withoutRoute(request, match.path) : refusal(fault);
      span?.routed(match.route.id);
      // A request with such a fault is refused, so its query does not matter, and can be too long to parse.
      return arrivalOf(request, match, fault === undefined ? query : '', fault);
    });
    if (ended?.outcome !== 'answered') return { matched: false };
    span?.ended(ended.response.status, ended.problem);
    return { matched: true, response: ended.response };
  };
}

/** How a request has left its steps. */
type Ended<R extends Route> =
  /** No step has replied. Only the steps of the guard can end so: the host goes on with the request. */
  | { readonly outcome: 'admitted'; readonly arrival: Arrival<R> }
  | {
      readonly outcome: 'answered';
      readonly response: AdminResponse;
      readonly problem: Problem | undefined;
    };

/**
 * Takes a request through its steps. Never rejects. Gives `undefined` if `begin` does.
 *
 * @param begin - gives the arrival, a reply without steps, or `undefined` if the interface has nothing at the path
 * @internal
 */
export async function run<R extends Route, Nothing extends undefined>(
  running: Running,
  given: AdminRequest,
  ways: Ways<R>,
  begin: (checked: CheckedRequest) => Arrival<R> | Reply | Nothing,
): Promise<Ended<R> | Nothing> {
  let request: AdminRequest | undefined;
  let arrival: Arrival<R> | undefined;
  let reply: Reply | undefined;
  try {
    const checked = checkRequest(given);
    request = checked.request;
    const begun = begin(checked);
    if (begun === undefined) return begun;
    if ('route' in begun) {
      arrival = begun;
      const taken = take(ways[arrival.route.kind as R['kind']], arrival, running);
      reply = taken instanceof Promise ? await taken : taken;
      if (reply === undefined) return { outcome: 'admitted', arrival };
    } else reply = begun;
  } catch (error) {
    reply = failureReply(running, request ?? given, error);
  }
  const recorded = leaveRecord(running, arrival, reply);
  if (recorded !== undefined) await recorded;
  const { problem, ...response } = request === undefined ? reply : complete(running, request, reply);
  return { outcome: 'answered', response, problem };
}

/** Leaves the audit record of a request. Resolves when the caller can be answered. */
function leaveRecord<R extends Route>(
  { audit }: Running,
  arrival: Arrival<R> | undefined,
  { problem }: Reply,
): Promise<void> | undefined {
  if (arrival === undefined) return undefined;
  const { attempt, request } = arrival;
  // A reader may begin before an unknown outcome becomes known.
  if (!audit.isWanted && attempt?.execution?.outcome !== 'unknown') return undefined;
  if (attempt === undefined) {
    if (problem !== undefined) audit.noteFailedLogIn(request, problem.code);
    return undefined;
  }
  if (problem !== undefined) attempt.code = problem.code;
  return audit.record(attempt);
}

/** The path and the query of a target. */
function partsOf({ target }: AdminRequest): { readonly path: string; readonly query: string } {
  const end = target.indexOf('?');
  return end === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, end), query: target.slice(end + 1) };
}

/**
 * A route was found: the request is ready for its steps.
 *
 * @param raw - the query as the client sent it
 * @param headerOrLengthFault - what is wrong with the headers, or with the length of the target
 */
function arrivalOf(
  request: AdminRequest,
  match: Extract<Match<BoundRoute>, { readonly route: BoundRoute }>,
  raw: string,
  headerOrLengthFault: Problem | undefined,
): Arrival {
  const { route } = match;
  const isBroken = match.found === 'broken-escape';
  const pathFault = isBroken ? problem('path-encoding-invalid', brokenEscape('path')) : undefined;
  const query = parseQuery(route, raw);
  // An attempt with a faulty query leaves an audit record, and a dry run leaves none. A faulty query is not parsed.
  const isDryRun = query.ok
    ? query.value.dryRun
    : new URLSearchParams(`?${raw}`).getAll('dry_run').join() === 'true';
  const place = isBroken ? { route } : { route, parameters: match.parameters };
  return arrive({ request, ...place, fault: headerOrLengthFault ?? pathFault, query, isDryRun });
}

/** The reply to a request that has thrown. */
function failureReply({ onError }: Running, request: AdminRequest, error: unknown): Reply {
  const isLate = error instanceof LateAnswer;
  if (!isLate && hasLeft(request)) return refusal(goneAway());
  onError(error);
  if (isLate) return refusal(problem('overloaded', error.detail));
  const isCallers = error instanceof RequestError;
  return refusal(problem('internal', isCallers ? `${error.message}. ${nothingDone}` : internalError));
}

/** Adds what depends on the sender and not on the route, and leaves out what the method does not have. */
function complete(running: Running, request: AdminRequest, reply: Reply): Reply {
  const access = reply.problem && accessHeaders(running, request, reply.problem);
  const origin = crossOriginHeaders(request, running.origins, reply.headers['allow']);
  const every = running.coordinator?.headers;
  const isWhole = access === undefined && origin === undefined && every === undefined;
  const whole = isWhole ? reply : { ...reply, headers: { ...access, ...reply.headers, ...origin, ...every } };
  return request.method === 'HEAD' ? withoutBody(whole) : whole;
}

const internalError =
  'The administration interface failed with an internal error. The error was reported to the gateway. If you sent a ' +
  'command, read the resource before you send the command again.';

const nothingDone = 'The program that called handle must correct the request. Nothing was changed.';

/** HEAD is GET without the body (RFC 9110 §9.3.2). */
function withoutBody({ body: _body, ...rest }: Reply): Reply {
  return rest;
}

/** The response at a known path to a method without a route: to `OPTIONS`, or to a method that is not allowed. */
function withoutRoute({ method }: AdminRequest, { allow, routes: here }: KnownPath<BoundRoute>): Reply {
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

function targetTooLong({ maxTargetBytes }: Limits): Problem {
  const detail = `The path and the query together may have at most ${String(maxTargetBytes)} bytes. Shorten them.`;
  return problem('uri-too-long', detail);
}

function goneAway(): Problem {
  return problem('closed', 'The client disconnected before the command started. Nothing was changed.');
}
