/**
 * The drain test: 200 drains of services and servers in a fleet of three example gateways, under 200 clients, with real
 * PostgreSQL servers. No client gets an error before a deadline, and no node says "drained" too early. The judge has
 * the laws. The script needs the build: `npm run test:drain`.
 *
 * Arguments: the number of drains, and the seed. Left out, the seed is another one each time.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { createRandom } from 'gateway-admin-core/testing';

import { closeAll } from '../examples/dist/gateway/closing.js';
import { letLive } from './drain/clients.js';
import { startFleet } from './drain/fleet.js';
import { Judge } from './drain/judge.js';
import { makeList, Operator } from './drain/operator.js';

const [drains = 200, seed = Math.floor(Math.random() * 1e9)] = process.argv.slice(2).map(Number);
if (![drains, seed].every(Number.isSafeInteger) || drains < 1) {
  console.error('Usage: npm run test:drain [-- DRAINS [SEED]]');
  process.exit(2);
}
const clients = 200;
const mostPrinted = 20;

console.log(`The seed is ${seed}.`);
const judge = new Judge();
const ending = new globalThis.AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => ending.abort());
const { signal } = ending;
const closers = [];
let fleet;
try {
  fleet = await startFleet(judge, signal, closers);
  const living = letLive(clients, { fleet, judge, seed, signal });
  closers.push(() => Promise.race([living, sleep(30_000, undefined, { ref: false })]));
  await Promise.race([work(), living]);
} catch (error) {
  judge.breach('none', signal.aborted ? 'The test was interrupted.' : error.stack);
} finally {
  ending.abort();
  await closeAll(closers);
}
report();

async function work() {
  const random = createRandom(seed);
  const operator = new Operator({ fleet, judge, random, signal });
  const begun = performance.now();
  let done = 0;
  await operator.run(makeList(drains, random, fleet), () => {
    done += 1;
    if (done % 10 > 0 && done < drains) return;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(`${done} of ${drains} drains in ${seconds} s: ${figures()}`);
  });
  await operator.waitUntilAllWork(clients);
}

function figures() {
  return [...Object.entries(judge.counts), ['breaches', judge.breaches.length]]
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function report() {
  const laws = [1, 2, 3, 4, 5].map(
    (law) => `law ${law}: ${judge.breaches.filter((each) => each.law === law).length}`,
  );
  if (judge.breaches.length > 0 && fleet !== undefined)
    console.log(['The gateways said:', ...fleet.said].join('\n  '));
  for (const { text } of judge.breaches.slice(0, mostPrinted)) console.log(text);
  console.log(`${figures()} (${laws.join(', ')})`);
  if (judge.breaches.length > 0)
    console.log(`FAILED. To run it again: npm run test:drain -- ${drains} ${seed}`);
  process.exitCode = judge.breaches.length > 0 ? 1 : 0;
}
