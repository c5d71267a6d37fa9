import { describe, expect, it } from '@jest/globals';
import { createVirtualClock } from 'gateway-admin-core/testing';

import { createFailedLogins } from '../../../src/runtime/password/failed-logins.ts';

describe('a failed log-in', () => {
  it('is remembered for five minutes after the last one of its network', async () => {
    const clock = createVirtualClock();
    const failed = createFailedLogins(clock);
    failed.add('192.0.2.1');
    await clock.advance(200_000);
    failed.add('192.0.2.1');
    failed.add('192.0.2.2');
    await clock.advance(299_999);
    expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(failed.standingOf)).toEqual([
      'failed',
      'failed',
      'fresh',
    ]);
    await clock.advance(1);
    expect(failed.standingOf('192.0.2.1')).toBe('fresh');
  });

  it('is forgotten for the network that failed first, once 10,000 others did, so strangers cannot fill the memory', () => {
    const failed = createFailedLogins(createVirtualClock());
    for (let at = 0; at < 10_000; at += 1) failed.add(String(at));
    failed.add('0');
    expect(failed.standingOf('1')).toBe('failed');
    failed.add('another');
    expect(['0', '1', '2'].map(failed.standingOf)).toEqual(['failed', 'fresh', 'failed']);
  });
});
