/**
 * Links, and how the links in settings are resolved. These are pure functions, and their laws hold for texts and names
 * that the shapes of documents and patches refuse earlier.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { decodeSegment, linkKey, linkTo, parseLink, percentEncode } from '../../src/core/link.ts';
import { nameFault, nameKey } from '../../src/core/name.ts';
import { canonicalLink, resolveLinks, type FindName } from '../../src/core/reference.ts';
import { character } from '../support/arbitrary-character.ts';

const awkward = fc.string({
  unit: fc.constantFrom('%', '/', '?', '#', '.', ' ', '2', 'F', 'ä', "'", '"', '\\', '😀'),
});
const names = fc
  .oneof(awkward, fc.string({ unit: 'grapheme' }), fc.string({ unit: character }))
  .filter((name) => nameFault(name) === undefined);

describe('linkTo and parseLink', () => {
  it('give back every name that can be declared, with white space as hyphens', () => {
    fc.assert(
      fc.property(names, (name) => {
        const back = parseLink(linkTo('servers', name), 'servers');
        expect(back).toBe(name.replace(/\s/g, '-'));
        expect(nameKey(back ?? '')).toBe(nameKey(name));
      }),
    );
  });

  it('write links that a URL parser leaves as they are', () => {
    fc.assert(
      fc.property(names, (name) => {
        const link = linkTo('servers', name);
        expect(link).toMatch(/^\/servers\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-F]{2})+$/);
        expect(new URL(link, 'http://gateway.test').pathname).toBe(link);
      }),
    );
  });

  it('give no name for a link that is not one of the collection, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (link) => {
        const name = parseLink(link, 'servers');
        expect(name === undefined || link.startsWith('/servers/')).toBe(true);
      }),
    );
  });
});

describe('linkTo', () => {
  it.each([
    ['DB 1', '/servers/DB-1'],
    ['a\u00a0b\tc', '/servers/a-b-c'],
    ['eu/west?', '/servers/eu%2Fwest%3F'],
    ['100%', '/servers/100%25'],
    ["a:b@c!$&'()*+,;=~", "/servers/a:b@c!$&'()*+,;=~"],
    ['Köln', '/servers/K%C3%B6ln'],
    ['😀', '/servers/%F0%9F%98%80'],
    ['a\ud800b', '/servers/a%EF%BF%BDb'],
    [7, '/servers/7'],
  ])('writes %j as %s', (name, link) => {
    expect(linkTo('servers', name)).toBe(link);
  });
});

describe('parseLink', () => {
  it.each([
    ['/servers/DB-1', 'DB-1'],
    ['/servers/eu%2Fwest', 'eu/west'],
    ['/servers/%2525', '%25'],
    ['/servers/__proto__', '__proto__'],
    ['/servers/Köln', 'Köln'],
    ['/servers/...', '...'],
  ])('reads %s as the name %j', (link, name) => {
    expect(parseLink(link, 'servers')).toBe(name);
  });

  it.each([
    ['an absolute URL', 'http://gateway.test/servers/a'],
    ['a reference without scheme', '//gateway.test/servers/a'],
    ['another collection', '/services/a'],
    ['a collection in other case', '/Servers/a'],
    ['a path without leading slash', 'servers/a'],
    ['a bare name', 'a'],
    ['a query', '/servers/a?b'],
    ['a fragment', '/servers/a#b'],
    ['a dot segment', '/servers/.'],
    ['a step up', '/servers/..'],
    ['an escaped step up', '/servers/%2e%2E'],
    ['a step up and down again', '/servers/../servers/a'],
    ['a further segment', '/servers/a/b'],
    ['a trailing slash', '/servers/a/'],
    ['no name', '/servers/'],
    ['the collection itself', '/servers'],
    ['a broken escape', '/servers/%zz'],
    ['an escape that is cut off', '/servers/a%2'],
    ['an overlong form', '/servers/%C0%AF'],
    ['an encoded surrogate', '/servers/%ED%A0%80'],
    ['nothing', ''],
  ])('refuses %s', (_what, link) => {
    expect(parseLink(link, 'servers')).toBeUndefined();
  });
});

describe('decodeSegment', () => {
  it('undoes encodeURIComponent', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (text) => decodeSegment(encodeURIComponent(text)) === text,
      ),
    );
  });

  it('decodes once', () => {
    expect(decodeSegment('%252F')).toBe('%2F');
    expect(decodeSegment('a%2Fb')).toBe('a/b');
  });

  it.each(['%', '%zz', 'a%2', '%C0%AF', '%FF', '%ED%A0%80'])('refuses %s', (segment) => {
    expect(decodeSegment(segment)).toBeUndefined();
  });
});

describe('percentEncode', () => {
  it('writes what the pattern picks as UTF-8 and half of a pair as U+FFFD', () => {
    expect(percentEncode('a b😀\udc00', /[^a-z]/gu)).toBe('a%20b%F0%9F%98%80%EF%BF%BD');
  });
});

describe('linkKey', () => {
  const letters = fc.constantFrom(
    '/',
    'a',
    'A',
    'Z',
    '%41',
    '%c3%84',
    '%',
    '~',
    'Ä',
    '\u0345',
    '\u212a',
    ' ',
    '-',
  );

  it('folds each segment as nameKey folds the name', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: letters }), fc.webPath(), awkward), (link) => {
        const folded = link.split('/').map((segment) => nameKey(decodeSegment(segment) ?? segment));
        expect(linkKey(link)).toBe(folded.join('/'));
      }),
    );
    const long = `/services/${'A'.repeat(1100)}/B`;
    expect(linkKey(long)).toBe(`/services/${'A'.repeat(1100)}/b`);
  });
});

const declared = ['My Server', 'eu/west', 'Köln', '__proto__'];
const find: FindName = (collection, key) =>
  collection === 'servers' ? declared.find((name) => nameKey(name) === key) : undefined;

describe('resolveLinks', () => {
  it('writes every link to a thing in one form, whatever the spelling of the name', () => {
    const spelled = fc
      .constantFrom(...declared)
      .chain((name) =>
        fc
          .constantFrom(
            name,
            name.toUpperCase(),
            name.toLowerCase(),
            name.replaceAll(' ', '-'),
            name.normalize('NFD'),
          )
          .map((spelling) => ({ name, link: `/servers/${encodeURIComponent(spelling)}` })),
      );
    fc.assert(
      fc.property(fc.uniqueArray(spelled, { selector: ({ name }) => name }), (list) => {
        const { links, faults } = resolveLinks(
          list.map(({ link }) => link),
          'servers',
          find,
          [],
        );
        expect(faults).toEqual([]);
        expect(links).toEqual(list.map(({ name }) => linkTo('servers', name)));
        expect(resolveLinks(links, 'servers', find, []).links).toEqual(links);
      }),
    );
  });

  it('has a fault for each link that names nothing', () => {
    const strangers = fc
      .string({ unit: 'grapheme' })
      .filter((name) => nameFault(name) === undefined && find('servers', nameKey(name)) === undefined);
    fc.assert(
      fc.property(fc.array(strangers), (names) => {
        const { links, faults } = resolveLinks(
          names.map((name) => linkTo('servers', name)),
          'servers',
          find,
          ['servers'],
        );
        expect(links).toEqual([]);
        expect(faults.map(({ pointer }) => pointer)).toEqual(names.map((_, at) => `/servers/${String(at)}`));
      }),
    );
  });

  it('takes links that are known for what they are, with the same answer for all the others', () => {
    const canonical = declared.map((name) => linkTo('servers', name));
    const spelled = [...canonical, '/servers/MY-SERVER', '/servers/eu%2fwest', '/servers/nothing', 'x'];
    const many = Array.from({ length: 20 }, (_, n) => `/servers/other-${String(n)}`);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...spelled)),
        fc.subarray(canonical),
        fc.boolean(),
        (links, known, more) => {
          const all = more ? [...known, ...many] : known;
          expect(resolveLinks(links, 'servers', find, [], all)).toEqual(
            resolveLinks(links, 'servers', find, []),
          );
        },
      ),
    );
    expect(resolveLinks(many, 'servers', find, [], many)).toEqual({ links: many, faults: [] });
  });

  it('says what is wrong with each, where it stands', () => {
    const written = [
      '/servers/my-server',
      '/servers/nothing',
      '/filters/My-Server',
      '/servers/MY%20SERVER',
      '/servers/K%C3%B6ln',
    ];
    const { links, faults } = resolveLinks(written, 'servers', find, ['services', 0, 'servers']);
    expect(links).toEqual(['/servers/My-Server', '/servers/K%C3%B6ln']);
    expect(faults).toEqual([
      {
        pointer: '/services/0/servers/1',
        code: 'link-unresolved',
        detail: '"/servers/nothing" names no existing resource: correct the link',
      },
      {
        pointer: '/services/0/servers/2',
        code: 'link-unresolved',
        detail: 'must be a relative link of the form /servers/<name>',
      },
      {
        pointer: '/services/0/servers/3',
        code: 'link-unresolved',
        detail: 'names the same resource as item 0',
      },
    ]);
  });
});

describe('canonicalLink', () => {
  it('gives the canonical form, or nothing', () => {
    expect(canonicalLink('/servers/EU%2FWest', 'servers', find)).toBe('/servers/eu%2Fwest');
    expect(canonicalLink('/servers/__proto__', 'servers', find)).toBe('/servers/__proto__');
    expect(canonicalLink('/servers/constructor', 'servers', find)).toBeUndefined();
    expect(canonicalLink('/filters/Köln', 'filters', find)).toBeUndefined();
    expect(canonicalLink('http://gateway.test/servers/Köln', 'servers', find)).toBeUndefined();
  });
});
