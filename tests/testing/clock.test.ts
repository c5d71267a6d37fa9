import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createVirtualClock, type VirtualClock } from 'gateway-admin-core/testing';

const durations = fc.array(fc.nat(20), { maxLength: 12 });

/** Sends one to sleep for each duration. Gives who has woken so far, with the time at which each did. */
function sleepers(clock: VirtualClock, of: readonly number[]): readonly (readonly [number, number])[] {
  const woken: [number, number][] = [];
  for (const [sleeper, duration] of of.entries()) {
    void clock.sleep(duration).then(() => woken.push([sleeper, clock.monotonic()]));
  }
  return woken;
}

describe('a sleep on a virtual clock', () => {
  it('ends when it is due: first in the order of the due times, then in the order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(durations, async (list) => {
        const clock = createVirtualClock();
        const woken = sleepers(clock, list);
        expect(await clock.runUntilIdle()).toBe(true);
        const expected = Array.from(list.entries()).sort(([, a], [, b]) => a - b);
        expect(woken).toEqual(expected);
        expect([clock.sleeping, clock.monotonic()]).toEqual([0, Math.max(0, ...list)]);
      }),
    );
  });

  it('ends at the same time in one advance and in several', async () => {
    await fc.assert(
      fc.asyncProperty(durations, durations, async (list, pieces) => {
        const whole = createVirtualClock();
        const cut = createVirtualClock();
        const [woken, wokenInPieces] = [sleepers(whole, list), sleepers(cut, list)];
        await whole.advance(pieces.reduce((sum, piece) => sum + piece, 0));
        for (const piece of pieces) await cut.advance(piece);
        expect(wokenInPieces).toEqual(woken);
        expect(cut.monotonic()).toBe(whole.monotonic());
        expect(woken.map(([sleeper]) => sleeper).sort()).toEqual(
          [...list.keys()].filter((sleeper) => (list[sleeper] ?? 0) <= whole.monotonic()).sort(),
        );
      }),
    );
  });

  it('ends one at a time with next', async () => {
    const clock = createVirtualClock();
    const woken = sleepers(clock, [5, 3, 5]);
    const moves: unknown[] = [];
    while (await clock.next()) moves.push([clock.monotonic(), woken.length]);
    expect(moves).toEqual([
      [3, 1],
      [5, 2],
      [5, 3],
    ]);
    expect(await clock.next()).toBe(false);
  });

  it('can be followed by another sleep during one advance', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    void (async () => {
      for (let round = 0; round < 4; round += 1) {
        await clock.sleep(10);
        seen.push(clock.now());
      }
    })();
    await clock.advance(35);
    expect([seen, clock.now(), clock.sleeping]).toEqual([[10, 20, 30], 35, 1]);
  });

  it('ends after all work that was ready before it', async () => {
    const clock = createVirtualClock();
    const seen: string[] = [];
    const chain = async (name: string, jobs: number): Promise<void> => {
      for (let job = 0; job < jobs; job += 1) await Promise.resolve();
      seen.push(name);
    };
    void clock.sleep(1).then(() => chain('long after 1', 60));
    void clock.sleep(2).then(() => chain('short after 2', 0));
    void chain('before', 60);
    await clock.runUntilIdle();
    expect(seen).toEqual(['before', 'long after 1', 'short after 2']);
  });

  it('is waited for as long as its caller uses the clock', async () => {
    const clock = createVirtualClock();
    let rounds = 0;
    void (async () => {
      for (; rounds < 500; rounds += 1) await clock.sleep(0);
    })();
    await clock.advance(0);
    expect([rounds, clock.monotonic()]).toEqual([500, 0]);
  });

  it('ends at once when its signal aborts, and leaves nothing behind', async () => {
    const clock = createVirtualClock();
    const controller = new AbortController();
    let woken = 0;
    for (const duration of [1, 1000]) void clock.sleep(duration, controller.signal).then(() => (woken += 1));
    await clock.advance(1);
    expect([woken, clock.sleeping]).toEqual([1, 1]);
    controller.abort();
    expect(clock.sleeping).toBe(0);
    await clock.sleep(1000, controller.signal);
    expect([woken, clock.monotonic()]).toEqual([2, 1]);
  });

  it.each([0, -5, NaN])('does not wait for %s milliseconds', async (milliseconds) => {
    const clock = createVirtualClock();
    await clock.sleep(milliseconds);
    expect([clock.monotonic(), clock.sleeping]).toEqual([0, 0]);
  });
});

describe('a virtual clock', () => {
  it('stands still until a test moves it', async () => {
    const clock = createVirtualClock(1234);
    await clock.advance(0);
    await clock.next();
    expect([clock.now(), clock.monotonic()]).toEqual([1234, 0]);
    await clock.advance(6);
    expect([clock.now(), clock.monotonic()]).toEqual([1240, 6]);
  });

  it('changes the time of day in a jump, and ends no sleep', async () => {
    const clock = createVirtualClock(0);
    const woken = sleepers(clock, [100]);
    await clock.advance(40);
    clock.jumpTo(Date.UTC(2030, 0, 1));
    expect([clock.now(), clock.monotonic()]).toEqual([Date.UTC(2030, 0, 1), 40]);
    clock.jumpTo(-7);
    await clock.advance(60);
    expect([clock.now(), clock.monotonic(), woken]).toEqual([53, 100, [[0, 100]]]);
  });

  it('gives the time of day in whole milliseconds', async () => {
    const clock = createVirtualClock(0);
    void clock.sleep(0.75);
    await clock.next();
    expect([clock.now(), clock.monotonic()]).toEqual([0, 0.75]);
  });

  it('is not idle while a sleep is longer than the limit, also an endless one', async () => {
    const clock = createVirtualClock(0);
    const woken = sleepers(clock, [10, 5000, Infinity]);
    expect(await clock.runUntilIdle(1000)).toBe(false);
    expect([woken.length, clock.monotonic(), clock.sleeping]).toEqual([1, 10, 2]);
    expect(await clock.runUntilIdle()).toBe(false);
    expect([clock.monotonic(), clock.sleeping, await clock.next()]).toEqual([5000, 1, false]);
  });

  it('advances until a promise settles, and no further', async () => {
    const clock = createVirtualClock();
    const woken = sleepers(clock, [5, 50]);
    expect(await clock.waitFor(clock.sleep(20).then(() => 'rested'))).toBe('rested');
    expect([clock.monotonic(), woken.length, clock.sleeping]).toEqual([20, 1, 1]);
    await expect(
      clock.waitFor(
        clock.sleep(1).then(() => {
          throw new Error('of its own');
        }),
      ),
    ).rejects.toThrow('of its own');
    expect(clock.monotonic()).toBe(21);
    expect(await clock.waitFor(Promise.resolve(7))).toBe(7);
  });

  it('rejects for a promise that nothing can settle', async () => {
    const clock = createVirtualClock();
    const never = new Promise(() => undefined);
    await expect(clock.waitFor(never)).rejects.toThrow(
      'The promise is still pending, and no sleep is due within the limit',
    );
    await expect(clock.waitFor(clock.sleep(11), 10)).rejects.toThrow('is still pending');
    expect([clock.monotonic(), clock.sleeping]).toEqual([0, 1]);
  });

  it('rejects when its callers sleep again and again without advancing the time', async () => {
    const clock = createVirtualClock();
    const loop = { goesOn: true };
    const end = (async () => {
      while (loop.goesOn) await clock.sleep(0);
    })();
    const moved = clock.advance(1);
    await moved.catch(() => (loop.goesOn = false));
    await expect(moved).rejects.toThrow('uses the clock without end, although no time passes');
    await end;
  });

  it('waits for the given number of turns', async () => {
    const order = async (turns: number): Promise<readonly string[]> => {
      const clock = createVirtualClock(0, { turns });
      const seen: string[] = [];
      void clock.sleep(1).then(() => seen.push('sleeper'));
      void (async () => {
        for (let job = 0; job < 20; job += 1) await Promise.resolve();
        seen.push('chain');
      })();
      await clock.advance(1);
      return seen;
    };
    expect(await order(30)).toEqual(['chain', 'sleeper']);
    expect(await order(5)).toEqual(['sleeper']);
  });

  it('runs the work that is ready in settle, and ends no sleep', async () => {
    const clock = createVirtualClock(0);
    const seen: string[] = [];
    void clock.sleep(1).then(() => seen.push('sleeper'));
    void Promise.resolve()
      .then(() => clock.sleep(0))
      .then(() => seen.push('ready'));
    await clock.settle();
    expect([seen, clock.monotonic(), clock.sleeping]).toEqual([['ready'], 0, 1]);
  });

  it.each([-1, NaN, Infinity])('cannot advance by %s milliseconds', async (milliseconds) => {
    await expect(createVirtualClock().advance(milliseconds)).rejects.toThrow(RangeError);
  });
});

describe('a virtual clock that waits for turns of the event loop', () => {
  const createLoopClock = (turns?: number): VirtualClock =>
    createVirtualClock(0, { turn: 'event-loop', ...(turns === undefined ? {} : { turns }) });
  const turnLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('ends the next sleep after work that takes turns of the event loop', async () => {
    const order = async (clock: VirtualClock): Promise<readonly string[]> => {
      const seen: string[] = [];
      const chain = async (): Promise<void> => {
        for (let turn = 0; turn < 10; turn += 1) await turnLoop();
        seen.push('chain after 1');
      };
      void clock.sleep(1).then(chain);
      void clock.sleep(2).then(() => seen.push('after 2'));
      await clock.runUntilIdle();
      return seen;
    };
    expect(await order(createLoopClock())).toEqual(['chain after 1', 'after 2']);
    expect(await order(createLoopClock(5))).toEqual(['after 2']);
    expect(await order(createVirtualClock())).toEqual(['after 2']);
  });

  it('gives other work a turn in a sleep of 0 ms', async () => {
    const seen: string[] = [];
    const other = turnLoop().then(() => seen.push('another turn'));
    await createLoopClock()
      .sleep(0)
      .then(() => seen.push('slept'));
    await other;
    expect(seen).toEqual(['another turn', 'slept']);
  });

  it('ends sleeps in the same order as a clock that waits for promises alone', async () => {
    const durations = [5, 3, 0, 5, 1];
    const clocks = [createLoopClock(), createVirtualClock(0)];
    const woken = clocks.map((clock) => sleepers(clock, durations));
    for (const clock of clocks) await clock.runUntilIdle();
    expect(woken[0]).toEqual(woken[1]);
    expect(woken[0]).toHaveLength(5);
  });
});
