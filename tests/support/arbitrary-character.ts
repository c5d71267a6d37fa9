/**
 * Any character of Unicode, as the unit of arbitrary strings.
 */
import * as fc from 'fast-check';

const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * Gives the strings that fast-check gives for the unit `binary`. That unit costs each test file a second and 85 MB,
 * because fast-check makes a map of all characters to find which texts it can write with them.
 */
export const character = fc.nat({ max: 0x10ffff - surrogates }).map(
  (index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  (text) => {
    const code = typeof text === 'string' ? (text.codePointAt(0) ?? 0) : 0;
    if (text !== String.fromCodePoint(code) || !text.isWellFormed()) throw new Error('Not one character');
    return code < firstSurrogate ? code : code - surrogates;
  },
);
