/**
 * The hint watch: waits for the store to say that its log has moved, and tells the operator if hints alone fail. A node
 * without hints still reads once a second.
 */
import type { Clock, SharedStore } from '../ports/port.ts';
import type { StoreFailure } from '../resources/fleet.ts';
import { onAbort } from '../runtime/host/abort-listener.ts';
import { causeText } from '../runtime/host/host-error.ts';
import { LastingFailure } from './lasting-failure.ts';
import { beatMs } from './members.ts';

/** The options of {@link HintWatch}. @internal */
export interface HintWatchOptions {
  readonly store: Pick<SharedStore, 'changed'>;
  readonly clock: Clock;
  /** Aborts when the node reads nothing any more. */
  readonly closed: AbortSignal;
  /** Gets what the operator must know. Never throws. */
  readonly onError: (error: unknown) => void;
}

/** Waits for the hints of one store. @internal */
export class HintWatch {
  readonly #options: HintWatchOptions;
  /** The error of the last waiting; `undefined` if it has not failed. */
  #last: { readonly error: unknown } | undefined;
  readonly #failure: LastingFailure;

  constructor(options: HintWatchOptions) {
    this.#options = options;
    this.#failure = new LastingFailure(options);
  }

  /** How hints fail, if they fail again and again while the log can be read. */
  get failure(): StoreFailure | undefined {
    return this.#failure.found;
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
    if (this.#last === undefined || !hasRead) {
      this.#failure.over();
      return;
    }
    const { error } = this.#last;
    const effect = 'Changes go on, and nodes see those of others up to a second later.';
    this.#failure.again(`The shared store gives no hints: ${causeText(error)}. ${effect}`, error);
  }
}
