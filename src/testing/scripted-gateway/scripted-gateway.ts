/**
 * A gateway in the process: it has a state, does what it is asked for, and misbehaves by script or by chance.
 */
import {
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
 * What a scripted gateway is made of.
 *
 * @public
 */
export interface ScriptedGatewayOptions {
  /** What the gateway has to begin with. */
  readonly snapshot: Snapshot;
  /** The time, for calls that take a while and for sessions that are opened; the system's clock when left out. */
  readonly clock?: Clock;
  /** A safe integer from which everything follows that is left to chance; 0 when left out. */
  readonly seed?: number;
  /** How the gateway may go wrong by chance; not at all when left out. */
  readonly faults?: GatewayFaults;
  /** The longest while, in milliseconds from 1 on: short ones come as often as long ones. 30,000 when left out. */
  readonly lateMs?: number;
  /** Figures that change by themselves, as the gateway gives them; none when left out. */
  readonly telemetry?: Telemetry;
}

/**
 * One call of a scripted gateway.
 *
 * @public
 */
export interface ScriptedCall {
  /** The method that was called. */
  readonly method: 'apply' | 'inspect';
  /** The effect it was about. */
  readonly effect: Effect;
  /** What came with it. */
  readonly context: EffectContext;
  /** How it went, by the name of the way; `custom` when the test gave an error or a function. */
  readonly way: Extract<ApplyWay | InspectWay, string> | 'custom';
}

/**
 * A gateway in the process.
 *
 * @public
 */
export interface ScriptedGateway extends GatewayPort, GatewayTraffic {
  /** Does what the effect asks for, unless the call is to go otherwise. */
  apply(this: void, effect: Effect, context: EffectContext): Promise<void>;
  /** Says whether what the effect asks for is so, unless the call is to go otherwise. */
  inspect(this: void, effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'>;
  /** What the gateway has now. */
  readonly state: ScriptedState;
  /** The calls so far, in order. */
  readonly calls: readonly ScriptedCall[];
  /** The effects that `apply` was asked for so far, in order, whether they were done or not. */
  readonly applied: readonly Effect[];
  /** The effects that `inspect` was asked about so far, in order. */
  readonly inspected: readonly Effect[];
  /** Says how the next calls of `apply` go, in order. @returns the gateway */
  will(this: void, ...ways: readonly ApplyWay[]): ScriptedGateway;
  /** Says how the next calls of `inspect` go, in order. @returns the gateway */
  willSee(this: void, ...ways: readonly InspectWay[]): ScriptedGateway;
  /**
   * Says how all calls go after those that `will` and `willSee` were told of, instead of by chance. The calls of a
   * method that is left out go by chance.
   *
   * @returns the gateway
   */
  otherwise(this: void, ways: { readonly apply?: ApplyWay; readonly inspect?: InspectWay }): ScriptedGateway;
  /**
   * Drops the calls that are under way, as the end of the process does that made them: what they have not done yet is
   * never done, and nobody hears of them again. What the gateway has stays. A call that goes by a function of the test
   * is answered as the function says, but performs nothing any more.
   */
  dropCalls(this: void): void;
  /**
   * Tells where a snapshot disagrees with what the gateway has: what runs, settings, sessions, connections. What has
   * failed and what was stopped are alike: neither runs.
   *
   * @returns a sentence for each place, without secrets; none when they agree
   */
  differences(this: void, snapshot: Snapshot): readonly string[];
}

const usualLateMs = 30_000;

/** How often in a row a command may ask in vain. */
const patience = 3;

/**
 * Creates a gateway that has what a snapshot tells of, and changes as it is asked to.
 *
 * It does not misbehave unless it is told to: by a script for the next calls, or by probabilities and a seed. Unless the
 * script says otherwise, `inspect` looks at what the gateway has: an update is in place where what it changes is as it
 * should be; a session that is gone, or whose id another one has, is closed; logs are flushed once for each command.
 *
 * @param options - what the gateway has, and how it behaves
 * @returns the gateway
 * @throws RangeError when the seed, a probability or `lateMs` is not what it should be
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot, EffectRefused, stopService } from 'gateway-admin-core';
 * import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const clock = createVirtualClock();
 * const gateway = createScriptedGateway({ snapshot, clock });
 * const admin = createAdmin({ snapshot, clock, gateway });
 *
 * gateway.will(new EffectRefused('Clients are connected.'), 'failAfter');
 * const refused = await admin.execute((now, context) => stopService(now, 'Sales', context));
 * refused.outcome === 'refused' && refused.problem.detail; // => 'The gateway refused: Clients are connected. Nothing was changed.'
 * (await admin.execute((now, context) => stopService(now, 'Sales', context))).outcome; // => 'accepted'
 * gateway.calls.map(({ method, way }) => [method, way]); // => [['apply', 'custom'], ['apply', 'failAfter'], ['inspect', 'answer']]
 * gateway.applied.map(({ type }) => type); // => ['service.stop', 'service.stop']
 * gateway.state.services['sales']?.state; // => 'stopped'
 * gateway.differences(admin.snapshot); // => []
 * gateway.differences(snapshot); // => ['/services/sales/state: the gateway has "stopped", the snapshot "started"']
 * ```
 *
 * @public
 */
export function createScriptedGateway(options: ScriptedGatewayOptions): ScriptedGateway {
  const { snapshot, clock = systemClock, seed = 0, faults = {}, lateMs = usualLateMs, telemetry } = options;
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
      const perform = (): void => rowOf(effect).change(live, effect, context.commandId);
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

/** What calls need while they last: each belongs to the life of the process that made it. */
interface Lives {
  /** What a call may do that goes by a name. */
  readonly doing: <T>(act: () => T) => Doing<T>;
  /** Does nothing once the calls of this life are dropped. */
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

/** How the calls of `inspect` go: after a few faults in a row, chance gives a command an answer. */
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

function assertOptions(lateMs: number, { apply = {}, inspect = {} }: GatewayFaults): void {
  if (!Number.isFinite(lateMs) || lateMs < 1) {
    throw new RangeError(`lateMs is a number of milliseconds from 1 on, not ${String(lateMs)}`);
  }
  assertProbabilities(everyFault.apply, apply);
  assertProbabilities(everyFault.inspect, inspect);
}

function assertProbabilities(all: object, faults: Partial<Record<string, number>>): void {
  for (const [fault, probability = 0] of Object.entries(faults)) {
    if (!Object.hasOwn(all, fault)) throw new RangeError(`There is no fault "${fault}"`);
    if (!(probability >= 0 && probability <= 1))
      throw new RangeError(
        `The probability of "${fault}" is a number from 0 to 1, not ${String(probability)}`,
      );
  }
}
