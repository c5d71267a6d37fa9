/**
 * Carries out one effect: asks the host, and finds out the outcome.
 */
import { isEffectRefusal } from '../../ports/port-error.ts';
import type { Clock, EffectContext } from '../../ports/port.ts';
import type { Effect } from '../../resources/index.ts';
import { onAbort, backoff, type Pauses, beforeDeadline, type Deadline } from '../host/waiting.ts';
import { answerText, causeText, HostError } from '../host/host-error.ts';
import { SearchEnded, type Flight } from './flight.ts';

/** Whether the host applied an effect. If not, `reason` says why, in a sentence for the client. @internal */
export type EffectOutcome = { readonly done: true } | { readonly done: false; readonly reason: string };

/** The pauses between two calls of `inspect`. */
const inspectPauses: Pauses = { firstMs: 50, longestMs: 5000 };

/** The result of `apply`: an outcome, `unclear` after any other rejection, or `undefined` while `apply` is running. */
type Ending = EffectOutcome | 'unclear' | undefined;

/**
 * How far a call of `apply` has come for the caller of the command.
 *
 * - `awaited`: an answer still counts.
 * - `unknown`: the client got a 504, and an answer settles the command.
 * - `done`: the outcome is known. An answer comes after that only if `inspect` was faster.
 * - `closed`: the interface closed before the outcome was known.
 * - `abandoned`: the command was abandoned before the outcome was known.
 */
type CallState = 'awaited' | 'unknown' | 'done' | 'closed' | 'abandoned';

/** A call of `apply`. */
class Call {
  state: CallState = 'awaited';
  ending: Ending;
  /** Whether what was in place was not believed for a time, because another call could have done it. */
  hasDoubted = false;
  #wake: (() => void) | undefined;

  constructor(ending?: Ending) {
    this.ending = ending;
  }

  end(ending: Ending): void {
    this.ending = ending;
    this.#wake?.();
  }

  /** Sleeps until the time has passed, the call ends, or the search ends. */
  async pause(clock: Clock, pauseMs: number, search: AbortSignal): Promise<void> {
    if (search.aborted) return;
    const woken = new AbortController();
    this.#wake = () => {
      woken.abort('settled');
    };
    const stop = onAbort(search, this.#wake);
    // The caller has its answer, so the process may end.
    await clock.sleep(pauseMs, woken.signal, { keepAlive: false });
    stop();
  }
}

/**
 * Asks the host for an effect and finds out the outcome.
 *
 * A resolved or refused call is trusted. Any other rejection, or a timeout, is ambiguous, so the host is polled with
 * `inspect`, with growing pauses.
 *
 * @throws SearchEnded if the command was abandoned, or if the search ends before the outcome is known
 * @internal
 */
export async function carryOut(effect: Effect, flight: Flight): Promise<EffectOutcome> {
  flight.throwIfAbandoned();
  const { clock, limits, instruments } = flight.runtime;
  const ended = instruments?.effect(effect);
  const call = new Call();
  await beforeDeadline(clock, limits.effectDeadlineMs, (deadline) => apply(effect, deadline, flight, call));
  try {
    const outcome = isKnown(call.ending) ? call.ending : await findOut(effect, flight, call);
    call.state = 'done';
    if (call.hasDoubted && !outcome.done) flight.runtime.onDoubtJustified(flight);
    ended?.(outcome.done ? 'applied' : 'refused');
    return outcome;
  } catch (error) {
    call.state = error instanceof SearchEnded ? error.why : 'closed';
    // An answer that was not clear comes no second time.
    if (call.ending !== undefined) flight.hasCallEnded = true;
    ended?.('unknown');
    throw error;
  }
}

/**
 * Finds out the outcome of an effect from an earlier life. An effect that is not in place was not done.
 *
 * @throws SearchEnded if the search ends before the outcome is known
 * @internal
 */
export async function findOutAgain(effect: Effect, flight: Flight): Promise<EffectOutcome> {
  try {
    return await findOut(effect, flight, new Call('unclear'));
  } catch (error) {
    // The call has ended with its life.
    flight.hasCallEnded = true;
    throw error;
  }
}

/** Calls `apply`, and tells how it has ended: also after the deadline. */
async function apply(effect: Effect, deadline: Deadline, flight: Flight, call: Call): Promise<void> {
  const context = new CallContext(flight.id, deadline);
  const { gateway, onError } = flight.runtime;
  const details = { call: 'apply', effect, commandId: context.commandId } as const;
  const when = (): string => (context.signal.aborted ? ' after the deadline' : '');
  try {
    const answer = await (gateway.apply(effect, context) as Promise<unknown>);
    if (answer !== undefined)
      onError(new HostError(wrongAnswer(answer, effectText(effect, context)), details));
    const late = lateness[call.state].done;
    if (late !== undefined)
      onError(new HostError(`apply was done${when()} at ${effectText(effect, context)}, ${late}`, details));
    call.end({ done: true });
  } catch (cause) {
    const ending = endingWith(cause);
    const late = call.state === 'done' && call.hasDoubted ? anotherHasDone : lateness[call.state].failed;
    const problem = `${when()} at ${effectText(effect, context)}${reasonOf(cause)}`;
    if (ending === 'unclear')
      onError(new HostError(`apply failed${problem}. ${late ?? asksInspect}`, { ...details, cause }));
    else if (late !== undefined)
      onError(new HostError(`apply refused${problem}. ${late}`, { ...details, cause }));
    call.end(ending);
  }
  if (call.state === 'abandoned') flight.callEnded();
  // It can have landed after later commands, if the same was in place for another reason.
  if (call.state === 'done') flight.runtime.onOutrun(flight.command, effect);
}

function wrongAnswer(answer: unknown, place: string): string {
  return (
    `apply resolved to ${answerText(answer)} at ${place}, instead of undefined. A call that resolves counts as done. To refuse ` +
    'an effect, throw an EffectRefusedError.'
  );
}

const anotherHasDone =
  'But the change was in place for a minute, made by the call of an abandoned command, so the change counts as made.';

const asksInspect = 'The library asks inspect for the outcome.';

/** The error for a host that has not settled its `apply` when the command is answered with a 504. */
function unsettled(effect: Effect, { id: commandId, runtime }: Flight): HostError {
  const place = effectText(effect, { commandId });
  return new HostError(
    `apply did not settle within ${String(runtime.limits.effectDeadlineMs)} ms at ${place}, and the command was answered ` +
      `with 504. apply must ` +
      'settle when its signal aborts.',
    { call: 'apply', effect, commandId },
  );
}

/** What follows an answer of `apply`, in each standing; `undefined` if the answer comes in time. */
const lateness: Readonly<Record<CallState, { readonly done?: string; readonly failed?: string }>> = {
  awaited: {},
  unknown: {
    done: 'after a 504. The command settles now.',
    failed: 'The answer came after a 504. An event says the outcome.',
  },
  done: {
    failed:
      'But inspect had answered in-place before, so the change counts as made. inspect must not answer in-place while ' +
      'apply can still fail.',
  },
  closed: {
    done: 'after the interface was closed. The answer is not recorded.',
    failed: 'The answer came after the interface was closed, and is not recorded.',
  },
  abandoned: {
    done: 'after the command was abandoned. The gateway is made as the interface shows it.',
    failed: 'The answer came after the command was abandoned. The gateway is made as the interface shows it.',
  },
};

function effectText({ type, resource }: Effect, { commandId }: Pick<EffectContext, 'commandId'>): string {
  return `${type} of ${resource} (command ${commandId})`;
}

/** The text of a thrown value, after a colon; empty if there is none. */
function reasonOf(cause: unknown): string {
  const text = causeText(cause);
  return text === '' ? '' : `: ${text}`;
}

/** Reads the error with which `apply` rejected. */
function endingWith(error: unknown): Ending {
  return isEffectRefusal(error) ? { done: false, reason: refusalText(error.message) } : 'unclear';
}

/** Longest reason of a host for a refusal, in UTF-16 code units. */
const longestRefusal = 1024;

/** Makes a sentence of the reason of a host. Adds a missing full stop, because another sentence follows. */
function refusalText(message: string): string {
  const reason = message.slice(0, longestRefusal).toWellFormed();
  return `The gateway refused: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
}

/** How long a call is waited for that is running, although another call may have put its effect in place. */
const longestDoubtMs = 60_000;

const notInPlace = 'The gateway did not confirm the change, and then said that the change is not in place.';

async function findOut(effect: Effect, flight: Flight, call: Call): Promise<EffectOutcome> {
  let search: AbortSignal | undefined;
  let pauses: ReturnType<typeof backoff> | undefined;
  for (;;) {
    // Read before `inspect` is called. If `apply` settles during `inspect`, the answer may be older than the effect.
    const before = call.ending;
    if (isKnown(before)) return before;
    const answer = await inspect(effect, flight);
    // What is in place may be the work of another call. This one can still do the same, or has refused to.
    const isDoubted: boolean =
      answer === 'in-place' &&
      !call.hasDoubted &&
      call.ending !== 'unclear' &&
      flight.runtime.hasLeftover(effect, flight.id);
    if (answer === 'in-place' && !isDoubted) return { done: true };
    if (answer === 'not-in-place' && before === 'unclear') return { done: false, reason: notInPlace };
    if (isKnown(call.ending)) return call.ending;
    search ??= answerUnknown(effect, flight, call);
    pauses ??= backoff(inspectPauses);
    const pauseMs = isDoubted ? longestDoubtMs : pauses.next().value;
    call.hasDoubted ||= isDoubted;
    if (call.ending === before) await call.pause(flight.runtime.clock, pauseMs, search);
    // An answer that is there when the interface closes still counts. After an abandonment none does: other commands
    // may use the resources by now.
    if (wasAbandoned(search) || !isKnown(call.ending)) search.throwIfAborted();
  }
}

/** The outcome is not known in time: the caller gets a 504. Gives the signal that ends the search. */
function answerUnknown(effect: Effect, flight: Flight, call: Call): AbortSignal {
  call.state = 'unknown';
  if (call.ending === undefined) flight.runtime.onError(unsettled(effect, flight));
  return flight.answerUnknown();
}

function isKnown(ending: Ending): ending is EffectOutcome {
  return typeof ending === 'object';
}

/** Whether the command was abandoned. */
function wasAbandoned({ reason }: AbortSignal): boolean {
  return reason instanceof SearchEnded && reason.why === 'abandoned';
}

/**
 * Asks the host once whether an effect is in place.
 *
 * @returns the answer of `inspect`; `undefined` if `inspect` rejects, gives no answer in time, or gives a wrong answer
 * @internal
 */
export async function inspect(
  effect: Effect,
  flight: Pick<Flight, 'id' | 'runtime'>,
): Promise<'in-place' | 'not-in-place' | undefined> {
  const { gateway, onError, clock, limits } = flight.runtime;
  let seen: 'in-place' | 'not-in-place' | undefined;
  await beforeDeadline(clock, limits.effectDeadlineMs, async (deadline) => {
    const context = new CallContext(flight.id, deadline);
    const details = { call: 'inspect', effect, commandId: context.commandId } as const;
    const place = effectText(effect, context);
    try {
      const answer: unknown = await gateway.inspect(effect, context);
      if (answer === 'in-place' || answer === 'not-in-place') seen = answer;
      else {
        const message = `inspect answered ${answerText(answer)} at ${place}, instead of in-place or not-in-place.`;
        onError(new HostError(message, details));
      }
    } catch (cause) {
      // The host cannot tell, so it is asked again.
      onError(new HostError(`inspect failed at ${place}${reasonOf(cause)}.`, { ...details, cause }));
    }
  });
  return seen;
}

/** What the host gets with a call. A class, because a getter in a literal takes several times as long. */
class CallContext implements EffectContext {
  readonly commandId: string;
  readonly #deadline: Deadline;

  constructor(commandId: string, deadline: Deadline) {
    this.commandId = commandId;
    this.#deadline = deadline;
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }
}
