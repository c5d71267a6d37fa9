/**
 * The tests of `openAdmin` with a store, on a fleet of one node. What differs is listed here, with the reason.
 */
import { afterAll, expect } from '@jest/globals';

import '../runtime/command/recovery.test.ts';
import '../runtime/journal/store.test.ts';
import '../runtime/life.test.ts';
import { openOneNode } from '../support/one-node-fleet.ts';

/** A fleet begins at revision 0, and command ids and epochs have the life of the node. */
const lives = [
  'an interface with a store starts at the revision of the given snapshot if the store is empty',
  'an interface with a store uses no event id and no command id twice, and goes on behind the last stored revision',
  'an interface with a store appends the number of the life to an epoch from the host',
];

/**
 * Closing sessions and flushing logs are commands to one node: they are not in the log, and a restart does not find
 * them.
 */
const ownCommands = [
  'a store that fails for a while before the next batch of a teardown: it says how much is done, and the next life has nothing to end',
  'an interface with a store appends the records of concurrent commands in one call',
];

/** The document of a node is for the first start of a fleet, and for what belongs to the node. */
const documents = [
  'a start with a document that differs from the store lists 20 places at most, and counts the others',
  'a start with a document that differs from the store tells of passwords without their values, in the message and in a console',
];

/**
 * The tests count calls or look at records. A fleet does not compact at each start, and ends a command with a
 * settlement.
 */
const calls = [
  'an abandoned command is not inspected at the next start about the part that has settled',
  'an open command of an earlier life ends if its last part was refused, and the process ended before what stood of it was taken back',
];

const except = [...lives, ...ownCommands, ...documents, ...calls];
const met = openOneNode(new Set(except));

afterAll(() => {
  expect([...met].sort()).toEqual([...except].sort());
});
