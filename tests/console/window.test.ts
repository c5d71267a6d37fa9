import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { highest, windowOf } from '../../console/window.ts';

/** The whole list has up to ten million rows. */
const totals = fc.oneof(fc.nat(2000), fc.nat(10_000_000), fc.constant(10_000_000));
const lists = fc.record({
  total: totals,
  rowHeight: fc.integer({ min: 16, max: 60 }),
  visible: fc.integer({ min: 120, max: 4000 }),
});
type List = typeof lists extends fc.Arbitrary<infer T> ? T : never;

/** A position of a share of the list, as a browser scrolls: in whole pixels, and at times beyond the ends. */
function positionIn(share: number, { total, rowHeight, visible }: List): number {
  const { height } = windowOf(total, rowHeight, 0, visible);
  return Math.round(share * (height - visible));
}

/** Where rows are, from the top of what is visible: the first drawn one, and the end of the last one. */
function drawnAt(scrolled: number, { total, rowHeight, visible }: List) {
  const { first, end, height, top } = windowOf(total, rowHeight, scrolled, visible);
  const at = Math.min(Math.max(0, scrolled), Math.max(0, height - visible));
  return { first, end, height, from: top - at, to: top - at + (end - first) * rowHeight };
}

/** Where to scroll to so that a row is at the top. The inverse of {@link windowOf}. */
function scrollTo(row: number, total: number, rowHeight: number, visible: number): number {
  const whole = total * rowHeight;
  const most = Math.max(0, Math.min(whole, highest) - visible);
  const scale = whole <= visible ? 0 : most / (whole - visible);
  return Math.min(most, row * rowHeight * scale);
}

describe('the window of a list', () => {
  it('covers what is visible at every position, with few rows', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: -0.1, max: 1.1, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        const { first, end, from, to, height } = drawnAt(positionIn(share, list), list);
        expect(height).toBeLessThanOrEqual(15_000_000);
        expect([first >= 0, end <= total, first <= end]).toEqual([true, true, true]);
        expect(end - first).toBeLessThanOrEqual(visible / rowHeight + 23);
        expect(from).toBeLessThanOrEqual(1e-6);
        expect(to).toBeGreaterThanOrEqual(Math.min(visible, total * rowHeight) - 1e-6);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows each row as a whole at some position that a browser can have', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        fc.pre(total > 0);
        const row = Math.floor(share * total);
        const scrolled = Math.floor(scrollTo(row, total, rowHeight, visible));
        const { first, end, from } = drawnAt(scrolled, list);
        const top = from + (row - first) * rowHeight;
        expect([first <= row, row < end]).toEqual([true, true]);
        expect(top).toBeGreaterThanOrEqual(-1e-6);
        expect(top + rowHeight).toBeLessThanOrEqual(visible + 1e-6);
      }),
      { numRuns: 2000 },
    );
  });

  it('has a row at its top where scrollTo leads, unless the list ends before', () => {
    fc.assert(
      fc.property(lists, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, share) => {
        const { total, rowHeight, visible } = list;
        const row = Math.floor(share * total);
        const scrolled = scrollTo(row, total, rowHeight, visible);
        const { first, from, height } = drawnAt(scrolled, list);
        const lowest = Math.max(0, total * rowHeight - visible);
        expect(from + (row - first) * rowHeight).toBeCloseTo(Math.max(0, row * rowHeight - lowest), 3);
        expect(scrolled).toBeLessThanOrEqual(Math.max(0, height - visible));
      }),
      { numRuns: 2000 },
    );
  });

  it('is unscaled where a browser can draw the whole list', () => {
    const [rowHeight, visible] = [28, 600];
    const total = Math.floor(highest / rowHeight);
    expect(windowOf(total, rowHeight, 2800, visible)).toEqual({
      first: 90,
      end: 133,
      height: total * rowHeight,
      top: 2520,
    });
    expect(windowOf(0, rowHeight, 0, visible)).toEqual({ first: 0, end: 0, height: 0, top: 0 });
  });
});
