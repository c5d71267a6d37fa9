/**
 * The ports of one process of a node. The process may die at any call, and then nobody answers it any more. The process
 * may be paused: then nothing wakes it until it goes on, and the world goes on meanwhile.
 */
import type { AuditSink, Clock, GatewayPort } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

import type { Trail } from '../../simulation/trail.ts';
import type { SharedDisk } from './shared-disk.ts';

/** What outlives the process. */
export interface Surroundings {
  readonly gateway: GatewayPort;
  readonly disk: SharedDisk;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** How likely the process dies before or after each call of a port, from 0 to 1. */
  readonly mortality: () => number;
  /** Its time of day, in milliseconds since 1970. */
  readonly timeOfDay: () => number;
}

export class Process {
  readonly gateway: GatewayPort;
  readonly store: SharedStore;
  readonly clock: Clock;
  isCut = false;
  isDead = false;
  readonly #surroundings: Surroundings;
  readonly #ends: (() => void)[] = [];
  /** What would wake the process, while it is paused. */
  #held: (() => void)[] | undefined;
  #pausedAt = 0;
  #pausedMs = 0;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const { gateway, disk, clock, timeOfDay } = surroundings;
    const through = this.#through;
    const store = disk.store({ isDead: () => this.isDead, isCut: () => this.isCut });
    this.gateway = {
      apply: (effect, context) => through(() => gateway.apply(effect, context)),
      supports: ['create', 'delete', 'drain'],
      inspect: (effect, context) => through(() => gateway.inspect(effect, context)),
    };
    this.store = {
      durable: store.durable,
      load: () => through(() => store.load()),
      append: (records, options) => through(() => store.append(records, options)),
      compact: (state, options) => through(() => store.compact(state, options)),
      read: (after) => through(() => store.read(after)),
      changed: (after, signal) => through(() => store.changed(after, signal)),
      announce: (node, status) => through(() => store.announce(node, status)),
      [Symbol.asyncDispose]: () => through(() => store[Symbol.asyncDispose]()),
    };
    this.clock = {
      now: timeOfDay,
      monotonic: () => clock.monotonic(),
      sleep: (milliseconds, signal) => through(() => clock.sleep(milliseconds, signal)),
    };
  }

  /** Where the process keeps its audit records. */
  sinkOf(trail: Trail): AuditSink {
    const sink = trail.sink();
    return { append: (records, options) => this.#through(() => sink.append(records, options)) };
  }

  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  /** For how long the process has been paused so far, in milliseconds. */
  get pausedMs(): number {
    const now = this.#surroundings.clock.monotonic();
    return this.#pausedMs + (this.isPaused ? now - this.#pausedAt : 0);
  }

  /** Calls a function when the process has died. */
  onDeath(end: () => void): void {
    this.#ends.push(end);
  }

  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#held = undefined;
    for (const end of this.#ends) end();
  }

  pause(): void {
    if (this.isDead || this.isPaused) return;
    this.#held = [];
    this.#pausedAt = this.#surroundings.clock.monotonic();
  }

  /** The process goes on: everything wakes it at once, in one order or the other. */
  goOn(): void {
    const held = this.#held ?? [];
    this.#pausedMs = this.pausedMs;
    this.#held = undefined;
    if (this.#surroundings.random.chance(0.5)) held.reverse();
    for (const wake of held) wake();
  }

  readonly #through = async <T>(call: () => Promise<T>): Promise<T> => {
    await this.#risk();
    try {
      return await call();
    } finally {
      while (this.#held !== undefined) await new Promise<void>((wake) => this.#held?.push(wake));
      await this.#risk();
    }
  };

  /** Never ends for a process that is dead, or dies now. */
  #risk(): Promise<void> {
    const { random, mortality } = this.#surroundings;
    if (random.chance(mortality())) this.die();
    return this.isDead ? forEver() : Promise.resolve();
  }
}

/** Each one anew: whoever waits for it must be forgotten with it. */
function forEver(): Promise<never> {
  return new Promise(() => undefined);
}
