/**
 * Spans of time on the command line: `90`, `45s`, `10m`, `2h` or `1d`.
 */

/** The units, in seconds. */
const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

/** The seconds of a span; `undefined` if the text is no span. */
export function secondsIn(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (units.get(unit) ?? 1);
}
