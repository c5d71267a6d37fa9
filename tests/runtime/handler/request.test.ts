/**
 * How requests and their bodies are read, and the interface itself at `/` and `/ready`.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createBasicAuthentication,
  createSnapshot,
  deleteUser,
  routes,
  type Admin,
  type AdminRequest,
} from 'gateway-admin-core';
import type { ResultOf } from 'gateway-admin-core/client';

import { ask } from '../../support/ask.ts';
import { sampleZone } from '../../support/document.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { read } from '../../support/project.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';
import { stop } from '../../support/transition.ts';

const broken = new Error('This member cannot be read');
const origin = 'http://page.example';
const authorization = `Basic ${btoa('ada:wrong')}`;
const patch = JSON.stringify([{ op: 'add', path: '/max_connection', value: 7 }]);
const json = { 'content-type': 'application/json', origin };

/** Requests that go different ways. */
const requests: Readonly<Record<string, AdminRequest>> = {
  'a read': { method: 'GET', target: '/services/My-Service', headers: { origin } },
  'a search': { method: 'GET', target: '/sessions?user=ada', headers: { origin } },
  'a command': { method: 'PATCH', target: '/services/My-Service', headers: json, body: patch },
  'a command with wrong credentials': {
    ...{ method: 'PUT', target: '/service/My-Service/stop' },
    headers: { authorization },
  },
  'a read with wrong credentials': { method: 'GET', target: '/services', headers: { authorization } },
  'an unknown method': { method: 'BREW', target: '/services', headers: { origin } },
  'a preflight': {
    ...{ method: 'OPTIONS', target: '/services/My-Service' },
    headers: { origin, 'Access-Control-Request-Method': 'PATCH' },
  },
  'an unknown path': { method: 'GET', target: '/pots', headers: {} },
};

const { signal } = new AbortController();
const principal = { name: 'ada' };
const members = ['method', 'target', 'headers', 'body', 'principal', 'peer', 'signal'] as const;
const callers: readonly ((admin: Admin, request: AdminRequest) => Promise<unknown>)[] = [
  (admin, request) => admin.handle(request),
  (admin, request) => admin.guard(request, 'administrator'),
];

function runFor({ headers }: AdminRequest): Running {
  const needsLogIn = headers['authorization'] !== undefined;
  const authenticate = createBasicAuthentication();
  return runAdmin({
    access: { allowedOrigins: [origin], ...(needsLogIn && { authenticate }) },
    observe: { onMeasurement: () => undefined },
  });
}

/** An object that looks like the given one, and tells each read. Its members are its own, or those of its class. */
function watched<T extends object>(given: T, isOwn: boolean, onRead: (member: string) => void): T {
  const accessors = Object.entries(given).map(([member, value]) => {
    const get = (): unknown => {
      onRead(member);
      return value;
    };
    return [member, { get, enumerable: true }] as const;
  });
  const holder = Object.defineProperties({}, Object.fromEntries(accessors));
  return (isOwn ? holder : Object.create(holder)) as T;
}

const ways = Object.entries(requests).flatMap(([what, request]) =>
  [true, false].map(
    (isOwn) => [`${what}, ${isOwn ? 'its own members' : 'a class'}`, request, isOwn] as const,
  ),
);

describe('a request', () => {
  it.each(ways)('is read once, so that it cannot change on its way: %s', async (_what, request, isOwn) => {
    for (const call of callers)
      for (const more of [{ signal }, { signal, peer: 'a', principal }]) {
        const { admin } = runFor(request);
        const reads: string[] = [];
        const headers = watched(request.headers, true, (name) => reads.push(`header ${name}`));
        await call(
          admin,
          watched({ ...request, headers, ...more }, isOwn, (member) => reads.push(member)),
        );
        expect(reads).toHaveLength(new Set(reads).size);
      }
  });

  // Promise: hostile-request
  it.each(ways)('with a member that throws is answered: %s', async (_what, request, isOwn) => {
    for (const call of callers)
      for (const member of [...members, 'a header'])
        for (const last of [0, 1, 2]) {
          const { admin, errors } = runFor(request);
          let left = last;
          const fail = (read: string): void => {
            if (read === member && (left -= 1) < 0) throw broken;
          };
          const headers = watched({ ...request.headers, 'a header': 'x' }, true, fail);
          const more = member === 'principal' || member === 'peer' ? { principal, peer: 'a' } : {};
          const answer = await call(admin, watched({ ...request, headers, signal, ...more }, isOwn, fail));
          expect(answer).toEqual(expect.any(Object));
          expect(errors.filter((error) => error !== broken)).toEqual([]);
          if (last === 0 && member === 'target') expect(errors).toEqual([broken]);
          expect(admin.commands()).toEqual([]);
        }
  });
});

const { admin: textAdmin } = runAdmin();
const strict = new TextDecoder('utf-8', { fatal: true });
const jsonType = { 'content-type': 'application/json' };

/** Sends a body. Gives the code of the refusal, and the text that was set. */
async function sendBody(body?: Uint8Array | string, headers: Readonly<Record<string, string>> = jsonType) {
  const request = { method: 'PATCH', target: '/services/My-Service', headers };
  const handled = await textAdmin.handle({ ...request, ...(body !== undefined && { body }) });
  if (!handled.matched) throw new Error('Nothing is there');
  return JSON.parse(handled.response.body as string) as { readonly code?: string; readonly user?: string };
}

/** The body that sets a value, which is given in bytes. */
function setting(value: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('[{"op":"add","path":"/user","value":'), value, Buffer.from('}]')]);
}

/** What the language makes of bytes; `undefined` when it refuses them. */
function reference(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) };
  } catch {
    return undefined;
  }
}

/** Near the edges of UTF-8: what may lead, follow, or neither. */
const edgeBytes = [...Buffer.from('0022417f808f909fa0bfc0c1c2dfe0e1edeff0f3f4f5ff', 'hex')];
const edges = fc
  .array(fc.constantFrom(...edgeBytes), { maxLength: 6 })
  .map((bytes) => new Uint8Array([0x22, ...bytes, 0x22]));

describe('a body', () => {
  it.each([
    ['any bytes', fc.uint8Array()],
    ['the edges of UTF-8', edges],
  ])('is read as JSON.parse reads it: %s', async (_, inputs) => {
    await fc.assert(
      fc.asyncProperty(inputs, async (bytes) => {
        const whole = setting(bytes);
        const [{ code = '', user }, expected] = [await sendBody(whole), reference(whole)];
        expect(/^body-/.test(code)).toBe(expected === undefined);
        if (code === '') expect(expected).toMatchObject({ value: [{ value: user }] });
      }),
      { numRuns: 2000 },
    );
  });

  it('is missing, rather than its media type, if there is neither', async () => {
    expect((await sendBody(undefined, {})).code).toBe('body-missing');
    expect((await sendBody('{}', {})).code).toBe('unsupported-media-type');
  });

  it('may be text, and may have a byte order mark', async () => {
    const bytes = setting(Buffer.from('"é😀"'));
    for (const body of [bytes, strict.decode(bytes), Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])])
      expect((await sendBody(body)).user).toBe('é😀');
  });

  it.each([
    ['a byte that cannot lead', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an overlong NUL', [0x22, 0xe0, 0x80, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0x41, 0xed, 0xa0, 0x80, 0x22]],
    ['an encoded low surrogate', [0x22, 0xed, 0xb0, 0x80, 0x22]],
    ['a code point beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['a sequence that is cut off', [0x22, 0xf0, 0x9f, 0x98]],
    ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00]],
    ['UTF-16 of the other order', [0x00, 0x5b, 0x00, 0x5d]],
    ['UTF-16 without a mark', [0x5b, 0x00, 0x5d, 0x00]],
    ['UTF-32', [0x00, 0x00, 0xfe, 0xff]],
  ])('is refused with %s', async (_, bytes) => {
    expect((await sendBody(new Uint8Array(bytes))).code).toBe('body-encoding-invalid');
  });
});

/** Options of an interface at which ada logs in. */
async function guarded() {
  const passwordHash = await quickHasher.hash('pw');
  const users = ['ada', 'eve'].map((name) => ({ name, password: { sealed: passwordHash } }));
  const snapshot = createSnapshot({ users, services: [{ name: 'My Service', router: 'r' }] });
  return { snapshot, hasher: quickHasher, access: { authenticate: createBasicAuthentication() } };
}

const asAda = { headers: { authorization: credentials('ada', 'pw') } };
const wrong = { headers: { authorization: credentials('ada', 'wrong') } };

describe('GET /', () => {
  it('has the version, the time zone and a link to everything that is read without a name, and no tag', async () => {
    const { admin } = runAdmin();
    const { status, headers, body } = await ask(admin, 'GET /');
    const { links, version, time_zone: zone } = body as ResultOf<'interface.get'>;
    expect([status, headers['etag'], zone]).toEqual([200, undefined, sampleZone]);
    expect(version).toBe((JSON.parse(read('package.json')) as { version: string }).version);
    const other = await ask(runAdmin({ timeZone: '+03:00' }).admin, 'GET /');
    expect(other.body).toMatchObject({ time_zone: '+03:00' });
    const readable = routes.filter(({ method, path }) => method === 'GET' && !/:|^\/$|^\/ready$/.test(path));
    expect(Object.values(links)).toEqual(readable.map(({ path }) => path));
    for (const { path } of readable)
      expect([path, (await ask(admin, `HEAD ${path}`)).status]).toEqual([path, 200]);
  });

  it('is not ready once the interface is closed', async () => {
    const { admin } = runAdmin(await guarded());
    await admin.close();
    expect((await ask(admin, 'GET /', asAda)).body).toMatchObject({ ready: false });
    expect((await ask(admin, 'GET /')).body).toEqual({ ready: false });
    expect(await ask(admin, 'GET /ready')).toMatchObject({ status: 503, body: { code: 'not-ready' } });
  });

  // Promise: ready-alone
  it('tells nobody why the store fails, and no other endpoint does, but the alerts', async () => {
    const store = new FailingStore();
    const { admin } = await openRunning(store, await guarded());
    store.failWith(new Error('the disk of db-1.internal is full'));
    await admin.execute(stop);
    for (const { method, path } of routes) {
      const answer = await ask(admin, `${method} ${path.replaceAll(/:\w+/g, '1')}`);
      expect(JSON.stringify(answer)).not.toContain('db-1.internal');
    }
    const detail = expect.stringContaining('the disk of db-1.internal is full') as unknown;
    expect((await ask(admin, 'GET /alerts', asAda)).body).toMatchObject([{ detail }]);
  });

  it.each(['/', '/ready'])(
    '%s keeps the rule about the name in Host while nobody logs in',
    async (target) => {
      const rebound = { headers: { host: 'rebound.example' } };
      expect((await ask(runAdmin().admin, `GET ${target}`, rebound)).status).toBe(403);
      const { admin } = runAdmin(await guarded());
      expect((await ask(admin, `GET ${target}`, rebound)).status).toBeLessThan(300);
    },
  );
});

it('GET /ready does not hash the password of a probe', async () => {
  let verified = 0;
  const verify: typeof quickHasher.verify = (...given) => {
    verified += 1;
    return quickHasher.verify(...given);
  };
  const { admin } = runAdmin({ ...(await guarded()), hasher: { ...quickHasher, verify } });
  expect([(await ask(admin, 'GET /ready', wrong)).status, verified]).toEqual([204, 0]);
  expect([(await ask(admin, 'GET /', wrong)).status, verified]).toEqual([401, 1]);
});

describe('PATCH /', () => {
  const body = [{ op: 'replace', path: '/read_only', value: true }];

  it('changes admin.readOnly, and shows the interface', async () => {
    const { admin } = runAdmin();
    const { body: shown } = await ask(admin, 'PATCH /', { body });
    expect(shown).toEqual((await ask(admin, 'GET /')).body);
    expect(admin.readOnly).toBe(true);
    const { headers } = await ask(admin, 'PATCH /', { headers: { 'content-type': 'text/plain' }, body });
    expect(headers).toMatchObject({ 'accept-patch': 'application/json-patch+json' });
  });

  it('is refused to a caller who is deleted while the body is on the way', async () => {
    const { admin } = runAdmin(await guarded());
    const late = async (): Promise<Uint8Array> => {
      await admin.execute((snapshot, context) => deleteUser(snapshot, 'ada', context));
      return new TextEncoder().encode(JSON.stringify(body));
    };
    const headers = { ...asAda.headers, 'content-type': 'application/json-patch+json' };
    const handled = await admin.handle({ method: 'PATCH', target: '/', headers, body: late });
    const challenge = { 'www-authenticate': expect.stringMatching(/^Basic /) as unknown };
    expect(handled).toMatchObject({ response: { status: 401, headers: challenge } });
    expect(admin.readOnly).toBe(false);
  });
});
