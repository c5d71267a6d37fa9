/**
 * A day of a gateway. Clients come, ask and leave over real sockets, first in front of an echo server and then in front of
 * PostgreSQL. Meanwhile an operator is logged in: a dashboard reads the administration interface every second, a stream of
 * events is open, and every second a setting is changed. The row fails unless every read is answered in time, and the
 * interface counts what the clients have counted.
 *
 * For the share of CPU time, two gateways of the same code do the same work by turns, each in a process of its own: one with
 * the administration interface and the dashboard, one without both. Turns are short, so that whatever else the machine does
 * meanwhile falls on both. Rates, and the seconds of the dashboard, are those of the turns of one gateway. Both gateways run
 * on one core, and everything else on another one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { authorization } from './gateway-with-user.mjs';
import { pin, startProcess } from './process.mjs';

export const rows = {
  A1: { title: 'A day: CPU time of a gateway with the interface, of the same without', run: day },
};

/** The parts. `warm` is the load of the first round, in which more clients come and go, so that all code is compiled. */
const parts = [
  {
    kind: 'echo',
    clients: 2000,
    load: { queriesPerSecond: 12_000, leavesPerSecond: 20 },
    warm: { queriesPerSecond: 8000, leavesPerSecond: 500 },
  },
  {
    kind: 'PostgreSQL',
    clients: 150,
    load: { queriesPerSecond: 4500, leavesPerSecond: 5 },
    warm: { queriesPerSecond: 3000, leavesPerSecond: 50 },
  },
];
const rounds = 10;
/** In a round, each gateway has this many turns of this length. */
const [turns, turnMs] = [30, 100];
const turnsOfASecond = 1000 / turnMs;
/** A read must be answered before the dashboard reads again. */
const mostReadMs = 1000;
/** The core of the gateways, and that of the others. */
const [gatewayCore, otherCore] = ['0', '1'];

async function day(row) {
  pin(process.pid, otherCore);
  for (const part of parts) {
    const crowd = startProcess('day-clients.mjs', otherCore);
    const gateways = ['with the interface', 'without one'].map((kind) => ({
      ...startProcess('day-gateway.mjs', gatewayCore),
      ...{ kind, cpuUs: [], slowest: [], reads: [] },
    }));
    try {
      await measure(row, part, crowd, gateways);
    } finally {
      // The clients first, so that no gateway has to turn clients away.
      for (const { end } of [crowd, ...gateways]) await end();
    }
  }
}

/** Runs the load of a part, and adds what was measured to the row. */
async function measure(row, { kind, clients, load, warm }, crowd, gateways) {
  const connect = () =>
    Promise.all(gateways.map(({ port }) => crowd.ask('connect', { kind, port, count: clients })));
  const leave = () => Promise.all(gateways.map(({ port }) => crowd.ask('leave', { port })));
  const [subject, plain] = gateways;
  const check = async () => checkCounts(subject, await crowd.ask('counted', subject));
  // Garbage is collected in both, because that has an effect on what comes after.
  const heap = async () => (await Promise.all(gateways.map(({ ask }) => ask('heap'))))[0] / 1e6;

  // Room for the clients of both gateways, and for clients that are about to leave.
  const document = documentFor(await crowd.ask('openServer', { kind, room: 2 * clients + 50 }));
  for (const gateway of gateways)
    Object.assign(gateway, await gateway.ask('open', { document, kind: gateway.kind }));
  const stream = follow(subject.origin);
  await connect();
  await workRound(gateways, crowd, clients, warm);
  await leave();
  await check();
  for (const gateway of gateways) Object.assign(gateway, { cpuUs: [], slowest: [], reads: [] });
  const before = await heap();
  await connect();
  for (let round = 0; round < rounds; round += 1) await workRound(gateways, crowd, clients, load);
  await check();
  await leave();
  await check();
  await stream.end();

  const shares = subject.cpuUs.map((us, round) => us / plain.cpuUs[round]);
  const seconds = (turns * turnMs) / 1000;
  const more = subject.cpuUs.map((us, round) => (us - plain.cpuUs[round]) / seconds / 1000);
  const name = `${clients.toLocaleString('en')} clients of ${kind}`;
  row.atMost(`${name}: CPU time`, 1.05, shares);
  row.report(`${name}: more CPU time a second`, more, 'ms');
  row.atMost(`${name}: growth of the heap`, 2, (await heap()) - before, 'MB');
  row.report(`${name}: a read of the dashboard`, subject.reads, 'ms');
  row.report(`${name}: p99 of the queries with the interface`, subject.slowest, 'ms');
  row.report(`${name}: p99 of the queries without`, plain.slowest, 'ms');
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
  const taken = new Map(gateways.map((gateway) => [gateway, []]));
  for (let turn = 0; turn < turns; turn += 1)
    for (const gateway of turn % 2 === 0 ? gateways : gateways.toReversed()) {
      const { port, origin, reads } = gateway;
      const isWatched = origin !== undefined && turn % turnsOfASecond === 0;
      const [times] = await Promise.all([
        crowd.ask('work', { port, ms: turnMs, ...rates }),
        isWatched ? watch(origin, clients, reads) : undefined,
      ]);
      taken.get(gateway).push(...times);
    }
  const ends = await Promise.all(gateways.map(({ ask }) => ask('cpuUs')));
  for (const [index, gateway] of gateways.entries()) {
    gateway.cpuUs.push(ends[index] - starts[index]);
    const times = taken.get(gateway).toSorted((a, b) => a - b);
    gateway.slowest.push(times[Math.floor(times.length * 0.99)]);
  }
}

/** What the dashboard reads at once: the services, the servers, and the first and the last page of the sessions. */
async function watch(origin, clients, reads) {
  const pages = ['range=0-99', `range=${clients - 100}-${clients - 1}`];
  const targets = ['/services', '/servers', ...pages.map((page) => `/sessions?${page}`)];
  const readTimed = async (target) => {
    const start = performance.now();
    await read(origin, target);
    reads.push(performance.now() - start);
  };
  await Promise.all([change(origin), ...targets.map(readTimed)]);
}

/** Changes a setting of the service: a number that differs each time, above all numbers of clients. */
function change(origin) {
  const limit = 10_000 + Math.floor(performance.now());
  return read(origin, '/services/service', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'replace', path: '/max_connection', value: limit }]),
  });
}

/** Reads the events until the end of the part. */
function follow(origin) {
  const stop = new AbortController();
  let events = 0;
  const readAll = async () => {
    const response = await fetch(`${origin}/events`, { headers: { authorization }, signal: stop.signal });
    const texts = response.body.pipeThrough(new TextDecoderStream());
    for await (const text of texts) events += text.split('\ndata:').length - 1;
  };
  const ended = readAll().then(
    () => new Error('The stream of events has ended'),
    (error) => (stop.signal.aborted ? undefined : error),
  );
  return {
    async end() {
      stop.abort();
      const error = await ended;
      if (error !== undefined) throw error;
      if (events === 0) throw new Error('The stream has given no event');
    },
  };
}

/** Sends a request, and gives the answer. An answer that is late, or refuses, ends the row. */
async function read(origin, target, { headers, ...rest } = {}) {
  const response = await fetch(origin + target, {
    headers: { authorization, ...headers },
    signal: AbortSignal.timeout(mostReadMs),
    ...rest,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target} answers ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Compares what the interface says with what the clients have counted. */
async function checkCounts({ origin }, { live, total }) {
  const expected = {
    sessions: live,
    'sessions of the service': live,
    'connections of the server': live,
    current_connections: live,
    total_connections: total,
  };
  const deadline = performance.now() + mostReadMs;
  for (;;) {
    const shown = await shownCounts(origin);
    if (isDeepStrictEqual(shown, expected)) return;
    // The gateway learns of the end of a session a little later than the client.
    if (performance.now() > deadline)
      throw new Error(
        `The clients have counted ${JSON.stringify(expected)}, the interface ${JSON.stringify(shown)}`,
      );
    await sleep(20);
  }
}

async function shownCounts(origin) {
  const targets = [
    '/services/service',
    '/sessions',
    '/services/service/sessions',
    '/servers/server/connections',
  ];
  const [service, sessions, links, connections] = await Promise.all(
    targets.map((target) => read(origin, target)),
  );
  return {
    sessions: sessions.length,
    'sessions of the service': links.length,
    'connections of the server': connections.length,
    current_connections: service.current_connections,
    total_connections: service.total_connections,
  };
}
