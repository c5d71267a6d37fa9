/**
 * Changes: a command that changes something asks for its plan first, to say what will happen, and whether there is
 * anything to do. In production, the table of acts says which name is typed. Elsewhere, a change that closes or deletes
 * something needs a yes. At a terminal, so does a change with a grave note, such as that sessions may end.
 */
import { createInterface } from 'node:readline/promises';
import { setTimeout } from 'node:timers/promises';

import {
  acts,
  type ActId,
  type Answer,
  type Client,
  type CommandId,
  type CommandOutcome,
} from '../client/index.ts';
import type { Plan } from '../index.ts';
import { refusal, understood, valueOf } from './answer.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { methodOf, type Method } from './connection.ts';
import { counted, jsonText, safeText } from './output.ts';
import { assertConfirmed, nameFor, placeOf, type GatewayPlace } from './place.ts';
import { operationLines, rowOf } from './row.ts';
import { wordOf, type Subject } from './subject.ts';

/** A change that a user wants. */
export interface Change {
  /** The change in words, such as `stop service Sales`. */
  readonly title: string;
  /** What the change is about; left out if that is the gateway, or its whole configuration. */
  readonly subject?: Subject;
  readonly id: CommandId;
  /** The row of the table of acts. Default: that of the endpoint. */
  readonly act?: ActId;
  /** The method that plans and makes the change. Default: that of the endpoint. */
  readonly method?: Method;
  /** The arguments of the method of the client: the subject and the body. */
  readonly given: readonly unknown[];
  /** Whether the title does not say what changes: the plan is shown before the question. */
  readonly shows?: true;
  readonly ifMatch?: string;
  /** The options of the method of the client, besides those of every command. */
  readonly options?: object;
  /** What the question says besides the numbers of the plan; empty if nothing. */
  readonly more?: (plan: Accepted) => string;
  /** The entity tag of the resource, which a dry run prints for `--if-match`. */
  readonly tag?: string;
  /** How many things are still to close while the command runs; left out if nothing closes. */
  readonly left?: () => Promise<number>;
  /**
   * Gives the changes of a plan in lines. Default: the operations and the effects.
   *
   * @param shown - the events of all plans that are shown together: lines name their resources if there are several
   */
  readonly linesOf?: (plan: Accepted, shown?: Accepted['events']) => readonly string[];
  /** Finds the change anew when its plan no longer holds. Default: the same change with the plan of now. */
  readonly anew?: () => Promise<PlannedChange | undefined>;
}

/** A plan that nothing speaks against. */
export type Accepted = Exclude<Plan, { readonly outcome: 'refused' }>;

type Notes = NonNullable<Accepted['notes']>;

/** A change with its plan. */
export interface PlannedChange {
  readonly change: Change;
  readonly plan: Accepted;
}

/** Makes a change, or says what it would do. */
export async function make(call: Call, client: Client, change: Change): Promise<void> {
  const plan = acceptedPlan(
    valueOf(await methodFor(client, change).plan(...change.given, conditionOf(change)), change),
  );
  const planned = { change, plan };
  if (call.has('dry-run')) {
    showPlan(call, planned, await placeOf(call, client));
    return;
  }
  if (plan.outcome === 'unchanged') return sayUnchanged(call, client, change.title);
  await makeAsPlanned(call, client, planned);
}

/** Says that there is nothing to do, and on which gateway. */
export async function sayUnchanged(call: Call, client: Client, title: string): Promise<void> {
  const { text } = await placeOf(call, client);
  sayNothingToDo(call, `${title} on ${text}.`);
}

/** Says why there is nothing to do. */
export function sayNothingToDo({ output }: Call, why: string): void {
  if (output.isJson) output.json({ outcome: 'unchanged', closed: nothingClosed });
  else output.lines(safeText(`Nothing to do: ${why}`));
}

/** Makes a change that was planned, after a yes where that is needed. The notes of the plan are always told. */
export async function makeAsPlanned(call: Call, client: Client, planned: PlannedChange): Promise<void> {
  const { change, plan } = planned;
  const place = await placeOf(call, client);
  assertConfirmed(call, named(change), place);
  if (asks(call, planned, place)) {
    if (change.shows === true) showLines(call, planLines(planned));
    await confirm(call, planned, place);
  } else tellNotes(call, plan.notes ?? []);
  await makePlanned(call, client, planned, place);
}

function named({ id, act = id, subject }: Change): Parameters<typeof nameFor>[0] {
  return { act, ...(subject && { subject }) };
}

function tellNotes({ output, surroundings: { stderr } }: Call, notes: Notes): void {
  if (!output.isJson) for (const detail of sentencesOf(notes)) output.note(safeText(detail));
  else if (notes.length > 0) stderr.write(`${jsonText({ notes })}\n`);
}

function asks(call: Call, planned: PlannedChange, place: GatewayPlace): boolean {
  if (call.has('yes')) return false;
  const isTyped = nameFor(named(planned.change), place) !== undefined;
  return isTyped || isAsked(planned) || (hasGraveNote(planned) && canAsk(call));
}

/**
 * Whether a change is made only after a yes. What is closed does not come back, nor do the sessions of what is deleted.
 */
function isAsked({ change: { id, act = id }, plan: { closes, events, notes = [] } }: PlannedChange): boolean {
  return (
    acts[act].asks === true ||
    closes.sessions + closes.connections > 0 ||
    events.some((event) => (event as { readonly type: string }).type.endsWith('.deleted')) ||
    notes.some(({ code }) => code === 'closes-at-deadline')
  );
}

/**
 * Whether sessions may end, nobody is served, or a deadline goes away. A person is asked about that, and a script goes
 * on.
 */
function hasGraveNote({ plan: { notes = [] } }: PlannedChange): boolean {
  return notes.some(
    ({ code }) =>
      ['gateway-may-close', 'no-usable-server', 'ends-deadline'].includes(code) || code.startsWith('host-'),
  );
}

function showLines({ surroundings: { stderr } }: Call, lines: readonly string[]): void {
  for (const line of lines) stderr.write(`${safeText(line)}\n`);
}

function methodFor(client: Client, { id, method }: Change): Method {
  return method ?? methodOf(client, id);
}

function conditionOf({ ifMatch, options }: Change): object {
  return ifMatch === undefined ? { ...options } : { ...options, ifMatch };
}

/** Does what a plan has shown. If that has changed, shows the plan of now and asks again. */
async function makePlanned(
  call: Call,
  client: Client,
  { change, plan }: PlannedChange,
  place: GatewayPlace,
): Promise<void> {
  const options = { ...conditionOf(change), mark: plan.mark, prefer: 'representation' };
  const sent = understood(
    withProgress(call, change, () => methodFor(client, change)(...change.given, options)),
    (answer) => planOfNow(answer) ?? { done: bodyOf(valueOf(answer, change)) },
  );
  const answer = await unlessInterrupted(call, sent, () => interrupted(change, place));
  if ('mark' in answer) {
    const now = (await change.anew?.()) ?? { change, plan: answer };
    const lines = planLines(now).map((line) => `  ${line}`);
    showLines(call, [...sinceThen({ change, plan }, now), 'The plan has changed:', ...lines]);
    if (call.has('yes') || !canAsk(call)) throw new CommandError('Nothing was done.', exitCodes.differs);
    await confirm(call, now, place);
    return makePlanned(call, client, now, place);
  }
  const { closed = nothingClosed } = answer.done;
  if (call.output.isJson) call.output.json(answer.done);
  else {
    const told = [`Done: ${change.title} on ${place.text}.${closedText(closed, plan)}`, ...stayingText(plan)];
    call.output.lines(safeText(told.join(' ')));
  }
}

/** The end of a dry run. */
export function nothingDoneOn(place: string): string {
  return safeText(`Nothing was done on ${place}.`);
}

/** What was closed. What a plan shows can end by itself before the change. */
function closedText(closed: CommandOutcome['closed'], { closes }: Accepted): string {
  const text = closingText(closed, 'closed');
  return text === '' && closes.sessions + closes.connections > 0 ? ' Nothing was left to close.' : text;
}

/** The counts of a command that closes nothing. */
export const nothingClosed = { sessions: 0, connections: 0 };

/** The answer to a change; empty without a body. @throws Error if a body is no object, or its counts are no numbers */
function bodyOf(done: unknown = {}): Partial<CommandOutcome> {
  if (typeof done !== 'object' || done === null || Array.isArray(done)) throw new Error('it is no resource');
  const { closed } = done as { readonly closed?: unknown };
  const { sessions = 0, connections = 0 } = (closed === undefined ? {} : Object(closed)) as Record<
    string,
    unknown
  >;
  if (closed === null || ![sessions, connections].every(Number.isSafeInteger))
    throw new Error('it has no counts');
  return done;
}

/** The plan of now in the refusal of a mark; `undefined` for any other answer. */
function planOfNow(answer: Answer<unknown>): Accepted | undefined {
  if (answer.ok || answer.problem.code !== 'precondition-failed' || answer.problem.plan === undefined)
    return undefined;
  return acceptedPlan(answer.problem.plan as Plan);
}

/** Whether there is a terminal. The standard input has ended if a document or a password was typed there. */
function canAsk({ surroundings: { stdin } }: Call): boolean {
  return stdin.isTTY && !stdin.readableEnded;
}

/** Asks. Ends the command if the answer is not yes, or not the name. */
async function confirm(call: Call, planned: PlannedChange, place: GatewayPlace): Promise<void> {
  const { stdin, stderr } = call.surroundings;
  const question = safeText(questionOf(planned, place));
  const name = nameFor(named(planned.change), place);
  if (!canAsk(call)) {
    const options = name === undefined ? '--yes' : `--yes --confirm-name ${safeText(wordOf(name))}`;
    throw new CommandError(
      `${question} Nobody can be asked: without a terminal, say ${options}.`,
      exitCodes.wrongUse,
    );
  }
  const terminal = createInterface({ input: stdin, output: stderr });
  const leaving = new AbortController();
  terminal.once('SIGINT', () => leaving.abort()).once('close', () => leaving.abort());
  try {
    const wish = name === undefined ? '[y/N]' : `Type ${safeText(name)} to go on:`;
    const answer = (await terminal.question(`${question} ${wish} `, { signal: leaving.signal })).trim();
    const isYes = name === undefined ? /^y(?:es)?$/i.test(answer) : answer === name;
    if (!isYes) throw new CommandError('Nothing was done.', exitCodes.refused);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    throw new CommandError('Nothing was done.', exitCodes.interrupted);
  } finally {
    terminal.close();
  }
}

/** Waits for a change that was sent. Ctrl-C ends the program, and not what the gateway has begun. */
export async function unlessInterrupted<T>(
  { surroundings, output }: Call,
  sent: Promise<T>,
  told: () => string | Promise<string>,
): Promise<T> {
  let interrupt = (): void => undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = () => {
      output.progress('');
      void Promise.resolve(told()).then((text) => {
        reject(new CommandError(text, exitCodes.interrupted));
      });
    };
  });
  surroundings.once('SIGINT', interrupt);
  try {
    return await Promise.race([sent, interrupted]);
  } finally {
    surroundings.off('SIGINT', interrupt);
  }
}

/** Says that a change goes on, how much is left, and how a user follows the change. */
function goingOn(what: string, left?: number): string {
  const more = left === undefined ? '' : ` ${left.toLocaleString('en')} left.`;
  return `The gateway goes on with what it has begun: ${safeText(what)}.${more} Try: gateway-admin commands`;
}

/** How long a count of what is left may take, in milliseconds. */
const leftMs = 1000;

async function interrupted({ title, left }: Change, { text }: GatewayPlace): Promise<string> {
  // A gateway that hangs must not hold up Ctrl-C.
  const late = setTimeout(leftMs, undefined, { ref: false });
  const count = await Promise.race([left?.().catch(() => undefined), late]);
  return `Interrupted. ${goingOn(`${title} on ${text}`, count)}`;
}

function questionOf(
  { change: { title, more }, plan }: PlannedChange,
  { text, context }: GatewayPlace,
): string {
  const way = context === undefined ? '' : `, context ${context}`;
  return `${sentence(title)} on ${text}${way}?${more?.(plan) ?? ''}${consequence(plan)}`;
}

/** The plan, if nothing speaks against the change. */
export function acceptedPlan(plan: Plan | undefined): Accepted {
  if (plan?.outcome === 'refused') throw refusal(plan.problem);
  // After the change, it would be too late to find out that the plan has no numbers.
  const { closes, stays, events } = (plan ?? {}) as Partial<Accepted>;
  const counts: readonly unknown[] = [closes?.sessions, closes?.connections, stays?.sessions, events?.length];
  const hasMark = typeof (plan as { mark?: unknown } | undefined)?.mark === 'string';
  if (plan !== undefined && hasMark && counts.every((count) => typeof count === 'number')) return plan;
  throw new Error('it is no plan');
}

function showPlan({ output }: Call, planned: PlannedChange, { text }: GatewayPlace): void {
  const { plan, change } = planned;
  const { title, tag } = change;
  if (output.isJson) return output.json(plan);
  output.lines(
    safeText(`Plan: ${title}`),
    ...planLines(planned).map((line) => safeText(`  ${line}`)),
    ...(tag === undefined ? [] : [`  entity tag ${tag}`]),
    nothingDoneOn(text),
  );
}

function planLines({ change: { linesOf = changeLines }, plan }: PlannedChange): readonly string[] {
  return plan.outcome === 'unchanged' ? ['nothing to do'] : [...linesOf(plan), ...consequenceLines(plan)];
}

/** The differences between two plans, in one line; no line if both show the same. */
function sinceThen(before: PlannedChange, now: PlannedChange): readonly string[] {
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
  shown: Accepted['events'],
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
function changeLines({ events, effects, patch = [] }: Accepted, shown = events): readonly string[] {
  // A change of the interface itself has no event.
  if (events.length === 0) return operationLines(patch, []);
  const isOfOne = new Set(shown.map((event) => rowOf(event).resource)).size < 2;
  return [
    ...events
      .map(rowOf)
      .flatMap(({ resource, settings }) => settings.map((line) => (isOfOne ? line : `${resource}  ${line}`))),
    ...effects.map(effectLine),
  ];
}

/** What a plan closes, what continues, and its notes. */
export function consequenceLines(plan: Accepted): readonly string[] {
  return [...countLines(plan), ...sentencesOf(plan.notes ?? []).map((detail) => `note: ${detail}`)];
}

/** What a plan closes, and what continues. Where nothing closes, a note can say more. */
export function countLines(plan: Accepted): readonly string[] {
  const { notes = [] } = plan;
  const { sessions, connections } = plan.closes;
  return [
    ...(sessions + connections === 0 && notes.length > 0
      ? []
      : [`closes ${counted(sessions, 'session')} and ${counted(connections, 'backend connection')}`]),
    ...stayingText(plan).map((sentence) => sentence.slice(0, -1)),
  ];
}

/** What notes say: several resources can have one sentence. */
function sentencesOf(notes: Notes): readonly string[] {
  return [...new Set(notes.map(({ detail }) => detail))];
}

/** An effect: what the gateway is asked for. */
function effectLine(effect: unknown): string {
  const { type, resource, count } = effect as {
    readonly type: string;
    readonly resource: string;
    readonly count?: number;
  };
  return `gateway: ${type} ${resource}${count === undefined ? '' : ` (${String(count)})`}`;
}

/** What a change means for the sessions; empty if nothing. */
function consequence(plan: Accepted): string {
  const { closes, notes = [] } = plan;
  const verb = closes.sessions + closes.connections === 1 ? 'closes' : 'close';
  return [closingText(closes, verb), ...stayingText(plan), ...sentencesOf(notes)]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ` ${text}`)
    .join('');
}

function closingText({ sessions, connections }: CommandOutcome['closed'], verb: string): string {
  const closed = [
    ...(sessions === 0 ? [] : [counted(sessions, 'session')]),
    ...(connections === 0 ? [] : [counted(connections, 'backend connection')]),
  ];
  return closed.length === 0 ? '' : ` ${closed.join(' and ')} ${verb}.`;
}

function sentence(title: string): string {
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

/** How often the progress is shown, in milliseconds. */
const progressMs = 1000;

async function withProgress<T>({ output }: Call, { left }: Change, run: () => Promise<T>): Promise<T> {
  if (left === undefined) return run();
  const timer = setInterval(() => {
    // The answer to the command says what goes wrong.
    left()
      .then((count) => output.progress(safeText(`${count.toLocaleString('en')} left`)))
      .catch(() => undefined);
  }, progressMs);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    output.progress('');
  }
}

/** The sessions that stay. Of those that lose a connection, a note says more: they may not be able to continue. */
function stayingText({ stays: { sessions }, notes = [] }: Accepted): readonly string[] {
  if (sessions === 0 || notes.some(({ code }) => code === 'sessions-lose-connection')) return [];
  return [`${counted(sessions, 'session')} ${sessions === 1 ? 'continues' : 'continue'}.`];
}
