/**
 * Messages: requests and responses as plain values, independent of any transport. Adapters translate between these
 * values and their transport.
 */

/**
 * The caller of a request, after authentication.
 *
 * @public
 */
export interface Principal {
  /** Name of the caller, for authorisation and for the events. */
  readonly name: string;
}

/**
 * A request, independent of any transport.
 *
 * @public
 */
export interface AdminRequest {
  /** Method, in upper case. */
  readonly method: string;
  /** Path and query as the client wrote them, such as `/services?range=0-9`. */
  readonly target: string;
  /** Headers, with names in any case. Hooks get the names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body, or a function that reads the body. The function is called at most once, and only if the route needs a
   * body. The function may stop reading one byte after the given limit.
   */
  readonly body?: Uint8Array | string | ((limit: number) => Promise<Uint8Array>);
  /**
   * The caller that the host has authenticated, or a function that finds the caller; `null` if the host has found none,
   * which is answered with 401. The function is called at most once, and only if the interface has the path. If it
   * rejects, the answer is a 500, and a 503 if it does not answer within `hashDeadlineMs`. If the member is present,
   * `authenticate` is not called.
   */
  readonly principal?: Principal | null | (() => Promise<Principal | null>);
  /**
   * Where the request comes from, such as the IP address of the client. Waiting places for log-ins are shared out by
   * peer. All requests without the member are one peer.
   */
  readonly peer?: string;
  /**
   * Aborts when the client disconnects. A command that has not started is cancelled; a started command continues. A
   * stream of events ends.
   */
  readonly signal?: AbortSignal;
}

/** A request to an endpoint of the host. @internal */
export interface HostRequest extends Omit<AdminRequest, 'headers'> {
  /** Headers, with names in any case, such as those of `node:http`. A list of values is 400 `header-invalid`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The headers of every response: no cache stores it, and no browser takes it for another type. @internal */
export const secureHeaders = Object.freeze({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
});

/**
 * A response, independent of any transport.
 *
 * @public
 */
export interface AdminResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body; left out if there is none. A long list and a stream of events arrive in chunks. The stream does not end
   * by itself: call `return` of its iterator, or abort `signal`, when the client disconnects.
   */
  readonly body?: string | AsyncIterable<Uint8Array>;
}
