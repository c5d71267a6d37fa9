/**
 * Notes: what the numbers of a plan do not count.
 *
 * The notes of the library follow from the configuration and from counters alone. They are no part of a mark, because they change
 * by themselves.
 */
import type { Changes } from '../../core/decision.ts';
import { evolve, fieldTables, type AdminEvent, type Effect } from '../../resources/index.ts';
import type { Service } from '../../resources/service.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Note } from '../../resources/note.ts';
import { nameKey } from '../../core/name.ts';
import { parseLink } from '../../core/link.ts';
import { sameJson, type Json } from '../../json/value.ts';
import { linkOf, sessionsOf } from '../../snapshot/state.ts';

type UpdateEvent = Extract<AdminEvent, { readonly before: object }>;
type ServerUpdate = Extract<AdminEvent, { readonly type: 'server.updated' }>;
type ServiceUpdate = Extract<AdminEvent, { readonly type: 'service.updated' }>;

/** The events and effects of a decision; of a long teardown, those of its first part. */
type Changing = Changes<AdminEvent, Effect>;

/** The notes of the library. @internal */
export function notesOf(changing: Changing, before: Snapshot): readonly Note[] {
  const { events, effects } = changing;
  return [
    ...events.flatMap((event) => (event.type === 'server.updated' ? leavingMaintenance(event) : [])),
    ...events.flatMap((event) => (event.type === 'service.updated' ? onOldServers(event, before) : [])),
    ...unusableServices(changing, before),
    ...effects.flatMap((effect) =>
      effect.type === 'connections.close' ? losingConnections(effect, before) : [],
    ),
  ];
}

/** The note of a change with which the gateway may close sessions by itself, for a host that does not foresee it. @internal */
export function mayCloseNotes(events: readonly AdminEvent[]): readonly Note[] {
  const detail = 'The gateway may close sessions because of this. It does not say which.';
  return events.flatMap((event) =>
    'before' in event && changesClosing(event)
      ? [{ code: 'gateway-may-close', resource: event.resource, detail }]
      : [],
  );
}

/** Whether an update changes a field with which a gateway may close sessions. */
function changesClosing({ type, before, after }: UpdateEvent): boolean {
  const { all = [] } = fieldTables[type.slice(0, type.indexOf('.'))] ?? {};
  const [one, other] = [before, after] as readonly object[] as readonly Readonly<
    Record<string, Json | undefined>
  >[];
  return all.some(({ name, closes }) => closes === true && !isSame(one?.[name], other?.[name]));
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === undefined || other === undefined ? one === other : sameJson(one, other);
}

function leavingMaintenance({ before, after, resource }: ServerUpdate): readonly Note[] {
  const isLeaving = before.state.includes('maintenance') && !after.state.includes('maintenance');
  return isLeaving
    ? [{ code: 'leaves-maintenance', resource, detail: `${nameIn(resource)} leaves maintenance.` }]
    : [];
}

/** A service loses a server that its sessions use. */
function onOldServers(
  { service, resource, before, after }: ServiceUpdate,
  snapshot: Snapshot,
): readonly Note[] {
  const table = sessionsOf(snapshot);
  if (table.countOfService(service) === 0) return [];
  const lost = before.servers.filter((link) => !after.servers.includes(link));
  return lost.flatMap((link) => {
    const key = keyIn(link);
    const using = table.countSessionsOfServer(key);
    if (using === 0) return [];
    // Of a server that other services use as well, nobody has counted the sessions of this one.
    const users = [...snapshot.services].filter(({ settings }) =>
      settings.servers.some((each) => keyIn(each) === key),
    );
    const isOwn = users.every((each) => each.key === service);
    const who = isOwn ? `${String(using)} sessions` : 'Sessions';
    const detail = `${who} of ${nameIn(resource)} may stay on ${nameIn(link)}, which new sessions no longer use.`;
    return [{ code: 'sessions-on-old-server', resource: link, ...(isOwn ? { count: using } : {}), detail }];
  });
}

/** The services that could take new sessions, or are about to start, and then have no server for them. */
function unusableServices({ events }: Changing, before: Snapshot): readonly Note[] {
  const isTouched = events.some(({ type }) =>
    ['server.updated', 'service.updated', 'service.started'].includes(type),
  );
  if (!isTouched) return [];
  // Without closings: of these, an event has only the first part.
  const next = evolve(
    before,
    events.filter((event) => !('sessions' in event || 'connections' in event)),
  );
  return [...next.services].flatMap((service) => {
    const earlier = before.services.find(service.key);
    const wasReady = earlier !== undefined && earlier.state !== 'stopped' && isUsable(earlier, before);
    const isStarting = earlier?.state === 'stopped' && service.state !== 'stopped';
    if (service.state === 'stopped' || isUsable(service, next) || !(wasReady || isStarting)) return [];
    const resource = linkOf('services', service);
    const detail = `No server of ${service.name} takes new sessions then.`;
    return [{ code: 'no-usable-server', resource, detail }];
  });
}

function isUsable({ settings }: Service, { servers }: Snapshot): boolean {
  return settings.servers.some((link) => {
    const { state = [] } = servers.find(keyIn(link))?.settings ?? {};
    return state.includes('running') && !state.includes('maintenance');
  });
}

function losingConnections(
  { resource, server }: Extract<Effect, { readonly type: 'connections.close' }>,
  snapshot: Snapshot,
): readonly Note[] {
  const count = sessionsOf(snapshot).countSessionsOfServer(server);
  if (count === 0) return [];
  const detail = `${String(count)} ${count === 1 ? 'session loses its connection' : 'sessions lose their connection'} to ${nameIn(resource)}.`;
  return [{ code: 'sessions-lose-connection', resource, count, detail }];
}

function nameIn(link: string): string {
  return decodeURIComponent(link.slice(link.lastIndexOf('/') + 1));
}

function keyIn(link: string): string {
  return nameKey(parseLink(link, 'servers') ?? '');
}
