import { describe, expect, it } from '@jest/globals';
import {
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

import { runAdmin, type Running } from '../../support/running-admin.ts';

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

  it('is taken back part by part, and says if the gateway refuses one of them', async () => {
    const { admin, gateway } = running();
    const again =
      (name: string): Transition =>
      (from, context) =>
        sequence(
          (given, own) => deleteResource(given, 'servers', name, own, { detach: true }),
          (given, own) => createResource(given, 'servers', { ...db(name), port: 1 }, own),
        )(from, context);
    const refuse = new EffectRefusedError('No.');
    gateway.will('done', 'done', 'done', 'done', refuse, 'done', 'done', refuse);
    const execution = await admin.execute(sequence(again('spare'), again('db-1')));
    expect(execution).toMatchObject({
      outcome: 'refused',
      problem: {
        detail:
          'The gateway refused: No. Only some of what was done before that could be taken back: the events say what.',
      },
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
