/**
 * What of a snapshot a restart brings back.
 */
import { toDocument, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

/** What a restart must bring back. */
export function configuration(snapshot: Snapshot): GatewayDocument {
  const { sessions: _ended, services = [], ...document } = toDocument(snapshot);
  return { ...document, services: services.map(({ total_connections: _seen, ...service }) => service) };
}
