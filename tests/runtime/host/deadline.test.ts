import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  HostError,
  type AdminOptions,
  type AdminRequest,
} from 'gateway-admin-core';

import type { HostCall } from '../../../src/runtime/host/host-error.ts';
import { quickHasher } from '../../support/log-in.ts';
import { runAdmin } from '../../support/running-admin.ts';

const json = { 'content-type': 'application/json' };
const basic = { authorization: `Basic ${btoa('ada:engine')}` };
const stop = { method: 'PUT', target: '/service/My-Service/stop' };

/** The number of calls that are never answered. */
let asked = 0;
const never = (): Promise<never> => {
  asked += 1;
  return new Promise(() => undefined);
};

/** A call of the host that never ends, by the function that is called. */
const silences: readonly (readonly [
  call: HostCall,
  options: Pick<AdminOptions, 'access' | 'hasher' | 'sealer'>,
  request: Partial<AdminRequest>,
  sentence: string,
])[] = [
  [
    'sealer.seal',
    { sealer: { durable: true, seal: never, open: never } },
    {
      method: 'PATCH',
      target: '/services/My-Service',
      headers: json,
      body: '[{"op":"add","path":"/password","value":"x"},{"op":"add","path":"/password","value":"y"}]',
    },
    'The secret was not sealed in time.',
  ],
  [
    'hasher.hash',
    { hasher: { ...quickHasher, hash: never } },
    { target: '/users', headers: json, body: '{"name":"eve","password":"plum pie"}' },
    'The password was not hashed in time.',
  ],
  [
    'hasher.verify',
    {
      hasher: { hash: () => Promise.resolve('a hash'), verify: never },
      access: { authenticate: createBasicAuthentication() },
    },
    { headers: basic },
    'The password was not checked in time.',
  ],
  ['authenticate', { access: { authenticate: never } }, {}, 'The log-in was not checked in time.'],
  ['principal', {}, { principal: never }, 'The log-in was not checked in time.'],
];

describe('a host that never answers a call of', () => {
  // Promise: host-deadline
  it.each(silences)(
    '%s: the request is 503 at the deadline, and the host is told',
    async (call, options, request, sentence) => {
      const { admin, clock, errors } = runAdmin(options);
      const answers: unknown[] = [];
      asked = 0;
      const handling = admin
        .handle({ ...stop, headers: {}, ...request })
        .then((handled) => answers.push(handled));
      // The log-in of a user is looked up with WebCrypto, which takes its time.
      while (asked === 0) await clock.settle();
      await clock.advance(admin.limits.hashDeadlineMs - 1);
      expect([answers, errors]).toEqual([[], []]);
      await clock.advance(1);
      await handling;
      expect(answers).toMatchObject([{ response: { status: 503, headers: { 'retry-after': '1' } } }]);
      const [{ response }] = answers as [{ response: { body: string } }];
      const { code, detail } = JSON.parse(response.body) as { code: string; detail: string };
      expect([code, detail]).toEqual(['overloaded', expect.stringContaining(sentence)]);
      expect(errors).toEqual([expect.any(HostError)]);
      expect(errors).toMatchObject([{ call }]);
      expect(String(errors[0])).toContain(`${call} did not answer within 10000 ms`);
      expect(admin.snapshot.revision).toBe(0);
    },
  );
});

describe('the deadline of authenticate', () => {
  it('does not count the time in which a password waits to be hashed', async () => {
    const jobs: (() => void)[] = [];
    const hasher = {
      hash: () => Promise.resolve('a hash'),
      verify: () => new Promise<boolean>((resolve) => jobs.push(() => resolve(true))),
    };
    const { admin, clock, errors } = runAdmin({
      hasher,
      limits: { maxHashesInFlight: 1 },
      access: {
        authenticate: async (_request, _snapshot, verify) => {
          await clock.sleep(6000);
          return verify('ada', 'engine');
        },
      },
    });
    const answers: number[] = [];
    for (let each = 0; each < 3; each += 1)
      void admin
        .handle({ ...stop, headers: {}, peer: `10.0.0.${String(each)}` })
        .then((handled) => handled.matched && answers.push(handled.response.status));
    await clock.advance(6000);
    for (let each = 1; each <= 3; each += 1) {
      while (jobs.length < each) await clock.settle();
      await clock.advance(8000);
      jobs[each - 1]?.();
      while (answers.length < each) await clock.settle();
    }
    expect(answers).toEqual([204, 204, 204]);
    expect(errors).toEqual([]);
  });
});
