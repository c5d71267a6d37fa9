import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { bodies } from '../support/arbitrary-body.ts';
import { problemBreaches } from '../support/problem-details.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports, type Sent } from '../support/transport.ts';

/** How many documents in all; `npm run test:fuzz` asks for many more. */
const runs = Number(process.env['FUZZ_RUNS'] ?? 5000);

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
