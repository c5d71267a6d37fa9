/**
 * Each endpoint, asked once through each way to reach the interface: all give the same answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';

import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  routes,
  stopService,
  type Admin,
  type AdminRequest,
  type AdminResponse,
} from 'gateway-admin-core';
import { createClient, sendTo, sendWithFetch, type Client, type Send } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { connect, serve } from 'gateway-admin-core/message-port';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';

import { runWithEndedNode } from '../support/sample-fleet.ts';
import { sampleDocument } from '../support/document.ts';
import { runAdmin, sampleGateway } from '../support/running-admin.ts';
import { additions, endpoints, targetOf, type Endpoint } from './endpoint.ts';
import { runFor } from './problem-code.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/**
 * A fresh interface, the same each time. For the endpoints of commands, it has a command of unknown outcome, for those
 * of a fleet, a node that has ended, and for those of the history, two settled commands.
 */
async function run({ path }: Endpoint): Promise<Admin> {
  const snapshot = createSnapshot(sampleDocument, { epoch: 'sample' });
  if (path.startsWith('/fleet/')) return (await runWithEndedNode()).admin;
  if (path.startsWith('/history')) return (await runFor({ path }, runAdmin({ snapshot }))).admin;
  if (!path.startsWith('/commands')) return runAdmin({ snapshot }).admin;
  const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
  const { admin, clock } = runAdmin({ snapshot, gateway });
  const stop = admin.execute((state, context) => stopService(state, 'My Service', context));
  await clock.advance(admin.limits.effectDeadlineMs);
  await stop;
  return admin;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body; of a stream of events, which has no end, the first piece. */
  readonly text: string;
}

/** The headers of a connection of HTTP, which are not those of the answer. */
const ofConnection = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

async function answerIn({ status, headers, body = '' }: AdminResponse): Promise<Answer> {
  const all = Object.entries(headers).filter(([name]) => !ofConnection.includes(name));
  const decoder = new TextDecoder();
  let text = typeof body === 'string' ? body : '';
  for await (const piece of typeof body === 'string' ? [] : body) {
    text += decoder.decode(piece, { stream: true });
    if (headers['content-type'] === 'text/event-stream') break;
  }
  // The ids of events begin with a random text for each interface.
  return { status, headers: Object.fromEntries(all), text: text.replace(/^id: [\da-f]{12}\./m, 'id: life.') };
}

function requestOf(endpoint: Endpoint): AdminRequest {
  const { method, body } = endpoint;
  const request = { method, target: targetOf(endpoint) };
  if (body === undefined) return { ...request, headers: {} };
  return { ...request, headers: { 'content-type': body.type }, body: JSON.stringify(body.json) };
}

/** The ways to send the request of an endpoint. */
const ways: Readonly<Record<string, (admin: Admin) => Promise<Send> | Send>> = {
  node: async (admin) => {
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    return sendWithFetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  },
  fetch: (admin) => {
    const handler = createFetchHandler(admin);
    return sendWithFetch('http://localhost', { fetch: (...given) => handler(new Request(...given)) });
  },
  'a message port': (admin) => {
    const { port1, port2 } = new MessageChannel();
    serve(admin, port1);
    closing.push(() => {
      port2.close();
      return new Promise((resolve) => port1.once('close', resolve));
    });
    return connect(port2);
  },
};

/** The method of a client for an endpoint. */
function methodOf(client: Client, { method, path }: Endpoint): (...given: unknown[]) => Promise<unknown> {
  const id = routes.find((route) => route.method === method && route.path === path)?.id ?? '';
  const [group = '', name = ''] = id.split('.');
  const groups = client as unknown as Record<string, Record<string, ReturnType<typeof methodOf>>>;
  return groups[group]?.[name] ?? (() => Promise.reject(new Error(`The client has no ${id}`)));
}

/** The options of the client that give the query of an endpoint. */
const queryOf = ({ query = '' }: Endpoint): object => Object.fromEntries(new URLSearchParams(query));

/** Asks with the method of the client, and gives the answer that the client got. */
async function askClient(endpoint: Endpoint): Promise<Answer | undefined> {
  const send = sendTo(await run(endpoint));
  const subjects = endpoint.subject?.split('/').map(decodeURIComponent) ?? [];
  const body = endpoint.body === undefined ? [] : [endpoint.body.json];
  const end = new AbortController();
  let answer: Answer | undefined;
  const client = createClient(async (request) => {
    const response = await send(request);
    answer = await answerIn(response);
    end.abort();
    return { ...response, body: new Blob([answer.text]).stream() };
  });
  if (endpoint.stream === true) await client.events({ signal: end.signal }).next();
  else await methodOf(client, endpoint)(...subjects, ...body, queryOf(endpoint));
  return answer;
}

describe.each([...endpoints, ...additions])('$method $path', (endpoint) => {
  // Promise: transports
  it('has the same answer through every way', async () => {
    const handled = await (await run(endpoint)).handle(requestOf(endpoint));
    const answer = handled.matched ? await answerIn(handled.response) : undefined;
    expect(answer).toMatchObject({ status: endpoint.answer.status });
    for (const [name, open] of Object.entries(ways)) {
      const send = await open(await run(endpoint));
      expect([name, await answerIn(await send(requestOf(endpoint)))]).toEqual([name, answer]);
    }
    expect(['the client', await askClient(endpoint)]).toEqual(['the client', answer]);
  });
});
