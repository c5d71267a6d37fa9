/**
 * The ports as a process sees them that may die at any call.
 */
import type {
  AuditSink,
  Clock,
  ConfigurationStore,
  Effect,
  EffectContext,
  GatewayPort,
  SecretSealer,
  Snapshot,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

/** What outlives the process. */
export interface Surroundings {
  readonly snapshot: Snapshot;
  readonly gateway: GatewayPort;
  readonly store: ConfigurationStore;
  readonly clock: Clock;
  /** The time of day that the process is told; by default that of the clock. */
  readonly timeOfDay?: () => number;
  readonly random: Random;
  /** How likely the process dies before or after each call of a port, from 0 to 1. */
  readonly mortality: number;
  /** What happens in the gateway before and after each of its calls. */
  readonly cross: (effect: Effect) => void;
  /** The gateway begins to apply a start. The result is called when the gateway has applied the start, or has not. */
  readonly starting: (effect: Effect) => () => void;
  /** What happens in the gateway before and after records are stored. */
  readonly storing: () => void;
  readonly sealer?: SecretSealer;
  /** The gateway is asked for an effect. */
  readonly applying?: (effect: Effect, commandId: string) => void;
  readonly audit?: { readonly sink: AuditSink; readonly required: boolean };
  readonly maxEventsKept?: number;
}

/** The effects that cannot be taken back. */
const irreversible: readonly string[] = ['sessions.close', 'connections.close', 'logs.flush'];

/** Each one anew: whoever waits for it must be forgotten with it. */
function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

/** From its death on, nobody answers the process, or hears it. */
export class Mortal {
  alive = true;
  /** How many calls of the gateway it waits for. */
  asking = 0;
  /** The commands whose outcome a client was told is unknown. */
  readonly announced = new Set<string>();
  /** What the gateway was asked for that it must never be asked for. */
  readonly faults: string[] = [];
  die: () => void = () => undefined;
  readonly death: Promise<undefined>;
  readonly gateway: GatewayPort;
  readonly store: ConfigurationStore;
  readonly audit: Surroundings['audit'];
  readonly clock: Clock;
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const { gateway, store, audit, clock, cross, starting, storing } = surroundings;
    const crossed = async <T>(effect: Effect, call: () => Promise<T>): Promise<T> => {
      cross(effect);
      try {
        return await call();
      } finally {
        cross(effect);
      }
    };
    this.death = new Promise((resolve) => {
      this.die = () => {
        this.alive = false;
        resolve(undefined);
      };
    });
    this.gateway = {
      apply: async (effect: Effect, context: EffectContext) => {
        this.asking += 1;
        surroundings.applying?.(effect, context.commandId);
        if (this.announced.has(context.commandId) && irreversible.includes(effect.type))
          this.faults.push(`${effect.type} was begun after ${context.commandId} was said to be unknown`);
        const started = starting(effect);
        // A gateway with a mistake answers something that is no promise.
        const apply = (): Promise<void> => Promise.resolve(gateway.apply(effect, context)).finally(started);
        await this.#through(() => crossed(effect, apply)).finally(() => (this.asking -= 1));
      },
      supports: ['create', 'delete', 'drain'] as const,
      inspect: (effect: Effect, context: EffectContext) =>
        this.#through(() => crossed(effect, () => gateway.inspect(effect, context))),
    };
    this.store = {
      durable: store.durable,
      load: () => this.#through(() => store.load()),
      append: (records, options) =>
        this.#through(() => {
          storing();
          return store.append(records, options).finally(storing);
        }),
      compact: (state, options) => this.#through(() => store.compact(state, options)),
      [Symbol.asyncDispose]: () => this.#through(() => store[Symbol.asyncDispose]()),
    };
    this.audit = audit && {
      ...audit,
      sink: {
        append: (records, context) => this.#through(() => audit.sink.append(records, context)),
      },
    };
    this.clock = {
      now: surroundings.timeOfDay ?? (() => clock.now()),
      sleep: (milliseconds, signal) => this.#through(() => clock.sleep(milliseconds, signal)),
    };
  }

  /** The time that has passed, in milliseconds, also where the clock of the process stands. */
  get now(): number {
    return this.#surroundings.clock.now();
  }

  async #through<T>(call: () => Promise<T>): Promise<T> {
    await this.#risk();
    try {
      return await call();
    } finally {
      await this.#risk();
    }
  }

  /** Never ends for a process that is dead, or dies now. */
  #risk(): Promise<void> {
    const { random, mortality } = this.#surroundings;
    if (this.alive && random.chance(mortality)) this.die();
    return this.alive ? Promise.resolve() : forEver();
  }
}
