import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import type { EventHead, EventTable } from '../../src/core/decision.ts';
import { foldReports, type ReportTable } from '../../src/core/report.ts';

/** A toy: a house whose lamps are seen to be on or off. */
interface House {
  readonly revision: number;
  readonly on: readonly string[];
}
interface Seen {
  readonly type: 'lamp.seen';
  readonly lamp: string;
  readonly on: boolean;
}
type LampEvent = EventHead<'lamp.seen'> & Omit<Seen, 'type'>;

const events: EventTable<House, LampEvent> = {
  'lamp.seen': {
    origin: 'report',
    evolve(house, { lamp, on }) {
      if (house.on.includes(lamp) === on) return house;
      return { ...house, on: on ? [...house.on, lamp] : house.on.filter((each) => each !== lamp) };
    },
  },
};
const reports: ReportTable<House, Seen, LampEvent> = {
  'lamp.seen': {
    shape: z.strictObject({ type: z.literal('lamp.seen'), lamp: z.string(), on: z.boolean() }),
    event(house, report, at) {
      if (report.lamp === 'sun') return { contradiction: 'is no lamp' };
      if (house.on.includes(report.lamp) === report.on) return undefined;
      return { ...report, at, resource: `/lamps/${report.lamp}` };
    },
  },
};
const dark: House = Object.freeze({ revision: 3, on: [] });
const foldHouse = (
  report: readonly unknown[],
  house = dark,
): ReturnType<typeof foldReports<House, Seen, LampEvent>> =>
  foldReports({ reports, events }, house, report, 9);

describe('foldReports', () => {
  const seen = fc.record({
    type: fc.constant('lamp.seen'),
    lamp: fc.constantFrom('a', 'b', 'sun'),
    on: fc.boolean(),
  });

  it('gives what the events fold to, and a fault for each report that cannot be true', () => {
    fc.assert(
      fc.property(fc.array(seen), (report) => {
        const { next, events: given, faults } = foldHouse(report);
        expect(faults.map(({ pointer }) => pointer)).toEqual(
          report.flatMap(({ lamp }, at) => (lamp === 'sun' ? [`/${String(at)}`] : [])),
        );
        const folded = given.reduce<readonly string[]>(
          (on, { lamp, on: now }) => (now ? [...on, lamp] : on.filter((each) => each !== lamp)),
          [],
        );
        expect(next.on).toEqual(folded);
        expect(next.revision).toBe(given.length === 0 ? 3 : 4);
        expect(given.length === 0).toBe(next === dark);
      }),
    );
  });

  it('survives whatever it is given', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (report) => {
        const { next, faults } = foldHouse(report);
        expect(next).toBe(dark);
        expect(faults).toHaveLength(report.length);
      }),
    );
  });

  it('passes on only reports that tell the whole of an aspect', () => {
    const whole: ReportTable<House, Seen, LampEvent> = {
      'lamp.seen': {
        ...reports['lamp.seen'],
        whole: { aspect: 'light', resource: ({ lamp }: Seen) => `/lamps/${lamp}` },
      },
    };
    const on: Seen = { type: 'lamp.seen', lamp: 'a', on: true };
    for (const [table, expected] of [
      [reports, []],
      [whole, [{ link: '/lamps/a', aspect: 'light', report: on }]],
    ] as const) {
      const passed: unknown[] = [];
      const { next } = foldReports({ reports: table, events }, dark, [on], 9, {
        hold(crossing) {
          passed.push(crossing);
          return false;
        },
      });
      expect([next.on, passed]).toEqual([['a'], expected]);
    }
  });

  it('leaves out a contradiction of a report that is passed on and taken up again later', () => {
    const whole: ReportTable<House, Seen, LampEvent> = {
      'lamp.seen': { ...reports['lamp.seen'], whole: { aspect: 'light', resource: () => '/lamps/sun' } },
    };
    const sun: Seen = { type: 'lamp.seen', lamp: 'sun', on: true };
    const faultsWhen = (isTaken: boolean): number =>
      foldReports({ reports: whole, events }, dark, [sun], 9, { hold: () => isTaken }).faults.length;
    expect([faultsWhen(false), faultsWhen(true)]).toEqual([1, 0]);
    // Without the function, no report is taken up again.
    expect(foldReports({ reports: whole, events }, dark, [sun], 9).faults).toHaveLength(1);
  });

  it('tells each report the state that those before it left', () => {
    const on = { type: 'lamp.seen', lamp: 'a', on: true };
    const { next, events: given } = foldHouse([on, on, { ...on, on: false }, on]);
    expect(given.map((event) => event.on)).toEqual([true, false, true]);
    expect(next).toEqual({ revision: 4, on: ['a'] });
    expect(given[0]).toEqual({ type: 'lamp.seen', at: 9, resource: '/lamps/a', lamp: 'a', on: true });
    expect(given.every((event) => Object.isFrozen(event))).toBe(true);
  });

  const unknownType = 'must be a report; its "type" must be one of lamp.seen';

  it.each([
    [null, '/0', unknownType],
    ['lamp.seen', '/0', unknownType],
    [{}, '/0', unknownType],
    [{ type: 7 }, '/0', unknownType],
    [{ type: 'toString' }, '/0', unknownType],
    [{ type: '__proto__' }, '/0', unknownType],
    [() => 'lamp.seen', '/0', 'must be JSON, which has no function'],
    [
      { type: 'lamp.seen', lamp: undefined },
      '/0/lamp',
      'must be JSON, which has no undefined; leave the member out',
    ],
    [{ type: 'lamp.seen', on: new Date(0) }, '/0/on', 'must be a plain object or array, not a Date'],
    [{ type: 'lamp.seen', lamp: 'a' }, '/0/on', 'is required'],
    [{ type: 'lamp.seen', lamp: 'a', on: 1 }, '/0/on', 'must be a boolean, not a number'],
    [{ type: 'lamp.seen', lamp: 'sun', on: true }, '/0', 'is no lamp'],
  ])('says of %j at %s: %s', (report, pointer, detail) => {
    expect(foldHouse([report])).toMatchObject({ events: [], faults: [{ pointer, detail }] });
  });

  it('names every fault of a report, and lets the sound ones hold', () => {
    const sound = { type: 'lamp.seen', lamp: 'a', on: true };
    const { next, faults } = foldHouse([{ type: 'lamp.seen', more: 1 }, sound]);
    expect(faults.map(({ pointer }) => pointer)).toEqual(['/0/lamp', '/0/on', '/0/more']);
    expect(next.on).toEqual(['a']);
  });
});
