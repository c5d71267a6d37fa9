import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { passwordFault } from '../../src/core/secret.ts';
import { createSnapshot, type Snapshot } from '../../src/index.ts';
import { createBasicAuthentication } from '../../src/ports/basic-authentication.ts';
import { createPbkdf2Hasher } from '../../src/ports/pbkdf2-hasher.ts';
import type { AdminRequest } from '../../src/http/message.ts';
import type { Authenticate, Hasher } from '../../src/ports/port.ts';

const hasher = createPbkdf2Hasher({ rounds: 1 });

/** What a hasher was asked for, and how many of that at the same time at most. */
interface Work {
  readonly calls: string[];
  under: number;
  most: number;
}

/** A hasher that notes what it does: the method, and the parameters of the hash. */
function createNotingHasher(): { hasher: Hasher; work: Work } {
  const work: Work = { calls: [], under: 0, most: 0 };
  const note = async <T>(call: string, done: Promise<T>): Promise<T> => {
    work.calls.push(call);
    work.under += 1;
    work.most = Math.max(work.most, work.under);
    return done.finally(() => (work.under -= 1));
  };
  return {
    work,
    hasher: {
      hash: (password) => note('hash', hasher.hash(password)),
      verify: (password, hash) =>
        note(`verify ${hash.split('$').slice(0, 3).join('$')}`, hasher.verify(password, hash)),
    },
  };
}

/** A hasher that answers when it is told to. */
function createHeldHasher(): { hasher: Hasher; release: () => void; verified: string[] } {
  const verified: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return {
    verified,
    release,
    hasher: {
      hash: (password) => hasher.hash(password),
      async verify(password, hash) {
        verified.push(password);
        await released;
        return hasher.verify(password, hash);
      },
    },
  };
}

function credentials(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

function requestWith(authorization?: string, signal?: AbortSignal): AdminRequest {
  return {
    method: 'GET',
    target: '/services',
    headers: { authorization },
    ...(signal === undefined ? {} : { signal }),
  };
}

async function snapshotOf(passwords: Readonly<Record<string, string>>): Promise<Snapshot> {
  const entries = Object.entries(passwords).map(async ([name, password]) => ({
    name,
    passwordHash: await hasher.hash(password.normalize('NFC')),
  }));
  return createSnapshot({ users: await Promise.all(entries) });
}

const passwords = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 40 })
  .filter((password) => passwordFault(password) === undefined);

describe('createBasicAuthentication', () => {
  const authenticate = createBasicAuthentication({ hasher });
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

  it('answers with nothing to any other header, and never fails', async () => {
    const headers = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }).map((text) => `Basic ${text}`),
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
    const noted = createBasicAuthentication({ hasher: noting.hasher });
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
    expect(authenticate.challenge).toBe('Basic realm="gateway admin", charset="UTF-8"');
  });

  it.each([
    ['west', '"west"'],
    ['', '""'],
    ['the "west" gateway', '"the \\"west\\" gateway"'],
    ['C:\\gateway', '"C:\\\\gateway"'],
    ['\\"', '"\\\\\\""'],
  ])('quotes the realm %j as %s', (realm, quoted) => {
    const { challenge } = createBasicAuthentication({ hasher, realm });
    expect(challenge).toBe(`Basic realm=${quoted}, charset="UTF-8"`);
  });

  it.each(['\n', 'a\r\nset-cookie: a', '\0', '\t', '\x7f', 'Köln', '\u2028'])(
    'refuses the realm %j',
    (realm) => {
      expect(() => createBasicAuthentication({ hasher, realm })).toThrow(RangeError);
    },
  );

  it.each([
    ['maxInFlight', 0],
    ['maxInFlight', -1],
    ['maxInFlight', 1.5],
    ['maxInFlight', Infinity],
    ['maxInFlight', NaN],
    ['maxQueued', -1],
    ['maxQueued', 0.5],
    ['maxQueued', Infinity],
  ])('refuses a %s of %d', (option, value) => {
    expect(() => createBasicAuthentication({ hasher, [option]: value })).toThrow(RangeError);
  });
});

describe('the work of a log-in', () => {
  /** The work of the log-ins, one after the other, with names and passwords. */
  async function workOf(...logIns: readonly (readonly [string, string])[]): Promise<readonly string[]> {
    const { hasher: noted, work } = createNotingHasher();
    const authenticate = createBasicAuthentication({ hasher: noted });
    const snapshot = await snapshotOf({ ada: 'engine' });
    for (const logIn of logIns) await authenticate(requestWith(credentials(...logIn)), snapshot);
    return work.calls;
  }

  // Promise: log-in-work
  it('is the same for an unknown user, a wrong password and the right one, from the first on', async () => {
    const first = await workOf(['ada', 'difference']);
    expect(first).toEqual(['hash', 'verify $pbkdf2-sha256$i=1']);
    expect(await workOf(['bob', 'difference'])).toEqual(first);
    expect(await workOf(['ada', 'engine'])).toEqual(first);
  });

  it('is one verification each once the decoy is made', async () => {
    const verify = 'verify $pbkdf2-sha256$i=1';
    const calls = await workOf(['bob', 'engine'], ['ada', 'difference'], ['carol', 'x'], ['ada', 'engine']);
    expect(calls).toEqual(['hash', verify, verify, verify, verify]);
  });

  it('is the same where there are no users at all', async () => {
    const { hasher: noted, work } = createNotingHasher();
    const authenticate = createBasicAuthentication({ hasher: noted });
    expect(await authenticate(requestWith(credentials('ada', 'engine')), createSnapshot({}))).toBeUndefined();
    expect(work.calls).toEqual(['hash', 'verify $pbkdf2-sha256$i=1']);
  });
});

describe('many log-ins at the same time', () => {
  const times = async (
    count: number,
    authenticate: Authenticate,
    authorization: string,
  ): ReturnType<typeof Promise.all<ReturnType<Authenticate>[]>> => {
    const snapshot = await snapshotOf({ ada: 'engine' });
    const request = requestWith(authorization);
    return Promise.all(Array.from({ length: count }, () => authenticate(request, snapshot)));
  };

  it('are verified a few at a time; some wait, the others are throttled', async () => {
    const { hasher: noted, work } = createNotingHasher();
    const authenticate = createBasicAuthentication({ hasher: noted });
    const answers = await times(1000, authenticate, credentials('ada', 'engine'));
    expect(work.most).toBe(2);
    expect(work.under).toBe(0);
    expect(answers.slice(0, 66)).toEqual(Array.from({ length: 66 }, () => ({ name: 'ada' })));
    expect(answers.slice(66)).toEqual(Array.from({ length: 934 }, () => 'throttled'));
    expect(work.calls.filter((call) => call.startsWith('verify'))).toHaveLength(66);
    expect(work.calls.filter((call) => call === 'hash')).toHaveLength(1);
  });

  it('are throttled whoever they are for', async () => {
    const limits = { maxInFlight: 3, maxQueued: 5 };
    for (const name of ['ada', 'bob']) {
      const authenticate = createBasicAuthentication({ hasher, ...limits });
      const answers = await times(20, authenticate, credentials(name, 'difference'));
      expect(answers.map((answer) => answer ?? 'refused')).toEqual([
        ...Array.from({ length: 8 }, () => 'refused'),
        ...Array.from({ length: 12 }, () => 'throttled'),
      ]);
    }
  });

  it('do not stand in the way of malformed ones, which need no turn', async () => {
    const held = createHeldHasher();
    const authenticate = createBasicAuthentication({ hasher: held.hasher, maxInFlight: 1, maxQueued: 0 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const first = authenticate(requestWith(credentials('ada', 'engine')), snapshot);
    expect(await authenticate(requestWith('Basic x'), snapshot)).toBeUndefined();
    expect(await authenticate(requestWith(credentials('ada', 'engine')), snapshot)).toBe('throttled');
    held.release();
    expect(await first).toEqual({ name: 'ada' });
    expect(await authenticate(requestWith(credentials('ada', 'engine')), snapshot)).toEqual({ name: 'ada' });
  });

  it('are verified in the order in which they came, but for those whose client went away', async () => {
    const held = createHeldHasher();
    const authenticate = createBasicAuthentication({ hasher: held.hasher, maxInFlight: 1 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const controller = new AbortController();
    const answers = ['1', '2', '3', 'engine', '5'].map((password) => {
      const signal = password === '3' ? controller.signal : new AbortController().signal;
      return authenticate(requestWith(credentials('ada', password), signal), snapshot);
    });
    controller.abort();
    held.release();
    expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined, { name: 'ada' }, undefined]);
    expect(held.verified).toEqual(['1', '2', 'engine', '5']);
  });
});

describe('a hasher that fails', () => {
  it('fails the log-in and no other', async () => {
    let calls = 0;
    const failing: Hasher = {
      hash: (password) => hasher.hash(password),
      verify: (password, hash) => {
        calls += 1;
        return calls <= 3 ? Promise.reject(new Error('out of memory')) : hasher.verify(password, hash);
      },
    };
    const authenticate = createBasicAuthentication({ hasher: failing, maxInFlight: 1, maxQueued: 10 });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const answers = await Promise.allSettled(
      Array.from({ length: 6 }, () => authenticate(requestWith(credentials('ada', 'engine')), snapshot)),
    );
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 3 }, () => 'rejected'),
      ...Array.from({ length: 3 }, () => 'fulfilled'),
    ]);
  });

  it('is asked again for the decoy that it could not make', async () => {
    let calls = 0;
    const failing: Hasher = {
      hash: (password) => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('out of memory')) : hasher.hash(password);
      },
      verify: (password, hash) => hasher.verify(password, hash),
    };
    const authenticate = createBasicAuthentication({ hasher: failing });
    const snapshot = await snapshotOf({ ada: 'engine' });
    const logIn = () => authenticate(requestWith(credentials('ada', 'engine')), snapshot);
    await expect(logIn()).rejects.toThrow('out of memory');
    expect(await logIn()).toEqual({ name: 'ada' });
    expect(await logIn()).toEqual({ name: 'ada' });
    expect(calls).toBe(2);
  });
});
