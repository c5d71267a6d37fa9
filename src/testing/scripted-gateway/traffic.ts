/**
 * What happens on a scripted gateway without being asked for, and what it reports of it.
 */
import { nameKey, type Clock, type HostReport, type ServerStatusWord } from '../../index.ts';
import { isAdministrators, wordsOf, type Collection, type LiveGateway, type LiveSession } from './state.ts';

/**
 * What can happen on a scripted gateway by itself. Each of these makes it happen, and gives what the gateway then
 * reports: nothing when it could not happen. Give that to `admin.report`.
 *
 * @public
 */
export interface GatewayTraffic {
  /**
   * A client opens a session on a service, which has to be started. The session gets the lowest id that is free: ids
   * are used again, with another connect time. Then the one before is reported closed first, because a command that
   * closed it may not have settled yet.
   *
   * @throws RangeError when there is no such service
   */
  openSession(this: void, service: string): readonly HostReport[];
  /** The client of a session leaves. */
  closeSession(this: void, id: number): readonly HostReport[];
  /**
   * A session opens a connection to a server.
   *
   * @throws RangeError when there is no such server
   */
  openConnection(this: void, session: number, server: string): readonly HostReport[];
  /** A session closes one of its connections. */
  closeConnection(this: void, session: number, id: number): readonly HostReport[];
  /**
   * A service that is started fails.
   *
   * @throws RangeError when there is no such service
   */
  failService(this: void, name: string): readonly HostReport[];
  /**
   * A monitor that is started fails.
   *
   * @throws RangeError when there is no such monitor
   */
  failMonitor(this: void, name: string): readonly HostReport[];
  /**
   * A monitor finds the status of a server. Whether it is in `maintenance` is for the administrator to say.
   *
   * @throws RangeError when there is no such server
   */
  findStatus(this: void, server: string, words: readonly ServerStatusWord[]): readonly HostReport[];
  /**
   * What monitors find now, and what has failed. A gateway reports this again and again: an update or a start that
   * settles after such a report overrules it until the next one.
   */
  statusReports(this: void): readonly HostReport[];
  /** The sessions that are open and their connections: what a gateway reports to an interface that has just begun. */
  sessionReports(this: void): readonly HostReport[];
}

/** @internal */
export function createTraffic(gateway: LiveGateway, clock: Clock): GatewayTraffic {
  /** For each id that was used, when the last session of this id connected. */
  const connectTimes = new Map(Array.from(gateway.sessions, ([id, { connected }]) => [id, connected]));
  const { sessions, servers } = gateway;
  return {
    openSession(service) {
      const key = keyIn(gateway, 'services', service);
      if (gateway.services.get(key)?.state !== 'started') return [];
      const id = freeId(sessions);
      const before = connectTimes.get(id);
      const connected = Math.max(clock.now(), (before ?? -1) + 1);
      connectTimes.set(id, connected);
      const session = newSession(key, connected);
      sessions.set(id, session);
      const closed = before === undefined ? [] : [closing(id, before)];
      return [...closed, opening(id, session)];
    },
    closeSession(id) {
      const connected = sessions.get(id)?.connected;
      return sessions.delete(id) && connected !== undefined ? [closing(id, connected)] : [];
    },
    openConnection(id, name) {
      const server = keyIn(gateway, 'servers', name);
      const session = sessions.get(id);
      if (session === undefined) return [];
      const connection = { server, role: 'Slave', state: 'In use' };
      session.connections.set(session.nextConnection, connection);
      session.nextConnection += 1;
      return [
        { type: 'connection.opened', session: id, id: session.nextConnection - 1, ...connection } as const,
      ];
    },
    closeConnection(session, id) {
      const closed = sessions.get(session)?.connections.delete(id) === true;
      return closed ? [{ type: 'connection.closed', session, id }] : [];
    },
    failService: (name) => fails(gateway, 'services', name),
    failMonitor: (name) => fails(gateway, 'monitors', name),
    findStatus(name, words) {
      const server = keyIn(gateway, 'servers', name);
      const settings = servers.get(server)?.settings ?? {};
      const status = words.filter((word) => !isAdministrators(word));
      const kept = wordsOf(settings).filter(isAdministrators);
      const state = Object.fromEntries([...kept, ...status].map((word) => [word, true]));
      servers.set(server, { settings: { ...settings, state } });
      return [{ type: 'server.reported', server, status }];
    },
    statusReports: () => [
      ...Array.from(servers, ([server, { settings }]): HostReport => {
        return { type: 'server.reported', server, status: wordsOf(settings) };
      }),
      ...failed(gateway, 'services'),
      ...failed(gateway, 'monitors'),
    ],
    sessionReports: () => [...sessions].flatMap(([id, session]) => openings(id, session)),
  };
}

const failures = {
  services: (service: string): HostReport => ({ type: 'service.failed', service }),
  monitors: (monitor: string): HostReport => ({ type: 'monitor.failed', monitor }),
};

function fails(gateway: LiveGateway, collection: keyof typeof failures, name: string): readonly HostReport[] {
  const key = keyIn(gateway, collection, name);
  const thing = gateway[collection].get(key);
  if (thing?.state !== 'started') return [];
  gateway[collection].set(key, { ...thing, state: 'failed' });
  return [failures[collection](key)];
}

function failed(gateway: LiveGateway, collection: keyof typeof failures): readonly HostReport[] {
  const things = [...gateway[collection]].filter(([, { state }]) => state === 'failed');
  return things.map(([key]) => failures[collection](key));
}

function keyIn(gateway: LiveGateway, collection: Collection, name: string): string {
  const key = nameKey(name);
  if (!gateway[collection].has(key))
    throw new RangeError(`There is nothing in ${collection} named "${name}"`);
  return key;
}

function freeId(sessions: ReadonlyMap<number, unknown>): number {
  let id = 0;
  while (sessions.has(id)) id += 1;
  return id;
}

function newSession(service: string, connected: number): LiveSession {
  const facts = { user: 'somebody', address: '192.0.2.1', state: 'Session ready for routing' };
  return { service, connected, ...facts, connections: new Map(), nextConnection: 0 };
}

function opening(id: number, { service, connected, user, address, state }: LiveSession): HostReport {
  return { type: 'session.opened', id, service, connected, user, address, state };
}

function openings(session: number, live: LiveSession): readonly HostReport[] {
  const connections = Array.from(live.connections, ([id, { server, role, state }]): HostReport => ({
    type: 'connection.opened',
    session,
    id,
    server,
    role,
    state,
  }));
  return [opening(session, live), ...connections];
}

function closing(id: number, connected: number): HostReport {
  return { type: 'session.closed', id, connected };
}
