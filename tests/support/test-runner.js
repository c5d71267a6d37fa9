/**
 * Runs a test file with jest-circus, without its AsyncLocalStorage. jest-circus keeps the running test in one for each
 * file. On Node 20, each such storage slows down every promise of its file and of all later files in the same worker.
 */
import hooks from 'node:async_hooks';

import circus from 'jest-circus/runner';

/** Remembers one store at a time, which is enough because the tests and hooks of a file run one after the other. */
class CurrentStore {
  #store;

  getStore() {
    return this.#store;
  }

  run(store, callback) {
    const outer = this.#store;
    this.#store = store;
    return callback().finally(() => {
      this.#store = outer;
    });
  }
}

export default function runTestFile(globalConfig, config, environment, runtime, ...others) {
  const load = runtime.requireInternalModule.bind(runtime);
  // Loads jest-circus and what jest-circus needs. The test file and its modules get the class of Node.
  runtime.requireInternalModule = (...given) => {
    const { AsyncLocalStorage } = hooks;
    hooks.AsyncLocalStorage = CurrentStore;
    try {
      return load(...given);
    } finally {
      hooks.AsyncLocalStorage = AsyncLocalStorage;
    }
  };
  return circus.default(globalConfig, config, environment, runtime, ...others);
}
