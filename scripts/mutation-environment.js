import { TestEnvironment } from 'jest-environment-node';

/** The environment of Jest for Node, which skips the tests of a file after the first failure. */
export default class MutationEnvironment extends TestEnvironment {
  #failed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
    if (name === 'test_start' && this.#failed) test.mode = 'skip';
  }
}
