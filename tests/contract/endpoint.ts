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

const patchType = 'application/json-patch+json';
const one = (shown: Shown): Endpoint['answer'] => ({ status: 200, one: shown });
const list = (shown: Shown): Endpoint['answer'] => ({ status: 200, list: shown });
const done: Endpoint['answer'] = { status: 204 };

/** The endpoints that create and delete a resource of a kind. */
function membership(
  kind: 'service' | 'server' | 'monitor' | 'filter',
  definition: object,
  deleted: string,
): readonly Endpoint[] {
  const path = `/${kind}s`;
  const ours = { aliases: [], parameters: [], ours: true } as const;
  return [
    {
      ...ours,
      method: 'POST',
      path,
      answer: { status: 201, one: kind },
      body: { type: 'application/json', json: definition },
    },
    {
      ...ours,
      method: 'DELETE',
      path: `${path}/:name`,
      // No list names a service or a monitor.
      ...(['server', 'filter'].includes(kind) && { search: ['detach'] }),
      answer: done,
      subject: deleted,
    },
  ];
}

/** The endpoints that drain a resource of a kind, and end its drain. */
function draining(
  kind: 'service' | 'server',
  subjects: readonly [drain: string, resume: string],
): readonly Endpoint[] {
  return ['drain', 'resume'].map((command, at) => ({
    method: 'PUT',
    path: `/${kind}/:name/${command}`,
    aliases: [`/${kind}s/:name/${command}`],
    parameters: [],
    answer: done,
    subject: subjects[at] ?? '',
    ours: true,
    ...(command === 'drain'
      ? {
          body: { type: 'application/json', json: { timeout: 600, then: 'close', reason: 'new kernel' } },
          mayLackBody: true as const,
        }
      : {}),
  }));
}

const service: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/services/:name',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('service'),
    subject: 'my-service',
  },
  { method: 'GET', path: '/services', aliases: [], parameters: ['fields', 'range'], answer: list('service') },
  {
    method: 'GET',
    path: '/services/:name/listeners',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('listener'),
    subject: 'My-Service',
  },
  {
    method: 'GET',
    path: '/services/:name/listeners/:listener',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('listener'),
    subject: 'my-service/SECURE-listener',
    ours: true,
  },
  {
    method: 'POST',
    path: '/services/:name/listeners',
    aliases: [],
    parameters: [],
    answer: { status: 201, one: 'listener' },
    subject: 'My-Service',
    body: {
      type: 'application/json',
      json: { name: 'Added Listener', protocol: 'pgclient', address: '127.0.0.1', port: 4011 },
    },
    ours: true,
  },
  {
    method: 'DELETE',
    path: '/services/:name/listeners/:listener',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'My-Service/Local-Listener',
    ours: true,
  },
  {
    method: 'PATCH',
    path: '/services/:name',
    aliases: [],
    parameters: [],
    answer: one('service'),
    subject: 'MY-SERVICE',
    body: {
      type: patchType,
      json: [
        { op: 'replace', path: '/max_connection', value: 50 },
        { op: 'add', path: '/router_options/master_failure_mode', value: 'fail_instantly' },
        { op: 'remove', path: '/filters/0' },
      ],
    },
  },
  {
    method: 'PUT',
    path: '/service/:name/stop',
    aliases: ['/services/:name/stop'],
    parameters: [],
    answer: done,
    subject: 'My%20Service',
  },
  {
    method: 'PUT',
    path: '/service/:name/start',
    aliases: ['/services/:name/start'],
    parameters: [],
    answer: done,
    subject: 'Bare-Service',
  },
  ...draining('service', ['My-Service', 'Spare-Service']),
  {
    method: 'GET',
    path: '/services/:name/sessions',
    aliases: [],
    parameters: ['range'],
    answer: list('session link'),
    subject: 'My-Service',
    live: true,
  },
  {
    method: 'DELETE',
    path: '/services/:name/sessions',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'My-Service',
  },
  ...membership(
    'service',
    {
      name: 'New Service',
      router: 'readconnroute',
      servers: ['/servers/DB-Server-2'],
      filters: ['/filters/Query-Log'],
      user: 'service_user',
      listeners: [{ name: 'New Listener', protocol: 'pgclient', address: '127.0.0.1', port: 4010 }],
    },
    'Spare-Service',
  ),
];

const server: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/servers/:name',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('server'),
    subject: 'db-server-2',
  },
  { method: 'GET', path: '/servers', aliases: [], parameters: ['fields', 'range'], answer: list('server') },
  {
    method: 'PATCH',
    path: '/servers/:name',
    aliases: [],
    parameters: [],
    answer: one('patched server'),
    subject: 'db-serv-1',
    body: {
      type: patchType,
      json: [
        { op: 'replace', path: '/address', value: '192.168.0.100' },
        { op: 'replace', path: '/state/0', value: 'slave' },
      ],
    },
  },
  ...draining('server', ['db-serv-1', 'Spare-DB']),
  {
    method: 'PUT',
    path: '/servers/:name/maintenance',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'db-serv-1',
    ours: true,
  },
  {
    method: 'DELETE',
    path: '/servers/:name/maintenance',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'db-server-2',
    ours: true,
  },
  {
    method: 'GET',
    path: '/servers/:name/connections',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('connection'),
    subject: 'db-serv-1',
    live: true,
  },
  {
    method: 'DELETE',
    path: '/servers/:name/connections',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'db-serv-1',
  },
  ...membership(
    'server',
    { name: 'DB Server 9', address: '192.168.121.69', port: 5432, protocol: 'pgbackend' },
    'Spare-DB',
  ),
];

const monitor: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/monitors/:name',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('monitor'),
    subject: 'main-monitor',
  },
  { method: 'GET', path: '/monitors', aliases: [], parameters: ['fields', 'range'], answer: list('monitor') },
  {
    method: 'PUT',
    path: '/monitor/:name/stop',
    aliases: ['/monitors/:name/stop'],
    parameters: [],
    answer: done,
    subject: 'Main-Monitor',
  },
  {
    method: 'PUT',
    path: '/monitor/:name/start',
    aliases: ['/monitors/:name/start'],
    parameters: [],
    answer: done,
    subject: 'Idle-Monitor',
  },
  {
    method: 'PATCH',
    path: '/monitor/:name',
    aliases: ['/monitors/:name'],
    parameters: [],
    answer: one('monitor'),
    subject: 'Main-Monitor',
    body: { type: patchType, json: [{ op: 'replace', path: '/monitor_interval', value: 5000 }] },
  },
  ...membership(
    'monitor',
    {
      name: 'New Monitor',
      module: 'pgmon',
      servers: ['/servers/DB-Server-2'],
    },
    'Idle-Monitor',
  ),
];

const instance: readonly Endpoint[] = [
  { method: 'GET', path: '/gateway', aliases: [], parameters: ['fields', 'may'], answer: one('instance') },
  {
    method: 'GET',
    path: '/gateway/threads',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('thread information'),
    live: true,
  },
  {
    method: 'GET',
    path: '/gateway/logs',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('logging'),
  },
  { method: 'POST', path: '/gateway/logs/flush', aliases: [], parameters: [], answer: done },
  {
    method: 'GET',
    path: '/gateway/tasks',
    aliases: [],
    parameters: ['fields'],
    answer: list('task'),
    live: true,
  },
  {
    method: 'GET',
    path: '/gateway/modules',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('module'),
  },
];

const session: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/sessions/:id',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('session'),
    subject: '9',
    live: 'for conditions',
  },
  {
    method: 'GET',
    path: '/sessions',
    aliases: [],
    parameters: ['fields', 'range'],
    search: ['service', 'server', 'user', 'address', 'idle_over', 'older_than', 'after'],
    answer: list('session'),
    live: true,
  },
  {
    method: 'GET',
    path: '/sessions/:id/connections',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('connection'),
    subject: '9',
    live: true,
  },
  { method: 'DELETE', path: '/sessions/:id', aliases: [], parameters: [], answer: done, subject: '9' },
];

const filter: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/filters/:name',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('filter'),
    subject: 'hint',
  },
  { method: 'GET', path: '/filters', aliases: [], parameters: ['fields', 'range'], answer: list('filter') },
  {
    method: 'PATCH',
    path: '/filter/:name',
    aliases: ['/filters/:name'],
    parameters: [],
    answer: one('filter'),
    subject: 'Hint',
    body: {
      type: patchType,
      json: [
        { op: 'replace', path: '/parameters/match/value', value: 'insert' },
        { op: 'add', path: '/parameters/replace/value', value: 'update' },
      ],
    },
  },
  ...membership(
    'filter',
    { name: 'New Filter', module: 'tee', parameters: { match: { value: 'select', configurable: true } } },
    'Spare',
  ),
];

const user: readonly Endpoint[] = [
  { method: 'GET', path: '/users', aliases: [], parameters: ['fields', 'range'], answer: list('user') },
  {
    method: 'PUT',
    path: '/users',
    aliases: [],
    parameters: [],
    answer: done,
    body: { type: 'application/json', json: { name: 'Joan99', password: 'correct horse' } },
  },
  {
    method: 'PATCH',
    path: '/users/:name',
    aliases: [],
    parameters: [],
    answer: one('user'),
    subject: 'Ada',
    body: { type: patchType, json: [{ op: 'replace', path: '/password', value: 'battery staple' }] },
    ours: true,
  },
  { method: 'DELETE', path: '/users/:name', aliases: [], parameters: [], answer: done, subject: 'GRACE' },
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

/**
 * The endpoints, all of them additions, that need a running interface; those of commands, one of unknown outcome too.
 */
export const additions: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/sequence',
    aliases: [],
    parameters: [],
    answer: done,
    body: {
      type: 'application/json',
      json: {
        commands: [
          {
            method: 'PATCH',
            path: '/services/My-Service',
            body: [{ op: 'replace', path: '/max_connection', value: 50 }],
          },
          { method: 'PUT', path: '/monitors/Main-Monitor/stop' },
        ],
      },
    },
    ours: true,
  },
  {
    method: 'DELETE',
    path: '/sessions',
    aliases: [],
    parameters: [],
    search: ['service', 'server', 'user', 'address', 'idle_over', 'older_than', 'all'],
    query: 'user=alice',
    answer: done,
    ours: true,
  },
  {
    method: 'GET',
    path: '/commands',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('command'),
    live: true,
    ours: true,
  },
  {
    method: 'DELETE',
    path: '/commands/:id',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'sample-1',
    ours: true,
  },
  {
    method: 'GET',
    path: '/',
    aliases: [],
    parameters: ['fields', 'may'],
    answer: one('interface'),
    live: true,
    ours: true,
    isPublic: true,
  },
  {
    method: 'PATCH',
    path: '/',
    aliases: [],
    parameters: [],
    answer: one('interface'),
    body: { type: patchType, json: [{ op: 'replace', path: '/read_only', value: true }] },
    ours: true,
    worksReadOnly: true,
  },
  {
    method: 'GET',
    path: '/ready',
    aliases: [],
    parameters: [],
    answer: done,
    live: true,
    ours: true,
    isPublic: true,
  },
  {
    method: 'GET',
    path: '/fleet',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('fleet node'),
    live: true,
    ours: true,
  },
  {
    method: 'POST',
    path: '/fleet/behind/retry',
    aliases: [],
    parameters: [],
    answer: done,
    ours: true,
  },
  {
    method: 'DELETE',
    path: '/fleet/:node',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'paris',
    ours: true,
  },
  {
    method: 'GET',
    path: '/alerts',
    aliases: [],
    parameters: ['fields', 'range'],
    answer: list('alert'),
    live: true,
    ours: true,
  },
  {
    method: 'GET',
    path: '/history',
    aliases: [],
    parameters: ['fields', 'range'],
    search: ['resource', 'field', 'actor', 'type', 'since', 'before'],
    answer: list('history entry'),
    live: true,
    ours: true,
  },
  {
    method: 'PUT',
    path: '/history/:id/undo',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'sample-1',
    ours: true,
  },
  {
    method: 'PUT',
    path: '/history/:id/restore',
    aliases: [],
    parameters: [],
    answer: done,
    subject: 'sample-1',
    ours: true,
  },
  {
    method: 'GET',
    path: '/events',
    aliases: [],
    parameters: ['after', 'types'],
    answer: { status: 200 },
    live: true,
    ours: true,
    stream: true,
  },
];

/** The target of a request for an endpoint, by its canonical path or another spelling. */
export function targetOf({ path, subject = '', query }: Endpoint, spelling: string = path): string {
  const subjects = subject.split('/');
  return withQuery(
    spelling.replace(/:\w+/g, () => subjects.shift() ?? ''),
    query,
  );
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
