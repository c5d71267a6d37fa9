/**
 * A gateway whose session is its one connection: to close a connection is to close its session.
 */
import { expect, it } from '@jest/globals';
import { closeServerConnections, createAdmin, createSnapshot, type Admin } from 'gateway-admin-core';
import { createGatewayPort } from 'gateway-admin-core/gateway-port';

const kind = { fields: [], apply: () => undefined } as const;

/** Two servers, and sessions on them. A session ends with its connection. */
async function open(): Promise<{ readonly admin: Admin; readonly closed: readonly number[] }> {
  const closed: number[] = [];
  const snapshot = createSnapshot({
    servers: ['a', 'b'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
    services: [{ name: 'One', router: 'rr', servers: ['/servers/a', '/servers/b'] }],
  });
  const gateway = createGatewayPort({
    services: { ...kind, fields: ['servers'], read: (_key, applied) => applied },
    servers: { ...kind, fields: ['address', 'port'], read: (_key, applied) => applied },
    sessionsEnd: true,
    closeSessions(sessions) {
      for (const { id, connected } of sessions) {
        closed.push(id);
        gateway.report({ type: 'session.closed', id, connected });
      }
    },
  });
  const admin = createAdmin({ snapshot, gateway });
  await gateway.open(admin);
  for (const [at, server] of ['a', 'a', 'b'].entries()) {
    const connections = [{ id: 1, server, role: 'Backend', state: 'In use' }];
    const client = { service: 'One', user: 'ada', address: '10.0.0.9', state: 'open' };
    gateway.report({ type: 'session.opened', id: at + 1, connected: 1000 + at, ...client, connections });
  }
  return { admin, closed };
}

it('a plan counts the sessions that end with their connections, and none that stays', async () => {
  const { admin } = await open();
  const plan = admin.plan((now, context) => closeServerConnections(now, 'a', context));
  expect(plan).toMatchObject({ closes: { sessions: 2, connections: 2 }, stays: { sessions: 0 } });
  expect(plan).not.toHaveProperty('notes');
});

it('the sessions are closed, and the answer counts them', async () => {
  const { admin, closed } = await open();
  const execution = await admin.execute((now, context) => closeServerConnections(now, 'a', context));
  expect(execution).toMatchObject({ outcome: 'accepted', closed: { sessions: 2, connections: 2 } });
  expect(closed).toEqual([1, 2]);
  expect([...admin.snapshot.sessions].map(({ id }) => id)).toEqual([3]);
});
