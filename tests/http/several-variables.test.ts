import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type Listener, type Snapshot } from 'gateway-admin-core';

import type { PathParameters } from '../../src/http/route.ts';
import { nameKey } from '../../src/core/name.ts';
import { createRouter } from '../../src/http/router.ts';
import { fail, ok, type Result } from '../../src/problem.ts';
import { boundRoutes } from '../../src/resources/index.ts';
import { listenerFields } from '../../src/resources/listener.ts';
import { services } from '../../src/resources/snapshot.ts';
import { finder } from '../../src/resources/shared/look-up.ts';
import { commandRoute, itemRoute, type KindRoute } from '../../src/resources/shared/route.ts';
import { sampleSnapshot } from '../support/document.ts';
import { isShown } from '../../src/core/field.ts';
import { surroundings } from '../support/surroundings.ts';

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
const { match } = createRouter<KindRoute>([...boundRoutes, ...toys]);

/** What GET shows at a path, or the problem. */
function get(snapshot: Snapshot, target: string): unknown {
  const found = match('GET', target);
  if (found.found !== 'route' || found.route.kind !== 'item')
    throw new Error(`GET ${target}: ${found.found}`);
  const thing = found.route.find(snapshot, found.parameters);
  return thing.ok ? found.route.read(snapshot, thing.value, surroundings) : thing.problem.code;
}

describe('a route with two variables', () => {
  it('finds what both name, each compared as names are', () => {
    const [first, second] = sampleSnapshot().services.find('my-service')?.listeners ?? [];
    expect(get(sampleSnapshot(), '/services/My-Service/doors/My-Listener')).toBe(first);
    expect(get(sampleSnapshot(), '/services/MY%20SERVICE/doors/secure%20listener/')).toBe(second);
    expect(get(sampleSnapshot(), '/services/My-Service/doors/nothing')).toBe('service-not-found');
    expect(get(sampleSnapshot(), '/services/Bare-Service/doors/My-Listener')).toBe('service-not-found');
  });

  it('gives each by its name, percent-decoded once, whatever it is', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, text, (name, listener) => {
        const target = `/services/${encodeURIComponent(name)}/doors/${encodeURIComponent(listener)}`;
        expect(match('GET', target)).toMatchObject({
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
      expect(match(method, target)).toEqual({ found: 'broken-escape', segment, route: expect.anything() });
  });

  it('lists its methods, and those of the routes beside it stay as they are', () => {
    expect(match('PUT', '/services/a/doors/b')).toMatchObject({
      found: 'path',
      path: { allow: 'GET, HEAD, DELETE, OPTIONS' },
    });
    expect(match('DELETE', '/services/a/listeners')).toMatchObject({
      path: { allow: 'GET, HEAD, POST, OPTIONS' },
    });
    expect(match('GET', '/services/a/listeners')).toMatchObject({ route: { id: 'services.listeners' } });
  });

  it.each(['/services//doors/b', '/services/a/doors//', '/services/a/Listeners/b', '/services/a/doors/b/c'])(
    'finds nothing at %s',
    (target) => {
      expect(match('GET', target)).toEqual({ found: 'nothing' });
    },
  );

  it('selects by the fields of what it shows', () => {
    expect(toys.map(({ fields }) => fields)).toEqual([
      listenerFields.all.filter(isShown).map(({ name }) => name),
      [],
    ]);
  });
});
