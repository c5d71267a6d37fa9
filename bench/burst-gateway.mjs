/**
 * The gateway of the row about a burst of events, in a process of its own: an interface over HTTP with the console, whose
 * servers go down and come back many times.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAdmin, createSnapshot } from 'gateway-admin-core';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

import { answerCalls } from './process.mjs';
import { gateway } from './sessions.mjs';

const names = Array.from({ length: 600 }, (_, at) => `db-${String(at)}`);
const servers = names.map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' }));
const services = [
  { name: 'read', router: 'readconnroute', servers: names.slice(0, 3).map((name) => `/servers/${name}`) },
];
const monitors = [{ name: 'watch', module: 'pgmon', servers: names.map((name) => `/servers/${name}`) }];
const admin = createAdmin({ snapshot: createSnapshot({ servers, services, monitors }), gateway });

const showConsole = createNodeHandler(createConsole(), { basePath: '/console' });
const handle = createNodeHandler(admin);
const server = createServer((request, response) =>
  showConsole(request, response, () => handle(request, response)),
).listen(0, '127.0.0.1');
await once(server, 'listening');

let made = 0;

/** Makes events evenly over a time. */
async function burst({ events, ms }) {
  const [begin, last] = [performance.now(), made + events];
  while (made < last) {
    const wanted = last - events + Math.min(events, Math.ceil((events * (performance.now() - begin)) / ms));
    for (; made < wanted; made += 1)
      admin.report({
        type: 'server.reported',
        server: names[made % names.length],
        status: Math.floor(made / names.length) % 2 === 0 ? ['running'] : [],
        reason: `event ${String(made + 1)}`,
      });
    await sleep(5);
  }
  return `event ${String(made)}`;
}

answerCalls({ address: () => `http://127.0.0.1:${String(server.address().port)}`, burst }, () =>
  admin.close(),
);
