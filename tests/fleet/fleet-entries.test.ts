/**
 * The entries of a node: which configurations of the past can be brought back.
 */
import { expect, it } from '@jest/globals';

import { fleetEntries } from '../../src/fleet/fleet-entries.ts';
import type { Entry } from '../../src/resources/history.ts';
import { Entries } from '../../src/runtime/journal/entries.ts';

function entry(id: string, at: number): Entry {
  return { id, at, revision: at, events: [{ type: 'service.stopped', resource: '/services/Sales' }] };
}

it('are recent if every later shared entry is kept; an unknown entry is not recent', () => {
  const shared = new Entries([entry('a-1', 1), entry('a-2', 3), entry('a-3', 5)], { most: 2 });
  const own = new Entries([entry('own-1', 2), entry('own-2', 4)]);
  const { all, isRecent } = fleetEntries({ shared: () => shared, own });
  const recent = all.map(({ id }) => id).filter((id) => isRecent(id));
  expect(recent).toEqual(['a-2', 'own-2', 'a-3']);
  expect([isRecent('a-4'), isRecent('')]).toEqual([false, false]);
});
