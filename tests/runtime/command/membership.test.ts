import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createListener,
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteListener,
  deleteResource,
  EffectRefusedError,
  patchServer,
  patchService,
  sequence,
  startService,
  stopService,
  toDocument,
  type GatewayDocument,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, hold } from 'gateway-admin-core/testing';

import { openedSession, openedSessions } from '../../support/opened-session.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';

const db = (name: string) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const document: GatewayDocument = {
  servers: [db('db-1'), db('spare')],
  services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'] }],
};
const snapshot = createSnapshot(document);

const createServer: Transition = (from, context) => createResource(from, 'servers', db('db-9'), context);
const createService: Transition = (from, context) =>
  createResource(from, 'services', { name: 'New', router: 'cli', servers: ['/servers/db-1'] }, context);
const stopSales: Transition = (from, context) => stopService(from, 'Sales', context);
const deleteSpare: Transition = (from, context) => deleteResource(from, 'servers', 'spare', context);
const list =
  (name: string): Transition =>
  (from, context) =>
    patchService(from, 'Sales', [{ op: 'add', path: '/servers/-', value: `/servers/${name}` }], context);

function running(): Running & { readonly gateway: ReturnType<typeof createScriptedGateway> } {
  const clock = createVirtualClock(0);
  const gateway = createScriptedGateway({ snapshot, clock });
  return { ...runAdmin({ snapshot, gateway, clock }), gateway };
}

describe('a deletion that the gateway refuses to undo', () => {
  const limit: Transition = (from, context) =>
    patchServer(from, 'db-1', [{ op: 'replace', path: '/port', value: 1 }], context);
  const detach: Transition = (from, context) =>
    deleteResource(from, 'servers', 'spare', context, { detach: true });
  const dropService: Transition = (from, context) => deleteResource(from, 'services', 'Other', context);

  it.each([
    // The list of the service loses the server first, and the refused change comes after both.
    ['of a server that a service has listed', sequence(detach, limit), 2],
    ['of a server after that of the service that lists it', sequence(dropService, deleteSpare, limit), 2],
  ])('%s stands, and nothing lists what is gone', async (_what, command, done) => {
    const listing = { name: 'Other', router: 'cli', state: 'stopped', servers: ['/servers/spare'] } as const;
    const before = createSnapshot({ ...document, services: [listing] });
    const store = createMemoryStore();
    const gateway = createScriptedGateway({ snapshot: before });
    const life = await openRunning(store, { snapshot: before, gateway });
    const no = new EffectRefusedError('No.');
    gateway.will(...Array.from({ length: done }, () => 'done' as const), no, no);
    expect((await life.admin.execute(command)).outcome).toBe('refused');
    const { snapshot: after } = life.admin;
    expect(after.servers.find('spare')).toBeUndefined();
    expect(() => createSnapshot(toDocument(after))).not.toThrow();
    expect(gateway.differences(after)).toEqual([]);
    await life.admin.close();
    // A store that has it otherwise could not be opened.
    const next = await openRunning(store, { snapshot: before, gateway });
    await next.admin.close();
  });
});

describe('a creation', () => {
  it('settles before what rests on it begins: a session of the first moment counts', async () => {
    const { admin, gateway } = running();
    gateway.will('done', (_effect, _context, perform) => {
      perform();
      admin.report(gateway.openSession('New'));
      return Promise.resolve();
    });
    expect((await admin.execute(createService)).outcome).toBe('accepted');
    expect(admin.snapshot.sessions.countOfService('new')).toBe(1);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  // Promise: create-and-start
  it('is taken back if the gateway refuses what rests on it: nothing was changed, and the events say both', async () => {
    const { admin, gateway } = running();
    gateway.will('done', new EffectRefusedError('The port is taken.'));
    const execution = await admin.execute(createService);
    expect(execution).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'effect-refused',
        detail: 'The gateway refused: The port is taken. Nothing was changed.',
      },
    });
    expect('events' in execution && execution.events.map(({ type }) => type)).toEqual([
      'service.created',
      'service.deleted',
    ]);
    expect(admin.snapshot.services.find('new')).toBeUndefined();
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  const refuse = new EffectRefusedError('No.');
  it.each([
    [
      'one of them',
      [refuse],
      'Only some of what was done before that could be taken back: the events say what.',
    ],
    [
      'to undo one of them',
      [refuse, refuse],
      'Some earlier changes stand, because the gateway refused to undo them: service.updated of /services/Sales.',
    ],
  ])('is taken back part by part, and says if the gateway refuses %s', async (_what, refusals, detail) => {
    const { admin, gateway } = running();
    const again =
      (name: string): Transition =>
      (from, context) =>
        sequence(
          (given, own) => deleteResource(given, 'servers', name, own, { detach: true }),
          (given, own) => createResource(given, 'servers', { ...db(name), port: 1 }, own),
        )(from, context);
    gateway.will('done', 'done', 'done', 'done', refuse, 'done', 'done', ...refusals);
    const execution = await admin.execute(sequence(again('spare'), again('db-1')));
    expect(execution).toMatchObject({
      outcome: 'refused',
      problem: { detail: `The gateway refused: No. ${detail}` },
    });
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('takes up a report that came before it was settled', async () => {
    const { admin, gateway, errors } = running();
    gateway.will((_effect, _context, perform) => {
      perform();
      admin.report(gateway.findStatus('db-9', ['running']));
      return Promise.resolve();
    });
    expect((await admin.execute(createServer)).outcome).toBe('accepted');
    expect([admin.snapshot.servers.find('db-9')?.settings.state, errors]).toEqual([['running'], []]);
  });

  it.each([
    ['closes many sessions', false, 2500],
    ['closes nothing that its plan covers', true, 0],
  ])(
    'settles before a long teardown that %s, and a restart can read the journal',
    async (_how, marked, closed) => {
      const store = createMemoryStore();
      const { admin, gateway, clock } = await openRunning(store);
      const [covered = openedSession(0), ...others] = openedSessions(2501);
      const closeAll: Transition = (from, context) => closeServiceSessions(from, 'My Service', context);
      const whole = sequence(createServer, closeAll);
      admin.report(covered);
      const plan = admin.plan(whole);
      const mark = 'mark' in plan && marked ? { mark: plan.mark } : {};
      admin.report([{ type: 'session.closed', id: covered.id, connected: covered.connected }, ...others]);
      const execution = await clock.waitFor(admin.execute(whole, mark));
      expect(execution).toMatchObject({ outcome: 'accepted', closed: { sessions: closed } });
      const closings = Array.from({ length: Math.ceil(closed / 1000) }, () => 'sessions.close');
      expect(gateway.applied.map(({ type }) => type)).toEqual(['server.create', ...closings]);
      const { records } = await store.load();
      expect(records.filter((each) => (each as { last?: boolean }).last === true)).toEqual([records.at(-1)]);
      await admin.close();
      const next = await openRunning(store, { gateway });
      expect(next.admin.snapshot.servers.find('db-9')).toBeDefined();
      expect(next.admin.commands()).toEqual([]);
    },
  );

  it('waits for another one of the same name in another case', async () => {
    const { admin, gateway } = running();
    const held = hold();
    gateway.will(held.apply);
    const [first, second] = [
      admin.execute(createServer),
      admin.execute((from, context) => createResource(from, 'servers', db('DB-9'), context)),
    ];
    await held.begun;
    held.done();
    expect((await first).outcome).toBe('accepted');
    expect(await second).toMatchObject({ problem: { code: 'resource-exists' } });
    expect(gateway.calls).toHaveLength(1);
  });
});

describe('a deletion', () => {
  // Promise: link-never-dead
  it('and a patch that adds the link wait for each other', async () => {
    for (const commands of [
      [deleteSpare, list('spare')],
      [list('spare'), deleteSpare],
    ]) {
      const { admin, gateway } = running();
      const held = hold();
      gateway.will(held.apply);
      const [first, second] = commands.map((command) => admin.execute(command));
      await held.begun;
      held.done();
      expect((await first)?.outcome).toBe('accepted');
      expect(await second).toMatchObject({
        problem: { code: commands[0] === deleteSpare ? 'link-unresolved' : 'resource-in-use' },
      });
      expect(() => createSnapshot(toDocument(admin.snapshot))).not.toThrow();
    }
  });

  it('is not asked of the gateway if a session has opened since the decision', async () => {
    const { admin, gateway } = running();
    const whole = sequence(
      (from, context) => stopService(from, 'Sales', context),
      (from, context) => deleteResource(from, 'services', 'Sales', context),
    );
    gateway.will((_effect, _context, perform) => {
      admin.report(gateway.openSession('Sales'));
      perform();
      return Promise.resolve();
    });
    expect(await admin.execute(whole)).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'effect-refused',
        detail: 'The service "Sales" has open sessions (1): close them first. Nothing was changed.',
      },
    });
    expect(gateway.applied.map(({ type }) => type)).toEqual(['service.stop', 'service.start']);
    expect(admin.snapshot.services.find('sales')?.state).toBe('started');
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('is taken back if the gateway refuses what comes into its place', async () => {
    const { admin, gateway } = running();
    gateway.will('done', new EffectRefusedError('No room.'));
    const replaced = sequence(deleteSpare, (from, context) =>
      createResource(from, 'servers', { ...db('SPARE'), address: '10.0.0.2' }, context),
    );
    expect(await admin.execute(replaced)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'effect-refused', detail: 'The gateway refused: No room. Nothing was changed.' },
      events: [{ type: 'server.deleted' }, { type: 'server.created' }],
    });
    expect(admin.snapshot.servers.find('spare')?.settings.address).toBe('10.0.0.1');
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('that can still be taken back holds what the deleted resource lists', async () => {
    const { admin, gateway } = running();
    const refusal = hold();
    // Deleted, created again, and the start of that is refused; then the old one comes back.
    gateway.will('done', 'done', 'done', refusal.apply);
    const replace: Transition = sequence(
      stopSales,
      (from, context) => deleteResource(from, 'services', 'Sales', context),
      (from, context) => createResource(from, 'services', { name: 'Sales', router: 'b' }, context),
    );
    const replacing = admin.execute(replace);
    await refusal.begun;
    const deleting = admin.execute((from, context) => deleteResource(from, 'servers', 'db-1', context));
    refusal.fail(new EffectRefusedError('No.'));
    expect((await replacing).outcome).toBe('refused');
    expect(await deleting).toMatchObject({ outcome: 'refused', problem: { code: 'resource-in-use' } });
    expect(() => createSnapshot(toDocument(admin.snapshot))).not.toThrow();
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('makes late reports no fault for a minute', async () => {
    const { admin, clock, errors } = running();
    const late = { type: 'server.reported', server: 'SPARE', status: ['running'] } as const;
    await admin.execute(deleteSpare);
    admin.report(late);
    expect(errors).toEqual([]);
    await clock.advance(60_000);
    admin.report(late);
    expect(errors).toHaveLength(1);
  });

  describe('of a service whose name is used again', () => {
    const again = { name: 'SALES', router: 'cli' };
    const useAgain: Transition = (from, context) => createResource(from, 'services', again, context);
    const deleteSales: Transition = (from, context) => deleteResource(from, 'services', 'Sales', context);
    const opened = (connected: number) => ({ ...openedSession(connected), service: 'Sales', connected });

    it.each([
      ['in one command', [sequence(stopSales, deleteSales, useAgain)]],
      ['by three commands', [stopSales, deleteSales, useAgain]],
    ])('makes a session of the earlier service no session of the later one: %s', async (_how, commands) => {
      const { admin, clock, errors } = running();
      await clock.advance(5400);
      for (const command of commands) expect((await admin.execute(command)).outcome).toBe('accepted');
      await clock.advance(2000);
      const before = admin.snapshot;
      admin.report([opened(4999), { type: 'session.updated', id: 4999, connected: 4999, idle: 1 }]);
      expect(admin.snapshot).toBe(before);
      // A host may have no more than whole seconds.
      admin.report([opened(5000), opened(5400)]);
      expect(admin.snapshot.sessions.countOfService('sales')).toBe(2);
      expect(errors).toEqual([]);
    });

    it('makes a report of the earlier start no start of the later service', async () => {
      const { admin, clock, errors } = running();
      await clock.advance(5400);
      await admin.execute(sequence(stopSales, deleteSales, useAgain));
      const started = admin.snapshot.services.find('sales')?.started;
      const failed = {
        type: 'service.reported',
        service: 'Sales',
        state: 'failed',
        reason: 'Late.',
      } as const;
      admin.report({ ...failed, started: 4000 });
      expect(admin.snapshot.services.find('sales')).toMatchObject({ state: 'started', started });
      admin.report(failed);
      expect(admin.snapshot.services.find('sales')?.state).toBe('failed');
      expect(errors).toEqual([]);
    });

    it('loses no session if the clock was set back meanwhile', async () => {
      const clock = createVirtualClock(100_000);
      const { admin } = runAdmin({ snapshot, clock });
      await admin.execute(sequence(stopSales, deleteSales, useAgain));
      clock.jumpTo(70_000);
      admin.report(opened(clock.now()));
      expect(admin.snapshot.sessions.countOfService('sales')).toBe(1);
    });
  });
});

describe('a process that dies in a sequence', () => {
  const listener = { name: 'first', protocol: 'pg', address: '::', port: 4000 };
  const given = createSnapshot({
    ...document,
    services: [{ name: 'Sales', router: 'cli', listeners: [listener] }],
  });
  const stop: Transition = (from, context) => stopService(from, 'Sales', context);
  const start: Transition = (from, context) => startService(from, 'Sales', context);
  const deleteSales: Transition = (from, context) => deleteResource(from, 'services', 'Sales', context);
  const listening =
    (port: number, name = 'first'): Transition =>
    (from, context) =>
      createListener(from, 'Sales', { ...listener, name, port }, context);
  const move: Transition = (from, context) =>
    patchServer(from, 'spare', [{ op: 'replace', path: '/port', value: 7 }], context);

  // Promise: recovery-undo
  it.each<[string, readonly Transition[], number]>([
    ['that changes a server and deletes it', [move, deleteSpare], 2],
    ['that stops a service and deletes it', [stop, deleteSales], 2],
    ['that stops, starts, stops and deletes a service', [stop, start, stop, deleteSales], 4],
    ['that deletes a service with a new listener', [stop, listening(4001, 'second'), deleteSales], 3],
    ['that deletes before another change', [move, deleteSpare, stop], 3],
    [
      'that puts a server in the place of another',
      [
        deleteSpare,
        (from, context) => createResource(from, 'servers', { ...db('SPARE'), address: '10.0.0.2' }, context),
      ],
      2,
    ],
    [
      'that puts a service in the place of another',
      [
        stop,
        deleteSales,
        (from, context) => createResource(from, 'services', { name: 'SALES', router: 'other' }, context),
      ],
      4,
    ],
    [
      'that puts a listener in the place of another',
      [(from, context) => deleteListener(from, 'Sales', 'first', context), listening(4001)],
      2,
    ],
  ])(
    '%s leaves the gateway and the snapshot equal, at whatever effect it dies',
    async (_what, steps, effects) => {
      for (const [answered, isLastDone] of deaths(effects)) {
        const [clock, store] = [createVirtualClock(0), createMemoryStore()];
        const gateway = createScriptedGateway({ snapshot: given, clock });
        const dying = await openRunning(store, { snapshot: given, gateway, clock });
        gateway.will(...Array<'done'>(answered).fill('done'), (_effect, _context, perform) => {
          if (isLastDone) perform();
          return new Promise(() => undefined);
        });
        dying.admin.execute(sequence(...steps)).catch(() => undefined);
        await clock.settle();
        expect(gateway.applied).toHaveLength(answered + 1);
        gateway.dropCalls();
        const { admin } = await openRunning(store, { snapshot: given, gateway, clock });
        expect(admin.commands()).toEqual([]);
        expect(gateway.differences(admin.snapshot)).toEqual([]);
        await admin.close();
      }
    },
  );

  // Promise: recovery-undo
  it('leaves what the gateway has refused to undo, when it dies on the way back', async () => {
    const [clock, store, refused] = [
      createVirtualClock(0),
      createMemoryStore(),
      new EffectRefusedError('No.'),
    ];
    const gateway = createScriptedGateway({ snapshot: given, clock });
    const dying = await openRunning(store, { snapshot: given, gateway, clock });
    gateway.will('done', 'done', refused, refused, () => new Promise(() => undefined));
    dying.admin.execute(sequence(createServer, move, stop)).catch(() => undefined);
    await clock.settle();
    expect(gateway.calls.map(({ effect }) => effect.type).at(-1)).toBe('server.delete');
    gateway.dropCalls();
    const { admin } = await openRunning(store, { snapshot: given, gateway, clock });
    expect(admin.snapshot.servers.find('spare')?.settings.port).toBe(7);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  /** The effects at which a process can die: how many were answered, and whether the gateway has done the next one. */
  function deaths(effects: number): readonly (readonly [answered: number, isLastDone: boolean])[] {
    return Array.from({ length: effects }, (_, at) => [[at, false] as const, [at, true] as const]).flat();
  }
});
