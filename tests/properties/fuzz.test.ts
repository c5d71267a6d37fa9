import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type AdminRequest, type GatewayDocument } from 'gateway-admin-core';

import { bodies } from '../support/arbitrary-body.ts';
import { requests } from '../support/arbitrary-request.ts';
import { problemBreaches } from '../support/problem-details.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports, type Sent } from '../support/transport.ts';

/** How many documents in all; `npm run test:fuzz` asks for many more. */
const runs = Number(process.env['FUZZ_RUNS'] ?? 1000);

const patchType = 'application/json-patch+json';
const writers = [
  { method: 'PATCH', target: '/services/My-Service', type: patchType },
  { method: 'PATCH', target: '/servers/db-serv-1', type: patchType },
  { method: 'PATCH', target: '/monitor/Main-Monitor', type: patchType },
  { method: 'PATCH', target: '/filter/Hint', type: patchType },
  { method: 'PUT', target: '/users', type: 'application/json' },
] as const;

const builtIns = [Object.prototype, Array.prototype, Function.prototype];
const untouched = builtIns.map((prototype) => Reflect.ownKeys(prototype));

afterEach(() => {
  expect(builtIns.map((prototype) => Reflect.ownKeys(prototype))).toEqual(untouched);
});

describe('any body', () => {
  // Promise: answer-size
  it.each(writers)(
    'sent with $method to $target is done or refused, and never answered by a hundred times as much',
    async ({ method, target, type }) => {
      const head = Buffer.byteLength(`${method} ${target} content-type: ${type}`);
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const { admin, gateway, errors } = runAdmin();
          const { snapshot } = admin;
          const { send } = await transports.core(admin);
          // Bytes go the same way as text.
          const answer = await send(method, target, {
            headers: { 'content-type': type },
            body,
          } as unknown as Sent);
          expect(errors).toEqual([]);
          expect(answer.status).toBeLessThan(500);
          expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(100 * (head + body.length));
          if (answer.status < 300) return;
          expect(problemBreaches(answer)).toEqual([]);
          expect(admin.snapshot).toBe(snapshot);
          expect(gateway.calls).toEqual([]);
        }),
        { numRuns: Math.ceil(runs / writers.length) },
      );
    },
    20_000 + 10 * runs,
  );
});

/** A gateway with one thing of each kind: a list of it is short. */
const small: GatewayDocument = {
  servers: [{ name: 'db', address: '::1', port: 1, protocol: 'p' }],
  services: [{ name: 'S', router: 'r', servers: ['/servers/db'] }],
  monitors: [{ name: 'M', module: 'm', servers: ['/servers/db'], monitor_interval: 1000 }],
  filters: [{ name: 'F', module: 'f', parameters: { a: { value: 'b', configurable: true } } }],
};

/** The bytes of a request as HTTP/1.1 would send it, without its body. */
function sizeOf({ method, target, headers }: AdminRequest): number {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return Buffer.byteLength(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** Ends a stream of events, as a transport does when the client leaves. */
async function endStream(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of body) {
    expect(piece.length).toBeGreaterThan(0);
    return;
  }
}

/** The heap in MB after garbage collection; `undefined` if a test cannot collect garbage. */
function heap(): number | undefined {
  (globalThis as { gc?: () => void }).gc?.();
  return 'gc' in globalThis ? process.memoryUsage().heapUsed / 1_048_576 : undefined;
}

describe('any request', () => {
  const each = 500;

  it(
    'is answered without an internal error, and never by a hundred times as much',
    async () => {
      const heaps: number[] = [];
      let running = runAdmin({ snapshot: createSnapshot(small) });
      let count = 0;
      await fc.assert(
        fc.asyncProperty(requests, async (request) => {
          const handled = await running.admin.handle(request);
          expect(running.errors).toEqual([]);
          count += 1;
          // Created users and changed settings make later answers longer.
          if (count % each === 0) running = runAdmin({ snapshot: createSnapshot(small) });
          if (count % (40 * each) === 0) heaps.push(heap() ?? 0);
          if (!handled.matched) return;
          const { status, body = '' } = handled.response;
          expect([status >= 200, status < 500 || status === 501]).toEqual([true, true]);
          if (typeof body !== 'string') return endStream(body);
          // A changed resource shows what the body has set.
          if (status < 300 && request.body !== undefined) return;
          expect(Buffer.byteLength(body)).toBeLessThanOrEqual(100 * sizeOf(request));
        }),
        { numRuns: runs },
      );
      // The first sample is before the code is compiled and the caches are full.
      const [, first = 0, ...later] = heaps;
      for (const sample of later) expect(sample).toBeLessThan(first + 10);
    },
    20_000 + 10 * runs,
  );
});
