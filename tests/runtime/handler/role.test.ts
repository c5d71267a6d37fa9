/**
 * Each endpoint for each role, in the read-only mode, and what `may=true` says of it.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createRoles,
  createSnapshot,
  hostProblem,
  routes,
  type AdminOptions,
  type GatewayPort,
  type Json,
  type May,
  type Principal,
  type Problem,
  type Role,
} from 'gateway-admin-core';

import { additions, endpoints, targetOf, withQuery, type Endpoint } from '../../contract/endpoint.ts';
import { ask } from '../../support/ask.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { read } from '../../support/project.ts';
import { appliedTo, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';
import { stop } from '../../support/transition.ts';
import { readOnlySnapshot, setReadOnly } from '../../support/read-only.ts';
import { shown } from '../../support/shown.ts';

type RolesOptions = Parameters<typeof createRoles>[0];

const people = { administrators: ['Ada'], operators: ['bob'], readers: ['eve'] } as const;

/** What each role may do, by the role that an endpoint needs. */
const rights: Readonly<Record<Role, readonly Role[]>> = {
  reader: ['reader'],
  operator: ['reader', 'operator'],
  administrator: ['reader', 'operator', 'administrator'],
};

/** The roles whose endpoints a user may use. */
function mayUse(options: RolesOptions, principal: Principal | undefined): readonly Role[] {
  const authorize = createRoles(options);
  const allowed = routes.filter((route) => authorize(principal, route, {}));
  return rights.administrator.filter((role) => {
    const needing = routes.filter((route) => route.role === role);
    const usable = needing.filter((route) => allowed.includes(route));
    expect([0, needing.length]).toContain(usable.length);
    return usable.length > 0;
  });
}

/** The endpoints that need each role: a role that changes by mistake shows here. */
const expected: Readonly<Record<Role, readonly string[]>> = {
  reader: ['GET', 'POST /sequence'],
  operator: [
    'PUT /service/:name/start',
    'PUT /service/:name/stop',
    'PUT /monitor/:name/start',
    'PUT /monitor/:name/stop',
    'PUT /service/:name/drain',
    'PUT /service/:name/resume',
    'PUT /server/:name/drain',
    'PUT /server/:name/resume',
    'DELETE /sessions/:id',
    'DELETE /sessions',
    'DELETE /services/:name/sessions',
    'DELETE /servers/:name/connections',
    'PUT /servers/:name/maintenance',
    'DELETE /servers/:name/maintenance',
    'POST /gateway/logs/flush',
    'POST /fleet/behind/retry',
    'PUT /history/:id/undo',
  ],
  administrator: [
    'PATCH /services/:name',
    'PATCH /servers/:name',
    'PATCH /monitor/:name',
    'PATCH /filter/:name',
    'POST /document',
    'POST /services/:name/listeners',
    'DELETE /services/:name/listeners/:listener',
    'POST /services',
    'POST /servers',
    'POST /monitors',
    'POST /filters',
    'DELETE /services/:name',
    'DELETE /servers/:name',
    'DELETE /monitors/:name',
    'DELETE /filters/:name',
    'PUT /users',
    'PATCH /users/:name',
    'DELETE /users/:name',
    'DELETE /commands/:id',
    'DELETE /fleet/:node',
    'PATCH /',
    'PUT /history/:id/restore',
  ],
};

describe('the role of an endpoint', () => {
  const wanted = new Map(
    Object.entries(expected).flatMap(([role, names]) => names.map((name) => [name, role] as const)),
  );
  const sections = [...read('docs/http.md').matchAll(/^### `([A-Z]+ .*)`\n([^]*?)(?=^##|(?![^]))/gm)];
  const documented = new Map(
    // The page says once that every endpoint that only reads needs the role `reader`.
    sections.map(([, name = '', text = '']) => [name, /Role: `(\w+)`/.exec(text)?.[1] ?? 'reader'] as const),
  );

  // Promise: role-of-endpoint
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route.role]))(
    'is declared and documented for %s: %s',
    (endpoint, role) => {
      const [method = ''] = endpoint.split(' ');
      expect([undefined, ...Object.keys(rights)].indexOf(role)).toBeGreaterThan(0);
      expect(role).toBe(wanted.get(endpoint) ?? wanted.get(method));
      expect(role).toBe(documented.get(endpoint));
    },
  );

  it('is documented for existing endpoints alone', () => {
    const existing = ['GET', ...routes.map(({ method, path }) => `${method} ${path}`)];
    const named = [...wanted.keys(), ...documented.keys()];
    expect(named.filter((endpoint) => !existing.includes(endpoint))).toEqual([]);
  });
});

describe('createRoles', () => {
  it.each([
    ['ada', rights.administrator],
    ['ADA', rights.administrator],
    ['Bob', rights.operator],
    ['eve', rights.reader],
    ['mallory', []],
    ['', []],
    ['constructor', []],
    ['__proto__', []],
    ['toString', []],
    ['administrators', []],
  ])('lets %s use the endpoints of these roles: %j', (name, expected) => {
    expect(mayUse(people, { name })).toEqual(expected);
  });

  it('lets a user who is not listed read, if the host says so', () => {
    expect(mayUse({ ...people, others: 'reader' }, { name: 'mallory' })).toEqual(['reader']);
    expect(mayUse({ ...people, others: 'none' }, { name: 'mallory' })).toEqual([]);
    expect(mayUse({ ...people, others: 'reader' }, { name: 'ada' })).toEqual(rights.administrator);
  });

  // Promise: roles-nobody
  it.each(['none', 'reader'] as const)(
    'lets a caller without a log-in do nothing, with others: %s',
    (others) => {
      expect(mayUse({ ...people, others }, undefined)).toEqual([]);
    },
  );

  it('takes a name with letters that only fold to ASCII for another user', () => {
    const administrators = ['kim', 'strasse', 'Read Write'];
    expect(mayUse({ administrators }, { name: 'KIM' })).toEqual(rights.administrator);
    expect(mayUse({ administrators }, { name: '\u212aim' })).toEqual([]);
    expect(mayUse({ administrators }, { name: 'straße' })).toEqual([]);
    expect(mayUse({ administrators }, { name: 'read\u00a0write' })).toEqual([]);
    expect(mayUse({ administrators: ['straße'] }, { name: 'straße' })).toEqual(rights.administrator);
    expect(mayUse({ administrators: ['Jürgen'] }, { name: 'JU\u0308RGEN' })).toEqual(rights.administrator);
  });

  it('lets nobody use a route of an unknown role', () => {
    const [route] = routes;
    if (route === undefined) throw new Error('There is no route');
    const authorize = createRoles(people);
    for (const role of [undefined, 'owner', 'constructor'])
      expect(authorize({ name: 'ada' }, { ...route, role: role as Role }, {})).toBe(false);
  });

  it('does not change with the lists that it was given', () => {
    const administrators = ['ada'];
    const authorize = createRoles({ administrators });
    administrators.push('mallory');
    expect(routes.some((route) => authorize({ name: 'mallory' }, route, {}))).toBe(false);
  });

  const twoRoles =
    'The user "ADA" in readers has the role operator already. Give each user one role: an administrator may do ' +
    'what an operator may do, and an operator may read. Names are compared without case.';
  const noList = "The list readers of createRoles must be a list of user names, such as ['ada']";
  const noOption = (name: string, then = ''): RegExp =>
    RegExp(`no option of createRoles with the name "${name}"${then}`);

  it.each([
    ['a user with two roles', { operators: ['ada'], readers: ['ADA'] }, twoRoles],
    [
      'an unknown role',
      { admins: ['ada'] },
      noOption('admins', '\\. The names are administrators, operators, readers, others'),
    ],
    ['a role of the prototype', { constructor: ['ada'] }, noOption('constructor')],
    ['a name without a list', { readers: 'eve' }, noList],
    ['a name that is no text', { readers: [7] }, /readers of createRoles must be a list/],
    ['an empty name', { readers: [''] }, /"" in readers must have at least one character/],
    [
      'a name with a space',
      { readers: ['eve '] },
      /"eve " in readers must not begin or end with white space/,
    ],
    ['another word for others', { others: 'administrator' }, /others must be 'none' or 'reader'/],
    ['no lists', undefined, "createRoles needs lists of user names, such as { administrators: ['ada'] }"],
    ['a list of names', ['ada'], /createRoles needs lists of user names/],
  ])('refuses %s', (_what, options, message) => {
    expect(() => createRoles(options as RolesOptions)).toThrow(message);
  });

  it('accepts a name twice in one list', () => {
    expect(mayUse({ readers: ['eve', 'Eve'] }, { name: 'eve' })).toEqual(['reader']);
  });
});

describe('an interface with roles', () => {
  const logInOf = (name: string) => ({ authorization: credentials(name, 'pw') });

  async function guarded(options: Partial<AdminOptions> = {}): Promise<Running> {
    const names = ['ada', 'bob', 'eve', 'mallory'];
    const users = await Promise.all(
      names.map(async (name) => ({ name, password: { sealed: await quickHasher.hash('pw') } })),
    );
    return runAdmin({
      snapshot: createSnapshot({ ...sampleDocument, users }),
      hasher: quickHasher,
      access: { authenticate: createBasicAuthentication(), authorize: createRoles(people) },
      ...(options as object),
    });
  }

  /** The status of every endpoint for one user, each with a body that no route accepts. */
  async function statuses(
    { admin }: Running,
    name: string | undefined,
    query = '',
  ): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const headers = name === undefined ? {} : logInOf(name);
    for (const endpoint of [...endpoints, ...additions]) {
      const target = withQuery(targetOf(endpoint), query);
      const handled = await admin.handle({ method: endpoint.method, target, headers });
      if (handled.matched) found.set(`${endpoint.method} ${endpoint.path}`, handled.response.status);
    }
    return found;
  }

  // Promise: roles-refuse
  it.each([
    ['ada', rights.administrator],
    ['bob', rights.operator],
    ['eve', rights.reader],
    ['mallory', []],
  ])(
    'answers 403 to %s at every endpoint except those of %j, and plans for readers',
    async (name, expected) => {
      const running = await guarded();
      const { snapshot } = running.admin;
      for (const query of ['nonsense=1', 'dry_run=true']) {
        const refused = [...(await statuses(running, name, query))].filter(([, status]) => status === 403);
        const needing = routes.filter(({ kind, role, method }) => {
          const needed = query === 'dry_run=true' && method !== 'GET' ? 'reader' : role;
          return kind !== 'probe' && !expected.includes(needed);
        });
        expect(refused.map(([endpoint]) => endpoint).toSorted()).toEqual(
          needing.map(({ method, path }) => `${method} ${path}`).toSorted(),
        );
      }
      expect(running.admin.snapshot).toBe(snapshot);
      expect(running.gateway.calls).toEqual([]);
    },
  );

  it('lets an operator set and clear maintenance, and change nothing else of a server', async () => {
    const { admin, gateway } = await guarded();
    const words = () => shown(admin.snapshot.servers.find('db-serv-1'))?.settings.state;
    const send = async (line: string, body?: Json) => {
      const { status } = await ask(admin, line, { headers: logInOf('bob'), ...(body && { body }) });
      return [status, words()];
    };
    const place = '/servers/db-serv-1/maintenance';
    expect(await send(`PUT ${place}`)).toEqual([204, ['maintenance', 'master', 'running']]);
    const [{ snapshot }, calls] = [admin, gateway.calls.length];
    await send(`PUT ${place}`);
    expect([admin.snapshot, gateway.calls.length]).toEqual([snapshot, calls]);
    expect(await send(`DELETE ${place}`)).toEqual([204, ['master', 'running']]);
    const patch = [{ op: 'add', path: '/state/0', value: 'maintenance' }];
    expect(await send('PATCH /servers/db-serv-1', patch)).toEqual([403, ['master', 'running']]);
  });

  it('answers 403 to everything but a probe while nobody can log in', async () => {
    const running = runAdmin({ access: { authorize: createRoles({ ...people, others: 'reader' }) } });
    const { 'GET /ready': probe, ...others } = Object.fromEntries(await statuses(running, undefined));
    expect([probe, ...new Set(Object.values(others))]).toEqual([204, 403]);
  });

  it('lets a reader see the names of users, and nothing else of them', async () => {
    const { admin } = await guarded();
    const names = ['ada', 'bob', 'eve', 'mallory'].map((name) => ({ name }));
    expect((await ask(admin, 'GET /users', { headers: logInOf('eve') })).body).toEqual(names);
  });
});

const allEndpoints = [...endpoints, ...additions];
const commands = allEndpoints.filter(({ method }) => method !== 'GET');
const items = allEndpoints.filter(({ parameters }) => parameters.includes('may'));

/** Resources of the sample document in each of their states: in use or not, started, stopped, failed, draining. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  '/services/:name': ['My-Service', 'Bare-Service', 'Report-Service', 'spare service'],
  '/servers/:name': ['db-serv-1', 'DB-SERVER-2', 'db-serv-3', 'Spare-DB'],
  '/monitors/:name': ['Main-Monitor', 'Idle-Monitor', 'Failed-Monitor'],
  '/filters/:name': ['Hint', 'Spare'],
  '/sessions/:id': ['0', '9'],
  '/services/:name/listeners/:listener': ['My-Service/My-Listener'],
};

/** Who asks: one user for each role, and a caller where nobody has a role. */
const callers = ['reader', 'operator', 'administrator', 'anybody'] as const;

/** Where the caller asks. */
interface World {
  readonly caller: (typeof callers)[number];
  readonly readOnly: boolean;
  readonly supports: NonNullable<GatewayPort['supports']>;
  readonly vetoes: boolean;
}

const everything = ['create', 'delete', 'drain'] as const;
const worlds: readonly World[] = callers.flatMap((caller) => {
  const of = (readOnly: boolean, supports: World['supports'], ...vetoes: readonly boolean[]): World[] =>
    vetoes.map((each) => ({ caller, readOnly, supports, vetoes: each }));
  return [
    ...([[], ['create', 'delete'], everything] as const).flatMap((supports) =>
      of(false, supports, false, true),
    ),
    ...[...of(true, [], false), ...of(true, everything, true)],
  ];
});

const frozen = hostProblem('host-frozen', {
  status: 409,
  title: 'Frozen',
  detail: 'Stops and deletions are for Sunday.',
});

function run({ caller, readOnly, supports, vetoes }: World): Running {
  const gateway = { ...sampleGateway(), supports };
  const roles = { readers: ['reader'], operators: ['operator'], administrators: ['administrator'] };
  const veto: AdminOptions['veto'] = ({ events }) =>
    events.some(({ type }) => /\.(?:stopped|deleted)$/.test(type)) ? frozen : undefined;
  return runAdmin({
    gateway,
    ...(readOnly && { snapshot: readOnlySnapshot(sampleSnapshot()) }),
    ...(caller !== 'anybody' && { access: { authorize: createRoles(roles) } }),
    ...(vetoes && { veto }),
  });
}

const nameOf = ({ method, path }: Endpoint): string =>
  routes.find((route) => route.method === method && route.path === path)?.id ?? '';

/** The commands at the path of an item, or below, whose other names are known. Written after the contract's paths. */
function commandsOf({ path }: Endpoint): readonly Endpoint[] {
  const start = `${path}/`.replace('//', '/');
  return commands.filter((command) => {
    const plural = command.path.replace(/^\/(service|server|monitor|filter)\//, '/$1s/');
    return plural === path || (plural.startsWith(start) && !plural.slice(start.length).includes(':'));
  });
}

/** Whether a command is decided by its path alone. */
const isWhole = ({ body, mayLackBody, query }: Endpoint): boolean =>
  query === undefined && (body === undefined || mayLackBody === true);

/** What must hold of a row: the command itself gets this answer. */
function rowOf(
  command: Endpoint,
  { status, body }: { readonly status: number; readonly body: unknown },
): May {
  const id = nameOf(command);
  const { code, detail, errors } = (body ?? {}) as Problem;
  // A sequence names the command of its body that is refused.
  const isEarly = errors === undefined && ['forbidden', 'read-only', 'not-supported'].includes(code);
  if (status < 400 || !(isWhole(command) || isEarly)) return { id, allowed: true };
  return { id, allowed: false, code, detail };
}

const mayOfService = '/services/My-Service?may=true';
const mayIn = ({ body }: { readonly body: unknown }) => (body as { readonly may: readonly May[] }).may;

describe('may=true', () => {
  // Promise: may
  it.each(worlds)(
    'says what the command itself would say: $caller, read-only $readOnly, supports $supports, veto $vetoes',
    async (world) => {
      const as = world.caller === 'anybody' ? {} : { as: world.caller };
      const asking = run(world);
      const { snapshot } = asking.admin;
      let acting = run(world);
      let count = 0;
      for (const item of items)
        for (const subject of subjects[item.path] ?? ['']) {
          const target = targetOf({ ...item, subject, query: 'may=true' });
          const may = mayIn(await ask(asking.admin, `GET ${target}`, as));
          const expected: May[] = [];
          for (const command of commandsOf(item)) {
            const line = `${command.method} ${targetOf({ ...command, subject })}`;
            const body = isWhole(command) ? {} : { body: command.body?.json as Json };
            const answer = await ask(acting.admin, line, { ...as, ...body });
            // What was refused has changed nothing.
            if (answer.status < 400) acting = run(world);
            expected.push(rowOf(command, answer));
            count += 1;
          }
          expect([target, byName(may)]).toEqual([target, byName(expected)]);
          // A row has no list of faults, and names none.
          expect(may.flatMap((row) => (row.allowed ? [] : row.detail)).join()).not.toContain('errors');
        }
      expect(count).toBeGreaterThan(90);
      // To ask changes nothing, and asks the gateway for nothing.
      expect(asking.admin.snapshot).toBe(snapshot);
      expect([...asking.gateway.calls, ...asking.errors, ...acting.errors]).toEqual([]);
    },
  );

  // Promise: may-own
  it('answers each caller anew, without an entity tag', async () => {
    const { admin } = run({ caller: 'reader', readOnly: false, supports: [], vetoes: false });
    const whole = await ask(admin, 'GET /services/My-Service', { as: 'reader' });
    const allowedTo = async (name: string): Promise<readonly string[]> => {
      const headers = { 'if-none-match': whole.headers['etag'] ?? '' };
      const answer = await ask(admin, `GET ${mayOfService}`, { as: name, headers });
      const { may: _may, ...shown } = answer.body as object & { may: unknown };
      expect([answer.status, answer.headers['etag'], answer.headers['cache-control'], shown]).toEqual([
        ...[200, undefined, 'no-store', whole.body],
      ]);
      return mayIn(answer).flatMap(({ allowed, id }) => (allowed ? [id] : []));
    };
    const operated = ['services.closeSessions', 'services.resume', 'services.start', 'services.stop'];
    expect(await allowedTo('reader')).toEqual([]);
    expect((await allowedTo('operator')).toSorted()).toEqual(operated);
    expect((await allowedTo('administrator')).toSorted()).toEqual([...operated, 'services.patch'].toSorted());
    expect(await allowedTo('reader')).toEqual([]);
    // What was read before is still the whole resource.
    const again = await ask(admin, 'GET /services/My-Service', { as: 'reader' });
    expect([again.headers['etag'], again.body]).toEqual([whole.headers['etag'], whole.body]);
  });

  it('is part of the answer only if the value is true', async () => {
    const { admin } = runAdmin();
    const whole = await ask(admin, 'GET /services/My-Service');
    expect(await ask(admin, 'GET /services/My-Service?may=false')).toEqual(whole);
    const partial = await ask(admin, 'GET /services/My-Service?may=false&fields=name');
    expect(partial.body).toEqual({ name: 'My Service' });
    const { body, headers } = await ask(admin, `HEAD ${mayOfService}`);
    expect([body, headers['etag']]).toEqual([undefined, undefined]);
  });

  it.each(['may=1', 'may', 'may=TRUE', 'may=true&may=true'])('refuses %s', async (query) => {
    const detail = 'The parameter "may" must be given once, as "true" or "false".';
    const { body } = await ask(runAdmin().admin, `GET /services/My-Service?${query}`);
    expect(body).toMatchObject({ code: 'query-invalid', detail });
  });

  it('refuses fields beside it, and says why', async () => {
    const detail: unknown = expect.stringMatching(/"may" .*"fields"\. Leave one of them out\.$/);
    const answer = await ask(runAdmin().admin, `GET ${mayOfService}&fields=name`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'query-invalid', detail } });
  });

  it('is refused for what is not there, and shows strangers nothing', async () => {
    const { body } = await ask(runAdmin().admin, 'GET /services/Nothing?may=true');
    expect(body).toMatchObject({ code: 'service-not-found' });
    const { admin } = runAdmin({ access: { authenticate: () => Promise.resolve(undefined) } });
    expect((await ask(admin, 'GET /?may=true')).body).toEqual({ ready: true });
  });

  it('says of a closed interface that every command is refused', async () => {
    const { admin } = runAdmin();
    await admin.close();
    const may = mayIn(await ask(admin, `GET ${mayOfService}`));
    expect(may.map((row) => (row.allowed ? 'allowed' : row.code))).toEqual(may.map(() => 'closed'));
  });
});

/** Of a creation, the command names what it cannot create, and the row cannot. */
function byName(rows: readonly May[]): readonly May[] {
  return rows
    .map((row) =>
      row.allowed || row.code !== 'not-supported' || !/create/i.test(row.id)
        ? row
        : { ...row, detail: row.detail.replace(/create \S+ while/, 'create … while') },
    )
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** An interface that is read-only. */
function readOnly(): Running {
  return runAdmin({ snapshot: readOnlySnapshot(sampleSnapshot()) });
}
const writing = allEndpoints.filter(
  ({ method, worksReadOnly }) => method !== 'GET' && worksReadOnly !== true,
);
const reading = allEndpoints.filter(
  ({ method, path, stream }) => method === 'GET' && path !== '/' && stream !== true,
);

describe('an interface that is read-only', () => {
  // Promise: read-only
  it.each(writing)('answers 403 to $method $path, and does nothing', async (endpoint) => {
    const running = readOnly();
    const { snapshot } = running.admin;
    const sent = { headers: { 'content-type': 'application/json' }, body: '{ not JSON' };
    for (const place of [targetOf(endpoint), endpoint.path.replaceAll(/:\w+/g, 'nobody')])
      for (const query of ['', '?dry_run=false', '?nonsense=1']) {
        const target = place + query;
        const handled = await running.admin.handle({ ...sent, method: endpoint.method, target });
        const body = expect.stringContaining('"read-only"') as unknown;
        expect([target, handled]).toMatchObject([target, { response: { status: 403, body } }]);
      }
    expect(running.admin.snapshot).toBe(snapshot);
    expect(running.gateway.calls).toEqual([]);
  });

  it.each(reading)('answers GET $path as always', async (endpoint) => {
    const line = `GET ${targetOf(endpoint)}`;
    expect(await ask(readOnly().admin, line)).toEqual(await ask(runAdmin().admin, line));
  });

  // Promise: read-only-host
  it('lets the program itself execute, plan and report', async () => {
    const running = readOnly();
    const { admin, gateway } = running;
    expect(admin.plan(stop).outcome).toBe('accepted');
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['running', 'slave'] });
    expect(shown(admin.snapshot.servers.find('db-serv-1'))?.settings.state).toEqual(['running', 'slave']);
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
    expect(admin.readOnly).toBe(true);
  });

  it('lets the program itself abandon a command', async () => {
    const running = await silentHost(stop, 'not-in-place', 'not-in-place');
    const execution = await running.execution;
    await setReadOnly(running.admin, true);
    const id = execution.outcome === 'unknown' ? execution.commandId : '';
    expect((await running.admin.abandon(id)).outcome).toBe('accepted');
  });

  it('refuses a command whose body arrives when the mode has begun', async () => {
    const { admin } = runAdmin();
    const { users } = admin.snapshot;
    const headers = { 'content-type': 'application/json' };
    const body = async (): Promise<Uint8Array> => {
      await setReadOnly(admin, true);
      return new TextEncoder().encode('{"name":"joan","password":"arc"}');
    };
    const handled = await admin.handle({ method: 'PUT', target: '/users', headers, body });
    const refusal = { status: 403, body: expect.stringContaining('"read-only"') as unknown };
    expect(handled).toMatchObject({ response: refusal });
    expect(admin.snapshot.users).toBe(users);
  });
});
