/**
 * Normal form: Unicode form NFC of texts from clients.
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
