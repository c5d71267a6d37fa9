/**
 * The laws of answers. An `unchanged`, and a refusal that rests on the state alone, was true at a moment between the
 * question and the answer. A 412 is given only if a command has changed the resource since the tag was read, and a
 * success with `If-Match` only if none has. A request with a mark does what its plan has shown, or nothing.
 */
import type { AdminEvent, Json, Snapshot } from 'gateway-admin-core';

import type { Answer, Asked, Shown, Tag } from './answer.ts';
import { contentAt } from '../support/content-at.ts';
import { leavesAlone, type Chronicle, type Moment } from './chronicle.ts';
import { saidBy } from './planner.ts';

/** A command with its answer. */
export interface Answered {
  readonly asked: Asked;
  readonly actor: string;
  readonly answer: Answer;
  /** The number of moments when the client asked. */
  readonly from: number;
  /** The revisions of what was shown when the client asked, and when it was answered. */
  readonly revisions: readonly [asked: number, answered: number];
  /** When that was: a deadline can pass meanwhile. */
  readonly times: readonly [asked: number, answered: number];
}

/** The refusals that rest on more than the state. */
const otherReasons: readonly (string | undefined)[] = [
  'command-in-progress',
  'effect-refused',
  'partly-done',
  'overloaded',
  'store-unavailable',
  'audit-unavailable',
  'closed',
  // These rest on the history too.
  'undo-refused',
  'entry-not-found',
];

/** What is wrong with an answer. */
export function untruthsIn(answered: Answered, chronicle: Chronicle, epoch: string): readonly string[] {
  const { tag, plan } = answered.asked;
  const about = [
    ...(tag === undefined ? [] : conditionFaults(answered, tag, chronicle)),
    ...(plan === undefined ? [] : markFaults(answered, plan, chronicle, epoch)),
  ];
  const untruth = untruthOf(answered, chronicle);
  return untruth === undefined ? about : [...about, untruth];
}

function untruthOf(answered: Answered, chronicle: Chronicle): string | undefined {
  const { asked, answer, from, revisions, times, actor } = answered;
  const wanted = outcomeToExplain(answered, chronicle);
  if (wanted === undefined) return undefined;
  const moments = chronicle.moments(Math.max(0, from - 1), revisions[1]);
  const found = new Set(
    moments.flatMap(({ snapshot }) => times.flatMap((now) => outcomesIn(snapshot, asked, { actor, now }))),
  );
  if (found.has(wanted)) return undefined;
  return `${asked.kind} of ${actor} was answered with ${answer.code ?? answer.outcome}, which was never true: ${[...found].join(' or ')}`;
}

/** The outcome of a command that the state alone explains. */
function outcomeToExplain({ answer, asked, actor }: Answered, chronicle: Chronicle): string | undefined {
  const { outcome, code, hasEvents } = answer;
  if (asked.request?.method === 'GET') return undefined;
  // What the plan of a closing has shown may be closed already, and another session has the id.
  if (asked.plan?.mark.split('.')[2] !== undefined && !hasEvents) {
    if (outcome === 'unchanged' || outcome === 'done') return undefined;
  }
  if (outcome === 'unchanged') return 'unchanged';
  if (outcome === 'done') return chronicle.changesBy(actor).length > 0 ? undefined : 'unchanged';
  const isAboutState = outcome === 'refused' && !hasEvents && !otherReasons.includes(code);
  return isAboutState && code !== 'precondition-failed' ? code : undefined;
}

/**
 * The outcomes of a command in a state: `accepted`, `unchanged`, or the code of the refusal. With a mark, a closing is
 * about what was open at the plan, also with the mark of another command: what is not there is said before that.
 */
function outcomesIn(
  snapshot: Snapshot,
  { step, plan, request }: Asked,
  context: { readonly actor: string; readonly now: number },
): readonly string[] {
  const mark = plan?.mark ?? /[?&]mark=([^&]*)/.exec(request?.target ?? '')?.[1];
  const revision = mark?.split('.')[3];
  const contexts =
    revision === undefined ? [context] : [context, { ...context, openedUpTo: Number(revision) }];
  return contexts.map((each) => {
    const decision = step(snapshot, each);
    return decision.outcome === 'refused' ? decision.problem.code : decision.outcome;
  });
}

/** What is wrong with the answer to a request that names a tag. */
function conditionFaults(
  { asked: { kind }, actor, answer, from, revisions: [, answered] }: Answered,
  { link, text }: Tag,
  chronicle: Chronicle,
): readonly string[] {
  const wanted = /^"([^.]*)\./.exec(text)?.[1];
  const isMet = ({ snapshot }: Moment): boolean => contentAt(snapshot, link) === wanted;
  const moments = chronicle.moments(Math.max(0, from - 1), answered);
  const what = `${kind} of ${actor} with ${text}`;
  if (answer.code === 'precondition-failed')
    return moments.every(isMet) ? [`${what} was refused, and ${link} was the same all the time`] : [];
  if (answer.outcome !== 'done') return [];
  // Nobody else changes the resource between the decision and the change.
  const own = chronicle.changesOf(link, 0).find((change) => change.actor === actor)?.revision;
  const last = own === undefined ? undefined : moments.find(({ revision }) => revision < own);
  const isRight = last === undefined ? moments.some(isMet) : isMet(last);
  return isRight ? [] : [`${what} was carried out, and ${link} was another by then`];
}

/** What is wrong with the answer to a request that names a mark. */
function markFaults(
  { asked: { kind }, actor, answer }: Answered,
  plan: Shown,
  chronicle: Chronicle,
  epoch: string,
): readonly string[] {
  const shown = plan.events.map(saidBy);
  const isUnknown = plan.epoch !== epoch || isAboutLater(plan, actor, chronicle);
  const needless = isUnknown ? undefined : needlessRefusal(answer, plan);
  const changes = chronicle.changesBy(actor);
  const own = changes.flatMap(({ type, resource }) =>
    type.endsWith('.created') ? [resource.toLowerCase()] : [],
  );
  const remade = chronicle.madeBefore(actor, plan.revisions[1]).filter((link) => !own.includes(link));
  const isLater = ({ resource }: AdminEvent): boolean =>
    remade.some((link) => `${resource.toLowerCase()}/`.startsWith(`${link}/`));
  const later = plan.epoch === epoch ? changes.filter(isWhole).filter(isLater) : [];
  const done = changes.map(saidBy);
  const strays = done.filter((each) => !shown.includes(each));
  // A closing with a mark may have nothing left to close.
  const [wanted, made] = [plan.events, changes].map((events) => events.filter(isWhole).length);
  const isPart = answer.outcome === 'done' && done.length > 0 && made !== wanted;
  const isUnasked = answer.code === 'precondition-failed' && done.length > 0;
  return [
    ...later.map(
      ({ resource }) => `${kind} of ${actor} has changed ${resource}, which was made since its plan`,
    ),
    ...strays.map((each) => `${kind} of ${actor} has made ${each}, which its plan did not show`),
    ...(isPart ? [`${kind} of ${actor} was answered with a success, and a part of it was made`] : []),
    ...(isUnasked ? [`${kind} of ${actor} was refused for its mark, and has made something`] : []),
    ...(needless === undefined || kind.includes('in parts')
      ? []
      : [`${kind} of ${actor} was refused for its mark, although ${needless}`]),
  ];
}

/** Whether what a plan names may have been made since in this life: a later resource can be as the earlier one was. */
function isAboutLater(plan: Shown, actor: string, chronicle: Chronicle): boolean {
  const text = JSON.stringify(plan.events).toLowerCase();
  return chronicle.madeBefore(actor, plan.revisions[0]).some((link) => text.includes(`${link}"`));
}

/** Why a plan that no longer held would have held, by the plan of the refusal. */
function needlessRefusal({ code, now }: Answer, plan: Shown): string | undefined {
  if (code !== 'precondition-failed' || now === undefined) return undefined;
  if (now.outcome === 'unchanged') return 'it would change nothing';
  // What has closed by itself needs no closing.
  const isCompared = now.events.every(isWhole) ? isWhole : () => true;
  const [shown, again] = [plan, now].map(({ events }) =>
    JSON.stringify([...events.filter(isCompared).map((event) => [saidBy(event), operationsOf(event)])]),
  );
  return shown === again ? `it would do what its plan has shown: ${String(shown)}` : undefined;
}

/** What an event does: whether a password was set before shows there alone. */
function operationsOf(event: Json): readonly string[] {
  const { operations = [] } = event as { readonly operations?: readonly { op: string; path: string }[] };
  return operations.map(({ op, path }) => `${op} ${path}`);
}

/** Whether an event is made as a whole or not at all. */
function isWhole(event: Json | AdminEvent): boolean {
  return !leavesAlone.test((event as { readonly type: string }).type);
}
