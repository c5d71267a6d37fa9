/**
 * Times for people: how long ago, how long, and when.
 */

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A duration in its largest unit, such as `12 min`; a negative one, from a clock that differs, counts as 0. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [size, unit] = units.find(([each]) => seconds >= each) ?? [1, 's'];
  return `${String(Math.floor(seconds / size))} ${unit}`;
}

/** How long something took, such as `0.3 s`. */
export function tookText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

// Made once: to make a format takes a hundred times as long as to use it.
const dayFormat = new Intl.DateTimeFormat([], { dateStyle: 'medium' });
const timeFormat = new Intl.DateTimeFormat([], {
  ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  hourCycle: 'h23',
});

/** The time of day, and the date unless that is today. */
export function whenText(at: number, now = Date.now()): string {
  const [when, today] = [new Date(at), new Date(now)];
  const time = timeFormat.format(when);
  return when.toDateString() === today.toDateString() ? time : `${dayFormat.format(when)} ${time}`;
}

/** How long ago an instant of the gateway was, in milliseconds. */
export function sinceInstant(instant: string): number {
  return Date.now() - Date.parse(instant);
}
