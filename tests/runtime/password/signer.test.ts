import { describe, expect, it } from '@jest/globals';

import { createSigner } from '../../../src/runtime/password/signer.ts';

describe.each([
  ['where there is node:crypto', createSigner],
  ['where there is Web Crypto alone', () => createSigner({})],
])('a signer %s', (_where, create) => {
  it('gives the same text the same signature, and no other text, also while its key is drawn', async () => {
    const sign = create();
    const texts = ['', 'a', 'b', 'ä', '\ud83d\ude00', 'a'.repeat(100_000)];
    const signAll = () => Promise.all(texts.map(async (text) => sign(text)));
    const signatures = await signAll();
    expect(await signAll()).toEqual(signatures);
    expect(new Set(signatures).size).toBe(texts.length);
  });

  it('has a key of its own', async () => {
    expect(await create()('a')).not.toBe(await create()('a'));
  });
});
