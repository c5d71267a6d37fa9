/**
 * The adapters for fetch and for node:http: base paths, headers, and hooks of the host that fail.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Admin, type AdminRequest, createBasicAuthentication, createSnapshot } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect as connectPort, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler, type NodeOptions } from 'gateway-admin-core/node';

import { inShort, readAudit } from '../support/audit-reader.ts';
import { crowdedSnapshot, sampleDocument } from '../support/document.ts';
import { credentials, quickHasher } from '../support/log-in.ts';
import { appliedTo, runAdmin } from '../support/running-admin.ts';
import { type Transport, transports } from '../support/transport.ts';

const origin = 'http://localhost';

describe('an interface behind fetch', () => {
  it('reads a body in chunks of any size', async () => {
    const { admin } = runAdmin();
    const text = '[{"op":"replace","path":"/max_connection","value":7}]';
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of new TextEncoder().encode(text)) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json-patch+json' };
    const init = { method: 'PATCH', headers, body, duplex: 'half' } as RequestInit;
    const response = await createFetchHandler(admin)(new Request(`${origin}/services/My-Service`, init));
    expect([response.status, await response.json()]).toMatchObject([200, { max_connection: 7 }]);
  });

  // Promise: body-parser
  it('says to onError that a body parser has read the body before', async () => {
    const { admin, errors } = runAdmin();
    const headers = { 'content-type': 'application/json-patch+json' };
    const request = new Request(`${origin}/services/My-Service`, { method: 'PATCH', headers, body: '[]' });
    await request.text();
    const response = await createFetchHandler(admin)(request);
    expect([response.status, await response.json()]).toMatchObject([500, { code: 'internal' }]);
    expect(errors.map(String)).toEqual([expect.stringContaining('before body parsers')]);
  });

  it('stops producing a list when the client stops reading', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(2345) });
    let ended = false;
    const handler = createFetchHandler({
      ...admin,
      handle: async (request) => {
        const handled = await admin.handle(request);
        if (!handled.matched || typeof handled.response.body !== 'object') return handled;
        const pieces = handled.response.body;
        const watched = async function* (): AsyncGenerator<Uint8Array> {
          try {
            yield* pieces;
          } finally {
            ended = true;
          }
        };
        return { matched: true, response: { ...handled.response, body: watched() } };
      },
    });
    const response = await handler(new Request(`${origin}/sessions`));
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    expect(ended).toBe(true);
  });

  it('answers 401 if principalOf returns nobody', async () => {
    const { admin } = runAdmin();
    const handler = createFetchHandler(admin, {
      principalOf: ({ headers }) => (headers.has('x-name') ? { name: 'ada' } : undefined),
    });
    expect((await handler(new Request(`${origin}/services`))).status).toBe(401);
    const named = { headers: { 'x-name': 'ada' } };
    expect((await handler(new Request(`${origin}/services`, named))).status).toBe(200);
  });

  it('takes the peer from peerOf', async () => {
    const peers: unknown[] = [];
    const authenticate = ({ peer }: AdminRequest) => {
      peers.push(peer);
      return Promise.resolve({ name: 'ada' });
    };
    const { admin } = runAdmin({ access: { authenticate } });
    const peerOf = ({ headers }: Request) => headers.get('x-real-ip') ?? undefined;
    await createFetchHandler(admin, { peerOf })(
      new Request(`${origin}/services`, { headers: { 'x-real-ip': '192.0.2.1' } }),
    );
    await createFetchHandler(admin, { peerOf })(new Request(`${origin}/services`));
    await createFetchHandler(admin)(new Request(`${origin}/services`));
    expect(peers).toEqual(['192.0.2.1', undefined, undefined]);
  });
});

const { admin } = runAdmin();

describe.each(['fetch', 'node'] as const)('an interface behind %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
    transport = undefined;
  });

  /** Status of the answer to a GET, with its problem code if there is one. */
  async function get(basePath: string, target: string): Promise<readonly unknown[]> {
    transport = await transports[name](admin, { basePath: basePath as '/' });
    const { status, body } = await transport.send('GET', target);
    const { code } = body as { readonly code?: string };
    return code === undefined ? [status] : [status, code];
  }

  it.each([
    ['', '/services'],
    ['/', '/services'],
    ['/admin', '/admin/services'],
    ['/admin/', '/admin/services?fields=name'],
    ['/admin///', '/admin/services'],
    ['/a/b%20c', '/a/b%20c/services/My-Service'],
    ['', '/'],
    ['/', '/?fields=ready'],
    ['/admin', '/admin'],
    ['/admin', '/admin/'],
    ['/admin', '/admin?fields=ready'],
    ['/admin/', '/admin'],
  ])('mounted at %j answers %s', async (basePath, target) => {
    expect(await get(basePath, target)).toEqual([200]);
  });

  it.each([
    ['/admin', '/services'],
    ['/admin', '/administrators/services'],
    ['/admin', '/ADMIN/services'],
    ['/admin', '/'],
    ['/admin', '/admin//'],
    ['/admin', '/other/admin/services'],
    ['/admin', '/admin/nothing'],
    ['/a/b%20c', '/a/b+c/services'],
  ])('mounted at %j has nothing at %s', async (basePath, target) => {
    expect(await get(basePath, target)).toEqual([404, 'route-not-found']);
  });

  it('answers a request outside the interface with a problem', async () => {
    transport = await transports[name](admin, { basePath: '/admin' });
    const { headers, body } = await transport.send('GET', '/elsewhere');
    expect(headers['content-type']).toBe('application/problem+json');
    expect(body).toMatchObject({
      status: 404,
      code: 'route-not-found',
      detail: 'There is nothing at this path of the administration interface.',
    });
  });

  it.each(['admin', 'admin/', 'http://localhost/admin', ' /admin'])(
    'refuses the base path %j, which does not begin with a slash',
    (basePath) => {
      const create = { fetch: createFetchHandler, node: createNodeHandler }[name];
      const options = { basePath: basePath as '/' };
      expect(() => create(admin, options)).toThrow(RangeError);
      expect(() => create(admin, options)).toThrow('The base path must begin with a slash, such as /admin');
    },
  );
});

describe('a host with routes of its own', () => {
  /** The status and the text of a response. */
  type Get = (path: string) => Promise<readonly [number, string]>;
  const ends: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** Serves the interface behind node. */
  async function serve(options: Pick<NodeOptions, 'basePath'>): Promise<Get> {
    const handler = createNodeHandler(admin, options);
    const server = createServer((request, response) => {
      handler(request, response, () => response.end(`next ${request.url ?? ''}`));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    ends.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return async (path) => {
      const response = await globalThis.fetch(`http://127.0.0.1:${String(port)}${path}`);
      return [response.status, await response.text()];
    };
  }

  const behind: Readonly<Record<string, (options: Pick<NodeOptions, 'basePath'>) => Promise<Get>>> = {
    node: serve,
    fetch: (options) => {
      const nextPage = ({ url }: Request): Response =>
        new Response(`next ${url.replace('http://localhost', '')}`);
      const fetch = createFetchHandler(admin, { ...options, next: nextPage });
      return Promise.resolve(async (path) => {
        const response = await fetch(new Request(`http://localhost${path}`));
        return [response.status, await response.text()];
      });
    },
  };

  it.each(Object.keys(behind))('answers other requests itself behind %s', async (name) => {
    const get = await behind[name]?.({ basePath: '/admin' });
    for (const path of ['/admin/nothing', '/elsewhere'])
      expect(await get?.(path)).toEqual([200, `next ${path}`]);
    expect((await get?.('/admin/services'))?.[0]).toBe(200);
  });

  // Promise: home-page
  it.each([
    ['node', {}],
    ['node', { basePath: '' as '/' }],
    ['fetch', {}],
  ])('keeps its home page behind %s without a base path: %j', async (name, options) => {
    const get = await behind[name]?.(options);
    for (const path of ['/', '/?x=1']) expect(await get?.(path)).toEqual([200, `next ${path}`]);
    expect((await get?.('/services'))?.[0]).toBe(200);
    expect((await get?.('/services'))?.[1]).not.toMatch(/^next/);
  });

  it.each(Object.keys(behind))(
    'gives the path / to the interface behind %s with the base path /',
    async (name) => {
      const get = await behind[name]?.({ basePath: '/' });
      const [status, text] = (await get?.('/?fields=ready')) ?? [];
      expect([status, text]).toEqual([200, '{"ready":true}']);
    },
  );
});

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
    const users = [{ name: 'ada', password: { sealed: await quickHasher.hash('engine') } }];
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

const broken = new Error('the log is full');
const noPage = new Error('no such page');
const get: AdminRequest = { method: 'GET', target: '/services', headers: {} };

/** How `onError` of an adapter fails. */
const failing = [
  [
    'throws',
    (): never => {
      throw broken;
    },
  ],
  ['rejects', () => Promise.reject(broken) as never],
] as const;

/** How the routes of the host fail. */
const pages = {
  throws: (): never => {
    throw noPage;
  },
  rejects: () => Promise.reject(noPage),
} as const;

let shown: jest.SpiedFunction<typeof console.error>;

beforeEach(() => {
  shown = jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  shown.mockRestore();
});

/** Checks that the console got the failure of `onError` once, with the error that nobody got. */
function expectShown(lost: RegExp): void {
  expect(shown).toHaveBeenCalledTimes(1);
  const error: unknown = shown.mock.calls[0]?.[0];
  expect(error).toMatchObject({ name: 'HostError', call: 'onError', cause: broken });
  expect((error as Error).message).toMatch(lost);
}

/** Sends a request to an interface behind an adapter with these options. Gives the status, and the text if there is one. */
type Ask = (admin: Admin, request: AdminRequest, options: object, next?: () => unknown) => Promise<string>;

const askNode: Ask = async (admin, { method, target }, options, next) => {
  const handler = createNodeHandler(admin, options);
  const server = createServer((request, response) => {
    handler(request, response, next);
  });
  opened.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return textOf(await fetch(`http://127.0.0.1:${String(port)}${target}`, { method }));
};

const askFetch: Ask = async (admin, { method, target }, options, next) => {
  const own = next === undefined ? options : { ...options, next: next as () => Response };
  return textOf(await createFetchHandler(admin, own)(new Request(`http://localhost${target}`, { method })));
};

async function textOf(response: Response): Promise<string> {
  return `${String(response.status)} ${await response.text()}`.trim();
}

/** What makes the hooks of an adapter fail, and what `onError` is told. */
const failures: readonly (readonly [what: string, hooks: object, message: RegExp])[] = [
  ['peerOf rejects', { peerOf: () => Promise.reject(noPage) }, /^peerOf answered a promise instead of /],
  ['peerOf resolves', { peerOf: () => Promise.resolve('192.0.2.1') }, /^peerOf answered a promise/],
  ['peerOf gives null', { peerOf: () => null }, /^peerOf answered null instead of a string or undefined/],
  ['peerOf gives a number', { peerOf: () => 5 }, /^peerOf answered 5 instead of/],
  ['peerOf throws', { peerOf: pages.throws }, /^peerOf failed: no such page\. The request was refused\.$/],
  ['principalOf throws', { principalOf: pages.throws }, /^no such page$/],
  ['principalOf rejects', { principalOf: pages.rejects }, /^no such page$/],
];

describe.each([
  ['node', askNode],
  ['fetch', askFetch],
])('the adapter for %s', (_name, ask) => {
  const elsewhere: AdminRequest = { method: 'GET', target: '/elsewhere', headers: {} };

  // Promise: adapter-on-error
  it.each(failing)('answers although its onError %s', async (_way, onError) => {
    expect(await ask(runAdmin().admin, elsewhere, { onError }, pages.throws)).toBe('500');
    await new Promise((resolve) => setImmediate(resolve));
    expectShown(/^onError failed: the log is full\. The error for onError was: no such page\.$/);
  });

  it.each(Object.entries(pages))(
    'answers 500, and tells onError once, if the routes of the host fail: next %s',
    async (_way, next) => {
      const told: unknown[] = [];
      const { admin, errors } = runAdmin();
      expect(await ask(admin, elsewhere, { onError: (error: unknown) => told.push(error) }, next)).toBe(
        '500',
      );
      expect(told).toEqual([noPage]);
      expect(await ask(admin, elsewhere, {}, next)).toBe('500');
      expect([shown.mock.calls, errors]).toEqual([[], []]);
    },
  );

  // Promise: audit-failed-hook
  it.each(failures)(
    'answers 500, records that, and tells each side once if a hook fails: %s',
    async (_what, hooks, message) => {
      const { admin, clock, gateway, errors } = runAdmin();
      const records = readAudit(admin);
      const told: unknown[] = [];
      const options = { ...hooks, onError: (error: unknown) => told.push(error) };
      const answer = await ask(admin, { ...elsewhere, method: 'PUT', target: stop }, options);
      await clock.settle();
      expect([answer.slice(0, 3), inShort(records)]).toEqual([
        '500',
        ['nobody services.stop refused internal'],
      ]);
      expect(told).toMatchObject([{ message: expect.stringMatching(message) }]);
      expect(errors).toEqual(told);
      expect(appliedTo(gateway)).toEqual([]);
    },
  );

  it.each(failures)('answers although a hook and onError fail: %s', async (_what, hooks) => {
    for (const [, onError] of failing) {
      const { admin, errors } = runAdmin();
      expect(await ask(admin, get, { ...hooks, onError })).toMatch(/^500 /);
      expect(errors).toHaveLength(1);
    }
    expect(shown).toHaveBeenCalledTimes(failing.length);
  });
});

describe('the adapter for message ports', () => {
  // Promise: adapter-on-error
  it.each(failing)('goes on although its onError %s', async (_way, onError) => {
    const { port1, port2 } = new MessageChannel();
    opened.push(() => port2.close());
    serve(runAdmin().admin, port1, { onError });
    const send = connectPort(port2);
    port2.postMessage('something else');
    expect((await send(get)).status).toBe(200);
    expectShown(/a port of its own\.$/);
  });
});
