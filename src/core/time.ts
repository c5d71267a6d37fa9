/**
 * Times: the three formats of the interface, and ISO 8601 for gateway documents.
 *
 * An instant is a number of milliseconds since 1970-01-01T00:00:00Z. Two results are slow to compute and therefore
 * cached: the text of a day, which date-fns writes, and the offset of a zone on a day.
 */
import { UTCDateMini } from '@date-fns/utc/date/mini';
import { lightFormat } from 'date-fns/lightFormat';

/**
 * Writes instants in one time zone, in the three formats of the interface. Names of days and months are English in
 * every locale; fractions of a second are dropped.
 *
 * @public
 */
export interface TimeFormat {
  /** ISO 8601 with a numeric offset, such as `2016-08-29T12:52:31+03:00`; never `Z`. */
  iso8601(this: void, instant: number): string;
  /** RFC 5322 §3.3, such as `Wed, 31 Aug 2016 23:29:26 +0300`; the day has two digits. */
  rfc5322(this: void, instant: number): string;
  /** C `asctime` without the line end, such as `Fri Sep  9 14:12:37 2016`; the day is padded with a space. */
  asctime(this: void, instant: number): string;
}

/**
 * Creates a formatter for a time zone.
 *
 * In former years the offset of some zones had seconds. For such an instant `iso8601` and `rfc5322` use the nearest
 * offset in whole minutes and the matching time of day, so the text still names the exact instant (RFC 3339 §5.8).
 * `asctime`, which has no offset, gives the time that the local clocks showed.
 *
 * @param zone - an IANA name such as `Europe/Helsinki`, `UTC`, or an offset such as `+03:00`
 * @returns the formatter; its functions throw a RangeError for a number that is no instant, such as `NaN`
 * @throws RangeError when the zone is unknown
 *
 * @see Gateway Administration REST Interface, "Resources and their fields"; docs/spec-choices.md 10.
 *
 * @internal
 */
export function createTimeFormat(zone: string): TimeFormat {
  const offsetAt = createOffsets(zone);
  const iso8601 = createWallClock(forms.iso8601);
  const rfc5322 = createWallClock(forms.rfc5322);
  const asctime = createWallClock(forms.asctime);
  return Object.freeze({
    iso8601(instant: number) {
      const offset = offsetAt(instant);
      return iso8601(instant + offset.rounded) + offset.extended;
    },
    rfc5322(instant: number) {
      const offset = offsetAt(instant);
      return rfc5322(instant + offset.rounded) + offset.basic;
    },
    asctime: (instant: number) => asctime(instant + offsetAt(instant).exact),
  });
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;

/** The text before and after the time of day. A day is a date whose getters give UTC. */
interface Form {
  readonly before: (day: Date) => string;
  readonly after: (day: Date) => string;
}

const forms = {
  iso8601: { before: (day) => `${yearOf(day)}-${lightFormat(day, "MM-dd'T'")}`, after: () => '' },
  rfc5322: {
    before: (day) => `${weekdayOf(day)}, ${lightFormat(day, 'dd')} ${monthOf(day)} ${yearOf(day)} `,
    after: () => ' ',
  },
  asctime: {
    before: (day) => `${weekdayOf(day)} ${monthOf(day)} ${lightFormat(day, 'd').padStart(2)} `,
    after: (day) => ` ${yearOf(day)}`,
  },
} as const satisfies Record<keyof TimeFormat, Form>;

function weekdayOf(day: Date): string {
  return 'SunMonTueWedThuFriSat'.slice(3 * day.getDay(), 3 * day.getDay() + 3);
}

function monthOf(day: Date): string {
  return 'JanFebMarAprMayJunJulAugSepOctNovDec'.slice(3 * day.getMonth(), 3 * day.getMonth() + 3);
}

/** The year before 0001 is 0000, as in ISO 8601. `lightFormat` would write it as the year 1 of its era. */
function yearOf(day: Date): string {
  const year = day.getFullYear();
  return (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
}

/** Creates a writer of wall-clock time. Its argument is the local time as milliseconds, as if the zone were UTC. */
function createWallClock(form: Form): (wall: number) => string {
  const textOf = remember((day) => {
    const date = new UTCDateMini(day * dayMs);
    return { before: form.before(date), after: form.after(date) };
  });
  // Sessions that follow each other in a list were often opened in the same second.
  let last = { second: NaN, text: '' };
  return (wall) => {
    const second = Math.floor(wall / secondMs);
    if (second === last.second) return last.text;
    const day = Math.floor(wall / dayMs);
    const text = textOf(day);
    last = { second, text: text.before + timeOfDay(second - day * (dayMs / secondMs)) + text.after };
    return last.text;
  };
}

function timeOfDay(second: number): string {
  const minute = Math.floor(second / 60);
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:${twoDigits(second % 60)}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${String(number)}` : String(number);
}

/** How far the clocks of a zone are ahead of UTC. */
interface Offset {
  /** In milliseconds, a whole number of seconds. */
  readonly exact: number;
  /** In milliseconds, a whole number of minutes. */
  readonly rounded: number;
  /** Such as `+03:00`. */
  readonly extended: string;
  /** Such as `+0300`. */
  readonly basic: string;
}

function toOffset(exact: number): Offset {
  const minutes = Math.round(exact / minuteMs);
  const sign = minutes < 0 ? '-' : '+';
  const hh = twoDigits(Math.floor(Math.abs(minutes) / 60));
  const mm = twoDigits(Math.abs(minutes) % 60);
  return { exact, rounded: minutes * minuteMs, extended: `${sign}${hh}:${mm}`, basic: `${sign}${hh}${mm}` };
}

const noOffset = toOffset(0);

/** Creates the function that gives the offset of the zone at an instant. */
function createOffsets(zone: string): (instant: number) => Offset {
  // The default, which needs no probe of the platform: creating one takes longer than all else here.
  if (/^utc$/i.test(zone)) return () => noOffset;
  const fixed = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/.exec(zone);
  if (fixed !== null) {
    const offset = toOffset(toMilliseconds(fixed[1], fixed[2], fixed[3]));
    return () => offset;
  }
  const probe = createProbe(zone);
  const changeOn = remember((day) => findChange(probe, day * dayMs, (day + 1) * dayMs));
  return (instant) => {
    const change = changeOn(Math.floor(instant / dayMs));
    return instant < change.at ? change.before : change.after;
  };
}

/**
 * Asks the platform for the exact offset. `tzOffset` of @date-fns/tz loses the sign of offsets between -00:59:59 and
 * -00:00:01, and throws an exception inside for fixed offsets on Node 20, which is slow.
 */
function createProbe(zone: string): (instant: number) => number {
  const texts = createOffsetTexts(zone);
  return (instant) => {
    // Such as "8/29/2016, GMT+03:00", "1/1/1970, GMT-00:44:30", and "1/1/1970, GMT" for a zone without an offset.
    const [, sign, hours, minutes, seconds] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(texts.format(instant)) ?? [];
    return toMilliseconds(sign, hours, minutes, seconds);
  };
}

function createOffsetTexts(zone: string): Intl.DateTimeFormat {
  try {
    // Platforms differ in the offsets that they take for a zone; Node 24 takes one with the minus sign U+2212.
    if (typeof zone !== 'string' || !/^[A-Za-z]/.test(zone)) throw new RangeError('No name');
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch (cause) {
    const expected = 'give an IANA name such as "Europe/Helsinki" or an offset such as "+03:00"';
    throw new RangeError(`There is no time zone "${zone}": ${expected}`, { cause });
  }
}

function toMilliseconds(sign = '+', hours = '0', minutes = '0', seconds = '0'): number {
  const total = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * secondMs;
  return sign === '-' ? -total : total;
}

/** The offsets before and after the one instant of a span at which the offset may change. */
interface OffsetChange {
  readonly before: Offset;
  readonly after: Offset;
  readonly at: number;
}

/** Halves the span until the second is found. No zone has ever changed its offset twice within a day. */
function findChange(probe: (instant: number) => number, start: number, end: number): OffsetChange {
  const before = probe(start);
  const after = probe(end);
  let [low, high] = [start, end];
  while (before !== after && high - low > secondMs) {
    const middle = low + Math.floor((high - low) / 2 / secondMs) * secondMs;
    if (probe(middle) === before) low = middle;
    else high = middle;
  }
  return { before: toOffset(before), after: toOffset(after), at: high };
}

/** Largest number of cached days: almost three years. */
const maxRemembered = 1_024;

/** Adds a bounded cache to a function. */
function remember<T extends object>(make: (day: number) => T): (day: number) => T {
  const made = new Map<number, T>();
  return (day) => {
    const known = made.get(day);
    if (known !== undefined) return known;
    const fresh = make(day);
    if (made.size >= maxRemembered) made.clear();
    made.set(day, fresh);
    return fresh;
  };
}

/** The form of an instant in a document. A date or time that does not exist has this form too. @internal */
export const instantText =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an ISO 8601 date and time.
 *
 * Refused, with `undefined`: a time without an offset, a date or time that does not exist (30 February, 24:00, a leap
 * second), more than nine digits of a fraction, and an instant outside the years 0001 to 9999 in UTC.
 *
 * @param text - such as `2016-08-29T12:52:31+03:00`; the offset may be `Z`; digits after the milliseconds are dropped
 * @returns the instant in milliseconds since 1970-01-01T00:00:00Z
 *
 * @see RFC 3339 §5.6.
 *
 * @internal
 */
export function parseInstant(text: string): number | undefined {
  const match = instantText.exec(text);
  if (match === null) return undefined;
  const [, wall = '', fraction = '', sign, hours, minutes] = match;
  const asUtc = Date.parse(`${wall}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  // `Date.parse` turns 30 February into 1 March and 24:00 into the next day, and gives `NaN` for month 13: never this
  // day.
  if (new Date(asUtc).getUTCDate() !== Number(wall.slice(8, 10))) return undefined;
  const instant = asUtc - toMilliseconds(sign, hours, minutes);
  return instant < earliest || instant > latest ? undefined : instant;
}

/**
 * Writes an instant for a gateway document: ISO 8601 in UTC, with a fraction only if the fraction is not zero. The
 * inverse of {@link parseInstant}.
 *
 * @param instant - whole milliseconds since 1970-01-01T00:00:00Z, in the years 0001 to 9999
 * @returns such as `2016-08-29T09:52:31+00:00`
 * @throws RangeError for a number that is no instant, such as `NaN`
 *
 * @internal
 */
export function formatInstant(instant: number): string {
  return new Date(instant).toISOString().replace(/(?:\.000)?Z$/, '+00:00');
}
