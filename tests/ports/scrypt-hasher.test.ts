import { scryptSync } from 'node:crypto';

import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

import { character } from '../support/arbitrary-character.ts';

const hasher = createScryptHasher({ cost: 4 });
const passwords = fc.string({ unit: character, minLength: 1 });

/** A hash made without our code; the primitive is the same. */
function hashOf(password: string, logCost: number, salt = Buffer.alloc(16, 0xfb)): string {
  const cost = 2 ** logCost;
  const key = scryptSync(password, salt, 32, { N: cost, r: 8, p: 1, maxmem: 2 ** 31 });
  const [salt64, key64] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$scrypt$ln=${String(logCost)},r=8,p=1$${String(salt64)}$${String(key64)}`;
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

  it('names the algorithm and its parameters, and never the password', async () => {
    const hash = await hasher.hash('engine');
    expect(hash).toMatch(/^\$scrypt\$ln=2,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(hash).not.toContain('engine');
  });

  it('gives another hash each time', async () => {
    const hashes = await Promise.all(Array.from({ length: 20 }, () => hasher.hash('engine')));
    expect(new Set(hashes).size).toBe(20);
  });

  it('takes a cost of 2^17 unless told otherwise', async () => {
    const hash = await createScryptHasher().hash('engine');
    const [, , parameters = '', salt = ''] = hash.split('$');
    expect(parameters).toBe('ln=17,r=8,p=1');
    expect(hash).toBe(hashOf('engine', 17, Buffer.from(salt, 'base64')));
  });
});

describe('verify', () => {
  it('takes the cost from the hash', async () => {
    await fc.assert(
      fc.asyncProperty(passwords, fc.integer({ min: 1, max: 10 }), async (password, logCost) => {
        const hash = hashOf(password, logCost);
        expect(await hasher.verify(password, hash)).toBe(true);
        expect(await hasher.verify(`${password}x`, hash)).toBe(false);
      }),
    );
  });

  const known = hashOf('engine', 2);
  it.each([
    ['an empty text', ''],
    ['plain text', 'engine'],
    ['another algorithm', known.replace('scrypt', 'yescrypt')],
    ['text in front', `x${known}`],
    ['text behind', `${known}x`],
    ['a line end', `${known}\n`],
    ['padding', `${known}=`],
    ['a short hash', known.slice(0, -1)],
    ['a cost of one', known.replace('ln=2', 'ln=0')],
    ['a cost with a leading zero', known.replace('ln=2', 'ln=02')],
    ['a cost that is too high by one transition', known.replace('ln=2', 'ln=21')],
    ['an absurd cost', known.replace('ln=2', 'ln=999')],
    ['another block size', known.replace('r=8', 'r=80000')],
    ['another parallelization', known.replace('p=1', 'p=2')],
  ])('does not hold for %s', async (_what, hash) => {
    expect(hash).not.toBe(known);
    expect(await hasher.verify('engine', hash)).toBe(false);
  });

  it('takes as much work for a hash that it cannot read as for a wrong password', async () => {
    const slow = createScryptHasher({ cost: 2 ** 15 });
    const hash = hashOf('engine', 15);
    const wrong = await threeTimes(() => slow.verify('difference', hash));
    const unreadable = await threeTimes(() => slow.verify('difference', '$argon2id$'));
    expect(Math.max(...unreadable)).toBeGreaterThan(Math.min(...wrong) / 4);
  });

  it('takes as long for a hash of a lower cost as for one of its own', async () => {
    const slow = createScryptHasher({ cost: 2 ** 15 });
    const durationOf = async (hash: string): Promise<number> => {
      const start = performance.now();
      await slow.verify('difference', hash);
      return performance.now() - start;
    };
    const [present, older]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      present.push(await durationOf(hashOf('engine', 15)));
      older.push(await durationOf(hashOf('engine', 4)));
    }
    expect(Math.max(...older)).toBeGreaterThan(Math.min(...present) / 4);
  });

  it.each(['was seen before', 'is new'])(
    'takes as long for a first hash of a lower cost that %s',
    async (what) => {
      const durationOf = async (hash: string): Promise<number> => {
        const slow = createScryptHasher({ cost: 2 ** 15 });
        if (what === 'was seen before') slow.knows?.(hash);
        const start = performance.now();
        await slow.verify('difference', hash);
        return performance.now() - start;
      };
      const older = await durationOf(hashOf('engine', 4));
      expect(older).toBeGreaterThan((await durationOf(hashOf('engine', 15))) / 4);
    },
  );

  it('does not wait for a hash of a lower cost as long as the one time at which the clock jumped', async () => {
    const read = performance.now.bind(performance);
    let jumped = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => read() + jumped);
    const own = createScryptHasher({ cost: 4 });
    const verify = (hash: string): Promise<boolean> => own.verify('engine', hash);
    await verify(hashOf('engine', 2));
    const long = verify(hashOf('engine', 2));
    jumped = 3_600_000;
    await long;
    await verify(hashOf('engine', 2));
    expect(await verify(hashOf('engine', 1))).toBe(true);
    clock.mockRestore();
  });
});

describe('needsRehash', () => {
  it('holds for a hash of a lower cost, and for nothing else', () => {
    const [lower, ...others] = [1, 2, 3, 20].map(
      (logCost) => `$scrypt$ln=${String(logCost)},r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
    );
    expect(hasher.needsRehash?.(String(lower))).toBe(true);
    for (const hash of [...others, '', 'engine', '$argon2id$', `${String(lower)}=`])
      expect(hasher.needsRehash?.(hash)).toBe(false);
  });
});

describe('knows', () => {
  it('holds for hashes of any cost, and for nothing else', () => {
    expect(hasher.knows?.(hashOf('engine', 1))).toBe(true);
    expect(hasher.knows?.(hashOf('engine', 2))).toBe(true);
    expect(hasher.knows?.('$argon2id$')).toBe(false);
  });
});

describe('createScryptHasher', () => {
  it.each([0, 1, -2, 3, 1000, 2.5, 2 ** 21, Infinity, NaN])('refuses a cost of %d', (cost) => {
    expect(() => createScryptHasher({ cost })).toThrow(
      new RangeError(`The cost of scrypt must be a power of two from 2 to 1048576, not ${String(cost)}`),
    );
  });

  it.each([2, 2 ** 20])('accepts a cost of %d', (cost) => {
    expect(() => createScryptHasher({ cost })).not.toThrow();
  });
});
