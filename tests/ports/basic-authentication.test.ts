import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createBasicAuthentication, createSnapshot, type Snapshot } from 'gateway-admin-core';

import { character } from '../support/arbitrary-character.ts';
import {
  createLogIn,
  createNotingHasher,
  credentials,
  quickHasher,
  requestWith,
  snapshotOf,
} from '../support/log-in.ts';

const passwords = fc
  .string({ unit: character, minLength: 1, maxLength: 40 })
  .filter((password) => password.isWellFormed() && !/\p{Cc}/u.test(password));

describe('createBasicAuthentication', () => {
  const authenticate = createLogIn(quickHasher);
  let snapshot: Snapshot;
  const logIn = (authorization?: string) => authenticate(requestWith(authorization), snapshot);

  beforeAll(async () => {
    snapshot = await snapshotOf({ Ada: 'engine', grace: 'a:b:', Zoe: 'pässwörd' });
  });

  it('lets a user in with the one password, whatever it is made of', async () => {
    await fc.assert(
      fc.asyncProperty(passwords, passwords, async (password, other) => {
        const users = await snapshotOf({ ada: password });
        const principal = { name: 'ada' };
        expect(await authenticate(requestWith(credentials('ada', password)), users)).toEqual(principal);
        const same = other.normalize('NFC') === password.normalize('NFC');
        expect(await authenticate(requestWith(credentials('ada', other)), users)).toEqual(
          same ? principal : undefined,
        );
      }),
    );
  });

  it('takes a password in whatever normalisation form it comes', async () => {
    for (const form of ['NFC', 'NFD']) {
      expect(await logIn(credentials('Zoe', 'pässwörd'.normalize(form)))).toEqual({ name: 'Zoe' });
    }
  });

  it.each(['false', 'no', '0', '', 0, 1, null, {}])(
    'refuses %p in place of openUntilFirstUser',
    (openUntilFirstUser) => {
      const options = { openUntilFirstUser } as never;
      expect(() => createBasicAuthentication(options)).toThrow(
        new TypeError('The option openUntilFirstUser must be true or false'),
      );
    },
  );

  it('refuses a misspelt option', () => {
    const options = { openUntilFirstUsr: true } as never;
    expect(() => createBasicAuthentication(options)).toThrow(
      new TypeError(
        'There is no option of createBasicAuthentication with the name "openUntilFirstUsr". Did you mean ' +
          'openUntilFirstUser? The names are realm, openUntilFirstUser.',
      ),
    );
  });

  it('answers with nothing to any other header, and never fails', async () => {
    const headers = fc.oneof(
      fc.string({ unit: character }),
      fc.string({ unit: character }).map((text) => `Basic ${text}`),
      fc.uint8Array().map((bytes) => `Basic ${Buffer.from(bytes).toString('base64')}`),
    );
    await fc.assert(
      fc.asyncProperty(headers, async (header) => {
        expect(await logIn(header)).toBeUndefined();
      }),
    );
  });

  it.each([
    ['the name as it was declared', credentials('Ada', 'engine')],
    ['the name in other case', credentials('aDA', 'engine')],
    ['the scheme in lower case', credentials('Ada', 'engine').replace('Basic', 'basic')],
    ['the scheme in upper case', credentials('Ada', 'engine').replace('Basic', 'BASIC')],
    ['several spaces', credentials('Ada', 'engine').replace(' ', '   ')],
  ])('knows the user by %s', async (_what, header) => {
    expect(await logIn(header)).toEqual({ name: 'Ada' });
  });

  it('takes what follows the first colon for the password', async () => {
    expect(await logIn(credentials('grace', 'a:b:'))).toEqual({ name: 'grace' });
    expect(await logIn(credentials('grace', 'b:'))).toBeUndefined();
  });

  it.each([
    ['a wrong password', 'Ada', 'difference'],
    ['the password in other case', 'Ada', 'Engine'],
    ['the password of somebody else', 'Ada', 'a:b:'],
    ['a beginning of the password', 'Ada', 'engin'],
    ['an unknown user', 'Bob', 'engine'],
    ['an unknown user with the password of the decoy', 'Bob', 'nobody'],
    ['the decoy itself', 'nobody', 'nobody'],
    ['no name', '', 'engine'],
    ['an inherited name', 'constructor', 'engine'],
    ['a name with space', ' Ada', 'engine'],
    ['a name with a byte order mark', '\ufeffAda', 'engine'],
  ])('refuses %s', async (_what, name, password) => {
    expect(await logIn(credentials(name, password))).toBeUndefined();
  });

  const base64 = (text: string | Uint8Array): string => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['the scheme alone', 'Basic'],
    ['the scheme and a space', 'Basic '],
    ['another scheme', credentials('Ada', 'engine').replace('Basic', 'Bearer')],
    ['no space', credentials('Ada', 'engine').replace(' ', '')],
    ['a tab for the space', credentials('Ada', 'engine').replace(' ', '\t')],
    ['space in front', ` ${credentials('Ada', 'engine')}`],
    ['space behind', `${credentials('Ada', 'engine')} `],
    ['a line end behind', `${credentials('Ada', 'engine')}\n`],
    ['two headers in one', `${credentials('Ada', 'engine')}, ${credentials('Ada', 'engine')}`],
    ['plain text', 'Basic Ada:engine'],
    ['space in the base64', base64('Ada:engine').replace('QWRh', 'QW Rh')],
    ['too much padding', `${base64('Ada:engine')}=`],
    ['missing padding', base64('Ada:engine').replaceAll('=', '')],
    ['padding alone', 'Basic =='],
    ['spare bits that are set', base64('Ada:engine').replace('Q==', 'R==')],
    ['base64url', base64('Ada:>>>???').replaceAll('+', '-').replaceAll('/', '_')],
    ['no colon', base64('Ada')],
    ['an empty password', base64('Ada:')],
    ['Latin-1', base64(Buffer.from('Zoe:pässwörd', 'latin1'))],
    ['an overlong form', base64(Uint8Array.of(0x41, 0x3a, 0xc0, 0xaf))],
    ['an encoded surrogate', base64(Uint8Array.of(0x41, 0x3a, 0xed, 0xa0, 0x80))],
    ['UTF-16', base64(Buffer.from('Ada:engine', 'utf16le'))],
    ['a control character in the password', base64('Ada:engine\0')],
    ['a control character in the name', base64('A\u0085da:engine')],
    ['a password over 1 KiB', base64(`Ada:${'x'.repeat(1025)}`)],
    ['a password of a megabyte', base64(`Ada:${'x'.repeat(1_000_000)}`)],
    ['a name of a megabyte', base64(`${'x'.repeat(1_000_000)}:engine`)],
  ])('refuses %s without any work', async (_what, header) => {
    const noting = createNotingHasher();
    const noted = createLogIn(noting.hasher);
    expect(await noted(requestWith(header), snapshot)).toBeUndefined();
    expect(noting.work.calls).toEqual([]);
  });

  it('takes a password of 1 KiB in the form that is longest on the way', async () => {
    // U+0390: two bytes, and six once it is decomposed.
    const password = '\u0390'.repeat(512);
    const users = await snapshotOf({ ada: password });
    const header = credentials('ada', password.normalize('NFD'));
    expect(await authenticate(requestWith(header), users)).toEqual({ name: 'ada' });
  });

  it('says in the challenge that it speaks UTF-8', () => {
    expect(createBasicAuthentication().challenge).toBe('Basic realm="gateway admin", charset="UTF-8"');
  });

  it.each([
    ['west', '"west"'],
    ['', '""'],
    ['the "west" gateway', '"the \\"west\\" gateway"'],
    ['C:\\gateway', '"C:\\\\gateway"'],
    ['\\"', '"\\\\\\""'],
  ])('quotes the realm %j as %s', (realm, quoted) => {
    const { challenge } = createBasicAuthentication({ realm });
    expect(challenge).toBe(`Basic realm=${quoted}, charset="UTF-8"`);
  });

  it.each(['\n', 'a\r\nset-cookie: a', '\0', '\t', '\x7f', 'Köln', '\u2028'])(
    'refuses the realm %j',
    (realm) => {
      expect(() => createBasicAuthentication({ realm })).toThrow(
        new RangeError(
          'The realm of Basic authentication must be printable ASCII, because a header carries it',
        ),
      );
    },
  );

  it.each([5, null, {}, ['west']])('refuses %j in place of a realm', (realm) => {
    expect(() => createBasicAuthentication({ realm } as never)).toThrow(
      new TypeError('realm must be a string'),
    );
  });

  it('needs no log-in before there is a user, if the host says so', () => {
    const [none, some] = [createSnapshot({}), snapshot];
    expect(createBasicAuthentication().isOpen?.(none)).toBeUndefined();
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    expect([authenticate.isOpen?.(none), authenticate.isOpen?.(some)]).toEqual([true, false]);
  });
});
