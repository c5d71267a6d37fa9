/**
 * A fair queue: runs a few jobs at a time, lets a few more wait, and turns further jobs away.
 *
 * The queue limits costly work, such as hashing passwords. Turns and waiting places are shared out by
 * peer, and by name within a peer. One peer that asks for much therefore delays the others by a turn, and no more.
 */
import { beforeDeadline } from '../deadline.ts';
import type { Clock } from '../../ports/port.ts';

/** The limits of a queue. @internal */
export interface QueueLimits {
  /** The largest number of jobs that run at the same time; at least 1. */
  readonly maxInFlight: number;
  /** The largest number of jobs that wait for their turn; 0 or more. */
  readonly maxQueued: number;
  /** The longest time of a job, in milliseconds; at least 1. Then its place is free, even if the job still runs. */
  readonly deadlineMs: number;
}

/** Who asks for a job. @internal */
export interface Share {
  /** Where the request comes from, such as an IP address. */
  readonly peer: string;
  /** The user whom the job is about. */
  readonly name: string;
}

/**
 * The result of a job: its value, or why there is none. `throttled`: another job got the place. `overloaded`: the job did
 * not end before the deadline.
 *
 * @internal
 */
export type Turn<T> =
  | { readonly outcome: 'done'; readonly value: T }
  | { readonly outcome: 'throttled' }
  | { readonly outcome: 'overloaded' };

/**
 * Runs a job when its turn comes. A throttled job never runs.
 *
 * @param share - who asks for the job
 * @param job - the work
 * @returns the result of the job; rejects if the job rejects before the deadline
 * @internal
 */
export type FairQueue = <T>(share: Share, job: () => Promise<T>) => Promise<Turn<T>>;

/**
 * Creates a queue.
 *
 * @param limits - the largest numbers of running and of waiting jobs, and the deadline of a job
 * @param clock - measures the deadline
 * @internal
 */
export function createFairQueue(
  { maxInFlight, maxQueued, deadlineMs }: QueueLimits,
  clock: Clock,
): FairQueue {
  const line = new Line(maxQueued);
  let running = 0;
  const leave = (): void => {
    const next = line.takeNext();
    // The next job takes over the place directly, so a new job cannot get the place first.
    if (next === undefined) running -= 1;
    else next(true);
  };
  return async (share, job) => {
    if (running < maxInFlight) running += 1;
    else if (!(await line.enter(share))) return { outcome: 'throttled' };
    try {
      const done = await beforeDeadline(clock, deadlineMs, async () => ({ value: await job() }));
      return done === 'late' ? { outcome: 'overloaded' } : { outcome: 'done', ...done };
    } finally {
      leave();
    }
  };
}

/** Answers a waiting job: `true` if its turn has come, `false` if another job gets its waiting place. */
type Waiting = (hasTurn: boolean) => void;

/** The waiting jobs of a peer by name, in the order of the next turns. */
type Names = Map<string, Waiting[]>;

/** The waiting jobs. The peers take turns, the names of a peer take turns, and the jobs of one name keep their order. */
class Line {
  readonly #peers = new Map<string, Names>();
  readonly #most: number;

  /** @param most - the largest number of waiting jobs */
  constructor(most: number) {
    this.#most = most;
  }

  /** Lets a job wait. Resolves to whether its turn has come; `false` if the job gets no place, or loses its place. */
  enter(share: Share): Promise<boolean> {
    if (sum(this.#peers, countOf) >= this.#most && !this.#makeRoom(share)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const names = this.#namesOf(share);
      this.#peers.set(share.peer, names);
      names.set(share.name, [...(names.get(share.name) ?? []), resolve]);
    });
  }

  /** Takes out the job whose turn is next; `undefined` if none waits. */
  takeNext(): Waiting | undefined {
    for (const [peer, names] of this.#peers) {
      for (const [name, [next, ...later]] of names) {
        moveToEnd(names, name, later, later.length);
        moveToEnd(this.#peers, peer, names, names.size);
        return next;
      }
    }
    return undefined;
  }

  /**
   * Turns away the last job of the peer with the most jobs, or of the name with the most jobs of the same peer. Only for
   * a job whose peer or name then still has fewer jobs.
   *
   * @returns whether there is a place now
   */
  #makeRoom(share: Share): boolean {
    const own = this.#namesOf(share);
    const [, crowd = own] = largest(this.#peers, countOf) ?? [];
    const names = countOf(crowd) > countOf(own) + 1 ? crowd : own;
    const [name = '', jobs = []] = largest(names, ({ length }) => length) ?? [];
    if (names === own && jobs.length <= (own.get(share.name)?.length ?? 0) + 1) return false;
    jobs.pop()?.(false);
    if (jobs.length === 0) names.delete(name);
    return true;
  }

  #namesOf({ peer }: Share): Names {
    return this.#peers.get(peer) ?? new Map<string, Waiting[]>();
  }
}

/** The number of jobs of a peer. */
function countOf(names: Names): number {
  return sum(names, ({ length }) => length);
}

function sum<T>(parts: ReadonlyMap<string, T>, sizeOf: (part: T) => number): number {
  return [...parts.values()].reduce((total, part) => total + sizeOf(part), 0);
}

/** The largest part with its key; the first one among equals, and `undefined` if there is none. */
function largest<T>(
  parts: ReadonlyMap<string, T>,
  sizeOf: (part: T) => number,
): readonly [string, T] | undefined {
  return [...parts].toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))[0];
}

/** Gives a part its next turn after all others, or removes a part without jobs. */
function moveToEnd<T>(parts: Map<string, T>, key: string, part: T, left: number): void {
  parts.delete(key);
  if (left > 0) parts.set(key, part);
}
