import { pbkdf2Sync } from 'node:crypto';

import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { createPbkdf2Hasher } from 'gateway-admin-core';

import { character } from '../support/arbitrary-character.ts';

const hasher = createPbkdf2Hasher({ rounds: 3 });
const passwords = fc.string({ unit: character, minLength: 1 });

/** A hash made by an implementation that shares nothing with ours. */
function hashOf(password: string, rounds: number, salt = Buffer.alloc(16, 0xfb)): string {
  const key = pbkdf2Sync(password, salt, rounds, 32, 'sha256');
  const [salt64, key64] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$pbkdf2-sha256$i=${String(rounds)}$${String(salt64)}$${String(key64)}`;
}

/** Processor time that something takes, all threads together, in microseconds. */
async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function threeTimes(work: () => Promise<unknown>): Promise<readonly number[]> {
  return [await processorTimeOf(work), await processorTimeOf(work), await processorTimeOf(work)];
}

describe('hash', () => {
  it('gives a hash that only its own password verifies', async () => {
    await fc.assert(
      fc.asyncProperty(passwords, passwords, async (password, other) => {
        const hash = await hasher.hash(password);
        expect(await hasher.verify(password, hash)).toBe(true);
        expect(await hasher.verify(other, hash)).toBe(other === password);
      }),
    );
  });

  it('names the algorithm and the rounds, and never the password', async () => {
    const hash = await hasher.hash('engine');
    expect(hash).toMatch(/^\$pbkdf2-sha256\$i=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(hash).not.toContain('engine');
  });

  it('gives another hash each time', async () => {
    const hashes = await Promise.all(Array.from({ length: 20 }, () => hasher.hash('engine')));
    expect(new Set(hashes).size).toBe(20);
    expect(new Set(hashes.map((hash) => hash.split('$')[3])).size).toBe(20);
  });

  it('takes 600,000 rounds unless told otherwise', async () => {
    const hash = await createPbkdf2Hasher().hash('engine');
    const [, , parameters = '', salt = ''] = hash.split('$');
    expect(parameters).toBe('i=600000');
    expect(hash).toBe(hashOf('engine', 600_000, Buffer.from(salt, 'base64')));
  });
});

describe('verify', () => {
  it('agrees with another implementation, whatever the rounds', async () => {
    await fc.assert(
      fc.asyncProperty(
        passwords,
        fc.integer({ min: 1, max: 2_000 }),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        async (password, rounds, salt) => {
          const hash = hashOf(password, rounds, Buffer.from(salt));
          expect(await hasher.verify(password, hash)).toBe(true);
          expect(await hasher.verify(`${password}x`, hash)).toBe(false);
        },
      ),
    );
  });

  it('holds for no hash that was changed by a bit', async () => {
    const hash = hashOf('engine', 3);
    const [salt = '', key = ''] = hash.split('$').slice(3);
    await fc.assert(
      fc.asyncProperty(fc.nat(16 * 8 - 1), fc.nat(32 * 8 - 1), async (saltBit, keyBit) => {
        expect(await hasher.verify('engine', hash.replace(salt, flip(salt, saltBit)))).toBe(false);
        expect(await hasher.verify('engine', hash.replace(key, flip(key, keyBit)))).toBe(false);
      }),
    );
  });

  const known = hashOf('engine', 3);
  it.each([
    ['an empty text', ''],
    ['plain text', 'engine'],
    ['another algorithm', known.replace('pbkdf2-sha256', 'pbkdf2-sha512')],
    ['text in front', `x${known}`],
    ['text behind', `${known}x`],
    ['a line end', `${known}\n`],
    ['padding', `${known}=`],
    ['a short hash', known.slice(0, -1)],
    ['a long salt', known.replace(/\$(?=[^$]*$)/, 'AA$')],
    ['no rounds', known.replace('i=3', 'i=')],
    ['zero rounds', known.replace('i=3', 'i=0')],
    ['rounds with a leading zero', known.replace('i=3', 'i=03')],
    ['rounds with a sign', known.replace('i=3', 'i=+3')],
    ['rounds that would take a minute', known.replace('i=3', 'i=99999999')],
    ['absurd rounds', known.replace('i=3', `i=${'9'.repeat(400)}`)],
    ['base64url', known.replaceAll('/', '_').replaceAll('+', '-')],
  ])('does not hold for %s', async (_what, hash) => {
    expect(hash).not.toBe(known);
    expect(await hasher.verify('engine', hash)).toBe(false);
  });

  it('takes as much work for a hash that it cannot read as for a wrong password', async () => {
    const slow = createPbkdf2Hasher({ rounds: 200_000 });
    const hash = hashOf('engine', 200_000);
    const wrong = await threeTimes(() => slow.verify('difference', hash));
    const unreadable = await threeTimes(() => slow.verify('difference', '$argon2id$'));
    expect(Math.max(...unreadable)).toBeGreaterThan(Math.min(...wrong) / 4);
  });

  // Promise: older-cost-work
  it('takes as much work for a hash of a lower cost as for one of its own', async () => {
    const slow = createPbkdf2Hasher({ rounds: 200_000 });
    const present = await threeTimes(() => slow.verify('difference', hashOf('engine', 200_000)));
    const older = await threeTimes(() => slow.verify('difference', hashOf('engine', 10_000)));
    expect(Math.max(...older)).toBeGreaterThan(Math.min(...present) / 4);
  });

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
        expect(await roundsFor(hashOf(password, rounds))).toBe(1_000);
      }),
    );
    expect(await roundsFor('$argon2id$')).toBe(1_000);
    expect(await roundsFor(hashOf('engine', 1_001))).toBe(1_001);
    derivations.mockRestore();
  });

  it('never accepts a password for a hash that it cannot read', async () => {
    await fc.assert(
      fc.asyncProperty(passwords, fc.string(), async (password, hash) => {
        expect(await hasher.verify(password, hash)).toBe(false);
      }),
    );
  });
});

describe('needsRehash', () => {
  it('holds for a hash of fewer rounds, and for nothing else', () => {
    const [one, two, ...others] = [1, 2, 3, 4, 600_000].map(
      (rounds) => `$pbkdf2-sha256$i=${String(rounds)}$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    );
    for (const hash of [one, two]) expect(hasher.needsRehash?.(String(hash))).toBe(true);
    for (const hash of [...others, '', 'engine', '$argon2id$', `${String(one)}=`])
      expect(hasher.needsRehash?.(hash)).toBe(false);
  });
});

describe('knows', () => {
  it('holds for hashes of any number of rounds, and for nothing else', () => {
    for (const rounds of [1, 3, 1_000]) expect(hasher.knows?.(hashOf('engine', rounds))).toBe(true);
    for (const hash of ['', 'engine', '$argon2id$', `${hashOf('engine', 3)}=`])
      expect(hasher.knows?.(hash)).toBe(false);
  });
});

describe('createPbkdf2Hasher', () => {
  it.each([0, -1, 1.5, 10_000_001, Infinity, NaN])('refuses %d rounds', (rounds) => {
    expect(() => createPbkdf2Hasher({ rounds })).toThrow(
      new RangeError(`The rounds of PBKDF2 must be a whole number from 1 to 10000000, not ${String(rounds)}`),
    );
  });

  it.each([1, 10_000_000])('accepts %d rounds', (rounds) => {
    expect(() => createPbkdf2Hasher({ rounds })).not.toThrow();
  });
});

/** The base64 of the bytes with one bit turned. */
function flip(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64');
  const index = bit >> 3;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit & 7));
  return bytes.toString('base64').replaceAll('=', '');
}
