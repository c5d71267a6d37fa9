/**
 * The lives of an interface on one store, in front of one gateway: the gateway stays, and the process of the interface
 * ends and begins again.
 */
import { createMemoryStore, type Admin, type Snapshot, type Transition } from 'gateway-admin-core';
import {
  createScriptedGateway,
  createVirtualClock,
  hold,
  type ApplyWay,
  type ScriptedGateway,
} from 'gateway-admin-core/testing';

import { jsonOf } from './json-body.ts';
import { openRunning } from './running-admin.ts';

/** A call of an abandoned command. */
export interface AbandonedCall {
  /** The id of the command. */
  readonly id: string;
  /** Lets the gateway carry the call out. */
  land(this: void): Promise<void>;
}

/** An interface that can end and begin again. */
export class Lives {
  readonly #snapshot: Snapshot;
  readonly #clock = createVirtualClock(0);
  readonly #store = createMemoryStore();
  readonly gateway: ScriptedGateway;
  #admin: Admin | undefined;

  private constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.gateway = createScriptedGateway({ snapshot, clock: this.#clock });
  }

  static async begin(snapshot: Snapshot): Promise<Lives> {
    const lives = new Lives(snapshot);
    await lives.#open();
    return lives;
  }

  get admin(): Admin {
    if (this.#admin === undefined) throw new Error('The interface is not open');
    return this.#admin;
  }

  /** Closes the interface, and opens it again. */
  async restart(): Promise<void> {
    await this.admin.close();
    await this.#open();
  }

  /**
   * Executes a command that hangs, and abandons it.
   *
   * @param before - the answers of the gateway to the calls before the call that hangs
   */
  async abandon(transition: Transition, ...before: readonly ApplyWay[]): Promise<AbandonedCall> {
    const held = hold();
    this.gateway.will(...before, held.apply).otherwise({ inspect: 'not-in-place' });
    const executing = this.admin.execute(transition);
    await held.begun;
    await this.#clock.advance(this.admin.limits.effectDeadlineMs);
    const execution = await executing;
    if (execution.outcome !== 'unknown') throw new Error(`The outcome is ${execution.outcome}`);
    const id = execution.commandId;
    const abandoned = await this.admin.abandon(id);
    if (abandoned.outcome !== 'accepted') throw new Error(`The abandoning is ${abandoned.outcome}`);
    this.gateway.otherwise({});
    const land = async (): Promise<void> => {
      held.done();
      await this.#clock.settle();
    };
    return { id, land };
  }

  /** Where the gateway and the snapshot differ, and the ids of the commands in the history. */
  async standing(): Promise<{
    readonly differences: readonly string[];
    readonly entries: readonly string[];
  }> {
    const handled = await this.admin.handle({ method: 'GET', target: '/history', headers: {} });
    const entries = (await jsonOf(handled.matched ? handled.response : {})) as readonly {
      readonly id: string;
    }[];
    return {
      differences: this.gateway.differences(this.admin.snapshot),
      entries: entries.map(({ id }) => id),
    };
  }

  async #open(): Promise<void> {
    const [snapshot, gateway, clock] = [this.#snapshot, this.gateway, this.#clock];
    this.#admin = (await openRunning(this.#store, { snapshot, gateway, clock })).admin;
  }
}
