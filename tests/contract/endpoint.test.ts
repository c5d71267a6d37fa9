import { beforeAll, describe, expect, it } from '@jest/globals';
import { routes, type AdminRequest } from 'gateway-admin-core';
import { createClient } from 'gateway-admin-core/client';

import { codesOf, tablesOf } from '../docs/table.ts';
import { readAudit } from '../support/audit-reader.ts';
import { crowdedSnapshot } from '../support/document.ts';
import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { additions, endpoints, requestOf, sentBy, targetOf, type Endpoint, type Shown } from './endpoint.ts';
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
    expect(choice?.rows.flatMap(([, named = '']) => codesOf(named)).toSorted()).toEqual(
      ours.map(({ method, path }) => `${method} ${path}`).toSorted(),
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

// The adapters give the answers of the core: protocol.test.ts.
describe('each endpoint', () => {
  async function expectAnswerAt(target: string, endpoint: Endpoint): Promise<void> {
    const { send } = await transports.core(runAdmin().admin);
    const answer = await send(endpoint.method, target, sentBy(endpoint));
    expectAnswer(endpoint, answer);
    if (answer.status !== 204) expect(answer.headers['content-type']).toBe('application/json');
  }

  it.each(endpoints)('$method $path answers as described', async (endpoint) => {
    await expectAnswerAt(targetOf(endpoint), endpoint);
  });

  const aliases = endpoints.flatMap((endpoint) => endpoint.aliases.map((alias) => ({ ...endpoint, alias })));
  it.each(aliases)('$method $alias answers as $path', async ({ alias, ...endpoint }) => {
    await expectAnswerAt(targetOf(endpoint, alias), endpoint);
  });
});

describe('an endpoint', () => {
  it.each(endpoints)('leaves one audit record if it is no read: $method $path', async (endpoint) => {
    const { admin, clock } = runAdmin();
    const records = readAudit(admin);
    await admin.handle(requestOf(endpoint, `${targetOf(endpoint)}?dry_run=true`));
    await clock.settle();
    expect(records).toEqual([]);
    await admin.handle(requestOf(endpoint));
    await clock.settle();
    expect(records).toHaveLength(endpoint.method === 'GET' ? 0 : 1);
  });
});

describe('the preference return=representation', () => {
  const plain = [...endpoints, ...additions].filter(
    ({ answer, method }) => method !== 'GET' && answer.status === 204,
  );

  // That the OpenAPI document has this answer is checked after each test.
  it.each(plain)('lets $method $path say what was done', async (endpoint) => {
    const { send } = await transports.core((await runFor(endpoint)).admin);
    const { headers, ...sent } = sentBy(endpoint);
    const preferring = { ...sent, headers: { ...headers, prefer: 'return=representation' } };
    const answer = await send(endpoint.method, targetOf(endpoint), preferring);
    expect([answer.status, answer.headers['preference-applied']]).toEqual([200, 'return=representation']);
    expect(answer.body).toMatchObject({ closed: {} });
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

const reads = endpoints.filter(({ method }) => method === 'GET');
const withFields = reads.filter(({ parameters }) => parameters.includes('fields'));
const withRange = reads.filter(({ parameters }) => parameters.includes('range'));

describe('the query of an endpoint', () => {
  let transport: Transport;

  beforeAll(async () => {
    transport = await transports.core(runAdmin().admin);
  });

  const get = (target: string): Promise<Answer> => transport.send('GET', target);

  async function rows(target: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await get(target);
    return (Array.isArray(body) ? body : [body]) as readonly Readonly<Record<string, unknown>>[];
  }

  it.each(withFields)('$path shows the selected fields', async (endpoint) => {
    const target = targetOf(endpoint);
    const whole = await rows(target);
    const names = Object.keys(whole[0] ?? {});
    expect(names).not.toHaveLength(0);
    for (const field of names) {
      const expected = whole.map((row) => (Object.hasOwn(row, field) ? { [field]: row[field] } : {}));
      expect(await rows(`${target}?fields=${field}`)).toEqual(expected);
    }
    expect(await rows(`${target}?fields=${names.join(',')}`)).toEqual(
      whole.map((row) =>
        Object.fromEntries(names.flatMap((each) => (each in row ? [[each, row[each]]] : []))),
      ),
    );
  });

  it.each(withFields)('$path refuses unknown fields, and lists the existing fields', async (endpoint) => {
    const target = targetOf(endpoint);
    const names = Object.keys((await rows(target))[0] ?? {});
    for (const value of ['nothing', 'password']) {
      const { status, body } = await get(`${target}?fields=${value}`);
      const { code, detail } = body as { readonly code: string; readonly detail: string };
      expect([value, status, code]).toEqual([value, 400, 'fields-invalid']);
      for (const field of names) expect(detail).toContain(field);
    }
  });

  it('accepts fields in any order, with white space, and in several parameters', async () => {
    const sorted = ['name,state', 'state,name', 'name,name,state,name', 'state&fields=name'];
    for (const fields of [...sorted, '%20name%20,%09state', 'name%2Cstate', '+name+,state']) {
      const { body } = await get(`/services/My-Service?fields=${fields}`);
      expect([fields, body]).toEqual([fields, { name: 'My Service', state: 'started' }]);
    }
  });

  it('leaves out an optional field that has no value', async () => {
    expect((await get('/services/Bare-Service?fields=filters')).body).toEqual({});
    expect((await get('/services?fields=filters')).body).toEqual([
      { filters: ['/filters/Query-Log', '/filters/Hint'] },
      {},
      { filters: ['/filters/Hint'] },
      {},
    ]);
  });

  it('accepts state as an alias for the status of a server', async () => {
    expect((await get('/servers/db-serv-1?fields=state')).body).toEqual({ state: ['master', 'running'] });
    expect((await get('/servers?fields=name,state&range=2-2')).body).toEqual([
      { name: 'db-serv-3', state: [] },
    ]);
  });

  it.each(reads)('$path has X-Total-Count if it is a list', async (endpoint) => {
    const { body, headers } = await get(targetOf(endpoint));
    expect(headers['x-total-count']).toBe(Array.isArray(body) ? String(body.length) : undefined);
    expect(headers['link']).toBeUndefined();
  });

  it.each(withRange)('$path with range is one page, with links to the other pages', async (endpoint) => {
    const target = targetOf(endpoint);
    const whole = (await get(target)).body as readonly unknown[];
    for (const range of ['0-0', '0-1', '1-1', '1-500', '100-200', '0-9007199254740991']) {
      const [first = NaN, last = NaN] = range.split('-').map(Number);
      const { status, body, headers } = await get(`${target}?range=${range}`);
      expect(status).toBe(200);
      expect(body).toEqual(whole.slice(first, last + 1));
      expect(headers['x-total-count']).toBe(String(whole.length));
      expect(headers['link']?.includes('rel="next"') ?? false).toBe(last + 1 < whole.length);
      expect(headers['link']?.includes('rel="prev"') ?? false).toBe(first > 0);
    }
  });

  // Promise: query-parameter
  it.each(endpoints)(
    '$method $path refuses unsupported parameters, and names the supported ones',
    async (endpoint) => {
      const known: readonly string[] = [
        ...endpoint.parameters,
        ...(endpoint.search ?? []),
        ...(endpoint.method === 'GET' ? [] : ['dry_run', 'mark']),
      ];
      const strangers = 'fields range dry_run mark limit Range __proto__ user service'.split(' ');
      for (const stranger of strangers.filter((each) => !known.includes(each))) {
        const target = `${targetOf(endpoint)}?${stranger}=0-1`;
        const { status, body } = await transport.send(endpoint.method, target);
        expect([stranger, status, (body as { code: string }).code]).toEqual([stranger, 400, 'query-invalid']);
        for (const each of known) expect((body as { detail: string }).detail).toContain(each);
      }
    },
  );
});

describe('pages', () => {
  // Promise: pages
  it('cover a long list, forward and backward, without gap or repetition', async () => {
    const transport = await transports.core(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const all = (await transport.send('GET', '/services/sales/sessions')).body as readonly string[];
    expect(all).toHaveLength(2345);
    for (const [start, relation] of [
      ['?range=0-999', 'next'],
      ['?range=2000-2999', 'prev'],
    ] as const) {
      const seen: string[][] = [];
      for (let query: string | undefined = start; query !== undefined;) {
        const { body, headers } = await transport.send('GET', `/services/sales/sessions${query}`);
        seen.push(body as string[]);
        query = new RegExp(`<(\\?[^>]*)>; rel="${relation}"`).exec(headers['link'] ?? '')?.[1];
      }
      expect((relation === 'next' ? seen : seen.toReversed()).flat()).toEqual(all);
    }
  });

  it('are not used without range: the answer is the whole list', async () => {
    const transport = await transports.core(runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const { body, headers } = await transport.send('GET', '/sessions?fields=id');
    expect(body).toEqual(Array.from({ length: 2345 }, (_, id) => ({ id })));
    expect(headers['x-total-count']).toBe('2345');
    expect((await transport.send('HEAD', '/sessions')).headers['x-total-count']).toBe('2345');
  });
});
