/**
 * Sequences: finds, checks and joins the commands of a request that has several. All of them are made, or none.
 */
import { refused, unchanged, type EventsAndEffects } from '../../core/decision.ts';
import { brokenEscape } from '../../core/link.ts';
import type { SecretPorts } from '../../core/secret.ts';
import { parseShape } from '../../core/shape.ts';
import { parseEntityTags } from '../../http/etag.ts';
import { canonical, type PathParameters, type Route, type WholeRoute } from '../../http/route.ts';
import { createRouter } from '../../http/router.ts';
import type { Json } from '../../json/value.ts';
import {
  cut,
  fail,
  longestTexts,
  ok,
  problem,
  problemOf,
  type Problem,
  type ProblemCode,
  type Result,
} from '../../problem.ts';
import {
  boundRoutes,
  combineNamed,
  type AdminEvent,
  type BoundRoute,
  type Decision,
  type Effect,
  type Transition,
} from '../../resources/index.ts';
import { sequenceShape, type SequenceCommand } from '../../resources/sequence.ts';
import { digestsFor, transitionAt, type Conditions } from '../command/condition.ts';
import { isIrreversible } from '../command/stage.ts';
import { forbiddenTo } from './access.ts';
import type { Arrival } from './arrival.ts';
import type { Running } from '../running.ts';
import type { AskedCommand, CommandRoute } from './write.ts';

/** A command of a sequence. */
interface SequencedCommand {
  readonly place: { readonly route: CommandRoute; readonly parameters: PathParameters };
  readonly body: Json;
  readonly conditions: Conditions;
  /** Gives a problem of the command as a problem of the sequence. */
  readonly tell: (reason: Problem) => Problem<ProblemCode>;
}

/** A command of a sequence, whose body was checked. */
interface Checked extends SequencedCommand {
  readonly change: AskedCommand;
}

/** The routes that a sequence takes commands of. */
const router = createRouter(boundRoutes.filter(isTaken));

/** The words with which the paths of resources begin. */
const roots = new Set(
  boundRoutes.filter(({ path }) => path.includes('/:')).map(({ path }) => path.split('/', 2)[1]),
);

function isTaken(route: BoundRoute): route is CommandRoute {
  if (route.kind !== 'command' || !('find' in route)) return false;
  // An undo is a sequence of its own, of the commands of another moment. A path without a query chooses no sessions.
  // The read-only mode ends alone: it refuses every sequence.
  return !route.path.startsWith('/history/') && !['sessions.closeMany', 'interface.patch'].includes(route.id);
}

/** Makes the route that takes the commands of a request as one command. @internal */
export function sequenceRoute(route: WholeRoute, arrival: Arrival<Route>, running: Running): CommandRoute {
  return {
    ...route,
    find: () => ok(undefined),
    link: () => route.path,
    command: (_parameters, body, secrets) => changeOf(body, secrets, arrival, running),
  };
}

/** Finds and checks all commands before anything is decided. */
async function changeOf(
  body: Json,
  secrets: SecretPorts,
  { caller: { principal }, query }: Arrival<Route>,
  running: Running,
): Promise<Result<AskedCommand>> {
  const found = partsIn(body);
  if (!found.ok) return found;
  const parts = found.value;
  const forbiddenIn = ({ place }: SequencedCommand): Problem<ProblemCode> | undefined =>
    forbiddenTo(principal, running, { ...place, query });
  for (const part of parts) {
    const forbidden = forbiddenIn(part);
    if (forbidden !== undefined) return { ok: false, problem: part.tell(forbidden) };
  }
  const checked: Checked[] = [];
  for (const part of parts) {
    const { route, parameters } = part.place;
    // One after another: passwords of one request must not take the places of other clients.
    const change = await route.command(parameters, part.body, secrets, running.surroundings, {});
    if (!change.ok) return { ok: false, problem: part.tell(change.problem) };
    if (part.conditions.ifMatch !== undefined) await digestsFor(route, running.writer.snapshot);
    checked.push({ ...part, change: change.value });
  }
  // All conditions first: a command gives its resource another entity tag, and later commands may name the one before.
  const checks = parts.map((part) => checkOf(part, () => forbiddenIn(part)));
  const steps = checked.map((part, at) => stepOf(part, at === checked.length - 1));
  const whole = combineNamed([...checks, ...steps]);
  return ok({
    decide: (snapshot, _none, context) => whole(snapshot, context),
    asked: checked.map(({ place: { route, parameters }, change }) => [
      route.id,
      canonical(parameters),
      change.asked ?? null,
    ]),
    errorIfOpen: (snapshot) =>
      checked.map(({ change }) => change.errorIfOpen?.(snapshot)).find((error) => error !== undefined),
  });
}

/** The commands of a body, with their routes. */
function partsIn(body: Json): Result<readonly SequencedCommand[]> {
  const parsed = parseShape(sequenceShape, body);
  if (!parsed.ok) return { ok: false, problem: problemOf(parsed.faults) };
  const parts: SequencedCommand[] = [];
  for (const [at, command] of parsed.value.commands.entries()) {
    const part = partOf(command, at);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  return ok(parts);
}

function partOf(command: SequenceCommand, at: number): Result<SequencedCommand> {
  const { method, path, body, if_match: tags } = command;
  const place = `/commands/${String(at)}`;
  const what = `Command ${String(at + 1)} (${method} ${cut(path, longestPath)})`;
  const tell = (reason: Problem): Problem<ProblemCode> => problemOfPart(reason, what, place);
  const failing = (code: ProblemCode, member: string, detail: string): Result<never> =>
    fail(code, `${what}: ${detail}`, [{ pointer: `${place}/${member}`, code, detail }]);
  const match = router.match(method, path);
  if (match.found === 'broken-escape') return failing('path-encoding-invalid', 'path', brokenEscape('path'));
  if (match.found !== 'route') return failing('op-not-allowed', 'path', prefixed(method, path) ?? notTaken);
  const ifMatch = tags === undefined ? undefined : parseEntityTags(tags);
  if (ifMatch?.ok === false) return failing('validation-failed', 'if_match', noTags);
  const { route, parameters } = match;
  const hasBody = route.mediaTypes.length > 0;
  const given = body === undefined && route.mayLackBody === true ? {} : body;
  if (hasBody && given === undefined) return failing('body-missing', 'body', noBody);
  return ok({
    place: { route, parameters },
    // As over HTTP, the body of a command that needs none is ignored.
    body: hasBody ? (given as Json) : null,
    conditions: ifMatch === undefined ? {} : { ifMatch },
    tell,
  });
}

/** The longest path that a problem shows, in UTF-16 code units. */
const longestPath = 100;

const notTaken =
  'A sequence does not take this. A sequence takes commands that change services, servers, monitors, filters, users, sessions, ' +
  'connections or logs. Send anything else, such as an undo or DELETE /sessions, in a request of its own.';

/** The longest prefix that is recognised, in segments. */
const mostPrefixSegments = 5;

/** What to say of a path that begins with the prefix of the interface; `undefined` for any other path. */
function prefixed(method: string, path: string): string | undefined {
  // A path that begins as one of the interface has no prefix.
  if (roots.has(path.split('/', 2)[1])) return undefined;
  let inner = path;
  for (let left = mostPrefixSegments; left > 0; left -= 1) {
    inner = inner.slice(1 + inner.slice(1).search(/\/|$/));
    if (inner !== '' && router.match(method, inner).found === 'route')
      return (
        'A path of a sequence begins at the root of the interface, without the prefix under which the interface is ' +
        `reached. Send ${cut(inner, longestPath)}.`
      );
  }
  return undefined;
}

const noTags = 'if_match must be *, or entity tags in double quotes, such as the header ETag has.';

const noBody = 'The body is missing. Give the JSON that the command has as its body in a request of its own.';

const early =
  'The command closes or flushes, which cannot be undone, so it must be the last one of the sequence. Move it to the end, and ' +
  'send other commands of this kind in requests of their own.';

/** A problem of a command as a problem of the sequence. */
function problemOfPart(reason: Problem, what: string, place: string): Problem<ProblemCode> {
  // A code of the host comes from its veto, which is asked about the whole sequence.
  const code = reason.code as ProblemCode;
  const faults = reason.errors?.map((fault) => ({ ...fault, pointer: `${place}/body${fault.pointer}` }));
  const whole = { pointer: place, code, detail: reason.detail };
  const errors = (faults ?? [whole]).map((fault) => ({
    ...fault,
    pointer: cut(fault.pointer, longestTexts.faultPointer),
    detail: cut(fault.detail, longestTexts.faultDetail),
  }));
  return Object.freeze({
    ...reason,
    code,
    detail: cut(`${what}: ${reason.detail}`, longestTexts.detail),
    errors,
  });
}

/** Checks whether the caller may still send a command, and the condition of the command. Decides nothing. */
function checkOf(
  { place, conditions, tell }: SequencedCommand,
  forbiddenNow: () => Problem | undefined,
): Transition {
  const check = transitionAt(place, conditions, (snapshot, thing) =>
    unchanged(snapshot, [place.route.link(thing)]),
  );
  return (snapshot, context) => {
    const problem = forbiddenNow();
    if (problem !== undefined) return refused(snapshot, tell(problem));
    // An earlier command may create what a command without a condition changes.
    return conditions.ifMatch === undefined ? unchanged(snapshot, []) : told(check(snapshot, context), tell);
  };
}

/** Decides a command. */
function stepOf({ place, change, tell }: Checked, isLast: boolean): Transition {
  const decide = transitionAt(place, {}, change.decide);
  return (snapshot, context) => {
    const decision = decide(snapshot, context);
    const isEarly = !isLast && decision.outcome === 'accepted' && isFinal(decision);
    if (!isEarly) return told(decision, tell);
    return refused(snapshot, tell(problem('op-not-allowed', early)), decision.resources);
  };
}

/** Whether a decision closes or flushes anything. */
function isFinal({ effects, closing }: EventsAndEffects<AdminEvent, Effect>): boolean {
  return closing !== undefined || effects.some(isIrreversible);
}

function told(decision: Decision, tell: SequencedCommand['tell']): Decision {
  return decision.outcome === 'refused' ? { ...decision, problem: tell(decision.problem) } : decision;
}
