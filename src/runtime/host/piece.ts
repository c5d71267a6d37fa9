/**
 * Pieces: long work on the main thread gives other work of the process its turn after some milliseconds.
 */

/** The longest piece, in milliseconds. A step that cannot be cut may take longer. */
const pieceMs = 5;

/**
 * Begins a piece.
 *
 * @returns tells whether the piece is over
 * @internal
 */
export function beginPiece(): () => boolean {
  const begin = performance.now();
  return () => performance.now() - begin >= pieceMs;
}
