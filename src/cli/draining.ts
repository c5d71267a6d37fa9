/**
 * `drain` and `resume`: take services or servers out of use without cutting a session, and bring them back.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Client, CommandId, EndpointId, ResultOf } from '../client/index.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import { isPassing, messageOf, valueOrEnd } from './answer.ts';
import { changing, make, sayNothingToDo, sayUnchanged, unlessInterrupted } from './change.ts';
import { changeOptions, CommandError, exitCodes, wrongUse, type Call, type Command } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { patienceMsOf } from './context.ts';
import { secondsIn } from './input.ts';
import { counted, safeText } from './output.ts';
import type { AskedAct } from './plan.ts';
import {
  changeOfEach,
  noneMeets,
  onEach,
  subjectOptions,
  subjectsIn,
  subjectsText,
  subjectsWith,
  type Subjects,
} from './subjects.ts';

/** The command `drain`. */
export const drain: Command = {
  does: 'Lets services or servers take no new sessions. What is open ends by itself, or at a deadline.',
  arguments: subjectsWith('drain'),
  options: {
    ...subjectOptions,
    deadline: {
      value: 'TIME',
      does: 'how long from now: seconds, or a time with s, m, h and d, such as 10m or 1h30m',
    },
    then: {
      value: 'WHAT',
      does: 'at the deadline: close what is left, or resume; needs --deadline',
      choices: ['close', 'resume'],
    },
    reason: { value: 'TEXT', does: 'why, for other operators' },
    wait: { does: 'wait until nothing is left, and print what is left meanwhile' },
    ...changeOptions,
  },
  notes: [
    'Ctrl-C while it waits ends the command, and not the drain. To end the drain: gateway-admin resume',
  ],
  examples: [
    'drain server db-1 --wait',
    'drain server db-1 db-2 --deadline 10m --then close --reason kernel',
    'drain service --where servers=db-1',
  ],
  async run(call) {
    const [given = '', ...words] = call.words;
    const body = optionsOf(call);
    const chosen = subjectsIn(call, { verb: 'drain', kind: given, names: words });
    const client = await connect(call);
    const subjects = await chosen(client);
    const { kind, names } = subjects;
    if (names.length === 0) {
      sayNothingToDo(call, noneMeets(subjects));
      return;
    }
    const isOnlyWait = call.has('wait') && Object.keys(body).length === 0;
    const wanted = isOnlyWait ? await withoutDrain(client, kind, names) : names;
    if (wanted.length === 0)
      await sayUnchanged(call, client, {
        title: `drain ${subjectsText(subjects)}`,
        act: `${kind}s.drain` as CommandId,
      });
    else await make(call, client, changeOf({ kind, names: wanted }, body));
    if (!call.has('wait') || call.has('dry-run')) return;
    const goesOn = `The drain goes on. End it with: gateway-admin resume ${safeText([kind, ...names].join(' '))}`;
    const waiting = waitUntilDrained(call, client, { kind, names, goesOn });
    await unlessInterrupted(call, waiting, () => Promise.resolve(goesOn));
  },
};

/** The command `resume`. */
export const resume = changing({
  does: 'Ends the drain of services or servers. A service that was started before is started.',
  arguments: subjectsWith('resume'),
  options: subjectOptions,
  examples: ['resume server db-1', 'resume server --where status=drained'],
  change(call) {
    const [kind = '', ...names] = call.words;
    const act = `${kind}s.resume` as CommandId;
    return onEach(call, { verb: 'resume', kind, names }, (text) => ({ title: `resume ${text}`, act }));
  },
});

function changeOf(subjects: Subjects, body: Asked): AskedAct {
  const { timeout, then } = body;
  const deadline = timeout === undefined ? '' : `, then ${String(then)} after ${String(timeout)} s`;
  return changeOfEach(subjects, {
    title: `drain ${subjectsText(subjects)}${deadline}`,
    act: `${subjects.kind}s.drain` as CommandId,
    body: { ...body },
  });
}

/** The names of what does not drain yet. */
async function withoutDrain(
  client: Client,
  kind: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const name of names) if ((await shownAs(client, kind, name)).drain === undefined) missing.push(name);
  return missing;
}

interface Asked {
  readonly timeout?: number;
  readonly then?: string;
  readonly reason?: string;
}

function optionsOf({ valueOf: given }: Call): Asked {
  const [time, then, reason] = [given('deadline'), given('then'), given('reason')];
  if ((time === undefined) !== (then === undefined))
    throw wrongUse('drain takes --deadline and --then together, or neither.', 'help drain');
  return {
    ...(time === undefined ? {} : { timeout: secondsOf(time) }),
    ...(then === undefined ? {} : { then }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The longest time until a deadline, in seconds: 365 days. */
const longestDeadline = 31_536_000;

function secondsOf(time: string): number {
  const seconds = secondsIn(time);
  if (seconds === undefined)
    throw wrongUse(
      `--deadline takes a time such as 90, 10m or 1h30m, and not ${safeText(time)}.`,
      'help drain',
    );
  if (seconds < 1 || seconds > longestDeadline)
    throw wrongUse(`--deadline takes 1s to 365d, and not ${safeText(time)}.`, 'help drain');
  return seconds;
}

/** What is waited for. */
interface Wait {
  readonly kind: string;
  readonly names: readonly string[];
  /** The sentence that says how to end the drains. */
  readonly goesOn: string;
}

/**
 * Prints what is left until nothing is; in a fleet, until nothing is left at a living node. People get a line for each
 * change, programs one for each look.
 */
async function waitUntilDrained(call: Call, client: Client, { kind, names, goesOn }: Wait): Promise<void> {
  const looks = names.map((name) => ({ name, followed: new Set<string>(), said: '' }));
  for (let isOver = false; !isOver;) {
    isOver = true;
    for (const look of looks) {
      const progress = await answered(call, goesOn, () => progressOf(client, kind, look));
      const text = names.length === 1 ? progress.text : `${safeText(look.name)}: ${progress.text}`;
      if (call.output.isJson) call.output.jsonLine({ name: look.name, ...progress.more });
      else if (text !== look.said) call.output.lines(text);
      look.said = text;
      isOver &&= progress.isOver;
    }
    if (!isOver) await sleep(lookMs);
  }
}

/** The pause between two looks, in milliseconds. */
const lookMs = 1000;

/** Asks again while nobody answers: a gateway that restarts comes back, and its drains go on. */
async function answered<T>(call: Call, goesOn: string, ask: () => Promise<T>): Promise<T> {
  const end = performance.now() + patienceMsOf(call);
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (performance.now() > end) throw new CommandError(`${messageOf(error)} ${goesOn}`, exitCodes.unknown);
      if (isFirst) call.output.note(messageOf(error));
      await sleep(lookMs);
    }
  }
}

/** A drain as a response shows it. */
type ShownDrain = NonNullable<ResultOf<'services.get'>['drain']>;

interface Shown {
  readonly name: string;
  readonly drain?: ShownDrain;
  /** Of a service. */
  readonly current_connections?: number;
}

async function shownAs(client: Client, kind: string, name: string): Promise<Shown> {
  return valueOrEnd(await methodOf(client, `${kind}s.get` as EndpointId)(name)) as Shown;
}

/** How far a drain has come. */
interface Progress {
  readonly text: string;
  readonly isOver: boolean;
  /** What a program gets. */
  readonly more: object;
}

/**
 * How far a drain has come.
 *
 * @param followed - the positions in the log of the fleet at which the node that is asked had the drain; gets the
 *   present one
 * @throws CommandError if there is no drain any more
 */
async function progressOf(
  client: Client,
  kind: string,
  { name, followed }: { readonly name: string; readonly followed: Set<string> },
): Promise<Progress> {
  const shown = await shownAs(client, kind, name);
  const { drain: now } = shown;
  if (now === undefined) throw await ended(client, kind, name, shown);
  const { linkTo } = await import('../index.ts');
  const resource = linkTo(`${kind}s`, shown.name);
  const nodes = valueOrEnd(await client.fleet.list()).elements;
  const {
    text,
    isOver: isDrained,
    more,
  } = nodes.length > 1 ? atNodes(nodes, resource, followed) : atOne(now);
  const isOver = isDrained && !(await isClosing(client, resource, now));
  const closed = isOver ? await closedSince(client, resource, now) : 0;
  const what = kind === 'service' ? 'session' : 'connection';
  const where = nodes.length > 1 ? ` at ${safeText(nodes[0]?.node ?? '')}` : '';
  const verb = closed === 1 ? 'was' : 'were';
  const closing = closed === 0 ? '' : ` ${counted(closed, what)} ${verb} closed after the deadline${where}.`;
  if (isDrained && !isOver)
    return { text: 'The deadline closes what was left.', isOver, more: { ...now, ...more } };
  return { text: `${text}${closing}`, isOver, more: { ...now, ...more, ...(closed > 0 && { closed }) } };
}

/** The error for a drain that has ended early, at its deadline or by another user: what is open stays in use. */
async function ended(
  client: Client,
  kind: string,
  name: string,
  { current_connections: sessions = 0 }: Shown,
): Promise<CommandError> {
  const open =
    kind === 'service'
      ? counted(sessions, 'session')
      : counted(valueOrEnd(await client.servers.connections(name, { range: [0, 0] })).total, 'connection');
  const verb = open.startsWith('1 ') ? 'is' : 'are';
  return new CommandError(
    `The drain of ${safeText(name)} has ended before all was drained: ${open} ${verb} open.`,
    exitCodes.undrained,
  );
}

/** Whether the command of a deadline has not ended: what it has closed is gone before the history says so. */
async function isClosing(client: Client, resource: string, { then }: ShownDrain): Promise<boolean> {
  if (then !== 'close') return false;
  const found = await client.commands.list();
  return (
    found.ok &&
    found.value.elements.some(
      ({ outcome, resources }) => outcome === 'pending' && resources.includes(resource),
    )
  );
}

/**
 * How many sessions or connections the node that is asked has closed since a deadline, as far as the history says so.
 */
async function closedSince(client: Client, resource: string, { until, then }: ShownDrain): Promise<number> {
  if (until === undefined || then !== 'close') return 0;
  const found = await client.history.list({ resource, since: until });
  const events = found.ok ? found.value.elements.flatMap((entry) => entry.events) : [];
  return events
    .filter((event) => event.resource === resource && event.type.endsWith('s.closed'))
    .reduce((sum, { count }) => sum + Number(count), 0);
}

function atOne(drain: ShownDrain): Omit<Progress, 'more'> & Partial<Progress> {
  if (drain.state === 'drained') return { text: 'Drained: nothing is left.', isOver: true };
  const text = isUnreported(drain)
    ? 'The gateway has not reported its sessions yet.'
    : `${leftIn(drain)} are left.`;
  return { text, isOver: false };
}

/** What a drain has left. */
type Left = Pick<ShownDrain, 'state' | 'sessions' | 'connections'>;

/** Nothing is known to be left, and yet nothing counts as drained. */
export function isUnreported({ state, sessions, connections }: Left): boolean {
  return state === 'draining' && sessions + connections === 0;
}

/** What a drain that goes on has left, in a few words. */
export function leftText(left: Left): string {
  return isUnreported(left) ? 'not reported yet' : `${leftIn(left)} left`;
}

function leftIn({ sessions, connections }: Left): string {
  return `${counted(sessions, 'session')} and ${counted(connections, 'connection')}`;
}

/**
 * How far a drain has come in a fleet.
 *
 * @param nodes - the nodes; the first one is the node that was asked
 */
function atNodes(
  nodes: readonly FleetNodeRepresentation[],
  resource: string,
  followed: Set<string>,
): Progress {
  followed.add(nodes[0]?.applied ?? '');
  const rows = nodes.map(({ node, alive, applied, drains }) => {
    // What a node that has not followed says is about an earlier drain.
    const left = followed.has(applied) ? drains.find((each) => each.resource === resource) : undefined;
    return { node, alive, left };
  });
  const living = rows.filter(({ alive }) => alive);
  const isOver = living.length > 0 && living.every(({ left }) => left?.state === 'drained');
  const texts = [
    ...(isOver ? [`Drained: nothing is left at ${namesOf(living)}.`] : []),
    ...living.flatMap(({ node, left }) => (left?.state === 'draining' ? [leftAt(node, left)] : [])),
    ...listed(
      'Not followed yet',
      living.filter(({ left }) => left === undefined),
    ),
    ...listed(
      'Silent, with an unknown rest',
      rows.filter(({ alive }) => !alive),
    ),
  ];
  return {
    text: safeText(texts.join(' ')),
    isOver,
    more: { nodes: rows.map(({ node, alive, left }) => ({ node, alive, ...left })) },
  };
}

function leftAt(node: string, left: Left): string {
  return isUnreported(left)
    ? `${node} has not reported its sessions yet.`
    : `${leftIn(left)} are left at ${node}.`;
}

function namesOf(nodes: readonly { readonly node: string }[]): string {
  return nodes.map(({ node }) => node).join(', ');
}

/** A sentence about some nodes, if there are any. */
function listed(what: string, nodes: readonly { readonly node: string }[]): readonly string[] {
  return nodes.length === 0 ? [] : [`${what}: ${namesOf(nodes)}.`];
}
