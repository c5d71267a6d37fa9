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
