import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import {
  accepted,
  beginFold,
  eventHead,
  fold,
  isTrusted,
  partsOf,
  refused,
  sequenceFor,
  unchanged,
  type Changes,
  type Context,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
  type TransitionOf,
} from '../../src/core/decision.ts';
import { nextVersion } from '../../src/core/version.ts';
import { Batch } from '../../src/core/batch.ts';
import { problem } from '../../src/problem.ts';
import { thawedPlaces } from '../support/frozen.ts';

/** A toy: a tank that can be filled, drained, and seen to leak. */
interface Tank {
  readonly revision: number;
  readonly litres: number;
}

interface OfLitres {
  readonly litres: number;
}
type TankEvent = (EventHead<'filled' | 'leaked'> & OfLitres) | EventHead<'drained'>;
type TankEffect = (EffectHead<'fill' | 'pump'> & OfLitres) | EffectHead<'drain'>;
type TankStep = TransitionOf<Tank, TankEvent, TankEffect>;

const events: EventTable<Tank, TankEvent> = {
  filled: {
    origin: 'command',
    effect: 'fill',
    revert: 'irreversible',
    evolve: (tank, { litres }) => (litres === 0 ? tank : { ...tank, litres: tank.litres + litres }),
  },
  leaked: {
    origin: 'report',
    evolve: (tank, { litres }) => ({ ...tank, litres: Math.max(0, tank.litres - litres) }),
  },
  drained: {
    origin: 'command',
    effect: 'drain',
    revert: 'irreversible',
    evolve: (tank) => (tank.litres === 0 ? tank : { ...tank, litres: 0 }),
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
    return accepted(events, tank, [resource, `/litres/${String(litres)}`], fillingOf(litres, context));
  };
const fillingOf = (litres: number, context: Context): Changes<TankEvent, TankEffect> => ({
  events: [{ type: 'filled', ...eventHead(resource, context), litres }],
  effects: [{ type: 'fill', resource, litres }],
});
const drain: TankStep = (tank, context) =>
  accepted(events, tank, [resource], {
    events: [{ type: 'drained', ...eventHead(resource, context) }],
    effects: [{ type: 'drain', resource }],
  });
const note: TankStep = (tank, context) =>
  accepted(events, tank, ['/notes'], {
    events: [{ type: 'leaked', ...eventHead('/notes', context), litres: 1 }],
    effects: [],
  });

const sequence = sequenceFor(events, effects);
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

  it('knows commands and reports by the type of the event', () => {
    const seen: string[] = [];
    const spying: EventTable<Tank, TankEvent> = {
      ...events,
      leaked: {
        origin: 'report',
        evolve(tank, _event, { origin, revision }) {
          seen.push(`${origin} ${String(revision)}`);
          return tank;
        },
      },
    };
    fold(spying, empty, [{ type: 'leaked', at: 0, resource, litres: 1 }]);
    expect(seen).toEqual(['report 8']);
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
  const change = { events: [{ type: 'drained' as const, at: 5, resource }], effects: [] };

  it('freezes the events and the effects, and folds the events', () => {
    const decision = fill(3)(empty, now);
    if (decision.outcome !== 'accepted') throw new Error('It was not accepted');
    expect(thawedPlaces(decision.events)).toEqual([]);
    expect(thawedPlaces(decision.effects)).toEqual([]);
    expect(decision.next).toEqual({ revision: 8, litres: 3 });
    expect(decision.resources).toEqual([resource, '/litres/3']);
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

describe('nextVersion', () => {
  const batch = new Batch();

  it('moves both numbers for a command and only the second for a report', () => {
    const version = { command: 2, live: 4 };
    expect(nextVersion(version, { revision: 9, origin: 'command', batch })).toEqual({ command: 9, live: 9 });
    expect(nextVersion(version, { revision: 9, origin: 'report', batch })).toEqual({ command: 2, live: 9 });
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

  it('accepts one transition that cannot be undone, if no later transition has effects', () => {
    expect(sequence(fill(1), drain)(empty, now).outcome).toBe('accepted');
    expect(sequence(drain, note)(empty, now).outcome).toBe('accepted');
    expect(sequence(drain, fill(0))(empty, now).outcome).toBe('accepted');
  });

  it.each([
    ['drain, fill', [drain, fill(1)]],
    ['drain, drain', [drain, drain]],
    ['fill, drain, fill', [fill(1), drain, fill(1)]],
  ] as const)('throws a RangeError for %s', (_what, transitions) => {
    expect(() => sequence(...transitions)(empty, now)).toThrow(RangeError);
    expect(() => sequence(...transitions)(empty, now)).toThrow(/"drain" cannot be undone/);
  });

  it('has as many parts as it says: each decision begins in the last part of the decision before it', () => {
    const inParts =
      (litres: readonly number[]): TankStep =>
      (tank, context) =>
        accepted(events, tank, [resource], {
          count: litres.length,
          items: litres.length,
          make: () => litres.map((each) => fillingOf(each, context)),
        });
    const amounts = fc.array(fc.nat(9), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(amounts, { minLength: 1, maxLength: 4 }), (steps) => {
        const decision = sequence(...steps.map(inParts))(empty, now);
        if (decision.outcome !== 'accepted') throw new Error('It was not accepted');
        const { count, items, make } = partsOf(decision);
        const parts = [...make()];
        expect([count, items]).toEqual([parts.length, steps.flat().length]);
        expect(count).toBe(steps.flat().length - steps.length + 1);
        expect(parts.flatMap((part) => part.events)).toEqual(decision.events);
        expect(decision.events.map((event) => 'litres' in event && event.litres)).toEqual(steps.flat());
        expect(decision.effects).toHaveLength(steps.flat().length);
      }),
    );
  });

  it('can be part of another one', () => {
    const flat = sequence(fill(1), fill(2), fill(3))(empty, now);
    const nested = sequence(sequence(fill(1), fill(2)), fill(3))(empty, now);
    expect(nested).toEqual(flat);
  });
});
