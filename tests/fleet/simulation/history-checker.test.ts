/**
 * The checker of histories, on histories that a reader can check as well.
 */
import { describe, expect, it } from '@jest/globals';

import { orderOf } from './history-checker.ts';
import { registerOf, type NumberCall } from './register.ts';

type Line = readonly [askedAt: number, answeredAt: number, call: Omit<NumberCall, 'askedAt' | 'answeredAt'>];

const never = Number.POSITIVE_INFINITY;

/** The values of the calls in the order that the checker finds, for a number that is 0 at first. */
function valuesInOrder(lines: readonly Line[]): readonly number[] | undefined {
  const calls = lines.map(([askedAt, answeredAt, call]): NumberCall => ({ ...call, askedAt, answeredAt }));
  return orderOf(calls, registerOf(0))?.map(({ value }) => value);
}

const accepted = (value: number, more: Partial<NumberCall> = {}) =>
  ({ value, answer: 'accepted', ...more }) as const;

describe('a history has an order', () => {
  it.each<[string, readonly Line[], readonly number[]]>([
    [
      'of calls one after the other',
      [
        [1, 2, accepted(1)],
        [3, 4, accepted(2, { test: 1, tag: 1 })],
      ],
      [1, 2],
    ],
    [
      'of concurrent calls, whatever was asked first',
      [
        [1, 4, accepted(1, { test: 2 })],
        [2, 3, accepted(2, { test: 0 })],
      ],
      [2, 1],
    ],
    [
      'of concurrent calls with one tag, of which one is refused',
      [
        [1, 4, { value: 1, tag: 0, answer: 'precondition-failed' }],
        [2, 3, accepted(2, { tag: 0 })],
      ],
      [2, 1],
    ],
    [
      'that uses a call without an answer',
      [
        [1, never, { value: 1 }],
        [2, 3, accepted(2, { test: 1 })],
      ],
      [1, 2],
    ],
    [
      'that leaves out a call without an answer',
      [
        [1, never, { value: 1 }],
        [2, 3, accepted(2, { test: 0 })],
      ],
      [2],
    ],
    [
      'that uses a call without an answer long after the question',
      [
        [1, never, { value: 1 }],
        [2, 3, accepted(2)],
        [4, 5, { value: 1, answer: 'unchanged' }],
      ],
      [2, 1, 1],
    ],
    [
      'in which a tag holds again once the number is the same again',
      [
        [1, 2, accepted(1)],
        [3, 4, accepted(0)],
        [5, 6, accepted(2, { tag: 0 })],
      ],
      [1, 0, 2],
    ],
  ])('%s', (_what, lines, values) => {
    expect(valuesInOrder(lines)).toEqual(values);
  });
});

describe('a history has no order', () => {
  it.each<[string, readonly Line[]]>([
    [
      'if two calls have overwritten the same number',
      [
        [1, 4, accepted(1, { test: 0 })],
        [2, 3, accepted(2, { test: 0 })],
      ],
    ],
    [
      'if two calls have used the same tag',
      [
        [1, 4, accepted(1, { tag: 0 })],
        [2, 3, accepted(2, { tag: 0 })],
      ],
    ],
    [
      'if a call rests on what came before an earlier answer',
      [
        [1, 2, accepted(1)],
        [3, 4, { value: 9, test: 1, answer: 'patch-test-failed' }],
      ],
    ],
    [
      'if "unchanged" was not so',
      [
        [1, 2, accepted(1)],
        [3, 4, { value: 0, answer: 'unchanged' }],
      ],
    ],
    [
      'if a change rests on a call that was asked after its answer',
      [
        [1, 2, accepted(2, { test: 1 })],
        [3, 4, accepted(1)],
      ],
    ],
    [
      'if a call without an answer is needed twice',
      [
        [1, never, { value: 1 }],
        [2, 3, { value: 1, answer: 'unchanged' }],
        [4, 5, accepted(2)],
        [6, 7, { value: 1, answer: 'unchanged' }],
      ],
    ],
    [
      'if a call without an answer is needed before its question',
      [
        [1, 2, { value: 1, answer: 'unchanged' }],
        [3, never, { value: 1 }],
      ],
    ],
    [
      'if an acknowledged number is gone',
      [
        [1, 2, accepted(1)],
        [3, 4, { value: 0, answer: 'read' }],
      ],
    ],
  ])('%s', (_what, lines) => {
    expect(valuesInOrder(lines)).toBeUndefined();
  });
});
