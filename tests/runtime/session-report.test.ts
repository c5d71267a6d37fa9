import { describe, expect, it } from '@jest/globals';
import { ReportError } from 'gateway-admin-core';

import { openedSession } from '../support/opened-session.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';

async function get({ admin }: Running, target: string): Promise<unknown> {
  const { body } = await (await transports.core(admin)).send('GET', target);
  return body;
}

const counters = '/services/My-Service?fields=current_connections,total_connections';

describe('what GET shows after reports', () => {
  it('is the later session with its connections, and never the earlier one', async () => {
    const running = runAdmin();
    const first = openedSession(77);
    const second = {
      ...first,
      connected: Date.parse('2016-09-09T14:12:37Z'),
      user: 'eve',
      connections: [{ id: 1, server: 'db-serv-1', role: 'Master', state: 'In use' }],
    };
    running.admin.report([first, second]);
    running.admin.report([
      first,
      { type: 'session.updated', id: 77, connected: first.connected, user: 'late' },
      { type: 'connection.closed', session: 77, connected: first.connected, id: 1 },
      { type: 'session.closed', id: 77, connected: first.connected },
    ]);
    expect(running.errors).toEqual([]);
    expect(running.admin.snapshot.revision).toBe(1);
    expect(await get(running, '/sessions/77?fields=user,connected')).toEqual({
      user: 'eve',
      connected: 'Fri Sep  9 17:12:37 2016',
    });
    expect(await get(running, '/sessions/77/connections?fields=server')).toEqual([
      { server: '/servers/db-serv-1' },
    ]);
    expect(await get(running, counters)).toEqual({ current_connections: 3, total_connections: 12 });
  });

  it('is the earlier session when a report is about a later one that was never opened', async () => {
    const running = runAdmin();
    running.admin.report([
      openedSession(77),
      { type: 'session.updated', id: 77, connected: 8, user: 'eve' },
      { type: 'session.updated', id: 77, connected: 7, state: 'busy' },
    ]);
    expect(await get(running, '/sessions/77?fields=user,state')).toEqual({ user: 'ada', state: 'busy' });
    expect(running.errors).toEqual([expect.any(ReportError)]);
    expect(String(running.errors[0])).toContain('/1: has a later connect time');
  });
});
