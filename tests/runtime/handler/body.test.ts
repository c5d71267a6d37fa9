import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { defaultLimits, systemClock, type Json, type ProblemCode, type Result } from 'gateway-admin-core';

import { readBody } from '../../../src/runtime/handler/body.ts';

const options = { limits: defaultLimits, clock: systemClock, closing: new AbortController().signal };
const strict = new TextDecoder('utf-8', { fatal: true });

/** Reads a body as that of a route that takes JSON. */
function read(body: Uint8Array | string): Promise<Result<Json>> {
  const request = { method: 'PUT', target: '/users', headers: { 'content-type': 'application/json' }, body };
  return readBody(request, { mediaTypes: ['application/json'] }, options);
}

/** What the language makes of bytes; `undefined` when it refuses them. */
function reference(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) };
  } catch {
    return undefined;
  }
}

function codeOf(result: Result<Json>): ProblemCode | 'accepted' {
  return result.ok ? 'accepted' : result.problem.code;
}

/** Near the edges of UTF-8: what may lead, follow, or neither. */
const edgeBytes = [...Buffer.from('0022417f808f909fa0bfc0c1c2dfe0e1edeff0f3f4f5ff', 'hex')];
const edges = fc
  .array(fc.constantFrom(...edgeBytes), { maxLength: 6 })
  .map((bytes) => new Uint8Array([0x22, ...bytes, 0x22]));

describe('readBody', () => {
  it.each([
    ['any bytes', fc.uint8Array()],
    ['the edges of UTF-8', edges],
  ])('gives the same value as JSON.parse for %s', async (_, inputs) => {
    await fc.assert(
      fc.asyncProperty(inputs, async (bytes) => {
        const result = await read(bytes);
        const expected = reference(bytes);
        expect(result.ok ? { value: result.value } : undefined).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('says that the body is missing, not that its media type is, if there is neither', async () => {
    const request = { method: 'PUT', target: '/users', headers: {} };
    const rule = { mediaTypes: ['application/json'] };
    expect(codeOf(await readBody(request, rule, options))).toBe('body-missing');
    expect(codeOf(await readBody({ ...request, body: '{}' }, rule, options))).toBe('unsupported-media-type');
  });

  it('reads text as well as bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (body) => {
        expect(await read(body)).toEqual(await read(new TextEncoder().encode(body)));
      }),
    );
  });

  it('accepts a byte order mark', async () => {
    expect(await read(new Uint8Array([0xef, 0xbb, 0xbf, 0x5b, 0x5d]))).toEqual({ ok: true, value: [] });
  });

  it.each([
    ['a byte that cannot lead', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an overlong NUL', [0x22, 0xe0, 0x80, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0x41, 0xed, 0xa0, 0x80, 0x22]],
    ['an encoded low surrogate', [0x22, 0xed, 0xb0, 0x80, 0x22]],
    ['a code point beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['a sequence that is cut off', [0x22, 0xf0, 0x9f, 0x98]],
    ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00]],
    ['UTF-16 of the other order', [0x00, 0x5b, 0x00, 0x5d]],
    ['UTF-16 without a mark', [0x5b, 0x00, 0x5d, 0x00]],
    ['UTF-32', [0x00, 0x00, 0xfe, 0xff]],
  ])('refuses %s', async (_, bytes) => {
    expect(codeOf(await read(new Uint8Array(bytes)))).toBe('body-encoding-invalid');
  });
});
