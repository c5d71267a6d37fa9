/**
 * The reader of sessions: reads the part of the list that is wanted, again and again. One request at a time, and none while
 * nobody looks at the page.
 */
import type { Client, SessionSearch } from 'gateway-admin-core/client';
import type { SessionRepresentation } from 'gateway-admin-core';

/** How often the same part is read, in milliseconds. */
const paceMs = 4600;

const fields = ['id', 'user', 'address', 'service', 'connected', 'idle', 'etag'] as const;

export type Session = Pick<SessionRepresentation, (typeof fields)[number]>;

/** A part of the list. */
export interface Part {
  /** Position of the first row. */
  readonly first: number;
  readonly rows: readonly Session[];
  /** Number of rows of the whole list. */
  readonly total: number;
  /** When the part was read; `undefined` if nothing was read yet. */
  readonly at: number | undefined;
  /** Why the last reading has failed; empty if it has not. */
  readonly fault: string;
}

export const unread: Part = { first: 0, rows: [], total: 0, at: undefined, fault: '' };

export class SessionReader {
  readonly #client: Client;
  readonly #search: SessionSearch;
  readonly #tell: (change: Partial<Part>) => void;
  readonly #ending = new AbortController();
  #wanted = { first: 0, end: 60 };
  #wake = (): void => undefined;

  constructor(client: Client, search: SessionSearch, tell: (change: Partial<Part>) => void) {
    this.#client = client;
    this.#search = search;
    this.#tell = tell;
  }

  /** Reads the rows from one position up to before another, now and from now on. */
  want(first: number, end: number): void {
    if (this.#wanted.first === first && this.#wanted.end === end) return;
    this.#wanted = { first, end };
    this.#wake();
  }

  stop(): void {
    this.#ending.abort();
    this.#wake();
  }

  async run(): Promise<void> {
    const wake = (): void => this.#wake();
    document.addEventListener('visibilitychange', wake);
    while (!this.#ending.signal.aborted) {
      const wanted = this.#wanted;
      if (!document.hidden) await this.#read();
      // While the list was read, the person may have scrolled on.
      if (wanted === this.#wanted) await this.#pause();
    }
    document.removeEventListener('visibilitychange', wake);
  }

  async #read(): Promise<void> {
    const { first, end } = this.#wanted;
    const { signal } = this.#ending;
    try {
      const range = [first, end - 1] as const;
      const answer = await this.#client.sessions.list({ ...this.#search, fields, range, signal });
      if (answer.ok) {
        const { elements, total } = answer.value;
        this.#tell({ first, rows: elements, total, at: performance.now(), fault: '' });
      } else this.#tell({ fault: answer.problem.detail });
    } catch (error) {
      if (!signal.aborted) this.#tell({ fault: (error as Error).message });
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, paceMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#ending.signal.aborted) this.#wake();
    });
  }
}
