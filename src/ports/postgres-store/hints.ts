/**
 * The hints of a PostgreSQL store: notifications that the end of the log has moved.
 *
 * A hint is a statement of its own behind the change. The queue of notifications and its lock belong to the whole
 * server, so any other program can hold them up, and no change may rest on them. A hint that is lost costs the other
 * nodes a second.
 */

/** Sends hints for the changes of this store, and gives the hints of others to those that wait. @internal */
export class Hints {
  readonly #notify: (position: string) => Promise<unknown>;
  /** The end of the log of which the others have no hint. */
  #unsent: string | undefined;
  #isSending = false;
  /** Why the last hint was not sent; `undefined` if it was. */
  #failure: Error | undefined;
  /** The position of a hint that nobody has waited for. */
  #unheard: string | undefined;
  readonly #waiting = new Set<{ readonly after: string; readonly resolve: () => void }>();

  /** @param notify - sends a hint, and rejects with an Error */
  constructor(notify: (position: string) => Promise<unknown>) {
    this.#notify = notify;
  }

  /** Tells the others where the log ends. While hints fail, the next try tells them. */
  send(position: string): void {
    this.#unsent = position;
    if (this.#failure === undefined) void this.#sendAll();
  }

  /** Tries once more to send a hint that has failed. */
  retry(): void {
    if (this.#failure !== undefined) void this.#sendAll();
  }

  /** One hint at a time: announcements go over the same connection. Later changes share the next hint. */
  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let sent = this.#unsent; sent !== undefined;) {
        await this.#notify(sent);
        this.#failure = undefined;
        if (this.#unsent === sent) this.#unsent = undefined;
        sent = this.#unsent;
      }
    } catch (error) {
      this.#failure = error as Error;
    } finally {
      this.#isSending = false;
    }
  }

  /** Takes a hint of another store. */
  give(position: string): void {
    const awake = [...this.#waiting].filter(({ after }) => after !== position);
    if (awake.length === 0) this.#unheard = position;
    for (const { resolve } of awake) resolve();
  }

  /**
   * Resolves at a hint about another position than this one. Each hint is heard once.
   *
   * @throws the error with which the last hint of this store has failed
   */
  async next(after: string, signal: AbortSignal): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const isHeard = this.#unheard === undefined || this.#unheard === after;
    if (!isHeard) this.#unheard = undefined;
    if (!isHeard || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const waiting = {
        after,
        resolve: () => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', waiting.resolve);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', waiting.resolve);
    });
  }

  /** Ends all waiting. */
  end(): void {
    for (const { resolve } of this.#waiting) resolve();
  }
}
