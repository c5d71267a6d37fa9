import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type Admin, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';

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

async function send(admin: Admin, method: string, target: string, patch?: object): Promise<unknown> {
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
    expect(await countSteps(() => send(admin, 'GET', '/filters'))).toBe(size);
    const shown = (await send(admin, 'GET', '/filters')) as Shown;
    expect(shown).toHaveLength(size);
    for (const at of [0, 1, 2, 777, 1999])
      expect(shown[at]?.services).toEqual(naive(admin.snapshot, `f${String(at)}`));
  });

  it('are not looked for again until a service changes', async () => {
    expect(await countSteps(() => send(admin, 'GET', '/filters/f5'))).toBe(0);
    await send(admin, 'PATCH', '/filter/f5', { op: 'add', path: '/parameters/match', value: 'x' });
    expect(await countSteps(() => send(admin, 'GET', '/filters/f5'))).toBe(0);
    await send(admin, 'PATCH', '/services/s0', { op: 'replace', path: '/filters', value: ['/filters/F5'] });
    expect(await countSteps(() => send(admin, 'GET', '/filters'))).toBe(size);
    expect(await send(admin, 'GET', '/filters/f5?fields=services')).toEqual({
      services: naive(admin.snapshot, 'f5'),
    });
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
