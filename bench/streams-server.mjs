/**
 * One server of events, in a process of its own: `node streams-server.mjs KIND`. Tells the parent its port, makes an
 * event when asked, and tells its CPU time and its heap when asked.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

import { createAdmin, createSnapshot } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { gateway } from './sessions.mjs';

const report = {
  type: 'service.reported',
  service: 'Sales',
  reason: 'port 4009 is in use by another process',
};

/** Each kind gives a request listener, and what makes an event. */
const kinds = {
  ours: () => {
    const admin = createAdmin({
      snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] }),
      gateway,
      limits: { maxEventReaders: 5000 },
    });
    let failed = false;
    const emit = () => {
      failed = !failed;
      admin.report({ ...report, state: failed ? 'failed' : 'started' });
    };
    return { listener: createNodeHandler(admin), emit };
  },
  bare: () => {
    const all = new Set();
    const listener = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n');
      all.add(response);
      response.on('close', () => all.delete(response));
    };
    let count = 0;
    const emit = () => {
      count += 1;
      const data = { ...report, state: 'failed', resource: '/services/Sales', at: 1_700_000_000_000 };
      const text = `id: abc.${count}.0\nevent: ${report.type}\ndata: ${JSON.stringify(data)}\n\n`;
      for (const response of all) response.write(text);
    };
    return { listener, emit };
  },
};

const { listener, emit } = kinds[process.argv[2]]();
const server = createServer(listener).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', (message) => {
  if (message === 'emit') return emit();
  globalThis.gc();
  process.send({ cpu: process.cpuUsage(), heap: process.memoryUsage().heapUsed });
});
process.once('disconnect', () => process.exit());
process.send({ port: server.address().port });
