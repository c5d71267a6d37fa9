/**
 * Requests over loopback: the CPU time of the server for each request. Each server has a process of its own.
 */
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { honoNodeServer } from './peers/index.mjs';
import { authorization, openAdmin, openAdminWithUser } from './gateway-with-user.mjs';
import { measure, ratios } from './harness.mjs';
import { serviceNames } from './sessions.mjs';

export const rows = {
  L1: { title: 'GET and PUT with a remembered log-in', run: logIn },
  H1: { title: 'GET one resource over loopback through `node`: server CPU', run: getOverNode },
  H2: { title: 'The same through the recipes of frameworks', run: getOverFrameworks },
  H3: { title: 'PATCH of three operations over loopback through `node`: server CPU', run: patchOverNode },
};

/** The requests before the first measurement: code is compiled while it runs. */
const warming = 6000;

const path = `/services/${serviceNames[50]}`;
const get = () => ({ method: 'GET', path });

async function logIn(row) {
  const [open, closed] = [openAdmin(), await openAdminWithUser()];
  const ask = async (admin, method, target, headers) => {
    const { response } = await admin.handle({ method, target, headers, peer: '127.0.0.1' });
    if (response.status >= 300) throw new Error(`${method} ${target} got ${response.status}`);
  };
  const service = `/service/${serviceNames[50]}`;
  let count = 0;
  const works = {
    GET: (admin, headers) => ask(admin, 'GET', path, headers),
    PUT: (admin, headers) => {
      count += 1;
      return ask(admin, 'PUT', `${service}/${count % 2 === 0 ? 'start' : 'stop'}`, headers);
    },
  };
  for (const [method, work] of Object.entries(works)) {
    const times = await measure({
      with: () => work(closed, { authorization }),
      without: () => work(open, {}),
    });
    const more = times.with.map((time, round) => time - times.without[round]);
    row.atMost(`${method}: more than without a log-in`, 10, more, 'µs');
  }
  await Promise.all([open.close(), closed.close()]);
  const servers = { ours: await start('node with a log-in'), bare: await start('bare node:http') };
  const times = await measureServers(servers, () => ({ ...get(), headers: { authorization } }));
  row.atMost('GET over HTTP, of bare node:http', 2.2, ratios(times, 'ours', 'bare'));
}

async function getOverNode(row) {
  const servers = {
    ours: await start('node'),
    bare: await start('bare node:http'),
    stringify: await start('node:http + JSON.stringify'),
    ...(await caddy(row)),
  };
  const times = await measureServers(servers, (server) =>
    server.isCaddy ? { method: 'GET', path: '/id/one' } : get(),
  );
  row.atMost('bare node:http with a constant answer', 1.5, ratios(times, 'ours', 'bare'));
  row.atMost('bare node:http with JSON.stringify', 1.2, ratios(times, 'ours', 'stringify'));
  if (times.caddy !== undefined) row.atMost('the admin API of Caddy', 0.9, ratios(times, 'ours', 'caddy'));
  row.report('one request', times.ours, 'µs');
  if (!isInstalled('haproxy'))
    row.note('HAProxy is not installed; its runtime socket is reported without a target');
}

async function getOverFrameworks(row) {
  const limits = { hono: 1.4, express: 0.9, fastify: 1.25 };
  if ((await honoNodeServer()) === undefined) {
    delete limits.hono;
    row.note('@hono/node-server is not installed');
  }
  const names = Object.keys(limits);
  const servers = {};
  for (const name of names) {
    servers[name] = await start(name);
    servers[`${name} alone`] = await start(`${name} alone`);
  }
  const times = await measureServers(servers, get);
  for (const name of names)
    row.atMost(`${name}, of its own handler`, limits[name], ratios(times, name, `${name} alone`));
}

async function patchOverNode(row) {
  const servers = {
    ours: await start('node'),
    bare: await start('node:http + fast-json-patch + ajv'),
    express: await start('express + fast-json-patch + ajv'),
    ...(await caddy(row)),
  };
  let value = 100;
  const patch = (server) => {
    value += 1;
    if (server.isCaddy)
      return {
        method: 'PATCH',
        path: '/id/one/read_timeout',
        type: 'application/json',
        body: String(value),
      };
    const body = JSON.stringify([
      { op: 'test', path: '/user', value: 'service_user' },
      { op: 'replace', path: '/max_connection', value },
      { op: 'add', path: '/router_options/weights', value: String(value) },
    ]);
    return { method: 'PATCH', path, type: 'application/json-patch+json', body };
  };
  const times = await measureServers(servers, patch);
  if (times.caddy !== undefined) row.report('the admin API of Caddy', ratios(times, 'ours', 'caddy'));
  row.atMost('bare node:http + fast-json-patch + ajv', 3, ratios(times, 'ours', 'bare'));
  row.atMost('express + fast-json-patch + ajv', 0.6, ratios(times, 'ours', 'express'));
  row.report('one request', times.ours, 'µs');
}

async function start(kind) {
  const child = fork(new URL('loopback-server.mjs', import.meta.url), [kind], { execArgv: [] });
  const [{ port }] = await once(child, 'message');
  return {
    port,
    cpu: async () => {
      child.send('cpu');
      const [{ user, system }] = await once(child, 'message');
      return user + system;
    },
    stop: () => child.disconnect(),
  };
}

/** Gives microseconds of CPU time for each request, by the name of the server and by round. */
async function measureServers(servers, requestOf, { rounds = 7, requests = 4000 } = {}) {
  const names = Object.keys(servers);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await sendMany(servers[name], requestOf, warming);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const server = servers[name];
      const before = await server.cpu();
      await sendMany(server, requestOf, requests);
      times[name].push(((await server.cpu()) - before) / requests);
    }
  }
  for (const server of Object.values(servers)) server.stop();
  return times;
}

/** Sends requests on 16 connections that are kept. As bytes over sockets, so that the server is slower than its clients. */
async function sendMany(server, requestOf, count) {
  let left = count;
  const client = async () => {
    const socket = connect({ host: '127.0.0.1', port: server.port, noDelay: true });
    await once(socket, 'connect');
    while (left > 0) {
      left -= 1;
      const asked = requestOf(server);
      const status = await exchange(socket, bytesOf(asked, server.port));
      if (status >= 300) throw new Error(`${asked.method} ${asked.path} got ${status}`);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: 16 }, client));
}

function bytesOf({ method, path: target, type, body = '', headers }, port) {
  const all = {
    host: `127.0.0.1:${port}`,
    ...headers,
    ...(body !== '' && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Sends the bytes of a request. Gives the status of the answer when all of it is here. */
function exchange(socket, bytes) {
  return new Promise((resolve, reject) => {
    let answer = '';
    const take = (chunk) => {
      answer += chunk.latin1Slice();
      const end = answer.indexOf('\r\n\r\n') + 4;
      if (end < 4) return;
      const head = answer.slice(0, end);
      const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
      const isWhole =
        length === undefined ? answer.endsWith('0\r\n\r\n') : answer.length >= end + Number(length);
      if (!isWhole) return;
      socket.off('data', take).off('close', lose);
      resolve(Number(head.slice(9, 12)));
    };
    const lose = () => reject(new Error('The server has closed the connection'));
    socket.on('data', take).once('close', lose);
    socket.write(bytes);
  });
}

function isInstalled(program) {
  try {
    execFileSync(program, [program === 'caddy' ? 'version' : '-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Caddy with one resource that its admin API finds by an id. */
async function caddy(row) {
  if (!isInstalled('caddy') || process.platform !== 'linux') {
    row.note('Caddy is not installed (Debian package `caddy`), so the figures against it are left out');
    return {};
  }
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const child = spawn('caddy', ['run', '--config', '-', '--adapter', ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const apps = { http: { servers: { one: { '@id': 'one', listen: [] } } } };
  child.stdin.end(JSON.stringify({ admin: { listen: `127.0.0.1:${port}` }, apps }));
  for (let tries = 0; tries < 50; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/id/one`).catch(() => undefined);
    if (answer?.ok === true) break;
    await sleep(100);
  }
  const ticks = Number(execFileSync('getconf', ['CLK_TCK']));
  return {
    caddy: {
      port,
      isCaddy: true,
      cpu: () => {
        const [, fields] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
        const [user, system] = fields.split(' ').slice(11, 13).map(Number);
        return ((user + system) * 1e6) / ticks;
      },
      stop: () => child.kill(),
    },
  };
}
