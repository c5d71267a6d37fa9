/**
 * Shares: who asks for a password to be hashed.
 */
import type { AdminRequest } from '../../http/message.ts';
import type { Share } from './fair-queue.ts';

/**
 * Gives the share of a request: its peer and the name of a user, both in a form that one client cannot vary at will.
 *
 * @param name - the name of a user, in any case; left out if the request is about no user yet
 * @internal
 */
export function shareOf({ peer }: AdminRequest, name = ''): Share {
  return { peer: isText(peer) ? networkOf(peer) : '', name: name.toLowerCase() };
}

/** Hosts without types can give a peer that is no text. */
function isText(peer: unknown): peer is string {
  return typeof peer === 'string';
}

/**
 * The network of an IPv6 address: its first 64 bits, because one client usually has the other 64 bits to itself
 * (RFC 4291 §2.5.4). Any other peer stays as it is, an IPv4 address in IPv6 form too.
 */
function networkOf(peer: string): string {
  if (!peer.includes(':') || peer.includes('.')) return peer;
  const [before = '', after = ''] = peer.split('::');
  const groups = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const [first = [], last = []] = groups;
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const leading = [...first, ...zeros, ...last].slice(0, 4);
  return leading.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':');
}
