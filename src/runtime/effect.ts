/**
 * Carrying out one effect, until it is known whether the host did it.
 */
import { EffectRefused } from '../ports/port-error.ts';
import type { Clock, EffectContext, GatewayPort } from '../ports/port.ts';
import type { Effect } from '../resources/index.ts';
import { beforeDeadline } from './deadline.ts';

/** What the host did in the end. @internal */
export type EffectOutcome = { readonly done: true } | { readonly done: false; readonly reason: string };

/** How effects are carried out. @internal */
export interface EffectOptions {
  readonly gateway: GatewayPort;
  readonly clock: Clock;
  readonly commandId: string;
  /** How long the host may take for one call, in milliseconds. */
  readonly deadlineMs: number;
  /** Aborts when nobody waits for the outcome any more. */
  readonly closing: AbortSignal;
  /** Called once when the outcome cannot be told in time. It is found out all the same. */
  readonly onUnknown: () => void;
}

const firstPauseMs = 50;
const longestPauseMs = 5000;

/** How `apply` ended; `undefined` as long as it has not. */
type Ending = EffectOutcome | 'unclear' | undefined;

/**
 * Asks the host for an effect and finds out what became of it.
 *
 * Done and refused are taken at their word. Anything else, and silence past the deadline, is unclear: then the host
 * is asked what is in place, with growing pauses, until that tells.
 *
 * @returns the outcome
 * @throws Error when `closing` aborts before the outcome is known; `onUnknown` has been called then
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
 * Finds out what became of an effect that an earlier life of the gateway has asked for.
 *
 * @returns the outcome: what is not in place was not done
 * @throws Error when `closing` aborts before the outcome is known; `onUnknown` has been called then
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

/** By name as well: a host may have loaded another copy of this library. What cannot be read is unclear. */
function refusalOf(error: unknown): Ending {
  try {
    const refused =
      error instanceof EffectRefused || (error instanceof Error && error.name === 'EffectRefused');
    return refused ? { done: false, reason: error.message.slice(0, 1024).toWellFormed() } : 'unclear';
  } catch {
    return 'unclear';
  }
}

async function findOut(effect: Effect, options: EffectOptions, ending: () => Ending): Promise<EffectOutcome> {
  let { onUnknown } = options;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Read before the host is asked: an `apply` that settles meanwhile may have landed after the answer was made.
    const settled = ending();
    if (typeof settled === 'object') return settled;
    const seen = await inspect(effect, options);
    if (seen === 'in-place') return { done: true };
    if (seen === 'not-in-place' && settled === 'unclear') return { done: false, reason: 'it was not done.' };
    onUnknown();
    onUnknown = () => undefined;
    await options.clock.sleep(pauseMs, options.closing);
    if (options.closing.aborted) throw new Error('Closed before the outcome of an effect was known');
  }
}

/** What the host sees; `undefined` when it does not say. */
async function inspect(
  effect: Effect,
  options: EffectOptions,
): Promise<'in-place' | 'not-in-place' | undefined> {
  let seen: 'in-place' | 'not-in-place' | undefined;
  await withDeadline(options, async (context) => {
    try {
      seen = await options.gateway.inspect(effect, context);
    } catch {
      // A host that cannot say has not said: it is asked again.
    }
  });
  return seen;
}

/** Calls the host and waits for it, but not past the deadline, at which the signal of the call aborts. */
async function withDeadline(
  { clock, deadlineMs, commandId }: EffectOptions,
  call: (context: EffectContext) => Promise<void>,
): Promise<void> {
  await beforeDeadline(clock, deadlineMs, (signal) => call({ commandId, signal }));
}
