/**
 * The hint watch: waits for the store to say that its log has moved, and tells the operator if hints alone fail. A node
 * without hints still reads once a second.
 */
import type { Clock, SharedStore } from '../ports/port.ts';
import type { StoreFailure } from '../resources/fleet.ts';
import { onAbort } from '../runtime/host/waiting.ts';
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

/** How a waiting has ended. */
interface Waited {
  /** Whether a hint has come. */
  readonly isHinted: boolean;
  /** The error of the store in place of a hint; left out if the store gave none. */
  readonly failure?: { readonly error: unknown };
}

/** Waits for the hints of one store. @internal */
export class HintWatch {
  readonly #options: HintWatchOptions;
  readonly #failure: LastingFailure;

  constructor(options: HintWatchOptions) {
    this.#options = options;
    this.#failure = new LastingFailure(options);
  }

  /** How hints fail, if they fail again and again while the log can be read. */
  get failure(): StoreFailure | undefined {
    return this.#failure.found;
  }

  /** Waits for a hint behind a position, for a second at most. */
  async wait(position: string): Promise<Waited> {
    const { store, clock, closed } = this.#options;
    const over = new AbortController();
    const stopListening = onAbort(closed, () => {
      over.abort();
    });
    const poll = clock.sleep(beatMs, over.signal, { keepAlive: false });
    // A function of its own: a store of the host may throw at once.
    const hint = (async () => store.changed(position, over.signal))();
    try {
      const isHinted = await Promise.race([poll.then(() => false), hint.then(() => true)]);
      return { isHinted };
    } catch (error) {
      await poll;
      return { isHinted: false, failure: { error } };
    } finally {
      stopListening();
      over.abort();
    }
  }

  /** The log was read after a waiting: if that has failed, hints alone fail. */
  logWasRead({ failure }: Waited): void {
    if (failure === undefined) {
      this.#failure.over();
      return;
    }
    const { error } = failure;
    const effect = 'Changes go on, and nodes see those of others up to a second later.';
    this.#failure.again(`The shared store gives no hints: ${causeText(error)}. ${effect}`, error);
  }

  /** The log could not be read after a waiting: a store that does not answer gives no hints either. */
  storeIsOut(): void {
    this.#failure.over();
  }
}
