/**
 * Who has the next turn to have a password hashed. These are small functions of their own, tested in isolation because
 * their laws need floods of thousands of log-ins, ten thousand networks, and a runtime without node:crypto.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { systemClock } from 'gateway-admin-core';
import { createRandom, createVirtualClock } from 'gateway-admin-core/testing';

import { createFailedLogins } from '../../../src/runtime/password/remembered-logins.ts';
import { createFairQueue, type FairQueue, type Share } from '../../../src/runtime/password/fair-queue.ts';
import { shareOf } from '../../../src/runtime/password/share.ts';
import { createSigner } from '../../../src/runtime/password/signer.ts';

/** Jobs with numbers, which a test ends, and a record of those that have begun. */
function createJobs() {
  const begun: number[] = [];
  let count = 0;
  const create = () => {
    const number = count;
    count += 1;
    let [end, fail]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
    const ended = new Promise<number>((resolve, reject) => ([end, fail] = [() => resolve(number), reject]));
    const run = (): Promise<number> => {
      begun.push(number);
      return ended;
    };
    return { run, end, fail };
  };
  return { begun, create };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A share of one network; `attempt` tells the tries of a name apart. */
function share(peer: string, name: string, attempt = ''): Share {
  return { standing: 'fresh', networks: [peer], name, attempt };
}

const someone = share('192.0.2.1', 'ada');
const done = <T>(value: T) => ({ outcome: 'done', value });
const throttled = { outcome: 'throttled' };

function queueOf(maxInFlight: number, maxQueued: number): FairQueue {
  return createFairQueue({ maxInFlight, maxQueued, deadlineMs: 600_000 }, systemClock);
}

const shares = fc
  .record({ peer: fc.constantFrom('a', 'b', 'c'), name: fc.constantFrom('x', 'y', 'z') })
  .map(({ peer, name }) => share(peer, name));

function times(count: number, work: () => void): void {
  for (let done = 0; done < count; done += 1) work();
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

describe('a fair queue', () => {
  it('never runs or queues more jobs than its limits, and ends each job that it begins', async () => {
    const limits = [fc.integer({ min: 1, max: 4 }), fc.nat(6)] as const;
    const jobs = fc.array(shares, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), ...limits, jobs, async (scheduler, maxInFlight, maxQueued, asked) => {
        const queue = queueOf(maxInFlight, maxQueued);
        let [running, most, begun] = [0, 0, 0];
        const work = async (): Promise<'done'> => {
          begun += 1;
          running += 1;
          most = Math.max(most, running);
          await scheduler.schedule(Promise.resolve(), 'a job ends');
          running -= 1;
          return 'done';
        };
        const turns = await scheduler.waitFor(Promise.all(asked.map((share) => queue(share, work))));
        const taken = Math.min(asked.length, maxInFlight + maxQueued);
        expect(turns.filter(({ outcome }) => outcome === 'done')).toHaveLength(taken);
        expect([most, running, begun]).toEqual([Math.min(asked.length, maxInFlight), 0, taken]);
      }),
      { numRuns: 200 },
    );
  });

  /** The jobs that wait in a queue with one running job, in the order in which they are begun. */
  async function orderOf(asked: readonly Share[], maxQueued: number): Promise<readonly number[]> {
    const queue = queueOf(1, maxQueued);
    const { create } = createJobs();
    const first = create();
    const running = queue(someone, first.run);
    const begun: number[] = [];
    const turns = asked.map((share, at) => queue(share, () => Promise.resolve(begun.push(at))));
    first.end();
    await Promise.all([running, ...turns]);
    return begun;
  }

  // Promise: fair-queue
  it('lets the peers take turns, the names of a peer take turns, and the jobs of a name keep their order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(shares, { maxLength: 20 }), async (asked) => {
        const begun = await orderOf(asked, asked.length);
        expect([...begun].sort((a, b) => a - b)).toEqual([...asked.keys()]);
        for (const [turn, at] of begun.entries()) {
          const { networks, name } = asked[at] ?? someone;
          const before = begun.slice(0, turn).map((each) => asked[each] ?? someone);
          const after = begun.slice(turn + 1).map((each) => asked[each] ?? someone);
          const turnsOf = (peer: readonly string[], wanted = ''): number =>
            before.filter((each) => isEqual(each.networks, peer) && ['', each.name].includes(wanted)).length;
          // Whoever still waits has had at most one turn less than whoever has this turn.
          for (const other of after) {
            expect(turnsOf(other.networks)).toBeGreaterThanOrEqual(turnsOf(networks));
            if (isEqual(other.networks, networks))
              expect(turnsOf(networks, other.name)).toBeGreaterThanOrEqual(turnsOf(networks, name));
          }
        }
        for (const { networks, name } of asked) {
          const same = begun.filter(
            (at) => isEqual(asked[at]?.networks ?? [], networks) && asked[at]?.name === name,
          );
          expect(same).toEqual([...same].sort((a, b) => a - b));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('keeps a place for whoever has fewer jobs than another, and turns the last job of the other away', async () => {
    const crowd = Array.from({ length: 9 }, () => share('crowd', 'x'));
    expect(await orderOf([...crowd, share('single', 'x')], 4)).toEqual([0, 9, 1, 2]);
    expect(await orderOf([...crowd, share('crowd', 'y')], 4)).toEqual([0, 9, 1, 2]);
    const names = ['w', 'x', 'y', 'z'].map((name) => share('crowd', name));
    expect(await orderOf([...names, share('single', 'x')], 4)).toEqual([0, 4, 1, 2]);
  });

  it('turns a job away that would only take the place of one that is as entitled', async () => {
    const asked = ['a', 'b', 'c', 'd'].map((peer) => share(peer, 'x'));
    expect(await orderOf(asked, 3)).toEqual([0, 1, 2]);
    const names = ['x', 'y', 'z'].map((name) => share('a', name));
    expect(await orderOf(names, 2)).toEqual([0, 1]);
  });

  it('gives each free place to a waiting job, while new jobs arrive', async () => {
    const queue = queueOf(2, 100);
    const { begun, create } = createJobs();
    const jobs = Array.from({ length: 10 }, create);
    const turns = jobs.slice(0, 5).map(({ run }) => queue(someone, run));
    for (const [ended, { end }] of jobs.entries()) {
      // A place becomes free and a job comes in at the same moment: the job that waits is first.
      end();
      turns.push(...jobs.slice(ended + 5, ended + 6).map(({ run }) => queue(someone, run)));
      await turn();
      expect(begun).toEqual([...jobs.keys()].slice(0, ended + 3));
    }
    expect(await Promise.all(turns)).toEqual([...jobs.keys()].map(done));
  });

  it('frees the place when a job throws or rejects, and passes the error only to its caller', async () => {
    const queue = queueOf(1, 3);
    const { create } = createJobs();
    const failing = create();
    const later = queue(someone, failing.run);
    const atOnce = queue(someone, () => {
      throw new Error('thrown at once');
    });
    const next = queue(someone, () => Promise.resolve('next'));
    failing.fail(new Error('failed later'));
    await expect(later).rejects.toThrow('failed later');
    await expect(atOnce).rejects.toThrow('thrown at once');
    expect(await next).toEqual(done('next'));
  });

  it('frees the place at the deadline, and ignores what becomes of the job', async () => {
    const clock = createVirtualClock();
    const queue = createFairQueue({ maxInFlight: 1, maxQueued: 1, deadlineMs: 100 }, clock);
    const { create } = createJobs();
    const stuck = create();
    const [late, next] = [queue(someone, stuck.run), queue(someone, () => Promise.resolve('next'))];
    await clock.advance(100);
    expect(await late).toEqual({ outcome: 'overloaded' });
    expect(await next).toEqual(done('next'));
    stuck.fail(new Error('too late'));
    expect(await queue(someone, () => Promise.resolve('and on'))).toEqual(done('and on'));
  });
});

/** Wrong guesses of many connections. */
interface Flood {
  /** The share of each guess, by its number. */
  readonly guess: (number: number) => Share;
  readonly connections?: number;
  /** The largest number of guesses at a time. */
  readonly most?: number;
  /** The number of rounds before the newcomer comes. */
  readonly after?: number;
  /** The networks whose guesses had a turn before. */
  readonly guessed?: readonly string[];
}

/** The rounds of a flood after which somebody has a turn: in a round, one job ends. */
const mostRounds = 80; // 10 seconds, if two passwords are hashed at a time in a quarter of a second each

describe('a fair queue under a flood', () => {
  const count = (length: number): readonly number[] => [...Array(length).keys()];

  /**
   * Floods a queue with connections, each of which asks again as soon as it is answered, up to `haste` times a round.
   * Every guess is wrong.
   *
   * @param seed - drawn for each round of asking, so that the newcomer asks at any moment of a round
   * @returns the rounds until the newcomer, who comes again every eighth round, has a turn
   */
  async function roundsUntilTurn(
    { guess, connections = 100, most = Infinity, after = 0, guessed = [] }: Flood,
    newcomer: Share,
    { seed, haste }: { readonly seed: number; readonly haste: number },
  ): Promise<number> {
    const random = createRandom(seed);
    const queue = queueOf(2, 64);
    const failed = createFailedLogins({ monotonic: () => 0 });
    for (const network of guessed) failed.add(network);
    const jobs = createJobs();
    const held: (() => void)[] = [];
    let [guesses, idle, isDone, isWaiting] = [0, connections, false, false];
    const ask = (): void => {
      guesses += 1;
      idle -= 1;
      const share = guess(guesses);
      const network = share.networks.at(-1) ?? '';
      const hold = (): Promise<number> => {
        const job = jobs.create();
        held.push(job.end);
        return job.run().finally(() => failed.add(network));
      };
      void queue({ ...share, standing: failed.standingOf(network) }, hold).finally(() => (idle += 1));
    };
    const arrive = async (): Promise<void> => {
      if (isDone || isWaiting) return;
      isWaiting = true;
      const { outcome } = await queue(newcomer, () => Promise.resolve());
      isWaiting = false;
      isDone = outcome === 'done';
    };
    times(connections, ask);
    await turn();
    for (const round of count(after + mostRounds)) {
      const moment = random.below(haste);
      held.shift()?.();
      for (const each of count(haste)) {
        times(Math.min(idle, most), ask);
        if (each === moment && round >= after && round % 8 === 0) void arrive();
        await turn();
        if (isDone) break;
      }
      if (isDone) return round - after;
    }
    return Infinity;
  }

  const ada = share('192.0.2.1', 'ada', 'right');
  const newNames: Flood = { guess: (n) => share('192.0.2.1', `guess${String(n)}`, String(n)) };
  const wide = (n: number): Share => ({
    ...share('', 'ada', String(n)),
    networks: ['wide', `narrow ${String(n)}`],
  });
  const floods: readonly (readonly [string, Flood['guess']])[] = [
    ['ever new names at the same peer', newNames.guess],
    ['ever new passwords of one name at the same peer', (n) => share('192.0.2.1', 'ada', String(n))],
    ['ever new peers', (n) => share(`peer ${String(n)}`, 'ada', String(n))],
    ['ever new networks of one wider network', wide],
  ];

  /** A flood of peers that repeat their guesses, and come again after a second. */
  const repeating = (peers: number, networkOf: (peer: number) => string): Flood => ({
    guess: (n) => {
      const peer = n % peers;
      return { ...share('', 'ada', String(peer)), networks: [networkOf(peer), `peer ${String(peer)}`] };
    },
    connections: peers,
    most: peers / 8,
    after: 8,
  });

  // Promise: log-in-flood
  it.each(floods)(
    'gives somebody who comes again a turn within ten seconds, against %s',
    async (_what, guess) => {
      for (const seed of count(5))
        expect(await roundsUntilTurn({ guess }, ada, { seed, haste: 1 + seed })).toBeLessThan(mostRounds);
    },
  );

  // Promise: log-in-repeat
  it('gives a client without a failed log-in one of the next ten turns, against 1,000 peers that repeat guesses', async () => {
    const guessed = count(1000).map((peer) => `peer ${String(peer)}`);
    const flood = { ...repeating(1000, (peer) => `site ${String(peer)}`), after: 40, guessed };
    expect(await roundsUntilTurn(flood, ada, { seed: 1, haste: 1 })).toBeLessThanOrEqual(10);
  });

  it('gives somebody at another site a turn within ten seconds, while a flood of 250 peers of one site begins', async () => {
    const flood = repeating(250, () => 'site');
    for (const seed of count(3))
      expect(await roundsUntilTurn(flood, ada, { seed, haste: 1 + seed })).toBeLessThan(mostRounds);
  });

  it('gives a caller who has logged in a turn at once', async () => {
    const rounds = await roundsUntilTurn(newNames, { ...ada, standing: 'known' }, { seed: 1, haste: 3 });
    expect(rounds).toBeLessThan(4);
  });

  it('forgets whoever was turned away first once 10,000 others were, so strangers cannot fill the memory', async () => {
    const queue = queueOf(1, 1);
    const { create } = createJobs();
    const running = create();
    void queue(someone, running.run);
    const before = queue(share('a', 'v'), () => Promise.resolve('v'));
    const askers = Array.from({ length: 10_001 }, (_, at) => share('a', `x${String(at)}`, String(at)));
    for (const each of askers) expect(await queue(each, create().run)).toEqual(throttled);
    running.end();
    expect(await before).toEqual(done('v'));
    const next = create();
    void queue(someone, next.run);
    const newcomer = queue(share('a', 'z', 'z'), () => Promise.resolve('z'));
    const [forgotten, remembered] = [askers[0] ?? someone, askers.at(-1) ?? someone];
    expect(await queue(forgotten, create().run)).toEqual(throttled);
    const again = queue(remembered, () => Promise.resolve('last'));
    expect(await newcomer).toEqual(throttled);
    next.end();
    expect(await again).toEqual(done('last'));
  });

  it('lets whoever was turned away first go first', async () => {
    const queue = queueOf(1, 1);
    const { create } = createJobs();
    const [running, before] = [create(), create()];
    const begun = [queue(someone, running.run), queue(share('a', 'v'), before.run)];
    const [x, y] = [share('a', 'x', 'x'), share('a', 'y', 'y')];
    for (const each of [x, y]) expect(await queue(each, create().run)).toEqual(throttled);
    running.end();
    await turn();
    const newcomer = queue(share('a', 'z', 'z'), create().run);
    const later = queue(y, create().run);
    expect(await newcomer).toEqual(throttled);
    const earlier = queue(x, () => Promise.resolve('x'));
    expect(await later).toEqual(throttled);
    expect(await queue(y, create().run)).toEqual(throttled);
    before.end();
    expect(await Promise.all(begun)).toEqual([done(0), done(1)]);
    expect(await earlier).toEqual(done('x'));
  });
});

describe('a failed log-in', () => {
  it('is remembered for five minutes after the last one of its network', async () => {
    const clock = createVirtualClock();
    const failed = createFailedLogins(clock);
    failed.add('192.0.2.1');
    await clock.advance(200_000);
    failed.add('192.0.2.1');
    failed.add('192.0.2.2');
    await clock.advance(299_999);
    const standings = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(failed.standingOf);
    expect(standings).toEqual(['failed', 'failed', 'fresh']);
    await clock.advance(1);
    expect(failed.standingOf('192.0.2.1')).toBe('fresh');
  });

  it('is forgotten for the network that failed first, once 10,000 others did, so strangers cannot fill the memory', () => {
    const failed = createFailedLogins(createVirtualClock());
    for (let at = 0; at < 10_000; at += 1) failed.add(String(at));
    failed.add('0');
    expect(failed.standingOf('1')).toBe('failed');
    failed.add('another');
    expect(['0', '1', '2'].map(failed.standingOf)).toEqual(['failed', 'fresh', 'failed']);
  });
});

const networksOf = (peer?: string): readonly string[] =>
  shareOf({ method: 'GET', target: '/', headers: {}, ...(peer === undefined ? {} : { peer }) }, 'ada')
    .networks;

describe('the share of a request', () => {
  it.each([
    ['192.0.2.1', ['192.0.2', '192.0.2.1']],
    ['::ffff:192.0.2.1', ['::ffff:192.0.2', '::ffff:192.0.2.1']],
    ['2001:db8:1:2:3:4:5:6', ['20010db8', '20010db80001', '20010db8000100', '20010db800010002']],
    ['2001:DB8:0001:0002::1', ['20010db8', '20010db80001', '20010db8000100', '20010db800010002']],
    ['2001:db8:1:ab02::1', ['20010db8', '20010db80001', '20010db80001ab', '20010db80001ab02']],
    ['2001:db8::1', ['20010db8', '20010db80000', '20010db8000000', '20010db800000000']],
    ['::1', ['00000000', '000000000000', '00000000000000', '0000000000000000']],
    ['fe80::1%eth0', ['fe800000', 'fe8000000000', 'fe800000000000', 'fe80000000000000']],
    ['2001:db8::192.0.2.1', ['2001:db8::192.0.2.1']],
    ['an address of a pipe', ['an address of a pipe']],
    ['x'.repeat(300), ['x'.repeat(255)]],
    [undefined, ['']],
  ])('counts the peer %s as %j', (peer, counted) => {
    expect(networksOf(peer)).toEqual(counted);
  });

  it('counts a name in any case as one', () => {
    const request = { method: 'GET', target: '/', headers: {} };
    expect(shareOf(request, 'ADA')).toEqual(shareOf(request, 'ada'));
  });
});

describe.each([
  ['where there is node:crypto', createSigner],
  ['where there is Web Crypto alone', () => createSigner({})],
])('a signer %s', (_where, create) => {
  it('gives the same text the same signature, and no other text, also while its key is drawn', async () => {
    const sign = create();
    const texts = ['', 'a', 'b', 'ä', '\ud83d\ude00', 'a'.repeat(100_000)];
    const signAll = () => Promise.all(texts.map(async (text) => sign(text)));
    const signatures = await signAll();
    expect(await signAll()).toEqual(signatures);
    expect(new Set(signatures).size).toBe(texts.length);
  });

  it('has a key of its own', async () => {
    expect(await create()('a')).not.toBe(await create()('a'));
  });
});
