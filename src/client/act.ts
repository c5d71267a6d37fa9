/**
 * Acts: what a person types before a change, by the table of acts. The command line and the console follow it.
 */
import { acts, endpoints, type ActId, type CommandId } from '../http/endpoint.ts';
import type { SessionSearch } from '../resources/session.ts';
import type { SequenceCommand } from './endpoints.ts';

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
 * Which collections list a server, and which a filter. A new server or filter can be added to such lists as it is
 * created.
 *
 * @beta
 */
export const listedBy = { servers: ['services', 'monitors'], filters: ['services'] } as const;

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

/**
 * Gives a command on one resource as a sequence takes it.
 *
 * @param id - an endpoint of one resource, such as `services.stop`
 * @param link - the link of the resource
 * @param body - the body; left out for a command without one
 *
 * @example
 * ```ts
 * import { commandAt } from 'gateway-admin-core/client';
 *
 * commandAt('services.stop', '/services/Sales'); // => { method: 'PUT', path: '/services/Sales/stop' }
 * ```
 *
 * @beta
 */
export function commandAt(id: CommandId, link: string, body?: unknown): SequenceCommand {
  const { method, path } = endpoints[id];
  const [, behind = ''] = path.split(':name');
  return { method, path: link + behind, ...(body === undefined ? {} : { body }) };
}
