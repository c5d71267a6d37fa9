/**
 * The connection: from the options and the environment to a client, and what goes wrong on the way.
 */
import { isIP } from 'node:net';

import {
  createClient,
  sendWithFetch,
  type Answer,
  type Client,
  type EndpointId,
  type Send,
} from '../client/index.ts';
import type { AdminRequest, AdminResponse, Plan } from '../index.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { safeText } from './output.ts';
import { readPassword } from './password-input.ts';

const defaultUrl = 'http://127.0.0.1:8989';

/** Connects to the interface that the options name. Nothing is sent yet. */
export async function connect(call: Call): Promise<Client> {
  const url = urlOf(call);
  const user = userOf(call);
  const headers = user === undefined ? {} : { authorization: await authorizationOf(call, url, user) };
  return createClient(explaining(sendWithFetch(url.href, { headers, fetch: fetchHere }), url));
}

/** Follows no redirect: the log-in, and a password in a body, are for this address alone. */
const fetchHere: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'manual' });

function urlOf({ valueOf, surroundings }: Call): URL {
  const text = valueOf('url') ?? surroundings.env['GATEWAY_ADMIN_URL'] ?? defaultUrl;
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new CommandError('The address must be a URL such as http://127.0.0.1:8989.', exitCodes.wrongUse);
  if (url.username !== '' || url.password !== '')
    throw new CommandError(
      'The address must not contain a user or a password: other users of this machine can read arguments. ' +
        'Use --user and --password-file.',
      exitCodes.wrongUse,
    );
  if (url.search !== '' || url.hash !== '')
    throw new CommandError('The address must end with a path: no "?" and no "#".', exitCodes.wrongUse);
  return url;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function userOf({ valueOf, surroundings }: Call): string | undefined {
  const user = valueOf('user') ?? surroundings.env['GATEWAY_ADMIN_USER'];
  // Basic authentication ends the name at the first colon (RFC 7617, 2): the rest would count as the password.
  if (user?.includes(':') === true)
    throw new CommandError('The name of a user to log in has no colon.', exitCodes.wrongUse);
  return user === '' ? undefined : user;
}

async function authorizationOf(call: Call, url: URL, user: string): Promise<string> {
  const { surroundings, valueOf, output } = call;
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    output.note(`gateway-admin: the password goes to ${url.host} without encryption`);
  const file = valueOf('password-file') ?? surroundings.env['GATEWAY_ADMIN_PASSWORD_FILE'];
  if (file === undefined && !surroundings.stdin.isTTY)
    throw new CommandError(
      'The user needs a password: give --password-file, or use a terminal.',
      exitCodes.wrongUse,
    );
  const password = await readPassword(file, `Password of ${safeText(user)}: `, surroundings);
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The method of an endpoint, for endpoints that are known only when the command runs. */
export interface Method {
  (...given: readonly unknown[]): Promise<Answer<unknown>>;
  plan(...given: readonly unknown[]): Promise<Answer<Plan>>;
}

/** Finds the method of an endpoint. */
export function methodOf(client: Client, id: EndpointId): Method {
  const [group = '', name = ''] = id.split('.');
  return (client as unknown as Record<string, Record<string, Method>>)[group]?.[name] as Method;
}

/** Explains what goes wrong between here and the interface. */
function explaining(send: Send, url: URL): Send {
  return async (request) => {
    const isReading = request.method === 'GET' || request.target.includes('dry_run=');
    try {
      const response = await send(request);
      assertInterface(request, response, url, isReading);
      return { ...response, body: explainedBody(response, url, isReading) };
    } catch (error) {
      throw explained(error, 'Nobody answers at', url, isReading);
    }
  };
}

function isEvents(headers: AdminResponse['headers']): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** A proxy on the way may answer instead of the interface. */
function assertInterface(
  { target }: AdminRequest,
  { status, headers }: AdminResponse,
  url: URL,
  isReading: boolean,
): void {
  if (headers['content-type']?.startsWith('application/problem+json') === true) return;
  if (status < 300 && isEvents(headers) === target.startsWith('/events')) return;
  const what = `Something other than the interface answers at ${url.href}: status ${String(status)}.`;
  // A proxy that gives up, or that says yes, does not know what the interface has done.
  if ((status >= 500 || status < 300) && !isReading)
    throw new CommandError(
      `${what} The outcome of the command is unknown: look at the state.`,
      exitCodes.unknown,
    );
  const whole = 'with the path of its mount, such as http://127.0.0.1:8989/admin';
  throw new CommandError(
    `${what} Give the address of the interface, ${whole}, with --url or GATEWAY_ADMIN_URL.`,
    exitCodes.unreachable,
  );
}

/** More bytes than any answer has, and any event of a stream. */
const longestAnswer = 256 * 1024 * 1024;

function explainedBody(
  { headers, body }: AdminResponse,
  url: URL,
  isReading: boolean,
): NonNullable<AdminResponse['body']> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  const isStream = isEvents(headers);
  let left = longestAnswer;
  return (async function* () {
    try {
      for await (const chunk of body) {
        // An empty line ends an event.
        left = isStream && Buffer.from(chunk).includes('\n\n') ? longestAnswer : left - chunk.length;
        if (left < 0) throw new Error('it does not end');
        yield chunk;
      }
    } catch (error) {
      throw explained(error, 'The answer is not complete from', url, isReading);
    }
  })();
}

/** The failures of a connection that was never there: nothing was sent. */
const notSent =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

function explained(error: unknown, what: string, url: URL, isReading: boolean): unknown {
  if (error instanceof CommandError) return error;
  let cause = error as NodeJS.ErrnoException;
  while (cause.cause instanceof Error) cause = cause.cause;
  const [code, text] = [codeOf(cause), causeText(cause)];
  if (isReading || notSent.test(code))
    return new CommandError(
      `${what} ${url.href}: ${text}. Give the address with --url or GATEWAY_ADMIN_URL.`,
      exitCodes.unreachable,
    );
  return new CommandError(
    `The connection to ${url.href} broke: ${text}. The outcome of the command is unknown: look at the state.`,
    exitCodes.unknown,
  );
}

/** Several addresses of one name fail together. */
function codeOf({ code, ...rest }: NodeJS.ErrnoException): string {
  const { errors } = rest as { readonly errors?: readonly NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? '';
}

function causeText(cause: NodeJS.ErrnoException): string {
  return safeText(cause.message.trim() || codeOf(cause));
}
