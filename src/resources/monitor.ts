/**
 * Monitors: what watches the servers.
 *
 * The chapter "Monitor" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import type { Entity } from '../core/collection.ts';
import type { Context } from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import type { Operation } from '../json/patch.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Decision } from './index.ts';
import type { Kind } from './shared/kind.ts';
import {
  decideLifecycle,
  lifecycleEffects,
  lifecycleOf,
  lifecycleReports,
  lifecycleRoutes,
  lifecycleState,
  type LifecycleEffect,
  type LifecycleEvent,
  type LifecycleReport,
  type LifecycleState,
} from './shared/lifecycle.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  decidePatch,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';

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
  readonly state: LifecycleState;
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
  readonly state: LifecycleState;
}

/**
 * A monitor in a gateway document. One without `state` is started.
 *
 * @public
 */
export interface MonitorDocument extends Partial<Omit<MonitorRepresentation, 'name' | 'module'>> {
  /** Name of the monitor. */
  readonly name: string;
  /** Name of the monitor module. */
  readonly module: string;
}

/** What can happen to a monitor. @internal */
export type MonitorEvent = LifecycleEvent<'monitor'> | UpdateEvent<'monitor', MonitorSettings>;

/** What the host is asked to do with a monitor: start its probes, stop them, change its settings. @internal */
export type MonitorEffect = LifecycleEffect<'monitor'> | UpdateEffect<'monitor', MonitorSettings>;

/** What the host reports of a monitor. @internal */
export type MonitorReport = LifecycleReport<'monitor'>;

const fields = defineFields<{
  settings: MonitorSettings;
  representation: MonitorRepresentation;
  document: MonitorDocument;
}>()({
  name: { shape: shape.name },
  module: { shape: shape.text(255) },
  state: { shape: lifecycleState, default: 'started' },
  monitor_interval: {
    shape: z.int().check(z.minimum(1), z.maximum(2_147_483_647)),
    setting: true,
    default: 2000,
  },
  connect_timeout: { shape: shape.unlimited, setting: true, default: 3 },
  read_timeout: { shape: shape.unlimited, setting: true, default: 1 },
  write_timeout: { shape: shape.unlimited, setting: true, default: 2 },
  servers: { shape: shape.links, setting: true, links: 'servers', default: [] },
});

function represent(_snapshot: Snapshot, monitor: Monitor, { times }: Rendering): object {
  return representFields(fields, { rest: monitor, settings: monitor.settings, times });
}

const machine = lifecycleOf('monitor');
const settings = settingsOf('monitors', fields, { represent });

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
export function startMonitor(snapshot: Snapshot, name: string, context: Context): Decision {
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
export function stopMonitor(snapshot: Snapshot, name: string, context: Context): Decision {
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
): Decision {
  return decidePatch(settings, snapshot, name, operations, context);
}

/** @internal */
export const monitorKind: Kind<MonitorEvent, MonitorEffect, MonitorReport> = {
  fields: { monitor: fields },
  events: { ...machine.events, ...settings.events },
  effects: { ...lifecycleEffects('monitor'), ...settings.effects },
  reports: lifecycleReports('monitor'),
  routes: [
    ...readRoutes({ collection: 'monitors', shape: fields.representation, represent }),
    ...lifecycleRoutes(machine),
    patchRoute(settings, { path: '/monitor/:name', aliases: ['/monitors/:name'] }),
  ],
};
