/**
 * The simulation: 100,000 seeds, or as many as the first number says, on as many threads as there are cores. The second
 * number is the first seed.
 *
 * - `--fleet` simulates fleets of nodes instead of one node.
 * - `--plans` lets clients plan in every world, and not in every fourth.
 * - `--scenarios` draws scenarios, and prints what fails with as few steps as show the fault. With `--fleet`, scenarios of
 *   a fleet.
 * - `--store` simulates processes with a file store, and power failures.
 * - `--page` walks over the page of the console, in a real Chromium.
 * - `--found` runs the seeds of `tests/simulation/found.js` and no others.
 * - `--fault NAME` plants a fault of `tests/faults/faults.js`, and ends with the first world that finds it.
 * - `--seed N` runs this seed alone.
 * - `--minutes N` begins no more seeds after so many minutes.
 * - `--alone` uses one thread.
 *
 * The simulation is bundled first, because a bundle runs in three quarters of the time that the test runner takes. The
 * hash of its code is printed, so that runs of the same code can be added up.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { build } from 'esbuild';

import { found } from '../tests/simulation/found.js';
import { faultOf, planting, sourcesByName } from './bundle.js';
import { pageModule } from './console.js';

/** A thread ends after so many seeds, with all memory that it has left behind. */
const most = 2500;
const mostFailures = 5;

const entries = {
  '--fleet': 'tests/fleet/simulation/world.ts',
  '--scenarios': 'tests/scenario/one-node-world.ts',
  '--fleet --scenarios': 'tests/scenario/fleet-world.ts',
  '--store': 'tests/ports/file-store/world.ts',
  '--page': 'tests/console/world.ts',
};

if (isMainThread) await main();
else await work(workerData);

async function main() {
  const given = process.argv.slice(2);
  const optionOf = (name) => (given.includes(name) ? given.splice(given.indexOf(name), 2)[1] : undefined);
  const [faultName, minutes = Infinity, seed] = ['--fault', '--minutes', '--seed'].map(optionOf);
  const fault = faultName === undefined ? undefined : faultOf(faultName);
  const kinds = ['--fleet', '--plans', '--scenarios', '--store', '--page'].filter((each) =>
    given.includes(each),
  );
  const kind = kinds.length === 0 ? fault?.kind : kinds.join(' ');
  const threads = given.includes('--alone') ? 1 : availableParallelism();
  const numbers = seed === undefined ? given.filter((each) => !each.startsWith('--')) : [1, seed];
  const [seeds = 100_000, first = 0] = numbers.map(Number);
  if (![seeds, first].every(Number.isSafeInteger) || seeds < 1 || !(Number(minutes) > 0)) {
    console.error(
      'Usage: npm run test:simulation [-- [--fleet | --plans] [--scenarios] [--alone] [--minutes N] SEEDS [FIRST]]',
    );
    process.exit(2);
  }
  mkdirSync('temp', { recursive: true });
  // Here, the bundle finds installed packages, and the root of the project two folders above.
  const place = mkdtempSync(join(process.cwd(), 'temp/simulation-'));
  const start = performance.now();
  const bundle = (of) => bundled(entries[of] ?? 'tests/simulation/simulation.ts', place, fault);
  try {
    if (given.includes('--found')) return await runFound(bundle);
    const code = await bundle(kind);
    const { passed, failed, ways } = await runAll({
      jobs: jobsOf(
        Array.from({ length: seeds }, (_, at) => first + at),
        threads,
        { bundle: code, kind },
      ),
      threads,
      end: Date.now() + Number(minutes) * 60_000,
      most: fault === undefined ? mostFailures : 1,
    });
    const told = Object.entries(ways).map(([way, count]) => `${count} ${way}`);
    if (told.length > 0) console.log(`The way back: ${told.join('; ')}`);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const outcome = failed === 0 ? 'all hold' : 'FAILED';
    console.log(
      `${passed + failed} seeds from ${first} on of code ${hashOf(code)} in ${seconds} s: ${outcome}`,
    );
    console.log(`${passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Bundles a simulation with the sources, not with the build. */
async function bundled(entry, place, fault) {
  const outfile = join(place, 'simulation.mjs');
  const planted = fault === undefined ? [] : [planting(fault.name)];
  const require = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
  await build({
    ...{ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', sourcemap: 'inline' },
    alias: sourcesByName(),
    banner: { js: require },
    external: ['playwright-core'],
    // What judges the page has the sources as they are.
    plugins: entry === entries['--page'] ? [pageWith(planted)] : planted,
  });
  return outfile;
}

/** Builds the page of the console from the sources, with what is planted there. */
function pageWith(planted) {
  return {
    name: 'page',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\/page\.js$/ }, ({ path }) => ({ path, namespace: 'page' }));
      onLoad({ filter: /.*/, namespace: 'page' }, async () => ({ contents: await pageModule(planted) }));
    },
  };
}

/** The hash of the code without its source map, which names the place of the bundle. */
function hashOf(bundle) {
  const [code] = readFileSync(bundle, 'utf8').split('\n//# sourceMappingURL=');
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}

/** Runs the seeds whose worlds did not hold once. */
async function runFound(bundle) {
  const counts = { passed: 0, failed: 0 };
  for (const [name, rows] of Object.entries(found)) {
    const kind = name.startsWith('--') ? name : undefined;
    const seeds = rows.map(([seed]) => seed);
    const threads = availableParallelism();
    const jobs = jobsOf(seeds, threads, { bundle: await bundle(kind), kind });
    const { passed, failed } = await runAll({ jobs, threads, end: Infinity, most: seeds.length });
    counts.passed += passed;
    counts.failed += failed;
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

/** Shares seeds out to threads. */
function jobsOf(seeds, threads, what) {
  const size = Math.min(most, Math.ceil(seeds.length / threads));
  const count = Math.ceil(seeds.length / size);
  return Array.from({ length: count }, (_, at) => ({
    ...what,
    seeds: seeds.slice(at * size, (at + 1) * size),
  }));
}

/** Runs jobs until the end. Gives the number of seeds that pass and of those that fail, and how many were led back. */
async function runAll({ jobs, threads, end, most: mostFailed }) {
  let [done, failed, told] = [0, 0, 0];
  const all = jobs.reduce((sum, { seeds }) => sum + seeds.length, 0);
  const left = [...jobs];
  const ways = {};
  const take = ({ isDone, fault, way }) => {
    if (isDone) done += 1;
    if (way !== undefined) ways[way] = (ways[way] ?? 0) + 1;
    if (fault === undefined) return;
    failed += 1;
    console.log(fault);
  };
  const takeJobs = async () => {
    while (left.length > 0 && failed < mostFailed && Date.now() < end) {
      await run({ ...left.shift(), end, mostFailed }, take);
      if (done > told) console.log(`${done} of ${all} done, ${failed} failed`);
      told = done;
    }
  };
  await Promise.all(Array.from({ length: threads }, takeJobs));
  return { passed: done - failed, failed, ways };
}

function run(job, onMessage) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job });
    worker.on('message', onMessage);
    worker.once('error', reject);
    worker.once('exit', resolve);
  });
}

async function work({ bundle, kind, seeds, end, mostFailed }) {
  const { simulate, close } = await import(bundle);
  let failed = 0;
  for (const seed of seeds) {
    if (failed >= mostFailed || Date.now() >= end) break;
    const onWay = (way) => parentPort.postMessage({ way });
    const faults = await simulate(seed, kind === '--plans' ? 1 : undefined, onWay).catch((error) => [
      String(error),
    ]);
    const again = `to run it again: npm run test:simulation -- ${kind === undefined ? '' : `${kind} `}--seed ${seed}`;
    const fault = faults.length === 0 ? undefined : [`Seed ${seed}; ${again}`, ...faults].join('\n  ');
    if (fault !== undefined) failed += 1;
    parentPort.postMessage({ isDone: true, fault });
  }
  await close?.();
}
