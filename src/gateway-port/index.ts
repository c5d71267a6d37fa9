/**
 * The port of a gateway as desired state.
 *
 * @packageDocumentation
 */
export { createGatewayPort } from './gateway-port.ts';
export { keyOf } from '../core/link.ts';
export type {
  ClosedConnection,
  ClosedSession,
  Closing,
  FieldOf,
  GatewayPortOptions,
  Kind,
  KindOptions,
  OpenedGatewayPort,
  Seen,
  Wanted,
  WantedChange,
} from './options.ts';
