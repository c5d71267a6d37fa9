/**
 * Events of entries: what an event is about, which members it has changed, and what takes it back.
 */
import { isStartOrStop, joined, verbOf } from '../../core/change.ts';
import type { EventBase } from '../../core/decision.ts';
import { isWithin, linkKey, ownerOf } from '../../core/link.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { fieldsOf, namedResources, type AdminEvent } from '../../resources/index.ts';

/** The kind of the resource of an event. @internal */
export function kindOf({ type }: Pick<EventBase, 'type'>): string {
  return type.slice(0, type.indexOf('.'));
}

/** The key of the resource of an event, which the kind names. @internal */
export function keyIn(event: object, kind: string): string {
  return (event as Readonly<Record<string, string | undefined>>)[kind] ?? '';
}

/** A text for the resource of an event: its kind, and the key of its link. @internal */
export function subjectKey(event: EntryEvent): string {
  return `${kindOf(event)} ${linkKey(event.resource)}`;
}

/** The key of the link of the resource to which the resource of an event belongs; of most, its own. @internal */
export function ownerKey({ resource }: EntryEvent): string {
  return linkKey(ownerOf(resource));
}

/** Whether an event is a creation. @internal */
export function isCreation(event: EntryEvent | AdminEvent): boolean {
  return verbOf(event) === 'create' || event.type === 'user.created';
}

/** Whether an event is a deletion. @internal */
export function isDeletion(event: EntryEvent | AdminEvent): boolean {
  return verbOf(event) === 'delete' || event.type === 'user.deleted';
}

/** The members that an event has changed, as clients know them. A user has nothing but a password. @internal */
export function membersOf(event: EntryEvent): readonly string[] {
  if (kindOf(event) === 'user') return ['password'];
  return Object.keys({ ...event.from, ...event.to });
}

/** The member that a name means: `state` of a server is `status`. @internal */
export function memberNamed(event: EntryEvent, name: string): string {
  return memberNames.get(kindOf(event))?.get(name) ?? name;
}

/** The names of members for clients, by kind and by every name that a member has. */
const memberNames: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  namedResources.map(({ singular, fields }) => [
    singular,
    new Map(
      fields.all.flatMap(({ name, patchName }) => [name, patchName].map((each) => [each, name] as const)),
    ),
  ]),
);

/** The endpoint that takes a creation, a deletion, a start or a stop back, without its kind. @internal */
export function endpointBack(event: EntryEvent): string | undefined {
  const verb = verbOf(event);
  if (verb === 'create') return 'delete';
  if (verb === 'delete') return 'create';
  if (!isStartOrStop(event)) return undefined;
  return event.from?.['state'] === 'stopped' ? 'stop' : 'start';
}

/**
 * The events of a command without those that amount to nothing together: what it has taken back itself, and what it has
 * created and deleted. Only what settles in several parts is taken back, because of a creation.
 *
 * @internal
 */
export function netOf(events: readonly EntryEvent[]): readonly EntryEvent[] {
  if (!events.some(isCreation)) return events;
  const bySubject = new Map<string, EntryEvent[]>();
  for (const event of events) {
    const subject = bySubject.get(subjectKey(event));
    if (subject === undefined) bySubject.set(subjectKey(event), [event]);
    else subject.push(event);
  }
  const nothing = [...bySubject.values()].filter(isNothing);
  const own = new Set(nothing.flat());
  // With a service that has come and gone, its listeners have.
  const gone = nothing.flatMap(([first]) => (first && isCreation(first) ? [first.resource] : []));
  return events.filter((event) => !own.has(event) && !gone.some((place) => isWithin(event.resource, place)));
}

/** Whether the events of one resource amount to nothing. */
function isNothing(events: readonly EntryEvent[]): boolean {
  const [first] = events;
  const fields = first && fieldsOf(first);
  if (fields === undefined || events.some((event) => verbOf(event) === undefined)) return false;
  const changes = events.map((event) => ({ ...event, link: event.resource }));
  return joined(fields, changes).length === 0;
}
