/**
 * What clients of a fleet ask for besides the commands of every simulation: commands that rest on what a node has
 * shown. Each is a transition and a request with the same meaning.
 */
import {
  changePassword,
  deleteUser,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminRequest,
  type Decision,
  type Json,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { FleetCommand } from './answer.ts';

/** A resource that clients patch. */
interface Patchable {
  readonly link: string;
  readonly patch: (...given: Parameters<typeof patchService>) => Decision;
  /** A place that is always there. */
  readonly path: string;
  readonly shownAt: (snapshot: Snapshot) => Json | undefined;
  /** A value that differs from number to number. */
  readonly valueOf: (number: number) => Json;
  /** A place that may be missing. */
  readonly optional: string;
  readonly addedOf?: (number: number) => Json;
}

const plain = (number: number): Json => number;
const port = (number: number): Json => 1 + (number % 65_535);

const patchables: readonly Patchable[] = [
  ...['Sales', 'Reports'].map((name) => ({
    link: `/services/${name}`,
    patch: patchService,
    path: '/max_connection',
    shownAt: ({ services }: Snapshot) => services.find(name)?.settings.max_connection,
    valueOf: plain,
    optional: '/connection_timeout',
  })),
  ...['db-1', 'db-2'].map((name) => ({
    link: `/servers/${name}`,
    patch: patchServer,
    path: '/port',
    shownAt: ({ servers }: Snapshot) => servers.find(name)?.settings.port,
    valueOf: port,
    optional: '/parameters/weight',
  })),
  ...['Watch', 'Probe'].map((name) => ({
    link: `/monitors/${name}`,
    patch: patchMonitor,
    path: '/monitor_interval',
    shownAt: ({ monitors }: Snapshot) => monitors.find(name)?.settings.monitor_interval,
    valueOf: plain,
    optional: '/servers/0',
    addedOf: () => '/servers/db-1',
  })),
  {
    link: '/filters/Hint',
    patch: patchFilter,
    path: '/parameters/match/value',
    shownAt: ({ filters }: Snapshot) => filters.find('Hint')?.settings.parameters['match']?.value,
    valueOf: String,
    optional: '/parameters/extra',
    addedOf: (number: number) => ({ value: String(number), configurable: true }),
  },
];

function patchCommand(random: Random, number: number, shown: Snapshot): FleetCommand {
  const { link, patch, path, shownAt, valueOf, optional, addedOf = plain } = random.pick(patchables);
  const [seen = 0, value] = [shownAt(shown), valueOf(number)];
  const given: readonly (readonly [what: string, operations: readonly Operation[]])[] = [
    [
      'carefully',
      [
        { op: 'test', path, value: seen },
        { op: 'replace', path, value },
      ],
    ],
    ['to what is shown', [{ op: 'replace', path, value: seen }]],
    ['out', [{ op: 'remove', path: optional }]],
    ['in', [{ op: 'add', path: optional, value: addedOf(number) }]],
  ];
  const [what, operations] = random.pick(given);
  const name = link.split('/')[2] ?? '';
  return {
    kind: `${patch.name} ${what}`,
    step: (snapshot, context) => patch(snapshot, name, operations, context),
    changes: [{ [`${name.toLowerCase()} ${path}`]: '' }],
    request: {
      method: 'PATCH',
      target: link,
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify(operations),
    },
  };
}

/** Starts what a node shows as stopped, and stops everything else. */
function turnCommand(random: Random, _number: number, shown: Snapshot): FleetCommand {
  const kind = random.pick(['services', 'monitors'] as const);
  const name = random.pick(kind === 'services' ? ['Sales', 'Reports'] : ['Watch', 'Probe']);
  const isStopped = shown[kind].find(name)?.state === 'stopped';
  const start = kind === 'services' ? startService : startMonitor;
  const stop = kind === 'services' ? stopService : stopMonitor;
  const turn = isStopped ? start : stop;
  return {
    kind: turn.name,
    step: (snapshot, context) => turn(snapshot, name, context),
    changes: [{ [`${name.toLowerCase()} state`]: '' }],
    request: requestFor('PUT', `/${kind}/${name}/${isStopped ? 'start' : 'stop'}`),
  };
}

function userCommand(random: Random, number: number, shown: Snapshot): FleetCommand {
  const others = [...shown.users].map(({ name }) => name).filter((name) => name !== 'root');
  const name = others.length === 0 ? 'ada' : random.pick(others);
  const changes = [{ [`${name} password`]: '' }];
  if (random.chance(0.3)) {
    const passwordHash = `hash ${String(number)}`;
    const step: FleetCommand['step'] = (snapshot, context) =>
      changePassword(snapshot, name, { sealed: passwordHash }, context);
    return { kind: 'changePassword', step, changes };
  }
  return {
    kind: 'deleteUser',
    step: (snapshot, context) => deleteUser(snapshot, name, context),
    changes,
    request: requestFor('DELETE', `/users/${name}`),
  };
}

function requestFor(method: string, target: string): AdminRequest {
  return { method, target, headers: {} };
}

/**
 * A command that rests on what a node has shown.
 *
 * @param number - differs from command to command
 */
export function restingCommand(random: Random, number: number, shown: Snapshot): FleetCommand {
  return random.pick([patchCommand, patchCommand, turnCommand, userCommand])(random, number, shown);
}
