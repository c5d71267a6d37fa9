/**
 * The connection: from the settings to a client, the requests over `node:http` and `node:https`, and what goes wrong on
 * the way.
 */
import { X509Certificate } from 'node:crypto';
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { urlToHttpOptions } from 'node:url';

import { createClient, type Answer, type Client, type EndpointId, type Send } from '../client/index.ts';
import type { AdminRequest, AdminResponse, Plan } from '../index.ts';
import { CommandError, exitCodes, wrongUse, type Call, type placeOptions } from './command.ts';
import { settingsOf, timeoutFrom, urlOf, userFrom, type Settings } from './context.ts';
import { readPassword, readText, warnOfReaders } from './input.ts';
import { safeText } from './output.ts';

/** Connects to the interface that the options, the context or the environment names. Nothing is sent yet. */
export async function connect(call: Call): Promise<Client> {
  const settings = settingsOf(call);
  const user = userFrom(settings('user'));
  const remote = await remoteOf(call);
  const headers =
    user === undefined
      ? {}
      : { authorization: await authorizationOf(call, remote.url, user, settings('password-file')) };
  return createClient(reaching({ ...remote, headers }, call));
}

/** What the options, the context or the environment names, without a log-in. */
async function remoteOf(call: Call): Promise<Remote> {
  const settings = settingsOf(call);
  const url = urlOf(call);
  const timeoutMs = timeoutFrom(settings('timeout') ?? '10');
  return { url, tls: await tlsOf(settings, call), timeoutMs, headers: {} };
}

/** More characters than any file of certificates has. */
const longestFile = 16 * 1024 * 1024;

/** Reads the certificates. A file of --cert can have the key, too. */
async function tlsOf(settings: Settings, { surroundings, output }: Call): Promise<Remote['tls']> {
  const read = async (option: keyof typeof placeOptions): Promise<string | undefined> => {
    const file = settings(option);
    return file === undefined ? undefined : readText(file, surroundings, longestFile);
  };
  const [ca, cert, ownKey] = [await read('cacert'), await read('cert'), await read('key')];
  const key = ownKey ?? cert;
  const tls = Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, text]) => text !== undefined));
  try {
    if (ca !== undefined) new X509Certificate(ca);
    createSecureContext(tls);
  } catch (error) {
    throw wrongUse(
      `--cacert, --cert and --key take files in PEM form, and --key the key of --cert: ${(error as Error).message}.`,
    );
  }
  await warnOfReaders(settings('key') ?? settings('cert'), { output });
  return tls;
}

async function authorizationOf(
  { surroundings, output }: Call,
  url: URL,
  user: string,
  file: string | undefined,
): Promise<string> {
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    output.note(`gateway-admin: the password goes to ${url.host} without encryption`);
  if (file === undefined && !surroundings.stdin.isTTY)
    throw wrongUse('The user needs a password: give --password-file, or use a terminal.');
  const password = await readPassword(file, `Password of ${safeText(user)} at ${url.host}: `, {
    surroundings,
    output,
  });
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

/** Sends requests to the interface. If the console is at the address, they go to the interface of the console. */
function reaching(given: Remote, { output }: Call): Send {
  let [remote, isCertain] = [given, false];
  const attempt = async (request: AdminRequest): Promise<AdminResponse> => {
    const response = await transportTo(remote)(request);
    const url =
      isCertain || !isOfConsole(request, response, remote) ? undefined : await interfaceBehind(remote);
    isCertain = true;
    if (url === undefined) return response;
    output.note(`gateway-admin: the console is at ${remote.url.href}, and the interface at ${url.href}`);
    remote = { ...remote, url };
    return transportTo(remote)(request);
  };
  return async (request) => {
    const isHarmless = isReading(request);
    try {
      const response = await attempt(request);
      assertInterface(request, response, remote.url);
      return { ...response, body: explainedBody(response, remote, isHarmless) };
    } catch (error) {
      throw explained(error, remote, isHarmless);
    }
  };
}

function isEvents(headers: AdminResponse['headers']): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** Whether a response can be what a request asks for. */
function isAsked({ target }: AdminRequest, { status, headers }: AdminResponse): boolean {
  if (target.startsWith('/events')) return isEvents(headers);
  return status === 204 || headers['content-type']?.startsWith('application/json') === true;
}

/** A proxy on the way may answer instead of the interface. */
function assertInterface(request: AdminRequest, response: AdminResponse, url: URL): void {
  const { status, headers } = response;
  if (headers['content-type']?.startsWith('application/problem+json') === true) return;
  if (status >= 200 && status < 300 && isAsked(request, response)) return;
  const what = `Something other than the interface answers at ${url.href}: status ${String(status)}.`;
  // A proxy that gives up, or that says yes, does not know what the interface has done.
  if ((status >= 500 || status < 300) && !isReading(request))
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
  remote: Remote,
  isHarmless: boolean,
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
      throw explained(error, remote, isHarmless, 'The answer is not complete from');
    }
  })();
}

function explained(error: unknown, remote: Remote, isHarmless: boolean, what = 'Nobody answers at'): unknown {
  if (error instanceof CommandError) return error;
  const { cause, wasSent } =
    error instanceof TransportError ? error : { cause: error as Error, wasSent: true };
  const why = whyOf(cause, remote) ?? `${what} ${remote.url.href}: ${causeText(cause)}. ${otherAddress}`;
  if (isHarmless || !wasSent) return new CommandError(why, exitCodes.unreachable);
  return new CommandError(
    `The connection to ${remote.url.href} broke: ${causeText(cause)}. ` +
      'The outcome of the command is unknown: look at the state.',
    exitCodes.unknown,
  );
}

const otherAddress = 'Give the address with --url or GATEWAY_ADMIN_URL.';

/** The failures that say what is at an address, by the code and the message of the error. */
const knownFailures: readonly (readonly [error: RegExp, why: (url: URL) => string, next: string])[] = [
  [
    /^ERR_TLS_CERT_ALTNAME/,
    ({ host }) => `The certificate of ${host} is for other names`,
    'Give the address with a name of the certificate.',
  ],
  [
    /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY))/,
    ({ host }) => `The certificate of ${host} is not trusted`,
    'Give the certificate of its authority with --cacert FILE.',
  ],
  [
    /^ERR_SSL_.*(?:ALERT|HANDSHAKE_FAILURE)/,
    ({ host }) => `${host} refuses the TLS connection`,
    'If the server asks for a certificate, give --cert FILE and --key FILE.',
  ],
  [
    /^(?:EPROTO|ERR_SSL_)/,
    ({ host }) => `What answers at ${host} does not speak TLS`,
    'If the server speaks HTTP without TLS, give the address with http://.',
  ],
  [
    // A body that ends too soon is "aborted".
    /^ECONNRESET (?!aborted)/,
    ({ host }) => `${host} closed the connection without an answer`,
    'If the server speaks TLS, give the address with https://. If it asks for a certificate, give --cert FILE and --key FILE.',
  ],
  [
    /^HPE_/,
    ({ host }) => `What answers at ${host} does not speak HTTP`,
    'If the server speaks TLS, give the address with https://.',
  ],
];

/** Says what is at the address, if the error shows it. */
function whyOf(cause: NodeJS.ErrnoException, { url, timeoutMs }: Remote): string | undefined {
  const code = codeOf(cause);
  if (code === silent)
    return `Nothing came from ${url.href} for ${String(timeoutMs / 1000)} s. Wait longer with --timeout SECONDS, or give another address.`;
  const known = knownFailures.find(([error]) => error.test(`${code} ${cause.message}`));
  if (known === undefined) return undefined;
  const [, why, next] = known;
  return `${why(url)}: ${causeText(cause)}. ${next}`;
}

/** Several addresses of one name fail together. */
function codeOf({ code, ...rest }: NodeJS.ErrnoException): string {
  const { errors } = rest as { readonly errors?: readonly NodeJS.ErrnoException[] };
  return code ?? errors?.[0]?.code ?? '';
}

function causeText(cause: NodeJS.ErrnoException): string {
  return safeText(cause.message.trim() || codeOf(cause));
}

/**
 * Whether the console can have answered in place of the interface. People copy the address of the page from a browser,
 * and the page knows where its interface is.
 */
function isOfConsole(request: AdminRequest, { status, headers }: AdminResponse, { url }: Remote): boolean {
  if (!isReading(request) || url.pathname === '/') return false;
  // An interface at the root of the server has no path below that of the console.
  return status === 404 || isPage(headers);
}

/** Whether an answer is a page: the interface has none. */
function isPage(headers: AdminResponse['headers']): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}

/** More characters than the page has. */
const longestPage = 65_536;

/** The address of the interface, if the console is at an address; `undefined` if something else is. */
async function interfaceBehind(remote: Remote): Promise<URL | undefined> {
  try {
    // The page needs no log-in.
    const send = transportTo({ ...remote, headers: {} });
    const { body = '' } = await send({ method: 'GET', target: '/', headers: {} });
    const [, path] = /<meta name="admin-path" content="([^"]*)">/.exec(await textOf(body)) ?? [];
    if (path === undefined) return undefined;
    const { origin, pathname } = remote.url;
    const url = new URL(unescaped(path), origin + pathname.replace(/\/*$/, '/'));
    // A log-in goes to no other server.
    return url.origin === origin ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The address of the console that a call means: it is at the address itself, below the interface or beside it.
 *
 * @returns `undefined` if there is no console for this interface
 */
export async function consoleOf(call: Call): Promise<URL | undefined> {
  const remote = await remoteOf(call);
  try {
    const { body = '' } = await transportTo(remote)({ method: 'GET', target: '/', headers: {} });
    await textOf(body);
  } catch (error) {
    throw explained(error, remote, true);
  }
  const { origin, pathname } = remote.url;
  const root = pathname.replace(/\/*$/, '/');
  if ((await interfaceBehind(remote)) !== undefined) return new URL(root, origin);
  for (const path of ['console/', '../console/']) {
    const url = new URL(path, origin + root);
    const behind = await interfaceBehind({ ...remote, url });
    if (behind?.pathname.replace(/\/*$/, '/') === root) return url;
  }
  return undefined;
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

async function textOf(body: NonNullable<AdminResponse['body']>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of typeof body === 'string' ? [body] : body) {
    text += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    if (text.length > longestPage) break;
  }
  return text;
}

/** Where the interface is, and how to reach it. */
interface Remote {
  readonly url: URL;
  /** Certificates, for https. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
  /** How long nothing may come, in milliseconds. A command may take longer. */
  readonly timeoutMs: number;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request that got no answer, or only a part of one. */
class TransportError extends Error {
  override readonly name = 'TransportError';
  override readonly cause: NodeJS.ErrnoException;
  /** Whether the server can have got the request. */
  readonly wasSent: boolean;

  constructor(cause: NodeJS.ErrnoException, wasSent: boolean) {
    super(cause.message);
    this.cause = cause;
    this.wasSent = wasSent;
  }
}

/** The code of the error of a server that says nothing. */
const silent = 'SILENT';

/** How long a gateway may take for a command, in milliseconds. */
const commandMs = 300_000;

/** Whether a request changes nothing. */
function isReading({ method, target }: AdminRequest): boolean {
  return method === 'GET' || target.includes('dry_run=');
}

/**
 * Carries requests to a remote. Follows no redirect: log-in and passwords are for this address alone. `fetch` takes no
 * certificates of one's own, and reaches no port that browsers refuse.
 */
function transportTo({ url, tls, timeoutMs, headers }: Remote): Send {
  const begin = url.protocol === 'https:' ? requestHttps : requestHttp;
  const root = url.pathname.replace(/\/$/, '');
  return (asked) =>
    new Promise((resolve, reject) => {
      const given = Object.entries({ ...headers, ...asked.headers }).filter(
        ([, value]) => value !== undefined,
      );
      const request = begin({
        ...urlToHttpOptions(url),
        ...tls,
        method: asked.method,
        path: root + asked.target,
        headers: Object.fromEntries(given) as Record<string, string>,
        timeout: isReading(asked) ? timeoutMs : Math.max(timeoutMs, commandMs),
        ...(asked.signal === undefined ? {} : { signal: asked.signal }),
      });
      const wasSent = watchConnection(request, url);
      const fail = (error: NodeJS.ErrnoException): void => reject(new TransportError(error, wasSent()));
      request.once('response', (response) => {
        request.off('error', fail);
        // What goes wrong from here on reaches the reader of the body.
        request.on('error', () => undefined);
        resolve(received(request, response));
      });
      // A server that changes the protocol sends no answer.
      request.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(received(request, response));
      });
      request.on('error', fail);
      request.on('timeout', () => void request.destroy(silence()));
      // The client sends texts.
      request.end(asked.body as string | undefined);
    });
}

function silence(): Error {
  return Object.assign(new Error('nothing came'), { code: silent });
}

/** Gives a function that says whether the request can have left this machine. */
function watchConnection(request: ClientRequest, { protocol }: URL): () => boolean {
  let isConnected = false;
  request.once('socket', (socket) => {
    // The socket of an earlier request is connected.
    isConnected = !socket.connecting;
    if (isConnected) return;
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
  });
  return () => isConnected;
}

function received(request: ClientRequest, response: IncomingMessage): Awaited<ReturnType<Send>> {
  const { statusCode = 0, headers } = response;
  // The client itself watches the heartbeats of a stream.
  if (headers['content-type']?.startsWith('text/event-stream') === true) request.setTimeout(0);
  request.on('timeout', () => void response.destroy(silence()));
  return {
    status: statusCode,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: bodyOf(response),
  };
}

async function* bodyOf(response: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new TransportError(error as NodeJS.ErrnoException, true);
  }
}
