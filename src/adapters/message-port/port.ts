/**
 * Message ports of any platform, and the messages that they carry.
 *
 * The client asks, and the interface gives one reply to each question: the head of the response to a request, and the
 * next piece of the body to a pull. So a slow client delays nobody, and no piece waits in a queue.
 */
import type { AdminRequest, AdminResponse } from '../../index.ts';

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

/** What the client asks. `leave` gets no reply: the client does not want the rest. @internal */
export type Question =
  | {
      readonly type: 'request';
      readonly id: number;
      readonly request: Pick<AdminRequest, 'method' | 'target' | 'headers'> & {
        readonly body?: string | Uint8Array;
      };
    }
  | { readonly type: 'pull' | 'leave'; readonly id: number };

/** What the interface replies. @internal */
export type Reply =
  | {
      readonly type: 'response';
      readonly id: number;
      readonly response: Omit<AdminResponse, 'body'> & { readonly body?: string };
      /** Whether the client pulls the body. */
      readonly hasPieces: boolean;
    }
  | {
      readonly type: 'piece';
      readonly id: number;
      /** `undefined` at the end of the body. */
      readonly piece: Uint8Array | undefined;
    }
  | { readonly type: 'failed'; readonly id: number };

/** The message of an interface that serves no more. @internal */
export const ended = { type: 'ended' } as const;

/** The members of a message, which may be anything. @internal */
export function membersOf(message: unknown): Readonly<Record<string, unknown>> {
  return typeof message === 'object' && message !== null ? { ...message } : {};
}

/** What one side does with what arrives. @internal */
export interface Listeners {
  readonly onMessage: (message: unknown) => void;
  /** Called when the other side has closed the port, or its worker has exited. */
  readonly onClose: () => void;
  /** Called for a message that the platform could not read. */
  readonly onUnreadable: (event: unknown) => void;
}

/** The ports that carry a connection: a second one would get the replies of the first. */
const inUse = new WeakSet<Port>();

/**
 * Listens at a port.
 *
 * @returns a function that ends the listening
 * @throws TypeError for a value that is no port, and for a port that is in use
 * @internal
 */
export function listen(port: Port, { onMessage, onClose, onUnreadable }: Listeners): () => void {
  assertPort(port);
  const isEmitting = 'on' in port;
  const listeners = {
    message: isEmitting
      ? onMessage
      : (event: unknown) => onMessage((event as { readonly data: unknown }).data),
    messageerror: onUnreadable,
    close: onClose,
    exit: onClose,
  };
  if (inUse.has(port)) throw new TypeError('The message port is in use: serve or connect a port once');
  inUse.add(port);
  for (const [name, listener] of Object.entries(listeners)) {
    if (isEmitting) port.on(name, listener);
    else port.addEventListener(name, listener);
  }
  port.start?.();
  return () => {
    inUse.delete(port);
    for (const [name, listener] of Object.entries(listeners)) {
      if (isEmitting) port.off(name, listener);
      else port.removeEventListener(name, listener);
    }
  };
}

function assertPort(port: Port): void {
  const { postMessage, on, addEventListener } = Object(port) as Partial<EmittingPort & TargetPort & Port>;
  if (typeof postMessage === 'function' && typeof (on ?? addEventListener) === 'function') return;
  throw new TypeError('port must be a message port, such as a side of new MessageChannel()');
}
