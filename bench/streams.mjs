/**
 * Events over HTTP to many readers, each with a connection of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';

import { ratios } from './harness.mjs';

export const rows = {
  E1: { title: 'One event to many readers over HTTP', run: fanOut },
};

const rounds = 9;
/** The events of a round. */
const events = 40;

async function fanOut(row) {
  for (const count of [100, 1000]) {
    const servers = { ours: await start('ours'), bare: await start('bare') };
    const heap = {};
    for (const [name, server] of Object.entries(servers)) {
      const before = (await server.look()).heap;
      await Promise.all(Array.from({ length: count }, () => read(server)));
      heap[name] = ((await server.look()).heap - before) / count / 1024;
    }
    const times = { ours: [], bare: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const name of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours'])
        times[name].push(await timeOf(servers[name], count));
    }
    const size = count.toLocaleString('en');
    row.atMost(`${size} readers, of a bare server with one text for all`, 1.8, ratios(times, 'ours', 'bare'));
    if (count === 1000) {
      row.atMost('heap of a reader', 20, heap.ours, 'kB');
      row.report('heap of a reader of the bare server', heap.bare, 'kB');
    }
    for (const server of Object.values(servers)) server.stop();
  }
}

/** Microseconds of CPU time of the server, for each reader and event. */
async function timeOf(server, count) {
  const before = await server.look();
  for (let event = 0; event < events; event += 1) {
    const all = server.arrivals(count);
    server.emit();
    await all;
  }
  const after = await server.look();
  return (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / events / count;
}

async function start(kind) {
  const child = fork(new URL('streams-server.mjs', import.meta.url), [kind], { execArgv: ['--expose-gc'] });
  const [{ port }] = await once(child, 'message');
  let left = 0;
  let arrived = () => undefined;
  return {
    port,
    /** Resolves when so many readers have got an event. */
    arrivals: (count) =>
      new Promise((resolve) => {
        left = count;
        arrived = resolve;
      }),
    onEvent() {
      left -= 1;
      if (left === 0) arrived();
    },
    emit: () => child.send('emit'),
    async look() {
      child.send('look');
      const [seen] = await once(child, 'message');
      return seen;
    },
    stop: () => child.disconnect(),
  };
}

/** Opens a stream. Resolves when its beginning is there. */
function read(server) {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port: server.port, path: '/events', agent: false }, (response) => {
      response.setEncoding('utf8');
      response.on('data', (text) => {
        if (text.includes('event: ')) server.onEvent();
        else resolve();
      });
    });
  });
}
