/**
 * Runs a test file with jest-circus, with two changes that save time. Stacks are as short as those of Node. And there is
 * no AsyncLocalStorage, in which jest-circus keeps the running test of each file: on Node 20, each such storage slows
 * down every promise of its file and of all later files in the same worker.
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
  // Jest asks for 100 lines. Each matcher records a stack, also when nothing fails.
  environment.global.Error.stackTraceLimit = 10;
  const load = runtime.requireInternalModule.bind(runtime);
  // Loads jest-circus and what jest-circus needs. The test file and its modules get the class of Node.
  runtime.requireInternalModule = (...given) => {
    // Loads are nested. After an inner load, the rest of the outer module still needs the class of this file.
    const outer = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage');
    // From Node 22 on, the member has no setter.
    Object.defineProperty(hooks, 'AsyncLocalStorage', { value: CurrentStore, configurable: true });
    try {
      return load(...given);
    } finally {
      Object.defineProperty(hooks, 'AsyncLocalStorage', outer);
    }
  };
  return circus.default(globalConfig, config, environment, runtime, ...others);
}
