/**
 * Abort listeners: one listener on a signal for any number of waiting callers. Runtimes warn of a leak when a signal
 * has more than a few listeners.
 */

/** The callbacks that wait for one signal, and the listener that calls them. */
interface Shared {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listeners = new WeakMap<AbortSignal, Shared>();

/**
 * Calls a function when a signal aborts. Does nothing for a signal that has aborted before.
 *
 * @param signal - the signal
 * @param callback - a function of its own for each call
 * @returns a function that ends the waiting. The last one to end removes the listener from the signal
 * @internal
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const shared = listeners.get(signal) ?? listenTo(signal);
  shared.callbacks.add(callback);
  return () => {
    if (!shared.callbacks.delete(callback) || shared.callbacks.size > 0) return;
    signal.removeEventListener('abort', shared.listener);
    listeners.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  const shared = { callbacks, listener };
  signal.addEventListener('abort', listener);
  listeners.set(signal, shared);
  return shared;
}
