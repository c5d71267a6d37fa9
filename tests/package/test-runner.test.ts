/**
 * The test runner and the reporter of `tests/support/`. What the runner saves is lost without a word as soon as a new version of Jest loads its modules in another order.
 */
import { executionAsyncId } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it, test } from '@jest/globals';

import { root } from '../support/project.ts';

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
  const jest = [
    'node_modules/jest/bin/jest.js',
    'tests/package/test-runner.test.ts',
    '-t',
    'no storage of Jest',
  ];
  const env = { ...process.env, [alone]: 'yes' };
  const { status, stderr } = spawnSync(process.execPath, jest, { env, encoding: 'utf8' });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
});

/** Runs jest with the reporter, one test file for each text; gives the last line printed and the exit code. */
function runTests(...texts: readonly string[]): { lastLine: string | undefined; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'summary-'));
  try {
    for (const [index, text] of texts.entries())
      writeFileSync(join(folder, `${String(index)}.test.js`), text);
    const config = {
      rootDir: folder,
      transform: {},
      reporters: ['default', `${root}tests/support/summary-reporter.js`],
    };
    // Both streams into one, as in a terminal: the line must come after what jest itself says at the end.
    const command = `"${process.execPath}" node_modules/jest/bin/jest.js --config '${JSON.stringify(config)}' 2>&1`;
    const { stdout, status } = spawnSync(command, { cwd: root, shell: true, encoding: 'utf8' });
    return { lastLine: stdout.trimEnd().split('\n').at(-1), status };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the last line of a test run', () => {
  it('counts what passed and failed, a file that does not load and a skipped test included', () => {
    const mixed =
      "it('passes', () => {}); it('fails', () => { throw new Error(); }); it.skip('waits', () => {});";
    expect(runTests(mixed, "throw new Error('does not load');")).toEqual({
      lastLine: '1 passed, 2 failed, 1 skipped',
      status: 1,
    });
  });

  it('leaves out what there is none of', () => {
    expect(runTests("it('passes', () => {});")).toEqual({ lastLine: '1 passed, 0 failed', status: 0 });
  });

  it('comes with a failure when no test ran', () => {
    expect(runTests("it.skip('waits', () => {});")).toEqual({
      lastLine: '0 passed, 0 failed, 1 skipped',
      status: 1,
    });
  });
});
