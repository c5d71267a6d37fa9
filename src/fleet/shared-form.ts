/**
 * The shared form: what the log gets of a record of the journal. Other nodes need not know what only one gateway does.
 */
import { verbOf, type Change } from '../core/change.ts';
import { ownerOf, parseLink } from '../core/link.ts';
import { eventTable, fieldsOf, namedResources, type AdminEvent } from '../resources/index.ts';
import { modeLink } from '../runtime/journal/basis.ts';
import type { JournalRecord } from '../runtime/journal/record.ts';
import { headOf, type SharedRecord, type Writing } from './fleet-state.ts';

/** Gives the shared form of a record; without events if the record is about one gateway alone. @internal */
export function sharedForm(
  record: Exclude<JournalRecord, { readonly type: 'abandonment' }>,
  resources: readonly string[],
  writing: Writing,
): SharedRecord & { readonly type: 'intent' | 'settlement' } {
  const events = record.events.filter(isShared);
  const links = linksIn(record) ?? resources;
  const head = { ...headOf(writing, record.command, links.filter(isSharedLink)), ...actorOf(events) };
  if (record.type === 'settlement') return { ...head, type: 'settlement', events, last: record.last };
  const { part, of } = record;
  return { ...head, type: 'intent', part, of, events };
}

/** Whether the nodes share an event. What one gateway closes or flushes is its own. @internal */
export function isShared({ type }: AdminEvent): boolean {
  return eventTable[type].scope !== 'node';
}

/** Whether the nodes share what a link names. The logs, sessions and connections are each node's own. */
function isSharedLink(link: string): boolean {
  return (
    link === modeLink ||
    namedResources.some(
      ({ collection, adoption }) =>
        // Resources that no document brings are one resource: their list.
        link === `/${collection}` || (adoption !== undefined && parseLink(link, collection) !== undefined),
    )
  );
}

/**
 * The links that the record of a part of a command has: its command can have thousands of parts, and rest on thousands
 * of resources. `undefined` for the end of a command, which has all of them.
 */
function linksIn(record: JournalRecord): readonly string[] | undefined {
  if (record.type === 'intent') return record.resources;
  if (record.type !== 'settlement' || record.last) return undefined;
  const changed = record.events.flatMap((event) => {
    // A listener is no resource of its own to the fleet: its service is. All users are one.
    const owner = ownerOf(event.resource);
    const list = changesList(event) || !isSharedLink(owner) ? [listOf(event.resource)] : [];
    return [owner, ...list, ...linksAdded(event)];
  });
  return [...new Set(changed)];
}

/** The links of what a change begins to use: a deletion of that, decided before, would not know. */
function linksAdded(event: AdminEvent): readonly string[] {
  const { from = {}, to = {} } = event as Partial<Change>;
  return Object.keys(fieldsOf(event)?.links ?? {}).flatMap((name) => {
    const [before = [], after = []] = [from[name], to[name]] as readonly (readonly string[] | undefined)[];
    return after.filter((link) => !before.includes(link));
  });
}

/** Whether an event creates or deletes a configured resource. */
function changesList(event: AdminEvent): boolean {
  const verb = verbOf(event);
  return verb === 'create' || verb === 'delete';
}

/** The link of the list in which a resource is. */
function listOf(link: string): string {
  return link.slice(0, link.lastIndexOf('/'));
}

/** Whether a record changes the configuration. @internal */
export function isChange(record: SharedRecord): boolean {
  return record.type === 'settlement' && record.events.length > 0;
}

function actorOf([first]: readonly AdminEvent[]): { readonly actor?: string } {
  return first?.actor === undefined ? {} : { actor: first.actor };
}

/**
 * What tells a record from every other: a life ends a command with one content, and another life may end it otherwise.
 *
 * @internal
 */
export function identityOf(record: SharedRecord): string {
  const { type, life, command } = record;
  const head = `${life} ${type} ${command}`;
  if (type === 'intent') return `${head} ${String(record.part)}`;
  if (type !== 'settlement') return head;
  return `${head} ${String(record.last)} ${record.why ?? ''} ${String(record.events.length)}`;
}
