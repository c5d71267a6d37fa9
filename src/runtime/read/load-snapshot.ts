/**
 * Loads a snapshot in pieces, for documents with very many sessions.
 */
import { readDocument, type GatewayDocument } from '../../resources/document.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { assertSignal } from '../host/argument.ts';
import { isObject } from '../host/check.ts';
import { inPieces } from '../host/waiting.ts';

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
  signal?.throwIfAborted();
  return inPieces(readDocument(document, options), signal);
}
