import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSnapshot, problemTable, type ProblemCode } from 'gateway-admin-core';

import { sampleDocument } from '../support/document.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import {
  rowsThrough,
  transportNames,
  transports,
  type Answer,
  type Sent,
  type Transport,
} from '../support/transport.ts';
import { additions, endpoints, targetOf } from './endpoint.ts';

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
const bodied = endpoints.filter(({ body }) => body !== undefined);
const bodiless = endpoints.filter(({ body, method }) => body === undefined && method !== 'GET');

describe.each(transportNames)('through %s', (name) => {
  let running: Running;
  let transport: Transport;
  const send = (method: string, target: string, sent?: Sent): Promise<Answer> =>
    transport.send(method, target, sent);
  const through = <Row>(rows: readonly Row[], kindOf: (row: Row) => unknown): readonly Row[] =>
    rowsThrough(name, rows, kindOf);

  beforeEach(async () => {
    running = runAdmin();
    transport = await transports[name](running.admin);
  });

  afterEach(async () => {
    await transport.close();
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

  /** What the core leaves to the host's own routes is 404 behind an adapter. */
  function expectNothing(answer: Answer): void {
    if (name === 'core') expect(answer.status).toBe(0);
    else expectProblem(answer, 'route-not-found');
  }

  it.each(through(reads, ({ path }) => path.includes(':')))(
    'HEAD $path is GET without the body',
    async (endpoint) => {
      const get = await send('GET', targetOf(endpoint));
      const head = await send('HEAD', targetOf(endpoint));
      expect(head.status).toBe(200);
      expect(head.text).toBe('');
      for (const header of ['content-type', 'etag', 'x-total-count', 'cache-control']) {
        expect([header, head.headers[header]]).toEqual([header, get.headers[header]]);
      }
    },
  );

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
      ...(name === 'core' ? [] : [await send('GET', '/nothing')]),
    ];
    expect(answers.map(({ status }) => status).slice(0, 9)).toEqual([
      200, 304, 200, 204, 204, 200, 400, 404, 501,
    ]);
    for (const { headers } of answers)
      expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['no-store', 'nosniff']);
  });

  it('HEAD of a missing resource is the 404 of GET without the body', async () => {
    const { status, text } = await send('HEAD', '/services/nothing');
    expect([status, text]).toEqual([404, '']);
  });

  it.each(through(paths, ({ methods }) => methods.join()))(
    'OPTIONS $path lists the methods: $methods',
    async ({ target, methods }) => {
      const { status, text, headers } = await send('OPTIONS', target);
      const allow = new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
      expect([status, text]).toEqual([204, '']);
      expect(new Set(headers['allow']?.split(', '))).toEqual(allow.add('OPTIONS'));
      expect(headers['accept-patch']).toBe(
        methods.includes('PATCH') ? 'application/json-patch+json' : undefined,
      );
    },
  );

  it.each(through(paths, ({ methods }) => methods.join()))(
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

  it('allows different methods in the singular and the plural, as the description says', async () => {
    expectNothing(await send('GET', '/monitor'));
    const answer = await send('GET', '/monitor/Main-Monitor');
    expectProblem(answer, 'method-not-allowed');
    expect(answer.headers['allow']).toBe('PATCH, OPTIONS');
  });

  it.each([
    '//',
    '/nothing',
    '/Services',
    '/SERVICES/My-Service',
    '//services',
    '/services//',
    '/services//listeners',
    '/services/My-Service//listeners',
    '/services/My-Service/listeners/x/y',
    '/services/My-Service/Stop',
    '/service',
    '/service/My-Service',
    '/filter',
    '/gateways',
    '/gateway/nothing',
    '/gateway/logs/flush/now',
    '/users/ada/password',
    '/constructor',
    '/__proto__',
  ])('has nothing at %s', async (target) => {
    const methods = ['GET', 'PUT', 'DELETE', 'OPTIONS'];
    for (const method of methods) expectNothing(await send(method, target));
  });

  it.each(through(endpoints, ({ method }) => method))(
    '$method $path tolerates one trailing slash',
    async (endpoint) => {
      const sent =
        endpoint.body === undefined
          ? {}
          : { headers: { 'content-type': endpoint.body.type }, body: JSON.stringify(endpoint.body.json) };
      const { status } = await send(endpoint.method, `${targetOf(endpoint)}/`, sent);
      expect(status).toBe(endpoint.answer.status);
      expectNothing(await send(endpoint.method, `${targetOf(endpoint)}//`, sent));
    },
  );

  it.each([
    '/services/My-Service',
    '/services/MY-SERVICE',
    '/services/%4dy-Service',
    '/services/my%20service',
    '/services/my%09service',
    '/services/My%C2%A0Service',
  ])('finds the service at %s', async (target) => {
    expect((await send('GET', target)).body).toMatchObject({ name: 'My Service' });
  });

  it.each(['%zz', '%', 'a%2', '%C0%AF', '%FF', '%ED%A0%80'])(
    'refuses the escape in /services/%s',
    async (segment) => {
      expectProblem(await send('GET', `/services/${segment}`), 'path-encoding-invalid');
      expectProblem(await send('PUT', `/service/${segment}/stop`), 'path-encoding-invalid');
      expectProblem(await send('DELETE', `/sessions/${segment}`), 'path-encoding-invalid');
    },
  );

  it.each(['constructor', '__proto__', 'length', 'toString', 'hasOwnProperty', 'a%2Fb', '%252e'])(
    'answers 404 for a resource named %s',
    async (segment) => {
      for (const kind of ['service', 'server', 'monitor', 'filter'] as const) {
        expectProblem(await send('GET', `/${kind}s/${segment}`), `${kind}-not-found`);
      }
      expectProblem(await send('DELETE', `/users/${segment}`), 'user-not-found');
    },
  );

  it.each([
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    '9007199254740992',
    '99999999999999999999',
    'a',
    '%31a',
    '٣',
  ])('refuses the session id %s', async (id) => {
    const segment = encodeURI(id).replaceAll('%25', '%');
    expectProblem(await send('GET', `/sessions/${segment}`), 'session-id-invalid');
    expectProblem(await send('GET', `/sessions/${segment}/connections`), 'session-id-invalid');
    expectProblem(await send('DELETE', `/sessions/${segment}`), 'session-id-invalid');
  });

  it.each(['1', '9007199254740991'])('answers 404 for the session %s', async (id) => {
    expectProblem(await send('GET', `/sessions/${id}`), 'session-not-found');
    expectProblem(await send('DELETE', `/sessions/${id}`), 'session-not-found');
  });

  it('answers 404 for a session that was just closed', async () => {
    expect((await send('DELETE', '/sessions/9')).status).toBe(204);
    expectProblem(await send('GET', '/sessions/9'), 'session-not-found');
    expectProblem(await send('DELETE', '/sessions/9'), 'session-not-found');
  });

  it.each(through(bodied, ({ method }) => method))(
    '$method $path accepts its media types and refuses others',
    async (endpoint) => {
      const body = JSON.stringify(endpoint.body?.json);
      const patch = endpoint.method === 'PATCH';
      for (const type of ['text/plain', 'application/xml', 'application/json+patch', 'multipart/form-data']) {
        const answer = await send(endpoint.method, targetOf(endpoint), {
          headers: { 'content-type': type },
          body,
        });
        expectProblem(answer, 'unsupported-media-type');
        expect(answer.headers['accept-patch']).toBe(patch ? 'application/json-patch+json' : undefined);
        expect(answer.headers['accept']).toBe(patch ? undefined : 'application/json');
      }
      const types = patch
        ? [
            'application/json-patch+json',
            'application/json-patch',
            'application/json',
            'Application/JSON; charset=utf-8',
          ]
        : ['application/json', 'application/json;charset=UTF-8'];
      for (const type of types) {
        const target = `${targetOf(endpoint)}?dry_run=true`;
        expect(
          (await send(endpoint.method, target, { headers: { 'content-type': type }, body })).status,
        ).toBe(200);
      }
      if (!patch) {
        const headers = { 'content-type': 'application/json-patch+json' };
        expectProblem(
          await send(endpoint.method, targetOf(endpoint), { headers, body }),
          'unsupported-media-type',
        );
      }
    },
  );

  it.each(through(bodied, ({ method }) => method))(
    '$method $path needs a body within the limit',
    async (endpoint) => {
      const type = { 'content-type': 'application/json' };
      const { snapshot } = running.admin;
      if (endpoint.mayLackBody !== true)
        expectProblem(await send(endpoint.method, targetOf(endpoint), { headers: type }), 'body-missing');
      const body = JSON.stringify('x'.repeat(1_048_576));
      expectProblem(
        await send(endpoint.method, targetOf(endpoint), { headers: type, body }),
        'content-too-large',
      );
      expect(running.admin.snapshot).toBe(snapshot);
      expect(running.gateway.calls).toEqual([]);
    },
  );

  it.each(through(bodiless, ({ method }) => method))('$method $path ignores a body', async (endpoint) => {
    const headers = { 'content-type': 'text/plain' };
    const { status } = await send(endpoint.method, targetOf(endpoint), { headers, body: '{ not JSON' });
    expect(status).toBe(204);
  });

  it('refuses a target that is too long', async () => {
    expectProblem(await send('GET', `/services/${'x'.repeat(8192)}`), 'uri-too-long');
    expectProblem(
      await send('GET', `/services/${'x'.repeat(8192 - '/services/'.length)}`),
      'service-not-found',
    );
  });

  it('takes the method only from the request line', async () => {
    const { status } = await send('GET', '/services/My-Service', {
      headers: { 'x-http-method-override': 'DELETE' },
    });
    expect(status).toBe(200);
    expectProblem(await send('GET', '/services/My-Service?_method=DELETE'), 'query-invalid');
    expect(running.gateway.calls).toEqual([]);
  });

  it('ignores Accept', async () => {
    const { status, headers } = await send('GET', '/services', { headers: { accept: 'text/html' } });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  });

  it('finds resources with names such as constructor and eu/west', async () => {
    const names = ['constructor', '__proto__', 'length', 'eu/west', '100%', 'Köln', '...', 'a?b#c'];
    const services = names.map((each) => ({ ...sampleDocument.services?.[1], name: each, router: 'cli' }));
    await transport.close();
    transport = await transports[name](runAdmin({ snapshot: createSnapshot({ services }) }).admin);
    for (const each of names) {
      const target = `/services/${encodeURIComponent(each)}`;
      expect((await send('GET', target)).body).toMatchObject({ name: each });
      expect((await send('PUT', `/service/${encodeURIComponent(each)}/start`)).status).toBe(204);
      expect((await send('GET', `${target}?fields=state`)).body).toEqual({ state: 'started' });
    }
  });
});
