/**
 * Arrivals: requests on their way through the steps of the handler, with what each step has found out.
 */
import type { May, PathParameters, Route } from '../../http/route.ts';
import type { AdminRequest } from '../../http/message.ts';
import type { Json } from '../../json/value.ts';
import type { Problem, Result } from '../../problem.ts';
import type { BoundRoute } from '../../resources/index.ts';
import type { Attempt } from '../audit/attempt.ts';
import type { Conditions } from '../command/condition.ts';
import type { Running } from '../running.ts';
import { nobody, type Caller } from './access.ts';
import { noQuery, type Query } from './query.ts';
import type { Reply } from './respond.ts';

/** A request for a route. A step replaces the members that are not `readonly`. @internal */
export interface Arrival<R extends Route = BoundRoute> {
  readonly request: AdminRequest;
  readonly route: R;
  readonly parameters: PathParameters;
  /** What is wrong with the form of the request. */
  readonly fault: Problem | undefined;
  readonly query: Query;
  readonly queryFault: Problem | undefined;
  /** What the audit record is made of; `undefined` if the request would change nothing. */
  readonly attempt: Attempt | undefined;
  /** At first nobody, who may use no route. */
  caller: Caller;
  conditions: Conditions;
  body: Json;
  /** What the caller may do with the resource; `undefined` if the request does not ask. */
  may: readonly May[] | undefined;
}

/** What is known of a request at its arrival. */
interface Arriving<R> {
  readonly request: AdminRequest;
  readonly route: R;
  /** Left out if a path segment has a broken escape. */
  readonly parameters?: PathParameters;
  readonly fault: Problem | undefined;
  readonly query?: Result<Query>;
  /** Whether the query asks for a dry run, also if another parameter is faulty. */
  readonly isDryRun?: boolean;
}

/** Begins the way of a request. @internal */
export function arrive<R extends Route>({
  request,
  route,
  parameters,
  fault,
  query = noQuery,
  isDryRun = false,
}: Arriving<R>): Arrival<R> {
  const known = query.ok ? query.value : { ...noQuery.value, dryRun: isDryRun };
  const target = { route, ...(parameters && { parameters }) };
  const isAttempt = route.kind === 'command' && !isDryRun;
  return {
    request,
    route,
    parameters: parameters ?? {},
    fault,
    query: known,
    queryFault: query.ok ? undefined : query.problem,
    attempt: isAttempt ? { request, target, mark: known.mark, trace: {} } : undefined,
    caller: nobody,
    conditions: {},
    body: null,
    may: undefined,
  };
}

/** A reply, or the promise of one. A request that waits for nothing is answered without a promise. @internal */
export type Replying = Reply | Promise<Reply>;

/** Replies to a request, or lets the next step go on. @internal */
export type Step<R extends Route = BoundRoute> = (
  arrival: Arrival<R>,
  running: Running,
) => Reply | undefined | Promise<Reply | undefined>;

/** The steps of a request, by the kind of its route. @internal */
export type Ways<R extends Route> = Readonly<Record<R['kind'], readonly Step<R>[]>>;

/** Takes steps until one replies. @internal */
export function take<R extends Route>(
  steps: readonly Step<R>[],
  arrival: Arrival<R>,
  running: Running,
): ReturnType<Step<R>> {
  for (const [at, step] of steps.entries()) {
    const reply = step(arrival, running);
    if (reply instanceof Promise)
      return reply.then((given) => given ?? take(steps.slice(at + 1), arrival, running));
    if (reply !== undefined) return reply;
  }
  return undefined;
}
