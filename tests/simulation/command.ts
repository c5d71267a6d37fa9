/**
 * What clients ask for: every kind of command, with what it changes when it happens.
 */
import {
  changePassword,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  closeSessions,
  createUser,
  deleteUser,
  flushLogs,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminEvent,
  type Effect,
  type Transition,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { wholeOf } from '../support/closing.ts';
import type { Change } from './model.ts';
import { shown } from '../support/shown.ts';

/** What a client asks for. */
export interface ClientCommand {
  readonly kind: string;
  readonly step: Transition;
  /** What is so once it has happened, step by step. */
  readonly changes: readonly Change[];
}

const serviceNames = ['Sales', 'Reports'];
const monitorNames = ['Watch', 'Probe'];
const serverNames = ['db-1', 'db-2'];
const userNames = ['ada', 'grace'];
const filterName = 'Hint';

const changeState = {
  service: { start: startService, stop: stopService },
  monitor: { start: startMonitor, stop: stopMonitor },
};

function stateCommand(random: Random): ClientCommand {
  const what = random.pick(['service', 'monitor'] as const);
  const how = random.pick(['start', 'stop'] as const);
  const name = random.pick(what === 'service' ? serviceNames : monitorNames);
  const state = how === 'start' ? 'started' : 'stopped';
  return {
    kind: `${what}.${how}`,
    step: (snapshot, context) => changeState[what][how](snapshot, name, context),
    changes: [{ [`${name.toLowerCase()} state`]: state }],
  };
}

const patches = [
  [serviceNames, (name, number) => patching(patchService, name, 'max_connection', number)],
  [serverNames, (name, number) => patching(patchServer, name, 'port', 1 + (number % 65_535))],
  [monitorNames, (name, number) => patching(patchMonitor, name, 'monitor_interval', number)],
  [
    [filterName],
    (name, number) => patching(patchFilter, name, 'match', String(number), '/parameters/match/value'),
  ],
] as const satisfies readonly (readonly [
  readonly string[],
  (name: string, number: number) => ClientCommand,
])[];

/** A patch with a number that no other command has, so that a trace of it can be told. */
function patchCommand(random: Random, number: number): ClientCommand {
  const [names, patch] = random.pick(patches);
  return patch(names.length === 1 ? filterName : random.pick(names), number);
}

/** The patch of a service, server, monitor or filter. */
export function patchOf(name: string, number: number): ClientCommand {
  const [, patch] = patches.find(([names]) => (names as readonly string[]).includes(name)) ?? patches[0];
  return patch(name, number);
}

/** A sequence that repeats a command and then does more; `undefined` if nothing can follow the command. */
export function sequenceAfter(
  random: Random,
  first: ClientCommand,
  number: number,
): ClientCommand | undefined {
  if (/close|flush|DELETE /.test(first.kind)) return undefined;
  return inSequence([first, random.pick([stateCommand, patchCommand])(random, number)]);
}

function patching(
  patch: typeof patchService | typeof patchServer | typeof patchMonitor | typeof patchFilter,
  name: string,
  field: string,
  value: number | string,
  path = `/${field}`,
): ClientCommand {
  return {
    kind: `${patch.name} ${field}`,
    step: (snapshot, context) => patch(snapshot, name, [{ op: 'replace', path, value }], context),
    changes: [{ [`${name.toLowerCase()} ${field}`]: value }],
  };
}

function userCommand(random: Random, number: number): ClientCommand {
  const name = random.pick(userNames);
  const passwordHash = `hash ${String(number)}`;
  const steps: readonly [string, Transition, string | undefined][] = [
    [
      'user.create',
      (snapshot, context) => createUser(snapshot, { name, password: { sealed: passwordHash } }, context),
      passwordHash,
    ],
    [
      'user.patch',
      (snapshot, context) => changePassword(snapshot, name, { sealed: passwordHash }, context),
      passwordHash,
    ],
    ['user.delete', (snapshot, context) => deleteUser(snapshot, name, context), undefined],
  ];
  const [kind, step, password] = random.pick(steps);
  return { kind, step, changes: [{ [`${name} password`]: password }] };
}

function irreversibleCommand(random: Random): ClientCommand {
  const service = random.pick(serviceNames);
  const server = random.pick(serverNames);
  const id = random.below(10);
  const steps: readonly [string, Transition][] = [
    ['logs.flush', (snapshot, context) => flushLogs(snapshot, context)],
    ['service.close', (snapshot, context) => closeServiceSessions(snapshot, service, context)],
    ['server.close', (snapshot, context) => closeServerConnections(snapshot, server, context)],
    ['session.close', (snapshot, context) => closeSession(snapshot, id, context)],
    [
      'sessions.close',
      (snapshot, context) => closeSessions(snapshot, { user: 'somebody', service }, context),
    ],
    ['all.close', (snapshot, context) => closeSessions(snapshot, { all: true }, context)],
  ];
  const [kind, step] = random.pick(steps);
  if (random.chance(0.5)) return { kind, step, changes: [] };
  return { kind: `${kind} in parts`, step: inParts(step), changes: [] };
}

/** The same teardown with a part for each session and each connection: a teardown of thousands has as many parts. */
function inParts(teardown: Transition): Transition {
  return (snapshot, context) => {
    const decision = teardown(snapshot, context);
    if (decision.outcome !== 'accepted') return decision;
    const { next, closing: _closing, ...rest } = { ...decision, next: decision.next };
    const { events, effects } = wholeOf(decision, snapshot, context);
    return { ...rest, next, events: events.flatMap(oneByOne), effects: effects.flatMap(oneByOne) };
  };
}

/** An event or effect for each session or connection of one that closes several. */
function oneByOne<T extends AdminEvent | Effect>(several: T): readonly T[] {
  if ('sessions' in several) return several.sessions.map((each) => ({ ...several, sessions: [each] }));
  if ('connections' in several)
    return several.connections.map((each) => ({ ...several, connections: [each] }));
  return [several];
}

/** Several as one: all or nothing, what cannot be taken back last. */
function transaction(random: Random, number: number): ClientCommand {
  const parts = Array.from({ length: 2 + random.below(4) }, (_, part) =>
    random.pick([stateCommand, patchCommand])(random, number + part * 100_000),
  );
  if (random.chance(0.3)) parts.push(userCommand(random, number));
  if (random.chance(0.5)) parts.push(irreversibleCommand(random));
  return inSequence(parts);
}

/** Several commands as one. */
export function inSequence(parts: readonly ClientCommand[]): ClientCommand {
  return {
    kind: `(${parts.map(({ kind }) => kind).join(', ')})`,
    step: sequence(...parts.map(({ step }) => step)),
    changes: parts.flatMap(({ changes }) => changes),
  };
}

/** The administrator takes a server out of service, or back. The other words of the status are as they were found. */
export function maintenanceCommand(random: Random): ClientCommand {
  const name = random.pick(serverNames);
  const isOut = random.chance(0.5);
  return {
    kind: `patchServer state ${String(isOut)}`,
    step(snapshot, context) {
      const words = shown(snapshot.servers.find(name))?.settings.state ?? [];
      const found = words.filter((word) => word !== 'maintenance');
      const value = isOut ? ['maintenance', ...found] : found;
      return patchServer(snapshot, name, [{ op: 'replace', path: '/state', value }], context);
    },
    changes: [{ [`${name} maintenance`]: isOut }],
  };
}

/** @param number - differs from command to command */
export function anyCommand(random: Random, number: number): ClientCommand {
  const makers = [
    stateCommand,
    stateCommand,
    patchCommand,
    patchCommand,
    userCommand,
    irreversibleCommand,
    transaction,
  ];
  return random.pick(makers)(random, number);
}
