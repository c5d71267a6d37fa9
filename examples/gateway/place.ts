/** Places: where a listener or a server is. An address that is the path of a socket has no port. */
import type { ServerSettings } from 'gateway-admin-core';

/** The address and the port of a listener or a server. */
type Place = Pick<ServerSettings, 'address' | 'port'>;

/** A place as `connect` and `listen` of Node take it. */
export function placeOf({ address, port = 0 }: Place): { path: string } | { host: string; port: number } {
  return isSocket(address) ? { path: address } : { host: address, port };
}

/** A place for people. */
export function placeText({ address, port }: Place): string {
  return isSocket(address) ? address : `${address}:${String(port)}`;
}

function isSocket(address: string): boolean {
  return address.startsWith('/');
}
