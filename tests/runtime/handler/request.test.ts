import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, type Admin, type AdminRequest } from 'gateway-admin-core';

import { runAdmin, type Running } from '../../support/running-admin.ts';

const broken = new Error('This member cannot be read');
const origin = 'http://page.example';
const authorization = `Basic ${btoa('ada:wrong')}`;
const patch = JSON.stringify([{ op: 'add', path: '/max_connection', value: 7 }]);
const json = { 'content-type': 'application/json', origin };

/** Requests that go different ways. */
const requests: Readonly<Record<string, AdminRequest>> = {
  'a read': { method: 'GET', target: '/services/My-Service', headers: { origin } },
  'a search': { method: 'GET', target: '/sessions?user=ada', headers: { origin } },
  'a command': { method: 'PATCH', target: '/services/My-Service', headers: json, body: patch },
  'a command with wrong credentials': {
    ...{ method: 'PUT', target: '/service/My-Service/stop' },
    headers: { authorization },
  },
  'a read with wrong credentials': { method: 'GET', target: '/services', headers: { authorization } },
  'an unknown method': { method: 'BREW', target: '/services', headers: { origin } },
  'a preflight': {
    ...{ method: 'OPTIONS', target: '/services/My-Service' },
    headers: { origin, 'Access-Control-Request-Method': 'PATCH' },
  },
  'an unknown path': { method: 'GET', target: '/pots', headers: {} },
};

const { signal } = new AbortController();
const principal = { name: 'ada' };
const members = ['method', 'target', 'headers', 'body', 'principal', 'peer', 'signal'] as const;
const callers: readonly ((admin: Admin, request: AdminRequest) => Promise<unknown>)[] = [
  (admin, request) => admin.handle(request),
  (admin, request) => admin.guard(request, 'administrator'),
];

function runFor({ headers }: AdminRequest): Running {
  const needsLogIn = headers['authorization'] !== undefined;
  const authenticate = createBasicAuthentication();
  return runAdmin({
    access: { allowedOrigins: [origin], ...(needsLogIn && { authenticate }) },
    observe: { onMeasurement: () => undefined },
  });
}

/** An object that looks like the given one, and tells each read. Its members are its own, or those of its class. */
function watched<T extends object>(given: T, isOwn: boolean, onRead: (member: string) => void): T {
  const accessors = Object.entries(given).map(([member, value]) => {
    const get = (): unknown => {
      onRead(member);
      return value;
    };
    return [member, { get, enumerable: true }] as const;
  });
  const holder = Object.defineProperties({}, Object.fromEntries(accessors));
  return (isOwn ? holder : Object.create(holder)) as T;
}

const ways = Object.entries(requests).flatMap(([what, request]) =>
  [true, false].map(
    (isOwn) => [`${what}, ${isOwn ? 'its own members' : 'a class'}`, request, isOwn] as const,
  ),
);

describe('a request', () => {
  it.each(ways)('is read once, so that it cannot change on its way: %s', async (_what, request, isOwn) => {
    for (const call of callers)
      for (const more of [{ signal }, { signal, peer: 'a', principal }]) {
        const { admin } = runFor(request);
        const reads: string[] = [];
        const headers = watched(request.headers, true, (name) => reads.push(`header ${name}`));
        await call(
          admin,
          watched({ ...request, headers, ...more }, isOwn, (member) => reads.push(member)),
        );
        expect(reads).toHaveLength(new Set(reads).size);
      }
  });

  // Promise: hostile-request
  it.each(ways)('with a member that throws is answered: %s', async (_what, request, isOwn) => {
    for (const call of callers)
      for (const member of [...members, 'a header'])
        for (const last of [0, 1, 2]) {
          const { admin, errors } = runFor(request);
          let left = last;
          const fail = (read: string): void => {
            if (read === member && (left -= 1) < 0) throw broken;
          };
          const headers = watched({ ...request.headers, 'a header': 'x' }, true, fail);
          const more = member === 'principal' || member === 'peer' ? { principal, peer: 'a' } : {};
          const answer = await call(admin, watched({ ...request, headers, signal, ...more }, isOwn, fail));
          expect(answer).toEqual(expect.any(Object));
          expect(errors.filter((error) => error !== broken)).toEqual([]);
          if (last === 0 && member === 'target') expect(errors).toEqual([broken]);
          expect(admin.commands()).toEqual([]);
        }
  });
});
