import { setImmediate as nextTurn } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, nameKey, routes, type GatewayDocument, type HostReport } from 'gateway-admin-core';

import { crowdedSnapshot } from '../support/document.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';

type SessionDocument = NonNullable<GatewayDocument['sessions']>[number];

/** Queries of the sample document, and the ids of the sessions that are found. */
const rows: readonly (readonly [query: string, ids: readonly number[]])[] = [
  ['service=My-Service', [9, 12]],
  ['service=mY%20sERVICE', [9, 12]],
  ['service=My+Service', [9, 12]],
  ['service=Report-Service', []],
  ['service=nothing', []],
  ['service=', []],
  ['service=%00', []],
  ['service=/services/My-Service', []],
  ['service=constructor', []],
  ['service=__proto__', []],
  ['server=db-serv-1', [9, 12]],
  ['server=DB%20Server%202', [9]],
  ['server=db-serv-3', []],
  ['server=My-Service', []],
  ['user=alice', [9]],
  ['user=Alice', []],
  ['user=ali', []],
  ['user=', []],
  ['address=%3A%3A1', [12]],
  ['address=::1', [12]],
  ['address=192.168.121.1', [9]],
  ['service=my-service&server=db-server-2', [9]],
  ['server=db-serv-1&service=my-service', [9, 12]],
  ['service=bare-service&server=db-serv-1', []],
  ['service=my-service&user=carol', [12]],
  ['server=db-serv-1&address=::1', [12]],
  ['user=alice&address=::1', []],
  ['service=my-service&server=db-serv-1&user=carol&address=::1', [12]],
];

/** Queries for what follows an id, which need not be there; the links keep the other parameters. */
const after: readonly (readonly [
  query: string,
  ids: readonly number[],
  total: number,
  link: string | undefined,
])[] = [
  ['after=0', [9, 12], 3, undefined],
  ['after=8', [9, 12], 3, undefined],
  ['after=9', [12], 3, undefined],
  ['after=12', [], 3, undefined],
  ['after=9007199254740991', [], 3, undefined],
  ['after=0&range=0-0', [9], 3, link({ next: 'after=9&range=0-0', prev: 'range=0-0' })],
  ['after=0&range=1-9', [12], 3, link({ prev: 'range=0-1' })],
  ['after=3&range=0-9', [9, 12], 3, link({ prev: 'range=0-0' })],
  ['after=12&range=0-1', [], 3, link({ prev: 'range=1-2' })],
  [
    'after=5&service=my-service&range=0-0',
    [9],
    2,
    link({ next: 'after=9&range=0-0' }, 'service=my-service&'),
  ],
  ['after=9&user=alice', [], 1, undefined],
  ['user=alice&after=3&range=0-0', [9], 1, undefined],
  ['after=0&server=db-serv-1&address=::1&range=0-0', [12], 1, undefined],
];

/** The header for the pages, each with what begins the query. */
function link(pages: Readonly<Record<string, string>>, rest = ''): string {
  const links = Object.entries(pages).map(
    ([relation, query]) => `<?${rest}fields=id&${query}>; rel="${relation}"`,
  );
  return links.join(', ');
}

const headersOf = ({ headers }: Answer): readonly unknown[] => [headers['x-total-count'], headers['link']];

describe('GET /sessions', () => {
  let transport: Transport;

  beforeAll(async () => {
    transport = await transports.core(runAdmin().admin);
  });

  const get = (query: string): Promise<Answer> => transport.send('GET', `/sessions?${query}`);

  // Promise: session-search
  it.each(rows)('finds by %s the sessions %j', async (query, ids) => {
    const answer = await get(query);
    const { body: all } = await transport.send('GET', '/sessions');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual((all as { id: number }[]).filter(({ id }) => ids.includes(id)));
    expect(headersOf(answer)).toEqual([String(ids.length), undefined]);
    expect(answer.headers['etag']).toBeUndefined();
  });

  it('cuts and projects the sessions that were found, and keeps the values in the links', async () => {
    const byName = await get('service=My%20Service&fields=id&range=0-0');
    expect(byName.body).toEqual([{ id: 9 }]);
    expect(headersOf(byName)).toEqual(['2', '<?service=My+Service&fields=id&after=9&range=0-0>; rel="next"']);

    const next = await transport.send('GET', '/sessions?service=My+Service&fields=id&after=9&range=0-0');
    expect(next.body).toEqual([{ id: 12 }]);
    expect(headersOf(next)).toEqual(['2', '<?service=My+Service&fields=id&range=0-0>; rel="prev"']);

    const byAddress = await get('range=5-6&address=%3A%3A1&fields=user');
    expect(byAddress.body).toEqual([]);
    expect(headersOf(byAddress)).toEqual(['1', '<?address=%3A%3A1&fields=user&range=0-0>; rel="prev"']);
  });

  it.each(after)('%s gives the sessions %j of %i, with the links %j', async (query, ids, total, link) => {
    const answer = await get(`${query}&fields=id`);
    expect([answer.status, answer.body]).toEqual([200, ids.map((id) => ({ id }))]);
    expect(headersOf(answer)).toEqual([String(total), link]);
  });

  it.each(['', '-1', '01', '1.5', '9007199254740992', 'x', '9&after=9', 'sample.4.0'])(
    'refuses after=%s',
    async (value) => {
      const { status, body } = await get(`after=${value}`);
      expect([status, body]).toEqual([400, expect.objectContaining({ code: 'query-invalid' })]);
    },
  );

  it.each(routes.find(({ id }) => id === 'sessions.list')?.search ?? [])(
    'refuses the parameter %s twice, and says so',
    async (parameter) => {
      const { status, body } = await get(`${parameter}=a&${parameter}=a`);
      const detail = `The parameter "${parameter}" must be given once.`;
      expect([status, body]).toEqual([400, expect.objectContaining({ code: 'query-invalid', detail })]);
    },
  );
});

const names = { services: ['Sales', 'Stock Room'], servers: ['db 1', 'DB-2', 'db-3'] };

const sessions: fc.Arbitrary<readonly SessionDocument[]> = fc.uniqueArray(
  fc.record({
    id: fc.nat(300),
    state: fc.constant('ready'),
    user: fc.constantFrom('ada', 'Ada', 'bob', ''),
    address: fc.constantFrom('::1', '10.0.0.1'),
    service: fc.constantFrom('/services/Sales', '/services/Stock-Room'),
    connected: fc.constant('2016-09-09T14:12:37+03:00'),
    connections: fc.array(
      fc.record({
        state: fc.constant('In use'),
        role: fc.constant('Slave'),
        server: fc.constantFrom('/servers/db-1', '/servers/DB-2', '/servers/db-3'),
      }),
      { maxLength: 3 },
    ),
  }),
  { selector: ({ id }) => id, maxLength: 40 },
);

const wanted = fc.record(
  {
    service: fc.constantFrom('sales', 'STOCK-ROOM', 'stock room', 'nothing'),
    server: fc.constantFrom('DB 1', 'db-2', 'nothing'),
    user: fc.constantFrom('ada', 'bob', 'x', ''),
    address: fc.constantFrom('::1', '10.0.0.1', '::2'),
  },
  { requiredKeys: [] },
);

function isFound(
  session: SessionDocument,
  { service, server, user, address }: Record<string, string | undefined>,
) {
  const keyOf = (link: string): string => nameKey(link.slice(link.lastIndexOf('/') + 1));
  const servers = (session.connections ?? []).map((each) => keyOf(each.server));
  return (
    (service === undefined || keyOf(session.service) === nameKey(service)) &&
    (server === undefined || servers.includes(nameKey(server))) &&
    (user === undefined || session.user === user) &&
    (address === undefined || session.address === address)
  );
}

describe('a search for sessions', () => {
  it('finds those that have every wanted value, in the order of their ids, on any pages', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, wanted, fc.integer({ min: 1, max: 9 }), async (list, values, size) => {
        const { admin } = runAdmin({
          snapshot: createSnapshot({
            services: names.services.map((name) => ({ name, router: 'r' })),
            servers: names.servers.map((name) => ({ name, address: 'a', port: 1, protocol: 'p' })),
            sessions: list,
          }),
        });
        const { send } = await transports.core(admin);
        const found = list.filter((each) => isFound(each, values)).map(({ id }) => id);
        const expected = found.toSorted((a, b) => a - b).map((id) => ({ id }));
        const query = new URLSearchParams({ ...values, fields: 'id' }).toString();
        expect((await send('GET', `/sessions?${query}`)).body).toEqual(expected);

        const pages: unknown[] = [];
        let next: string | undefined = `?${query}&range=0-${String(size - 1)}`;
        while (next !== undefined) {
          const { body, headers } = await send('GET', `/sessions${next}`);
          expect(headers['x-total-count']).toBe(String(expected.length));
          pages.push(...(body as unknown[]));
          next = /<(\?[^>]*)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
        }
        expect(pages).toEqual(expected);
      }),
    );
  });
});

/** What happens between two pages of a walk: sessions end, sessions open. */
const happenings = fc.array(
  fc.record({
    ended: fc.array(fc.nat(40), { maxLength: 6 }),
    opened: fc.array(fc.nat(40), { maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 9 },
);

/** The query of the next page in a header. */
function nextIn(link = ''): string | undefined {
  return /<\?([^>]*)>; rel="next"/.exec(link)?.[1];
}

describe('a walk by after', () => {
  const criteria = ['', '&user=ada', '&service=sales', '&server=db-1&user=ada'];
  const walks = ['after the last id', 'along the links'] as const;
  // Promise: session-walk
  it.each(walks.flatMap((way) => criteria.map((each) => [way, each] as const)))(
    'sees each session that lives through the walk once, and none twice: %s%s',
    async (way, criteria) => {
      const ids = fc.uniqueArray(fc.nat(40), { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(ids, fc.integer({ min: 1, max: 7 }), happenings, async (start, size, meanwhile) => {
          const { admin } = runAdmin({
            snapshot: createSnapshot({
              services: [{ name: 'Sales', router: 'r' }],
              servers: [{ name: 'db 1', address: 'a', port: 1, protocol: 'p' }],
            }),
          });
          const { send } = await transports.core(admin);
          const opening = (id: number): HostReport => ({
            ...{ type: 'session.opened', id, state: 'ready', user: 'ada', address: '::1', service: 'Sales' },
            connections: [{ id: 0, server: 'db 1', role: 'Slave', state: 'In use' }],
            connected: 0,
          });
          admin.report(start.map(opening));
          const lives = new Set(start);
          const seen: number[] = [];
          const page = `fields=id${criteria}&range=0-${String(size - 1)}`;
          let query: string | undefined = page;
          for (let turn = 0; query !== undefined; turn += 1) {
            const { body, headers } = await send('GET', `/sessions?${query}`);
            const found = (body as readonly { readonly id: number }[]).map(({ id }) => id);
            seen.push(...found);
            const last = found.length < size ? undefined : `${page}&after=${String(found.at(-1))}`;
            query = way === 'along the links' ? nextIn(headers['link']) : last;
            const { ended = [], opened = [] } = meanwhile[turn] ?? {};
            for (const id of ended) lives.delete(id);
            admin.report(ended.map((id) => ({ type: 'session.closed' as const, id, connected: 0 })));
            admin.report(opened.map(opening));
          }
          expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
          expect(seen).toEqual(expect.arrayContaining([...lives]));
        }),
      );
    },
  );
});

const walks = ['range', 'rangeOfService', 'rangeOfServer'] as const;

/** The numbers of sessions that are read from the table at once. */
async function readsOf(run: () => Promise<unknown>): Promise<readonly number[]> {
  // No answer says how many sessions were looked at, so the reads of the table itself are counted.
  const table = Object.getPrototypeOf(createSnapshot({}).sessions) as object;
  const own = walks.map((name) => [name, Object.getOwnPropertyDescriptor(table, name) ?? {}] as const);
  const reads: number[] = [];
  for (const [name, descriptor] of own) {
    const walk = descriptor.value as (this: unknown, ...args: unknown[]) => readonly unknown[];
    const counting = function (this: unknown, ...args: unknown[]): readonly unknown[] {
      const found = walk.apply(this, args);
      reads.push(found.length);
      return found;
    };
    Object.defineProperty(table, name, { ...descriptor, value: counting });
  }
  try {
    await run();
  } finally {
    for (const [name, descriptor] of own) Object.defineProperty(table, name, descriptor);
  }
  return reads;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

describe('the cost of a search among 30,000 sessions', () => {
  const count = 30_000;
  const { admin } = runAdmin({ snapshot: crowdedSnapshot(count) });
  const get = (query: string): ReturnType<typeof admin.handle> =>
    admin.handle({ method: 'GET', target: `/sessions?${query}`, headers: {} });

  // Promise: session-search-cost
  it.each([
    // The page, and the last id of the page for the link to the next one.
    ['service=sales&range=20000-20009', 11],
    ['server=db&range=20000-20009', 11],
    ['service=nothing', 0],
    ['server=nothing', 0],
    ['service=nothing&user=bob', 0],
    ['server=nothing&service=sales', 0],
    ['user=nobody', count],
    ['service=sales&address=10.0.0.9&range=0-0', count],
  ])('by %s is %i sessions', async (query, reads) => {
    expect(sumOf(await readsOf(() => get(query)))).toBe(reads);
  });

  // Promise: session-search-turns
  it.each(['user=nobody', 'address=10.0.0.9&fields=id', 'server=db&service=sales&range=0-9'])(
    'by %s is shared out over turns of the event loop',
    async (query) => {
      const progress = { done: false };
      const answer = get(query).finally(() => (progress.done = true));
      const turns: (readonly number[])[] = [];
      while (!progress.done) turns.push(await readsOf(() => nextTurn()));
      expect(await answer).toMatchObject({ response: { status: 200 } });
      expect(turns.flat()).toEqual(Array.from({ length: 6 }, () => 5000));
      // A busy machine can run the timers of two pieces in one turn.
      expect(turns.filter(({ length }) => length > 0).length).toBeGreaterThan(1);
    },
  );

  it('ends when the client disconnects', async () => {
    const controller = new AbortController();
    const target = '/sessions?user=nobody';
    const reads = await readsOf(async () => {
      const answer = admin.handle({ method: 'GET', target, headers: {}, signal: controller.signal });
      controller.abort();
      expect(await answer).toMatchObject({ response: { status: 503 } });
    });
    expect(sumOf(reads)).toBeLessThanOrEqual(5000);
  });

  it('shows one moment, whatever is reported meanwhile', async () => {
    const answer = get('user=bob&range=0-0');
    await nextTurn();
    admin.report({
      type: 'session.closed',
      id: 1,
      connected: admin.snapshot.sessions.find(1)?.connected ?? 0,
    });
    expect(await answer).toMatchObject({ response: { headers: { 'x-total-count': String(count) } } });
    expect(await get('user=bob&range=0-0')).toMatchObject({
      response: { headers: { 'x-total-count': String(count - 1) } },
    });
  });
});
