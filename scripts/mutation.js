/**
 * Mutation testing with Stryker: changes one place of the sources at a time and runs the tests about the folder. A
 * mutant survives if no test fails. A folder has thousands of mutants, and each costs seconds, so that a run tests a
 * random sample. The seed is printed: the same seed and the same sources give the same sample.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import { Stryker } from '@stryker-mutator/core';

import { sampler } from './mutation-sample.js';

/** By folder below src: the tests that are about the folder. Stryker runs those of them that reach a mutant. */
const testsOf = {
  json: ['json/*', 'properties/patch', 'resources/revert', 'runtime/**/argument'],
  core: [
    'core/*',
    'http/request',
    'contract/{field,secret}',
    'openapi/document',
    'properties/patch',
    'resources/revert',
    'runtime/**/argument',
    'snapshot/{document,secret-parameter,snapshot}',
  ],
  http: ['http/*', 'contract/{condition,endpoint,protocol}'],
  snapshot: ['snapshot/**/*', 'properties/transition', 'contract/session', 'runtime/**/{argument,recovery}'],
  resources: [
    'resources/*',
    'contract/{bad-input,command,cost,endpoint,field,secret,session}',
    'properties/transition',
    'runtime/**/{command,recovery,role,teardown,user}',
    'scenarios',
    'openapi/document',
    'snapshot/{document,secret-parameter,snapshot}',
  ],
  runtime: [
    'runtime/**/*',
    'scenarios',
    'adapters/fetch-and-node',
    'contract/{authentication,command,condition,endpoint,protocol,session}',
    'fleet/{fence,fleet,following,log}',
    'snapshot/document',
  ],
  'runtime/command': ['runtime/**/*', 'scenarios'],
  'runtime/journal': ['runtime/**/*', 'scenarios'],
  fleet: ['fleet/*', 'scenarios'],
  ports: ['ports/**/*', 'package/exports', 'runtime/**/store'],
};
const leastPercent = 90;

// A mutant belongs to a file of the sources.
process.env.SOURCES = 'modules';
const { default: jestConfig } = await import('../jest.config.js');

const { folder, seed, sample } = readArguments();
const temporary = mkdtempSync(join(tmpdir(), 'mutation-'));
try {
  process.exitCode = tell(await run()) >= leastPercent ? 0 : 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string' }, sample: { type: 'string' }, all: { type: 'boolean' } },
    });
    const [folder = '', ...others] = positionals.map((each) => each.replace(/\/$/, ''));
    const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
    const sample = values.all ? Number.MAX_SAFE_INTEGER : Number(values.sample ?? 300);
    if (others.length > 0 || !Object.hasOwn(testsOf, folder)) throw new Error('Name one folder.');
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('The seed must be a whole number.');
    if (!Number.isSafeInteger(sample) || sample < 1) throw new Error('The sample must be 1 or more.');
    return { folder, seed, sample };
  } catch (error) {
    console.error(error.message);
    console.error('Usage: npm run test:mutation -- FOLDER [--seed N] [--sample N | --all]');
    console.error(`FOLDER is one of ${Object.keys(testsOf).join(', ')}. Without --sample: 300 mutants.`);
    process.exit(2);
  }
}

/** Gives the mutants of the sample with their fates. */
async function run() {
  console.log(
    `${folder}: a sample of ${sample === Number.MAX_SAFE_INTEGER ? 'all' : sample} mutants, seed ${seed}`,
  );
  const results = await new Stryker({
    mutate: [`src/${folder}/**/*.ts`],
    testRunner: 'jest',
    plugins: [import.meta.resolve('@stryker-mutator/jest-runner'), sampler.module],
    checkers: [sampler.name],
    [sampler.name]: { seed, size: sample },
    jest: {
      configFile: 'jest.config.js',
      config: {
        testMatch: testsOf[folder].map((each) => `**/tests/${each}.test.ts`),
        cacheDirectory: join(temporary, 'cache'),
        moduleNameMapper: {
          ...jestConfig.moduleNameMapper,
          '^fast-check$': '<rootDir>/scripts/mutation-fast-check.cjs',
        },
        runner: join(import.meta.dirname, 'mutation-jest-runner.js'),
        testEnvironment: join(import.meta.dirname, 'mutation-environment.js'),
      },
      enableFindRelatedTests: false,
    },
    coverageAnalysis: 'perTest',
    // A busy machine is no reason to count a mutant as killed.
    timeoutMS: 20_000,
    // The trial run counts what each expression runs, and takes longer than the run of a mutant.
    timeoutFactor: 1,
    dryRunTimeoutMinutes: 30,
    // Two at most: one process decides about the sample, see mutation-sample.js.
    concurrency: 2,
    // Each test file leaves something behind in its process.
    maxTestRunnerReuse: 40,
    tempDirName: join(temporary, 'sandbox'),
    ignorePatterns: ['dist', 'coverage', 'temp'],
    // The tests do not check types.
    disableTypeChecks: false,
    reporters: ['progress-append-only'],
    logLevel: 'warn',
    // Most of the sources are tables, whose mutants need all tests.
    warnings: { slow: false },
    allowConsoleColors: false,
  }).runMutationTest();
  return results.filter(({ statusReason }) => statusReason !== sampler.leftOut);
}

/** Prints what survived and the score. Returns the percentage. */
function tell(results) {
  const having = (...fates) => results.filter(({ status }) => fates.includes(status));
  // A test file that cannot be loaded fails the tests, although Stryker leaves such mutants out of its own score.
  const [timedOut, notLoaded] = [having('Timeout'), having('RuntimeError')];
  const killed = having('Killed').length + timedOut.length + notLoaded.length;
  const percent = (100 * killed) / results.length;
  for (const survivor of having('Survived', 'NoCoverage')) console.log(describe(survivor));
  console.log(
    `${timedOut.length} of the killed timed out, ${notLoaded.length} kept a test file from loading`,
  );
  console.log(
    `${folder}: ${killed} of ${results.length} mutants killed (${percent.toFixed(1)} %), seed ${seed}`,
  );
  return percent;
}

/** One line for a mutant: its place, whether a test ran it, and the text before and after. */
function describe({ fileName, location: { start, end }, status, replacement }) {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines.push(lines.pop().slice(0, end.column - 1));
  const original = lines.join('\n').slice(start.column - 1);
  const [before, after] = [original, replacement].map((text) => text.replace(/\s+/g, ' ').slice(0, 100));
  return `${relative('', fileName)}:${start.line}:${start.column} ${status}: ${before} → ${after}`;
}
