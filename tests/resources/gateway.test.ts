import { describe, expect, it } from '@jest/globals';
import { flushLogs, toDocument, type Transition } from 'gateway-admin-core';

import { expectAccepted } from '../support/expect-decision.ts';

const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);

describe('flushing the logs', () => {
  it('records the time of each flush', () => {
    const first = expectAccepted(flush, undefined, { now: 1472675366000 });
    expect(first.events).toEqual([{ type: 'logs.flushed', at: 1472675366000, resource: '/gateway/logs' }]);
    expect(first.effects).toEqual([{ type: 'logs.flush', resource: '/gateway/logs' }]);
    expect(first.next.logs).toMatchObject({ last_flushed: 1472675366000, version: { command: 1, live: 1 } });
    const second = expectAccepted(flush, first.next, { now: 1472675366001 });
    expect(toDocument(second.next).logs?.last_flushed).toBe('2016-08-31T20:29:26.001+00:00');
  });

  it('is accepted twice at the same time', () => {
    const first = expectAccepted(flush, undefined, { now: 5 });
    expect(expectAccepted(flush, first.next, { now: 5 }).next.revision).toBe(2);
  });
});
