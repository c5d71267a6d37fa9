import { writeSync } from 'node:fs';

/**
 * Ends the run's output with one plain line, `N passed, N failed` (and `, N skipped` if there are some), counted by
 * jest itself. A test file that could not run counts as one failure. A run in which no test ran is a failed run.
 */
export default class SummaryReporter {
  #error;

  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    if (passed + failed === 0) this.#error = new Error('No test ran.');
    // At exit, because jest's own summary comes after the reporters of the configuration.
    process.once('exit', () => {
      const error = this.#error === undefined ? '' : `${this.#error.message}\n`;
      writeSync(
        1,
        `${error}${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`,
      );
    });
  }

  getLastError() {
    return this.#error;
  }
}
