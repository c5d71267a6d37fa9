import { afterEach, describe, expect, it } from '@jest/globals';
import { createRoles, createSnapshot } from 'gateway-admin-core';

import { runAdmin } from '../support/running-admin.ts';
import { command, servers } from './command-line.ts';

const serve = servers(afterEach);

const healthy = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'] }],
  monitors: [{ name: 'Watch', module: 'pgmon', servers: ['/servers/db-1'] }],
});

describe('gateway-admin status', () => {
  it('says where one is and how much there is, and that nothing is wrong', async () => {
    const { admin } = runAdmin({ snapshot: healthy, name: 'eu-1', environment: 'production' });
    const url = await serve(admin);
    expect(await command(['status', '--url', url])).toMatchObject({
      code: 0,
      out: [
        'gateway   eu-1 (production)',
        'services  1',
        'servers   1',
        'monitors  1',
        'sessions  0',
        '',
        'Nothing is wrong.',
        '',
      ].join('\n'),
    });
    admin.readOnly = true;
    expect((await command(['status', '--url', url])).out).toMatch(/^mode +read-only$/m);
  });

  it('says what is wrong, why and since when, and ends with the code 7', async () => {
    const { admin } = runAdmin({ snapshot: healthy, name: 'eu-1' });
    admin.report({ type: 'server.reported', server: 'db-1', status: [], reason: 'connection refused' });
    const url = await serve(admin);
    const { code, out, err } = await command(['status', '--url', url]);
    expect([code, err]).toEqual([7, 'gateway-admin: 2 errors.\n']);
    expect(out.split('\n').slice(2)).toEqual([
      'servers   1, of which 0 run',
      'monitors  1',
      'sessions  0',
      '',
      'LEVEL  SINCE                RESOURCE         DETAIL',
      'error  2016-09-10 03:00:00  /servers/db-1    db-1 is down: connection refused.',
      'error  2016-09-10 03:00:00  /services/Sales  No server of Sales takes new sessions: db-1 is down.',
      '',
    ]);
  });

  it('says what drains, until when, and what a deadline will close', async () => {
    const snapshot = createSnapshot({
      servers: ['db-1', 'db-2', 'db-3', 'db-4'].map((name) => ({
        ...{ name, address: '10.0.0.1', port: 5432, protocol: 'pg' },
        status: name === 'db-4' ? ['running', 'maintenance'] : ['running'],
      })),
      services: ['Sales', 'Reports'].map((name) => ({
        ...{ name, router: 'readconnroute', servers: ['/servers/db-1', '/servers/db-2'] },
      })),
    });
    const { admin, gateway } = runAdmin({ snapshot, name: 'eu-1' });
    admin.report(gateway.openSession('Sales'));
    admin.report(gateway.openSession('Sales'));
    const url = await serve(admin);
    const drain = async (...args: readonly string[]): Promise<void> => {
      expect(await command(['drain', ...args, '--yes', '--url', url])).toMatchObject({ code: 0 });
    };
    await drain('service', 'sales', '--deadline', '1h', '--then', 'close');
    await drain('service', 'reports', '--deadline', '2h', '--then', 'resume');
    await drain('server', 'db-3');
    const { code, out } = await command(['status', '--url', url]);
    expect([code, out]).toEqual([
      0,
      [
        'gateway   eu-1',
        'services  2, of which 0 run, 2 draining',
        'servers   4, of which 2 run, 1 in maintenance, 1 draining',
        'monitors  0',
        'sessions  2',
        'drains    Sales: 2 sessions left, closes at 2016-09-10 04:00:00',
        '          Reports: drained, ends at 2016-09-10 05:00:00',
        '          db-3: drained',
        '',
        'Nothing is wrong now. Deadlines will close 2 sessions.',
        '',
      ].join('\n'),
    ]);
    const programs = await command(['status', '--json', '--url', url]);
    expect(JSON.parse(programs.out)).toMatchObject({
      counts: { servers: { all: 4, up: 2, maintenance: 1, draining: 1 } },
      drains: [
        { kind: 'service', name: 'Sales', state: 'draining', then: 'close', sessions: 2 },
        { kind: 'service', name: 'Reports', state: 'drained', then: 'resume' },
        { kind: 'server', name: 'db-3', state: 'drained' },
      ],
    });
  });

  it('ends with the code 0 if the only alerts are warnings', async () => {
    const { admin } = runAdmin({ snapshot: healthy });
    await admin.handle({ method: 'PUT', target: '/monitor/watch/stop', headers: {} });
    const { code, out } = await command(['status', '--url', await serve(admin)]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^warning +- +\/monitors\/Watch /m)]);
  });

  it('gives programs the same, with who they are', async () => {
    const access = {
      authenticate: () => Promise.resolve({ name: 'ada' }),
      authorize: createRoles({ readers: ['ada'] }),
    };
    const { admin } = runAdmin({ snapshot: healthy, access });
    const url = await serve(admin);
    expect((await command(['status', '--url', url])).out).toMatch(/^user +ada \(reader\)$/m);
    const { out } = await command(['status', '--json', '--url', url]);
    expect(JSON.parse(out)).toMatchObject({
      interface: { ready: true, user: 'ada', role: 'reader' },
      counts: { services: { all: 1, up: 1 }, servers: { all: 1, up: 1 }, sessions: { all: 0 } },
      alerts: [],
    });
  });
});
