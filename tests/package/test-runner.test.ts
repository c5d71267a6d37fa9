/**
 * The test runner of `tests/support/jest-circus-runner.js`: what it saves is lost without a word as soon as a new version of
 * Jest loads its modules in another order.
 */
import { executionAsyncId } from 'node:async_hooks';

import { expect, test } from '@jest/globals';

test('no storage of Jest follows the promises of a test', async () => {
  await Promise.resolve();
  // Node gives promises an id as soon as anything follows them. From Node 24 on, such a storage follows none.
  expect(executionAsyncId()).toBe(0);
});
