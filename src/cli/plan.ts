/**
 * Plans: a change that a user wants, and what its plan says: its lines, what is different in another plan, the question
 * and the result. What an event of a plan or of the history changes is a row.
 */
import {
  acts,
  changedParts,
  sentenceOf,
  textOf,
  type ActId,
  type Client,
  type CommandId,
  type CommandOutcome,
} from '../client/index.ts';
import type { Json, Plan } from '../index.ts';
import type { Method } from './connection.ts';
import type { Subject } from './kind.ts';
import { counted, jsonText, safeText } from './output.ts';
import { atNode, othersText, whereText, type GatewayPlace } from './place.ts';

/** A change that a user wants. */
export interface AskedAct {
  /** The change in words, such as `stop service Sales`. */
  readonly title: string;
  /** What the change is about; left out if that is the gateway, or its whole configuration. */
  readonly subject?: Subject;
  readonly act: ActId;
  /** The endpoint that makes the change. Default: that of the act. */
  readonly id?: CommandId;
  /** The method that plans and makes the change. Default: that of the endpoint. */
  readonly method?: Method;
  /** The arguments of the method of the client, the subject and the body; left out if there are none. */
  readonly given?: readonly unknown[];
  /** What to do about a fault of what is given. Default: the step for the code of the problem. */
  readonly remedy?: string;
  /**
   * How the plan is shown if the title does not say what changes: `before` the question, or by the command itself,
   * `already`. The number of changes then stands behind the title. Left out if the title says all.
   */
  readonly shown?: 'before' | 'already';
  /** The options of the method of the client, besides those of every command. */
  readonly options?: object;
  /** What the question says besides the numbers of the plan; empty if nothing. */
  readonly more?: (plan: Plan) => string;
  /** The entity tag of the resource, which a dry run prints for `--if-match`. */
  readonly tag?: string;
  /** How many things are still to close while the command runs; left out if nothing closes. */
  readonly left?: (client: Client) => Promise<number>;
  /**
   * Gives the changes of a plan in lines. Default: the settings and the effects.
   *
   * @param shown - the events of all plans that are shown together: lines name their resources if there are several
   */
  readonly linesOf?: (plan: Plan, shown?: Plan['events']) => readonly string[];
  /** Finds the change anew when its plan no longer holds. Default: the same change with the plan of now. */
  readonly anew?: () => Promise<PlannedChange | undefined>;
}

/** What a plan does not count. */
export type Notes = NonNullable<Plan['notes']>;

/** A change with its plan. */
export interface PlannedChange {
  readonly change: AskedAct;
  readonly plan: Plan;
}

/** Checks that an answer is a plan, and returns it. @throws Error if the answer is not a plan */
export function planIn(plan: Plan | undefined): Plan {
  // After the change, it would be too late to find out that the plan has no numbers.
  const { closes, stays, events } = (plan ?? {}) as Partial<Plan>;
  const counts: readonly unknown[] = [closes?.sessions, closes?.connections, stays?.sessions, events?.length];
  const hasMark = typeof (plan as { mark?: unknown } | undefined)?.mark === 'string';
  if (plan !== undefined && hasMark && counts.every((count) => typeof count === 'number')) return plan;
  throw new Error('it is no plan');
}

/** The counts of a command that closes nothing. */
export const nothingClosed = { sessions: 0, connections: 0 };

/** The number of all changes of a plan or of an entry, which shows the first ones. */
export function changeCountOf({
  events,
  count,
}: {
  readonly events: readonly unknown[];
  readonly count?: Readonly<Record<string, number>>;
}): number {
  return count === undefined ? events.length : Object.values(count).reduce((sum, each) => sum + each, 0);
}

/** A change in words, with the number of changes if the words do not say what changes. */
export function titleOf({ change: { title, shown }, plan }: PlannedChange): string {
  return shown === undefined ? title : `${title} (${counted(changeCountOf(plan), 'change')})`;
}

/** A change with the place where it is made. */
export function changeText(planned: PlannedChange, place: GatewayPlace): string {
  return `${titleOf(planned)} ${whereText(planned.change.act, place)}`;
}

/** The question before a change. */
export function questionOf(planned: PlannedChange, place: GatewayPlace): string {
  const { change, plan } = planned;
  const { context } = place;
  const way = context === undefined ? '' : `, context ${context}`;
  const text = `${sentence(changeText(planned, place))}${way}?${change.more?.(plan) ?? ''}`;
  return [text, ...consequence(planned, place)].join(' ');
}

/** What was done. */
export function doneText(
  planned: PlannedChange,
  closed: CommandOutcome['closed'],
  place: GatewayPlace,
): string {
  const { change, plan } = planned;
  const at = atNode(change.act, place);
  return [
    `Done: ${changeText(planned, place)}.`,
    ...closedText(plan, closed, at),
    ...deletedText(planned, (what) => `Deleted ${what}.`),
    ...stayingText(plan, at),
    ...othersText(change.act, place),
  ].join(' ');
}

/** What was closed. What a plan shows can end by itself before the change. */
function closedText({ closes }: Plan, closed: CommandOutcome['closed'], at: string): readonly string[] {
  const texts = closingText(closed, `closed${at}`);
  const isOver = texts.length === 0 && closes.sessions + closes.connections > 0;
  return isOver ? ['Nothing was left to close.'] : texts;
}

/** The end of a dry run. */
export function nothingDoneOn(place: string): string {
  return safeText(`Nothing was done on ${place}.`);
}

/** The lines of a plan. */
export function planLines(planned: PlannedChange, place: GatewayPlace): readonly string[] {
  const {
    change: { linesOf = changeLines },
    plan,
  } = planned;
  if (plan.outcome === 'unchanged') return ['nothing to do'];
  return [...linesOf(plan), ...consequenceLines(planned, place)];
}

/** The differences between two plans, in one line; no line if both show the same. */
export function sinceThen(before: PlannedChange, now: PlannedChange): readonly string[] {
  const events = [before, now].flatMap(({ plan }) => (plan.outcome === 'unchanged' ? [] : plan.events));
  const [old, present] = [settingLines(before, events), settingLines(now, events)];
  const [closed, closes] = [before.plan.closes, now.plan.closes];
  const differences = [
    ...differenceText(closes.sessions - closed.sessions, 'session'),
    ...differenceText(closes.connections - closed.connections, 'backend connection'),
    ...listed('also', present, old),
    ...listed('no longer', old, present),
  ];
  return differences.length === 0 ? [] : [`Since then: ${differences.join(', ')}.`];
}

/** The settings that change, without the effects: those follow from the settings and from the numbers of the plan. */
function settingLines(
  { change: { linesOf = changeLines }, plan }: PlannedChange,
  shown: Plan['events'],
): readonly string[] {
  if (plan.outcome === 'unchanged') return [];
  return linesOf({ ...plan, effects: [] }, shown).map((line) => line.trim());
}

function differenceText(more: number, name: string): readonly string[] {
  return more === 0 ? [] : [`${counted(Math.abs(more), name)} ${more > 0 ? 'more' : 'fewer'}`];
}

/** The lines that are not among others. A few are enough, because the plan itself shows all lines. */
function listed(word: string, lines: readonly string[], others: readonly string[]): readonly string[] {
  const own = lines.filter((line) => !others.includes(line));
  return own.length > 3 ? [`${word} ${counted(own.length, 'line')}`] : own.map((line) => `${word} ${line}`);
}

/**
 * The settings that change, and what the gateway is asked for. Where several resources change, each line names its own.
 */
function changeLines({ events, effects }: Plan, shown = events): readonly string[] {
  const isOfOne = new Set(shown.map(({ resource }) => resource)).size < 2;
  return [
    ...events
      .map(rowOf)
      .flatMap(({ resource, settings }) => settings.map((line) => (isOfOne ? line : `${resource}  ${line}`))),
    ...effects.map(effectLine),
  ];
}

/** What a plan closes and deletes, what continues, and its notes. */
export function consequenceLines(planned: PlannedChange, place: GatewayPlace): readonly string[] {
  const notes = sentencesOf(planned.plan.notes ?? []);
  return [...countLines(planned, place), ...notes.map((detail) => `note: ${detail}`)];
}

/** What a plan closes and deletes, and what continues. Where nothing closes, a note can say more. */
export function countLines(planned: PlannedChange, place: GatewayPlace): readonly string[] {
  const { change, plan } = planned;
  const at = atNode(change.act, place);
  const { notes = [] } = plan;
  const { sessions, connections } = plan.closes;
  return [
    ...(sessions + connections === 0 && notes.length > 0
      ? []
      : [`closes ${counted(sessions, 'session')} and ${counted(connections, 'backend connection')}${at}`]),
    ...deletedText(planned, (what) => `deletes ${what}`),
    ...stayingText(plan, at).map((sentence) => sentence.slice(0, -1)),
  ];
}

/** What notes say: several resources can have one sentence. */
export function sentencesOf(notes: Notes): readonly string[] {
  return [...new Set(notes.map(({ detail }) => detail))];
}

/** An effect: what the gateway is asked for. */
function effectLine(effect: Plan['effects'][number]): string {
  return `gateway: ${textOf(sentenceOf({ ...effect }, { tense: 'do' }))}`;
}

/** The sessions that stay. Of those that lose a connection, a note says more: they may not be able to continue. */
function stayingText({ stays: { sessions }, notes = [] }: Plan, at: string): readonly string[] {
  if (sessions === 0 || notes.some(({ code }) => code === 'sessions-lose-connection')) return [];
  return [`${counted(sessions, 'session')} ${sessions === 1 ? 'continues' : 'continue'}${at}.`];
}

/** What a change means for sessions, resources and other nodes; empty if nothing. */
function consequence(planned: PlannedChange, place: GatewayPlace): readonly string[] {
  const { change, plan } = planned;
  const at = atNode(change.act, place);
  const { closes, notes = [] } = plan;
  const verb = closes.sessions + closes.connections === 1 ? 'closes' : 'close';
  return [
    ...closingText(closes, `${verb}${at}`),
    ...deletedText(planned, (what) => `It deletes ${what}.`),
    ...stayingText(plan, at),
    // Lines above the question have said the notes.
    ...(change.shown === 'before' ? [] : sentencesOf(notes)),
    ...othersText(change.act, place),
  ];
}

function closingText({ sessions, connections }: CommandOutcome['closed'], verb: string): readonly string[] {
  const closed = [
    ...(sessions === 0 ? [] : [counted(sessions, 'session')]),
    ...(connections === 0 ? [] : [counted(connections, 'backend connection')]),
  ];
  return closed.length === 0 ? [] : [`${closed.join(' and ')} ${verb}.`];
}

/** The kinds of what is deleted, in the order in which they are counted. */
const deletable = ['service', 'server', 'monitor', 'filter', 'listener', 'user'] as const;

/** How many resources of each kind a plan deletes, without the kinds of which it deletes none. */
export function deletionsIn({
  events,
  count,
}: PlannedChange['plan']): readonly (readonly [kind: (typeof deletable)[number], number])[] {
  const types = events.map(({ type }) => type);
  return deletable
    .map((kind) => {
      const type = `${kind}.deleted`;
      const number = count === undefined ? types.filter((each) => each === type).length : (count[type] ?? 0);
      return [kind, number] as const;
    })
    .filter(([, number]) => number > 0);
}

/** How many resources of each kind are deleted; empty if none is, or if the title names the one that is. */
function deletedText({ change, plan }: PlannedChange, say: (what: string) => string): readonly string[] {
  const counts = deletionsIn(plan).map(([kind, number]) => counted(number, kind));
  if (counts.length === 0 || acts[change.act].typed === 'subject') return [];
  return [say(counts.join(', '))];
}

function sentence(title: string): string {
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

/** What happens to a resource. */
interface Row {
  readonly resource: string;
  /** The settings that change, a line for each; empty if something else happens. */
  readonly settings: readonly string[];
  /** Everything that happens, a line for each. */
  readonly changes: readonly string[];
}

/** An event of a plan. */
interface ShownEvent {
  readonly type: string;
  readonly resource: string;
  /** What is deleted. */
  readonly from?: Place;
  /** What is created. */
  readonly to?: Place & { readonly listeners?: readonly (Place & { readonly name: string })[] };
}

/** Where something can be reached. */
interface Place {
  readonly address?: string;
  readonly port?: number;
}

/** An event of a plan in words. */
export function rowOf(event: Json): Row {
  const shown = event as unknown as ShownEvent;
  const { resource } = shown;
  const settings = partLines(shown);
  return { resource, settings, changes: 'operations' in shown ? settings : eventLines(shown) };
}

function eventLines({ type, from = {}, to = {} }: ShownEvent): readonly string[] {
  const { listeners = [] } = to;
  const old = placeText(from);
  return [
    `${verbOf(type)} ${placeText(to)}${old && `(was ${old})`}`.trimEnd(),
    ...listeners.map(({ name, ...listener }) => `+ listener ${name} ${placeText(listener)}`.trimEnd()),
  ];
}

function placeText({ address = '', port }: Place): string {
  if (port === undefined) return address;
  return `${address.includes(':') ? `[${address}]` : address}:${String(port)}`;
}

const verbs: ReadonlyMap<string, string> = new Map([
  ['started', 'start'],
  ['stopped', 'stop'],
  ['created', 'create'],
  ['deleted', 'delete'],
]);

/** The word of the command that an event stands for. */
function verbOf(type: string): string {
  const word = type.replace(/^\w+\./, '');
  return verbs.get(word) ?? word;
}

const signs: ReadonlyMap<string, string> = new Map([
  ['add', '+'],
  ['remove', '-'],
  ['replace', '~'],
]);

/** What an update changes, a line for each part: `~ /max_connection = 50 (was 100)`; none if an event is no update. */
export function partLines(event: object): readonly string[] {
  return changedParts(event, jsonText).map(({ op, path, from, to, isListed }) => {
    const now = to === undefined ? '' : `${isListed === true ? '' : ' ='} ${to}`;
    return safeText(`${signs.get(op) ?? op} ${path}${now}${from === undefined ? '' : ` (was ${from})`}`);
  });
}
