/**
 * A runner for Jest that makes a mutant cheap. Stryker gives Jest the names of the tests that reach a mutant, and Jest
 * would load every test file to look for them. This runner loads only the files that have such a test, starts with the
 * cheapest, and ends with the first file that fails.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import TestRunner from 'jest-runner';

export default class MutationRunner extends TestRunner {
  /** The first run of Stryker tests no mutant. The costs of the test files are measured in this run. */
  async runTests(tests, watcher, options) {
    const record = join(tests[0].context.config.cacheDirectory, 'test-files.json');
    if (existsSync(record)) await this.#runUntilFailure(this.#choose(tests, record), watcher, options);
    else writeFileSync(record, JSON.stringify(await this.#measure(tests, watcher, options)));
  }

  /** Runs all files. Gives for each file the milliseconds to load the file, and those of each test. */
  async #measure(tests, watcher, options) {
    const files = {};
    this.on('test-file-success', ([{ path }, { perfStats, testResults }]) => {
      const costs = Object.fromEntries(
        testResults.map(({ fullName, duration }) => [fullName, duration ?? 0]),
      );
      files[path] = { load: perfStats.runtime - sum(Object.values(costs)), costs };
    });
    await super.runTests(tests, watcher, options);
    return files;
  }

  /** The files with a wanted test. Those about one subject come before those about every endpoint, field or patch. */
  #choose(tests, record) {
    const files = JSON.parse(readFileSync(record, 'utf8'));
    const { testNamePattern = '' } = this._globalConfig;
    const wanted = new RegExp(testNamePattern, 'i');
    return tests
      .map((test) => {
        const { load, costs } = files[test.path];
        const names = Object.keys(costs).filter((name) => wanted.test(name));
        const isWide = /[\\/](?:contract|properties)[\\/]/.test(test.path);
        return { test, names, isWide, cost: load + sum(names.map((name) => costs[name])) };
      })
      .filter(({ names }) => names.length > 0)
      .toSorted((left, right) => left.isWide - right.isWide || left.cost - right.cost)
      .map(({ test }) => test);
  }

  async #runUntilFailure(tests, watcher, options) {
    let failed = false;
    this.on('test-file-success', ([, { numFailingTests, testExecError }]) => {
      failed ||= numFailingTests > 0 || testExecError !== undefined;
    });
    this.on('test-file-failure', () => {
      failed = true;
    });
    for (const test of tests) {
      if (failed) return;
      await super.runTests([test], watcher, options);
    }
  }
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}
