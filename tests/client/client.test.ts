import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { routes, type Admin } from 'gateway-admin-core';
import { createClient, sendTo, sendWithFetch, withEtags, type Client, type Send } from 'gateway-admin-core/client';
import { createHandler } from 'gateway-admin-core/node';

import { sampleSnapshot } from '../support/document.ts';
import { runAdmin } from '../support/running-admin.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An interface over the sample document. */
function run(): Admin {
  const { admin } = runAdmin({ snapshot: sampleSnapshot() });
  closing.push(() => admin.close());
  return admin;
}

/** Ways to reach an interface. */
const ways: Readonly<Record<string, (admin: Admin) => Promise<Send>>> = {
  'in process': (admin) => Promise.resolve(sendTo(admin)),
  'over fetch': async (admin) => {
    const server = createServer(createHandler(admin, { basePath: '/admin' })).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/admin`);
  },
};

describe('createClient', () => {
  it('has a method for each route, and a plan for each command', () => {
    const client = createClient(() => Promise.reject(new Error('Nothing is sent'))) as unknown as Record<
      string,
      Record<string, { readonly plan?: unknown }>
    >;
    for (const { id, kind } of routes) {
      const [group = '', name = ''] = id.split('.');
      const method = client[group]?.[name];
      expect([id, typeof method, typeof method?.plan]).toEqual([
        id,
        'function',
        kind === 'command' ? 'function' : 'undefined',
      ]);
    }
  });

  describe.each(Object.keys(ways))('%s', (way) => {
    const open = async (admin = run()): Promise<Client> => createClient(await (ways[way] as typeof ways[string])(admin));

    it('reads a resource, whole or in part, with its entity tag', async () => {
      const client = await open();
      const whole = await client.services.get('Sales & Co/EU');
      const part = await client.services.get('Sales & Co/EU', { fields: ['name', 'state'] });
      expect(whole).toMatchObject({ ok: true, value: { name: 'Sales & Co/EU', router: expect.any(String) } });
      expect(whole.ok && whole.etag).toMatch(/^"/);
      expect(part).toEqual({
        ok: true,
        value: { name: 'Sales & Co/EU', state: expect.any(String) },
        etag: expect.any(String),
      });
    });
  });
});
