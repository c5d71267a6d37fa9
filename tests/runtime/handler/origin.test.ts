/**
 * Web pages and rebound names. tests/scenarios/handler/origin.txt has the commands that pass.
 */
import { describe, expect, it } from '@jest/globals';
import type { AdminOptions } from 'gateway-admin-core';

import { runAdmin } from '../../support/running-admin.ts';

type Headers = Readonly<Record<string, string>>;

/** The status and the code of an answer to a request with these headers. */
async function answerTo(
  method: string,
  target: string,
  headers: Headers,
  options: Partial<AdminOptions> = {},
): Promise<string> {
  const { admin, gateway } = runAdmin(options as object);
  const handled = await admin.handle({ method, target, headers });
  if (!handled.matched) return 'nothing';
  const { status, body } = handled.response;
  if (status === 403) expect(gateway.calls).toEqual([]);
  const { code = '' } = typeof body === 'string' ? (JSON.parse(body) as { code?: string }) : {};
  return `${String(status)} ${code}`.trim();
}

const stop = (headers: Headers, options?: Partial<AdminOptions>): Promise<string> =>
  answerTo('PUT', '/service/My-Service/stop', headers, options);

const host = '127.0.0.1:8989';
const console = 'https://console.example';

describe('a command', () => {
  // Promise: foreign-origin
  it.each<[string, Headers]>([
    ['a page of another origin', { host, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of another origin, in an old browser', { host, origin: 'https://evil.example' }],
    ['a page of the same site', { host, origin: 'http://127.0.0.1:80', 'sec-fetch-site': 'same-site' }],
    ['a page at another port, in an old browser', { host, origin: 'http://127.0.0.1:8990' }],
    ['a page in a sandbox', { host, origin: 'null' }],
    ['a page in a sandbox, in a browser of today', { host, origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a page that a browser does not name', { host, 'sec-fetch-site': 'cross-site' }],
    ['several origins', { host, origin: `http://${host} https://evil.example` }],
    ['an extension', { host, origin: `chrome-extension://${host}` }],
    ['an origin with more than a host', { host, origin: `http://${host}/x` }],
    ['an origin with a user', { host, origin: `http://evil@${host}` }],
    ['an origin without a host to compare', { origin: 'http://evil.example' }],
  ])('from %s is 403 origin-refused', async (_from, headers) => {
    for (const [method, target] of [
      ['PUT', '/service/My-Service/stop'],
      ['DELETE', '/sessions/9'],
      ['POST', '/gateway/logs/flush'],
      ['PATCH', '/services/My-Service'],
      ['PUT', '/users'],
      ['DELETE', '/commands/x'],
      ['DELETE', '/sessions/9?dry_run=true'],
    ] as const)
      expect(await answerTo(method, target, headers)).toBe('403 origin-refused');
  });

  it('is refused by its origin before the log-in is checked', async () => {
    const authenticate = (): Promise<never> => Promise.reject(new Error('asked'));
    expect(await stop({ host, origin: console }, { access: { authenticate } })).toBe('403 origin-refused');
  });
});

describe('a page of another origin', () => {
  const allowedOrigins = ['http://other.example', console];
  const exposed = 'ETag, X-Total-Count, Link, Location, Retry-After, Preference-Applied';
  const readable = {
    vary: 'Origin',
    'access-control-allow-origin': console,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
  };
  const authenticate = (): Promise<undefined> => Promise.resolve(undefined);
  const fails = (): never => {
    throw new Error('planted');
  };

  /** The status, and the headers that a browser looks for. */
  async function headersTo(
    [method, target]: readonly [string, string],
    headers: Headers,
    options: Partial<AdminOptions> = { access: { allowedOrigins } },
  ): Promise<readonly [number, Headers]> {
    const { admin } = runAdmin(options as object);
    const request = { method, target, headers: { host, 'sec-fetch-site': 'cross-site', ...headers } };
    const handled = await admin.handle(request);
    if (!handled.matched) throw new Error(`Nothing at ${target}`);
    const { response } = handled;
    const own = Object.entries(response.headers).filter(([name]) => /^(?:vary|access-control-)/.test(name));
    if (typeof response.body === 'object') await response.body[Symbol.asyncIterator]().return?.();
    return [response.status, Object.fromEntries(own)];
  }

  // Promise: allowed-origin
  it.each([
    [200, 'GET', '/services/My-Service'],
    [200, 'HEAD', '/services/My-Service'],
    [200, 'GET', '/sessions?range=0-0'],
    [200, 'GET', '/events'],
    [204, 'PUT', '/service/My-Service/stop'],
    [400, 'GET', '/services?range=x'],
    [404, 'GET', '/services/none'],
    [405, 'PUT', '/services'],
    [415, 'PUT', '/users'],
    [501, 'BREW', '/services'],
    [204, 'OPTIONS', '/services'],
  ])('reads every answer if its origin is allowed: %d to %s %s', async (status, method, target) => {
    const headers = { origin: console, 'content-type': 'text/plain' };
    expect(await headersTo([method, target], headers)).toEqual([status, readable]);
  });

  it.each<[number, NonNullable<AdminOptions['access']>]>([
    [401, { authenticate }],
    [403, { authorize: () => Promise.reject(new Error('planted')) as never }],
    [500, { authorize: fails }],
  ])('reads the refusal of its log-in, and an internal error: %d', async (status, access) => {
    const options = { access: { allowedOrigins, ...access } };
    expect(await headersTo(['GET', '/services'], { Origin: console }, options)).toEqual([status, readable]);
  });

  // Promise: allowed-origin
  it('may ask before a command, without a log-in, and sends the headers that it asks for', async () => {
    const asking = {
      origin: console,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,if-match',
    };
    const options = { access: { allowedOrigins, authenticate } };
    expect(await headersTo(['OPTIONS', '/services/My-Service'], asking, options)).toEqual([
      204,
      {
        ...readable,
        'access-control-allow-methods': 'GET, HEAD, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'authorization,content-type,if-match',
      },
    ]);
    const bare = { origin: console, 'access-control-request-method': 'PUT' };
    expect(await headersTo(['OPTIONS', '/service/My-Service/stop'], bare, options)).toEqual([
      204,
      { ...readable, 'access-control-allow-methods': 'PUT, OPTIONS' },
    ]);
  });

  it('gets back no text that is not a list of names of headers', async () => {
    for (const asked of ['', 'a\r\nset-cookie: b', 'a b', 'a,,b', '\u00e9']) {
      const asking = {
        ...{ origin: console, 'access-control-request-method': 'GET' },
        'access-control-request-headers': asked,
      };
      const [status, headers] = await headersTo(['OPTIONS', '/services'], asking);
      expect(status).toBe(204);
      expect(headers['access-control-allow-headers']).not.toBe(asked);
    }
  });

  // Promise: allowed-origin
  it.each(['https://evil.example', 'https://console.example:8443', 'http://console.example', 'null', '*'])(
    'gets nothing if its origin is not allowed: %s',
    async (origin) => {
      const asking = { origin, 'access-control-request-method': 'PUT' };
      expect(await headersTo(['GET', '/services'], asking)).toEqual([200, { vary: 'Origin' }]);
      expect(await headersTo(['OPTIONS', '/service/My-Service/stop'], asking)).toEqual([
        204,
        { vary: 'Origin' },
      ]);
    },
  );

  it('makes no difference if no origin is allowed', async () => {
    expect(await headersTo(['GET', '/services'], { origin: console }, {})).toEqual([200, {}]);
  });
});

describe('without a log-in', () => {
  const evil = ['evil.example', 'evil.example:8989', 'localhost.evil.example', '127.0.0.1.evil.example'];
  // Promise: rebound-host
  it.each([...evil, 'a b', '/', ''])('a request to the host %j is 403, reads included', async (name) => {
    for (const method of ['GET', 'HEAD']) {
      expect(await answerTo(method, '/services', { host: name })).toMatch(/^403/);
    }
    expect(await stop({ host: name, origin: `http://${name}`, 'sec-fetch-site': 'same-origin' })).toBe(
      '403 origin-refused',
    );
  });

  const addresses = ['127.0.0.1', '10.0.0.7:8989', '192.168.100.200', '[::1]', '[fe80::1]:8989'];
  it.each([...addresses, 'localhost', 'LOCALHOST:8989', 'a.localhost'])(
    'a request to the host %s passes',
    async (name) => {
      expect(await answerTo('GET', '/services', { host: name })).toBe('200');
    },
  );

  it('a request to a host that the host program allows passes', async () => {
    const options = { access: { allowedHosts: ['gateway.example', 'Other.example:8989'] } };
    for (const name of ['gateway.example', 'GATEWAY.example:1234', 'other.example:8989'])
      expect(await answerTo('GET', '/services', { host: name }, options)).toBe('200');
    expect(await answerTo('GET', '/services', { host: 'other.example:8990' }, options)).toBe(
      '403 origin-refused',
    );
  });
});

describe('with a log-in', () => {
  it('a request to any host passes, because a page of a rebound name has no credentials', async () => {
    const authenticate = (): Promise<{ name: string }> => Promise.resolve({ name: 'ada' });
    const headers = { host: 'gateway.example' };
    expect(await answerTo('GET', '/services', headers, { access: { authenticate } })).toBe('200');
    const request = { method: 'GET', target: '/services', headers, principal: { name: 'ada' } };
    expect(await runAdmin().admin.handle(request)).toMatchObject({ response: { status: 200 } });
  });

  it('that nobody has to use yet, a request to an unknown host is 403', async () => {
    const authenticate = Object.assign((): Promise<undefined> => Promise.resolve(undefined), {
      isOpen: () => true,
    });
    for (const [name, answer] of [
      [host, '200'],
      ['gateway.example', '403 origin-refused'],
    ] as const)
      expect(await answerTo('GET', '/services', { host: name }, { access: { authenticate } })).toBe(answer);
  });
});

const noOrigin =
  'The option access.allowedOrigins has "console.example", which is no origin. An origin is a scheme, a host in lower ' +
  'case and perhaps a port, such as https://console.example.';
const noHost =
  'The option access.allowedHosts has "http://gateway.example", which is no host. A host is gateway.example or ' +
  'gateway.example:8989.';

it.each<[name: string, message: string, ...values: string[]]>([
  ['allowedOrigins', noOrigin, 'console.example'],
  [
    'allowedOrigins',
    'which is no origin',
    'https://console.example/',
    'HTTPS://console.example',
    '*',
    'null',
  ],
  ['allowedOrigins', 'which is no origin', 'https://*.example'],
  ['allowedHosts', noHost, 'http://gateway.example'],
  ['allowedHosts', 'allowedHosts has "*", which is no host', '*'],
  ['allowedHosts', 'which is no host', '', '*.example', '.example', 'a b'],
])('the option %s is refused: %s', (name, message, ...values) => {
  for (const value of values) {
    const create = (): unknown => runAdmin({ access: { [name]: [value] } });
    expect(create).toThrow(RangeError);
    expect(create).toThrow(message);
  }
});

it('a host that is no host is refused also once the code is compiled: URL.canParse of Node 20 then takes some for valid', async () => {
  const { admin } = runAdmin();
  const statusOf = async (name: string): Promise<unknown> => {
    const handled = await admin.handle({ method: 'GET', target: '/ready', headers: { host: name } });
    return handled.matched && handled.response.status;
  };
  for (let count = 0; count < 20_000; count += 1) await statusOf('localhost');
  const hosts = Array.from({ length: 64 }, (_, at) => `Ã${String.fromCharCode(0x80 + at)}`);
  expect(new Set(await Promise.all(hosts.map(statusOf)))).toEqual(new Set([403]));
});
