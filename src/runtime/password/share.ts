/**
 * Shares: who asks for a password to be hashed, or for a place to read events.
 */
import type { AdminRequest, Principal } from '../../http/message.ts';
import { longestName } from '../limits.ts';
import type { Share } from './fair-queue.ts';

/**
 * Gives the share of a log-in, or of a new password: its network and the name of a user, in a form that one client
 * cannot vary at will.
 *
 * @param name - the name of the user, in any case
 * @internal
 */
export function shareOf({ peer }: AdminRequest, name: string): Omit<Share, 'attempt' | 'standing'> {
  const networks = peer === undefined ? [''] : networksOf(peer.slice(0, longestName));
  return { networks, name: name.toLowerCase() };
}

/** Gives the share of a new password of a request whose caller has logged in, if callers have to log in. @internal */
export function shareOfCaller(request: AdminRequest, caller: Principal | undefined): Share {
  const standing = caller === undefined ? 'fresh' : 'known';
  return { ...shareOf(request, caller?.name ?? ''), attempt: '', standing };
}

/**
 * Gives the reader of a stream: the user, or the network of the peer if no caller has to log in.
 *
 * @internal
 */
export function readerOf(request: AdminRequest, caller: Principal | undefined): string {
  return JSON.stringify(
    caller === undefined ? [shareOf(request, '').networks.at(-1)] : ['user', caller.name],
  );
}

/**
 * The networks of an address, the widest first. Any other peer stays as it is.
 *
 * - IPv4, in IPv6 form too: the first 24 bits, which one site often has to itself, and the address.
 * - IPv6: the first 32, 48, 56 and 64 bits. A client has all addresses with the same 64 bits to itself, and often all
 *   with the same 56 or 48 bits (RFC 6177 §2). A provider has those with the same 32 bits.
 */
function networksOf(peer: string): readonly string[] {
  const [, site] = /^((?:::ffff:)?\d+\.\d+\.\d+)\.\d+$/i.exec(peer) ?? [];
  if (site !== undefined) return [site, peer];
  if (!peer.includes(':') || peer.includes('.')) return [peer];
  const [before = '', after = ''] = peer.split('::');
  const [first = [], last = []] = [before, after].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const leading = [...first, ...zeros, ...last].slice(0, 4);
  const digits = leading.map((group) => group.toLowerCase().padStart(4, '0')).join('');
  return [8, 12, 14, 16].map((length) => digits.slice(0, length));
}
