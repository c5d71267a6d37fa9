/**
 * An abort signal that counts its listeners.
 */

/** Gives a signal, what aborts it, and the number of listeners that were added and not removed. */
export function listenedSignal(): {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly listeners: () => number;
} {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    count += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    count -= 1;
    remove(...given);
  };
  return { signal, abort: () => controller.abort(), listeners: () => count };
}
