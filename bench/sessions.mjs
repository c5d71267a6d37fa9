/**
 * Gateways with many sessions, for the rows about sessions: 100 services, 1,000 servers, and two connections for each
 * session.
 */
import { createAdmin, createSnapshot } from 'gateway-admin-core';

export const serviceNames = Array.from({ length: 100 }, (_, n) => `service-${n}`);
export const serverNames = Array.from({ length: 1000 }, (_, n) => `server-${n}`);

/** The first connect time: ids are used again, so a later session has a later one. */
const begin = Date.UTC(2026, 0, 1);
const statistics = Object.freeze({
  reads: 0,
  writes: 0,
  buffered_writes: 0,
  high_water_events: 0,
  low_water_events: 0,
});

export const snapshotWithoutSessions = () =>
  createSnapshot({
    servers: serverNames.map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
    services: serviceNames.map((name) => ({ name, router: 'readconnroute' })),
  });

export const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') };

/** What the gateway reports when a client connects: the session, with the connections that it opens at once. */
export function connect(id) {
  return {
    type: 'session.opened',
    id,
    connected: begin + id,
    state: 'Session ready for routing',
    user: 'ada',
    address: '192.0.2.7',
    service: serviceNames[id % serviceNames.length],
    connections: [0, 1].map((n) => ({
      id: n,
      server: serverNames[(id * 7 + n) % serverNames.length],
      role: 'slave',
      state: 'Connected',
    })),
  };
}

export function disconnect(id) {
  return { type: 'session.closed', id, connected: begin + id };
}

export function update(id, idle) {
  return { type: 'session.updated', id, connected: begin + id, idle };
}

/** The session that {@link connect} opens, as the structures take it. */
export function sessionOf(id) {
  const { type: _type, connections, ...session } = connect(id);
  return { ...session, idle: 0, connections: connections.map((each) => ({ ...each, statistics })) };
}

/** Numbers from `first` on. */
export function numbers(first, count) {
  return Array.from({ length: count }, (_, n) => first + n);
}

/**
 * A running interface with sessions of the ids from 1 on.
 *
 * @param {number} count - the number of sessions
 * @param {{ serviceOf?: (id: number) => string }} [how] - the service of each session, and options of the interface
 */
export function adminWith(count, { serviceOf, ...options } = {}) {
  const admin = createAdmin({ snapshot: snapshotWithoutSessions(), gateway, ...options });
  const opened = (id) => (serviceOf === undefined ? connect(id) : { ...connect(id), service: serviceOf(id) });
  for (let first = 1; first <= count; first += 1000)
    admin.report(numbers(first, Math.min(1000, count - first + 1)).map(opened));
  if (admin.snapshot.sessions.size !== count) throw new Error(`${admin.snapshot.sessions.size} sessions`);
  return admin;
}

/** A frozen copy of a session, as every structure stores it. */
export function recordOf(session) {
  const { id, state, user, address, service, connected, idle } = session;
  const connections = session.connections.map((connection) => {
    const { id: own, server, role, state: text, statistics: counters } = connection;
    return Object.freeze({ id: own, server, role, state: text, statistics: counters });
  });
  return Object.freeze({
    id,
    state,
    user,
    address,
    service,
    connected,
    idle,
    connections: Object.freeze(connections),
  });
}

/** Mutable Maps with the indexes of the session table: no snapshot stays valid. */
export class MutableTable {
  sessions = new Map();
  services = new Map(serviceNames.map((name) => [name, { ids: new Map(), connections: 0, total: 0 }]));
  servers = new Map(serverNames.map((name) => [name, { ids: new Map(), connections: 0 }]));

  constructor(records = []) {
    for (const record of records) this.add(record);
  }

  open(session) {
    this.add(recordOf(session));
  }

  add(record) {
    this.sessions.set(record.id, record);
    const service = this.services.get(record.service);
    service.ids.set(record.id, record.connected);
    service.connections += record.connections.length;
    service.total += 1;
    for (const { server } of record.connections) {
      const entry = this.servers.get(server);
      entry.ids.set(record.id, (entry.ids.get(record.id) ?? 0) + 1);
      entry.connections += 1;
    }
  }

  update(id, change) {
    const session = this.sessions.get(id);
    this.sessions.set(id, Object.freeze({ ...session, ...change }));
  }

  close(id) {
    const record = this.sessions.get(id);
    this.sessions.delete(id);
    const service = this.services.get(record.service);
    service.ids.delete(id);
    service.connections -= record.connections.length;
    for (const { server } of record.connections) {
      const entry = this.servers.get(server);
      const count = entry.ids.get(id) - 1;
      if (count === 0) entry.ids.delete(id);
      else entry.ids.set(id, count);
      entry.connections -= 1;
    }
  }
}
