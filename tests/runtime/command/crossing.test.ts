/** tests/scenarios/command/crossing.txt says what becomes of reports while a command is in flight. */
import { expect, it } from '@jest/globals';
import { createSnapshot, patchServer, type Transition } from 'gateway-admin-core';

import { FailingStore } from '../../support/failing-store.ts';
import { openRunning } from '../../support/running-admin.ts';

it('a server that is set down has no role, although a role was found while the store kept the intent', async () => {
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
