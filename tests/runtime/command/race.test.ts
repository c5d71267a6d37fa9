/**
 * Conditional edits that race: in whichever order calls begin and answers arrive, no edit is lost.
 */
import { setImmediate as turn } from 'node:timers/promises';

import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createAdmin,
  createMemoryStore,
  createSnapshot,
  EffectRefusedError,
  openAdmin,
  type Admin,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { ask } from '../../support/ask.ts';

const snapshot = createSnapshot({
  services: ['Sales', 'Reports'].map((name) => ({ name, router: 'readconnroute', max_connection: 0 })),
});

const behaviours = [
  'does it',
  'refuses it',
  'does it and fails to say so',
  'fails and does nothing',
  'does it, fails to say so, and cannot see it at first',
  'fails, does nothing, and cannot see that at first',
] as const;
type Behaviour = (typeof behaviours)[number];

/** A gateway and a store whose calls begin and end when the scheduler lets them. */
class World {
  readonly #clock = createVirtualClock();
  readonly gateway = createScriptedGateway({ snapshot, clock: this.#clock });
  readonly #scheduler: fc.Scheduler;

  constructor(scheduler: fc.Scheduler, told: readonly Behaviour[]) {
    this.#scheduler = scheduler;
    const left = told.values();
    let isBlind = false;
    this.gateway.otherwise({
      apply: (_effect, _context, perform) =>
        this.#whenever(() => {
          const { value: way = 'does it' } = left.next() as { readonly value?: Behaviour };
          if (way === 'refuses it') throw new EffectRefusedError('Not today.');
          if (way.startsWith('does it')) perform();
          if (way === 'does it') return;
          isBlind = way.endsWith('at first');
          throw new Error('It failed');
        }),
      inspect: (_effect, _context, look) =>
        this.#whenever(() => {
          const wasBlind = isBlind;
          isBlind = false;
          if (wasBlind) throw new Error('It cannot be seen');
          return look();
        }),
    });
  }

  open(hasStore: boolean): Promise<Admin> {
    const [{ gateway }, clock] = [this, this.#clock];
    const options = { snapshot, gateway, clock, observe: { onError: () => undefined } };
    if (!hasStore) return Promise.resolve(createAdmin(options));
    const store = createMemoryStore();
    const append: typeof store.append = (...given) => this.#whenever(() => store.append(...given));
    return this.run(openAdmin({ ...options, store: { ...store, append } }));
  }

  /** A client takes its time. */
  think(): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve(), 'a client thinks');
  }

  /** Lets one thing after the other happen until some work is done; time goes on only when nothing else does. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const watched = work.finally(() => (isDone = true));
    // The caller hears of a failure.
    watched.catch(() => undefined);
    while (!isDone && (await this.step()));
    if (!isDone) throw new Error('Nothing goes on any more, and somebody still waits');
    return watched;
  }

  async step(): Promise<boolean> {
    // Everything that is ready has run by the next turn of the event loop.
    await turn();
    if (this.#scheduler.count() === 0) return this.#clock.next();
    await this.#scheduler.waitNext(1);
    return true;
  }

  async #whenever<T>(call: () => T | Promise<T>): Promise<T> {
    await this.#scheduler.schedule(Promise.resolve(), 'a call begins');
    const [outcome] = await Promise.allSettled([Promise.resolve().then(call)]);
    await this.#scheduler.schedule(Promise.resolve(), 'a call ends');
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
}

const patchOf = (field: string, value: number) => ({ body: [{ op: 'add', path: `/${field}`, value }] });

/** Reads a number, thinks, and sets it to one more unless the service has changed meanwhile. Counts what holds. */
async function increment(
  world: World,
  admin: Admin,
  times: number,
  count: { done: number; unknown: number },
) {
  let seen = 0;
  for (let time = 0; time < times; time += 1) {
    await world.think();
    const { headers, body } = await ask(admin, 'GET /services/Sales');
    const { max_connection: limit } = body as { readonly max_connection: number };
    expect(limit).toBeGreaterThanOrEqual(seen);
    seen = limit;
    await world.think();
    const condition = { headers: { 'if-match': headers['etag'] ?? '' } };
    const sent = { ...patchOf('max_connection', limit + 1), ...condition };
    const answer = await ask(admin, 'PATCH /services/Sales', sent);
    if (answer.status === 200) {
      expect(answer.body).toMatchObject({ max_connection: limit + 1 });
      count.done += 1;
    } else if (answer.status === 504) count.unknown += 1;
    else expect([409, 412]).toContain(answer.status);
  }
}

const disturbances = {
  edit: 'PATCH /services/Sales',
  'edit another': 'PATCH /services/Reports',
  stop: 'PUT /service/Sales/stop',
  start: 'PUT /service/Sales/start',
} as const;

/** Changes other things, without a condition. */
async function disturb(world: World, admin: Admin, kinds: readonly (keyof typeof disturbances)[]) {
  for (const [at, kind] of kinds.entries()) {
    await world.think();
    const sent = kind.startsWith('edit') ? patchOf('connection_timeout', at + 1) : {};
    const { status } = await ask(admin, disturbances[kind], sent);
    expect([200, 204, 409, 504]).toContain(status);
  }
}

// Promise: no-lost-edit
it('no conditional edit is lost, in any interleaving, with a store or without', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.boolean(),
      fc.array(fc.constantFrom(...behaviours), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
      fc.array(
        fc.array(fc.constantFrom(...(Object.keys(disturbances) as (keyof typeof disturbances)[])), {
          maxLength: 3,
        }),
        { maxLength: 2 },
      ),
      async (scheduler, hasStore, told, editors, others) => {
        const world = new World(scheduler, told);
        const admin = await world.open(hasStore);
        const count = { done: 0, unknown: 0 };
        await world.run(
          Promise.all([
            ...editors.map((times) => increment(world, admin, times, count)),
            ...others.map((kinds) => disturb(world, admin, kinds)),
          ]),
        );
        while (await world.step());
        const limit = admin.snapshot.services.find('sales')?.settings.max_connection;
        expect(limit).toBeGreaterThanOrEqual(count.done);
        expect(limit).toBeLessThanOrEqual(count.done + count.unknown);
        expect(world.gateway.differences(admin.snapshot)).toEqual([]);
        await world.run(admin.close());
      },
    ),
    { numRuns: 300 },
  );
});
