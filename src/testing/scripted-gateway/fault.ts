/**
 * How a scripted gateway misbehaves: a row for each way in which a call may go.
 */
import { EffectRefused } from '../../index.ts';
import type { Random } from '../random.ts';

/**
 * How `apply` may go wrong, each with its probability from 0 to 1. For each call the faults are tried in this order, and
 * the first that happens is the one. A while may end before or after the deadline.
 *
 * @public
 */
export interface ApplyFaults {
  /** Nothing is done, and the call rejects with {@link EffectRefused}. */
  readonly refuse: number;
  /** Nothing is done, and the call throws instead of giving a promise. */
  readonly throwAtOnce: number;
  /** Nothing is done, and the call rejects with an error that is no refusal. */
  readonly failBefore: number;
  /** The effect is done, and the call rejects with an error that is no refusal. */
  readonly failAfter: number;
  /** The effect is done at once or after a while, and the call resolves after that while. */
  readonly late: number;
  /** Nothing is done, and after a while the call rejects with {@link EffectRefused}. */
  readonly lateRefuse: number;
  /** The effect is done at once, after a while, or never, and the call rejects after a while with another error. */
  readonly lateFail: number;
  /**
   * The effect is done at once or after a while, and the call is never answered. When the effect does not last, because a
   * service that was started fails, the call ends as with `silentBefore`.
   */
  readonly silentAfter: number;
  /**
   * Nothing is done, and the call is never answered. The interface then inspects for ever: leave this fault out where a
   * simulation has to come to rest by itself.
   */
  readonly silentBefore: number;
  /** The effect is done, and the call gives a thenable that is no promise and answers three times: yes, yes, and no. */
  readonly twice: number;
}

/**
 * How `inspect` may go wrong, each with its probability from 0 to 1, tried as those of `ApplyFaults` are. After three
 * faults in a row, chance gives a command an answer. No answer is ever untrue.
 *
 * @public
 */
export interface InspectFaults {
  /** The call throws instead of giving a promise. */
  readonly throwAtOnce: number;
  /** The call rejects. */
  readonly fail: number;
  /** The call answers after a while, with the truth of the beginning or of the end of that while. */
  readonly late: number;
  /** The call is never answered. */
  readonly silent: number;
  /** The call gives a thenable that is no promise and answers three times: the truth twice, and a failure. */
  readonly twice: number;
}

/**
 * How a scripted gateway may go wrong. What is left out never happens.
 *
 * @public
 */
export interface GatewayFaults {
  /** How `apply` may. */
  readonly apply?: Partial<ApplyFaults>;
  /** How `inspect` may. */
  readonly inspect?: Partial<InspectFaults>;
}

/**
 * Every fault there is, none of them often.
 *
 * @example
 * ```ts
 * import { everyFault, type GatewayFaults } from 'gateway-admin-core/testing';
 *
 * const faults: GatewayFaults = { ...everyFault, apply: { ...everyFault.apply, silentBefore: 0 } };
 * faults.inspect?.silent; // => 0.05
 * ```
 *
 * @public
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

/** What a call may do. @internal */
export interface Doing<T> {
  /** Does what is asked, or looks: each time anew. */
  readonly act: () => T;
  /** Lets some time go by. */
  readonly wait: () => Promise<void>;
  readonly random: Random;
}

type Ways<Name extends PropertyKey, T> = { readonly [N in Name]: (doing: Doing<T>) => Promise<T> };

/** How `apply` may go: as it should, or with a fault. @internal */
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
    throw new Error('The scripted gateway fails after a while');
  },
  silentAfter: (doing) => late(doing).then(silent),
  silentBefore: silent,
  twice,
};

/** How `inspect` may go: with a true answer, with one that the test gives, or with a fault. @internal */
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
  throw new Error('The scripted gateway throws');
}

function fail(): Promise<never> {
  return Promise.reject(new Error('The scripted gateway fails'));
}

function refusal(): EffectRefused {
  return new EffectRefused('The scripted gateway does not want to.');
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

/** There is never an answer. @internal */
export function silent(): Promise<never> {
  return new Promise(() => undefined);
}

function twice<T>({ act }: Doing<T>): Promise<T> {
  const result = act();
  const thenable: Pick<PromiseLike<T>, 'then'> = {
    then(fulfilled, rejected) {
      const first = Promise.resolve(fulfilled?.(result));
      fulfilled?.(result);
      rejected?.(new Error('The scripted gateway answers again'));
      return first as Promise<never>;
    },
  };
  // Hosts without types give such things.
  return thenable as Promise<T>;
}
