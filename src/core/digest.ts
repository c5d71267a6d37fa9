/**
 * Digests: SHA-256 (FIPS 180-4) of a text, at once. A decision is made in one turn of the event loop, and Web Crypto
 * answers later.
 */
import { isObject, type Json } from '../json/value.ts';
import { utf8 } from './text.ts';

/** Writes JSON with the members of each object in alphabetical order: equal values have equal texts. @internal */
export function canonicalText(value: Json): string {
  return JSON.stringify(value, (_name, member: Json) => {
    if (!isObject(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** The number of bits of a short digest. */
const shortBits = 128;

/** The first 16 bytes of the SHA-256 of a text, as a number. @internal */
export function shortDigest(text: string): bigint {
  return BigInt(`0x${sha256(text).slice(0, shortBits / 4)}`);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Writes a short digest, or a sum of them modulo 2^128, in base64url: 22 characters (RFC 4648 §5).
 *
 * @internal
 */
export function formatDigest(digest: bigint): string {
  let left = BigInt.asUintN(shortBits, digest) << 4n;
  let text = '';
  for (let at = 0; at < 22; at += 1) {
    text = `${alphabet[Number(left & 63n)] ?? ''}${text}`;
    left >>= 6n;
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
  const bytes = utf8(text);
  const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const hash = Int32Array.from(start);
  const words = new Int32Array(64);
  for (let block = 0; block < padded.byteLength; block += 64) addBlock(hash, words, padded, block);
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Adds a block of 64 bytes to a hash. The names of the variables are those of FIPS 180-4 §6.2.2. */
function addBlock(hash: Int32Array, words: Int32Array, padded: DataView, block: number): void {
  for (let t = 0; t < 16; t += 1) words[t] = padded.getInt32(block + 4 * t);
  for (let t = 16; t < 64; t += 1) {
    const [w2, w15] = [words[t - 2] ?? 0, words[t - 15] ?? 0];
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
  const [a0 = 0, b0 = 0, c0 = 0, d0 = 0, e0 = 0, f0 = 0, g0 = 0, h0 = 0] = hash;
  hash.set([a0 + a, b0 + b, c0 + c, d0 + d, e0 + e, f0 + f, g0 + g, h0 + h]);
}
