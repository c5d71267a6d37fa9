/**
 * The door between the sources and the pages: the tables that `npm run pages` writes pages, `openapi.json` and the JSON
 * schema from.
 *
 * A page shows a table of the sources whole, with columns that are not public, such as the shape of a field. A copy of
 * such a table by hand would be a second place for its facts. The other files of `tests/docs` and `tests/openapi` take
 * the tables from here, so that a file that moves in `src/` changes one file of the tests.
 */
import type { BoundRoute } from '../../src/resources/index.ts';

export { exitCodes } from '../../src/cli/command.ts';
export { commands } from '../../src/cli/commands.ts';
export { isShown, secretNames, type Field, type Fields } from '../../src/core/field.ts';
export { maxNameLength } from '../../src/core/name.ts';
export { mostLinks } from '../../src/core/reference.ts';
export * as shape from '../../src/core/shape.ts';
export { instantText } from '../../src/core/time.ts';
export { maxListedFaults } from '../../src/problem.ts';
export { alertTable } from '../../src/resources/alert.ts';
export {
  boundRoutes,
  effectTable,
  eventTable,
  fieldTables,
  namedResources,
  reportTable,
  sessionDocument,
  wholes,
  type BoundRoute,
} from '../../src/resources/index.ts';
export { metricTable } from '../../src/resources/metric.ts';
export { isAction } from '../../src/resources/shared/route.ts';

/** Whether a route takes commands of other routes. */
export function isSequence(route: BoundRoute): boolean {
  return 'takes' in route && route.takes === 'sequence';
}
