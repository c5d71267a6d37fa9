/**
 * Monitors: components that probe servers and find their status.
 *
 * Implements the chapter "Monitor" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import type { Entity, Named } from '../core/collection.ts';
import type { Context, DecisionOf, EffectTable } from '../core/decision.ts';
import { asShown, defineFields, representFields } from '../core/field.ts';
import type { Sealed } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { Operation } from '../json/patch.ts';
import type { Changing, Kind } from './shared/kind.ts';
import {
  decideLifecycle,
  lifecycleFields,
  lifecycleOf,
  lifecycleReports,
  lifecycleRoutes,
  lifecycleSteps,
  withState,
  type LifecycleEffect,
  type LifecycleEvent,
  type LifecycleReport,
  type LifecycleState,
  type SeenRun,
  type WantedState,
} from './shared/lifecycle.ts';
import { changeEffects } from './shared/change-effect.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  adoptionOf,
  decidePatch,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';
import { assertInputs, monitors, type Snapshot } from './snapshot.ts';

/**
 * The settings of a monitor, which a patch can modify.
 *
 * @see Gateway Administration REST Interface, "Monitor".
 *
 * @public
 */
export interface MonitorSettings {
  /** Links of the monitored servers. */
  readonly servers: readonly string[];
  /** Time between two probes, in milliseconds: 1 to 2147483647. */
  readonly monitor_interval: number;
  /** Time limit for connecting, in seconds; 0 for no limit. */
  readonly connect_timeout: number;
  /** Time limit for reading, in seconds; 0 for no limit. */
  readonly read_timeout: number;
  /** Time limit for writing, in seconds; 0 for no limit. */
  readonly write_timeout: number;
  /** Parameters of the monitor module by name: numbers, texts or booleans; secret ones are {@link Sealed}. */
  readonly parameters: Readonly<Record<string, number | string | boolean | Sealed>>;
}

/**
 * A monitor in a snapshot.
 *
 * @public
 */
export interface Monitor extends Entity {
  /** Name of the monitor module. */
  readonly module: string;
  /** The state that callers want. A started monitor of which the host has seen a failure is shown as `failed`. */
  readonly state: WantedState;
  /** What the host has seen. */
  readonly seen: SeenRun;
  /** The settings, which a patch can modify. */
  readonly settings: MonitorSettings;
}

/**
 * A monitor in a response.
 *
 * @see Gateway Administration REST Interface, "Monitor".
 *
 * @public
 */
export interface MonitorRepresentation extends Omit<MonitorSettings, 'parameters'> {
  /** Name of the monitor. */
  readonly name: string;
  /** Name of the monitor module. */
  readonly module: string;
  /** State of the monitor. */
  readonly state: LifecycleState;
  /** Why the monitor has failed, in the words of the gateway; left out unless it has failed with a reason. */
  readonly state_reason?: string;
  /** Since when the monitor has failed: ISO 8601 with a numeric offset; left out unless it has failed. */
  readonly state_since?: string;
  /** Parameters of the monitor module by name; left out if there are none. */
  readonly parameters?: Readonly<Record<string, number | string | boolean>>;
}

/**
 * A monitor in a gateway document. A monitor without `state` is started.
 *
 * @public
 */
export interface MonitorDocument extends Partial<
  Omit<MonitorRepresentation, 'name' | 'module' | 'parameters'>
> {
  /** Name of the monitor. */
  readonly name: string;
  /** Name of the monitor module. */
  readonly module: string;
  /** Parameters of the monitor module by name; none if left out. */
  readonly parameters?: MonitorSettings['parameters'];
}

/** The events of a monitor. @internal */
export type MonitorEvent = LifecycleEvent<'monitor'> | UpdateEvent<'monitor', MonitorSettings>;

/** The effects on a monitor: the host must start or stop its probes, or change its settings. @internal */
export type MonitorEffect = LifecycleEffect<'monitor'> | UpdateEffect<'monitor', MonitorSettings>;

/** The decision about a monitor. @internal */
export type MonitorDecision = DecisionOf<Snapshot, MonitorEvent, MonitorEffect>;

/** The reports of the host about a monitor. @internal */
export type MonitorReport = LifecycleReport<'monitor'>;

const fields = defineFields<{
  settings: MonitorSettings;
  representation: MonitorRepresentation;
  document: MonitorDocument;
  state: Omit<Monitor, 'key' | 'revision' | 'settings' | 'seen'>;
  seen: Omit<SeenRun, 'state'>;
}>()({
  name: { shape: shape.name },
  module: { shape: shape.text(255) },
  ...lifecycleFields,
  monitor_interval: {
    shape: z.int().check(z.minimum(1), z.maximum(2_147_483_647)),
    setting: true,
    default: 2000,
  },
  connect_timeout: { shape: shape.unlimited, setting: true, default: 3 },
  read_timeout: { shape: shape.unlimited, setting: true, default: 1 },
  write_timeout: { shape: shape.unlimited, setting: true, default: 2 },
  servers: { shape: shape.links, setting: true, links: 'servers', default: [] },
  parameters: {
    shape: shape.sealableParameters,
    open: shape.parameters,
    secretEntries: true,
    setting: true,
    default: {},
    hiddenWhenEmpty: true,
  },
});

function represent(_snapshot: Snapshot, monitor: Monitor, { times }: Rendering): object {
  return representFields(fields, { rest: asShown(fields, monitor), settings: monitor.settings, times });
}

const changing: Changing<Snapshot, Monitor> & Named<Monitor, 'monitor'> = {
  ...monitors,
  fields,
  entered: (monitor, written) => withState(fields, monitor, written),
};
const machine = lifecycleOf(changing);
const settings = settingsOf(changing, { represent });

/**
 * Starts a monitor: the host probes its servers. A failed monitor is started again.
 *
 * Unchanged if the monitor is started. Refused with `monitor-not-found` if there is no such monitor.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the monitor, compared by {@link nameKey}
 * @param context - the time and the caller
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
 * @see Gateway Administration REST Interface, "States and transitions", "Monitor".
 *
 * @public
 */
export function startMonitor(snapshot: Snapshot, name: string, context: Context): MonitorDecision {
  assertInputs(snapshot, context);
  return decideLifecycle(machine, 'start', snapshot, name, context);
}

/**
 * Stops a monitor: its servers keep the status that was reported last.
 *
 * Unchanged if the monitor is stopped. Refused with `monitor-not-found` if there is no such monitor.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the monitor, compared by {@link nameKey}
 * @param context - the time and the caller
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
 * @see Gateway Administration REST Interface, "States and transitions", "Monitor".
 *
 * @public
 */
export function stopMonitor(snapshot: Snapshot, name: string, context: Context): MonitorDecision {
  assertInputs(snapshot, context);
  return decideLifecycle(machine, 'stop', snapshot, name, context);
}

/**
 * Modifies a monitor with a JSON Patch (RFC 6902): all operations, or none.
 *
 * Unchanged if the result equals the present settings. Refused with `monitor-not-found` if there is no such monitor,
 * and with every fault of the patch otherwise; each fault has its pointer and its operation.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the monitor, compared by {@link nameKey}
 * @param operations - the operations, on the fields of {@link MonitorSettings}. The value of a secret parameter is
 *   `{ sealed }` with the text of a {@link SecretSealer}
 * @param context - the time and the caller
 * @returns the decision, with one `monitor.updated` and one `monitor.update`
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
 * @see Gateway Administration REST Interface, "Monitor"; docs/patching.md.
 *
 * @public
 */
export function patchMonitor(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): MonitorDecision {
  assertInputs(snapshot, context);
  return decidePatch(settings, snapshot, name, operations, context);
}

/** The kind "monitor". @internal */
export const monitorKind: Kind<Snapshot, MonitorEvent, MonitorEffect, MonitorReport> = {
  fields: { monitor: fields },
  events: { ...machine.events, ...settings.events },
  effects: changeEffects(changing) as EffectTable<MonitorEffect>,
  reports: lifecycleReports(monitors),
  resources: {
    ...changing,
    adoption: adoptionOf(settings, lifecycleSteps(machine)),
  },
  routes: [
    ...readRoutes(monitors, { shape: fields.representation, represent }),
    ...lifecycleRoutes(machine),
    patchRoute(settings, ['/monitors/:name']),
  ],
};
