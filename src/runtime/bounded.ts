/**
 * Bounded work: a few at a time, a few more waiting, the rest sent away.
 */

/**
 * Bounds how much of some costly work is done at the same time.
 *
 * @param work - the work
 * @param bounds - how many run at the same time, and how many may wait
 * @returns the same work; it gives `undefined`, at once, when too many wait already
 * @internal
 */
export function bounded<A, R>(
  work: (argument: A) => Promise<R>,
  { running: most, waiting: mostWaiting }: { readonly running: number; readonly waiting: number },
): (argument: A) => Promise<R | undefined> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (argument) => {
    if (running >= most) {
      if (waiting.length >= mostWaiting) return undefined;
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work(argument);
    } finally {
      // Whoever waits takes the place over.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
