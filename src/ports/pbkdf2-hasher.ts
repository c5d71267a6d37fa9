/**
 * Password hashes with PBKDF2 through WebCrypto, which every runtime has.
 */
import { assertMembers } from '../core/member.ts';
import type { Hasher } from './port.ts';

/**
 * Options of {@link createPbkdf2Hasher}.
 *
 * @public
 */
export interface Pbkdf2HasherOptions {
  /** Rounds for each hash, from 1 to 10,000,000. Default 600,000; use fewer only in tests. */
  readonly rounds?: number;
}

/**
 * Creates a hasher that uses PBKDF2 with HMAC-SHA-256 and a random salt of 16 bytes.
 *
 * A hash is the text `$pbkdf2-sha256$i=600000$<salt>$<hash>`, with salt and hash in base64 without padding. `verify`
 * takes the rounds from the hash, so hashes with fewer rounds stay valid after the rounds are raised; the missing
 * rounds are worked off, so that such a verification takes as long as any other. A hash of another form, or with rounds
 * out of range, matches no password; its verification takes as long as that of a wrong password.
 *
 * @param options - the rounds
 * @returns the hasher
 * @throws RangeError when the rounds are not a whole number from 1 to 10,000,000
 *
 * @example
 * ```ts
 * import { createPbkdf2Hasher, createSnapshot } from 'gateway-admin-core';
 *
 * const hasher = createPbkdf2Hasher();
 * const passwordHash = await hasher.hash('correct horse');
 * passwordHash.startsWith('$pbkdf2-sha256$i=600000$'); // => true
 * await hasher.verify('battery staple', passwordHash); // => false
 *
 * const snapshot = createSnapshot({ users: [{ name: 'ada', password: { sealed: passwordHash } }] });
 * ```
 *
 * @see RFC 8018 §5.2; docs/spec-choices.md 31.
 *
 * @public
 */
export function createPbkdf2Hasher(options: Pbkdf2HasherOptions = {}): Hasher {
  assertMembers(options, ['rounds'], 'option of createPbkdf2Hasher');
  const { rounds = 600_000 } = options;
  if (!isRounds(rounds)) {
    throw new RangeError(
      `The rounds of PBKDF2 must be a whole number from 1 to ${String(maxRounds)}, not ${String(rounds)}`,
    );
  }
  // Stands in for a hash that cannot be parsed, so that the verification costs as much as for a wrong password.
  const decoy = { rounds, salt: new Uint8Array(saltLength), key: new Uint8Array(keyLength) };
  return Object.freeze({
    async hash(password: string) {
      const salt = crypto.getRandomValues(new Uint8Array(saltLength));
      return formatHash({ rounds, salt, key: await derive(password, rounds, salt) });
    },
    async verify(password: string, hash: string) {
      const parts = parseHash(hash) ?? decoy;
      const key = await derive(password, parts.rounds, parts.salt);
      if (parts.rounds < rounds) await derive(password, rounds - parts.rounds, parts.salt);
      return sameBytes(key, parts.key) && parts !== decoy;
    },
    needsRehash(hash: string) {
      const parts = parseHash(hash);
      return parts !== undefined && parts.rounds < rounds;
    },
    knows: (hash: string) => parseHash(hash) !== undefined,
  });
}

const saltLength = 16;
const keyLength = 32;

/** More rounds would let one hash in a foreign document keep a thread busy for minutes. */
const maxRounds = 10_000_000;

interface HashParts {
  readonly rounds: number;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly key: Uint8Array<ArrayBuffer>;
}

function isRounds(rounds: number): boolean {
  return Number.isInteger(rounds) && rounds >= 1 && rounds <= maxRounds;
}

async function derive(
  password: string,
  rounds: number,
  salt: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { subtle } = crypto;
  const secret = new TextEncoder().encode(password);
  const base = await subtle.importKey('raw', secret, 'PBKDF2', false, ['deriveBits']);
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', iterations: rounds, salt };
  return new Uint8Array(await subtle.deriveBits(algorithm, base, keyLength * 8));
}

function formatHash({ rounds, salt, key }: HashParts): string {
  return `$pbkdf2-sha256$i=${String(rounds)}$${toBase64(salt)}$${toBase64(key)}`;
}

/** The lengths in the pattern are those of a salt and a key in base64 without padding. */
const hashForm = /^\$pbkdf2-sha256\$i=([1-9][0-9]{0,7})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

function parseHash(hash: string): HashParts | undefined {
  const [, digits, salt, key] = hashForm.exec(hash) ?? [];
  const rounds = Number(digits);
  if (salt === undefined || key === undefined || !isRounds(rounds)) return undefined;
  return { rounds, salt: fromBase64(salt), key: fromBase64(key) };
}

/** Compares in constant time, wherever the first difference is. */
function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('=', '');
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
