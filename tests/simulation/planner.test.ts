import { expect, it } from '@jest/globals';

import { saidBy } from './planner.ts';

it('reads the same from a plan and its event, whatever the order of their members', () => {
  const change = (before: object): string =>
    saidBy({
      type: 'service.updated',
      resource: '/services/Sales',
      from: { ...before },
      to: {},
    });
  const shown = change({ max_connection: 1, drain: { timeout: 4, then: 'close', from: 'started' } });
  expect(change({ drain: { from: 'started', then: 'close', timeout: 4 }, max_connection: 1 })).toBe(shown);
  expect(change({ drain: { from: 'started', then: 'close', timeout: 5 }, max_connection: 1 })).not.toBe(
    shown,
  );
});
