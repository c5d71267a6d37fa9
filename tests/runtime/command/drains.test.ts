import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  createSnapshot,
  drain,
  resume,
  toDocument,
  type Drain,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { runAdmin, type Running } from '../../support/running-admin.ts';

const snapshot = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'] }],
});
const draining =
  (...place: readonly ['services' | 'servers', string]) =>
  (options: Pick<Drain, 'timeout' | 'then' | 'reason'> = {}): Transition =>
  (from, context) =>
    drain(from, ...place, options, context);
const [drainSales, drainServer] = [draining('services', 'Sales'), draining('servers', 'db-1')];

const parts = () => {
  const clock = createVirtualClock(0);
  return { snapshot, clock, gateway: createScriptedGateway({ snapshot, clock }) };
};
const running = (): Running & { readonly gateway: ReturnType<typeof parts>['gateway'] } => {
  const made = parts();
  return { ...runAdmin(made), gateway: made.gateway };
};
const open = ({ admin, gateway }: Pick<Running, 'admin' | 'gateway'>, count: number): void => {
  for (let left = count; left > 0; left -= 1) admin.report(gateway.openSession('Sales'));
};
/** Opens sessions, each with a connection to the server. */
const connect = (at: Pick<Running, 'admin' | 'gateway'>, count: number): void => {
  const known = new Set([...at.admin.snapshot.sessions].map(({ id }) => id));
  open(at, count);
  for (const { id } of at.admin.snapshot.sessions)
    if (!known.has(id)) at.admin.report(at.gateway.openConnection(id, 'db-1'));
};
const service = ({ admin }: Pick<Running, 'admin'>) => admin.snapshot.services.find('sales');

describe('a drain', () => {
  // Promise: drain-deadline
  it('is not missed because the clock has failed for a while', async () => {
    const made = parts();
    let isBroken = false;
    const now = (): number => {
      if (isBroken) throw new Error('no time');
      return made.clock.now();
    };
    const at = { ...runAdmin({ ...made, clock: { ...made.clock, now } }), gateway: made.gateway };
    open(at, 1);
    await at.admin.execute(drainSales({ timeout: 60, then: 'close' }));
    isBroken = true;
    await made.clock.advance(61_000);
    expect(at.admin.snapshot.sessions.size).toBe(1);
    isBroken = false;
    await made.clock.advance(2000);
    await made.clock.settle();
    expect(at.admin.snapshot.sessions.size).toBe(0);
  });

  it.each([
    ['forward', 60_000, 0],
    ['back', -60_000, 1],
  ])('follows a clock that jumps %s within a second', async (_way, by, left) => {
    const at = running();
    open(at, 1);
    await at.admin.execute(drainSales({ timeout: 60, then: 'close' }));
    await at.clock.advance(30_000);
    at.clock.jumpTo(at.clock.now() + by);
    await at.clock.advance(1000);
    await at.clock.settle();
    expect(at.admin.snapshot.sessions.size).toBe(left);
    // The deadline is a time of day. By this clock, the deadline is 89 s away at most.
    await at.clock.advance(29_999);
    expect(at.admin.snapshot.sessions.size).toBe(left);
    await at.clock.advance(60_000);
    await at.clock.settle();
    expect(at.admin.snapshot.sessions.size).toBe(0);
  });

  it('that begins does not end the pause until the other deadlines', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `db-${String(at)}`);
    const many = createSnapshot({
      servers: names.map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
    });
    const clock = createVirtualClock(0);
    let pauses = 0;
    const sleep: typeof clock.sleep = (milliseconds, signal, options) => {
      if (options?.keepAlive === false) pauses += 1;
      return clock.sleep(milliseconds, signal, options);
    };
    const gateway = createScriptedGateway({ snapshot: many, clock });
    const { admin } = runAdmin({ snapshot: many, clock: { ...clock, sleep }, gateway });
    for (const name of names) await admin.execute(draining('servers', name)({ timeout: 60, then: 'resume' }));
    await clock.settle();
    expect([admin.snapshot.draining, pauses]).toEqual([names.length, 1]);
    await clock.advance(60_000);
    await clock.settle();
    expect(admin.snapshot.draining).toBe(0);
  });

  it('with a deadline before the end of the pause is not late', async () => {
    const at = running();
    await at.admin.execute(drainServer({ timeout: 60, then: 'close' }));
    const { services = [], ...rest } = toDocument(at.admin.snapshot);
    const [since, until] = ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.300Z'];
    const drain = { since, until, timeout: 1, then: 'resume', from: 'started' } as const;
    const drained = services.map((each) => ({ ...each, state: 'stopped' as const, drain }));
    const given = createSnapshot({ ...rest, services: drained });
    await at.admin.execute((from, context) => adoptDocument(from, given, context));
    expect(at.admin.snapshot.draining).toBe(2);
    await at.clock.advance(299);
    expect(at.admin.snapshot.draining).toBe(2);
    await at.clock.advance(1);
    await at.clock.settle();
    expect([service(at)?.state, at.admin.snapshot.draining]).toEqual(['started', 1]);
  });
});

it('a request that drains may have any media type if its body is empty, as curl -d sends', async () => {
  const { admin } = running();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [body, status, draining] of [
    ['a=b', 415, 0],
    ['', 204, 1],
  ] as const) {
    const handled = await admin.handle({ method: 'PUT', target: '/service/Sales/drain', headers, body });
    expect(handled).toMatchObject({ response: { status } });
    expect(admin.snapshot.draining).toBe(draining);
  }
});

describe('the end of a drain against its deadline', () => {
  // Promise: drain-cancel
  it.each([
    ['a service', drainSales, 'services', 'Sales', 'sessions.close', ['service.update', 'service.start']],
    ['a server', drainServer, 'servers', 'db-1', 'connections.close', ['server.update']],
  ] as const)(
    'comes before or after the closing, never in between: %s',
    async (_what, begin, collection, name, closing, ending) => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.integer({ min: 1, max: 1200 }),
          fc.nat(4),
          async (scheduler, count, steps) => {
            const at = running();
            connect(at, count);
            await at.admin.execute(begin({ timeout: 1, then: 'close' }));
            const log: string[] = [];
            at.gateway.otherwise({
              apply: async ({ type }, _context, perform) => {
                log.push(type);
                await scheduler.schedule(Promise.resolve(), type);
                perform();
                log.push(`${type} is done`);
              },
            });
            await at.clock.advance(1000);
            const ended = (async () => {
              for (let step = 0; step < steps; step += 1)
                await scheduler.schedule(Promise.resolve(), 'resume');
              await at.admin.execute((from, context) => resume(from, collection, name, context));
            })();
            await scheduler.waitFor(ended);
            const end = log.indexOf(ending[0]);
            const closed = log.slice(0, end);
            expect(closed).toEqual(
              closed.map((_, index) => (index % 2 === 0 ? closing : `${closing} is done`)),
            );
            expect(log.slice(end).filter((each) => !each.endsWith('done'))).toEqual(ending);
            await at.clock.advance(60_000);
            expect(log.slice(end)).toHaveLength(2 * ending.length);
            expect(at.gateway.differences(at.admin.snapshot)).toEqual([]);
            await at.admin.close();
          },
        ),
        { numRuns: 40 },
      );
    },
  );
});
