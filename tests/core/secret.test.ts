import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { redactSecrets } from 'gateway-admin-core';
import type { Json } from '../../src/json/value.ts';
import { isSealed, maskSecrets, passwordFault } from '../../src/core/secret.ts';
import { character } from '../support/arbitrary-character.ts';

describe('redactSecrets', () => {
  // Promise: redact
  it('leaves no hash and no sealed text wherever they stand, and everything else', () => {
    const secret = 'planted-secret';
    const plain = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        plain,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.record({
          passwordHash: fc.constant(secret),
          passwordSealed: fc.constant(secret),
          name: tie('tree'),
        }),
        fc.record({
          op: fc.constant('add'),
          path: fc.constant('/passwordSealed'),
          value: fc.constant(secret),
        }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(JSON.stringify(redactSecrets(value))).not.toContain(secret);
      }),
    );
    fc.assert(fc.property(plain, (value) => expect(redactSecrets(value)).toEqual(value)));
  });

  it('leaves no sealed text in the form that a transition takes', () => {
    const sealed = { sealed: 'planted-secret' };
    const operation = { op: 'add', path: '/parameters/pin', value: sealed };
    expect(redactSecrets({ operations: [operation], list: [sealed, 1], pin: sealed, name: 'ada' })).toEqual({
      operations: [{ op: 'add', path: '/parameters/pin' }],
      list: [null, 1],
      name: 'ada',
    });
  });

  it('refuses a value that contains itself, and takes one that contains a part twice', () => {
    const part = { passwordHash: 'planted-secret', name: 'ada' };
    expect(redactSecrets({ one: part, other: [part, part] })).toEqual({
      one: { name: 'ada' },
      other: [{ name: 'ada' }, { name: 'ada' }],
    });
    const cycle: Record<string, unknown> = { part };
    cycle['inner'] = { list: [part, cycle] };
    const list: unknown[] = [part];
    list.push([list]);
    for (const value of [cycle, [cycle], list]) {
      expect(() => redactSecrets(value as Json)).toThrow(TypeError);
      expect(() => redactSecrets(value as Json)).toThrow(
        'redactSecrets: the value is circular, so it is not JSON',
      );
    }
  });

  it('names a secret as clients do, takes its value out of operations, and leaves those on others', () => {
    const operations = [
      { op: 'replace', path: '/passwordSealed', value: 'x' },
      { op: 'remove', path: '/passwordSealed' },
      { op: 'replace', path: '/user', value: 'x' },
      { op: 7, path: '/passwordSealed' },
    ];
    expect(redactSecrets(operations)).toEqual([
      { op: 'replace', path: '/password' },
      { op: 'remove', path: '/password' },
      { op: 'replace', path: '/user', value: 'x' },
      { op: 7, path: '/passwordSealed' },
    ]);
  });

  it('does not change what it is given', () => {
    const given = Object.freeze({
      passwordHash: 'x',
      inner: Object.freeze([Object.freeze({ passwordSealed: 'y' })]),
    });
    expect(redactSecrets(given)).toEqual({ inner: [{}] });
    expect(given.passwordHash).toBe('x');
  });
});

describe('maskSecrets', () => {
  it('puts a mark in the place of each hash and sealed text, and leaves everything else', () => {
    const given = { passwordHash: 'x', inner: [{ passwordSealed: 'y', user: 'ada' }, null, 1, 'text'] };
    expect(maskSecrets(given, new Set(['passwordHash', 'passwordSealed']))).toEqual({
      passwordHash: '[redacted]',
      inner: [{ passwordSealed: '[redacted]', user: 'ada' }, null, 1, 'text'],
    });
    expect(given.passwordHash).toBe('x');
  });
});

describe('passwordFault', () => {
  it.each([
    'x',
    ' ',
    'correct horse battery staple',
    'ü'.repeat(512),
    '😀'.repeat(256),
    'x'.repeat(1024),
    'a:b',
  ])('accepts %j', (password) => {
    expect(passwordFault(password)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a byte too much', 'x'.repeat(1025)],
    ['two-byte characters that are too many bytes', 'ü'.repeat(513)],
    ['four-byte characters that are too many bytes', '😀'.repeat(257)],
    ['a control character', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['a character between ASCII and Latin-1', 'a\u0085b'],
    ['half of a pair', 'a\ud800'],
    ['a number', 7],
    ['null', null],
    ['a list', ['x']],
    ['an object', { sealed: 'x' }],
  ] as readonly (readonly [string, Json])[])('refuses %s', (_what, password) => {
    expect(passwordFault(password)).toMatch(/^must /);
  });

  it('counts the bytes of the composed form, which is what is hashed', () => {
    expect(passwordFault('u\u0308'.repeat(512))).toBeUndefined();
  });

  it('never repeats the password', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, unit: character }), (password) => {
        expect(passwordFault(`${password}\u0000`)).not.toContain(password);
      }),
    );
  });
});

describe('isSealed', () => {
  it('knows sealed text by its member', () => {
    expect(isSealed({ sealed: 'x' })).toBe(true);
  });

  it.each([undefined, null, 'x', 7, [], {}, { sealed: 7 }, { sealed: null }] as const)(
    'does not take %j for it',
    (value) => {
      expect(isSealed(value)).toBe(false);
    },
  );
});
