/**
 * The console as a request handler: the document and the files of the page, through each adapter.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import * as fc from 'fast-check';
import { createConsole } from 'gateway-admin-core/console';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { files, html } from './page.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

describe.each(['core', 'fetch', 'node'] as const)('the console behind %s', (name) => {
  async function send(...request: Parameters<Transport['send']>): Promise<Answer> {
    const transport = await transports[name](createConsole(), { basePath: '/' });
    ends.push(transport.close);
    return transport.send(...request);
  }

  it('gives the document with the policy, to be asked for again each time', async () => {
    for (const target of ['/', '/?other=1']) {
      const { status, headers, text } = await send('GET', target);
      expect([status, text]).toEqual([200, expect.stringMatching(/^<!doctype html>/)]);
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'content-security-policy': policy,
        'content-type': 'text/html; charset=utf-8',
        etag: expect.stringMatching(/^"[!#-~]+"$/),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('gives each file as it was built, to be kept for good', async () => {
    const types = ['text/javascript', 'text/css', 'text/javascript', 'application/json'];
    expect(files.map(({ type }) => type)).toEqual(types);
    for (const file of files) {
      const { status, headers, text } = await send('GET', `/?file=${file.name}`);
      expect([status, text]).toEqual([200, file.text]);
      // Another text has another name.
      expect(file.name).toContain(createHash('sha256').update(text).digest('hex').slice(0, 12));
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': `${file.type}; charset=utf-8`,
        etag: `"${file.name}"`,
        'x-content-type-options': 'nosniff',
      });
    }
  });

  const targets = ['/', ...files.map((file) => `/?file=${file.name}`)];

  it('gives a browser that has the document or a file a 304 without a body', async () => {
    for (const target of targets) {
      const { headers: before } = await send('GET', target);
      for (const known of [before['etag'] ?? '', `"other", W/${before['etag'] ?? ''}`, '*']) {
        const { status, headers, text } = await send('GET', target, { headers: { 'if-none-match': known } });
        expect([status, text, headers['etag']]).toEqual([304, '', before['etag']]);
        expect(headers['cache-control']).toBe(before['cache-control']);
      }
      const { status } = await send('GET', target, { headers: { 'if-none-match': '"other"' } });
      expect(status).toBe(200);
    }
  });

  it('answers HEAD as GET, without the body', async () => {
    for (const target of [...targets, '/?file=no-such-file']) {
      const [get, head] = [await send('GET', target), await send('HEAD', target)];
      expect([head.status, head.text]).toEqual([get.status, '']);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
    }
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'answers %s with a 405 that says what is allowed',
    async (method) => {
      for (const target of targets) {
        const { status, headers, body } = await send(method, target, { headers: { 'if-none-match': '*' } });
        expect([status, headers['allow'], headers['etag']]).toEqual([405, 'GET, HEAD', undefined]);
        expect(body).toMatchObject({ code: 'method-not-allowed' });
      }
    },
  );

  it('answers a request for an unknown file with a 404 that no cache keeps', async () => {
    for (const file of ['', 'main.js', 'constructor', '../page.js', files[0]?.name.toUpperCase() ?? '']) {
      const { status, headers, body } = await send('GET', `/?file=${file}`);
      expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
      expect(body).toMatchObject({
        code: 'route-not-found',
        detail: expect.stringContaining('load the page again'),
      });
    }
  });
});

it('the console matches no path below its own', async () => {
  const { handle } = createConsole();
  for (const target of ['/services', '//', '/index.html', '/%2F', '/services?file=x'])
    expect(await handle({ method: 'GET', target, headers: {} })).toEqual({ matched: false });
  for (const target of ['', '/', '?x', '/?x'])
    expect(await handle({ method: 'GET', target, headers: {} })).toMatchObject({ matched: true });
});

/** The text of the document of a console. */
async function documentOf(...options: Parameters<typeof createConsole>): Promise<string> {
  const handled = await createConsole(...options).handle({ method: 'GET', target: '/', headers: {} });
  return handled.matched ? (handled.response.body as string) : '';
}

it.each([
  ['nothing', undefined],
  ['a request without a target', { method: 'GET', headers: {} }],
  ['a request without headers', { method: 'GET', target: '/' }],
  ['a header that is a number', { method: 'GET', target: '/', headers: { 'if-none-match': 5 } }],
  [
    'a member that throws',
    {
      method: 'GET',
      target: '/',
      get headers() {
        throw new Error('No.');
      },
    },
  ],
])('the console never rejects: %s is answered with the fault', async (_what, given) => {
  expect(await createConsole().handle(given as never)).toMatchObject({
    response: { status: 500, body: expect.stringContaining('The console cannot read the request') },
  });
});

describe('the files of the console', () => {
  // Promise: console-files
  it('name no other host', () => {
    for (const text of [html, ...files.map((file) => file.text)]) {
      expect(text.match(/https?:\/\/(?!www\.w3\.org\/)[^\s"'`]*/g) ?? []).toEqual([]);
      expect(text.match(/(?:["'`(=]\/\/[\w.]+|@import)/g) ?? []).toEqual([]);
    }
  });

  it('have nothing inline in the document', async () => {
    const text = await documentOf();
    expect(text).not.toContain('{{');
    expect([...text.matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(([, inside]) => inside)).toEqual(['']);
    expect(text).not.toMatch(/<style|<base|javascript:|\s(?:style|on\w+)\s*=/i);
  });
});

describe('the options of a console', () => {
  const unsafe = fc.string({
    unit: fc.constantFrom('&', '&lt;', 'quot;', '"', "'", '<', '>', '$', '{', '}', '/', '.', 'a', ';'),
  });

  it('are in the document as they were given, whatever characters they have', async () => {
    await fc.assert(
      fc.asyncProperty(unsafe, unsafe, async (one, other) => {
        const options = { adminPath: `a${one}`, logInPath: `a${other}` };
        const text = await documentOf(options);
        const settings = [...text.matchAll(/<meta name="(?:admin|log-in)-path" content="([^"<]*)">/g)];
        expect(settings.map(([, value]) => unescaped(value))).toEqual(Object.values(options));
        // Nothing but the settings differs.
        expect(settings.reduce((rest, [meta]) => rest.replace(meta, ''), text).replace(/\s+/g, ' ')).toBe(
          html.replace('{{settings}}', '').replace(/\s+/g, ' '),
        );
      }),
    );
  });

  it('lead to the origin of the page, or are refused', () => {
    const unit = fc.constantFrom(
      '/',
      '//',
      '\\',
      '.',
      ':',
      '\t',
      '\0',
      ' ',
      'a',
      'http:',
      '@',
      '\ud800',
      '?',
      '#',
    );
    fc.assert(
      fc.property(fc.string({ unit }), (adminPath) => {
        try {
          createConsole({ adminPath });
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        const { origin, search, hash } = new URL(adminPath, 'https://gateway.example/console/');
        expect([origin, search, hash]).toEqual(['https://gateway.example', '', '']);
      }),
      { numRuns: 1000 },
    );
    for (const adminPath of ['', '/', '../', '../admin', '/a/b/', 'a%20b', '/ä'])
      expect(() => createConsole({ adminPath })).not.toThrow();
  });

  it('change the entity tag', async () => {
    const options = [
      {},
      { adminPath: 'a' },
      { adminPath: 'a-', logInPath: 'b' },
      { adminPath: 'a', logInPath: '-b' },
    ];
    const tags = await Promise.all(
      options.map(async (each) => {
        const handled = await createConsole(each).handle({ method: 'GET', target: '/', headers: {} });
        return handled.matched ? handled.response.headers['etag'] : undefined;
      }),
    );
    expect(new Set(tags).size).toBe(options.length);
  });
});

function unescaped(text = ''): string {
  return text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** A browser that asks for a path. */
type Get = (path: string) => Promise<Response>;

/** Serves on a free port. */
async function listen(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<Get> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return (path) => fetch(`http://127.0.0.1:${String(port)}${path}`);
}

describe('the page of a console', () => {
  /** Ways to serve the page at a path, as the browser has the path. */
  const ways: Readonly<Record<string, (basePath: `/${string}`) => Promise<Get>>> = {
    'the adapter for fetch': (basePath) => {
      const handle = createFetchHandler(createConsole(), { basePath });
      return Promise.resolve((path) => handle(new Request(`http://localhost${path}`)));
    },
    'the adapter for node': (basePath) => listen(createNodeHandler(createConsole(), { basePath })),
    Express: (basePath) => {
      const app = express();
      app.use(basePath, createNodeHandler(createConsole(), { basePath }));
      return listen(app);
    },
    'a framework that takes the path away': (basePath) => {
      const handle = createNodeHandler(createConsole(), { basePath: '/' });
      return listen((request, response) => {
        request.url = request.url?.slice(basePath === '/' ? 0 : basePath.length) ?? '';
        handle(request, response);
      });
    },
    'a proxy that writes another path': (basePath) => {
      const handle = createNodeHandler(createConsole(), { basePath: '/console' });
      return listen((request, response) => {
        request.url = `/console${request.url?.slice(basePath === '/' ? 0 : basePath.length) ?? ''}`;
        handle(request, response);
      });
    },
  };

  // Promise: console-path
  it.each(
    Object.entries(ways).flatMap(([way, serve]) =>
      (['/', '/console', '/a/b'] as const).map((basePath) => [way, basePath, serve] as const),
    ),
  )('behind %s finds its files at %s, with and without a slash at the end', async (_way, basePath, serve) => {
    const get = await serve(basePath);
    for (const path of new Set([basePath, basePath.replace(/\/?$/, '/')])) {
      const text = await (await get(path)).text();
      const links = [...text.matchAll(/ (?:src|href)="(\?[^"]+)"/g)].map(([, link = '']) => link);
      const loaded = links.map((link) => new URL(link, `http://localhost${path}`));
      const responses = await Promise.all(loaded.map(({ pathname, search }) => get(pathname + search)));
      const types = responses.map((response) => response.headers.get('content-type'));
      expect(types).toEqual(['text/css; charset=utf-8', 'text/javascript; charset=utf-8']);
    }
  });
});

describe('a console beside an interface', () => {
  const { admin } = runAdmin();

  it.each<[string, `/${string}`, (options: { basePath: `/${string}` }) => Promise<Get>]>([
    ['the fetch adapter', '/admin', besideOfFetch],
    ['the fetch adapter', '/', besideOfFetch],
    ['the adapter for node', '/admin', besideOfNode],
    ['the adapter for node', '/', besideOfNode],
  ])('behind %s leaves the interface at %s all other paths', async (_way, basePath, serve) => {
    const get = await serve({ basePath });
    const below = basePath === '/' ? '' : basePath;
    expect((await get('/console')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await get(`${below}/services/My-Service`)).status).toBe(200);
    expect(await (await get(`${below}/?fields=ready`)).json()).toEqual({ ready: true });
    expect(await (await get('/console/services')).json()).toMatchObject({ code: 'route-not-found' });
  });

  function besideOfFetch(options: { basePath: `/${string}` }): Promise<Get> {
    const next = createFetchHandler(admin, options);
    const handle = createFetchHandler(createConsole(), { basePath: '/console', next });
    return Promise.resolve((path) => handle(new Request(`http://localhost${path}`)));
  }

  function besideOfNode(options: { basePath: `/${string}` }): Promise<Get> {
    const next = createNodeHandler(admin, options);
    const handle = createNodeHandler(createConsole(), { basePath: '/console' });
    return listen((request, response) => handle(request, response, () => next(request, response)));
  }
});
