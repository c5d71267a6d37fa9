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

/**
 * Creates a store.
 *
 * @param first - the first value
 * @param later - calls a function later: the listeners are then called once for all changes until then. Left out for a
 *   call after each change
 */
export function createStore<T>(first: T, later = (tell: () => void): unknown => tell()): Store<T> {
  let value = first;
  let isTelling = false;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (next === value) return;
      value = next;
      if (isTelling) return;
      isTelling = true;
      later(() => {
        isTelling = false;
        for (const listener of [...listeners]) listener();
      });
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * The value of a store, in a component that is drawn anew after each change; or some members of the value, in a
 * component that is drawn anew after a change of one of them.
 */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, K extends keyof T>(store: Store<T>, ...members: readonly K[]): Pick<T, K>;
export function useStore<T>(store: Store<T>, ...members: readonly (keyof T)[]): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const draw = (): void =>
      setValue((before) => {
        const now = store.get();
        const isShown = members.length > 0 && members.every((each) => before[each] === now[each]);
        return isShown ? before : now;
      });
    // The value may have changed between the drawing and now.
    draw();
    return store.follow(draw);
  }, [store]);
  return value;
}
