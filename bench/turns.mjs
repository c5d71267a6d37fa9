/**
 * The longest turn of the event loop while sessions are listed, while the sessions of a service are closed, the decision and
 * a plan of it included, or while one session is chosen, and how long a GET takes meanwhile (row R4). `npm run bench:turns
 * [SESSIONS]`, on a quiet machine.
 */
import { closeServiceSessions } from 'gateway-admin-core';

import { cpuMs, startTurn } from './harness.mjs';
import { adminWith, connect, gateway, numbers, serviceNames } from './sessions.mjs';

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
    for (const [what, work] of Object.entries(await closeChosen(count)))
      console.log(
        `${count.toLocaleString('en')} sessions, one ${what}: ${work.wall.toFixed(0)} ms, longest turn ${work.longest.toFixed(1)} ms, GET p99 ${work.getP99.toFixed(1)} ms`,
      );
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

/**
 * Searches `count` sessions for one by its user, plans to close it, and closes it: by the user, and by the idle time that the
 * host gives.
 */
export async function closeChosen(count) {
  const chosen = Math.floor(count / 2);
  const telemetry = { idle: (id) => (id === chosen ? 700 : id % 600) };
  const admin = adminWith(count, { gateway: { ...gateway, telemetry } });
  admin.report({ ...connect(chosen), connected: connect(chosen).connected + 1, user: 'eve' });
  await read(admin);
  const measured = {};
  const ask = async (what, method, query, headers = {}) => {
    let wall = 0;
    let body;
    const { longest, gets } = await watch(admin, async () => {
      const begin = performance.now();
      const { response } = await admin.handle({ method, target: `/sessions?${query}`, headers });
      wall = performance.now() - begin;
      if (response.status !== 200) throw new Error(`${response.status} ${response.body}`);
      body = JSON.parse(response.body);
    });
    measured[what] = { wall, longest, getP99: percentile(gets, 0.99) };
    return body;
  };
  await ask('found by its user', 'GET', 'user=eve');
  await ask('planned by its user', 'DELETE', 'user=eve&dry_run=true');
  const { mark, closes } = await ask('planned by its idle time', 'DELETE', 'idle_over=600&dry_run=true');
  const how = { prefer: 'return=representation' };
  const query = `idle_over=600&mark=${mark}`;
  const { closed } = await ask('closed as planned by its idle time', 'DELETE', query, how);
  admin.report(connect(chosen + count));
  admin.report({ type: 'session.updated', id: chosen + count, user: 'eve' });
  const again = await ask('closed by its user', 'DELETE', 'user=eve', how);
  for (const { sessions } of [closes, closed, again.closed])
    if (sessions !== 1) throw new Error(`${sessions} sessions are chosen.`);
  await admin.close();
  return measured;
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
  let msOf = startTurn();
  const turn = () => {
    longest = Math.max(longest, msOf());
    msOf = startTurn();
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
