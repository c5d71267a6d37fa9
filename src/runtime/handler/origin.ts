/**
 * Origin: refuses requests that a web page of somebody else makes a browser send.
 *
 * A browser sends a simple request to any address without asking. It adds `Origin` and `Sec-Fetch-Site`, which a page
 * cannot forge. A page whose name was rebound to the address of the interface counts as the same origin, so the name in
 * `Host` is checked while no log-in protects the interface.
 */
import type { AdminRequest } from '../../http/message.ts';
import { problem, quoted, type Problem } from '../../problem.ts';
import type { Headers } from './respond.ts';

/** The origins and hosts that the host program trusts. @internal */
export interface Origins {
  /** Origins whose pages may read and send commands, such as `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  /** Further names in `Host` under which the interface may be reached without a log-in. */
  readonly allowedHosts: readonly string[];
}

/**
 * Checks the options about origins, and adds the defaults.
 *
 * @throws RangeError for a text that is no origin or no host
 * @internal
 */
export function originsFrom({ allowedOrigins = [], allowedHosts = [] }: Partial<Origins>): Origins {
  for (const origin of allowedOrigins) {
    if (urlOf(origin)?.origin !== origin || isPattern(origin))
      throw new RangeError(
        `The option access.allowedOrigins has ${quoted(origin)}, which is no origin. An origin is ${sampleOrigin}.`,
      );
  }
  for (const host of allowedHosts) {
    if (urlOf(`http://${host}`) === undefined || isPattern(host))
      throw new RangeError(
        `The option access.allowedHosts has ${quoted(host)}, which is no host. A host is gateway.example or gateway.example:8989.`,
      );
  }
  return Object.freeze({ allowedOrigins: [...allowedOrigins], allowedHosts: [...allowedHosts] });
}

const sampleOrigin = 'a scheme, a host in lower case and perhaps a port, such as https://console.example';

/** Whether a text looks like a pattern. There are no patterns, so the text would match nothing. */
function isPattern(text: string): boolean {
  return text.includes('*') || text.startsWith('.');
}

/** What a request asks for, as far as its origin matters. */
interface Asking {
  /** Whether the request sends a command, or a dry run of one. */
  readonly isCommand: boolean;
  /** Whether the request needs no log-in. */
  readonly isOpen: boolean;
}

/**
 * Explains why the origin of a request is refused.
 *
 * @returns the problem; `undefined` if the request may go on
 * @see RFC 6454, Fetch Metadata Request Headers; docs/spec-choices.md 42.
 * @internal
 */
export function originProblem(
  { headers }: AdminRequest,
  { isCommand, isOpen }: Asking,
  options: Origins,
): Problem | undefined {
  const { host } = headers;
  if (isOpen && host !== undefined && !isKnownHost(host, options)) return unknownHost(host);
  if (isCommand && !isOwnOrigin(headers, options)) return foreignOrigin(headers['origin']);
  return undefined;
}

/** The headers of a response that a script of another origin may read. Any script may read the type and the length. */
const exposedHeaders = 'ETag, X-Total-Count, Link, Location, Retry-After, Preference-Applied';

/** Names of header fields (RFC 9110 §5.1), with a comma between them. */
const fieldNames = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/;

/** The response depends on the origin, also for a request without one. */
const varied: Headers = Object.freeze({ vary: 'Origin' });

/**
 * Makes the headers that let a page of an allowed origin read a response, and that tell a browser which commands the
 * page may send. A page of another origin gets none of them.
 *
 * @param allow - the methods of the path, if the response names them
 * @returns the headers; `undefined` if no origin is allowed
 * @see the CORS protocol of the Fetch Standard; docs/spec-choices.md 42.
 * @internal
 */
export function crossOriginHeaders(
  { method, headers }: AdminRequest,
  { allowedOrigins }: Origins,
  allow = '',
): Headers | undefined {
  if (allowedOrigins.length === 0) return undefined;
  const { origin } = headers;
  if (origin === undefined || !allowedOrigins.includes(origin)) return varied;
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  const asked = headers['access-control-request-headers'];
  return {
    ...varied,
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposedHeaders,
    ...(isPreflight ? { 'access-control-allow-methods': allow } : {}),
    // Any header: an authenticate function of the host may read one of its own.
    ...(isPreflight && asked !== undefined && fieldNames.test(asked)
      ? { 'access-control-allow-headers': asked }
      : {}),
  };
}

function isOwnOrigin(headers: AdminRequest['headers'], { allowedOrigins }: Origins): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && allowedOrigins.includes(origin)) return true;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin === undefined || (host !== undefined && isSameHost(origin, host));
}

/** Whether an origin has the host and port of `Host`. The scheme may differ, because a proxy may end TLS. */
function isSameHost(origin: string, host: string): boolean {
  const own = urlOf(origin);
  return own !== undefined && own.host === urlOf(`${own.protocol}//${host}`)?.host;
}

/** The usual hosts on the same machine, with a port below 60,000: they need no parsing. */
const loopback = /^(?:127\.0\.0\.1|localhost)(?::(?:[1-9]\d{0,3}|[1-5]\d{4}))?$/;

/** An IP address cannot be rebound, and `localhost` and its subdomains never leave the machine (RFC 6761 §6.3). */
function isKnownHost(host: string, { allowedHosts }: Origins): boolean {
  if (loopback.test(host)) return true;
  const url = urlOf(`http://${host}`);
  if (url === undefined) return false;
  const isAddress = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/.test(url.hostname);
  return (
    isAddress || /^(?:.+\.)?localhost$/.test(url.hostname) || allowedHosts.some((each) => isNamed(url, each))
  );
}

function isNamed({ hostname, host }: URL, name: string): boolean {
  return [hostname, host].includes(name.toLowerCase());
}

/** The parsed URL of an origin or host; `undefined` if there is more in the text than these. */
function urlOf(text: string): URL | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/i.test(text)) return undefined;
  try {
    // Not `URL.canParse`: in compiled code, that of Node 20 takes some texts for valid that are not.
    return new URL(text);
  } catch {
    return undefined;
  }
}

function unknownHost(host: string): Problem {
  return problem(
    'origin-refused',
    `The header Host names ${quoted(host)}. Without a log-in, the interface answers only under an IP address and under ` +
      'localhost. To allow a name, add it to the option access.allowedHosts.',
  );
}

function foreignOrigin(origin = 'an unknown origin'): Problem {
  return problem(
    'origin-refused',
    `The command comes from a web page of ${quoted(origin)}, which may not send commands. Nothing was changed. To allow ` +
      'an origin, add it to the option access.allowedOrigins.',
  );
}
