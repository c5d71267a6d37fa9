import { describe, expect, it } from '@jest/globals';

import { longestRun, normalForm } from '../../src/core/normal-form.ts';

const run = '\u0316'.repeat(longestRun);

describe('the normal form', () => {
  it.each(['', 'a', '\u00e9', '\u0301', '\u{1e922}\u0301', 'x'.repeat(1000), `${run}a${run}\n${run}`])(
    'composes %j with a composed letter in front and at the end',
    (text) => {
      const composed = `\u00e9a${text}a\u00e9`;
      expect(normalForm(composed.normalize('NFD'))).toBe(composed.normalize('NFC'));
    },
  );

  it.each(['', 'a', 'a'.repeat(100_000), 'a\u0301'.repeat(1000)])(
    'leaves a text with a longer run as it is, wherever the run is: beside %j',
    (text) => {
      for (const each of [`${run}\u0301`, '\u{1d165}'.repeat(longestRun + 1)]) {
        for (const long of [`e\u0301b${text}${each}`, `${each}${text}e\u0301`, `${text}${each}b\ne\u0301`])
          expect(normalForm(long) === long).toBe(true);
      }
    },
  );
});
