/**
 * Services: a service combines listeners, filters, a router and a set of backend servers.
 *
 * Implements the chapter "Service" of the Gateway Administration REST Interface. `listener.ts` has the listeners of a
 * service, `session.ts` its sessions.
 */
import * as z from 'zod/mini';

import { Batch } from '../core/batch.ts';
import type { Entity, Named } from '../core/collection.ts';
import type {
  Context,
  DecisionOf,
  EffectTable,
  EventBase,
  EventTable,
  FoldContext,
} from '../core/decision.ts';
import { asShown, defineFields, representFields } from '../core/field.ts';
import type { Sealed } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { Operation } from '../json/patch.ts';
import { markChanged, revise } from '../snapshot/state.ts';
import { listenerFields, listenerShape, type Listener } from './listener.ts';
import type { Changing, Draining, Kind } from './shared/kind.ts';
import { changeEffects } from './shared/change-effect.ts';
import type { Drain } from './shared/drain-setting.ts';
import {
  drainEvents,
  drainingOf,
  drainRoutes,
  representDrain,
  serviceDrainField,
  undrained,
  type DrainEvent,
  type DrainRepresentation,
} from './shared/drain.ts';
import {
  decideLifecycle,
  decideMove,
  lifecycleFields,
  lifecycleOf,
  lifecycleReports,
  lifecycleRoutes,
  lifecycleSteps,
  sinceField,
  withState,
  type LifecycleEffect,
  type LifecycleEvent,
  type LifecycleReport,
  type LifecycleState,
  type SeenRun,
  type WantedState,
} from './shared/lifecycle.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  adoptionOf,
  decidePatch,
  decideSettings,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';
import { linksIn } from './shared/use.ts';
import { assertInputs, filters, services, type Snapshot } from './snapshot.ts';

/**
 * The settings of a service, which a patch can modify.
 *
 * @see Gateway Administration REST Interface, "Service".
 *
 * @public
 */
export interface ServiceSettings {
  /** Links of the servers of the service. */
  readonly servers: readonly string[];
  /** Options of the router: texts by name, at most 1,000; secret ones are {@link Sealed}. */
  readonly router_options: Readonly<Record<string, string | Sealed>>;
  /** Links of the filters, in the order in which they are applied. */
  readonly filters: readonly string[];
  /** Name of the service user. */
  readonly user?: string;
  /** Password of the service user. */
  readonly password?: Sealed;
  /** Whether the root user may connect. */
  readonly root_user?: boolean;
  /** Version string for connecting clients. */
  readonly version_string?: string;
  /** Name of the server parameter that weights connections. */
  readonly weightby?: string;
  /** Idle time after which a client is disconnected, in seconds; 0 for no limit. */
  readonly connection_timeout?: number;
  /** Maximum number of connections; 0 for no limit. */
  readonly max_connection?: number;
  /** Whether escape characters are stripped from the default database name. */
  readonly strip_db_esc?: boolean;
  /** The drain of the service; left out unless the service drains. */
  readonly drain?: Drain;
}

/**
 * What the host has seen of a service. Belongs to one life of the gateway.
 *
 * @public
 */
export interface SeenService extends SeenRun {
  /**
   * Time of the last start, in milliseconds since 1970-01-01T00:00:00Z; left out for a service that was never started.
   */
  readonly started?: number;
  /** True if `started` is the time of the opening, because neither a command nor the host has given a start since. */
  readonly startAssumed?: true;
}

/**
 * A service in a snapshot.
 *
 * @public
 */
export interface Service extends Entity {
  /** Name of the router module. */
  readonly router: string;
  /** The state that callers want. A started service of which the host has seen a failure is shown as `failed`. */
  readonly state: WantedState;
  /** What the host has seen. */
  readonly seen: SeenService;
  /** The listeners of the service. */
  readonly listeners: readonly Listener[];
  /** The settings, which a patch can modify. */
  readonly settings: ServiceSettings;
}

/**
 * A service in a response.
 *
 * @see Gateway Administration REST Interface, "Service".
 *
 * @public
 */
export interface ServiceRepresentation extends Omit<
  ServiceSettings,
  'filters' | 'password' | 'router_options' | 'drain'
> {
  /** Options of the router: texts by name, at most 1,000. */
  readonly router_options: Readonly<Record<string, string>>;
  /** Name of the service. */
  readonly name: string;
  /** Name of the router module. */
  readonly router: string;
  /** State of the service. */
  readonly state: LifecycleState;
  /** Why the service has failed, in the words of the gateway; left out unless it has failed with a reason. */
  readonly state_reason?: string;
  /** Since when the service has failed: ISO 8601 with a numeric offset; left out unless it has failed. */
  readonly state_since?: string;
  /** Number of sessions ever opened on the service. Never decreases. */
  readonly total_connections: number;
  /** Number of sessions open on the service now. */
  readonly current_connections: number;
  /** Time of the last start: ISO 8601 with a numeric offset; left out for a service that was never started. */
  readonly started?: string;
  /** Links of the filters, in order; left out if there are none. */
  readonly filters?: readonly string[];
  /** The drain of the service, with what is left; left out unless the service drains. */
  readonly drain?: DrainRepresentation;
}

/**
 * A service in a gateway document, with its listeners. A service without `state` is started.
 *
 * @public
 */
export interface ServiceDocument extends Partial<
  Omit<ServiceRepresentation, 'name' | 'router' | 'router_options' | 'current_connections' | 'drain'>
> {
  /** Name of the service. */
  readonly name: string;
  /** Name of the router module. */
  readonly router: string;
  /** Ignored: counted from the sessions. */
  readonly current_connections?: unknown;
  /** The listeners of the service. */
  readonly listeners?: readonly Listener[];
  /** Options of the router: texts by name, at most 1,000; none if left out. */
  readonly router_options?: ServiceSettings['router_options'];
  /** Password of the service user. */
  readonly password?: Sealed;
  /** The drain of the service. A service that drains is stopped. */
  readonly drain?: Drain;
}

/** The events of a service. @internal */
export type ServiceEvent =
  LifecycleEvent<'service'> | UpdateEvent<'service', ServiceSettings> | DrainEvent<'service'>;

/**
 * The effects on a service: the host must open its listeners, close them while the sessions continue, or change its
 * settings.
 *
 * @internal
 */
export type ServiceEffect = LifecycleEffect<'service'> | UpdateEffect<'service', ServiceSettings>;

/** The decision about a service. @internal */
export type ServiceDecision = DecisionOf<Snapshot, ServiceEvent, ServiceEffect>;

/** The reports of the host about a service. @internal */
export type ServiceReport = LifecycleReport<'service'>;

const fields = defineFields<{
  settings: ServiceSettings;
  representation: ServiceRepresentation;
  document: ServiceDocument;
  state: Omit<Service, 'key' | 'revision' | 'settings' | 'seen'>;
  seen: Omit<SeenService, 'state' | 'startAssumed'>;
}>()({
  name: { shape: shape.name },
  router: { shape: shape.text(255) },
  router_options: {
    shape: shape.sealableOptions,
    open: shape.options,
    secretEntries: true,
    setting: true,
    default: {},
  },
  ...lifecycleFields,
  // A document may raise the total, which the session table stores.
  total_connections: { shape: shape.count, derived: true, accepts: shape.count },
  current_connections: { shape: shape.count, derived: true },
  started: sinceField,
  filters: { shape: shape.links, setting: true, links: 'filters', default: [], hiddenWhenEmpty: true },
  servers: { shape: shape.links, setting: true, links: 'servers', default: [], closes: true },
  user: { shape: shape.text(255), setting: true, optional: true },
  password: {
    shape: shape.sealed(
      shape.longestSealed,
      `${shape.asSealed}, or set the password of the running gateway with gateway-admin patch --set-from`,
    ),
    setting: true,
    optional: true,
    secret: true,
  },
  root_user: { shape: z.boolean(), setting: true, optional: true },
  version_string: { shape: shape.text(255), setting: true, optional: true },
  weightby: { shape: shape.text(255), setting: true, optional: true },
  connection_timeout: { shape: shape.unlimited, setting: true, optional: true, closes: true },
  max_connection: { shape: shape.unlimited, setting: true, optional: true, closes: true },
  strip_db_esc: { shape: z.boolean(), setting: true, optional: true },
  drain: serviceDrainField,
  listeners: { shape: z.array(listenerShape), shown: false, default: [], entries: listenerFields },
});

function represent(snapshot: Snapshot, service: Service, { times }: Rendering): object {
  const { sessions } = snapshot;
  return representFields(fields, {
    rest: asShown(fields, service),
    settings: service.settings,
    derived: {
      total_connections: sessions.totalOfService(service.key),
      current_connections: sessions.countOfService(service.key),
      drain: representDrain(snapshot, services.collection, service, times),
    },
    times,
  });
}

const changing: Changing<Snapshot, Service> & Named<Service, 'service'> = {
  ...services,
  fields,
  onLinks: markFilters,
  // What starts a service ends its drain, also if the drain began after the decision.
  entered: (service, written) => undrained(withState(fields, service, written)),
};
const machine = lifecycleOf(changing, (...args) => draining.instead(...args));
const settings = settingsOf(changing, { represent });

const draining: Draining<Snapshot, Service> = drainingOf({
  events: { ...machine.events, ...settings.events } as EventTable<Snapshot, EventBase>,
  effects: changeEffects(changing),
  collection: services.collection,
  update: (...args) => decideSettings(settings, ...args),
  move: (...args) => decideMove(machine, ...args),
});

/**
 * Marks the filters as changed that the service has added or removed, because a filter shows the services that use it.
 */
function markFilters(
  snapshot: Snapshot,
  settings: { readonly before: object; readonly after: object },
  fold: FoldContext,
): Snapshot {
  const [before, after] = [linksIn(settings.before, 'filters'), linksIn(settings.after, 'filters')];
  if (before === after) return snapshot;
  const [old, now] = [new Set(before), new Set(after)];
  const changed = [...before.filter((link) => !now.has(link)), ...after.filter((link) => !old.has(link))];
  return changed.reduce((next, link) => markChanged(next, filters, link, fold), snapshot);
}

/**
 * Starts a service: its listeners open. A failed service is started again.
 *
 * Unchanged if the service is started. Refused with `service-not-found` if there is no such service.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the service, compared by {@link nameKey}
 * @param context - the time, which becomes `started`, and the caller
 * @returns the decision, with one `service.started` and one `service.start`
 *
 * @example
 * ```ts
 * import { createSnapshot, startService } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', state: 'stopped' }] });
 * startService(snapshot, 'sales', { now: 0 }).outcome; // => 'accepted'
 * ```
 *
 * @see Gateway Administration REST Interface, "States and transitions", "Service".
 *
 * @public
 */
export function startService(snapshot: Snapshot, name: string, context: Context): ServiceDecision {
  assertInputs(snapshot, context);
  return decideLifecycle(machine, 'start', snapshot, name, context);
}

/**
 * Stops a service: its listeners close, and its sessions continue.
 *
 * Unchanged if the service is stopped. Refused with `service-not-found` if there is no such service.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the service, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with one `service.stopped` and one `service.stop`
 *
 * @example
 * ```ts
 * import { createSnapshot, stopService } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * stopService(snapshot, 'Sales', { now: 0 }).next.services.find('sales')?.state; // => 'stopped'
 * ```
 *
 * @see Gateway Administration REST Interface, "States and transitions", "Service".
 *
 * @public
 */
export function stopService(snapshot: Snapshot, name: string, context: Context): ServiceDecision {
  assertInputs(snapshot, context);
  return decideLifecycle(machine, 'stop', snapshot, name, context);
}

/**
 * Modifies a service with a JSON Patch (RFC 6902): all operations, or none.
 *
 * Unchanged if the result equals the present settings. Refused with `service-not-found` if there is no such service,
 * and with every fault of the patch otherwise; each fault has its pointer and its operation.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the service, compared by {@link nameKey}
 * @param operations - the operations, on the fields of {@link ServiceSettings}. The value of `/password`, and of a
 *   secret router option, is `{ sealed }` with the text of a {@link SecretSealer}
 * @param context - the time and the caller
 * @returns the decision, with one `service.updated` and one `service.update`
 *
 * @example
 * ```ts
 * import { createSnapshot, patchService } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const operations = [{ op: 'add', path: '/max_connection', value: 100 }] as const;
 * patchService(snapshot, 'Sales', operations, { now: 0 }).outcome; // => 'accepted'
 * ```
 *
 * @see Gateway Administration REST Interface, "Service"; docs/patching.md.
 *
 * @public
 */
export function patchService(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): ServiceDecision {
  assertInputs(snapshot, context);
  return decidePatch(settings, snapshot, name, operations, context);
}

/**
 * Gives each started service a time of start: a service starts when the host opens it, so never before the process. A
 * stopped service has no such time.
 *
 * @param now - the time of the opening, in milliseconds since 1970-01-01T00:00:00Z
 * @internal
 */
export function withStartTimes(snapshot: Snapshot, now: number): Snapshot {
  const change = { revision: snapshot.revision, batch: new Batch() };
  const next = [...snapshot.services].reduce(
    (before, { key, state }) =>
      revise(before, services, key, change, (draft) => {
        draft.seen = state === 'stopped' ? {} : { started: now, startAssumed: true };
      }),
    snapshot,
  );
  return Object.freeze(next);
}

/** The kind "service". @internal */
export const serviceKind: Kind<Snapshot, ServiceEvent, ServiceEffect, ServiceReport> = {
  fields: { service: fields },
  events: { ...machine.events, ...settings.events, ...drainEvents(services) },
  effects: changeEffects(changing) as EffectTable<ServiceEffect>,
  reports: lifecycleReports(services),
  resources: {
    ...changing,
    adoption: adoptionOf(settings, lifecycleSteps(machine)),
    draining,
    // The session table has the total.
    saveMore: ({ sessions }: Snapshot, { key }) => ({ total_connections: sessions.totalOfService(key) }),
  },
  routes: [
    ...readRoutes(services, { shape: fields.representation, represent }),
    patchRoute(settings),
    ...lifecycleRoutes(machine),
    ...drainRoutes(services, draining),
  ],
};
