/**
 * One server of the rows over loopback, in a process of its own: `node loopback-server.mjs KIND`. Tells the parent its
 * port, and its CPU time when asked.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { Ajv } from 'ajv';
import jsonpatch from 'fast-json-patch';
import * as fetchAdapter from 'gateway-admin-core/fetch';
import * as nodeAdapter from 'gateway-admin-core/node';

import { openAdmin, openAdminWithUser, settings } from './gateway-with-user.mjs';
import { deepFreeze } from './harness.mjs';
import { honoNodeServer } from './peers/index.mjs';
import { serviceNames } from './sessions.mjs';

const admin = openAdmin();
const shown = {
  name: serviceNames[50],
  router: 'readconnroute',
  router_options: settings.router_options,
  state: 'started',
  total_connections: 0,
  current_connections: 0,
  servers: settings.servers,
  user: settings.user,
  max_connection: settings.max_connection,
};

/** Each kind listens, and gives its port. */
const kinds = {
  node: () => listen(createServer(nodeAdapter.createNodeHandler(admin))),
  'node with a log-in': async () =>
    listen(createServer(nodeAdapter.createNodeHandler(await openAdminWithUser()))),
  'bare node:http': () => listen(createServer(constantAnswer())),
  'node:http + JSON.stringify': () => listen(createServer(stringifyingAnswer())),
  'node:http + fast-json-patch + ajv': () => listen(createServer(patchingServer())),
  hono: () => serveHono((app) => app.all('*', ownFetch())),
  'hono alone': () => serveHono((app) => app.get('/services/:name', (context) => context.json(shown))),
  express: () => listen(createServer(express().use(nodeAdapter.createNodeHandler(admin)))),
  'express alone': () => listen(createServer(plainExpress())),
  fastify: () => {
    const app = fastify();
    const handle = nodeAdapter.createNodeHandler(admin);
    app.addHook('onRequest', (request, reply, done) => handle(request.raw, reply.raw, done));
    app.get('/', () => 'my own page');
    return listenFastify(app);
  },
  'fastify alone': () => {
    const app = fastify();
    app.get('/services/:name', () => ({ ...shown }));
    return listenFastify(app);
  },
  'express + fast-json-patch + ajv': () => listen(createServer(patchingExpress())),
};

function constantAnswer() {
  const body = JSON.stringify(shown);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  };
}

function stringifyingAnswer() {
  return (_request, response) => {
    const body = JSON.stringify(shown);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  };
}

/** A PATCH with the usual libraries, and without a framework. */
function patchingServer() {
  const patch = patchWith();
  return async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, value } = patch(
      decodeURIComponent(request.url.split('/')[2]),
      JSON.parse(Buffer.concat(chunks)),
    );
    const body = JSON.stringify(value);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  };
}

function ownFetch() {
  const handle = fetchAdapter.createFetchHandler(admin);
  return (context) => handle(context.req.raw);
}

async function serveHono(mount) {
  const { serve } = await honoNodeServer();
  const app = new Hono();
  mount(app);
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
  });
}

function plainExpress() {
  const app = express();
  app.get('/services/:name', (_request, response) => response.json({ ...shown }));
  return app;
}

/** Patches one of the services: a validated patch on a deep copy, a validated result. */
function patchWith() {
  const valid = new Ajv().compile({
    type: 'object',
    additionalProperties: false,
    required: ['servers', 'router_options'],
    properties: {
      servers: { type: 'array', items: { type: 'string', maxLength: 1024 }, maxItems: 10_000 },
      router_options: { type: 'object', additionalProperties: { type: 'string', maxLength: 4096 } },
      user: { type: 'string', maxLength: 255 },
      max_connection: { type: 'integer', minimum: 0 },
    },
  });
  const services = new Map(serviceNames.map((name) => [name, deepFreeze(structuredClone(settings))]));
  return (name, operations) => {
    const after = jsonpatch.applyPatch(services.get(name), operations, true, false).newDocument;
    if (!valid(after)) return { status: 422, value: valid.errors };
    services.set(name, deepFreeze(after));
    return { status: 200, value: { ...shown, ...after } };
  };
}

/** A PATCH with the usual libraries, and a body parser. */
function patchingExpress() {
  const patch = patchWith();
  const app = express();
  app.use(express.json({ type: 'application/json-patch+json' }));
  app.patch('/services/:name', (request, response) => {
    const { status, value } = patch(request.params.name, request.body);
    return response.status(status).json(value);
  });
  return app;
}

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function listenFastify(app) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

const port = await kinds[process.argv[2]]();
process.on('message', () => process.send(process.cpuUsage()));
process.once('disconnect', () => process.exit());
process.send({ port });
