/**
 * A gateway in the process that does what a test has written down for it, and keeps a record of what it was asked.
 */
import {
  EffectRefused,
  type Effect,
  type EffectContext,
  type GatewayPort,
  type Telemetry,
} from 'gateway-admin-core';

/** One call of the gateway. */
export interface Call {
  readonly method: 'apply' | 'inspect';
  readonly effect: Effect;
  readonly context: EffectContext;
}

type Apply = (effect: Effect, context: EffectContext) => Promise<void>;
type Inspect = () => Promise<'in-place' | 'not-in-place'>;

/** A call that a test ends when it likes. */
export interface Held {
  readonly apply: Apply;
  /** Resolves when the gateway is called. */
  readonly begun: Promise<void>;
  done(this: void): void;
  fail(this: void, error: unknown): void;
}

/** Makes a call that a test ends when it likes. */
export function hold(): Held {
  let begin = (): void => undefined;
  let done = (): void => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve, rejectWith) => {
    done = resolve;
    fail = rejectWith;
  });
  return {
    apply: () => {
      begin();
      return ended;
    },
    begun,
    done,
    fail,
  };
}

/** Refuses, with a reason for the operator. */
export function refuse(reason: string): Apply {
  return () => Promise.reject(new EffectRefused(reason));
}

/** Rejects with something that is no refusal. */
export function reject(error: unknown = new Error('the wire broke')): Apply {
  return () =>
    Promise.resolve().then(() => {
      throw error;
    });
}

/** Throws before it gives a promise. */
export function throwAtOnce(): Promise<void> {
  throw new Error('thrown at once');
}

/** Does what is asked, unless it was told otherwise for the next calls. */
export class ScriptedGateway implements GatewayPort {
  readonly calls: Call[] = [];
  readonly telemetry?: Telemetry;
  readonly #applies: Apply[] = [];
  readonly #inspections: Inspect[] = [];

  constructor(telemetry?: Telemetry) {
    if (telemetry !== undefined) this.telemetry = telemetry;
  }

  /** Says how the next calls of `apply` go, in order. */
  will(...applies: readonly Apply[]): this {
    this.#applies.push(...applies);
    return this;
  }

  /** Says what the next calls of `inspect` answer, in order. An error is what they reject with. */
  willSee(...answers: readonly ('in-place' | 'not-in-place' | Error)[]): this {
    this.#inspections.push(
      ...answers.map(
        (answer) => () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
      ),
    );
    return this;
  }

  /** The effects that `apply` was asked for, in order. */
  get asked(): readonly Effect[] {
    return this.calls.flatMap(({ method, effect }) => (method === 'apply' ? [effect] : []));
  }

  /** What `apply` was asked for, as `<type> <resource>`. */
  get wishes(): readonly string[] {
    return this.asked.map(({ type, resource }) => `${type} ${resource}`);
  }

  /** How often `inspect` was asked. */
  get inspections(): number {
    return this.calls.filter(({ method }) => method === 'inspect').length;
  }

  apply(effect: Effect, context: EffectContext): Promise<void> {
    this.calls.push({ method: 'apply', effect, context });
    return this.#applies.shift()?.(effect, context) ?? Promise.resolve();
  }

  inspect(effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'> {
    this.calls.push({ method: 'inspect', effect, context });
    return this.#inspections.shift()?.() ?? Promise.resolve('in-place');
  }
}
