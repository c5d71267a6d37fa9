/**
 * Spans of time on the command line: `90`, `45s`, `10m`, `1h30m` or `1d`.
 */

/** A span: a number of seconds alone, or numbers with units, the largest unit first. */
const form = /^(?:(\d{1,9})|(?=.)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?)$/;

/** The seconds of each number in a span. */
const units = [1, 86_400, 3600, 60, 1] as const;

/** The seconds of a span; `undefined` if the text is no span. */
export function secondsIn(text: string): number | undefined {
  const [, ...numbers] = form.exec(text) ?? [];
  if (numbers.length === 0) return undefined;
  return units.reduce((sum, unit, at) => sum + Number(numbers[at] ?? 0) * unit, 0);
}
