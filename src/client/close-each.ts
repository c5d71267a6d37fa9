/**
 * Closing several sessions that a person has chosen, as one command with one plan.
 */
import type { Plan, Problem } from '../index.ts';
import type { Answer } from './message.ts';
import type { Client, CommandOptions, CommandOutcome } from './client.ts';

/**
 * A session that was chosen.
 *
 * @public
 */
export interface ChosenSession {
  /** The id of the session, as a list shows it or a person types it. */
  readonly id: number | string;
  /** The entity tag, which no later session with the id has. Without it, the session that has the id now is meant. */
  readonly etag?: string | undefined;
}

/**
 * Closes the chosen sessions.
 *
 * @public
 */
export interface CloseEach {
  /** Closes them one after the other. Sessions that have ended since the plan need no closing. */
  (options?: CommandOptions): Promise<Answer<CommandOutcome>>;
  /**
   * Says what closing them would do, and does nothing. Leaves out sessions with an entity tag that have ended.
   * Refused if all have ended, or if one without an entity tag does not exist.
   */
  plan(options?: CommandOptions): Promise<Answer<Plan>>;
}

/**
 * Makes one command of several sessions. Its mark has the marks of all plans.
 *
 * The sessions are closed one after the other. If one cannot be closed, the later ones stay, and the problem
 * `partly-done` or `outcome-unknown` says how many were closed before.
 *
 * @param client - the client
 * @param chosen - the sessions, at least one
 * @returns the command, with `plan` as every command of a client
 *
 * @public
 */
export function closeEach(client: Client, chosen: readonly ChosenSession[]): CloseEach {
  const { close } = client.sessions as unknown as { readonly close: CloseOne };
  const conditionOf = ({ etag }: ChosenSession): object => (etag === undefined ? {} : { ifMatch: etag });
  const plan: CloseEach['plan'] = async (options) => {
    const plans: (Plan | undefined)[] = [];
    let ended: Answer<Plan> | undefined;
    for (const each of chosen) {
      const answer = await close.plan(each.id, { ...options, ...conditionOf(each) });
      if (answer.ok) plans.push(answer.value);
      // One that was chosen from a list and has ended needs no closing. One that a person has typed may be mistyped.
      else if (each.etag === undefined || !hasEnded(answer.problem)) return answer;
      else {
        plans.push(undefined);
        ended = answer;
      }
    }
    const left = plans.filter((each) => each !== undefined);
    if (left.length === 0 && ended !== undefined) return ended;
    const mark = plans.map((each) => each?.mark).join(' ');
    return { ok: true, value: { ...onePlan(left), mark }, etag: undefined };
  };
  const send = async ({ mark: whole, ...options }: CommandOptions = {}): Promise<Answer<CommandOutcome>> => {
    const marks = whole?.split(' ') ?? [];
    const done: CommandOutcome[] = [];
    for (const [at, each] of chosen.entries()) {
      // Of a session that had ended at the plan, there is no mark.
      const mark = marks[at] ? { mark: marks[at] } : {};
      const own = { ...options, ...conditionOf(each), ...mark, prefer: 'representation' };
      const answer = await close(each.id, own);
      if (answer.ok) done.push(answer.value);
      else if (!hasEnded(answer.problem)) return endedEarly(answer, done);
    }
    const [first] = done;
    const value = done.length === 1 && first !== undefined ? first : outcomeOf(done);
    return { ok: true, value, etag: undefined };
  };
  return Object.assign(send, { plan });
}

/** The method that closes one session. */
interface CloseOne {
  (id: number | string, options: CommandOptions): Promise<Answer<CommandOutcome>>;
  plan(id: number | string, options: CommandOptions): Promise<Answer<Plan>>;
}

type Refused = Extract<Answer<unknown>, { readonly ok: false }>;

/** Whether a session needs no closing: it has ended since the plan, or its id belongs to a later session by now. */
function hasEnded({ code, plan }: Problem): boolean {
  return code === 'session-not-found' || (code === 'precondition-failed' && plan === undefined);
}

/** The end of a command of which a part is done. */
function endedEarly(answer: Refused, done: readonly CommandOutcome[]): Refused {
  const { problem } = answer;
  if (done.length === 0) return answer;
  const code = problem.code === 'outcome-unknown' ? problem.code : 'partly-done';
  const { sessions } = sumOf(done);
  // That holds for the last session alone.
  const why = problem.detail.replace(' Nothing was changed.', '');
  const detail = `${why} ${String(sessions)} ${sessions === 1 ? 'session' : 'sessions'} closed before.`;
  return { ...answer, problem: { ...problem, code, detail } };
}

function outcomeOf(done: readonly CommandOutcome[]): CommandOutcome {
  const isChange = done.some(({ outcome }) => outcome === 'accepted');
  return { outcome: isChange ? 'accepted' : 'unchanged', closed: sumOf(done) };
}

function sumOf(done: readonly CommandOutcome[]): CommandOutcome['closed'] {
  return {
    sessions: done.reduce((sum, { closed }) => sum + closed.sessions, 0),
    connections: done.reduce((sum, { closed }) => sum + closed.connections, 0),
  };
}

/** The plans of several commands as one. */
function onePlan(plans: readonly Plan[]): Omit<Plan, 'mark'> {
  const notes = plans.flatMap((plan) => plan.notes ?? []);
  return {
    outcome: plans.some(({ outcome }) => outcome === 'accepted') ? 'accepted' : 'unchanged',
    events: plans.flatMap(({ events }) => events),
    effects: plans.flatMap(({ effects }) => effects),
    closes: sumOf(plans.map(({ closes }) => ({ outcome: 'accepted', closed: closes }))),
    stays: { sessions: 0 },
    ...(notes.length > 0 && { notes }),
  };
}
