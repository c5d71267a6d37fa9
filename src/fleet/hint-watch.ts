/**
 * The hint watch: waits for the store to say that its log has moved, and tells the operator if hints alone fail. A node
 * without hints still reads once a second.
 */
import type { Clock, SharedStore } from '../ports/port.ts';
import type { HintFailure } from '../resources/fleet.ts';
import { onAbort } from '../runtime/host/abort-listener.ts';
import { causeText } from '../runtime/host/host-error.ts';
import { beatMs, timeOf } from './members.ts';

/** The options of {@link HintWatch}. @internal */
export interface HintWatchOptions {
  readonly store: Pick<SharedStore, 'changed'>;
  readonly clock: Clock;
  /** Aborts when the node reads nothing any more. */
  readonly closed: AbortSignal;
  /** Gets what the operator must know. Never throws. */
  readonly onError: (error: unknown) => void;
}

/** After so many hints in a row that failed alone, the operator gets an error. */
const mostFailures = 3;

/** Waits for the hints of one store. @internal */
export class HintWatch {
  readonly #options: HintWatchOptions;
  /** The error of the last waiting; `undefined` if it has not failed. */
  #last: { readonly error: unknown } | undefined;
  /** Since when hints fail, and how many in a row. */
  #failing: { readonly failure: HintFailure; readonly times: number } | undefined;

  constructor(options: HintWatchOptions) {
    this.#options = options;
  }

  /** Why hints fail, and since when; `undefined` while they do not fail, or fail with the store. */
  get failure(): HintFailure | undefined {
    const { failure, times = 0 } = this.#failing ?? {};
    return times < mostFailures ? undefined : failure;
  }

  /** Waits for a hint behind a position, for a second at most. Returns whether a hint has come. */
  async wait(position: string): Promise<boolean> {
    const { store, clock, closed } = this.#options;
    const over = new AbortController();
    const stopListening = onAbort(closed, () => {
      over.abort();
    });
    const poll = clock.sleep(beatMs, over.signal, { keepAlive: false }).then(() => false);
    // A function of its own: a store of the host may throw at once.
    const hint = (async () => store.changed(position, over.signal))();
    this.#last = undefined;
    try {
      return await Promise.race([poll, hint.then(() => true)]);
    } catch (error) {
      this.#last = { error };
      return await poll;
    } finally {
      stopListening();
      over.abort();
    }
  }

  /**
   * Judges the last waiting.
   *
   * @param hasRead - whether the log could be read since: a store that does not answer gives no hints either
   */
  judge(hasRead: boolean): void {
    const { clock, onError } = this.#options;
    if (this.#last === undefined || !hasRead) {
      this.#failing = undefined;
      return;
    }
    const { error: cause } = this.#last;
    const { failure, times = 0 } = this.#failing ?? {};
    const detail =
      `The shared store gives no hints: ${causeText(cause)}. Changes go on, and nodes see those of others up to a second ` +
      'later.';
    const since = failure === undefined ? timeOf(clock) : failure.since;
    this.#failing = { failure: { detail, since }, times: times + 1 };
    if (this.#failing.times === mostFailures) onError(new Error(detail, { cause }));
  }
}
