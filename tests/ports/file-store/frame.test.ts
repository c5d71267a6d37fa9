/**
 * The frames of a file. They are tested by themselves, because the law about any flipped bit needs thousands of
 * files, and a store would write each to the disk.
 */
import { crc32 } from 'node:zlib';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { encodeFrame, readFrames, type FramesRead } from '../../../src/ports/file-store/frame.ts';

const generation = 3;

/** A file with a frame for each text. */
function fileOf(texts: readonly string[], ofGeneration = generation): Buffer {
  let file = Buffer.alloc(0);
  for (const text of texts) file = Buffer.concat([file, encodeFrame(text, ofGeneration, file.length)]);
  return file;
}

function valuesOf({ frames }: FramesRead): readonly unknown[] {
  return frames.map(({ value }) => value);
}

const json = fc.json({ maxDepth: 3 });
const files = fc.array(json, { minLength: 1, maxLength: 6 });
const damaged = { damage: expect.any(String) };

describe('readFrames', () => {
  it('gives what encodeFrame was given, and where it is', () => {
    fc.assert(
      fc.property(files, (texts) => {
        const file = fileOf(texts);
        const read = readFrames(file, generation);
        expect({ ...read, frames: valuesOf(read) }).toEqual({
          frames: texts.map((text) => JSON.parse(text) as unknown),
          end: file.length,
          rest: 'whole',
        });
        expect(read.frames.map(({ offset }) => offset)).toEqual(
          texts.map((_text, index) => fileOf(texts.slice(0, index)).length),
        );
      }),
    );
  });

  it('gives the frames before a cut, and takes what is left of the next for torn', () => {
    fc.assert(
      fc.property(files, fc.nat(), (texts, place) => {
        const file = fileOf(texts);
        const cut = place % (file.length + 1);
        const whole = texts.findIndex((_text, index) => fileOf(texts.slice(0, index + 1)).length > cut);
        const kept = whole === -1 ? texts : texts.slice(0, whole);
        const end = fileOf(kept).length;
        const read = readFrames(file.subarray(0, cut), generation);
        expect(valuesOf(read)).toEqual(kept.map((text) => JSON.parse(text) as unknown));
        expect([read.end, read.rest]).toEqual([end, end === cut ? 'whole' : 'torn']);
      }),
    );
  });

  it('takes nothing but zeros behind the frames for torn, however many', () => {
    fc.assert(
      fc.property(files, fc.integer({ min: 1, max: 3000 }), (texts, length) => {
        const file = fileOf(texts);
        const read = readFrames(Buffer.concat([file, Buffer.alloc(length)]), generation);
        expect([read.frames.length, read.end, read.rest]).toEqual([texts.length, file.length, 'torn']);
      }),
    );
  });

  // Promise: damaged-frame
  it('calls any flipped bit damage, says in which part, and gives the frames before it', () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.nat(7), (texts, place, bit) => {
        const file = fileOf(texts);
        const index = place % file.length;
        file.writeUInt8(file.readUInt8(index) ^ (1 << bit), index);
        const read = readFrames(file, generation);
        expect(valuesOf(read)).toEqual(
          texts.slice(0, read.frames.length).map((text) => JSON.parse(text) as unknown),
        );
        expect(read.end).toBeLessThanOrEqual(index);
        // The first eight bytes are the length of the frame, and the check of the length.
        const damage =
          index < read.end + 8
            ? 'the bytes are not the header of a frame'
            : 'the checksum of the frame is wrong';
        expect(read.rest).toEqual({ damage });
      }),
      { numRuns: 2000 },
    );
  });

  it('calls what is written over the frames, or behind them, damage or torn, and never a frame', () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 64 }), (texts, place, bytes) => {
        const file = fileOf(texts);
        const index = place % (file.length + 1);
        const over = Buffer.concat([file.subarray(0, index), bytes, file.subarray(index + bytes.length)]);
        fc.pre(!over.equals(file));
        const read = readFrames(over, generation);
        expect(valuesOf(read)).toEqual(
          texts.slice(0, read.frames.length).map((text) => JSON.parse(text) as unknown),
        );
        expect(read.rest).not.toBe('whole');
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['of another generation', fileOf(['1', '2'], generation + 1)],
    ['that stood elsewhere', Buffer.concat([fileOf(['1']), encodeFrame('2', generation, 0)])],
    ['whose predecessor is gone', fileOf(['[1]', '[2]']).subarray(15)],
    ['twice', Buffer.concat([fileOf(['1']), fileOf(['1'])])],
  ])('calls a frame %s damage', (_which, file) => {
    expect(readFrames(file, generation).rest).toEqual(damaged);
  });

  it('calls a frame damage that checks out and is not JSON', () => {
    const read = readFrames(fileOf(['1', 'no JSON', '2']), generation);
    expect(read).toMatchObject({
      frames: [{ value: 1 }],
      end: 13,
      rest: { damage: 'the content of the frame is not JSON' },
    });
  });
});

/** What power failures leave: sectors of the last write are there or are not, in any combination. */
describe('a frame of which some sectors were never written', () => {
  const text = JSON.stringify('x'.repeat(3000));
  const before = fileOf(['"before"']);
  const file = Buffer.concat([before, encodeFrame(text, generation, before.length)]);
  const sectors = Math.ceil(file.length / 512);

  it('is torn, whichever they are', () => {
    for (let missing = 1; missing < 2 ** sectors; missing += 1) {
      const left = Buffer.from(file);
      for (let sector = 0; sector < sectors; sector += 1) {
        if ((missing & (2 ** sector)) !== 0) {
          left.fill(0, Math.max(before.length, sector * 512), Math.min(file.length, (sector + 1) * 512));
        }
      }
      const read = readFrames(left, generation);
      expect([valuesOf(read), read.end, read.rest]).toEqual([['before'], before.length, 'torn']);
    }
  });

  it('is damage when others follow: then it had been synced', () => {
    const followed = Buffer.concat([file, encodeFrame('"behind"', generation, file.length)]);
    for (let sector = 0; sector < sectors; sector += 1) {
      const left = Buffer.from(followed);
      left.fill(0, Math.max(before.length, sector * 512), Math.min(file.length, (sector + 1) * 512));
      const read = readFrames(left, generation);
      expect([valuesOf(read), read.end, read.rest]).toEqual([['before'], before.length, damaged]);
    }
  });

  it('is damage when another frame follows, however near it begins', () => {
    for (let distance = 1; distance <= 40; distance += 1) {
      const behind = encodeFrame('"behind"', generation, before.length + distance);
      const left = Buffer.concat([before, Buffer.alloc(distance, 0xff), behind, Buffer.alloc(2048)]);
      expect([distance, readFrames(left, generation).rest]).toEqual([distance, damaged]);
    }
  });

  it('is damage when the file ends with the header of another frame', () => {
    const header = encodeFrame('"behind"', generation, before.length + 2048).subarray(0, 12);
    const left = Buffer.concat([before, Buffer.alloc(2048), header]);
    expect(readFrames(left, generation).rest).toEqual(damaged);
    expect(readFrames(left.subarray(0, -1), generation).rest).toBe('torn');
  });

  it('is torn also when its header is cut by a boundary of sectors', () => {
    for (let start = 500; start < 512; start += 1) {
      const head = fileOf([JSON.stringify('y'.repeat(start - 14))]);
      const whole = Buffer.concat([head, encodeFrame(text, generation, head.length)]);
      const left = Buffer.from(whole).fill(0, 512, 1024);
      expect([head.length, readFrames(left, generation).rest]).toEqual([start, 'torn']);
    }
  });
});

describe('a frame that begins just before the boundary of a sector', () => {
  it('is damage when a bit of it is flipped, though its first bytes are zeros', () => {
    for (let start = 500; start < 512; start += 1) {
      const head = fileOf([JSON.stringify('y'.repeat(start - 14))]);
      const whole = Buffer.concat([head, encodeFrame('["abc"]', generation, head.length)]);
      for (let index = start; index < whole.length; index += 1) {
        const left = Buffer.from(whole);
        left.writeUInt8(left.readUInt8(index) ^ 1, index);
        expect([start, index, readFrames(left, generation).rest]).toEqual([start, index, damaged]);
      }
    }
  });
});

describe('a frame of which only the first sector was never written', () => {
  // Seed 1373 of the worlds of a store.
  it.each(['["abc"]', text3000()])('is torn, however few of its bytes that sector has', (text) => {
    for (let start = 500; start < 512; start += 1) {
      const head = fileOf([JSON.stringify('y'.repeat(start - 14))]);
      const whole = Buffer.concat([head, encodeFrame(text, generation, head.length)]);
      const left = Buffer.from(whole).fill(0, start, 512);
      const rest = left.equals(whole) ? 'whole' : 'torn';
      expect([start, readFrames(left, generation).rest]).toEqual([start, rest]);
    }
  });

  it('is damage when one flipped bit can have made the zeros', () => {
    const head = fileOf([JSON.stringify('y'.repeat(508 - 14))]);
    const whole = Buffer.concat([head, encodeFrame('"12345678901234"', generation, head.length)]);
    const left = Buffer.from(whole).fill(0, 508, 512);
    expect(readFrames(left, generation).rest).toEqual(damaged);
  });
});

function text3000(): string {
  return JSON.stringify('x'.repeat(3000));
}

describe('encodeFrame', () => {
  it('writes what the format says', () => {
    const header = Buffer.from([0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 1, 0]);
    const check = crc32(header);
    const expected = Buffer.alloc(12);
    expected.writeUInt32BE(4, 0);
    expected.writeUInt32BE(check, 4);
    expected.writeUInt32BE(crc32('"ä"', check), 8);
    expect(encodeFrame('"ä"', 9, 256)).toEqual(Buffer.concat([expected, Buffer.from('"ä"')]));
  });

  it('refuses more than a string can hold when it is read', () => {
    expect(() => encodeFrame('ä'.repeat(2 ** 27), 1, 0)).toThrow(RangeError);
  });
});
