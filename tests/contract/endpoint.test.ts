import { afterEach, describe, expect, it } from '@jest/globals';
import { routes, type AdminRequest } from 'gateway-admin-core';
import { createClient } from 'gateway-admin-core/client';

import { codesOf, tablesOf } from '../docs/table.ts';
import { sampleSnapshot } from '../support/document.ts';
import { read } from '../support/project.ts';
import { openRoutes } from '../support/route-call.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { additions, endpoints, targetOf, type Endpoint, type Shown } from './endpoint.ts';
import { fields, isBelowSeveral, valuesAt } from './field.ts';
import { runFor } from './problem-code.ts';

describe('the table of routes', () => {
  // Promise: endpoints
  it('has the endpoints of the interface description and the additions, and no others', () => {
    const described = [...endpoints, ...additions].map(({ method, path }) => `${method} ${path}`);
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(described.toSorted());
  });

  it('has additions for exactly the endpoints that the documentation names as such', () => {
    const choice = tablesOf(read('docs/spec-choices.md')).find(({ heading }) => heading.startsWith('40.'));
    const ours = [...endpoints, ...additions].filter(({ ours }) => ours === true);
    expect(choice?.rows.flatMap(([endpoint = '']) => codesOf(endpoint))).toEqual(
      ours.map(({ method, path }) => `${method} ${path}`),
    );
  });

  it.each([...endpoints, ...additions])('has $method $path with its parameters and aliases', (endpoint) => {
    const route = routes.find(({ method, path }) => method === endpoint.method && path === endpoint.path);
    expect(route?.aliases).toEqual(endpoint.aliases);
    const ofCommands = endpoint.method === 'GET' ? [] : ['dry_run', 'mark'];
    expect(route?.query).toEqual([...endpoint.parameters, ...ofCommands]);
    expect(route?.search).toEqual(endpoint.search ?? []);
    expect(route?.fields.length !== 0).toBe(endpoint.parameters.includes('fields'));
    expect(route?.summary).toMatch(/^[A-Z].*\.$/);
  });

  const searched = [...endpoints, ...additions].filter(
    ({ method, answer, search }) => method === 'GET' && 'list' in answer && search !== undefined,
  );

  it.each(searched)(
    'can select elements of $path by the search parameters that it names',
    async (endpoint) => {
      const { admin } = await runFor(endpoint);
      const { send } = await transports.core(admin);
      expect((await send('GET', endpoint.path)).body).not.toHaveLength(0);
      for (const [parameter, value] of Object.entries(nothing)) {
        if (endpoint.search?.includes(parameter) !== true) continue;
        const { status, body } = await send('GET', `${endpoint.path}?${parameter}=${value}`);
        expect([parameter, status, body]).toEqual([parameter, 200, []]);
      }
      expect(endpoint.search?.filter((parameter) => !Object.hasOwn(nothing, parameter))).toEqual([]);
    },
  );

  it('has one route for each method of the client, which sends the method and path of the route', async () => {
    const sent: AdminRequest[] = [];
    const client = createClient((request) => {
      sent.push(request);
      return Promise.reject(new Error('There is no answer'));
    });
    const called: unknown[] = [];
    for (const [group, methods] of Object.entries(client))
      for (const [name, call] of Object.entries(methods as Readonly<Record<string, Call>>)) {
        const id = `${group}.${name}`;
        const subjects = routes.find((route) => route.id === id)?.path.match(/:\w+/g) ?? [];
        await call(...subjects).catch(() => undefined);
        const { method, target = '' } = sent.at(-1) ?? {};
        called.push([id, 'plan' in call, method, decodeURIComponent(target)]);
      }
    const served = routes.filter(({ kind }) => kind !== 'stream');
    expect(called.toSorted()).toEqual(
      served.map(({ id, kind, method, path }) => [id, kind === 'command', method, path]).toSorted(),
    );
  });
});

type Call = (...given: readonly string[]) => Promise<unknown>;

/** Values of search parameters that nothing has. */
const nothing: Readonly<Record<string, string>> = {
  ...{ service: 'nothing', server: 'nothing', user: 'nothing', address: 'nothing' },
  ...{ idle_over: '900000000000', older_than: '900000000000', after: '9007199254740991' },
  ...{ resource: '/services/nothing', field: 'nothing', actor: 'nothing', type: 'nothing' },
  ...{ since: '9999-01-01T00:00:00Z', before: '2000-01-01T00:00:00Z' },
};

const open: Readonly<Record<'routes' | 'core', () => Promise<Transport>>> = {
  routes: () => Promise.resolve(openRoutes(sampleSnapshot())),
  core: () => transports.core(runAdmin().admin),
};

// The adapters give the answers of the core: same-answer.test.ts.
describe.each(['routes', 'core'] as const)('through %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
  });

  async function send(endpoint: Endpoint, target: string): Promise<Answer> {
    transport = await open[name]();
    const { body } = endpoint;
    return transport.send(
      endpoint.method,
      target,
      body === undefined ? {} : { headers: { 'content-type': body.type }, body: JSON.stringify(body.json) },
    );
  }

  it.each(endpoints)('$method $path answers as described', async (endpoint) => {
    const answer = await send(endpoint, targetOf(endpoint));
    expectAnswer(endpoint, answer);
    if (name === 'routes' || answer.status === 204) return;
    expect(answer.headers['content-type']).toBe('application/json');
  });

  const aliases = endpoints.flatMap((endpoint) => endpoint.aliases.map((alias) => ({ ...endpoint, alias })));
  it.each(aliases)('$method $alias answers as $path', async ({ alias, ...endpoint }) => {
    expectAnswer(endpoint, await send(endpoint, targetOf(endpoint, alias)));
  });
});

describe('the preference return=representation', () => {
  const plain = [...endpoints, ...additions].filter(
    ({ answer, method }) => method !== 'GET' && answer.status === 204,
  );

  // That the OpenAPI document has this answer is checked after each test.
  it.each(plain)('lets $method $path say what was done', async (endpoint) => {
    const { body } = endpoint;
    const { admin } = await runFor(endpoint);
    const handled = await admin.handle({
      method: endpoint.method,
      target: targetOf(endpoint),
      headers: { prefer: 'return=representation', ...(body && { 'content-type': body.type }) },
      ...(body && { body: JSON.stringify(body.json) }),
    });
    if (!handled.matched) throw new Error('There is no such path');
    const { status, headers, body: text } = handled.response;
    expect([status, headers['preference-applied']]).toEqual([200, 'return=representation']);
    expect(JSON.parse(text as string)).toMatchObject({ closed: {} });
  });
});

function expectAnswer({ answer }: Endpoint, { status, text, body }: Answer): void {
  expect(status).toBe(answer.status);
  if (answer.status === 204) {
    expect(text).toBe('');
  } else if (answer.list === undefined) {
    expect(missing(answer.one, body)).toEqual([]);
  } else {
    expect(body).not.toHaveLength(0);
    expect((body as unknown[]).flatMap((each) => missing(answer.list, each))).toEqual([]);
  }
}

/** The fields that a representation always has, and this one has not. */
function missing(shown: Shown | undefined, body: unknown): readonly string[] {
  if (shown === 'session link')
    return /^\/sessions\/(?:0|[1-9]\d*)$/.test(String(body)) ? [] : [String(body)];
  const kind = shown === 'patched server' ? 'server' : shown;
  const state = shown === 'patched server' ? ['state'] : [];
  const always = fields.filter(
    (field) => field.of === kind && field.presence === 'always' && !isBelowSeveral(field),
  );
  return [...always.map(({ name }) => name), ...state].filter((name) => valuesAt(body, name).length === 0);
}
