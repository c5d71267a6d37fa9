/**
 * The refusal of an effect.
 */

/**
 * What a host rejects with when it did nothing of what an effect asks for.
 *
 * The message goes to the client as the reason of a 409 `effect-refused`: a sentence for an operator, without secrets.
 *
 * @example
 * ```ts
 * import { EffectRefused } from 'gateway-admin-core';
 *
 * new EffectRefused('The port 5432 is in use.').name; // => 'EffectRefused'
 * ```
 *
 * @public
 */
export class EffectRefused extends Error {
  /** @param reason - why nothing was done, in a sentence for an operator */
  constructor(reason: string) {
    super(reason);
    this.name = 'EffectRefused';
  }
}
