/**
 * What a route sees besides the snapshot, without an interface that runs.
 */
import {
  startMonitor,
  stopMonitor,
  type CommandInFlight,
  type Context,
  type InterfaceRepresentation,
} from 'gateway-admin-core';
import type { FleetNode } from 'gateway-admin-core/fleet';
import { createVirtualClock } from 'gateway-admin-core/testing';

import { sampleSnapshot, sampleZone } from './document.ts';
import { createHistory, createTimeFormat, History, type BoundResourceRoute } from './internal.ts';

/** What a route sees besides the snapshot. */
export type Surroundings = Parameters<Extract<BoundResourceRoute, { readonly kind: 'item' }>['read']>[2];

const sampleState: InterfaceRepresentation = {
  ready: true,
  read_only: false,
  unknown_outcomes: 0,
  time_zone: sampleZone,
  version: '1.2.3',
  links: { services: '/services' },
};

/**
 * The surroundings of an interface with these commands. Nothing is abandoned or forgotten, and no mode changes, except
 * in name.
 */
function surroundingsWith(
  store: InterfaceRepresentation['store'],
  ...commands: readonly CommandInFlight[]
): Surroundings {
  const state = {
    ...sampleState,
    ...(store === undefined
      ? {}
      : { store, name: 'eu-1', environment: 'test', read_only: true, read_only_by: 'ada' }),
    unknown_outcomes: commands.length,
  };
  const history = sampleHistory();
  return {
    times: createTimeFormat(sampleZone),
    now: () => Date.parse('2016-09-10T00:00:00Z'),
    ...(store === undefined ? {} : { caller: () => ({ user: 'ada', role: 'administrator' }) }),
    self: {
      state: () => state,
      begun: 0,
      outages: () => ({}),
      deadlineFailures: () => [],
      watchedSince: () => undefined,
      setReadOnly: () => Promise.resolve({ outcome: 'accepted' }),
    },
    commands: { list: () => commands, abandon: () => Promise.resolve({ outcome: 'accepted' }) },
    history: createHistory({
      entries: history.entries,
      configuration: () => history.snapshot,
      snapshot: () => history.snapshot,
      refuse: () => undefined,
      clock: createVirtualClock(0),
      follow: undefined,
    }),
    fleet: {
      nodes: () => nodes,
      clocks: () => [],
      hintFailure: () => undefined,
      announcementFailure: () => undefined,
      retry: () => undefined,
      standingOf: (name) => (name === ownNode.node ? 'own' : undefined),
      forget: () => Promise.resolve({ outcome: 'accepted' }),
    },
  };
}

/** The history of a command and its undo, and of two later commands; the caller of the first of these is not known. */
function sampleHistory(): History {
  const history = new History(sampleSnapshot());
  const now = Date.parse('2016-09-10T00:00:00Z');
  const steps: readonly (readonly [string, typeof startMonitor, string, Partial<Context>])[] = [
    ['first', stopMonitor, 'Main Monitor', { actor: 'ada' }],
    ['undo', startMonitor, 'Main Monitor', { actor: 'ada', undoes: 'first' }],
    ['sample', startMonitor, 'Idle Monitor', {}],
    ['sample-1', stopMonitor, 'Main Monitor', { actor: 'ada' }],
  ];
  for (const [command, transition, name, context] of steps) {
    const decision = transition(history.snapshot, name, { now, ...context });
    if (decision.outcome !== 'accepted') throw new Error(`Nothing changes ${name}`);
    const { events } = decision;
    history.take({ type: 'settlement', command, revision: 7, events, last: true });
  }
  return history;
}

const ownNode = {
  node: 'berlin',
  version: '1.2.3',
  alive: true,
  seen: 0,
  position: '2.5f0c8e21a9b3',
  applied: '2.5f0c8e21a9b3',
  behind: [],
  drains: [],
  differs: false,
};

/** Two nodes, of which the second could not follow. */
const nodes: readonly FleetNode[] = [
  ownNode,
  {
    ...ownNode,
    node: 'paris',
    seen: 1,
    applied: '1.5f0c8e21a9b3',
    behind: [
      {
        resource: '/services/My-Service',
        since: Date.parse('2016-09-10T00:00:00Z'),
        code: 'effect-refused',
        detail: 'The gateway refused: The port is taken. Nothing was changed.',
      },
    ],
    drains: ['/servers/Spare-DB', '/services/Spare-Service'].map((resource) => ({
      ...{ resource, sessions: 0, connections: 0 },
      state: 'drained',
    })),
  },
];

function commandOn(resource: string): CommandInFlight {
  const since = Date.parse('2016-09-10T00:00:00Z');
  return {
    id: 'sample-1',
    type: 'service.stopped',
    resource,
    resources: [resource],
    since,
    outcome: 'unknown',
  };
}

/** The surroundings of an interface without a store and without a log-in, in which no command is in flight. */
export const surroundings = surroundingsWith(undefined);

/**
 * The surroundings of a named interface with a store, a log-in and two commands in flight; the caller of the second is
 * not known.
 */
export const busySurroundings = surroundingsWith(
  'ok',
  {
    ...commandOn('/services/New-Service'),
    type: 'service.created',
    resources: ['/services', '/services/New-Service'],
    actor: 'ada',
    progress: { done: 0, of: 2 },
  },
  { ...commandOn('/services/Bare-Service'), id: 'sample-2' },
);
