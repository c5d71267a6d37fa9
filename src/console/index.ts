/**
 * The entry `gateway-admin-core/console`: a page for operators, as a request handler of its own.
 *
 * The page is static. The browser reads and changes the gateway through the interface, with the rights of the person.
 *
 * @packageDocumentation
 */
import { assertMembers } from '../core/member.ts';
import { secureHeaders } from '../http/message.ts';
import type { AdminRequest, AdminResponse, Handled } from '../index.ts';
import { assertText } from '../json/value.ts';
import { problem } from '../problem.ts';
import { files, html, version } from './page.js';

/**
 * Options of `createConsole`.
 *
 * @public
 */
export interface ConsoleOptions {
  /**
   * Path of the interface, relative to the path of the console as if that ended with a slash. Default: `../`, which
   * is `/` for a console at `/console`, and `/x/` for a console that a proxy shows at `/x/console/`. An interface at
   * `/admin` beside a console at `/console` is `../admin`.
   */
  readonly adminPath?: string;
  /**
   * Path of the log-in page of the host, relative as `adminPath`, for a host that knows its callers by cookies
   * (`principalOf`). The page leads a person who is not logged in there. Default: the page asks for name and password.
   */
  readonly logInPath?: string;
}

/**
 * A console: answers requests for the page and its files.
 *
 * @public
 */
export interface Console {
  /**
   * Answers a request; never rejects.
   *
   * @param request - a request whose `target` begins after the path of the console, as the adapters give it
   * @returns the response, or `matched: false` for a path below that of the console
   */
  handle(this: void, request: Pick<AdminRequest, 'method' | 'target' | 'headers'>): Promise<Handled>;
}

const optionNames = ['adminPath', 'logInPath'] as const satisfies readonly (keyof ConsoleOptions)[];

/** The page loads nothing from elsewhere, and nothing inline. */
const policy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'connect-src'].map((name) => `${name} 'self'`),
  "img-src 'self' data:",
  ...['frame-ancestors', 'base-uri', 'form-action'].map((name) => `${name} 'none'`),
].join('; ');

/**
 * Creates the console: one page on which people see the gateway, and change it.
 *
 * Mount the console with an adapter, as the interface itself. The console opens no port, and holds no state. All its
 * addresses are relative to the address of the document, so that the page works under every path and behind every
 * proxy. The page needs the interface on the same origin.
 *
 * @param options - where the interface and the log-in page are
 * @returns the console, for an adapter
 * @throws TypeError for an unknown option, and for a path that is not a string
 * @throws RangeError for an address of another origin, and for a path with a query or a fragment
 *
 * @example
 * ```ts
 * import { createConsole } from 'gateway-admin-core/console';
 * import { createFetchHandler } from 'gateway-admin-core/fetch';
 *
 * const fetch = createFetchHandler(createConsole(), { basePath: '/console' });
 * (await fetch(new Request('http://localhost/console'))).headers.get('content-type'); // => 'text/html; charset=utf-8'
 * ```
 *
 * @public
 */
export function createConsole(options: ConsoleOptions = {}): Console {
  assertMembers(options, optionNames, 'option of createConsole');
  const { adminPath = '../', logInPath } = options;
  assertPath(adminPath, 'adminPath');
  if (logInPath !== undefined) assertPath(logInPath, 'logInPath');
  const settings = Object.entries({ 'admin-path': adminPath, 'log-in-path': logInPath ?? '' });
  const metas = settings.map(([name, value]) => `<meta name="${name}" content="${escapeText(value)}">`);
  const etag = `"${[version, ...settings.map(([, value]) => encodeURIComponent(value))].join('/')}"`;
  const document: AdminResponse = {
    status: 200,
    headers: {
      ...secureHeaders,
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'content-type': 'text/html; charset=utf-8',
      etag,
      'referrer-policy': 'no-referrer',
    },
    body: html.replace('{{settings}}', () => metas.join('\n    ')),
  };
  const answer = ({ method, target, headers }: Parameters<Console['handle']>[0]): Handled => {
    const [path, query = ''] = target.split(/\?(.*)/s);
    if (path !== '/' && path !== '') return { matched: false };
    const name = new URLSearchParams(query).get('file');
    const found = name === null ? document : fileOf(name);
    return { matched: true, response: unlessKnown(forMethod(method, found), headers) };
  };
  return {
    handle: (request) => {
      try {
        return Promise.resolve(answer(request));
      } catch {
        return Promise.resolve({ matched: true, response: refusal(500, JSON.stringify(unreadable)) });
      }
    },
  };
}

/** The problem of a value that is no request: a program has given it, and no adapter. */
const unreadable = problem(
  'internal',
  'The console cannot read the request: it must be an object with method, target and headers, as an adapter gives it.',
);

/** @throws RangeError for a path that does not lead to the same origin, or that has more than a path */
function assertPath(path: string, name: string): void {
  assertText(path, name);
  // A browser leaves out control characters, and what follows may be another host.
  if (/^(?:[a-z][a-z\d+.-]*:|[/\\]{2})|[?#\s\p{Cc}\p{Cs}]/iu.test(path))
    throw new RangeError(
      `The option ${name} must be a path on the origin of the console, such as ../admin, and not ${JSON.stringify(path)}`,
    );
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** The response, or a 304 to a browser that has what the response brings (RFC 9110 §13.1.2). */
function unlessKnown(response: AdminResponse, headers: AdminRequest['headers']): AdminResponse {
  const [, given = ''] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'if-none-match') ?? [];
  const { etag, 'content-type': _type, ...kept } = response.headers;
  if (etag === undefined || !(given === '*' || given.includes(etag))) return response;
  return { status: 304, headers: { ...kept, etag } };
}

/** The name of a file changes with its text, so browsers keep the file for good. */
const fileResponses: ReadonlyMap<string, AdminResponse> = new Map(
  files.map(({ name, type, text }) => [
    name,
    {
      status: 200,
      headers: {
        ...secureHeaders,
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': `${type}; charset=utf-8`,
        etag: `"${name}"`,
      },
      body: text,
    },
  ]),
);

function fileOf(name: string): AdminResponse {
  const detail = 'The console has no such file. The page may be of another version: load the page again.';
  return fileResponses.get(name) ?? refusal(404, JSON.stringify(problem('route-not-found', detail)));
}

function forMethod(method: string, response: AdminResponse): AdminResponse {
  if (method === 'GET') return response;
  const { status, headers } = response;
  if (method === 'HEAD') return { status, headers };
  const detail = 'This path supports only GET, HEAD.';
  return refusal(405, JSON.stringify(problem('method-not-allowed', detail)), { allow: 'GET, HEAD' });
}

function refusal(status: number, body: string, headers: AdminResponse['headers'] = {}): AdminResponse {
  return {
    status,
    headers: { ...secureHeaders, ...headers, 'content-type': 'application/problem+json' },
    body,
  };
}
