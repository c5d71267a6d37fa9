import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runAdmin } from '../support/running-admin.ts';
import { transports, type Transport } from '../support/transport.ts';

const { admin } = runAdmin();

describe.each(['fetch', 'node'] as const)('an interface behind %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
    transport = undefined;
  });

  /** Status of the answer to a GET, with its problem code if there is one. */
  async function get(basePath: string, target: string): Promise<readonly unknown[]> {
    transport = await transports[name](admin, { basePath });
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

  it('refuses a misspelt option', () => {
    const create = { fetch: createFetchHandler, node: createNodeHandler }[name];
    const options = { principalof: () => undefined } as object;
    expect(() => create(admin, options)).toThrow(TypeError);
    expect(() => create(admin, options)).toThrow(/with the name "principalof". Did you mean principalOf\?/);
  });

  it.each(['admin', 'admin/', 'http://localhost/admin', ' /admin'])(
    'refuses the base path %j, which does not begin with a slash',
    (basePath) => {
      const create = { fetch: createFetchHandler, node: createNodeHandler }[name];
      expect(() => create(admin, { basePath })).toThrow(RangeError);
      expect(() => create(admin, { basePath })).toThrow(
        'The base path must begin with a slash, such as /admin',
      );
    },
  );
});

describe('a host with routes of its own', () => {
  const next = { path: '/admin/nothing', elsewhere: '/elsewhere' };

  it('answers other requests itself behind fetch', async () => {
    const fetch = createFetchHandler(admin, { basePath: '/admin', next: ({ url }) => new Response(url) });
    for (const path of Object.values(next)) {
      const response = await fetch(new Request(`http://localhost${path}`));
      expect([response.status, await response.text()]).toEqual([200, `http://localhost${path}`]);
    }
    expect((await fetch(new Request('http://localhost/admin/services'))).status).toBe(200);
  });

  it('answers other requests itself behind node', async () => {
    const get = await serve({ basePath: '/admin' });
    for (const path of Object.values(next)) expect(await get(path)).toEqual([200, `next ${path}`]);
  });

  /** The status and the text of a response. */
  type Get = (path: string) => Promise<readonly [number, string]>;
  const ends: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** Serves the interface behind node. */
  async function serve(options: { readonly basePath?: string }): Promise<Get> {
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

  const behind: Readonly<Record<string, (options: { readonly basePath?: string }) => Promise<Get>>> = {
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

  // Promise: home-page
  it.each([
    ['node', {}],
    ['node', { basePath: '' }],
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
