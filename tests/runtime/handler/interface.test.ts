/**
 * What GET /, GET /ready and PATCH / do that tests/scenarios/handler/interface.txt cannot show.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createSnapshot,
  deleteUser,
  routes,
  stopService,
  type AdminRequest,
  type InterfaceRepresentation,
} from 'gateway-admin-core';

import { sampleZone } from '../../support/document.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { read } from '../../support/project.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

async function send(
  { admin }: Pick<Running, 'admin'>,
  method: string,
  target: string,
  more: Partial<AdminRequest> = {},
): Promise<Answer> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  const { status, headers, body } = handled.response;
  return { status, headers, body: typeof body === 'string' ? JSON.parse(body) : undefined };
}

/** Options of an interface at which ada logs in. */
async function guarded() {
  const passwordHash = await quickHasher.hash('pw');
  const users = ['ada', 'eve'].map((name) => ({ name, passwordHash }));
  const snapshot = createSnapshot({ users, services: [{ name: 'My Service', router: 'r' }] });
  return { snapshot, hasher: quickHasher, access: { authenticate: createBasicAuthentication() } };
}

const ada = { headers: { authorization: credentials('ada', 'pw') } };
const wrong = { headers: { authorization: credentials('ada', 'wrong') } };

describe('GET /', () => {
  it('has the version, the time zone and a link to everything that is read without a name, and no tag', async () => {
    const running = runAdmin();
    const { status, headers, body } = await send(running, 'GET', '/');
    const { links, version, time_zone: zone } = body as InterfaceRepresentation;
    expect([status, headers['etag'], zone]).toEqual([200, undefined, sampleZone]);
    expect(version).toBe((JSON.parse(read('package.json')) as { version: string }).version);
    const other = await send(runAdmin({ timeZone: '+03:00' }), 'GET', '/');
    expect(other.body).toMatchObject({ time_zone: '+03:00' });
    const readable = routes.filter(({ method, path }) => method === 'GET' && !/:|^\/$|^\/ready$/.test(path));
    expect(Object.values(links)).toEqual(readable.map(({ path }) => path));
    for (const link of Object.values(links))
      expect([link, (await send(running, 'GET', link)).status]).toEqual([link, 200]);
  });

  it('is not ready once the interface is closed', async () => {
    const running = runAdmin(await guarded());
    await running.admin.close();
    expect((await send(running, 'GET', '/', ada)).body).toMatchObject({ ready: false });
    expect((await send(running, 'GET', '/')).body).toEqual({ ready: false });
    expect(await send(running, 'GET', '/ready')).toMatchObject({ status: 503, body: { code: 'not-ready' } });
  });

  // Promise: ready-alone
  it('tells nobody why the store fails, and no other endpoint does, but the alerts', async () => {
    const store = new FailingStore();
    const running = await openRunning(store, await guarded());
    store.failWith(new Error('the disk of db-1.internal is full'));
    await running.admin.execute((snapshot, context) => stopService(snapshot, 'My Service', context));
    for (const { method, path } of routes) {
      const answer = await send(running, method, path.replaceAll(/:\w+/g, '1'));
      expect(JSON.stringify(answer)).not.toContain('db-1.internal');
    }
    expect((await send(running, 'GET', '/alerts', ada)).body).toMatchObject([
      { detail: expect.stringContaining('the disk of db-1.internal is full') },
    ]);
  });

  it.each(['/', '/ready'])(
    '%s keeps the rule about the name in Host while nobody logs in',
    async (target) => {
      const rebound = { headers: { host: 'rebound.example' } };
      expect(await send(runAdmin(), 'GET', target, rebound)).toMatchObject({ status: 403 });
      expect((await send(runAdmin(await guarded()), 'GET', target, rebound)).status).toBeLessThan(300);
    },
  );
});

describe('GET /ready', () => {
  it('does not hash the password of a probe', async () => {
    let verified = 0;
    const verify: typeof quickHasher.verify = (...given) => {
      verified += 1;
      return quickHasher.verify(...given);
    };
    const running = runAdmin({ ...(await guarded()), hasher: { ...quickHasher, verify } });
    expect((await send(running, 'GET', '/ready', wrong)).status).toBe(204);
    expect(verified).toBe(0);
    expect((await send(running, 'GET', '/', wrong)).status).toBe(401);
    expect(verified).toBe(1);
  });
});

describe('PATCH /', () => {
  const headers = { ...ada.headers, 'content-type': 'application/json-patch+json' };
  const body = JSON.stringify([{ op: 'replace', path: '/read_only', value: true }]);

  it('sets admin.readOnly, shows the interface, and leaves the snapshot as it is', async () => {
    const running = runAdmin();
    const { snapshot } = running.admin;
    const { body: shown } = await send(running, 'PATCH', '/', { headers, body });
    expect(shown).toEqual((await send(running, 'GET', '/')).body);
    expect([running.admin.readOnly, running.admin.snapshot]).toEqual([true, snapshot]);
    const wrongType = { headers: { 'content-type': 'text/plain' }, body };
    expect((await send(running, 'PATCH', '/', wrongType)).headers).toMatchObject({
      'accept-patch': 'application/json-patch+json',
    });
  });

  it('is refused to a caller who is deleted while the body is on the way', async () => {
    const running = runAdmin(await guarded());
    const late = async (): Promise<Uint8Array> => {
      await running.admin.execute((snapshot, context) => deleteUser(snapshot, 'ada', context));
      return new TextEncoder().encode(body);
    };
    const answer = await send(running, 'PATCH', '/', { headers, body: late });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    expect(running.admin.readOnly).toBe(false);
  });
});
