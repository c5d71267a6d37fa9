/**
 * The connection: from the options and the environment to a client, and from what goes wrong on the way to exit codes.
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
import type { AdminResponse, Plan, Problem } from '../index.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { safeText } from './output.ts';
import { readPassword } from './password-input.ts';

const defaultUrl = 'http://127.0.0.1:8989';

/** Connects to the interface that the options name. Nothing is sent yet. */
export async function connect(call: Call): Promise<Client> {
  const url = urlOf(call);
  const user = call.valueOf('user') ?? call.surroundings.env['GATEWAY_ADMIN_USER'];
  const headers = user === undefined ? {} : { authorization: await authorizationOf(call, url, user) };
  return createClient(explaining(sendWithFetch(url.href, { headers }), url));
}

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
  return url;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
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
    const explain = (error: unknown): unknown => explained(error, url, isReading);
    try {
      const response = await send(request);
      assertInterface(response, url, isReading);
      return { ...response, body: explainedBody(response.body, explain) };
    } catch (error) {
      throw explain(error);
    }
  };
}

/** A proxy on the way may answer instead of the interface. */
function assertInterface({ status, headers }: AdminResponse, url: URL, isReading: boolean): void {
  if (status < 300 || headers['content-type']?.startsWith('application/problem+json') === true) return;
  const what = `Something other than the interface answers at ${url.href}: status ${String(status)}.`;
  // A proxy that gives up does not know what the interface has done.
  if (status >= 500 && !isReading)
    throw new CommandError(
      `${what} The outcome of the command is unknown: look at the state.`,
      exitCodes.unknown,
    );
  throw new CommandError(`${what} Give the address with --url or GATEWAY_ADMIN_URL.`, exitCodes.unreachable);
}

function explainedBody(
  body: AdminResponse['body'],
  explain: (error: unknown) => unknown,
): NonNullable<AdminResponse['body']> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  return (async function* () {
    try {
      yield* body;
    } catch (error) {
      throw explain(error);
    }
  })();
}

/** The failures of a connection that was never there: nothing was sent. */
const notSent =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

function explained(error: unknown, url: URL, isReading: boolean): unknown {
  // The client refuses names that no URL can have.
  const { name, message } = error as Error;
  if (name === 'RangeError') return new CommandError(`${safeText(message)}.`, exitCodes.wrongUse);
  const cause = (error as { readonly cause?: NodeJS.ErrnoException }).cause;
  if (name !== 'TypeError' || cause === undefined) return error;
  const [code, text] = [codeOf(cause), causeText(cause)];
  if (isReading || notSent.test(code))
    return new CommandError(
      `Nobody answers at ${url.href}: ${text}. Give the address with --url or GATEWAY_ADMIN_URL.`,
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
  return safeText(cause.message === '' ? codeOf(cause) : cause.message);
}

/** The value of an answer; a refusal ends the command. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw refusal(answer.problem, answer.retryAfterMs);
}

/** The end of a command that was refused. */
export function refusal(problem: Problem, retryAfterMs?: number): CommandError {
  const { code, status, title, detail, errors = [] } = problem;
  const faults = errors.length < 2 ? [] : errors.map((fault) => `\n  ${fault.pointer}: ${fault.detail}`);
  const what = faults.length === 0 ? detail : title;
  const text = [`${what} (${code})`, ...nextStep(problem, retryAfterMs), ...faults].join('');
  if (code === 'outcome-unknown') return new CommandError(safeLines(text), exitCodes.unknown, problem);
  const isNotAllowed = status === 401 || status === 403;
  return new CommandError(safeLines(text), isNotAllowed ? exitCodes.notAllowed : exitCodes.refused, problem);
}

function nextStep({ code }: Problem, retryAfterMs: number | undefined): readonly string[] {
  if (code === 'unauthenticated') return [' Try: --user NAME'];
  if (code === 'outcome-unknown') return [' Try: gateway-admin commands'];
  if (retryAfterMs === undefined) return [];
  return [` Try again in ${String(Math.ceil(retryAfterMs / 1000))} s.`];
}

function safeLines(text: string): string {
  return text.split('\n').map(safeText).join('\n');
}
