/**
 * The ledger objects to an event that cannot have been decided on what the log led to.
 */
import { expect, it } from '@jest/globals';
import {
  createSnapshot,
  patchServer,
  patchService,
  type AdminEvent,
  type Snapshot,
} from 'gateway-admin-core';

import { LedgerReader } from './ledger.ts';

const snapshot = createSnapshot({
  servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [{ name: 'Sales', router: 'readconnroute', max_connection: 1 }],
});

/** The event of a change to a snapshot. */
function eventOf(before: Snapshot, path: string, value: unknown): AdminEvent {
  const [patch, name] = path === '/status' ? [patchServer, 'db'] : [patchService, 'Sales'];
  const decision = patch(before, name, [{ op: 'replace', path, value: value as number }], { now: 0 });
  if (decision.outcome !== 'accepted') throw new Error(decision.outcome);
  const [event] = decision.events;
  return event as AdminEvent;
}

function faultsOf(...events: readonly AdminEvent[]): readonly string[] {
  const reader = new LedgerReader(snapshot);
  for (const [at, event] of events.entries()) {
    const head = { node: 'a', command: `a-${String(at)}`, resources: [event.resource], events: [event] };
    reader.take({ type: 'intent', ...head, part: 0 });
    reader.take({ type: 'settlement', ...head, last: true });
  }
  return reader.faults;
}

it('takes updates that follow each other', () => {
  const limit = eventOf(snapshot, '/max_connection', 2);
  expect(faultsOf(limit, eventOf(snapshot, '/connection_timeout', 600))).toEqual([]);
  expect(faultsOf(eventOf(snapshot, '/status', ['maintenance']))).toEqual([]);
});

it.each<[string, unknown, string]>([
  ['/max_connection', 2, 'max_connection is 2, not 1'],
  ['/status', ['maintenance'], 'status is ["maintenance"], not []'],
])('objects to an update of %s that has begun from what is no longer there', (path, value, objection) => {
  const event = eventOf(snapshot, path, value);
  expect(faultsOf(event, event)).toEqual([`a-1 settles ${event.type}, but ${objection}`]);
});
