/**
 * `drain` and `resume`: take a service or server out of use without cutting a session, and bring it back.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Client, EndpointId } from '../client/index.ts';
import type { DrainRepresentation } from '../index.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import { valueOf } from './answer.ts';
import { make, unlessInterrupted } from './change.ts';
import { changeOptions, type Call, type Command } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { wrongUse } from './help.ts';
import { kindsWith } from './kind.ts';
import { counted, safeText } from './output.ts';

const drainable = kindsWith('drain');

/** The arguments of both commands. */
const subject = [
  { name: 'kind', choices: Object.keys(drainable) },
  { name: 'name', names: drainable },
] as const;

/** The command `drain`. */
export const drain: Command = {
  does: 'Lets a service or server take no new sessions. What is open ends by itself, or at a deadline.',
  arguments: subject,
  options: {
    deadline: {
      value: 'TIME',
      does: 'how long from now: seconds, or a number with s, m, h or d, such as 10m',
    },
    then: { value: 'WHAT', does: 'at the deadline: close what is left, or resume; needs --deadline' },
    reason: { value: 'TEXT', does: 'why, for other operators' },
    wait: { does: 'wait until nothing is left, and print what is left meanwhile' },
    ...changeOptions,
  },
  notes: [
    'Ctrl-C while it waits ends the command, and not the drain. To end the drain: gateway-admin resume',
  ],
  async run(call) {
    const [kind = '', name = ''] = call.words;
    const body = optionsOf(call);
    const client = await connect(call);
    const deadline =
      body.timeout === undefined ? '' : `, then ${String(body.then)} after ${String(body.timeout)} s`;
    await make(call, client, {
      title: `drain ${kind} ${name}${deadline}`,
      id: `${kind}s.drain` as EndpointId,
      given: [name, body],
    });
    if (!call.has('wait') || call.has('dry-run')) return;
    const goesOn = `The drain goes on. End it with: gateway-admin resume ${safeText(kind)} ${safeText(name)}`;
    await unlessInterrupted(call, waitUntilDrained(call, client, kind, name), () => Promise.resolve(goesOn));
  },
};

/** The command `resume`. */
export const resume: Command = {
  does: 'Ends the drain of a service or server. A service that was started before is started.',
  arguments: subject,
  options: changeOptions,
  async run(call) {
    const [kind = '', name = ''] = call.words;
    const id = `${kind}s.resume` as EndpointId;
    await make(call, await connect(call), { title: `resume ${kind} ${name}`, id, given: [name] });
  },
};

/** The units of a time, in seconds. */
const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

interface Asked {
  readonly timeout?: number;
  readonly then?: string;
  readonly reason?: string;
}

function optionsOf({ valueOf: given }: Call): Asked {
  const [time, then, reason] = [given('deadline'), given('then'), given('reason')];
  if ((time === undefined) !== (then === undefined))
    throw wrongUse('drain takes --deadline and --then together, or neither.', 'help drain');
  if (then !== undefined && then !== 'close' && then !== 'resume')
    throw wrongUse(`--then takes close or resume, and not ${safeText(then)}.`, 'help drain');
  return {
    ...(time === undefined ? {} : { timeout: secondsOf(time) }),
    ...(then === undefined ? {} : { then }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function secondsOf(time: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(time) ?? [];
  if (digits === '')
    throw wrongUse(`--deadline takes a number with s, m, h or d, and not ${safeText(time)}.`, 'help drain');
  return Number(digits) * (units.get(unit) ?? 1);
}

/**
 * Prints what is left until nothing is; in a fleet, until nothing is left at a living node. People get a line for each
 * change, programs one for each look.
 */
async function waitUntilDrained(call: Call, client: Client, kind: string, name: string): Promise<void> {
  const followed = new Set<string>();
  let said = '';
  for (;;) {
    const shown = valueOf(await methodOf(client, `${kind}s.get` as EndpointId)(name)) as Shown;
    const { drain: now } = shown;
    const nodes = now === undefined ? [] : valueOf(await client.fleet.list()).elements;
    const progress =
      now && nodes.length > 1 ? await atNodes(nodes, [`${kind}s`, shown.name], followed) : atOne(now);
    if (call.output.isJson) call.output.jsonLine(now === undefined ? null : { ...now, ...progress.more });
    else if (progress.text !== said) call.output.lines(progress.text);
    if (progress.isOver) return;
    said = progress.text;
    await sleep(1000);
  }
}

interface Shown {
  readonly name: string;
  readonly drain?: DrainRepresentation;
}

/** How far a drain has come. */
interface Progress {
  readonly text: string;
  readonly isOver: boolean;
  /** What a program gets besides the drain at the gateway that was asked. */
  readonly more?: object;
}

function atOne(drain: DrainRepresentation | undefined): Progress {
  if (drain === undefined) return { text: 'The drain has ended.', isOver: true };
  if (drain.state === 'drained') return { text: 'Drained: nothing is left.', isOver: true };
  return { text: `${leftIn(drain)} are left.`, isOver: false };
}

function leftIn({ sessions, connections }: Pick<DrainRepresentation, 'sessions' | 'connections'>): string {
  return `${counted(sessions, 'session')} and ${counted(connections, 'connection')}`;
}

/**
 * How far a drain has come in a fleet.
 *
 * @param nodes - the nodes; the first one is the node that was asked
 * @param place - the collection and the name of what drains
 * @param followed - the positions in the log at which that node had the drain; gets the present one
 */
async function atNodes(
  nodes: readonly FleetNodeRepresentation[],
  place: readonly [collection: string, name: string],
  followed: Set<string>,
): Promise<Progress> {
  // Only who waits for a fleet needs the whole library.
  const { linkTo } = await import('../index.ts');
  const resource = linkTo(...place);
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
    ...living.flatMap(({ node, left }) =>
      left?.state === 'draining' ? [`${leftIn(left)} are left at ${node}.`] : [],
    ),
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

function namesOf(nodes: readonly { readonly node: string }[]): string {
  return nodes.map(({ node }) => node).join(', ');
}

/** A sentence about some nodes, if there are any. */
function listed(what: string, nodes: readonly { readonly node: string }[]): readonly string[] {
  return nodes.length === 0 ? [] : [`${what}: ${namesOf(nodes)}.`];
}
