/**
 * A clock that goes on when a test says so.
 */
import type { Clock } from 'gateway-admin-core';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** Lets everything that is ready run: promises, and what they wait for in the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock that stands still. A sleep of no time ends by itself, one that is longer when the clock has come so far. */
export class ManualClock implements Clock {
  #elapsed = 0;
  #start: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start = '2016-09-10T00:00:00Z') {
    this.#start = Date.parse(start);
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  /** How many sleep. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    if (milliseconds <= 0) {
      await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { until: this.#elapsed + milliseconds, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake);
    });
  }

  /** Goes on by so many milliseconds, and lets run on the way whatever wakes up. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#elapsed + milliseconds;
    for (let next = this.#first(end); next !== undefined; next = this.#first(end)) {
      this.#elapsed = Math.max(this.#elapsed, next.until);
      next.wake();
      await settle();
    }
    this.#elapsed = end;
    await settle();
  }

  /** Sets the time of day, as an operator does; what sleeps does not notice. */
  jumpTo(time: string): void {
    this.#start = Date.parse(time) - this.#elapsed;
  }

  #first(end: number): Sleeper | undefined {
    return [...this.#sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
  }
}
