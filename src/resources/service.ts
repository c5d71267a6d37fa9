/**
 * Services: listeners, filters, a router and a set of backend servers.
 *
 * The chapter "Service" of the Gateway Administration REST Interface. Its listeners are in `listener.ts`, its
 * sessions in `session.ts`.
 */
import * as z from 'zod/mini';

import { latest, initialVersion } from '../core/version.ts';
import type { Entity } from '../core/collection.ts';
import type {
  Change,
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
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import { formatInstant, parseInstant, type TimeFormat } from '../core/time.ts';
import { invertUpdate, mergeUpdate, type ReversibleUpdate, type Update } from '../core/update.ts';
import type { Rendering } from './shared/rendering.ts';
import { patchRoute, readRoutes, lifecycleRoutes, type Readable } from './shared/route.ts';
import { linkOf, touch, replaceSettings, revise, sessionsOf, type Snapshot } from '../snapshot/snapshot.ts';
import {
  decideLifecycle,
  patchAsGiven,
  revertUpdate,
  type Patchable,
  type Startable,
} from './shared/transition.ts';
import { optionalSettings, servicePatchView, settings, type ServiceSettings } from './service-settings.ts';
import { listenerRoute, listenerShape, type Listener } from './listener.ts';

/**
 * The states of a service. `failed` is only ever reported by the host.
 *
 * @public
 */
export type ServiceState = 'started' | 'stopped' | 'failed';

/**
 * A service as the snapshot keeps it.
 *
 * @public
 */
export interface Service extends Entity {
  /** Name of the router module. */
  readonly router: string;
  /** Whether it is started. */
  readonly state: ServiceState;
  /** When it was last started, in milliseconds since 1970-01-01T00:00:00Z; left out when it never was. */
  readonly started?: number;
  /** Its listeners. */
  readonly listeners: readonly Listener[];
  /** What can be modified. */
  readonly settings: ServiceSettings;
}

/**
 * A service as clients see it.
 *
 * @public
 */
export interface ServiceRepresentation extends Omit<ServiceSettings, 'filters' | 'passwordSealed'> {
  /** Name of the service. */
  readonly name: string;
  /** Name of the router module. */
  readonly router: string;
  /** Whether it is started. */
  readonly state: ServiceState;
  /** Number of sessions ever opened on it. Never decreases. */
  readonly total_connections: number;
  /** Number of sessions open on it now. */
  readonly current_connections: number;
  /** When it was last started: ISO 8601 with a numeric offset; left out when it never was. */
  readonly started?: string;
  /** Links of the filters in order; left out when there are none. */
  readonly filters?: readonly string[];
}

/**
 * What every event and effect about a service has.
 *
 * @public
 */
export interface OfService {
  /** Key of the service; see {@link nameKey}. */
  readonly service: string;
}

/**
 * What can happen to a service. `service.failed` is only reported by the host.
 *
 * @public
 */
export type ServiceEvent = OfService &
  (
    | EventOf<'service.started' | 'service.stopped' | 'service.failed'>
    | (EventOf<'service.updated'> & ReversibleUpdate<ServiceSettings>)
  );

/**
 * What the host reports of a service: that it failed.
 *
 * @public
 */
export interface ServiceReport {
  /** Says what kind of report it is. */
  readonly type: 'service.failed';
  /** Name of the service. */
  readonly service: string;
}

/**
 * What the host is asked to do with a service: open its listeners, close them and let the sessions go on, change
 * its settings.
 *
 * @public
 */
export type ServiceEffect = OfService &
  (EffectOf<'service.start' | 'service.stop'> | (EffectOf<'service.update'> & Update<ServiceSettings>));

/**
 * The answer of a transition of services.
 *
 * @public
 */
export type ServiceDecision = DecisionOf<Snapshot, ServiceEvent, ServiceEffect>;

/**
 * The lifecycle of a service: from each state, where each command leads.
 *
 * @public
 */
export const serviceLifecycle = defineLifecycle<ServiceState, 'start' | 'stop'>({
  started: { start: 'started', stop: 'stopped' },
  stopped: { start: 'started', stop: 'stopped' },
  failed: { start: 'started', stop: 'failed' },
});

const state = z.enum(['started', 'stopped', 'failed']);
const count = z.int().check(z.minimum(0));

const representationShape = z.strictObject({
  name: z.string(),
  router: z.string(),
  router_options: settings.router_options,
  state,
  total_connections: count,
  current_connections: count,
  started: z.exactOptional(z.string()),
  filters: z.exactOptional(settings.filters),
  servers: settings.servers,
  ...optionalSettings,
}) satisfies z.core.$ZodType<ServiceRepresentation>;

const documentShape = z.strictObject({
  name: shape.name,
  router: shape.text(255),
  state: z.exactOptional(state),
  started: z.exactOptional(shape.instant),
  total_connections: z.exactOptional(count),
  current_connections: z.exactOptional(z.unknown()),
  listeners: z.exactOptional(z.array(listenerShape)),
  ...settings,
  servers: z.exactOptional(settings.servers),
  router_options: z.exactOptional(settings.router_options),
  filters: z.exactOptional(settings.filters),
});

/** How services stand in a gateway document. @internal */
export const serviceDocument: DocumentPart<Service, z.infer<typeof documentShape>> = {
  shape: documentShape,
  links: { servers: 'servers', filters: 'filters' },
  load({
    name,
    router,
    state = 'started',
    started,
    total_connections,
    current_connections,
    listeners = [],
    ...rest
  }) {
    const settings = { servers: [], router_options: {}, filters: [], ...rest };
    const at = started === undefined ? {} : { started: parseInstant(started) ?? 0 };
    return { name, key: nameKey(name), version: initialVersion, router, state, ...at, listeners, settings };
  },
  save({ name, router, state, started, listeners, settings }) {
    const at = started === undefined ? {} : { started: formatInstant(started) };
    return { name, router, state, ...at, listeners, ...settings };
  },
};

/** The representation of a service. */
function toServiceRepresentation(
  snapshot: Snapshot,
  service: Service,
  times: TimeFormat,
): ServiceRepresentation {
  const { servers, router_options, filters, passwordSealed, ...rest } = service.settings;
  return {
    name: service.name,
    router: service.router,
    router_options,
    state: service.state,
    total_connections: snapshot.sessions.totalOfService(service.key),
    current_connections: snapshot.sessions.countOfService(service.key),
    ...(service.started === undefined ? {} : { started: times.iso8601(service.started) }),
    ...(filters.length === 0 ? {} : { filters }),
    servers,
    ...rest,
  };
}

function becomes(state: ServiceState): EventRow<Snapshot, OfService>['evolve'] {
  return (snapshot, { service }, change) =>
    revise(snapshot, 'services', service, change, (draft) => {
      draft.state = state;
    });
}

/** @internal */
export const serviceEvents: EventTable<Snapshot, ServiceEvent> = {
  'service.started': {
    origin: 'command',
    effect: 'service.start',
    revert: (snapshot, { service }, context) => stopService(snapshot, service, context),
    evolve: (snapshot, { service, at }, change) =>
      revise(snapshot, 'services', service, change, (draft) => {
        draft.state = 'started';
        draft.started = at;
      }),
  },
  'service.stopped': {
    origin: 'command',
    effect: 'service.stop',
    revert: (snapshot, { service }, context) => startService(snapshot, service, context),
    evolve: becomes('stopped'),
  },
  'service.failed': { origin: 'report', evolve: becomes('failed') },
  'service.updated': {
    origin: 'command',
    effect: 'service.update',
    revert: (...given) => revertUpdate(patchable, ...given),
    evolve(snapshot, event, change) {
      const next = replaceSettings(snapshot, 'services', event.service, change, (settings) =>
        mergeUpdate(settings, event),
      );
      return touchFilters(next, event, change);
    },
  },
};

/** A filter shows the services that use it, so it changes with their lists. */
function touchFilters(
  snapshot: Snapshot,
  { before, after }: Update<ServiceSettings>,
  change: Change,
): Snapshot {
  if (before.filters === after.filters) return snapshot;
  const [old, now] = [new Set(before.filters), new Set(after.filters)];
  const changed = [
    ...before.filters.filter((link) => !now.has(link)),
    ...after.filters.filter((link) => !old.has(link)),
  ];
  return changed.reduce((next, link) => touch(next, 'filters', link, change), snapshot);
}

/** @internal */
export const serviceReports: ReportTable<Snapshot, ServiceReport, ServiceEvent> = {
  'service.failed': {
    shape: z.strictObject({ type: z.literal('service.failed'), service: shape.text(255) }),
    event(snapshot, { type, service }, at) {
      const found = snapshot.services.find(service);
      if (found === undefined) return { contradiction: 'names a service that does not exist' };
      if (found.state === 'failed') return undefined;
      return { type, at, resource: linkOf('services', found), service: found.key };
    },
  },
};

/** @internal */
export const serviceEffects: EffectTable<ServiceEffect> = {
  'service.start': (effect) => ({ ...effect, type: 'service.stop' }),
  'service.stop': (effect) => ({ ...effect, type: 'service.start' }),
  'service.update': invertUpdate,
};

const machine: Startable<'services', ServiceState, 'start' | 'stop', ServiceEvent, ServiceEffect> = {
  collection: 'services',
  lifecycle: serviceLifecycle,
  events: serviceEvents,
  state: (service) => service.state,
  consequence: (command, head, service) => ({
    event: { type: command === 'start' ? 'service.started' : 'service.stopped', ...head, service },
    effect: { type: `service.${command}`, resource: head.resource, service },
  }),
};

const patchable: Patchable<'services', ServiceSettings, ServiceEvent, ServiceEffect> = {
  collection: 'services',
  events: serviceEvents,
  event: 'service.updated',
  effect: 'service.update',
  view: servicePatchView,
  settings: (service) => service.settings,
  shown: toServiceRepresentation,
};

/**
 * Starts a service: its listeners open. Unchanged when it is started; a failed one is started again.
 *
 * @param snapshot - the state to start from
 * @param name - name of the service, compared as names are; refused with `service-not-found` when there is none
 * @param context - the time, which becomes `started`, and who asked
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
 * @public
 */
export function startService(snapshot: Snapshot, name: string, context: Context): ServiceDecision {
  return decideLifecycle(machine, 'start', snapshot, name, context);
}

/**
 * Stops a service: its listeners close and its sessions live on. Unchanged when it is stopped or failed.
 *
 * @param snapshot - the state to start from
 * @param name - name of the service, compared as names are; refused with `service-not-found` when there is none
 * @param context - the time and who asked
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
 * @public
 */
export function stopService(snapshot: Snapshot, name: string, context: Context): ServiceDecision {
  return decideLifecycle(machine, 'stop', snapshot, name, context);
}

/**
 * Modifies a service with a JSON Patch (RFC 6902): all operations or none.
 *
 * @param snapshot - the state to start from
 * @param name - name of the service, compared as names are; refused with `service-not-found` when there is none
 * @param operations - the operations, over the fields of {@link ServiceSettings}; a password is given to
 *   `/password` as `{ sealed }`, see {@link Sealed}
 * @param context - the time and who asked
 * @returns the decision, with one `service.updated` and one `service.update`; refused with every fault, its pointer
 *   and its operation; unchanged when the result equals what is there
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
 * @public
 */
export function patchService(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): ServiceDecision {
  return patchAsGiven(patchable, snapshot, name, operations, context);
}

const readable: Readable<'services'> = {
  collection: 'services',
  shape: representationShape,
  represent: (snapshot, service, { times }) => toServiceRepresentation(snapshot, service, times),
  // The counters live in the session table, so that opening a session copies no service.
  version: (snapshot, { key, version }) =>
    latest(version, { command: 0, live: sessionsOf(snapshot).liveOfService(key) }),
};

/** @internal */
export const serviceRoutes: readonly RouteOf<Snapshot, ServiceEvent, ServiceEffect, Rendering>[] = [
  ...readRoutes(readable),
  listenerRoute,
  patchRoute(patchable, { path: '/services/:name', aliases: [] }),
  ...lifecycleRoutes('services', { start: startService, stop: stopService }),
];
