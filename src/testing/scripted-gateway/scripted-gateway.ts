/**
 * A gateway for tests, in the process. The gateway has a state, applies effects, and fails by script or at random.
 */
import { assertMembers } from '../../core/member.ts';
import {
  evolve,
  systemClock,
  type Clock,
  type Effect,
  type EffectContext,
  type GatewayPort,
  type Snapshot,
  type Telemetry,
} from '../../index.ts';
import { createRandom, type Random } from '../random.ts';
import { differencesBetween } from './difference.ts';
import { rowOf } from './effect.ts';
import {
  applyWays,
  everyFault,
  inspectWays,
  silent,
  type ApplyFaults,
  type Doing,
  type GatewayFaults,
  type InspectFaults,
} from './fault.ts';
import { createScript, type ApplyWay, type InspectWay, type Script } from './script.ts';
import { gatewayOf, toState, type ScriptedState } from './state.ts';
import { createTraffic, type GatewayTraffic } from './traffic.ts';

/**
 * The options of a scripted gateway.
 *
 * @beta
 */
export interface ScriptedGatewayOptions {
  /** The initial state of the gateway. */
  readonly snapshot: Snapshot;
  /** The clock for delays and for the connect times of sessions; the system clock if left out. */
  readonly clock?: Clock;
  /** A safe integer that determines all random choices; 0 if left out. */
  readonly seed?: number;
  /** The random faults; none if left out. */
  readonly faults?: GatewayFaults;
  /**
   * The longest delay in milliseconds, at least 1; 30,000 if left out. Delays are distributed on a logarithmic scale.
   */
  readonly lateMs?: number;
  /** The live figures of the gateway; none if left out. */
  readonly telemetry?: Telemetry;
}

const optionNames = [
  'snapshot',
  'clock',
  'seed',
  'faults',
  'lateMs',
  'telemetry',
] as const satisfies readonly (keyof ScriptedGatewayOptions)[];

/**
 * One call of a scripted gateway.
 *
 * @beta
 */
export interface ScriptedCall {
  /** The method that was called. */
  readonly method: 'apply' | 'inspect';
  /** The effect of the call. */
  readonly effect: Effect;
  /** The context of the call. */
  readonly context: EffectContext;
  /** The outcome of the call, by name; `custom` if the test gave an error or a function. */
  readonly way: Extract<ApplyWay | InspectWay, string> | 'custom';
}

/**
 * A gateway for tests, in the process.
 *
 * @beta
 */
export interface ScriptedGateway extends GatewayPort, GatewayTraffic {
  /** Applies the effect, unless the script or chance gives another outcome. */
  apply(this: void, effect: Effect, context: EffectContext): Promise<void>;
  /** Tells whether the effect is in place, unless the script or chance gives another outcome. */
  inspect(this: void, effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'>;
  /** The current state of the gateway. */
  readonly state: ScriptedState;
  /** The calls so far, in order. */
  readonly calls: readonly ScriptedCall[];
  /** The effects of the calls of `apply` so far, in order, applied or not. */
  readonly applied: readonly Effect[];
  /** The effects of the calls of `inspect` so far, in order. */
  readonly inspected: readonly Effect[];
  /** Sets the outcomes of the next calls of `apply`, in order. @returns the gateway */
  will(this: void, ...ways: readonly ApplyWay[]): ScriptedGateway;
  /** Sets the outcomes of the next calls of `inspect`, in order. @returns the gateway */
  willSee(this: void, ...ways: readonly InspectWay[]): ScriptedGateway;
  /**
   * Sets the outcome of all calls after the outcomes of `will` and `willSee` are used up. A method that is left out has
   * random outcomes.
   *
   * @returns the gateway
   */
  otherwise(this: void, ways: { readonly apply?: ApplyWay; readonly inspect?: InspectWay }): ScriptedGateway;
  /**
   * Drops the calls in flight, as if the process of the interface had ended. A dropped call applies nothing any more
   * and never settles. The state of the gateway stays. A call whose outcome is a function of the test settles as the
   * function does, but its `perform` does nothing any more.
   */
  dropCalls(this: void): void;
  /**
   * Compares a snapshot with the state of the gateway: states of services and monitors, settings, sessions,
   * connections.
   *
   * @returns a sentence for each difference, without secrets; empty if there is no difference
   */
  differences(this: void, snapshot: Snapshot): readonly string[];
}

const usualLateMs = 30_000;

/** The number of faults of `inspect` in a row that a command may get. */
const patience = 3;

/**
 * Creates a gateway with the state of a snapshot. The gateway applies effects to that state.
 *
 * The gateway fails only on request: by a script for the next calls, or by probabilities and a seed. Without a script
 * `inspect` compares the effect with the state. An update is in place if the changed settings have their new values. A
 * closed session stays closed, also if a later session has its id. Logs are flushed once for each command.
 * What clients use is not deleted.
 *
 * @param options - the initial state and the faults
 * @returns the gateway
 * @throws TypeError for an unknown option, and for something that is no snapshot
 * @throws RangeError if the seed, a probability or `lateMs` is out of range
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot, EffectRefusedError, stopService } from 'gateway-admin-core';
 * import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const clock = createVirtualClock();
 * const gateway = createScriptedGateway({ snapshot, clock });
 * const admin = createAdmin({ snapshot, clock, gateway, observe: { onError: () => {} } });
 *
 * gateway.will(new EffectRefusedError('Clients are connected.'), 'failAfter');
 * const refused = await admin.execute((now, context) => stopService(now, 'Sales', context));
 * refused.outcome === 'refused' && refused.problem.code; // => 'effect-refused'
 * (await admin.execute((now, context) => stopService(now, 'Sales', context))).outcome; // => 'accepted'
 * gateway.calls.map(({ way }) => way); // => ['custom', 'failAfter', 'answer']
 * gateway.applied.map(({ type }) => type); // => ['service.stop', 'service.stop']
 * gateway.state.services['sales']?.state; // => 'stopped'
 * gateway.differences(admin.snapshot); // => []
 * gateway.differences(snapshot); // => ['/services/sales/state: the gateway has "stopped", the snapshot "started"']
 * ```
 *
 * @beta
 */
export function createScriptedGateway(options: ScriptedGatewayOptions): ScriptedGateway {
  assertMembers(options, optionNames, 'option of createScriptedGateway');
  const { snapshot, clock = systemClock, seed = 0, faults = {}, lateMs = usualLateMs, telemetry } = options;
  // Refuses what is no snapshot.
  evolve(snapshot, []);
  assertOptions(lateMs, faults);
  const live = gatewayOf(snapshot);
  const random = createRandom(seed);
  const { doing, untilDropped, dropCalls } = createLives(clock, random, lateMs);
  const applies = createScript<ApplyWay, keyof ApplyFaults>('done', everyFault.apply, faults.apply, random);
  const inspections = createInspections(faults.inspect, random);
  const calls: ScriptedCall[] = [];
  const record = (call: Omit<ScriptedCall, 'way'>, way: ApplyWay | InspectWay): void => {
    calls.push({ ...call, way: typeof way === 'string' ? way : 'custom' });
  };
  const effectsOf = (method: ScriptedCall['method']): readonly Effect[] =>
    calls.flatMap((call) => (call.method === method ? [call.effect] : []));
  const gateway: ScriptedGateway = {
    ...createTraffic(live, clock),
    supports: ['create', 'delete', 'drain'],
    ...(telemetry === undefined ? {} : { telemetry }),
    get state() {
      return toState(live);
    },
    calls,
    get applied() {
      return effectsOf('apply');
    },
    get inspected() {
      return effectsOf('inspect');
    },
    will: (...ways) => (applies.add(ways), gateway),
    willSee: (...ways) => (inspections.add(ways), gateway),
    otherwise: ({ apply, inspect }) => (applies.otherwise(apply), inspections.otherwise(inspect), gateway),
    dropCalls,
    differences: (told) => differencesBetween(live, told),
    apply(effect, context) {
      const way = applies.next();
      record({ method: 'apply', effect, context }, way);
      const { commandId } = context;
      const { change, isSo } = rowOf(effect);
      // What is in place changes nothing, also later: other commands may have changed it since.
      const isDone = isSo(live, effect, commandId);
      const perform = (): void => {
        if (!isDone) change(live, effect, commandId);
      };
      if (typeof way === 'string') return applyWays[way](doing(perform));
      return typeof way === 'function' ? way(effect, context, untilDropped(perform)) : Promise.reject(way);
    },
    inspect(effect, context) {
      const way = inspections.next(context.commandId);
      record({ method: 'inspect', effect, context }, way);
      const look = (): 'in-place' | 'not-in-place' =>
        rowOf(effect).isSo(live, effect, context.commandId) ? 'in-place' : 'not-in-place';
      if (typeof way === 'string') return inspectWays[way](doing(look));
      return typeof way === 'function' ? way(effect, context, look) : Promise.reject(way);
    },
  };
  return gateway;
}

/** The lives of the process that calls the gateway. Each call belongs to one life. */
interface Lives {
  /** The means of a call with a named outcome. */
  readonly doing: <T>(act: () => T) => Doing<T>;
  /** Wraps a function. The wrapper does nothing after the calls of the current life were dropped. */
  readonly untilDropped: (act: () => void) => () => void;
  readonly dropCalls: () => void;
}

function createLives(clock: Clock, random: Random, lateMs: number): Lives {
  let lives = 0;
  const wait = async (): Promise<void> => {
    const life = lives;
    await clock.sleep(Math.ceil(lateMs ** random.next()));
    if (life !== lives) await silent();
  };
  return {
    doing: (act) => ({ act, wait, random }),
    untilDropped(act) {
      const life = lives;
      return () => {
        if (life === lives) act();
      };
    },
    dropCalls: () => void (lives += 1),
  };
}

/** The script of `inspect`. After {@link patience} random faults in a row, a command gets an answer. */
function createInspections(
  faults: GatewayFaults['inspect'],
  random: Random,
): Omit<Script<InspectWay>, 'next'> & { readonly next: (commandId: string) => InspectWay } {
  const script = createScript<InspectWay, keyof InspectFaults>('answer', everyFault.inspect, faults, random);
  const inVain = new Map<string, number>();
  return {
    ...script,
    next(commandId) {
      const asked = inVain.get(commandId) ?? 0;
      const way = asked >= patience ? script.next('answer') : script.next();
      inVain.set(commandId, isFault(way) ? asked + 1 : 0);
      return way;
    },
  };
}

function isFault(way: InspectWay): boolean {
  return typeof way === 'string' && Object.hasOwn(everyFault.inspect, way);
}

function assertOptions(lateMs: number, faults: GatewayFaults): void {
  assertMembers(faults, ['apply', 'inspect'], 'kind of faults');
  const { apply = {}, inspect = {} } = faults;
  if (!Number.isFinite(lateMs) || lateMs < 1) {
    throw new RangeError(`lateMs must be a number of milliseconds from 1 on, not ${String(lateMs)}`);
  }
  assertProbabilities(everyFault.apply, apply);
  assertProbabilities(everyFault.inspect, inspect);
}

function assertProbabilities(all: object, faults: Partial<Record<string, number>>): void {
  for (const [fault, probability = 0] of Object.entries(faults)) {
    if (!Object.hasOwn(all, fault)) throw new RangeError(`There is no fault "${fault}"`);
    if (!(probability >= 0 && probability <= 1))
      throw new RangeError(
        `The probability of "${fault}" must be a number from 0 to 1, not ${String(probability)}`,
      );
  }
}
