import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretSealer, type EffectOf, type Plan, type ProblemCode } from 'gateway-admin-core';

import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { readAudit } from '../support/audit-reader.ts';
import { endpoints, removesConfigured, taggedBy, targetOf } from './endpoint.ts';

const json = { 'content-type': 'application/json' };
const secret = 'planted-Passw0rd-ünïcode';
const creations = endpoints.filter(({ answer }) => answer.status === 201);
const deletions = endpoints.filter(removesConfigured);

/** A definition of each kind with every secret that the kind has. */
const withSecrets: readonly (readonly [target: string, definition: object])[] = [
  [
    '/services',
    {
      name: 'New',
      router: 'cli',
      password: secret,
      router_options: { weights: 'on', PassWord: secret },
      listeners: [{ name: 'L', protocol: 'p', address: '::', port: 4010, parameters: { password: secret } }],
    },
  ],
  ['/servers', { name: 'New', address: '::1', port: 1, protocol: 'p', parameters: { password: secret } }],
  ['/monitors', { name: 'New', module: 'pgmon', parameters: { password: secret } }],
  [
    '/filters',
    { name: 'New', module: 'tee', parameters: { password: { value: secret, configurable: true } } },
  ],
];

let running: Running;
let transport: Transport;

async function open(options: Parameters<typeof runAdmin>[0] = {}): Promise<void> {
  running = runAdmin(options);
  transport = await transports.core(running.admin);
}

beforeEach(() => open());

afterEach(() => transport.close());

function send(
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  if (body === undefined) return transport.send(method, target, { headers });
  return transport.send(method, target, { headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

const post = (target: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer> =>
  send('POST', target, body, headers);

async function tagOf(target: string): Promise<string> {
  return (await send('GET', target)).headers['etag'] ?? '';
}

function codeOf({ status, body }: Answer): readonly [number, ProblemCode] {
  return [status, (body as { readonly code: ProblemCode }).code];
}

async function planOf(target: string, body: unknown): Promise<Plan> {
  const answer = await post(`${target}?dry_run=true`, body);
  expect(answer.status).toBe(200);
  return answer.body as Plan;
}

/** The address to which a client resolves the place in an answer. */
function placeIn(target: string, { headers }: Answer): string {
  return new URL(headers['location'] ?? '', `http://gateway${target}`).pathname;
}

describe.each(creations)('POST $path', (endpoint) => {
  const path = targetOf(endpoint);
  const { body } = endpoint;
  const definition = body?.json as { readonly name: string };

  it('answers with the resource, its place and its entity tag', async () => {
    const answer = await post(path, definition);
    const place = taggedBy(endpoint) ?? '';
    expect([answer.status, placeIn(path, answer)]).toEqual([201, place]);
    const shown = await send('GET', place);
    expect([answer.body, answer.headers['etag']]).toEqual([shown.body, shown.headers['etag']]);
    const list = (await send('GET', path)).body as readonly { readonly name: string }[];
    expect(list.at(-1)?.name).toBe(definition.name);
  });

  // Promise: create-again
  it('answers 200 and changes nothing if an equal resource is there', async () => {
    const created = await post(path, definition);
    const { snapshot } = running.admin;
    const { calls } = running.gateway;
    const count = calls.length;
    const again = await post(path, definition);
    expect([again.status, again.body, again.headers['etag']]).toEqual([
      200,
      created.body,
      created.headers['etag'],
    ]);
    expect(again.headers['location']).toBeUndefined();
    expect(running.admin.snapshot).toBe(snapshot);
    expect(running.gateway.calls).toHaveLength(count);
  });
});

it.each([
  ['', '/admin'],
  ['/', '/a/b%20c/'],
] as const)(
  'a creation names a place below the path at which the interface is mounted: %s %s',
  async (slash, basePath) => {
    transport = await transports.node(running.admin, { basePath });
    const target = `${basePath.replace(/\/$/, '')}/filters${slash}`;
    const answer = await post(target, { name: 'Two Words', module: 'tee' });
    const shown = await send('GET', placeIn(target, answer));
    expect([answer.status, shown.status, shown.body]).toEqual([201, 200, answer.body]);
  },
);

describe('a creation that starts what it has made', () => {
  it.each(['/services', '/monitors'])('asks %s for the creation, and then for the start', async (path) => {
    const definition = { ...withSecrets.find(([target]) => target === path)?.[1], name: 'Two Words' };
    const answer = await post(path, definition);
    expect(answer.body).toMatchObject({ name: 'Two Words', state: 'started' });
    const kind = path.slice(1, -1);
    expect(appliedTo(running.gateway)).toEqual([
      `${kind}.create ${path}/Two-Words`,
      `${kind}.start ${path}/Two-Words`,
    ]);
  });

  it.each(['/services', '/monitors'])('leaves %s stopped if the definition says so', async (path) => {
    const definition = { ...withSecrets.find(([target]) => target === path)?.[1], state: 'stopped' };
    expect((await post(path, definition)).body).toMatchObject({ state: 'stopped' });
    expect(running.gateway.applied).toHaveLength(1);
  });
});

describe('a definition with secrets', () => {
  // Promise: create-secret
  it.each(withSecrets)('of %s is sealed, and never shown, logged or audited', async (path, definition) => {
    await transport.close();
    const sealer = createSecretSealer();
    await open({ sealer });
    const records = readAudit(running.admin);
    const reader = running.admin.events();
    const answers = [
      await post(`${path}?dry_run=true`, definition),
      await post(path, definition),
      await send('GET', `${path}/New`),
      await send('GET', '/history'),
      // Each sealing gives another text, so the two are never equal.
      await post(path, definition),
      await send('DELETE', `${path}/New`),
    ];
    expect(answers.map(({ status }) => status).slice(0, 5)).toEqual([200, 201, 200, 200, 409]);
    const [effect] = running.gateway.applied as readonly EffectOf<'service.create'>[];
    const sealed = JSON.stringify(effect).match(/v1\.[\w.-]+/g) ?? [];
    expect(sealed).toHaveLength(path === '/services' ? 3 : 1);
    for (const text of sealed) expect(await sealer.open(text)).toBe(secret);
    await running.admin.close();
    const events: unknown[] = [];
    for await (const item of reader) events.push(item);
    const shown = [...answers.map(({ text }) => text), JSON.stringify(records)].join();
    for (const hidden of [secret, ...sealed, 'Sealed']) expect(shown).not.toContain(hidden);
    expect(JSON.stringify([events, effect])).not.toContain(secret);
    expect(records.length).toBe(3);
  });

  it.each(withSecrets)(
    'of %s has the same mark with another secret, and another mark without it',
    async (path, definition) => {
      const other = JSON.parse(JSON.stringify(definition).replaceAll(secret, 'another')) as object;
      const without = JSON.parse(JSON.stringify(definition), (name, value: unknown) =>
        name.toLowerCase() === 'password' ? undefined : value,
      ) as object;
      const { mark } = await planOf(path, definition);
      expect((await planOf(path, other)).mark).toBe(mark);
      expect((await planOf(path, without)).mark).not.toBe(mark);
      expect((await post(`${path}?mark=${mark}`, other)).status).toBe(201);
    },
  );
});

describe('the mark of a creation', () => {
  const definition = { name: 'New', address: '10.0.0.9', port: 1, protocol: 'p' };

  it('does not create anything else', async () => {
    const { mark } = await planOf('/servers', definition);
    const answer = await post(`/servers?mark=${mark}`, { ...definition, port: 2 });
    expect(codeOf(answer)).toEqual([412, 'precondition-failed']);
    expect((await send('GET', '/servers/New')).status).toBe(404);
  });

  it('of a deletion with detach is not the mark of one without', async () => {
    const plan = await send('DELETE', '/servers/Spare-DB?detach=true&dry_run=true');
    const { mark } = plan.body as { readonly mark: string };
    expect((await send('DELETE', `/servers/Spare-DB?mark=${mark}`)).status).toBe(412);
    expect((await send('DELETE', `/servers/Spare-DB?detach=true&mark=${mark}`)).status).toBe(204);
  });
});

describe.each(deletions)('DELETE $path', (endpoint) => {
  const target = targetOf(endpoint);
  const list = taggedBy(endpoint) ?? '';
  const creation = creations.find((each) => targetOf(each) === list);

  it('takes the resource away, and gives the list another entity tag', async () => {
    const tag = await tagOf(list);
    const answer = await send('DELETE', target);
    expect([answer.status, answer.headers['etag']]).toEqual([204, await tagOf(list)]);
    expect(await tagOf(list)).not.toBe(tag);
    expect((await send('GET', target)).status).toBe(404);
    expect((await send('DELETE', target)).status).toBe(404);
    expect(running.gateway.applied.map(({ type }) => type)).toEqual([
      `${/(\w+)s$/.exec(list)?.[1] ?? ''}.delete`,
    ]);
  });

  it('frees the name for another definition', async () => {
    await send('DELETE', target);
    const name = decodeURIComponent(target.slice(list.length + 1)).toUpperCase();
    const answer = await post(list, { ...(creation?.body?.json as object), name });
    expect(answer.status).toBe(201);
    expect((await send('GET', target)).body).toEqual(answer.body);
  });
});

describe('a deletion of something in use', () => {
  // Promise: membership-in-use
  it.each([
    [
      '/services/My-Service',
      ['is not stopped: stop the service first', 'has open sessions (2): close them first'],
    ],
    ['/services/Bare-Service', ['has open sessions (1): close them first']],
    [
      '/servers/db-serv-1',
      [
        'has open connections (2): close them first',
        'is listed by the service "My Service"',
        'is listed by the monitor "Main Monitor"',
        'is listed by the monitor "Failed Monitor"',
      ],
    ],
  ])('names each use of %s', async (target, details) => {
    const { snapshot } = running.admin;
    const { status, body } = await send('DELETE', target);
    expect(status).toBe(409);
    const more = details.length === 1 ? '' : ` (and ${String(details.length - 1)} more)`;
    const detail = expect.stringContaining(
      `cannot be deleted: it ${details[0] ?? ''}${more}. Nothing was changed.`,
    );
    expect(body).toMatchObject({ detail });
    expect((body as { readonly errors: readonly object[] }).errors).toMatchObject(
      details.map((detail) => ({ code: 'resource-in-use', detail })),
    );
    expect(running.admin.snapshot).toBe(snapshot);
    expect(running.gateway.calls).toEqual([]);
  });

  it('with detach takes a filter out of every list in the same command', async () => {
    const tag = await tagOf('/services/My-Service');
    expect((await send('DELETE', '/filters/Hint?detach=true')).status).toBe(204);
    expect((await send('GET', '/services/My-Service?fields=filters')).body).toEqual({
      filters: ['/filters/Query-Log'],
    });
    expect((await send('GET', '/services/Report-Service?fields=filters')).body).toEqual({});
    expect(await tagOf('/services/My-Service')).not.toBe(tag);
    expect(running.admin.snapshot.revision).toBe(1);
    expect(appliedTo(running.gateway)).toEqual([
      'service.update /services/My-Service',
      'service.update /services/Report-Service',
      'filter.delete /filters/Hint',
    ]);
    const [entry] = (await send('GET', '/history')).body as readonly { readonly id: string }[];
    expect((await send('PUT', `/history/${entry?.id ?? ''}/undo`)).status).toBe(204);
    expect((await send('GET', '/services/My-Service?fields=filters')).body).toEqual({
      filters: ['/filters/Query-Log', '/filters/Hint'],
    });
  });

  it('with detach closes no connection of a server', async () => {
    expect(codeOf(await send('DELETE', '/servers/db-serv-1?detach=true'))).toEqual([409, 'resource-in-use']);
    expect((await send('DELETE', '/servers/db-serv-1/connections')).status).toBe(204);
    expect((await send('DELETE', '/servers/db-serv-1?detach=true')).status).toBe(204);
    expect((await send('GET', '/services/My-Service?fields=servers')).body).toEqual({
      servers: ['/servers/DB-Server-2'],
    });
  });
});

describe('the filters of a service', () => {
  it('get another entity tag when the service comes and when it goes', async () => {
    const [log, spare] = [await tagOf('/filters/Query-Log'), await tagOf('/filters/Spare')];
    await post('/services', {
      name: 'New',
      router: 'cli',
      state: 'stopped',
      filters: ['/filters/Query-Log'],
    });
    const created = await send('GET', '/filters/Query-Log');
    expect(created.headers['etag']).not.toBe(log);
    expect(created.body).toMatchObject({ services: ['/services/My-Service', '/services/New'] });
    await send('DELETE', '/services/New');
    const deleted = await send('GET', '/filters/Query-Log');
    expect(deleted.headers['etag']).not.toBe(created.headers['etag']);
    expect(deleted.body).toMatchObject({ services: ['/services/My-Service'] });
    expect(await tagOf('/filters/Spare')).toBe(spare);
  });
});
