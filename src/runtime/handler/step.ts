/**
 * Steps: what a request to a route goes through. The lists `steps` and `hostSteps` have the order.
 */
import type { AdminRequest } from '../../http/message.ts';
import type { Route } from '../../http/route.ts';
import { ok, type Problem, type Result } from '../../problem.ts';
import type { BoundRoute } from '../../resources/index.ts';
import { isAction, isWhole } from '../../resources/shared/route.ts';
import type { Conditions } from '../command/condition.ts';
import { admit, isOpen, type Caller } from './access.ts';
import type { Arrival, Replying, Step } from './arrival.ts';
import type { Running } from '../running.ts';
import { readBody } from './body.ts';
import { mayOf } from './may.ts';
import { originProblem } from './origin.ts';
import { entityTags, follow, probe, read } from './read.ts';
import { refusal, type Headers, type Reply } from './respond.ts';
import { sequenceRoute } from './sequence.ts';
import { documentRoute } from './document.ts';
import { act, command, refusalOf } from './write.ts';

const form: Step<Route> = ({ fault }) => fault && refusal(fault);

const origin: Step<Route> = ({ request, route }, running) => {
  const isCommand = route.kind === 'command';
  const asking = { isCommand, isOpen: isOpen(running, request, running.writer.snapshot) };
  const foreign = originProblem(request, asking, running.origins);
  return foreign && refusal(foreign);
};

/** Makes the step that finds the caller, and turns away one who may not use the route. */
function caller<R extends Route>(
  turnAway: (reason: Problem, arrival: Arrival<R>, running: Running) => Replying,
): Step<R> {
  return (arrival, running) => {
    const enter = (admitted: Result<Caller>): Replying | undefined => {
      if (!admitted.ok) return turnAway(admitted.problem, arrival, running);
      arrival.caller = admitted.value;
      return undefined;
    };
    if (arrival.route.kind === 'probe') return undefined;
    const admitted = admit(running, arrival);
    return admitted instanceof Promise ? admitted.then(enter) : enter(admitted);
  };
}

/** Gives the fields that everybody may read, or refuses. */
function publicFields(reason: Problem, arrival: Arrival, running: Running): Replying {
  const { request, route, query, queryFault } = arrival;
  // A reader with wrong credentials gets the error, and not the public fields.
  const isStranger = reason.code === 'unauthenticated' && request.headers['authorization'] === undefined;
  const open = route.kind === 'item' ? route.publicFields : undefined;
  if (!isStranger || route.kind !== 'item' || open === undefined) return refusal(reason);
  if (queryFault !== undefined) return refusal(queryFault);
  const fields = (query.fields ?? route.fields).filter((name) => open.includes(name));
  return preconditions(arrival) ?? read(route, { ...arrival, query: { ...query, fields } }, running);
}

/** Ends a request whose client has left. */
const presence: Step = ({ request, caller: { principal } }) => {
  // The signal of an adapter is made when it is read, which takes long. Without a log-in, the request has just arrived.
  if (principal !== undefined || Object.hasOwn(request, 'signal')) request.signal?.throwIfAborted();
  return undefined;
};

const query: Step = ({ queryFault }) => queryFault && refusal(queryFault);

function preconditions(arrival: Arrival): Reply | undefined {
  const { kind } = arrival.route;
  if (kind === 'stream' || kind === 'probe') return undefined;
  const conditions = conditionsOf(arrival.request);
  if (!conditions.ok) return refusal(conditions.problem);
  arrival.conditions = conditions.value;
  return undefined;
}

function conditionsOf({ headers }: AdminRequest): Result<Conditions> {
  const [ifMatch, ifNoneMatch] = [entityTags(headers['if-match']), entityTags(headers['if-none-match'])];
  if (!ifMatch.ok) return ifMatch;
  if (!ifNoneMatch.ok) return ifNoneMatch;
  return ok({
    ...(ifMatch.value && { ifMatch: ok(ifMatch.value) }),
    ...(ifNoneMatch.value && { ifNoneMatch: ifNoneMatch.value }),
  });
}

const body: Step = (arrival, running) => {
  const { request, route } = arrival;
  if (route.kind !== 'command' || route.mediaTypes.length === 0) return undefined;
  return readBody(request, route, running).then((read) => {
    if (!read.ok) return refusal(read.problem, acceptFor(route, read.problem));
    arrival.body = read.value;
    return undefined;
  });
};

function acceptFor({ method, mediaTypes: [type] }: BoundRoute, { code }: Problem): Headers {
  if (code !== 'unsupported-media-type' || type === undefined) return {};
  return { [method === 'PATCH' ? 'accept-patch' : 'accept']: type };
}

const answer: Step = (arrival, running) => {
  const { route } = arrival;
  if (isAction(route)) return act(route, arrival, running);
  if (route.kind === 'stream') return follow(arrival, running);
  if (route.kind === 'probe') return probe(route.problem(running.surroundings));
  if (route.kind === 'item' && arrival.query.may)
    return mayOf(route, arrival, running).then((may) => read(route, { ...arrival, may }, running));
  if (route.kind !== 'command') return read(route, arrival, running);
  return command(isWhole(route) ? wholes[route.takes](route, arrival, running) : route, arrival, running);
};

/** The commands of the routes that take many changes as one. */
const wholes = { sequence: sequenceRoute, document: documentRoute } as const;

/** The steps of a request to a route of the interface. The last one always replies. @internal */
export const steps: readonly Step[] = [
  form,
  origin,
  caller(publicFields),
  presence,
  query,
  preconditions,
  body,
  answer,
];

/** Refuses a command while no command is possible. */
const possible: Step<Route> = ({ route }, { writer, refuseAll }) => {
  const refused = route.kind === 'command' ? (writer.refuseClosed() ?? refuseAll()) : undefined;
  return refused && refusalOf(refused);
};

/** The steps of a request to an endpoint of the host. Without a reply, the host may go on. @internal */
export const hostSteps: readonly Step<Route>[] = [
  form,
  origin,
  caller((reason) => refusal(reason)),
  possible,
];
