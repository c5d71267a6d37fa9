/**
 * Aligning: what a node shows as the whole fleet has it, however its gateway has come there. The definitions of
 * resources are equal once the gateway has followed. Which command has made them, the order of collections, and since
 * when and by whom the interface is read-only, are what the log says. The order of listeners is each node's own.
 */
import type { FleetPlace } from '../core/decision.ts';
import { sameJson, type Json } from '../json/value.ts';
import { evolve, type AdminEvent } from '../resources/index.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Fold } from '../runtime/journal/log.ts';
import { birthsOf, inOrderOf, linkOf } from '../snapshot/state.ts';
import { isShared } from './shared-form.ts';

/**
 * Gives the snapshot of a node what the fleet has now, at a revision of the node. The links are those of the resources
 * that the node has followed. If the log has moved on since, it follows them again.
 *
 * @internal
 */
export type Align = (own: Snapshot, revision: number, links: readonly string[]) => Snapshot;

/**
 * Folds events over the snapshot of a node, and gives the events that the nodes share their place in the log.
 *
 * @param place - left out if the log does not have the events
 * @internal
 */
export function foldAt(align: Align, place?: FleetPlace): Fold {
  return (before, recorded) => {
    const events = place === undefined ? recorded : placed(recorded, place);
    const folded = evolve(before, events);
    const links = events.filter(isShared).map(({ resource }) => resource);
    return { next: align(folded, folded.revision, links), events };
  };
}

function placed(events: readonly AdminEvent[], fleet: FleetPlace): readonly AdminEvent[] {
  return Object.freeze(events.map((event) => (isShared(event) ? Object.freeze({ ...event, fleet }) : event)));
}

/**
 * Gives the snapshot of a node what the fleet has: collections with the same resources in the same order, because a
 * node creates in another order than it reads; the mode of the interface; and the births of what it has followed.
 *
 * @param revision - the revision of the node for what changes
 * @param links - the links of what the births of the fleet are taken of; for all users, that of their list
 * @returns the same object if nothing changes
 * @internal
 */
export function aligned(
  own: Snapshot,
  fleet: Snapshot,
  revision: number,
  links: readonly string[],
): Snapshot {
  const ordered = inOrderOf(own, fleet, revision);
  const mode = modeOf(own.interface, fleet.interface);
  const births = linksOfThings(links, own).reduce(
    (taken, link) => taken.taking(birthsOf(fleet), link),
    birthsOf(own),
  );
  if (ordered === own && mode === own.interface && births === own.births) return own;
  return Object.freeze({ ...ordered, interface: mode, births, revision });
}

function linksOfThings(links: readonly string[], { users }: Snapshot): readonly string[] {
  return links.flatMap((link) =>
    link === '/users' ? Array.from(users, (user) => linkOf('users', user)) : [link],
  );
}

/** When the mode of a node has begun, and by whom, is what the log says, not when the node has followed. */
function modeOf(own: Snapshot['interface'], fleet: Snapshot['interface']): Snapshot['interface'] {
  return areEqual(own.settings, fleet.settings) && !areEqual(own, fleet) ? fleet : own;
}

function areEqual(one: object, other: object): boolean {
  return sameJson(one as Json, other as Json);
}
