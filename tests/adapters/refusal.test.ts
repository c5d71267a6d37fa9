import { once } from 'node:events';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:http';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createSnapshot, type Admin, type AdminRequest } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';

import { inShort, readAudit } from '../support/audit-reader.ts';
import { sampleDocument } from '../support/document.ts';
import { credentials, quickHasher } from '../support/log-in.ts';
import { appliedTo, runAdmin } from '../support/running-admin.ts';

const stop = '/service/My-Service/stop';

/** What a test has opened. */
const opened: (() => unknown)[] = [];

afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Lines = readonly (readonly [string, string])[];

/** Sends a request to an interface behind an adapter, with these header lines. Gives the status and the code. */
type Send = (admin: Admin, method: string, target: string, lines: Lines) => Promise<string>;

const sendFetch: Send = async (admin, method, target, lines) => {
  const headers = new Headers();
  for (const [name, value] of lines) headers.append(name, value);
  const request = new Request(`http://localhost${target}`, { method, headers });
  const response = await createFetchHandler(admin)(request);
  return inBrief(response.status, await response.text());
};

const sendNode: Send = async (admin, method, target, lines) => {
  const server = createServer(createNodeHandler(admin));
  opened.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  const all: Lines = lines.some(([name]) => name === 'Host') ? lines : [['Host', 'localhost'], ...lines];
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`${method} ${target} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  let text = '';
  for await (const part of socket) text += String(part);
  return inBrief(Number(text.slice(9, 12)), text.slice(text.indexOf('\r\n\r\n') + 4));
};

function inBrief(status: number, text: string): string {
  const { code = '' } = status < 400 || text === '' ? {} : (JSON.parse(text) as { code?: string });
  return `${String(status)} ${code}`.trim();
}

describe.each([
  ['fetch', sendFetch],
  ['node', sendNode],
])('a request with several headers of one name, behind %s,', (_name, send) => {
  async function guarded() {
    const users = [{ name: 'ada', passwordHash: await quickHasher.hash('engine') }];
    const snapshot = createSnapshot({ ...sampleDocument, users });
    return runAdmin({ snapshot, hasher: quickHasher, access: { authenticate: createBasicAuthentication() } });
  }
  const right: Lines[number] = ['Authorization', credentials('ada', 'engine')];
  const wrong: Lines[number] = ['Authorization', credentials('ada', 'difference')];

  // Promise: one-authorization
  it.each([
    ['the right one first', [right, wrong]],
    ['the right one last', [wrong, right]],
    ['the same one twice', [right, right]],
  ])('is refused with several headers Authorization: %s', async (_what, lines) => {
    const { admin, gateway } = await guarded();
    expect(await send(admin, 'PUT', stop, lines)).toBe('400 header-invalid');
    expect(appliedTo(gateway)).toEqual([]);
    expect(await send(admin, 'PUT', stop, [right])).toBe('204');
  });

  it('is refused without a log-in if it names several hosts', async () => {
    const hosts: Lines = [
      ['Host', 'localhost'],
      ['Host', 'evil.example'],
    ];
    expect(await send(runAdmin().admin, 'GET', '/services', hosts)).toBe('403 origin-refused');
  });

  it('has the cookies of all headers Cookie, as in one header', async () => {
    const cookies: unknown[] = [];
    const authenticate = ({ headers }: AdminRequest) => {
      cookies.push(headers['cookie']);
      return Promise.resolve({ name: 'ada' });
    };
    const lines: Lines = [
      ['Cookie', 'session=s1'],
      ['Cookie', 'theme=dark'],
    ];
    expect(await send(runAdmin({ access: { authenticate } }).admin, 'GET', '/services', lines)).toBe('200');
    expect(cookies).toEqual(['session=s1; theme=dark']);
  });

  it('has the values of all other headers', async () => {
    const { admin } = runAdmin();
    const tags: Lines = [
      ['If-Match', '"a"'],
      ['If-Match', '*'],
    ];
    expect(await send(admin, 'PUT', stop, tags.slice(0, 1))).toBe('412 precondition-failed');
    expect(await send(admin, 'PUT', stop, tags)).toBe('400 header-invalid');
    expect(await send(admin, 'PUT', stop, tags.toReversed())).toBe('400 header-invalid');
  });
});

describe('a credential with a comma', () => {
  it.each([
    'Digest username="ada", realm="a, b c", uri="/x, y z"',
    'Digest username = "ada" , nc = 00000001 , qop = auth',
    'Digest username="a \\" , b c", realm="x"',
    'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;date, Signature=c',
  ])('is one: %s', async (authorization) => {
    const { admin } = runAdmin({ access: { authenticate: () => Promise.resolve({ name: 'ada' }) } });
    expect(await sendFetch(admin, 'GET', '/services', [['Authorization', authorization]])).toBe('200');
  });
});

describe('a request of a program with header names in capitals', () => {
  const statusOf = async (request: AdminRequest, admin = runAdmin().admin): Promise<number | false> => {
    const handled = await admin.handle(request);
    return handled.matched && handled.response.status;
  };

  it('is read as one with names in lower case', async () => {
    const request = { method: 'PUT', target: stop };
    expect(await statusOf({ ...request, headers: { 'If-Match': '"a"' } })).toBe(412);
    expect(await statusOf({ ...request, headers: { 'If-Match': '*', 'if-match': undefined } })).toBe(204);
    expect(await statusOf({ ...request, headers: { 'IF-MATCH': '"a"', 'if-match': '*' } })).toBe(400);
    expect(await statusOf({ ...request, headers: { Origin: 'https://evil.example' } })).toBe(403);
  });

  it('is refused for a wrong header, also with a method that the path does not have', async () => {
    for (const method of ['GET', 'OPTIONS', 'POST'])
      expect(await statusOf({ method, target: '/services', headers: { X: 5 as never } })).toBe(400);
  });

  it('keeps its principal', async () => {
    const request = { method: 'PUT', target: stop, headers: { Accept: '*/*' } };
    const { admin } = runAdmin({ access: { authorize: (principal) => principal?.name === 'ada' } });
    expect(await statusOf(request, admin)).toBe(403);
    expect(await statusOf({ ...request, principal: { name: 'ada' } }, admin)).toBe(204);
  });

  it('is not answered when its client has left', async () => {
    const request = { method: 'PUT', target: stop, headers: { Accept: '*/*' }, signal: AbortSignal.abort() };
    const { admin, gateway } = runAdmin();
    expect(await statusOf(request, admin)).toBe(503);
    expect(appliedTo(gateway)).toEqual([]);
  });

  it('is read so by authenticate, and keeps the members of a class', async () => {
    const requests: AdminRequest[] = [];
    const { admin } = runAdmin({
      access: {
        authenticate: (request) => {
          requests.push(request);
          return Promise.resolve({ name: 'ada' });
        },
      },
    });
    class Write {
      readonly headers = { Authorization: 'Token x', 'Content-Type': 'application/json' };
      readonly #path = 'users';
      readonly method = 'PUT';
      readonly peer = '192.0.2.1';
      get target() {
        return `/${this.#path}`;
      }
      body() {
        return Promise.resolve(Buffer.from('{"name":"joan","password":"engine"}'));
      }
    }
    expect(await statusOf(new Write(), admin)).toBe(204);
    expect(requests).toMatchObject([{ headers: { authorization: 'Token x' }, peer: '192.0.2.1' }]);
  });
});

describe('a request of a rebound page without a header Host', () => {
  const page = { origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' };

  it('is refused by the host of the URL behind fetch', async () => {
    const { admin, gateway } = runAdmin();
    const fetch = createFetchHandler(admin);
    const at = (host: string, init: RequestInit): Request => new Request(`http://${host}${stop}`, init);
    expect((await fetch(at('evil.example', { method: 'PUT', headers: page }))).status).toBe(403);
    expect((await fetch(at('evil.example:8989', { method: 'OPTIONS' }))).status).toBe(204);
    expect((await fetch(new Request('http://evil.example/services'))).status).toBe(403);
    expect(appliedTo(gateway)).toEqual([]);
    expect((await fetch(at('localhost', { method: 'PUT' }))).status).toBe(204);
    const known = createFetchHandler(runAdmin({ access: { allowedHosts: ['evil.example'] } }).admin);
    expect((await known(at('evil.example', { method: 'PUT', headers: page }))).status).toBe(204);
  });

  it('is refused by the authority of HTTP/2 behind node', async () => {
    const server = createHttp2Server(createNodeHandler(runAdmin().admin) as never);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connectHttp2(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    opened.push(
      () => client.close(),
      () => server.close(),
    );
    const statusAt = async (headers: Record<string, string>): Promise<unknown> => {
      const stream = client.request({ ':path': '/services', ...headers });
      stream.resume();
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      return answer[':status'];
    };
    expect(await statusAt({ ':authority': 'evil.example' })).toBe(403);
    expect(await statusAt({ ':authority': 'evil.example', host: 'localhost' })).toBe(403);
    expect(await statusAt({ ':authority': 'localhost' })).toBe(200);
  });
});

describe('a hook of an adapter that fails', () => {
  const broken = new Error('no such cookie');
  const fail = (): never => {
    throw broken;
  };

  // Promise: audit-failed-hook
  it.each([
    ['principalOf throws', { principalOf: fail }],
    ['principalOf rejects', { principalOf: () => Promise.reject(broken) }],
    ['peerOf throws', { peerOf: fail }],
    ['peerOf gives no text', { peerOf: () => 5 as never }],
  ])('is answered with 500, recorded and told: %s', async (_what, hooks) => {
    for (const adapter of ['fetch', 'node'] as const) {
      const { admin, clock, gateway, errors } = runAdmin();
      const records = readAudit(admin);
      const told: unknown[] = [];
      const options = { ...hooks, onError: (error: unknown) => told.push(error) };
      const status =
        adapter === 'fetch' ? await fetchStatus(admin, options) : await nodeStatus(admin, options);
      await clock.settle();
      expect([status, inShort(records)]).toEqual([500, ['nobody services.stop refused internal']]);
      expect(told).toEqual([expect.any(Error)]);
      expect(errors).toEqual(told);
      expect(appliedTo(gateway)).toEqual([]);
    }
  });

  async function fetchStatus(admin: Admin, options: object): Promise<number> {
    const request = new Request(`http://localhost${stop}`, { method: 'PUT' });
    return (await createFetchHandler(admin, options)(request)).status;
  }

  async function nodeStatus(admin: Admin, options: object): Promise<number> {
    const server = createServer(createNodeHandler(admin, options));
    opened.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}${stop}`, { method: 'PUT' });
    return response.status;
  }
});

describe('a target beyond the limit', () => {
  const long = `?x=${'x'.repeat(9000)}`;

  it('is left to the host if the path is none of the interface', async () => {
    const { admin } = runAdmin();
    const fetch = createFetchHandler(admin, { next: () => new Response('my own page') });
    const at = (path: string): Request => new Request(`http://localhost${path}${long}`);
    expect(await (await fetch(at('/my'))).text()).toBe('my own page');
    expect((await fetch(at('/services'))).status).toBe(414);
    expect((await fetch(at('/services/My-Service'))).status).toBe(414);
    expect(await admin.handle({ method: 'GET', target: `/my${long}`, headers: {} })).toEqual({
      matched: false,
    });
  });
});
