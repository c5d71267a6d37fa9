/**
 * Changes: a command that changes something asks for its plan first, to say what will happen, and whether there is
 * anything to do. In production, the table of acts says which name is typed. Elsewhere, a change that closes or deletes
 * something needs a yes. At a terminal, so does a change with a grave note, such as that sessions may end.
 */
import { createInterface } from 'node:readline/promises';
import { setTimeout } from 'node:timers/promises';

import { acts, type Answer, type Client, type CommandId, type CommandOutcome } from '../client/index.ts';
import type { Plan } from '../index.ts';
import { understood, valueOrEnd } from './answer.ts';
import {
  changeOptions,
  CommandError,
  exitCodes,
  refused,
  wrongUse,
  type Call,
  type Command,
} from './command.ts';
import { connect, methodOf, type Method } from './connection.ts';
import { wordOf } from './kind.ts';
import { jsonText, safeText } from './output.ts';
import { assertConfirmed, nameFor, placeOf, whereText, type GatewayPlace } from './place.ts';
import {
  deletionsIn,
  changeText,
  doneText,
  nothingClosed,
  nothingDoneOn,
  planIn,
  planLines,
  questionOf,
  sentencesOf,
  sinceThen,
  titleOf,
  type AskedAct,
  type Notes,
  type PlannedChange,
} from './plan.ts';

/** A command that makes a change. The options of every change are not among its own. */
interface Changing extends Omit<Command, 'options' | 'run'> {
  readonly options?: Command['options'];
  /**
   * The change that a call asks for, or a function that finds the change with the help of the interface. Ends the
   * command if the call has a mistake, before the user is asked for a password.
   */
  readonly change: (call: Call) => Wanted | Promise<Wanted>;
}

/** A change, a function that finds it, or why there is nothing to do. */
type Wanted = AskedAct | ((client: Client) => AskedAct | string | Promise<AskedAct | string>);

/** The command of a row: plans the change, says what will happen, asks where a yes is needed, and makes the change. */
export function changing({ change, options, ...row }: Changing): Command {
  return {
    ...row,
    options: { ...options, ...changeOptions },
    async run(call) {
      const wanted = await change(call);
      const client = await connect(call);
      const found = typeof wanted === 'function' ? await wanted(client) : wanted;
      if (typeof found === 'string') sayNothingToDo(call, found);
      else await make(call, client, found);
    },
  };
}

/** Makes a change, or says what it would do. */
export async function make(call: Call, client: Client, change: AskedAct): Promise<void> {
  const { given = [], options } = change;
  const answer = await methodFor(client, change).plan(...given, { ...options });
  const plan = planIn(valueOrEnd(answer, change));
  const planned = { change, plan };
  if (call.has('dry-run')) {
    showPlan(call, planned, await placeOf(call, client));
    return;
  }
  if (plan.outcome === 'unchanged') return sayUnchanged(call, client, change);
  await makeAsPlanned(call, client, planned, await placeOf(call, client));
}

/** Says that there is nothing to do, and where. */
export async function sayUnchanged(
  call: Call,
  client: Client,
  { title, act }: Pick<AskedAct, 'title' | 'act'>,
): Promise<void> {
  sayNothingToDo(call, `${title} ${whereText(act, await placeOf(call, client))}.`);
}

/** Says why there is nothing to do. */
export function sayNothingToDo({ output }: Call, why: string): void {
  if (output.isJson) output.json({ outcome: 'unchanged', closed: nothingClosed });
  else output.lines(safeText(`Nothing to do: ${why}`));
}

/** Makes a change that was planned, after a yes where that is needed. The notes of the plan are always told. */
export async function makeAsPlanned(
  call: Call,
  client: Client,
  planned: PlannedChange,
  place: GatewayPlace,
): Promise<void> {
  const { change, plan } = planned;
  assertConfirmed(call, change, place);
  if (asks(call, planned, place)) {
    if (change.shown === 'before') showLines(call, planLines(planned, place));
    await confirm(call, planned, place);
  } else tellNotes(call, plan.notes ?? []);
  await makePlanned(call, client, planned, place);
}

function tellNotes({ output, surroundings: { stderr } }: Call, notes: Notes): void {
  if (!output.isJson) for (const detail of sentencesOf(notes)) output.note(safeText(detail));
  else if (notes.length > 0) stderr.write(`${jsonText({ notes })}\n`);
}

function asks(call: Call, planned: PlannedChange, place: GatewayPlace): boolean {
  if (call.has('yes')) return false;
  const isTyped = nameFor(planned.change, place) !== undefined;
  return isTyped || isAsked(planned) || (hasGraveNote(planned) && canAsk(call));
}

/**
 * Whether a change is made only after a yes. What is closed does not come back, nor do the sessions of what is deleted.
 */
function isAsked({ change, plan }: PlannedChange): boolean {
  const { closes, notes = [] } = plan;
  return (
    acts[change.act].asks === true ||
    closes.sessions + closes.connections > 0 ||
    deletionsIn(plan).length > 0 ||
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

function methodFor(client: Client, { act, id = act as CommandId, method }: AskedAct): Method {
  return method ?? methodOf(client, id);
}

/** Does what a plan has shown. If that has changed, shows the plan of now and asks again. */
async function makePlanned(
  call: Call,
  client: Client,
  { change, plan }: PlannedChange,
  place: GatewayPlace,
): Promise<void> {
  const options = { ...change.options, mark: plan.mark, prefer: 'representation' };
  const sent = understood(
    withProgress(call, client, change, () => methodFor(client, change)(...(change.given ?? []), options)),
    (answer) => planOfNow(answer) ?? { done: bodyOf(valueOrEnd(answer, change)) },
  );
  const answer = await unlessInterrupted(call, sent, () => interrupted({ change, plan }, client, place));
  if ('mark' in answer) {
    const now = (await change.anew?.()) ?? { change, plan: answer };
    const lines = planLines(now, place).map((line) => `  ${line}`);
    showLines(call, [...sinceThen({ change, plan }, now), 'The plan has changed:', ...lines]);
    if (call.has('yes') || !canAsk(call)) throw new CommandError('Nothing was done.', exitCodes.differs);
    await confirm(call, now, place);
    return makePlanned(call, client, now, place);
  }
  const { closed = nothingClosed } = answer.done;
  const { notes } = plan;
  if (call.output.isJson) call.output.json({ ...answer.done, ...(notes && { notes }) });
  else call.output.lines(safeText(doneText({ change, plan }, closed, place)));
}

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
function planOfNow(answer: Answer<unknown>): Plan | undefined {
  if (answer.ok || answer.problem.code !== 'precondition-failed' || answer.problem.plan === undefined)
    return undefined;
  return planIn(answer.problem.plan as Plan);
}

/** Whether there is a terminal. The standard input has ended if a document or a password was typed there. */
function canAsk({ surroundings: { stdin } }: Call): boolean {
  return stdin.isTTY && !stdin.readableEnded;
}

/** Asks. Ends the command if the answer is not yes, or not the name. */
async function confirm(call: Call, planned: PlannedChange, place: GatewayPlace): Promise<void> {
  const { stdin, stderr } = call.surroundings;
  const question = safeText(questionOf(planned, place));
  const name = nameFor(planned.change, place);
  if (!canAsk(call)) {
    const options = name === undefined ? '--yes' : `--yes --confirm-name ${safeText(wordOf(name))}`;
    throw wrongUse(`${question} Nobody can be asked: without a terminal, say ${options}.`);
  }
  const terminal = createInterface({ input: stdin, output: stderr });
  const leaving = new AbortController();
  terminal.once('SIGINT', () => leaving.abort()).once('close', () => leaving.abort());
  try {
    const wish = name === undefined ? '[y/N]' : `Type ${safeText(name)} to go on:`;
    const answer = (await terminal.question(`${question} ${wish} `, { signal: leaving.signal })).trim();
    const isYes = name === undefined ? /^y(?:es)?$/i.test(answer) : answer === name;
    if (!isYes) throw refused('Nothing was done.');
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

async function interrupted(planned: PlannedChange, client: Client, place: GatewayPlace): Promise<string> {
  // A gateway that hangs must not hold up Ctrl-C.
  const late = setTimeout(leftMs, undefined, { ref: false });
  const count = await Promise.race([planned.change.left?.(client).catch(() => undefined), late]);
  return `Interrupted. ${goingOn(changeText(planned, place), count)}`;
}

function showPlan({ output }: Call, planned: PlannedChange, place: GatewayPlace): void {
  const {
    plan,
    change: { tag },
  } = planned;
  if (output.isJson) return output.json(plan);
  output.lines(
    safeText(`Plan: ${place.nodes.length === 0 ? titleOf(planned) : changeText(planned, place)}`),
    ...planLines(planned, place).map((line) => safeText(`  ${line}`)),
    ...(tag === undefined ? [] : [`  entity tag ${tag}`]),
    nothingDoneOn(place.text),
  );
}

/** How often the progress is shown, in milliseconds. */
const progressMs = 1000;

async function withProgress<T>(
  { output }: Call,
  client: Client,
  { left }: AskedAct,
  run: () => Promise<T>,
): Promise<T> {
  if (left === undefined) return run();
  const timer = setInterval(() => {
    // The answer to the command says what goes wrong.
    left(client)
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
