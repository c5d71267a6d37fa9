import { createCipheriv, randomBytes } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSecretSealer } from 'gateway-admin-core';

import { character } from '../support/arbitrary-character.ts';

const key = randomBytes(32);
const texts = fc.string({ unit: character, maxLength: 200 });
const wrongKey = new RangeError('The key for secrets must be a Uint8Array of 32 bytes');
const cannotBeOpened = /^The sealed text cannot be opened/;

/** Sealed text made by an implementation that shares nothing with ours. */
function sealedElsewhere(secret: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const parts = [cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return `v1.${nonce.toString('base64url')}.${Buffer.concat(parts).toString('base64url')}`;
}

describe('seal', () => {
  it('gives what open makes the secret of, with or without a key of the host', async () => {
    const temporary = createSecretSealer();
    const durable = createSecretSealer({ key });
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(temporary, durable), async (secret, secrets) => {
        expect(await secrets.open(await secrets.seal(secret))).toBe(secret);
      }),
    );
  });

  it.each(['', '\0', '\ufeffhorse', 'e\u0301', '💾'])('keeps %j as it is', async (secret) => {
    const secrets = createSecretSealer();
    expect(await secrets.open(await secrets.seal(secret))).toBe(secret);
  });

  it('gives plain ASCII that does not show the secret', async () => {
    const sealed = await createSecretSealer().seal('correct horse');
    expect(sealed).toMatch(/^v1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').includes('horse')).toBe(false);
  });

  it('never takes a nonce twice', async () => {
    const secrets = createSecretSealer({ key });
    const sealed = await Promise.all(Array.from({ length: 500 }, () => secrets.seal('same')));
    expect(new Set(sealed.map((text) => text.split('.')[1])).size).toBe(500);
  });

  it('takes secrets of any size', async () => {
    const secrets = createSecretSealer();
    const secret = 'ä'.repeat(500_000);
    expect((await secrets.open(await secrets.seal(secret))) === secret).toBe(true);
  });
});

describe('open', () => {
  it('reads what another implementation of AES-256-GCM wrote', async () => {
    const secrets = createSecretSealer({ key });
    await fc.assert(
      fc.asyncProperty(texts, async (secret) => {
        expect(await secrets.open(sealedElsewhere(secret))).toBe(secret);
      }),
    );
  });

  it('reads what was sealed with the same key before a restart', async () => {
    const sealed = await createSecretSealer({ key }).seal('correct horse');
    expect(await createSecretSealer({ key: Uint8Array.from(key) }).open(sealed)).toBe('correct horse');
  });

  // Promise: sealed-text
  it('refuses a text in which any character was changed, added or left out', async () => {
    const secrets = createSecretSealer({ key });
    const characters = fc.stringMatching(/^[A-Za-z0-9_+/=. \n-]$/);
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(), fc.option(characters), fc.nat(1), async (...parts) => {
        const [secret, place, character, left] = parts;
        const sealed = await secrets.seal(secret);
        const index = place % sealed.length;
        const changed = sealed.slice(0, index) + (character ?? '') + sealed.slice(index + left);
        fc.pre(changed !== sealed);
        await expect(secrets.open(changed)).rejects.toThrow(cannotBeOpened);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses each other way to write the last character', async () => {
    const secrets = createSecretSealer({ key });
    // 17 bytes: the last of their characters has four bits to spare.
    const sealed = await secrets.seal('x');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const opened: string[] = [];
    for (const character of alphabet) {
      const text = sealed.slice(0, -1) + character;
      await secrets.open(text).then(() => opened.push(text), String);
    }
    expect(opened).toEqual([sealed]);
  });

  it('refuses what was sealed with another key', async () => {
    const sealed = await createSecretSealer().seal('correct horse');
    await expect(createSecretSealer().open(sealed)).rejects.toThrow(cannotBeOpened);
    await expect(createSecretSealer({ key }).open(sealed)).rejects.toThrow(cannotBeOpened);
  });

  it('refuses whatever is no sealed text', async () => {
    const secrets = createSecretSealer();
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        await expect(secrets.open(text)).rejects.toThrow(cannotBeOpened);
      }),
    );
  });

  it.each([
    ['an empty text', ''],
    ['a version alone', 'v1'],
    ['another version', 'v2.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA'],
    ['no ciphertext', 'v1.AAAAAAAAAAAAAAAA.'],
    ['a ciphertext shorter than its tag', 'v1.AAAAAAAAAAAAAAAA.AAAA'],
    ['a ciphertext of impossible length', 'v1.AAAAAAAAAAAAAAAA.AAAAA'],
    ['a short nonce', 'v1.AAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA'],
    ['a part more', 'v1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA.AAAA'],
  ])('refuses %s', async (_what, text) => {
    await expect(createSecretSealer().open(text)).rejects.toThrow(cannotBeOpened);
  });

  it('says why without saying anything of the text', async () => {
    const sealed = await createSecretSealer().seal('correct horse');
    const error: unknown = await createSecretSealer()
      .open(sealed)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain(sealed.slice(3, 12));
  });
});

describe('createSecretSealer', () => {
  it('is durable with a key of the host only', () => {
    expect(createSecretSealer({ key }).durable).toBe(true);
    expect(createSecretSealer().durable).toBe(false);
    expect(createSecretSealer({}).durable).toBe(false);
  });

  it('keeps a copy of the key, so that the host may wipe its own', async () => {
    const own = Uint8Array.from(key);
    const secrets = createSecretSealer({ key: own });
    own.fill(0);
    expect(await secrets.open(sealedElsewhere('correct horse'))).toBe('correct horse');
  });

  it('takes a key that is a part of a larger buffer', async () => {
    const large = Buffer.concat([randomBytes(7), key, randomBytes(9)]);
    const secrets = createSecretSealer({ key: large.subarray(7, 39) });
    expect(await secrets.open(sealedElsewhere('correct horse'))).toBe('correct horse');
  });

  it.each([0, 16, 24, 31, 33, 64])('refuses a key of %d bytes', (length) => {
    expect(() => createSecretSealer({ key: new Uint8Array(length) })).toThrow(wrongKey);
  });

  it.each([
    ['a text of 32 characters', 'x'.repeat(32)],
    ['the number 32', 32],
    ['a buffer', new ArrayBuffer(32)],
    ['null', null],
  ])('refuses %s in the place of a key', (_what, misuse) => {
    expect(() => createSecretSealer({ key: misuse as unknown as Uint8Array })).toThrow(wrongKey);
  });
});
