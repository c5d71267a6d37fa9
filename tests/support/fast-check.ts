/**
 * fast-check for the tests: the inputs of a property are the same in each run, so that a run says something about the
 * sources, not about its luck. `PROPERTY_SEED=random` draws others, `PROPERTY_SEED=<whole number>` draws those of a
 * seed.
 */
import * as fc from '../../node_modules/fast-check/lib/cjs/fast-check.js';

const given = process.env['PROPERTY_SEED'] ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });

export * from '../../node_modules/fast-check/lib/cjs/fast-check.js';
export { default } from '../../node_modules/fast-check/lib/cjs/fast-check.js';
