/**
 * What a request says besides its method and path: entity tags in headers, a range and fields in the query. These are
 * pure functions, and their laws hold for texts that no client in a test sends.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { formatEtag, parseEntityTags, satisfiesIfMatch, satisfiesIfNoneMatch } from '../../src/http/etag.ts';
import { isEpoch } from '../../src/core/version.ts';
import { clipRange, parseRange, rangeLinks, type Range } from '../../src/http/range.ts';
import { parseFields, selectFields } from '../../src/http/fields.ts';

const epochs = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const versions = fc.record({ command: fc.maxSafeNat(), live: fc.maxSafeNat() });
const projections = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
);
const etags = fc.tuple(epochs, versions, projections).map((parts) => formatEtag(...parts));
const weak = fc.tuple(fc.constantFrom('', 'W/'), etags).map(([prefix, etag]) => prefix + etag);

function tagsOf(header: string): '*' | readonly string[] {
  const result = parseEntityTags(header);
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value;
}

describe('formatEtag', () => {
  it('writes an entity tag of visible ASCII, whatever the projection', () => {
    fc.assert(fc.property(etags, (etag) => /^"[!#-~]+"$/.test(etag)));
  });

  it('gives different representations different tags', () => {
    const parts = fc.tuple(epochs, versions, projections);
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(formatEtag(...one) === formatEtag(...other)).toBe(same);
      }),
    );
  });

  it.each([
    [undefined, '"x1.7.9"'],
    ['', '"x1.7.9"'],
    ['fields=id,name', '"x1.7.9;fields=id,name"'],
    ['50% "é"\r\n', '"x1.7.9;50%25%20%22%C3%A9%22%0D%0A"'],
  ])('writes the projection %j as %s', (projection, etag) => {
    expect(formatEtag('x1', { command: 7, live: 9 }, projection)).toBe(etag);
  });
});

describe('isEpoch', () => {
  it('accepts what formatEtag can take', () => {
    fc.assert(fc.property(epochs, isEpoch));
  });

  it.each(['', 'a.b', 'a b', 'é', 'a"', 'a\n', 'x'.repeat(65)])('refuses %j', (text) => {
    expect(isEpoch(text)).toBe(false);
  });
});

describe('parseEntityTags', () => {
  it('gives back every list that was written, weak tags and empty elements included', () => {
    const comma = fc.stringMatching(/^[ \t]{0,3},[ \t,]{0,5}$/);
    const edge = fc.stringMatching(/^[ \t,]{0,5}$/);
    const list = fc.array(fc.tuple(weak, comma), { minLength: 1 });
    fc.assert(
      fc.property(edge, list, edge, (before, items, after) => {
        const written = items
          .map(([tag, separator], index) => (index === 0 ? tag : separator + tag))
          .join('');
        expect(parseEntityTags(before + written + after)).toEqual({
          ok: true,
          value: items.map(([tag]) => tag),
        });
      }),
    );
  });

  it('agrees with the grammar on any text', () => {
    const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
    const grammar = new RegExp(
      `^(?:[ \\t]*\\*[ \\t]*|[ \\t,]*(?:${tag}(?:[ \\t]*,[ \\t,]*${tag})*)?[ \\t,]*)$`,
    );
    const unit = fc.constantFrom('"', '"', ',', ' ', '\t', 'W/', '/', 'a', '*', 'é', '€', '\n');
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 12 }),
        (header) => parseEntityTags(header).ok === grammar.test(header),
      ),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['"a"', ['"a"']],
    ['""', ['""']],
    ['W/"a", "b"', ['W/"a"', '"b"']],
    ['"a,b" , "c"', ['"a,b"', '"c"']],
    ['"W/"', ['"W/"']],
    ['"aW/","b"', ['"aW/"', '"b"']],
    [', ,"a",,', ['"a"']],
    ['"\xe9"', ['"\xe9"']],
    ['', []],
    [' , ', []],
    ['*', '*'],
    [' *\t', '*'],
    ['"*"', ['"*"']],
  ])('reads %j as %j', (header, tags) => {
    expect(parseEntityTags(header)).toEqual({ ok: true, value: tags });
  });

  it.each([
    ['no quotes', 'a'],
    ['an open quote', '"a'],
    ['two tags without a comma', '"a" "b"'],
    ['a lower-case weak prefix', 'w/"a"'],
    ['space after the weak prefix', 'W/ "a"'],
    ['a weak prefix alone', 'W/'],
    ['a weak prefix at the end', '"a", W/'],
    ['a weak prefix without a comma', '"a"W/"b"'],
    ['space in a tag', '"a b"'],
    ['a control character in a tag', '"a\0"'],
    ['DEL in a tag', '"a\x7f"'],
    ['a character that a header cannot have', '"€"'],
    ['an escaped quote', '"a\\"b"'],
    ['a star in a list', '*, "a"'],
    ['two stars', '*, *'],
    ['a line end', '"a"\n'],
    ['a word after a tag', '"a"b, "c"'],
    ['a word before a tag', '"a", b"c"'],
  ])('refuses %s', (_what, header) => {
    expect(parseEntityTags(header)).toMatchObject({
      ok: false,
      problem: {
        code: 'header-invalid',
        status: 400,
        detail:
          'If-Match and If-None-Match must be * or a list of entity tags in double quotes, such as "x.7.9", "x.8.9".',
      },
    });
  });

  it('takes time in proportion to the length, whatever is repeated', () => {
    const headers = ['"a",', ', ', '"', 'W/', '" "', 'W/"a" ', ' \t', '*'].map((part) =>
      part.repeat(100_000),
    );
    // What takes time with the square of the length takes hours.
    for (const header of headers) expect(parseEntityTags(`${header}x`)).toMatchObject({ ok: false });
  });
});

describe('satisfiesIfMatch', () => {
  it('holds for a tag of the same epoch and command, whatever was reported or selected since', () => {
    fc.assert(
      fc.property(epochs, versions, fc.maxSafeNat(), projections, (epoch, version, live, projection) => {
        const header = `"other", ${formatEtag(epoch, { ...version, live }, projection)}`;
        expect(satisfiesIfMatch(tagsOf(header), formatEtag(epoch, version))).toBe(true);
      }),
    );
  });

  it('does not hold after another command or in another epoch', () => {
    fc.assert(
      fc.property(epochs, epochs, versions, versions, (epoch, now, then, version) => {
        const tags = tagsOf(formatEtag(epoch, then));
        const current = formatEtag(now, version);
        expect(satisfiesIfMatch(tags, current)).toBe(epoch === now && then.command === version.command);
      }),
    );
  });

  it('holds for the weak form of a tag, which a proxy that compresses gives, and only for the same command', () => {
    expect(satisfiesIfMatch(['W/"x1.7.9"'], '"x1.7.9"')).toBe(true);
    expect(satisfiesIfMatch(['W/"x1.6.9"'], '"x1.7.9"')).toBe(false);
  });

  it.each([
    ['a command that begins alike', '"x1.71.9"'],
    ['an epoch that ends alike', '"ax1.7.9"'],
    ['the epoch alone', '"x1"'],
    ['a tag without live part', '"x1.7"'],
    ['an empty tag', '""'],
  ])('does not hold for %s', (_what, tag) => {
    expect(satisfiesIfMatch([tag], '"x1.7.9"')).toBe(false);
  });

  it('compares all of a tag with one dot', () => {
    expect(satisfiesIfMatch(['"9.1473"'], '"9.1473"')).toBe(true);
    expect(satisfiesIfMatch(['W/"9.1473"'], '"9.1473"')).toBe(true);
    for (const other of ['"9.147"', '"9.14730"', '"9.1473.0"', '"9"', '"19.1473"', '"9.-1473"'])
      expect([other, satisfiesIfMatch([other], '"9.1473"')]).toEqual([other, false]);
  });

  it('holds for a star, and for no tag where the resource has none', () => {
    expect(satisfiesIfMatch('*', undefined)).toBe(true);
    expect(satisfiesIfMatch('*', '"x1.7.9"')).toBe(true);
    expect(satisfiesIfMatch(['"x1.7.9"'], undefined)).toBe(false);
    expect(satisfiesIfMatch([], '"x1.7.9"')).toBe(false);
  });
});

describe('satisfiesIfNoneMatch', () => {
  it('compares whole tags, weakly', () => {
    fc.assert(
      fc.property(fc.array(weak), weak, (tags, etag) => {
        const opaque = (tag: string): string => tag.replace(/^W\//, '');
        expect(satisfiesIfNoneMatch(tags, etag)).toBe(!tags.map(opaque).includes(opaque(etag)));
        expect(satisfiesIfNoneMatch([...tags, opaque(etag)], etag)).toBe(false);
        expect(satisfiesIfNoneMatch([`W/${opaque(etag)}`, ...tags], etag)).toBe(false);
      }),
    );
  });

  it('sends a representation again when a report or the projection has changed it', () => {
    const etag = formatEtag('x1', { command: 7, live: 9 });
    expect(satisfiesIfNoneMatch([etag], formatEtag('x1', { command: 7, live: 10 }))).toBe(true);
    expect(satisfiesIfNoneMatch([etag], formatEtag('x1', { command: 7, live: 9 }, 'fields=id'))).toBe(true);
  });

  it('never holds for a star, and always for a list where there is no tag', () => {
    expect(satisfiesIfNoneMatch('*', '"x1.7.9"')).toBe(false);
    expect(satisfiesIfNoneMatch('*', undefined)).toBe(false);
    expect(satisfiesIfNoneMatch(['"x1.7.9"'], undefined)).toBe(true);
    expect(satisfiesIfNoneMatch([], '"x1.7.9"')).toBe(true);
  });
});

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

const known = ['id', 'name', 'state', '__proto__', 'constructor'] as const;

describe('parseFields', () => {
  it('gives what was asked for in the order of the resource, each once, however it was asked', () => {
    const names = fc.array(fc.constantFrom(...known), { minLength: 1 });
    const space = fc.constantFrom('', ' ', '\t ');
    fc.assert(
      fc.property(names, fc.array(names), space, (first, others, around) => {
        const values = [first, ...others].map((list) => list.map((name) => around + name + around).join(','));
        const asked = [first, ...others].flat();
        expect(parseFields(values, known)).toEqual({
          ok: true,
          value: known.filter((name) => asked.includes(name)),
        });
      }),
    );
  });

  it('accepts nothing but known names', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (values) => {
        const result = parseFields(values, known);
        const names = values.join(',').split(',');
        expect(result.ok).toBe(names.every((name) => (known as readonly string[]).includes(name.trim())));
      }),
    );
  });

  it.each([
    ['an unknown name', ['id,colour'], 'There is no field "colour" here.'],
    ['other case', ['ID'], 'There is no field "ID" here.'],
    ['an inherited name', ['toString'], 'There is no field "toString" here.'],
    ['a nested name', ['name/first'], 'There is no field "name/first" here.'],
    [
      'an empty list',
      [''],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
    ['no list', [], 'The parameter "fields" must be names separated by commas, and one name is empty.'],
    [
      'a trailing comma',
      ['id,'],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
    [
      'one good list of two',
      ['id', ' '],
      'The parameter "fields" must be names separated by commas, and one name is empty.',
    ],
  ])('refuses %s and lists the names that exist', (_what, values, sentence) => {
    expect(parseFields(values, ['id', 'name'])).toEqual({
      ok: false,
      problem: expect.objectContaining({
        code: 'fields-invalid',
        status: 400,
        detail: `${sentence} The fields are: id, name.`,
      }),
    });
  });

  it('repeats only the beginning of a long name', () => {
    const result = parseFields(['x'.repeat(8000)], ['id']);
    expect(result).toMatchObject({
      problem: { detail: `There is no field "${'x'.repeat(100)}"… here. The fields are: id.` },
    });
  });
});

describe('selectFields', () => {
  it('keeps the own properties that were asked for, in the order given, and nothing else', () => {
    const representation = fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), fc.integer());
    fc.assert(
      fc.property(
        representation,
        fc.uniqueArray(fc.oneof(fc.constantFrom(...known), fc.string())),
        (whole, fields) => {
          // Keys that look like array indexes come first in any object.
          const plain = fields.filter((name) => !/^\d+$/.test(name));
          const selection = selectFields(plain)(whole);
          expect(Object.keys(selection)).toEqual(plain.filter((name) => Object.hasOwn(whole, name)));
          expect(Object.getPrototypeOf(selection)).toBe(Object.prototype);
          for (const [name, value] of Object.entries(selection)) {
            expect(value).toBe(Object.getOwnPropertyDescriptor(whole, name)?.value);
          }
        },
      ),
    );
  });

  it('leaves out an optional field that is absent, and everything inherited', () => {
    expect(selectFields(['name', 'filters', 'toString'])({ name: 'a', state: 'started' })).toEqual({
      name: 'a',
    });
  });

  it('treats a field named __proto__ like any other', () => {
    const whole: unknown = JSON.parse('{"__proto__":{"polluted":true},"id":1}');
    const selection = selectFields(['__proto__'])(whole as object);
    expect(JSON.stringify(selection)).toBe('{"__proto__":{"polluted":true}}');
    expect('polluted' in selection).toBe(false);
    expect(selectFields(['__proto__'])({ id: 1 })).toEqual({});
  });

  it('leaves the representation as it was', () => {
    const whole = Object.freeze({ id: 1, name: 'a' });
    expect(selectFields(['id'])(whole)).toEqual({ id: 1 });
    expect(whole).toEqual({ id: 1, name: 'a' });
  });
});
