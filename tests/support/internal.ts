/**
 * The door through which `tests/support/` reads the sources: the laws walk the routes with their functions, the tables
 * of fields and the index of sessions, and no public entry shows these. A wall that moves in the sources changes this
 * file alone.
 */
export type { Fields } from '../../src/core/field.ts';
export { createTimeFormat } from '../../src/core/time.ts';
export {
  boundRoutes,
  fieldTables,
  namedResources,
  reportTable,
  wholes,
  type BoundResourceRoute,
  type BoundRoute,
} from '../../src/resources/index.ts';
export { createHistory } from '../../src/runtime/command/way-back.ts';
export { History } from '../../src/runtime/journal/history.ts';
export { sessionsOf } from '../../src/snapshot/state.ts';
