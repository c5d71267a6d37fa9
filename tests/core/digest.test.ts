/**
 * Digests: as the platform gives them, whatever the text.
 */
import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { canonicalText, formatDigest, sha256, shortDigest } from '../../src/core/digest.ts';
import { character } from '../support/arbitrary-character.ts';

const hashOf = (text: string) => createHash('sha256').update(text.toWellFormed());

describe('a digest', () => {
  it('is the SHA-256 of the text', () => {
    const texts = fc.oneof(fc.string({ unit: character, maxLength: 300 }), fc.constant('a'.repeat(119)));
    fc.assert(
      fc.property(texts, (text) => {
        expect(sha256(text)).toBe(hashOf(text).digest('hex'));
        const short = hashOf(text).digest().subarray(0, 16).toString('base64url');
        expect(formatDigest(shortDigest(text))).toBe(short);
      }),
    );
  });

  it('is written modulo 2^128, so that sums have the same length', () => {
    const most = 2n ** 128n - 1n;
    expect([formatDigest(0n), formatDigest(most), formatDigest(most + 1n)]).toEqual([
      'A'.repeat(22),
      `${'_'.repeat(21)}w`,
      'A'.repeat(22),
    ]);
  });
});

it('the canonical text is that of an equal value with its members in any order', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value = JSON.parse(text) as Parameters<typeof canonicalText>[0];
      const turned = JSON.parse(text, (_name, member: unknown) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).toReversed())
          : member,
      ) as typeof value;
      expect(canonicalText(turned)).toBe(canonicalText(value));
      expect(JSON.parse(canonicalText(value))).toEqual(value);
    }),
  );
});
