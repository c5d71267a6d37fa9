/**
 * The limits of log-ins and of new passwords.
 */
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
  defaultLimits,
  type Hasher,
} from 'gateway-admin-core';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

import { writers } from '../../support/input.ts';
import { accepted, answerOf, calls, keeps, type Limit, type Trial } from '../../support/limit.ts';
import { credentials } from '../../support/log-in.ts';
import { runAdmin } from '../../support/running-admin.ts';

/** The largest cost of scrypt, as the refusal of another cost names it: the module is an entry of the package. */
function largestCost(): number {
  try {
    createScryptHasher({ cost: 0 });
  } catch (error) {
    return Number(/ to (\d+)/.exec(String(error))?.[1]);
  }
  throw new Error('The cost 0 must be refused');
}

const quick: Hasher = { hash: () => Promise.resolve('hash'), verify: () => Promise.resolve(true) };

/** An interface whose hasher has a method that answers when a test says so. */
function guarded(held: 'hash' | 'verify', options: Parameters<typeof runAdmin>[0] = {}) {
  const waiting: (() => void)[] = [];
  let asked = 0;
  const hold = <T>(answer: Promise<T>): Promise<T> => {
    asked += 1;
    return new Promise((resolve) => waiting.push(() => resolve(answer)));
  };
  const running = runAdmin({
    hasher: { ...quick, [held]: (...call: [string, string]) => hold<unknown>(quick[held](...call)) },
    ...options,
  });
  return {
    ...running,
    asked: () => asked,
    /** Answers the calls of the method, until there is none. */
    release: async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        next();
        await running.clock.settle();
      }
    },
  };
}

/** Sends so many new passwords at the same time. Gives how many are hashed then, and all answers. */
async function floods(count: number) {
  const { admin, clock, asked, release } = guarded('hash');
  const [, create] = writers;
  const answers = Array.from({ length: count }, (_, n) =>
    answerOf(admin, { ...create, body: JSON.stringify({ name: `u${String(n)}`, password: 'engine' }) }),
  );
  await clock.settle();
  const inFlight = asked();
  await release();
  return { inFlight, answers: await Promise.all(answers) };
}

/** An interface with a log-in. */
function locked() {
  const host = guarded('verify', {
    snapshot: createSnapshot({ users: [{ name: 'ada', password: { sealed: 'hash' } }] }),
    access: { authenticate: createBasicAuthentication() },
  });
  const request = {
    method: 'GET',
    target: '/services',
    headers: { authorization: credentials('ada', 'engine') },
  };
  return {
    ...host,
    /** Begins a log-in. Resolves when the hasher was asked, or the answer is there. */
    logIn: async () => {
      const asked = host.asked();
      const answer = answerOf(host.admin, request);
      let isWaiting = true;
      void answer.then(() => (isWaiting = false));
      const isUndecided = (): boolean => isWaiting && host.asked() === asked;
      while (isUndecided()) await host.clock.settle();
      return { answer };
    },
  };
}

/** Logs in again after some time. */
const logsInAgain: Trial = async (ms) => {
  const { clock, logIn, release, asked } = locked();
  const first = await logIn();
  await release();
  await first.answer;
  await clock.advance(ms);
  const second = await logIn();
  await release();
  await second.answer;
  return asked() === 1 ? accepted : 'the password is hashed again';
};

/** The hasher answers after some time. */
const verifiesLate: Trial = async (ms) => {
  const { clock, logIn, release } = locked();
  const { answer } = await logIn();
  await clock.advance(ms);
  await release();
  return answer;
};

export const logInLimits: readonly Limit[] = [
  {
    option: 'maxHashesInFlight',
    ...keeps(
      defaultLimits.maxHashesInFlight,
      'further ones wait',
      async (count) => (await floods(count)).inFlight,
    ),
    bounds: 'passwords that are hashed at the same time, log-ins and new passwords together',
  },
  {
    option: 'maxHashesQueued',
    value: defaultLimits.maxHashesQueued,
    bounds: 'passwords that wait to be hashed',
    beyond: '429 login-throttled',
    note: 'with `Retry-After: 1`',
    async trial(size) {
      const { answers } = await floods(defaultLimits.maxHashesInFlight + size);
      return answers.find((answer) => answer !== accepted) ?? accepted;
    },
  },
  {
    option: 'hashDeadlineMs',
    value: defaultLimits.hashDeadlineMs,
    unit: 'milliseconds',
    bounds: 'one call of the hasher, the sealer, `authenticate`, or `principal` of a request',
    beyond: '503 overloaded',
    trial: verifiesLate,
  },
  {
    value: 300_000,
    unit: 'milliseconds',
    bounds: 'time for which a verified log-in needs no hashing',
    beyond: 'the password is hashed again',
    trial: logsInAgain,
  },
  {
    value: 10_000_000,
    bounds: '`rounds` of `createPbkdf2Hasher`',
    beyond: 'RangeError',
    trial: calls((rounds) => createPbkdf2Hasher({ rounds })),
  },
  {
    value: Math.log2(largestCost()),
    unit: 'power of two',
    bounds: '`cost` of `createScryptHasher`',
    beyond: 'RangeError',
    trial: calls((logCost) => createScryptHasher({ cost: 2 ** logCost })),
  },
];
