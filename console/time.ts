/**
 * Times for people: how long ago, how long, and when. Ages are by the clock of the gateway, and all times are in one
 * zone.
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

/** The time zone of the browser. */
const zoneOfBrowser = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zones in which times can be written, by whose they are. */
export const zones = { browser: zoneOfBrowser, gateway: zoneOfBrowser };

/** The time zone in which times are written. */
let zone = zoneOfBrowser;

/** Chooses the time zone in which times are written. */
export function setZone(next: string): void {
  zone = next;
}

/** How far the clock of the gateway is ahead of the clock of the page, in milliseconds. */
let aheadMs = Date.now() - performance.now();

/** Takes the clock of the gateway from an answer that has just come. */
export function setClock({ now, time_zone: timeZone }: Clock): void {
  const next = Date.parse(now) - performance.now();
  // Answers are late, and have no fractions of a second: the one that is most ahead is right.
  aheadMs = Math.abs(next - aheadMs) > 2000 ? next : Math.max(next, aheadMs);
  try {
    formatsIn(timeZone);
    zones.gateway = timeZone;
  } catch {
    // The browser does not know this zone.
  }
}

/** Says what time it is at the gateway, whose clock does not go as that of the page. */
export function setGatewayNow(now: number): void {
  aheadMs = now - performance.now();
}

/** What an answer says of the clock of the gateway. */
interface Clock {
  readonly now: string;
  readonly time_zone: string;
}

/** The time of the gateway now. A browser whose clock is wrong shows the right ages. */
function gatewayNow(): number {
  return performance.now() + aheadMs;
}

interface Formats {
  readonly day: Intl.DateTimeFormat;
  readonly longDay: Intl.DateTimeFormat;
  readonly time: Intl.DateTimeFormat;
  readonly input: Intl.DateTimeFormat;
}

// Made once: to make a format takes a hundred times as long as to use it.
const formats = new Map<string, Formats>();

function formatsIn(timeZone: string): Formats {
  const known = formats.get(timeZone) ?? {
    day: new Intl.DateTimeFormat([], { dateStyle: 'medium', timeZone }),
    longDay: new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone }),
    time: new Intl.DateTimeFormat([], {
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
      ...{ hourCycle: 'h23', timeZone },
    }),
    // The language in which a date is written as ISO 8601 has it.
    input: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone }),
  };
  formats.set(timeZone, known);
  return known;
}

/** The time of day, and the date unless that is today. */
export function whenText(at: number, now = gatewayNow()): string {
  const { day, time } = formatsIn(zone);
  const date = day.format(at);
  return date === day.format(now) ? time.format(at) : `${date} ${time.format(at)}`;
}

/** The time of day. */
export function timeText(at: number): string {
  return formatsIn(zone).time.format(at);
}

/** The day, such as `Saturday 28 November`. */
export function dayText(at: number): string {
  return formatsIn(zone).longDay.format(at);
}

/** A time as an input for a time has it, such as `2026-11-28T14:05`. */
export function inputText(at: number): string {
  return formatsIn(zone).input.format(at).replace(' ', 'T');
}

/** The instant that a person has put into an input for a time. */
export function instantIn(input: string): string {
  const asUtc = Date.parse(`${input}Z`);
  return new Date(2 * asUtc - Date.parse(`${inputText(asUtc)}Z`)).toISOString();
}

/** How long ago an instant of the gateway was, in milliseconds. */
export function sinceInstant(instant: string): number {
  return gatewayNow() - Date.parse(instant);
}
