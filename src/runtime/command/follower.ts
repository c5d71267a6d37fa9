/**
 * The follower: brings the gateway to where it must be, each task by itself, and all at once. A task that does
 * not succeed is tried again, with growing pauses.
 */
import type { Clock } from '../../ports/port.ts';
import type { Problem, ProblemCode } from '../../problem.ts';
import type { Behind } from '../../resources/command.ts';
import { backoff, tryPauses } from '../host/waiting.ts';

/** What the gateway is to do, with the key by which the task is known. @internal */
export type Task = readonly [key: string, resource: string];

/** What a {@link Follower} needs. @internal */
interface FollowerOptions {
  /** Tries a task once. Gives the reason if the gateway has not followed. Never rejects. */
  readonly attempt: (task: Task) => Promise<Problem | undefined>;
  /** The gateway has not followed for a reason that an operator must know. Called once for each task. */
  readonly onStuck: (resource: string, problem: Problem) => void;
  /** The gateway has followed; `wasStuck` says whether the operator knows the task. */
  readonly onFollowed: (task: Task, wasStuck: boolean) => void;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** The state of a task. */
interface Row {
  readonly task: Task;
  behind: Behind;
  /** Ends the pause: there is something new, or an operator wants another try. */
  wake: AbortController;
  isStuck: boolean;
}

/** Brings the gateway to where it must be. @internal */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #rows = new Map<string, Row>();
  readonly #closed = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The number of tasks. */
  get size(): number {
    return this.#rows.size;
  }

  /** What the gateway is still to follow, by the key of the task. */
  get behind(): readonly (readonly [key: string, behind: Behind])[] {
    return Array.from(this.#rows, ([key, { behind }]) => [key, behind]);
  }

  find(key: string): Behind | undefined {
    return this.#rows.get(key)?.behind;
  }

  /** Takes tasks in, and wakes those that it has already. The result begins the new ones. */
  note(tasks: readonly Task[]): () => Promise<unknown> {
    const fresh: Row[] = [];
    for (const task of tasks) {
      const [key, resource] = task;
      const row = this.#rows.get(key);
      if (row !== undefined) {
        row.wake.abort();
        continue;
      }
      const behind = { resource, since: this.#options.clock.now() };
      const begun = { task, behind, wake: new AbortController(), isStuck: false };
      this.#rows.set(key, begun);
      fresh.push(begun);
    }
    return () => Promise.all(fresh.map((row) => this.#begin(row)));
  }

  /** Leaves a task: it is not tried any more. */
  drop(key: string): void {
    this.#rows.get(key)?.wake.abort();
    this.#rows.delete(key);
  }

  /** Tries everything again at once. */
  retry(): void {
    for (const { wake } of this.#rows.values()) wake.abort();
  }

  close(): void {
    this.#closed.abort();
    this.retry();
  }

  /** Resolves after the first try. */
  async #begin(row: Row): Promise<void> {
    if (await this.#hasFollowed(row)) return;
    void this.#goOn(row);
  }

  async #goOn(row: Row): Promise<void> {
    const { clock } = this.#options;
    let pauses = backoff(tryPauses);
    while (this.#isOpen(row)) {
      const isNew = row.wake.signal.aborted;
      if (!isNew) await clock.sleep(pauses.next().value, row.wake.signal, { keepAlive: false });
      if (row.wake.signal.aborted) pauses = backoff(tryPauses);
      row.wake = new AbortController();
      if (!this.#isOpen(row) || (await this.#hasFollowed(row))) return;
    }
  }

  #isOpen(row: Row): boolean {
    return !this.#closed.signal.aborted && this.#rows.get(row.task[0]) === row;
  }

  /** Tries a task once. What has become new meanwhile wants another try. */
  async #hasFollowed(row: Row): Promise<boolean> {
    const { attempt, onFollowed } = this.#options;
    const problem = await attempt(row.task);
    if (problem !== undefined) this.#keep(row, problem);
    else if (!row.wake.signal.aborted) {
      this.#rows.delete(row.task[0]);
      this.#wakeOthers();
      onFollowed(row.task, row.isStuck);
      return true;
    }
    return false;
  }

  /** Keeps why the gateway has not followed, and tells the operator once. */
  #keep(row: Row, problem: Problem): void {
    row.behind = { ...row.behind, problem };
    if (row.isStuck || !gatewayCodes.has(problem.code)) return;
    row.isStuck = true;
    this.#options.onStuck(row.behind.resource, problem);
  }

  /** What could not be followed may have waited for what was followed now: for a resource to link, or for a list. */
  #wakeOthers(): void {
    for (const { behind, wake } of this.#rows.values()) if (behind.problem !== undefined) wake.abort();
  }
}

/** The problems whose cause is in the gateway. Other causes have errors of their own. */
const gatewayCodes: ReadonlySet<string> = new Set([
  'effect-refused',
  'partly-done',
  'outcome-unknown',
  'not-supported',
] satisfies ProblemCode[]);
