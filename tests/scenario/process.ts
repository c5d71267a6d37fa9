/**
 * One process of the interface: from its death on, nobody answers it or hears it.
 */
import {
  openAdmin,
  type Admin,
  type AdminOptions,
  type AuditRecord,
  type Clock,
  type ConfigurationStore,
  type EventGap,
  type GatewayPort,
  type Hasher,
  type PublishedEvent,
} from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';

import { otherLife } from '../support/event-reader.ts';
import { loggerTo, type Line } from '../support/taken-line.ts';

/** What outlives the process. */
export interface Surroundings {
  readonly gateway: GatewayPort;
  readonly clock: Clock;
  readonly store: ConfigurationStore | SharedStore;
  /** The name of the node; left out for a process that is no node of a fleet. */
  readonly node?: string;
  readonly options: Pick<AdminOptions, 'snapshot'> & Partial<AdminOptions>;
  /** How far the clock of the process is ahead of that of the scenario, in milliseconds. */
  readonly skewMs?: () => number;
  readonly onError: (error: unknown) => void;
  readonly onEvent: (event: PublishedEvent | EventGap) => void;
  readonly onRecord?: (record: AuditRecord) => void;
  readonly onLine?: (line: Line) => void;
}

/** A hasher that answers at once: a virtual clock does not wait for another thread. */
const hasher: Hasher = {
  hash: (password) => Promise.resolve(`hash of ${password}`),
  verify: (password, hash) => Promise.resolve(hash === `hash of ${password}`),
  knows: (hash) => hash.startsWith('hash of '),
};

export class Process {
  #isDead = false;
  /** Whether the process has died without closing the interface. */
  wasKilled = false;
  /** Whether the host has brought its gateway to what the interface shows. */
  isBrought = false;
  /** What would wake the process, while it is paused. */
  #held: (() => void)[] | undefined;
  readonly #surroundings: Surroundings;
  #admin: Admin | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  get admin(): Admin | undefined {
    return this.#isDead ? undefined : this.#admin;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  async start(): Promise<void> {
    const {
      gateway,
      store,
      clock,
      skewMs = () => 0,
      options,
      onError,
      onEvent,
      onRecord,
      onLine,
    } = this.#surroundings;
    const given = {
      hasher,
      ...options,
      gateway: this.#wrap(gateway, ['apply', 'inspect']),
      clock: { ...clock, sleep: this.#wrap(clock, ['sleep']).sleep, now: () => clock.now() + skewMs() },
      observe: {
        ...options.observe,
        ...(onLine && {
          logger: loggerTo((line) => {
            if (!this.#isDead) onLine(line);
          }),
        }),
        onError: (error: unknown) => {
          if (!this.#isDead) onError(error);
        },
      },
    };
    const calls = ['load', 'append', 'compact', 'read', 'changed', 'announce', Symbol.asyncDispose];
    const admin = await this.#open({ ...given, store: this.#wrap(store, calls) });
    this.#admin = admin;
    // What has happened during the start is seen as well.
    void this.#follow(admin.events({ after: otherLife }), onEvent);
    if (onRecord)
      void this.#follow(admin.audit({ after: 'a.1' }), (item) => {
        if (item.kind !== 'gap') onRecord(item);
      });
  }

  #open(options: AdminOptions & { readonly store: ConfigurationStore }): Promise<Admin> {
    const { node } = this.#surroundings;
    if (node === undefined) return openAdmin(options);
    return openFleet({ ...options, store: options.store as SharedStore, node, leaseMs: 3000 });
  }

  /** Nobody answers the process any more. What it has asked for can still happen. */
  die(): void {
    this.#isDead = true;
  }

  kill(): void {
    this.wasKilled = !this.#isDead;
    this.die();
  }

  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  /** Nothing wakes the process until it goes on. */
  pause(): void {
    this.#held ??= [];
  }

  goOn(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const wake of held) wake();
  }

  /** Acts once the process is not paused. */
  whenAwake<T>(act: () => Promise<T>): Promise<T> {
    return this.#held === undefined ? act() : this.#outlive().then(act);
  }

  async close(): Promise<void> {
    await this.admin?.close();
    this.die();
  }

  async #follow<Item>(items: AsyncIterator<Item>, onItem: (item: Item) => void): Promise<void> {
    // The first item is the gap after the other life.
    await items.next();
    for await (const item of { [Symbol.asyncIterator]: () => items }) if (!this.#isDead) onItem(item);
  }

  /** A port whose calls never end for a process that is dead. */
  #wrap<Port extends object>(port: Port, names: readonly (string | symbol)[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function' || !names.includes(name)) return value;
        return (...given: unknown[]) => this.#through(() => value.apply(target, given) as unknown);
      },
    });
  }

  async #through(call: () => unknown): Promise<unknown> {
    if (this.#isDead) return never();
    try {
      return await call();
    } finally {
      await this.#outlive();
    }
  }

  /** Ends once the process is not paused; never for a process that has died meanwhile. */
  async #outlive(): Promise<void> {
    while (this.#held !== undefined) await new Promise<void>((wake) => this.#held?.push(wake));
    return this.#isDead ? never() : undefined;
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
