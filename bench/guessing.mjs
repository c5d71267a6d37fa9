/**
 * What 100 guessing connections do to the administrators: one who is logged in, and others who log in anew. The gateway
 * runs in a process of its own, with the default hasher. `npm run bench:guessing`, on a quiet machine; takes 75 seconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  createAdmin,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
} from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

const seconds = Number(process.argv[2] ?? 60);
const newcomers = 10;

if (process.send === undefined) await attack();
else await serve();

async function serve() {
  const hasher = createPbkdf2Hasher();
  const names = ['ada', ...Array.from({ length: newcomers }, (_, n) => `user${n}`)];
  const users = [];
  for (const name of names) users.push({ name, password: { sealed: await hasher.hash('engine') } });
  const admin = createAdmin({
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }], users }),
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    access: { authenticate: createBasicAuthentication() },
  });
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
  process.once('disconnect', () => process.exit());
}

async function attack() {
  const gateway = fork(new URL(import.meta.url), process.argv.slice(2));
  const [port] = await once(gateway, 'message');
  const send = clientOf(port);
  const ada = () => send('127.0.0.2', 'ada', 'engine');
  await ada();
  const quiet = await durations(ada, 10);

  let [guesses, throttled, over] = [0, 0, false];
  const guessers = Array.from({ length: 100 }, async (_, n) => {
    while (!over) {
      const { status } = await send('127.0.0.1', n % 2 === 0 ? 'ada' : `guess${n}`, `guess ${guesses}`, n);
      guesses += 1;
      if (status === 429) throttled += 1;
      // A guesser that is turned away comes again at once, but leaves the processor to the others.
      await sleep(10);
    }
  });
  const [busy, waits] = await Promise.all([durations(ada, seconds), logInAnew(send)]);
  over = true;
  await Promise.all(guessers);
  gateway.disconnect();

  const worst = { quiet: Math.max(...quiet), busy: Math.max(...busy) };
  const beyond = worst.busy - worst.quiet;
  const longest = Math.max(...waits) / 1000;
  console.log(
    `\n100 guessing connections for ${seconds} s: ${guesses} guesses, ${throttled} of them throttled`,
  );
  console.log(`  logged in, quiet: ${quiet.length} answers, slowest ${worst.quiet.toFixed(1)} ms`);
  console.log(`  logged in, meanwhile: ${busy.length} answers, slowest ${worst.busy.toFixed(1)} ms`);
  console.log(
    `  beyond the quiet run: ${beyond.toFixed(1)} ms (target 100 ms: ${beyond <= 100 ? 'met' : 'MISSED'})`,
  );
  console.log(
    `  logging in anew: ${waits.length} users, longest ${longest.toFixed(1)} s (target 10 s: ${longest <= 10 ? 'met' : 'MISSED'})`,
  );
}

/** Sends a request from an address, with a connection that is kept. */
function clientOf(port) {
  const agents = new Map();
  return (localAddress, name, password, connection = 0) => {
    const key = `${localAddress} ${connection}`;
    const agent = agents.get(key) ?? new Agent({ keepAlive: true, maxSockets: 1 });
    agents.set(key, agent);
    const headers = { authorization: `Basic ${btoa(`${name}:${password}`)}` };
    return new Promise((resolve, reject) => {
      const start = performance.now();
      request({ host: '127.0.0.1', port, path: '/services', headers, agent, localAddress }, (response) => {
        response
          .resume()
          .once('end', () => resolve({ status: response.statusCode, ms: performance.now() - start }));
      })
        .once('error', reject)
        .end();
    });
  };
}

/** The durations of answers to an administrator who is logged in, one every 50 ms. */
async function durations(ask, forSeconds) {
  const all = [];
  const end = performance.now() + forSeconds * 1000;
  while (performance.now() < end) {
    const { status, ms } = await ask();
    if (status !== 200) throw new Error(`The administrator got ${status}`);
    all.push(ms);
    await sleep(50);
  }
  return all;
}

/** How long each of several users waits for the first answer after a log-in, retries included. */
async function logInAnew(send) {
  const waits = [];
  for (let user = 0; user < newcomers; user += 1) {
    await sleep((seconds * 1000) / newcomers / 2);
    const start = performance.now();
    while ((await send('127.0.0.3', `user${user}`, 'engine')).status !== 200) await sleep(1000);
    waits.push(performance.now() - start);
  }
  return waits;
}
