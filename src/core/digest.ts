/**
 * Digests: SHA-256 (FIPS 180-4) of a text, at once. A decision is made in one turn of the event loop, and Web Crypto
 * answers later.
 */
import { isArray, isObject, type Json } from '../json/value.ts';
import { utf8 } from './text.ts';

/** Writes JSON with the members of each object in alphabetical order: equal values have equal texts. @internal */
export function canonicalText(value: Json): string {
  if (isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`)
    .join()}}`;
}

/** The number of bits of a short digest. */
const shortBits = 128;

/** The first 16 bytes of the SHA-256 of a text, as a number. @internal */
export function shortDigest(text: string): bigint {
  const [a = 0, b = 0, c = 0, d = 0] = hashOf(text);
  const bits = (word: number): bigint => BigInt(word >>> 0);
  return (bits(a) << 96n) | (bits(b) << 64n) | (bits(c) << 32n) | bits(d);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Writes a short digest, or a sum of them modulo 2^128, in base64url: 22 characters (RFC 4648 §5).
 *
 * @internal
 */
export function formatDigest(digest: bigint): string {
  const digits = `${BigInt.asUintN(shortBits, digest)
    .toString(16)
    .padStart(shortBits / 4, '0')}0`;
  let text = '';
  // Three hexadecimal digits are two characters.
  for (let at = 0; at < digits.length; at += 3) {
    const bits = Number.parseInt(digits.slice(at, at + 3), 16);
    text += alphabet.charAt(bits >> 6) + alphabet.charAt(bits & 63);
  }
  return text;
}

/** The first 32 bits of the fractional parts of a root of the first 64 primes. */
function fractionsOf(root: (prime: number) => number): Int32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number += 1)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  return Int32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

const start = fractionsOf(Math.sqrt).subarray(0, 8);
const constants = fractionsOf(Math.cbrt);

/** Gives the SHA-256 of the UTF-8 of a text, as 64 hexadecimal digits. @internal */
export function sha256(text: string): string {
  return Array.from(hashOf(text), (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The words of a block, which every block writes anew. */
const words = new Int32Array(64);

function hashOf(text: string): Int32Array {
  const bytes = utf8(text);
  const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const hash = Int32Array.from(start);
  for (let block = 0; block < padded.byteLength; block += 64) addBlock(hash, padded, block);
  return hash;
}

/** Adds a block of 64 bytes to a hash. The names of the variables are those of FIPS 180-4 §6.2.2. */
function addBlock(hash: Int32Array, padded: DataView, block: number): void {
  for (let t = 0; t < 16; t += 1) words[t] = padded.getInt32(block + 4 * t);
  for (let t = 16; t < 64; t += 1) {
    const w2 = words[t - 2] ?? 0;
    const w15 = words[t - 15] ?? 0;
    const s0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3);
    const s1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10);
    words[t] = (words[t - 16] ?? 0) + s0 + (words[t - 7] ?? 0) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (constants[t] ?? 0) + (words[t] ?? 0)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) hash[at] = (hash[at] ?? 0) + word;
}
