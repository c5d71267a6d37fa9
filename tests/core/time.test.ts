/**
 * Times: a pure function whose laws hold for every instant and every time zone.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { setDefaultOptions } from 'date-fns/setDefaultOptions';
import { de } from 'date-fns/locale/de';
import { enUS } from 'date-fns/locale/en-US';
import * as fc from 'fast-check';

import { createTimeFormat, formatInstant, parseInstant, type TimeFormat } from '../../src/core/time.ts';

const at = (text: string): number => Date.parse(text);
const earliest = at('0001-01-01T00:00:00Z');
const latest = at('9999-12-31T23:59:59.999Z');
const instants = fc.integer({ min: earliest, max: latest });
/** Four-digit years in every zone. */
const ordinary = fc.integer({ min: at('0001-01-03T00:00:00Z'), max: at('9999-12-29T00:00:00Z') });
/** Where zones have changed their offsets: between the first laws about time zones and today. */
const eventful = fc.integer({ min: at('1880-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') });
const allZones = Intl.supportedValuesOf('timeZone');
const zones = fc.constantFrom('UTC', 'Africa/Monrovia', 'Australia/Lord_Howe', 'Pacific/Apia', ...allZones);

/** What the clocks of a zone show, by the platform's own formatter, in the form of asctime. */
function createOracle(zone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (instant) => {
    const part = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    const text = (type: Intl.DateTimeFormatPartTypes): string => part.get(type) ?? '';
    const time = [text('hour'), text('minute'), text('second')].join(':');
    return [text('weekday'), text('month'), text('day').padStart(2), time, text('year')].join(' ');
  };
}

/** An RFC 5322 date as an ISO 8601 one. */
function toIso(text: string): string {
  const [weekday = '', day = '', month = '', year = '', time = '', offset = ''] = text.split(' ');
  const number = new Date(`${month} 1, 2000`).getMonth() + 1;
  const date = `${year}-${String(number).padStart(2, '0')}-${day}`;
  expect(new Date(date).toUTCString().slice(0, 4)).toBe(weekday);
  return `${date}T${time}${offset.slice(0, 3)}:${offset.slice(3)}`;
}

function write(time: TimeFormat, instant: number): string[] {
  return [time.iso8601(instant), time.rfc5322(instant), time.asctime(instant)];
}

/** An instant without its milliseconds. */
const secondOf = (instant: number): number => Math.floor(instant / 1000) * 1000;

describe('createTimeFormat', () => {
  it('shows what the clocks of the zone show, with the nearest offset in minutes', () => {
    fc.assert(
      fc.property(zones, fc.array(eventful, { minLength: 1 }), (zone, all) => {
        const time = createTimeFormat(zone);
        const oracle = createOracle(zone);
        for (const instant of all) {
          expect(time.asctime(instant)).toBe(oracle(instant));
          const written = at(`${time.iso8601(instant).slice(0, 19)}Z`);
          expect(Math.abs(at(`${oracle(instant)} UTC`) - written)).toBeLessThanOrEqual(30_000);
        }
      }),
    );
  });

  it('writes texts with an offset that mean the instant, to the second', () => {
    fc.assert(
      fc.property(zones, fc.oneof(eventful, ordinary), (zone, instant) => {
        const time = createTimeFormat(zone);
        const text = time.iso8601(instant);
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
        expect([at(text), parseInstant(text)]).toEqual([secondOf(instant), secondOf(instant)]);
        expect(toIso(time.rfc5322(instant))).toBe(text);
      }),
    );
  });

  it('writes the same for an instant whatever was written before', () => {
    fc.assert(
      fc.property(
        zones,
        fc.array(eventful),
        eventful,
        fc.array(fc.integer({ min: -9e7, max: 9e7 })),
        (zone, far, instant, near) => {
          const used = createTimeFormat(zone);
          for (const other of [...far, ...near.map((step) => instant + step)]) write(used, other);
          expect(write(used, instant)).toEqual(write(createTimeFormat(zone), instant));
        },
      ),
    );
  });

  it('writes the same after more days than it keeps in mind', () => {
    const used = createTimeFormat('Europe/Helsinki');
    const days = Array.from({ length: 3_000 }, (_, index) => at('2010-01-01T12:34:56Z') + index * 86_400_000);
    const texts = days.map((day) => write(used, day));
    expect(days.map((day) => write(used, day))).toEqual(texts);
    expect(texts.map(([iso = '']) => at(iso))).toEqual(days);
  });

  it('agrees with the platform in the seconds around every change of offset', () => {
    const changing = 'Europe/Dublin Africa/Monrovia Australia/Lord_Howe Pacific/Apia Asia/Gaza'.split(' ');
    const steps = [-61, -60, -59, -1, 0, 1, 29, 30, 59, 60, 3600];
    for (const zone of changing) {
      const time = createTimeFormat(zone);
      const oracle = createOracle(zone);
      const changes = changesOf(oracle, at('1965-01-01T00:00:00Z'), at('2037-01-01T00:00:00Z'));
      expect(changes).not.toHaveLength(0);
      for (const instant of changes.flatMap((change) => steps.map((step) => change + step * 1000))) {
        expect(time.asctime(instant)).toBe(oracle(instant));
        expect(at(time.iso8601(instant))).toBe(instant);
      }
    }
  });

  it('writes the forms of the interface', () => {
    const time = createTimeFormat('Europe/Helsinki');
    expect(time.iso8601(at('2016-08-29T09:52:31Z'))).toBe('2016-08-29T12:52:31+03:00');
    expect(time.rfc5322(at('2016-08-31T20:29:26Z'))).toBe('Wed, 31 Aug 2016 23:29:26 +0300');
    expect(time.asctime(at('2016-09-09T11:12:37Z'))).toBe('Fri Sep  9 14:12:37 2016');
  });

  it.each([
    ['UTC', '2016-08-31T20:29:26Z', '2016-08-31T20:29:26+00:00'],
    ['utc', '2016-08-31T20:29:26Z', '2016-08-31T20:29:26+00:00'],
    ['+03:00', '2016-08-31T20:29:26Z', '2016-08-31T23:29:26+03:00'],
    ['+0300', '2016-08-31T20:29:26Z', '2016-08-31T23:29:26+03:00'],
    ['-03', '2016-08-31T20:29:26Z', '2016-08-31T17:29:26-03:00'],
    ['-00:30', '2016-08-31T20:29:26Z', '2016-08-31T19:59:26-00:30'],
    ['-00:00', '2016-08-31T20:29:26Z', '2016-08-31T20:29:26+00:00'],
    ['+23:59', '2016-08-31T20:29:26Z', '2016-09-01T20:28:26+23:59'],
    ['Asia/Kathmandu', '2016-08-31T20:29:26Z', '2016-09-01T02:14:26+05:45'],
    ['America/St_Johns', '2016-12-31T23:59:59Z', '2016-12-31T20:29:59-03:30'],
    ['Europe/Helsinki', '2016-10-30T00:59:59.999Z', '2016-10-30T03:59:59+03:00'],
    ['Europe/Helsinki', '2016-10-30T01:00:00.000Z', '2016-10-30T03:00:00+02:00'],
    ['Australia/Lord_Howe', '2016-04-02T15:00:00Z', '2016-04-03T01:30:00+10:30'],
    ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T23:59:59-10:00'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T00:00:00+14:00'],
    ['Africa/Monrovia', '1971-06-01T00:00:00Z', '1971-05-31T23:16:00-00:44'],
    ['Asia/Singapore', '1900-01-01T00:00:00Z', '1900-01-01T06:55:00+06:55'],
    ['UTC', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00+00:00'],
    ['-12:00', '0001-01-01T00:00:00Z', '0000-12-31T12:00:00-12:00'],
    ['UTC', '-000044-03-15T12:00:00Z', '-0044-03-15T12:00:00+00:00'],
  ])('in %s writes %s as %s', (zone, instant, text) => {
    expect(createTimeFormat(zone).iso8601(at(instant))).toBe(text);
  });

  it('shows the seconds of an offset in asctime, and pads the day with a space, in rfc5322 with a zero', () => {
    const asctime = (zone: string, text: string): string => createTimeFormat(zone).asctime(at(text));
    expect(asctime('Africa/Monrovia', '1971-06-01T00:00:00Z')).toBe('Mon May 31 23:15:30 1971');
    expect(asctime('Asia/Singapore', '1900-01-01T00:00:00Z')).toBe('Mon Jan  1 06:55:25 1900');
    expect(asctime('UTC', '2016-12-10T00:00:00Z')).toBe('Sat Dec 10 00:00:00 2016');
    expect(write(createTimeFormat('UTC'), at('0987-01-02T03:04:05Z')).slice(1)).toEqual([
      'Tue, 02 Jan 0987 03:04:05 +0000',
      'Tue Jan  2 03:04:05 0987',
    ]);
  });

  const noZones = [
    '',
    'Z',
    'Mars/Olympus',
    'local',
    '+3',
    '+24:00',
    '+03:60',
    '+03:00:00',
    '03:00',
    '\u221203:00',
    ' UTC',
  ];
  it.each(noZones)('refuses the zone %j and says what would be one', (zone) => {
    const hint = 'give an IANA name such as "Europe/Helsinki" or an offset such as "+03:00"';
    expect(() => createTimeFormat(zone)).toThrow(RangeError);
    expect(() => createTimeFormat(zone)).toThrow(`There is no time zone "${zone}": ${hint}`);
  });

  it.each(['UTC', '+03:00', 'Europe/Helsinki'])('in %s refuses what is no instant', (zone) => {
    const time = createTimeFormat(zone);
    for (const form of [time.iso8601, time.rfc5322, time.asctime]) {
      expect(() => form(Number.NaN)).toThrow(RangeError);
      expect(() => form(Number.POSITIVE_INFINITY)).toThrow(RangeError);
    }
  });
});

/** The instants, to the second, at which the clocks of a zone were set, found by halving weeks. */
function changesOf(oracle: (instant: number) => string, from: number, to: number): number[] {
  const week = 7 * 86_400_000;
  const offset = (instant: number): number => at(`${oracle(instant)} UTC`) - instant;
  const changes: number[] = [];
  let before = offset(from);
  for (let start = from; start < to; start += week) {
    const after = offset(start + week);
    if (after === before) continue;
    let [low, high] = [start, start + week];
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    changes.push(high);
    before = after;
  }
  return changes;
}

describe('the surroundings', () => {
  const samples = ['UTC', '-00:30', 'Europe/Helsinki', 'America/New_York', 'Africa/Monrovia', 'Pacific/Apia'];
  const moments = ['1900-01-01T00:00:00Z', '1971-06-01T11:22:33Z', '2011-12-30T10:00:00Z']
    .map(at)
    .concat(Array.from({ length: 400 }, (_, index) => at('2016-01-01T00:30:00Z') + index * 79_199_000));
  const root = resolve(__dirname, '../..');

  const { code } = transformSync(readFileSync(resolve(root, 'src/core/time.ts'), 'utf8'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  const writeSamples = `${code}
    const texts = ${JSON.stringify(samples)}.map((zone) => {
      const time = createTimeFormat(zone);
      return ${JSON.stringify(moments)}.flatMap((at) => [
        time.iso8601(at), time.rfc5322(at), time.asctime(at), formatInstant(at), parseInstant(time.iso8601(at)),
      ]);
    });
    process.stdout.write(JSON.stringify({ ahead: -new Date(0).getTimezoneOffset(), texts }));`;

  /** Runs a program in a process of its own: within one, the time zone cannot be set for sure. */
  function run(program: string, settings: Record<string, string> = {}): unknown {
    const env = { ...process.env, ...settings };
    const options = { cwd: root, env, input: program, encoding: 'utf8' } as const;
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module'], options));
  }

  // Promise: times
  it.each([
    ['America/New_York', 'en_US.UTF-8', -300],
    ['Asia/Kolkata', 'hi_IN.UTF-8', 330],
    ['Africa/Monrovia', 'ar_EG.UTF-8', -44],
  ])('of a process in %s with the locale %s make no difference', (TZ, LC_ALL, ahead) => {
    const texts = samples.map((zone) => {
      const time = createTimeFormat(zone);
      return moments.flatMap((moment) => [
        ...[...write(time, moment), formatInstant(moment), parseInstant(time.iso8601(moment))],
      ]);
    });
    expect(run(writeSamples, { TZ, LC_ALL, LANG: LC_ALL })).toEqual({ ahead, texts });
  });

  // The platform takes up to 50 ms to load its zones. The first answer of a process must not wait for them.
  it('are read when a format is made, not when it first writes', () => {
    const count = `${code}
      const times = ${JSON.stringify(samples)}.map(createTimeFormat);
      const { DateTimeFormat } = Intl;
      let made = 0;
      Intl.DateTimeFormat = class extends DateTimeFormat {
        constructor(...args) {
          super(...args);
          made += 1;
        }
      };
      for (const time of times) time.iso8601(0), time.rfc5322(0), time.asctime(0);
      process.stdout.write(String(made));`;
    expect(run(count)).toBe(0);
  });

  afterEach(() => {
    setDefaultOptions({ locale: enUS });
  });

  it('make no difference when the host gives date-fns another default locale', () => {
    setDefaultOptions({ locale: de });
    expect(createTimeFormat('UTC').rfc5322(at('2016-10-31T00:00:00Z'))).toBe(
      'Mon, 31 Oct 2016 00:00:00 +0000',
    );
  });
});

describe('formatInstant and parseInstant', () => {
  it('are inverse for every whole millisecond of the years 0001 to 9999', () => {
    fc.assert(
      fc.property(fc.oneof(instants, eventful, fc.constantFrom(earliest, latest, 0, -1)), (instant) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
      }),
    );
  });

  it('agree with createTimeFormat in UTC, to the second', () => {
    const { iso8601 } = createTimeFormat('UTC');
    fc.assert(fc.property(ordinary, (instant) => iso8601(instant) === formatInstant(secondOf(instant))));
  });
});

describe('formatInstant', () => {
  it.each([
    ['2016-08-29T09:52:31Z', '2016-08-29T09:52:31+00:00'],
    ['2016-08-29T09:52:31.070Z', '2016-08-29T09:52:31.070+00:00'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999+00:00'],
  ])('writes %s as %s', (instant, text) => {
    expect(formatInstant(at(instant))).toBe(text);
  });

  it('refuses what is no instant', () => {
    expect(() => formatInstant(Number.NaN)).toThrow(RangeError);
  });
});

describe('parseInstant', () => {
  it('accepts exactly the dates of the calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), fc.nat(13), fc.nat(32), (year, month, day) => {
        const two = (number: number): string => String(number).padStart(2, '0');
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T12:00:00Z`;
        const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
        const days = [0, 31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0][month] ?? 0;
        expect(parseInstant(text) !== undefined).toBe(day >= 1 && day <= days);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['2016-08-29T09:52:31Z', '2016-08-29T09:52:31.000Z'],
    ['2016-08-29T12:52:31+03:00', '2016-08-29T09:52:31.000Z'],
    ['2016-08-29T00:00:00-00:30', '2016-08-29T00:30:00.000Z'],
    ['2016-08-29T09:52:31.5Z', '2016-08-29T09:52:31.500Z'],
    ['2016-08-29T09:52:31.057Z', '2016-08-29T09:52:31.057Z'],
    ['2016-08-29T09:52:31.999999999+00:00', '2016-08-29T09:52:31.999Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000Z'],
  ])('accepts %s', (text, instant) => {
    expect(parseInstant(text)).toBe(at(instant));
  });

  it.each([
    ['a part that is missing', '2016-08-29T12:52:31|2016-08-29|2016-08-29T12:52Z|2016-08-29T12:52:31.Z|'],
    [
      'another form',
      '2016-08-29 12:52:31Z|2016-08-29t12:52:31z|20160829T125231Z|Mon, 29 Aug 2016 12:52:31 +0300',
    ],
    [
      'another offset',
      '2016-08-29T12:52:31+0300|2016-08-29T12:52:31+03|2016-08-29T12:52:31+24:00|2016-08-29T12:52:31+03:60',
    ],
    ['another fraction', '2016-08-29T12:52:31,5Z|2016-08-29T12:52:31.1234567890Z'],
    ['no such day', '1900-02-29T00:00:00Z|2016-06-31T00:00:00Z|2016-00-01T00:00:00Z|2016-13-01T00:00:00Z'],
    ['no time of the day', '2016-08-29T24:00:00Z|2016-12-31T23:59:60Z|2016-08-29T12:60:00Z'],
    [
      'no such year',
      '0000-12-31T23:59:59Z|0001-01-01T00:00:00+00:01|9999-12-31T23:59:59-00:01|+010000-01-01T00:00:00Z',
    ],
    ['other characters', ' 2016-08-29T09:52:31Z|2016-08-29T09:52:31Z\n|٢٠١٦-08-29T09:52:31Z'],
  ])('refuses %s: %j', (_what, texts) => {
    expect(texts.split('|').filter((text) => parseInstant(text) !== undefined)).toEqual([]);
  });
});
