import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { formatEtag, parseEntityTags, satisfiesIfMatch, satisfiesIfNoneMatch } from '../../src/http/etag.ts';
import { isEpoch } from '../../src/core/version.ts';

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
