/**
 * The transports: one way to send a request, whatever carries it.
 */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import type { Admin, AdminResponse } from 'gateway-admin-core';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler, type NodeOptions } from 'gateway-admin-core/node';

/** What came back. */
export interface Answer {
  readonly status: number;
  /** With their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The text as JSON; `undefined` for an answer that is no JSON. */
  readonly body: unknown;
}

/** What is sent besides method and target. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A way to send requests. */
export interface Transport {
  send(this: void, method: string, target: string, sent?: Sent): Promise<Answer>;
  close(this: void): Promise<void>;
}

/** How a transport is opened in front of an administration interface; the options are those of the adapters. */
export type OpenTransport<A = Admin> = (
  admin: A,
  options?: Pick<NodeOptions, 'basePath'>,
) => Promise<Transport>;

/** The transports by name: the core's own request handler, and each adapter in front of it. */
export const transports = {
  core: openCore,
  fetch: openFetch,
  node: openNode,
  port: openPort,
} satisfies Readonly<Record<string, OpenTransport>>;

/** Their names. */
export const transportNames = ['core', 'fetch', 'node', 'port'] as const;

/**
 * The rows of a table that go through a transport: all through the core, the first of each kind through an adapter.
 * An adapter only translates: what it may get wrong is a method, a target, a header, a form or size of body, a status.
 */
export function rowsThrough<Row>(
  name: (typeof transportNames)[number],
  rows: readonly Row[],
  kindOf: (row: Row) => unknown,
): readonly Row[] {
  if (name === 'core') return rows;
  return [...new Map(rows.toReversed().map((row) => [kindOf(row), row])).values()].toReversed();
}

function answerOf(status: number, headers: Answer['headers'], text: string): Answer {
  const isJson = text !== '' && headers['content-type']?.endsWith('json') === true;
  return { status, headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
}

function isStream(headers: Answer['headers']): boolean {
  return headers['content-type'] === 'text/event-stream';
}

/** An interface or a console. */
type Handler = Pick<Admin, 'handle'>;

/** What is not matched is told apart from what an adapter makes of it by the status 0. */
function openCore(admin: Handler): Promise<Transport> {
  return Promise.resolve({
    async send(method, target, { headers = {}, ...body } = {}) {
      const handled = await admin.handle({ method, target, headers, ...body });
      if (!handled.matched) return answerOf(0, {}, '');
      return answerIn(handled.response);
    },
    close: () => Promise.resolve(),
  });
}

async function answerIn({ status, headers, body = '' }: AdminResponse): Promise<Answer> {
  const pieces = typeof body === 'object' ? body : [Buffer.from(body)];
  return answerOf(status, headers, await textOf(pieces, headers));
}

/** The text of an answer; of a stream of events, which does not end, the first piece. */
async function textOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  headers: Answer['headers'],
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) {
    chunks.push(piece);
    if (isStream(headers)) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function openFetch(...mount: Parameters<OpenTransport<Handler>>): Promise<Transport> {
  const fetch = createFetchHandler(...mount);
  return Promise.resolve({
    async send(method, target, sent = {}) {
      const response = await fetch(new Request(`http://localhost${target}`, { method, ...sent }));
      const headers = Object.fromEntries(response.headers);
      return answerOf(response.status, headers, await textOf(response.body ?? [], headers));
    },
    close: () => Promise.resolve(),
  });
}

function openPort(admin: Admin): Promise<Transport> {
  const { port1, port2 } = new MessageChannel();
  serve(admin, port1);
  const sendThrough = connect(port2);
  return Promise.resolve({
    send: async (method, target, { headers = {}, ...body } = {}) =>
      answerIn(await sendThrough({ method, target, headers, ...body })),
    close: () => {
      port2.close();
      return Promise.resolve();
    },
  });
}

async function openNode(...mount: Parameters<OpenTransport<Handler>>): Promise<Transport> {
  const server = createServer(createNodeHandler(...mount));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    send: (method, target, sent = {}) => sendHttp(port, method, target, sent),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendHttp(port: number, method: string, path: string, { headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Node's client frames no body by itself where the method does not ask for one.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const all = { ...length, ...headers };
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: all, agent: false });
    request.once('error', reject);
    request.once('response', (response) => {
      readHttp(response).then(resolve, reject);
    });
    request.end(body);
  });
}

async function readHttp(response: IncomingMessage): Promise<Answer> {
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const),
  );
  const text = await textOf(response as AsyncIterable<Buffer>, headers);
  return answerOf(response.statusCode ?? 0, headers, text);
}
