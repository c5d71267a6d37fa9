/**
 * The clock of the page, for components that show the age of a value.
 */
import { useEffect, useState } from 'preact/hooks';

/** The time of the page's own clock, in milliseconds; anew each second. */
export function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
