/**
 * The command of `docs/proof.md`, as a stranger runs it. All faults of the page are planted in the long run.
 */
import { spawnSync } from 'node:child_process';

import { expect, it } from '@jest/globals';

import { readFound } from '../docs/proof.ts';
import { plantedFaults } from '../support/planted-faults.ts';
import { root } from '../support/project.ts';

function proof(...names: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'proof', '--', ...names], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout };
}

/** The steps below each heading: lines that are indented by four spaces and no more, up to what is wrong. */
function stepsIn(stdout: string): readonly string[] {
  const [, shown = ''] = stdout.split(/ steps:\n\n/);
  return (
    shown
      .split('\n\n')[0]
      ?.split('\n')
      .filter((line) => /^ {4}\S/.test(line)) ?? []
  );
}

// Promise: simulation
it.each(['leaves-what-was-abandoned', 'looks-at-no-checksum', 'ends-no-drain-at-a-start'])(
  'finds the planted fault %s, and shows it in at most ten steps',
  (name) => {
    const fault = plantedFaults().find((each) => each.name === name);
    const { status, stdout } = proof(name);
    expect([stdout, status]).toEqual([expect.stringMatching(/\n1 passed, 0 failed\n$/), 0]);
    expect(stdout).toContain(fault?.what);
    expect(stdout).toContain(`- ${fault?.from.trim() ?? ''}`);
    expect(stdout).toMatch(/ found after \d+ s, by seed \d+, and shown in \d+ steps/);
    expect(stepsIn(stdout).length).toBeGreaterThan(0);
    expect(stepsIn(stdout).length).toBeLessThanOrEqual(10);
  },
);

it('refuses a fault that nobody has described', () => {
  expect(proof('no-such-fault')).toEqual({ status: 2, stdout: '' });
});

it('has found the twenty faults of the page in five minutes each, and in at most ten steps', () => {
  const { faults } = readFound();
  const chosen = plantedFaults().filter((fault) => fault.proof !== undefined);
  const places = new Set(chosen.map((fault) => fault.proof));
  expect([chosen.length, [...places].toSorted()]).toEqual([
    20,
    ['command', 'fleet', 'journal', 'page', 'store'],
  ]);
  expect(Object.keys(faults).toSorted()).toEqual(chosen.map(({ name }) => name).toSorted());
  const late = Object.entries(faults).filter(
    ([, row]) => row === undefined || row.seconds >= 300 || row.steps > 10,
  );
  expect(late).toEqual([]);
});
