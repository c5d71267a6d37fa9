/**
 * The judge of a simulated fleet: says what is wrong once everything has come to rest.
 */
import { nameKey, type AdminEvent, type Snapshot } from 'gateway-admin-core';

import { configuration } from '../../support/configuration.ts';
import { textOf, type Ledger } from './ledger.ts';
import type { Sent } from './answer.ts';
import type { Node, Running } from './node.ts';
import { contentAt, shownIn } from './shown.ts';

/** What was answered, and what was kept. */
interface Answers {
  readonly ledger: Ledger;
  /** The logs that a set-back has ended. */
  readonly lost: readonly Ledger[];
  readonly sent: readonly Sent[];
}

/** A node, as the judge sees it. */
interface Judged extends Pick<Node, 'name' | 'gateway'> {
  readonly running: Pick<Running, 'admin'> | undefined;
}

export interface Evidence extends Answers {
  readonly nodes: readonly Judged[];
  readonly position: string;
  /** The name of the node that never comes back: nobody says what became of its commands. */
  readonly gone?: string;
}

export function judge({ nodes, position, gone, ...answers }: Evidence): readonly string[] {
  const { ledger } = answers;
  return [
    ...judgeAnswers(answers),
    ...Array.from(ledger.open.keys(), (command) => `${command} is open for ever`),
    ...Array.from(ledger.abandoned)
      .filter(([, { node }]) => node !== gone)
      .map(([command]) => `${command} is abandoned for ever`),
    ...nodes.flatMap((node) => strayNode(node, ledger, position)),
    ...nodes.flatMap(({ name, running }) =>
      running === undefined || contentAt(running.admin.snapshot, '/') === contentAt(ledger.snapshot, '/')
        ? []
        : [`${name} does not have the read-only mode of the log`],
    ),
  ];
}

/** What is wrong at any time, also while commands are in flight. */
export function judgeAnswers({ ledger, lost, sent }: Answers): readonly string[] {
  return [
    ...ledger.faults,
    ...lost.flatMap(({ faults }) => faults),
    ...sent.flatMap((each) => falseAnswer(each, ledger, lost)),
  ];
}

/** What happens at one gateway only. */
const ownEvents: readonly string[] = [
  'sessions.closed',
  'connections.closed',
  'logs.flushed',
  'command.failed',
];

function falseAnswer(sent: Sent, ledger: Ledger, before: readonly Ledger[]): readonly string[] {
  const { answer, actor, command, node } = sent;
  if (answer === undefined || answer.outcome === 'unknown' || answer.outcome === 'done') return [];
  const what = `${command.kind} of ${actor} at ${node}`;
  const told = answer.events.filter(isShared);
  if (told.length === 0) {
    // A fenced change was taken back, also if a set-back has taken back its end.
    const logs = nameOf(sent) === 'fenced' ? [ledger] : [ledger, ...before];
    // What was under way when a set-back ended a log is taken back in the next one.
    const isEnded = (log: Ledger): boolean => log === ledger || !isOpenIn(log, actor);
    const isThere = logs.some((log) => log.actors.has(actor) && !log.undone.has(actor) && isEnded(log));
    // The end of the command was lost with a set-back. Its node then asked the gateway again, which has the state by
    // now.
    const isOver = before.some(({ refused }) => refused.has(actor));
    return isThere && !isOver && answer.isPart !== true
      ? [`${what} was answered with ${nameOf(sent)}, and is in the log`]
      : [];
  }
  const missing = told.filter((event) => {
    const text = textOf(event);
    return [ledger, ...before].every(({ settled }) => !settled.has(text));
  });
  return [
    ...missing.map((event) => `${what} was told ${event.type}, which is not in the log`),
    ...(answer.outcome === 'accepted' ? staleDecision(sent, told, ledger) : []),
  ];
}

function isOpenIn({ open }: Ledger, actor: string): boolean {
  return [...open.values()].some(({ events }) => events.some((event) => event.actor === actor));
}

/** A command with the tag of a resource is decided on that very content. */
function staleDecision(
  { tag, actor }: Sent,
  [event]: readonly AdminEvent[],
  ledger: Ledger,
): readonly string[] {
  const decidedOn = ledger.decidedOn.get(event?.command ?? '');
  if (tag === undefined || decidedOn === undefined) return [];
  const content = contentAt(decidedOn, tag.link);
  return content === tag.content
    ? []
    : [`${actor} had a tag of ${tag.link} as ${String(tag.content)}, and was decided on ${String(content)}`];
}

/** Whether an event goes into the log. */
export function isShared({ type }: { readonly type: string }): boolean {
  return !ownEvents.includes(type);
}

function nameOf({ answer }: Sent): string {
  return answer?.code ?? String(answer?.outcome);
}

function strayNode(node: Judged, { snapshot }: Ledger, position: string): readonly string[] {
  const { running, gateway, name } = node;
  if (running === undefined) return [];
  const { admin } = running;
  const { fleet } = admin;
  const wanted = shared(snapshot);
  return [
    ...gateway.differences(admin.snapshot).map((text) => `${name}: ${text}`),
    ...(fleet.position === position ? [] : [`${name} is at ${fleet.position}, and the log at ${position}`]),
    ...difference(`${name} holds for the fleet`, shared(fleet.snapshot), wanted),
    ...difference(`${name} has`, shared(admin.snapshot), wanted),
    ...difference(`${name} has the tags`, tags(admin.snapshot), tags(snapshot)),
    ...difference(`${name} has the tags of the fleet`, tags(fleet.snapshot), tags(snapshot)),
  ];
}

function difference(what: string, is: readonly string[], wanted: readonly string[]): readonly string[] {
  return is.flatMap((text, at) =>
    text === wanted[at] ? [] : [`${what} ${text}, and the log ${String(wanted[at])}`],
  );
}

/** What the nodes share. */
function shared(snapshot: Snapshot): readonly string[] {
  const { services = [], monitors = [], servers = [], filters = [], users = [] } = configuration(snapshot);
  const ours = servers.map(({ status = [], ...server }) => ({
    ...server,
    isOut: status.includes('maintenance'),
  }));
  const inOrder = users.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const open = services.map(({ listeners, ...service }) => ({
    ...service,
    listeners: listeners?.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }));
  return [...open, ...monitors, ...ours, ...filters, ...inOrder].map((thing) => JSON.stringify(thing));
}

/** The first part of every tag, and who has made what. */
function tags(snapshot: Snapshot): readonly string[] {
  const all = shownIn(snapshot).map(({ link, tag }) => `${nameKey(link)} ${tag}`);
  return [...all.toSorted(), JSON.stringify(Object.entries(snapshot.births.toJSON()).toSorted())];
}
