/** tests/scenarios/command/membership.txt says what clients see of resources that come and go. */
import { expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteResource,
  sequence,
  stopService,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { ask } from '../../support/ask.ts';
import { openedSession } from '../../support/opened-session.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';

const listener = { name: 'first', protocol: 'pg', address: '::', port: 4000 };
const db = (name: string, address = '10.0.0.1') => ({ name, address, port: 5432, protocol: 'pg' });
const snapshot = createSnapshot({
  servers: [db('db-1'), db('spare')],
  services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'], listeners: [listener] }],
});

it('a service whose name is used again loses no session if the clock was set back meanwhile', async () => {
  const clock = createVirtualClock(100_000);
  const { admin } = runAdmin({ snapshot, clock });
  const again = sequence(
    (from, context) => stopService(from, 'Sales', context),
    (from, context) => deleteResource(from, 'services', 'Sales', context),
    (from, context) => createResource(from, 'services', { name: 'SALES', router: 'cli' }, context),
  );
  expect((await admin.execute(again)).outcome).toBe('accepted');
  clock.jumpTo(70_000);
  admin.report({ ...openedSession(1), service: 'Sales', connected: clock.now() });
  expect(admin.snapshot.sessions.countOfService('sales')).toBe(1);
});

const stop = { method: 'PUT', path: '/services/Sales/stop' };
const start = { method: 'PUT', path: '/services/Sales/start' };
const deleteSales = { method: 'DELETE', path: '/services/Sales' };
const deleteSpare = { method: 'DELETE', path: '/servers/spare' };
const deleteListener = { method: 'DELETE', path: '/services/Sales/listeners/first' };
const body = [{ op: 'replace', path: '/port', value: 7 }];
const move = { method: 'PATCH', path: '/servers/spare', body };
const create = (path: string, definition: object) => ({ method: 'POST', path, body: { ...definition } });
const listen = (name: string) => create('/services/Sales/listeners', { ...listener, name, port: 4001 });

// Promise: recovery-undo
it.each<[string, readonly object[], number]>([
  ['changes a server and deletes it', [move, deleteSpare], 2],
  ['stops a service and deletes it', [stop, deleteSales], 2],
  ['stops, starts, stops and deletes a service', [stop, start, stop, deleteSales], 4],
  ['deletes a service with a new listener', [stop, listen('second'), deleteSales], 3],
  ['deletes before another change', [move, deleteSpare, stop], 3],
  ['puts a server in the place of another', [deleteSpare, create('/servers', db('SPARE', 'b'))], 2],
  [
    'puts a service in the place of another',
    [stop, deleteSales, create('/services', { name: 'SALES', router: 'other' })],
    4,
  ],
  ['puts a listener in the place of another', [deleteListener, listen('first')], 2],
])(
  'a process that dies in a sequence that %s leaves the gateway and the snapshot equal, at whatever effect',
  async (_what, commands, effects) => {
    const deaths = Array.from({ length: 2 * effects }, (_, at) => [at >> 1, at % 2 === 1] as const);
    for (const [answered, isLastDone] of deaths) {
      const [clock, store] = [createVirtualClock(0), createMemoryStore()];
      const gateway = createScriptedGateway({ snapshot, clock });
      const dying = await openRunning(store, { snapshot, gateway, clock });
      gateway.will(...Array<'done'>(answered).fill('done'), (_effect, _context, perform) => {
        if (isLastDone) perform();
        return new Promise(() => undefined);
      });
      void ask(dying.admin, 'POST /sequence', { body: { commands } as never });
      await clock.settle();
      expect(gateway.applied).toHaveLength(answered + 1);
      gateway.dropCalls();
      const { admin } = await openRunning(store, { snapshot, gateway, clock });
      expect(admin.commands()).toEqual([]);
      expect(gateway.differences(admin.snapshot)).toEqual([]);
      await admin.close();
    }
  },
);
