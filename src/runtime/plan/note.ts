/**
 * Notes: what the numbers of a plan do not count.
 *
 * The notes of the library follow from the configuration and from counters alone. They are no part of a mark, because
 * they change by themselves.
 */
import { verbOf } from '../../core/change.ts';
import type { EventsAndEffects } from '../../core/decision.ts';
import { evolve, fieldsOf, type AdminEvent, type Effect } from '../../resources/index.ts';
import { firstOf, watchedIn } from '../../resources/alert.ts';
import { takesSessions } from '../../resources/server.ts';
import { shownState } from '../../resources/shared/lifecycle.ts';
import type { Service } from '../../resources/service.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Note } from '../../core/note.ts';
import { parseInstant } from '../../core/time.ts';
import { decodeSegment, keyOf, parseLink } from '../../core/link.ts';
import { linkOf, sessionsOf } from '../../snapshot/state.ts';

type ServerUpdate = Extract<AdminEvent, { readonly type: 'server.updated' }>;
type ServiceUpdate = Extract<AdminEvent, { readonly type: 'service.updated' }>;

/** The events and effects of a decision; a closing is one of each. */
type Changing = EventsAndEffects<AdminEvent, Effect>;

/**
 * The notes of the library.
 *
 * @param where - follows what is open now: ` at this node` in a fleet, and empty otherwise
 * @internal
 */
export function notesOf(changing: Changing, before: Snapshot, where: string): readonly Note[] {
  const { events, effects } = changing;
  return [
    ...events.flatMap((event) =>
      event.type === 'server.updated' ? [...leavingMaintenance(event), ...movingClients(event)] : [],
    ),
    ...events.flatMap((event) => (event.type === 'service.updated' ? onOldServers(event, before) : [])),
    ...events.flatMap((event) =>
      event.type === 'service.updated' || event.type === 'server.updated'
        ? ofDrain(event, before, where)
        : [],
    ),
    ...afterEvents(
      changing,
      before,
      ['server.updated', 'service.updated', 'service.started'],
      unusableServices,
    ),
    ...afterEvents(
      changing,
      before,
      ['monitor.stopped', 'monitor.updated', 'monitor.deleted'],
      blindMonitors,
    ),
    ...effects.flatMap((effect) =>
      effect.type === 'connections.close' ? losingConnections(effect, before) : [],
    ),
  ];
}

/** The note of a change with which the gateway may close sessions by itself, if no host foresees it. @internal */
export function mayCloseNotes(events: readonly AdminEvent[]): readonly Note[] {
  const detail = 'The gateway may close sessions because of this. It does not say which.';
  return events.flatMap((event) =>
    changesClosing(event) ? [{ code: 'gateway-may-close', resource: event.resource, detail }] : [],
  );
}

/** Whether an update changes a field with which a gateway may close sessions. */
function changesClosing(event: AdminEvent): boolean {
  if (verbOf(event) !== 'update') return false;
  const { from, to } = event as Partial<Record<'from' | 'to', object>>;
  const { all = [] } = fieldsOf(event) ?? {};
  const members = new Set(Object.keys({ ...from, ...to }));
  return all.some(({ name, closes }) => closes === true && members.has(name));
}

function leavingMaintenance({ from, to, resource }: ServerUpdate): readonly Note[] {
  const isLeaving =
    from.status?.includes('maintenance') === true && to.status?.includes('maintenance') !== true;
  return isLeaving
    ? [{ code: 'leaves-maintenance', resource, detail: `${nameIn(resource)} leaves maintenance.` }]
    : [];
}

function movingClients({ from, to, resource }: ServerUpdate): readonly Note[] {
  if (from.address === to.address && from.port === to.port) return [];
  const detail = `${nameIn(resource)} sends its clients to another database.`;
  return [{ code: 'other-database', resource, detail }];
}

/** A drain begins, ends, gets a deadline at which it closes what is left, or loses its deadline. */
function ofDrain(event: ServiceUpdate | ServerUpdate, snapshot: Snapshot, where: string): readonly Note[] {
  const { resource, at } = event;
  const [old, drain] = [event.from.drain, event.to.drain];
  const name = nameIn(resource);
  if (drain === undefined)
    return old === undefined ? [] : [{ code: 'ends-drain', resource, detail: `The drain of ${name} ends.` }];
  if (old?.until !== undefined && drain.until === undefined)
    return [{ code: 'ends-deadline', resource, detail: `The deadline of ${name} goes away.` }];
  const table = sessionsOf(snapshot);
  const [count, what] =
    'service' in event
      ? [table.countOfService(event.service), 'session']
      : [table.countOfServer(event.server), 'connection'];
  const counted = { resource, count };
  const now = `Now it has ${String(count)} ${what}${count === 1 ? '' : 's'}${where}.`;
  if (drain.then === 'close' && drain.until !== old?.until) {
    // An undo or a restore can bring back a drain that has begun long ago, or whose deadline has passed.
    const left = Math.ceil(((parseInstant(drain.until ?? '') ?? 0) - at) / 1000);
    const when = left <= 0 ? 'at once' : `after ${String(left)} s`;
    const detail = `What is left of ${name} is closed ${when}. ${now}`;
    return [{ code: 'closes-at-deadline', ...counted, detail }];
  }
  // The plan of a service counts the sessions that continue.
  if (old !== undefined || 'service' in event) return [];
  return [{ code: 'connections-left', ...counted, detail: `${name} takes no new sessions. ${now}` }];
}

/** A service loses a server that its sessions use. */
function onOldServers(
  { service, resource, from: { servers: before = [] }, to: { servers: after = [] } }: ServiceUpdate,
  snapshot: Snapshot,
): readonly Note[] {
  const table = sessionsOf(snapshot);
  if (table.countOfService(service) === 0) return [];
  const kept = new Set(after);
  const lost = before.filter((link) => !kept.has(link) && table.countSessionsOfServer(keyOf(link)) > 0);
  const shared = lost.length === 0 ? undefined : linksOfOthers(service, snapshot);
  return lost.map((link) => {
    const count = table.countSessionsOfServer(keyOf(link));
    // Of a server that other services use as well, the table does not count the sessions of this one.
    const isOwn = shared?.has(link) === false;
    const who = isOwn ? `${String(count)} sessions` : 'Sessions';
    const detail = `${who} of ${nameIn(resource)} may stay on ${nameIn(link)}, which new sessions no longer use.`;
    return { code: 'sessions-on-old-server', resource: link, ...(isOwn ? { count } : {}), detail };
  });
}

/** The links of the servers of all other services. The links of settings are canonical. */
function linksOfOthers(service: string, { services }: Snapshot): ReadonlySet<string> {
  const links = new Set<string>();
  for (const { key, settings } of services)
    if (key !== service) for (const link of settings.servers) links.add(link);
  return links;
}

/** The notes that follow from the snapshot after a change, if an event of the change has one of the types. */
function afterEvents(
  { events }: Changing,
  before: Snapshot,
  types: readonly AdminEvent['type'][],
  notes: (links: ReadonlySet<string>, before: Snapshot, next: Snapshot) => readonly Note[],
): readonly Note[] {
  const touched = events.filter(({ type }) => types.includes(type));
  if (touched.length === 0) return [];
  // Without closings: of these, an event shows only the first.
  const next = evolve(
    before,
    events.filter((event) => !('sessions' in event || 'connections' in event)),
  );
  return notes(new Set(touched.map(({ resource }) => resource)), before, next);
}

/**
 * The monitors that leave servers alone: they stop, go away, or list the servers no more, and no other monitor looks at
 * these.
 */
function blindMonitors(links: ReadonlySet<string>, before: Snapshot, next: Snapshot): readonly Note[] {
  const watched = watchedIn(next);
  return [...before.monitors].flatMap((monitor) => {
    const resource = linkOf('monitors', monitor);
    if (!links.has(resource)) return [];
    const later = next.monitors.find(monitor.key);
    const kept = new Set(later && shownState(later) === shownState(monitor) ? later.settings.servers : []);
    const names = monitor.settings.servers
      .filter((link) => !watched.has(link) && !kept.has(link))
      .flatMap((link) => next.servers.find(keyOf(link))?.name ?? []);
    if (names.length === 0) return [];
    const detail = `No started monitor looks at ${firstOf(names)} then.`;
    return [{ code: 'server-unwatched', resource, detail }];
  });
}

/**
 * The services that could take new sessions, are about to start, or lose the last server of their list, and then have
 * no server for new sessions.
 */
function unusableServices(links: ReadonlySet<string>, before: Snapshot, next: Snapshot): readonly Note[] {
  const [isUsable, isUsableNext] = [usableIn(before), usableIn(next)];
  const touched = [...links].flatMap((link) => {
    const own = next.services.find(parseLink(link, 'services') ?? '');
    return own ?? [...next.services].filter(({ settings }) => settings.servers.includes(link));
  });
  return [...new Set(touched)].flatMap((service) => {
    if (service.state === 'stopped') return [];
    const earlier = before.services.find(service.key);
    const wasReady = earlier?.state !== 'stopped' && isServed(earlier, isUsable);
    const isStarting = earlier?.state === 'stopped';
    const isEmptied = earlier?.settings.servers[0] !== undefined && service.settings.servers[0] === undefined;
    if (isServed(service, isUsableNext) || !(wasReady || isStarting || isEmptied)) return [];
    const detail = `No server of ${service.name} takes new sessions then.`;
    return [{ code: 'no-usable-server', resource: linkOf('services', service), detail }];
  });
}

/** Tells whether the server of a link takes new sessions. Many services can list the same few servers. */
function usableIn({ servers }: Snapshot): (link: string) => boolean {
  const known = new Map<string, boolean>();
  return (link) => {
    const isKnown = known.get(link);
    if (isKnown !== undefined) return isKnown;
    const server = servers.find(keyOf(link));
    const isUsable = server !== undefined && takesSessions(server);
    known.set(link, isUsable);
    return isUsable;
  };
}

function isServed(service: Service | undefined, isUsable: (link: string) => boolean): boolean {
  return service?.settings.servers.some(isUsable) === true;
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

/** The name in a link. A decision that the host has built can have any text as a link. */
function nameIn(link: string): string {
  const segment = link.slice(link.lastIndexOf('/') + 1);
  return decodeSegment(segment) ?? segment;
}
