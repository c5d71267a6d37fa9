/**
 * An audit sink that fails when a test tells it to, and shows what it has kept.
 */
import type { AuditRecord, AuditSink } from 'gateway-admin-core';

type Keep = () => void;

/** How a call of a sink may fail for a while: the same records come again. */
export const sinkFailures = {
  'rejects, and nothing is kept': (): Promise<never> => Promise.reject(new Error('The disk is full')),
  'rejects, and all is kept': (keep: Keep): Promise<never> => {
    keep();
    return Promise.reject(new Error('The disk did not sync'));
  },
  'throws at once': (): never => {
    throw new Error('The sink is broken');
  },
  'answers late that all is kept': (keep: Keep, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        keep();
        resolve();
      });
    }),
  'answers late that nothing is kept': (_keep: Keep, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error('The other machine does not answer'));
      });
    }),
};

/** A sink that fails when it is told to. Records that come again are kept once, as a sink must. */
export class FailingSink implements AuditSink {
  #good = Infinity;
  #bad = 0;
  #failure: (keep: Keep, signal: AbortSignal) => Promise<void> = sinkFailures['rejects, and nothing is kept'];
  readonly #kept = new Map<string, AuditRecord>();
  /** The number of records in each call. */
  readonly calls: number[] = [];
  failures = 0;
  disposals = 0;

  get kept(): readonly AuditRecord[] {
    return [...this.#kept.values()];
  }

  /** Fails after so many more calls that go well, so many times. */
  fail(how: (keep: Keep, signal: AbortSignal) => Promise<void>, good = 0, times = Infinity): void {
    [this.#good, this.#bad, this.#failure] = [good, times, how];
  }

  /** Works from now on. */
  work(): void {
    [this.#good, this.#bad] = [Infinity, 0];
  }

  append: AuditSink['append'] = (records, { signal }) => {
    this.calls.push(records.length);
    const keep = (): void => {
      for (const record of records) this.#kept.set(record.id, record);
    };
    if (this.#good > 0 || this.#bad <= 0) {
      this.#good -= 1;
      keep();
      return Promise.resolve();
    }
    this.#bad -= 1;
    this.failures += 1;
    return this.#failure(keep, signal);
  };

  [Symbol.asyncDispose] = (): Promise<void> => {
    this.disposals += 1;
    return Promise.resolve();
  };
}
