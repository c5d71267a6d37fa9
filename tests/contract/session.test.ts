/**
 * The sessions: how `GET /sessions` finds them, which `DELETE /sessions` closes, and what both cost.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  nameKey,
  routes,
  type GatewayDocument,
  type HostReport,
  type Plan,
} from 'gateway-admin-core';

import { crowdedSnapshot } from '../support/document.ts';
import { runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
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

/** The query of the next page in a header. */
function nextIn(link = ''): string | undefined {
  return /<\?([^>]*)>; rel="next"/.exec(link)?.[1];
}

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
        let next: string | undefined = `${query}&range=0-${String(size - 1)}`;
        while (next !== undefined) {
          const { body, headers } = await send('GET', `/sessions?${next}`);
          expect(headers['x-total-count']).toBe(String(expected.length));
          pages.push(...(body as unknown[]));
          next = nextIn(headers['link']);
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

describe('a walk by after', () => {
  const start = createSnapshot({
    services: [{ name: 'Sales', router: 'r' }],
    servers: [{ name: 'db 1', address: 'a', port: 1, protocol: 'p' }],
  });
  const opening = (id: number): HostReport => ({
    ...{ type: 'session.opened', id, state: 'ready', user: 'ada', address: '::1', service: 'Sales' },
    connections: [{ id: 0, server: 'db 1', role: 'Slave', state: 'In use' }],
    connected: 0,
  });
  const walked = fc.record({
    opened: fc.uniqueArray(fc.nat(40), { maxLength: 40 }),
    size: fc.integer({ min: 1, max: 7 }),
    meanwhile: happenings,
    criteria: fc.constantFrom('', '&user=ada', '&service=sales', '&server=db-1&user=ada'),
    isAlongLinks: fc.boolean(),
  });

  // Promise: session-walk
  it('sees each session that lives through the walk once, and none twice, after the last id or along the links', async () => {
    await fc.assert(
      fc.asyncProperty(walked, async ({ opened: first, size, meanwhile, criteria, isAlongLinks }) => {
        const { admin } = runAdmin({ snapshot: start });
        const { send } = await transports.core(admin);
        admin.report(first.map(opening));
        const lives = new Set(first);
        const seen: number[] = [];
        const page = `fields=id${criteria}&range=0-${String(size - 1)}`;
        let query: string | undefined = page;
        for (let turn = 0; query !== undefined; turn += 1) {
          const { body, headers } = await send('GET', `/sessions?${query}`);
          const found = (body as readonly { readonly id: number }[]).map(({ id }) => id);
          seen.push(...found);
          const last = found.length < size ? undefined : `${page}&after=${String(found.at(-1))}`;
          query = isAlongLinks ? nextIn(headers['link']) : last;
          const { ended = [], opened = [] } = meanwhile[turn] ?? {};
          for (const id of ended) lives.delete(id);
          admin.report(ended.map((id) => ({ type: 'session.closed' as const, id, connected: 0 })));
          admin.report(opened.map(opening));
        }
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
        expect(seen).toEqual(expect.arrayContaining([...lives]));
      }),
      { numRuns: 200 },
    );
  });
});

const readers = ['range', 'rangeOfService', 'rangeOfServer'] as const;

/** The numbers of sessions that are read from the table at once. */
async function readsOf(run: () => Promise<unknown>): Promise<readonly number[]> {
  // No answer says how many sessions were looked at, so the reads of the table itself are counted.
  const table = Object.getPrototypeOf(createSnapshot({}).sessions) as object;
  const own = readers.map((name) => [name, Object.getOwnPropertyDescriptor(table, name) ?? {}] as const);
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

/** The reads in each turn of the event loop until there is an answer; without the turns that have none. */
async function turnsOf(answer: Promise<unknown>): Promise<readonly (readonly number[])[]> {
  const progress = { done: false };
  const ended = answer.finally(() => (progress.done = true));
  const turns: (readonly number[])[] = [];
  while (!progress.done) turns.push(await readsOf(() => nextTurn()));
  await ended;
  return turns.filter(({ length }) => length > 0);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

describe('the cost of a search among 15,000 sessions', () => {
  const count = 15_000;
  const { admin } = runAdmin({ snapshot: crowdedSnapshot(count) });
  const get = (query: string): ReturnType<typeof admin.handle> =>
    admin.handle({ method: 'GET', target: `/sessions?${query}`, headers: {} });

  // Promise: session-search-cost
  it.each([
    // The page, and the last id of the page for the link to the next one.
    ['service=sales&range=10000-10009', 11],
    ['server=db&range=10000-10009', 11],
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
      const answer = get(query);
      const turns = await turnsOf(answer);
      expect(await answer).toMatchObject({ response: { status: 200 } });
      expect(turns.flat()).toEqual([5000, 5000, 5000]);
      // A busy machine can run the timers of two pieces in one turn.
      expect(turns.length).toBeGreaterThan(1);
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
    const connected = admin.snapshot.sessions.find(1)?.connected ?? 0;
    admin.report({ type: 'session.closed', id: 1, connected });
    expect(await answer).toMatchObject({ response: { headers: { 'x-total-count': String(count) } } });
    expect(await get('user=bob&range=0-0')).toMatchObject({
      response: { headers: { 'x-total-count': String(count - 1) } },
    });
  });
});

type Send = Transport['send'];

async function sendTo({ admin }: Pick<Running, 'admin'>): Promise<Send> {
  const { send } = await transports.core(admin);
  return send;
}

const codeOf = ({ status, body }: Answer): readonly unknown[] => [
  status,
  (body as { readonly code?: string } | undefined)?.code,
];
const representation = { headers: { prefer: 'return=representation' } };
const idsOf = (list: unknown): readonly unknown[] =>
  (list as readonly { readonly id: number }[]).map(({ id }) => id);

async function planOf(send: Send, query: string): Promise<Plan> {
  return (await send('DELETE', `/sessions?${query}&dry_run=true`)).body as never;
}

/** The sample document has the sessions 0, 9 and 12. */
const chosen: readonly (readonly [query: string, left: readonly number[]])[] = [
  ['service=MY%20service', [0]],
  ['server=db-serv-1', [0]],
  ['user=alice', [0, 12]],
  ['user=Alice', [0, 9, 12]],
  ['address=::1', [0, 9]],
  ['service=my-service&user=carol', [0, 9]],
  ['user=alice&address=::1', [0, 9, 12]],
  // The last one connects later than now.
  ['older_than=0', [12]],
  ['older_than=900000000000', [0, 9, 12]],
  ['all=true', []],
];

/** What is refused, with nothing changed. */
const refused: readonly (readonly [query: string, status: number, code: string])[] = [
  ...[
    ...[
      '',
      '?all=false',
      '?all=yes',
      '?all=',
      '?all=true&user=alice',
      '?all=true&all=true',
      '?idle_over=abc',
    ],
    ...['?user=alice&user=alice', '?user=%00', '?users=alice', '?range=0-9', '?fields=id&user=alice'],
    ...['?idle_over=', '?idle_over=-1', '?idle_over=1e3', '?idle_over=9999999999999999', '?older_than=1h'],
    ...['?older_than=NaN', '?user=alice&mark=x'],
  ].map((query) => [query, 400, 'query-invalid'] as const),
  ...['?service=nothing', '?service=', '?service=__proto__&user=alice'].map(
    (query) => [query, 404, 'service-not-found'] as const,
  ),
  ...['?server=nothing', '?server=My-Service&service=My-Service'].map(
    (query) => [query, 404, 'server-not-found'] as const,
  ),
];

describe('DELETE /sessions', () => {
  it.each(chosen)('by %s leaves the sessions %j', async (query, left) => {
    const { admin, gateway } = runAdmin();
    const send = await sendTo({ admin });
    const plan = await planOf(send, query);
    const answer = await send('DELETE', `/sessions?${query}`, representation);
    expect(answer.status).toBe(200);
    expect(idsOf((await send('GET', '/sessions')).body)).toEqual(left);
    const sessions = 3 - left.length;
    expect(answer.body).toMatchObject({ closed: { sessions, connections: plan.closes.connections } });
    expect([plan.outcome, plan.closes.sessions]).toEqual([
      sessions === 0 ? 'unchanged' : 'accepted',
      sessions,
    ]);
    const asked = gateway.applied;
    expect(asked.map(({ type, resource }) => [type, resource])).toEqual(
      sessions === 0 ? [] : [['sessions.close', '/sessions']],
    );
  });

  it.each(refused)('%s is %i %s, and nothing is changed', async (query, status, code) => {
    const { admin, gateway } = runAdmin();
    const send = await sendTo({ admin });
    const before = admin.snapshot;
    expect(codeOf(await send('DELETE', `/sessions${query}`))).toEqual([status, code]);
    const planned = await send('DELETE', `/sessions${query}${query === '' ? '?' : '&'}dry_run=true`);
    expect(codeOf(planned)).toEqual([status, code]);
    expect([admin.snapshot, gateway.applied]).toEqual([before, []]);
  });

  it('says which criteria there are', async () => {
    const send = await sendTo(runAdmin());
    const { body } = await send('DELETE', '/sessions');
    expect(body).toMatchObject({
      detail: expect.stringMatching(/service, server, user, address, idle_over, older_than.*all=true/),
    });
  });

  it('is refused with a tag, because the list of sessions has none', async () => {
    const send = await sendTo(runAdmin());
    const headers = { 'if-match': '"x.1.1"' };
    expect(codeOf(await send('DELETE', '/sessions?user=alice', { headers }))).toEqual([
      412,
      'precondition-failed',
    ]);
  });

  it('is refused in a sequence, whose paths have no query', async () => {
    const send = await sendTo(runAdmin());
    const body = JSON.stringify({ commands: [{ method: 'DELETE', path: '/sessions' }] });
    const headers = { 'content-type': 'application/json' };
    expect(codeOf(await send('POST', '/sequence', { headers, body }))).toEqual([422, 'op-not-allowed']);
  });

  it('publishes the criteria with the event', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const events = admin.events();
    await send('DELETE', '/sessions?user=alice&older_than=1');
    const { value } = (await events.next()) as { readonly value: object };
    expect(value).toMatchObject({
      event: {
        ...{ type: 'sessions.closed', resource: '/sessions', sessions: [{ id: 9 }] },
        criteria: { user: 'alice', older_than: 1 },
      },
    });
  });

  it('lets a session stay that the host calls active when its turn comes', async () => {
    const idle = new Map([[9, 700]]);
    const gateway = sampleGateway();
    const telemetry = { idle: (id: number) => idle.get(id) };
    const { admin } = runAdmin({ gateway: { ...gateway, telemetry } });
    const send = await sendTo({ admin });
    expect(idsOf((await send('GET', '/sessions?idle_over=600')).body)).toEqual([9]);
    const { mark, closes } = await planOf(send, 'idle_over=600');
    expect(closes.sessions).toBe(1);
    idle.set(9, 0);
    const { body } = await send('DELETE', `/sessions?idle_over=600&mark=${mark}`, representation);
    expect(body).toMatchObject({ closed: { sessions: 0 } });
    expect(admin.snapshot.sessions.find(9)).toBeDefined();
  });
});

const openedLater: HostReport = {
  ...{ type: 'session.opened', id: 40, state: 'ready', user: 'alice', address: '::1' },
  ...{ service: 'My Service', connected: 5 },
};

describe('the mark of DELETE /sessions', () => {
  it('closes no session that has opened since, and the same again is done', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'user=alice');
    admin.report(openedLater);
    for (const sessions of [1, 0]) {
      const { status, body } = await send('DELETE', `/sessions?user=alice&mark=${mark}`, representation);
      expect([status, body]).toMatchObject([200, { closed: { sessions } }]);
    }
    expect(admin.snapshot.sessions.find(40)).toBeDefined();
  });

  it('of a plan that closes nothing closes nothing', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark, outcome } = await planOf(send, 'user=dan');
    expect(outcome).toBe('unchanged');
    const closing = `/sessions?user=dan&mark=${mark}`;
    const { body } = await send('DELETE', closing, representation);
    expect(body).toMatchObject({ outcome: 'unchanged', closed: { sessions: 0, connections: 0 } });
    admin.report({ ...openedLater, user: 'dan' });
    expect(codeOf(await send('DELETE', closing))).toEqual([412, 'precondition-failed']);
    expect(admin.snapshot.sessions.size).toBe(4);
  });

  it.each([
    ['other criteria', 'user=carol'],
    ['other values', 'user=Alice'],
    ['more criteria', 'user=alice&older_than=0'],
  ])('is no mark of %s', async (_what, query) => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'user=alice');
    const answer = await send('DELETE', `/sessions?${query}&mark=${mark}`);
    expect(codeOf(answer)).toEqual([412, 'precondition-failed']);
    const { plan } = answer.body as { readonly plan: Plan };
    expect(plan).toMatchObject(await planOf(send, query));
    expect(admin.snapshot.sessions.size).toBe(3);
  });

  it('is refused with 404 when the service is gone', async () => {
    const { admin } = runAdmin();
    const send = await sendTo({ admin });
    const { mark } = await planOf(send, 'service=report-service');
    expect((await send('PUT', '/service/report-service/stop')).status).toBe(204);
    expect((await send('DELETE', '/services/report-service')).status).toBe(204);
    const answer = await send('DELETE', `/sessions?service=report-service&mark=${mark}`);
    expect(codeOf(answer)).toEqual([404, 'service-not-found']);
  });
});

describe('closing some of 5,500 sessions', () => {
  // Promise: close-in-pieces
  it.each(['user=nobody&dry_run=true', 'user=nobody', 'all=true&dry_run=true', 'all=true'])(
    'by %s looks at 1,000 of them in each turn of the event loop',
    async (query) => {
      const { admin } = runAdmin({ snapshot: crowdedSnapshot(5500) });
      const send = await sendTo({ admin });
      const looked = (await turnsOf(send('DELETE', `/sessions?${query}`))).map(sumOf);
      expect(sumOf(looked)).toBe(5500);
      // A busy machine can run the timers of two pieces in one turn.
      expect(Math.max(...looked)).toBeLessThanOrEqual(2000);
    },
  );

  it('counts all and lists 100 in the plan, and has the plan of now in a 412', async () => {
    const { admin } = runAdmin({ snapshot: crowdedSnapshot(5500) });
    const send = await sendTo({ admin });
    const plan = await planOf(send, 'user=bob');
    expect(plan).toMatchObject({
      outcome: 'accepted',
      closes: { sessions: 5500 },
      events: [{ count: 5500 }],
    });
    expect(plan.events[0]?.['sessions']).toHaveLength(100);
    const answer = await send('DELETE', `/sessions?all=true&mark=${plan.mark}`);
    expect(answer.body).toMatchObject({ plan: { closes: { sessions: 5500 } } });
  });

  it('settles in parts, of which the empty ones leave no record', async () => {
    const { admin, gateway } = runAdmin({ snapshot: crowdedSnapshot(5500) });
    admin.report({ type: 'session.updated', id: 3210, user: 'eve' });
    const send = await sendTo({ admin });
    const { body } = await send('DELETE', '/sessions?user=eve', representation);
    expect(body).toMatchObject({ outcome: 'accepted', closed: { sessions: 1 } });
    expect(gateway.applied).toHaveLength(1);
    expect(admin.snapshot.sessions.size).toBe(5499);
  });
});
