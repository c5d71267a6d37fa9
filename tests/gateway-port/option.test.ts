/**
 * What `createGatewayPort` refuses, and what it does at its beginning and end.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createAdmin,
  createSnapshot,
  type Admin,
  type Effect,
  type GatewayDocument,
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

function opened(refuse: (wanted: { readonly max_connection?: number }) => unknown): Opened {
  const gateway = createGatewayPort({
    services: {
      fields: ['max_connection'],
      apply: () => undefined,
      read: (_key, applied) => applied,
      refuse: refuse as () => undefined,
    },
    closeSessions,
  });
  const observe = { onError: () => undefined };
  return { gateway, admin: createAdmin({ snapshot: createSnapshot(document), gateway, observe }) };
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

  it('is not opened on what the gateway does not use', async () => {
    const gateway = createGatewayPort({ services: kind, closeSessions });
    const admin = createAdmin({ snapshot: createSnapshot(document), gateway });
    await expect(gateway.open(admin)).rejects.toThrow(
      'The service "One": This gateway does not use max_connection of a service. It uses nothing.',
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
