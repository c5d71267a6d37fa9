/**
 * The reader: reads the lists, the sessions that are looked at and the gateway itself when they are due, one after the
 * other, so that no second request is sent before the first is answered. While nobody looks at the page, nothing is
 * read.
 */
import type { Answer, Client, Elements } from 'gateway-admin-core/client';
import type { Problem } from 'gateway-admin-core';

import {
  isOfCaller,
  rowsOf,
  type Collection,
  type Message,
  type Model,
  sessionFields,
  type WantedSessions,
} from './model.ts';

/** The page reads so many elements of a list at a time, and at most so many in all. */
const [rowsAtOnce, mostRows] = [1000, 10_000];

/** How long until a reading that failed is tried again, in milliseconds. */
const againMs = 2000;

/** What is read: a list, or the gateway itself with what the person may do. */
export type Readable = Collection | 'gateway' | 'sessions';

/** A counter is read again just before it is five seconds old and would have to say so. In milliseconds. */
const counterMs = 4600;

/** For what nearly always changes with an event. In milliseconds. */
export const otherMs = 30_000;

/** How often something is read that no event tells of, in milliseconds; `undefined` for what events tell of. */
function paceOf(model: Model, readable: Readable): number | undefined {
  switch (readable) {
    case 'services':
    case 'sessions':
      return counterMs;
    case 'servers':
      // What is left of a drain.
      return rowsOf(model, 'servers').some(({ drain }) => drain !== undefined) ? counterMs : undefined;
    case 'commands':
      return rowsOf(model, 'commands').length > 0 ? 2000 : otherMs;
    case 'alerts':
      return otherMs;
    case 'gateway':
      return 2 * otherMs;
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
  /** Whether nobody sees the page. */
  isHidden(this: void): boolean;
  /** Calls a function whenever the page is hidden or seen again, until the signal aborts. */
  onChange(this: void, listener: () => void, signal: AbortSignal): void;
  /** Calls a function whenever the page is left, until the signal aborts. */
  onLeave(this: void, listener: () => void, signal: AbortSignal): void;
}

/** Where a reader tells what it has read. */
export interface Listener {
  tell(this: void, message: Message): void;
  model(this: void): Model;
  /** The sessions that a person looks at; `undefined` for none. */
  wanted(this: void): WantedSessions | undefined;
  /** The interface has refused a reading. */
  refuse(this: void, problem: Problem): void;
}

export class Reader {
  readonly #client: Client;
  readonly #listener: Listener;
  readonly #surroundings: Surroundings;
  readonly #signal: AbortSignal;
  /** When each is to be read. */
  readonly #due = new Map<Readable, number>();
  #wake = (): void => undefined;

  constructor(client: Client, listener: Listener, surroundings: Surroundings, signal: AbortSignal) {
    this.#client = client;
    this.#listener = listener;
    this.#surroundings = surroundings;
    this.#signal = signal;
    surroundings.onChange(() => this.#wake(), signal);
    signal.addEventListener('abort', () => this.#wake());
  }

  /** Reads something after a time, or earlier if it is due earlier. */
  want(readable: Readable, afterMs = 0): void {
    const at = this.#surroundings.now() + afterMs;
    if (at >= (this.#due.get(readable) ?? Infinity)) return;
    this.#due.set(readable, at);
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
      const [readable] = next;
      this.#due.delete(readable);
      await this.#attempt(readable);
      const pace = paceOf(this.#listener.model(), readable);
      if (pace !== undefined) this.want(readable, pace);
    }
  }

  async #attempt(readable: Readable): Promise<void> {
    this.#listener.tell({ type: 'asking', at: this.#surroundings.now() });
    try {
      if (readable === 'gateway') await this.#readGateway();
      else if (readable === 'sessions') await this.#readSessions();
      else await this.#readList(readable);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#listener.tell({ type: 'failed', detail: (error as Error).message, at: this.#surroundings.now() });
      // What the page shows is as old as before.
      this.want(readable, againMs);
    }
  }

  async #readGateway(): Promise<void> {
    const { tell } = this.#listener;
    const answer = await this.#client.interface.get({ may: true, signal: this.#signal });
    if (!answer.ok) return this.#refused(answer.problem);
    // Without a log-in that still holds, the next list is refused.
    if (isOfCaller(answer.value)) tell({ type: 'gateway', gateway: answer.value });
  }

  async #readSessions(): Promise<void> {
    const { tell, wanted } = this.#listener;
    const looked = wanted();
    if (looked === undefined) return;
    const { search, first, end } = looked;
    const range = [first, end - 1] as const;
    const options = { ...search, fields: sessionFields, range, signal: this.#signal };
    const answer = await this.#client.sessions.list(options);
    const { elements: rows, total } = answer.ok ? answer.value : { elements: [], total: 0 };
    const fault = answer.ok ? '' : answer.problem.detail;
    tell({ type: 'sessions', part: { search, first, rows, total, at: this.#surroundings.now(), fault } });
  }

  async #readList(collection: Collection): Promise<void> {
    const { tell } = this.#listener;
    const list = this.#client[collection].list as (options: object) => Promise<Answer<Elements<object>>>;
    const read: object[] = [];
    let total = 1;
    while (read.length < Math.min(total, mostRows)) {
      const { length } = read;
      const answer = await list({ range: [length, length + rowsAtOnce - 1], signal: this.#signal });
      if (!answer.ok) return this.#refused(answer.problem);
      const { elements } = answer.value;
      total = answer.value.total;
      read.push(...elements);
      // The list has become shorter meanwhile.
      if (elements.length === 0) break;
    }
    tell({ type: 'list', collection, elements: read, total, at: this.#surroundings.now() });
  }

  /** What the interface refuses is read again, unless the refusal has ended the watch. */
  #refused(problem: Problem): never {
    this.#listener.refuse(problem);
    throw new Error(problem.detail);
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
