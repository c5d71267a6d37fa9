/**
 * The text cache: a text that was kept is the text that would be made now.
 */
import { expect, it } from '@jest/globals';
import { createAdmin, createSnapshot, type Admin, type HostReport } from 'gateway-admin-core';

const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const listener = (name: string) => ({ name, address: '0.0.0.0', port: 4000, protocol: 'pg' });
const snapshot = createSnapshot({
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [
    { name: 'Sales', router: 'readconnroute', listeners: [listener('of Sales')] },
    { name: 'Reports', router: 'readconnroute', listeners: [listener('of Reports')] },
  ],
});

async function read(admin: Admin, target: string, headers = {}): Promise<[string, string]> {
  const handled = await admin.handle({ method: 'GET', target, headers });
  if (!handled.matched) throw new Error(`Nothing is at ${target}`);
  const { body = '', headers: answered } = handled.response;
  if (typeof body !== 'string') throw new Error('The list is streamed');
  return [answered['etag'] ?? '', body];
}

const targets = [
  '',
  '/Sales',
  '/Reports',
  '/Sales/listeners',
  '/Reports/listeners',
  '?range=0-0',
  '?fields=name',
];

it('gives each thing its own text, although things have the same tag', async () => {
  const admin = createAdmin({ snapshot, gateway });
  const tags = await Promise.all(['/Sales', '/Reports'].map((target) => read(admin, `/services${target}`)));
  expect(new Set(tags.map(([tag]) => tag)).size).toBe(1);
  for (const target of ['/Sales', '/Reports', '/Sales/listeners', '/Reports/listeners']) {
    await read(admin, `/services${target}`);
    const [, text] = await read(admin, `/services${target}`);
    expect(text).toContain(target.includes('Sales') ? 'Sales' : 'Reports');
  }
  expect(await textsOf(admin)).toEqual(await fresh(admin));
  await admin.close();
});

it('gives the text after every change of what is shown', async () => {
  const admin = createAdmin({ snapshot, gateway });
  const session = { id: 1, user: 'ada', address: '10.0.0.9', state: 'up', connected: 0 };
  const reports: readonly HostReport[] = [
    { type: 'session.opened', service: 'Sales', ...session },
    { type: 'service.reported', service: 'Reports', state: 'failed', reason: 'no listener' },
    { type: 'session.closed', id: 1, connected: 0 },
    { type: 'service.reported', service: 'Reports', state: 'started' },
  ];
  for (const report of reports) {
    const before = await textsOf(admin);
    admin.report(report);
    const after = await textsOf(admin);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await fresh(admin));
  }
  await admin.close();
});

it('never gives the whole to somebody who may read a part', async () => {
  const admin = createAdmin({
    snapshot,
    gateway,
    access: {
      authenticate: ({ headers }) =>
        Promise.resolve(headers['authorization'] === undefined ? undefined : { name: 'ada', role: 'reader' }),
    },
  });
  const [, whole] = await read(admin, '/', { authorization: 'Basic eDp5' });
  for (const target of ['/', '/?fields=ready', '/?fields=version'])
    expect(Object.keys(JSON.parse((await read(admin, target))[1]) as object)).not.toContain('version');
  expect(JSON.parse(whole)).toHaveProperty('version');
  await admin.close();
});

async function textsOf(admin: Admin): Promise<readonly string[]> {
  const answers = await Promise.all(targets.map((target) => read(admin, `/services${target}`)));
  return answers.map(([, text]) => text);
}

/** The texts of an interface that has read nothing before. */
async function fresh({ snapshot: present }: Admin): Promise<readonly string[]> {
  const other = createAdmin({ snapshot: present, gateway });
  const texts = await textsOf(other);
  await other.close();
  return texts;
}
