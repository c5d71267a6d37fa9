/**
 * Held calls: calls of a scripted gateway that stay open until a test ends them.
 */
import type { Effect, EffectContext } from '../../index.ts';

/**
 * A call of `apply` that stays open until a test ends the call.
 *
 * @beta
 */
export interface HeldCall {
  /** The outcome of the call. Pass this function to `will`. */
  apply(this: void, effect: Effect, context: EffectContext, perform: () => void): Promise<void>;
  /** Resolves when the gateway is called. */
  readonly begun: Promise<void>;
  /** Ends the call with success: the gateway applies the effect, and the call resolves. */
  done(this: void): void;
  /**
   * Ends the call with an error: nothing is applied, and the call rejects. An {@link EffectRefusedError} is a refusal.
   */
  fail(this: void, error: unknown): void;
}

/**
 * Creates a call of `apply` that stays open until the test ends the call.
 *
 * @returns the call; without `done` or `fail` the call never settles
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot, stopService } from 'gateway-admin-core';
 * import { createScriptedGateway, hold } from 'gateway-admin-core/testing';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const gateway = createScriptedGateway({ snapshot });
 * const admin = createAdmin({ snapshot, gateway });
 *
 * const held = hold();
 * gateway.will(held.apply);
 * const execution = admin.execute((now, context) => stopService(now, 'Sales', context));
 * await held.begun;
 * [gateway.state.services['sales']?.state, admin.snapshot.revision]; // => ['started', 0]
 * held.done();
 * (await execution).outcome; // => 'accepted'
 * [gateway.state.services['sales']?.state, admin.snapshot.revision]; // => ['stopped', 1]
 * ```
 *
 * @beta
 */
export function hold(): HeldCall {
  let begin = (): void => undefined;
  let done = (): void => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve, reject) => {
    done = resolve;
    fail = reject;
  });
  // A test may end a call that the gateway never made. The rejection is then unhandled.
  ended.catch(() => undefined);
  return {
    apply(_effect, _context, perform) {
      begin();
      return ended.then(perform);
    },
    begun,
    done,
    fail,
  };
}
