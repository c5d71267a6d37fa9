import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, expect, it } from '@jest/globals';
import { patchService, type Admin, type Plan } from 'gateway-admin-core';
import { createClient, sendWithFetch, type Answer, type Send } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';

import { openedSessions } from '../support/opened-session.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** How the client reaches the interface: through each adapter. */
const ways: Readonly<Record<string, (admin: Admin) => Promise<Send>>> = {
  async 'the message port'(admin) {
    const { port1, port2 } = new MessageChannel();
    serve(admin, port1);
    closing.push(() => port2.close());
    return Promise.resolve(connect(port2));
  },
  async 'the fetch adapter'(admin) {
    const handle = createFetchHandler(admin);
    const own = async (...given: Parameters<typeof fetch>): Promise<Response> =>
      handle(new Request(...given));
    return Promise.resolve(sendWithFetch('http://localhost', { fetch: own }));
  },
  async 'the node adapter'(admin) {
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  },
};

function markIn(plan: Answer<Plan>): string {
  if (!plan.ok || plan.value.outcome === 'refused') throw new Error('The plan is refused');
  return plan.value.mark;
}

// Promise: mark
it.each(Object.entries(ways))(
  'a mark is refused or carried out by a client through %s',
  async (_way, open) => {
    const { admin } = runAdmin();
    const client = createClient(await open(admin));
    const limit = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;
    const mark = markIn(await client.services.patch.plan('My Service', limit));
    await admin.execute((snapshot, context) =>
      patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 8 }], context),
    );
    const refused = await client.services.patch('My Service', limit, { mark });
    if (refused.ok) throw new Error('The mark of another plan was carried out');
    const { status, code, plan } = refused.problem;
    expect([status, code, plan]).toEqual([
      412,
      'precondition-failed',
      expect.objectContaining({ outcome: 'accepted' }),
    ]);
    const { mark: now = '' } = plan as { readonly mark?: string };
    expect(await client.services.patch('My Service', limit, { mark: now })).toMatchObject({ ok: true });
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(7);

    const closed = markIn(await client.services.closeSessions.plan('My Service'));
    admin.report(openedSessions(20));
    const answer = await client.services.closeSessions('My Service', {
      mark: closed,
      prefer: 'representation',
    });
    expect(answer).toMatchObject({ ok: true, value: { closed: { sessions: 2, connections: 3 } } });
    expect(admin.snapshot.sessions.countOfService('my-service')).toBe(20);
  },
);
