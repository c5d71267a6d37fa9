/**
 * Loads a snapshot in pieces, for documents with very many sessions.
 */
import { nextTurn } from '../../ports/system-clock.ts';
import { readDocument, type GatewayDocument } from '../../resources/document.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { assertSignal } from '../host/argument.ts';
import { isObject } from '../host/check.ts';
import { beginPiece } from '../host/waiting.ts';

/** The number of resources and sessions between two looks at the clock. */
const stride = 32;

/**
 * Creates a snapshot from a gateway document as {@link createSnapshot} does, in pieces: after some
 * milliseconds, other work of the process gets its turn. The whole takes a little longer than `createSnapshot`.
 *
 * The document must not change before the promise settles.
 *
 * @param document - the document; every part is optional
 * @param options - those of {@link createSnapshot}, and `signal`, which ends the loading
 * @returns a deep-frozen snapshot of revision 0; rejects with every error that `createSnapshot` throws, or with the
 *   reason of the signal
 *
 * @example
 * ```ts
 * import { loadSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = await loadSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * snapshot.services.size; // => 1
 * ```
 *
 * @public
 */
export async function loadSnapshot(
  document: GatewayDocument,
  options: {
    readonly epoch?: string;
    readonly secretParameters?: readonly string[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<Snapshot> {
  const given: unknown = options;
  if (!isObject(given)) throw new TypeError('The options of loadSnapshot must be an object');
  const { signal } = options;
  assertSignal(signal);
  const reading = readDocument(document, options);
  for (;;) {
    signal?.throwIfAborted();
    const isOver = beginPiece();
    do {
      const snapshot = readSome(reading);
      if (snapshot !== undefined) return snapshot;
    } while (!isOver());
    await nextTurn();
  }
}

/** Reads some resources or sessions. Gives the snapshot after the last one. */
function readSome(reading: Iterator<undefined, Snapshot>): Snapshot | undefined {
  for (let count = 0; count < stride; count += 1) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
  return undefined;
}
