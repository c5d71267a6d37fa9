/**
 * What `createGatewayPort` refuses, and what it does at its beginning and end.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createListener,
  createMemoryStore,
  createSnapshot,
  deleteListener,
  deleteResource,
  EffectRefusedError,
  InvalidDocumentError,
  openAdmin,
  patchService,
  sequence,
  stopService,
  toDocument,
  type Admin,
  type Effect,
  type GatewayDocument,
  type Transition,
  type Veto,
} from 'gateway-admin-core';
import { createGatewayPort, type OpenedGatewayPort } from 'gateway-admin-core/gateway-port';
import { createVirtualClock } from 'gateway-admin-core/testing';

const kind = { fields: [], apply: () => undefined, read: () => undefined };
const closeSessions = (): void => undefined;

describe('options', () => {
  it.each([
    ['createGatewayPort needs services', {}],
    ['createGatewayPort needs the function closeSessions', { services: kind }],
    ['There is no option of createGatewayPort with the name "service"', { service: kind }],
    ['services needs the function read', { closeSessions, services: { ...kind, read: 1 } }],
    ['services needs the function refuse', { closeSessions, services: { ...kind, refuse: 'no' } }],
    ['services.fields: a list of names', { closeSessions, services: { ...kind, fields: 'servers' } }],
    ['There is no field of services', { closeSessions, services: { ...kind, fields: ['max'] } }],
    ['needs the function closeConnections', { closeSessions, services: kind, servers: kind }],
    [
      'closeConnections or sessionsEnd: true, and not both',
      { closeSessions, services: kind, servers: kind, sessionsEnd: true, closeConnections: closeSessions },
    ],
    [
      'List the field drain for services and for servers, or for neither',
      { closeSessions, services: { ...kind, fields: ['drain'] }, servers: kind, sessionsEnd: true },
    ],
    [
      'sessionsEnd of createGatewayPort must be true or false',
      { closeSessions, services: kind, sessionsEnd: 1 },
    ],
    ['createGatewayPort needs the function close', { closeSessions, services: kind, close: 'now' }],
    ['the clock needs the function now', { closeSessions, services: kind, clock: {} }],
  ])('are refused with a sentence: %s', (sentence, options) => {
    expect(() => createGatewayPort(options as never)).toThrow(sentence);
    expect(() => createGatewayPort(options as never)).toThrow(TypeError);
  });
});

const document: GatewayDocument = {
  format: 2,
  services: [{ name: 'One', router: 'rr', max_connection: 9 }],
};

interface Opened {
  readonly admin: Admin;
  readonly gateway: OpenedGatewayPort;
}

/** A gateway that has got a rule since the configuration was given. */
function opened(refuse: (wanted: { readonly max_connection?: number }) => unknown): Opened {
  let isAsked = false;
  const gateway = createGatewayPort({
    services: {
      fields: ['max_connection'],
      apply: () => undefined,
      read: (_key, applied) => applied,
      refuse: (wanted) => (isAsked ? (refuse(wanted) as undefined) : undefined),
    },
    closeSessions,
    onError: () => undefined,
  });
  const observe = { onError: () => undefined };
  const admin = createAdmin({ snapshot: createSnapshot(document), gateway, observe });
  isAsked = true;
  return { gateway, admin };
}

/** What clients are shown of the state of a service. */
function shown({ snapshot }: Admin, name = 'One'): unknown {
  const { state, state_reason: reason } =
    toDocument(snapshot).services?.find((service) => service.name === name) ?? {};
  return [state, reason];
}

async function patch({ admin }: Opened, limit: number, query = '') {
  const handled = await admin.handle({
    method: 'PATCH',
    target: `/services/One${query}`,
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'add', path: '/max_connection', value: limit }]),
  });
  return handled.matched ? handled.response : undefined;
}

describe('a rule of a gateway', () => {
  it('refuses in dry runs too, in its own words', async () => {
    const world = opened(({ max_connection: most = 0 }) => (most > 10 ? 'At most 10.' : undefined));
    await world.gateway.open(world.admin);
    for (const query of ['', '?dry_run=true']) {
      const refused = await patch(world, 11, query);
      expect([refused?.status, String(refused?.body)]).toEqual([422, expect.stringContaining('At most 10.')]);
    }
    expect((await patch(world, 10))?.status).toBe(200);
  });

  it('does not hold what the gateway has in spite of it', async () => {
    const world = opened(({ max_connection: most = 0 }) => (most > 5 ? 'At most 5.' : undefined));
    await world.gateway.open(world.admin);
    const stop = await world.admin.handle({ method: 'PUT', target: '/service/One/stop', headers: {} });
    expect(stop.matched && stop.response.status).toBe(204);
  });

  it.each([
    ['nothing', () => null],
    ['an empty text', () => ''],
    ['a number', () => 7],
    ['later', () => Promise.reject(new Error('late'))],
  ])('that answers %s is a fault of the gateway, and refuses the command', async (_what, answer) => {
    const world = opened(answer);
    await world.gateway.open(world.admin);
    expect((await patch(world, 3))?.status).toBe(500);
  });
});

describe('a port', () => {
  it('is opened once, and asks the gateway for nothing when it is closed', async () => {
    const [clock, calls] = [createVirtualClock(), [] as string[]];
    const gateway = createGatewayPort({
      services: {
        fields: ['max_connection'],
        apply(wanted) {
          calls.push(wanted?.state ?? 'gone');
          if (wanted?.state === 'started') throw new Error('The port is taken');
        },
        read: (_key, applied) => applied,
      },
      closeSessions,
      close: () => void calls.push('closed'),
      clock,
      onError: () => undefined,
    });
    const admin = createAdmin({ snapshot: createSnapshot(document), gateway, clock });
    await gateway.open(admin);
    expect(admin.snapshot.services.find('One')?.seen.state).toBe('failed');
    await expect(gateway.open(admin)).rejects.toThrow('The port is open already.');
    await clock.advance(1000);
    expect(calls).toEqual(['started', 'stopped', 'started', 'stopped']);
    await clock.waitFor(Promise.resolve(gateway[Symbol.asyncDispose]()));
    await clock.advance(60_000);
    expect(calls.at(-1)).toBe('closed');
  });

  it('tries what has failed soon after a change, and not only when its pause is over', async () => {
    const clock = createVirtualClock();
    let taken = 5432;
    const gateway = createGatewayPort({
      services: {
        fields: [],
        apply(wanted) {
          if (wanted?.state === 'started' && wanted.listeners.some(({ port }) => port === taken))
            throw Object.assign(new Error(`${String(taken)} is taken`), { syscall: 'listen' });
        },
        read: (_key, applied) => applied,
      },
      closeSessions,
      clock,
      onError: () => undefined,
    });
    const listener = { name: 'main', protocol: 'pg', address: '::1' };
    const listeners = [{ ...listener, port: taken }];
    const snapshot = createSnapshot({ services: [{ name: 'One', router: 'rr', listeners }] });
    const admin = createAdmin({ snapshot, gateway, clock });
    await gateway.open(admin);
    await clock.advance(100_000);
    expect(shown(admin)).toEqual(['failed', '5432 is taken']);
    const change = async (transition: Transition) => {
      expect(await clock.waitFor(admin.execute(transition))).toMatchObject({ outcome: 'accepted' });
      await clock.advance(100);
    };
    // Another reason is told soon, too.
    taken = 5433;
    await change((state, context) =>
      createListener(state, 'One', { ...listener, name: 'other', port: taken }, context),
    );
    expect(shown(admin)).toEqual(['failed', '5433 is taken']);
    await change((state, context) => deleteListener(state, 'One', 'other', context));
    expect(shown(admin)).toEqual(['started', undefined]);
    await clock.waitFor(gateway[Symbol.asyncDispose]() as Promise<void>);
  });
});

it('what has no state, and cannot be brought into place, has an alert until it can', async () => {
  const clock = createVirtualClock();
  let isBroken = true;
  const gateway = createGatewayPort({
    services: kind,
    servers: {
      fields: ['address', 'port'],
      apply() {
        if (isBroken) throw new EffectRefusedError('No route to 10.0.0.1');
      },
      read: (_key, applied) => applied,
    },
    sessionsEnd: true,
    closeSessions,
    clock,
    onError: () => undefined,
  });
  const servers = [{ name: 'DB 1', address: '10.0.0.1', port: 1, protocol: 'pg' }];
  const admin = createAdmin({ snapshot: createSnapshot({ servers }), gateway, clock });
  await gateway.open(admin);
  const alerts = async () => {
    const handled = await admin.handle({ method: 'GET', target: '/alerts', headers: {} });
    const all = JSON.parse(handled.matched ? String(handled.response.body) : '') as { code: string }[];
    return all.filter(({ code }) => code === 'node-behind');
  };
  const first = await alerts();
  expect(first).toEqual([
    {
      code: 'node-behind',
      resource: '/servers/DB-1',
      since: expect.any(String),
      level: 'warning',
      detail: 'The gateway could not bring this into place: No route to 10.0.0.1. It is tried again.',
    },
  ]);
  await clock.advance(40_000);
  expect(await alerts()).toEqual(first);
  isBroken = false;
  await clock.advance(31_000);
  expect(await alerts()).toEqual([]);
  await clock.waitFor(gateway[Symbol.asyncDispose]() as Promise<void>);
});

describe('what the gateway cannot have', () => {
  const used = {
    fields: ['max_connection'],
    apply: () => undefined,
    read: (_key: string, seen: unknown) => seen,
  };
  const portOf = (own: object = {}, onError: (error: unknown) => void = () => undefined) =>
    createGatewayPort({ services: used, closeSessions, onError, ...own } as never) as OpenedGatewayPort;
  const anyPort = {
    supports: ['create', 'delete'] as const,
    apply: () => Promise.resolve(),
    inspect: () => Promise.resolve('in-place' as const),
  };
  const wrong = { services: [{ name: 'One', router: 'rr', root_user: true }] };
  const sentence = 'This gateway does not use root_user of a service. It uses max_connection.';

  it('is refused before a store keeps it', async () => {
    expect(() => createAdmin({ snapshot: createSnapshot(wrong), gateway: portOf() })).toThrow(
      `/services/One: ${sentence}`,
    );
    const store = createMemoryStore();
    const opening = openAdmin({ snapshot: createSnapshot(wrong), gateway: portOf(), store });
    await expect(opening).rejects.toThrow(sentence);
    await expect(opening).rejects.toBeInstanceOf(InvalidDocumentError);
    const admin = await openAdmin({ snapshot: createSnapshot(document), gateway: portOf(), store });
    expect(admin.snapshot.services.find('One')?.settings).toMatchObject({ max_connection: 9 });
    await admin.close();
  });

  it('is shown as failed if a store has it, beside what works, and can be mended', async () => {
    const [clock, store] = [createVirtualClock(), createMemoryStore()];
    const services = [...wrong.services, { name: 'Two', router: 'rr' }];
    const observe = { onError: () => undefined };
    const snapshot = createSnapshot({ services });
    await (await openAdmin({ snapshot, gateway: anyPort, store, clock, observe })).close();
    const gateway = portOf({ clock });
    const admin = await openAdmin({ snapshot, gateway, store, clock, observe });
    await gateway.open(admin);
    expect(shown(admin)).toEqual(['failed', sentence]);
    expect(shown(admin, 'Two')).toEqual(['started', undefined]);
    const patch: Transition = (state, context) =>
      patchService(state, 'One', [{ op: 'remove', path: '/root_user' }], context);
    expect(await clock.waitFor(admin.execute(patch))).toMatchObject({ outcome: 'accepted' });
    await clock.advance(100);
    expect(shown(admin)).toEqual(['started', undefined]);
    await clock.waitFor(gateway[Symbol.asyncDispose]() as Promise<void>);
    await admin.close();
  });

  it('is not taken over from a document at the start', async () => {
    const store = createMemoryStore();
    const [errors, observe] = [
      [] as string[],
      { onError: (error: unknown) => void errors.push(String(error)) },
    ];
    await (
      await openAdmin({ snapshot: createSnapshot(document), gateway: portOf(), store, observe })
    ).close();
    for (const adopt of ['all', 'additions'] as const) {
      const services = [...wrong.services, { name: 'Two', router: 'rr', root_user: true }];
      const gateway = portOf();
      const admin = await openAdmin({
        snapshot: createSnapshot({ services }),
        gateway,
        store,
        adopt,
        observe,
      });
      expect(toDocument(admin.snapshot).services).toMatchObject(document.services ?? []);
      expect(admin.snapshot.services.size).toBe(1);
      expect(errors.join()).toContain(`The given document was not adopted. /services/`);
      await admin.close();
    }
  });

  it('is said beside the differences of a document, in place of the advice to adopt it', async () => {
    const [errors, store] = [[] as string[], createMemoryStore()];
    const observe = { onError: (error: unknown) => void errors.push(String(error)) };
    const first = { services: [{ name: 'One', router: 'rr', max_connection: 1 }] };
    for (const given of [document, first, wrong]) {
      const snapshot = createSnapshot(given);
      await (await openAdmin({ snapshot, gateway: portOf(), store, observe })).close();
    }
    expect(errors).toEqual([
      expect.stringContaining('To use the values of the document, execute adoptDocument'),
      expect.stringMatching(
        /\nThe gateway would refuse to adopt this document: \/services\/One: .*root_user.* Change the document\.$/,
      ),
    ]);
  });

  it('can be stopped and taken out, also if the gateway refuses a later part of the command', async () => {
    const [store, observe] = [createMemoryStore(), { onError: () => undefined }];
    const listeners = [{ name: 'main', protocol: 'pg', address: '::1', port: 1, ssl: 'required' }];
    const services = [
      ...wrong.services.map((each) => ({ ...each, listeners })),
      { name: 'Two', router: 'rr' },
    ];
    const snapshot = createSnapshot({ services });
    await (await openAdmin({ snapshot, gateway: anyPort, store, observe })).close();
    const started: string[] = [];
    const gateway = portOf({
      services: {
        ...used,
        apply(
          wanted: { readonly max_connection?: number; readonly state: string } | undefined,
          { key }: { readonly key: string },
        ) {
          if (wanted?.max_connection === 9) throw new EffectRefusedError('Not 9.');
          if (wanted?.state === 'started') started.push(key);
        },
      },
    });
    const admin = await openAdmin({ snapshot, gateway, store, observe });
    await gateway.open(admin);
    // The failure is another one, with another time.
    const definitions = () =>
      toDocument(admin.snapshot).services?.map(({ state_since: _since, ...rest }) => rest);
    const before = definitions();
    expect(before?.map(({ state }) => state)).toEqual(['failed', 'started']);
    const last: Transition = (state, context) =>
      patchService(state, 'Two', [{ op: 'add', path: '/max_connection', value: 9 }], context);
    const firsts: readonly Transition[] = [
      (state, context) => stopService(state, 'One', context),
      (state, context) => patchService(state, 'One', [{ op: 'remove', path: '/root_user' }], context),
      (state, context) => deleteListener(state, 'One', 'main', context),
      sequence(
        (state, context) => stopService(state, 'One', context),
        (state, context) => deleteResource(state, 'services', 'One', context),
      ),
    ];
    for (const first of firsts) {
      const execution = await admin.execute(sequence(first, last));
      expect(execution).toMatchObject({
        problem: { code: 'effect-refused', detail: expect.stringContaining('Not 9.') },
      });
      expect(definitions()).toEqual(before);
    }
    // Nor does the undo of a failed command start what the gateway cannot have.
    expect(new Set(started)).toEqual(new Set(['two']));
    await gateway[Symbol.asyncDispose]();
    await admin.close();
  });

  it.each([
    ['a promise', () => Promise.reject(new Error('late'))],
    ['a text', () => 'no'],
    ['null', () => null],
    ['an object', () => ({})],
  ])('is said at once, and with a problem: not with %s', (_what, veto) => {
    const gateway = { ...anyPort, veto: veto as unknown as Veto };
    expect(() => createAdmin({ snapshot: createSnapshot(document), gateway })).toThrow(
      'The veto of the gateway must answer undefined or a problem, and at once',
    );
  });

  it('is a field of a listener that is not listed', async () => {
    const listener = { name: 'main', protocol: 'pg', address: '::1', port: 5432, ssl: 'required' };
    const snapshot = createSnapshot({ services: [{ name: 'One', router: 'rr' }] });
    const ask = async (listenerFields: readonly string[], query: string) => {
      const gateway = portOf({ services: { ...used, listenerFields } });
      const admin = createAdmin({ snapshot, gateway });
      await gateway.open(admin);
      const handled = await admin.handle({
        method: 'POST',
        target: `/services/One/listeners${query}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(listener),
      });
      return handled.matched ? [handled.response.status, String(handled.response.body)] : [];
    };
    for (const query of ['', '?dry_run=true']) {
      const [status, body] = await ask([], query);
      const detail = 'This gateway does not use ssl of a listener. It uses name, protocol, address, port.';
      expect([status, JSON.parse(String(body))]).toMatchObject([
        422,
        { detail: `/services/One/listeners/main: ${detail}` },
      ]);
    }
    expect((await ask(['ssl'], ''))[0]).toBe(201);
    const snapshotWith = createSnapshot({ services: [{ name: 'One', router: 'rr', listeners: [listener] }] });
    expect(() => createAdmin({ snapshot: snapshotWith, gateway: portOf() })).toThrow('ssl of a listener');
    expect(() => portOf({ services: { ...used, listenerFields: ['tls'] } })).toThrow(
      'There is no field of listeners with the name "tls"',
    );
  });

  it('is a kind that is left out, and a flush without log files, in dry runs too', async () => {
    const gateway = portOf();
    const admin = createAdmin({ snapshot: createSnapshot(document), gateway });
    await gateway.open(admin);
    for (const query of ['', '?dry_run=true']) {
      const filter = { name: 'F', module: 'm' };
      const created = await admin.handle({
        method: 'POST',
        target: `/filters${query}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(filter),
      });
      expect(created.matched && [created.response.status, String(created.response.body)]).toEqual([
        422,
        expect.stringContaining('This gateway has no filters.'),
      ]);
      const target = `/gateway/logs/flush${query}`;
      const flushed = await admin.handle({ method: 'POST', target, headers: {} });
      expect(flushed.matched && [flushed.response.status, String(flushed.response.body)]).toEqual([
        422,
        expect.stringContaining('This gateway has no log files to flush.'),
      ]);
    }
    const flush = { type: 'logs.flush', resource: '/gateway/logs' } as const;
    expect(await gateway.inspect(flush, { commandId: 'x', signal: new AbortController().signal })).toBe(
      'not-in-place',
    );
  });
});

describe('a deletion', () => {
  const about = { id: 1, connected: 1000, user: 'ada', address: '10.0.0.9', service: 'One', state: 'open' };
  const connections = [{ id: 1, server: 'a', role: 'Backend', state: 'In use' }];
  const servers = [{ name: 'a', address: '10.0.0.1', port: 5432, protocol: 'pg' }];

  it.each([
    {
      type: 'service.delete',
      resource: '/services/One',
      service: 'one',
      from: { name: 'One', router: 'rr' },
    },
    { type: 'server.delete', resource: '/servers/a', server: 'a', from: { name: 'a', protocol: 'pg' } },
  ] as unknown as readonly Effect[])(
    'is refused if clients have come since the decision: %j',
    async (effect) => {
      const deleted: string[] = [];
      const calls = {
        apply: (wanted: unknown, { key }: { readonly key: string }) => {
          if (wanted === undefined) deleted.push(key);
        },
      };
      const gateway = createGatewayPort({
        services: { ...calls, fields: ['servers'], read: (_key, applied) => applied },
        servers: { ...calls, fields: ['address', 'port'], read: (_key, applied) => applied },
        sessionsEnd: true,
        closeSessions,
      });
      const services = [{ name: 'One', router: 'rr', servers: ['/servers/a'] }];
      const admin = createAdmin({ snapshot: createSnapshot({ servers, services }), gateway });
      await gateway.open(admin);
      gateway.report({ type: 'session.opened', ...about, connections });
      const context = { commandId: 'c-1', signal: new AbortController().signal };
      await expect(gateway.apply(effect, context)).rejects.toMatchObject({ code: 'effect-refused' });
      expect(deleted).toEqual([]);
      gateway.report({ type: 'session.closed', id: 1, connected: 1000 });
      await gateway.apply(effect, context);
      expect(deleted).toHaveLength(1);
    },
  );
});
