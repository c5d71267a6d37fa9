/**
 * One entry of each kind for a gateway document, with as little in it as possible.
 */
import { createSnapshot, InvalidDocumentError, type Fault, type GatewayDocument } from 'gateway-admin-core';

export const server = { name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' };
export const service = { name: 'Sales', router: 'readconnroute' };
export const monitor = { name: 'Watch', module: 'pgmon' };
export const filter = { name: 'Hint', module: 'hintfilter' };
export const user = { name: 'ada', password: { sealed: 'opaque' } };
export const session = {
  id: 1,
  state: 'ready',
  user: 'bob',
  address: '10.0.0.9',
  service: '/services/Sales',
  connected: '2016-09-09T14:12:37+03:00',
};
export const connection = { state: 'in use', role: 'Master', server: '/servers/db' };

/** The faults of a document, as `<pointer> <code>`. */
export function faultsOf(document: unknown): readonly string[] {
  return allFaultsOf(document).map(({ pointer, code }) => `${pointer} ${code}`);
}

/** The faults of a document; none when it is valid. */
export function allFaultsOf(document: unknown): readonly Fault[] {
  try {
    createSnapshot(document as GatewayDocument);
    return [];
  } catch (error) {
    if (error instanceof InvalidDocumentError) return error.faults;
    throw error;
  }
}
