/**
 * Listeners: the network addresses where a service accepts clients.
 *
 * Implements the chapter "Listener (of a service)" of the Gateway Administration REST Interface. A gateway document
 * declares listeners with their service; no command changes them.
 */
import type * as z from 'zod/mini';

import { defineFields, representFields } from '../core/field.ts';
import type { Sealed } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { TimeFormat } from '../core/time.ts';

/**
 * A listener in a response: a network listener of a service. The `ssl` fields are present only if SSL is configured.
 *
 * @see Gateway Administration REST Interface, "Listener (of a service)".
 *
 * @public
 */
export interface ListenerRepresentation {
  /** Name of the listener. */
  readonly name: string;
  /** Name of the protocol module. */
  readonly protocol: string;
  /** Bind address: a host name, an IP address or the path of a socket. */
  readonly address: string;
  /** Port, 1 to 65535; may be left out if the address is the path of a socket. */
  readonly port?: number;
  /** SSL mode, such as `required`. */
  readonly ssl?: string;
  /** Path of the certificate. */
  readonly ssl_cert?: string;
  /** Path of the private key. */
  readonly ssl_key?: string;
  /** Path of the certificate of the authority. */
  readonly ssl_ca_cert?: string;
  /** Parameters of the protocol module by name: numbers, texts or booleans. */
  readonly parameters?: Readonly<Record<string, number | string | boolean>>;
}

/**
 * A listener in a snapshot, and in a gateway document.
 *
 * @public
 */
export interface Listener extends Omit<ListenerRepresentation, 'parameters'> {
  /** Parameters of the protocol module by name: numbers, texts or booleans. */
  readonly parameters?: Readonly<Record<string, number | string | boolean | Sealed>>;
}

/** The fields of a listener. @internal */
export const listenerFields = defineFields<{
  representation: ListenerRepresentation;
  document: Listener;
  state: Listener;
}>()({
  name: { shape: shape.name },
  protocol: { shape: shape.text(255) },
  address: { shape: shape.address },
  port: { shape: shape.port, optional: true, required: shape.portUnlessSocket },
  ssl: { shape: shape.text(64), optional: true },
  ssl_cert: { shape: shape.text(4096), optional: true },
  ssl_key: { shape: shape.text(4096), optional: true },
  ssl_ca_cert: { shape: shape.text(4096), optional: true },
  parameters: {
    shape: shape.sealableParameters,
    open: shape.parameters,
    secretEntries: true,
    optional: true,
  },
});

/** Shape of a listener in a gateway document. @internal */
export const listenerShape = listenerFields.document as z.core.$ZodType as z.core.$ZodType<Listener>;

/** Writes the representation of a listener. @internal */
export function representListener(listener: Listener, times: TimeFormat): object {
  return representFields(listenerFields, { rest: listener, times });
}
