/**
 * Digests: SHA-256 (FIPS 180-4) at once. A decision is made in one turn of the event loop, and Web Crypto answers
 * later.
 */

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
  const bytes = new TextEncoder().encode(text);
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
    const [w2, w7, w15, w16] = [at(words, t - 2), at(words, t - 7), at(words, t - 15), at(words, t - 16)];
    words[t] =
      (turn(w2, 17) ^ turn(w2, 19) ^ (w2 >>> 10)) + w7 + (turn(w15, 7) ^ turn(w15, 18) ^ (w15 >>> 3)) + w16;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < 64; t += 1) {
    const one =
      h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + at(constants, t) + at(words, t);
    const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [place, word] of [a, b, c, d, e, f, g, h].entries()) hash[place] = at(hash, place) + word;
}

const at = (words: Int32Array, place: number): number => words[place] ?? 0;

/** Rotates a word to the right. */
function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
