/**
 * The side of the interface: serves requests that arrive at a message port.
 */
import type { Admin, AdminRequest, Principal } from '../../index.ts';
import { assertArguments, createSink, notFound, senderOf } from '../mount.ts';
import { ended, listen, membersOf, type Port, type Reply } from './port.ts';

/**
 * Options of `serve`.
 *
 * @beta
 */
export interface ServeOptions {
  /**
   * Gives the caller that the host has authenticated; `undefined` for 401. Left out if the interface authenticates. The
   * request is as the client wrote it: the host must not trust the headers more than the client.
   */
  readonly principalOf?: (request: AdminRequest) => Principal | undefined | Promise<Principal | undefined>;
  /** Gives where a request comes from. Left out if all requests of the port are one peer. */
  readonly peerOf?: (request: AdminRequest) => string | undefined;
  /**
   * Gets errors inside the adapter, in `principalOf` or `peerOf`, and one for each message that does not come from
   * `connect`. Default: errors are ignored. Errors in `principalOf` and `peerOf` also go to `onError` of the interface.
   * If the function fails, the console gets the error once.
   */
  readonly onError?: (error: unknown) => void;
}

const optionNames = ['principalOf', 'peerOf', 'onError'] as const satisfies readonly (keyof ServeOptions)[];

/**
 * Serves an administration interface at a message port. The port must carry nothing else: if a worker has messages of
 * its own, use a `MessageChannel`.
 *
 * @param admin - the running interface
 * @param port - the side of the connection that is here
 * @param options - hooks of the host
 * @returns a function that ends the serving: requests under way end, and later ones reject at the other side. The port
 *   stays open. If the port closes, or the worker of the port exits, the serving ends by itself
 * @throws TypeError for something that is no interface or no port, for an unknown option, for an option of a wrong
 *   type, and for a port that is in use
 *
 * @example
 * ```ts
 * import { MessageChannel } from 'node:worker_threads';
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createClient } from 'gateway-admin-core/client';
 * import { connect, serve } from 'gateway-admin-core/message-port';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const admin = createAdmin({ snapshot, gateway: { apply: async () => {}, inspect: async () => 'in-place' } });
 * const { port1, port2 } = new MessageChannel();
 * serve(admin, port1);
 * const client = createClient(connect(port2)); // in a worker that got port2
 * await client.services.stop('Sales');
 * admin.snapshot.services.find('Sales')?.state; // => 'stopped'
 * port2.close();
 * ```
 *
 * @beta
 */
export function serve(admin: Pick<Admin, 'handle'>, port: Port, options: ServeOptions = {}): () => void {
  assertArguments(admin, options, { name: 'serve', optionNames });
  const tell = createSink(options.onError);
  const exchanges = new Map<number, Exchange>();
  const take = (message: unknown): void => {
    const { type, id, request } = membersOf(message);
    const exchange = exchanges.get(id as number);
    if (type === 'request' && typeof id === 'number' && exchange === undefined) {
      const onEnd = (): unknown => exchanges.delete(id);
      const begun = new Exchange(id, { port, onEnd, tell });
      exchanges.set(id, begun);
      void begun.answer(admin, request, options);
    } else if (type === 'pull' && exchange?.isIdle === true) void exchange.give();
    // Without an exchange, the last reply crossed the message.
    else if (type === 'leave') void exchange?.leave();
    else
      tell(new TypeError('A message does not come from connect: serve the interface at a port of its own'));
  };
  const end = (): void => {
    stop();
    for (const exchange of [...exchanges.values()]) void exchange.leave();
    port.postMessage(ended, []);
  };
  const stop = listen(port, { onMessage: take, onClose: end, onUnreadable: tell });
  return end;
}

interface ExchangeParts {
  readonly port: Port;
  readonly onEnd: () => unknown;
  readonly tell: (error: unknown) => void;
}

/**
 * A request of the other side, which can be anything: the interface checks the form. The signal is made when it is
 * read, because to make one takes longer than to find a resource, and most requests need none.
 */
class PortRequest {
  readonly method: unknown;
  readonly target: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly #signalOf: () => AbortSignal;

  constructor(
    { method, target, headers, body }: Partial<Record<string, unknown>>,
    signalOf: () => AbortSignal,
  ) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.body = body;
    this.#signalOf = signalOf;
  }

  get signal(): AbortSignal {
    return this.#signalOf();
  }
}

/** One request, from its arrival to the end of the response. */
class Exchange {
  /** Whether the client may pull the next piece. */
  isIdle = false;
  readonly #id: number;
  readonly #parts: ExchangeParts;
  #isGone = false;
  #gone: AbortController | undefined;
  #pieces: AsyncIterator<Uint8Array, unknown> | undefined;

  constructor(id: number, parts: ExchangeParts) {
    this.#id = id;
    this.#parts = parts;
  }

  /** Answers the request, which may be anything: the interface checks the form. */
  async answer(admin: Pick<Admin, 'handle'>, sent: unknown, options: ServeOptions): Promise<void> {
    const id = this.#id;
    try {
      const request = new PortRequest(membersOf(sent), () => this.#signal()) as AdminRequest;
      const handled = await admin.handle(
        Object.assign(request, senderOf(request, options, this.#parts.tell)),
      );
      const { body: answer, ...head } = handled.matched ? handled.response : notFound;
      if (typeof answer === 'object') {
        this.#pieces = answer[Symbol.asyncIterator]();
        // The client may have left before there was something to end.
        if (this.#isGone) await this.leave();
        else this.#goOn({ type: 'response', id, response: head, hasPieces: true });
      } else {
        const response = answer === undefined ? head : { ...head, body: answer };
        this.#finish({ type: 'response', id, response, hasPieces: false });
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Gives the next piece. */
  async give(): Promise<void> {
    const id = this.#id;
    this.isIdle = false;
    try {
      const result = await this.#pieces?.next();
      if (result === undefined || result.done === true) this.#finish({ type: 'piece', id, piece: undefined });
      // A copy, because the memory around the bytes may be of something else.
      else this.#goOn({ type: 'piece', id, piece: new Uint8Array(result.value) });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends what is under way, because nobody waits for the rest. */
  async leave(): Promise<void> {
    this.#parts.onEnd();
    this.#isGone = true;
    this.#gone?.abort();
    try {
      await this.#pieces?.return?.();
    } catch (error) {
      this.#parts.tell(error);
    }
  }

  /** Aborts when nobody waits for the answer any more. */
  #signal(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#isGone) this.#gone.abort();
    return this.#gone.signal;
  }

  #fail(error: unknown): void {
    // A client that leaves in the middle of a list is not an error.
    if (!this.#isGone) this.#parts.tell(error);
    this.#finish({ type: 'failed', id: this.#id });
  }

  #finish(reply: Reply): void {
    this.#parts.onEnd();
    this.#post(reply);
  }

  #goOn(reply: Reply): void {
    this.isIdle = true;
    this.#post(reply);
  }

  #post(reply: Reply): void {
    if (this.#isGone) return;
    const piece = reply.type === 'piece' ? reply.piece : undefined;
    this.#parts.port.postMessage(reply, piece === undefined ? [] : [piece.buffer as ArrayBuffer]);
  }
}
