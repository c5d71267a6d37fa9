import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createPbkdf2Hasher,
  createRoles,
  createSnapshot,
  routes,
  type AdminOptions,
  type Principal,
  type Role,
} from 'gateway-admin-core';

import { additions, endpoints, targetOf, withQuery } from '../../contract/endpoint.ts';
import { codesOf, tablesOf } from '../../docs/table.ts';
import { sampleDocument } from '../../support/document.ts';
import { read } from '../../support/project.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';

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

describe('the role of an endpoint', () => {
  const table = tablesOf(read('docs/spec-choices.md')).find(({ heading }) => heading === 'Roles');
  const documented = new Map(
    (table?.rows ?? []).flatMap(([role = '', listed = '']) =>
      codesOf(listed).map((endpoint) => [endpoint, codesOf(role)[0]] as const),
    ),
  );

  // Promise: role-of-endpoint
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route.role]))(
    'is declared and documented for %s: %s',
    (endpoint, role) => {
      const [method = ''] = endpoint.split(' ');
      expect([undefined, ...Object.keys(rights)].indexOf(role)).toBeGreaterThan(0);
      expect(role).toBe(documented.get(endpoint) ?? documented.get(method));
    },
  );

  it('is documented for existing endpoints alone', () => {
    const existing = routes.map(({ method, path }) => `${method} ${path}`);
    expect([...documented.keys()].filter((endpoint) => !existing.includes(endpoint))).toEqual([
      'GET',
      'HEAD',
    ]);
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

  it.each([
    [
      'a user with two roles',
      { operators: ['ada'], readers: ['ADA'] },
      'The user "ADA" in readers has the role operator already. Give each user one role: an administrator may do ' +
        'what an operator may do, and an operator may read. Names are compared without case.',
    ],
    [
      'an unknown role',
      { admins: ['ada'] },
      /no option of createRoles with the name "admins"\. The names are administrators, operators, readers, others/,
    ],
    [
      'a role of the prototype',
      { constructor: ['ada'] },
      /no option of createRoles with the name "constructor"/,
    ],
    [
      'a name without a list',
      { readers: 'eve' },
      "The list readers of createRoles must be a list of user names, such as ['ada']",
    ],
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
  const hasher = createPbkdf2Hasher({ rounds: 1 });

  async function guarded(options: Partial<AdminOptions> = {}): Promise<Running> {
    const names = ['ada', 'bob', 'eve', 'mallory'];
    const users = await Promise.all(
      names.map(async (name) => ({ name, passwordHash: await hasher.hash('pw') })),
    );
    return runAdmin({
      snapshot: createSnapshot({ ...sampleDocument, users }),
      hasher,
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
    const headers = name === undefined ? {} : { authorization: `Basic ${btoa(`${name}:pw`)}` };
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
    const headers = {
      authorization: `Basic ${btoa('bob:pw')}`,
      'content-type': 'application/json-patch+json',
    };
    const send = async (method: string, target: string, body?: string) => {
      const handled = await admin.handle({
        method,
        target,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      return handled.matched ? handled.response.status : undefined;
    };
    const words = () => admin.snapshot.servers.find('db-serv-1')?.settings.state;
    const place = '/servers/db-serv-1/maintenance';
    expect([await send('PUT', place), words()]).toEqual([204, ['maintenance', 'master', 'running']]);
    const [{ snapshot }, calls] = [admin, gateway.calls.length];
    expect([await send('PUT', place), admin.snapshot, gateway.calls.length]).toEqual([204, snapshot, calls]);
    expect([await send('DELETE', place), words()]).toEqual([204, ['master', 'running']]);
    const patch = '[{"op":"add","path":"/state/0","value":"maintenance"}]';
    expect([await send('PATCH', '/servers/db-serv-1', patch), words()]).toEqual([403, ['master', 'running']]);
  });

  it('answers 403 to everything but a probe while nobody can log in', async () => {
    const running = runAdmin({ access: { authorize: createRoles({ ...people, others: 'reader' }) } });
    const { 'GET /ready': probe, ...others } = Object.fromEntries(await statuses(running, undefined));
    expect([probe, ...new Set(Object.values(others))]).toEqual([204, 403]);
  });

  it('lets a reader see the names of users, and nothing else of them', async () => {
    const { admin } = await guarded();
    const headers = { authorization: `Basic ${btoa('eve:pw')}` };
    const handled = await admin.handle({ method: 'GET', target: '/users', headers });
    const names = ['ada', 'bob', 'eve', 'mallory'].map((name) => ({ name }));
    expect(handled.matched && handled.response.body).toBe(JSON.stringify(names));
  });
});
