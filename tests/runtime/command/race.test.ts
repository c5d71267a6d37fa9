import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createAdmin,
  createMemoryStore,
  createSnapshot,
  EffectRefusedError,
  openAdmin,
  type Admin,
  type ConfigurationStore,
  type Effect,
  type GatewayPort,
  type Snapshot,
} from 'gateway-admin-core';
import { createVirtualClock, type VirtualClock } from 'gateway-admin-core/testing';

import { runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { transportNames, transports, type Transport } from '../../support/transport.ts';

const snapshot = createSnapshot({
  services: ['Sales', 'Reports'].map((name) => ({ name, router: 'readconnroute', max_connection: 0 })),
});

/** Calls, and lets the scheduler decide when that begins and when the answer arrives. */
async function whenever<T>(scheduler: fc.Scheduler, label: string, call: () => T | Promise<T>): Promise<T> {
  await scheduler.schedule(Promise.resolve(), `${label} begins`);
  const [outcome] = await Promise.allSettled([Promise.resolve().then(call)]);
  await scheduler.schedule(Promise.resolve(), `${label} ends`);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

const behaviours = [
  'does it',
  'refuses it',
  'does it and fails to say so',
  'fails and does nothing',
  'does it, fails to say so, and cannot see it at first',
  'fails, does nothing, and cannot see that at first',
] as const;
type Behaviour = (typeof behaviours)[number];

type Fact = readonly [name: string, value: unknown];

/** What is so once an effect is in place. */
function factsOf(effect: Effect): readonly Fact[] {
  if (effect.type === 'service.start') return [[`${effect.service} state`, 'started']];
  if (effect.type === 'service.stop') return [[`${effect.service} state`, 'stopped']];
  if (effect.type !== 'service.update') throw new EffectRefusedError(`It cannot do ${effect.type}.`);
  const before = new Map(Object.entries(effect.before));
  const changed = Object.entries(effect.after).filter(([field, value]) => before.get(field) !== value);
  return changed.map(([field, value]) => [`${effect.service} ${field}`, value]);
}

/** What a snapshot shows. */
function factsIn({ services }: Snapshot): readonly Fact[] {
  return Array.from(services).flatMap(({ key, state, settings }): Fact[] => [
    [`${key} state`, state],
    [`${key} max_connection`, settings.max_connection],
    [`${key} connection_timeout`, settings.connection_timeout],
  ]);
}

/** A host that behaves as it is told, one effect after the other, and well when it is told nothing more. */
class Host implements GatewayPort {
  readonly facts = new Map<string, unknown>(factsIn(snapshot));
  readonly #scheduler: fc.Scheduler;
  readonly #behaviours: Iterator<Behaviour>;
  #blind = false;

  constructor(scheduler: fc.Scheduler, told: readonly Behaviour[]) {
    this.#scheduler = scheduler;
    this.#behaviours = told.values();
  }

  apply(effect: Effect): Promise<void> {
    return whenever(this.#scheduler, `apply of ${effect.type}`, () => {
      const { value: behaviour = 'does it' } = this.#behaviours.next() as { readonly value?: Behaviour };
      if (behaviour === 'refuses it') throw new EffectRefusedError('Not today.');
      if (behaviour.startsWith('does it')) for (const fact of factsOf(effect)) this.facts.set(...fact);
      if (behaviour === 'does it') return;
      this.#blind = behaviour.endsWith('at first');
      throw new Error('It failed');
    });
  }

  inspect(effect: Effect): Promise<'in-place' | 'not-in-place'> {
    return whenever(this.#scheduler, `inspect of ${effect.type}`, () => {
      const blind = this.#blind;
      this.#blind = false;
      if (blind) throw new Error('It cannot be seen');
      const isSo = factsOf(effect).every(([name, value]) => this.facts.get(name) === value);
      return isSo ? 'in-place' : 'not-in-place';
    });
  }
}

/** A store whose calls take as long as the scheduler likes. */
function scheduled(store: ConfigurationStore, scheduler: fc.Scheduler): ConfigurationStore {
  return {
    durable: store.durable,
    load: () => whenever(scheduler, 'load', () => store.load()),
    append: (records, options) => whenever(scheduler, 'append', () => store.append(records, options)),
    compact: (state, options) => whenever(scheduler, 'compact', () => store.compact(state, options)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** An interface with its host, and clients that ask it when the scheduler lets them. */
class World {
  readonly host: Host;
  readonly #scheduler: fc.Scheduler;
  readonly #clock: VirtualClock = createVirtualClock();

  constructor(scheduler: fc.Scheduler, told: readonly Behaviour[]) {
    this.#scheduler = scheduler;
    this.host = new Host(scheduler, told);
  }

  open(keeps: 'nothing' | 'everything'): Promise<Admin> {
    const options = {
      snapshot,
      gateway: this.host,
      clock: this.#clock,
      observe: { onError: () => undefined },
    };
    if (keeps === 'nothing') return Promise.resolve(createAdmin(options));
    return this.run(openAdmin({ ...options, store: scheduled(createMemoryStore(), this.#scheduler) }));
  }

  /** A client takes its time. */
  think(): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve(), 'a client thinks');
  }

  /** Lets one thing after the other happen until some work is done; time goes on only when nothing else does. */
  async run<T>(work: Promise<T>): Promise<T> {
    const progress = { done: false };
    const watched = work.finally(() => (progress.done = true));
    // Whoever waits for it hears of its failure.
    watched.catch(() => undefined);
    while (!progress.done && (await this.#step()));
    if (!progress.done) throw new Error('Nothing goes on any more, and somebody still waits');
    return watched;
  }

  /** Lets everything happen that still can. */
  async settle(): Promise<void> {
    while (await this.#step());
  }

  async #step(): Promise<boolean> {
    // Everything that is ready has run by the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#scheduler.count() === 0) return this.#clock.next();
    await this.#scheduler.waitNext(1);
    return true;
  }
}

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly limit: number;
}

async function ask(
  admin: Admin,
  method: string,
  target: string,
  patch?: { readonly field: string; readonly value: number; readonly etag?: string },
): Promise<Answer> {
  const condition = patch?.etag === undefined ? {} : { 'if-match': patch.etag };
  const headers = { 'content-type': 'application/json-patch+json', ...condition };
  const { field = '', value = 0 } = patch ?? {};
  const body = JSON.stringify([{ op: 'add', path: `/${field}`, value }]);
  const request = patch === undefined ? { headers: {} } : { headers, body };
  const handled = await admin.handle({ method, target, ...request });
  if (!handled.matched) throw new Error(`There is no ${method} ${target}`);
  const { status, headers: answered, body: text } = handled.response;
  const shown = typeof text === 'string' ? (JSON.parse(text) as { readonly max_connection?: number }) : {};
  const { max_connection: limit = NaN } = shown;
  return { status, etag: answered['etag'] ?? '', limit };
}

/** What the conditional edits came to. */
interface Count {
  done: number;
  unknown: number;
}

/** Reads a number, thinks, and sets it to one more unless somebody has changed the service meanwhile. */
async function increment(world: World, admin: Admin, times: number, count: Count): Promise<void> {
  let seen = 0;
  for (let time = 0; time < times; time += 1) {
    await world.think();
    const { etag, limit } = await ask(admin, 'GET', '/services/Sales');
    expect(limit).toBeGreaterThanOrEqual(seen);
    seen = limit;
    await world.think();
    const value = limit + 1;
    const answer = await ask(admin, 'PATCH', '/services/Sales', { field: 'max_connection', value, etag });
    if (answer.status === 200) {
      expect(answer.limit).toBe(value);
      count.done += 1;
    } else if (answer.status === 504) count.unknown += 1;
    else expect([409, 412]).toContain(answer.status);
  }
}

const disturbances = ['edit', 'edit another', 'stop', 'start'] as const;

/** Changes other things, without a condition. */
async function disturb(
  world: World,
  admin: Admin,
  kinds: readonly (typeof disturbances)[number][],
): Promise<void> {
  for (const [index, kind] of kinds.entries()) {
    await world.think();
    const patch = { field: 'connection_timeout', value: index + 1 };
    const { status } = await {
      edit: () => ask(admin, 'PATCH', '/services/Sales', patch),
      'edit another': () => ask(admin, 'PATCH', '/services/Reports', patch),
      stop: () => ask(admin, 'PUT', '/service/Sales/stop'),
      start: () => ask(admin, 'PUT', '/service/Sales/start'),
    }[kind]();
    expect([200, 204, 409, 504]).toContain(status);
  }
}

const limitIn = ({ services }: Snapshot): number | undefined =>
  services.find('sales')?.settings.max_connection;

describe.each(['nothing', 'everything'] as const)('with a store that keeps %s', (keeps) => {
  // Promise: no-lost-edit
  it('no conditional edit is lost, in any interleaving', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom(...behaviours), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
        fc.array(fc.array(fc.constantFrom(...disturbances), { maxLength: 3 }), { maxLength: 2 }),
        async (scheduler, told, editors, others) => {
          const world = new World(scheduler, told);
          const admin = await world.open(keeps);
          const count = { done: 0, unknown: 0 };
          await world.run(
            Promise.all([
              ...editors.map((times) => increment(world, admin, times, count)),
              ...others.map((kinds) => disturb(world, admin, kinds)),
            ]),
          );
          await world.settle();
          const limit = limitIn(admin.snapshot);
          expect(limit).toBeGreaterThanOrEqual(count.done);
          expect(limit).toBeLessThanOrEqual(count.done + count.unknown);
          expect(new Map(factsIn(admin.snapshot))).toEqual(world.host.facts);
          await world.run(admin.close());
        },
      ),
      { numRuns: 300 },
    );
  });

  // Promise: one-of-many-edits
  it('of several concurrent edits with one entity tag, one succeeds and the others are 412', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 5 }), async (scheduler, clients) => {
        const world = new World(scheduler, []);
        const admin = await world.open(keeps);
        const { etag } = await ask(admin, 'GET', '/services/Sales');
        const edits = Array.from({ length: clients }, async (_none, index) => {
          await world.think();
          const patch = { field: 'max_connection', value: index + 1, etag };
          return ask(admin, 'PATCH', '/services/Sales', patch);
        });
        const answers = await world.run(Promise.all(edits));
        const [done, ...failed] = answers.toSorted((one, other) => one.status - other.status);
        expect(done).toMatchObject({ status: 200, limit: limitIn(admin.snapshot) });
        expect(failed.map(({ status }) => status)).toEqual(failed.map(() => 412));
        await world.run(admin.close());
      }),
      { numRuns: 100 },
    );
  });
});

describe.each(transportNames)('two concurrent edits with one entity tag through %s', (name) => {
  // The second one arrives while the first is in flight.
  const { admin } = runAdmin({
    gateway: sampleGateway().will((_effect, _context, perform) => sleep(100).then(perform)),
  });
  let transport: Transport;

  beforeAll(async () => {
    transport = await transports[name](admin);
  });

  afterAll(() => transport.close());

  it('are one success and one 412', async () => {
    const { headers } = await transport.send('GET', '/services/My-Service');
    const edits = [1, 2].map((value) =>
      transport.send('PATCH', '/services/My-Service', {
        headers: { 'content-type': 'application/json-patch+json', 'if-match': headers['etag'] ?? '' },
        body: JSON.stringify([{ op: 'add', path: '/max_connection', value }]),
      }),
    );
    const answers = await Promise.all(edits);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const { max_connection } = admin.snapshot.services.find('my-service')?.settings ?? {};
    expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({ max_connection });
  });
});
