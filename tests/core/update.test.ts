import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import type { Json } from '../../src/json/value.ts';
import { applyPatch } from '../../src/json/patch.ts';
import { changedBy, invertUpdate, mergeUpdate, wholeUpdate, type Update } from '../../src/core/update.ts';

type Settings = Readonly<Record<string, Json>>;

const values = fc.oneof(
  fc.constantFrom<Json>(0, 'a', true, null),
  fc.array(fc.nat(3)),
  fc.dictionary(fc.constantFrom('x', 'y'), fc.nat(3)).map((record): Json => ({ ...record })),
);
const settings: fc.Arbitrary<Settings> = fc
  .dictionary(fc.constantFrom('one', 'two', 'three', 'four'), values)
  .map((record) => ({ ...record }));

/** Whether two values are the same whatever the order of their members. */
function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  const [a, b] = [one, other].map((value) =>
    isRecord(value) ? `record ${JSON.stringify(Object.entries(value).toSorted())}` : JSON.stringify(value),
  );
  return a === b;
}

function isRecord(value: Json | undefined): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const update = (before: Settings, after: Settings): Update<Settings> => ({ before, after, operations: [] });

describe('an update without the settings that it does not change', () => {
  it('does the same to any settings', () => {
    fc.assert(
      fc.property(settings, settings, settings, (before, after, present) => {
        const whole = update(before, after);
        expect(mergeUpdate(present, changedBy(whole))).toEqual(mergeUpdate(present, whole));
      }),
    );
  });

  it('has them again from what it was decided on, and so has one that never lost them', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const whole = update(before, after);
        for (const each of [changedBy(whole), whole])
          expect(wholeUpdate(before, each)).toEqual({ before, after });
      }),
    );
  });

  it('has nothing that both sides have', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const changed = changedBy(update(before, after));
        for (const name of Object.keys({ ...changed.before, ...changed.after }))
          expect(sameValue(changed.before[name], changed.after[name])).toBe(false);
      }),
    );
  });
});

describe('mergeUpdate', () => {
  it('gives what was decided when nothing else has changed', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        expect(mergeUpdate(before, update(before, after))).toEqual(after);
      }),
    );
  });

  it('keeps what has changed meanwhile wherever the update leaves a field alone', () => {
    fc.assert(
      fc.property(settings, settings, settings, (before, after, present) => {
        const merged = mergeUpdate(present, update(before, after));
        for (const name of ['one', 'two', 'three', 'four']) {
          const alone = sameValue(before[name], after[name]);
          expect(merged[name]).toEqual(alone ? present[name] : after[name]);
        }
      }),
    );
  });

  it('changes neither what is there nor the update', () => {
    const present = Object.freeze({ one: 1, two: 2 });
    expect(mergeUpdate(present, update(present, { one: 3 }))).toEqual({ one: 3 });
    expect(present).toEqual({ one: 1, two: 2 });
  });

  it('sets a field again that had been unset meanwhile', () => {
    expect(mergeUpdate({ two: 2 }, update({ one: 1, two: 2 }, { one: 3, two: 2 }))).toEqual({
      one: 3,
      two: 2,
    });
  });
});

describe('invertUpdate', () => {
  it('gives the inverse: its operations make of what came what there was', () => {
    fc.assert(
      fc.property(settings, settings, (before, after) => {
        const inverse = invertUpdate(update(before, after));
        expect([inverse.before, inverse.after]).toEqual([after, before]);
        expect(applyPatch(after, inverse.operations)).toEqual({ ok: true, value: before });
      }),
    );
  });

  it('keeps what else the effect says', () => {
    const effect = {
      type: 'server.update',
      resource: '/servers/a',
      server: 'a',
      ...update({ one: 1 }, { one: 2 }),
    };
    expect(invertUpdate(effect)).toEqual({
      type: 'server.update',
      resource: '/servers/a',
      server: 'a',
      before: { one: 2 },
      after: { one: 1 },
      operations: [{ op: 'replace', path: '/one', value: 1 }],
    });
  });
});
