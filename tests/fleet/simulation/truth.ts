/**
 * The laws of answers. An `unchanged`, and a refusal that rests on the state alone, was true of the log at a moment
 * between the question and the answer. A node that is named to somebody who has waited shows the change, or a later
 * one.
 */
import type { Admin, Snapshot } from 'gateway-admin-core';
import type { Fleet } from 'gateway-admin-core/fleet';

import type { Sent } from './answer.ts';
import type { Chronicle } from './chronicle.ts';
import { isShared } from './judge.ts';
import { isInParts, isSame } from './reading.ts';
import { contentAt, membersAt, placeOf } from './shown.ts';

/** The refusals that rest on more than the state. */
const otherReasons: readonly (string | undefined)[] = [
  'command-in-progress',
  'node-behind',
  'effect-refused',
  'partly-done',
  'overloaded',
  'fenced',
  'store-unavailable',
  'audit-unavailable',
  'closed',
  'read-only',
];

/** Sessions and connections are each node's own, and not in the log. */
const closesSomething = /\.close\b/;

/** Says if an answer was true at no moment between the question and the answer, which is given now. */
export function untruthOf(sent: Sent, chronicle: Chronicle): string | undefined {
  const { answer, command, askedAt } = sent;
  if (answer === undefined || closesSomething.test(command.kind)) return undefined;
  const wanted = outcomeToExplain(sent, chronicle);
  if (wanted === undefined) return undefined;
  const moments = chronicle.moments.slice(askedAt);
  const found = [...new Set(moments.map((snapshot) => outcomeIn(snapshot, sent)))];
  if (found.includes(wanted)) return undefined;
  return `${nameOf(sent)} was answered with ${wanted}, which was never true: ${found.join(' or ')}`;
}

/** The outcome of a command that the state alone explains. */
function outcomeToExplain({ answer, actor }: Sent, chronicle: Chronicle): string | undefined {
  switch (answer?.outcome) {
    case 'unchanged':
      return 'unchanged';
    case 'refused':
      return otherReasons.includes(answer.code) || answer.rests === true || answer.events.length > 0
        ? undefined
        : answer.code;
    case 'done':
      return chronicle.momentOf(actor) === undefined ? 'unchanged' : undefined;
    default:
      return undefined;
  }
}

/** The outcome of a command in a state: `accepted`, `unchanged`, or the code of the refusal. */
function outcomeIn(snapshot: Snapshot, { command, tag, actor }: Sent): string {
  const decision = command.step(snapshot, { now: 0, actor });
  const outcome = decision.outcome === 'refused' ? decision.problem.code : decision.outcome;
  // What is not there has no tag.
  if (tag === undefined || outcome.endsWith('-not-found')) return outcome;
  const isMet = tag.content === contentAt(snapshot, tag.link);
  return isMet ? outcome : 'precondition-failed';
}

/** A node, and its interface. */
interface Follower {
  readonly node: string;
  readonly admin: Pick<Admin, 'commands' | 'snapshot'> & { readonly fleet: Pick<Fleet, 'nodes'> };
}

/** Says if a node that is named as one that has followed shows something that the log had only before the change. */
export function strayFrom(sent: Sent, { node, admin }: Follower, chronicle: Chronicle): readonly string[] {
  const since = followedSince(sent, chronicle);
  if (since === undefined) return [];
  const moments = chronicle.moments.slice(since);
  const { snapshot } = admin;
  return linksOf(sent, moments[0]).flatMap((link) => {
    const content = contentAt(snapshot, link);
    if (isInParts(admin, link) || moments.some((moment) => contentAt(moment, link) === content)) return [];
    if (isPartOfLater({ node, admin }, link, moments)) return [];
    return [
      `${nameOf(sent)} was told that ${node} has followed, which shows ${link} as ${content ?? 'nothing'}`,
    ];
  });
}

/**
 * Whether a node has followed a part of a later change, and its gateway has refused the rest and the way back: each
 * member is as the log had it at one of the moments. A service that must go is stopped until its sessions have ended. A
 * server in whose place the log has another one is still listed, in its own spelling.
 */
function isPartOfLater({ admin }: Follower, link: string, moments: readonly Snapshot[]): boolean {
  const [own] = admin.fleet.nodes();
  if (own?.behind.some(({ resource }) => isSame(resource, link)) !== true) return false;
  const members = membersAt(admin.snapshot, link);
  const had = moments.map((moment) => membersAt(moment, link));
  const mustGo = had.some(({ size }) => size === 0);
  const isHad = (name: string): boolean =>
    had.some((each) => isSame(each.get(name) ?? '', members.get(name) ?? ''));
  const names = [members, ...had].flatMap((each) => [...each.keys()]);
  return names.every(
    (name) => isHad(name) || (mustGo && name === 'state' && members.get(name) === '"stopped"'),
  );
}

/** The moment from which on a node that has followed a command shows the log. */
function followedSince(sent: Sent, chronicle: Chronicle): number | undefined {
  const settledAt = chronicle.momentOf(sent.actor);
  if (settledAt !== undefined) return settledAt;
  // Where nothing has changed, there is nothing to follow of what is each node's own.
  if (sent.answer?.outcome === 'accepted' || closesSomething.test(sent.command.kind)) return undefined;
  const at = chronicle.moments.findIndex(
    (snapshot, moment) => moment >= sent.askedAt && outcomeIn(snapshot, sent) === 'unchanged',
  );
  // A node that has followed what a set-back has brought back may have gone on to what the set-back has ended.
  return at === -1 ? undefined : chronicle.broughtBack(at);
}

/** The resources that a command is about. */
function linksOf({ answer, command, actor }: Sent, snapshot: Snapshot | undefined): readonly string[] {
  if (answer?.outcome === 'accepted')
    return answer.events.filter(isShared).map(({ resource }) => placeOf(resource));
  if (snapshot === undefined) return [];
  return command.step(snapshot, { now: 0, actor }).resources.map(placeOf);
}

function nameOf({ command: { kind }, actor, node }: Sent): string {
  return `${kind} of ${actor} at ${node}`;
}
