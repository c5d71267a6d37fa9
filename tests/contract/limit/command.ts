/**
 * The limits of commands: how many there may be, and how long they may take.
 */
import {
  closeServiceSessions,
  createMemoryStore,
  createSnapshot,
  defaultLimits,
  stopService,
  type ConfigurationStore,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { wholeOf } from '../../support/closing.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { accepted, answerOf, keeps, runHost, type Limit, type Trial } from '../../support/limit.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';

const stopRequest = { method: 'PUT', target: '/service/My-Service/stop', headers: {} };
const openSession = {
  state: 'ready',
  user: 'a',
  address: '::1',
  service: '/services/sales',
  connected: '2016-01-01T00:00:00Z',
};
const stop =
  (name: string): Transition =>
  (snapshot, context) =>
    stopService(snapshot, name, context);

/** Sends commands on one service while its first command is in flight. */
const queues: Trial = async (size) => {
  const held = hold();
  const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
  const first = answerOf(admin, stopRequest);
  await held.begun;
  const waiting = Array.from({ length: size }, () => answerOf(admin, stopRequest));
  // A refused command is answered at once, and the others wait for the first.
  setTimeout(held.done, 0);
  return (await Promise.all([first, ...waiting])).find((answer) => answer !== accepted) ?? accepted;
};

/** Counts the commands in flight among so many on different services. */
async function begins(size: number): Promise<number> {
  const names = Array.from({ length: size }, (_, n) => `s${String(n)}`);
  let begun = 0;
  const { admin, clock } = runHost({
    snapshot: createSnapshot({ services: names.map((name) => ({ name, router: 'cli' })) }),
    gateway: {
      apply() {
        begun += 1;
        return new Promise<void>(() => undefined);
      },
      inspect: () => Promise.resolve('not-in-place'),
    },
  });
  for (const name of names) void admin.execute(stop(name));
  await clock.settle();
  return begun;
}

/** The gateway answers after some time, and does not know the state. */
const appliesLate: Trial = async (ms) => {
  const held = hold();
  const { admin, clock } = runAdmin({
    gateway: sampleGateway().will(held.apply).willSee(new Error('cannot see')),
  });
  const answer = answerOf(admin, stopRequest);
  await held.begun;
  await clock.advance(ms);
  held.done();
  return answer;
};

/** The store answers after some time with the result of a command. */
const storesLate: Trial = async (ms) => {
  const memory = createMemoryStore();
  const until = { now: Promise.resolve() };
  const store: ConfigurationStore = {
    ...memory,
    append: (...call) => until.now.then(() => memory.append(...call)),
  };
  const held = hold();
  const { admin, clock } = await openRunning(store, { gateway: sampleGateway().will(held.apply) });
  const answered = answerOf(admin, stopRequest);
  await held.begun;
  let release: () => void = () => undefined;
  until.now = new Promise((resolve) => (release = resolve));
  held.done();
  await clock.settle();
  await clock.advance(ms);
  release();
  return answered;
};

/** Waits after a call until the call is made again. By then the pauses are as long as they become. */
async function waitsAfter(
  calls: readonly number[],
  clock: { now(): number; advance(ms: number): Promise<void> },
  ms: number,
): Promise<boolean> {
  await clock.advance(60_000);
  const { length } = calls;
  await clock.advance((calls.at(-1) ?? NaN) + ms - clock.now());
  return calls.length > length;
}

/** How long the gateway is left alone while it cannot tell an outcome. */
const inspectsAgain: Trial = async (ms) => {
  const calls: number[] = [];
  const { admin, clock } = runHost({
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] }),
    gateway: {
      apply: () => Promise.reject(new Error('The connection broke')),
      inspect() {
        calls.push(clock.now());
        return Promise.reject(new Error('cannot see'));
      },
    },
  });
  await admin.execute(stop('Sales'));
  return (await waitsAfter(calls, clock, ms)) ? '`inspect` is called again' : accepted;
};

/** How long a store is left alone while it fails. */
const storesAgain: Trial = async (ms) => {
  const store = new FailingStore();
  const { admin, clock } = await openRunning(store);
  store.fail();
  const calls: number[] = [];
  const append = store.append;
  store.append = (...call) => {
    calls.push(clock.now());
    return append(...call);
  };
  await admin.execute(stop('My Service'));
  return (await waitsAfter(calls, clock, ms)) ? 'the call is made again' : accepted;
};

/** Counts the sessions that the first event of a teardown closes. */
function closes(size: number): number {
  const snapshot = createSnapshot({
    services: [{ name: 'Sales', router: 'cli' }],
    sessions: Array.from({ length: size }, (_, id) => ({ ...openSession, id })),
  });
  const decision = closeServiceSessions(snapshot, 'Sales', { now: 0 });
  const [first] = wholeOf(decision, snapshot).events;
  return first?.type === 'sessions.closed' ? first.sessions.length : 0;
}

export const commandLimits: readonly Limit[] = [
  {
    option: 'maxQueued',
    value: defaultLimits.maxQueued,
    bounds: 'waiting commands',
    beyond: '503 overloaded',
    note: 'with `Retry-After: 1`',
    trial: queues,
  },
  {
    option: 'maxInFlight',
    ...keeps(defaultLimits.maxInFlight, 'further ones wait', begins),
    bounds: 'commands in flight, except those with an unknown outcome',
  },
  {
    option: 'effectDeadlineMs',
    value: defaultLimits.effectDeadlineMs,
    unit: 'milliseconds',
    bounds: 'one call of `apply` or `inspect`',
    beyond: '504 outcome-unknown',
    note: 'unless `inspect` then gives the outcome; see [After a 504](runtime.md#after-a-504)',
    trial: appliesLate,
  },
  {
    option: 'storeDeadlineMs',
    value: defaultLimits.storeDeadlineMs,
    unit: 'milliseconds',
    bounds: 'one call of the store, and the time until a result is stored',
    beyond: '504 outcome-unknown',
    note: 'The call is made again; see [When the store fails](runtime.md#when-the-store-fails).',
    trial: storesLate,
  },
  {
    value: 5000,
    unit: 'milliseconds',
    bounds: 'pause between two calls of `inspect` while an outcome is unknown',
    beyond: '`inspect` is called again',
    trial: inspectsAgain,
  },
  {
    value: 5000,
    unit: 'milliseconds',
    bounds: 'pause between two calls of a store that fails',
    beyond: 'the call is made again',
    trial: storesAgain,
  },
  {
    ...keeps(1000, 'a further event and effect', closes),
    bounds: 'sessions or connections that one event or effect closes',
  },
];
