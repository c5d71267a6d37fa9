/**
 * The fold of a record for the history: what is kept of each event, and which events change something.
 */
import { beginFold } from '../../core/decision.ts';
import { shownSettings, wantedSettings } from '../../core/field.ts';
import { differenceOf, wholeUpdate } from '../../core/update.ts';
import type { Operation } from '../../json/patch.ts';
import { sameJson, type Json, type JsonObject } from '../../json/value.ts';
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
 * Gives the events that change something. If a command that was abandoned settles after later ones, they can have made
 * the same change. What was closed counts with any other change: no life begins with sessions.
 *
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function changesIn(snapshot: Snapshot, events: readonly AdminEvent[]): readonly AdminEvent[] {
  const folding = beginFold(eventTable, snapshot);
  const changes = new Set(
    events.filter((event) => {
      const before = configurationAt(event, folding.current());
      const isChanged = folding.apply(event);
      // The event of a flush has no configured resource to compare.
      return isChanged && (before === undefined || before !== configurationAt(event, folding.current()));
    }),
  );
  if (changes.size === 0) return [];
  return events.filter((event) => changes.has(event) || 'sessions' in event || 'connections' in event);
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

/** The configuration of the subject of an event, as text, without its version and times. */
function configurationAt(event: EntryEvent | AdminEvent, snapshot: Snapshot): string | undefined {
  const subject = subjectOf(event, snapshot);
  const seen = { ...subject?.seen, started: 0, startAssumed: 0 };
  return subject && JSON.stringify({ ...subject, version: 0, seen });
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
  // Not of a listener: a node of a fleet has those of its own document as well, and entries are the same at all nodes.
  if (own.definition !== undefined && before === after) return { ...own, already: true };
  if (before === undefined || after === undefined) return own;
  if (changesState(own)) return isStopped(before) === isStopped(after) ? { ...own, already: true } : own;
  return 'inverse' in event ? { ...own, inverse: inverseOf(event, before, after) } : own;
}

/**
 * The inverse of an update. If a command that was abandoned settles after later ones, other settings than its decision
 * knew were there, or came of it.
 */
function inverseOf(
  event: Extract<AdminEvent, { readonly inverse: object }>,
  present: ConfiguredEntity,
  after: ConfiguredEntity,
): readonly Operation[] {
  const { before, inverse } = event;
  if (before === present.settings && event.after === after.settings) return inverse;
  const { fields } = namedIn(event) ?? {};
  const decided = wholeUpdate<object>(present.settings, event);
  const isAs = (thing: ConfiguredEntity, settings: object): boolean =>
    fields !== undefined &&
    sameJson(wantedSettings(fields, settings) as JsonObject, thing.settings as JsonObject);
  return isAs(present, decided.before) && isAs(after, decided.after)
    ? inverse
    : differenceOf(settingsAt(event, present), settingsAt(event, after)).inverse;
}

function isStopped(thing: ConfiguredEntity & { readonly state?: string }): boolean {
  return thing.state === 'stopped';
}

/** The named resources, by the first word of their events. */
const namedBy = new Map(namedResources.map((named) => [named.singular as string, named]));
