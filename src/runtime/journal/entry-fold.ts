/**
 * The fold of a record for the history: what is kept of each event.
 */
import { beginFold } from '../../core/decision.ts';
import { shownSettings } from '../../core/field.ts';
import { sameJson, type Json } from '../../json/value.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { eventTable, namedResources, type AdminEvent } from '../../resources/index.ts';
import type { Service } from '../../resources/service.ts';
import type { NamedResources } from '../../resources/shared/kind.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { find, type ConfiguredEntity } from '../../snapshot/state.ts';
import { changesState, keyIn, kindOf } from './entry-event.ts';

/**
 * Folds the events of a record, and gives what is kept of each.
 *
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function foldRecord(
  snapshot: Snapshot,
  events: readonly AdminEvent[],
): { readonly next: Snapshot; readonly kept: readonly EntryEvent[] } {
  const folding = beginFold(eventTable, snapshot);
  const kept = events.map((event) => {
    const before = subjectOf(event, folding.current());
    folding.apply(event);
    return keptOf(event, before, subjectOf(event, folding.current()));
  });
  return { next: folding.finish(), kept };
}

/**
 * The resource of an event in a snapshot, or the service of a listener; `undefined` if an event names none, or the
 * resource is gone.
 *
 * @internal
 */
export function subjectOf(event: EntryEvent | AdminEvent, snapshot: Snapshot): ConfiguredEntity | undefined {
  const named = namedIn(event);
  return named && find(snapshot, named, keyIn(event, named.singular));
}

/** The settings of the resource of an event as clients see them. @internal */
export function settingsAt(event: AdminEvent, thing: ConfiguredEntity): object {
  const { fields } = namedIn(event) ?? {};
  return fields === undefined ? thing.settings : shownSettings(fields, thing);
}

function namedIn(event: EntryEvent | AdminEvent): NamedResources<Snapshot> | undefined {
  const kind = kindOf(event);
  return namedBy.get(kind === 'listener' ? 'service' : kind);
}

/**
 * Whether what is wanted where an event was is the same in two snapshots. A listener that comes again stands last in
 * its list, what has failed runs again when it comes back, and a monitor has not looked yet at a server that comes
 * back: nobody has wanted any of these.
 *
 * @internal
 */
export function isWantedAlike(event: EntryEvent, one: Snapshot, other: Snapshot): boolean {
  const [present, later] = [subjectOf(event, one), subjectOf(event, other)];
  if (present === undefined || later === undefined) return present === later;
  return sameJson(wantedOf(present), wantedOf(later));
}

function wantedOf(thing: ConfiguredEntity & Partial<Pick<Service, 'listeners'>>): Json {
  const listeners = thing.listeners?.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { ...thing, version: 0, seen: 0, listeners } as unknown as Json;
}

/**
 * The members that are not kept: the entry has them, `inverse` has them too, or they are hashes of passwords, which
 * nobody may see.
 */
const leftOut: ReadonlySet<string> = new Set(
  ['at', 'actor', 'undoes', 'command', 'fleet', 'before', 'after', 'password'].concat(
    'sessions',
    'connections',
  ),
);

/** What is kept of an event. Of sessions and connections, their number. */
function keptOf(
  event: AdminEvent,
  before: ConfiguredEntity | undefined,
  after: ConfiguredEntity | undefined,
): EntryEvent {
  const members = Object.entries(event).filter(([name]) => !leftOut.has(name));
  const own = Object.fromEntries(members) as unknown as EntryEvent;
  if ('sessions' in event) return { ...own, count: event.sessions.length };
  if ('connections' in event) return { ...own, count: event.connections.length };
  if (before === undefined || after === undefined || !changesState(own)) return own;
  return isStopped(before) === isStopped(after) ? { ...own, already: true } : own;
}

function isStopped(thing: ConfiguredEntity & { readonly state?: string }): boolean {
  return thing.state === 'stopped';
}

/** The named resources, by the first word of their events. */
const namedBy = new Map(namedResources.map((named) => [named.singular as string, named]));
