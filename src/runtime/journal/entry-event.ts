/**
 * Events of entries: what an event is about, which members it has changed, and what takes it back.
 */
import type { EventBase } from '../../core/decision.ts';
import { isWithin, linkKey, ownerOf } from '../../core/link.ts';
import { sameJson, type Json } from '../../json/value.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { namedResources } from '../../resources/index.ts';

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
export function isCreation({ type }: Pick<EventBase, 'type'>): boolean {
  return type.endsWith('.created');
}

/** Whether an event is a deletion. @internal */
export function isDeletion({ type }: Pick<EventBase, 'type'>): boolean {
  return type.endsWith('.deleted');
}

/** Whether an event is a start or a stop. @internal */
export function changesState({ type }: EntryEvent): boolean {
  return /\.(?:started|stopped)$/.test(type);
}

/** The members that an event has changed, as clients know them. A user has nothing but a password. @internal */
export function membersOf(event: EntryEvent): readonly string[] {
  if (changesState(event)) return ['state'];
  if (kindOf(event) === 'user') return ['password'];
  if (event.definition !== undefined) {
    return Object.keys(event.definition).map((name) => memberNamed(event, name));
  }
  const names = (event.operations ?? []).map(({ path }) => path.split('/', 2)[1] ?? '');
  return [...new Set(names.map((name) => memberNamed(event, name)))];
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

/** What takes something back that has happened. */
interface Opposite {
  readonly happened: string;
  /** The endpoint that makes it happen, without its kind. */
  readonly endpoint: string;
}

const opposites: ReadonlyMap<string, Opposite> = new Map([
  ['created', { happened: 'deleted', endpoint: 'delete' }],
  ['deleted', { happened: 'created', endpoint: 'create' }],
  ['started', { happened: 'stopped', endpoint: 'stop' }],
  ['stopped', { happened: 'started', endpoint: 'start' }],
]);

/** The opposite of an event that creates, deletes, starts or stops. @internal */
export function oppositeOf(event: Pick<EventBase, 'type'>): Opposite | undefined {
  return opposites.get(event.type.slice(kindOf(event).length + 1));
}

/**
 * What the events of a command have changed together. A command that was taken back has changed nothing, and what it
 * has created and deleted never was. Only what settles in several parts is taken back, because of a creation.
 *
 * @internal
 */
export function netOf(events: readonly EntryEvent[]): readonly EntryEvent[] {
  if (!events.some(isCreation)) return events;
  const net = new Map<string, readonly EntryEvent[]>();
  for (const event of events) {
    const owner = ownerKey(event);
    const before = net.get(owner) ?? [];
    const from = before.findLastIndex((each) => takesBack(event, each));
    const isLeft = (each: EntryEvent, at: number): boolean =>
      at < from || (isDeletion(event) ? !isWithin(each.resource, event.resource) : at > from);
    net.set(owner, from < 0 ? [...before, event] : before.filter(isLeft));
  }
  return [...net.values()].flat();
}

/** Whether an event takes an earlier one of its command back. */
function takesBack(event: EntryEvent, earlier: EntryEvent): boolean {
  const { definition, operations } = event;
  if (subjectKey(event) !== subjectKey(earlier)) return false;
  const opposite = oppositeOf(event);
  if (opposite === undefined) return areEqual(operations, earlier.inverse);
  if (earlier.type !== `${kindOf(event)}.${opposite.happened}`) return false;
  return opposite.happened !== 'deleted' || areEqual(definition, earlier.definition);
}

function areEqual(one: unknown, other: unknown): boolean {
  return one !== undefined && other !== undefined && sameJson(one as Json, other as Json);
}
