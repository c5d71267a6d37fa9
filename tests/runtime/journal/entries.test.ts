/**
 * The entries of the history. They are tested in isolation, because the laws need thousands of commands, bounds smaller than
 * those of the library, and two nodes that do the same. tests/scenarios/store/history.txt shows entries.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  patchService,
  type AdminEvent,
  type Json,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { createRandom } from 'gateway-admin-core/testing';

import { anyCommand } from '../../simulation/command.ts';
import { document } from '../../simulation/simulation.ts';
import { sampleSnapshot } from '../../support/document.ts';
import { Entries, membersOf, type EntryEvent } from '../../support/internal.ts';

/** Commands on one snapshot, each taken into entries. */
class Series {
  entries: Entries;
  snapshot: Snapshot;
  /** The last entry about each member, by a replay that forgets nothing. */
  readonly last = new Map<string, string>();
  readonly ids: string[] = [];

  constructor(snapshot: Snapshot, entries = new Entries()) {
    this.snapshot = snapshot;
    this.entries = entries;
  }

  settle(id: string, transition: Transition): readonly AdminEvent[] {
    const decision = transition(this.snapshot, { now: 7, actor: 'ada' });
    if (decision.outcome !== 'accepted') return [];
    const { events, next } = decision;
    this.snapshot = next;
    this.entries.take({ command: id, events, revision: 1 });
    this.entries.end(id);
    this.ids.push(id);
    for (const event of events) this.#note(event as EntryEvent, id);
    return events;
  }

  /** Reads the entries back out of a state, as a start does. */
  readBack(bounds: ConstructorParameters<typeof Entries>[1]): void {
    this.entries = new Entries(JSON.parse(JSON.stringify(this.entries.all)) as never, bounds);
  }

  #note(event: Parameters<typeof membersOf>[0], id: string): void {
    const { type, resource } = event;
    for (const member of membersOf(event))
      if (type.endsWith('.deleted')) this.last.delete(`${resource} ${member}`);
      else this.last.set(`${resource} ${member}`, id);
  }
}

/** The newest entry that has changed a member. */
function reasonOf({ all }: Entries, place: string): string | undefined {
  const [resource, member = ''] = place.split(' ');
  return all.findLast(({ events }) =>
    events.some((event) => event.resource === resource && membersOf(event).includes(member)),
  )?.id;
}

const stopped = (resource: string) => ({
  ...{ type: 'service.stopped', at: 7, resource },
  ...{ from: { state: 'started' }, to: { state: 'stopped' } },
});
const closedSessions = (count: number) => ({ type: 'sessions.closed', at: 7, resource: '/sessions', count });

function eventsOf({ all }: Entries, command: string): readonly EntryEvent[] {
  return all.find(({ id }) => id === command)?.events ?? [];
}

describe('the entries', () => {
  // Promise: history-reason
  it('are the last ones, and those with the last change of a member that exists, over any number of restarts', () => {
    const random = createRandom(1);
    const series = new Series(createSnapshot(document), new Entries([], { most: 20 }));
    for (let count = 1; count <= 4000; count += 1) {
      series.settle(String(count), anyCommand(random, count).step);
      if (random.chance(0.05)) series.readBack({ most: 20 });
      const { entries } = series;
      if (count % 100 > 0) continue;
      const ids = entries.all.map(({ id }) => id);
      expect(ids.slice(-20)).toEqual(series.ids.slice(-20));
      for (const [place, id] of series.last) expect([place, reasonOf(entries, place)]).toEqual([place, id]);
      const reasons = new Set(series.last.values());
      expect(ids.slice(0, -20).filter((id) => !reasons.has(id))).toEqual([]);
    }
  });

  // Promise: history-length
  it('are the last ones that a store can keep, over any number of restarts', () => {
    const most = 20_000;
    const series = new Series(sampleSnapshot(), new Entries([], { mostCharacters: most }));
    const length = (): number => JSON.stringify(series.entries.all).length;
    const options =
      (number: number, size: number): Transition =>
      (snapshot, context) => {
        const texts = Array.from({ length: number }, (_none, at) => [`o${String(at)}`, 'x'.repeat(size)]);
        const value = Object.fromEntries(texts) as Json;
        return patchService(snapshot, 'My Service', [{ op: 'add', path: '/router_options', value }], context);
      };
    let longest = 0;
    for (let count = 1; count <= 200; count += 1) {
      series.settle(String(count), options(1, count));
      if (count % 10 === 0) series.readBack({ mostCharacters: most });
      longest = Math.max(longest, length());
      const { all } = series.entries;
      expect(all.map(({ id }) => id)).toEqual(series.ids.slice(-all.length));
      expect(all.every(({ id }) => series.entries.isRecent(id))).toBe(true);
    }
    expect(longest).toBeLessThan(most);
    expect(longest).toBeGreaterThan(0.9 * most);
    // The last entry stays, however long.
    series.settle('long', options(10, most / 10));
    expect(series.entries.all.map(({ id }) => id)).toEqual(['long']);
    series.settle('short', options(0, 0));
    expect(series.entries.all.map(({ id }) => id)).toEqual(['short']);
  });

  it('of commands that settle in parts are the same, whether or not somebody reads between the parts', () => {
    const [command, what] = [fc.constantFrom('1', '2', '3'), fc.constantFrom('part', 'part', 'read', 'end')];
    const steps = fc.array(fc.record({ command, what }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (list) => {
        const [read, unread] = [0, 1].map(() => new Entries([], { most: 2 })) as [Entries, Entries];
        for (const [at, { command, what }] of list.entries()) {
          const events = [closedSessions(at % 3), stopped(`/services/s${String(at % 4)}`)] as const;
          const part = { command, events: events as never, revision: at + 1 };
          if (what === 'part') for (const entries of [read, unread]) entries.take(part);
          if (what === 'end') expect(read.end(command)).toEqual(unread.end(command));
          if (what === 'read') expect(read.find(command)?.events ?? []).toEqual(eventsOf(read, command));
        }
        expect(read.all).toEqual(unread.all);
      }),
    );
  });

  it('of a command of many parts are made in a time that grows with the parts, and not with their square', () => {
    const readsOf = (parts: number): number => {
      const entries = new Entries();
      let reads = 0;
      for (let at = 0; at < parts; at += 1) {
        const get = () => ((reads += 1), `/services/s${String(at)}`);
        const given = { ...stopped(''), service: 'sales' };
        const event = Object.defineProperty(given, 'resource', { enumerable: true, get });
        entries.take({ command: '1', events: [event] as never, revision: at + 1 });
      }
      entries.end('1');
      expect(entries.find('1')?.events).toHaveLength(parts);
      return reads;
    };
    expect(readsOf(400)).toBeLessThan(5 * readsOf(100));
  });
});
