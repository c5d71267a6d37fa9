/**
 * Carries out one effect: asks the host, and finds out the outcome.
 */
import { EffectRefused } from '../ports/port-error.ts';
import type { Clock, EffectContext, GatewayPort } from '../ports/port.ts';
import type { Effect } from '../resources/index.ts';
import { onAbort } from './abort-listener.ts';
import { beforeDeadline } from './deadline.ts';

/** Whether the host applied an effect. If not, `reason` says why, in a sentence for the client. @internal */
export type EffectOutcome = { readonly done: true } | { readonly done: false; readonly reason: string };

/** The options for carrying out an effect. @internal */
export interface EffectOptions {
  readonly gateway: GatewayPort;
  readonly clock: Clock;
  readonly commandId: string;
  /** The deadline of one call to the host, in milliseconds. */
  readonly deadlineMs: number;
  /** Aborts when the interface closes. */
  readonly closing: AbortSignal;
  /** Called once per effect if the outcome is not known in time. The search for the outcome continues. */
  readonly onUnknown: () => void;
}

const firstPauseMs = 50;
const longestPauseMs = 5000;

/** The result of `apply`: an outcome, `unclear` after any other rejection, or `undefined` while `apply` is running. */
type Ending = EffectOutcome | 'unclear' | undefined;

/**
 * Asks the host for an effect and finds out the outcome.
 *
 * A resolved or refused call is trusted. Any other rejection, or a timeout, is ambiguous, so the host is polled with
 * `inspect`, with growing pauses.
 *
 * @throws Error if `closing` aborts before the outcome is known; `onUnknown` was called before that
 * @internal
 */
export async function carryOut(effect: Effect, options: EffectOptions): Promise<EffectOutcome> {
  let ending: Ending;
  await withDeadline(options, async (context) => {
    ending = await endingOf(options.gateway, effect, context);
  });
  return findOut(effect, options, () => ending);
}

/**
 * Finds out the outcome of an effect from an earlier life. An effect that is not in place was not done.
 *
 * @throws Error if `closing` aborts before the outcome is known; `onUnknown` was called before that
 * @internal
 */
export function findOutAgain(effect: Effect, options: EffectOptions): Promise<EffectOutcome> {
  return findOut(effect, options, () => 'unclear');
}

async function endingOf(gateway: GatewayPort, effect: Effect, context: EffectContext): Promise<Ending> {
  try {
    await gateway.apply(effect, context);
    return { done: true };
  } catch (error) {
    return refusalOf(error);
  }
}

/**
 * Reads the error with which `apply` rejected. The name is compared as well, because the host may have loaded another
 * copy of this library. An error that throws while it is read is unclear.
 */
function refusalOf(error: unknown): Ending {
  try {
    const refused =
      error instanceof EffectRefused || (error instanceof Error && error.name === 'EffectRefused');
    return refused ? { done: false, reason: refusalText(error.message) } : 'unclear';
  } catch {
    return 'unclear';
  }
}

/** Makes a sentence of the reason of a host. Adds a missing full stop, because another sentence follows. */
function refusalText(message: string): string {
  const reason = message.slice(0, 1024).toWellFormed();
  return `The gateway refused: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
}

const notInPlace = 'The gateway did not confirm the change, and then said that the change is not in place.';

async function findOut(effect: Effect, options: EffectOptions, ending: () => Ending): Promise<EffectOutcome> {
  let { onUnknown } = options;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Read before `inspect` is called. If `apply` settles during `inspect`, the answer may be older than the effect.
    const settled = ending();
    if (typeof settled === 'object') return settled;
    const seen = await inspect(effect, options);
    if (seen === 'in-place') return { done: true };
    if (seen === 'not-in-place' && settled === 'unclear') return { done: false, reason: notInPlace };
    onUnknown();
    onUnknown = () => undefined;
    await pause(pauseMs, options);
    if (options.closing.aborted) throw new Error('Closed before the outcome of an effect was known');
  }
}

/** Waits, but no longer than until the interface closes. The caller has its answer, so the process may end. */
async function pause(milliseconds: number, { clock, closing }: EffectOptions): Promise<void> {
  if (closing.aborted) return;
  const ended = new AbortController();
  const leave = onAbort(closing, () => {
    ended.abort('closing');
  });
  await clock.sleep(milliseconds, ended.signal, { keepAlive: false });
  leave();
}

/** The answer of `inspect`; `undefined` if `inspect` rejects or does not answer in time. */
async function inspect(
  effect: Effect,
  options: EffectOptions,
): Promise<'in-place' | 'not-in-place' | undefined> {
  let seen: 'in-place' | 'not-in-place' | undefined;
  await withDeadline(options, async (context) => {
    try {
      seen = await options.gateway.inspect(effect, context);
    } catch {
      // The host cannot tell, so it is asked again.
    }
  });
  return seen;
}

/** Calls the host and waits until the deadline. Then the signal of the call aborts. */
async function withDeadline(
  { clock, deadlineMs, commandId }: EffectOptions,
  call: (context: EffectContext) => Promise<void>,
): Promise<void> {
  await beforeDeadline(clock, deadlineMs, (signal) => call({ commandId, signal }));
}
