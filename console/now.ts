/**
 * The clock of the page, for components that show the age of a value.
 */
import { createStore, useStore } from './store.ts';

/** One clock for all of them: a timer for each would draw the page as often as it shows ages. */
const seconds = createStore(0);
setInterval(() => seconds.set(seconds.get() + 1), 1000);

/** The time of the page's own clock, in milliseconds; anew each second. */
export function useNow(): number {
  useStore(seconds);
  return performance.now();
}
