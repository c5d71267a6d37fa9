import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { createRouter, type Routable } from '../../src/http/router.ts';

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
