/**
 * The frameworks of docs/frameworks.md: runs the blocks of the page, and sends requests to what they make.
 */
import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker, type WorkerOptions } from 'node:worker_threads';

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import compression from 'compression';
import express from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { createSnapshot, type Admin } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';
import { Hono, type HonoRequest } from 'hono';
import { compress } from 'hono/compress';
import { cloneRawRequest } from 'hono/request';
import Koa from 'koa';
import ts from 'typescript';

import { blocksOfMarkdown, type CodeBlock } from '../docs/code-block.ts';
import { runChain } from '../docs/running-block.ts';
import { buildPackage } from '../support/built-package.ts';
import { read, root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';

const page = read('docs/frameworks.md');
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The blocks of a section of the page. */
function blocksOf(heading: string): readonly CodeBlock[] {
  const lines = page.split('\n');
  const from = lines.indexOf(`## ${heading}`);
  const length = lines.slice(from + 1).findIndex((line) => line.startsWith('## '));
  const blocks = blocksOfMarkdown('docs/frameworks.md', page);
  return blocks.filter(({ line }) => line > from && (length < 0 || line <= from + length));
}

/** Runs the first block of a section, and gives variables of the block. */
async function run<T>(
  heading: string,
  names: readonly string[],
  modules: Record<string, unknown> = {},
  edit = (code: string) => code,
): Promise<T> {
  const [block] = blocksOf(heading);
  if (block === undefined) throw new Error(`docs/frameworks.md has no block below "${heading}"`);
  let taken: unknown;
  const take = (values: unknown): void => {
    taken = values;
  };
  const line = block.line + block.code.split('\n').length + 1;
  const code = `import { take } from 'the test';\ntake({ ${names.join(', ')} });`;
  const all: Record<string, unknown> = { ...modules, 'the test': { take } };
  const edited = { ...block, code: edit(block.code) };
  await runChain([edited, { ...block, line, code }], (id) => all[id] ?? jest.requireActual(id));
  return taken as T;
}

type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

async function listening(server: Server): Promise<Fetch> {
  await once(server, 'listening');
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  const base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return (path, init) => fetch(base + path, init);
}

interface Listening {
  listen(port: number, host: string): Server;
}

interface Fetching {
  fetch(request: Request): Response | Promise<Response>;
}

const listen = (app: unknown): Promise<Fetch> => listening((app as Listening).listen(0, '127.0.0.1'));

async function listenFastify(app: unknown): Promise<Fetch> {
  const own = app as FastifyInstance;
  const base = await own.listen({ port: 0, host: '127.0.0.1' });
  closing.push(() => own.close());
  return (path, init) => fetch(base + path, init);
}

const call = (app: unknown): Promise<Fetch> =>
  Promise.resolve(async (path, init) =>
    (app as Fetching).fetch(new Request(`http://localhost${path}`, init)),
  );

const openSessions = (admin: Admin, count: number): void => {
  const session = { user: 'ada', address: '192.0.2.7', service: 'Sales', state: 'ready' };
  const ids = Array.from({ length: count }, (_none, id) => id);
  admin.report(ids.map((id) => ({ type: 'session.opened', id, ...session, connected: 0 })));
};

const json = (type: string, body: unknown): RequestInit => ({
  headers: { 'content-type': type },
  body: JSON.stringify(body),
});
const joan = { method: 'PUT', ...json('application/json', { name: 'joan', password: 'correct horse' }) };

describe.each([
  ['node:http', listen],
  ['Express 5', listen],
  ['Fastify 5', listenFastify],
  ['Koa', listen],
  ['Hono', call],
  ['Bun and Deno', call],
])('the interface in %s', (heading, open) => {
  async function start(): Promise<{ readonly admin: Admin; readonly send: Fetch }> {
    const { admin, app } = await run<{ readonly admin: Admin; readonly app: unknown }>(heading, [
      'admin',
      'app',
    ]);
    closing.push(() => admin.close());
    return { admin, send: await open(app) };
  }

  // Promise: frameworks
  it('answers requests, with and without a body', async () => {
    const { admin, send } = await start();
    expect((await send('/admin')).status).toBe(200);
    expect(await (await send('/admin/services/Sales?fields=state')).json()).toEqual({ state: 'started' });
    expect((await send('/admin/service/Sales/stop', { method: 'PUT' })).status).toBe(204);
    const patch = json('application/json-patch+json', [{ op: 'add', path: '/max_connection', value: 7 }]);
    const patched = await send('/admin/services/Sales', { method: 'PATCH', ...patch });
    expect([patched.status, await patched.json()]).toMatchObject([
      200,
      { state: 'stopped', max_connection: 7 },
    ]);
    expect((await send('/admin/users', joan)).status).toBe(204);
    expect(admin.snapshot.users.find('joan')?.name).toBe('joan');
  });

  it('sends a long list in pieces', async () => {
    const { admin, send } = await start();
    openSessions(admin, 5000);
    const response = await send('/admin/sessions');
    const reader = response.body?.getReader();
    const first = (await reader?.read())?.value?.length ?? 0;
    let length = first;
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      length += part.value.length;
    expect(response.headers.get('x-total-count')).toBe('5000');
    expect([first < length / 2, length > 500_000]).toEqual([true, true]);
  });

  it('leaves other paths to the framework', async () => {
    const { send } = await start();
    const home = await send('/');
    expect([home.status, await home.text()]).toEqual([200, 'my own page']);
    for (const path of ['/elsewhere', '/administrators/services']) {
      const response = await send(path);
      expect(response.headers.get('content-type') ?? '').not.toContain('problem');
      expect(response.status).toBe(heading === 'node:http' ? 200 : 404);
    }
    expect((await send('/admin/nothing')).status).toBe(heading === 'node:http' ? 200 : 404);
  });
});

describe('the other line of the block for Express', () => {
  const otherLine = /^(app\.use\(createNodeHandler.*\n)\/\/ (app\.use\('\/admin', .*)$/m;

  it('mounts the interface too', async () => {
    expect(blocksOf('Express 5')[0]?.code).toMatch(otherLine);
    const edit = (code: string): string => code.replace(otherLine, '$2');
    const { app } = await run<{ readonly app: unknown }>('Express 5', ['app'], {}, edit);
    const send = await listen(app);
    expect((await send('/admin')).status).toBe(200);
    expect((await send('/admin/service/Sales/stop', { method: 'PUT' })).status).toBe(204);
    expect((await send('/admin/users', joan)).status).toBe(204);
    expect(await (await send('/')).text()).toBe('my own page');
    expect((await send('/administrators/services')).status).toBe(404);
  });
});

describe('the interface under a path of Express', () => {
  it.each(['/admin', '/'] as const)('is where it was mounted, with the base path %s', async (basePath) => {
    const { admin } = runAdmin();
    const app = express();
    app.use('/admin', createNodeHandler(admin, { basePath }));
    const send = await listen(app);
    expect((await send('/admin/services')).status).toBe(200);
    expect((await send('/admin?fields=ready')).status).toBe(200);
    expect((await send('/services')).headers.get('content-type')).toMatch(/^text\/html/);
  });
});

describe('a log-in of the framework', () => {
  it('says who sends a request', async () => {
    const { app } = await run<{ readonly app: unknown }>('Log in with your framework', ['app']);
    const send = await listen(app);
    expect((await send('/admin/services')).status).toBe(401);
    expect((await send('/admin/services', { headers: { cookie: 'session=s1' } })).status).toBe(200);
  });
});

/** Interfaces behind a parser that has read the body before, and has left it at the request. */
const behindParsers: Readonly<Record<string, (admin: Admin) => Promise<Fetch>>> = {
  'express.json()': (admin) => behindExpress(admin, express.json({ strict: false })),
  'express.text()': (admin) => behindExpress(admin, express.text({ type: '*/*' })),
  'express.raw()': (admin) => behindExpress(admin, express.raw({ type: '*/*' })),
  'express.json() that keeps the bytes': (admin) => {
    const verify = (request: object, _response: unknown, rawBody: Buffer): void => {
      Object.assign(request, { rawBody });
    };
    return behindExpress(admin, express.json({ verify }));
  },
  'the parser of fastify': (admin) => behindFastify(admin),
  'a parser of fastify that gives bytes': (admin) => behindFastify(admin, 'buffer'),
  'a reader in koa': (admin) =>
    behindKoa(admin, ({ req }, text) => {
      Object.assign(req, { body: text });
    }),
  'a reader in hono': (admin) => behindHono(admin, cloneRawRequest),
  'a reader in hono, and a new request': (admin) =>
    behindHono(admin, async (request) => new Request(request.raw, { body: await request.text() })),
};

function behindExpress(admin: Admin, parser: express.RequestHandler): Promise<Fetch> {
  const app = express();
  app.use(parser);
  app.use(createNodeHandler(admin, { basePath: '/admin' }));
  return listen(app);
}

function behindFastify(admin: Admin, parseAs?: 'buffer'): Promise<Fetch> {
  const app = fastify();
  if (parseAs !== undefined) {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs }, (_request, body, done) => done(null, body));
  }
  const handle = createNodeHandler(admin, { basePath: '/admin' });
  app.all('/admin/*', (request, reply) => {
    reply.hijack();
    handle(Object.assign(request.raw, { body: request.body }), reply.raw);
  });
  return listenFastify(app);
}

/** Koa with a parser that reads the whole body, and may keep the text. */
function behindKoa(admin: Admin, keep: (context: Koa.Context, text: string) => void): Promise<Fetch> {
  const app = new Koa();
  const handle = createNodeHandler(admin, { basePath: '/admin' });
  app.use(async (context, next) => {
    let text = '';
    for await (const part of context.req) text += String(part);
    keep(context, text);
    await next();
  });
  app.use((context) => {
    context.respond = false;
    handle(context.req, context.res);
  });
  return listen(app);
}

/** Hono with a reader of the body, and the request that the interface gets. */
function behindHono(
  admin: Admin,
  requestOf: (request: HonoRequest<'/admin/*'>) => Request | Promise<Request>,
): Promise<Fetch> {
  const app = new Hono();
  const handle = createFetchHandler(admin, { basePath: '/admin' });
  app.use(async (context, next) => {
    await context.req.text();
    await next();
  });
  app.all('/admin/*', async (context) =>
    handle(context.req.method === 'GET' ? context.req.raw : await requestOf(context.req)),
  );
  return call(app);
}

const max = (value: string, more: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/json', ...more },
  body: `[{"op":"add","path":"/max_connection","value":${value}}]`,
});

describe.each(Object.entries(behindParsers))('the interface behind %s', (_name, open) => {
  // Promise: body-parser
  it('takes the body that was read before', async () => {
    const { admin, errors } = runAdmin();
    const send = await open(admin);
    expect((await send('/admin/users', joan)).status).toBe(204);
    const patched = await send('/admin/services/My-Service', max('7'));
    expect([patched.status, await patched.json()]).toMatchObject([200, { max_connection: 7 }]);
    expect((await send('/admin/users')).status).toBe(200);
    expect(errors).toEqual([]);
  });

  it('refuses in it what the interface refuses in every body', async () => {
    const { admin, errors } = runAdmin({ limits: { maxBodyBytes: 60_000, maxBodyValues: 1000 } });
    const send = await open(admin);
    const codeOf = async (value: string): Promise<unknown> => {
      const response = await send('/admin/services/My-Service', max(value));
      return ((await response.json()) as { readonly code?: unknown }).code;
    };
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(await codeOf('1e400')).toBe('number-out-of-range');
    expect(await codeOf('9007199254740993')).toBe('number-out-of-range');
    expect(await codeOf(nested(40))).toBe('body-too-deep');
    expect(await codeOf(nested(25_000))).toBe('body-too-deep');
    expect(await codeOf(`[${'0,'.repeat(1000)}0]`)).toBe('content-too-large');
    expect(await codeOf(`"${'x'.repeat(60_000)}"`)).toBe('content-too-large');
    expect(errors).toEqual([]);
  });
});

describe('a key that is there twice', () => {
  it.each([
    ['express.text()', 400],
    ['express.raw()', 400],
    ['express.json() that keeps the bytes', 400],
    ['a parser of fastify that gives bytes', 400],
    ['a reader in koa', 400],
    ['a reader in hono', 400],
    // The parser has taken one of the two, and left nothing to see.
    ['express.json()', 200],
  ])('is seen where the text is there: %s is %d', async (name, status) => {
    const send = await behindParsers[name]?.(runAdmin().admin);
    const patched = await send?.('/admin/services/My-Service', max('7,"value":8'));
    expect(patched?.status).toBe(status);
  });
});

describe('a body that express.json() has no use for', () => {
  it('is read by the interface', async () => {
    const { admin } = runAdmin();
    const send = await behindExpress(admin, express.json());
    const patch = max('7', { 'content-type': 'application/json-patch+json' });
    expect((await send('/admin/services/My-Service', patch)).status).toBe(200);
    const empty = { method: 'PUT', headers: { 'content-type': 'application/json' } };
    expect(await (await send('/admin/users', empty)).json()).toMatchObject({ code: 'body-missing' });
  });
});

describe('a body that was read before the interface and is nowhere', () => {
  // Promise: body-parser
  it.each([
    ['koa', 'request.body', (admin: Admin) => behindKoa(admin, () => undefined)],
    ...[() => 1, Symbol('body'), new Map([['op', 'add']]), new PassThrough(), undefined, 1n].map(
      (body): [string, string, (admin: Admin) => Promise<Fetch>] => [
        `koa with ${typeof body} as body`,
        'request.body',
        (admin) => behindKoa(admin, ({ req }) => void Object.assign(req, { body })),
      ],
    ),
    ['hono', 'new Request', (admin: Admin) => behindHono(admin, ({ raw }) => raw)],
  ])('is an error for onError, and a 500 for the client: in %s', async (_name, advice, open) => {
    const { admin, errors } = runAdmin({ snapshot: createSnapshot({}) });
    const send = await open(admin);
    const response = await send('/admin/users', joan);
    expect([response.status, await response.json()]).toMatchObject([500, { code: 'internal' }]);
    expect(errors.map(String)).toEqual([
      expect.stringMatching(/^Error: The body of a request was read before/),
    ]);
    expect(errors.map(String)).toEqual([expect.stringContaining(advice)]);
    expect((await send('/admin/users')).status).toBe(200);
  });
});

describe.each<[string, (admin: Admin) => Promise<Fetch>]>([
  [
    'compression() of Express',
    (admin) => {
      const app = express();
      app.use(compression({ threshold: 0 }));
      app.use(createNodeHandler(admin, { basePath: '/admin' }));
      return listen(app);
    },
  ],
  [
    'compress() of Hono',
    (admin) => {
      const app = new Hono();
      app.use(compress({ threshold: 0 }));
      const handle = createFetchHandler(admin, { basePath: '/admin' });
      app.all('/admin/*', (context) => handle(context.req.raw));
      return call(app);
    },
  ],
])('the interface behind %s', (_name, open) => {
  const gzip = { 'accept-encoding': 'gzip' };

  // Promise: compressed
  it('sends the first event at once, as it is', async () => {
    const { admin } = runAdmin();
    const send = await open(admin);
    const leave = new AbortController();
    const events = await send('/admin/events', { headers: gzip, signal: leave.signal });
    expect(events.headers.get('content-encoding')).toBeNull();
    const reader = events.body?.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
    expect(await next()).toContain('retry: 2000');
    expect((await send('/admin/service/My-Service/stop', { method: 'PUT' })).status).toBe(204);
    expect(await next()).toContain('event: service.stopped');
    leave.abort();
  });

  // Promise: compressed
  it('has its other answers compressed, and takes their entity tags', async () => {
    const { admin } = runAdmin();
    const send = await open(admin);
    const read = await send('/admin/services/My-Service', { headers: gzip });
    expect(read.headers.get('content-encoding')).toBe('gzip');
    const tag = { 'if-match': read.headers.get('etag') ?? '' };
    const patched = await send('/admin/services/My-Service', max('7', { ...gzip, ...tag }));
    expect(patched.status).toBe(200);
    expect((await send('/admin/services/My-Service', max('8', tag))).status).toBe(412);
  });
});

describe('the interface in worker threads', () => {
  const directory = `${root}temp/worker-threads`;

  beforeAll(() => {
    buildPackage();
    mkdirSync(directory, { recursive: true });
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  it('gets the commands of the worker', async () => {
    const [, program] = blocksOf('Worker threads');
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const file = `${directory}/worker.mjs`;
    writeFileSync(file, ts.transpileModule(program?.code ?? '', { compilerOptions }).outputText);
    const actual = jest.requireActual<object>('node:worker_threads');
    const OwnWorker = function (name: string, options: WorkerOptions): Worker {
      expect(name).toBe('./worker.js');
      return new Worker(file, options);
    };
    const { admin, startWorker } = await run<{ readonly admin: Admin; readonly startWorker: () => Worker }>(
      'Worker threads',
      ['admin', 'startWorker'],
      { 'node:worker_threads': { ...actual, Worker: OwnWorker } },
    );
    expect(await once(startWorker(), 'exit')).toEqual([0]);
    expect(admin.snapshot.services.find('Sales')?.state).toBe('stopped');
  });
});
