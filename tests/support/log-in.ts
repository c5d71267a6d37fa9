/**
 * Log-ins without a running interface: Basic authentication over a hasher.
 */
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  defaultLimits,
  HostError,
  systemClock,
  type AdminRequest,
  type Authenticate,
  type Clock,
  type Hasher,
  type Limits,
  type Snapshot,
} from 'gateway-admin-core';

import { guardClock } from '../../src/runtime/host/guard.ts';
import { createPasswords } from '../../src/runtime/password/passwords.ts';

/** Logs the sender of a request in as a user of a snapshot. */
export type LogIn = (request: AdminRequest, snapshot: Snapshot) => ReturnType<Authenticate>;

/** Connects Basic authentication and a hasher as a running interface does. No hash can be renewed. */
export function createLogIn(hasher: Hasher, limits: Partial<Limits> = {}, clock: Clock = systemClock): LogIn {
  const fail = (): never => {
    throw new Error('There is no running interface');
  };
  const passwords = createPasswords({
    hasher,
    clock: guardClock(clock, fail),
    limits: { ...defaultLimits, ...limits },
    snapshot: fail,
    execute: fail,
    isReadOnly: () => false,
    onError: (error) => (error instanceof HostError ? undefined : fail()),
  });
  const authenticate = createBasicAuthentication();
  return (request, snapshot) =>
    authenticate(request, snapshot, (name, password) =>
      passwords.verify(snapshot, request, { name, password }),
    );
}

/** A hasher of a single round. */
export const quickHasher = createPbkdf2Hasher({ rounds: 1 });

/** What a hasher was asked for, and how many of that at the same time at most. */
export interface Work {
  readonly calls: string[];
  under: number;
  most: number;
}

/** A hasher that notes what it does: the method, and the parameters of the hash. */
export function createNotingHasher(): { hasher: Hasher; work: Work } {
  const work: Work = { calls: [], under: 0, most: 0 };
  const note = async <T>(call: string, done: Promise<T>): Promise<T> => {
    work.calls.push(call);
    work.under += 1;
    work.most = Math.max(work.most, work.under);
    return done.finally(() => (work.under -= 1));
  };
  return {
    work,
    hasher: {
      hash: (password) => note('hash', quickHasher.hash(password)),
      verify: (password, hash) =>
        note(`verify ${hash.split('$').slice(0, 3).join('$')}`, quickHasher.verify(password, hash)),
    },
  };
}

/** The value of the header `authorization`. */
export function credentials(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/** A request with a header `authorization`. */
export function requestWith(
  authorization?: string,
  more: Pick<AdminRequest, 'signal' | 'peer'> = {},
): AdminRequest {
  return { method: 'GET', target: '/services', headers: { authorization }, ...more };
}

/** A snapshot with users and their passwords. */
export async function snapshotOf(passwords: Readonly<Record<string, string>>): Promise<Snapshot> {
  const entries = Object.entries(passwords).map(async ([name, password]) => ({
    name,
    passwordHash: await quickHasher.hash(password.normalize('NFC')),
  }));
  return createSnapshot({ users: await Promise.all(entries) });
}
