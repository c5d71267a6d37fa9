/**
 * Writing: the answers of the routes that change something, which are commands and the actions of the interface itself.
 */
import { refused, unchanged } from '../../core/decision.ts';
import type { SecretPorts } from '../../core/secret.ts';
import type { Json } from '../../json/value.ts';
import { formatEtag } from '../../http/etag.ts';
import type { AdminRequest } from '../../http/message.ts';
import { canonical, type NotDone, type PathParameters, type Route } from '../../http/route.ts';
import { ok } from '../../problem.ts';
import type { BoundResourceRoute, Transition } from '../../resources/index.ts';
import type { BoundAction } from '../../resources/shared/route.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { digestsFor, failureOf, transitionAt, validatorAt } from '../command/condition.ts';
import { nothingClosed, type Closed, type Refusal } from '../command/execution.ts';
import type { Succeeded } from '../command/coordinator.ts';
import type { CommandRequest } from '../command/turn.ts';
import { callerLinks, Overtaken } from '../journal/basis.ts';
import { shareOfCaller } from '../password/share.ts';
import { forbiddenTo } from './access.ts';
import type { Arrival } from './arrival.ts';
import type { Running } from '../running.ts';
import { commandDigits } from '../plan/mark.ts';
import type { Planned } from '../plan/plan.ts';
import { surroundingsFor } from './read.ts';
import { wantsRepresentation } from './prefer.ts';
import { empty, json, refusal, type Headers, type Reply } from './respond.ts';

/** A route that makes a command. @internal */
export type CommandRoute = Extract<BoundResourceRoute, { readonly kind: 'command' }>;

/** What a request asks a route to change. @internal */
export type AskedCommand = Extract<
  Awaited<ReturnType<CommandRoute['command']>>,
  { readonly ok: true }
>['value'];

/** Does an action, or says with `dry_run` whether the action would be done. @internal */
export async function act(route: BoundAction, arrival: Arrival<Route>, running: Running): Promise<Reply> {
  for (;;) {
    const unread = await catchUp(running);
    if (unread !== undefined) return refusalReply(unread);
    try {
      return await actNow(route, arrival, running);
    } catch (error) {
      // Others have changed the users: the caller is checked again.
      if (!(error instanceof Overtaken)) throw error;
    }
  }
}

/** Checks the caller and acts in one turn of the event loop, so that nothing can come in between. */
async function actNow(
  route: BoundAction,
  { request, parameters, query: { dryRun, mark }, caller, conditions, attempt }: Arrival<Route>,
  running: Running,
): Promise<Reply> {
  const { writer, surroundings } = running;
  const late = caller.refusalIn(writer.snapshot);
  if (late !== undefined) return refusal(late);
  const found = route.findIn(surroundings, parameters);
  if (!found.ok) return refusal(found.problem);
  const failed = failureOf(conditions, () => undefined);
  if (failed !== undefined) return refusal(failed);
  const judged = route.judge(surroundings, found.value);
  if (!judged.ok) return refusal(judged.problem);
  const outcome = judged.value;
  const digits = (): string => digitsOf(route, parameters, null);
  const plan = writer.plan({ transition: nothing, planned: { digits, ...(mark && { mark }) } });
  if (plan.outcome === 'refused') return refusal(plan.problem);
  if (dryRun) return json(200, { ...plan, outcome }, {});
  const refused = running.refuseAll() ?? (await route.act(surroundings, found.value));
  if (refused !== undefined) return refusalReply(refused);
  if (attempt !== undefined) attempt.acted = outcome;
  return done(request, { outcome, closed: nothingClosed });
}

/** What an action does to the configuration. */
const nothing: Transition = (snapshot) => unchanged(snapshot, []);

/** Executes a command, or says with `dry_run` what it would do. @internal */
export async function command(
  route: CommandRoute,
  arrival: Arrival<Route>,
  running: Running,
): Promise<Reply> {
  const { request, parameters, query, caller, conditions, body, attempt } = arrival;
  const placeholders: Placeholders = { count: 0 };
  const secrets = secretsOf(arrival, running, placeholders);
  const change = await route.command(parameters, body, secrets, running.surroundings, query.search ?? {});
  if (!change.ok) return refusal(change.problem);
  const { decide, creates, notes = [] } = change.value;
  const missing = digestsFor(route, running.writer.snapshot);
  if (missing !== undefined) await missing;
  const place = { route, parameters };
  const planned: Planned = {
    digits: () => digitsOf(route, parameters, change.value.asked ?? null),
    // The tag of a secret is not known before the secret is sealed or hashed.
    validatorIn: placeholders.count > 0 ? undefined : validatorAt.bind(null, creates ?? place),
    notes,
    ...(query.mark && { mark: query.mark }),
  };
  const toDo = {
    transition: checked(route, arrival, running, transitionAt(place, conditions, decide)),
    planned,
    restsOn: callerLinks,
    ...(caller.principal === undefined ? {} : { actor: caller.principal.name }),
    // A client that disconnects cancels its command, if the command has not started.
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  // A dry run leaves no record.
  if (attempt === undefined) return plan(toDo, running);
  attempt.body = body;
  const execution = await running.writer.execute({ ...toDo, trace: attempt.trace });
  attempt.execution = execution;
  if (execution.outcome === 'refused' || execution.outcome === 'unknown') return refusalReply(execution);
  const needsLogIn = (running.authenticate ?? caller.principal) !== undefined;
  const error = needsLogIn ? undefined : change.value.errorIfOpen?.(execution.snapshot);
  if (error !== undefined) running.onError(error);
  return conclude(route, { arrival, creates }, execution, running);
}

/** The secrets of a plan for which something else stands. */
interface Placeholders {
  count: number;
}

/**
 * Hashes and seals for a command. For a plan nothing is hashed: a reader may plan, and places for hashing are few. The
 * plan and its mark show no secrets. What stands for them is never equal, as no two seals and no two hashes of one
 * secret are.
 */
function secretsOf(
  { request, caller, query }: Arrival<Route>,
  running: Running,
  placeholders: Placeholders,
): SecretPorts {
  const { secrets, passwords, writer } = running;
  const isSecretParameter = isSecretIn(writer.snapshot);
  const { objection, isStorable } = secrets;
  if (query.dryRun) {
    const placeholder = (): string => `planned ${String((placeholders.count += 1))}`;
    return {
      objection,
      isSecretParameter,
      hash: async () => Promise.resolve(ok(placeholder())),
      seal: async () => Promise.resolve(isStorable ? placeholder() : undefined),
    };
  }
  const hash: SecretPorts['hash'] = (password) =>
    passwords.hash(shareOfCaller(request, caller.principal), password);
  return { ...secrets, isSecretParameter, hash };
}

/** The digits of what a request asks for. The key stands for every spelling of a name. */
function digitsOf({ id }: Route, parameters: PathParameters, asked: Json | object): string {
  return commandDigits([id, canonical(parameters), asked as Json]);
}

async function plan(toDo: CommandRequest & { readonly planned: Planned }, running: Running): Promise<Reply> {
  const unread = await catchUp(running);
  if (unread !== undefined) return refusalReply(unread);
  const planned = await running.writer.planInSteps(toDo);
  return planned.outcome === 'refused' ? refusalReply(planned) : json(200, planned, {});
}

/** Takes in what a decision outside the turns rests on. Gives the refusal if that is not possible. */
async function catchUp(running: Running): Promise<Refusal | undefined> {
  return running.writer.refuseClosed() ?? running.coordinator?.catchUp(callerLinks);
}

/** Makes a transition that first checks whether the caller may still use the route, and each endpoint it stands for. */
function checked(
  { uses }: CommandRoute,
  { parameters, caller: { principal, refusalIn }, query }: Arrival<Route>,
  running: Running,
  transition: Transition,
): Transition {
  return (snapshot, context) => {
    const problem =
      refusalIn(snapshot) ??
      uses?.(running.surroundings, parameters)
        .map((use) => forbiddenTo(principal, running, { ...use, query }))
        .find((each) => each !== undefined);
    return problem === undefined ? transition(snapshot, context) : refused(snapshot, problem, []);
  };
}

async function conclude(
  route: CommandRoute,
  { arrival, creates }: { readonly arrival: Arrival<Route>; readonly creates: Creation | undefined },
  execution: Succeeded,
  running: Running,
): Promise<Reply> {
  const { coordinator, surroundings } = running;
  const { request, parameters } = arrival;
  const { snapshot } = execution;
  const place = creates ?? { route, parameters };
  const found = place.route.find(snapshot, place.parameters);
  const validator = validatorAt(place, snapshot, found);
  const headers: Headers = {
    ...(coordinator && (await coordinator.headersAfter(request, execution))),
    ...(validator && { etag: formatEtag(snapshot.epoch, validator) }),
  };
  if (creates === undefined && route.answer === undefined) return done(request, doneBy(execution), headers);
  if (!found.ok) return refusal(found.problem);
  if (creates !== undefined) {
    const place = placeFrom(request.target, creates.route.link(found.value));
    return created(creates.route, found.value, { execution, headers, place }, surroundings);
  }
  return json(200, route.answer?.(snapshot, found.value, surroundingsFor(arrival, running)), headers);
}

type Creation = NonNullable<AskedCommand['creates']>;

/** Shows what is there after a creation: 201 with its address, or 200 if it was there before. */
function created(
  { read }: Creation['route'],
  thing: unknown,
  {
    execution,
    headers,
    place,
  }: { readonly execution: Succeeded; readonly headers: Headers; readonly place: string },
  surroundings: Running['surroundings'],
): Reply {
  const shown = read(execution.snapshot, thing, surroundings);
  if (execution.outcome === 'unchanged') return json(200, shown, headers);
  return json(201, shown, { ...headers, location: place });
}

/**
 * The address of what was created in a list, relative to the address of the list (RFC 9110 section 10.2.2): only the
 * adapter knows the path below which the interface is mounted.
 */
function placeFrom(target: string, link: string): string {
  const isWithSlash = /^[^?]*\/(?:\?|$)/.test(target);
  return link
    .split('/')
    .slice(isWithSlash ? -1 : -2)
    .join('/');
}

/** What was done, for a client that asks. */
interface Done {
  readonly outcome: 'accepted' | 'unchanged';
  readonly command?: string;
  readonly closed: Closed;
}

/** What a command has done. */
function doneBy(execution: Succeeded): Done {
  if (execution.outcome === 'unchanged') return { outcome: 'unchanged', closed: nothingClosed };
  const { closed, events } = execution;
  const [command] = events.flatMap((event) => event.command ?? []);
  // Only at its end can a teardown find that nothing was left to close. Then there is no event.
  return command === undefined ? { outcome: 'unchanged', closed } : { outcome: 'accepted', command, closed };
}

/** The answer without a representation: says what was done if the client asks. */
function done(request: AdminRequest, said: Done, headers: Headers = {}): Reply {
  if (!wantsRepresentation(request)) return empty(204, headers);
  const { 'preference-applied': applied, ...others } = headers;
  const preferences = [...(applied === undefined ? [] : [applied]), 'return=representation'].join(', ');
  return json(200, said, { ...others, 'preference-applied': preferences });
}

/** The problems that end by themselves. A client may try again after a second. */
const passing: readonly string[] = ['overloaded', 'command-in-progress', 'outcome-unknown'];

/**
 * The reply to a command that was refused or is unknown. Says when the command can succeed, if that is known. @internal
 */
export function refusalReply({ problem, retryAfterMs: given }: NotDone): Reply {
  const retryAfterMs = given ?? (passing.includes(problem.code) ? 1000 : undefined);
  if (retryAfterMs === undefined) return refusal(problem);
  return refusal(problem, { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) });
}
