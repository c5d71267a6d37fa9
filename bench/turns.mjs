/**
 * The longest turn of the event loop while sessions are listed, or while the sessions of a service are closed, the decision
 * and a plan of it included, and how long a GET takes meanwhile (row R4). `npm run bench:turns [SESSIONS]`, on a quiet
 * machine.
 */
import { closeServiceSessions } from 'gateway-admin-core';

import { cpuMs } from './harness.mjs';
import { adminWith, connect, numbers, serviceNames } from './sessions.mjs';

/** All sessions are on one service. */
const onOneService = { serviceOf: () => serviceNames[0] };

if (import.meta.url === `file://${process.argv[1]}`) await printTurns();

async function printTurns() {
  const counts = process.argv[2] === undefined ? [100_000, 1_000_000] : [Number(process.argv[2])];
  for (const count of counts) {
    const { quiet, longest, gets, getP99 } = await close(count);
    console.log(
      `${count.toLocaleString('en')} sessions closed: longest turn ${longest.toFixed(1)} ms (doing nothing ${quiet.toFixed(1)} ms)`,
    );
    console.log(`  ${gets} GETs, 99th percentile ${getP99.toFixed(1)} ms`);
  }
}

/** Closes all sessions of a service that has `count` of them. */
export async function close(count) {
  const admin = adminWith(count, onOneService);
  // An interface in service has answered before.
  await read(admin);
  const quiet = await watch(admin, () => new Promise((resolve) => setTimeout(resolve, 300)));
  const { longest, gets } = await watch(admin, () => closeAll(admin));
  if (admin.snapshot.sessions.size > 0) throw new Error('Sessions are left.');
  await admin.close();
  return { quiet: quiet.longest, longest, gets: gets.length, getP99: percentile(gets, 0.99) };
}

/** Lists `count` sessions. */
export async function list(count) {
  const admin = adminWith(count, onOneService);
  const readAll = async () => {
    const { response } = await admin.handle({ method: 'GET', target: '/sessions', headers: {} });
    let bytes = 0;
    for await (const piece of response.body) bytes += piece.length;
    if (bytes < count * 50) throw new Error(`${bytes} bytes`);
  };
  const { longest } = await watch(admin, readAll);
  await admin.close();
  return { longest };
}

/**
 * Shows ten sessions in a plan, opens `count` sessions on the same service, and closes what the plan showed. Gives also the
 * CPU time of dry runs with the mark and without.
 */
export async function closeShown(count) {
  const shown = 10;
  const admin = adminWith(shown, onOneService);
  const { mark } = admin.plan(closing);
  for (let first = shown + 1; first <= count; first += 1000)
    admin.report(numbers(first, Math.min(1000, count - first + 1)).map(connectToOne));
  await read(admin);
  const plain = [];
  const marked = [];
  for (let round = 0; round < 20; round += 1) {
    plain.push(await cpuMs(() => admin.plan(closing)));
    marked.push(await cpuMs(() => admin.plan(closing, { mark })));
  }
  let wall = 0;
  const { longest, gets } = await watch(admin, async () => {
    const begin = performance.now();
    const execution = await admin.execute(closing, { mark });
    wall = performance.now() - begin;
    if (execution.outcome !== 'accepted' || execution.closed.sessions !== shown)
      throw new Error(JSON.stringify(execution.closed ?? execution.problem));
  });
  const left = admin.snapshot.sessions.size;
  if (left !== count - shown) throw new Error(`${left} sessions are left.`);
  await admin.close();
  return { plain, marked, wall, longest, getP99: percentile(gets, 0.99) };
}

function closing(snapshot, context) {
  return closeServiceSessions(snapshot, serviceNames[0], context);
}

function connectToOne(id) {
  return { ...connect(id), service: serviceNames[0] };
}

function read(admin) {
  return admin.handle({ method: 'GET', target: `/services/${serviceNames[0]}`, headers: {} });
}

async function closeAll(admin) {
  admin.plan(closing);
  const execution = await admin.execute(closing);
  if (execution.outcome !== 'accepted') throw new Error(JSON.stringify(execution.problem));
}

/** Does the work, and measures each turn of the event loop and each GET meanwhile. */
async function watch(admin, work) {
  let longest = 0;
  let over = false;
  const gets = [];
  let last = performance.now();
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const reader = (async () => {
    while (!over) {
      const begin = performance.now();
      await read(admin);
      gets.push(performance.now() - begin);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  over = true;
  await reader;
  return { longest, gets };
}

function percentile(values, part) {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;
}
