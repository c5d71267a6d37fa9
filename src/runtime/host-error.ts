/**
 * The error for a function of the host that fails, answers wrongly or answers too late.
 */
import type { Logger } from '../ports/port.ts';
import type { Effect } from '../resources/index.ts';
import type { Telemetry } from '../resources/shared/rendering.ts';

/**
 * The functions of the host whose errors become a {@link HostError}.
 *
 * @public
 */
export type HostCall =
  | 'apply'
  | 'inspect'
  | 'clock.now'
  | 'clock.monotonic'
  | 'clock.sleep'
  | 'onError'
  | 'onMeasurement'
  | `logger.${keyof Logger}`
  | 'veto'
  | 'hasher.hash'
  | 'hasher.verify'
  | 'sealer.seal'
  | 'audit.append'
  | 'audit.dispose'
  | `telemetry.${keyof Telemetry}`;

/**
 * The error that `onError` gets if a function of the host fails, answers wrongly or answers too late.
 *
 * The error is told whatever the outcome of the command is. A refusal ({@link EffectRefused}) is no error, unless the
 * refusal comes too late. The `cause` is the value that the function threw; without a value, the answer was wrong or late.
 *
 * @public
 */
export class HostError extends Error {
  /** The function of the host. */
  readonly call: HostCall;
  /** Id of the command; left out if the call does not belong to a command. */
  readonly commandId?: string;
  readonly #effect: Effect | undefined;

  /**
   * @param message - a sentence for an operator
   * @param details - the function, and the effect, the command and the cause if there are any
   */
  constructor(
    message: string,
    details: {
      readonly call: HostCall;
      readonly effect?: Effect;
      readonly commandId?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : {});
    this.name = 'HostError';
    this.call = details.call;
    if (details.commandId !== undefined) this.commandId = details.commandId;
    this.#effect = details.effect;
  }

  /**
   * The effect of the call; `undefined` if the call has no effect. A getter, so that a console that prints the error does
   * not print the settings in the effect.
   */
  get effect(): Effect | undefined {
    return this.#effect;
  }
}

/** Describes a thrown value in one line without a full stop; empty if the value cannot be read. @internal */
export function causeText(cause: unknown): string {
  try {
    const text = cause instanceof Error ? cause.message : String(cause);
    return cut(text).replace(/[.\s]+$/, '');
  } catch {
    return '';
  }
}

/** Describes a wrong answer in a few words. @internal */
export function answerText(answer: unknown): string {
  if (typeof answer === 'string') return JSON.stringify(cut(answer));
  if (typeof answer === 'function') return 'a function';
  if (typeof answer !== 'object' || answer === null) return String(answer);
  return isThenable(answer) ? 'a promise' : 'an object';
}

/**
 * Whether a value is a promise. Such a value gets a handler, because its rejection must not end the process.
 *
 * @internal
 */
export function isThenable(value: unknown): value is Promise<unknown> {
  try {
    // Of `null` and `undefined`, nothing can be read: that throws.
    if (typeof (value as { readonly then?: unknown }).then !== 'function') return false;
    Promise.resolve(value).catch(() => undefined);
    return true;
  } catch {
    return false;
  }
}

function cut(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 500).toWellFormed()}…`;
}
