import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  createMemoryStore,
  createSnapshot,
  drain,
  EffectRefusedError,
  patchServer,
  resume,
  sequence,
  toDocument,
  type Drain,
  type HostReport,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { configuration } from '../../support/configuration.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';

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
const resumeSales: Transition = (from, context) => resume(from, 'services', 'Sales', context);

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
/** A session that a client had asked for before the drain. */
const late = (id: number): HostReport => ({
  type: 'session.opened',
  ...{ id, state: 's', user: 'u', address: 'a', service: 'Sales', connected: 1 },
});
const service = ({ admin }: Pick<Running, 'admin'>) => admin.snapshot.services.find('sales');
/** The types of the events from now on. */
function typesOf({ admin }: Running): readonly string[] {
  const types: string[] = [];
  void (async () => {
    for await (const item of admin.events()) if ('event' in item) types.push(item.event.type);
  })();
  return types;
}

describe('a drain', () => {
  it('closes what is left at its deadline, and not before, in batches', async () => {
    const at = running();
    open(at, 2500);
    await at.admin.execute(drainSales({ timeout: 60, then: 'close' }), { actor: 'ada' });
    await at.clock.advance(59_999);
    expect(at.admin.snapshot.sessions.size).toBe(2500);
    await at.clock.advance(1);
    await at.clock.settle();
    expect(at.admin.snapshot.sessions.size).toBe(0);
    const closings = at.gateway.applied.filter(({ type }) => type === 'sessions.close');
    expect(closings.map((effect) => 'sessions' in effect && effect.sessions.length)).toEqual([
      1000, 1000, 500,
    ]);
    expect(service(at)?.settings.drain?.by).toBe('ada');
    expect(service(at)?.state).toBe('stopped');
  });

  it('closes what opens after the deadline too, as long as the drain goes on', async () => {
    const at = running();
    await at.admin.execute(drainSales({ timeout: 1, then: 'close' }));
    await at.clock.advance(1000);
    at.admin.report(late(7));
    expect(at.admin.snapshot.sessions.size).toBe(1);
    await at.clock.settle();
    expect(at.admin.snapshot.sessions.size).toBe(0);
    await at.admin.execute(resumeSales);
    open(at, 1);
    await at.clock.advance(60_000);
    expect(at.admin.snapshot.sessions.size).toBe(1);
  });

  it('ends at its deadline', async () => {
    const at = running();
    open(at, 1);
    await at.admin.execute(drainSales({ timeout: 1, then: 'resume' }));
    await at.admin.execute(drainServer({ timeout: 2, then: 'resume' }));
    await at.clock.advance(1000);
    expect([service(at)?.state, at.admin.snapshot.draining]).toEqual(['started', 1]);
    await at.clock.advance(1000);
    expect([at.admin.snapshot.draining, at.admin.snapshot.sessions.size]).toEqual([0, 1]);
    expect(at.gateway.differences(at.admin.snapshot)).toEqual([]);
  });

  it('is tried again with growing pauses if the gateway refuses', async () => {
    const at = running();
    open(at, 1);
    await at.admin.execute(drainSales({ timeout: 1, then: 'close' }));
    at.gateway.will(new EffectRefusedError('Not now.'), new EffectRefusedError('Not now.'));
    await at.clock.advance(1000);
    const tries = (): number => at.gateway.applied.filter(({ type }) => type === 'sessions.close').length;
    expect(tries()).toBe(1);
    await at.clock.advance(1000);
    expect(tries()).toBe(2);
    await at.clock.advance(1999);
    expect(tries()).toBe(2);
    await at.clock.advance(1);
    expect([tries(), at.admin.snapshot.sessions.size]).toEqual([3, 0]);
  });

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

  it.each([
    ['close', drainSales, ['sessions.closed']],
    ['close', drainServer, ['connections.closed']],
    ['resume', drainSales, ['service.updated', 'service.started']],
    ['resume', drainServer, ['server.updated']],
  ] as const)('acts as the one who began it, and in read-only mode too: %s', async (then, begin, types) => {
    const at = running();
    connect(at, 1);
    await at.admin.execute(begin({ timeout: 1, then }), { actor: 'ada' });
    const actors: unknown[] = [];
    void (async () => {
      for await (const item of at.admin.events())
        if ('event' in item && item.event.type !== 'service.drained' && item.event.type !== 'server.drained')
          actors.push([item.event.type, 'actor' in item.event && item.event.actor]);
    })();
    at.admin.readOnly = true;
    await at.clock.advance(1000);
    await at.clock.settle();
    expect(actors).toEqual(types.map((type) => [type, 'ada']));
  });

  it('of a server closes its connections at the deadline, and whatever opens after', async () => {
    const at = running();
    const left = (): number => at.admin.snapshot.sessions.countOfServer('db-1');
    connect(at, 3);
    await at.admin.execute(drainServer({ timeout: 1, then: 'close' }));
    await at.clock.advance(999);
    expect(left()).toBe(3);
    await at.clock.advance(1);
    await at.clock.settle();
    expect(left()).toBe(0);
    connect(at, 1);
    expect(left()).toBe(1);
    await at.clock.settle();
    expect(left()).toBe(0);
    // The sessions go on.
    expect(at.admin.snapshot.sessions.size).toBe(4);
    expect(at.gateway.differences(at.admin.snapshot)).toEqual([]);
  });

  it('gets its deadline, or another one, from a later drain', async () => {
    const at = running();
    open(at, 2);
    await at.admin.execute(drainSales());
    await at.clock.advance(5000);
    await at.admin.execute(drainSales({ timeout: 100, then: 'resume' }));
    await at.clock.advance(5000);
    await at.admin.execute(drainSales({ timeout: 10, then: 'close' }));
    await at.clock.advance(9999);
    expect(at.admin.snapshot.sessions.size).toBe(2);
    await at.clock.advance(1);
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
    const { servers = [], services = [], ...rest } = toDocument(at.admin.snapshot);
    const drain = {
      since: '1970-01-01T00:00:00Z',
      until: '1970-01-01T00:00:00.300Z',
      timeout: 1,
      then: 'resume',
      from: 'started',
    } as const;
    const given = createSnapshot({
      ...rest,
      servers,
      services: services.map((each) => ({ ...each, state: 'stopped', drain })),
    });
    await at.admin.execute((from, context) => adoptDocument(from, given, context));
    expect(at.admin.snapshot.draining).toBe(2);
    await at.clock.advance(299);
    expect(at.admin.snapshot.draining).toBe(2);
    await at.clock.advance(1);
    await at.clock.settle();
    expect([service(at)?.state, at.admin.snapshot.draining]).toEqual(['started', 1]);
  });

  // Promise: recovery-undo
  it('stays ended if the gateway refuses to stop the service again', async () => {
    const [made, store] = [parts(), createMemoryStore()];
    const first = await openRunning(store, made);
    await first.admin.execute(drainSales());
    const [no, port] = [new EffectRefusedError('No.'), { op: 'replace', path: '/port', value: 7 } as const];
    const patch: Transition = (from, context) => patchServer(from, 'db-1', [port], context);
    // Of the two changes of Sales and that of db-1, the last one is refused; and so is the stop on the way back.
    made.gateway.will('done', 'done', no, no);
    const execution = await first.admin.execute(sequence(resumeSales, patch));
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'partly-done' } });
    expect(service(first)).toMatchObject({ state: 'started' });
    expect(service(first)?.settings.drain).toBeUndefined();
    expect(made.gateway.differences(first.admin.snapshot)).toEqual([]);
    await first.admin.close();
    const { admin } = await openRunning(store, made);
    expect(admin.snapshot.services.find('sales')?.state).toBe('started');
  });

  // Promise: drain-deadline
  it('that is due acts at once after a restart, when the sessions are reported', async () => {
    const [made, store] = [parts(), createMemoryStore()];
    const first = await openRunning(store, made);
    open({ ...first, gateway: made.gateway }, 2);
    await first.admin.execute(drainSales({ timeout: 10, then: 'close' }), { actor: 'ada' });
    await first.admin.close();
    await made.clock.advance(20_000);
    const next = { ...(await openRunning(store, made)), gateway: made.gateway };
    await made.clock.settle();
    expect(service(next)?.settings.drain?.by).toBe('ada');
    next.admin.report(made.gateway.sessionReports());
    expect(next.admin.snapshot.sessions.size).toBe(2);
    await made.clock.settle();
    expect([next.admin.snapshot.sessions.size, made.gateway.sessionReports()]).toEqual([0, []]);
  });
});

describe('a request that drains', () => {
  it.each([
    ['', 204],
    ['a=b', 415],
  ])('may have any media type if its body is empty, as curl -d sends: %j', async (body, status) => {
    const { admin } = running();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const handled = await admin.handle({ method: 'PUT', target: '/service/Sales/drain', headers, body });
    expect(handled).toMatchObject({ response: { status } });
    expect(admin.snapshot.draining).toBe(status === 204 ? 1 : 0);
  });
});

describe('several drains in one request', () => {
  const sales = { method: 'PUT', path: '/services/Sales/drain', body: { timeout: 60, then: 'close' } };
  const server = { method: 'PUT', path: '/server/db-1/drain' };
  const drainsIn = ({ admin }: Running) =>
    [...admin.snapshot.services, ...admin.snapshot.servers].map(({ settings }) => settings.drain);

  async function send({ admin }: Running, method: string, target: string, json?: unknown) {
    const content = json === undefined ? {} : { body: JSON.stringify(json) };
    const headers = { 'content-type': 'application/json' };
    const handled = await admin.handle({ method, target, headers, ...content });
    if (!handled.matched) throw new Error(`Nothing is at ${target}`);
    const { status, body } = handled.response;
    return { status, json: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined };
  }

  it('are one command, with one entry in the history and one undo', async () => {
    const at = running();
    const before = configuration(at.admin.snapshot);
    expect(await send(at, 'POST', '/sequence', { commands: [sales, server] })).toMatchObject({ status: 204 });
    expect(drainsIn(at)).toMatchObject([{ timeout: 60, then: 'close', from: 'started' }, {}]);
    expect(at.gateway.applied.map(({ type }) => type)).toEqual([
      'service.stop',
      'service.update',
      'server.update',
    ]);
    const history = (await send(at, 'GET', '/history')).json as readonly { readonly id: string }[];
    expect(history).toMatchObject([
      { resources: expect.arrayContaining(['/services/Sales', '/servers/db-1']) },
    ]);
    expect(await send(at, 'PUT', `/history/${String(history[0]?.id)}/undo`)).toMatchObject({ status: 204 });
    expect(configuration(at.admin.snapshot)).toEqual(before);
    expect(at.gateway.differences(at.admin.snapshot)).toEqual([]);
  });

  it('are all refused if one of them is', async () => {
    const at = running();
    const { snapshot: before } = at.admin;
    const gone = { method: 'PUT', path: '/services/gone/drain' };
    expect(await send(at, 'POST', '/sequence', { commands: [sales, server, gone] })).toMatchObject({
      status: 404,
      json: { code: 'service-not-found', detail: expect.stringMatching(/^Command 3 /) },
    });
    expect(at.admin.snapshot).toBe(before);
    expect(at.gateway.calls).toEqual([]);
  });
});

/** The state of the drain of the service, as a response shows it. */
async function drainState({ admin }: Pick<Running, 'admin'>): Promise<string> {
  const handled = await admin.handle({ method: 'GET', target: '/services/Sales', headers: {} });
  const body = handled.matched ? handled.response.body : '';
  return (JSON.parse(body as string) as { drain: { state: string } }).drain.state;
}

describe('drained', () => {
  it('is an event when nothing is left, and again after another session', async () => {
    const at = running();
    const types = typesOf(at);
    open(at, 1);
    await at.admin.execute(drainSales());
    const [session] = [...at.admin.snapshot.sessions];
    const closed = {
      type: 'session.closed',
      id: session?.id ?? 0,
      connected: session?.connected ?? 0,
    } as const;
    at.admin.report(closed);
    at.admin.report(late(7));
    at.admin.report(
      [...at.admin.snapshot.sessions].map(({ id, connected }) => ({ ...closed, id, connected })),
    );
    await at.clock.settle();
    expect(types).toEqual([
      'session.opened',
      'service.stopped',
      'service.updated',
      'session.closed',
      'service.drained',
      'session.opened',
      'session.closed',
      'service.drained',
    ]);
  });

  // Promise: drained-never-early
  it('is never shown before the gateway has reported everything that is open', async () => {
    const [made, store] = [parts(), createMemoryStore()];
    const first = await openRunning(store, made);
    first.admin.report({ type: 'sessions.complete' });
    await first.admin.execute(drainSales());
    await first.admin.close();
    const next = await openRunning(store, made);
    const shown = () => drainState(next);
    expect(await shown()).toBe('draining');
    next.admin.report(late(7));
    next.admin.report({ type: 'sessions.complete' });
    expect(await shown()).toBe('draining');
    const [session] = [...next.admin.snapshot.sessions];
    next.admin.report({
      type: 'session.closed',
      id: session?.id ?? 0,
      connected: session?.connected ?? 0,
    });
    expect(await shown()).toBe('drained');
    await next.admin.close();
  });

  // Promise: drained-never-early
  it('is not shown early either of a gateway that lists drains no longer', async () => {
    const [made, store] = [parts(), createMemoryStore()];
    const first = await openRunning(store, made);
    open({ ...first, gateway: made.gateway }, 1);
    await first.admin.execute(drainSales());
    await first.admin.close();
    const { supports: _supports, ...gateway } = made.gateway;
    const next = await openRunning(store, { ...made, gateway });
    expect(await drainState(next)).toBe('draining');
    next.admin.report(made.gateway.sessionReports());
    next.admin.report({ type: 'sessions.complete' });
    expect(await drainState(next)).toBe('draining');
    next.admin.report(made.gateway.closeSession([...next.admin.snapshot.sessions][0]?.id ?? 0));
    expect(await drainState(next)).toBe('drained');
    await next.admin.close();
  });
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

describe('a gateway that does not support drains', () => {
  // Promise: not-supported
  it('is not asked to drain', async () => {
    const made = parts();
    const { supports: _supports, ...gateway } = made.gateway;
    const { admin } = runAdmin({ ...made, gateway });
    const execution = await admin.execute(drainSales());
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'not-supported' } });
    expect(made.gateway.calls).toEqual([]);
  });

  it('can end the drain that a document or a store has', async () => {
    const context = { now: 0 };
    const drained = sequence(drainSales(), drainServer())(snapshot, context).next;
    const clock = createVirtualClock(0);
    const { supports: _supports, ...gateway } = createScriptedGateway({ snapshot: drained, clock });
    const { admin } = runAdmin({ snapshot: drained, clock, gateway });
    for (const step of [
      resumeSales,
      (from, at) => resume(from, 'servers', 'db-1', at),
    ] satisfies Transition[])
      expect((await admin.execute(step)).outcome).toBe('accepted');
    expect(admin.snapshot.draining).toBe(0);
    expect(admin.snapshot.services.find('sales')?.state).toBe('started');
  });
});
