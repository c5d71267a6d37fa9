/**
 * What a request may cost: the tests count steps and normalised text, and measure no time.
 */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type Admin, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { writers } from '../support/input.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { transports, type Answer } from '../support/transport.ts';

/** So many filters and services; each service uses three of the filters. */
function document(size: number): GatewayDocument {
  const link = (at: number): string => `/filters/f${String(at % size)}`;
  const all = Array.from({ length: size }, (_, at) => at);
  return {
    filters: all.map((at) => ({ name: `f${String(at)}`, module: 'hintfilter' })),
    services: all.map((at) => ({
      name: `s${String(at)}`,
      router: 'readconnroute',
      filters: [link(at), link(at + 1), link(at * 7 + 2)].filter(
        (each, place, list) => list.indexOf(each) === place,
      ),
    })),
  };
}

/** Counts how many entries of collections are walked over. */
async function countSteps(run: () => Promise<unknown>): Promise<number> {
  let steps = 0;
  const collection = Object.getPrototypeOf(createSnapshot({}).services) as object;
  const own = Object.getOwnPropertyDescriptor(collection, Symbol.iterator);
  if (own === undefined) throw new Error('A collection has no iterator');
  const walk = own.value as (this: unknown) => Iterator<unknown>;
  const counting = function* (this: unknown): Generator<unknown> {
    for (const entry of { [Symbol.iterator]: () => walk.call(this) }) {
      steps += 1;
      yield entry;
    }
  };
  Object.defineProperty(collection, Symbol.iterator, { ...own, value: counting });
  try {
    await run();
  } finally {
    Object.defineProperty(collection, Symbol.iterator, own);
  }
  return steps;
}

type Shown = readonly { readonly name: string; readonly services: readonly string[] }[];

async function ask(admin: Admin, method: string, target: string, patch?: object): Promise<unknown> {
  const { send: through } = await transports.core(admin);
  const headers = { 'content-type': 'application/json-patch+json' };
  const { status, body } = await through(
    method,
    target,
    patch === undefined ? {} : { headers, body: JSON.stringify([patch]) },
  );
  expect(status).toBe(200);
  return body;
}

/** What a filter shows, found by looking at every service. */
function naive({ services }: Snapshot, filter: string): readonly string[] {
  const using = [...services].filter(({ settings }) => settings.filters.includes(`/filters/${filter}`));
  return using.map(({ name }) => `/services/${name}`);
}

describe('the services of 2,000 filters', () => {
  const size = 2000;
  const { admin } = runAdmin({ snapshot: createSnapshot(document(size)) });

  // Promise: filter-list
  it('are found in one walk over 2,000 services', async () => {
    expect(await countSteps(() => ask(admin, 'GET', '/filters'))).toBe(size);
    const shown = (await ask(admin, 'GET', '/filters')) as Shown;
    expect(shown).toHaveLength(size);
    for (const at of [0, 1, 2, 777, 1999])
      expect(shown[at]?.services).toEqual(naive(admin.snapshot, `f${String(at)}`));
  });

  it('are not looked for again until a service changes', async () => {
    expect(await countSteps(() => ask(admin, 'GET', '/filters/f5'))).toBe(0);
    await ask(admin, 'PATCH', '/filter/f5', { op: 'add', path: '/parameters/match', value: 'x' });
    expect(await countSteps(() => ask(admin, 'GET', '/filters/f5'))).toBe(0);
    await ask(admin, 'PATCH', '/services/s0', { op: 'replace', path: '/filters', value: ['/filters/F5'] });
    expect(await countSteps(() => ask(admin, 'GET', '/filters'))).toBe(size);
    expect(await ask(admin, 'GET', '/filters/f5?fields=services')).toEqual({
      services: naive(admin.snapshot, 'f5'),
    });
  });
});

/** Counts digests: SHA-256 writes the length of its text once. `most` is the largest number of one turn. */
async function countDigests(run: () => Promise<unknown>): Promise<{ all: number; most: number }> {
  const counts = { all: 0, most: 0, ofTurn: 0 };
  const own = Object.getOwnPropertyDescriptor(DataView.prototype, 'setBigUint64');
  const write = own?.value as DataView['setBigUint64'];
  const spy = jest.spyOn(DataView.prototype, 'setBigUint64').mockImplementation(function (
    this: DataView,
    ...given
  ) {
    counts.all += 1;
    counts.ofTurn += 1;
    counts.most = Math.max(counts.most, counts.ofTurn);
    write.apply(this, given);
  });
  let isOver = false;
  const nextTurn = (): void => {
    counts.ofTurn = 0;
    if (!isOver) setImmediate(nextTurn);
  };
  nextTurn();
  try {
    await run();
  } finally {
    isOver = true;
    spy.mockRestore();
  }
  return { all: counts.all, most: counts.most };
}

describe('the digests of 10,000 servers', () => {
  const servers = Array.from({ length: 10_000 }, (_, at) => ({
    ...{ name: `db-${String(at)}`, address: '10.0.0.1', port: 1, protocol: 'pg' },
  }));

  it('are made some hundreds in a turn, once each, and one for a change', async () => {
    const { admin } = runAdmin({ snapshot: createSnapshot({ servers }) });
    const { send } = await transports.core(admin);
    const list = (ifMatch?: string): Promise<Answer> =>
      send('GET', '/servers?range=0-0', ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } });
    expect(await countDigests(() => send('GET', '/servers/db-7'))).toEqual({ all: 1, most: 1 });
    const first = await countDigests(() => list());
    expect([first.all, first.most < 500]).toEqual([9999, true]);
    for (const target of ['/servers', '/servers/db-7', '/servers/db-9999'])
      expect([target, (await countDigests(() => send('GET', target))).all]).toEqual([target, 0]);
    const port = [{ op: 'replace', path: '/port', value: 2 }];
    const json = { 'content-type': 'application/json-patch+json' };
    const patching = (): Promise<Answer> =>
      send('PATCH', '/servers/db-7', { headers: json, body: JSON.stringify(port) });
    expect((await countDigests(patching)).all).toBe(1);
    expect((await countDigests(() => list())).all).toBe(0);
    const { etag = '' } = (await list()).headers;
    const creating = (): Promise<Answer> =>
      send('POST', '/servers', {
        headers: { 'content-type': 'application/json', 'if-match': etag },
        body: JSON.stringify({ ...servers[0], name: 'new' }),
      });
    expect((await countDigests(creating)).all).toBe(1);
    expect((await countDigests(creating)).all).toBe(0);
    expect((await creating()).status).toBe(412);
  });
});

describe('the services of a filter', () => {
  it('are those that list the filter, in declaration order, in any document', () => {
    fc.assert(
      fc.property(documents, (each) => {
        const snapshot = createSnapshot(each);
        const list = readAll(snapshot).find(({ route }) => route.id === 'filters.list');
        const expected = (each.filters ?? []).map(({ name }) => {
          const using = [...snapshot.services].filter(({ settings }) =>
            settings.filters.some(
              (link) => snapshot.filters.find(decodeURIComponent(link.slice(9)))?.name === name,
            ),
          );
          return using.map(({ name: service }) => snapshot.services.find(service)?.key);
        });
        const shown = ((list?.shown ?? []) as Shown).map(({ services }) =>
          services.map((link) => snapshot.services.find(decodeURIComponent(link.slice(10)))?.key),
        );
        expect(shown).toEqual(expected);
      }),
    );
  });
});

const [patch] = writers;
const marks = '\u0315\u0300\u0327\u0323';
/** No run is as long as this one, in a text that is normalised. */
const longRun = /\p{M}{31}/u;
const megabyte = 1_000_000;

/** Counts calls, and lets them pass. */
let spy: jest.Spied<typeof String.prototype.normalize>;

beforeEach(() => {
  spy = jest.spyOn(String.prototype, 'normalize');
});

afterEach(() => {
  spy.mockRestore();
});

/** The texts that were normalised since the start of the test. */
function normalised(): readonly string[] {
  return spy.mock.contexts.map(String);
}

async function send(
  operations: readonly object[],
  target: string = patch.target,
  { admin }: Running = runAdmin(),
): Promise<Answer> {
  const transport = await transports.core(admin);
  const answer = await transport.send('PATCH', target, {
    headers: patch.headers,
    body: JSON.stringify(operations),
  });
  await transport.close();
  return answer;
}

/** The number of characters that were normalised. */
function work(): number {
  return normalised().reduce((sum, { length }) => sum + length, 0);
}

/** As many different names with a run of marks as fit into a body. */
function names(run: number): readonly string[] {
  const tail = 'a' + marks.repeat(run / 4);
  const count = Math.min(990, Math.floor(megabyte / (2 * run + 60)));
  return Array.from({ length: count }, (_, index) => String(index) + tail);
}

const places = [
  ['/filter/Hint', '/parameters', { value: 'x', configurable: true }],
  ['/services/My-Service', '/router_options', 'x'],
  ['/servers/db-serv-1', '/parameters', 'x'],
] as const;

describe.each(places)('the names of parameters in a patch of %s', (target, path, value) => {
  it.each([40, 240, 1016, 4000])(
    'are not normalised with a run of %s marks, because no secret is so long',
    async (run) => {
      const map = Object.fromEntries(names(run).map((name) => [name, value]));
      const answer = await send([{ op: 'add', path, value: map }], target);
      // The patch would remove a parameter of the filter that is not configurable.
      expect(answer.status).toBe(run > 255 || target === '/filter/Hint' ? 422 : 200);
      expect(normalised().filter((text) => text.includes(marks))).toHaveLength(0);
    },
  );

  it('are not normalised in the paths of operations either', async () => {
    const operations = names(1016)
      .slice(0, 100)
      .map((name) => ({ op: 'add', path: `${path}/${name.slice(0, 1000)}`, value }));
    const answer = await send(operations, target);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation-failed' } });
    expect(normalised().filter((text) => text.includes(marks))).toHaveLength(0);
  });
});

describe('the name of a parameter', () => {
  it('is normalised at most three times in a request, when a secret is as long', async () => {
    const secret = 'the long name of a secret';
    const running = runAdmin({ secretParameters: [secret] });
    const map = Object.fromEntries(names(28).map((name) => [name, 'x']));
    const answer = await send([{ op: 'add', path: '/router_options', value: map }], patch.target, running);
    expect(answer.status).toBe(200);
    const counts = new Map<string, number>();
    for (const text of normalised()) counts.set(text, (counts.get(text) ?? 0) + 1);
    expect(Math.max(...Object.keys(map).map((name) => counts.get(name) ?? 0))).toBe(3);
  });

  it('is secret in every spelling, composed or not', async () => {
    const secret = '\u1f82\u0390\ud55c';
    const running = runAdmin({ secretParameters: [secret] });
    const value = { [secret.normalize('NFD')]: 'planted', [secret.toUpperCase()]: 'planted', open: 'x' };
    await send([{ op: 'add', path: '/router_options', value }], patch.target, running);
    const { settings } = running.admin.snapshot.services.find('My Service') ?? {};
    const { open, ...sealed } = settings?.router_options ?? {};
    expect(open).toBe('x');
    expect(Object.values(sealed)).toEqual(Array(3).fill({ sealed: expect.any(String) }));
  });

  it('is normalised in no map that has too many members, whichever are secret', async () => {
    const map = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`${String(index)}ä`, 'x']));
    const answer = await send([{ op: 'add', path: '/router_options', value: map }]);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation-failed' } });
    expect(normalised().filter((text) => text.includes('ä'))).toHaveLength(0);
  });
});

describe('links in a patch', () => {
  it.each([16, 28, 32, 240, 1016, 4000])('are normalised without a long run, at %s marks', async (run) => {
    const value = names(run).map((name) => `/servers/${name}`);
    const answer = await send([{ op: 'replace', path: '/servers', value }]);
    expect(answer).toMatchObject({ status: 422, body: { code: 'link-unresolved' } });
    expect(normalised().filter((text) => longRun.test(text))).toHaveLength(0);
    // Twice for each name: before and after the change of case.
    expect(work()).toBeLessThan(2 * megabyte);
  });

  it('find a name with a long run, in any case and with any white space', async () => {
    const name = `The Name a${marks.repeat(40)}`;
    const snapshot = createSnapshot({
      services: [{ name: 'Sales', router: 'cli' }],
      servers: [{ name, address: 'db', port: 1, protocol: 'p' }],
    });
    const running = runAdmin({ snapshot });
    const link = `/servers/${name.toUpperCase().replaceAll(' ', '-')}`;
    const answer = await send([{ op: 'add', path: '/servers/-', value: link }], '/services/Sales', running);
    expect(answer).toMatchObject({ status: 200, body: { servers: [expect.stringContaining('The-Name')] } });
  });
});

describe('passwords in a patch', () => {
  it.each(['/users/ada', '/services/My-Service'])(
    'that are too long are not normalised with a long run: %s',
    async (target) => {
      const value = 'a' + marks.repeat(500);
      const operations = Array.from({ length: 100 }, () => ({ op: 'add', path: '/password', value }));
      const answer = await send(operations, target);
      expect(answer).toMatchObject({ status: 422, body: { code: 'password-unacceptable' } });
      expect(normalised().filter((text) => longRun.test(text))).toHaveLength(0);
    },
  );
});
