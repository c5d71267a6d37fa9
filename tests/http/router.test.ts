/**
 * The router, on the routes of the library and on toys: no route of the library has every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Listener, Snapshot } from 'gateway-admin-core';

import { createRouter, type Routable } from '../../src/http/router.ts';
import type { PathParameters } from '../../src/http/route.ts';
import { nameKey } from '../../src/core/name.ts';
import { fail, ok, type Result } from '../../src/problem.ts';
import { createSnapshot } from '../../src/resources/document.ts';
import { boundRoutes } from '../../src/resources/index.ts';
import { listenerFields } from '../../src/resources/listener.ts';
import { services } from '../../src/resources/snapshot.ts';
import { finder } from '../../src/resources/shared/look-up.ts';
import { commandRoute, itemRoute, type KindRoute } from '../../src/resources/shared/route.ts';
import { isShown } from '../../src/core/field.ts';
import { sampleDocument } from '../support/document.ts';
import { surroundings } from '../support/surroundings.ts';

const routes: readonly (Routable & { readonly id: string })[] = [
  { id: 'list', method: 'GET', path: '/things', aliases: [] },
  { id: 'get', method: 'GET', path: '/things/:name', aliases: [] },
  { id: 'patch', method: 'PATCH', path: '/thing/:name', aliases: ['/things/:name'] },
  { id: 'stop', method: 'PUT', path: '/thing/:name/stop', aliases: ['/things/:name/stop'] },
  { id: 'parts', method: 'GET', path: '/things/:name/parts', aliases: [] },
  { id: 'drop', method: 'DELETE', path: '/things/:name/parts', aliases: [] },
  { id: 'self', method: 'GET', path: '/self', aliases: [] },
];
const { match } = createRouter(routes);

/** What is found, in short. */
function found(method: string, path: string): string {
  const result = match(method, path);
  if (result.found === 'route')
    return [result.route.id, ...Object.values(result.parameters).map((value) => JSON.stringify(value))].join(
      ' ',
    );
  return result.found === 'path' ? result.path.allow : result.found;
}

describe('a router', () => {
  it('finds each thing by its name, whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        expect(found('GET', `/things/${encodeURIComponent(name)}`)).toBe(`get ${JSON.stringify(name)}`);
      }),
    );
  });

  it('finds nothing at a path without a leading slash, even where each word is a name', () => {
    const anything = createRouter([{ method: 'GET', path: '/:name', aliases: [] }]);
    expect(anything.match('GET', '/a').found).toBe('route');
    for (const path of ['', 'a', '*']) expect(anything.match('GET', path).found).toBe('nothing');
  });

  it('answers for every path, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('/', 'things', ':name', '%', '%2F', 'a', '..') }),
        (path) => {
          expect(match('GET', path).found).toMatch(/^(?:route|path|broken-escape|nothing)$/);
        },
      ),
    );
  });

  it.each([
    ['GET', '/things', 'list'],
    ['GET', '/things/', 'list'],
    ['GET', '/things/a', 'get "a"'],
    ['GET', '/things/a/', 'get "a"'],
    ['HEAD', '/things/a', 'get "a"'],
    ['GET', '/things/a%2Fb', 'get "a/b"'],
    ['GET', '/things/%2525', 'get "%25"'],
    ['GET', '/things/parts', 'get "parts"'],
    ['GET', '/things/parts/parts', 'parts "parts"'],
    ['GET', '/things/:name', 'get ":name"'],
    ['PATCH', '/thing/a', 'patch "a"'],
    ['PATCH', '/things/a', 'patch "a"'],
    ['PUT', '/thing/a/stop', 'stop "a"'],
    ['PUT', '/things/a/stop/', 'stop "a"'],
    ['DELETE', '/things/a/parts', 'drop "a"'],
    ['GET', '/self', 'self'],
  ])('finds %s %s as %s', (method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });

  it.each([
    ['POST', '/things', 'GET, HEAD, OPTIONS'],
    ['get', '/things', 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/things/a', 'GET, HEAD, PATCH, OPTIONS'],
    ['GET', '/thing/a', 'PATCH, OPTIONS'],
    ['HEAD', '/thing/a', 'PATCH, OPTIONS'],
    ['GET', '/things/a/stop', 'PUT, OPTIONS'],
    ['PUT', '/things/a/parts', 'GET, HEAD, DELETE, OPTIONS'],
  ])('says for %s %s what can be done: %s', (method, path, allow) => {
    expect(found(method, path)).toBe(allow);
  });

  it.each([
    '',
    '/',
    '//',
    'things',
    '-self',
    '//things',
    '/things//',
    '/things//parts',
    '/Things',
    '/%74hings',
    '/thing',
    '/things/a/Parts',
    '/things/a/parts/b',
    '/constructor',
    '*',
  ])('finds nothing at %j', (path) => {
    expect(found('GET', path)).toBe('nothing');
  });

  it('finds the root in one spelling', () => {
    const { match: matchRoot } = createRouter([{ method: 'GET', path: '/', aliases: [] }]);
    expect(['/', '//', ''].map((path) => matchRoot('GET', path).found)).toEqual([
      'route',
      'nothing',
      'nothing',
    ]);
  });

  it.each(['%zz', '%', 'a%2', '%C0%AF'])('says that the escape in /things/%s is broken', (segment) => {
    expect(match('GET', `/things/${segment}`)).toEqual({
      found: 'broken-escape',
      segment,
      route: expect.anything(),
    });
    expect(match('PUT', `/things/${segment}/stop`)).toEqual({
      found: 'broken-escape',
      segment,
      route: expect.anything(),
    });
  });

  it('refuses two routes for one method and path', () => {
    const twice = [
      ...routes,
      { id: 'again', method: 'PATCH', path: '/other/:name', aliases: ['/things/:name'] },
    ];
    expect(() => createRouter(twice)).toThrow('Two routes for PATCH /things/:name');
    expect(() => createRouter(twice)).toThrow(RangeError);
  });
});

const path = '/services/:name/doors/:listener';
const findService = finder(services);

function find(snapshot: Snapshot, parameters: PathParameters): Result<Listener> {
  const service = findService(snapshot, parameters);
  if (!service.ok) return service;
  const key = nameKey(parameters['listener'] ?? '');
  const listener = service.value.listeners.find(({ name }) => nameKey(name) === key);
  return listener === undefined ? fail('service-not-found', 'There is no such listener.') : ok(listener);
}

/** Toys: what reads one listener of a service, and what closes it. */
const toys: readonly KindRoute[] = [
  itemRoute<Listener>({
    id: 'listeners.get',
    kind: 'item',
    method: 'GET',
    path,
    role: 'reader',
    summary: 'Gives one listener of a service.',
    shape: listenerFields.representation,
    find,
    read: (_snapshot, listener) => listener,
  }),
  commandRoute<Listener>({
    id: 'listeners.close',
    kind: 'command',
    method: 'DELETE',
    path,
    role: 'operator',
    summary: 'Closes a listener of a service.',
    find,
    link: ({ name }) => name,
    decide: (next) => ({ outcome: 'unchanged', next, resources: [] }),
  }),
];
const { match: matchToys } = createRouter<KindRoute>([...boundRoutes, ...toys]);

/** What GET shows at a path, or the problem. */
function get(snapshot: Snapshot, target: string): unknown {
  const found = matchToys('GET', target);
  if (found.found !== 'route' || found.route.kind !== 'item')
    throw new Error(`GET ${target}: ${found.found}`);
  const thing = found.route.find(snapshot, found.parameters);
  return thing.ok ? found.route.read(snapshot, thing.value, surroundings) : thing.problem.code;
}

// The routes belong to these modules, and know only the snapshots of these modules.
const sample = createSnapshot(sampleDocument);

describe('a route with two variables', () => {
  it('finds what both name, each compared as names are', () => {
    const [first, second] = sample.services.find('my-service')?.listeners ?? [];
    expect(get(sample, '/services/My-Service/doors/My-Listener')).toBe(first);
    expect(get(sample, '/services/MY%20SERVICE/doors/secure%20listener/')).toBe(second);
    expect(get(sample, '/services/My-Service/doors/nothing')).toBe('service-not-found');
    expect(get(sample, '/services/Bare-Service/doors/My-Listener')).toBe('service-not-found');
  });

  it('gives each by its name, percent-decoded once, whatever it is', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, text, (name, listener) => {
        const target = `/services/${encodeURIComponent(name)}/doors/${encodeURIComponent(listener)}`;
        expect(matchToys('GET', target)).toMatchObject({
          found: 'route',
          route: toys[0],
          parameters: { name, listener },
        });
      }),
    );
  });

  it('finds a listener with a slash in its name', () => {
    const listener = { name: 'eu/west 100%', protocol: 'pgclient', address: '::', port: 4006 };
    const snapshot = createSnapshot({ services: [{ name: 'a/b', router: 'cli', listeners: [listener] }] });
    expect(get(snapshot, '/services/a%2Fb/doors/EU%2Fwest-100%25')).toEqual(listener);
  });

  it.each([
    ['/services/%zz/doors/a', '%zz'],
    ['/services/a/doors/%zz', '%zz'],
    ['/services/a/doors/%C0%AF', '%C0%AF'],
    ['/services/%/doors/%zz', '%'],
  ])('says which escape of %s is broken', (target, segment) => {
    for (const method of ['GET', 'HEAD', 'DELETE'])
      expect(matchToys(method, target)).toEqual({
        found: 'broken-escape',
        segment,
        route: expect.anything(),
      });
  });

  it('lists its methods, and those of the routes beside it stay as they are', () => {
    expect(matchToys('PUT', '/services/a/doors/b')).toMatchObject({
      found: 'path',
      path: { allow: 'GET, HEAD, DELETE, OPTIONS' },
    });
    expect(matchToys('DELETE', '/services/a/listeners')).toMatchObject({
      path: { allow: 'GET, HEAD, POST, OPTIONS' },
    });
    expect(matchToys('GET', '/services/a/listeners')).toMatchObject({ route: { id: 'services.listeners' } });
  });

  it.each(['/services//doors/b', '/services/a/doors//', '/services/a/Listeners/b', '/services/a/doors/b/c'])(
    'finds nothing at %s',
    (target) => {
      expect(matchToys('GET', target)).toEqual({ found: 'nothing' });
    },
  );

  it('selects by the fields of what it shows', () => {
    expect(toys.map(({ fields }) => fields)).toEqual([
      listenerFields.all.filter(isShown).map(({ name }) => name),
      [],
    ]);
  });
});
