/**
 * The gateway of the row about consoles, in a process of its own: an interface over HTTP with many sessions, 20 of which come
 * and go each second. Tells the parent its port, and its CPU time and heap when asked.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

import { collectGarbage } from './harness.mjs';
import { adminWith, connect, disconnect, serverNames } from './sessions.mjs';

const [size] = process.argv.slice(2).map(Number);
// One person keeps all the pages open here, and a reader has at most three quarters of the places.
const admin = adminWith(size, { limits: { maxEventReaders: 200 } });
admin.report(serverNames.map((name) => ({ type: 'server.reported', server: name, status: ['running'] })));

let next = size + 1;
setInterval(() => {
  admin.report([disconnect(next - size), connect(next)]);
  next += 1;
}, 50);

const showConsole = createNodeHandler(createConsole(), { basePath: '/console' });
const handle = createNodeHandler(admin);
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) =>
  showConsole(request, response, () => handle(request, response)),
).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', (what) => {
  const { user, system } = process.cpuUsage();
  if (what !== 'cpu') collectGarbage();
  process.send({ cpuUs: user + system, heap: process.memoryUsage().heapUsed });
});
process.send(server.address().port);
