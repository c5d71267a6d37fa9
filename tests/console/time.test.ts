import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { durationText, tookText, whenText } from '../../console/time.ts';

const seconds: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

describe('a duration', () => {
  it('is said in its largest unit, and is never longer than it was', () => {
    fc.assert(
      fc.property(fc.nat(400_000_000), (milliseconds) => {
        const [, count = '', unit = ''] = /^(\d+) (s|min|h|d)$/.exec(durationText(milliseconds)) ?? [];
        const size = (seconds[unit] ?? Number.NaN) * 1000;
        expect(Number(count) * size).toBeLessThanOrEqual(milliseconds);
        expect((Number(count) + 1) * size).toBeGreaterThan(milliseconds);
        if (milliseconds >= 1000) expect(Number(count)).toBeGreaterThan(0);
        for (const other of Object.values(seconds))
          if (other * 1000 > size) expect(milliseconds).toBeLessThan(other * 1000);
      }),
    );
  });

  it('of a clock that differs is 0', () => {
    expect([-5000, 999].map(durationText)).toEqual(['0 s', '0 s']);
    expect([59_999, 60_000, 3_600_000, 86_400_000].map(durationText)).toEqual([
      '59 s',
      '1 min',
      '1 h',
      '1 d',
    ]);
  });

  it('of an act has tenths of seconds while it is short', () => {
    expect([0, 74, 340, 9940].map(tookText)).toEqual(['0.0 s', '0.1 s', '0.3 s', '9.9 s']);
    expect([10_000, 12_600, 75_000].map(tookText)).toEqual(['10 s', '13 s', '75 s']);
  });
});

describe('a moment', () => {
  const now = new Date(2026, 10, 26, 13, 5, 9).getTime();

  it('of today is a time of day, and any other has its date', () => {
    expect(whenText(now - 3_600_000, now)).toMatch(/^12\D05\D09$/);
    for (const days of [-366, -31, -1, 1]) {
      const at = new Date(2026, 10, 26 + days, 13, 5, 9).getTime();
      expect(whenText(at, now)).toContain(String(new Date(at).getFullYear()));
      expect(whenText(at, now)).toMatch(/13\D05\D09$/);
    }
  });

  it('after midnight is not written as hour 24', () => {
    expect(whenText(new Date(2026, 10, 26, 0, 1, 2).getTime(), now)).toMatch(/^0?0\D01\D02$/);
  });
});
