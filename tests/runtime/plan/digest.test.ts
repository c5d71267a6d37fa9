import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { sha256 } from '../../../src/runtime/plan/digest.ts';

const sha256OfNode = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

describe('sha256', () => {
  it('gives what Node gives, for a text of any length and any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(sha256OfNode(text));
      }),
    );
  });

  it('pads every length of a block', () => {
    for (let length = 0; length <= 130; length += 1)
      expect(sha256('a'.repeat(length))).toBe(sha256OfNode('a'.repeat(length)));
  });
});
