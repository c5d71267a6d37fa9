/**
 * Sealed secrets with AES-256-GCM through WebCrypto, which every runtime has.
 */
import { assertMembers } from '../core/member.ts';
import type { SecretSealer } from './port.ts';

/**
 * Options of {@link createSecretSealer}.
 *
 * @public
 */
export interface SecretSealerOptions {
  /**
   * The key: 32 random bytes that the host keeps safe. If left out, a new key is drawn, which never leaves the process.
   */
  readonly key?: Uint8Array;
}

/**
 * Creates a sealer of secrets: AES-256-GCM with a random nonce for each secret.
 *
 * A sealed text is `v1.<nonce>.<ciphertext>` in base64url and reveals the length of the secret. Without a key, only
 * this object can open its texts, and `durable` is false. One key seals up to 2^32 secrets.
 *
 * @param options - the key, which is copied
 * @returns the sealer. `open` rejects with an Error if the text was sealed with another key, was changed, or is no
 *   sealed text; the message contains no secret
 * @throws RangeError when the key does not have 32 bytes
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
  assertMembers(options, ['key'], 'option of createSecretSealer');
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
  'The sealed text cannot be opened: another key has sealed it, or somebody has changed it. Set the secret again.';

const sealedForm = /^v1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/;

/** Made at the first use, because some runtimes have no randomness while modules load. */
function aesKeyFrom(key: Uint8Array | undefined): () => Promise<CryptoKey> {
  // Any other object with 32 entries would silently become a key of zeros.
  if (key !== undefined && !(ArrayBuffer.isView(key) && key.byteLength === keyLength)) {
    throw new RangeError(`The key for secrets must be a Uint8Array of ${String(keyLength)} bytes`);
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

/** Decodes base64url; `undefined` unless {@link toBase64Url} gives the same text for the bytes. */
function fromBase64Url(text = ''): Uint8Array<ArrayBuffer> | undefined {
  // No bytes have this length in base64, and `atob` would throw.
  if (text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  // The last character has spare bits. Other values there would be a second text for the same bytes.
  return toBase64Url(bytes) === text ? bytes : undefined;
}
