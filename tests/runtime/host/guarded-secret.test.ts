import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createSnapshot, HostError } from 'gateway-admin-core';

import { answerOf } from '../../support/limit.ts';
import { credentials } from '../../support/log-in.ts';
import { runAdmin } from '../../support/running-admin.ts';

const users = [{ name: 'ada', passwordHash: 'hash' }];
const sealer = { durable: true, seal: () => Promise.resolve('sealed'), open: () => Promise.resolve('') };

describe('a hasher whose verify answers', () => {
  // Promise: verify-true
  it.each([{ valid: false }, { valid: true }, 'false', 'true', [], 1, 0, '', null, undefined])(
    '%p lets nobody in, and the host is told',
    async (answer) => {
      const verify = (): Promise<never> => Promise.resolve(answer as never);
      const { admin, errors } = runAdmin({
        snapshot: createSnapshot({ users }),
        hasher: { hash: () => Promise.resolve('hash'), verify },
        access: { authenticate: createBasicAuthentication() },
      });
      const headers = { authorization: credentials('ada', 'engine') };
      const request = { method: 'GET', target: '/users', headers };
      expect(await answerOf(admin, request)).toBe('500 internal');
      expect(await answerOf(admin, request)).toBe('500 internal');
      expect(errors).toEqual([expect.any(HostError), expect.any(HostError)]);
      expect(errors).toMatchObject([{ call: 'hasher.verify' }, { call: 'hasher.verify' }]);
      expect(String(errors[0])).toMatch(/^HostError: hasher.verify answered .* instead of true or false\./);
    },
  );
});

describe('a port that gives no usable text in place of a', () => {
  const json = { 'content-type': 'application/json' };
  const replace = JSON.stringify([{ op: 'add', path: '/password', value: 'correct horse' }]);
  const requests = [
    ['hash', 'hasher.hash', 'PUT', '/users', '{"name":"joan","password":"correct horse"}'],
    ['hash of a new password', 'hasher.hash', 'PATCH', '/users/ada', replace],
    ['sealed text', 'sealer.seal', 'PATCH', '/services/Sales', replace],
  ] as const;
  const answers = [undefined, null, 5, {}, ['text'], '', 'two\nlines', '\ud800', 'x'.repeat(8193)];

  // Promise: port-text
  it.each(requests.flatMap((request) => answers.map((answer) => [...request, answer] as const)))(
    '%s (%s, %s %s) fails the request, and the host is told: %s, %p',
    async (_what, call, method, target, body, answer) => {
      const wrong = (): Promise<never> => Promise.resolve(answer as never);
      const { admin, errors } = runAdmin({
        snapshot: createSnapshot({ users, services: [{ name: 'Sales', router: 'readconnroute' }] }),
        hasher: { hash: wrong, verify: () => Promise.resolve(false) },
        sealer: { ...sealer, seal: wrong },
      });
      expect(await answerOf(admin, { method, target, headers: json, body })).toBe('500 internal');
      expect(errors).toMatchObject([{ name: 'HostError', call }]);
      expect(String(errors[0])).toMatch(
        / instead of a line of 1 to (?:4,096|8,192) characters\. The request was refused\.$/,
      );
      expect(String(errors[0])).not.toContain('correct horse');
      expect(admin.snapshot.revision).toBe(0);
    },
  );

  it('rejects createFirstUser', async () => {
    const { admin } = runAdmin({
      snapshot: createSnapshot({}),
      hasher: { hash: () => Promise.resolve(undefined as never), verify: () => Promise.resolve(false) },
    });
    const creation = admin.createFirstUser({ name: 'ada', password: 'correct horse' });
    await expect(creation).rejects.toThrow(
      'hasher.hash answered undefined instead of a line of 1 to 4,096 characters',
    );
  });
});
