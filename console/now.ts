/**
 * The clock of the page, for components that show the age of a value.
 */
import { usePage } from './page.ts';
import { createStore, useStore } from './store.ts';
import { whenText } from './time.ts';

/** One clock for all of them: a timer for each would draw the page as often as it shows ages. */
const seconds = createStore(0);
setInterval(() => seconds.set(seconds.get() + 1), 1000);

/** The time of the page's own clock, in milliseconds; anew each second. */
export function useNow(): number {
  useStore(seconds);
  return performance.now();
}

/** Gives what writes a time, for components that are drawn anew in another time zone. */
export function useWhen(): (at: number) => string {
  useStore(usePage().place, 'zone');
  return (at) => whenText(at);
}
