/** Places: where a listener or a server is. An address that is the path of a socket has no port. */
import type { ServerSettings } from 'gateway-admin-core';

/** The address and the port of a listener or a server. */
type Place = Pick<ServerSettings, 'address' | 'port'>;

/** A place as `connect` and `listen` of Node take it. */
export function placeOf({ address, port = 0 }: Place): { path: string } | { host: string; port: number } {
  return isSocket(address) ? { path: address } : { host: address, port };
}

/**
 * The place of a listener of one of several gateways on one machine, which have one definition in common: the number of
 * the gateway is added to the port, or to the path of a socket. The first gateway has the number 0.
 */
export function placeAt(place: Place, gateway: number): Place {
  if (gateway === 0) return place;
  const { address, port = 0 } = place;
  return isSocket(address) ? { address: `${address}.${String(gateway)}` } : { address, port: port + gateway };
}

/** A place for people. */
export function placeText({ address, port }: Place): string {
  return isSocket(address) ? address : `${address}:${String(port)}`;
}

function isSocket(address: string): boolean {
  return address.startsWith('/');
}
