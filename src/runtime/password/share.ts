/**
 * Shares: who asks for a password to be hashed.
 */
import type { AdminRequest, Principal } from '../../http/message.ts';
import type { Share } from './fair-queue.ts';

/**
 * Gives the share of a log-in, or of a new password: its network and the name of a user, in a form that one client cannot
 * vary at will.
 *
 * @param name - the name of the user, in any case
 * @internal
 */
export function shareOf({ peer }: AdminRequest, name: string): Omit<Share, 'attempt'> {
  const networks = isText(peer) ? networksOf(peer.slice(0, longestPeer)) : [''];
  return { isKnown: false, networks, name: name.toLowerCase() };
}

/** Gives the share of a new password of a request whose caller has logged in, if anybody has to log in. @internal */
export function shareOfCaller(request: AdminRequest, caller: Principal | undefined): Share {
  return { ...shareOf(request, caller?.name ?? ''), attempt: '', isKnown: caller !== undefined };
}

/** Longest peer that is told apart, in UTF-16 code units. */
const longestPeer = 255;

/** Hosts without types can give a peer that is no text. */
function isText(peer: unknown): peer is string {
  return typeof peer === 'string';
}

/**
 * The networks of an IPv6 address, the widest first: its first 48, 56 and 64 bits. A client has all addresses with the
 * same 64 bits to itself, and often all with the same 56 or 48 bits (RFC 6177 §2). Any other peer stays as it is, an IPv4
 * address in IPv6 form too.
 */
function networksOf(peer: string): readonly string[] {
  if (!peer.includes(':') || peer.includes('.')) return [peer];
  const [before = '', after = ''] = peer.split('::');
  const [first = [], last = []] = [before, after].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const leading = [...first, ...zeros, ...last].slice(0, 4);
  const digits = leading.map((group) => group.toLowerCase().padStart(4, '0')).join('');
  return [12, 14, 16].map((length) => digits.slice(0, length));
}
