import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  evolve,
  applyReports,
  toDocument,
  type AdminEvent,
  type Snapshot,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import {
  acts,
  reportOf,
  reports,
  transitionOf,
  verbs,
  type Act,
  type Report,
} from '../support/arbitrary-happening.ts';
import { contentOf, expectDecision, expectNext, someTime } from '../support/expect-decision.ts';
import { boundRoutes } from '../support/internal.ts';
import { readAll } from '../support/reading.ts';

const happenings = fc.array(fc.oneof<[fc.Arbitrary<Act>, fc.Arbitrary<Report>]>(acts, reports), {
  maxLength: 12,
});

interface Happened {
  readonly next: Snapshot;
  readonly events: readonly AdminEvent[];
}

/** Lets something happen, with all the laws that hold of it. */
function happen(snapshot: Snapshot, what: Act | Report): Happened {
  if ('verb' in what) {
    const decision = expectDecision(transitionOf(what), snapshot);
    return { next: decision.next, events: decision.outcome === 'accepted' ? decision.events : [] };
  }
  const { next, events } = applyReports(snapshot, reportOf(what, snapshot), { now: someTime.now });
  expect(next === snapshot).toBe(events.length === 0);
  expect(contentOf(evolve(snapshot, events))).toEqual(contentOf(next));
  if (next !== snapshot) expectNext(snapshot, next, events);
  return { next, events };
}

function totals(snapshot: Snapshot): ReadonlyMap<string, number> {
  return new Map(Array.from(snapshot.services, ({ key }) => [key, snapshot.sessions.totalOfService(key)]));
}

/** What GET /services says of the connections, in declaration order. */
function shownCounts(snapshot: Snapshot): readonly unknown[] {
  const list = readAll(snapshot).find(({ route }) => route.id === 'services.list');
  return (list?.shown ?? []).map((each) => (each as Record<string, unknown>)['current_connections']);
}

/** What is shown of everything that has a version, and the version. */
function versioned(
  snapshot: Snapshot,
): ReadonlyMap<string, { readonly version: string; readonly shown: string }> {
  return new Map(
    readAll(snapshot).flatMap(({ route, subject, shown }) => {
      const found = route.find(snapshot, { name: subject, id: subject });
      if (!found.ok || route.version === undefined) return [];
      const version = JSON.stringify(route.version(snapshot, found.value));
      return [[`${route.id} ${subject}`, { version, shown: JSON.stringify(shown) }] as const];
    }),
  );
}

describe('the arbitrary commands', () => {
  it('contain one for each route that sends a command', () => {
    const commands = boundRoutes.filter((route) => route.kind === 'command' && 'find' in route);
    // An undo and a restore are made of the other commands.
    const others = commands.map(({ id }) => id).filter((id) => !id.startsWith('history.'));
    expect(others.filter((id) => !Object.hasOwn(verbs, id))).toEqual([]);
  });
});

describe('any commands and reports on any gateway', () => {
  // Promise: laws
  it('keep the laws at every step, and the folded events give the same snapshot', () => {
    fc.assert(
      fc.property(documents, happenings, (document, list) => {
        const start = createSnapshot(document);
        let current = start;
        let replayed = start;
        for (const what of list) {
          const { next, events } = happen(current, what);
          replayed = evolve(replayed, events);
          current = next;
        }
        expect(contentOf(replayed)).toEqual(contentOf(current));
      }),
      { numRuns: 60 },
    );
  });

  // Promise: counts
  it('keep current_connections equal to the open sessions, and never decrease total_connections', () => {
    fc.assert(
      fc.property(documents, happenings, (document, list) => {
        let current = createSnapshot(document);
        for (const what of list) {
          const before = totals(current);
          const next =
            'verb' in what
              ? transitionOf(what)(current, someTime).next
              : applyReports(current, reportOf(what, current), { now: 0 }).next;
          totals(next).forEach((total, key) => {
            expect(total).toBeGreaterThanOrEqual(before.get(key) ?? 0);
          });
          const open = [...next.sessions];
          expect(shownCounts(next)).toEqual(
            [...next.services].map(({ key }) => open.filter(({ service }) => service === key).length),
          );
          current = next;
        }
      }),
      { numRuns: 100 },
    );
  });

  it('change the version of everything that then shows something else', () => {
    fc.assert(
      fc.property(documents, happenings, (document, list) => {
        let current = createSnapshot(document);
        for (const what of list) {
          const { next } = happen(current, what);
          const now = versioned(next);
          const hidden = [...versioned(current)].filter(([place, { version, shown }]) => {
            const after = now.get(place);
            return after?.version === version && after.shown !== shown;
          });
          expect(hidden).toEqual([]);
          current = next;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('lead to a snapshot that can be written and read again', () => {
    fc.assert(
      fc.property(documents, happenings, (document, list) => {
        const end = list.reduce(
          (current, what) =>
            'verb' in what
              ? transitionOf(what)(current, someTime).next
              : applyReports(current, reportOf(what, current), { now: 0 }).next,
          createSnapshot(document),
        );
        expect(toDocument(createSnapshot(toDocument(end)))).toEqual(toDocument(end));
      }),
      { numRuns: 100 },
    );
  });

  it('give the same state for reports in one batch and one by one', () => {
    fc.assert(
      fc.property(documents, fc.array(reports, { maxLength: 10 }), (document, list) => {
        const start = createSnapshot(document);
        const batch = list.map((report) => reportOf(report, start));
        const whole = applyReports(start, batch, { now: 0 });
        const single = batch.reduce((current, each) => applyReports(current, each, { now: 0 }).next, start);
        expect(toDocument(whole.next)).toEqual(toDocument(single));
        expect(whole.next.revision).toBe(whole.events.length === 0 ? 0 : 1);
        expect(contentOf(evolve(start, whole.events))).toEqual(contentOf(whole.next));
      }),
      { numRuns: 100 },
    );
  });
});
