/**
 * A store: one value that changes, and those who are told.
 */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(this: void): T;
  set(this: void, value: T): void;
  /** Calls a function after each change. Gives a function that ends the calls. */
  follow(this: void, listener: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (next === value) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store, in a component that is drawn anew after each change. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const draw = (): void => setValue(() => store.get());
    // The value may have changed between the drawing and now.
    draw();
    return store.follow(draw);
  }, [store]);
  return value;
}
