/**
 * Additions: what only a document has, without what was deleted on purpose.
 */
import type { Context } from '../core/decision.ts';
import { linkKey } from '../core/link.ts';
import { collectionOf, linkOf } from '../snapshot/state.ts';
import {
  adoptDocument,
  combineNamed,
  namedResources,
  onlyGiven,
  type Decision,
  type Transition,
} from './index.ts';
import { createListener, linkOfListener, listenerOf } from './listening.ts';
import { linksOf } from './shared/use.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Creates what only the document has: resources, and listeners of services in use. What was deleted stays out, and so
 * does a resource that lists it.
 *
 * @param deleted - the keys of the links of what was deleted
 * @internal
 */
export function adoptAdditions(
  snapshot: Snapshot,
  given: Snapshot,
  context: Context,
  deleted: ReadonlySet<string>,
): Decision {
  const isIn = (link: string): boolean => !deleted.has(linkKey(link));
  const added = new Set(onlyGiven(snapshot, given));
  const only = namedResources.flatMap((named) =>
    [...collectionOf(given, named)].flatMap((thing) => {
      const link = linkOf(named.collection, thing);
      return added.has(link) && [link, ...linksOf(named, thing)].every(isIn) ? [link] : [];
    }),
  );
  const listeners = [...given.services].flatMap(({ name, listeners: wanted }) => {
    const service = snapshot.services.find(name);
    if (service === undefined) return [];
    return wanted
      .filter((each) => listenerOf(service, each.name) === undefined && isIn(linkOfListener(service, each)))
      .map(
        (each): Transition =>
          (now, within) =>
            createListener(now, name, each, within),
      );
  });
  const resources: Transition = (now, within) => adoptDocument(now, given, within, { only });
  return combineNamed([resources, ...listeners])(snapshot, context);
}
