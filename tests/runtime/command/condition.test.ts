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
  // Promise: condition-first
  it('is refused before the decision: for a resource that is missing, for a tag that is none or another', async () => {
    const { admin } = runAdmin();
    const codes = async (link: string): Promise<readonly string[]> => {
      const executions = [stale, 'no tag at all'].map(async (etag) =>
        codeOf(await admin.execute(neverCalled, { ifMatch: { link, etag } })),
      );
      return Promise.all(executions);
    };
    for (const [link, code] of [
      ['/services/nothing', 'service-not-found'],
      ['/services/nothing/listeners', 'service-not-found'],
      ['/servers/nothing', 'server-not-found'],
      ['/monitors/nothing', 'monitor-not-found'],
      ['/filters/nothing', 'filter-not-found'],
      ['/sessions/1', 'session-not-found'],
      ['/sessions/x', 'session-id-invalid'],
    ] as const) {
      expect([link, ...(await codes(link))]).toEqual([link, code, code]);
      expect(codeOf(await admin.execute(neverCalled, { ifMatch: { link, etag: '*' } }))).toBe(code);
    }
    const places = [
      '/services',
      '/services/my-service',
      '/services/My-Service/listeners',
      '/servers/db-serv-1',
    ];
    const others = [
      '/monitors/main-monitor',
      '/filters/hint',
      '/sessions/9',
      '/users',
      '/gateway/logs',
      '/gateway',
    ];
    for (const link of [...places, ...others]) {
      expect([link, ...(await codes(link))]).toEqual([link, 'precondition-failed', 'header-invalid']);
      const decided = admin.execute(neverCalled, { ifMatch: { link, etag: '*' } });
      await expect(decided).rejects.toThrow('The transition was called');
    }
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
