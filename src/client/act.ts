/**
 * The table of acts: what a person is asked before a change. The command line and the console follow it.
 */
import type { endpoints } from '../http/endpoint.ts';
import type { SessionSearch } from '../resources/session.ts';
import type { EndpointId } from './endpoints.ts';

/**
 * Name of an endpoint that makes a change, such as `services.stop`.
 *
 * @beta
 */
export type CommandId = {
  [Id in EndpointId]: (typeof endpoints)[Id] extends { readonly kind: 'command' } ? Id : never;
}[EndpointId];

/**
 * Name of an act: the endpoint. `interface.hold` is the patch of the interface that begins the read-only mode.
 *
 * @beta
 */
export type ActId = CommandId | 'interface.hold';

/**
 * What a person is asked before an act.
 *
 * @beta
 */
export interface Act {
  /** Whose name the person types in the environment `production`: that of the subject, or that of the gateway. */
  readonly typed: 'subject' | 'gateway' | 'nothing';
  /**
   * Who makes the change in a fleet: all `nodes`, or the `node` that is asked, alone. `fleet` is for a change of the
   * list of nodes.
   */
  readonly scope: 'nodes' | 'node' | 'fleet';
  /** Whether a person is asked everywhere, whatever the plan says. Left out if the plan decides. */
  readonly asks?: true;
}

/**
 * What a person is asked before each act.
 *
 * In the environment `production`, a person types the name of the subject before an act that closes, deletes, stops or
 * drains, and that of the gateway before any other. Nobody types to hold changes off, or to end a drain.
 *
 * @example
 * ```ts
 * import { acts } from 'gateway-admin-core/client';
 *
 * acts['services.stop']; // => { typed: 'subject', scope: 'nodes' }
 * acts['services.patch'].typed; // => 'gateway'
 * acts['services.resume'].typed; // => 'nothing'
 * ```
 *
 * @beta
 */
export const acts: Readonly<Record<ActId, Act>> = {
  'interface.hold': { typed: 'nothing', scope: 'nodes' },
  'interface.patch': { typed: 'gateway', scope: 'nodes' },
  'services.start': { typed: 'gateway', scope: 'nodes' },
  'services.stop': { typed: 'subject', scope: 'nodes' },
  'services.drain': { typed: 'subject', scope: 'nodes' },
  'services.resume': { typed: 'nothing', scope: 'nodes' },
  'services.patch': { typed: 'gateway', scope: 'nodes' },
  'services.create': { typed: 'gateway', scope: 'nodes' },
  'services.delete': { typed: 'subject', scope: 'nodes' },
  'services.createListener': { typed: 'gateway', scope: 'nodes' },
  'services.deleteListener': { typed: 'subject', scope: 'nodes' },
  'services.closeSessions': { typed: 'subject', scope: 'node' },
  'servers.setMaintenance': { typed: 'gateway', scope: 'nodes' },
  'servers.clearMaintenance': { typed: 'gateway', scope: 'nodes' },
  'servers.drain': { typed: 'subject', scope: 'nodes' },
  'servers.resume': { typed: 'nothing', scope: 'nodes' },
  'servers.patch': { typed: 'gateway', scope: 'nodes' },
  'servers.create': { typed: 'gateway', scope: 'nodes' },
  'servers.delete': { typed: 'subject', scope: 'nodes' },
  'servers.closeConnections': { typed: 'subject', scope: 'node' },
  'monitors.start': { typed: 'gateway', scope: 'nodes' },
  'monitors.stop': { typed: 'subject', scope: 'nodes' },
  'monitors.patch': { typed: 'gateway', scope: 'nodes' },
  'monitors.create': { typed: 'gateway', scope: 'nodes' },
  'monitors.delete': { typed: 'subject', scope: 'nodes' },
  'filters.patch': { typed: 'gateway', scope: 'nodes' },
  'filters.create': { typed: 'gateway', scope: 'nodes' },
  'filters.delete': { typed: 'subject', scope: 'nodes' },
  'sessions.close': { typed: 'subject', scope: 'node' },
  'sessions.closeMany': { typed: 'subject', scope: 'node' },
  'users.create': { typed: 'gateway', scope: 'nodes' },
  'users.patch': { typed: 'gateway', scope: 'nodes' },
  'users.delete': { typed: 'subject', scope: 'nodes' },
  'gateway.flushLogs': { typed: 'gateway', scope: 'node' },
  'commands.abandon': { typed: 'gateway', scope: 'node', asks: true },
  'history.undo': { typed: 'gateway', scope: 'nodes' },
  'history.restore': { typed: 'gateway', scope: 'nodes', asks: true },
  'sequence.send': { typed: 'gateway', scope: 'nodes', asks: true },
  // The name of a document does not say what changes.
  'document.adopt': { typed: 'gateway', scope: 'nodes', asks: true },
  'fleet.retry': { typed: 'gateway', scope: 'node' },
  'fleet.forget': { typed: 'subject', scope: 'fleet', asks: true },
};

/**
 * What an act is about.
 *
 * @beta
 */
export interface ActPlace {
  /** The name of the resource; `undefined` if the act is about the gateway as a whole. */
  readonly subject: string | undefined;
  /** The name of the gateway, or its address if it has no name. */
  readonly gateway: string;
  /** The environment of the gateway. */
  readonly environment: string | undefined;
}

/**
 * Gives the name that a person types before an act.
 *
 * @param id - the act
 * @param place - what the act is about, and where
 * @returns the name; `undefined` outside the environment `production`, and for an act before which nobody types
 *
 * @example
 * ```ts
 * import { nameToType } from 'gateway-admin-core/client';
 *
 * const place = { subject: 'Sales', gateway: 'eu-1', environment: 'production' };
 * nameToType('services.stop', place); // => 'Sales'
 * nameToType('services.start', place); // => 'eu-1'
 * nameToType('services.resume', place); // => undefined
 * nameToType('services.stop', { ...place, environment: 'staging' }); // => undefined
 * ```
 *
 * @beta
 */
export function nameToType(id: ActId, { subject, gateway, environment }: ActPlace): string | undefined {
  const { typed } = acts[id];
  if (environment !== 'production' || typed === 'nothing') return undefined;
  return typed === 'subject' ? (subject ?? gateway) : gateway;
}

/**
 * Gives the name of what a search for sessions is about.
 *
 * @param search - the search
 * @returns the service, server, user or address; `undefined` if the search has none, so that it is about the gateway
 *
 * @example
 * ```ts
 * import { subjectOfSearch } from 'gateway-admin-core/client';
 *
 * subjectOfSearch({ user: 'app', idle_over: 600 }); // => 'app'
 * subjectOfSearch({ idle_over: 600 }); // => undefined
 * ```
 *
 * @beta
 */
export function subjectOfSearch({ service, server, user, address }: SessionSearch): string | undefined {
  return service ?? server ?? user ?? address;
}
