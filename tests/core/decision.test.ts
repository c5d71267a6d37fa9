/**
 * Decisions, the fold of events and reports, and lifecycles, on a toy with tables of its own: the tables of the gateway
 * do not have every case.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { canTransition, lifecycle, nextState } from 'gateway-admin-core';
import * as z from 'zod/mini';

import {
  accepted,
  beginFold,
  eventHead,
  fold,
  isTrusted,
  refused,
  sequenceFor,
  unchanged,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
  type TransitionOf,
} from '../../src/core/decision.ts';
import { problem } from '../../src/problem.ts';
import { defineLifecycle } from '../../src/core/lifecycle.ts';
import { foldReports, type ReportTable } from '../../src/core/report.ts';
import { thawedPlaces } from '../support/frozen.ts';

/** A toy: a tank that can be filled, drained, and seen to leak. */
interface Tank {
  readonly revision: number;
  readonly litres: number;
}

interface OfLitres {
  readonly litres: number;
}
type TankEvent = (EventHead<'filled' | 'leaked' | 'sessions.closed'> & OfLitres) | EventHead<'drained'>;
type TankEffect = (EffectHead<'fill' | 'pump'> & OfLitres) | EffectHead<'drain'>;
type TankStep = TransitionOf<Tank, TankEvent, TankEffect>;

const events: EventTable<Tank, TankEvent> = {
  filled: {
    effect: 'fill',
    revert: 'irreversible',
    evolve: (tank, { litres }) => (litres === 0 ? tank : { ...tank, litres: tank.litres + litres }),
  },
  leaked: {
    evolve: (tank, { litres }) => ({ ...tank, litres: Math.max(0, tank.litres - litres) }),
  },
  drained: {
    effect: 'drain',
    revert: 'irreversible',
    evolve: (tank) => (tank.litres === 0 ? tank : { ...tank, litres: 0 }),
  },
  // At most ten litres go at a time.
  'sessions.closed': {
    revert: 'irreversible',
    *closing({ litres }, { what: _what, where: _where, ...head }) {
      for (let left = litres; left > 0; left -= 10)
        yield { type: 'sessions.closed', ...head, litres: Math.min(left, 10) };
    },
    evolve: (tank, { litres }) => ({ ...tank, litres: tank.litres - litres }),
  },
};
const effects: EffectTable<TankEffect> = {
  fill: { aspect: 'level', undo: (effect) => ({ ...effect, type: 'pump' }) },
  pump: { aspect: 'level', undo: (effect) => ({ ...effect, type: 'fill' }) },
  drain: 'irreversible',
};
const resource = '/tank';
const full = problem('validation-failed', 'It is full.');

const fill =
  (litres: number): TankStep =>
  (tank, context) => {
    if (litres === 0) return unchanged(tank, [resource]);
    if (tank.litres + litres > 100) return refused(tank, full, [resource]);
    return accepted(events, tank, [resource, `/litres/${String(litres)}`], {
      events: [{ type: 'filled', ...eventHead(resource, context), litres }],
    });
  };
const drain: TankStep = (tank, context) =>
  accepted(events, tank, [resource], {
    events: [{ type: 'drained', ...eventHead(resource, context) }],
  });
const empties: TankStep = (tank, context) =>
  accepted(events, tank, [resource], {
    events: [],
    closing: { what: 'sessions', ...eventHead(resource, context), where: {} },
  });
const note: TankStep = (tank, context) =>
  accepted(events, tank, ['/notes'], {
    events: [{ type: 'leaked', ...eventHead('/notes', context), litres: 1 }],
  });

const combine = sequenceFor(events, effects);
const sequence = (...transitions: Parameters<typeof combine>[0]) => combine(transitions);
const empty: Tank = Object.freeze({ revision: 7, litres: 0 });
const now = { now: 5 };
const happenings = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constantFrom('filled' as const, 'leaked' as const),
      at: fc.nat(),
      resource: fc.constant(resource),
      litres: fc.nat(9),
    }),
    fc.record({ type: fc.constant('drained' as const), at: fc.nat(), resource: fc.constant(resource) }),
  ),
);

describe('fold', () => {
  it('gives the same state for the same events in one fold or in several, with one revision for each fold that changes something', () => {
    fc.assert(
      fc.property(happenings, fc.nat(), (list, at) => {
        const whole = fold(events, empty, list);
        const cut = at % (list.length + 1);
        const parts = fold(events, fold(events, empty, list.slice(0, cut)), list.slice(cut));
        expect(parts.litres).toBe(whole.litres);
        expect(whole.revision - empty.revision).toBe(whole === empty ? 0 : 1);
        expect(parts.revision - empty.revision).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('gives the same object when the events change nothing', () => {
    const drained: TankEvent = { type: 'drained', at: 0, resource };
    expect(fold(events, empty, [])).toBe(empty);
    expect(fold(events, empty, [drained, { type: 'filled', at: 0, resource, litres: 0 }])).toBe(empty);
  });

  it.each(['unheard-of', 'toString', '__proto__', 'constructor'])('throws at an event of type %s', (type) => {
    const strange = { type, at: 0, resource } as unknown as TankEvent;
    expect(() => fold(events, empty, [strange])).toThrow(TypeError);
  });
});

describe('beginFold', () => {
  it('tells for each event whether it changed anything, and gives the state so far', () => {
    const folding = beginFold(events, empty);
    expect(folding.apply({ type: 'drained', at: 0, resource })).toBe(false);
    expect(folding.apply({ type: 'filled', at: 0, resource, litres: 3 })).toBe(true);
    expect(folding.current().litres).toBe(3);
    expect(folding.finish()).toEqual({ revision: 8, litres: 3 });
    expect(Object.isFrozen(folding.finish())).toBe(true);
  });
});

describe('accepted', () => {
  function spied(): { readonly table: EventTable<Tank, TankEvent>; readonly folded: string[] } {
    const folded: string[] = [];
    const drained: EventTable<Tank, TankEvent>['drained'] = {
      ...events.drained,
      evolve(tank, event) {
        folded.push(event.type);
        return { ...tank, litres: 0 };
      },
    };
    return { table: { ...events, drained }, folded };
  }
  const change = { events: [{ type: 'drained' as const, at: 5, resource }] };

  it('freezes the events and the effects, and folds the events', () => {
    const decision = fill(3)(empty, now);
    if (decision.outcome !== 'accepted') throw new Error('It was not accepted');
    expect(thawedPlaces(decision.events)).toEqual([]);
    expect(thawedPlaces(decision.effects)).toEqual([]);
    expect(decision.next).toEqual({ revision: 8, litres: 3 });
    expect(decision.resources).toEqual([resource, '/litres/3']);
  });

  it('has the effect of each event that has one: what the event says, without who, when and why', () => {
    const context = { ...now, actor: 'ada', undoes: '7' };
    const decision = sequence(fill(3), note, drain)(empty, context);
    expect(decision).toMatchObject({ events: [{ actor: 'ada', undoes: '7', litres: 3 }, {}, {}] });
    expect('effects' in decision && decision.effects).toStrictEqual([
      { type: 'fill', resource, litres: 3 },
      { type: 'drain', resource },
    ]);
  });

  it('has no effect of an event that is in place already', () => {
    expect(accepted(events, empty, [resource], { ...change, isInPlace: true }).effects).toEqual([]);
  });

  it('folds when the next state is first read, and once', () => {
    const { table, folded } = spied();
    const decision = accepted(table, empty, [resource], change);
    expect([Object.keys(decision), folded]).toEqual([['outcome', 'resources', 'events', 'effects'], []]);
    expect(decision.next).toBe(decision.next);
    expect(folded).toEqual(['drained']);
  });

  it('is frozen, and a copy with other events is not trusted', () => {
    const decision = accepted(events, empty, [resource], change);
    expect(() => Object.assign(decision, { events: [] })).toThrow(TypeError);
    expect([isTrusted(decision), isTrusted({ ...decision })]).toEqual([true, false]);
    expect([isTrusted(unchanged(empty, [])), isTrusted({})]).toEqual([false, false]);
  });
});

describe('eventHead', () => {
  it('names the actor only when one is known', () => {
    expect(eventHead(resource, { now: 5 })).toStrictEqual({ at: 5, resource });
    expect(eventHead(resource, { now: 5, actor: 'ada' })).toStrictEqual({ at: 5, actor: 'ada', resource });
  });
});

describe('a sequence', () => {
  it('is one change with all events and effects in order: each transition sees the state that the one before it left', () => {
    const decision = sequence(fill(60), fill(0), fill(40))(empty, now);
    expect(decision).toMatchObject({
      outcome: 'accepted',
      next: { revision: 8, litres: 100 },
      events: [{ litres: 60 }, { litres: 40 }],
      effects: [{ litres: 60 }, { litres: 40 }],
      resources: [resource, '/litres/60', '/litres/40'],
    });
  });

  it('is trusted if all of its decisions are', () => {
    const own = sequence(fill(1), fill(2))(empty, now);
    const foreign: TankStep = (tank, context) => {
      const decision = fill(3)(tank, context);
      return { ...decision, next: decision.next };
    };
    const mixed = sequence(fill(1), foreign)(empty, now);
    expect([isTrusted(own), isTrusted(mixed), mixed.next.litres]).toEqual([true, false, 4]);
  });

  it('is refused as a whole if one transition is refused, names that transition, and gives the given state back', () => {
    const decision = sequence(fill(60), fill(60))(empty, now);
    expect(decision).toMatchObject({ outcome: 'refused', resources: [resource, '/litres/60'] });
    expect(decision.next).toBe(empty);
    if (decision.outcome !== 'refused') throw new Error('It was not refused');
    expect(decision.problem).toEqual({ ...full, detail: 'Transition 2 of the sequence: It is full.' });
  });

  it('is unchanged when no transition changes anything', () => {
    const decision = sequence(fill(0), fill(0))(empty, now);
    expect(decision).toEqual({ outcome: 'unchanged', next: empty, resources: [resource] });
    expect(decision.next).toBe(empty);
    expect(sequence()(empty, now)).toEqual({ outcome: 'unchanged', next: empty, resources: [] });
  });

  it.each([
    ['fill, drain', [fill(1), drain]],
    ['drain, note', [drain, note]],
    ['drain, nothing', [drain, fill(0)]],
    ['empties, note', [empties, note]],
  ] as const)(
    'accepts a transition that cannot be undone, if no later one has effects: %s',
    (_what, transitions) => {
      expect(sequence(...transitions)(empty, now).outcome).toBe('accepted');
    },
  );

  it.each([
    ['drain, fill', [drain, fill(1)], 'drain'],
    ['drain, drain', [drain, drain], 'drain'],
    ['fill, drain, fill', [fill(1), drain, fill(1)], 'drain'],
    ['empties, fill', [empties, fill(1)], 'sessions.close'],
    ['empties, empties', [empties, empties], 'sessions.close'],
  ] as const)('throws a RangeError for %s', (_what, transitions, type) => {
    expect(() => sequence(...transitions)(empty, now)).toThrow(RangeError);
    expect(() => sequence(...transitions)(empty, now)).toThrow(`"${type}" cannot be undone`);
  });

  it('has the closing of one of its decisions, and closes what is there before the sequence', () => {
    const tank = { revision: 7, litres: 25 };
    const decision = sequence(note, empties)(tank, now);
    expect(decision).toMatchObject({
      outcome: 'accepted',
      next: { revision: 8, litres: -1 },
      events: [{ type: 'leaked' }],
      effects: [],
      closing: { what: 'sessions', at: 5, resource, where: {} },
    });
    const foreign: TankStep = (given, context) => {
      const own = empties(given, context);
      return { ...own, next: own.next };
    };
    expect(sequence(note, foreign)(tank, now)).toEqual({ ...decision, next: decision.next });
    expect(thawedPlaces('closing' in decision && decision.closing)).toEqual([]);
  });

  it('can be part of another one', () => {
    const flat = sequence(fill(1), fill(2), fill(3))(empty, now);
    const nested = sequence(sequence(fill(1), fill(2)), fill(3))(empty, now);
    expect(nested).toEqual(flat);
  });
});

describe('the lifecycle of services and monitors', () => {
  const states = ['started', 'stopped', 'failed'] as const;
  const commands = ['start', 'stop', 'report-failed', 'report-started'] as const;

  it('has a row for each state, with each command and report, and is frozen', () => {
    expect(Object.keys(lifecycle).toSorted()).toEqual(states.toSorted());
    for (const row of Object.values(lifecycle))
      expect(Object.keys(row).toSorted()).toEqual(commands.toSorted());
    expect(thawedPlaces(lifecycle)).toEqual([]);
  });

  it.each(states)(
    'lets commands at %s say what is wanted, and reports what is seen of what is wanted',
    (state) => {
      const wanted = { start: 'started', stop: 'stopped' } as const;
      const seen = { 'report-failed': 'failed', 'report-started': 'started' } as const;
      const isStopped = state === 'stopped';
      for (const command of commands) {
        const expected =
          command === 'start' || command === 'stop' ? wanted[command] : isStopped ? 'stopped' : seen[command];
        expect(nextState(lifecycle, state, command)).toBe(expected);
        expect(canTransition(lifecycle, state, command)).toBe(expected !== state);
      }
    },
  );

  it('can be defined of any states and commands, and is frozen', () => {
    const light = defineLifecycle({
      red: { next: 'green', flash: 'amber' },
      green: { next: 'amber', flash: 'amber' },
      amber: { next: 'red', flash: 'amber' },
    });
    expect(thawedPlaces(light)).toEqual([]);
    expect(nextState(light, nextState(light, nextState(light, 'red', 'next'), 'next'), 'next')).toBe('red');
    expect([canTransition(light, 'amber', 'flash'), canTransition(light, 'amber', 'next')]).toEqual([
      false,
      true,
    ]);
  });
});

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

const lampEvents: EventTable<House, LampEvent> = {
  'lamp.seen': {
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
  foldReports({ reports, events: lampEvents }, house, report, 9);

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
      const { next } = foldReports({ reports: table, events: lampEvents }, dark, [on], 9, {
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
      foldReports({ reports: whole, events: lampEvents }, dark, [sun], 9, { hold: () => isTaken }).faults
        .length;
    expect([faultsWhen(false), faultsWhen(true)]).toEqual([1, 0]);
    // Without the function, no report is taken up again.
    expect(foldReports({ reports: whole, events: lampEvents }, dark, [sun], 9).faults).toHaveLength(1);
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
  const lamp = { type: 'lamp.seen', lamp: 'a', on: true };
  it.each([
    [null, '/0', unknownType],
    ['lamp.seen', '/0', unknownType],
    [{}, '/0', unknownType],
    [{ type: 7 }, '/0', unknownType],
    [{ type: 'toString' }, '/0', unknownType],
    [{ type: '__proto__' }, '/0', unknownType],
    [() => 'lamp.seen', '/0', 'must be JSON, which has no function'],
    [{ ...lamp, lamp: undefined }, '/0/lamp', 'is required'],
    [{ ...lamp, on: new Date(0) }, '/0/on', 'must be a plain object or array, not a Date'],
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
