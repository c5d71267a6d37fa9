/**
 * The reader of lists: reads what is due, one list after the other, so that no second request is sent before the first is
 * answered. While nobody looks at the page, nothing is read.
 */
import type { Answer, Client, Elements } from 'gateway-admin-core/client';
import type { Problem } from 'gateway-admin-core';

import { rowsOf, type Collection, type Message, type Model } from './model.ts';

/** The page reads at most so many elements of a list. */
const mostRows = 1000;

/** How often a list is read that no event tells of, in milliseconds; `undefined` for a list that events tell of. */
function paceOf(model: Model, collection: Collection): number | undefined {
  switch (collection) {
    case 'services':
      return 4000;
    case 'servers':
      // What is left of a drain.
      return rowsOf(model, 'servers').some(({ drain }) => drain !== undefined) ? 4000 : undefined;
    case 'commands':
      return rowsOf(model, 'commands').length > 0 ? 2000 : 15_000;
    case 'alerts':
      return 15_000;
    case 'fleet':
      return rowsOf(model, 'fleet').length > 0 ? 5000 : undefined;
    default:
      return undefined;
  }
}

/** What the page around a reader gives. */
export interface Surroundings {
  /** Milliseconds of a clock that never goes back. */
  now(this: void): number;
  /** Whether nobody looks at the page. */
  isHidden(this: void): boolean;
  /** Calls a function when a person begins or ends to look at the page. Gives a function that ends the calls. */
  onVisibility(this: void, listener: () => void): () => void;
}

/** Where a reader tells what it has read. */
export interface Listener {
  tell(this: void, message: Message): void;
  model(this: void): Model;
  /** The interface has refused a reading. */
  refuse(this: void, problem: Problem): void;
}

export class ListReader {
  readonly #client: Client;
  readonly #listener: Listener;
  readonly #surroundings: Surroundings;
  readonly #signal: AbortSignal;
  /** When each list is to be read. */
  readonly #due = new Map<Collection, number>();
  #wake = (): void => undefined;

  constructor(client: Client, listener: Listener, surroundings: Surroundings, signal: AbortSignal) {
    this.#client = client;
    this.#listener = listener;
    this.#surroundings = surroundings;
    this.#signal = signal;
    const wake = (): void => this.#wake();
    const unfollow = surroundings.onVisibility(wake);
    signal.addEventListener('abort', unfollow);
    signal.addEventListener('abort', wake);
  }

  /** Reads a list after a time, or earlier if it is due earlier. */
  want(collection: Collection, afterMs = 0): void {
    const at = this.#surroundings.now() + afterMs;
    this.#due.set(collection, Math.min(at, this.#due.get(collection) ?? Infinity));
    this.#wake();
  }

  /** Reads until the signal aborts. */
  async run(): Promise<void> {
    const { now, isHidden } = this.#surroundings;
    while (!this.#signal.aborted) {
      const [next] = [...this.#due].sort(([, one], [, other]) => one - other);
      const wait = next === undefined || isHidden() ? Infinity : next[1] - now();
      if (next === undefined || wait > 0) {
        await this.#sleep(wait);
        continue;
      }
      const [collection] = next;
      this.#due.delete(collection);
      await this.#read(collection);
      const pace = paceOf(this.#listener.model(), collection);
      if (pace !== undefined) this.want(collection, pace);
    }
  }

  async #read(collection: Collection): Promise<void> {
    const { tell, refuse } = this.#listener;
    const list = this.#client[collection].list as (options: object) => Promise<Answer<Elements<object>>>;
    try {
      const answer = await list({ range: [0, mostRows - 1], signal: this.#signal });
      if (!answer.ok) {
        refuse(answer.problem);
        return;
      }
      const { elements, total } = answer.value;
      tell({ type: 'list', collection, elements, total, at: this.#surroundings.now() });
    } catch (error) {
      if (this.#signal.aborted) return;
      tell({ type: 'failed', detail: (error as Error).message, at: this.#surroundings.now() });
      // The list is as old as before.
      this.want(collection, 2000);
    }
  }

  /** Waits for a time, or until something else is wanted. */
  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      // No timer takes a longer time.
      const timer = setTimeout(resolve, Math.min(milliseconds, 2 ** 31 - 1));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
