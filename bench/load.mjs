/**
 * A day of a gateway: `npm run bench:load`. Clients come, ask and leave over real sockets, first in front of an echo server
 * and then in front of PostgreSQL. Meanwhile an operator is logged in: a dashboard reads the administration interface every
 * second, a stream of events is open, and every second a setting is changed. Exits with 1
 * unless the interface answers every read in time, counts what the clients have counted, gives its memory back, and costs the
 * gateway no more than a small share of its CPU time.
 *
 * For the share, two gateways of the same code do the same work by turns, each in a process of its own: one with the
 * administration interface and the dashboard, one without both. Turns are short, so that whatever else the machine does
 * meanwhile falls on both. Rates, and the seconds of the dashboard, are those of the turns of one gateway.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { authorization } from './gateway-with-user.mjs';
import { startProcess } from './process.mjs';

/** The parts. `warm` is the load of the first rounds, in which more clients come and go, so that all code is compiled. */
const parts = [
  {
    kind: 'echo',
    clients: 2000,
    load: { queriesPerSecond: 12_000, leavesPerSecond: 20 },
    warm: { queriesPerSecond: 8000, leavesPerSecond: 500 },
    rounds: 24,
  },
  {
    kind: 'PostgreSQL',
    clients: 150,
    load: { queriesPerSecond: 4500, leavesPerSecond: 5 },
    warm: { queriesPerSecond: 3000, leavesPerSecond: 50 },
    rounds: 16,
  },
];
const warmRounds = 1;
/** In a round, each gateway has this many turns of this length. */
const [turns, turnMs] = [30, 100];
const turnsOfASecond = 1000 / turnMs;

/** What the run must keep. */
const most = {
  /** A read must be answered before the dashboard reads again. */
  readMs: 1000,
  /** The CPU time of the gateway with the interface, as a multiple of the time without: the median of the rounds. */
  cpuRatio: 1.05,
  /** Growth of the heap of the gateway from before the load to after the load. */
  heapMB: 2,
};

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => ending.abort());
const interrupted = new Promise((resolve) => {
  ending.signal.addEventListener('abort', () => resolve(), { once: true });
});

const begin = performance.now();
const failed = [];
for (const part of parts) if (!ending.signal.aborted) await runPart(part);
for (const what of failed) console.log(`FAILED: ${what}`);
console.log(`\n${verdict()} ${seconds(begin)}`);
process.exitCode = failed.length > 0 || ending.signal.aborted ? 1 : 0;

function verdict() {
  if (ending.signal.aborted) return 'Interrupted.';
  return failed.length === 0 ? 'All is as it must be.' : 'Not all is as it must be.';
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(0)} s.`;
}

/** Runs a part, and ends every process of the part. */
async function runPart(part) {
  const start = performance.now();
  const { kind, clients, load } = part;
  const { queriesPerSecond, leavesPerSecond } = load;
  console.log(
    `\n${clients.toLocaleString('en')} clients of ${kind}: ${queriesPerSecond} queries a second, and ${leavesPerSecond} clients a second leave while others come`,
  );
  const crowd = startProcess('load-clients.mjs');
  const gateways = ['with the interface', 'without one'].map((each) => ({
    ...startProcess('load-gateway.mjs'),
    kind: each,
    cpuUs: [],
    roundTrips: [],
    reads: [],
  }));
  try {
    await Promise.race([measure(part, crowd, gateways), interrupted]);
  } catch (error) {
    if (!ending.signal.aborted) failed.push(error.stack);
  } finally {
    // The clients first, so that no gateway has to turn clients away.
    for (const { end } of [crowd, ...gateways]) await end();
  }
  console.log(`    ${seconds(start)}`);
}

/** Runs the load, and says what was measured. What is wrong goes to `failed`. */
async function measure({ kind, clients, load, warm, rounds }, crowd, gateways) {
  const connect = () =>
    Promise.all(gateways.map(({ port }) => crowd.ask('connect', { kind, port, count: clients })));
  const leave = () => Promise.all(gateways.map(({ port }) => crowd.ask('leave', { port })));
  const work = async (count, rates) => {
    for (let round = 0; round < count; round += 1) await workRound(gateways, crowd, clients, rates);
  };
  const [subject] = gateways;
  const check = async (when) => checkCounts(subject, await crowd.ask('counted', subject), `${kind}, ${when}`);
  // Garbage is collected in both, because that has an effect on what comes after.
  const heap = async () => (await Promise.all(gateways.map(({ ask }) => ask('heap'))))[0] / 1e6;

  // Room for the clients of both gateways, and for clients that are about to leave.
  const document = documentFor(await crowd.ask('openServer', { kind, room: 2 * clients + 50 }));
  for (const gateway of gateways)
    Object.assign(gateway, await gateway.ask('open', { document, kind: gateway.kind }));
  const stream = follow(subject.origin);
  await connect();
  await work(warmRounds, warm);
  await leave();
  await check('before the load');
  for (const gateway of gateways) Object.assign(gateway, { cpuUs: [], roundTrips: [], reads: [] });
  const before = await heap();
  await connect();
  await work(rounds, load);
  const counted = await check('with all clients');
  const during = await heap();
  await leave();
  await check('after the load');
  await stream.end();
  say(kind, gateways, counted, { before, during, after: await heap() });
}

/** A gateway with one service on the server at this port. */
function documentFor(port) {
  const place = { protocol: 'postgresql', address: '127.0.0.1' };
  return {
    servers: [{ name: 'server', ...place, port, status: ['running'] }],
    services: [
      {
        name: 'service',
        router: 'readconnroute',
        servers: ['/servers/server'],
        listeners: [{ name: 'listener', ...place, port: 0 }],
      },
    ],
    monitors: [{ name: 'monitor', module: 'tcpmon', servers: ['/servers/server'], monitor_interval: 1000 }],
  };
}

/** Lets the clients of the gateways work by turns. */
async function workRound(gateways, crowd, clients, rates) {
  const starts = await Promise.all(gateways.map(({ ask }) => ask('cpuUs')));
  for (let turn = 0; turn < turns; turn += 1)
    for (const { port, origin, roundTrips, reads } of turn % 2 === 0 ? gateways : gateways.toReversed()) {
      const isWatched = origin !== undefined && turn % turnsOfASecond === 0;
      const [taken] = await Promise.all([
        crowd.ask('work', { port, ms: turnMs, ...rates }),
        isWatched ? watch(origin, clients, reads) : undefined,
      ]);
      roundTrips.push(...taken);
    }
  const ends = await Promise.all(gateways.map(({ ask }) => ask('cpuUs')));
  for (const [index, { cpuUs }] of gateways.entries()) cpuUs.push(ends[index] - starts[index]);
}

/** What the dashboard reads at once: the services, the servers, and the first and the last page of the sessions. */
async function watch(origin, clients, reads) {
  const pages = ['range=0-99', `range=${clients - 100}-${clients - 1}`];
  const targets = ['/services', '/servers', ...pages.map((page) => `/sessions?${page}`)];
  await Promise.all([change(origin), ...targets.map((target) => read(origin, target, reads))]);
}

/** Changes a setting of the service: a number that differs each time, above all numbers of clients. */
async function change(origin) {
  const limit = 10_000 + Math.floor(performance.now());
  const response = await fetch(`${origin}/services/service`, {
    method: 'PATCH',
    headers: { authorization, 'content-type': 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'replace', path: '/max_connection', value: limit }]),
    signal: AbortSignal.timeout(most.readMs),
  }).catch((error) => ({ status: error.message }));
  if (response.status !== 200 && !ending.signal.aborted)
    failed.push(`PATCH /services/service answers ${response.status}`);
  await response.body?.cancel();
}

/** Reads the events until the end of the part. */
function follow(origin) {
  const stop = new AbortController();
  let events = 0;
  const read = async () => {
    const response = await fetch(`${origin}/events`, { headers: { authorization }, signal: stop.signal });
    const texts = response.body.pipeThrough(new TextDecoderStream());
    for await (const text of texts) events += text.split('\ndata:').length - 1;
  };
  const reading = read().catch((error) => {
    if (!stop.signal.aborted && !ending.signal.aborted) failed.push(`GET /events: ${error.message}`);
  });
  return {
    async end() {
      stop.abort();
      await reading;
      if (events === 0) failed.push('GET /events has given no event');
    },
  };
}

/** Reads a target whole. A read that fails, or comes too late, goes to `failed`. */
async function read(origin, target, reads) {
  const start = performance.now();
  try {
    const response = await fetch(origin + target, {
      headers: { authorization },
      signal: AbortSignal.timeout(most.readMs),
    });
    const body = await response.json();
    if (response.status !== 200) failed.push(`GET ${target} answers ${response.status}`);
    reads?.push(performance.now() - start);
    return body;
  } catch (error) {
    if (!ending.signal.aborted) failed.push(`GET ${target}: ${error.message}`);
    return undefined;
  }
}

/** Compares what the interface says with what the clients have counted. Gives what the clients have counted. */
async function checkCounts({ origin }, { live, total }, when) {
  const expected = {
    sessions: live,
    'sessions of the service': live,
    'connections of the server': live,
    current_connections: live,
    total_connections: total,
  };
  const deadline = performance.now() + most.readMs;
  for (;;) {
    const shown = await shownCounts(origin);
    const wrong = Object.keys(expected).filter((name) => shown[name] !== expected[name]);
    if (wrong.length === 0) return expected;
    // The gateway learns of the end of a session a little later than the client.
    if (performance.now() > deadline) {
      for (const name of wrong)
        failed.push(
          `${when}: the interface shows ${shown[name]} for ${name}, and the clients have counted ${expected[name]}`,
        );
      return expected;
    }
    await sleep(20);
  }
}

async function shownCounts(origin) {
  const [service, sessions, links, connections] = await Promise.all(
    ['/services/service', '/sessions', '/services/service/sessions', '/servers/server/connections'].map(
      (target) => read(origin, target),
    ),
  );
  return {
    sessions: sessions?.length,
    'sessions of the service': links?.length,
    'connections of the server': connections?.length,
    current_connections: service?.current_connections,
    total_connections: service?.total_connections,
  };
}

/** Prints what was measured, and adds what is too much to `failed`. */
function say(kind, [subject, plain], counted, heap) {
  const seconds = (turns * turnMs) / 1000;
  const cpu = [subject, plain].map(({ cpuUs }) => `${(median(cpuUs) / 1000 / seconds).toFixed(0)} ms`);
  const ratios = subject.cpuUs.map((us, round) => us / plain.cpuUs[round]);
  const ratio = median(ratios);
  const spread = [Math.min(...ratios), ratio, Math.max(...ratios)].map((each) => each.toFixed(3));
  const growth = heap.after - heap.before;
  const MB = Object.values(heap).map((each) => each.toFixed(1));
  print(
    'counted by the clients',
    Object.entries(counted)
      .map((each) => each.join(' '))
      .join(', '),
  );
  print('reads of the dashboard: p50, p99, longest', `${times(subject.reads)}, at most ${most.readMs} ms`);
  print('queries with the interface: p50, p99, longest', times(subject.roundTrips));
  print('queries without one', times(plain.roundTrips));
  print('heap before, with all clients, after', `${MB.join(', ')} MB, may grow by ${most.heapMB} MB`);
  print('CPU time of a second, with the interface, without', cpu.join(', '));
  print('ratio of the two: least, median, most', `${spread.join(', ')}, at most ${most.cpuRatio}`);
  if (growth > most.heapMB) failed.push(`${kind}: the heap has grown by ${growth.toFixed(1)} MB`);
  if (ratio > most.cpuRatio)
    failed.push(`${kind}: the gateway takes ${spread[1]} times the CPU time with the interface`);
}

function print(name, text) {
  console.log(`    ${name.padEnd(52)}${text}`);
}

function times(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((part) => sorted[Math.floor(sorted.length * part)]);
  const cells = [p50, p99, sorted.at(-1)].map((ms) => ms.toFixed(1));
  return `${cells.join(', ')} ms (${sorted.length.toLocaleString('en')} of them)`;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
