import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import type { EventOf, EventTable } from '../../src/core/decision.ts';
import { observeWith, type ObservationTable } from '../../src/core/observation.ts';

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
type LampEvent = EventOf<'lamp.seen'> & Omit<Seen, 'type'>;

const events: EventTable<House, LampEvent> = {
  'lamp.seen': {
    origin: 'report',
    evolve(house, { lamp, on }) {
      if (house.on.includes(lamp) === on) return house;
      return { ...house, on: on ? [...house.on, lamp] : house.on.filter((each) => each !== lamp) };
    },
  },
};
const observations: ObservationTable<House, Seen, LampEvent> = {
  'lamp.seen': {
    shape: z.strictObject({ type: z.literal('lamp.seen'), lamp: z.string(), on: z.boolean() }),
    event(house, observation, at) {
      if (observation.lamp === 'sun') return { contradiction: 'is no lamp' };
      if (house.on.includes(observation.lamp) === observation.on) return undefined;
      return { ...observation, at, resource: `/lamps/${observation.lamp}` };
    },
  },
};
const dark: House = Object.freeze({ revision: 3, on: [] });
const observe = (
  report: readonly unknown[],
  house = dark,
): ReturnType<typeof observeWith<House, Seen, LampEvent>> =>
  observeWith({ observations, events }, house, report, 9);

describe('observeWith', () => {
  const seen = fc.record({
    type: fc.constant('lamp.seen'),
    lamp: fc.constantFrom('a', 'b', 'sun'),
    on: fc.boolean(),
  });

  it('gives what the events fold to, and a fault for each observation that cannot be true', () => {
    fc.assert(
      fc.property(fc.array(seen), (report) => {
        const { next, events: facts, faults } = observe(report);
        expect(faults.map(({ pointer }) => pointer)).toEqual(
          report.flatMap(({ lamp }, at) => (lamp === 'sun' ? [`/${String(at)}`] : [])),
        );
        const folded = facts.reduce<readonly string[]>(
          (on, { lamp, on: now }) => (now ? [...on, lamp] : on.filter((each) => each !== lamp)),
          [],
        );
        expect(next.on).toEqual(folded);
        expect(next.revision).toBe(facts.length === 0 ? 3 : 4);
        expect(facts.length === 0).toBe(next === dark);
      }),
    );
  });

  it('survives whatever it is given', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (report) => {
        const { next, faults } = observe(report);
        expect(next).toBe(dark);
        expect(faults).toHaveLength(report.length);
      }),
    );
  });

  it('tells each observation the state that those before it left', () => {
    const on = { type: 'lamp.seen', lamp: 'a', on: true };
    const { next, events: facts } = observe([on, on, { ...on, on: false }, on]);
    expect(facts.map((fact) => fact.on)).toEqual([true, false, true]);
    expect(next).toEqual({ revision: 4, on: ['a'] });
    expect(facts[0]).toEqual({ type: 'lamp.seen', at: 9, resource: '/lamps/a', lamp: 'a', on: true });
    expect(facts.every((fact) => Object.isFrozen(fact))).toBe(true);
  });

  it.each([
    [null, '/0', 'is not an observation of a known type'],
    ['lamp.seen', '/0', 'is not an observation of a known type'],
    [{}, '/0', 'is not an observation of a known type'],
    [{ type: 7 }, '/0', 'is not an observation of a known type'],
    [{ type: 'toString' }, '/0', 'is not an observation of a known type'],
    [{ type: '__proto__' }, '/0', 'is not an observation of a known type'],
    [{ type: 'lamp.seen', lamp: 'a' }, '/0/on', 'is required'],
    [{ type: 'lamp.seen', lamp: 'a', on: 1 }, '/0/on', 'must be a boolean, not a number'],
    [{ type: 'lamp.seen', lamp: 'sun', on: true }, '/0', 'is no lamp'],
  ])('says of %j at %s: %s', (observation, pointer, detail) => {
    expect(observe([observation])).toMatchObject({ events: [], faults: [{ pointer, detail }] });
  });

  it('names every fault of an observation, and lets the sound ones hold', () => {
    const sound = { type: 'lamp.seen', lamp: 'a', on: true };
    const { next, faults } = observe([{ type: 'lamp.seen', more: 1 }, sound]);
    expect(faults.map(({ pointer }) => pointer)).toEqual(['/0/lamp', '/0/on', '/0/more']);
    expect(next.on).toEqual(['a']);
  });
});
