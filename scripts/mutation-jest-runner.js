/**
 * A runner for Jest that a mutant costs little. Stryker passes Jest the names of the tests that reach a mutant, and Jest
 * loads every test file to look for the names. This runner loads the files with such a test only, begins with the
 * cheapest, and ends with the first file that fails.
 */
import { existsSync, readFileSync, writeFileSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';

import TestRunner from 'jest-runner';

export default class MutationRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    const began = Date.now();
    const record = join(tests[0].context.config.cacheDirectory, 'test-files.json');
    if (existsSync(record)) await this.#runUntilFailure(this.#choose(tests, record), watcher, options);
    else writeFileSync(record, JSON.stringify(await this.#measure(tests, watcher, options)));
    appendFileSync('/tmp/tool/mut-times.txt', `${process.pid} ${process.env.__STRYKER_ACTIVE_MUTANT__} start ${began} runTests ${Date.now() - began}\n`);
  }

  /** Runs all files. Gives for each what it costs to load, and the cost of each test. */
  async #measure(tests, watcher, options) {
    const files = {};
    this.on('test-file-success', ([{ path }, { perfStats, testResults }]) => {
      const costs = Object.fromEntries(testResults.map(({ fullName, duration }) => [fullName, duration ?? 0]));
      files[path] = { load: perfStats.runtime - sum(Object.values(costs)), costs };
    });
    await super.runTests(tests, watcher, options);
    writeFileSync('/tmp/tool/mut-files.json', JSON.stringify(files, null, 1)); return files;
  }

  #choose(tests, record) {
    const files = JSON.parse(readFileSync(record, 'utf8'));
    const { testNamePattern } = this._globalConfig;
    const pattern = testNamePattern ? new RegExp(testNamePattern, 'i') : /./;
    return tests
      .map((test) => {
        const { load, costs } = files[test.path];
        const matching = Object.entries(costs).filter(([name]) => pattern.test(name));
        const wide = /[\\/](contract|properties)[\\/]/.test(test.path);
        return { test, wide, count: matching.length, cost: load + sum(matching.map(([, cost]) => cost)) };
      })
      .filter(({ count }) => count > 0)
      .toSorted((left, right) => left.wide - right.wide || left.cost - right.cost)
      .map(({ test }) => test);
  }

  async #runUntilFailure(tests, watcher, options) {
    let failed = false;
    this.on('test-file-success', ([{path}, { numFailingTests, testExecError, perfStats }]) => {
      failed ||= numFailingTests > 0 || testExecError !== undefined;
      appendFileSync('/tmp/tool/mut-times.txt', `   ${path.split('/tests/')[1]} ${perfStats.runtime} failed ${failed}\n`);
    });
    this.on('test-file-failure', () => { failed = true; });
    for (const test of tests) {
      if (failed) return;
      await super.runTests([test], watcher, options);
    }
  }
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}
