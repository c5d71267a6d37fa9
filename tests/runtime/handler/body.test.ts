/**
 * The bytes of a body, in a patch that sets a text, which the answer shows again.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { runAdmin } from '../../support/running-admin.ts';

const { admin } = runAdmin();
const strict = new TextDecoder('utf-8', { fatal: true });
const json = { 'content-type': 'application/json' };

/** Sends a body. Gives the code of the refusal, and the text that was set. */
async function send(body?: Uint8Array | string, headers: Readonly<Record<string, string>> = json) {
  const request = { method: 'PATCH', target: '/services/My-Service', headers };
  const handled = await admin.handle({ ...request, ...(body !== undefined && { body }) });
  if (!handled.matched) throw new Error('Nothing is there');
  return JSON.parse(handled.response.body as string) as { readonly code?: string; readonly user?: string };
}

/** The body that sets a value, which is given in bytes. */
function setting(value: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('[{"op":"add","path":"/user","value":'), value, Buffer.from('}]')]);
}

/** What the language makes of bytes; `undefined` when it refuses them. */
function reference(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) };
  } catch {
    return undefined;
  }
}

/** Near the edges of UTF-8: what may lead, follow, or neither. */
const edgeBytes = [...Buffer.from('0022417f808f909fa0bfc0c1c2dfe0e1edeff0f3f4f5ff', 'hex')];
const edges = fc
  .array(fc.constantFrom(...edgeBytes), { maxLength: 6 })
  .map((bytes) => new Uint8Array([0x22, ...bytes, 0x22]));

describe('a body', () => {
  it.each([
    ['any bytes', fc.uint8Array()],
    ['the edges of UTF-8', edges],
  ])('is read as JSON.parse reads it: %s', async (_, inputs) => {
    await fc.assert(
      fc.asyncProperty(inputs, async (bytes) => {
        const whole = setting(bytes);
        const [{ code = '', user }, expected] = [await send(whole), reference(whole)];
        expect(/^body-/.test(code)).toBe(expected === undefined);
        if (code === '') expect(expected).toMatchObject({ value: [{ value: user }] });
      }),
      { numRuns: 2000 },
    );
  });

  it('is missing, rather than its media type, if there is neither', async () => {
    expect((await send(undefined, {})).code).toBe('body-missing');
    expect((await send('{}', {})).code).toBe('unsupported-media-type');
  });

  it('may be text, and may have a byte order mark', async () => {
    const bytes = setting(Buffer.from('"é😀"'));
    for (const body of [bytes, strict.decode(bytes), Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])])
      expect((await send(body)).user).toBe('é😀');
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
  ])('is refused with %s', async (_, bytes) => {
    expect((await send(new Uint8Array(bytes))).code).toBe('body-encoding-invalid');
  });
});
