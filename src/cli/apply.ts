/**
 * `plan` and `apply`: change a running gateway until it is as a gateway document says.
 *
 * The state in use is read over the interface, and made into a snapshot. On this snapshot, `adoptDocument` decides, as
 * in the process of a gateway. Each event of the decision becomes a command of one sequence.
 */
import type { Client, SequenceCommand } from '../client/index.ts';
import {
  adoptDocument,
  linkTo,
  nameKey,
  redactSecrets,
  type AdminEvent,
  type Operation,
  type Problem,
} from '../index.ts';
import { diff, type Json } from '../json/index.ts';
import { faultText, valueOf } from './answer.ts';
import { makeAsPlanned, sayNothingToDo } from './change.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { connect } from './connection.ts';
import { isObject } from './input.ts';
import { configured, type Configured } from './kind.ts';
import { counted, safeText } from './output.ts';
import {
  documentIn,
  readParts,
  snapshotOf,
  withoutDrain,
  type Live,
  type Parts,
  type Resource,
  type Tags,
} from './parts.ts';
import { placeOf } from './place.ts';
import {
  acceptedPlan,
  consequenceLines,
  countLines,
  nothingClosed,
  nothingDoneOn,
  rowOf,
  verbOf,
  type Accepted,
  type Change,
  type PlannedChange,
  type ShownEvent,
} from './plan.ts';

/** Makes the changes that the document asks for, all or none, after a yes. A dry run only prints the changes. */
export async function applyDocument(call: Call, isDry: boolean): Promise<void> {
  const { output } = call;
  const [file = ''] = call.words;
  const wanted = await readDocument(file, call);
  const client = await connect(call);
  const live = await readParts(client, isComparedIn(wanted));
  for (const pointer of [...wanted.leftOut, ...newListeners(wanted, live)]) output.note(leftOut(pointer));
  const found = await find(call, client, wanted, live);
  const place = await placeOf(call, client);
  const isCompared = wanted.collections.length > 0;
  const left = isCompared ? leftNotes(wanted, live) : [nothingCompared(file, wanted)];
  if (isCompared) for (const { detail } of left) output.note(safeText(detail));
  if (found !== undefined && !output.isJson) {
    printChanges(call, found.plan);
    // The notes of a change go to the standard error.
    output.lines(...(isDry ? consequenceLines : countLines)(found, place).map(safeText));
  }
  if (isDry && output.isJson) output.json(shownPlan(found?.plan, left));
  else if (found !== undefined && !isDry) await makeAsPlanned(call, client, found, place);
  else {
    const equal = `${place.text} is as ${file} says${left.length > 0 ? ', and has more' : ''}.`;
    if (found === undefined) sayNothingToDo(call, isCompared ? equal : nothingCompared(file, wanted).detail);
    if (isDry) output.lines(nothingDoneOn(place.text));
  }
  if (call.has('exit-code') && found !== undefined)
    throw new CommandError(`The gateway differs from ${safeText(file)}.`, exitCodes.differs);
}

function leftOut(pointer: string): string {
  return `Left out: ${safeText(pointer)}`;
}

/** The note about a document that names no kind. */
function nothingCompared(file: string, { named }: Wanted): Notes[number] {
  const kinds = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(named);
  return { code: 'nothing-compared', detail: `${file} has no ${kinds}, so nothing was compared.` };
}

/** A plan for programs. */
function shownPlan(plan: Accepted | undefined, left: Notes): object {
  const { events = [], closes = nothingClosed, stays = { sessions: 0 } } = plan ?? {};
  const notes = [...left, ...(plan?.notes ?? [])];
  const changes = events.map(rowOf).map(({ resource, changes: lines }) => ({ resource, changes: lines }));
  return { changes, closes, stays, ...(notes.length > 0 && { notes }) };
}

/**
 * Finds the change that makes the gateway as the document says, with its plan; `undefined` if nothing
 * differs.
 */
async function find(
  call: Call,
  client: Client,
  wanted: Wanted,
  live: Live,
): Promise<PlannedChange | undefined> {
  const empties = leavesNone(wanted, live);
  if (empties && !wanted.allowsEmpty) throw emptied(live);
  const found = await planned(client, commandsTo(wanted, live), (pointer) =>
    call.output.note(leftOut(pointer)),
  );
  if (found === undefined) return undefined;
  const [file = ''] = call.words;
  const { plan, commands } = found;
  const change: Change = {
    title: `apply ${file}`,
    shown: 'already',
    act: 'sequence.send',
    ...(empties && { empties }),
    // The mark binds what the plan shows. With the tags, a change of another field would be a refusal.
    given: [{ commands: commands.map(({ if_match: _tag, ...command }) => command) }],
    linesOf: ({ events }) =>
      events.map(rowOf).flatMap(({ resource, changes }) => changes.map((each) => `${resource}  ${each}`)),
    // The operations hold only for the state that was read: another state needs other ones.
    anew: async () => find(call, client, wanted, await readParts(client, isComparedIn(wanted))),
  };
  return { change, plan };
}

interface Wanted {
  readonly parts: Parts;
  /** The collections that the command line names: all by default. */
  readonly named: readonly Configured[];
  /** The collections that are compared: those of the named ones that the document has. An empty list says "none". */
  readonly collections: readonly Configured[];
  /** The places of listeners that are not compared: pointers in the document, by the key of their service. */
  readonly listeners: ReadonlyMap<string, string>;
  /** Whether resources that the document lacks are deleted. */
  readonly prune: boolean;
  /** Whether the document may leave no resource at all. */
  readonly allowsEmpty: boolean;
  /** What the command line does not apply: pointers in the document. */
  readonly leftOut: readonly string[];
}

async function readDocument(file: string, call: Call): Promise<Wanted> {
  const { surroundings } = call;
  const [prune, allowsEmpty] = [call.has('prune'), call.has('allow-empty')];
  if (allowsEmpty && !prune)
    throw new CommandError('--allow-empty stands beside --prune.', exitCodes.wrongUse);
  const { named, hasListeners } = chosen(call.valueOf('only'));
  const document = await documentIn(file, surroundings);
  // Resources without names cannot be compared with those of the gateway: `snapshotOf` throws their faults.
  if (!isNamed(document)) snapshotOf(document);
  const { users, sessions, ...members } = document;
  const isOther = ([name]: readonly [string, unknown]): boolean => !configured.some((each) => each === name);
  const others = Object.fromEntries(Object.entries(members).filter(isOther));
  // A misspelt member would be left out in silence.
  snapshotOf(others);
  const collections = named.filter((name) => document[name] !== undefined);
  const given = Object.fromEntries(
    configured.map((name) => [name, collections.includes(name) ? (document[name] ?? []) : []]),
  );
  const undrained = Object.fromEntries(
    Object.entries(given as unknown as Parts).map(([name, resources]) => [
      name,
      resources.map(withoutDrain).map(hasListeners ? (each) => each : withoutListeners),
    ]),
  );
  const parts = redactSecrets(undrained) as unknown as Parts;
  const secrets = diff(undrained as unknown as Json, parts as unknown as Json).map(({ path }) => path);
  const drains = Object.entries(given as unknown as Parts).flatMap(([name, resources]) =>
    resources.flatMap(({ drain }, at) => (drain === undefined ? [] : [`/${name}/${String(at)}/drain`])),
  );
  const ignored = Object.entries({ users, sessions, ...others, format: undefined, $schema: undefined });
  return {
    parts,
    named,
    collections,
    listeners: new Map(
      (given as unknown as Parts).services.flatMap(({ name, listeners }, at) =>
        hasListeners || listeners === undefined ? [] : [[nameKey(name), `/services/${String(at)}/listeners`]],
      ),
    ),
    prune,
    allowsEmpty,
    leftOut: [
      ...ignored.flatMap(([name, value]) => (value === undefined ? [] : [`/${name}`])),
      ...drains,
      ...secrets,
    ],
  };
}

/** What the option `--only` names; everything by default. Listeners are those of the services that are compared. */
function chosen(only: string | undefined): {
  readonly named: readonly Configured[];
  readonly hasListeners: boolean;
} {
  if (only === undefined) return { named: configured, hasListeners: true };
  const names = only.split(',');
  const all: readonly string[] = [...configured, 'listeners'];
  const stranger = names.find((name) => !all.includes(name));
  if (stranger !== undefined)
    throw new CommandError(
      `--only takes ${all.join(', ')}, with commas between them, and not ${safeText(stranger)}.`,
      exitCodes.wrongUse,
    );
  const hasListeners = names.includes('listeners');
  if (hasListeners && !names.includes('services'))
    throw new CommandError('--only takes listeners beside services.', exitCodes.wrongUse);
  return { named: configured.filter((name) => names.includes(name)), hasListeners };
}

function withoutListeners({ listeners: _listeners, ...resource }: Resource): Resource {
  return resource;
}

/** The listeners of new services that are not created: pointers in the document. */
function newListeners({ listeners }: Wanted, { parts }: Live): readonly string[] {
  const present = new Set(parts.services.map(({ name }) => nameKey(name)));
  return [...listeners].flatMap(([key, pointer]) => (present.has(key) ? [] : [pointer]));
}

type Notes = NonNullable<Accepted['notes']>;

/** The notes about what the document lacks, and what stays. */
function leftNotes(wanted: Wanted, live: Live): Notes {
  if (wanted.prune) return [];
  const only = leftBehind(wanted, live);
  // A document without resources lacks all of them. The goal of `commandsTo` has them, because links may name them.
  const nothing = snapshotOf(Object.fromEntries(configured.map((name) => [name, []])));
  const decision = adoptDocument(snapshotOf(live.parts), nothing, { now: Date.now() }, { only });
  return decision.outcome === 'refused' ? [] : (decision.notes ?? []);
}

/** Whether the gateway has resources, and the document leaves none of them, and brings none. */
function leavesNone({ parts, collections, prune }: Wanted, live: Live): boolean {
  const isPruned = (name: Configured): boolean => prune && collections.includes(name);
  return (
    configured.some((name) => live.parts[name].length > 0) &&
    configured.every((name) => parts[name].length === 0 && (live.parts[name].length === 0 || isPruned(name)))
  );
}

function emptied({ parts }: Live): CommandError {
  const counts = configured.flatMap((name) =>
    parts[name].length === 0 ? [] : [counted(parts[name].length, name.slice(0, -1))],
  );
  return new CommandError(
    `The document deletes ${counts.join(', ')}: everything. Nothing was done. If no resource is to be left, say ` +
      '--allow-empty beside --prune.',
    exitCodes.refused,
  );
}

/** The links of what the gateway has and the document lacks, of the kinds that are compared. */
function leftBehind(wanted: Wanted, { parts }: Live): readonly string[] {
  const isWanted = isNamedIn(wanted.parts);
  return wanted.collections.flatMap((collection) =>
    parts[collection]
      .filter(({ name }) => !isWanted(collection, name))
      .map(({ name }) => linkTo(collection, name)),
  );
}

/** Whether the document has resources, and each resource a name. */
function isNamed(document: unknown): boolean {
  if (!isObject(document)) return false;
  const lists = configured.map((name) => (document[name] === undefined ? [] : document[name]));
  return lists.every(
    (list) => Array.isArray(list) && list.every((each) => isObject(each) && typeof each['name'] === 'string'),
  );
}

/** Gives the test whether a resource is compared. */
function isComparedIn({ parts, collections, prune }: Wanted): ReturnType<typeof isNamedIn> {
  return prune ? (collection) => collections.includes(collection) : isNamedIn(parts);
}

/** Gives the test whether a document has a resource. */
function isNamedIn(wanted: Parts): (collection: Configured, name: string) => boolean {
  const links = new Set(
    configured.flatMap((collection) =>
      wanted[collection].map(({ name }) => linkTo(collection, nameKey(name))),
    ),
  );
  return (collection, name) => links.has(linkTo(collection, nameKey(name)));
}

/** Gives the commands that make the gateway as the document says. */
function commandsTo(wanted: Wanted, live: Live): readonly SequenceCommand[] {
  const { parts, tags } = live;
  const { collections, prune } = wanted;
  const isCompared = isComparedIn(wanted);
  if (prune) assertUnused(wanted, live);
  const goal = snapshotOf(completed(wanted.parts, parts, prune ? collections : []));
  const only = configured.flatMap((collection) =>
    [
      ...wanted.parts[collection],
      ...parts[collection].filter(({ name }) => isCompared(collection, name)),
    ].map(({ name }) => linkTo(collection, name)),
  );
  // That nothing is left was refused before, or is wanted.
  const options = { only, prune, allowEmpty: prune };
  const decision = adoptDocument(snapshotOf(parts), goal, { now: Date.now() }, options);
  if (decision.outcome === 'refused') throw impossible(decision.problem);
  return decision.outcome === 'unchanged' ? [] : decision.events.map((event) => commandOf(event, tags));
}

/**
 * Ends the command if a resource that stays uses one that would be deleted. `adoptDocument` would name the fault by a
 * place in the document, which has neither of the two.
 */
function assertUnused(wanted: Wanted, live: Live): void {
  const deleted = new Set(leftBehind(wanted, live));
  const used = configured
    .filter((collection) => !wanted.collections.includes(collection))
    .flatMap((collection) =>
      live.parts[collection].map((each) => [linkTo(collection, each.name), each] as const),
    )
    .flatMap(([user, { servers = [], filters = [] }]) =>
      [...(servers as readonly string[]), ...(filters as readonly string[])]
        .filter((link) => deleted.has(link))
        .map((link) => `\n  ${safeText(`${link} would be deleted, and ${user} of the gateway uses it`)}`),
    );
  if (used.length > 0)
    throw new CommandError(
      `The document cannot be applied. Nothing was done.${used.join('')}`,
      exitCodes.refused,
    );
}

/** The error for a document that a running gateway cannot take over. */
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
 * The document, completed from the state in use: with the resources that it leaves out, because links may name them,
 * and with the listeners of services whose entries have none.
 *
 * @param pruned - the collections that are not completed: their other resources are deleted
 */
function completed(wanted: Parts, live: Parts, pruned: readonly Configured[]): Parts {
  const complete = configured.map((collection) => {
    const present = new Map(live[collection].map((each) => [nameKey(each.name), each]));
    const given = wanted[collection].map((each) => {
      const listeners = present.get(nameKey(each.name))?.['listeners'];
      return listeners === undefined || 'listeners' in each ? each : { ...each, listeners };
    });
    const keys = new Set(wanted[collection].map(({ name }) => nameKey(name)));
    const others = pruned.includes(collection)
      ? []
      : live[collection].filter(({ name }) => !keys.has(nameKey(name)));
    return [collection, [...given, ...others]] as const;
  });
  return Object.fromEntries(complete) as unknown as Parts;
}

/** The command that an event stands for. The changes were found in the resource with this entity tag. */
function commandOf(event: AdminEvent, tags: Tags): SequenceCommand {
  const { resource: path } = event;
  const tag = tags.get(path);
  const condition = tag === undefined ? {} : { if_match: tag };
  if ('operations' in event) return { method: 'PATCH', path, body: event.operations, ...condition };
  if ('definition' in event && event.type.endsWith('.created'))
    return { method: 'POST', path: path.slice(0, path.lastIndexOf('/')), body: { ...event.definition } };
  if ('definition' in event) return { method: 'DELETE', path, ...condition };
  return { method: 'PUT', path: `${path}/${verbOf(event)}`, ...condition };
}

/** The commands that a document makes necessary, and their plan. */
interface Found {
  readonly commands: readonly SequenceCommand[];
  readonly plan: Accepted;
}

/** Plans the commands without the settings that are secret for this gateway; `undefined` if nothing remains. */
async function planned(
  client: Client,
  commands: readonly SequenceCommand[],
  leaveOut: (pointer: string) => void,
): Promise<Found | undefined> {
  if (commands.length === 0) return undefined;
  const answer = await client.sequence.send.plan({ commands });
  if (!answer.ok && isTooLong(answer.problem)) throw tooLong(commands.length, answer.problem);
  const plan = acceptedPlan(valueOf(answer));
  const secrets = plan.events.flatMap(secretsIn);
  const others = commands.flatMap((command) => withoutSecrets(command, secrets));
  if (countOf(others) === countOf(commands))
    return plan.outcome === 'unchanged' ? undefined : { commands, plan };
  secrets.forEach(leaveOut);
  return planned(client, others, leaveOut);
}

/** Whether an interface refuses a sequence for its length. */
function isTooLong({ code, errors = [] }: Problem): boolean {
  return code === 'content-too-large' || errors.some(({ pointer }) => pointer === '/commands');
}

function tooLong(length: number, problem: Problem): CommandError {
  return new CommandError(
    `The document makes ${counted(length, 'change')}, and the gateway makes fewer at once. Nothing was done. Apply the ` +
      'document in parts: a resource that a document leaves out stays as it is.',
    exitCodes.refused,
    problem,
  );
}

/** The secrets that an event sets: a plan has the pointer of a secret, and not its value. */
function secretsIn(event: Json): readonly string[] {
  const { resource, operations = [] } = event as unknown as ShownEvent;
  const secret = operations.filter(({ op, ...rest }) => op !== 'remove' && !('value' in rest));
  return secret.map(({ path }) => `${resource}${path}`);
}

/** A command without the operations that set secrets; none if nothing remains. */
function withoutSecrets(command: SequenceCommand, secrets: readonly string[]): readonly SequenceCommand[] {
  if (command.method !== 'PATCH') return [command];
  const body = operationsOf(command).filter(({ path }) => !secrets.includes(`${command.path}${path}`));
  return body.length === 0 ? [] : [{ ...command, body }];
}

function operationsOf({ method, body }: SequenceCommand): readonly Operation[] {
  return method === 'PATCH' ? (body as readonly Operation[]) : [];
}

function countOf(commands: readonly SequenceCommand[]): number {
  return commands.reduce((sum, command) => sum + 1 + operationsOf(command).length, 0);
}

function printChanges({ output }: Call, plan: Accepted): void {
  output.table(
    ['resource', 'change'],
    plan.events
      .map(rowOf)
      .flatMap(({ resource, changes }) =>
        changes.map((line, at) => [at === 0 ? safeText(resource) : '', safeText(line)]),
      ),
  );
}
