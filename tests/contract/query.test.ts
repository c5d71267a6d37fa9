import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { crowdedSnapshot } from '../support/document.ts';
import { runAdmin } from '../support/running-admin.ts';
import {
  rowsThrough,
  transportNames,
  transports,
  type Answer,
  type Transport,
} from '../support/transport.ts';
import { endpoints, targetOf } from './endpoint.ts';

const reads = endpoints.filter(({ method }) => method === 'GET');
const withFields = reads.filter(({ parameters }) => parameters.includes('fields'));
const withRange = reads.filter(({ parameters }) => parameters.includes('range'));

describe.each(transportNames)('through %s', (name) => {
  let transport: Transport;

  beforeAll(async () => {
    transport = await transports[name](runAdmin().admin);
  });

  afterAll(async () => {
    await transport.close();
  });

  const get = (target: string): Promise<Answer> => transport.send('GET', target);

  async function rows(target: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await get(target);
    return (Array.isArray(body) ? body : [body]) as readonly Readonly<Record<string, unknown>>[];
  }

  it.each(rowsThrough(name, withFields, ({ method }) => method))(
    '$path shows the selected fields',
    async (endpoint) => {
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
    },
  );

  it.each(rowsThrough(name, withFields, ({ method }) => method))(
    '$path refuses unknown fields, and lists the existing fields',
    async (endpoint) => {
      const target = targetOf(endpoint);
      const names = Object.keys((await rows(target))[0] ?? {});
      for (const value of [
        'nothing',
        '',
        ',',
        'name,',
        'password',
        'NAME',
        '__proto__',
        'constructor',
        'toString',
        '*',
      ]) {
        const { status, body } = await get(`${target}?fields=${value}`);
        expect([value, status, (body as { code: string }).code]).toEqual([value, 400, 'fields-invalid']);
        for (const field of names) expect((body as { detail: string }).detail).toContain(field);
      }
    },
  );

  it('accepts fields in any order, with white space, and in several parameters', async () => {
    for (const query of [
      'fields=name,state',
      'fields=state,name',
      'fields=%20name%20,%09state',
      'fields=state&fields=name',
      'fields=name,name,state,name',
      'fields=name%2Cstate',
      'fields=+name+,state',
    ]) {
      const { body } = await get(`/services/My-Service?${query}`);
      expect([query, body]).toEqual([query, { name: 'My Service', state: 'started' }]);
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

  it.each(rowsThrough(name, reads, ({ method }) => method))(
    '$path has X-Total-Count if it is a list',
    async (endpoint) => {
      const { body, headers } = await get(targetOf(endpoint));
      expect(headers['x-total-count']).toBe(Array.isArray(body) ? String(body.length) : undefined);
      expect(headers['link']).toBeUndefined();
    },
  );

  it.each(rowsThrough(name, withRange, ({ method }) => method))(
    '$path with range is one page, with links to the other pages',
    async (endpoint) => {
      const target = targetOf(endpoint);
      const whole = (await get(target)).body as readonly unknown[];
      for (const [first, last] of [
        [0, 0],
        [0, 1],
        [1, 1],
        [1, 500],
        [0, 9007199254740991],
      ] as const) {
        const { status, body, headers } = await get(`${target}?range=${String(first)}-${String(last)}`);
        expect(status).toBe(200);
        expect(body).toEqual(whole.slice(first, last + 1));
        expect(headers['x-total-count']).toBe(String(whole.length));
        expect(headers['link']?.includes('rel="next"') ?? false).toBe(last + 1 < whole.length);
        expect(headers['link']?.includes('rel="prev"') ?? false).toBe(first > 0);
      }
    },
  );

  it.each(rowsThrough(name, withRange, ({ method }) => method))(
    '$path is an empty list past its end',
    async (endpoint) => {
      const { status, body } = await get(`${targetOf(endpoint)}?range=100-200`);
      expect([status, body]).toEqual([200, []]);
    },
  );

  it.each(rowsThrough(name, withRange, ({ method }) => method))(
    '$path refuses a malformed range',
    async (endpoint) => {
      for (const value of [
        '',
        '1',
        '-',
        '1-',
        '-1',
        '2-1',
        '-1-2',
        '1--2',
        ' 0-1',
        '0-1,3-4',
        'a-b',
        '0x0-0x1',
        '1e1-1e2',
        '0-9007199254740992',
        '٠-١',
        '0.0-1',
        '0-1&range=0-1',
        '0–1',
      ]) {
        const query = value
          .split('&')
          .map((part, at) => (at === 0 ? encodeURIComponent(part) : part))
          .join('&');
        const { status, body } = await get(`${targetOf(endpoint)}?range=${query}`);
        expect([value, status, (body as { code: string }).code]).toEqual([value, 400, 'range-invalid']);
      }
    },
  );

  // Promise: query-parameter
  it.each(rowsThrough(name, endpoints, ({ method }) => method))(
    '$method $path refuses unsupported parameters, and names the supported ones',
    async (endpoint) => {
      const known: readonly string[] = [
        ...endpoint.parameters,
        ...(endpoint.search ?? []),
        ...(endpoint.method === 'GET' ? [] : ['dry_run', 'mark']),
      ];
      const strangers = [
        'fields',
        'range',
        'dry_run',
        'mark',
        'limit',
        'Range',
        '__proto__',
        'user',
        'service',
      ].filter((each) => !known.includes(each));
      for (const stranger of strangers) {
        const { status, body } = await transport.send(
          endpoint.method,
          `${targetOf(endpoint)}?${stranger}=0-1`,
        );
        expect([stranger, status, (body as { code: string }).code]).toEqual([stranger, 400, 'query-invalid']);
        for (const each of known) expect((body as { detail: string }).detail).toContain(each);
      }
    },
  );

  it('applies range before fields', async () => {
    const { body, headers } = await get('/sessions?fields=id&range=1-1');
    expect(body).toEqual([{ id: 9 }]);
    expect(headers['link']).toBe(
      '<?fields=id&after=9&range=0-0>; rel="next", <?fields=id&range=0-0>; rel="prev"',
    );
  });
});

describe.each(transportNames)('pages through %s', (name) => {
  // Promise: pages
  it('cover a long list, forward and backward, without gap or repetition', async () => {
    const transport = await transports[name](runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
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
    await transport.close();
  });

  it('are not used without range: the answer is the whole list', async () => {
    const transport = await transports[name](runAdmin({ snapshot: crowdedSnapshot(2345) }).admin);
    const { body, headers } = await transport.send('GET', '/sessions?fields=id');
    expect(body).toEqual(Array.from({ length: 2345 }, (_, id) => ({ id })));
    expect(headers['x-total-count']).toBe('2345');
    expect((await transport.send('HEAD', '/sessions')).headers['x-total-count']).toBe('2345');
    await transport.close();
  });
});
