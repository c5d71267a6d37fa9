import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  createMemoryStore,
  createUser,
  patchService,
  sequence,
  stopService,
  type Transition,
} from 'gateway-admin-core';

import { eventTable } from '../../../src/resources/index.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const limit: Transition = (snapshot, context) =>
  patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 7 }], context);
const addUser: Transition = (snapshot, context) =>
  createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context);

/** Counts how often an event is folded, and folds it. */
function countFolds(...types: readonly (keyof typeof eventTable)[]): () => number {
  const spies = types.map((type) => jest.spyOn(eventTable[type], 'evolve'));
  return () => spies.reduce((count, { mock }) => count + mock.calls.length, 0);
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the event of a command is folded', () => {
  it.each([
    ['service.stopped', stop],
    ['service.updated', limit],
    ['user.created', addUser],
  ] as const)('once without a store: %s', async (type, transition) => {
    const { admin } = runAdmin();
    const folds = countFolds(type);
    expect((await admin.execute(transition)).outcome).toBe('accepted');
    expect(folds()).toBe(1);
  });

  it.each([
    ['service.stopped', stop],
    ['service.updated', limit],
    ['user.created', addUser],
  ] as const)('twice with a store, over the snapshot and over the history: %s', async (type, transition) => {
    const { admin } = await openRunning(createMemoryStore());
    const folds = countFolds(type);
    expect((await admin.execute(transition)).outcome).toBe('accepted');
    expect(folds()).toBe(2);
    await admin.close();
  });

  it('once more in a sequence, for the transition that follows', async () => {
    const { admin } = runAdmin();
    const folds = countFolds('service.stopped', 'service.updated');
    expect((await admin.execute(sequence(limit, stop))).outcome).toBe('accepted');
    expect(folds()).toBe(3);
  });

  it('never by a request that is refused, unchanged, or planned without an entity tag', async () => {
    const { admin } = runAdmin();
    const folds = countFolds('service.stopped', 'service.updated');
    expect(admin.plan(stop).outcome).toBe('accepted');
    const ifMatch = { link: '/services/My-Service', etag: '"x"' };
    expect((await admin.execute(stop, { ifMatch })).outcome).toBe('refused');
    expect(folds()).toBe(0);
  });
});
