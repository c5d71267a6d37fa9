/**
 * Growing pauses between the tries of a call that fails.
 */

/** The first pause and the longest one, in milliseconds. @internal */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pauses between the tries of what the interface does by itself, such as to follow another node. @internal */
export const tryPauses: Pauses = { firstMs: 1000, longestMs: 60_000 };

/** Gives pauses in milliseconds, without end: each is twice as long as the one before, up to the longest. @internal */
export function* backoff({ firstMs, longestMs }: Pauses): Generator<number, never> {
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, longestMs)) yield pauseMs;
}
