/**
 * Password hashes with scrypt, for Node. Guessing costs more than with PBKDF2, because each guess also needs memory.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { assertMembers } from '../core/member.ts';
import type { Hasher } from './port.ts';

/**
 * Options of `createScryptHasher`.
 *
 * @public
 */
export interface ScryptHasherOptions {
  /**
   * Cost N in time and memory: a power of two from 2 to 2^20. Default 2^17, which needs 128 MiB during hashing; use
   * less only in tests.
   */
  readonly cost?: number;
}

/**
 * Creates a hasher that uses scrypt with r = 8, p = 1 and a random salt of 16 bytes. Needs Node.
 *
 * A hash is the text `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`: `ln` is the binary logarithm of the cost, salt and hash are
 * in base64 without padding. `verify` takes the cost from the hash, so hashes of lower cost stay valid after the cost
 * is raised; such a verification waits until it has taken as long as any other. A hash of another
 * form, or with a cost out of range, matches no password; its verification takes as long as that of a wrong password.
 *
 * @param options - the cost; see `ScryptHasherOptions`
 * @returns the hasher
 * @throws TypeError for an unknown option
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
  assertMembers(options, ['cost'], 'option of createScryptHasher');
  const { cost = 2 ** 17 } = options;
  // A text of digits has a logarithm too.
  const logCost = typeof cost === 'number' ? Math.log2(cost) : NaN;
  if (!isLogCost(logCost)) {
    throw new RangeError(
      `The cost of scrypt must be a power of two from 2 to ${String(2 ** maxLogCost)}, not ${String(cost)}`,
    );
  }
  // Stands in for a hash that cannot be parsed, so that the verification costs as much as for a wrong password.
  const decoy = { logCost, salt: Buffer.alloc(saltLength), key: Buffer.alloc(keyLength) };
  const present = createDurations(() => derive('', logCost, decoy.salt));
  return Object.freeze({
    async hash(password: string) {
      const salt = randomBytes(saltLength);
      return formatHash({ logCost, salt, key: await present.time(() => derive(password, logCost, salt)) });
    },
    async verify(password: string, hash: string) {
      const parts = parseHash(hash) ?? decoy;
      const work = (): Promise<Buffer> => derive(password, parts.logCost, parts.salt);
      const key = await (parts.logCost < logCost ? present.stretch(work) : present.time(work));
      return timingSafeEqual(key, parts.key) && parts !== decoy;
    },
    needsRehash(hash: string) {
      const parts = parseHash(hash);
      return parts !== undefined && parts.logCost < logCost;
    },
    knows(hash: string) {
      const parts = parseHash(hash);
      if (parts !== undefined && parts.logCost < logCost) present.prepare();
      return parts !== undefined;
    },
  });
}

/** The durations of hashing at the present cost. */
interface Durations {
  /** Does work of the present cost. */
  time<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Does work of a lower cost, and waits until the work has taken as long as work of the present cost. More hashing
   * could not fill the time exactly: a lower cost needs less memory, and gains from the caches of the processor.
   */
  stretch<T>(work: () => Promise<T>): Promise<T>;
  /** Takes the time of some work of the present cost, if none was done yet: work of a lower cost is to come. */
  prepare(): void;
}

/** @param presentWork - some work of the present cost */
function createDurations(presentWork: () => Promise<unknown>): Durations {
  const last: number[] = [];
  const time: Durations['time'] = async (work) => {
    const start = performance.now();
    const result = await work();
    last.push(performance.now() - start);
    // The machine can be busier now than a minute ago.
    if (last.length > 9) last.shift();
    return result;
  };
  let first: Promise<unknown> | undefined;
  const measure = async (): Promise<void> => {
    if (last.length > 0) return;
    try {
      await (first ??= time(presentWork));
    } finally {
      first = undefined;
    }
  };
  return {
    time,
    // What fails here is tried again at the first work of a lower cost, whose caller gets the error.
    prepare: () => void measure().catch(() => undefined),
    async stretch(work) {
      const start = performance.now();
      // Both at once: one after the other would take longer than work of the present cost.
      const [result] = await Promise.all([work(), measure()]);
      const usual = last.toSorted((a, b) => a - b)[last.length >> 1] ?? 0;
      await sleep(Math.max(0, start + usual - performance.now()));
      return result;
    },
  };
}

const saltLength = 16;
const keyLength = 32;

/** A hash of this cost needs 1 GiB. A higher limit would let one hash in a foreign document exhaust the memory. */
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
  // The memory that scrypt needs. Without this option, Node refuses more than 32 MiB.
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
