/**
 * The test runner of `tests/support/jest-circus-runner.js`: what it saves is lost without a word as soon as a new
 * version of Jest loads its modules in another order.
 */
import { spawnSync } from 'node:child_process';
import { executionAsyncId } from 'node:async_hooks';

import { expect, test } from '@jest/globals';

/** Set in the process of its own. */
const alone = 'TEST_RUNNER_ALONE';

test('no storage of Jest follows the promises of a test', async () => {
  if (process.env[alone] !== undefined) {
    await Promise.resolve();
    // Node gives promises an id as soon as anything follows them. From Node 24 on, such a storage follows none.
    expect(executionAsyncId()).toBe(0);
    return;
  }
  // The library that drives the browser follows promises in each process that had one of its tests.
  const jest = ['node_modules/jest/bin/jest.js', 'tests/package/test-runner.test.ts'];
  const env = { ...process.env, [alone]: 'yes' };
  const { status, stderr } = spawnSync(process.execPath, jest, { env, encoding: 'utf8' });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
});
