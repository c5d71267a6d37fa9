/**
 * The endpoints of the Gateway Administration REST Interface, chapter "Endpoints": one row for each.
 *
 * Written by hand after the description, so that the table of routes is compared with something else than itself.
 */

/** Query parameters. */
type Parameter = 'fields' | 'range' | 'may' | 'after' | 'types';

/** What a 200 carries. */
export type Shown =
  | 'service'
  | 'listener'
  | 'session link'
  | 'server'
  | 'patched server'
  | 'connection'
  | 'monitor'
  | 'instance'
  | 'thread information'
  | 'logging'
  | 'task'
  | 'module'
  | 'session'
  | 'filter'
  | 'user'
  | 'command'
  | 'interface'
  | 'fleet node'
  | 'history entry'
  | 'alert';

/** One endpoint. */
export interface Endpoint {
  readonly method: 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  /** Other spellings that are accepted; the description has one for each operation. */
  readonly aliases: readonly string[];
  readonly parameters: readonly Parameter[];
  /** The query that a request needs. */
  readonly query?: string;
  /** Parameters with a value. They are ours: the description has none. */
  readonly search?: readonly string[];
  readonly answer:
    { readonly status: 204 } | { readonly status: 200 | 201; readonly one?: Shown; readonly list?: Shown };
  /** A name or an id of the sample document for each variable segment, with slashes between them. */
  readonly subject?: string;
  readonly body?: { readonly type: string; readonly json: unknown };
  /** A request without a body counts as one with `{}`. */
  readonly mayLackBody?: true;
  /** Its figures change by themselves, so the answer has no entity tag, or one for conditions alone. */
  readonly live?: true | 'for conditions';
  /** It is an addition: the description has no such endpoint. */
  readonly ours?: true;
  /** It answers without a log-in, a part at least. */
  readonly isPublic?: true;
  /** The answer is a stream of events, which never ends by itself. */
  readonly stream?: true;
  /** It works while the interface is read-only. */
  readonly worksReadOnly?: true;
}

type Method = Endpoint['method'];
type More = Partial<Omit<Endpoint, 'method' | 'path' | 'answer' | 'subject'>>;

const patchType = 'application/json-patch+json';
const done: Endpoint['answer'] = { status: 204 };
const ours = { ours: true } as const;

/** One row; without a subject if the path has no variable segment. */
function row(
  method: Method,
  path: string,
  answer: Endpoint['answer'],
  subject: string,
  more: More,
): Endpoint {
  const about = subject === '' ? {} : { subject };
  return { method, path, aliases: [], parameters: [], answer, ...about, ...more };
}

/** Reads one thing. The parameter `may` is ours. */
const item = (path: string, one: Shown, subject = '', more: More = {}): Endpoint =>
  row('GET', path, { status: 200, one }, subject, { parameters: ['fields', 'may'], ...more });

/** Reads a list. */
const list = (path: string, shown: Shown, subject = '', more: More = {}): Endpoint =>
  row('GET', path, { status: 200, list: shown }, subject, { parameters: ['fields', 'range'], ...more });

/** A command that answers nothing. */
const command = (method: Method, path: string, subject = '', more: More = {}): Endpoint =>
  row(method, path, done, subject, more);

const patch = (path: string, one: Shown, subject: string, json: unknown, more: More = {}): Endpoint =>
  row('PATCH', path, { status: 200, one }, subject, { body: { type: patchType, json }, ...more });

const body = (json: unknown) => ({ body: { type: 'application/json', json } });

/** The start and the stop of a kind, whose path has the singular. */
function stepping(kind: 'service' | 'monitor', subjects: Readonly<Record<'stop' | 'start', string>>) {
  return (['stop', 'start'] as const).map((step) =>
    command('PUT', `/${kind}/:name/${step}`, subjects[step], { aliases: [`/${kind}s/:name/${step}`] }),
  );
}

/** The endpoints that create and delete a resource of a kind. */
function membership(
  kind: 'service' | 'server' | 'monitor' | 'filter',
  definition: object,
  deleted: string,
): readonly Endpoint[] {
  // No list names a service or a monitor.
  const search = ['server', 'filter'].includes(kind) && { search: ['detach'] };
  return [
    row('POST', `/${kind}s`, { status: 201, one: kind }, '', { ...ours, ...body(definition) }),
    command('DELETE', `/${kind}s/:name`, deleted, { ...ours, ...search }),
  ];
}

/** The endpoints that drain a resource of a kind, and end its drain. */
function draining(kind: 'service' | 'server', drained: string, resumed: string): readonly Endpoint[] {
  const own = (verb: string): More => ({ ...ours, aliases: [`/${kind}s/:name/${verb}`] });
  const options = body({ timeout: 600, then: 'close', reason: 'new kernel' });
  return [
    command('PUT', `/${kind}/:name/drain`, drained, { ...own('drain'), ...options, mayLackBody: true }),
    command('PUT', `/${kind}/:name/resume`, resumed, own('resume')),
  ];
}

const listener = { protocol: 'pgclient', address: '127.0.0.1' };

const service: readonly Endpoint[] = [
  item('/services/:name', 'service', 'my-service'),
  list('/services', 'service'),
  list('/services/:name/listeners', 'listener', 'My-Service'),
  item('/services/:name/listeners/:listener', 'listener', 'my-service/SECURE-listener', ours),
  row('POST', '/services/:name/listeners', { status: 201, one: 'listener' }, 'My-Service', {
    ...body({ name: 'Added Listener', ...listener, port: 4011 }),
    ...ours,
  }),
  command('DELETE', '/services/:name/listeners/:listener', 'My-Service/Local-Listener', ours),
  patch('/services/:name', 'service', 'MY-SERVICE', [
    { op: 'replace', path: '/max_connection', value: 50 },
    { op: 'add', path: '/router_options/master_failure_mode', value: 'fail_instantly' },
    { op: 'remove', path: '/filters/0' },
  ]),
  ...stepping('service', { stop: 'My%20Service', start: 'Bare-Service' }),
  ...draining('service', 'My-Service', 'Spare-Service'),
  list('/services/:name/sessions', 'session link', 'My-Service', { parameters: ['range'], live: true }),
  command('DELETE', '/services/:name/sessions', 'My-Service'),
  ...membership(
    'service',
    {
      ...{ name: 'New Service', router: 'readconnroute', servers: ['/servers/DB-Server-2'] },
      ...{ filters: ['/filters/Query-Log'], user: 'service_user' },
      listeners: [{ name: 'New Listener', ...listener, port: 4010 }],
    },
    'Spare-Service',
  ),
];

const server: readonly Endpoint[] = [
  item('/servers/:name', 'server', 'db-server-2'),
  list('/servers', 'server'),
  patch('/servers/:name', 'patched server', 'db-serv-1', [
    { op: 'replace', path: '/address', value: '192.168.0.100' },
    { op: 'replace', path: '/state/0', value: 'slave' },
  ]),
  ...draining('server', 'db-serv-1', 'Spare-DB'),
  command('PUT', '/servers/:name/maintenance', 'db-serv-1', ours),
  command('DELETE', '/servers/:name/maintenance', 'db-server-2', ours),
  list('/servers/:name/connections', 'connection', 'db-serv-1', { live: true }),
  command('DELETE', '/servers/:name/connections', 'db-serv-1'),
  ...membership(
    'server',
    { name: 'DB Server 9', address: '192.168.121.69', port: 5432, protocol: 'pgbackend' },
    'Spare-DB',
  ),
];

const monitor: readonly Endpoint[] = [
  item('/monitors/:name', 'monitor', 'main-monitor'),
  list('/monitors', 'monitor'),
  ...stepping('monitor', { stop: 'Main-Monitor', start: 'Idle-Monitor' }),
  patch(
    '/monitor/:name',
    'monitor',
    'Main-Monitor',
    [{ op: 'replace', path: '/monitor_interval', value: 5000 }],
    { aliases: ['/monitors/:name'] },
  ),
  ...membership(
    'monitor',
    { name: 'New Monitor', module: 'pgmon', servers: ['/servers/DB-Server-2'] },
    'Idle-Monitor',
  ),
];

const instance: readonly Endpoint[] = [
  item('/gateway', 'instance'),
  item('/gateway/threads', 'thread information', '', { live: true }),
  item('/gateway/logs', 'logging'),
  command('POST', '/gateway/logs/flush'),
  list('/gateway/tasks', 'task', '', { parameters: ['fields'], live: true }),
  list('/gateway/modules', 'module'),
];

const criteria = ['service', 'server', 'user', 'address', 'idle_over', 'older_than'];

const session: readonly Endpoint[] = [
  item('/sessions/:id', 'session', '9', { live: 'for conditions' }),
  list('/sessions', 'session', '', { search: [...criteria, 'after'], live: true }),
  list('/sessions/:id/connections', 'connection', '9', { live: true }),
  command('DELETE', '/sessions/:id', '9'),
];

const filter: readonly Endpoint[] = [
  item('/filters/:name', 'filter', 'hint'),
  list('/filters', 'filter'),
  patch(
    '/filter/:name',
    'filter',
    'Hint',
    [
      { op: 'replace', path: '/parameters/match/value', value: 'insert' },
      { op: 'add', path: '/parameters/replace/value', value: 'update' },
    ],
    { aliases: ['/filters/:name'] },
  ),
  ...membership(
    'filter',
    { name: 'New Filter', module: 'tee', parameters: { match: { value: 'select', configurable: true } } },
    'Spare',
  ),
];

const user: readonly Endpoint[] = [
  list('/users', 'user'),
  command('PUT', '/users', '', body({ name: 'Joan99', password: 'correct horse' })),
  patch('/users/:name', 'user', 'Ada', [{ op: 'replace', path: '/password', value: 'battery staple' }], ours),
  command('DELETE', '/users/:name', 'GRACE'),
];

/** Every endpoint for which the sample document is enough, in the order of the description. */
export const endpoints: readonly Endpoint[] = [
  ...service,
  ...server,
  ...monitor,
  ...instance,
  ...session,
  ...filter,
  ...user,
];

const live = { ours: true, live: true } as const;
const open = { ...live, isPublic: true } as const;

const sequence = body({
  commands: [
    {
      ...{ method: 'PATCH', path: '/services/My-Service' },
      body: [{ op: 'replace', path: '/max_connection', value: 50 }],
    },
    { method: 'PUT', path: '/monitors/Main-Monitor/stop' },
  ],
});

const document = body({
  monitors: [{ name: 'Idle Monitor', module: 'pgmon', monitor_interval: 5000 }],
});

/**
 * The endpoints, all of them additions, that need a running interface; those of commands, one of unknown outcome too.
 */
export const additions: readonly Endpoint[] = [
  command('POST', '/sequence', '', { ...sequence, ...ours }),
  command('POST', '/document', '', { ...document, ...ours, search: ['prune', 'only', 'allow_empty'] }),
  command('DELETE', '/sessions', '', { ...ours, search: [...criteria, 'all'], query: 'user=alice' }),
  list('/commands', 'command', '', live),
  command('DELETE', '/commands/:id', 'sample-1', { ...ours, worksReadOnly: true }),
  item('/', 'interface', '', open),
  patch('/', 'interface', '', [{ op: 'replace', path: '/read_only', value: true }], {
    ...ours,
    worksReadOnly: true,
  }),
  command('GET', '/ready', '', open),
  list('/fleet', 'fleet node', '', live),
  command('POST', '/fleet/behind/retry', '', { ...ours, worksReadOnly: true }),
  command('DELETE', '/fleet/:node', 'paris', { ...ours, worksReadOnly: true }),
  list('/alerts', 'alert', '', live),
  list('/history', 'history entry', '', {
    ...live,
    search: ['resource', 'field', 'actor', 'type', 'since', 'before'],
  }),
  item('/history/:id', 'history entry', 'sample-1', { ...live, parameters: ['fields', 'range'] }),
  command('PUT', '/history/:id/undo', 'sample-1', ours),
  command('PUT', '/history/:id/restore', 'sample-1', ours),
  row('GET', '/events', { status: 200 }, '', { ...live, parameters: ['after', 'types'], stream: true }),
];

/** The target of a request for an endpoint, by its canonical path or another spelling. */
export function targetOf({ path, subject = '', query }: Endpoint, spelling: string = path): string {
  const subjects = subject.split('/');
  return withQuery(
    spelling.replace(/:\w+/g, () => subjects.shift() ?? ''),
    query,
  );
}

/** What is sent to an endpoint besides method and target. */
export function sentBy({ body: sent }: Endpoint): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
} {
  if (sent === undefined) return { headers: {} };
  return { headers: { 'content-type': sent.type }, body: JSON.stringify(sent.json) };
}

/** The request for an endpoint. */
export function requestOf(endpoint: Endpoint, target: string = targetOf(endpoint)) {
  return { method: endpoint.method, target, ...sentBy(endpoint) };
}

/** A target with another part of a query. */
export function withQuery(target: string, query: string | undefined): string {
  return query === undefined ? target : `${target}${target.includes('?') ? '&' : '?'}${query}`;
}

/** Whether an endpoint deletes something that a document configures: a resource, or a listener of a service. */
export function removesConfigured({ method, path }: Endpoint): boolean {
  return (
    method === 'DELETE' &&
    /^\/(?:services|servers|monitors|filters)\/:name(?:\/listeners\/:listener)?$/.test(path)
  );
}

/**
 * The target of the reading endpoint whose entity tag a command changes: the longest part of the path, in one of its
 * spellings, that is read and has a tag. After a creation it is the new resource, after a deletion the list.
 */
export function taggedBy(endpoint: Endpoint): string | undefined {
  const { path, aliases, body, answer } = endpoint;
  if (answer.status === 201) {
    const { name } = body?.json as { readonly name: string };
    return `${targetOf(endpoint)}/${name.replaceAll(' ', '-')}`;
  }
  if (removesConfigured(endpoint)) return targetOf(endpoint).replace(/\/[^/]*$/, '');
  const tagged = endpoints.filter(({ method, live }) => method === 'GET' && live === undefined);
  const shown = tagged
    .filter((read) => [path, ...aliases].some((spelling) => `${spelling}/`.startsWith(`${read.path}/`)))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  return shown && targetOf(endpoint, shown.path);
}
