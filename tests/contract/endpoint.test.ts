import { afterEach, describe, expect, it } from '@jest/globals';
import { routes } from 'gateway-admin-core';

import { endpoints as endpointTable, type EndpointId } from '../../src/http/endpoint.ts';
import { boundRoutes } from '../../src/resources/index.ts';
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

  it('can select by the search parameters that it names', () => {
    const selecting = boundRoutes.filter((route) => route.kind === 'list' && route.select !== undefined);
    const searching = boundRoutes.filter(({ kind, search }) => kind === 'list' && search.length > 0);
    expect(selecting.map(({ id }) => id)).toEqual(searching.map(({ id }) => id));
  });

  it('has one route for each endpoint of the endpoint table', () => {
    expect(routes.map(({ id }) => id).toSorted()).toEqual(Object.keys(endpointTable).toSorted());
    for (const { id, kind, method, path } of routes)
      expect([id, endpointTable[id as EndpointId]]).toMatchObject([id, { kind, method, path }]);
  });
});

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
