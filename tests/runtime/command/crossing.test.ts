import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createMemoryStore,
  createSnapshot,
  deleteResource,
  EffectRefusedError,
  patchServer,
  patchService,
  sequence,
  startService,
  stopService,
  type HostReport,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { Crossings } from '../../../src/runtime/command/crossing.ts';
import { FailingStore } from '../../support/failing-store.ts';
import {
  appliedTo,
  openRunning,
  runAdmin,
  sampleGateway,
  type Running,
} from '../../support/running-admin.ts';

const start: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);
const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const limit: Transition = (snapshot, context) =>
  patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value: 7 }], context);

function reportOf(service: string, state: 'started' | 'failed'): HostReport {
  return { type: 'service.reported', service, state };
}

function stateOf({ admin }: Pick<Running, 'admin'>, key: string): string | undefined {
  return admin.snapshot.services.find(key)?.state;
}

describe('a report that crosses a command', () => {
  it('of a failure after a start, before the start is stored: the failure is shown', async () => {
    const gateway = sampleGateway();
    const running = await openRunning(createMemoryStore(), { gateway });
    gateway.will((_effect, _context, perform) => {
      perform();
      running.admin.report(gateway.failService('Bare Service'));
      return Promise.resolve();
    });
    expect((await running.admin.execute(start)).outcome).toBe('accepted');
    expect(stateOf(running, 'bare-service')).toBe('failed');
    expect(running.errors).toEqual([]);
    await running.admin.close();
  });

  it('of a start that is in flight is no error, and is true afterwards', async () => {
    const held = hold();
    const running = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = running.admin.execute(start);
    await held.begun;
    running.admin.report({ ...reportOf('Bare Service', 'started'), started: 7 } as HostReport);
    expect([stateOf(running, 'bare-service'), running.errors]).toEqual(['stopped', []]);
    held.done();
    await execution;
    expect(running.admin.snapshot.services.find('bare-service')).toMatchObject({
      state: 'started',
      started: 7,
    });
  });

  it('of a failure before a stop that is then undone: the service runs, and is shown so', async () => {
    const gateway = sampleGateway();
    const running = runAdmin({ gateway });
    gateway.will((_effect, _context, perform) => {
      running.admin.report(gateway.failService('My Service'));
      perform();
      return Promise.resolve();
    }, new EffectRefusedError('No.'));
    expect((await running.admin.execute(sequence(stop, limit))).outcome).toBe('refused');
    expect(gateway.differences(running.admin.snapshot)).toEqual([]);
    expect(stateOf(running, 'my-service')).toBe('started');
  });

  it('of a status before a deletion that is then undone: nobody has looked at the server since', async () => {
    const server = { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' };
    const snapshot = createSnapshot({ servers: [server], services: [{ name: 'My Service', router: 'r' }] });
    const gateway = sampleGateway({ snapshot });
    const running = runAdmin({ snapshot, gateway });
    running.admin.report(gateway.findStatus('db-1', ['running']));
    gateway.will('done', new EffectRefusedError('No.'));
    const drop: Transition = (now, context) => deleteResource(now, 'servers', 'db-1', context);
    expect((await running.admin.execute(sequence(drop, limit))).outcome).toBe('refused');
    expect(appliedTo(gateway).at(-1)).toBe('server.create /servers/db-1');
    expect(gateway.differences(running.admin.snapshot)).toEqual([]);
    expect(running.admin.snapshot.servers.find('db-1')?.settings.state).toEqual([]);
  });

  it('of a failure after the undo of a stop: the failure is shown', async () => {
    const gateway = sampleGateway();
    const running = runAdmin({ gateway });
    gateway.will('done', new EffectRefusedError('No.'), (_effect, _context, perform) => {
      perform();
      running.admin.report(gateway.failService('My Service'));
      return Promise.resolve();
    });
    expect((await running.admin.execute(sequence(stop, limit))).outcome).toBe('refused');
    expect(gateway.differences(running.admin.snapshot)).toEqual([]);
    expect(stateOf(running, 'my-service')).toBe('failed');
  });

  it('of a failure before the service is started again by the same command: the service runs, and is shown so', async () => {
    const gateway = sampleGateway();
    const running = runAdmin({ gateway });
    gateway.will((_effect, _context, perform) => {
      running.admin.report(gateway.failService('My Service'));
      perform();
      return Promise.resolve();
    });
    const startAgain: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
    expect((await running.admin.execute(sequence(stop, startAgain))).outcome).toBe('accepted');
    expect(gateway.differences(running.admin.snapshot)).toEqual([]);
    expect(stateOf(running, 'my-service')).toBe('started');
  });

  it('of a failure of what was stopped meanwhile changes nothing', async () => {
    const gateway = sampleGateway();
    const running = runAdmin({ gateway });
    const late = gateway.failService('My Service');
    await running.admin.execute(stop);
    const { snapshot } = running.admin;
    running.admin.report(late);
    expect([running.admin.snapshot === snapshot, running.errors]).toEqual([true, []]);
  });

  it('is forgotten when the command is refused, also while the store does not answer', async () => {
    const store = new FailingStore();
    const held = hold();
    const running = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
    const execution = running.admin.execute(start);
    await held.begun;
    store.fail();
    held.fail(new EffectRefusedError('No.'));
    expect((await execution).outcome).toBe('refused');
    const before = running.errors.length;
    running.admin.report(reportOf('Bare Service', 'started'));
    expect(running.errors.slice(before).map(String)).toEqual([expect.stringContaining('which is stopped')]);
    store.work();
    await running.clock.advance(60_000);
    await running.admin.close();
  });

  it('of a role, while the store keeps the intent to set a server down: the server has no role', async () => {
    const snapshot = createSnapshot({
      servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
    });
    const setDown: Transition = (state, context) =>
      patchServer(state, 'db', [{ op: 'replace', path: '/state', value: [] }], context);
    const store = new FailingStore();
    const running = await openRunning(store, { snapshot });
    const append = store.append.bind(store);
    store.append = (...args) => {
      store.append = append;
      running.admin.report({ type: 'server.reported', server: 'db', status: ['running', 'master'] });
      return append(...args);
    };
    expect((await running.admin.execute(setDown)).outcome).toBe('accepted');
    expect(running.admin.snapshot.servers.find('db')?.settings.state).toEqual([]);
    await running.admin.close();
  });

  it('of a status after an update, before the update is stored: the status is shown', async () => {
    const maintain: Transition = (state, context) =>
      patchServer(state, 'db-serv-1', [{ op: 'replace', path: '/state', value: ['maintenance'] }], context);
    const gateway = sampleGateway();
    const running = runAdmin({ gateway });
    gateway.will((_effect, _context, perform) => {
      perform();
      running.admin.report({ type: 'server.reported', server: 'DB-SERV-1', status: ['running', 'slave'] });
      return Promise.resolve();
    });
    expect((await running.admin.execute(maintain)).outcome).toBe('accepted');
    expect(running.admin.snapshot.servers.find('db-serv-1')?.settings.state).toEqual([
      'maintenance',
      'running',
      'slave',
    ]);
  });

  it('says to onError that a stopped service runs, unless a start of it is in flight', () => {
    const running = runAdmin();
    running.admin.report(reportOf('Bare Service', 'started'));
    expect(running.errors.map(String)).toEqual([
      expect.stringContaining('says that the service "Bare Service" runs, which is stopped'),
    ]);
  });
});

describe('the reports that cross several commands', () => {
  /** What a walk over the aspects of all commands gives. */
  class Model {
    readonly #all = new Map<string, { command: string; earlier: unknown; later: unknown }>();

    begin(command: string, name: string): void {
      const before = this.#all.get(name);
      this.#all.set(name, { command, earlier: before?.later ?? before?.earlier, later: undefined });
    }

    done(name: string): void {
      const known = this.#all.get(name);
      if (known !== undefined) known.earlier = undefined;
    }

    hold(name: string, report: unknown): boolean {
      const known = this.#all.get(name);
      if (known !== undefined) known.later = report;
      return known !== undefined;
    }

    take(command: string): readonly unknown[] {
      const own = [...this.#all].filter(([, each]) => each.command === command);
      for (const [name] of own) this.#all.delete(name);
      return own.flatMap(([, { earlier, later }]) => [earlier, later]).filter(Boolean);
    }
  }

  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('begin', 'begin', 'done', 'hold', 'hold', 'take'),
      command: fc.constantFrom('1', '2', '3'),
      name: fc.constantFrom('Sales', 'Stock', 'Reports', 'Spare'),
    }),
    { maxLength: 40 },
  );

  it('are given to the command of the aspect, once, in the order of the calls', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const [crossings, model] = [new Crossings(), new Model()];
        for (const [at, { what, command, name }] of list.entries()) {
          const link = `/services/${name}`;
          const effect = { type: 'service.stop', resource: link, service: name.toLowerCase() } as const;
          if (what === 'begin') {
            crossings.begin(command, effect);
            model.begin(command, name);
          } else if (what === 'done') {
            crossings.done(effect);
            model.done(name);
          } else if (what === 'hold')
            expect(crossings.hold({ link, aspect: 'state', report: at + 1 })).toBe(model.hold(name, at + 1));
          else expect(crossings.take(command)).toEqual(model.take(command));
        }
      }),
    );
  });
});

describe('a start of a failed service', () => {
  it('stands when a later part of its command is refused: the service was wanted before', async () => {
    const gateway = sampleGateway().will('done', new EffectRefusedError('No.'));
    const running = runAdmin({ gateway });
    const startFailed: Transition = (snapshot, context) => startService(snapshot, 'Report Service', context);
    const execution = await running.admin.execute(sequence(startFailed, limit));
    expect(execution).toMatchObject({ outcome: 'refused', events: [{ type: 'service.started' }] });
    expect(appliedTo(gateway)).toEqual([
      'service.start /services/Report-Service',
      'service.update /services/My-Service',
    ]);
    expect(stateOf(running, 'report-service')).toBe('started');
    expect(gateway.differences(running.admin.snapshot)).toEqual([]);
  });
});

describe('a failure in an earlier life', () => {
  it('is not kept: after a restart the service is wanted, and starts with the gateway', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    before.admin.report(reportOf('My Service', 'failed'));
    await before.admin.execute(limit);
    await before.admin.close();
    const after = await openRunning(store);
    const service = after.admin.snapshot.services.find('my-service');
    expect(service).toMatchObject({ state: 'started', started: after.clock.now() });
    expect(service).not.toHaveProperty('state_since');
    await after.admin.close();
  });

  it('does not bring back a failed service that was stopped', async () => {
    const store = createMemoryStore();
    const before = await openRunning(store);
    before.admin.report(before.gateway.failService('My Service'));
    expect((await before.admin.execute(stop)).outcome).toBe('accepted');
    expect(before.gateway.state.services['my-service']?.state).toBe('stopped');
    await before.admin.close();
    const after = await openRunning(store);
    expect(stateOf(after, 'my-service')).toBe('stopped');
    await after.admin.close();
  });
});
