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
 * acts['services.stop'].typed; // => 'subject'
 * acts['services.patch'].typed; // => 'gateway'
 * acts['services.resume'].typed; // => 'nothing'
 * ```
 *
 * @beta
 */
export const acts: Readonly<Record<ActId, Act>> = {
  'interface.hold': { typed: 'nothing' },
  'interface.patch': { typed: 'gateway' },
  'services.start': { typed: 'gateway' },
  'services.stop': { typed: 'subject' },
  'services.drain': { typed: 'subject' },
  'services.resume': { typed: 'nothing' },
  'services.patch': { typed: 'gateway' },
  'services.create': { typed: 'gateway' },
  'services.delete': { typed: 'subject' },
  'services.createListener': { typed: 'gateway' },
  'services.deleteListener': { typed: 'subject' },
  'services.closeSessions': { typed: 'subject' },
  'servers.setMaintenance': { typed: 'gateway' },
  'servers.clearMaintenance': { typed: 'gateway' },
  'servers.drain': { typed: 'subject' },
  'servers.resume': { typed: 'nothing' },
  'servers.patch': { typed: 'gateway' },
  'servers.create': { typed: 'gateway' },
  'servers.delete': { typed: 'subject' },
  'servers.closeConnections': { typed: 'subject' },
  'monitors.start': { typed: 'gateway' },
  'monitors.stop': { typed: 'subject' },
  'monitors.patch': { typed: 'gateway' },
  'monitors.create': { typed: 'gateway' },
  'monitors.delete': { typed: 'subject' },
  'filters.patch': { typed: 'gateway' },
  'filters.create': { typed: 'gateway' },
  'filters.delete': { typed: 'subject' },
  'sessions.close': { typed: 'subject' },
  'sessions.closeMany': { typed: 'subject' },
  'users.create': { typed: 'gateway' },
  'users.patch': { typed: 'gateway' },
  'users.delete': { typed: 'subject' },
  'gateway.flushLogs': { typed: 'gateway' },
  'commands.abandon': { typed: 'gateway', asks: true },
  'history.undo': { typed: 'gateway' },
  'history.restore': { typed: 'gateway', asks: true },
  // A document: its name does not say what changes.
  'sequence.send': { typed: 'gateway', asks: true },
  'fleet.retry': { typed: 'gateway' },
  'fleet.forget': { typed: 'subject', asks: true },
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
