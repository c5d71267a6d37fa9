/**
 * Password hashes made with scrypt, for Node: dearer to guess than PBKDF2, because each guess needs memory too.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';

import type { Hasher } from './port.ts';

/**
 * How `createScryptHasher` hashes.
 *
 * @public
 */
export interface ScryptHasherOptions {
  /**
   * Cost N in time and memory: a power of two from 2 to 2^20; 2^17 when left out, which takes 128 MiB while it hashes.
   * Less is for tests.
   */
  readonly cost?: number;
}

/**
 * Creates a hasher that uses scrypt with r = 8, p = 1 and a random salt of 16 bytes. It needs Node.
 *
 * A hash is text: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, where `ln` is the binary logarithm of the cost and both parts
 * are in base64 without padding. `verify` takes the cost from the hash, so that hashes made before the cost was raised
 * stay good. A hash of another form, or of a cost out of range, is that of no password; finding out takes as long as a
 * wrong password.
 *
 * @param options - the cost; see `ScryptHasherOptions`
 * @returns the hasher
 * @throws RangeError when the cost is not a power of two from 2 to 2^20
 *
 * @example
 * ```ts
 * import { createScryptHasher } from 'gateway-admin-core/scrypt';
 *
 * const hasher = createScryptHasher();
 * const passwordHash = await hasher.hash('correct horse');
 * passwordHash.startsWith('$scrypt$ln=17,r=8,p=1$'); // => true
 * await hasher.verify('battery staple', passwordHash); // => false
 * ```
 *
 * @see RFC 7914; docs/spec-choices.md 31.
 *
 * @public
 */
export function createScryptHasher(options: ScryptHasherOptions = {}): Hasher {
  const { cost = 2 ** 17 } = options;
  const logCost = Math.log2(cost);
  if (!isLogCost(logCost)) {
    throw new RangeError(
      `The cost of scrypt is a power of two from 2 to ${String(2 ** maxLogCost)}, not ${String(cost)}`,
    );
  }
  // Verified against in the place of a hash that cannot be read: as much work as a wrong password.
  const decoy = { logCost, salt: Buffer.alloc(saltLength), key: Buffer.alloc(keyLength) };
  return Object.freeze({
    async hash(password: string) {
      const salt = randomBytes(saltLength);
      return formatHash({ logCost, salt, key: await derive(password, logCost, salt) });
    },
    async verify(password: string, hash: string) {
      const parts = parseHash(hash) ?? decoy;
      const key = await derive(password, parts.logCost, parts.salt);
      return timingSafeEqual(key, parts.key) && parts !== decoy;
    },
  });
}

const saltLength = 16;
const keyLength = 32;

/** A hash of this cost takes 1 GiB. More would let one hash, in a document from elsewhere, exhaust the memory. */
const maxLogCost = 20;

const blockSize = 8;
const parallelization = 1;

interface HashParts {
  readonly logCost: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

function isLogCost(logCost: number): boolean {
  return Number.isInteger(logCost) && logCost >= 1 && logCost <= maxLogCost;
}

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function derive(password: string, logCost: number, salt: Buffer): Promise<Buffer> {
  const cost = 2 ** logCost;
  // What the algorithm needs; the limit that Node has without it is 32 MiB.
  const maxmem = 128 * blockSize * (cost + parallelization + 2);
  return scryptAsync(password, salt, keyLength, { cost, blockSize, parallelization, maxmem });
}

function formatHash({ logCost, salt, key }: HashParts): string {
  return `$scrypt$ln=${String(logCost)},r=8,p=1$${toBase64(salt)}$${toBase64(key)}`;
}

/** The lengths in the pattern are those of a salt and a key in base64 without padding. */
const hashForm = /^\$scrypt\$ln=([1-9][0-9]?),r=8,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

function parseHash(hash: string): HashParts | undefined {
  const [, digits, salt, key] = hashForm.exec(hash) ?? [];
  const logCost = Number(digits);
  if (salt === undefined || key === undefined || !isLogCost(logCost)) return undefined;
  return { logCost, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
