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
  readonly time: Intl.DateTimeFormat;
}

// Made once: to make a format takes a hundred times as long as to use it.
const formats = new Map<string, Formats>();

function formatsIn(timeZone: string): Formats {
  const known = formats.get(timeZone) ?? {
    day: new Intl.DateTimeFormat([], { dateStyle: 'medium', timeZone }),
    time: new Intl.DateTimeFormat([], {
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
      ...{ hourCycle: 'h23', timeZone },
    }),
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

/** How long ago an instant of the gateway was, in milliseconds. */
export function sinceInstant(instant: string): number {
  return gatewayNow() - Date.parse(instant);
}
