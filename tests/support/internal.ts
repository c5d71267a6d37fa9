/**
 * The door through which the laws and the simulations read the sources: they walk the routes with their functions, the
 * tables of fields, the index of sessions and the parts of decisions, and no public entry shows these. A wall that moves
 * in the sources changes this file alone. A test of one function does not come here: it goes through the outside, or
 * belongs to the room of the function.
 */
export { Batch } from '../../src/core/batch.ts';
export { partsOf } from '../../src/core/decision.ts';
export type { Fields } from '../../src/core/field.ts';
export { createTimeFormat } from '../../src/core/time.ts';
export { level, restoreShared } from '../../src/fleet/shared-history.ts';
export {
  boundRoutes,
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
export { createHistory } from '../../src/runtime/command/way-back.ts';
export { foldRecord } from '../../src/runtime/journal/entry-fold.ts';
export { History } from '../../src/runtime/journal/history.ts';
export { changedDrains, put, remove, sessionsOf } from '../../src/snapshot/state.ts';
