import { runInNewContext } from 'node:vm';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createSnapshot, HostError, type Hasher } from 'gateway-admin-core';

import { sampleDocument } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { appliedTo, runAdmin, type Running } from '../../support/running-admin.ts';

const broken = new TypeError('no such table');
const users = [{ name: 'ada', passwordHash: '' }];
const right = { authorization: credentials('ada', 'engine') };
const json = { 'content-type': 'application/json' };
const patchType = { 'content-type': 'application/json-patch+json' };

/** What a function of a host without types can do in place of an answer. */
const failures: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw broken;
    },
  ],
  ['rejects', () => Promise.reject(broken)],
  ['resolves', () => Promise.resolve(true)],
  [
    'gives a promise of another realm',
    () => runInNewContext('Promise.reject(new Error("elsewhere"))') as unknown,
  ],
  ['gives null', () => null],
  ['gives a number', () => 1],
  ['gives an object', () => ({})],
];

/** Texts are an answer of the password policy alone. */
const wrong = [
  ...failures,
  ['gives a text', () => 'true'] as const,
  ['gives nothing', () => undefined] as const,
];

beforeAll(async () => {
  users.splice(0, 1, { name: 'ada', passwordHash: await quickHasher.hash('engine') });
});

/** Status and code of the answer to a request. */
async function answerTo(
  { admin }: Running,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<string> {
  const request = { method, target, headers, ...(body === undefined ? {} : { body }) };
  const handled = await admin.handle(request);
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  const { status, body: text } = handled.response;
  const { code = '' } = status < 400 ? {} : (JSON.parse(text as string) as { code?: string });
  return `${String(status)} ${code}`.trim();
}

/** Checks that the host was told once, with the name of its function. */
function expectTold({ errors }: Running, call: string): void {
  expect(errors).toEqual([expect.any(HostError)]);
  expect(errors).toMatchObject([{ call }]);
  expect(String(errors[0])).toMatch(new RegExp(`^HostError: ${call} (?:failed: |answered .* instead of )`));
}

function run(options: object): Running {
  return runAdmin({
    snapshot: createSnapshot({ ...sampleDocument, users }),
    hasher: quickHasher,
    ...options,
  });
}

describe('a password policy', () => {
  const policies = [
    ...failures,
    ['gives an empty text', () => ''] as const,
    ['gives true', () => true] as const,
    ['gives false', () => false] as const,
  ];

  // Promise: policy-fails
  it.each(policies)(
    'that %s fails the request, changes nothing, and is told',
    async (_what, passwordPolicy) => {
      for (const [method, target, headers, body] of [
        ['PUT', '/users', json, '{"name":"joe","password":"correct horse"}'],
        ['PATCH', '/users/ada', patchType, '[{"op":"add","path":"/password","value":"correct horse"}]'],
      ] as const) {
        const running = run({ access: { passwordPolicy } });
        const { snapshot } = running.admin;
        expect(await answerTo(running, method, target, headers, body)).toBe('500 internal');
        expectTold(running, 'passwordPolicy');
        expect(String(running.errors[0])).not.toContain('correct horse');
        expect(running.admin.snapshot).toBe(snapshot);
      }
    },
  );

  it.each(policies)('that %s rejects createFirstUser', async (_what, passwordPolicy) => {
    const running = run({ access: { passwordPolicy }, snapshot: createSnapshot({}) });
    const creation = running.admin.createFirstUser({ name: 'ada', password: 'correct horse' });
    await expect(creation).rejects.toMatchObject({ name: 'HostError', call: 'passwordPolicy' });
    expect(running.admin.snapshot.users.size).toBe(0);
  });
});

describe('isOpen of an authentication', () => {
  /** The Basic authentication, with an `isOpen` of the host. */
  const withIsOpen = (isOpen: () => unknown): Running =>
    run({ access: { authenticate: Object.assign(createBasicAuthentication().bind(undefined), { isOpen }) } });

  // Promise: is-open-fails
  it.each(wrong)('that %s opens nothing, and is told once', async (_what, isOpen) => {
    const running = withIsOpen(isOpen);
    expect(await answerTo(running, 'GET', '/services')).toBe('401 unauthenticated');
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('401 unauthenticated');
    expect(await answerTo(running, 'GET', '/services', right)).toBe('200');
    expectTold(running, 'authenticate.isOpen');
    expect(appliedTo(running.gateway)).toEqual([]);
  });
});

describe('needsRehash of a hasher', () => {
  // Promise: needs-rehash-fails
  it.each(wrong)('that %s renews no hash, is told, and the log-in goes on', async (_what, needsRehash) => {
    const running = run({
      hasher: { ...quickHasher, needsRehash: needsRehash as () => boolean },
      access: { authenticate: createBasicAuthentication() },
    });
    const { snapshot } = running.admin;
    expect(await answerTo(running, 'GET', '/services', right)).toBe('200');
    await running.clock.settle();
    expectTold(running, 'hasher.needsRehash');
    expect(running.admin.snapshot).toBe(snapshot);
  });
});

describe('knows of a hasher', () => {
  // Promise: knows-fails
  it.each(wrong)('that %s does not start the interface', (_what, knows) => {
    const hasher: Hasher = { ...quickHasher, knows: knows as () => boolean };
    const start = (): unknown => run({ hasher, access: { authenticate: createBasicAuthentication() } });
    expect(start).toThrow(HostError);
    expect(start).toThrow(/^hasher\.knows (?:failed: |answered .* instead of true or false)/);
    expect(() => run({ hasher })).not.toThrow();
  });
});

describe('authorize', () => {
  it('that throws is told, and refuses the request with 500', async () => {
    const running = run({
      access: {
        authorize: () => {
          throw broken;
        },
      },
    });
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('500 internal');
    expectTold(running, 'authorize');
    expect(running.errors).toMatchObject([{ cause: broken }]);
    expect(appliedTo(running.gateway)).toEqual([]);
  });

  // Promise: authorize-promise
  it.each([
    ['resolves to true', () => Promise.resolve(true)],
    ['rejects', () => Promise.reject(broken)],
    ['is of another realm', () => runInNewContext('Promise.reject(new Error("elsewhere"))') as unknown],
    ['is a thenable', () => ({ then: (_done: unknown, fail: (error: Error) => void) => fail(broken) })],
  ])('that gives a promise allows nobody, and is told: the promise %s', async (_what, authorize) => {
    const running = run({ access: { authorize } });
    expect(await answerTo(running, 'PUT', '/service/My-Service/stop')).toBe('403 forbidden');
    expectTold(running, 'authorize');
    expect(appliedTo(running.gateway)).toEqual([]);
  });

  it.each([false, undefined, null, 1, 'yes'])(
    'that gives %p allows nobody, and is no fault',
    async (answer) => {
      const running = run({ access: { authorize: () => answer } });
      expect(await answerTo(running, 'GET', '/services')).toBe('403 forbidden');
      expect(running.errors).toEqual([]);
    },
  );
});
