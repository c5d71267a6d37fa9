/**
 * Versions of a fleet: the entity tag of a resource is known to every node if, and only if, the content is.
 *
 * The nodes fold one log, so a version of the fleet stands for one content. A node that has other content, because its
 * gateway has not followed yet, shows a version of its own, which no other node knows.
 */
import type { Entity } from '../core/collection.ts';
import { sameJson, type Json } from '../json/value.ts';
import type { Version } from '../core/version.ts';
import type { FleetPlace } from '../core/decision.ts';
import { differencesOf, eventTable, evolve, namedResources, type AdminEvent } from '../resources/index.ts';
import { servicesUsing } from '../resources/filter.ts';
import { linksOf } from '../resources/shared/use.ts';
import { revisionsOfLife } from '../runtime/journal/life.ts';
import type { Fold } from '../runtime/journal/log.ts';
import { collectionOf, find, inOrderOf, replaceVersions } from '../snapshot/state.ts';
import { filters, services, type Snapshot } from '../resources/snapshot.ts';

/** Gives the snapshot of a node, as a revision of its own, the versions of what the fleet has or had. @internal */
export type Align = (own: Snapshot, fleet: Snapshot, revision: number) => Snapshot;

/**
 * Folds events over the snapshot of a node, and gives the events that the nodes share their place in the log.
 *
 * @param align - gives a snapshot the versions of the fleet, as a revision of the node
 * @param place - left out if the log does not have the events
 * @internal
 */
export function foldAt(align: (snapshot: Snapshot, revision: number) => Snapshot, place?: FleetPlace): Fold {
  return (before, recorded) => {
    const events = place === undefined ? recorded : placed(recorded, place);
    const folded = evolve(before, events);
    return { next: align(folded, folded.revision), events };
  };
}

function placed(events: readonly AdminEvent[], fleet: FleetPlace): readonly AdminEvent[] {
  return Object.freeze(
    events.map((event) =>
      eventTable[event.type].scope === 'node' ? event : Object.freeze({ ...event, fleet }),
    ),
  );
}

/**
 * Gives resources of a node the versions that the fleet has for the same content, and lists of a node the order that
 * they have in the fleet, also the listeners of a service: a node creates in another order than it reads.
 *
 * @param given - the snapshot of the node
 * @param fleet - what the fleet has, at the place in the log that the content of the node comes from
 * @param revision - the revision of the node for what changes
 * @param now - what the fleet has now. If that is later than `fleet`, lists keep their order, and only what has this
 *   revision gets another version
 * @param isBehind - tells by the key of a link whether the gateway is still to follow the resource. Such a resource
 *   keeps its version: the gateway may next do something older than what the fleet has, even if both look the same now
 * @internal
 */
export function withFleetVersions(
  given: Snapshot,
  fleet: Snapshot,
  revision: number,
  now = fleet,
  isBehind: (link: string) => boolean = () => false,
): Snapshot {
  const isLast = fleet === now;
  const isMeant = ({ command }: Version, link: string): boolean =>
    command === revision || (isLast && !isBehind(link));
  const isDifferent = new Set<string>();
  const isMoved = new Set<string>();
  const own = isLast ? inOrderOf(given, fleet, (collection) => isMoved.add(collection)) : given;
  const same: string[] = [];
  const revised = replaceVersions(own, (collection, present, key) => {
    if (key === undefined) {
      const isWhole =
        isMeant(present, `/${collection}`) &&
        !isDifferent.has(collection) &&
        isSameOrder(collectionOf(own, { collection }), collectionOf(fleet, { collection }));
      if (isWhole) return withCommand(present, collectionOf(fleet, { collection }).version.command, revision);
      // The list has the latest number of its members. With the new number of one member it would look like that of the
      // fleet.
      return isMoved.has(collection) ? withCommand(present, revision, revision) : present;
    }
    const command = find(fleet, { collection }, key)?.version.command;
    if (command === present.command) return present;
    if (
      command !== undefined &&
      isMeant(present, `/${collection}/${key}`) &&
      hasContentOf(own, fleet, collection, key)
    ) {
      isMoved.add(collection);
      if (collection === services.collection) same.push(key);
      return withCommand(present, command, revision);
    }
    isDifferent.add(collection);
    return present;
  });
  const aligned = withModeOf(fleet, withListenersOf(fleet, same, revised));
  const born = aligned.births === now.births ? aligned : Object.freeze({ ...aligned, births: now.births });
  return born === given || born.revision === revision ? born : Object.freeze({ ...born, revision });
}

/** Gives services of a node the listeners of the fleet, which are the same ones in the order of the fleet. */
function withListenersOf(fleet: Snapshot, keys: readonly string[], own: Snapshot): Snapshot {
  const before = collectionOf(own, services);
  const after = keys.reduce((next, key) => {
    const [present, wanted] = [next.findByKey(key), find(fleet, services, key)];
    return present && wanted ? next.with(Object.freeze({ ...present, listeners: wanted.listeners })) : next;
  }, before);
  return after === before ? own : Object.freeze({ ...own, services: after });
}

/** When the mode of a node has begun, and by whom, is what the log says, not when the node has followed. */
function withModeOf(fleet: Snapshot, own: Snapshot): Snapshot {
  const [before, wanted] = [own.interface, fleet.interface];
  const isMeant = areEqual(before.settings, wanted.settings) && !areEqual(before, wanted);
  return isMeant ? Object.freeze({ ...own, interface: wanted }) : own;
}

function areEqual(one: object, other: object): boolean {
  return sameJson(one as Json, other as Json);
}

/**
 * The snapshot with which a node begins: what the fleet has, with live numbers of this life. The content of two nodes
 * differs in what belongs to the node, such as listeners and times.
 *
 * @internal
 */
export function beginningWith(fleet: Snapshot, revision: number): Snapshot {
  const { gateway, logs } = fleet;
  const begun = ({ command }: Version): Version => Object.freeze({ command, live: revision });
  const own = Object.freeze({
    ...fleet,
    revision,
    gateway: Object.freeze({ ...gateway, version: begun(gateway.version) }),
    logs: Object.freeze({ ...logs, version: begun(logs.version) }),
  });
  return replaceVersions(own, (_collection, present) => begun(present));
}

/** From here on, revisions are those of nodes: the fleet counts its own from 0 on, and is never this far. */
const firstOfNodes = 2 ** 52;

/**
 * Draws the first revision of a life of a node, which does not know how many lives there were. A revision of a node is
 * later than every one of the fleet. Two lives with a million revisions each have one in common in one of two billion
 * cases.
 *
 * @internal
 */
export function drawRevision(): number {
  const [drawn = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return firstOfNodes + Number(drawn % BigInt(firstOfNodes - revisionsOfLife));
}

function withCommand(present: Version, command: number, revision: number): Version {
  return command === present.command ? present : Object.freeze({ command, live: revision });
}

function isSameOrder(own: Iterable<Entity>, fleet: Iterable<Entity>): boolean {
  const [keys, wanted] = [own, fleet].map((entities) => Array.from(entities, ({ key }) => key));
  return keys?.length === wanted?.length && keys?.every((key, at) => key === wanted?.[at]) === true;
}

/** Whether a resource is as the fleet has it, in everything that the nodes share and its representation shows. */
function hasContentOf(own: Snapshot, fleet: Snapshot, collection: string, key: string): boolean {
  if (differencesOf(own, fleet, new Map([[collection, new Set([key])]])).length > 0) return false;
  // A difference does not count how a link is spelt, and a representation shows it.
  if (linksIn(own, collection, key) !== linksIn(fleet, collection, key)) return false;
  if (collection !== filters.collection) return true;
  const [using, wanted] = [own, fleet].map((snapshot) => {
    const filter = find(snapshot, filters, key);
    return filter === undefined ? [] : servicesUsing(snapshot.services, filter);
  });
  return String(using) === String(wanted);
}

/** The links of a resource, as its representation shows them. */
function linksIn(snapshot: Snapshot, collection: string, key: string): string {
  const named = namedResources.find((each) => each.collection === collection);
  const thing = named && find(snapshot, named, key);
  return named && thing ? linksOf(named, thing).join() : '';
}
