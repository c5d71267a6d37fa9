/**
 * Log-ins of any snapshot: Basic authentication over a hasher.
 */
import {
  createAdmin,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  type Admin,
  type AdminRequest,
  type Authenticate,
  type Clock,
  type Hasher,
  type Limits,
  type Snapshot,
} from 'gateway-admin-core';

/** Logs the sender of a request in as a user of a snapshot. */
export type LogIn = (request: AdminRequest, snapshot: Snapshot) => Promise<Awaited<ReturnType<Authenticate>>>;

/**
 * Logs in with Basic authentication, through an interface for each snapshot. The interfaces share nothing.
 *
 * @param clock - left out for the system clock
 */
export function createLogIn(hasher: Hasher, limits: Partial<Limits> = {}, clock?: Clock): LogIn {
  const answers = new Map<string | undefined, ReturnType<Authenticate>>();
  const basic = createBasicAuthentication();
  const authenticate: Authenticate = (request, ...given) => {
    const answer = basic(request, ...given);
    answers.set(request.headers['x-log-in'], answer);
    return answer;
  };
  const open = (snapshot: Snapshot): Admin =>
    createAdmin({
      snapshot,
      gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
      hasher,
      limits,
      access: { authenticate },
      observe: { onError: () => undefined },
      ...(clock && { clock }),
    });
  const admins = new WeakMap<Snapshot, Admin>();
  let count = 0;
  return async (request, snapshot) => {
    const admin = admins.get(snapshot) ?? open(snapshot);
    admins.set(snapshot, admin);
    const name = String((count += 1));
    await admin.handle({ ...request, headers: { ...request.headers, 'x-log-in': name } });
    return answers.get(name);
  };
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
    password: { sealed: await quickHasher.hash(password.normalize('NFC')) },
  }));
  return createSnapshot({ users: await Promise.all(entries) });
}
