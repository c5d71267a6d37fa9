import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  createSnapshot,
  evolve,
  patchServer,
  serverStatusWords,
  toDocument,
  type HostReport,
  type Operation,
  type ServerStatusWord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import { expectNext } from '../support/expect-decision.ts';

const patch =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchServer(snapshot, 'db-serv-1', operations, context);
const stateOf = (snapshot: Snapshot): readonly string[] =>
  snapshot.servers.find('db-serv-1')?.settings.state ?? [];
const report = (snapshot: Snapshot, status: readonly ServerStatusWord[]): ReturnType<typeof applyReports> =>
  applyReports(snapshot, { type: 'server.reported', server: 'DB-SERV-1', status }, { now: 5 });

describe('the status of a server', () => {
  const words = fc.array(fc.constantFrom(...serverStatusWords), { maxLength: 16 });

  it('does not change when the event of a report is folded again, as after a crossing', () => {
    const { next, events } = report(sampleSnapshot(), ['running', 'slave']);
    expect(events).toHaveLength(1);
    expect(evolve(next, events)).toBe(next);
  });

  it('has maintenance first, then the words in the order of a patch, each once, under both names of the field', () => {
    fc.assert(
      fc.property(words, fc.constantFrom('/state', '/status'), (value, path) => {
        const next = patchServer(sampleSnapshot(), 'db-serv-1', [{ op: 'replace', path, value }], {
          now: 0,
        }).next;
        const own = value.includes('maintenance') ? ['maintenance'] : [];
        expect(stateOf(next)).toEqual([...new Set([...own, ...value])]);
      }),
    );
  });

  // Promise: maintenance
  it('takes maintenance only from the administrator, and every other word from the report', () => {
    fc.assert(
      fc.property(words, words, (set, reported) => {
        const start = patchServer(
          sampleSnapshot(),
          'db-serv-1',
          [{ op: 'replace', path: '/state', value: set }],
          { now: 0 },
        ).next;
        const { next, events, faults } = report(start, reported);
        const others = [...new Set(reported)].filter((word) => word !== 'maintenance');
        expect(faults).toEqual([]);
        expect(stateOf(next)).toEqual(set.includes('maintenance') ? ['maintenance', ...others] : others);
        expect(events.length === 0).toBe(next === start);
        expect(report(next, reported).next).toBe(next);
      }),
    );
  });

  describe('after an update that a report crosses, whatever the words', () => {
    const some = ['maintenance', 'running', 'master', 'slave', 'synced'] as const;
    const isPossible = (status: readonly string[]): boolean =>
      status.includes('running') || status.every((word) => word === 'maintenance');
    const all = Array.from({ length: 2 ** some.length }, (_, set) =>
      some.filter((_word, at) => Math.floor(set / 2 ** at) % 2 === 1),
    ).filter(isPossible);
    const start = (status: readonly ServerStatusWord[]): Snapshot =>
      createSnapshot({
        servers: [{ name: 'db-serv-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status }],
      });
    const crossingsOfAll = () =>
      all.flatMap((before) => {
        const snapshot = start(before);
        const reported = all.map((status) => ({ status, present: report(snapshot, status).next }));
        return all.flatMap((value) => {
          const decision = patch({ op: 'replace', path: '/state', value })(snapshot, { now: 0 });
          const events = decision.outcome === 'accepted' ? decision.events : [];
          return reported.map(({ status, present }) => ({
            ...{ before, update: value, status },
            after: stateOf(evolve(present, events)),
          }));
        });
      });
    type Crossing = ReturnType<typeof crossingsOfAll>[number];

    // Law: of the statuses before and after an update, and of a report that crosses the update, none has a role without
    // `running`; then the status after both has none either.
    it('has no role without running', () => {
      const crossings = crossingsOfAll();
      expect(crossings).toHaveLength(18 ** 3);
      expect(crossings.filter(({ after }) => !isPossible(after))).toEqual([]);
      const isMaintained = (status: readonly string[]): boolean => status.includes('maintenance');
      expect(crossings.filter(({ update, after }) => isMaintained(update) !== isMaintained(after))).toEqual(
        [],
      );
    });

    it('has each word once: as in the update if the update changes the word, and as reported otherwise', () => {
      const expected = ({ before, update, status }: Crossing): readonly string[] => {
        const merged = some.filter((word) => {
          const isSet = update.includes(word);
          const isOwn = word === 'maintenance' || isSet !== before.includes(word);
          return isOwn ? isSet : status.includes(word);
        });
        return merged.includes('running') ? merged : merged.filter((word) => word === 'maintenance');
      };
      const wrong = crossingsOfAll().filter(
        (each) => each.after.toSorted().join() !== expected(each).toSorted().join(),
      );
      expect(wrong).toEqual([]);
    });
  });

  it('is reported as one event that raises only the live part of the version', () => {
    const snapshot = sampleSnapshot();
    const { next, events } = report(snapshot, ['slave', 'running']);
    expect(events).toEqual([
      {
        type: 'server.reported',
        at: 5,
        resource: '/servers/db-serv-1',
        server: 'db-serv-1',
        status: ['slave', 'running'],
      },
    ]);
    expect(next.servers.find('db-serv-1')?.version).toEqual({ command: 0, live: 1 });
    expectNext(snapshot, next, events);
  });

  describe('says why it is as it is, and since when', () => {
    const seen = (
      snapshot: Snapshot,
      now: number,
      status: readonly ServerStatusWord[],
      reason?: string,
    ): Snapshot => {
      const given = { type: 'server.reported', server: 'db-serv-1', status } as const;
      return applyReports(snapshot, reason === undefined ? given : { ...given, reason }, { now }).next;
    };
    const patched = (snapshot: Snapshot, now: number, ...operations: readonly Operation[]): Snapshot =>
      patchServer(snapshot, 'db-serv-1', operations, { now }).next;
    const told = (snapshot: Snapshot): unknown => {
      const server = snapshot.servers.find('db-serv-1');
      return [server?.status_since, server?.status_reason];
    };
    const maintenance = { path: '/state/0', value: 'maintenance' } as const;
    const down = seen(sampleSnapshot(), 5, [], 'connection refused');

    it('from the first report with other words', () => {
      expect(told(sampleSnapshot())).toEqual([undefined, undefined]);
      expect(told(seen(sampleSnapshot(), 5, ['running', 'master'], 'in recovery'))).toEqual([
        undefined,
        'in recovery',
      ]);
      expect(told(down)).toEqual([5, 'connection refused']);
    });

    it('and takes a new reason at the same time, which a report without a reason leaves', () => {
      expect(told(seen(down, 7, [], 'no route to host'))).toEqual([5, 'no route to host']);
      for (const same of [seen(down, 7, []), seen(down, 7, [], 'connection refused')])
        expect(same).toBe(down);
    });

    it('and loses the reason with the words', () => {
      expect(told(seen(down, 9, ['running']))).toEqual([9, undefined]);
      expect(told(patched(down, 9, { op: 'add', path: '/state/-', value: 'running' }))).toEqual([
        9,
        undefined,
      ]);
    });

    it('whatever else a patch changes, maintenance too', () => {
      const kept = patched(
        down,
        9,
        { op: 'add', ...maintenance },
        { op: 'replace', path: '/port', value: 1 },
      );
      expect(told(kept)).toEqual([5, 'connection refused']);
      expect(told(patched(kept, 11, { op: 'remove', path: '/state/0' }))).toEqual([5, 'connection refused']);
    });

    it('in a document', () => {
      expect(told(createSnapshot(toDocument(down)))).toEqual([5, 'connection refused']);
    });

    it('with one line of at most 1,024 bytes', () => {
      expect(told(seen(sampleSnapshot(), 5, [], `a\nb${'x'.repeat(2000)}`))).toEqual([
        5,
        `a b${'x'.repeat(1021)}`,
      ]);
    });
  });

  it.each([
    ['an unknown word', { status: ['down'] }, '/0/status/0'],
    ['a reason that is no text', { reason: 7 }, '/0/reason'],
    ['too many words', { status: Array.from({ length: 17 }, () => 'master') }, '/0/status'],
    ['no list', { status: 'master' }, '/0/status'],
    ['no such server', { server: 'nothing' }, '/0'],
  ])('is not reported with %s', (_what, wrong, pointer) => {
    const snapshot = sampleSnapshot();
    const report = {
      type: 'server.reported',
      server: 'db-serv-1',
      status: [],
      ...wrong,
    } as unknown as HostReport;
    const { next, faults } = applyReports(snapshot, report, { now: 5 });
    expect(next).toBe(snapshot);
    expect(faults.map((fault) => fault.pointer)).toEqual([pointer]);
  });
});
