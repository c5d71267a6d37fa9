/**
 * Asking: what a component reads by itself, and reads again after changes.
 */
import { useEffect, useRef } from 'preact/hooks';

/** How long after an answer the next request is sent, in milliseconds. */
const settleMs = 60;

/**
 * Sends a request, and sends it again after changes. However many changes there are, the next request is sent a moment
 * after the answer to the last one.
 *
 * @param ask - sends the request; left out while nothing can be asked. Never rejects
 * @param use - takes an answer
 * @param subject - what the answer is about: after a change, the answer to an earlier request is no longer used
 * @param stamps - what changes when the answer may be another one
 */
export function useAsking<T>(
  ask: (() => Promise<T>) | undefined,
  use: (answer: T) => void,
  subject: readonly unknown[],
  stamps: readonly unknown[],
): void {
  const latest = useRef({ ask, use });
  latest.current = { ask, use };
  const want = useRef((): void => undefined);
  useEffect(() => {
    let [isOver, isBusy, isWanted] = [false, false, false];
    // A request takes time, in which the subject can change.
    const isLate = (): boolean => isOver;
    const work = async (): Promise<void> => {
      isBusy = true;
      while (isWanted && !isLate()) {
        isWanted = false;
        const answer = await latest.current.ask?.();
        if (isLate()) return;
        if (answer !== undefined) latest.current.use(answer);
        await new Promise((resolve) => setTimeout(resolve, settleMs));
      }
      isBusy = false;
    };
    want.current = () => {
      isWanted = true;
      if (!isBusy) void work();
    };
    return () => {
      isOver = true;
    };
  }, subject);
  useEffect(() => want.current(), [...subject, ...stamps]);
}
