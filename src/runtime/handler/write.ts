/**
 * Writing: the answers of the routes that change something, which are commands and the actions of the interface itself.
 */
import { refused } from '../../core/decision.ts';
import type { SecretPorts } from '../../core/secret.ts';
import type { Acted, Route } from '../../http/route.ts';
import type { Problem } from '../../problem.ts';
import type { BoundResourceRoute, Transition } from '../../resources/index.ts';
import type { BoundAction } from '../../resources/shared/route.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { failureOf, transitionAt, versionAt } from '../command/condition.ts';
import type { Execution, Refusal } from '../command/execution.ts';
import type { CommandRequest } from '../command/turn.ts';
import { callerLinks, Overtaken } from '../journal/log.ts';
import { shareOfCaller } from '../password/share.ts';
import type { Caller } from './access.ts';
import type { Arrival, HandlerOptions } from './arrival.ts';
import { fleetHeaders } from './fleet-header.ts';
import { actionPlan, toPlan } from './plan.ts';
import { etagOf } from './read.ts';
import { empty, json, refusal, type Reply } from './respond.ts';

type CommandRoute = Extract<BoundResourceRoute, { readonly kind: 'command' }>;

/** Does an action, or says with `dry_run` whether the action would be done. @internal */
export async function act(
  route: BoundAction,
  arrival: Arrival<Route>,
  options: HandlerOptions,
): Promise<Reply> {
  for (;;) {
    const unread = await readOn(options);
    if (unread !== undefined) return refusal(unread.problem, retryAfter(unread));
    try {
      return await actNow(route, arrival, options);
    } catch (error) {
      // Another node has changed the users or the mode: the caller is checked again.
      if (!(error instanceof Overtaken)) throw error;
    }
  }
}

/** Checks the caller and acts in one turn of the event loop, so that nothing can come in between. */
async function actNow(
  route: BoundAction,
  { parameters, query, caller, conditions, body, attempt }: Arrival<Route>,
  options: HandlerOptions,
): Promise<Reply> {
  const { snapshot, surroundings } = options;
  const late = caller.refusalIn(snapshot());
  if (late !== undefined) return refusal(late);
  const found = route.findIn(surroundings, parameters, body);
  if (!found.ok) return refusal(found.problem);
  attempt?.ask(body);
  const failed = failureOf(conditions, snapshot().epoch, () => undefined);
  if (failed !== undefined) return refusal(failed);
  const decided = route.decide(surroundings, found.value);
  if (decided.outcome === 'refused') return refusal(decided.problem, retryAfter(decided));
  if (query.dryRun) return json(200, actionPlan(decided), {});
  const acted = options.refuseAll() ?? (await decided.act(caller.principal?.name));
  if (acted.outcome === 'refused') return refusal(acted.problem, retryAfter(acted));
  attempt?.act(decided);
  return route.answer === undefined ? empty(204, {}) : json(200, route.answer(surroundings), {});
}

/** Executes a command, or says with `dry_run` what it would do. @internal */
export async function command(
  route: CommandRoute,
  arrival: Arrival<Route>,
  options: HandlerOptions,
): Promise<Reply> {
  const { request, parameters, caller, conditions, body, attempt } = arrival;
  const secrets: SecretPorts = {
    ...options.secrets,
    isSecretParameter: isSecretIn(options.snapshot()),
    hash: (password) => options.passwords.hash(shareOfCaller(request, caller.principal), password),
  };
  const change = await route.command(parameters, body, secrets);
  if (!change.ok) return refusal(change.problem);
  const toDo: CommandRequest = {
    transition: checked(caller, transitionAt({ route, parameters }, conditions, change.value.decide)),
    restsOn: callerLinks,
    ...(caller.principal === undefined ? {} : { actor: caller.principal.name }),
    // A client that disconnects cancels its command, if the command has not started.
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  // A dry run leaves no record.
  if (attempt === undefined) return plan(route, arrival, toDo, options);
  attempt.ask(body);
  return conclude(route, arrival, await attempt.execute(toDo, options.execute), options);
}

async function plan(
  route: CommandRoute,
  { parameters }: Arrival<Route>,
  toDo: CommandRequest,
  options: HandlerOptions,
): Promise<Reply> {
  const unread = await readOn(options);
  if (unread !== undefined) return refusal(unread.problem, retryAfter(unread));
  const versionIn = versionAt.bind(null, { route, parameters });
  const planned = toPlan(options.decide(toDo), options.snapshot(), versionIn);
  if (planned.outcome !== 'refused') return json(200, planned, {});
  return refusal(planned.problem, retryAfter({ outcome: 'refused', problem: planned.problem }));
}

/** Takes in what a decision outside the turns rests on. Gives the refusal if that is not possible. */
async function readOn(options: HandlerOptions): Promise<Refusal | undefined> {
  return options.refuseClosed() ?? options.readOn?.(callerLinks);
}

/** Makes a transition that first checks whether the caller still may send the command. */
function checked({ refusalIn }: Caller, transition: Transition): Transition {
  return (snapshot, context) => {
    const problem = refusalIn(snapshot);
    return problem === undefined ? transition(snapshot, context) : refused(snapshot, problem, []);
  };
}

async function conclude(
  route: CommandRoute,
  { request, parameters, caller }: Arrival<Route>,
  execution: Execution,
  options: HandlerOptions,
): Promise<Reply> {
  if (execution.outcome === 'refused' || execution.outcome === 'unknown')
    return refusal(execution.problem, retryAfter(execution));
  const { fleet, authenticate, onError } = options;
  const needsLogIn = (authenticate ?? caller.principal) !== undefined;
  const error = needsLogIn ? undefined : route.errorIfOpen?.(execution.snapshot);
  if (error !== undefined) onError(error);
  const { snapshot } = execution;
  const etag = etagOf(snapshot, versionAt({ route, parameters }, snapshot));
  const headers = {
    ...(fleet === undefined ? {} : await fleetHeaders(fleet, request, execution)),
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
