/**
 * The adapter for message ports: the interface in one thread, its clients in others. For `worker_threads`, and for the
 * workers of browsers.
 *
 * The client asks, and the interface gives one reply to each question: the response to a request, and the next piece of
 * its body to a pull. So a slow client delays nobody, and no piece waits in a queue.
 *
 * @packageDocumentation
 */
import type { Send } from '../client/send.ts';
import type { Admin, AdminRequest, AdminResponse, Principal } from '../index.ts';
import { assertArguments, createSink, notFound, senderOf } from './mount.ts';

/**
 * One side of a connection between threads: a `MessagePort`, a `Worker`, the `parentPort` of Node, or the global scope
 * of a worker in a browser.
 *
 * @beta
 */
export type Port = {
  /** Sends a message to the other side. */
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  /** Begins to receive; only a `MessagePort` has the method. */
  start?(): void;
} & (EmittingPort | TargetPort);

/** A port of Node. @internal */
interface EmittingPort {
  /** Adds a listener. */
  on(name: string, listener: (value: unknown) => void): unknown;
  /** Removes a listener. */
  off(name: string, listener: (value: unknown) => void): unknown;
}

/** A port of a browser. @internal */
interface TargetPort {
  /** Adds a listener. */
  addEventListener(name: string, listener: (event: unknown) => void): void;
  /** Removes a listener. */
  removeEventListener(name: string, listener: (event: unknown) => void): void;
}

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
  const exchanges = new Map<unknown, Exchange>();
  const reply = async (id: unknown, exchange: Exchange, part: Promise<AnswerPiece>): Promise<void> => {
    exchange.isIdle = false;
    try {
      const { done, value } = await part;
      if (exchange.hasLeft) {
        // The client may have left before there was something to end.
        await endPieces(exchange).catch(tell);
        return;
      }
      exchange.isIdle = true;
      port.postMessage({ id, done, value } satisfies Reply, ArrayBuffer.isView(value) ? [value.buffer] : []);
      if (done === true) exchanges.delete(id);
    } catch (error) {
      // A client that leaves in the middle of a list is not an error.
      if (exchange.hasLeft) return;
      exchanges.delete(id);
      tell(error);
      port.postMessage({ id, isFailed: true } satisfies Reply, []);
    }
  };
  const leave = (id: unknown, exchange: Exchange): void => {
    exchanges.delete(id);
    exchange.hasLeft = true;
    exchange.gone?.abort();
    endPieces(exchange).catch(tell);
  };
  const take = (message: unknown): void => {
    const { type, id, request } = membersOf(message);
    const exchange = exchanges.get(id);
    if (type === 'request' && typeof id === 'number' && exchange === undefined) {
      const begun: Exchange = { hasLeft: false, gone: undefined, pieces: undefined, isIdle: false };
      const asked = new PortRequest(request, begun) as unknown as AdminRequest;
      exchanges.set(id, begun);
      void reply(id, begun, responseTo(admin, Object.assign(asked, senderOf(asked, options, tell)), begun));
    } else if (type === 'pull' && exchange?.isIdle === true) void reply(id, exchange, pieceOf(exchange));
    else if (type !== 'leave')
      tell(new TypeError('A message does not come from connect: serve the interface at a port of its own'));
    // Without an exchange, the last reply crossed the message.
    else if (exchange !== undefined) leave(id, exchange);
  };
  const end = (): void => {
    stop();
    for (const [id, exchange] of [...exchanges]) leave(id, exchange);
    port.postMessage(ended, []);
  };
  const stop = listen(port, { onMessage: take, onClose: end, onUnreadable: tell });
  return end;
}

/**
 * Carries requests to an interface that `serve` serves at the other side of a message port.
 *
 * Requests reject when the other side ends: its `serve` is ended, its port is closed, or its worker exits. Browsers do
 * not tell that a worker is gone: there, give requests a `signal`. If the body of a response comes in pieces, read the
 * pieces to the end, call `return` of their iterator, or abort the `signal` of the request.
 *
 * @param port - the side of the connection that is here. Close the port at the end, because an open port keeps Node
 *   running
 * @returns the function for `createClient`. The body of a request must be text or bytes. `principal` and `peer` stay
 *   here: the other side finds the caller
 * @throws TypeError for something that is no port, and for a port that is in use
 *
 * @example
 * ```ts
 * import { MessageChannel } from 'node:worker_threads';
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { connect, serve } from 'gateway-admin-core/message-port';
 *
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const { port1, port2 } = new MessageChannel();
 * serve(createAdmin({ snapshot: createSnapshot({}), gateway }), port1);
 * const send = connect(port2);
 * (await send({ method: 'GET', target: '/services', headers: {} })).body; // => '[]'
 * port2.close();
 * ```
 *
 * @beta
 */
export function connect(port: Port): Send {
  const calls = new Map<unknown, Call>();
  let lastId = 0;
  let end: Error | undefined;
  const endAll = (error: Error): void => {
    end ??= error;
    for (const call of [...calls.values()]) call.fail(error);
  };
  const checkSignals = (): void => {
    for (const call of [...calls.values()]) if (call.signal?.aborted === true) call.leave(call.signal.reason);
  };
  // One listener for each signal, because Node warns of a leak when a signal has many.
  const counts = new Map<AbortSignal, number>();
  const watch = (signal: AbortSignal): void => {
    const count = counts.get(signal) ?? 0;
    counts.set(signal, count + 1);
    if (count === 0) signal.addEventListener('abort', checkSignals);
  };
  const unwatch = (signal: AbortSignal): void => {
    const count = counts.get(signal) ?? 0;
    if (count > 1) counts.set(signal, count - 1);
    else {
      counts.delete(signal);
      signal.removeEventListener('abort', checkSignals);
    }
  };
  listen(port, {
    onMessage: (message) => {
      const reply: Reply & Partial<typeof ended> = membersOf(message);
      if (reply.type === ended.type) endAll(new Error(hasEnded));
      // The reply may be late: the call was left.
      else calls.get(reply.id)?.take(reply);
    },
    onClose: () => endAll(new Error(hasEnded)),
    onUnreadable: (cause) => endAll(new Error(strange, { cause })),
  });
  return async ({ method, target, headers, body, signal }) => {
    if (typeof body === 'function') throw new TypeError(noFunction);
    signal?.throwIfAborted();
    if (end !== undefined) throw end;
    const id = (lastId += 1);
    const call = new Call(signal, {
      post: (question) => port.postMessage({ ...question, id }, []),
      onEnd: () => {
        calls.delete(id);
        if (signal !== undefined) unwatch(signal);
      },
    });
    calls.set(id, call);
    if (signal !== undefined) watch(signal);
    return responseOf(call, { type: 'request', request: { method, target, headers, body } });
  };
}

/** What the client asks. The message `leave` gets no reply: the client does not want the rest. */
type Question = { readonly type: 'request'; readonly request: object } | { readonly type: 'pull' | 'leave' };

/** What the interface replies: a part of the answer, and whether it is the last one. */
interface Reply {
  readonly id?: unknown;
  readonly done?: boolean | undefined;
  readonly value?: unknown;
  readonly isFailed?: true;
}

/** The message of an interface that serves no more. */
const ended = { type: 'ended' } as const;

/** The members of a message, which may be anything. */
function membersOf(message: unknown): Readonly<Record<string, unknown>> {
  return typeof message === 'object' && message !== null ? { ...message } : {};
}

/** One request at the side of the interface, until the last reply. */
interface Exchange {
  /** Whether nobody waits for the rest. */
  hasLeft: boolean;
  /** Aborts when the client leaves; `undefined` until the interface reads the signal. */
  gone: AbortController | undefined;
  /** The body of the response, if it comes in pieces. */
  pieces: AsyncIterator<Uint8Array, unknown> | undefined;
  /** Whether the client may pull the next part. */
  isIdle: boolean;
}

/** A part of the answer: the response, or the next piece of its body. */
interface AnswerPiece {
  readonly done?: boolean | undefined;
  readonly value: Omit<AdminResponse, 'body'> | Uint8Array<ArrayBuffer> | undefined;
}

async function responseTo(
  admin: Pick<Admin, 'handle'>,
  request: AdminRequest,
  exchange: Exchange,
): Promise<AnswerPiece> {
  const handled = await admin.handle(request);
  const response = handled.matched ? handled.response : notFound;
  if (typeof response.body !== 'object') return { done: true, value: response };
  const { body, ...value } = response;
  exchange.pieces = body[Symbol.asyncIterator]();
  return { done: false, value };
}

async function pieceOf({ pieces }: Exchange): Promise<AnswerPiece> {
  const next = await pieces?.next();
  if (next === undefined || next.done === true) return { done: true, value: undefined };
  // A copy, because the memory around the bytes may be of something else.
  return { done: false, value: new Uint8Array(next.value) };
}

/** Ends the pieces once, because nobody waits for the rest. */
async function endPieces(exchange: Exchange): Promise<void> {
  const { pieces } = exchange;
  exchange.pieces = undefined;
  await pieces?.return?.();
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
  readonly #exchange: Exchange;

  constructor(sent: unknown, exchange: Exchange) {
    const { method, target, headers, body } = membersOf(sent);
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.body = body;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    const gone = (this.#exchange.gone ??= new AbortController());
    if (this.#exchange.hasLeft) gone.abort();
    return gone.signal;
  }
}

const hasEnded =
  'The other side of the message port has ended. A command that was under way may have been carried out: read the ' +
  'state.';
const strange =
  'The other side of the message port sent something that is no reply. It must call serve, and send nothing else.';
const failed =
  'The interface broke off the answer because of an error. The error went to onError of serve, at the other side.';
const noFunction = 'The body must be text or bytes: a message port carries no functions';

/** What one waits for at the side of the client. */
interface Waiting {
  readonly isPart: (value: unknown) => boolean;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** One request at the side of the client, until the last reply. */
class Call {
  readonly signal: AbortSignal | undefined;
  readonly #post: (question: Question) => void;
  readonly #onEnd: () => void;
  #waiting: Waiting | undefined;
  /** What every question gets after the end. */
  #over: (() => Reply) | undefined;

  constructor(
    signal: AbortSignal | undefined,
    { post, onEnd }: { readonly post: (question: Question) => void; readonly onEnd: () => void },
  ) {
    this.signal = signal;
    this.#post = post;
    this.#onEnd = onEnd;
  }

  /** Asks for a part of the answer. */
  async ask(question: Question, isPart: Waiting['isPart']): Promise<Reply> {
    if (this.#over !== undefined) return this.#over();
    return new Promise((resolve, reject) => {
      this.#waiting = { isPart, resolve, reject };
      try {
        this.#post(question);
      } catch (error) {
        // A program without types may give something that no message can carry.
        this.fail(error);
      }
    });
  }

  take(reply: Reply): void {
    const { done, value, isFailed } = reply;
    const waiting = this.#waiting;
    if (isFailed === true) this.fail(new Error(failed));
    else if (typeof done !== 'boolean' || waiting?.isPart(value) !== true) this.leave(new Error(strange));
    else {
      this.#waiting = undefined;
      if (done) this.#end(() => reply);
      waiting.resolve(reply);
    }
  }

  /** Ends the call: the question under way and every later one are rejected. */
  fail(error: unknown): void {
    this.#end(() => {
      throw error;
    });
    this.#waiting?.reject(error);
  }

  /** Ends the call as failed, and tells the other side. */
  leave(error: unknown): void {
    this.fail(error);
    this.#post({ type: 'leave' });
  }

  /** Ends the call, and tells the other side: nobody wants the rest. */
  finish(): void {
    this.#end(() => last);
    this.#waiting?.resolve(last);
    this.#post({ type: 'leave' });
  }

  #end(over: () => Reply): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#onEnd();
  }
}

const last = { done: true, value: undefined } as const;

/** Asks for the response. The pieces of its body are pulled later. */
async function responseOf(call: Call, question: Question): Promise<AdminResponse> {
  const { done, value } = await call.ask(question, isResponse);
  const response = value as AdminResponse;
  return done === true ? response : { ...response, body: piecesOf(call) };
}

function isResponse(value: unknown): boolean {
  return typeof membersOf(value)['status'] === 'number';
}

function isPiece(value: unknown): boolean {
  return value === undefined || ArrayBuffer.isView(value);
}

type Piece = IteratorResult<Uint8Array, undefined>;

function piecesOf(call: Call): AsyncIterableIterator<Uint8Array, undefined> {
  const pull = async (): Promise<Piece> => {
    const { done, value } = await call.ask({ type: 'pull' }, isPiece);
    return { done, value } as Piece;
  };
  let turn: Promise<unknown> = Promise.resolve();
  return {
    next: () => {
      // Two calls of `next` at the same time get two pieces.
      const result = turn.then(pull, pull);
      turn = result;
      return result;
    },
    return: () => {
      // Not in turn: the next piece of a stream of events may never come.
      call.finish();
      return Promise.resolve(last);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The ports that carry a connection: a second one would get the replies of the first. */
const inUse = new WeakSet<Port>();

/**
 * What one side does with a message, when the other side has closed the port or its worker has exited, and with a
 * message that the platform could not read.
 */
type Listeners = Record<'onMessage' | 'onClose' | 'onUnreadable', (given: unknown) => void>;

/** Listens at a port. Gives a function that ends the listening. */
function listen(port: Port, { onMessage, onClose, onUnreadable }: Listeners): () => void {
  assertPort(port);
  if (inUse.has(port)) throw new TypeError('The message port is in use: serve or connect a port once');
  inUse.add(port);
  const isEmitting = 'on' in port;
  const onEvent = (event: unknown): void => onMessage((event as { readonly data: unknown }).data);
  const message = isEmitting ? onMessage : onEvent;
  const listeners = Object.entries({ message, messageerror: onUnreadable, close: onClose, exit: onClose });
  for (const [name, listener] of listeners)
    if (isEmitting) port.on(name, listener);
    else port.addEventListener(name, listener);
  port.start?.();
  return () => {
    inUse.delete(port);
    for (const [name, listener] of listeners)
      if (isEmitting) port.off(name, listener);
      else port.removeEventListener(name, listener);
  };
}

function assertPort(port: Port): void {
  const { postMessage, on, addEventListener } = Object(port) as Partial<EmittingPort & TargetPort & Port>;
  if (typeof postMessage === 'function' && typeof (on ?? addEventListener) === 'function') return;
  throw new TypeError('port must be a message port, such as a side of new MessageChannel()');
}
