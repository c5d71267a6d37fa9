/**
 * Arbitrary requests: methods, targets, headers and bodies as nobody would write them, near those that somebody would.
 */
import * as fc from 'fast-check';
import { routes, type AdminRequest } from 'gateway-admin-core';

import { bodies } from './arbitrary-body.ts';
import { character } from './arbitrary-character.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => String.fromCharCode(...list));
const junk = fc.oneof(bytes, fc.string({ unit: character, maxLength: 40 }), fc.string({ maxLength: 2000 }));

const methods = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(...new Set(routes.map(({ method }) => method)), 'HEAD', 'OPTIONS'),
  },
  { weight: 1, arbitrary: fc.constantFrom('TRACE', 'CONNECT', 'get', 'BREW', '', '__proto__') },
  { weight: 1, arbitrary: junk },
);

/** Names, and what may stand in the place of a name. */
const segments = fc.oneof(
  fc.constantFrom('S', 's', '%53', 'db', 'M', 'F', 'ada', '1', '0', '-1', '1e3', '9007199254740993'),
  fc.constantFrom(
    'constructor',
    '__proto__',
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%',
    '%zz',
    '%C0%AF',
    '%00',
    '%ff',
    '',
  ),
  junk.map(encodeURI),
  junk,
);

const paths = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...routes.flatMap(({ path, aliases }) => [path, ...aliases])), segments)
      .map(([path, name]) => path.replace(/:\w+/g, () => name)),
  },
  { weight: 1, arbitrary: fc.array(segments, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`) },
  { weight: 1, arbitrary: junk },
);

const parameters = fc.tuple(
  fc.oneof(
    fc.constantFrom('range', 'fields', 'dry_run', 'service', 'server', 'user', 'address', '_method'),
    fc.constantFrom('after', 'types'),
    junk,
  ),
  fc.oneof(
    fc.constantFrom('0-9', '9-0', '0-', 'name', 'id,state', ',', 'true', 'S', '1', '0.0.0', 'service'),
    junk,
  ),
);
const queries = fc
  .array(parameters, { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));

const values = fc.oneof(
  fc.constantFrom(
    '*',
    '"e.1.1"',
    'W/"e.1.1"',
    '"',
    '"a","b"',
    'application/json',
    'application/json-patch+json',
  ),
  fc.constantFrom(
    'null',
    'http://localhost',
    'https://evil.example',
    'localhost',
    '127.0.0.1',
    'cross-site',
    'none',
  ),
  fc.constantFrom(
    '0',
    '-1',
    '1e9',
    '99999999999999999999',
    'gzip',
    'identity',
    'Basic YWRhOng=',
    'bytes=0-1',
  ),
  junk,
);
const headerNames = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      'if-match',
      'if-none-match',
      'content-type',
      'content-length',
      'last-event-id',
    ),
  },
  {
    weight: 9,
    arbitrary: fc.constantFrom('content-encoding', 'origin', 'host', 'sec-fetch-site', 'authorization'),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.constantFrom('__proto__', 'If-Match', 'x-http-method-override'), junk),
  },
);

/** A request of any form, with a body in one of the forms in which hosts give it. */
export const requests: fc.Arbitrary<AdminRequest> = fc
  .record({
    method: methods,
    path: paths,
    query: fc.oneof(fc.constant(''), queries),
    headers: fc
      .array(fc.tuple(headerNames, values), { maxLength: 5 })
      .map((pairs) => Object.fromEntries(pairs)),
    body: fc.option(bodies, { nil: undefined }),
    isRead: fc.boolean(),
  })
  .map(({ path, query, body, isRead, ...request }) => ({
    ...request,
    target: query === '' ? path : `${path}?${query}`,
    ...(body === undefined ? {} : { body: isRead ? () => Promise.resolve(body) : body }),
  }));
