/**
 * Listeners: where a service waits for clients.
 *
 * The chapter "Listener (of a service)" of the Gateway Administration REST Interface. Listeners are declared with
 * their service and do not change.
 */
import * as z from 'zod/mini';

import { ok } from '../problem.ts';
import type { ListRoute } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import type { Rendering } from './shared/rendering.ts';
import { listing } from './shared/route.ts';
import { lookUp, type Snapshot } from '../snapshot/snapshot.ts';

/**
 * A network listener of a service. The `ssl` fields are there only when SSL is configured.
 *
 * @public
 */
export interface Listener {
  /** Name of the listener. */
  readonly name: string;
  /** Name of the protocol module. */
  readonly protocol: string;
  /** Bind address: a host name, an IP address or the path of a socket. */
  readonly address: string;
  /** Port, 1 to 65535. */
  readonly port: number;
  /** How SSL is used, such as `required`. */
  readonly ssl?: string;
  /** Path of the certificate. */
  readonly ssl_cert?: string;
  /** Path of the key. */
  readonly ssl_key?: string;
  /** Path of the certificate of the authority. */
  readonly ssl_ca_cert?: string;
}

/** @internal */
export const listenerShape = z.strictObject({
  name: shape.name,
  protocol: shape.text(255),
  address: shape.address,
  port: shape.port,
  ssl: z.exactOptional(shape.text(64)),
  ssl_cert: z.exactOptional(shape.text(4096)),
  ssl_key: z.exactOptional(shape.text(4096)),
  ssl_ca_cert: z.exactOptional(shape.text(4096)),
}) satisfies z.core.$ZodType<Listener>;

/** @internal */
export const listenerRoute: ListRoute<Snapshot, Rendering> = {
  kind: 'list',
  id: 'services.listeners',
  method: 'GET',
  path: '/services/:name/listeners',
  aliases: [],
  query: ['fields', 'range'],
  summary: 'Lists the listeners of a service.',
  shape: listenerShape,
  fields: shape.fieldNames(listenerShape),
  version: (snapshot, name) => snapshot.services.find(name)?.version,
  list(snapshot, name) {
    const found = lookUp(snapshot, 'services', name);
    if (!found.ok) return found;
    const { listeners } = found.value;
    return ok(listing(listeners.length, (offset, length) => listeners.slice(offset, offset + length)));
  },
};
