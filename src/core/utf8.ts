/**
 * UTF-8: the length of a text in bytes, without an encoder, which the pure part of the library does not have.
 */

/** Gives the number of bytes of a text in UTF-8. @internal */
export function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) length += widthOf(character);
  return length;
}

/** Cuts a text after the last character that fits into a number of bytes in UTF-8. @internal */
export function cutToBytes(text: string, most: number): string {
  let length = 0;
  let end = 0;
  for (const character of text) {
    length += widthOf(character);
    if (length > most) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** The number of bytes of one character. Half a surrogate pair counts as U+FFFD, which replaces it. */
function widthOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}
