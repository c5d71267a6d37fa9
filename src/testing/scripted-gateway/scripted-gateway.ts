/**
 * A gateway in the process: it has a state, does what it is asked for, and misbehaves by script or by chance.
 */
import type { Clock, Effect, EffectContext, GatewayPort, Snapshot } from '../../index.ts';
import { differencesBetween } from './difference.ts';
import { rowOf } from './effect.ts';
import { applyWays, inspectWays, silent, type ApplyFaults, type GatewayFaults } from './fault.ts';
import type { Doing, InspectFaults } from './fault.ts';
import { gatewayOf, toState, type ScriptedState } from './state.ts';
import { createTraffic, type GatewayTraffic } from './traffic.ts';
import { createRandom, type Random } from '../random.ts';

/**
 * What a scripted gateway is made of.
 *
 * @public
 */
export interface ScriptedGatewayOptions {
  /** What the gateway has to begin with. */
  readonly snapshot: Snapshot;
  /** The time, for what takes a while and for sessions that are opened. */
  readonly clock: Clock;
  /** A safe integer from which everything follows that is left to chance; 0 when left out. */
  readonly seed?: number;
  /** How the gateway may go wrong by chance; not at all when left out. */
  readonly faults?: GatewayFaults;
  /** The longest while, in milliseconds from 1 on: short ones come as often as long ones. 30,000 when left out. */
  readonly lateMs?: number;
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
  /** How it went: `done`, `answer`, or the name of a fault. */
  readonly way: 'done' | 'answer' | keyof ApplyFaults | keyof InspectFaults;
}

/**
 * A gateway in the process.
 *
 * @public
 */
export interface ScriptedGateway extends GatewayPort, GatewayTraffic {
  /** Does what the effect asks for, unless it is to go wrong. */
  apply(this: void, effect: Effect, context: EffectContext): Promise<void>;
  /** Says whether what the effect asks for is so, unless it is to go wrong. */
  inspect(this: void, effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'>;
  /** What the gateway has now. */
  readonly state: ScriptedState;
  /** The calls so far, in order. */
  readonly calls: readonly ScriptedCall[];
  /** Says how the next calls of `apply` go, in order, before chance decides again. */
  will(this: void, ...ways: readonly ('done' | keyof ApplyFaults)[]): void;
  /** Says how the next calls of `inspect` go, in order, before chance decides again. */
  willSee(this: void, ...ways: readonly ('answer' | keyof InspectFaults)[]): void;
  /**
   * Drops the calls that are in flight, as the end of the process does that made them: what they have not done yet is
   * never done, and nobody hears of them again. What the gateway has stays.
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
 * It does not misbehave unless it is told to: by a script for the next calls, or by probabilities and a seed. Whatever
 * it does, `inspect` looks at what the gateway has: an update is in place where what it changes is as it should be; a
 * session that is gone, or whose id another one has, is closed; logs are flushed once for each command.
 *
 * @param options - what the gateway has, and how it behaves
 * @returns the gateway
 * @throws RangeError when the seed, a probability or `lateMs` is not what it should be
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot, stopService } from 'gateway-admin-core';
 * import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const clock = createVirtualClock();
 * const gateway = createScriptedGateway({ snapshot, clock });
 * const admin = createAdmin({ snapshot, clock, gateway });
 *
 * gateway.will('refuse', 'failAfter');
 * (await admin.execute((now, context) => stopService(now, 'Sales', context))).outcome; // => 'refused'
 * (await admin.execute((now, context) => stopService(now, 'Sales', context))).outcome; // => 'accepted'
 * gateway.calls.map(({ method, way }) => [method, way]); // => [['apply', 'refuse'], ['apply', 'failAfter'], ['inspect', 'answer']]
 * gateway.state.services['sales']?.state; // => 'stopped'
 * gateway.differences(admin.snapshot); // => []
 * gateway.differences(snapshot); // => ['/services/sales/state: the gateway has "stopped", the snapshot "started"']
 * ```
 *
 * @public
 */
export function createScriptedGateway(options: ScriptedGatewayOptions): ScriptedGateway {
  const { snapshot, clock, seed = 0, faults = {}, lateMs = usualLateMs } = options;
  assertOptions(lateMs, faults);
  const random = createRandom(seed);
  const gateway = gatewayOf(snapshot);
  const calls: ScriptedCall[] = [];
  const inVain = new Map<string, number>();
  const apply = chooser(applyWays, 'done', faults.apply, random);
  const inspect = chooser(inspectWays, 'answer', faults.inspect, random);
  let lives = 0;
  const wait = async (): Promise<void> => {
    const life = lives;
    await clock.sleep(Math.ceil(lateMs ** random.next()));
    if (life !== lives) await silent();
  };
  const doing = <T>(act: () => T): Doing<T> => ({ act, wait, random });
  return {
    ...createTraffic(gateway, clock),
    get state() {
      return toState(gateway);
    },
    calls,
    will: apply.script,
    willSee: inspect.script,
    dropCalls: () => void (lives += 1),
    differences: (told) => differencesBetween(gateway, told),
    apply(effect, context) {
      const way = apply.scripted() ?? apply.byChance();
      calls.push({ method: 'apply', effect, context, way });
      return applyWays[way](
        doing(() => {
          rowOf(effect).change(gateway, effect, context.commandId);
        }),
      );
    },
    inspect(effect, context) {
      const { commandId } = context;
      const asked = inVain.get(commandId) ?? 0;
      const way = inspect.scripted() ?? (asked >= patience ? 'answer' : inspect.byChance());
      calls.push({ method: 'inspect', effect, context, way });
      inVain.set(commandId, way === 'answer' ? 0 : asked + 1);
      return inspectWays[way](
        doing(() => (rowOf(effect).isSo(gateway, effect, commandId) ? 'in-place' : 'not-in-place')),
      );
    },
  };
}

/** Chooses how calls go. */
interface Chooser<Way> {
  /** What the script says of the next call, if anything. */
  readonly scripted: () => Way | undefined;
  readonly byChance: () => Way;
  readonly script: (...ways: readonly Way[]) => void;
}

function chooser<Fault extends string, Well extends string>(
  ways: Readonly<Record<Fault | Well, unknown>>,
  well: Well,
  faults: Partial<Record<Fault, number>> = {},
  random: Random,
): Chooser<Fault | Well> {
  const script: (Fault | Well)[] = [];
  // In the order of the table, whatever the order in which the probabilities were given.
  const order = (Object.keys(ways) as Fault[]).filter((fault) => (faults[fault] ?? 0) > 0);
  return {
    scripted: () => script.shift(),
    byChance: () => order.find((fault) => random.chance(faults[fault] ?? 0)) ?? well,
    script: (...next) => void script.push(...next),
  };
}

function assertOptions(lateMs: number, { apply = {}, inspect = {} }: GatewayFaults): void {
  if (!Number.isFinite(lateMs) || lateMs < 1) {
    throw new RangeError(`lateMs is a number of milliseconds from 1 on, not ${String(lateMs)}`);
  }
  assertProbabilities(applyWays, apply);
  assertProbabilities(inspectWays, inspect);
}

function assertProbabilities(ways: object, faults: Partial<Record<string, number>>): void {
  for (const [fault, probability = 0] of Object.entries(faults)) {
    if (!Object.hasOwn(ways, fault)) throw new RangeError(`There is no fault "${fault}"`);
    if (!(probability >= 0 && probability <= 1))
      throw new RangeError(
        `The probability of "${fault}" is a number from 0 to 1, not ${String(probability)}`,
      );
  }
}
