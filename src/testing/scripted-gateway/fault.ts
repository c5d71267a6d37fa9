/**
 * The faults of a scripted gateway: a row for each outcome of a call.
 */
import { EffectRefusedError } from '../../index.ts';
import type { Random } from '../random.ts';

/**
 * The faults of `apply`, each with its probability from 0 to 1. For each call the faults are drawn in this order, and
 * the first fault that is drawn happens. A delay may be shorter or longer than the timeout of the effect.
 *
 * @beta
 */
export interface ApplyFaults {
  /** Nothing is applied, and the call rejects with {@link EffectRefusedError}. */
  readonly refuse: number;
  /** Nothing is applied, and the call throws instead of returning a promise. */
  readonly throwAtOnce: number;
  /** Nothing is applied, and the call rejects with an error that is no refusal. */
  readonly failBefore: number;
  /** The effect is applied, and the call rejects with an error that is no refusal. */
  readonly failAfter: number;
  /** The effect is applied before or after a delay, and the call resolves after the delay. */
  readonly late: number;
  /** Nothing is applied, and the call rejects with {@link EffectRefusedError} after a delay. */
  readonly lateRefuse: number;
  /**
   * The effect is applied before a delay, after the delay, or never. The call rejects with another error after the
   * delay.
   */
  readonly lateFail: number;
  /**
   * The effect is applied at once or after a delay, and the call never settles. If the effect does not last, because a
   * started service fails, `inspect` answers as after `silentBefore`.
   */
  readonly silentAfter: number;
  /**
   * Nothing is applied, and the call never settles. The interface then calls `inspect` without end: leave this fault
   * out of a simulation that must become idle.
   */
  readonly silentBefore: number;
  /**
   * The effect is applied. The call returns a thenable that fulfils twice, then rejects. The thenable is no promise.
   */
  readonly twice: number;
}

/**
 * The faults of `inspect`, each with its probability from 0 to 1, drawn in the same way as `ApplyFaults`. After three
 * faults in a row for a command, the next call for that command gets an answer. Every answer is true.
 *
 * @beta
 */
export interface InspectFaults {
  /** The call throws instead of returning a promise. */
  readonly throwAtOnce: number;
  /** The call rejects. */
  readonly fail: number;
  /** The call answers after a delay. The answer was true at the beginning or at the end of the delay. */
  readonly late: number;
  /** The call never settles. */
  readonly silent: number;
  /** The call returns a thenable that fulfils twice with the true answer, then rejects. The thenable is no promise. */
  readonly twice: number;
}

/**
 * The faults of a scripted gateway. A fault that is left out never happens.
 *
 * @beta
 */
export interface GatewayFaults {
  /** The faults of `apply`. */
  readonly apply?: Partial<ApplyFaults>;
  /** The faults of `inspect`. */
  readonly inspect?: Partial<InspectFaults>;
}

/**
 * Every fault, each with a low probability.
 *
 * @example
 * ```ts
 * import { everyFault, type GatewayFaults } from 'gateway-admin-core/testing';
 *
 * const faults: GatewayFaults = { ...everyFault, apply: { ...everyFault.apply, silentBefore: 0 } };
 * faults.inspect?.silent; // => 0.05
 * ```
 *
 * @beta
 */
export const everyFault: { readonly apply: ApplyFaults; readonly inspect: InspectFaults } = Object.freeze({
  apply: Object.freeze({
    refuse: 0.1,
    throwAtOnce: 0.03,
    failBefore: 0.05,
    failAfter: 0.05,
    late: 0.15,
    lateRefuse: 0.05,
    lateFail: 0.05,
    silentAfter: 0.03,
    silentBefore: 0.02,
    twice: 0.05,
  }),
  inspect: Object.freeze({ throwAtOnce: 0.03, fail: 0.1, late: 0.15, silent: 0.05, twice: 0.05 }),
});

/** The means of a call. @internal */
export interface Doing<T> {
  /** Applies or inspects the effect, anew at each call. */
  readonly act: () => T;
  /** Waits for a random delay. */
  readonly wait: () => Promise<void>;
  readonly random: Random;
}

type Ways<Name extends PropertyKey, T> = { readonly [N in Name]: (doing: Doing<T>) => Promise<T> };

/** The outcomes of `apply`: success, or a fault. @internal */
export const applyWays: Ways<'done' | keyof ApplyFaults, void> = {
  done: answer,
  refuse: () => Promise.reject(refusal()),
  throwAtOnce,
  failBefore: fail,
  failAfter: ({ act }) => {
    act();
    return fail();
  },
  late,
  async lateRefuse({ wait }) {
    await wait();
    throw refusal();
  },
  async lateFail(doing) {
    if (doing.random.chance(1 / 3)) await doing.wait();
    else await late(doing);
    throw new Error('The scripted gateway failed after a delay');
  },
  silentAfter: (doing) => late(doing).then(silent),
  silentBefore: silent,
  twice,
};

/** The outcomes of `inspect`: a true answer, an answer from the test, or a fault. @internal */
export const inspectWays: Ways<
  'answer' | 'in-place' | 'not-in-place' | keyof InspectFaults,
  'in-place' | 'not-in-place'
> = {
  answer,
  'in-place': () => Promise.resolve('in-place'),
  'not-in-place': () => Promise.resolve('not-in-place'),
  throwAtOnce,
  fail,
  late,
  silent,
  twice,
};

function answer<T>({ act }: Doing<T>): Promise<T> {
  return new Promise((resolve) => resolve(act()));
}

function throwAtOnce(): never {
  throw new Error('The scripted gateway threw an error');
}

function fail(): Promise<never> {
  return Promise.reject(new Error('The scripted gateway failed'));
}

function refusal(): EffectRefusedError {
  return new EffectRefusedError('This is a scripted refusal.');
}

async function late<T>({ act, wait, random }: Doing<T>): Promise<T> {
  if (random.chance(0.5)) {
    await wait();
    return act();
  }
  const result = act();
  await wait();
  return result;
}

/** A promise that never settles. @internal */
export function silent(): Promise<never> {
  return new Promise(() => undefined);
}

function twice<T>({ act }: Doing<T>): Promise<T> {
  const result = act();
  const thenable: Pick<PromiseLike<T>, 'then'> = {
    then(fulfilled, rejected) {
      const first = Promise.resolve(fulfilled?.(result));
      fulfilled?.(result);
      rejected?.(new Error('The scripted gateway answered again'));
      return first as Promise<never>;
    },
  };
  // A host without types may return such a thenable.
  return thenable as Promise<T>;
}
