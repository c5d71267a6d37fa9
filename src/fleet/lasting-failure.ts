/**
 * A lasting failure: something of a shared store that fails again and again while the log can be read. The operator
 * learns it once, and the alerts show it for as long as it lasts.
 */
import type { Clock } from '../ports/port.ts';
import type { StoreFailure } from '../resources/fleet.ts';

/** The number of failures in a row from which on a failure lasts: fewer can be chance. */
const mostFailures = 3;

/** Counts the failures of one thing. @internal */
export class LastingFailure {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  #times = 0;
  #last: StoreFailure | undefined;

  /** @param onError - gets the error once. Never throws */
  constructor({ clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown) => void }) {
    this.#clock = clock;
    this.#onError = onError;
  }

  /** The failure, once it lasts. */
  get found(): StoreFailure | undefined {
    return this.#times < mostFailures ? undefined : this.#last;
  }

  /**
   * The thing has failed once more.
   *
   * @param detail - what that means, for people
   */
  again(detail: string, cause: unknown): void {
    this.#times += 1;
    this.#last = { detail, since: this.#last?.since ?? this.#clock.now() };
    if (this.#times === mostFailures) this.#onError(new Error(detail, { cause }));
  }

  /** The thing works, or the whole store fails. */
  over(): void {
    this.#times = 0;
    this.#last = undefined;
  }
}
