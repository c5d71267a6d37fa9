import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { linkTo } from '../../src/core/link.ts';
import { nameFault, nameKey } from '../../src/core/name.ts';
import { canonicalLink, resolveLinks, type FindName } from '../../src/core/reference.ts';

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
