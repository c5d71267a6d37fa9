/**
 * Normal form: Unicode form NFC of texts from clients.
 */

/** The longest run of combining marks that is normalised. @internal */
export const longestRun = 64;

/** A longer run. The first character before a run is checked, so that each run is counted once. */
const tooLong = /(?<!\p{M})\p{M}{65}/u;

/**
 * Gives the form NFC of a text. A text with more than 64 combining marks in a row is given back unchanged, because
 * normalising takes time that grows with the square of the run. No language needs more than a few marks.
 *
 * @see Unicode Standard Annex 15, "Stream-Safe Text Format", whose longest run is 30.
 *
 * @internal
 */
export function normalForm(text: string): string {
  return text.length > longestRun && tooLong.test(text) ? text : text.normalize('NFC');
}
