import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { clipRange, parseRange, rangeLinks, type Range } from '../../src/http/range.ts';

const ranges = fc
  .tuple(fc.maxSafeNat(), fc.maxSafeNat())
  .map(([a, b]): Range => ({ first: Math.min(a, b), last: Math.max(a, b) }));
const smallRanges = fc
  .tuple(fc.nat(60), fc.nat(20))
  .map(([first, more]): Range => ({ first, last: first + more }));

/** The pages that a header leads to, as a client would read it. */
function pages(header: string | undefined): Record<string, Range> {
  const found = [...(header ?? '').matchAll(/<\?(?:[^>]*&)?range=(\d+)-(\d+)>; rel="(\w+)"/g)];
  return Object.fromEntries(
    found.map(([, first, last, relation = '']) => [relation, { first: Number(first), last: Number(last) }]),
  );
}

/** The positions that a client sees who follows one relation to its end. */
function walk(start: Range, relation: string, total: number): number[] {
  const seen: number[] = [];
  let page: Range | undefined = start;
  while (page !== undefined) {
    const { offset, length } = clipRange(page, total);
    seen.push(...Array.from({ length }, (_, index) => offset + index));
    page = pages(rangeLinks(page, total, ''))[relation];
  }
  return seen;
}

describe('parseRange', () => {
  it('reads what was written', () => {
    fc.assert(
      fc.property(ranges, (range) => {
        expect(parseRange([`${String(range.first)}-${String(range.last)}`])).toEqual({
          ok: true,
          value: range,
        });
      }),
    );
  });

  it.each([
    [[], 'must be given exactly once'],
    [['0-1', '0-1'], 'must be given exactly once'],
    [['1-'], 'must be two positions, such as range=0-99, both included and counted from 0'],
    [['2-1'], 'must begin with the lower position'],
    [['0-9007199254740992'], 'must not have a position above 9007199254740991'],
  ])('says of %j that the range %s', (values, rule) => {
    expect(parseRange(values)).toMatchObject({ problem: { detail: `The parameter "range" ${rule}.` } });
  });

  it('accepts nothing but two positions in order', () => {
    const unit = fc.constantFrom('0', '1', '9', '-', ' ', '+', '.', 'e', '٣');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), (value) => {
        const [, first, last] = /^([019]+)-([019]+)$/.exec(value) ?? [];
        expect(parseRange([value]).ok).toBe(first !== undefined && Number(first) <= Number(last));
      }),
    );
  });

  it.each([
    ['a single element', '5-5', { first: 5, last: 5 }],
    ['the beginning', '0-9', { first: 0, last: 9 }],
    ['leading zeros', '00-09', { first: 0, last: 9 }],
    ['the greatest position', '0-9007199254740991', { first: 0, last: 9007199254740991 }],
  ])('accepts %s', (_what, value, range) => {
    expect(parseRange([value])).toEqual({ ok: true, value: range });
  });

  it.each([
    ['no value', []],
    ['an empty value', ['']],
    ['reversed ends', ['20-10']],
    ['no end', ['10-']],
    ['no beginning', ['-10']],
    ['a negative beginning', ['-1-10']],
    ['a negative end', ['1--10']],
    ['a number alone', ['10']],
    ['three numbers', ['1-2-3']],
    ['white space', [' 1-2']],
    ['a line end', ['1-2\n']],
    ['an exponent', ['1e1-2e1']],
    ['other digits', ['١-٢']],
    ['a unit', ['items=0-9']],
    ['two ranges', ['0-1,4-5']],
    ['a repeated parameter', ['0-1', '0-1']],
    ['an unsafe integer', ['0-9007199254740992']],
    ['a number without bounds', [`0-${'9'.repeat(400)}`]],
  ])('refuses %s', (_what, values) => {
    expect(parseRange(values)).toMatchObject({ ok: false, problem: { code: 'range-invalid', status: 400 } });
  });
});

describe('clipRange', () => {
  it('stays within the list and takes exactly the elements that exist', () => {
    fc.assert(
      fc.property(smallRanges, fc.nat(80), (range, total) => {
        const { offset, length } = clipRange(range, total);
        const all = Array.from({ length: total }, (_, index) => index);
        expect(length).toBeGreaterThanOrEqual(0);
        expect(offset + length).toBeLessThanOrEqual(total);
        expect(all.slice(offset, offset + length)).toEqual(
          all.filter((position) => position >= range.first && position <= range.last),
        );
      }),
    );
  });

  it('stays within the list for positions of any size', () => {
    fc.assert(
      fc.property(ranges, fc.nat(), (range, total) => {
        const { offset, length } = clipRange(range, total);
        expect(offset >= 0 && length >= 0 && offset + length <= total).toBe(true);
      }),
    );
  });

  it('gives the whole list when no range was asked for', () => {
    expect(clipRange(undefined, 7)).toEqual({ offset: 0, length: 7 });
  });

  it('gives no elements past the end', () => {
    expect(clipRange({ first: 7, last: 9 }, 7)).toEqual({ offset: 7, length: 0 });
    expect(clipRange({ first: 0, last: 9 }, 0)).toEqual({ offset: 0, length: 0 });
  });
});

describe('rangeLinks', () => {
  it('lead forward over every element that is left, each once', () => {
    fc.assert(
      fc.property(smallRanges, fc.nat(80), (range, total) => {
        const rest = Array.from({ length: total }, (_, index) => index).slice(range.first);
        expect(walk(range, 'next', total)).toEqual(rest);
      }),
    );
  });

  it('lead back over every element before, each once', () => {
    fc.assert(
      fc.property(smallRanges, fc.nat(80), (range, total) => {
        const upTo = Array.from({ length: Math.min(range.last + 1, total) }, (_, index) => index);
        expect(walk(range, 'prev', total).sort((a, b) => a - b)).toEqual(upTo);
      }),
    );
  });

  it('name pages that parseRange accepts', () => {
    fc.assert(
      fc.property(ranges, fc.nat(), (range, total) => {
        for (const page of Object.values(pages(rangeLinks(range, total, '')))) {
          expect(parseRange([`${String(page.first)}-${String(page.last)}`])).toEqual({
            ok: true,
            value: page,
          });
        }
      }),
    );
  });

  it('keep the rest of the query and can be resolved against any base', () => {
    const header = rangeLinks({ first: 10, last: 19 }, 100, 'fields=id,name');
    expect(header).toBe('<?fields=id,name&range=20-29>; rel="next", <?fields=id,name&range=0-9>; rel="prev"');
    expect(
      new URL('?fields=id,name&range=20-29', 'http://gateway.test/admin/sessions?range=10-19').href,
    ).toBe('http://gateway.test/admin/sessions?fields=id,name&range=20-29');
  });

  it.each([
    ['at the beginning', { first: 0, last: 9 }, 100, '<?range=10-19>; rel="next"'],
    ['at the end', { first: 90, last: 99 }, 100, '<?range=80-89>; rel="prev"'],
    ['near the beginning', { first: 3, last: 12 }, 13, '<?range=0-2>; rel="prev"'],
    ['past the end', { first: 500, last: 509 }, 25, '<?range=15-24>; rel="prev"'],
    ['over the whole list', { first: 0, last: 99 }, 10, undefined],
    ['over an empty list', { first: 5, last: 9 }, 0, undefined],
  ])('%s', (_where, range, total, header) => {
    expect(rangeLinks(range, total, '')).toBe(header);
  });

  it('let nothing in a query end the reference or the header', () => {
    const hostile = 'a="<>\\^`{|}#\r\nX: 1 é\ud800%41';
    expect(rangeLinks({ first: 0, last: 0 }, 2, hostile)).toBe(
      '<?a=%22%3C%3E%5C%5E%60%7B%7C%7D%23%0D%0AX:%201%20%C3%A9%EF%BF%BD%41&range=1-1>; rel="next"',
    );
  });
});
