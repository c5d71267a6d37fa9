/**
 * One life of the process: an interface between its clients and the world, until it is closed or dies.
 */
import {
  evolve,
  openAdmin,
  stopService,
  toDocument,
  type Admin,
  type Clock,
  type ConfigurationStore,
  type Effect,
  type EffectContext,
  type AdminEvent,
  type EventGap,
  type Execution,
  type GatewayPort,
  type HostReport,
  type Monitor,
  type PublishedEvent,
  type Service,
  type Snapshot,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { placeOf } from '../support/event-reader.ts';
import type { ClientCommand } from './command.ts';
import type { Model } from './model.ts';

/** What outlives the process. */
export interface Surroundings {
  readonly snapshot: Snapshot;
  readonly gateway: GatewayPort;
  readonly store: ConfigurationStore;
  readonly clock: Clock;
  readonly random: Random;
  /** How likely the process dies before or after each call of a port, from 0 to 1. */
  readonly mortality: number;
  /** What happens in the gateway before and after each of its calls. */
  readonly cross: (effect: Effect) => void;
  /** The gateway begins to apply a start. The result is called when the gateway has applied the start, or has not. */
  readonly starting: (effect: Effect) => () => void;
  /** What happens in the gateway before and after records are stored. */
  readonly storing: () => void;
}

/** The effects that cannot be taken back. */
const irreversible: readonly string[] = ['sessions.close', 'connections.close', 'logs.flush'];

/** Each one anew: whoever waits for it must be forgotten with it. */
function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

/** Opens the interface; `undefined` when the process dies, or the store fails, before it is open. */
export async function beginLife(surroundings: Surroundings): Promise<Life | undefined> {
  const mortal = new Mortal(surroundings);
  const { snapshot } = surroundings;
  const limits = { effectDeadlineMs: 1000, storeDeadlineMs: 2000, maxQueued: 8 };
  const errors: unknown[] = [];
  const opening = openAdmin({
    snapshot,
    limits,
    gateway: mortal.gateway,
    store: mortal.store,
    clock: mortal.clock,
    onError: (error) => errors.push(error),
  }).then(
    (admin) => new Life(admin, mortal, errors),
    () => undefined,
  );
  return Promise.race([opening, mortal.death]);
}

/** The ports as a process sees them that may die at any call: from then on nobody answers it, or hears it. */
class Mortal {
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
  readonly clock: Clock;
  readonly #surroundings: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const { gateway, store, clock, cross, starting, storing } = surroundings;
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
        if (this.announced.has(context.commandId) && irreversible.includes(effect.type))
          this.faults.push(`${effect.type} was begun after ${context.commandId} was said to be unknown`);
        const started = starting(effect);
        // A gateway with a mistake answers something that is no promise.
        const apply = (): Promise<void> => Promise.resolve(gateway.apply(effect, context)).finally(started);
        await this.#through(() => crossed(effect, apply)).finally(() => (this.asking -= 1));
      },
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
    this.clock = {
      now: () => clock.now(),
      sleep: (milliseconds, signal) => this.#through(() => clock.sleep(milliseconds, signal)),
    };
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

/** A command that a client waits for. */
interface Waiting {
  readonly command: ClientCommand;
}

/** A running interface, its clients, and a reader of its events. */
export class Life {
  readonly admin: Admin;
  /** What went wrong that must never go wrong. */
  readonly faults: string[];
  readonly death: Promise<undefined>;
  readonly #mortal: Mortal;
  readonly #waiting = new Set<Waiting>();
  /** Operations whose outcome a client was told to wait for. */
  readonly #awaited = new Set<string>();
  readonly #beginning: Snapshot;
  readonly #events: PublishedEvent[] = [];
  #isFollowed = true;
  #isClosing = false;

  /** What went to `onError`. */
  readonly #errors: readonly unknown[];

  constructor(admin: Admin, mortal: Mortal, errors: readonly unknown[]) {
    this.admin = admin;
    this.#errors = errors;
    this.death = mortal.death;
    this.#mortal = mortal;
    this.faults = mortal.faults;
    this.#beginning = admin.snapshot;
    void this.#follow(admin.events());
  }

  get alive(): boolean {
    return this.#mortal.alive;
  }

  /** Whether readers still get events. An interface that has ended them takes reports, and tells nobody. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Closes the interface, or dies meanwhile. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.race([this.admin.close(), this.death]);
  }

  die(): void {
    this.#mortal.die();
  }

  /** A client sends a command and tells the model what it is told. */
  send(command: ClientCommand, model: Model): void {
    const waiting = { command };
    this.#waiting.add(waiting);
    this.admin.execute(command.step).then(
      (execution) => {
        if (!this.alive) return;
        this.#waiting.delete(waiting);
        this.#hear(command, execution, model);
      },
      (error: unknown) => {
        if (!this.alive) return;
        this.#waiting.delete(waiting);
        this.faults.push(`${command.kind} threw ${String(error)}`);
      },
    );
  }

  /** Whoever was not answered cannot know. */
  leave(model: Model): void {
    for (const { command } of this.#waiting) model.mayHaveHappened(command.changes);
    this.#waiting.clear();
  }

  /** Whether everybody knows what became of their commands, and the gateway owes no answer. */
  get settled(): boolean {
    return this.#waiting.size === 0 && this.#awaited.size === 0 && this.#mortal.asking === 0;
  }

  /** What is wrong once everything has come to rest. */
  unrest(): readonly string[] {
    const unanswered = Array.from(this.#waiting, ({ command }) => `${command.kind} was never answered`);
    const untold = Array.from(this.#awaited, (id) => `operation ${id} was never settled by an event`);
    return [...this.faults, ...unanswered, ...untold];
  }

  /**
   * What is wrong with the answer to reports that cannot be true: while no command is in flight, each report that
   * something runs which is stopped is told to `onError`.
   */
  unheeded(): readonly string[] {
    const { admin } = this;
    if (admin.commands().length > 0) return [];
    const { services, monitors } = admin.snapshot;
    const untrue: readonly HostReport[] = [
      ...stopped(services).map(
        (service) => ({ type: 'service.reported', service, state: 'started' }) as const,
      ),
      ...stopped(monitors).map(
        (monitor) => ({ type: 'monitor.reported', monitor, state: 'started' }) as const,
      ),
    ];
    return untrue.flatMap((report) => {
      const before = this.#errors.length;
      admin.report(report);
      return this.#errors.length > before ? [] : [`nobody was told that ${JSON.stringify(report)} is untrue`];
    });
  }

  /** What is wrong with the store: nobody else writes to it, and it works again by itself. */
  async strayStore(): Promise<readonly string[]> {
    const lost = this.#errors.filter((error) => String(error).includes('another writer'));
    const execution = await this.admin.execute((snapshot, context) =>
      stopService(snapshot, 'Nowhere', context),
    );
    const { code } = 'problem' in execution ? execution.problem : { code: execution.outcome };
    return [
      ...lost.map(String),
      ...(code === 'service-not-found' ? [] : [`a command is answered with ${code}`]),
    ];
  }

  /** What is wrong with the events: they are without gaps, in order, and amount to what is shown. */
  strayEvents(): readonly string[] {
    let { revision } = this.#beginning;
    let folded = this.#beginning;
    const strays: string[] = [];
    for (const events of byRevision(this.#events)) {
      revision += 1;
      const expected = events.map((_, index) => `${String(revision)}.${String(index)}`);
      const ids = events.map(({ id }) => placeOf(id));
      if (ids.join() !== expected.join())
        strays.push(`events ${ids.join()} where ${expected.join()} are due`);
      folded = evolve(
        folded,
        events.map(({ event }) => event),
      );
    }
    const [told, shown] = [folded, this.admin.snapshot].map((each) => JSON.stringify(toDocument(each)));
    if (told !== shown) strays.push('the events do not amount to what is shown');
    if (revision !== this.admin.snapshot.revision) strays.push('a revision has no event');
    return strays;
  }

  #hear({ kind, changes }: ClientCommand, execution: Execution, model: Model): void {
    switch (execution.outcome) {
      case 'accepted':
      case 'unchanged':
        model.happened(changes);
        return;
      case 'unknown':
        if (execution.problem.code === 'outcome-unknown') this.#awaited.add(execution.commandId);
        this.#mortal.announced.add(execution.commandId);
        model.mayHaveHappened(changes);
        return;
      case 'refused':
        if (execution.events.length > 0) model.mayHaveHappened(changes);
        if (
          execution.problem.status >= 500 &&
          !['store-unavailable', 'overloaded', 'closed'].includes(execution.problem.code)
        )
          this.faults.push(`${kind} was refused with ${execution.problem.code}`);
    }
  }

  async #follow(events: AsyncIterable<PublishedEvent | EventGap>): Promise<void> {
    for await (const item of events) {
      if (item.gap === true) {
        this.faults.push('a reader that keeps up met a gap');
        continue;
      }
      this.#events.push(item);
      const { command }: AdminEvent = item.event;
      if (command !== undefined) this.#awaited.delete(command);
    }
    this.#isFollowed = false;
    if (!this.#isClosing) this.faults.push('a reader was ended while the interface runs');
  }
}

function stopped(things: Snapshot['services'] | Snapshot['monitors']): readonly string[] {
  return Array.from<Service | Monitor>(things).flatMap(({ key, state }) =>
    state === 'stopped' ? [key] : [],
  );
}

function byRevision(events: readonly PublishedEvent[]): readonly (readonly PublishedEvent[])[] {
  const groups = new Map<string, PublishedEvent[]>();
  for (const event of events) {
    const [revision = ''] = placeOf(event.id).split('.');
    groups.set(revision, [...(groups.get(revision) ?? []), event]);
  }
  return [...groups.values()];
}
