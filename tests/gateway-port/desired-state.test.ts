/**
 * The laws of a gateway of which each step can fail: what the port answers is so, and in the end the gateway is as the
 * interface shows it.
 */
import { describe, expect, it } from '@jest/globals';
import { createAdmin, createSnapshot, type Admin, type GatewayDocument } from 'gateway-admin-core';
import { createRandom, createVirtualClock, type Random, type VirtualClock } from 'gateway-admin-core/testing';

import { ToyGateway, type Fault } from './toy-gateway.ts';

const document: GatewayDocument = {
  format: 2,
  servers: [
    { name: 'a', address: '10.0.0.1', port: 5432, protocol: 'pg' },
    { name: 'b', address: '10.0.0.2', port: 5432, protocol: 'pg' },
  ],
  filters: [{ name: 'log', module: 'log', parameters: { match: { value: 'x', configurable: true } } }],
  monitors: [{ name: 'watch', module: 'pgmon', servers: ['/servers/a'] }],
  services: [
    {
      name: 'One',
      router: 'rr',
      servers: ['/servers/a'],
      filters: ['/filters/log'],
      listeners: [{ name: 'main', protocol: 'pg', address: '127.0.0.1', port: 4001 }],
    },
    { name: 'Two', router: 'rr', state: 'stopped', max_connection: 5 },
  ],
};

const faults = ['throws', 'refuses', 'hangs', 'ignores the signal', 'lies'] as const;

/** In place of the id of the newest entry of the history. */
const latest = 'latest';

/** What a client sends. Names come again, so that one command changes what another one has made. */
function commandOf({ admin, random }: World): Command {
  const unknown = admin.commands().find(({ outcome }) => outcome === 'unknown');
  if (unknown !== undefined && random.chance(0.2)) return ['DELETE', `/commands/${unknown.id}`];
  const service = random.pick(['One', 'Two', 'Three']);
  const limit = random.below(3);
  const listener = { name: random.pick(['main', 'other']), protocol: 'pg', address: '127.0.0.1', port: 4000 };
  return random.pick<Command>([
    ['PUT', `/service/${service}/start`],
    ['PUT', `/service/${service}/stop`],
    ['PATCH', `/services/${service}`, [{ op: 'add', path: '/max_connection', value: limit }]],
    ['PATCH', `/services/${service}`, [{ op: 'add', path: '/servers/-', value: '/servers/b' }]],
    ['PATCH', `/services/${service}`, [{ op: 'replace', path: '/servers', value: [] }]],
    ['PATCH', `/services/${service}`, [{ op: 'add', path: '/router_options', value: { n: String(limit) } }]],
    ['POST', '/services', { name: 'Three', router: 'rr', servers: ['/servers/b'], state: 'stopped' }],
    ['POST', '/services', { name: 'Three', router: 'rr', listeners: [listener] }],
    ['DELETE', `/services/${service}`],
    ['POST', `/services/${service}/listeners`, { ...listener, port: 4000 + limit }],
    ['DELETE', `/services/${service}/listeners/${listener.name}`],
    ['PATCH', '/servers/a', [{ op: 'add', path: '/state/-', value: 'maintenance' }]],
    ['PATCH', '/servers/a', [{ op: 'replace', path: '/port', value: 6000 + limit }]],
    ['PUT', '/monitor/watch/stop'],
    ['PUT', '/monitor/watch/start'],
    ['PATCH', '/filters/log', [{ op: 'replace', path: '/parameters/match/value', value: String(limit) }]],
    ['PUT', `/services/${service}/drain`],
    ['PUT', `/services/${service}/resume`],
    ['PUT', `/history/${latest}/undo`],
    ['POST', '/sequence', twoSteps(service, limit)],
  ]);
}

/** Method, target, and body as JSON. */
type Command = readonly [string, string, unknown?];

interface World {
  readonly admin: Admin;
  readonly gateway: ToyGateway;
  readonly clock: VirtualClock;
  readonly random: Random;
}

function openWorld(seed: number): World {
  const [random, clock] = [createRandom(seed), createVirtualClock()];
  const gateway = new ToyGateway(clock, createRandom(seed + 1));
  const admin = createAdmin({
    snapshot: createSnapshot(document),
    gateway: gateway.port,
    clock,
    observe: { onError: (error) => void gateway.errors.push(error) },
  });
  return { admin, gateway, clock, random };
}

/** A change of two resources, and a start of what it creates. */
function twoSteps(service: string, limit: number): object {
  const body = [{ op: 'add', path: '/max_connection', value: limit }];
  return {
    commands: [
      { method: 'POST', path: '/services', body: { name: 'Three', router: 'rr', state: 'stopped' } },
      { method: 'PATCH', path: `/services/${service}`, body },
      { method: 'PUT', path: '/services/Three/start' },
    ],
  };
}

async function send(world: World, [method, target, body]: Command) {
  const { admin, clock } = world;
  const id = target.includes(latest) ? await newestEntry(world) : '';
  const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
  const handled = admin.handle({
    method,
    target: target.replace(latest, id),
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await clock.waitFor(handled);
  return answer.matched ? answer.response : { status: 404, body: '' };
}

async function newestEntry(world: World): Promise<string> {
  const { body } = await send(world, ['GET', '/history?range=0-0']);
  const entries = Object.values(JSON.parse(String(body)) as object).find(Array.isArray);
  const [entry] = (entries ?? []) as readonly { readonly id: string }[];
  return entry?.id ?? 'none';
}

/** How the gateway is not as the interface shows it. What is being tried again is left out. */
function differences({ admin, gateway }: World): readonly string[] {
  const { services, servers, monitors, filters } = admin.snapshot;
  const shown = new Map<string, object>([
    ...[...services].map(
      ({ key, state, settings, listeners }) =>
        [
          `service ${key}`,
          {
            state,
            max: settings.max_connection ?? 0,
            servers: settings.servers.map((link) => link.slice('/servers/'.length)),
            options: settings.router_options,
            listeners: placesOf(listeners),
          },
        ] as const,
    ),
    ...[...servers].map(
      ({ key, settings: { port, state } }) =>
        [`server ${key}`, { port, maintenance: state.includes('maintenance') }] as const,
    ),
    ...[...monitors].map(({ key, state }) => [`monitor ${key}`, { state }] as const),
    ...[...filters].map(({ key, settings }) => [`filter ${key}`, settings] as const),
  ]);
  const has = new Map(
    [...gateway.things].map(([place, thing]): readonly [string, object] => {
      const { state, port, maintenance, parameters } = thing;
      if (place.startsWith('server ')) return [place, { port, maintenance }];
      if (place.startsWith('monitor ')) return [place, { state }];
      if (place.startsWith('filter ')) return [place, { parameters }];
      const listeners = (thing['listeners'] ?? []) as readonly {
        readonly name: string;
        readonly port: number;
      }[];
      return [
        place,
        {
          state,
          max: thing['max_connection'] ?? 0,
          servers: thing['servers'],
          options: thing['router_options'],
          listeners: placesOf(listeners),
        },
      ];
    }),
  );
  const textOf = (thing: unknown): string => JSON.stringify(thing) ?? 'none';
  return [...new Set([...shown.keys(), ...has.keys()])].flatMap((place) => {
    const [one, other] = [textOf(shown.get(place)), textOf(has.get(place))];
    return one === other ? [] : [`${place}: shown ${one}, there ${other}`];
  });
}

/** The order of listeners is no content. */
function placesOf(
  listeners: readonly { readonly name: string; readonly port?: number }[],
): readonly string[] {
  return listeners.map(({ name, port = 0 }) => `${name} ${String(port)}`).toSorted();
}

function statesOf({ admin }: World): readonly string[] {
  return [...admin.snapshot.services, ...admin.snapshot.monitors].flatMap(({ name, seen }) =>
    seen.state === undefined ? [] : [`${name} is ${seen.state}`],
  );
}

/** To look at more: PORT_WORLDS=20000 PORT_FIRST=301 npx jest tests/gateway-port/desired-state */
const { PORT_WORLDS = '200', PORT_FIRST = '1' } = process.env;
const seeds = Array.from({ length: Number(PORT_WORLDS) }, (_, nth) => nth + Number(PORT_FIRST));

describe('a gateway without faults', () => {
  it.each(seeds.slice(0, 20))('is as the interface shows it after each command (seed %i)', async (seed) => {
    const world = openWorld(seed);
    await world.clock.waitFor(world.gateway.port.open(world.admin));
    expect(differences(world)).toEqual([]);
    for (let nth = 0; nth < 15; nth += 1) {
      const command = commandOf(world);
      const { status, body } = await send(world, command);
      expect([command, differences(world), status < 500 ? '' : body]).toEqual([command, [], '']);
    }
    expect(world.gateway.errors).toEqual([]);
    expect(world.gateway.faults).toEqual([]);
  });
});

describe('a gateway of which each step can fail', () => {
  it.each(seeds)('comes to what the interface shows (seed %i)', async (seed) => {
    const world = openWorld(seed);
    const { admin, gateway, clock, random } = world;
    const [share, kinds] = [random.pick([0.02, 0.1, 0.3]), faults.filter(() => random.chance(0.5))];
    let isBad = true;
    gateway.goesWrong = (): Fault | undefined =>
      kinds.length === 0 || !isBad || !random.chance(share) ? undefined : random.pick(kinds);
    const opening = gateway.port.open(admin);
    // Commands can come while the port opens.
    if (random.chance(0.5)) await clock.waitFor(opening);
    for (let nth = 0; nth < 15; nth += 1) {
      const command = commandOf(world);
      const before = differences(world);
      const { status } = await send(world, command);
      // Who was told that something was done can rely on it, unless something was wrong before.
      const isKnown = admin.commands().length === 0 && before.length === 0 && statesOf(world).length === 0;
      if (status >= 200 && status < 300 && isKnown)
        expect([command, differences(world)]).toEqual([command, []]);
      if (random.chance(0.3)) await clock.advance(random.below(20_000));
    }
    isBad = false;
    await clock.advance(3_600_000);
    await opening;
    expect([differences(world), statesOf(world), gateway.faults]).toEqual([[], [], []]);
    await clock.waitFor(admin.close());
  });
});
