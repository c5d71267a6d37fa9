import { describe, expect, it } from '@jest/globals';
import { defaultLimits } from 'gateway-admin-core';
import type { PatchRules } from 'gateway-admin-core/json';

import { fieldTables } from '../docs/tables.ts';
import { accepted, type Limit } from '../support/limit.ts';
import { allBoundsOf } from '../support/shape-bound.ts';
import { limits } from './limit.ts';

const rows = Object.values(limits).flat();

/** The largest size within a limit. Time is over once it has passed. */
function largest({ value, unit }: Limit): number {
  return unit === 'milliseconds' ? value - 1 : value;
}

describe.each(Object.entries(limits))('the limits of %s', (_, chapter) => {
  // Promise: limit
  it.each(chapter)('hold: $bounds, up to $value', async (limit) => {
    expect(await limit.trial(largest(limit))).toBe(accepted);
    expect(await limit.trial(largest(limit) + 1)).toBe(limit.beyond);
  });
});

/** The rules of a patch that are limits: those with a number. */
const patchLimits = {
  maxOperations: true,
  maxPointerLength: true,
  maxPointerTokens: true,
  maxResultBytes: true,
} satisfies Record<Exclude<keyof PatchRules, 'reservedKeys' | 'present'>, true>;

describe('the table of limits', () => {
  it('has one row for each limit that can be set, with its default', () => {
    const settable = rows.flatMap(({ option, value }) =>
      option === undefined ? [] : [[option, value] as const],
    );
    expect(settable.toSorted()).toEqual(Object.entries(defaultLimits).toSorted());
  });

  it('has one row for each limit of applyPatch', () => {
    const settable = rows.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
    expect(settable.toSorted()).toEqual(Object.keys(patchLimits).toSorted());
  });

  it('has the largest value of each field of each kind', () => {
    const bounds = Object.values(fieldTables).flatMap(({ all }) =>
      all.flatMap(({ shape, accepts }) => [shape, accepts ?? shape].flatMap(allBoundsOf)),
    );
    const values = new Set(limits['Values']?.map(({ value }) => value));
    expect(bounds.length).toBeGreaterThan(50);
    expect(bounds.filter((bound) => !values.has(bound))).toEqual([]);
  });
});
