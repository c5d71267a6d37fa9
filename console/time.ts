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

/** A span of time in its two largest units, such as `1 h 26 min`. */
export function spanText(seconds: number): string {
  const at = units.findIndex(([size]) => seconds >= size);
  const [[size, unit], next] = [units[at] ?? [1, 's'], units[at + 1]];
  const rest = next === undefined || at < 0 ? 0 : Math.floor((seconds % size) / next[0]);
  return `${String(Math.floor(seconds / size))} ${unit}${rest === 0 || next === undefined ? '' : ` ${String(rest)} ${next[1]}`}`;
}

/** The seconds in a span that a person types, such as `90`, `10 min` or `1.5 h`. */
export function secondsIn(span: string): number {
  const [, number = '', unit = 's'] = /^\s*([\d.]+)\s*(\w*)/.exec(span) ?? [];
  return Number(number) * (units.find(([, each]) => each === unit)?.[0] ?? 1);
}

/** How long something took, such as `0.3 s`. */
export function tookText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

// Made once: to make a format takes a hundred times as long as to use it.
const dayFormat = new Intl.DateTimeFormat([], { dateStyle: 'medium' });
const longDayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
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

/** The time of day. */
export function timeText(at: number): string {
  return timeFormat.format(new Date(at));
}

/** The day, such as `Saturday 28 November`. */
export function dayText(at: number): string {
  return longDayFormat.format(new Date(at));
}

/** An instant as an input for a time has it. */
export function localInput(instant: string): string {
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** How long ago an instant of the gateway was, in milliseconds. */
export function sinceInstant(instant: string): number {
  return Date.now() - Date.parse(instant);
}
