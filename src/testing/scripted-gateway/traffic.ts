/**
 * Changes of a scripted gateway that no command causes, and the reports about these changes.
 */
import { nameKey, type Clock, type HostReport, type ServerStatusWord } from '../../index.ts';
import { isAdministrators, wordsOf, type Collection, type LiveGateway, type LiveSession } from './state.ts';

/**
 * Changes of a scripted gateway that no command causes. Each method makes a change and returns the reports about the
 * change for `admin.report`. If the change is impossible, the method changes nothing and returns no reports.
 *
 * @beta
 */
export interface GatewayTraffic {
  /**
   * A client opens a session on a service. The service must be started. The session gets the lowest free id, so ids are
   * reused with another connect time. If an id is reused, the first report closes the earlier session, because a
   * command that closed the earlier session may not have settled yet.
   *
   * @throws RangeError if there is no such service
   */
  openSession(this: void, service: string): readonly HostReport[];
  /** The client of a session disconnects. */
  closeSession(this: void, id: number): readonly HostReport[];
  /**
   * A session opens a connection to a server. The connection gets the lowest id that the session has free and has never
   * used for this server, so ids are reused for other servers. If an id is reused, the first report closes the earlier
   * connection, because a command that closed it may not have settled yet.
   *
   * @throws RangeError if there is no such server
   */
  openConnection(this: void, session: number, server: string): readonly HostReport[];
  /** A session closes one of its connections. */
  closeConnection(this: void, session: number, id: number): readonly HostReport[];
  /**
   * A started service fails.
   *
   * @throws RangeError if there is no such service
   */
  failService(this: void, name: string): readonly HostReport[];
  /**
   * A started monitor fails.
   *
   * @throws RangeError if there is no such monitor
   */
  failMonitor(this: void, name: string): readonly HostReport[];
  /**
   * A failed service runs again, because the gateway has retried.
   *
   * @throws RangeError if there is no such service
   */
  recoverService(this: void, name: string): readonly HostReport[];
  /**
   * A failed monitor runs again, because the gateway has retried.
   *
   * @throws RangeError if there is no such monitor
   */
  recoverMonitor(this: void, name: string): readonly HostReport[];
  /**
   * A monitor finds the status of a server. The word `maintenance` is ignored: only an administrator changes it.
   *
   * @throws RangeError if there is no such server
   */
  findStatus(this: void, server: string, words: readonly ServerStatusWord[]): readonly HostReport[];
  /**
   * The status of every server, and the state of every service and monitor that is not stopped. A gateway may report
   * these again and again.
   */
  statusReports(this: void): readonly HostReport[];
  /** The open sessions with their connections. A gateway reports these to an interface that has just started. */
  sessionReports(this: void): readonly HostReport[];
}

/** Creates the traffic of a gateway. @internal */
export function createTraffic(gateway: LiveGateway, clock: Clock): GatewayTraffic {
  /** The connect time of the last session with each id. */
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
      return session === undefined ? [] : openingConnection(id, session, server);
    },
    closeConnection(session, id) {
      const { connected, connections } = sessions.get(session) ?? {};
      if (connected === undefined || connections?.delete(id) !== true) return [];
      return [{ type: 'connection.closed', session, connected, id }];
    },
    failService: (name) => turn(gateway, 'services', name, failure),
    failMonitor: (name) => turn(gateway, 'monitors', name, failure),
    recoverService: (name) => turn(gateway, 'services', name, recovery),
    recoverMonitor: (name) => turn(gateway, 'monitors', name, recovery),
    findStatus(name, words) {
      const server = keyIn(gateway, 'servers', name);
      const settings = servers.get(server)?.settings ?? {};
      const found = words.filter((word) => !isAdministrators(word));
      const kept = wordsOf(settings).filter(isAdministrators);
      const status = Object.fromEntries([...kept, ...found].map((word) => [word, true]));
      servers.set(server, { settings: { ...settings, status } });
      return [{ type: 'server.reported', server, status: found }];
    },
    statusReports: () => [
      ...Array.from(servers, ([server, { settings }]): HostReport => {
        return { type: 'server.reported', server, status: wordsOf(settings) };
      }),
      ...seen(gateway, 'services'),
      ...seen(gateway, 'monitors'),
    ],
    sessionReports: () => [...sessions].flatMap(([id, session]) => openings(id, session)),
  };
}

const failure = ['started', 'failed'] as const;
const recovery = ['failed', 'started'] as const;

const reportOf = {
  services: (service: string, state: Seen): HostReport => ({ type: 'service.reported', service, state }),
  monitors: (monitor: string, state: Seen): HostReport => ({ type: 'monitor.reported', monitor, state }),
};

/** The two states of a service or monitor that a gateway reports: both are of one that is not stopped. */
type Seen = 'started' | 'failed';

/** Changes a service or monitor from one state to the other, if it is in the first state. */
function turn(
  gateway: LiveGateway,
  collection: keyof typeof reportOf,
  name: string,
  [from, to]: readonly [Seen, Seen],
): readonly HostReport[] {
  const key = keyIn(gateway, collection, name);
  const thing = gateway[collection].get(key);
  if (thing?.state !== from) return [];
  gateway[collection].set(key, { ...thing, state: to });
  return [reportOf[collection](key, to)];
}

function seen(gateway: LiveGateway, collection: keyof typeof reportOf): readonly HostReport[] {
  return [...gateway[collection]].flatMap(([key, { state = 'stopped' }]) =>
    state === 'stopped' ? [] : [reportOf[collection](key, state)],
  );
}

function keyIn(gateway: LiveGateway, collection: Collection, name: string): string {
  const key = nameKey(name);
  if (!gateway[collection].has(key)) throw new RangeError(`There is no "${name}" in ${collection}`);
  return key;
}

function freeId(sessions: ReadonlyMap<number, unknown>): number {
  let id = 0;
  while (sessions.has(id)) id += 1;
  return id;
}

function openingConnection(id: number, session: LiveSession, server: string): readonly HostReport[] {
  const { connected, connections, used } = session;
  const connection = { session: id, connected, id: freeConnection(session, server) };
  const content = { server, role: 'Slave', state: 'In use' };
  const earlier = used.get(connection.id);
  connections.set(connection.id, content);
  used.set(connection.id, new Set(earlier).add(server));
  const closed: HostReport[] = earlier === undefined ? [] : [{ type: 'connection.closed', ...connection }];
  return [...closed, { type: 'connection.opened', ...connection, ...content }];
}

function freeConnection({ connections, used }: LiveSession, server: string): number {
  let id = 0;
  while (connections.has(id) || used.get(id)?.has(server) === true) id += 1;
  return id;
}

function newSession(service: string, connected: number): LiveSession {
  const session = { user: 'somebody', address: '192.0.2.1', state: 'Session ready for routing' };
  return { service, connected, ...session, connections: new Map(), used: new Map() };
}

function opening(id: number, { service, connected, user, address, state }: LiveSession): HostReport {
  return { type: 'session.opened', id, service, connected, user, address, state };
}

function openings(session: number, live: LiveSession): readonly HostReport[] {
  const connections = Array.from(live.connections, ([id, { server, role, state }]): HostReport => ({
    type: 'connection.opened',
    session,
    connected: live.connected,
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
