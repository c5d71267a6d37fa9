import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteResource,
  EffectRefusedError,
  patchService,
  sequence,
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
});
