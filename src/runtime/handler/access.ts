/**
 * Access: finds the caller of a request, and decides whether the caller may use a route now.
 *
 * Both are decided before anything about the resource is looked up. A command is decided again at its turn, because the
 * body, a password hash or the queue can take a long time.
 */
import type { AdminRequest, Principal } from '../../http/message.ts';
import {
  canonical,
  roles,
  type CommandRoute,
  type PathParameters,
  type Role,
  type Route,
} from '../../http/route.ts';
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
import type { Snapshot } from '../../resources/snapshot.ts';
import { answerInTime, type HostDeadline } from '../host/waiting.ts';
import { callHost } from '../host/guard.ts';
import { isThenable } from '../host/check.ts';
import { wrongAnswer } from '../host/host-error.ts';
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
}

/**
 * Finds the caller of a request, and decides whether the caller may use the route.
 *
 * @returns the caller, or a problem: `unauthenticated`, `login-throttled`, `forbidden` or `read-only`
 * @internal
 */
export function admit(running: Running, asked: Asked): Result<Caller> | Promise<Result<Caller>> {
  const { coordinator, writer } = running;
  return coordinator === undefined
    ? admitOn(writer.snapshot, running, asked)
    : admitTwice(running, asked, coordinator);
}

/** Decides again if other nodes have changed the users, or the read-only mode, on which a refusal rests. */
async function admitTwice(running: Running, asked: Asked, { catchUp }: Coordinator): Promise<Result<Caller>> {
  const { route, request } = asked;
  const { headers, principal } = request;
  const before = running.writer.snapshot;
  const admitted = await admitOn(before, running, asked);
  if (admitted.ok || ![unauthenticated, readOnly].includes(admitted.problem)) return admitted;
  // A read may be as old as the last look at the log, and a caller without credentials is unknown at every node.
  const isNamed = admitted.problem === readOnly || (headers['authorization'] ?? principal) !== undefined;
  if (route.kind !== 'command' || !isNamed) return admitted;
  const unread = await catchUp(['/users']);
  if (unread !== undefined) return { ok: false, problem: unread.problem as Problem<ProblemCode> };
  const now = running.writer.snapshot;
  if (now.users === before.users && now.interface === before.interface) return admitted;
  // A principal that the host has given is still the user of before. A password is checked again.
  return admitOn(typeof principal === 'object' ? before : now, running, asked);
}

/** Decides on the caller as a snapshot knows the users. */
function admitOn(before: Snapshot, running: Running, asked: Asked): Result<Caller> | Promise<Result<Caller>> {
  const { request, attempt } = asked;
  const decide = (principal: Result<Principal | undefined>): Result<Caller> => {
    if (!principal.ok) return principal;
    if (attempt !== undefined) attempt.caller = { principal: principal.value };
    return decideOn(running, asked, { principal: principal.value, before });
  };
  // Without a promise where nobody logs in: a promise takes as long as to find a resource.
  if (isOpen(running, request, before)) return decide(ok(undefined));
  return identify(running, request, before).then(decide);
}

/** Decides whether a caller may use a route. */
function decideOn(
  running: Running,
  asked: Asked,
  { principal, before }: { readonly principal: Principal | undefined; readonly before: Snapshot },
): Result<Caller> {
  const refusalIn = (snapshot: Snapshot): Problem<ProblemCode> | undefined => {
    const isKnown =
      principal === undefined
        ? isOpen(running, asked.request, snapshot)
        : isSameUser(principal, before, snapshot);
    if (!isKnown) return unauthenticated;
    return refusalTo(principal, running, asked, snapshot);
  };
  const refusal = refusalIn(running.writer.snapshot);
  return refusal === undefined ? ok({ principal, refusalIn }) : { ok: false, problem: refusal };
}

/** Why a caller may not use a route now, by the rights of the caller and the read-only mode. @internal */
export function refusalTo(
  principal: Principal | undefined,
  running: Running,
  usage: Usage,
  snapshot: Snapshot,
): Problem<ProblemCode> | undefined {
  return forbiddenTo(principal, running, usage) ?? readOnlyRefusal(running, usage, snapshot);
}

/**
 * The refusal of a request by the read-only mode; `undefined` if the mode is off, or has nothing against the request.
 */
function readOnlyRefusal(
  { surroundings }: Running,
  { route, parameters, query }: Usage,
  { interface: { settings } }: Snapshot,
): typeof readOnly | undefined {
  if (!settings.read_only || route.kind !== 'command' || query.dryRun) return undefined;
  const uses = route.uses?.(surroundings, parameters) ?? [];
  return (uses.length === 0 ? [{ route }] : uses).every((use) => use.route.worksReadOnly)
    ? undefined
    : readOnly;
}

/** Whether a request needs no log-in, because the interface has none, or has none yet. @internal */
export function isOpen({ isOpenAt }: Running, { principal }: AdminRequest, snapshot: Snapshot): boolean {
  return principal === undefined && isOpenAt(snapshot);
}

async function identify(
  running: Running,
  request: AdminRequest,
  snapshot: Snapshot,
): Promise<Result<Principal>> {
  const { clock, limits } = running;
  let verifying = 0;
  const verify: Parameters<Authenticate>[2] = async (name, password) => {
    verifying += 1;
    const verifyingOne = running.passwords.verify(snapshot, request, { name, password });
    const verified = await verifyingOne.finally(() => (verifying -= 1));
    running.instruments?.logIn(verified, request);
    return verified;
  };
  const deadline = { clock, deadlineMs: limits.hashDeadlineMs, isWaiting: () => verifying > 0 };
  const principal: unknown = await callerOf(running, request, { snapshot, verify, deadline });
  if (isPrincipal(principal)) return ok(principal);
  if (principal === 'throttled')
    return fail('login-throttled', 'Too many log-ins at once. Try again in a second.');
  if (principal === 'overloaded')
    return fail('overloaded', 'The password was not checked in time. Try again later.');
  return { ok: false, problem: unauthenticated };
}

/** Asks the host who sends a request. */
async function callerOf(
  { authenticate }: Running,
  request: AdminRequest,
  {
    snapshot,
    verify,
    deadline,
  }: {
    readonly snapshot: Snapshot;
    readonly verify: Parameters<Authenticate>[2];
    readonly deadline: HostDeadline;
  },
): Promise<unknown> {
  const { principal } = request;
  if (typeof principal === 'function')
    return answerInTime('principal', deadline, async () => (await principal()) as unknown);
  if (principal !== undefined || authenticate === undefined) return principal;
  return answerInTime('authenticate', deadline, () => authenticate(request, snapshot, verify));
}

/** Whether a hook has returned a principal. Hosts without types also return `null`, `false` or a promise. */
function isPrincipal(value: unknown): value is Principal {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/**
 * Whether an admin user was neither deleted nor given another password: each of these gives the name another version,
 * or none. A new hash of the same password does not. A caller who is no admin user is the same.
 */
function isSameUser({ name }: Principal, before: Snapshot, now: Snapshot): boolean {
  return before.users.find(name)?.version.command === now.users.find(name)?.version.command;
}

/** How a caller wants to use a route. */
type Usage = Pick<Asked, 'route' | 'parameters' | 'query'>;

/** Why a caller may not use a route; `undefined` if the caller may. @internal */
export function forbiddenTo(
  principal: Principal | undefined,
  running: Running,
  usage: Usage,
): Problem<ProblemCode> | undefined {
  return isAllowed(running, principal, usage) ? undefined : forbidden(running, principal, usage);
}

/** What `GET /` shows of a caller. A role that the host gives wrongly is not shown. @internal */
export function shownCaller(
  { authorize, onError }: Running,
  principal: Principal,
): ReturnType<NonNullable<Surroundings['caller']>> {
  const user = cut(principal.name, longestName);
  try {
    const role = callHost('authorize', () => authorize?.roleOf?.(principal));
    if (roles.includes(role as Role)) return { user, role: role as Role };
    if (role !== undefined)
      onError(wrongAnswer('authorize', role, `one of ${roles.join(', ')}, or undefined`));
    return { user };
  } catch (error) {
    onError(error);
    return { user };
  }
}

/** Only `true` allows. A hook that returns nothing, or a promise, must not allow anybody. */
function isAllowed(
  { authorize, onError }: Running,
  principal: Principal | undefined,
  { route, parameters, query: { dryRun } }: Usage,
): boolean {
  if (authorize === undefined) return true;
  const ask = (): unknown => authorize(principal, route, canonical(parameters), { dryRun });
  const allowed = callHost('authorize', ask);
  // To give nothing is a usual way to refuse. A promise is not: the host must know that its rule allows nobody.
  if (isThenable(allowed)) onError(wrongAnswer('authorize', allowed, 'true or false'));
  return allowed === true;
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

const readOnly = problem(
  'read-only',
  'The interface is read-only at the moment. Nothing was changed. An administrator can end this with PATCH /, and GET / ' +
    'shows who has begun it, when and why.',
);

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
