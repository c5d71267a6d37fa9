/**
 * Growth as exact counts: the calls of the package that one operation makes with few and with many resources. What one
 * of many costs may grow as the depth of a tree does; what lists all of them grows as their number.
 *
 * An operation prepares its world, and gives the work that is counted. `unasked` says which endpoint no operation asks.
 */
import {
  createAdmin,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createSnapshot,
  metricsOf,
  openAdmin,
  toDocument,
} from '../dist/index.js';
import { createSharedMemory, openFleet } from '../dist/fleet/index.js';
import { endpoints } from '../dist/http/endpoint.js';
import { createVirtualClock } from '../dist/testing/index.js';

export const sizes = [50, 500];

/** Whether the gateway answers. If not, nobody knows what became of a command. */
let answers = true;
const answer = (value) => (answers ? Promise.resolve(value) : Promise.reject(new Error('no answer')));
const gateway = {
  supports: ['drain', 'create', 'delete'],
  apply: () => answer(),
  inspect: () => answer('not-in-place'),
};

const hasher = createPbkdf2Hasher({ rounds: 1 });
const password = { sealed: await hasher.hash('engine') };

const serverAt = (at) => ({
  name: `db-${String(at)}`,
  ...{ address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] },
});
const serviceAt = (at) => ({
  name: `service-${String(at)}`,
  ...{ router: 'readconnroute', servers: [`/servers/db-${String(at)}`], max_connection: 1 },
  ...{ filters: [`/filters/filter-${String(at)}`], listeners: [listenerAt(at)] },
});
const listenerAt = (at, name = String(at)) => ({
  name: `listener-${name}`,
  ...{ protocol: 'pg', address: '::', port: 1000 + at },
});
const monitorAt = (at) => ({
  name: `monitor-${String(at)}`,
  ...{ module: 'pgmon', state: 'started', servers: [`/servers/db-${String(at)}`] },
});
const filterAt = (at) => ({ name: `filter-${String(at)}`, module: 'qlafilter' });
const sessionAt = (at) => ({
  id: at + 1,
  ...{ state: 'ready', user: 'app', address: '192.0.2.7', service: `/services/service-${String(at)}` },
  ...{ connected: '2026-01-01T00:00:00Z', connections: [connectionAt(at)] },
});
const connectionAt = (at) => ({
  id: at + 1,
  state: 'In use',
  role: 'Master',
  server: `/servers/db-${String(at)}`,
});

function documentOf(size, changed = (service) => service) {
  const all = (make) => Array.from({ length: size }, (_, at) => make(at));
  return {
    servers: all(serverAt),
    filters: all(filterAt),
    services: all(serviceAt).map(changed),
    monitors: all(monitorAt),
    sessions: all(sessionAt),
    users: all((at) => ({ name: `user${String(at)}`, password })),
    tasks: all((at) => ({
      name: `task-${String(at)}`,
      type: 'repeated',
      frequency: 1,
      next_due: '2026-01-01T00:00:00Z',
    })),
    modules: all((at) => ({
      name: `module-${String(at)}`,
      type: 'Filter',
      version: '1',
      api_version: '1',
      maturity: 'GA',
    })),
  };
}

let value = 1;

/** What the interfaces of a world are made of. The figures are of a program that watches nothing. */
function optionsFor(size) {
  return { snapshot: createSnapshot(documentOf(size)), gateway, hasher, observe: { onError } };
}

function onError(error) {
  if (!String(error).includes('no answer'))
    queueMicrotask(() => {
      throw error;
    });
}

/** Opens an interface with as many of each kind, and a change to each tenth service. */
function openAlone(size) {
  return changed(createAdmin(optionsFor(size)), size);
}

async function openWithStore(size) {
  const store = createMemoryStore();
  const admin = await changed(await openAdmin({ ...optionsFor(size), store }), size);
  return { store, snapshot: admin.snapshot, handle: admin.handle, close: () => admin.close() };
}

function openWithLogIn(size) {
  return createAdmin({ ...optionsFor(size), access: { authenticate: createBasicAuthentication() } });
}

async function openTwoNodes(size) {
  const [memory, clock] = [createSharedMemory(), createVirtualClock(0, { turn: 'event-loop' })];
  const openNode = (node, more) =>
    openFleet({ ...optionsFor(size), ...more, clock, node, store: memory.open() });
  const [admin, other] = [await openNode('one'), await openNode('two')];
  const close = () => Promise.all([admin.close(), other.close()]);
  await changed(admin, size);
  await clock.settle();
  return { admin, clock, openNode, close };
}

async function changed(admin, size) {
  for (let at = 0; at < size; at += 10) await patch(admin, at);
  return admin;
}

/** The endpoints that no operation has asked yet. */
export const unasked = new Set(Object.keys(endpoints));

async function send(admin, method, target, body, { type = 'application/json', status = 0, ...headers } = {}) {
  note(method, target.split('?', 1)[0]);
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const { response } = await admin.handle({
    ...{ method, target },
    ...{ headers: body === undefined ? headers : { 'content-type': type, ...headers }, ...given },
  });
  if (response.status >= 300 && response.status !== status)
    throw new Error(`${method} ${target} got ${String(response.status)}: ${String(response.body)}`);
  let text = typeof response.body === 'string' ? response.body : '';
  if (typeof response.body === 'object')
    for await (const piece of response.body) text += Buffer.from(piece).toString();
  return text === '' ? undefined : JSON.parse(text);
}

/** A request has asked an endpoint: the one that has as many segments, and the same fixed ones. */
function note(method, path) {
  const given = path.split('/');
  for (const id of unasked) {
    const wanted = endpoints[id].path.split('/');
    const fits = wanted.every((segment, at) => segment.startsWith(':') || segment === given[at]);
    if (endpoints[id].method === method && fits && wanted.length === given.length) unasked.delete(id);
  }
}

const asPatch = { type: 'application/json-patch+json' };
const replace = (path) => [{ op: 'replace', path, value: (value += 1) }];

function patch(admin, at, query = '') {
  return send(admin, 'PATCH', `/services/service-${String(at)}${query}`, replace('/max_connection'), asPatch);
}

/** The newest entry of the history. */
async function newest(admin) {
  const [entry] = await send(admin, 'GET', '/history?range=0-0&fields=id');
  return entry.id;
}

/** Opens a session with one connection, and gives the report that closes the session. */
function connect(admin) {
  const [id, connected] = [(value += 1) + 1_000_000, Date.UTC(2026, 0, 1) + value];
  const opened = { state: 'ready', user: 'app', address: '192.0.2.8', service: 'service-7' };
  const connections = [{ ...connectionAt(7), id, server: 'db-7' }];
  admin.report([{ type: 'session.opened', id, connected, ...opened, connections }]);
  return { type: 'session.closed', id, connected };
}

/** An operation of one request, or of several requests in turn; nothing is prepared. */
const requests =
  (...all) =>
  (admin) =>
  async () => {
    for (const each of all) await send(admin, ...each);
  };

/** A request after a change of what it shows: no kept text is the whole answer. */
const reading = (target) => async (admin) => {
  await patch(admin, 7);
  admin.report([connect(admin)]);
  for (const status of [[], ['running']]) admin.report([{ type: 'server.reported', server: 'db-7', status }]);
  return () => send(admin, 'GET', target);
};

/** A request that changes one member of a resource. */
const patching = (target, path) => (admin) => () => send(admin, 'PATCH', target, replace(path), asPatch);

/** What the variables of a path stand for, by the first segment of the path. */
const nameAt = { ':listener': 'listener-7', ':id': '8' };
const pathOf = ({ path }) => {
  const [, first] = path.split('/');
  const segments = path.split('/').map((each) => {
    if (each === ':name') return first === 'servers' ? 'db-7' : `${first.replace(/s$/, '')}-7`;
    return nameAt[each] ?? each;
  });
  return segments.join('/');
};

/** The tasks and the modules are few, and always read as a whole. */
const isPaged = ({ kind, path }) =>
  kind === 'list' && path !== '/gateway/tasks' && path !== '/gateway/modules';

/** A read of each endpoint that gives one thing, or a list, of which ten are read. */
const reads = Object.fromEntries(
  Object.values(endpoints)
    .filter(({ kind, path }) => (kind === 'item' || kind === 'list') && path !== '/history/:id')
    .map((each) => {
      const [words, query] = isPaged(each) ? [', ten', '?range=0-9'] : ['', ''];
      return [`GET ${each.path}${words}`, reading(`${pathOf(each)}${query}`)];
    }),
);

/** The first piece that a stream gives with an event in it. Ends the stream. */
async function eventOf(stream) {
  for await (const piece of stream) if (Buffer.from(piece).includes('data:')) return;
}

async function streamOf(admin, headers = {}) {
  note('GET', '/events');
  const { response } = await admin.handle({ method: 'GET', target: '/events', headers });
  if (response.status !== 200) throw new Error(`GET /events got ${String(response.status)}`);
  const stream = response.body[Symbol.asyncIterator]();
  await stream.next();
  return stream;
}

const { status: _status, ...newServer } = serverAt('new');
const { listeners: _listeners, ...newService } = serviceAt('new');

/** The operations on one of many, or on few of them. Each is done four times in a world, and the last time counts. */
const ofOne = {
  ...reads,
  'GET of a ready interface': requests(['GET', '/ready']),
  'GET of one, nothing new': requests(['GET', '/services/service-7']),
  'GET of one entry of the history': async (admin) => {
    const id = await newest(admin);
    return () => send(admin, 'GET', `/history/${id}`);
  },
  'PATCH of one service': patching('/services/service-7', '/max_connection'),
  'PATCH of one server': patching('/servers/db-7', '/port'),
  'PATCH of one monitor': patching('/monitor/monitor-7', '/monitor_interval'),
  'PATCH of one filter': (admin) => () =>
    send(
      admin,
      'PATCH',
      '/filter/filter-7',
      [{ op: 'add', path: '/parameters/match', value: { value: String((value += 1)), configurable: true } }],
      asPatch,
    ),
  'new password of one user': (admin) => () =>
    send(
      admin,
      'PATCH',
      '/users/user7',
      [{ op: 'replace', path: '/password', value: `word ${(value += 1)}` }],
      asPatch,
    ),
  'hold of all changes and release': requests(
    ['PATCH', '/', [{ op: 'replace', path: '/read_only', value: true }], asPatch],
    ['PATCH', '/', [{ op: 'replace', path: '/read_only', value: false }], asPatch],
  ),
  'stop and start of one service': requests(
    ['PUT', '/service/service-7/stop'],
    ['PUT', '/service/service-7/start'],
  ),
  'stop and start of one monitor': requests(
    ['PUT', '/monitor/monitor-7/stop'],
    ['PUT', '/monitor/monitor-7/start'],
  ),
  'maintenance of one server and its end': requests(
    ['PUT', '/servers/db-7/maintenance'],
    ['DELETE', '/servers/db-7/maintenance'],
  ),
  'drain and resume of one server': requests(['PUT', '/server/db-7/drain'], ['PUT', '/server/db-7/resume']),
  'drain and resume of one service': requests(
    ['PUT', '/service/service-7/drain'],
    ['PUT', '/service/service-7/resume'],
  ),
  'creation of one server': async (admin) => {
    await send(admin, 'DELETE', '/servers/db-new', undefined, { status: 404 });
    return () => send(admin, 'POST', '/servers', newServer);
  },
  'deletion of one server': async (admin) => {
    await send(admin, 'POST', '/servers', newServer, { status: 409 });
    return () => send(admin, 'DELETE', '/servers/db-new');
  },
  'creation and deletion of one service': requests(
    ['POST', '/services', { ...newService, state: 'stopped', servers: [], filters: [] }],
    ['DELETE', '/services/service-new'],
  ),
  'creation and deletion of one listener': requests(
    ['POST', '/services/service-7/listeners', listenerAt(0, 'new')],
    ['DELETE', '/services/service-7/listeners/listener-new'],
  ),
  'creation and deletion of one monitor': requests(
    ['POST', '/monitors', { ...monitorAt('new'), state: 'stopped', servers: [] }],
    ['DELETE', '/monitors/monitor-new'],
  ),
  'creation and deletion of one filter': requests(
    ['POST', '/filters', filterAt('new')],
    ['DELETE', '/filters/filter-new'],
  ),
  'creation and deletion of one user': requests(
    ['PUT', '/users', { name: 'usernew', password: 'engine 2' }],
    ['DELETE', '/users/usernew'],
  ),
  'flush of the logs': requests(['POST', '/gateway/logs/flush']),
  'plan of a closing': requests(['DELETE', '/sessions?service=service-7&dry_run=true']),
  'closing of one session': (admin) => {
    const { id } = connect(admin);
    return () => send(admin, 'DELETE', `/sessions/${String(id)}`);
  },
  'closing of the sessions of one service': (admin) => {
    connect(admin);
    return () => send(admin, 'DELETE', '/services/service-7/sessions');
  },
  'closing of the sessions that a search finds': (admin) => {
    connect(admin);
    return () => send(admin, 'DELETE', '/sessions?service=service-7');
  },
  'closing of the connections of one server': (admin) => {
    connect(admin);
    return () => send(admin, 'DELETE', '/servers/db-7/connections');
  },
  'plan of a PATCH': (admin) => () => patch(admin, 7, '?dry_run=true'),
  'PATCH as the plan has shown': async (admin) => {
    const operations = replace('/max_connection');
    const { mark } = await send(admin, 'PATCH', '/services/service-7?dry_run=true', operations, asPatch);
    return () => send(admin, 'PATCH', `/services/service-7?mark=${mark}`, operations, asPatch);
  },
  'undo of the newest change': async (admin) => {
    await patch(admin, 7);
    const id = await newest(admin);
    return () => send(admin, 'PUT', `/history/${id}/undo`);
  },
  'sequence of two': (admin) => () =>
    send(admin, 'POST', '/sequence', {
      commands: [7, 8].map((at) => ({
        ...{ method: 'PATCH', path: `/services/service-${String(at)}` },
        body: replace('/max_connection'),
      })),
    }),
  'abandonment of a command': async (admin) => {
    answers = false;
    await send(admin, 'PATCH', '/services/service-7', replace('/max_connection'), {
      ...asPatch,
      status: 504,
    });
    answers = true;
    const [{ id }] = await send(admin, 'GET', '/commands');
    return () => send(admin, 'DELETE', `/commands/${id}`);
  },
  'report of a session': (admin) => () => admin.report([connect(admin)]),
  'report of a server': (admin) => () => {
    for (const status of [[], ['running']])
      admin.report([{ type: 'server.reported', server: 'db-7', status }]);
  },
  'an event of one service for a subscriber': async (admin) => {
    const events = admin.events();
    const next = events.next();
    return async () => {
      admin.report([{ type: 'service.reported', service: 'service-7', state: 'failed' }]);
      await next;
      await events.return();
      admin.report([{ type: 'service.reported', service: 'service-7', state: 'started' }]);
    };
  },
  'an event at a stream': async (admin) => {
    const stream = await streamOf(admin);
    return async () => {
      admin.report([connect(admin)]);
      await eventOf(stream);
    };
  },
};

/** The operations on all. */
const ofAll = {
  'GET of all services': (admin, size) => reading(`/services?range=0-${String(size - 1)}`)(admin),
  'GET of all entries of the history': (admin) => reading('/history?range=0-999')(admin),
  'GET of all alerts, nothing wrong': reading('/alerts'),
  'figures for Prometheus': (admin) => () => metricsOf(admin),
  'a snapshot of a document': (_admin, size) => {
    const document = documentOf(size);
    return () => createSnapshot(document);
  },
  'the document of a snapshot': (admin) => () => toDocument(admin.snapshot),
  'a document that changes one': (_admin, size) => {
    const change = (service, at) => (at === 7 ? { ...service, max_connection: (value += 1) } : service);
    const { sessions: _sessions, users: _users, ...document } = documentOf(size, change);
    return () => send(_admin, 'POST', '/document', document);
  },
  'restore of the oldest state': async (admin) => {
    const entries = await send(admin, 'GET', '/history?range=0-999&fields=id');
    await patch(admin, 7);
    return () => send(admin, 'PUT', `/history/${entries.at(-1).id}/restore`);
  },
};

/** Of an interface with a store. */
const ofStore = {
  'PATCH of one, with a store': patching('/services/service-7', '/max_connection'),
  'start with a store': async ({ store }, size) => {
    const other = await openWithStore(size);
    await other.close();
    return () => openAdmin({ ...optionsFor(size), snapshot: other.snapshot, store: other.store });
  },
};

/** Of an interface at which everybody logs in. */
const ofUsers = {
  'GET of one, with a remembered log-in': (admin) => () =>
    send(admin, 'GET', '/services/service-7', undefined, { authorization: `Basic ${btoa('user7:engine')}` }),
};

/** Of one node of a fleet of two. The clock stands still, so nobody announces itself meanwhile. */
const ofFleet = {
  'GET of the nodes': ({ admin }) => requests(['GET', '/fleet'])(admin),
  'PATCH that a node follows':
    ({ admin, clock }) =>
    async () => {
      await patch(admin, 7);
      await clock.settle();
    },
  'retry of what a node could not follow': ({ admin }) => requests(['POST', '/fleet/behind/retry'])(admin),
  'departure of one node': async ({ admin, clock, openNode }) => {
    const third = await openNode('three', { snapshot: admin.snapshot });
    await patch(third, 8);
    await third.close();
    await clock.settle();
    return () => send(admin, 'DELETE', '/fleet/three');
  },
};

/** The worlds, each with what opens it, and its operations by name. They share the world, so each leaves it as it was. */
export const worlds = [
  { open: openAlone, operations: ofOne },
  { open: openAlone, operations: ofAll },
  { open: openWithStore, operations: ofStore },
  { open: openWithLogIn, operations: ofUsers },
  { open: openTwoNodes, operations: ofFleet },
];
