/**
 * Steps: what a request to a route goes through. `ways` and `hostWays` have the order.
 */
import { parseEntityTags } from '../../http/etag.ts';
import type { HostRoute, Route } from '../../http/route.ts';
import type { Problem } from '../../problem.ts';
import type { BoundRoute } from '../../resources/index.ts';
import { isAction, isWhole } from '../../resources/shared/route.ts';
import { admit, isOpen } from './access.ts';
import type { Arrival, Replying, Step, Ways } from './arrival.ts';
import type { Running } from '../running.ts';
import { readBody } from './body.ts';
import { mayOf } from './may.ts';
import { originProblem } from './origin.ts';
import { withFields } from './query.ts';
import { probe, read, streamEvents } from './read.ts';
import { refusal, type Headers, type Reply } from './respond.ts';
import { sequenceRoute } from './sequence.ts';
import { documentRoute } from './document.ts';
import { act, command, refusalReply } from './write.ts';

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
    const refused = admit(running, arrival);
    return refused instanceof Promise
      ? refused.then((reason) => reason && turnAway(reason, arrival, running))
      : refused && turnAway(refused, arrival, running);
  };
}

type RouteOf<K extends Route['kind']> = Extract<BoundRoute, { readonly kind: K }>;

/** Gives the fields that everybody may read, or refuses. */
function publicFields(reason: Problem, arrival: Arrival<RouteOf<'item'>>, running: Running): Replying {
  const { request, route, query, queryFault } = arrival;
  const { publicFields: open } = route;
  // A reader with wrong credentials gets the error, and not the public fields.
  const isStranger = reason.code === 'unauthenticated' && request.headers['authorization'] === undefined;
  if (!isStranger || open === undefined) return refusal(reason);
  if (queryFault !== undefined) return refusal(queryFault);
  const fields = (query.fields ?? route.fields).filter((name) => open.includes(name));
  return preconditions(arrival) ?? read({ ...arrival, query: withFields(query, fields) }, running);
}

/** Ends a request whose client has left. */
const presence: Step<Route> = ({ request, caller: { principal } }) => {
  // The signal of an adapter is made when it is read, which takes long. Without a log-in, the request has just arrived.
  if (principal !== undefined || Object.hasOwn(request, 'signal')) request.signal?.throwIfAborted();
  return undefined;
};

const query: Step<Route> = ({ queryFault }) => queryFault && refusal(queryFault);

function preconditions(arrival: Arrival<Route>): Reply | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = arrival.request.headers;
  const ifMatch = match === undefined ? undefined : parseEntityTags(match);
  if (ifMatch?.ok === false) return refusal(ifMatch.problem);
  const ifNoneMatch = noneMatch === undefined ? undefined : parseEntityTags(noneMatch);
  if (ifNoneMatch?.ok === false) return refusal(ifNoneMatch.problem);
  arrival.conditions = {
    ...(ifMatch && { ifMatch }),
    ...(ifNoneMatch && { ifNoneMatch: ifNoneMatch.value }),
  };
  return undefined;
}

const body: Step<Route> = (arrival, running) => {
  const { request, route } = arrival;
  if (route.mediaTypes.length === 0) return undefined;
  return readBody(request, route, running).then((read) => {
    if (!read.ok) return refusal(read.problem, acceptFor(route, read.problem));
    arrival.body = read.value;
    return undefined;
  });
};

function acceptFor({ method, mediaTypes: [type] }: Route, { code }: Problem): Headers {
  if (code !== 'unsupported-media-type' || type === undefined) return {};
  return { [method === 'PATCH' ? 'accept-patch' : 'accept']: type };
}

/** Finds out what the caller may do with the resource, if the request asks. */
const may: Step<RouteOf<'item'>> = (arrival, running) => {
  if (!arrival.query.may) return undefined;
  return mayOf(arrival.route, arrival, running).then((allowed) => {
    arrival.may = allowed;
    return undefined;
  });
};

const change: Step<RouteOf<'command'>> = (arrival, running) => {
  const { route } = arrival;
  if (isAction(route)) return act(route, arrival, running);
  return command(isWhole(route) ? wholes[route.takes](route, arrival, running) : route, arrival, running);
};

/** The commands of the routes that take many changes as one. */
const wholes = { sequence: sequenceRoute, document: documentRoute } as const;

const turnAway = caller<Route>((reason) => refusal(reason));

const admission = [form, origin, turnAway] as const;

const steps: { readonly [K in Route['kind']]: readonly Step<RouteOf<K>>[] } = {
  item: [form, origin, caller(publicFields), presence, query, preconditions, may, read],
  list: [...admission, presence, query, preconditions, read],
  command: [...admission, presence, query, preconditions, body, change],
  stream: [...admission, presence, query, streamEvents],
  probe: [form, origin, presence, query, probe],
};

/** The steps of a request to a route of the interface, by the kind of the route. The last one replies. @internal */
export const ways = steps as Ways<BoundRoute>;

/** Refuses a command while no command is possible. */
const possible: Step<Route> = (_arrival, { writer, refuseAll }) => {
  const refused = writer.refuseClosed() ?? refuseAll();
  return refused && refusalReply(refused);
};

/** The steps of a request to an endpoint of the host. Without a reply, the host may go on. @internal */
export const hostWays: Ways<HostRoute> = { item: admission, command: [...admission, possible] };
