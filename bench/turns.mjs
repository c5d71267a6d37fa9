/**
 * The longest turn of the event loop while the sessions of a service are closed, the decision and a plan of it included, and
 * how long a GET takes meanwhile (row R4). `node bench/turns.mjs [SESSIONS]`, on a quiet machine.
 */
import { createAdmin, createSnapshot, closeServiceSessions } from 'gateway-admin-core';

const counts = process.argv[2] === undefined ? [100_000, 1_000_000] : [Number(process.argv[2])];
const limits = { 100_000: 20, 1_000_000: 50 };

for (const count of counts) {
  const admin = open(count);
  // An interface in service has answered before.
  await read(admin);
  const quiet = await watch(admin, () => new Promise((resolve) => setTimeout(resolve, 300)));
  const { longest, gets } = await watch(admin, () => closeAll(admin));
  const limit = limits[count];
  console.log(
    `${count.toLocaleString('en')} sessions closed: longest turn ${longest.toFixed(1)} ms (doing nothing ${quiet.longest.toFixed(1)} ms)` +
      (limit === undefined ? '' : `, target ${limit} ms: ${longest <= limit ? 'met' : 'MISSED'}`),
  );
  const p99 = percentile(gets, 0.99);
  console.log(
    `  ${gets.length} GETs, 99th percentile ${p99.toFixed(1)} ms, target 10 ms: ${p99 <= 10 ? 'met' : 'MISSED'}`,
  );
  if (admin.snapshot.sessions.size > 0) throw new Error('Sessions are left.');
  await admin.close();
}

function open(count) {
  const admin = createAdmin({
    snapshot: createSnapshot({
      services: [{ name: 'Sales', router: 'readconnroute' }],
    }),
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
  });
  const connected = 0;
  for (let first = 1; first <= count; first += 1000) {
    const reports = [];
    for (let id = first; id < Math.min(first + 1000, count + 1); id += 1) {
      reports.push({
        type: 'session.opened',
        id,
        connected,
        state: 'Session ready for routing',
        user: 'ada',
        address: '192.0.2.7',
        service: 'Sales',
      });
    }
    admin.report(reports);
  }
  if (admin.snapshot.sessions.size !== count) throw new Error(`${admin.snapshot.sessions.size} sessions`);
  return admin;
}

function read(admin) {
  return admin.handle({ method: 'GET', target: '/services/Sales', headers: {} });
}

async function closeAll(admin) {
  const decide = (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context);
  admin.plan(decide);
  const execution = await admin.execute(decide);
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
