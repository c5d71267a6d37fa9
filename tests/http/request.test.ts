/**
 * What a request says: which route it means, its entity tags, its range and its fields. These are pure functions, and
 * their laws hold for texts that no client in a test sends. No route of the library has every case of the router.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { formatEtag, parseEntityTags, satisfiesIfMatch, satisfiesIfNoneMatch } from '../../src/http/etag.ts';
import { isEpoch } from '../../src/core/epoch.ts';
import { clipRange, parseRange, rangeLinks, type Range } from '../../src/http/range.ts';
import { parseFields, selectFields } from '../../src/http/fields.ts';
import { createRouter, type Routable } from '../../src/http/router.ts';

const routes: readonly (Routable & { readonly id: string })[] = [
  { id: 'list', method: 'GET', path: '/things', aliases: [] },
  { id: 'get', method: 'GET', path: '/things/:name', aliases: [] },
  { id: 'patch', method: 'PATCH', path: '/thing/:name', aliases: ['/things/:name'] },
  { id: 'stop', method: 'PUT', path: '/thing/:name/stop', aliases: ['/things/:name/stop'] },
  { id: 'parts', method: 'GET', path: '/things/:name/parts', aliases: [] },
  { id: 'drop', method: 'DELETE', path: '/things/:name/parts', aliases: [] },
  { id: 'part', method: 'GET', path: '/things/:name/parts/:part', aliases: [] },
  { id: 'close', method: 'DELETE', path: '/things/:name/parts/:part', aliases: [] },
  { id: 'self', method: 'GET', path: '/self', aliases: [] },
  { id: 'again', method: 'POST', path: '/things/late/again', aliases: [] },
];
const { match } = createRouter(routes);

/** What is found, in short. */
function found(method: string, path: string): string {
  const result = match(method, path);
  if (result.found === 'route')
    return [result.route.id, ...Object.values(result.parameters).map((value) => JSON.stringify(value))].join(
      ' ',
    );
  return result.found === 'path' ? result.path.allow : result.found;
}

describe('a router', () => {
  it('finds each thing by its name, whatever the name is, and answers for every path', () => {
    const parts = fc.constantFrom('/', 'things', ':name', '%', '%2F', 'a', '..');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: parts }), (name, path) => {
        const [written, read] = [encodeURIComponent(name), JSON.stringify(name)];
        expect(found('GET', `/things/${written}`)).toBe(`get ${read}`);
        expect(found('GET', `/things/a%2Fb/parts/${written}`)).toBe(`part "a/b" ${read}`);
        expect(match('GET', path).found).toMatch(/^(?:route|path|broken-escape|nothing)$/);
      }),
    );
  });

  it('finds nothing at a path without a leading slash, even where each word is a name', () => {
    const anything = createRouter([{ method: 'GET', path: '/:name', aliases: [] }]);
    expect(anything.match('GET', '/a').found).toBe('route');
    for (const path of ['', 'a', '*']) expect(anything.match('GET', path).found).toBe('nothing');
  });

  it('finds a thing whose name is a fixed segment of another path', () => {
    const node: Routable = { method: 'DELETE', path: '/fleet/:node', aliases: [] };
    const retry: Routable = { method: 'POST', path: '/fleet/behind/retry', aliases: [] };
    const fleet = createRouter([node, retry]);
    const parameters = { node: 'behind' };
    expect(fleet.match('DELETE', '/fleet/behind')).toEqual({ found: 'route', route: node, parameters });
    expect(fleet.match('POST', '/fleet/behind/retry')).toMatchObject({ route: retry });
    expect(fleet.match('POST', '/fleet/paris/retry')).toEqual({ found: 'nothing' });
  });

  it.each([
    ['GET', '/things', 'list'],
    ['GET', '/things/', 'list'],
    ['GET', '/things/a', 'get "a"'],
    ['GET', '/things/a/', 'get "a"'],
    ['HEAD', '/things/a', 'get "a"'],
    ['GET', '/things/a%2Fb', 'get "a/b"'],
    ['GET', '/things/%2525', 'get "%25"'],
    ['GET', '/things/parts', 'get "parts"'],
    ['GET', '/things/parts/parts', 'parts "parts"'],
    ['GET', '/things/:name', 'get ":name"'],
    ['PATCH', '/thing/a', 'patch "a"'],
    ['PATCH', '/things/a', 'patch "a"'],
    ['PUT', '/thing/a/stop', 'stop "a"'],
    ['PUT', '/things/a/stop/', 'stop "a"'],
    ['DELETE', '/things/a/parts', 'drop "a"'],
    ['GET', '/self', 'self'],
    ['POST', '/things/late/again', 'again'],
    ['GET', '/things/late', 'get "late"'],
    ['PUT', '/things/late/stop', 'stop "late"'],
    ['GET', '/things/late/parts/again', 'part "late" "again"'],
    ['DELETE', '/things/MY%20a/parts/b%252F/', 'close "MY a" "b%2F"'],
    ['PUT', '/things/a/parts/b', 'GET, HEAD, DELETE, OPTIONS'],
    ['POST', '/things', 'GET, HEAD, OPTIONS'],
    ['get', '/things', 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/things/a', 'GET, HEAD, PATCH, OPTIONS'],
    ['GET', '/thing/a', 'PATCH, OPTIONS'],
    ['HEAD', '/thing/a', 'PATCH, OPTIONS'],
    ['GET', '/things/a/stop', 'PUT, OPTIONS'],
    ['PUT', '/things/a/parts', 'GET, HEAD, DELETE, OPTIONS'],
  ])('finds %s %s as %s', (method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });

  const nowhere =
    '//|things|-self|//things|/things//|/things//parts|/Things|/%74hings|/thing|/things/a/Parts';
  it.each(['', '/', ...nowhere.split('|'), '/things/a/parts/b/c', '/constructor', '*'])(
    'finds nothing at %j',
    (path) => {
      expect(found('GET', path)).toBe('nothing');
    },
  );

  it('finds the root in one spelling', () => {
    const { match: matchRoot } = createRouter([{ method: 'GET', path: '/', aliases: [] }]);
    const spelled = ['/', '//', ''].map((path) => matchRoot('GET', path).found);
    expect(spelled).toEqual(['route', 'nothing', 'nothing']);
  });

  it.each(['%zz', '%', 'a%2', '%C0%AF'])('says that the escape in %s is broken', (segment) => {
    const places = [
      `GET /things/${segment}`,
      `PUT /things/${segment}/stop`,
      `DELETE /things/a/parts/${segment}`,
    ];
    for (const place of [...places, `HEAD /things/${segment}/parts/%zz`]) {
      const [method = '', path = ''] = place.split(' ');
      expect(match(method, path)).toEqual({ found: 'broken-escape', segment, route: expect.anything() });
    }
  });

  it('refuses two routes for one method and path', () => {
    const again = { id: 'again', method: 'PATCH', path: '/other/:name', aliases: ['/things/:name'] };
    const sentence = 'Two routes for PATCH /things/:name: each method and path may have one route';
    expect(() => createRouter([...routes, again])).toThrow(new RangeError(sentence));
  });
});

const epochs = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const contents = fc.stringMatching(/^[A-Za-z0-9_-]{22}$/);
const validators = fc.record({ content: contents, revision: fc.maxSafeNat() });
const projections = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
);
const etags = fc.tuple(epochs, validators, projections).map((parts) => formatEtag(...parts));
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
    const parts = fc.tuple(epochs, validators, projections);
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(formatEtag(...one) === formatEtag(...other)).toBe(same);
      }),
    );
  });

  it.each([
    [undefined, '"c.x1-9"'],
    ['', '"c.x1-9"'],
    ['fields=id,name', '"c.x1-9;fields=id,name"'],
    ['50% "é"\r\n', '"c.x1-9;50%25%20%22%C3%A9%22%0D%0A"'],
  ])('writes the projection %j as %s', (projection, etag) => {
    expect(formatEtag('x1', { content: 'c', revision: 9 }, projection)).toBe(etag);
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

  const refused = 'a|"a|"a" "b"|w/"a"|W/ "a"|W/|"a", W/|"a"W/"b"|"a b"|"a\0"|"a\x7f"'.split('|');
  it.each([...refused, '"€"', '"a\\"b"', '*, "a"', '*, *', '"a"\n', '"a"b, "c"', '"a", b"c"'])(
    'refuses %j',
    (header) => {
      const detail =
        'If-Match and If-None-Match must be * or a list of entity tags in double quotes, such as "x.y-7", "z.y-9".';
      const problem = { code: 'header-invalid', status: 400, detail };
      expect(parseEntityTags(header)).toMatchObject({ ok: false, problem });
    },
  );

  it('takes time in proportion to the length, whatever is repeated', () => {
    const headers = ['"a",', ', ', '"', 'W/', '" "', 'W/"a" ', ' \t', '*'].map((part) =>
      part.repeat(100_000),
    );
    // What takes time with the square of the length takes hours.
    for (const header of headers) expect(parseEntityTags(`${header}x`)).toMatchObject({ ok: false });
  });
});

describe('satisfiesIfMatch', () => {
  it('holds for a tag of the same content alone, whatever was reported or selected since, in any life', () => {
    const tags = fc.tuple(epochs, validators, projections);
    fc.assert(
      fc.property(tags, epochs, validators, ([epoch, then, projection], other, now) => {
        const header = `"other", ${formatEtag(epoch, then, projection)}`;
        const same = { content: then.content, revision: now.revision };
        expect(satisfiesIfMatch(tagsOf(header), formatEtag(other, same))).toBe(true);
        const isSame = then.content === now.content;
        expect(satisfiesIfMatch(tagsOf(header), formatEtag(epoch, now))).toBe(isSame);
      }),
    );
  });

  it.each<[string, string, boolean]>([
    ['the weak form of a tag, which a proxy that compresses gives', 'W/"0123456789abcdefghij-_.x-9"', true],
    ['another life and revision', '"0123456789abcdefghij-_.y-10"', true],
    ['the weak form of another content', 'W/"0123456789abcdefghij-A.x-9"', false],
    ['a content that begins alike', '"0123456789abcdefghij-_A.x-9"', false],
    ['a content that ends alike', '"A0123456789abcdefghij-_.x-9"', false],
    ['the content alone', '"0123456789abcdefghij-_"', false],
    ['an empty tag', '""', false],
  ])('says of %s, %s: %s', (_what, tag, holds) => {
    expect(satisfiesIfMatch([tag], '"0123456789abcdefghij-_.x-9"')).toBe(holds);
  });

  it('compares all of a tag without a content, such as that of a session', () => {
    expect(satisfiesIfMatch(['"9.1473"'], '"9.1473"')).toBe(true);
    expect(satisfiesIfMatch(['W/"9.1473"'], '"9.1473"')).toBe(true);
    for (const other of ['"9.147"', '"9.14730"', '"9.1473.0"', '"9"', '"19.1473"', '"9.-1473"'])
      expect([other, satisfiesIfMatch([other], '"9.1473"')]).toEqual([other, false]);
  });

  it('holds for a star, and for no tag where the resource has none', () => {
    expect(satisfiesIfMatch('*', undefined)).toBe(true);
    expect(satisfiesIfMatch('*', '"c.x1-9"')).toBe(true);
    expect(satisfiesIfMatch(['"c.x1-9"'], undefined)).toBe(false);
    expect(satisfiesIfMatch([], '"c.x1-9"')).toBe(false);
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
    const [then, later] = [{ content: 'c', revision: 9 } as const, { content: 'c', revision: 10 } as const];
    const etag = formatEtag('x1', then);
    expect(satisfiesIfNoneMatch([etag], formatEtag('x1', later))).toBe(true);
    expect(satisfiesIfNoneMatch([etag], formatEtag('x1', then, 'fields=id'))).toBe(true);
  });

  it('never holds for a star, and always for a list where there is no tag', () => {
    expect(satisfiesIfNoneMatch('*', '"c.x1-9"')).toBe(false);
    expect(satisfiesIfNoneMatch('*', undefined)).toBe(false);
    expect(satisfiesIfNoneMatch(['"c.x1-9"'], undefined)).toBe(true);
    expect(satisfiesIfNoneMatch([], '"c.x1-9"')).toBe(true);
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
    const written = (first: number, last: number): string => `${String(first)}-${String(last)}`;
    fc.assert(
      fc.property(ranges, (range) => {
        expect(parseRange([written(range.first, range.last)])).toEqual({ ok: true, value: range });
      }),
    );
    expect(parseRange(['00-09'])).toEqual({ ok: true, value: { first: 0, last: 9 } });
    const greatest = { first: 0, last: 9007199254740991 };
    expect(parseRange(['0-9007199254740991'])).toEqual({ ok: true, value: greatest });
  });

  const forms = '|1-|-10|-1-10|1--10|10|1-2-3| 1-2|1-2\n|1e1-2e1|١-٢|items=0-9|0-1,4-5'.split('|');
  it.each<[string, readonly (readonly string[])[]]>([
    ['must be given exactly once', [[], ['0-1', '0-1']]],
    [
      'must be two positions, such as range=0-99, both included and counted from 0',
      forms.map((each) => [each]),
    ],
    ['must begin with the lower position', [['2-1'], ['20-10']]],
    ['must not have a position above 9007199254740991', [['0-9007199254740992'], [`0-${'9'.repeat(400)}`]]],
  ])('says that the range %s: %j', (rule, all) => {
    const problem = { code: 'range-invalid', status: 400, detail: `The parameter "range" ${rule}.` };
    for (const values of all)
      expect([values, parseRange(values)]).toMatchObject([values, { ok: false, problem }]);
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
});

describe('clipRange', () => {
  it('stays within the list and takes exactly the elements that exist', () => {
    fc.assert(
      fc.property(fc.oneof(smallRanges, ranges), fc.nat(80), (range, total) => {
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

  it('gives the whole list when no range was asked for, and no elements past the end', () => {
    expect(clipRange(undefined, 7)).toEqual({ offset: 0, length: 7 });
    expect(clipRange({ first: 7, last: 9 }, 7)).toEqual({ offset: 7, length: 0 });
    expect(clipRange({ first: 0, last: 9 }, 0)).toEqual({ offset: 0, length: 0 });
  });
});

describe('rangeLinks', () => {
  it('lead over every element that is left, and over every element before, each once', () => {
    fc.assert(
      fc.property(smallRanges, fc.nat(80), (range, total) => {
        const all = Array.from({ length: total }, (_, index) => index);
        expect(walk(range, 'next', total)).toEqual(all.slice(range.first));
        expect(walk(range, 'prev', total).sort((a, b) => a - b)).toEqual(all.slice(0, range.last + 1));
      }),
    );
  });

  it('name pages that parseRange accepts', () => {
    fc.assert(
      fc.property(ranges, fc.nat(), (range, total) => {
        for (const page of Object.values(pages(rangeLinks(range, total, '')))) {
          const written = `${String(page.first)}-${String(page.last)}`;
          expect(parseRange([written])).toEqual({ ok: true, value: page });
        }
      }),
    );
  });

  it('keep the rest of the query and can be resolved against any base', () => {
    const header = rangeLinks({ first: 10, last: 19 }, 100, 'fields=id,name');
    expect(header).toBe('<?fields=id,name&range=20-29>; rel="next", <?fields=id,name&range=0-9>; rel="prev"');
    const base = 'http://gateway.test/admin/sessions';
    expect(new URL('?fields=id&range=20-29', `${base}?range=10-19`).href).toBe(
      `${base}?fields=id&range=20-29`,
    );
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

  const empty = 'The parameter "fields" must be names separated by commas, and one name is empty.';
  it.each([
    ['an unknown name', ['id,colour'], 'There is no field "colour" here.'],
    ['other case', ['ID'], 'There is no field "ID" here.'],
    ['an inherited name', ['toString'], 'There is no field "toString" here.'],
    ['a nested name', ['name/first'], 'There is no field "name/first" here.'],
    ['an empty list', [''], empty],
    ['no list', [], empty],
    ['a trailing comma', ['id,'], empty],
    ['one good list of two', ['id', ' '], empty],
    [
      'a long name, of which it repeats the beginning,',
      ['x'.repeat(8000)],
      `There is no field "${'x'.repeat(100)}"… here.`,
    ],
  ])('refuses %s and lists the names that exist', (_what, values, sentence) => {
    const problem = { code: 'fields-invalid', status: 400, detail: `${sentence} The fields are: id, name.` };
    expect(parseFields(values, ['id', 'name'])).toMatchObject({ ok: false, problem });
  });
});

describe('selectFields', () => {
  it('keeps the own properties that were asked for, in the order given, and nothing else', () => {
    const some = fc.oneof(fc.constantFrom(...known), fc.string());
    fc.assert(
      fc.property(fc.dictionary(some, fc.integer()), fc.uniqueArray(some), (whole, fields) => {
        // Keys that look like array indexes come first in any object.
        const plain = fields.filter((name) => !/^\d+$/.test(name));
        const selection = selectFields(plain)(Object.freeze(whole));
        expect(Object.keys(selection)).toEqual(plain.filter((name) => Object.hasOwn(whole, name)));
        expect(Object.getPrototypeOf(selection)).toBe(Object.prototype);
        for (const [name, value] of Object.entries(selection))
          expect(value).toBe(Object.getOwnPropertyDescriptor(whole, name)?.value);
      }),
    );
  });

  it('treats a field named __proto__ like any other', () => {
    const whole: unknown = JSON.parse('{"__proto__":{"polluted":true},"id":1}');
    const selection = selectFields(['__proto__'])(whole as object);
    expect(JSON.stringify(selection)).toBe('{"__proto__":{"polluted":true}}');
    expect('polluted' in selection).toBe(false);
    expect(selectFields(['__proto__'])({ id: 1 })).toEqual({});
  });
});
