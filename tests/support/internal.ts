/**
 * The door through which the laws and the simulations read the sources: they walk the routes with their functions, the
 * tables of fields, the index of sessions and the batches of closings, and no public entry shows these. A wall that moves
 * in the sources changes this file alone. What can be tested from outside does not come here.
 */
export { Batch } from '../../src/core/batch.ts';
export { applied, changeBetween, conflicts, inverse, joined, merged, pruned } from '../../src/core/change.ts';
export type { Validator } from '../../src/core/content.ts';
export type { Fields } from '../../src/core/field.ts';
export { createTimeFormat } from '../../src/core/time.ts';
export { loadFleetState } from '../../src/fleet/fleet-state.ts';
export { aligned } from '../../src/fleet/aligning.ts';
export type { EntryEvent } from '../../src/resources/history.ts';
export {
  boundRoutes,
  closings,
  effectsOf,
  fieldTables,
  namedResources,
  reportTable,
  restoreConfiguration,
  wholes,
  type BoundResourceRoute,
  type BoundRoute,
} from '../../src/resources/index.ts';
export { drainedOf } from '../../src/resources/shared/drain.ts';
export { servers, services } from '../../src/resources/snapshot.ts';
export { followUsers } from '../../src/resources/user.ts';
export { createHistory } from '../../src/runtime/command/way-back.ts';
export { Entries } from '../../src/runtime/journal/entries.ts';
export { membersOf } from '../../src/runtime/journal/entry-event.ts';
export { JournalState } from '../../src/runtime/journal/journal-state.ts';
export { OwnJournal } from '../../src/runtime/journal/journal.ts';
export { evolving, OwnLog } from '../../src/runtime/journal/log.ts';
export { RecordQueue } from '../../src/runtime/journal/record-queue.ts';
export { watchersOf } from '../../src/runtime/options.ts';
export { changedDrains, put, remove, sessionsOf } from '../../src/snapshot/state.ts';
export { listValidator, validatorOf } from '../../src/snapshot/validator.ts';
