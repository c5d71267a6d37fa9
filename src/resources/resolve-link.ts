/**
 * Links that a program resolves: the resource of any kind that a link names.
 */
import { parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import { longestLink } from '../core/reference.ts';
import { find } from '../snapshot/state.ts';
import { findSession } from './shared/look-up.ts';
import { assertSnapshot, collections, type LinkedResource, type Snapshot } from './snapshot.ts';

/**
 * Finds the resource that a link names, such as the link in an event, in a list of servers or from a client.
 *
 * @param snapshot - the state
 * @param link - a link such as `/services/Sales`, with the name in any spelling that the interface accepts
 * @returns the resource with its kind; `undefined` if there is no such resource, or the text is no link of one resource
 * @throws TypeError for a snapshot that does not come from {@link createSnapshot}, or a link that is not a string
 *
 * @example
 * ```ts
 * import { createSnapshot, resolveLink } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const found = resolveLink(snapshot, '/services/sales');
 * found?.kind === 'service' && found.service.router; // => 'readconnroute'
 * resolveLink(snapshot, '/services/Stock'); // => undefined
 * ```
 *
 * @see docs/spec-choices.md 4.
 *
 * @public
 */
export function resolveLink(snapshot: Snapshot, link: string): LinkedResource | undefined {
  assertSnapshot(snapshot);
  if (typeof link !== 'string') throw new TypeError('The link must be a string');
  const [, collection = ''] = link.split('/', 2);
  const name = link.length > longestLink ? undefined : parseLink(link, collection);
  if (name === undefined) return undefined;
  if (collection === 'sessions') {
    const found = findSession(snapshot, { id: name });
    return found.ok ? { kind: 'session', session: found.value } : undefined;
  }
  const named = collections.find((each) => each.collection === collection);
  const entity = named && find(snapshot, named, nameKey(name));
  // The table of collections connects the kind with the resource. The compiler cannot derive that.
  return entity && ({ kind: named.singular, [named.singular]: entity } as unknown as LinkedResource);
}
