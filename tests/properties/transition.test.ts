/**
 * Any commands and reports on any gateway: each decision keeps the laws, rests on its resources alone, and tells what
 * drains. And that `expectDecision` finds a decision that breaks a law.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  createSnapshot,
  createUser,
  evolve,
  flushLogs,
  stopService,
  toDocument,
  type AdminEvent,
  type Decision,
  type HostReport,
  type Snapshot,
  type Transition,
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
import { wholeOf } from '../support/closing.ts';
import { sampleSnapshot } from '../support/document.ts';
import { eventTypes } from '../support/event-type.ts';
import { ContentLaw } from '../support/content-law.ts';
import { contentOf, expectDecision, expectNext, someTime } from '../support/expect-decision.ts';
import {
  Batch,
  boundRoutes,
  changedDrains,
  drainedOf,
  put,
  remove,
  servers,
  services,
} from '../support/internal.ts';
import { readAll } from '../support/reading.ts';
import { countLeft, drainsOf, miscounts, type DrainingResource } from '../support/session-count.ts';

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
    return { next: decision.next, events: wholeOf(decision, snapshot, someTime).events };
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

/** What is shown of everything that has an entity tag, and the tag. */
function tagged(snapshot: Snapshot): ReadonlyMap<string, { readonly tag: string; readonly shown: string }> {
  return new Map(
    readAll(snapshot).flatMap(({ route, subject, shown }) => {
      const found = route.find(snapshot, { name: subject, id: subject });
      if (!found.ok || route.validator === undefined) return [];
      const tag = JSON.stringify(route.validator(snapshot, found.value));
      return [[`${route.id} ${subject}`, { tag, shown: JSON.stringify(shown) }] as const];
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
  // Promise: counts
  it('keep the laws, the counters and the tags of what is shown at every step, and can be replayed', () => {
    const contents = new ContentLaw();
    fc.assert(
      fc.property(documents, happenings, (document, list) => {
        const start = createSnapshot(document);
        let current = start;
        let replayed = start;
        for (const what of list) {
          const { next, events } = happen(current, what);
          replayed = evolve(replayed, events);
          const before = totals(current);
          totals(next).forEach((total, key) => {
            expect(total).toBeGreaterThanOrEqual(before.get(key) ?? 0);
          });
          const open = [...next.sessions];
          expect(shownCounts(next)).toEqual(
            [...next.services].map(({ key }) => open.filter(({ service }) => service === key).length),
          );
          const now = tagged(next);
          const hidden = [...tagged(current)].filter(([place, { tag, shown }]) => {
            const after = now.get(place);
            return after?.tag === tag && after.shown !== shown;
          });
          expect(hidden).toEqual([]);
          contents.look(next);
          expect(contents.faults).toEqual([]);
          current = next;
        }
        expect(contentOf(replayed)).toEqual(contentOf(current));
        expect(toDocument(createSnapshot(toDocument(current)))).toEqual(toDocument(current));
      }),
      { numRuns: 40 },
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
      { numRuns: 60 },
    );
  });
});

type Accepted = Extract<Decision, { readonly outcome: 'accepted' }>;

/** Whether a decision changes something, and only what the nodes of a fleet share. */
function isShared(decision: Decision): decision is Accepted {
  if (decision.outcome !== 'accepted' || decision.closing !== undefined) return false;
  return decision.events.every(({ type }) => eventTypes[type].isOfNode !== true);
}

describe('of two decisions without a common resource', () => {
  it('each is the same behind the other, and their order does not matter', () => {
    const met = { runs: 0, pairs: 0 };
    fc.assert(
      fc.property(documents, fc.array(acts, { minLength: 6, maxLength: 12 }), (document, list) => {
        met.runs += 1;
        const start = createSnapshot(document);
        const [first, ...others] = list.flatMap((act) => {
          const decision = transitionOf(act)(start, someTime);
          return isShared(decision) ? [{ act, decision }] : [];
        });
        for (const { act, decision } of others) {
          if (first === undefined) continue;
          if (decision.resources.some((link) => first.decision.resources.includes(link))) continue;
          met.pairs += 1;
          const behind = transitionOf(act, start)(evolve(start, first.decision.events), someTime);
          expect({ ...behind, next: undefined }).toEqual({ ...decision, next: undefined });
          const both = [first.decision.events, decision.events];
          const [one, other] = [both, both.toReversed()].map((order) =>
            order.reduce((snapshot, events) => evolve(snapshot, events), start),
          );
          expect(one && toDocument(one)).toEqual(other && toDocument(other));
        }
      }),
      { numRuns: 100 },
    );
    expect(met.pairs).toBeGreaterThan(met.runs);
  });
});

const draining: Snapshot = Object.freeze({
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
    const met = { runs: 0, drained: 0 };
    fc.assert(
      fc.property(fc.array(fc.oneof(commands, batches), { maxLength: 25 }), (list) => {
        met.runs += 1;
        let current = draining;
        for (const what of list) {
          const next = after(current, what);
          const [shown, before] = [shownIn(next), shownIn(current)];
          const changed = changedDrains(current, next);
          const drained = drainedOf(changed, current, next, 0).map(({ resource }) => resource.toLowerCase());
          const known = new Set(textsOf(drainedIn(current)));
          const others = [...shown].filter(([name, text]) => before.get(name) !== text).map(([name]) => name);
          expect(textsOf(changed)).toEqual(expect.arrayContaining(others));
          const ended = textsOf(drainedIn(next)).filter((name) => !known.has(name));
          expect(drained.toSorted()).toEqual(ended.map((name) => `/${name}`));
          expect(miscounts(next)).toEqual([]);
          met.drained += drained.length;
          current = next;
        }
      }),
      { numRuns: 150 },
    );
    expect(met.drained).toBeGreaterThan(0.1 * met.runs);
  });
});

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const change = { revision: 1, batch: new Batch() };

/** The stop, with something wrong about it. */
function spoiled(spoil: (decision: Accepted, snapshot: Snapshot) => object): Transition {
  return (snapshot, context) => {
    const decision = stop(snapshot, context);
    if (decision.outcome !== 'accepted') throw new Error('It was not accepted');
    return { ...decision, next: decision.next, ...spoil(decision, snapshot) };
  };
}

const next = (change: (decision: Accepted, snapshot: Snapshot) => object): Transition =>
  spoiled((decision, snapshot) => ({
    next: Object.freeze({ ...decision.next, ...change(decision, snapshot) }),
  }));

describe('expectDecision', () => {
  it('passes a decision that keeps the laws', () => {
    expect(expectDecision(stop).outcome).toBe('accepted');
  });

  let calls = 0;
  it.each<[string, Transition]>([
    [
      'gives another answer the second time',
      (snapshot, context) => flushLogs(snapshot, { ...context, now: (calls += 1) }),
    ],
    [
      'gives another object when it refuses',
      (snapshot, context) => {
        const decision = stopService(snapshot, 'nothing', context);
        return { ...decision, next: { ...snapshot } };
      },
    ],
    [
      'gives another object when nothing changes',
      (snapshot) => ({ outcome: 'unchanged', next: { ...snapshot }, resources: [] }),
    ],
    ['has a next snapshot that is not frozen', spoiled(({ next: after }) => ({ next: { ...after } }))],
    ['has events that are not frozen', spoiled(({ events }) => ({ events: [{ ...events[0] }] }))],
    [
      'has events that are no JSON',
      spoiled(({ events }) => ({ events: [Object.freeze({ ...events[0], more: undefined })] })),
    ],
    ['has no event', spoiled(() => ({ events: [], effects: [] }))],
    ['lacks the effect of an event', spoiled(() => ({ effects: [] }))],
    [
      'makes another next snapshot at each reading',
      (snapshot, context) => {
        const decision = stop(snapshot, context);
        return new Proxy(decision, {
          get: (target, member) =>
            member === 'next'
              ? Object.freeze({ ...target.next })
              : (Reflect.get(target, member, target) as unknown),
        });
      },
    ],
    ['skips a revision', next(() => ({ revision: 2 }))],
    ['has another epoch', next(() => ({ epoch: 'other' }))],
    [
      'is another snapshot than its events fold to',
      spoiled((_decision, snapshot) => ({ next: flushLogs(snapshot, someTime).next })),
    ],
    ['changes a part that no event is about', next((_, { logs }) => ({ logs: Object.freeze({ ...logs }) }))],
    [
      'changes a thing that no event is about',
      next(({ next: after }, before) => {
        const bare = before.services.find('bare-service');
        if (bare === undefined) return {};
        return { services: put(after, services, Object.freeze({ ...bare }), change).services };
      }),
    ],
    [
      'has a link that leads nowhere',
      next(({ next: after }) => ({ servers: remove(after, servers, 'db-serv-1', change).servers })),
    ],
    [
      'shows what its route does not list',
      next(({ next: after }) => ({
        gateway: Object.freeze({
          ...after.gateway,
          attributes: Object.freeze({ ...after.gateway.attributes, more: 1 }),
        }),
      })),
    ],
    [
      'tells of a resource that is not there',
      spoiled(({ events }) => ({ events: [Object.freeze({ ...events[0], resource: '/services/nothing' })] })),
    ],
  ])('fails a transition that %s', (_what, step) => {
    expect(() => expectDecision(step)).toThrow();
  });

  it('fails a transition that changes what it was given', () => {
    const thawed = { ...sampleSnapshot() };
    const vandal: Transition = (snapshot, context) => {
      Object.assign(snapshot, { revision: snapshot.revision + 1 });
      return createUser(snapshot, { name: 'joan', password: { sealed: 'x' } }, context);
    };
    expect(() => expectDecision(vandal, thawed)).toThrow();
    expect(() => expectDecision(vandal)).toThrow(TypeError);
  });
});
