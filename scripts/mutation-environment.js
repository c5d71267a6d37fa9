import { TestEnvironment } from 'jest-environment-node';

/** Tests of cost. A counter in each expression makes them slow, and a loop without end long. */
const costly = /\ba million\b|\bin proportion\b/;

/** The environment of Jest for Node, which skips the tests of a file after the first failure. */
export default class MutationEnvironment extends TestEnvironment {
  #failed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
    if (name === 'test_start' && (this.#failed || costly.test(test.name))) test.mode = 'skip';
  }
}
