/**
 * Growth as exact counts: the calls of the package that one operation makes with few and with many resources. What one
 * of many costs may grow as the depth of a tree does; what lists all of them grows as their number.
 */
import { createAdmin, createSnapshot } from '../dist/index.js';

export const sizes = [50, 500];

const supports = ['drain', 'create', 'delete'];
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('not-in-place'), supports };

const serverAt = (at) => ({
  name: `db-${String(at)}`,
  ...{ address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] },
});
const serviceAt = (at) => ({
  name: `service-${String(at)}`,
  ...{ router: 'readconnroute', servers: [`/servers/db-${String(at)}`], max_connection: 1 },
});

function documentOf(size, changed = (service) => service) {
  const numbers = Array.from({ length: size }, (_, at) => at);
  return {
    servers: numbers.map(serverAt),
    services: numbers.map(serviceAt).map(changed),
    sessions: numbers.map((at) => ({
      id: at + 1,
      ...{ state: 'ready', user: 'app', address: '192.0.2.7', service: `/services/service-${String(at)}` },
      ...{ connected: '2026-01-01T00:00:00Z', connections: [] },
    })),
  };
}

let value = 1;

/** Opens a world with as many services, servers and sessions, and a change to each tenth service. */
export async function open(size) {
  const onError = (error) => {
    throw error;
  };
  const admin = createAdmin({ snapshot: createSnapshot(documentOf(size)), gateway, observe: { onError } });
  for (let at = 0; at < size; at += 10) await patch(admin, at);
  return admin;
}

async function send(admin, method, target, body, type = 'application/json') {
  const headers = body === undefined ? {} : { 'content-type': type };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const { response } = await admin.handle({ method, target, headers, ...given });
  if (response.status >= 300)
    throw new Error(`${method} ${target} got ${String(response.status)}: ${String(response.body)}`);
  let text = typeof response.body === 'string' ? response.body : '';
  if (typeof response.body === 'object')
    for await (const piece of response.body) text += Buffer.from(piece).toString();
  return text === '' ? undefined : JSON.parse(text);
}

function patch(admin, at) {
  const operations = [{ op: 'replace', path: '/max_connection', value: (value += 1) }];
  return send(admin, 'PATCH', `/services/service-${String(at)}`, operations, 'application/json-patch+json');
}

/** The newest entry of the history. */
async function newest(admin) {
  const [entry] = await send(admin, 'GET', '/history?range=0-0&fields=id');
  return entry.id;
}

/** The operations on one of many, or on few of them. Each is done three times in a world, and the last time counts. */
export const ofOne = {
  'GET of one': (admin) => send(admin, 'GET', '/services/service-7'),
  'GET of ten': (admin) => send(admin, 'GET', '/services?range=0-9'),
  'PATCH of one': (admin) => patch(admin, 7),
  'stop and start of one': async (admin) => {
    await send(admin, 'PUT', '/services/service-7/stop');
    await send(admin, 'PUT', '/services/service-7/start');
  },
  'creation and deletion of one': async (admin) => {
    const { status: _status, ...server } = serverAt('new');
    await send(admin, 'POST', '/servers', server);
    await send(admin, 'DELETE', '/servers/db-new');
  },
  'drain and resume of one': async (admin) => {
    await send(admin, 'PUT', '/servers/db-7/drain');
    await send(admin, 'PUT', '/servers/db-7/resume');
  },
  'plan of a closing': (admin) => send(admin, 'DELETE', '/sessions?service=service-7&dry_run=true'),
  'PATCH as the plan has shown': async (admin) => {
    const operations = [{ op: 'replace', path: '/max_connection', value: (value += 1) }];
    const target = '/services/service-7';
    const type = 'application/json-patch+json';
    const { mark } = await send(admin, 'PATCH', `${target}?dry_run=true`, operations, type);
    await send(admin, 'PATCH', `${target}?mark=${mark}`, operations, type);
  },
  'undo of the newest change': async (admin) => {
    await patch(admin, 7);
    await send(admin, 'PUT', `/history/${await newest(admin)}/undo`);
  },
  'sequence of two': (admin) =>
    send(admin, 'POST', '/sequence', {
      commands: [7, 8].map((at) => ({
        ...{ method: 'PATCH', path: `/services/service-${String(at)}` },
        body: [{ op: 'replace', path: '/max_connection', value: (value += 1) }],
      })),
    }),
  'GET of five entries of the history': (admin) => send(admin, 'GET', '/history?range=0-4'),
  'report of a session': (admin) => {
    const [id, connected] = [(value += 1) + 1_000_000, Date.UTC(2026, 0, 1) + value];
    const opened = {
      state: 'ready',
      user: 'app',
      address: '192.0.2.8',
      service: 'service-7',
      connections: [],
    };
    admin.report([{ type: 'session.opened', id, connected, ...opened }]);
    admin.report([{ type: 'session.closed', id, connected }]);
  },
  'report of a server': (admin) => {
    for (const status of [[], ['running']])
      admin.report([{ type: 'server.reported', server: 'db-7', status }]);
  },
};

/** The operations on all. */
export const ofAll = {
  'GET of all': async (admin, size) => {
    await patch(admin, 7);
    await send(admin, 'GET', `/services?range=0-${String(size - 1)}`);
  },
  'GET of the alerts': async (admin) => {
    await patch(admin, 7);
    await send(admin, 'GET', '/alerts');
  },
  'a document that changes one': (admin, size) => {
    const changed = (service, at) => (at === 7 ? { ...service, max_connection: (value += 1) } : service);
    const { sessions: _sessions, ...document } = documentOf(size, changed);
    return send(admin, 'POST', '/document', document);
  },
  'restore of the oldest state': async (admin) => {
    const entries = await send(admin, 'GET', '/history?range=0-99&fields=id');
    await send(admin, 'PUT', `/history/${entries.at(-1).id}/restore`);
    await patch(admin, 7);
  },
};
