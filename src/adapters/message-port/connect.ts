/**
 * The side of the clients: carries requests through a message port.
 */
import type { Send } from '../../client/send.ts';
import type { AdminRequest, AdminResponse } from '../../index.ts';
import { ended, listen, membersOf, type Port, type Question, type Reply } from './port.ts';

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
  const calls = new Map<number, Call>();
  const signals = new WatchedSignals(() => {
    for (const call of [...calls.values()]) call.checkSignal();
  });
  let last = 0;
  let end: Error | undefined;
  const fail = (error: Error): void => {
    end ??= error;
    for (const call of [...calls.values()]) call.fail(error);
  };
  const take = (message: unknown): void => {
    const { type, id } = membersOf(message);
    if (type === ended.type) fail(new Error(gone));
    // The reply may be late: the call was left.
    else calls.get(id as number)?.take(message as Reply);
  };
  listen(port, {
    onMessage: take,
    onClose: () => fail(new Error(gone)),
    onUnreadable: (cause) => fail(new Error(strange, { cause })),
  });
  return async (request) => {
    if (typeof request.body === 'function') throw new TypeError(noFunction);
    request.signal?.throwIfAborted();
    if (end !== undefined) throw end;
    const id = (last += 1);
    signals.watch(request.signal);
    const onEnd = (): void => {
      calls.delete(id);
      signals.unwatch(request.signal);
    };
    const call = new Call(id, { port, onEnd, signal: request.signal });
    calls.set(id, call);
    return call.send(request);
  };
}

const gone =
  'The other side of the message port has ended. A command that was under way may have been carried out: read the state.';
const strange =
  'The other side of the message port sent something that is no reply. It must call serve, and send nothing else.';
const failed =
  'The interface broke off the answer because of an error. The error went to onError of serve, at the other side.';
const noFunction = 'The body must be text or bytes: a message port carries no functions';

/** Whether a reply has what its type says. */
function isWhole(reply: Reply): boolean {
  if (reply.type === 'response') return typeof membersOf(reply.response)['status'] === 'number';
  return reply.type === 'failed' || reply.piece === undefined || ArrayBuffer.isView(reply.piece);
}

interface CallParts {
  readonly port: Port;
  readonly signal: AbortSignal | undefined;
  readonly onEnd: () => void;
}

interface Waiting {
  readonly type: Reply['type'];
  readonly resolve: (reply: Reply | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** One request, and the pieces of its response. */
class Call implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #id: number;
  readonly #parts: CallParts;
  /** Who waits for the reply. */
  #waiting: Waiting | undefined;
  #isOver = false;
  /** Why the call has failed. */
  #failure: { readonly error: unknown } | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(id: number, parts: CallParts) {
    this.#id = id;
    this.#parts = parts;
  }

  async send({ method, target, headers, body }: AdminRequest): Promise<AdminResponse> {
    const request = { method, target, headers, body } as Extract<Question, { type: 'request' }>['request'];
    const reply = await this.#ask('response', { type: 'request', id: this.#id, request });
    if (reply?.type !== 'response') throw new Error(strange);
    if (reply.hasPieces) return { ...reply.response, body: this };
    this.#end();
    return reply.response;
  }

  /** Takes a reply. */
  take(reply: Reply): void {
    if (reply.type === 'failed') this.fail(new Error(failed));
    else if (reply.type === this.#waiting?.type && isWhole(reply))
      this.#settle(({ resolve }) => resolve(reply));
    else {
      this.#leave();
      this.fail(new Error(strange));
    }
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#end();
    this.#settle(({ reject }) => reject(error));
  }

  /** Leaves, if the signal of the request has aborted. */
  checkSignal(): void {
    const { signal } = this.#parts;
    if (signal?.aborted !== true) return;
    this.#leave();
    this.fail(signal.reason);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Two calls of `next` at the same time get two pieces.
    const result = this.#turn.then(() => this.#pull());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Not in turn: the next piece of a stream of events may never come.
    this.#leave();
    this.#settle(({ resolve }) => resolve(undefined));
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #pull(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOver) return { done: true, value: undefined };
    const reply = await this.#ask('piece', { type: 'pull', id: this.#id });
    if (reply?.type === 'piece' && reply.piece !== undefined) return { done: false, value: reply.piece };
    this.#end();
    return { done: true, value: undefined };
  }

  #ask(type: Reply['type'], question: Question): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting = { type, resolve, reject };
      try {
        this.#parts.port.postMessage(question, []);
      } catch (error) {
        // A program without types may give something that no message can carry.
        this.fail(error);
      }
    });
  }

  #settle(how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) how(waiting);
  }

  #leave(): void {
    this.#end();
    this.#parts.port.postMessage({ type: 'leave', id: this.#id } satisfies Question, []);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.onEnd();
  }
}

/** The signals of the calls. One listener for each signal, because Node warns of a leak when a signal has many. */
class WatchedSignals {
  readonly #counts = new Map<AbortSignal, number>();
  readonly #onAbort: () => void;

  constructor(onAbort: () => void) {
    this.#onAbort = onAbort;
  }

  watch(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    // To add the same listener again does nothing.
    signal.addEventListener('abort', this.#onAbort);
    this.#counts.set(signal, (this.#counts.get(signal) ?? 0) + 1);
  }

  unwatch(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const count = (this.#counts.get(signal) ?? 0) - 1;
    if (count > 0) this.#counts.set(signal, count);
    else {
      this.#counts.delete(signal);
      signal.removeEventListener('abort', this.#onAbort);
    }
  }
}
