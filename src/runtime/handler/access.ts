/**
 * Access: finds the caller of a request, and decides whether the caller may use a route now.
 *
 * Both are decided before anything about the resource is looked up. A command is decided again at its turn, because the
 * body, a password hash or the queue can take a long time.
 */
import type { AdminRequest, Principal } from '../../http/message.ts';
import { canonical, roles, type CommandRoute, type PathParameters, type Route } from '../../http/route.ts';
import type { Authenticate } from '../../ports/port.ts';
import type { Coordinator } from '../command/coordinator.ts';
import {
  cut,
  fail,
  ok,
  problem,
  quoted,
  type Problem,
  type ProblemCode,
  type Result,
} from '../../problem.ts';
import type { Surroundings } from '../../resources/shared/rendering.ts';
import { passwordOf } from '../../resources/user.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { answerInTime } from '../host/waiting.ts';
import { callHost } from '../host/guard.ts';
import { isThenable } from '../host/check.ts';
import { wrongAnswer } from '../host/host-error.ts';
import { callerLinks } from '../journal/basis.ts';
import { longestName } from '../limits.ts';
import type { Running } from '../running.ts';
import type { Headers } from './respond.ts';

/** A caller who may use a route now. @internal */
export interface Caller {
  /** `undefined` if no request needs a log-in. */
  readonly principal: Principal | undefined;
  /** Why the caller may not use the route any more, in a later snapshot; `undefined` if the caller still may. */
  readonly refusalIn: (this: void, snapshot: Snapshot) => Problem | undefined;
}

/** A caller who may use no route. @internal */
export const nobody: Caller = Object.freeze({ principal: undefined, refusalIn: () => unauthenticated });

/** A request with its route, and with the parameters as the client wrote them. */
interface Asked {
  readonly request: AdminRequest;
  readonly route: Route & Partial<Pick<CommandRoute<Snapshot, unknown, Surroundings>, 'uses'>>;
  readonly parameters: PathParameters;
  readonly query: { readonly dryRun: boolean };
  /** Gets the caller before anything about the route is decided; `undefined` if the request changes nothing. */
  readonly attempt: { caller?: { readonly principal: Principal | undefined } } | undefined;
  /** Gets the caller who may use the route. */
  caller: Caller;
}

/** Why a caller is not admitted: `unauthenticated`, `login-throttled`, `overloaded`, `forbidden` or `read-only`. */
type Refusal = Problem<ProblemCode> | undefined;

/**
 * Finds the caller of a request, and decides whether the caller may use the route.
 *
 * @returns `undefined` if the caller may
 * @internal
 */
export function admit(running: Running, asked: Asked): Refusal | Promise<Refusal> {
  const { coordinator, writer } = running;
  return coordinator === undefined
    ? admitOn(writer.snapshot, running, asked)
    : admitTwice(running, asked, coordinator);
}

/** Decides again if other nodes have changed the users, or the read-only mode, on which a refusal rests. */
async function admitTwice(running: Running, asked: Asked, { catchUp }: Coordinator): Promise<Refusal> {
  const { route, request } = asked;
  const { headers, principal } = request;
  const before = running.writer.snapshot;
  const refused = await admitOn(before, running, asked);
  const isHeld = refused?.code === 'read-only';
  if (refused !== unauthenticated && !isHeld) return refused;
  // A read may be as old as the last look at the log, and a caller without credentials is unknown at every node.
  const isNamed = isHeld || (headers['authorization'] ?? principal) !== undefined;
  if (route.kind !== 'command' || !isNamed) return refused;
  const unread = await catchUp(callerLinks);
  if (unread !== undefined) return unread.problem as Problem<ProblemCode>;
  const now = running.writer.snapshot;
  if (now.users === before.users && now.interface === before.interface) return refused;
  // A principal that the host has given is still the user of before. A password is checked again.
  return admitOn(typeof principal === 'object' ? before : now, running, asked);
}

/** Decides on the caller as a snapshot knows the users. */
function admitOn(before: Snapshot, running: Running, asked: Asked): Refusal | Promise<Refusal> {
  const { request } = asked;
  // Without a promise where the caller is known at once: a promise takes as long as to find a resource.
  const known = isOpen(running, request, before) ? ok(undefined) : identify(running, request, before);
  return known instanceof Promise
    ? known.then((later) => decideOn(running, asked, later, before))
    : decideOn(running, asked, known, before);
}

/** Decides whether a caller may use a route. */
function decideOn(
  running: Running,
  asked: Asked,
  known: Result<Principal | undefined>,
  before: Snapshot,
): Refusal {
  if (!known.ok) return known.problem;
  const principal = known.value;
  if (asked.attempt !== undefined) asked.attempt.caller = { principal };
  const refusalIn = (snapshot: Snapshot): Refusal => {
    const isKnown =
      principal === undefined
        ? isOpen(running, asked.request, snapshot)
        : isSameUser(principal, before, snapshot);
    return isKnown ? refusalTo(principal, running, asked, snapshot) : unauthenticated;
  };
  const refused = refusalIn(running.writer.snapshot);
  if (refused === undefined) asked.caller = { principal, refusalIn };
  return refused;
}

/** Why a caller may not use a route now, by the rights of the caller and the read-only mode. @internal */
export function refusalTo(
  principal: Principal | undefined,
  running: Running,
  usage: Usage,
  snapshot: Snapshot,
): Refusal {
  return forbiddenTo(principal, running, usage) ?? readOnlyRefusal(running, usage, snapshot);
}

/** The refusal by the read-only mode; `undefined` if the mode is off, or has nothing against the request. */
function readOnlyRefusal(
  { surroundings }: Running,
  { route, parameters, query }: Usage,
  snapshot: Snapshot,
): Refusal {
  if (!snapshot.interface.settings.read_only || route.kind !== 'command' || query.dryRun) return undefined;
  const uses = route.uses?.(surroundings, parameters) ?? [];
  return (uses.length === 0 ? [{ route }] : uses).every((use) => use.route.worksReadOnly)
    ? undefined
    : readOnlyProblem(snapshot.interface);
}

/** Whether a request needs no log-in, because the interface has none, or has none yet. @internal */
export function isOpen({ isOpenAt }: Running, { principal }: AdminRequest, snapshot: Snapshot): boolean {
  return principal === undefined && isOpenAt(snapshot);
}

/** Asks the host who sends a request. Only an answer that is given later has a deadline. */
function identify(
  running: Running,
  request: AdminRequest,
  snapshot: Snapshot,
): Result<Principal> | Promise<Result<Principal>> {
  const { authenticate, clock, limits } = running;
  const { principal } = request;
  let verifying = 0;
  const verify: Parameters<Authenticate>[2] = async (name, password) => {
    verifying += 1;
    try {
      const verified = await running.passwords.verify(snapshot, request, { name, password });
      running.instruments?.logIn(verified, request);
      return verified;
    } finally {
      verifying -= 1;
    }
  };
  let answer: unknown = principal;
  if (typeof principal === 'function') answer = principal();
  else if (principal === undefined) answer = authenticate?.(request, snapshot, verify);
  if (!isThenable(answer)) return principalFrom(answer);
  const call = principal === undefined ? 'authenticate' : 'principal';
  const deadline = { clock, deadlineMs: limits.hashDeadlineMs, isWaiting: () => verifying > 0 };
  return answerInTime(call, deadline, () => answer).then(principalFrom);
}

/** Gives the caller that a hook names. */
function principalFrom(answer: unknown): Result<Principal> {
  if (isPrincipal(answer)) return ok(answer);
  if (answer === 'throttled')
    return fail('login-throttled', 'Too many log-ins at once. Try again in a second.');
  if (answer === 'overloaded')
    return fail('overloaded', 'The password was not checked in time. Try again later.');
  return { ok: false, problem: unauthenticated };
}

/** Whether a hook has returned a principal. Hosts without types also return `null` or `false`. */
function isPrincipal(value: unknown): value is Principal {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/**
 * Whether an admin user was neither deleted nor given another password. A new hash of the same password is no other
 * password. A caller who is no admin user is the same.
 */
function isSameUser({ name }: Principal, before: Snapshot, now: Snapshot): boolean {
  if (now.users === before.users) return true;
  const [known, user] = [before.users.find(name), now.users.find(name)];
  return (known === undefined) === (user === undefined) && passwordOf(before, name) === passwordOf(now, name);
}

/** How a caller wants to use a route. */
type Usage = Pick<Asked, 'route' | 'parameters' | 'query'>;

/**
 * Why a caller may not use a route; `undefined` if the caller may. Only `true` allows: a hook that returns nothing, or
 * a promise, must not allow anybody.
 *
 * @internal
 */
export function forbiddenTo(principal: Principal | undefined, running: Running, usage: Usage): Refusal {
  const { authorize, onError } = running;
  if (authorize === undefined) return undefined;
  const { route, parameters, query } = usage;
  const ask = (): unknown => authorize(principal, route, canonical(parameters), { dryRun: query.dryRun });
  const allowed = callHost('authorize', ask);
  if (allowed === true) return undefined;
  // To give nothing is a usual way to refuse. A promise is not: the host must know that its rule allows nobody.
  if (isThenable(allowed)) onError(wrongAnswer('authorize', allowed, 'true or false'));
  return forbidden(running, principal, usage);
}

/** What `GET /` shows of a caller. A role that the host gives wrongly is not shown. @internal */
export function shownCaller(
  { roleOf }: Pick<Running, 'roleOf'>,
  principal: Principal,
): ReturnType<NonNullable<Surroundings['caller']>> {
  const user = cut(principal.name, longestName);
  const role = roleOf?.(principal);
  return role === undefined ? { user } : { user, role };
}

const unauthenticated = problem(
  'unauthenticated',
  'The credentials are missing, wrong or no longer valid. Send valid ones.',
);

function forbidden(
  running: Running,
  principal: Principal | undefined,
  { route: { role }, query }: Usage,
): Problem<ProblemCode> {
  const who =
    principal === undefined ? 'Callers without a log-in are' : `The user ${quoted(principal.name)} is`;
  const needed = query.dryRun ? 'reader' : role;
  const own = principal && shownCaller(running, principal).role;
  // A rule of the host can refuse for another reason.
  const isByRole = own === undefined || roles.indexOf(own) < roles.indexOf(needed);
  const detail = `${who} not allowed to do this${isByRole ? `: it is for the role ${needed}` : ''}.`;
  return problem('forbidden', `${detail} Ask an administrator of this gateway for the permission.`);
}

/** The refusal of every change while the mode is on. It says at once what an operator wants to know. */
function readOnlyProblem({ settings, read_only_by: by }: Snapshot['interface']): Problem<ProblemCode> {
  const { read_only_reason: reason } = settings;
  const [who, why] = [
    by === undefined ? '' : ` by ${quoted(by)}`,
    reason === undefined ? '' : ` (${quoted(reason)})`,
  ];
  const detail =
    `The interface was made read-only${who}${why}. Nothing was changed. An administrator can end this with PATCH /. ` +
    'GET / says since when.';
  return problem('read-only', detail);
}

/** A scheme that no browser knows. A 401 must have a challenge (RFC 9110 §15.5.2), and this one opens no dialog. */
const ownChallenge = 'Host realm="gateway admin"';

/** Challenges for which a browser asks for a name and a password. */
const dialogs = /(?:^|,)\s*(?:basic|digest)\b/i;

/** The headers that tell a client how to get access. @internal */
export function accessHeaders(
  running: Running,
  request: AdminRequest,
  { code }: Problem,
): Headers | undefined {
  if (code === 'login-throttled' || code === 'overloaded') return { 'retry-after': '1' };
  return code === 'unauthenticated' ? { 'www-authenticate': challengeTo(running, request) } : undefined;
}

function challengeTo({ authenticate }: Running, { principal, headers }: AdminRequest): string {
  const challenge = authenticate?.challenge;
  // Where the host finds the caller, `authenticate` is not asked.
  if (principal !== undefined || challenge === undefined) return ownChallenge;
  // The dialog would hide the response from the script of a page, which has a log-in of its own.
  const mode = headers['sec-fetch-mode'] ?? 'navigate';
  return mode !== 'navigate' && dialogs.test(challenge) ? ownChallenge : challenge;
}
