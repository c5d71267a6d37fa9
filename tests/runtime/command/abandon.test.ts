import { afterEach, describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createMemoryStore,
  deleteResource,
  drain,
  EffectRefusedError,
  patchService,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type ConfigurationStore,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold, type InspectWay, type ScriptedGateway } from 'gateway-admin-core/testing';

import { otherLife } from '../../support/event-reader.ts';
import { FailingStore } from '../../support/failing-store.ts';
import {
  appliedTo,
  openRunning,
  runAdmin,
  sampleGateway,
  type Running,
} from '../../support/running-admin.ts';
import { silentHost, type SilentHost } from '../../support/silent-host.ts';
import { transportNames, transports, type Transport } from '../../support/transport.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const accepted = { outcome: 'accepted', events: [], closed: { sessions: 0, connections: 0 } };

/** A stop whose outcome is unknown: the host does not answer `apply`, and `inspect` says not-in-place. */
async function unknownStop(transition: Transition = stop): Promise<SilentHost & { readonly id: string }> {
  const running = await silentHost(transition, 'not-in-place');
  running.gateway.otherwise({ inspect: 'not-in-place' });
  const id = idOf(await running.execution);
  // That apply has not settled: tests/runtime/host/host-error.test.ts.
  running.errors.splice(0);
  return { ...running, id };
}

function idOf(execution: Execution): string {
  if (execution.outcome !== 'unknown') throw new Error(`The outcome is ${execution.outcome}`);
  return execution.commandId;
}

function stateOf({ admin }: Running): string | undefined {
  return admin.snapshot.services.find('my-service')?.state;
}

describe('admin.commands', () => {
  it('lists the commands in flight in the order of their turns, each until it settles', async () => {
    const [first, second] = [hold(), hold()];
    const gateway = sampleGateway().will(first.apply, second.apply);
    const { admin, clock } = runAdmin({ gateway });
    const executions = [admin.execute(stop, { actor: 'ada' }), admin.execute(stopMain)];
    await second.begun;
    const since = Date.parse('2016-09-10T00:00:00Z');
    const [service, monitor] = ['/services/My-Service', '/monitors/Main-Monitor'];
    const [{ id } = { id: '' }, { id: other } = { id: '' }] = admin.commands();
    expect(admin.commands()).toEqual([
      {
        id,
        type: 'service.stopped',
        resource: service,
        resources: [service],
        actor: 'ada',
        since,
        outcome: 'pending',
      },
      {
        id: other,
        type: 'monitor.stopped',
        resource: monitor,
        resources: [monitor],
        since,
        outcome: 'pending',
      },
    ]);
    first.done();
    await executions[0];
    await clock.settle();
    expect(admin.commands().map(({ id }) => id)).toEqual([other]);
    second.done();
    await executions[1];
    await clock.settle();
    expect(admin.commands()).toEqual([]);
  });

  it('gives lists that nobody can change', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const links = ['/services/My-Service'];
    const execution = admin.execute((snapshot, context) => ({
      ...stop(snapshot, context),
      resources: links,
    }));
    await held.begun;
    links.pop();
    expect(() => (admin.commands()[0]?.resources as string[]).pop()).toThrow(TypeError);
    held.done();
    await execution;
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
  });

  it('leaves out the commands that wait for their turn', async () => {
    const { admin } = await silentHost(stop);
    const waiting = admin.execute(stop);
    expect(admin.commands()).toHaveLength(1);
    await waiting;
  });

  it('says when an outcome is unknown', async () => {
    const { admin, id } = await unknownStop();
    expect(admin.commands()).toMatchObject([{ id, outcome: 'unknown' }]);
  });
});

describe('admin.abandon', () => {
  // Promise: abandon
  it('frees the resources of a command of unknown outcome, without an event', async () => {
    const running = await unknownStop();
    const { admin, gateway, clock, id } = running;
    const { snapshot } = admin;
    expect(await admin.abandon(id)).toEqual({ ...accepted, snapshot });
    expect([admin.snapshot === snapshot, admin.commands(), clock.sleeping]).toEqual([true, [], 0]);
    gateway.otherwise({});
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    expect(stateOf(running)).toBe('stopped');
  });

  it('asks the host no more', async () => {
    const { admin, gateway, clock, id } = await unknownStop();
    await admin.abandon(id);
    const { length } = gateway.calls;
    await clock.advance(60_000);
    expect(gateway.calls).toHaveLength(length);
  });

  it('begins no further part of a teardown', async () => {
    const { admin, gateway, held, clock, id } = await unknownStop(
      sequence(stopMain, (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context)),
    );
    await admin.abandon(id);
    held.done();
    await clock.advance(60_000);
    expect(appliedTo(gateway)).toEqual(['monitor.stop /monitors/Main-Monitor']);
    expect(admin.snapshot.monitors.find('main-monitor')?.state).toBe('started');
  });

  it.each(['done', 'refused'] as const)(
    'begins no further effect when the call in flight is %s, not even an undo',
    async (end) => {
      const [first, second] = [hold(), hold()];
      const gateway = sampleGateway()
        .will(first.apply, second.apply)
        .willSee('not-in-place', 'in-place')
        .otherwise({ inspect: 'not-in-place' });
      const { admin, clock } = runAdmin({ gateway });
      const patch: Transition = (snapshot, context) =>
        patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 7 }], context);
      const execution = admin.execute(sequence(stop, patch, stopMain));
      await first.begun;
      await clock.advance(admin.limits.effectDeadlineMs);
      const { snapshot } = admin;
      const id = idOf(await execution);
      await clock.advance(1000);
      await second.begun;
      const abandoned = admin.abandon(id);
      await clock.settle();
      if (end === 'done') second.done();
      else second.fail(new EffectRefusedError('No.'));
      expect((await abandoned).outcome).toBe('accepted');
      await clock.advance(60_000);
      expect(appliedTo(gateway)).toEqual([
        'service.stop /services/My-Service',
        'service.update /services/My-Service',
      ]);
      expect([admin.snapshot === snapshot, admin.commands()]).toEqual([true, []]);
    },
  );

  it.each([
    [
      'done',
      (host: SilentHost) => host.held.done(),
      'was done after the deadline',
      'after the command was abandoned',
    ],
    [
      'failed',
      (host: SilentHost) => host.held.fail(new Error('the wire broke')),
      'the wire broke',
      'after the command was abandoned',
    ],
  ])('leaves a late answer (%s) to onError', async (_answer, answer, ...texts) => {
    const running = await unknownStop();
    await running.admin.abandon(running.id);
    answer(running);
    await running.clock.settle();
    expect(running.errors).toHaveLength(1);
    for (const text of texts) expect(String(running.errors[0])).toContain(text);
    expect(stateOf(running)).toBe('started');
  });

  it('ends the time in which the host may report what the command asked for', async () => {
    const startIdle: Transition = (snapshot, context) => startMonitor(snapshot, 'Idle Monitor', context);
    const { admin, errors, id } = await unknownStop(startIdle);
    const report = { type: 'monitor.reported', monitor: 'Idle Monitor', state: 'started' } as const;
    admin.report(report);
    expect(errors).toEqual([]);
    await admin.abandon(id);
    admin.report(report);
    expect(errors).toMatchObject([{ name: 'ReportError' }]);
  });

  it('is refused for a command whose outcome is awaited', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    const [{ id } = { id: '' }] = admin.commands();
    expect(await admin.abandon(id)).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'command-not-abandonable',
        status: 409,
        detail: `The outcome of the command ${id} is still awaited. A command can be abandoned only once its outcome is unknown. Wait for the answer of the command.`,
        command: id,
      },
      events: [],
    });
    held.done();
    expect((await execution).outcome).toBe('accepted');
  });

  it('is refused for an id that no command in flight has', async () => {
    const { admin, id } = await unknownStop();
    await admin.abandon(id);
    for (const missing of [id, '', 'constructor']) {
      expect(await admin.abandon(missing)).toMatchObject({
        outcome: 'refused',
        problem: { code: 'command-not-found', status: 404 },
      });
    }
  });

  it('is refused after close', async () => {
    const { admin, id } = await unknownStop();
    await admin.close();
    expect(await admin.abandon(id)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
  });

  it('rejects for an id that is no text', async () => {
    const { admin } = runAdmin();
    await expect(admin.abandon(7 as unknown as string)).rejects.toThrow(
      'The id of a command must be a string',
    );
  });
});

describe('an abandoned command at the next start', () => {
  /** Abandons a stop, and lets the process end. */
  async function leftBehind(): Promise<{ readonly store: ConfigurationStore; readonly id: string }> {
    const store = createMemoryStore();
    const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const { admin, clock } = await openRunning(store, { gateway });
    const execution = admin.execute(stop, { actor: 'ada' });
    await clock.advance(admin.limits.effectDeadlineMs);
    const id = idOf(await execution);
    await admin.abandon(id);
    return { store, id };
  }

  const openSeeing = (store: ConfigurationStore, ...seen: readonly InspectWay[]): Promise<Running> =>
    openRunning(store, { gateway: sampleGateway().willSee(...seen) });

  // Promise: abandon-inspected
  it('is inspected once, and settles if it is in place', async () => {
    const { store, id } = await leftBehind();
    const running = await openSeeing(store, 'in-place');
    const reader = running.admin.events({ after: otherLife });
    expect([stateOf(running), running.gateway.calls.map(({ method }) => method)]).toEqual([
      'stopped',
      ['inspect'],
    ]);
    await reader.next();
    expect(await reader.next()).toMatchObject({
      value: { event: { type: 'service.stopped', command: id, actor: 'ada' } },
    });
    await running.admin.close();
    expect((await openSeeing(store)).gateway.calls).toEqual([]);
  });

  it('is inspected once, and leaves no trace if it is not in place', async () => {
    const { store } = await leftBehind();
    const running = await openSeeing(store, 'not-in-place');
    expect([stateOf(running), running.errors, running.admin.commands()]).toEqual(['started', [], []]);
    expect(running.gateway.calls.map(({ method }) => method)).toEqual(['inspect']);
    await running.admin.close();
    expect((await openSeeing(store)).gateway.calls).toEqual([]);
  });

  it('holds nothing while the host does not say, and is inspected again at the start after that', async () => {
    const { store, id } = await leftBehind();
    const running = await openSeeing(store, new Error('cannot see'));
    expect(running.errors).toMatchObject([{ name: 'HostError' }, { message: expect.stringContaining(id) }]);
    expect([stateOf(running), running.admin.commands()]).toEqual(['started', []]);
    await running.admin.close();
    expect(stateOf(await openSeeing(store, 'in-place'))).toBe('stopped');
  });

  it('keeps the interface closed if the store does not keep what became of it', async () => {
    const { store, id } = await leftBehind();
    const failing = new FailingStore(store);
    failing.failAfter(1, 'rejects, and nothing is kept');
    await expect(openSeeing(failing, 'in-place')).rejects.toThrow('The disk is full');
    const running = await openSeeing(store, 'in-place');
    const reader = running.admin.events({ after: otherLife });
    await reader.next();
    expect(await reader.next()).toMatchObject({ value: { event: { type: 'service.stopped', command: id } } });
  });

  const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
  const drainIt: Transition = (snapshot, context) => drain(snapshot, 'services', 'My Service', {}, context);

  it.each([
    ['start', [stop], start, [hold().apply], [drainIt], ['in-place']],
    ['drain', [], drainIt, ['done', hold().apply], [stop, start], ['not-in-place', 'in-place']],
  ] as const)(
    'leaves no service that drains and is not stopped, when a %s settles after later commands',
    async (_what, before, abandoned, ways, after, seen) => {
      const store = createMemoryStore();
      const gateway = sampleGateway();
      const { admin, clock } = await openRunning(store, { gateway });
      for (const step of before) await admin.execute(step);
      gateway.will(...ways).otherwise({ inspect: 'not-in-place' });
      const execution = admin.execute(abandoned);
      await clock.advance(admin.limits.effectDeadlineMs);
      await admin.abandon(idOf(await execution));
      gateway.otherwise({});
      for (const step of after) expect((await admin.execute(step)).outcome).toBe('accepted');
      await admin.close();
      const running = await openSeeing(store, ...seen);
      const { state, settings } = running.admin.snapshot.services.find('my-service') ?? {};
      expect([state, settings?.drain, running.gateway.calls.length]).toEqual([
        'started',
        undefined,
        seen.length,
      ]);
      await running.admin.close();
      expect(stateOf(await openSeeing(store))).toBe('started');
    },
  );

  it('makes no event of what a later command has done', async () => {
    const { store } = await leftBehind();
    const between = await openSeeing(store, new Error('cannot see'));
    await between.admin.execute(stop);
    await between.admin.close();
    const running = await openSeeing(store, 'in-place');
    const reader = running.admin.events();
    await running.admin.execute(stopMain);
    expect(await reader.next()).toMatchObject({ value: { event: { type: 'monitor.stopped' } } });
  });

  it('ends without a trace when its resource was deleted since, although the host does not know the resource', async () => {
    const { store } = await leftBehind();
    const between = await openSeeing(store, new Error('cannot see'));
    const deletion: Transition = (snapshot, context) =>
      deleteResource(snapshot, 'services', 'My Service', context);
    const deleted = await between.admin.execute(sequence(stop, deletion));
    expect(deleted.outcome).toBe('accepted');
    await between.admin.close();
    const running = await openSeeing(store, new Error('There is no such service.'));
    expect([running.admin.commands(), stateOf(running)]).toEqual([[], undefined]);
    expect(running.errors.map(String).filter((text) => text.includes('abandoned'))).toEqual([]);
    await running.admin.close();
    expect((await openSeeing(store)).gateway.calls).toEqual([]);
  });

  it('is not inspected about the part that has settled', async () => {
    const { store } = await leftBehind();
    const { state, records } = await store.load();
    const [intent, abandonment] = records as readonly { readonly command: string; readonly events: Json }[];
    const part = { type: 'settlement', command: intent?.command ?? '', revision: 1, last: false };
    const settled = { ...part, events: intent?.events ?? [] };
    const history = [{ ...intent, of: 2 }, settled, abandonment ?? null] as readonly Json[];
    const between = createMemoryStore({ ...(state === undefined ? {} : { state }), records: history });
    const running = await openSeeing(between);
    expect([stateOf(running), running.gateway.calls, running.admin.commands()]).toEqual(['stopped', [], []]);
    await running.admin.close();
  });

  /**
   * Abandons a stop whose call is lost. The process then ends in the middle of a sequence that has stopped the service
   * again, and has not stopped the monitor yet.
   */
  async function leftBehindSequence(): Promise<{
    readonly store: ConfigurationStore;
    readonly gateway: ScriptedGateway;
  }> {
    const store = createMemoryStore();
    const gateway = sampleGateway().will(hold().apply, 'done', hold().apply).willSee('not-in-place');
    const { admin, clock } = await openRunning(store, { gateway });
    const execution = admin.execute(stop);
    await clock.advance(admin.limits.effectDeadlineMs);
    await admin.abandon(idOf(await execution));
    admin.execute(sequence(stop, stopMain)).catch(() => undefined);
    await clock.settle();
    gateway.dropCalls();
    return { store, gateway };
  }

  it('is inspected after an open command on its resource has ended: what that had done is undone by then', async () => {
    const { store, gateway } = await leftBehindSequence();
    const running = await openRunning(store, { gateway });
    expect([stateOf(running), running.errors]).toEqual(['started', []]);
    expect(gateway.state.services['my-service']?.state).toBe('started');
    await running.admin.close();
    const { length } = gateway.calls;
    expect(stateOf(await openRunning(store, { gateway }))).toBe('started');
    expect(gateway.calls).toHaveLength(length);
  });

  it('is not inspected while the outcome of an open command on its resource is unknown', async () => {
    const { store, gateway } = await leftBehindSequence();
    gateway.otherwise({ inspect: new Error('cannot see') });
    const running = await openRunning(store, { gateway });
    const [{ id } = { id: '' }, ...others] = running.admin.commands();
    expect([gateway.inspected.at(-1)?.type, others]).toEqual(['service.stop', []]);
    expect(new Set(gateway.calls.slice(4).map(({ context }) => context.commandId))).toEqual(new Set([id]));
    expect(running.errors).toMatchObject([
      { name: 'HostError' },
      {
        message: expect.stringMatching(
          new RegExp(`^The gateway was not asked what became of the abandoned command .* command ${id} `),
        ),
      },
    ]);
    // Ends the search, and undoes what is left of the sequence.
    gateway.otherwise({});
    await running.clock.advance(1000);
    expect([stateOf(running), running.admin.commands()]).toEqual(['started', []]);
    await running.admin.close();
    const next = await openRunning(store, { gateway });
    expect([stateOf(next), next.errors]).toEqual(['started', []]);
    expect(gateway.state.services['my-service']?.state).toBe('started');
    await next.admin.close();
    const { length } = gateway.calls;
    await openRunning(store, { gateway });
    expect(gateway.calls).toHaveLength(length);
  });

  it('settles only what is in place of several effects', async () => {
    const store = createMemoryStore();
    const gateway = sampleGateway().will('done', hold().apply).otherwise({ inspect: 'not-in-place' });
    const { admin, clock } = await openRunning(store, { gateway });
    const execution = admin.execute(sequence(stopMain, stop));
    await clock.advance(admin.limits.effectDeadlineMs);
    await admin.abandon(idOf(await execution));
    await admin.close();
    const running = await openSeeing(store, 'in-place', 'not-in-place');
    expect([running.admin.snapshot.monitors.find('main-monitor')?.state, stateOf(running)]).toEqual([
      'stopped',
      'started',
    ]);
  });
});

describe('a command that an earlier life left in flight', () => {
  it('can be abandoned as well', async () => {
    const store = createMemoryStore();
    const earlier = await openRunning(store, { gateway: sampleGateway().will(hold().apply) });
    earlier.admin.execute(stop).catch(() => undefined);
    await earlier.clock.settle();
    const gateway = sampleGateway().otherwise({ inspect: new Error('cannot see') });
    const { admin, errors } = await openRunning(store, { gateway });
    const [{ id, since, outcome } = { id: '', since: 0, outcome: '' }] = admin.commands();
    expect([since, outcome]).toEqual([Date.parse('2016-09-10T00:00:00Z'), 'unknown']);
    errors.splice(0);
    expect((await admin.abandon(id)).outcome).toBe('accepted');
    expect(errors).toEqual([]);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
  });
});

describe('abandoning while the store fails', () => {
  async function unknownWith(store: FailingStore): Promise<Running & { readonly id: string }> {
    const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const running = await openRunning(store, { gateway });
    const execution = running.admin.execute(stop);
    await running.clock.advance(running.admin.limits.effectDeadlineMs);
    return { ...running, id: idOf(await execution) };
  }

  it('is refused if the store has not got the record, and the command stays in flight', async () => {
    const store = new FailingStore();
    const { admin, clock, id } = await unknownWith(store);
    store.fail();
    const other = admin.execute(stopMain);
    await clock.settle();
    expect(await other).toMatchObject({ problem: { code: 'store-unavailable' } });
    expect(await admin.abandon(id)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'store-unavailable', status: 503 },
    });
    expect(admin.commands()).toMatchObject([{ id, outcome: 'unknown' }]);
  });

  it('is done if the store may have got the record, and the record stands before later ones', async () => {
    const memory = createMemoryStore();
    const store = new FailingStore(memory);
    const { admin, clock, id } = await unknownWith(store);
    store.fail('rejects, and all is kept');
    const abandoned = admin.abandon(id);
    await clock.settle();
    expect([(await abandoned).outcome, admin.commands()]).toEqual(['accepted', []]);
    store.work();
    await clock.advance(1000);
    await admin.execute(stopMain);
    const { records } = await memory.load();
    const types = records.map((record) => (record as { readonly type: string }).type);
    expect(types).toEqual(['intent', 'abandonment', 'intent', 'settlement']);
  });
});

describe.each(transportNames)('through %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
  });

  it('GET /commands lists the commands in flight, and DELETE abandons one', async () => {
    const { admin, id } = await unknownStop();
    const { send } = (transport = await transports[name](admin));
    const listed = await send('GET', '/commands?fields=id,outcome,since');
    expect(listed).toMatchObject({
      status: 200,
      body: [{ id, outcome: 'unknown', since: expect.any(String) }],
    });
    expect([listed.headers['x-total-count'], listed.headers['etag']]).toEqual(['1', undefined]);
    const target = `/commands/${id}`;
    const plan = await send('DELETE', `${target}?dry_run=true`);
    expect(plan).toMatchObject({ status: 200, body: { outcome: 'accepted', events: [], effects: [] } });
    expect(await send('DELETE', target, { headers: { 'if-match': '"other"' } })).toMatchObject({
      status: 412,
    });
    expect(await send('DELETE', '/commands/none', { headers: { 'if-match': '"other"' } })).toMatchObject({
      status: 404,
      body: { code: 'command-not-found' },
    });
    expect(await send('DELETE', target)).toMatchObject({ status: 204, text: '' });
    expect(await send('DELETE', target)).toMatchObject({ status: 404, body: { code: 'command-not-found' } });
    expect((await send('GET', '/commands')).body).toEqual([]);
  });

  it('DELETE of a command whose outcome is awaited is a 409', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    const { send } = (transport = await transports[name](admin));
    const [{ id } = { id: '' }] = admin.commands();
    for (const query of ['', '?dry_run=true']) {
      expect(await send('DELETE', `/commands/${id}${query}`)).toMatchObject({
        status: 409,
        body: { code: 'command-not-abandonable', command: id },
      });
    }
    held.done();
    await execution;
  });
});
