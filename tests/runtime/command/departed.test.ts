import { expect, it } from '@jest/globals';

import { Departed } from '../../../src/runtime/command/departed.ts';

it('a deleted resource is remembered for a minute, also if another one was deleted twice meanwhile', () => {
  let now = 0;
  const departed = new Departed({ now: () => now, sleep: () => Promise.resolve() });
  const deleteAt = (time: number, server: string): void => {
    now = time;
    departed.take([
      { type: 'server.deleted', at: now, resource: `/servers/${server}`, server, definition: {} as never },
    ]);
  };
  deleteAt(0, 'a');
  deleteAt(1000, 'b');
  deleteAt(59_000, 'a');
  now = 60_999;
  expect(['/servers/a', '/servers/b'].map((link) => departed.has(link))).toEqual([true, true]);
  now = 61_000;
  expect(['/servers/a', '/servers/b'].map((link) => departed.has(link))).toEqual([true, false]);
  now = 119_000;
  expect(departed.has('/servers/a')).toBe(false);
});
