/**
 * Searches: reads through a list for the elements that meet criteria without an index, a piece in each turn of the
 * event loop.
 */
import type { Listing, Search } from '../../http/route.ts';
import { nextTurn } from '../../ports/system-clock.ts';

/** The number of candidates that one turn of the event loop looks at. */
const pieceLength = 5000;

/**
 * Finds the elements of a search. A long search is cut into pieces, so that the event loop is not blocked. All pieces
 * look at one snapshot.
 *
 * @param selected - a list whose elements are known, or a search
 * @param signal - aborts the search when the client disconnects
 * @throws the reason of the signal
 * @internal
 */
export async function findAll(selected: Listing | Search, signal?: AbortSignal): Promise<Listing> {
  if ('slice' in selected) return selected;
  const found: unknown[] = [];
  for (let start = 0; start < selected.candidates; start += pieceLength) {
    if (start > 0) await nextTurn();
    signal?.throwIfAborted();
    for (const each of selected.wanted(start, pieceLength)) found.push(each);
  }
  return selected.listing(found);
}
