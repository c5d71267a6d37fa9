import { describe, expect, it } from '@jest/globals';
import { createAdmin, ReportError, type HostReport, type Telemetry } from 'gateway-admin-core';

import { sampleSnapshot } from '../../support/document.ts';
import { openedSession } from '../../support/opened-session.ts';
import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { transports } from '../../support/transport.ts';

async function get({ admin }: Pick<Running, 'admin'>, target: string): Promise<unknown> {
  const { body } = await (await transports.core(admin)).send('GET', target);
  return body;
}

const counters = '/services/My-Service?fields=current_connections,total_connections';

const statistics = { reads: 9, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };

describe('idle times and counters that are reported', () => {
  const report: readonly HostReport[] = [
    { type: 'session.updated', id: 9, idle: 77 },
    { type: 'connection.updated', session: 9, id: 0, statistics },
  ];

  it.each<[string, Telemetry | undefined]>([
    ['there is no telemetry', undefined],
    ['telemetry does not know them', { idle: () => undefined, statistics: () => undefined }],
    ['telemetry has only other figures', { threads: () => undefined }],
  ])('are shown when %s', async (_when, telemetry) => {
    expect(await figures(telemetry)).toEqual({ idle: 77, reads: 9 });
  });

  it('give way to telemetry', async () => {
    const telemetry = { idle: () => 1, statistics: () => ({ ...statistics, reads: 2 }) };
    expect(await figures(telemetry)).toEqual({ idle: 1, reads: 2 });
  });

  async function figures(telemetry: Telemetry | undefined): Promise<object> {
    const { apply, inspect } = sampleGateway();
    const gateway = { apply, inspect, ...(telemetry === undefined ? {} : { telemetry }) };
    const admin = createAdmin({ snapshot: sampleSnapshot(), gateway });
    admin.report(report);
    const session = (await get({ admin }, '/sessions/9')) as { idle: number };
    const [, second] = (await get({ admin }, '/sessions/9/connections')) as {
      statistics: typeof statistics;
    }[];
    return { idle: session.idle, reads: second?.statistics.reads };
  }
});

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
