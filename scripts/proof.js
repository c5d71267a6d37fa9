/**
 * Plants the faults of the proof into the sources, one after the other, and prints how soon the simulation finds each,
 * and the few steps that show it. The last line counts the faults that were found.
 *
 * - `npm run proof -- NAME …` plants these faults of `tests/faults/faults.js`, and `--all` every fault.
 * - `--accept` writes what was found of the faults of the proof into `tests/faults/found.json`, for `docs/proof.md`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

import { faults } from '../tests/faults/faults.js';

const record = 'tests/faults/found.json';

/** How many worlds of a kind a fault has to be found in. */
const counts = { '--scenarios': 20_000, '--fleet --scenarios': 2000, '--store': 20_000, '--page': 1000 };

const given = process.argv.slice(2);
const names = given.filter((each) => !each.startsWith('--'));
const unknown = names.filter((each) => !faults.some(({ name }) => name === each));
if (unknown.length > 0) {
  console.error(
    `There is no fault ${unknown.join(', ')}. The faults are: ${faults.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
const chosen = faults.filter(({ name, proof }) =>
  names.length > 0 ? names.includes(name) : given.includes('--all') || proof !== undefined,
);

const rows = [];
for (const fault of chosen) {
  const row = await rowOf(fault);
  rows.push(row);
  tell(fault, row);
}
if (rows.length > 1) {
  console.log();
  for (const { name, what, seed, seconds, steps } of rows)
    console.log(
      seed === undefined
        ? `NOT FOUND ${name} (${seconds} s): ${what}`
        : `found     ${name} (${seconds} s, ${steps} steps): ${what}`,
    );
}
const isFound = ({ seed }) => seed !== undefined;
if (given.includes('--accept')) accept();
console.log(`${rows.filter(isFound).length} passed, ${rows.filter((row) => !isFound(row)).length} failed`);
process.exitCode = rows.every(isFound) ? 0 : 1;

/** Plants a fault, and runs worlds until one shows it. The world must hold without the fault. */
async function rowOf({ name, what, kind }) {
  const start = performance.now();
  const output = await outputOf(['--fault', name, String(counts[kind] ?? 3000)]);
  const seconds = Math.ceil((performance.now() - start) / 1000);
  // Each thread may have found it.
  const worlds = output.split(/^(?=Seed \d+;)/m).flatMap(worldIn);
  const [world] = worlds.toSorted((one, other) => one.steps - other.steps);
  if (world === undefined) return { name, what, seconds, output };
  const without = await outputOf([...(kind?.split(' ') ?? []), '--seed', world.seed]);
  if (!/^1 passed, 0 failed$/m.test(without)) return { name, what, seconds, output: without };
  return { name, what, seconds, ...world };
}

/** A world that fails: its seed, its scenario, the number of steps, and what is wrong. */
function worldIn(text) {
  const [, seed] = /^Seed (\d+);/.exec(text) ?? [];
  if (seed === undefined) return [];
  const [head, scenario = ''] = text.split(/^ {2}== .*\n/m);
  const [shown, told = ''] = scenario === '' ? ['', head] : scenario.split(/\n\n(.*)/s);
  const wrong = told.split('\n').filter((line) => line.startsWith('  '));
  return [{ seed, shown, steps: shown.split('\n').filter((line) => /^[a-z]/.test(line)).length, wrong }];
}

/** What the simulation prints. */
function outputOf(args) {
  const child = spawn(process.execPath, ['scripts/simulation.js', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}

/** Prints a fault, and the steps that show it. */
function tell({ name, what, file, from, to }, { seconds, seed, shown, steps, wrong, output }) {
  const marked = (mark, text) => (text.trim() === '' ? '' : text.trim().replace(/^ */gm, `  ${mark} `));
  console.log(
    [`\n${name}: ${what}`, `  ${file}`, marked('-', from), marked('+', to)].filter(Boolean).join('\n'),
  );
  if (seed === undefined) console.log(`  NOT FOUND after ${seconds} s:\n${output}`);
  else {
    console.log(`  found after ${seconds} s, by seed ${seed}, and shown in ${steps} steps:\n`);
    console.log(
      [...shown.split('\n'), '', ...wrong.map((line) => line.trim())].join('\n').replace(/^(?=.)/gm, '    '),
    );
  }
}

/** Writes what was found of the faults of the proof. */
function accept() {
  const before = JSON.parse(readFileSync(record, 'utf8'));
  const fresh = Object.fromEntries(
    rows
      .filter(isFound)
      .map(({ name, seconds, steps, seed }) => [name, { seconds, steps, seed: Number(seed) }]),
  );
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const proven = faults.filter(({ proof }) => proof !== undefined);
  const all = Object.fromEntries(
    proven.flatMap(({ name }) => {
      const row = fresh[name] ?? before.faults[name];
      return row === undefined ? [] : [[name, row]];
    }),
  );
  writeFileSync(
    record,
    `${JSON.stringify({ commit, cores: availableParallelism(), faults: all }, undefined, 2)}\n`,
  );
}
