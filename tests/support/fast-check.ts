/**
 * fast-check for the tests. The inputs of a property are the same in each run, so that a run says something about the
 * sources, not about its luck. `PROPERTY_SEED=random` draws others, `PROPERTY_SEED=<whole number>` draws those of a
 * seed.
 *
 * A property runs as often as it says, 500 times at most: a tenth always, and the others while there is time, so that no
 * test fails because a machine is slow. A property that was cut says so. `PROPERTY_RUNS=many` makes ten times these runs,
 * and as many as the property says, `PROPERTY_RUNS=least` the least runs alone.
 */
import * as fc from '../../node_modules/fast-check/lib/cjs/fast-check.js';

const { PROPERTY_SEED: givenSeed = '1', PROPERTY_RUNS: givenRuns } = process.env;
if (givenSeed !== 'random') fc.configureGlobal({ seed: Number(givenSeed) });

/** How long a property may take until it is cut, in milliseconds. */
const budgetMs = givenRuns === 'many' ? Infinity : givenRuns === 'least' ? 0 : 1500;

/** The number of runs that fast-check makes where a property does not say it. */
const usualRuns = 100;

export * from '../../node_modules/fast-check/lib/cjs/fast-check.js';

/** `fc.assert`, with a budget of time. */
export function assert<Given>(
  property: fc.IAsyncProperty<Given>,
  parameters?: fc.Parameters<Given>,
): Promise<void>;
export function assert<Given>(property: fc.IProperty<Given>, parameters?: fc.Parameters<Given>): void;
export function assert<Given>(
  property: fc.IRawProperty<Given>,
  parameters: fc.Parameters<Given> = {},
): unknown {
  const said = parameters.numRuns ?? usualRuns;
  const usual = Math.min(said, 500);
  const runs = givenRuns === 'many' ? Math.max(said, 10 * usual) : usual;
  const least = Math.ceil(runs / 10);
  const end = performance.now() + budgetMs;
  const first: unknown = fc.assert(property, { ...parameters, numRuns: least });
  const goOn = (): unknown => more(property, parameters, runs - least, end);
  return first instanceof Promise ? first.then(goOn) : goOn();
}

/** Runs a property on while there is time, with other inputs. */
function more<Given>(
  property: fc.IRawProperty<Given>,
  { examples: _tried, ...parameters }: fc.Parameters<Given>,
  numRuns: number,
  end: number,
): unknown {
  const leftMs = end - performance.now();
  if (leftMs <= 0) sayCut(0, numRuns);
  if (leftMs <= 0 || numRuns === 0) return undefined;
  const { seed = fc.readConfigureGlobal().seed } = parameters;
  return fc.assert(property, {
    ...parameters,
    ...(seed === undefined ? {} : { seed: seed + 1 }),
    numRuns,
    ...(leftMs === Infinity ? {} : { interruptAfterTimeLimit: leftMs, markInterruptAsFailure: false }),
    reporter: (details) => {
      // A property that was cut before its first run counts as failed, without an input that fails.
      const isCut = details.interrupted && details.counterexample === null;
      if (isCut) sayCut(details.numRuns, numRuns);
      else if (details.failed)
        throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
    },
  });
}

function sayCut(done: number, runs: number): void {
  const text = `A property was cut after its least runs and ${String(done)} of ${String(runs)} others.\n`;
  process.stderr.write(text);
}
