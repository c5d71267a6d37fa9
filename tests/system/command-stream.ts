/**
 * Clients that change a gateway over HTTP without a pause, until it is gone.
 */
import { createPbkdf2Hasher, type GatewayDocument } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { RunningGateway } from './running-gateway.ts';
import type { Fields, Told } from './told.ts';

/** What the clients of a stream need. */
export interface Stream {
  readonly gateway: RunningGateway;
  readonly random: Random;
  readonly told: Told;
}

interface Command {
  readonly method: string;
  readonly target: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is so once it is done. */
  readonly changes: Fields;
}

/** Makes one command after the other. No two get the same number. */
type Client = (random: Random, number: number) => Command;

type ServiceDocument = NonNullable<GatewayDocument['services']>[number];

const services = ['First', 'Second', 'Third'];
const servers = ['one', 'two'];
const monitors = ['Watch', 'Probe'];
const users = ['ada', 'grace', 'joan'];

/** The password of every user. */
const password = 'correct horse';

/** The headers with which the clients log in: as a user whom nobody deletes. */
export const logIn = { authorization: `Basic ${btoa(`keeper:${password}`)}` };

/**
 * A gateway that has what the clients change, with all servers at one port. Nobody changes the monitor `Always` and the
 * user `keeper`.
 */
export async function documentOn(port: number): Promise<GatewayDocument> {
  const place = { address: '127.0.0.1', protocol: 'postgresql' };
  const links = servers.map((name) => `/servers/${name}`);
  const serviceOf = (name: string): ServiceDocument => ({
    ...{ name, router: 'readconnroute', servers: links },
    listeners: [{ name: 'Clients', ...place, port: 0 }],
  });
  const passwordHash = await createPbkdf2Hasher({ rounds: 1 }).hash(password);
  return {
    users: [{ name: 'keeper', password: { sealed: passwordHash } }],
    servers: servers.map((name) => ({ name, ...place, port })),
    services: services.map(serviceOf),
    monitors: [...monitors, 'Always'].map((name) => ({ name, module: 'tcpmon', servers: links })),
  };
}

/** Those who change settings, each those of one resource, and those who start and stop things. */
export const operators: readonly Client[] = [
  ...services.flatMap((name) => [
    patching(`/services/${name}`, ['max_connection', 'connection_timeout']),
    switching('service', name),
  ]),
  ...servers.map((name) => patching(`/servers/${name}`, ['parameters/weight'])),
  ...monitors.flatMap((name) => [
    patching(`/monitors/${name}`, ['monitor_interval']),
    switching('monitor', name),
  ]),
];

/** Those who create and delete users, each of them one. */
export const registrars: readonly Client[] = users.map((name) => (random) => {
  if (random.chance(0.4))
    return { method: 'DELETE', target: `/users/${name}`, changes: { [name]: undefined } };
  const headers = { 'content-type': 'application/json' };
  const create = { method: 'PUT', target: '/users', body: { name, password }, headers };
  return { ...create, changes: { [name]: 'exists' } };
});

/** Lets each client send its commands, the next one when it has an answer, until there is none any more. */
export async function sendUntilGone(stream: Stream, clients: readonly Client[]): Promise<void> {
  const { gateway, random, told } = stream;
  let number = told.figures.acknowledged + 1000;
  const send = async ({ changes, method, target, body, headers }: Command): Promise<boolean> =>
    told.tell(
      changes,
      async () => (await gateway.ask(method, target, body, { ...headers, ...logIn })).status,
    );
  const working = clients.map(async (client) => {
    while (await send(client(random, (number += 1))));
  });
  await Promise.all(working);
}

/** Everything that the clients change, as the gateway shows it. */
export async function shownBy(gateway: RunningGateway): Promise<Fields> {
  const fieldsAt = async (target: string, fieldsOf: (item: Shown) => Fields): Promise<Fields[]> => {
    const { status, body } = await gateway.ask('GET', target, undefined, logIn);
    if (status !== 200) throw new Error(`GET ${target} was answered with ${String(status)}`);
    return (body as readonly Shown[]).map(fieldsOf);
  };
  const parts = await Promise.all([
    fieldsAt('/services', ({ name, state, max_connection, connection_timeout }) =>
      named(`/services/${name}`, { state: commanded(state), max_connection, connection_timeout }),
    ),
    fieldsAt('/servers', ({ name, parameters }) =>
      named(`/servers/${name}`, { 'parameters/weight': parameters?.['weight'] }),
    ),
    fieldsAt('/monitors', ({ name, state, monitor_interval }) =>
      named(`/monitors/${name}`, { state, monitor_interval }),
    ),
    fieldsAt('/users', ({ name }) => ({ [name]: 'exists' })),
  ]);
  return Object.assign({}, ...parts.flat()) as Fields;
}

/** What of a representation matters here. */
interface Shown {
  readonly name: string;
  readonly state?: string;
  readonly max_connection?: number;
  readonly connection_timeout?: number;
  readonly monitor_interval?: number;
  readonly parameters?: Readonly<Record<string, number>>;
}

/** A service whose port somebody else has by now has failed. It was started all the same. */
function commanded(state: string | undefined): string | undefined {
  return state === 'failed' ? 'started' : state;
}

function named(target: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${target} ${field}`, value]));
}

/** Sets fields to the same new number at once; now and then with a part or a condition that has it all refused. */
function patching(target: string, fields: readonly string[]): Client {
  return (random, number) => {
    const set = fields.map((field) => ({ op: 'add', path: `/${field}`, value: number }));
    const command = { method: 'PATCH', target, body: set, changes: {} };
    const failing = { op: 'test', path: `/${fields[0] ?? ''}`, value: -1 };
    return random.pick<() => Command>([
      () => ({ ...command, body: [...set, failing] }),
      () => ({ ...command, body: [...set, { op: 'add', path: '/unheard_of', value: 1 }] }),
      () => ({ ...command, headers: { 'if-match': '"another.0-0"' } }),
      ...Array.from({ length: 9 }, () => () => ({
        ...command,
        changes: named(target, Object.fromEntries(fields.map((field) => [field, number]))),
      })),
    ])();
  };
}

function switching(kind: 'service' | 'monitor', name: string): Client {
  return (random) => {
    const [command, state] = random.pick([['start', 'started'] as const, ['stop', 'stopped'] as const]);
    return {
      method: 'PUT',
      target: `/${kind}/${name}/${command}`,
      changes: { [`/${kind}s/${name} state`]: state },
    };
  };
}
