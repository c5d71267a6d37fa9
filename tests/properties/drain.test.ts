import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { applyReports, createSnapshot, type HostReport, type Snapshot } from 'gateway-admin-core';

import {
  acts,
  reportOf,
  reports,
  transitionOf,
  type Act,
  type Report,
} from '../support/arbitrary-happening.ts';
import { someTime } from '../support/expect-decision.ts';
import { changedDrains, drainedOf } from '../support/internal.ts';
import { countLeft, drainsOf, miscounts, type DrainingResource } from '../support/session-count.ts';

const start: Snapshot = Object.freeze({
  ...createSnapshot({
    servers: ['db-1', 'db-2', 'db-3'].map((name) => ({ name, address: '::1', port: 5432, protocol: 'pg' })),
    services: ['Sales', 'Stock'].map((name) => ({ name, router: 'cli', servers: ['/servers/db-1'] })),
  }),
  sessionsIncomplete: true,
});

/** Commands, of which many begin or end drains. */
const commands: fc.Arbitrary<Act> = fc.oneof(
  acts,
  fc.record({
    verb: fc.constantFrom('services.drain', 'servers.drain', 'services.resume', 'servers.resume'),
    pick: fc.nat(9),
    value: fc.nat(9),
  }),
);

/** Reports that the gateway makes at once, most of them about sessions and connections. */
const batches: fc.Arbitrary<readonly Report[]> = fc.array(
  reports.filter(({ told }) => /^(?:session|connection)/.test(told.type)),
  { minLength: 1, maxLength: 6 },
);

/** What the arbitrary commands and reports lead to. */
function after(snapshot: Snapshot, what: Act | readonly Report[]): Snapshot {
  if ('verb' in what) return transitionOf(what)(snapshot, someTime).next;
  const given = what.map((each): HostReport => reportOf(each, snapshot));
  return applyReports(snapshot, given, { now: 0 }).next;
}

function drainedIn(snapshot: Snapshot): readonly DrainingResource[] {
  if (snapshot.sessionsIncomplete === true) return [];
  return drainsOf(snapshot).filter((place) => countLeft(snapshot, place).sessions === 0);
}

function textsOf(places: readonly DrainingResource[]): readonly string[] {
  return places.map(({ collection, key }) => `${collection}/${key}`).toSorted();
}

/** What drains, each with what is left and its settings, by a walk over everything. */
function shownIn(snapshot: Snapshot): ReadonlyMap<string, string> {
  return new Map(
    drainsOf(snapshot).map((place) => {
      const { sessionsIncomplete, [place.collection]: all } = snapshot;
      const drain = all.find(place.key)?.settings.drain;
      const [name = ''] = textsOf([place]);
      return [name, JSON.stringify([sessionsIncomplete, drain, countLeft(snapshot, place)])];
    }),
  );
}

describe('whatever is commanded and reported, each step tells, as a walk over the whole snapshot does,', () => {
  // Promise: counts
  it('what drains and shows something else than before, and what is drained now', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(commands, batches), { maxLength: 25 }), (list) => {
        let current = start;
        for (const what of list) {
          const next = after(current, what);
          const [shown, before] = [shownIn(next), shownIn(current)];
          const changed = changedDrains(current, next);
          const drained = drainedOf(changed, current, next, 0).map(({ resource }) => resource.toLowerCase());
          const known = new Set(textsOf(drainedIn(current)));
          const others = [...shown].filter(([name, text]) => before.get(name) !== text).map(([name]) => name);
          expect(textsOf(changed)).toEqual(expect.arrayContaining(others));
          expect(drained.toSorted()).toEqual(
            textsOf(drainedIn(next))
              .filter((name) => !known.has(name))
              .map((name) => `/${name}`),
          );
          expect(miscounts(next)).toEqual([]);
          found += drained.length;
          current = next;
        }
      }),
      { numRuns: 300 },
    );
    expect(found).toBeGreaterThan(1);
  });
});
