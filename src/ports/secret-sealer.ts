/**
 * Secrets sealed with AES-256-GCM through WebCrypto, which every runtime has.
 */
import type { SecretSealer } from './port.ts';

/**
 * With what {@link createSecretSealer} seals.
 *
 * @public
 */
export interface SecretSealerOptions {
  /** The key, 32 random bytes that the host keeps safe. Left out, one is drawn that never leaves the process. */
  readonly key?: Uint8Array;
}

/**
 * Creates what seals secrets: AES-256-GCM with a random nonce for each, as text `v1.<nonce>.<ciphertext>` in base64url.
 *
 * Without a key, what was sealed can be opened for as long as this object lives: `durable` is false. One key seals up
 * to 2^32 secrets. The length of a secret shows.
 *
 * @param options - the key; see {@link SecretSealerOptions}. It is copied
 * @returns the port. `open` rejects with an Error, whose message holds nothing secret, when the text was made with
 *   another key, was changed by as much as a character, or is no sealed text at all
 * @throws RangeError when the key is not 32 bytes
 *
 * @example
 * ```ts
 * import { createSecretSealer } from 'gateway-admin-core';
 *
 * const secrets = createSecretSealer({ key: crypto.getRandomValues(new Uint8Array(32)) });
 * const sealed = await secrets.seal('correct horse');
 * sealed.includes('horse'); // => false
 * await secrets.open(sealed); // => 'correct horse'
 * secrets.durable; // => true
 * ```
 *
 * @see NIST SP 800-38D; docs/spec-choices.md 24.
 *
 * @public
 */
export function createSecretSealer(options: SecretSealerOptions = {}): SecretSealer {
  const aesKey = aesKeyFrom(options.key);
  return Object.freeze({
    durable: options.key !== undefined,
    async seal(secret: string) {
      const iv = crypto.getRandomValues(new Uint8Array(nonceLength));
      const text = new TextEncoder().encode(secret);
      const sealed = await crypto.subtle.encrypt({ name: algorithm, iv }, await aesKey(), text);
      return `v1.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`;
    },
    async open(sealed: string) {
      const [, nonce, ciphertext] = sealedForm.exec(sealed) ?? [];
      const iv = fromBase64Url(nonce);
      const data = fromBase64Url(ciphertext);
      if (iv === undefined || data === undefined) throw new Error(foreign);
      const key = await aesKey();
      const text = await crypto.subtle.decrypt({ name: algorithm, iv }, key, data).catch(() => undefined);
      if (text === undefined) throw new Error(foreign);
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(text);
    },
  });
}

const algorithm = 'AES-GCM';
const keyLength = 32;
const nonceLength = 12;

const foreign =
  'The sealed text cannot be opened: it was sealed with another key, or was changed since. Set the secret again.';

const sealedForm = /^v1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/;

/** Made when it is first needed: some runtimes have no randomness yet while modules load. */
function aesKeyFrom(key: Uint8Array | undefined): () => Promise<CryptoKey> {
  // Anything else that passes for a list of 32 would become a key of zeros.
  if (key !== undefined && !(ArrayBuffer.isView(key) && key.byteLength === keyLength)) {
    throw new RangeError(`The key for secrets is a Uint8Array of ${String(keyLength)} bytes`);
  }
  const copy = key === undefined ? undefined : new Uint8Array(key);
  let made: Promise<CryptoKey> | undefined;
  return () => (made ??= copy === undefined ? generateKey() : importKey(copy));
}

function generateKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: algorithm, length: keyLength * 8 }, false, ['encrypt', 'decrypt']);
}

function importKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, algorithm, false, ['encrypt', 'decrypt']);
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The bytes, or nothing unless the text is the one that {@link toBase64Url} gives for them. */
function fromBase64Url(text = ''): Uint8Array<ArrayBuffer> | undefined {
  // No bytes have this length, and atob throws for it.
  if (text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  // The last character has bits to spare: with others in them it would be another text for the same bytes.
  return toBase64Url(bytes) === text ? bytes : undefined;
}
