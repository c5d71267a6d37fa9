/**
 * Signers: sign texts with a key that is drawn for the process, as HMAC with SHA-256 (RFC 2104).
 */

/** Signs a text: the same text has the same signature, and nothing of the text follows from it. @internal */
export type Sign = (text: string) => string | Promise<string>;

/** The part of `node:crypto` that signs at once. */
interface NodeCrypto {
  randomBytes(count: number): Uint8Array;
  createHmac(hash: 'sha256', key: Uint8Array): Hmac;
}

interface Hmac {
  update(text: string): Hmac;
  digest(encoding: 'base64'): string;
}

/** Node 20.16, Bun, Deno and others give their modules at run time. */
interface Runtime {
  readonly process?: { readonly getBuiltinModule?: (id: 'node:crypto') => NodeCrypto | undefined };
}

/**
 * Draws a key, and makes the function that signs with it.
 *
 * Web Crypto signs on another thread, and the way there and back takes ten times as long as the signature. So it is
 * used only where there is no `node:crypto`.
 *
 * @internal
 */
export function createSigner({ process } = globalThis as unknown as Runtime): Sign {
  const node = process?.getBuiltinModule?.('node:crypto');
  if (node === undefined) return createWebSigner();
  const key = node.randomBytes(32);
  return (text) => node.createHmac('sha256', key).update(text).digest('base64');
}

function createWebSigner(): Sign {
  let key: Promise<CryptoKey> | undefined;
  return async (text) => {
    key ??= crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const bytes = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(text));
    return String.fromCharCode(...new Uint8Array(bytes));
  };
}
