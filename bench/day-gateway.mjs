/**
 * The gateway of `day.mjs`: the example gateway, in a process of its own, with its administration interface or without one.
 */
import { setImmediate as turn } from 'node:timers/promises';

import { createAdmin, createBasicAuthentication, createSnapshot } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { openAdminServer } from '../examples/dist/gateway/admin-server.js';
import { closeAll } from '../examples/dist/gateway/closing.js';
import { startingDocument } from '../examples/dist/gateway/document.js';
import { Gateway } from '../examples/dist/gateway/gateway.js';
import { veto } from '../examples/dist/gateway/setting.js';
import { usersOf } from './gateway-with-user.mjs';
import { collectGarbage } from './harness.mjs';
import { answerCalls } from './process.mjs';

const closers = [];

const kinds = { 'with the interface': openInterface, 'without one': (snapshot) => openCounts(snapshot) };

answerCalls(
  {
    async open({ document, kind }) {
      const gateway = new Gateway();
      closers.push(() => gateway.close());
      const whole = { ...(await startingDocument(document)), users: await usersOf() };
      const { admin, origin } = await kinds[kind](createSnapshot(whole), gateway);
      await gateway.open(admin);
      const [service] = admin.snapshot.services;
      return { port: service.listeners[0].port, origin };
    },
    cpuUs: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    /** The bytes of the heap that are in use. Sockets that have just closed leave the heap with the next turns. */
    async heap() {
      for (let time = 0; time < 10; time += 1) await turn();
      collectGarbage();
      return process.memoryUsage().heapUsed;
    },
  },
  () => closeAll(closers),
);

async function openInterface(snapshot, gateway) {
  const server = await openAdminServer({ host: '127.0.0.1', port: 0 }, closers);
  const access = { authenticate: createBasicAuthentication() };
  const observe = { onError: console.error };
  const admin = createAdmin({ snapshot, gateway: gateway.port, veto, access, observe });
  server.serve(createNodeHandler(admin, { onError: console.error }));
  return { admin, origin: server.origin };
}

/**
 * What the gateway needs if nobody administers it: the settings, and the number of connections of each server, because the
 * router chooses by this number.
 */
function openCounts({ services, servers, monitors, filters }) {
  const connections = new Map();
  const serverOf = new Map();
  const add = (key, change) => connections.set(key, (connections.get(key) ?? 0) + change);
  const leave = (session) => {
    const server = serverOf.get(session);
    if (serverOf.delete(session)) add(server, -1);
  };
  const count = ({ type, id, session, connections: [connection] = [] }) => {
    if (type === 'session.opened') {
      serverOf.set(id, connection.server);
      add(connection.server, 1);
    } else if (type === 'connection.closed') leave(session);
    else if (type === 'session.closed') leave(id);
  };
  const sessions = { countOfServer: (key) => connections.get(key) ?? 0 };
  const admin = {
    snapshot: { services, servers, monitors, filters, sessions },
    report: (reports) => [reports].flat().forEach(count),
    close: () => Promise.resolve(),
  };
  return { admin };
}
