/**
 * What holds for every endpoint because it is HTTP, and that every way to reach the interface gives the same answers.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  problemTable,
  routes,
  stopService,
  type Admin,
  type AdminRequest,
  type AdminResponse,
  type ProblemCode,
} from 'gateway-admin-core';
import { createClient, sendTo, sendWithFetch, type Client, type Send } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { sampleDocument } from '../support/document.ts';
import { runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { runWithEndedNode } from '../support/sample-fleet.ts';
import { transports, type Answer, type Sent, type Transport } from '../support/transport.ts';
import { additions, endpoints, requestOf, sentBy, targetOf, type Endpoint } from './endpoint.ts';
import { runFor } from './problem-code.ts';

const all = [...endpoints, ...additions];
const paths = [...new Set(all.flatMap(({ path, aliases }) => [path, ...aliases]))].map((path) => {
  const here = all.filter((each) => each.path === path || each.aliases.includes(path));
  const [first] = here;
  return {
    path,
    target: first === undefined ? path : targetOf(first, path),
    methods: here.map(({ method }) => method),
  };
});
const reads = endpoints.filter(({ method }) => method === 'GET');
const patchTypes = ['application/json-patch+json', 'application/json-patch'] as const;
const bodied = endpoints.filter(({ body }) => body !== undefined);
const bodiless = endpoints.filter(({ body, method }) => body === undefined && method !== 'GET');

describe('the protocol', () => {
  let running: Running;
  let transport: Transport;
  const send = (method: string, target: string, sent?: Sent): Promise<Answer> =>
    transport.send(method, target, sent);

  beforeEach(async () => {
    running = runAdmin();
    transport = await transports.core(running.admin);
  });

  function expectProblem(answer: Answer, code: ProblemCode): void {
    const { status, title } = problemTable[code];
    expect(answer.body).toMatchObject({
      type: `urn:problem-type:gateway-admin:${code}`,
      title,
      status,
      code,
    });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect((answer.body as { detail: string }).detail).not.toBe('');
  }

  /** Expects what the core leaves to the routes of the host. */
  const expectNothing = ({ status }: Answer): void => expect(status).toBe(0);

  it.each(reads)('HEAD $path is GET without the body', async (endpoint) => {
    const get = await send('GET', targetOf(endpoint));
    const head = await send('HEAD', targetOf(endpoint));
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    for (const header of ['content-type', 'etag', 'x-total-count', 'cache-control']) {
      expect([header, head.headers[header]]).toEqual([header, get.headers[header]]);
    }
  });

  // Promise: secure-headers
  it('every answer forbids caches to store the answer, and browsers to guess the type', async () => {
    const json = { 'content-type': 'application/json' };
    const answers = [
      await send('GET', '/services'),
      await send('GET', '/services', { headers: { 'if-none-match': '*' } }),
      await send('HEAD', '/sessions'),
      await send('OPTIONS', '/services'),
      await send('PUT', '/service/My-Service/stop'),
      await send('PATCH', '/services/My-Service', { headers: json, body: '[]' }),
      await send('PATCH', '/services/My-Service', { headers: json, body: 'x' }),
      await send('GET', '/services/nothing'),
      await send('PROPFIND', '/services'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 200, 204, 204, 200, 400, 404, 501]);
    for (const { headers } of answers)
      expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['no-store', 'nosniff']);
  });

  it('HEAD of a missing resource is the 404 of GET without the body', async () => {
    const { status, text } = await send('HEAD', '/services/nothing');
    expect([status, text]).toEqual([404, '']);
  });

  it.each(paths)('OPTIONS $path lists the methods: $methods', async ({ target, methods }) => {
    const { status, text, headers } = await send('OPTIONS', target);
    const allow = new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    expect([status, text]).toEqual([204, '']);
    expect(new Set(headers['allow']?.split(', '))).toEqual(allow.add('OPTIONS'));
    expect(headers['accept-patch']).toBe(
      methods.includes('PATCH') ? 'application/json-patch+json' : undefined,
    );
  });

  it.each(paths)(
    '$path refuses an unsupported method with 405 and an unknown method with 501',
    async ({ target, methods }) => {
      const other = (['DELETE', 'POST', 'PUT'] as const).find((method) => !methods.includes(method)) ?? '';
      const answer = await send(other, target);
      expectProblem(answer, 'method-not-allowed');
      expect(answer.headers['allow']).toBe((await send('OPTIONS', target)).headers['allow']);
      const unknown = await send('PROPFIND', target);
      expectProblem(unknown, 'method-unknown');
      expect(unknown.headers['allow']).toBe(answer.headers['allow']);
    },
  );

  it.each([
    ...['//', '/nothing', '/Services', '/SERVICES/My-Service', '//services', '/services//'],
    ...['/services/My-Service//listeners', '/services/My-Service/listeners/x/y', '/services//listeners'],
    ...[
      '/services/My-Service/Stop',
      '/service',
      '/service/My-Service',
      '/monitor',
      '/filter',
      '/gateways',
      '/gateway/nothing',
    ],
    ...['/gateway/logs/flush/now', '/users/ada/password', '/constructor', '/__proto__'],
  ])('has nothing at %s', async (target) => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) expectNothing(await send(method, target));
  });

  it.each(endpoints)('$method $path tolerates one trailing slash', async (endpoint) => {
    const { status } = await send(endpoint.method, `${targetOf(endpoint)}/`, sentBy(endpoint));
    expect(status).toBe(endpoint.answer.status);
    expectNothing(await send(endpoint.method, `${targetOf(endpoint)}//`, sentBy(endpoint)));
  });

  it.each(bodied)('$method $path accepts its media types and refuses others', async (endpoint) => {
    const isPatch = endpoint.method === 'PATCH';
    const { body = '' } = sentBy(endpoint);
    const sendAs = (type: string): Promise<Answer> =>
      send(endpoint.method, `${targetOf(endpoint)}?dry_run=true`, {
        headers: { 'content-type': type },
        body,
      });
    for (const type of ['text/plain', 'application/json+patch', ...(isPatch ? [] : [patchTypes[0]])]) {
      const answer = await sendAs(type);
      expectProblem(answer, 'unsupported-media-type');
      expect(answer.headers['accept']).toBe(isPatch ? undefined : 'application/json');
    }
    const types = ['application/json', 'Application/JSON;charset=UTF-8', ...(isPatch ? patchTypes : [])];
    for (const type of types) expect([type, (await sendAs(type)).status]).toEqual([type, 200]);
  });

  it.each(bodiless)('$method $path ignores a body', async (endpoint) => {
    const headers = { 'content-type': 'text/plain' };
    const { status } = await send(endpoint.method, targetOf(endpoint), { headers, body: '{ not JSON' });
    expect(status).toBe(204);
  });

  it('ignores Accept', async () => {
    const { status, headers } = await send('GET', '/services', { headers: { accept: 'text/html' } });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  });

  it('finds resources with names such as constructor and eu/west', async () => {
    const names = ['constructor', '__proto__', 'length', 'eu/west', '100%', 'Köln', '...', 'a?b#c'];
    const services = names.map((each) => ({ ...sampleDocument.services?.[1], name: each, router: 'cli' }));
    transport = await transports.core(runAdmin({ snapshot: createSnapshot({ services }) }).admin);
    for (const each of names) {
      const target = `/services/${encodeURIComponent(each)}`;
      expect((await send('GET', target)).body).toMatchObject({ name: each });
      expect((await send('PUT', `/service/${encodeURIComponent(each)}/start`)).status).toBe(204);
      expect((await send('GET', `${target}?fields=state`)).body).toEqual({ state: 'started' });
    }
  });
});

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/**
 * A fresh interface, the same each time. For the endpoints of commands, it has a command of unknown outcome, for those
 * of a fleet, a node that has ended, and for those of the history, two settled commands.
 */
async function run({ path }: Endpoint): Promise<Admin> {
  const snapshot = createSnapshot(sampleDocument, { epoch: 'sample' });
  if (path.startsWith('/fleet/')) return (await runWithEndedNode()).admin;
  if (path.startsWith('/history')) return (await runFor({ path }, runAdmin({ snapshot }))).admin;
  if (!path.startsWith('/commands')) return runAdmin({ snapshot }).admin;
  const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
  const { admin, clock } = runAdmin({ snapshot, gateway });
  const stop = admin.execute((state, context) => stopService(state, 'My Service', context));
  await clock.advance(admin.limits.effectDeadlineMs);
  await stop;
  return admin;
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body; of a stream of events, which has no end, the first piece. */
  readonly text: string;
}

/** The headers of a connection of HTTP, which are not those of the answer. */
const ofConnection = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

async function answerIn({ status, headers, body = '' }: AdminResponse): Promise<Received> {
  const all = Object.entries(headers).filter(([name]) => !ofConnection.includes(name));
  const decoder = new TextDecoder();
  let text = typeof body === 'string' ? body : '';
  for await (const piece of typeof body === 'string' ? [] : body) {
    text += decoder.decode(piece, { stream: true });
    if (headers['content-type'] === 'text/event-stream') break;
  }
  // The ids of events begin with a random text for each interface.
  return { status, headers: Object.fromEntries(all), text: text.replace(/^id: [\da-f]{12}\./m, 'id: life.') };
}

/** The ways to send the request of an endpoint. */
const ways: Readonly<Record<string, (admin: Admin) => Promise<Send> | Send>> = {
  node: async (admin) => {
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  },
  fetch: (admin) => {
    const handler = createFetchHandler(admin);
    return sendWithFetch('http://localhost', { fetch: (...given) => handler(new Request(...given)) });
  },
  'a message port': (admin) => {
    const { port1, port2 } = new MessageChannel();
    serve(admin, port1);
    closing.push(() => {
      port2.close();
      return new Promise((resolve) => port1.once('close', resolve));
    });
    return connect(port2);
  },
};

/** The method of a client for an endpoint. */
function methodOf(client: Client, { method, path }: Endpoint): (...given: unknown[]) => Promise<unknown> {
  const id = routes.find((route) => route.method === method && route.path === path)?.id ?? '';
  const [group = '', name = ''] = id.split('.');
  const groups = client as unknown as Record<string, Record<string, ReturnType<typeof methodOf>>>;
  return groups[group]?.[name] ?? (() => Promise.reject(new Error(`The client has no ${id}`)));
}

/** The options of the client that give the query of an endpoint. */
const queryOf = ({ query = '' }: Endpoint): object => Object.fromEntries(new URLSearchParams(query));

/** Asks with the method of the client, and gives the answer that the client got. */
async function askClient(endpoint: Endpoint): Promise<Received | undefined> {
  const send = sendTo(await run(endpoint));
  const subjects = endpoint.subject?.split('/').map(decodeURIComponent) ?? [];
  const body = endpoint.body === undefined ? [] : [endpoint.body.json];
  const end = new AbortController();
  let answer: Received | undefined;
  const client = createClient(async (request) => {
    const response = await send(request);
    answer = await answerIn(response);
    end.abort();
    return { ...response, body: new Blob([answer.text]).stream() };
  });
  if (endpoint.stream === true) await client.events({ signal: end.signal }).next();
  else await methodOf(client, endpoint)(...subjects, ...body, queryOf(endpoint));
  return answer;
}

/** Expects the answer of the core, which has a status, through each way. Gives that answer. */
async function expectSame(
  status: number,
  request: AdminRequest,
  open: () => Promise<Admin>,
): Promise<Received> {
  const handled = await (await open()).handle(request);
  const nowhere = { status: 404, headers: {}, text: '' };
  const answer = handled.matched ? await answerIn(handled.response) : nowhere;
  expect(answer.status).toBe(status);
  for (const [name, way] of Object.entries(ways)) {
    const send = await way(await open());
    const same = await answerIn(await send(request));
    expect([name, handled.matched ? same : { ...nowhere, status: same.status }]).toEqual([name, answer]);
  }
  return answer;
}

describe.each([...endpoints, ...additions])('$method $path', (endpoint) => {
  // Promise: transports
  it('has the same answer through every way', async () => {
    const answer = await expectSame(endpoint.answer.status, requestOf(endpoint), () => run(endpoint));
    expect(['the client', await askClient(endpoint)]).toEqual(['the client', answer]);
  });
});

const json = { 'content-type': 'application/json' };
const limit = '[{"op":"replace","path":"/max_connection","value":7}]';

/** Requests of which an adapter may get something wrong: `<method> <target>`, the status, headers and the body. */
const others: readonly (readonly [
  string,
  number,
  AdminRequest['headers']?,
  (string | Uint8Array<ArrayBuffer>)?,
])[] = [
  ['HEAD /services/My-Service', 200],
  ['HEAD /services/nothing', 404],
  ['OPTIONS /services/My-Service', 204],
  ['PUT /services', 405],
  ['PROPFIND /services', 501],
  ['GET /nothing', 404],
  ['GET /services/', 200],
  ['GET /services//', 404],
  ['GET /services/%zz', 400],
  ['GET /services/mY%20sERVICE', 200],
  ['GET /services/k%C3%B6ln%2F', 404],
  ['GET /sessions?service=My+Service&fields=id&range=0-0', 200],
  ['GET /sessions?range=5-6&address=%3A%3A1&fields=user', 200],
  ['GET /sessions?user=%FF', 400],
  ['GET /services?fields=name&fields=state', 200],
  ['GET /services', 304, { 'if-none-match': '*' }],
  ['GET /services', 200, { 'if-none-match': '"x", W/"y"', accept: 'text/html' }],
  ['GET /services', 412, { 'if-match': '"x"' }],
  ['GET /services', 400, { 'if-none-match': 'x' }],
  ['GET /services', 401, { authorization: 'Basic eDp5' }],
  ['DELETE /sessions/9', 412, { 'if-match': '"x"' }],
  [
    'DELETE /sessions/9',
    204,
    { 'x-http-method-override': 'GET', 'content-type': 'text/plain' },
    '{ not JSON',
  ],
  ['PUT /service/My-Service/stop?dry_run=true', 200],
  ['PUT /service/My-Service/stop', 200, { prefer: 'return=representation' }],
  ['PUT /service/My-Service/stop', 403, { origin: 'http://other.test', host: 'gateway.test' }],
  ['PATCH /services/My-Service', 200, json, limit],
  ['PATCH /services/My-Service', 200, json, new TextEncoder().encode(`\ufeff${limit}`)],
  ['PATCH /services/My-Service', 400, json, new Uint8Array([0x5b, 0x22, 0x80, 0x22, 0x5d])],
  ['PATCH /services/My-Service', 400, json],
  ['PATCH /services/My-Service', 415, { 'content-type': 'text/plain' }, limit],
  ['PATCH /services/My-Service', 413, json, ' '.repeat(1_048_577)],
];

describe('another request', () => {
  it.each(others)(
    'has the same answer through every way: %s %i',
    async (line, status, headers = {}, body) => {
      const [method = '', target = ''] = line.split(' ');
      const request = { method, target, headers, ...(body === undefined ? {} : { body }) };
      const authenticate = () =>
        Promise.resolve(headers['authorization'] === undefined ? { name: 'ada' } : undefined);
      const snapshot = createSnapshot(sampleDocument, { epoch: 'sample' });
      await expectSame(status, request, () =>
        Promise.resolve(runAdmin({ snapshot, access: { authenticate } }).admin),
      );
    },
  );
});
