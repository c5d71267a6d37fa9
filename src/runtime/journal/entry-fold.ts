/**
 * Entries and snapshots: what an entry keeps of an event, and what the resource of the event is now.
 */
import { pruned, verbOf } from '../../core/change.ts';
import { isWantedPart } from '../../core/field.ts';
import { isArray, pick, type Json, type JsonObject } from '../../json/value.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { fieldsOf, namedResources, type AdminEvent } from '../../resources/index.ts';
import type { NamedResources } from '../../resources/shared/kind.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { find, type ConfiguredEntity } from '../../snapshot/state.ts';
import { keyIn, kindOf } from './entry-event.ts';

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

function namedIn(event: EntryEvent | AdminEvent): NamedResources<Snapshot> | undefined {
  const kind = kindOf(event);
  return namedBy.get(kind === 'listener' ? 'service' : kind);
}

/** An event with what callers want of its members, as a store has it: the rest belongs to one life. @internal */
export function wantedOf(event: EntryEvent): EntryEvent {
  const fields = fieldsOf(event);
  if (fields === undefined || verbOf(event) !== 'update') return event;
  const wantedIn = (members: JsonObject = {}): JsonObject =>
    Object.fromEntries(
      Object.entries(members).map(([name, value]) => {
        const field = fields.byName.get(name);
        const isPart = (word: Json): boolean => field === undefined || isWantedPart(field, [word]);
        return [name, fields.parts[name] === 'words' && isArray(value) ? value.filter(isPart) : value];
      }),
    );
  return { ...event, from: wantedIn(event.from), to: wantedIn(event.to) };
}

/** The members that are not kept: the entry has them, or they are hashes of passwords, which nobody may see. */
const leftOut: ReadonlySet<string> = new Set(
  ['at', 'actor', 'undoes', 'command', 'fleet', 'password'].concat('sessions', 'connections'),
);

/**
 * What is kept of an event: of an update the parts that differ, of sessions and connections their number.
 *
 * @internal
 */
export function entryEventOf(event: AdminEvent): EntryEvent {
  const own = pick(event as unknown as JsonObject, (name) => !leftOut.has(name)) as unknown as EntryEvent;
  if ('sessions' in event) return { ...own, count: event.sessions.length };
  if ('connections' in event) return { ...own, count: event.connections.length };
  const { from, to } = own;
  const fields = fieldsOf(event);
  if (from === undefined || to === undefined || fields === undefined) return own;
  const parts = pruned(fields, { link: own.resource, from, to });
  const isSame = [parts.from, parts.to].every((side) => Object.keys(side ?? {}).length === 0);
  return isSame ? { ...own, already: true } : { ...own, from: parts.from ?? {}, to: parts.to ?? {} };
}

/** The named resources, by the first word of their events. */
const namedBy = new Map(namedResources.map((named) => [named.singular as string, named]));
