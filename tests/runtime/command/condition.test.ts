/** tests/scenarios/command/condition.txt says what becomes of commands with a condition while others are in flight. */
import { describe, expect, it } from '@jest/globals';
import { createUser, type Execution, type Transition } from 'gateway-admin-core';

import { FailingStore } from '../../support/failing-store.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';

const neverCalled: Transition = () => {
  throw new Error('The transition was called');
};
const stale = '"sample.9.9"';

function codeOf(execution: Execution): string {
  return 'problem' in execution ? execution.problem.code : execution.outcome;
}

describe('a command with a condition', () => {
  it.each([
    ['/services/nothing', 'service-not-found'],
    ['/services/nothing/listeners', 'service-not-found'],
    ['/servers/nothing', 'server-not-found'],
    ['/monitors/nothing', 'monitor-not-found'],
    ['/filters/nothing', 'filter-not-found'],
    ['/sessions/1', 'session-not-found'],
    ['/sessions/x', 'session-id-invalid'],
  ])(
    'on %s is refused with %s before the entity tag is compared and before the decision',
    async (link, code) => {
      const { admin } = runAdmin();
      for (const etag of ['*', stale, 'no tag at all']) {
        expect(codeOf(await admin.execute(neverCalled, { ifMatch: { link, etag } }))).toBe(code);
      }
    },
  );

  // Promise: condition-first
  it.each([
    '/services/my-service',
    '/services/My-Service/listeners',
    '/services',
    '/servers/db-serv-1',
    '/monitors/main-monitor',
    '/filters/hint',
    '/sessions/9',
    '/users',
    '/gateway/logs',
    '/gateway',
  ])('on %s is refused before the decision if the entity tag does not match', async (link) => {
    const { admin } = runAdmin();
    const refused = await admin.execute(neverCalled, { ifMatch: { link, etag: stale } });
    expect(codeOf(refused)).toBe('precondition-failed');
    const malformed = await admin.execute(neverCalled, { ifMatch: { link, etag: 'no tag at all' } });
    expect(codeOf(malformed)).toBe('header-invalid');
    const decided = admin.execute(neverCalled, { ifMatch: { link, etag: '*' } });
    await expect(decided).rejects.toThrow('The transition was called');
  });

  it('waits for a command in flight that creates its user', async () => {
    const store = new FailingStore();
    const { admin, clock } = await openRunning(store);
    const create: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'joan', passwordHash: 'opaque' }, context);
    // Until the store has tried again, the command is in flight.
    store.failAfter(0, 'rejects, and nothing is kept', 1);
    const creating = admin.execute(create);
    const headers = { 'if-match': '*' };
    const handled = admin.handle({ method: 'DELETE', target: '/users/joan', headers });
    await clock.settle();
    expect(admin.snapshot.users.find('joan')).toBeUndefined();
    await clock.advance(100);
    expect((await creating).outcome).toBe('accepted');
    expect(await handled).toMatchObject({ response: { status: 204 } });
    await admin.close();
  });
});
