import { describe, expect, it } from '@jest/globals';
import { closeSession, createUser, stopService, type Execution, type Transition } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { FailingStore } from '../../support/failing-store.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { transports } from '../../support/transport.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
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

  it('waits behind a command in flight on its resource, with any spelling of the link', async () => {
    const held = hold();
    const { admin, clock } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const first = admin.execute(stop);
    await held.begun;
    const answers: string[] = [];
    const second = admin
      .execute(neverCalled, { ifMatch: { link: '/services/my%20service', etag: stale } })
      .then((execution) => answers.push(codeOf(execution)));
    const other = await admin.execute(neverCalled, {
      ifMatch: { link: '/services/bare-service', etag: stale },
    });
    await clock.settle();
    expect([codeOf(other), answers]).toEqual(['precondition-failed', []]);
    held.done();
    await Promise.all([first, second]);
    expect(answers).toEqual(['precondition-failed']);
  });

  it('waits behind a command that closes its session', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const close: Transition = (snapshot, context) => closeSession(snapshot, 9, context);
    const closing = admin.execute(close);
    await held.begun;
    const stranger = admin.execute(neverCalled, { ifMatch: { link: '/sessions/9', etag: stale } });
    held.done();
    expect((await Promise.all([closing, stranger])).map(codeOf)).toEqual(['accepted', 'session-not-found']);
  });

  it('on a list is refused once a command has changed an element, and not for a report', async () => {
    const { admin } = runAdmin();
    const { send } = await transports.core(admin);
    const etag = (await send('GET', '/services')).headers['etag'] ?? '';
    const ifMatch = { link: '/services', etag };
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    expect(codeOf(await admin.execute(stop, { ifMatch }))).toBe('accepted');
    expect(codeOf(await admin.execute(neverCalled, { ifMatch }))).toBe('precondition-failed');
  });

  it('is refused with command-in-progress while an outcome on its resource is unknown', async () => {
    const held = hold();
    const gateway = sampleGateway()
      .will(held.apply)
      .willSee(...Array.from({ length: 100 }, () => 'not-in-place' as const));
    const { admin, clock } = runAdmin({ gateway });
    const first = admin.execute(stop);
    await held.begun;
    await clock.advance(10_000);
    expect(codeOf(await first)).toBe('outcome-unknown');
    const ifMatch = { link: '/services/My-Service', etag: stale };
    expect(codeOf(await admin.execute(neverCalled, { ifMatch }))).toBe('command-in-progress');
    await admin.close();
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

  it('is checked again when its turn comes', async () => {
    const { admin } = runAdmin();
    admin.report(openedSessions(1));
    const close: Transition = (snapshot, context) => closeSession(snapshot, 1000, context);
    const ifMatch = { link: '/sessions/1000', etag: '*' };
    const answers = await Promise.all([admin.execute(close), admin.execute(close, { ifMatch })]);
    expect(answers.map(codeOf)).toEqual(['accepted', 'session-not-found']);
  });
});
