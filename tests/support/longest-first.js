import Sequencer from '@jest/test-sequencer';

/** Beginnings of the paths of files that are quick: a person sees soon that the tests run. */
const quick = ['tests/json/'];

/** The same of files that compute long, the longest first. Jest knows durations only from earlier runs. */
const computing = [
  'tests/fleet/simulation/simulation.',
  'tests/simulation/simulation.',
  'tests/fleet/simulation/history.',
  'tests/ports/file-store/',
  'tests/properties/',
];

/** The same of files that take long as well, and wait for processes most of the time. */
const waiting = [
  'tests/system/fleet',
  'tests/system/crash',
  'tests/system/default-gateway',
  'tests/system/',
  'tests/ports/postgres-store/',
  'tests/ports/file/',
  'tests/cli/',
];

/**
 * Begins with the longest files after a few quick ones, so that no worker is left alone with one at the end. Files that
 * wait run beside files that compute, so that no processor is idle.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const others = super.sort(tests);
    const take = (beginnings) =>
      beginnings.flatMap((beginning) => {
        const isMeant = ({ path }) => path.replaceAll('\\', '/').includes(`/${beginning}`);
        return others.filter(isMeant).map((test) => others.splice(others.indexOf(test), 1)[0]);
      });
    const [soon, long, slow] = [take(quick), take(computing), take(waiting)];
    const pairs = Array.from({ length: Math.max(long.length, slow.length) }, (_none, index) => [
      ...long.slice(index, index + 1),
      ...slow.slice(index, index + 1),
    ]);
    return [...soon, ...pairs.flat(), ...others];
  }
}
