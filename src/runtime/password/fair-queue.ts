/**
 * A fair queue: runs a few jobs at a time, lets a few more wait, and turns further jobs away.
 *
 * The queue limits costly work, such as hashing passwords. Groups take turns, and share the waiting places. The groups
 * are:
 *
 * 1. callers who have logged in, clients whose last log-ins failed, and all other clients;
 * 2. clients who were turned away before, and clients who ask for the first time;
 * 3. networks, from the widest to the narrowest, and then names.
 *
 * A client without a failed log-in therefore takes turns with all clients who repeat wrong guesses together.
 */
import { beforeDeadline, late } from '../host/waiting.ts';
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
  /** Whether the caller has logged in, comes from a network where a log-in failed a short time ago, or neither. */
  readonly standing: 'known' | 'failed' | 'fresh';
  /** Where the request comes from: the networks of the client, the widest first. */
  readonly networks: readonly string[];
  /** The user whom the job is about. */
  readonly name: string;
  /** A text that is equal if the same client asks for the same job again. */
  readonly attempt: string;
}

/**
 * The result of a job: its value, or why it has none. With `throttled`, another job got the place. With `overloaded`,
 * the job did not end before the deadline.
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
      const value = await beforeDeadline(clock, deadlineMs, job);
      return value === late ? { outcome: 'overloaded' } : { outcome: 'done', value };
    } finally {
      leave();
    }
  };
}

/**
 * The largest number of jobs that are remembered because they were turned away. Clients come again after a second, and
 * an interface answers fewer requests than this in a second.
 */
const mostRemembered = 10_000;

/** A waiting job. */
interface Waiting {
  /** The number of the first time that the job was asked for; lower is earlier. */
  readonly since: number;
  /** Answers the job: `true` if its turn has come, `false` if another job gets its waiting place. */
  readonly answer: (hasTurn: boolean) => void;
}

/** Waiting jobs: further groups by name, in the order of the next turns, or the jobs of one name in their order. */
interface Group {
  readonly parts: Map<string, Group>;
  readonly jobs: Waiting[];
  /** The number of jobs in all parts. */
  size: number;
}

/** The waiting jobs. The parts of each group take turns, and the jobs of one name keep their order. */
class Line {
  readonly #root = emptyGroup();
  readonly #most: number;
  /** When the jobs that were turned away were first asked for. */
  readonly #turnedAway = new Map<string, number>();
  #asked = 0;

  /** @param most - the largest number of waiting jobs */
  constructor(most: number) {
    this.#most = most;
  }

  /** Lets a job wait. Resolves to whether its turn has come; `false` if the job gets no place, or loses its place. */
  async enter(share: Share): Promise<boolean> {
    const key = JSON.stringify([share.networks.at(-1), share.attempt]);
    const before = this.#turnedAway.get(key);
    this.#asked += 1;
    const since = before ?? this.#asked;
    const hasTurn = await this.#wait(pathOf(share, before !== undefined), since);
    if (hasTurn) this.#turnedAway.delete(key);
    else this.#remember(key, since);
    return hasTurn;
  }

  /** Takes out the job whose turn is next; `undefined` if none waits. */
  takeNext(): Waiting['answer'] | undefined {
    return takeNext(this.#root)?.answer;
  }

  #wait(path: readonly string[], since: number): Promise<boolean> {
    if (this.#root.size >= this.#most) {
      const last = makeRoom(this.#root, path, since);
      if (last === undefined) return Promise.resolve(false);
      last.answer(false);
    }
    return new Promise((answer) => {
      add(this.#root, path, { since, answer });
    });
  }

  #remember(key: string, since: number): void {
    const [oldest] = this.#turnedAway.keys();
    if (oldest !== undefined && this.#turnedAway.size >= mostRemembered) this.#turnedAway.delete(oldest);
    this.#turnedAway.set(key, since);
  }
}

/** The names of the groups of a share, the widest first. */
function pathOf({ standing, networks, name }: Share, cameBefore: boolean): readonly string[] {
  return [standing, cameBefore ? 'again' : 'new', ...networks, name];
}

function emptyGroup(): Group {
  return { parts: new Map(), jobs: [], size: 0 };
}

function add(group: Group, [name, ...inner]: readonly string[], job: Waiting): void {
  group.size += 1;
  if (name === undefined) {
    group.jobs.push(job);
    return;
  }
  const part = group.parts.get(name) ?? emptyGroup();
  group.parts.set(name, part);
  add(part, inner, job);
}

/** Takes out the job whose turn is next. A part that had a turn has its next turn after all others. */
function takeNext(group: Group): Waiting | undefined {
  const [first] = group.parts;
  if (first === undefined) return takeJob(group, 'shift');
  const [name, part] = first;
  const next = takeFrom(group, name, takeNext);
  if (group.parts.delete(name)) group.parts.set(name, part);
  return next;
}

/**
 * Takes out a job that gives way to a new job: the last one of a group that then still has as many jobs as the group of
 * the new job. Among equals, the job that was asked for last gives way.
 *
 * @returns the job; `undefined` if the new job is the one that gives way
 */
function makeRoom(group: Group, [name, ...inner]: readonly string[], since: number): Waiting | undefined {
  const [crowdName, crowd] = largest(group) ?? [];
  if (name === undefined || crowdName === undefined || crowd === undefined) return undefined;
  const own = group.parts.get(name)?.size ?? 0;
  const isCrowded = crowd.size > own + 1 || (own === 0 && newestOf(crowd) > since);
  if (isCrowded) return takeFrom(group, crowdName, takeLast);
  return takeFrom(group, name, (part) => makeRoom(part, inner, since));
}

/** Takes out the last job of the largest part. */
function takeLast(group: Group): Waiting | undefined {
  const [crowd] = largest(group) ?? [];
  return crowd === undefined ? takeJob(group, 'pop') : takeFrom(group, crowd, takeLast);
}

/** Takes a job out of a part, and removes a part without jobs. */
function takeFrom(
  group: Group,
  name: string,
  take: (part: Group) => Waiting | undefined,
): Waiting | undefined {
  const part = group.parts.get(name);
  const job = part && take(part);
  if (job !== undefined) group.size -= 1;
  if (part?.size === 0) group.parts.delete(name);
  return job;
}

/** Takes out the first or the last job of one name. */
function takeJob(group: Group, take: 'shift' | 'pop'): Waiting | undefined {
  const job = group.jobs[take]();
  group.size = group.jobs.length;
  return job;
}

/** The part with the most jobs, with its name; among equals, the one with the job that was asked for last. */
function largest({ parts }: Group): readonly [string, Group] | undefined {
  let most: readonly [string, Group] | undefined;
  for (const each of parts) {
    if (most === undefined || isLarger(each[1], most[1])) most = each;
  }
  return most;
}

function isLarger(part: Group, than: Group): boolean {
  return part.size > than.size || (part.size === than.size && newestOf(part) > newestOf(than));
}

function newestOf({ parts, jobs }: Group): number {
  return Math.max(...jobs.map(({ since }) => since), ...[...parts.values()].map(newestOf));
}
