/**
 * The steps in which time passes.
 */
const units = { h: 3_600_000, min: 60_000, s: 1000, ms: 1 } as const;

/** The step in which so many milliseconds pass, in the largest unit that says it. */
export function waitOf(milliseconds: number): string {
  const [unit, size] = Object.entries(units).find(([, each]) => milliseconds % each === 0) ?? ['ms', 1];
  return `wait ${String(milliseconds / size)}${unit}`;
}

/** How many milliseconds pass in a step; `undefined` for another step. */
export function durationOf(step: string): number | undefined {
  const [, count, unit] = /^wait (\d+)(ms|s|min|h)$/.exec(step) ?? [];
  return count === undefined ? undefined : Number(count) * units[unit as keyof typeof units];
}
