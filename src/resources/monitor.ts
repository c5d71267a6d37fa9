/**
 * Monitors: what watches the servers.
 *
 * The chapter "Monitor" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { initialVersion } from '../core/version.ts';
import type { Entity } from '../core/collection.ts';
import type {
  Context,
  DecisionOf,
  EffectOf,
  EffectTable,
  EventOf,
  EventRow,
  EventTable,
} from '../core/decision.ts';
import type { DocumentPart } from '../core/field.ts';
import { defineLifecycle } from '../core/lifecycle.ts';
import { nameKey } from '../core/name.ts';
import type { ReportTable } from '../core/report.ts';
import type { Operation } from '../json/patch.ts';
import { definePatchView } from '../core/patch-view.ts';
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import { invertUpdate, mergeUpdate, type ReversibleUpdate, type Update } from '../core/update.ts';
import type { Rendering } from './shared/rendering.ts';
import { patchRoute, readRoutes, lifecycleRoutes } from './shared/route.ts';
import { linkOf, replaceSettings, revise, type Snapshot } from '../snapshot/snapshot.ts';
import {
  decideLifecycle,
  patchAsGiven,
  revertUpdate,
  type Patchable,
  type Startable,
} from './shared/transition.ts';

/**
 * The states of a monitor. `failed` is only ever reported by the host.
 *
 * @public
 */
export type MonitorState = 'started' | 'stopped' | 'failed';

/**
 * What can be modified in a monitor.
 *
 * @public
 */
export interface MonitorSettings {
  /** Links of the servers that are monitored. */
  readonly servers: readonly string[];
  /** Time between two probes, in milliseconds: 1 to 2147483647. */
  readonly monitor_interval: number;
  /** Time limit for connecting, in seconds; 0 for no limit. */
  readonly connect_timeout: number;
  /** Time limit for reading, in seconds; 0 for no limit. */
  readonly read_timeout: number;
  /** Time limit for writing, in seconds; 0 for no limit. */
  readonly write_timeout: number;
}

/**
 * A monitor as the snapshot keeps it.
 *
 * @public
 */
export interface Monitor extends Entity {
  /** Name of the monitor module. */
  readonly module: string;
  /** Whether it is started. */
  readonly state: MonitorState;
  /** What can be modified. */
  readonly settings: MonitorSettings;
}

/**
 * A monitor as clients see it.
 *
 * @public
 */
export interface MonitorRepresentation extends MonitorSettings {
  /** Name of the monitor. */
  readonly name: string;
  /** Name of the monitor module. */
  readonly module: string;
  /** Whether it is started. */
  readonly state: MonitorState;
}

/**
 * What every event and effect about a monitor has.
 *
 * @public
 */
export interface OfMonitor {
  /** Key of the monitor; see {@link nameKey}. */
  readonly monitor: string;
}

/**
 * What can happen to a monitor. `monitor.failed` is only reported by the host.
 *
 * @public
 */
export type MonitorEvent = OfMonitor &
  (
    | EventOf<'monitor.started' | 'monitor.stopped' | 'monitor.failed'>
    | (EventOf<'monitor.updated'> & ReversibleUpdate<MonitorSettings>)
  );

/**
 * What the host reports of a monitor: that it failed.
 *
 * @public
 */
export interface MonitorReport {
  /** Says what kind of report it is. */
  readonly type: 'monitor.failed';
  /** Name of the monitor. */
  readonly monitor: string;
}

/**
 * What the host is asked to do with a monitor: start its probes, stop them, change its settings.
 *
 * @public
 */
export type MonitorEffect = OfMonitor &
  (EffectOf<'monitor.start' | 'monitor.stop'> | (EffectOf<'monitor.update'> & Update<MonitorSettings>));

/**
 * The answer of a transition of monitors.
 *
 * @public
 */
export type MonitorDecision = DecisionOf<Snapshot, MonitorEvent, MonitorEffect>;

/**
 * The lifecycle of a monitor: from each state, where each command leads.
 *
 * @public
 */
export const monitorLifecycle = defineLifecycle<MonitorState, 'start' | 'stop'>({
  started: { start: 'started', stop: 'stopped' },
  stopped: { start: 'started', stop: 'stopped' },
  failed: { start: 'started', stop: 'failed' },
});

const settings = {
  servers: shape.links,
  monitor_interval: z.int().check(z.minimum(1), z.maximum(2_147_483_647)),
  connect_timeout: shape.unlimited,
  read_timeout: shape.unlimited,
  write_timeout: shape.unlimited,
};

const state = z.enum(['started', 'stopped', 'failed']);

const representationShape = z.strictObject({
  name: z.string(),
  module: z.string(),
  state,
  ...settings,
}) satisfies z.core.$ZodType<MonitorRepresentation>;

const documentShape = z.strictObject({
  name: shape.name,
  module: shape.text(255),
  state: z.exactOptional(state),
  servers: z.exactOptional(settings.servers),
  monitor_interval: z.exactOptional(settings.monitor_interval),
  connect_timeout: z.exactOptional(shape.unlimited),
  read_timeout: z.exactOptional(shape.unlimited),
  write_timeout: z.exactOptional(shape.unlimited),
});

/** What a document may leave out: a probe every two seconds, three seconds to connect. */
const defaults: MonitorSettings = {
  servers: [],
  monitor_interval: 2000,
  connect_timeout: 3,
  read_timeout: 1,
  write_timeout: 2,
};

/** How monitors stand in a gateway document. @internal */
export const monitorDocument: DocumentPart<Monitor, z.infer<typeof documentShape>> = {
  shape: documentShape,
  links: { servers: 'servers' },
  load: ({ name, module, state = 'started', ...rest }) => ({
    name,
    key: nameKey(name),
    version: initialVersion,
    module,
    state,
    settings: { ...defaults, ...rest },
  }),
  save: ({ name, module, state, settings }) => ({ name, module, state, ...settings }),
};

/** The representation of a monitor. */
function toMonitorRepresentation({ name, module, state, settings }: Monitor): MonitorRepresentation {
  return { name, module, state, ...settings };
}

function becomes(state: MonitorState): EventRow<Snapshot, OfMonitor>['evolve'] {
  return (snapshot, { monitor }, change) =>
    revise(snapshot, 'monitors', monitor, change, (draft) => {
      draft.state = state;
    });
}

/** @internal */
export const monitorEvents: EventTable<Snapshot, MonitorEvent> = {
  'monitor.started': {
    origin: 'command',
    effect: 'monitor.start',
    revert: (snapshot, { monitor }, context) => stopMonitor(snapshot, monitor, context),
    evolve: becomes('started'),
  },
  'monitor.stopped': {
    origin: 'command',
    effect: 'monitor.stop',
    revert: (snapshot, { monitor }, context) => startMonitor(snapshot, monitor, context),
    evolve: becomes('stopped'),
  },
  'monitor.failed': { origin: 'report', evolve: becomes('failed') },
  'monitor.updated': {
    origin: 'command',
    effect: 'monitor.update',
    revert: (...given) => revertUpdate(patchable, ...given),
    evolve: (snapshot, event, change) =>
      replaceSettings(snapshot, 'monitors', event.monitor, change, (settings) =>
        mergeUpdate(settings, event),
      ),
  },
};

/** @internal */
export const monitorReports: ReportTable<Snapshot, MonitorReport, MonitorEvent> = {
  'monitor.failed': {
    shape: z.strictObject({ type: z.literal('monitor.failed'), monitor: shape.text(255) }),
    event(snapshot, { type, monitor }, at) {
      const found = snapshot.monitors.find(monitor);
      if (found === undefined) return { contradiction: 'names a monitor that does not exist' };
      if (found.state === 'failed') return undefined;
      return { type, at, resource: linkOf('monitors', found), monitor: found.key };
    },
  },
};

/** @internal */
export const monitorEffects: EffectTable<MonitorEffect> = {
  'monitor.start': (effect) => ({ ...effect, type: 'monitor.stop' }),
  'monitor.stop': (effect) => ({ ...effect, type: 'monitor.start' }),
  'monitor.update': invertUpdate,
};

const machine: Startable<'monitors', MonitorState, 'start' | 'stop', MonitorEvent, MonitorEffect> = {
  collection: 'monitors',
  lifecycle: monitorLifecycle,
  events: monitorEvents,
  state: (monitor) => monitor.state,
  consequence: (command, head, monitor) => ({
    event: { type: command === 'start' ? 'monitor.started' : 'monitor.stopped', ...head, monitor },
    effect: { type: `monitor.${command}`, resource: head.resource, monitor },
  }),
};

const patchable: Patchable<'monitors', MonitorSettings, MonitorEvent, MonitorEffect> = {
  collection: 'monitors',
  events: monitorEvents,
  event: 'monitor.updated',
  effect: 'monitor.update',
  view: definePatchView<MonitorSettings>({
    fields: {
      servers: { links: 'servers' },
      monitor_interval: {},
      connect_timeout: {},
      read_timeout: {},
      write_timeout: {},
    },
    readOnly: ['name', 'module', 'state'],
    shape: z.strictObject(settings),
  }),
  settings: (monitor) => monitor.settings,
  shown: (_snapshot, monitor) => toMonitorRepresentation(monitor),
};

/**
 * Starts a monitor: it probes its servers. Unchanged when it is started; a failed one is started again.
 *
 * @param snapshot - the state to start from
 * @param name - name of the monitor, compared as names are; refused with `monitor-not-found` when there is none
 * @param context - the time and who asked
 * @returns the decision, with one `monitor.started` and one `monitor.start`
 *
 * @example
 * ```ts
 * import { createSnapshot, startMonitor } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ monitors: [{ name: 'Main Monitor', module: 'pgmon' }] });
 * startMonitor(snapshot, 'main-monitor', { now: 0 }).outcome; // => 'unchanged'
 * ```
 *
 * @public
 */
export function startMonitor(snapshot: Snapshot, name: string, context: Context): MonitorDecision {
  return decideLifecycle(machine, 'start', snapshot, name, context);
}

/**
 * Stops a monitor: the status of its servers stays as it was last reported. Unchanged when it is stopped or failed.
 *
 * @param snapshot - the state to start from
 * @param name - name of the monitor, compared as names are; refused with `monitor-not-found` when there is none
 * @param context - the time and who asked
 * @returns the decision, with one `monitor.stopped` and one `monitor.stop`
 *
 * @example
 * ```ts
 * import { createSnapshot, stopMonitor } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ monitors: [{ name: 'Main Monitor', module: 'pgmon' }] });
 * stopMonitor(snapshot, 'Main Monitor', { now: 0 }).next.monitors.find('main-monitor')?.state; // => 'stopped'
 * ```
 *
 * @public
 */
export function stopMonitor(snapshot: Snapshot, name: string, context: Context): MonitorDecision {
  return decideLifecycle(machine, 'stop', snapshot, name, context);
}

/**
 * Modifies a monitor with a JSON Patch (RFC 6902): all operations or none.
 *
 * @param snapshot - the state to start from
 * @param name - name of the monitor, compared as names are; refused with `monitor-not-found` when there is none
 * @param operations - the operations, over the fields of {@link MonitorSettings}
 * @param context - the time and who asked
 * @returns the decision, with one `monitor.updated` and one `monitor.update`; refused with every fault, its pointer
 *   and its operation; unchanged when the result equals what is there
 *
 * @example
 * ```ts
 * import { createSnapshot, patchMonitor } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ monitors: [{ name: 'Main Monitor', module: 'pgmon' }] });
 * const operations = [{ op: 'replace', path: '/monitor_interval', value: 500 }] as const;
 * patchMonitor(snapshot, 'Main Monitor', operations, { now: 0 }).outcome; // => 'accepted'
 * ```
 *
 * @public
 */
export function patchMonitor(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): MonitorDecision {
  return patchAsGiven(patchable, snapshot, name, operations, context);
}

/** @internal */
export const monitorRoutes: readonly RouteOf<Snapshot, MonitorEvent, MonitorEffect, Rendering>[] = [
  ...readRoutes({
    collection: 'monitors',
    shape: representationShape,
    represent: (_snapshot, monitor) => toMonitorRepresentation(monitor),
    version: (_snapshot, monitor) => monitor.version,
  }),
  ...lifecycleRoutes('monitors', { start: startMonitor, stop: stopMonitor }),
  patchRoute(patchable, { path: '/monitor/:name', aliases: ['/monitors/:name'] }),
];
