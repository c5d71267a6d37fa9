/**
 * The connection: from the options and the environment to a client, and what goes wrong on the way.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';

import { createClient, type Answer, type Client, type EndpointId, type Send } from '../client/index.ts';
import type { AdminRequest, AdminResponse, Plan } from '../index.ts';
import { CommandError, exitCodes, placeOptions, wrongUse, type Call } from './command.ts';
import { interfaceBehind, isOfConsole } from './console.ts';
import { contextIn } from './context-file.ts';
import { readPassword, readText, warnOfReaders } from './input.ts';
import { safeText } from './output.ts';
import { isReading, silent, TransportError, transportTo, type Remote } from './transport.ts';

const defaultUrl = 'http://127.0.0.1:8989';

/** Connects to the interface that the options, the context or the environment names. Nothing is sent yet. */
export async function connect(call: Call): Promise<Client> {
  const settings = settingsOf(call);
  const url = urlFrom(settings('url') ?? defaultUrl);
  const user = userFrom(settings('user'));
  const timeoutMs = timeoutFrom(settings('timeout') ?? '10');
  const tls = await tlsOf(settings, call);
  const headers =
    user === undefined
      ? {}
      : { authorization: await authorizationOf(call, url, user, settings('password-file')) };
  return createClient(reaching({ url, tls, timeoutMs, headers }, call));
}

/** The address of the interface, as people know it. */
export function addressOf(call: Call): string {
  return urlFrom(settingsOf(call)('url') ?? defaultUrl).host;
}

/** How long a command that waits for the gateway takes silence, in milliseconds. */
export function patienceMsOf(call: Call): number {
  return timeoutFrom(settingsOf(call)('timeout') ?? '300');
}

/** Gives the value of an option of a connection. */
type Settings = (name: keyof typeof placeOptions) => string | undefined;

const variables: Readonly<Record<string, string>> = {
  url: 'GATEWAY_ADMIN_URL',
  user: 'GATEWAY_ADMIN_USER',
  'password-file': 'GATEWAY_ADMIN_PASSWORD_FILE',
};

/** An option counts most. Then the context counts, or the environment if there is no context. */
function settingsOf(call: Call): Settings {
  const { valueOf, surroundings } = call;
  const context = contextIn(call)?.context;
  return (name) => {
    const given = valueOf(name);
    if (given !== undefined) return given;
    // The password of the context is that of its own user.
    if (name === 'password-file' && context !== undefined && valueOf('user') !== undefined) return undefined;
    return context === undefined ? surroundings.env[variables[name] ?? ''] : context[name];
  };
}

/** The address in a text. */
export function urlFrom(text: string): URL {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrongUse('The address must be a URL such as http://127.0.0.1:8989.');
  if (url.username !== '' || url.password !== '')
    throw wrongUse(
      'The address must not contain a user or a password: other users of this machine can read arguments. ' +
        'Use --user and --password-file.',
    );
  if (url.search !== '') throw wrongUse('The address must end with a path: no "?".');
  // The address of the console has the place of the page there.
  url.hash = '';
  return url;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The user to log in; `undefined` without a log-in. */
export function userFrom(user: string | undefined): string | undefined {
  // Basic authentication ends the name at the first colon (RFC 7617, 2): the rest would count as the password.
  if (user?.includes(':') === true) throw wrongUse('The name of a user to log in has no colon.');
  return user === '' ? undefined : user;
}

/** A day: nobody waits longer. */
const longestSeconds = 86_400;

/** The milliseconds of a number of seconds in a text. */
export function timeoutFrom(text: string): number {
  const seconds = text.trim() === '' ? NaN : Number(text);
  if (seconds > 0 && seconds <= longestSeconds) return Math.ceil(seconds * 1000);
  const taken = Number.isNaN(seconds)
    ? 'a number of seconds, such as 30'
    : `more than 0 and at most ${String(longestSeconds)} seconds`;
  throw wrongUse(`--timeout takes ${taken}, and not ${safeText(text)}.`);
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
