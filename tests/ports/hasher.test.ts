/**
 * The hashers of passwords: PBKDF2, and scrypt of Node.
 */
import { pbkdf2Sync, scryptSync } from 'node:crypto';

import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { createPbkdf2Hasher } from 'gateway-admin-core';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

import { character } from '../support/arbitrary-character.ts';

const passwords = fc.string({ unit: character, minLength: 1 });

function phc(parameters: string, salt: Buffer, key: Buffer): string {
  const [salt64, key64] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$${parameters}$${String(salt64)}$${String(key64)}`;
}

/** A hash made by an implementation that shares nothing with ours. */
function pbkdf2(password: string, rounds: number, salt: Buffer = Buffer.alloc(16, 0xfb)): string {
  return phc(`pbkdf2-sha256$i=${String(rounds)}`, salt, pbkdf2Sync(password, salt, rounds, 32, 'sha256'));
}

/** A hash made without our code; the primitive is the same. */
function scrypt(password: string, logCost: number, salt: Buffer = Buffer.alloc(16, 0xfb)): string {
  const key = scryptSync(password, salt, 32, { N: 2 ** logCost, r: 8, p: 1, maxmem: 2 ** 31 });
  return phc(`scrypt$ln=${String(logCost)},r=8,p=1`, salt, key);
}

/** A hash of a cost that nobody has paid. */
const freeOfCost = `${'A'.repeat(22)}$${'A'.repeat(43)}`;

type PasswordHasher = ReturnType<typeof createPbkdf2Hasher>;

/** A hasher of a low cost, and what a host sees of it. */
interface Hasher {
  readonly hasher: PasswordHasher;
  /** The usual hasher. */
  readonly usual: PasswordHasher;
  readonly hashOf: (password: string, cost: number, salt?: Buffer) => string;
  /** The cost of `hasher`, and the highest cost that is quick to compute. */
  readonly cost: number;
  readonly most: number;
  /** What hashes begin with: those of `hasher`, of the usual cost, and of a cost below the usual one. */
  readonly begin: string;
  readonly usualBegin: string;
  readonly lowerBegin: string;
  /** Texts that are no hashes, each made of one. */
  readonly unreadable: Readonly<Record<string, (known: string) => string>>;
}

const hashers: Readonly<Record<string, Hasher>> = {
  PBKDF2: {
    hasher: createPbkdf2Hasher({ rounds: 3 }),
    usual: createPbkdf2Hasher(),
    hashOf: pbkdf2,
    ...{ cost: 3, most: 2000 },
    begin: '$pbkdf2-sha256$i=3$',
    usualBegin: '$pbkdf2-sha256$i=600000$',
    lowerBegin: '$pbkdf2-sha256$i=599999$',
    unreadable: {
      'another algorithm': (known) => known.replace('pbkdf2-sha256', 'pbkdf2-sha512'),
      'no rounds': (known) => known.replace('i=3', 'i='),
      'zero rounds': (known) => known.replace('i=3', 'i=0'),
      'rounds with a leading zero': (known) => known.replace('i=3', 'i=03'),
      'rounds with a sign': (known) => known.replace('i=3', 'i=+3'),
      'rounds that would take a minute': (known) => known.replace('i=3', 'i=99999999'),
      'absurd rounds': (known) => known.replace('i=3', `i=${'9'.repeat(400)}`),
    },
  },
  scrypt: {
    hasher: createScryptHasher({ cost: 4 }),
    usual: createScryptHasher(),
    hashOf: scrypt,
    ...{ cost: 2, most: 10 },
    begin: '$scrypt$ln=2,r=8,p=1$',
    usualBegin: '$scrypt$ln=17,r=8,p=1$',
    lowerBegin: '$scrypt$ln=16,r=8,p=1$',
    unreadable: {
      'another algorithm': (known) => known.replace('scrypt', 'yescrypt'),
      'a cost of one': (known) => known.replace('ln=2', 'ln=0'),
      'a cost with a leading zero': (known) => known.replace('ln=2', 'ln=02'),
      'a cost that is too high by one transition': (known) => known.replace('ln=2', 'ln=21'),
      'an absurd cost': (known) => known.replace('ln=2', 'ln=999'),
      'another block size': (known) => known.replace('r=8', 'r=80000'),
      'another parallelization': (known) => known.replace('p=1', 'p=2'),
    },
  },
};

/** Texts that are no hashes of any algorithm. */
const unreadable: Hasher['unreadable'] = {
  'an empty text': () => '',
  'plain text': () => 'engine',
  'text in front': (known) => `x${known}`,
  'text behind': (known) => `${known}x`,
  'a line end': (known) => `${known}\n`,
  padding: (known) => `${known}=`,
  'a short hash': (known) => known.slice(0, -1),
  'a long salt': (known) => known.replace(/\$(?=[^$]*$)/, 'AA$'),
  base64url: (known) => known.replaceAll('/', '_').replaceAll('+', '-'),
};

describe.each(Object.entries(hashers))('the hasher of %s', (_name, each) => {
  const { hasher, hashOf, begin } = each;
  const known = hashOf('engine', each.cost);

  it('gives a hash that only its own password verifies', async () => {
    await fc.assert(
      fc.asyncProperty(passwords, passwords, async (password, other) => {
        const hash = await hasher.hash(password);
        expect(await hasher.verify(password, hash)).toBe(true);
        expect(await hasher.verify(other, hash)).toBe(other === password);
      }),
    );
  });

  it('gives another hash each time, which names the algorithm and its cost, and never the password', async () => {
    const hashes = await Promise.all(Array.from({ length: 20 }, () => hasher.hash('engine')));
    for (const hash of hashes) {
      expect([hash.slice(0, begin.length), hash.includes('engine')]).toEqual([begin, false]);
      expect(hash.slice(begin.length)).toMatch(/^[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    }
    for (const part of [3, 4]) expect(new Set(hashes.map((hash) => hash.split('$')[part])).size).toBe(20);
  });

  it('agrees with another implementation, whatever the cost of the hash', async () => {
    const salts = fc.uint8Array({ minLength: 16, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(
        passwords,
        fc.integer({ min: 1, max: each.most }),
        salts,
        async (password, cost, salt) => {
          const hash = hashOf(password, cost, Buffer.from(salt));
          expect(await hasher.verify(password, hash)).toBe(true);
          expect(await hasher.verify(`${password}x`, hash)).toBe(false);
          expect(hasher.knows?.(hash)).toBe(true);
        },
      ),
    );
  });

  it('verifies no hash that was changed by a bit', async () => {
    const [salt = '', key = ''] = known.split('$').slice(3);
    await fc.assert(
      fc.asyncProperty(fc.nat(16 * 8 - 1), fc.nat(32 * 8 - 1), async (saltBit, keyBit) => {
        expect(await hasher.verify('engine', known.replace(salt, flip(salt, saltBit)))).toBe(false);
        expect(await hasher.verify('engine', known.replace(key, flip(key, keyBit)))).toBe(false);
      }),
    );
  });

  it('verifies and knows no other text, and does not want to hash its password again', async () => {
    const texts = Object.values({ ...unreadable, ...each.unreadable }).map((change) => change(known));
    for (const text of [...texts, '$argon2id$']) {
      expect(text).not.toBe(known);
      expect([text, await hasher.verify('engine', text)]).toEqual([text, false]);
      expect([text, hasher.knows?.(text), hasher.needsRehash?.(text)]).toEqual([text, false, false]);
    }
    await fc.assert(
      fc.asyncProperty(passwords, fc.string(), async (password, text) => {
        expect(await hasher.verify(password, text)).toBe(false);
      }),
    );
  });

  it('wants to hash a password again whose hash has a lower cost, and no other', () => {
    const hashed = (cost: number): string => begin.replace(String(each.cost), String(cost)) + freeOfCost;
    const costs = [each.cost - 1, each.cost, each.cost + 1].map((cost) => hasher.needsRehash?.(hashed(cost)));
    expect(costs).toEqual([true, false, false]);
  });

  it('has the cost that the documentation says unless told otherwise', () => {
    const { usual, lowerBegin, usualBegin } = each;
    const again = [lowerBegin, usualBegin].map((text) => usual.needsRehash?.(text + freeOfCost));
    expect(again).toEqual([true, false]);
  });
});

/** The base64 of the bytes with one bit turned. */
function flip(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64');
  const index = bit >> 3;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit & 7));
  return bytes.toString('base64').replaceAll('=', '');
}

describe('createPbkdf2Hasher', () => {
  // Promise: older-cost-work
  it('makes the same number of rounds for every hash of at most its own cost, and for one that it cannot read', async () => {
    const derivations = jest.spyOn(crypto.subtle, 'deriveBits');
    const roundsFor = async (hash: string): Promise<number> => {
      derivations.mockClear();
      await createPbkdf2Hasher({ rounds: 1_000 }).verify('engine', hash);
      return derivations.mock.calls.reduce(
        (sum, [algorithm]) => sum + (algorithm as { readonly iterations: number }).iterations,
        0,
      );
    };
    await fc.assert(
      fc.asyncProperty(passwords, fc.integer({ min: 1, max: 1_000 }), async (password, rounds) => {
        expect(await roundsFor(pbkdf2(password, rounds))).toBe(1_000);
      }),
    );
    expect(await roundsFor('$argon2id$')).toBe(1_000);
    expect(await roundsFor(pbkdf2('engine', 1_001))).toBe(1_001);
    derivations.mockRestore();
  });

  it.each([0, -1, 1.5, 10_000_001, Infinity, NaN])('refuses %d rounds', (rounds) => {
    expect(() => createPbkdf2Hasher({ rounds })).toThrow(
      new RangeError(`The rounds of PBKDF2 must be a whole number from 1 to 10000000, not ${String(rounds)}`),
    );
  });

  it.each([1, 10_000_000])('accepts %d rounds', (rounds) => {
    expect(() => createPbkdf2Hasher({ rounds })).not.toThrow();
  });
});

describe('createScryptHasher', () => {
  const slow = { cost: 2 ** 14 };

  /** The shortest and the longest of three durations. */
  async function durationsOf(hash: string, hasher = createScryptHasher(slow)): Promise<readonly number[]> {
    const durations: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const start = performance.now();
      await hasher.verify('difference', hash);
      durations.push(performance.now() - start);
    }
    return durations.toSorted((one, other) => one - other);
  }

  it('takes as long for a hash of a lower cost, and for one that it cannot read, as for one of its own', async () => {
    const hasher = createScryptHasher(slow);
    const [present = NaN] = await durationsOf(scrypt('engine', 14), hasher);
    for (const hash of [scrypt('engine', 4), '$argon2id$'])
      expect((await durationsOf(hash, hasher)).at(-1)).toBeGreaterThan(present / 4);
  });

  it.each(['was seen before', 'is new'])(
    'takes as long for a first hash of a lower cost that %s',
    async (what) => {
      const firstOf = async (hash: string): Promise<number> => {
        const hasher = createScryptHasher(slow);
        if (what === 'was seen before') hasher.knows?.(hash);
        const start = performance.now();
        await hasher.verify('difference', hash);
        return performance.now() - start;
      };
      const older = await firstOf(scrypt('engine', 4));
      expect(older).toBeGreaterThan((await firstOf(scrypt('engine', 14))) / 4);
    },
  );

  it('does not wait for a hash of a lower cost as long as the one time at which the clock jumped', async () => {
    const read = performance.now.bind(performance);
    let jumped = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => read() + jumped);
    const own = createScryptHasher({ cost: 4 });
    const verify = (hash: string): Promise<boolean> => own.verify('engine', hash);
    await verify(scrypt('engine', 2));
    const long = verify(scrypt('engine', 2));
    jumped = 3_600_000;
    await long;
    await verify(scrypt('engine', 2));
    expect(await verify(scrypt('engine', 1))).toBe(true);
    clock.mockRestore();
  });

  it.each([0, 1, -2, 3, 1000, 2.5, 2 ** 21, Infinity, NaN])('refuses a cost of %d', (cost) => {
    expect(() => createScryptHasher({ cost })).toThrow(
      new RangeError(`The cost of scrypt must be a power of two from 2 to 1048576, not ${String(cost)}`),
    );
  });

  it.each([2, 2 ** 20])('accepts a cost of %d', (cost) => {
    expect(() => createScryptHasher({ cost })).not.toThrow();
  });
});
