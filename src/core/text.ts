/**
 * Texts of clients and hosts: their Unicode form NFC, and their length in UTF-8. The pure part of the library has no
 * encoder.
 */

/** The longest run of combining marks that is normalised. @internal */
export const longestRun = 30;

/** A text without a longer run. No part can match in two ways, so the time grows with the length of the text alone. */
const withoutLongRun = /^\p{M}{0,30}(?:\P{M}\p{M}{0,30})*$/u;

/** Whether a text has more than 30 combining marks in a row. @internal */
export function hasLongRun(text: string): boolean {
  return text.length > longestRun && !withoutLongRun.test(text);
}

/**
 * Gives the form NFC of a text. A text with more than 30 combining marks in a row is given back unchanged, because
 * normalising takes time that grows with the square of the run. No language needs more than a few marks.
 *
 * @see Unicode Standard Annex 15, "Stream-Safe Text Format".
 *
 * @internal
 */
export function normalForm(text: string): string {
  return hasLongRun(text) ? text : text.normalize('NFC');
}

/** Gives the number of bytes of a text in UTF-8. @internal */
export function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) length += widthOf(character.codePointAt(0) ?? 0);
  return length;
}

/** Gives a text in UTF-8. Half a surrogate pair becomes U+FFFD. @internal */
export function utf8(text: string): Uint8Array {
  // No UTF-16 code unit needs more than three bytes.
  const bytes = new Uint8Array(3 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.codePointAt(at) ?? 0;
    if (unit > 0xffff) at += 1;
    // Most texts are ASCII.
    if (unit < 0x80) bytes[length++] = unit;
    else length = writeLong(bytes, length, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
  }
  return bytes.subarray(0, length);
}

/** Writes a character of several bytes. Gives the place behind it. */
function writeLong(bytes: Uint8Array, at: number, point: number): number {
  const width = widthOf(point);
  // The first byte has a bit for each byte of the character. The others have six bits of it each.
  bytes[at] = ((0xf00 >> width) & 0xff) | (point >> (6 * (width - 1)));
  for (let rest = 1; rest < width; rest += 1)
    bytes[at + rest] = 0x80 | ((point >> (6 * (width - 1 - rest))) & 0x3f);
  return at + width;
}

/** Cuts a text after the last character that fits into a number of bytes in UTF-8. @internal */
export function cutToBytes(text: string, most: number): string {
  let length = 0;
  let end = 0;
  for (const character of text) {
    length += widthOf(character.codePointAt(0) ?? 0);
    if (length > most) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** The number of bytes of one character. Half a surrogate pair counts as U+FFFD, which replaces it. */
function widthOf(point: number): number {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}
