/**
 * Messages: requests and responses, in the terms of no transport.
 */

/**
 * Whoever asked.
 *
 * @public
 */
export interface Principal {
  /** Name, for authorisation and for the record. */
  readonly name: string;
}

/**
 * A request, in the terms of no transport.
 *
 * @public
 */
export interface AdminRequest {
  /** Method, in upper case. */
  readonly method: string;
  /** Path and query, as the client wrote them: `/services?range=0-9`. */
  readonly target: string;
  /** Headers, with their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body, or how to read it. A function is called at most once, and only where the body matters; it need not read
   * more than one byte past the limit it is given.
   */
  readonly body?: Uint8Array | string | ((limit: number) => Promise<Uint8Array>);
  /** Whoever the host has authenticated; `null` when it found nobody, which is 401. Then `authenticate` is not asked. */
  readonly principal?: Principal | null;
  /** Aborts when the client goes away. A command that has begun goes on. */
  readonly signal?: AbortSignal;
}

/**
 * A response, in the terms of no transport.
 *
 * @public
 */
export interface AdminResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers, with their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; left out when there is none. Long lists come piece by piece. */
  readonly body?: string | AsyncIterable<Uint8Array>;
}
