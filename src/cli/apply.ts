/**
 * `plan` and `apply`: make a running gateway as a gateway document says.
 *
 * What is to do is the decision of `adoptDocument`, which a gateway makes in its own process: the state in use is read over
 * the interface, and made into a snapshot here. Each event of the decision is a command of the interface.
 */
import type { Client, EndpointId } from '../client/index.ts';
import {
  adoptDocument,
  linkTo,
  nameKey,
  redactSecrets,
  type AdminEvent,
  type Operation,
  type Plan,
  type Problem,
} from '../index.ts';
import { diff, type Json } from '../json/index.ts';
import { faultText, outcomeOf, valueOf } from './answer.ts';
import { acceptedPlan, confirm, goingOn, operationLines, unlessInterrupted } from './change.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { placeOf } from './place.ts';
import { collections, documentIn, readParts, snapshotOf, type Parts, type Tags } from './parts.ts';
import { counted, safeText } from './output.ts';
import { isObject } from './input.ts';

/** A command of the interface that a document makes necessary. */
interface Step {
  readonly id: EndpointId;
  /** Link of the resource. */
  readonly resource: string;
  readonly given: readonly unknown[];
  /** The changes in words. */
  readonly changes: readonly string[];
}

/** A step with what it would close. */
interface PlannedStep extends Step {
  readonly ifMatch: string | undefined;
  readonly plan: Exclude<Plan, { readonly outcome: 'refused' }>;
}

/** Makes the changes that the document needs, after a yes; a dry run only says which. */
export async function applyDocument(call: Call, isDry: boolean): Promise<void> {
  const { output } = call;
  const [file = ''] = call.words;
  const wanted = await readDocument(file, call);
  const client = await connect(call);
  const leaveOut = (pointer: string): void => output.note(`Left out: ${safeText(pointer)}`);
  wanted.leftOut.forEach(leaveOut);
  const isWanted = wantedIn(wanted.parts);
  const live = await readParts(client, isWanted);
  const steps = await planned(client, stepsTo(wanted.parts, live.parts), live.tags, leaveOut);
  if (!output.isJson) printSteps(call, steps, file);
  if (!isDry && steps.length > 0) {
    const place = await placeOf(call, client);
    await confirm(call, `Make ${counted(steps.length, 'change')} on ${place.text}?`, place);
    await makeAll(call, client, steps);
  }
  if (output.isJson) output.json(steps.map(shownStep));
  else if (isDry) output.lines('Nothing was done.');
  else if (steps.length > 0) output.lines(`Done: ${counted(steps.length, 'change')}.`);
  if (call.has('exit-code') && steps.length > 0)
    throw new CommandError(`The gateway differs from ${safeText(file)}.`, exitCodes.differs);
}

/** A step for programs. */
function shownStep({ resource, changes, plan: { closes, stays } }: PlannedStep): object {
  return { resource, changes, closes, stays };
}

interface Wanted {
  readonly parts: Parts;
  /** What the command line does not apply: pointers in the document. */
  readonly leftOut: readonly string[];
}

async function readDocument(file: string, { surroundings }: Call): Promise<Wanted> {
  const document = await documentIn(file, surroundings);
  // Resources without names cannot be compared with those of the gateway: their faults are told at once.
  if (!isNamed(document)) snapshotOf(document);
  const { servers = [], filters = [], monitors = [], services = [], users, sessions, ...others } = document;
  // A misspelt member would be left out in silence.
  snapshotOf(others);
  const given = { servers, filters, monitors, services };
  const parts = redactSecrets(given) as unknown as Parts;
  const secrets = diff(given as unknown as Json, parts as unknown as Json).map(({ path }) => path);
  const ignored = Object.entries({ users, sessions, ...others, format: undefined, $schema: undefined });
  return {
    parts,
    leftOut: [...ignored.flatMap(([name, value]) => (value === undefined ? [] : [`/${name}`])), ...secrets],
  };
}

/** Whether the document has resources, and each resource a name. */
function isNamed(document: unknown): boolean {
  if (!isObject(document)) return false;
  const lists = collections.map((name) => (document[name] === undefined ? [] : document[name]));
  return lists.every(
    (list) => Array.isArray(list) && list.every((each) => isObject(each) && typeof each['name'] === 'string'),
  );
}

/** Tells the resources of a document from the others. */
function wantedIn(wanted: Parts): (collection: keyof Parts, name: string) => boolean {
  const links = new Set(
    collections.flatMap((collection) =>
      wanted[collection].map(({ name }) => linkTo(collection, nameKey(name))),
    ),
  );
  return (collection, name) => links.has(linkTo(collection, nameKey(name)));
}

/** Decides what is to do. */
function stepsTo(wanted: Parts, live: Parts): readonly Step[] {
  const present = snapshotOf(live);
  const goal = snapshotOf(completed(wanted, live));
  const only = collections.flatMap((collection) =>
    wanted[collection].map(({ name }) => linkTo(collection, name)),
  );
  const decision = adoptDocument(present, goal, { now: Date.now() }, { only });
  if (decision.outcome === 'refused') throw impossible(decision.problem);
  return decision.outcome === 'unchanged' ? [] : decision.events.map(stepOf);
}

/** What stands between a document and a running gateway. */
function impossible({ errors = [], detail }: Problem): CommandError {
  const places = errors.map((fault) => `\n  ${faultText(fault)}`);
  const what = places.length === 0 ? ` ${safeText(detail)}` : places.join('');
  return new CommandError(
    `The document cannot be applied. Nothing was done.${what}`,
    exitCodes.refused,
    errors,
  );
}

/**
 * The document with what it leaves out and what cannot change: the other resources, because links may name them, and the
 * listeners of services.
 */
function completed(wanted: Parts, live: Parts): Parts {
  const complete = collections.map((collection) => {
    const present = new Map(live[collection].map((each) => [nameKey(each.name), each]));
    const given = wanted[collection].map((each) => {
      const listeners = present.get(nameKey(each.name))?.['listeners'];
      return listeners === undefined || 'listeners' in each ? each : { ...each, listeners };
    });
    const keys = new Set(wanted[collection].map(({ name }) => nameKey(name)));
    const others = live[collection].filter(({ name }) => !keys.has(nameKey(name)));
    return [collection, [...given, ...others]] as const;
  });
  return Object.fromEntries(complete) as unknown as Parts;
}

/** The command that an event stands for. */
function stepOf(event: AdminEvent): Step {
  const { type, resource } = event;
  const [, collection = '', segment = ''] = resource.split('/');
  const name = decodeURIComponent(segment);
  const verb = verbs[type.replace(/^\w+\./, '')] ?? '';
  const id = `${collection}.${verb}` as EndpointId;
  if (!('operations' in event)) return { id, resource, given: [name], changes: [verb] };
  return {
    id,
    resource,
    given: [name, event.operations],
    changes: operationLines(event.operations, event.inverse),
  };
}

const verbs: Readonly<Record<string, string>> = { started: 'start', stopped: 'stop', updated: 'patch' };

/** Asks the interface for the plan of each step. Nothing is done if one of them is refused. */
async function planned(
  client: Client,
  steps: readonly Step[],
  tags: Tags,
  leaveOut: (pointer: string) => void,
): Promise<readonly PlannedStep[]> {
  const result: PlannedStep[] = [];
  for (const step of steps) {
    const ifMatch = tags.get(step.resource);
    const found = await planOf(client, step, ifMatch, leaveOut);
    // A later step on the same resource gets the entity tag that the steps before it make.
    const isFirst = result.every(({ resource }) => resource !== step.resource);
    if (found !== undefined) result.push({ ...found, ifMatch: isFirst ? ifMatch : undefined });
  }
  return result;
}

/** The plan of a step, without the settings that are secret for this gateway; `undefined` if nothing remains. */
async function planOf(
  client: Client,
  step: Step,
  ifMatch: string | undefined,
  leaveOut: (pointer: string) => void,
): Promise<Omit<PlannedStep, 'ifMatch'> | undefined> {
  const options = ifMatch === undefined ? [] : [{ ifMatch }];
  const plan = acceptedPlan(valueOf(await methodOf(client, step.id).plan(...step.given, ...options)));
  // The interface shows the pointer of a secret, and not its value.
  const secrets = (plan.patch ?? []).filter(({ op, ...rest }) => op !== 'remove' && !('value' in rest));
  const [name, operations = []] = step.given as readonly [string, (readonly Operation[])?];
  const isSecret = ({ path }: Operation): boolean => secrets.some((secret) => secret.path === path);
  const shown = operations.filter((operation) => !isSecret(operation));
  if (shown.length === operations.length) return { ...step, plan };
  for (const { path } of operations.filter(isSecret)) leaveOut(`${step.resource}${path}`);
  const changes = step.changes.filter((_, at) => shown.includes(operations[at] as Operation));
  return shown.length === 0
    ? undefined
    : planOf(client, { ...step, given: [name, shown], changes }, ifMatch, leaveOut);
}

function printSteps({ output }: Call, steps: readonly PlannedStep[], file: string): void {
  if (steps.length === 0) output.lines(`Nothing to do: the gateway is as ${safeText(file)} says.`);
  else
    output.table(
      ['resource', 'change', 'sessions_close', 'connections_close', 'sessions_continue'],
      steps.flatMap(({ resource, changes, plan: { closes, stays } }) =>
        changes.map((change, at) => [
          at === 0 ? safeText(resource) : '',
          change,
          ...(at === 0
            ? [closes.sessions, closes.connections, stays.sessions].map((count) => count.toLocaleString('en'))
            : []),
        ]),
      ),
    );
}

/** Makes the changes in order, and stops at the first that is refused. */
async function makeAll(call: Call, client: Client, steps: readonly PlannedStep[]): Promise<void> {
  for (const [done, { id, given, ifMatch, resource }] of steps.entries()) {
    call.output.progress(`${String(done + 1)} of ${String(steps.length)}: ${safeText(resource)}`);
    const made = `${counted(done, 'change')} of ${String(steps.length)} made before.`;
    try {
      const sent = outcomeOf(methodOf(client, id)(...given, ...(ifMatch === undefined ? [] : [{ ifMatch }])));
      await unlessInterrupted(call, sent, () => `Interrupted. ${made} ${goingOn(resource)}`);
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode === exitCodes.interrupted) throw error;
      const isPart = done > 0 && error.exitCode === exitCodes.refused;
      const exitCode = isPart ? exitCodes.partlyDone : error.exitCode;
      throw new CommandError(`${safeText(resource)}: ${error.message} ${made}`, exitCode, error.cause);
    } finally {
      call.output.progress('');
    }
  }
}
