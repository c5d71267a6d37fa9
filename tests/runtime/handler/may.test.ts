import { describe, expect, it } from '@jest/globals';
import {
  createRoles,
  hostProblem,
  routes,
  type AdminOptions,
  type AdminRequest,
  type AdminResponse,
  type May,
  type Principal,
  type Problem,
} from 'gateway-admin-core';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { additions, endpoints, targetOf, type Endpoint } from '../../contract/endpoint.ts';
import { sampleSnapshot } from '../../support/document.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';

const all = [...endpoints, ...additions];
const commands = all.filter(({ method }) => method !== 'GET');
const items = all.filter(({ parameters }) => parameters.includes('may'));

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
  readonly supports: readonly ('create' | 'delete' | 'drain')[];
  readonly vetoes: boolean;
}

const worlds: readonly World[] = callers.flatMap((caller) =>
  [false, true].flatMap((readOnly) =>
    [[], ['create', 'delete'], ['create', 'delete', 'drain']].flatMap((supports) =>
      [false, true].map((vetoes) => ({ caller, readOnly, supports, vetoes }) as World),
    ),
  ),
);

const frozen = hostProblem('host-frozen', {
  status: 409,
  title: 'Frozen',
  detail: 'Stops and deletions are for Sunday.',
});

function run({ caller, readOnly, supports, vetoes }: World): Running {
  const snapshot = sampleSnapshot();
  const gateway = { ...createScriptedGateway({ snapshot }), supports };
  const options: Partial<AdminOptions> = {
    ...(caller === 'anybody'
      ? {}
      : {
          access: {
            authorize: createRoles({
              readers: ['reader'],
              operators: ['operator'],
              administrators: ['administrator'],
            }),
          },
        }),
    ...(vetoes
      ? {
          veto: ({ events }) =>
            events.some(({ type }) => /\.(?:stopped|deleted)$/.test(type)) ? frozen : undefined,
        }
      : {}),
  };
  const running = runAdmin({ snapshot, gateway, ...(options as object) });
  running.admin.readOnly = readOnly;
  return running;
}

interface Sent {
  readonly principal?: Principal | undefined;
  readonly body?: Endpoint['body'] | undefined;
  readonly headers?: AdminRequest['headers'];
}

async function send(
  { admin }: Pick<Running, 'admin'>,
  method: string,
  target: string,
  { principal, body, headers = {} }: Sent = {},
): Promise<AdminResponse & { readonly json: unknown }> {
  const handled = await admin.handle({
    method,
    target,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': body.type }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body.json) }),
    ...(principal === undefined ? {} : { principal }),
  });
  if (!handled.matched) throw new Error(`Nothing is at ${target}`);
  const { response } = handled;
  return {
    ...response,
    json: typeof response.body === 'string' ? (JSON.parse(response.body) as unknown) : undefined,
  };
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
  { status, json }: { readonly status: number; readonly json: unknown },
): May {
  const id = nameOf(command);
  const { code, detail, errors } = (json ?? {}) as Problem;
  // A sequence names the command of its body that is refused.
  const isEarly = errors === undefined && ['forbidden', 'read-only', 'not-supported'].includes(code);
  if (status < 400 || !(isWhole(command) || isEarly)) return { id, allowed: true };
  return { id, allowed: false, code, detail };
}

const principalIn = ({ caller }: World): Principal | undefined =>
  caller === 'anybody' ? undefined : { name: caller };

describe('may=true', () => {
  // Promise: may
  it.each(worlds)(
    'says what the command itself would say: $caller, read-only $readOnly, supports $supports, veto $vetoes',
    async (world) => {
      const principal = principalIn(world);
      const asking = run(world);
      const { snapshot } = asking.admin;
      let acting = run(world);
      let count = 0;
      for (const item of items)
        for (const subject of subjects[item.path] ?? ['']) {
          const target = targetOf({ ...item, subject, query: 'may=true' });
          const { json } = await send(asking, 'GET', target, { principal });
          const expected: May[] = [];
          for (const command of commandsOf(item)) {
            const body = isWhole(command) ? undefined : command.body;
            const place = targetOf({ ...command, subject });
            const answer = await send(acting, command.method, place, { principal, body });
            // What was refused has changed nothing.
            if (answer.status < 400) acting = run(world);
            expected.push(rowOf(command, answer));
            count += 1;
          }
          const { may } = json as { readonly may: readonly May[] };
          expect([target, byName(may)]).toEqual([target, byName(expected)]);
          // A row has no list of faults, and names none.
          expect(may.flatMap((row) => (row.allowed ? [] : row.detail)).join()).not.toContain('errors');
        }
      expect(count).toBeGreaterThan(90);
      // To ask changes nothing, and asks the gateway for nothing.
      expect(asking.admin.snapshot).toBe(snapshot);
      expect(asking.gateway.calls).toEqual([]);
      expect([...asking.errors, ...acting.errors]).toEqual([]);
    },
  );

  // Promise: may-own
  it('answers each caller anew, without an entity tag', async () => {
    const running = run({ caller: 'reader', readOnly: false, supports: [], vetoes: false });
    const whole = await send(running, 'GET', '/services/My-Service', { principal: { name: 'reader' } });
    const ask = async (name: string): Promise<readonly string[]> => {
      const headers = { 'if-none-match': whole.headers['etag'] };
      const sent = { principal: { name }, headers };
      const { status, headers: told, json } = await send(running, 'GET', mayOfService, sent);
      expect([status, told['etag'], told['cache-control']]).toEqual([200, undefined, 'no-store']);
      const { may, ...shown } = json as { readonly may: readonly May[] };
      expect(shown).toEqual(whole.json);
      return may.filter(({ allowed }) => allowed).map(({ id }) => id);
    };
    const operated = ['services.closeSessions', 'services.resume', 'services.start', 'services.stop'];
    expect(await ask('reader')).toEqual([]);
    expect((await ask('operator')).toSorted()).toEqual(operated);
    expect((await ask('administrator')).toSorted()).toEqual([...operated, 'services.patch'].toSorted());
    expect(await ask('reader')).toEqual([]);
    // What was read before is still the whole resource.
    const again = await send(running, 'GET', '/services/My-Service', { principal: { name: 'reader' } });
    expect([again.headers['etag'], again.json]).toEqual([whole.headers['etag'], whole.json]);
  });

  it('is part of the answer only if the value is true', async () => {
    const running = runAdmin();
    const whole = await send(running, 'GET', '/services/My-Service');
    const declined = await send(running, 'GET', '/services/My-Service?may=false');
    expect([declined.json, declined.headers]).toEqual([whole.json, whole.headers]);
    const partial = await send(running, 'GET', '/services/My-Service?may=false&fields=name');
    expect(partial.json).toEqual({ name: 'My Service' });
    const { body, headers } = await send(running, 'HEAD', mayOfService);
    expect([body, headers['etag']]).toEqual([undefined, undefined]);
  });

  it.each(['may=1', 'may', 'may=TRUE', 'may=true&may=true'])('refuses %s', async (query) => {
    const { json } = await send(runAdmin(), 'GET', `/services/My-Service?${query}`);
    expect(json).toMatchObject({
      code: 'query-invalid',
      detail: 'The parameter "may" must be given once, as "true" or "false".',
    });
  });

  it('refuses fields beside it, and says why', async () => {
    const { status, json } = await send(runAdmin(), 'GET', `${mayOfService}&fields=name`);
    expect([status, (json as Problem).code]).toEqual([400, 'query-invalid']);
    expect((json as Problem).detail).toMatch(/"may" .*"fields"\. Leave one of them out\.$/);
  });

  it('is refused for what is not there, and shows strangers nothing', async () => {
    const { json } = await send(runAdmin(), 'GET', '/services/Nothing?may=true');
    expect(json).toMatchObject({ code: 'service-not-found' });
    const running = runAdmin({ access: { authenticate: () => Promise.resolve(undefined) } });
    expect((await send(running, 'GET', '/?may=true')).json).toEqual({ ready: true });
  });

  it('says of a closed interface that every command is refused', async () => {
    const running = runAdmin();
    await running.admin.close();
    const { json } = await send(running, 'GET', mayOfService);
    const { may } = json as { readonly may: readonly May[] };
    expect(may.map((row) => (row.allowed ? 'allowed' : row.code))).toEqual(may.map(() => 'closed'));
  });
});

const mayOfService = '/services/My-Service?may=true';

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
