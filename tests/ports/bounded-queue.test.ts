import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { createBoundedQueue } from '../../src/ports/bounded-queue.ts';

/** A job that a test ends. */
interface Job {
  readonly run: () => Promise<number>;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** Jobs with numbers, and a record of those that have begun. */
function createJobs(): { readonly begun: readonly number[]; create(this: void): Job } {
  const begun: number[] = [];
  let count = 0;
  return {
    begun,
    create() {
      const number = count;
      count += 1;
      let end = (): void => undefined;
      let fail: (error: Error) => void = () => undefined;
      const ended = new Promise<number>((resolve, reject) => {
        end = () => resolve(number);
        fail = reject;
      });
      const run = (): Promise<number> => {
        begun.push(number);
        return ended;
      };
      return { run, end: () => end(), fail: (error) => fail(error) };
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a bounded queue', () => {
  it('never runs or queues more jobs than its limits, and turns away every further job', async () => {
    const counts = [fc.integer({ min: 1, max: 8 }), fc.nat(8), fc.nat(30)] as const;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), ...counts, async (scheduler, maxInFlight, maxQueued, count) => {
        const queue = createBoundedQueue({ maxInFlight, maxQueued });
        let [running, most] = [0, 0];
        const work = async (): Promise<'done'> => {
          running += 1;
          most = Math.max(most, running);
          await scheduler.schedule(Promise.resolve(), 'a job ends');
          running -= 1;
          return 'done';
        };
        const answers = Array.from({ length: count }, () => queue(work, 'full' as const));
        const known = await scheduler.waitFor(Promise.all(answers));
        const taken = Math.min(count, maxInFlight + maxQueued);
        expect(known).toEqual(Array.from({ length: count }, (_none, at) => (at < taken ? 'done' : 'full')));
        expect([most, running]).toEqual([Math.min(count, maxInFlight), 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('gives each free place to the longest waiting job, while new jobs arrive', async () => {
    const queue = createBoundedQueue({ maxInFlight: 2, maxQueued: 100 });
    const { begun, create } = createJobs();
    const jobs = Array.from({ length: 10 }, create);
    const answers = jobs.slice(0, 5).map(({ run }) => queue(run, 'full'));
    for (const [ended, { end }] of jobs.entries()) {
      // A place becomes free and a job comes in at the same moment: the job that waits is first.
      end();
      answers.push(...jobs.slice(ended + 5, ended + 6).map(({ run }) => queue(run, 'full')));
      await turn();
      expect(begun).toEqual([...jobs.keys()].slice(0, ended + 3));
    }
    expect(await Promise.all(answers)).toEqual([...jobs.keys()]);
  });

  it('answers a job at once if the queue is full, and never runs the job', async () => {
    const queue = createBoundedQueue({ maxInFlight: 1, maxQueued: 0 });
    const { begun, create } = createJobs();
    const [first, second] = [create(), create()];
    const running = queue(first.run, 'full');
    expect(await queue(second.run, 'full')).toBe('full');
    first.end();
    expect(await running).toBe(0);
    expect(begun).toEqual([0]);
    expect(await queue(() => Promise.resolve('room again'), 'full')).toBe('room again');
  });

  it('frees the place when a job throws or rejects, and passes the error only to its caller', async () => {
    const queue = createBoundedQueue({ maxInFlight: 1, maxQueued: 3 });
    const { create } = createJobs();
    const failing = create();
    const later = queue(failing.run, 'full');
    const atOnce = queue(() => {
      throw new Error('thrown at once');
    }, 'full');
    const next = queue(() => Promise.resolve('next'), 'full');
    failing.fail(new Error('failed later'));
    await expect(later).rejects.toThrow('failed later');
    await expect(atOnce).rejects.toThrow('thrown at once');
    expect(await next).toBe('next');
  });

  it.each([
    [{ maxInFlight: 0, maxQueued: 0 }, 'The option "maxInFlight" must be a whole number from 1 on, not 0'],
    [{ maxInFlight: Infinity, maxQueued: 0 }, 'The option "maxInFlight"'],
    [{ maxInFlight: 1, maxQueued: -1 }, 'The option "maxQueued" must be a whole number from 0 on, not -1'],
    [{ maxInFlight: 1, maxQueued: 0.5 }, 'The option "maxQueued"'],
  ])('refuses the limits %j', (limits, message) => {
    expect(() => createBoundedQueue(limits)).toThrow(new RegExp(`^${message}`));
    expect(() => createBoundedQueue(limits)).toThrow(RangeError);
  });
});
