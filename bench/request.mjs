/**
 * Requests: from the neutral request to the text of the answer, and the turns of the event loop meanwhile.
 */
import { createHash } from 'node:crypto';

import { format } from 'date-fns';
import { createAdmin, createSnapshot } from 'gateway-admin-core';

import { measure, ratios } from './harness.mjs';
import * as peers from './peers/index.mjs';
import { adminWith, connect, disconnect, gateway, serverNames, serviceNames } from './sessions.mjs';
import { close, closeChosen, closeShown, list } from './turns.mjs';

export const rows = {
  R1: { title: 'GET one service, neutral request to body text', run: getOne },
  R2: { title: 'GET a list, of which something has changed', run: getAll },
  R3: { title: 'GET 10,000 of 1,000,000 sessions with date texts and live idle figures', run: getSessions },
  R4: { title: 'The longest turn of the event loop', run: turns },
  O1: { title: 'Close the ten sessions that a plan showed, of 1,000,000', run: marks },
};

const zone = 'Europe/Helsinki';

function adminWithServices() {
  return createAdmin({
    snapshot: createSnapshot({
      servers: serverNames
        .slice(0, 10)
        .map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
      services: serviceNames.map((name) => ({
        name,
        router: 'readconnroute',
        servers: ['/servers/server-1', '/servers/server-2'],
        router_options: { router_options: 'master' },
        user: 'service_user',
        max_connection: 100,
      })),
    }),
    gateway,
    timeZone: zone,
  });
}

async function bodyOf(admin, target) {
  const { response } = await admin.handle({ method: 'GET', target, headers: {} });
  if (response.status !== 200) throw new Error(`${target} got ${response.status}`);
  return response;
}

/** The entity tag of a text, as express and others make it. */
function tagOf(text) {
  return `"${Buffer.byteLength(text).toString(16)}-${createHash('sha1').update(text).digest('base64').slice(0, 27)}"`;
}

/** A router, the query, and the answer with the tag of its text. */
async function plainHandler(routes) {
  const { default: createRouter } = (await peers.findMyWay()) ?? {};
  if (createRouter === undefined) return undefined;
  const router = createRouter();
  for (const [path, read] of routes) router.on('GET', path, read);
  return async ({ method, target }) => {
    const [path, query = ''] = target.split('?');
    const { handler, params } = router.find(method, path);
    const body = JSON.stringify(handler(params, new URLSearchParams(query)));
    const headers = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json',
      etag: tagOf(body),
    };
    return { status: 200, headers, body };
  };
}

/** A client connects to one service, and leaves at the next call. */
function comeAndGo(admin) {
  let count = 0;
  return () => {
    const id = count >> 1;
    admin.report(
      count % 2 === 0 ? { ...connect(id), service: serviceNames[50], connections: [] } : disconnect(id),
    );
    count += 1;
  };
}

/** Measures reads with a change before each of them, without the time of the change. */
async function measureReads(admin, target, { change = () => undefined, peer }, options) {
  const times = await measure(
    {
      ours: async () => {
        change();
        return lengthOf(await bodyOf(admin, target));
      },
      change,
      peer,
    },
    options,
  );
  const ours = times.ours.map((time, round) => time - times.change[round]);
  return { ...times, ours };
}

async function lengthOf({ body }) {
  // In bytes, as an adapter needs it for the header Content-Length.
  if (typeof body === 'string') return Buffer.byteLength(body);
  let length = 0;
  for await (const piece of body) length += piece.length;
  return length;
}

const shownFields = ['name', 'state', 'current_connections'];
const fieldsQuery = `?fields=${shownFields.join(',')}`;

/** The fields that a query asks for. */
const selected = (query, thing) => {
  const names = query.get('fields')?.split(',');
  return names === undefined ? thing : Object.fromEntries(names.map((name) => [name, thing[name]]));
};

async function getOne(row) {
  const admin = adminWithServices();
  const target = `/services/${serviceNames[50]}`;
  const { body } = await bodyOf(admin, target);
  const services = new Map(serviceNames.map((name) => [name, { ...JSON.parse(body), name }]));
  const peer = await plainHandler([
    ['/services/:name', ({ name }, query) => selected(query, services.get(name))],
  ]);
  if (peer === undefined) return row.note('find-my-way is not installed');
  for (const [what, query, change] of [
    ['a connect before each read', '', comeAndGo(admin)],
    ['a connect before each read of three fields', fieldsQuery, comeAndGo(admin)],
    ['nothing new', '', undefined],
  ]) {
    const asked = target + query;
    const times = await measureReads(admin, asked, {
      change,
      peer: () => peer({ method: 'GET', target: asked, headers: {} }),
    });
    const name = `${what}: find-my-way + JSON.stringify + ETag takes`;
    if (change === undefined) row.report(name, ratios(times, 'peer', 'ours'));
    else row.atLeast(name, 0.6, ratios(times, 'peer', 'ours'));
  }
  return admin.close();
}

async function getAll(row) {
  const few = adminWithServices();
  const many = adminWithServers(1000);
  const most = adminWithServers(10_000);
  let isSlave = false;
  const report = () => {
    isSlave = !isSlave;
    const status = isSlave ? ['running', 'slave'] : ['running'];
    many.report({ type: 'server.reported', server: 'server-50', status });
  };
  const sample = {};
  for (const [what, admin, target, change] of [
    ['100 services, a connect before each read', few, '/services', comeAndGo(few)],
    ['three fields of 100 services, a connect before each', few, `/services${fieldsQuery}`, comeAndGo(few)],
    ['1,000 servers, a report before each read', many, '/servers', report],
    ['10,000 servers, nothing new', most, '/servers', undefined],
  ]) {
    const things = await thingsAt(admin, target.split('?')[0]);
    const query = new URLSearchParams(target.split('?')[1]);
    const peer = () => Buffer.byteLength(JSON.stringify(things.map((thing) => selected(query, thing))));
    const times = await measureReads(admin, target, { change, peer });
    sample[what] = times;
    if (change !== undefined) row.atLeast(`${what}: JSON.stringify takes`, 2, ratios(times, 'peer', 'ours'));
  }
  const [thousand, tenThousand] = Object.values(sample).slice(-2);
  row.atMost(
    'each of 10,000 servers, of each of 1,000 with a report before',
    2,
    tenThousand.ours.map((time, round) => time / 10 / thousand.ours[round]),
  );
  await Promise.all([few.close(), many.close(), most.close()]);
}

function adminWithServers(count) {
  const servers = Array.from({ length: count }, (_, n) => ({
    ...{ name: `server-${n}`, address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] },
  }));
  return createAdmin({ snapshot: createSnapshot({ servers }), gateway, timeZone: zone });
}

/** The things of a list, as a program would have them. */
async function thingsAt(admin, target) {
  const { body } = await bodyOf(admin, target);
  if (typeof body === 'string') return JSON.parse(body);
  const pieces = [];
  for await (const piece of body) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

async function getSessions(row) {
  const admin = adminWith(1_000_000, {
    timeZone: zone,
    gateway: { ...gateway, telemetry: { idle: (id) => id % 60 } },
  });
  const target = '/sessions?range=500000-509999';
  const read = async () => {
    const { body } = await bodyOf(admin, target);
    let length = 0;
    for await (const piece of body) length += piece.length;
    return length;
  };
  const records = admin.snapshot.sessions.range(500_000, 10_000);
  const encoder = new TextEncoder();
  const ready = records.map(({ connections: _connections, ...rest }) => ({
    ...rest,
    connected: 'Fri Jan  2 05:13:20 2026',
  }));
  const { TZDate } = (await peers.dateFnsTz()) ?? {};
  const times = await measure(
    {
      ours: read,
      stringify: () => encoder.encode(JSON.stringify(ready)),
      ...(TZDate !== undefined && {
        dates: () =>
          records.map(({ connected }) => format(new TZDate(connected, zone), 'EEE MMM d HH:mm:ss yyyy')),
      }),
    },
    { rounds: 7, count: 5 },
  );
  row.atMost('JSON.stringify of ready records, to bytes', 2.2, ratios(times, 'ours', 'stringify'));
  if (TZDate !== undefined)
    row.report('date-fns with a named zone for each field takes', ratios(times, 'dates', 'ours'));
  await admin.close();
}

async function turns(row) {
  const listings = await thrice(() => list(1_000_000));
  row.atMost(
    'while 1,000,000 sessions are listed',
    15,
    listings.map(({ longest }) => longest),
    'ms',
  );
  for (const [count, limit] of [
    [100_000, 10],
    [1_000_000, 20],
  ]) {
    const closings = await thrice(() => close(count));
    const figures = (name) => closings.map((closing) => closing[name]);
    const size = count.toLocaleString('en');
    row.atMost(
      `while ${size} sessions are closed, decision and plan included`,
      limit,
      figures('longest'),
      'ms',
    );
    row.atMost(`a GET meanwhile, 99th percentile, ${size} sessions`, 10, figures('getP99'), 'ms');
    row.report(`the same loop doing nothing, ${size} sessions`, figures('quiet'), 'ms');
  }
  const choices = await thrice(() => closeChosen(1_000_000));
  for (const what of Object.keys(choices[0])) {
    const figures = (name) => choices.map((measured) => measured[what][name]);
    row.atMost(`while one of 1,000,000 sessions is ${what}`, 20, figures('longest'), 'ms');
    row.atMost(`a GET meanwhile, 99th percentile, one ${what}`, 10, figures('getP99'), 'ms');
    row.report(`the time until one is ${what}`, figures('wall'), 'ms');
  }
}

/** A longest turn is one sample: whatever else the machine does then is in it. */
async function thrice(work) {
  return [await work(), await work(), await work()];
}

async function marks(row) {
  const closings = await thrice(() => closeShown(1_000_000));
  const figures = (name) => closings.flatMap((closing) => closing[name]);
  row.atMost('a dry run without a mark', 2, figures('plain'), 'ms');
  row.atMost('a dry run with the mark, sessions opened since', 2, figures('marked'), 'ms');
  row.atMost('the closing', 600, figures('wall'), 'ms');
  row.atMost('the longest turn meanwhile', 20, figures('longest'), 'ms');
  row.atMost('a GET meanwhile, 99th percentile', 10, figures('getP99'), 'ms');
}
