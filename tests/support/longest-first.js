import Sequencer from '@jest/test-sequencer';

/** Folders whose files take longest, the longest first. Jest knows durations only from earlier runs on a machine. */
const slowest = [
  'tests/fleet/simulation/',
  'tests/simulation/',
  'tests/system/',
  'tests/ports/postgres-store/',
  'tests/ports/file-store/',
  'tests/ports/file/',
  'tests/properties/',
];

/** Begins with the longest files, so that no worker is left alone with one at the end. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = slowest.findIndex((folder) => path.replaceAll('\\', '/').includes(`/${folder}`));
      return index === -1 ? slowest.length : index;
    };
    // The order of the superclass, by duration or size, stays within a rank.
    return super.sort(tests).toSorted((left, right) => rank(left) - rank(right));
  }
}
