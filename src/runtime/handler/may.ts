/**
 * May: what the caller of a request may do now with the resource that the request reads (`?may=true`).
 *
 * Nothing is kept: the answer depends on the caller, the mode, the gateway and the state of this moment.
 */
import type { May, Route } from '../../http/route.ts';
import type { Problem } from '../../problem.ts';
import { boundRoutes, type BoundRoute } from '../../resources/index.ts';
import { isAction, isWhole } from '../../resources/shared/route.ts';
import { refuseAbility } from '../command/support.ts';
import { refusalTo } from './access.ts';
import type { Arrival } from './arrival.ts';
import type { Running } from '../running.ts';
import { noQuery } from './query.ts';
import { act, command } from './write.ts';

type Command = Extract<BoundRoute, { readonly kind: 'command' }>;

/**
 * Says of each command at the path of a resource, or below that path, whether the caller may use the command now.
 * @internal
 */
export async function mayOf({ path }: Route, arrival: Arrival, running: Running): Promise<readonly May[]> {
  const rows: May[] = [];
  for (const route of boundRoutes) {
    if (!isCommandAt(path, route)) continue;
    const problem = await problemOf(route, arrival, running);
    const { id } = route;
    rows.push(
      problem === undefined
        ? { id, allowed: true }
        : { id, allowed: false, code: problem.code, detail: problem.detail },
    );
  }
  return rows;
}

/**
 * Whether a route is a command at a path, or below without one more parameter: such a command is asked at its own path.
 */
function isCommandAt(path: string, route: BoundRoute): route is Command {
  const start = path.replace(/\/?$/, '/');
  return (
    route.kind === 'command' &&
    [route.path, ...route.aliases].some(
      (each) => each === path || (each.startsWith(start) && !each.slice(start.length).includes(':')),
    )
  );
}

/** The problem that a command of the caller would be refused with now, as far as that follows without its contents. */
async function problemOf(route: Command, arrival: Arrival, running: Running): Promise<Problem | undefined> {
  const { caller, parameters } = arrival;
  const usage = { route, parameters, query: noQuery.value };
  const refused =
    refusalTo(caller.principal, running, usage, running.writer.snapshot) ??
    running.writer.refuseClosed()?.problem;
  if (refused !== undefined) return refused;
  if (isWhole(route)) return undefined;
  const { method, mediaTypes, mayLackBody, search } = route;
  if (mediaTypes.length > 0 && mayLackBody !== true) {
    // A POST of a definition is a creation, whatever the definition says.
    if (method !== 'POST') return undefined;
    return refuseAbility('create', 'resources', running.gateway);
  }
  // Without criteria, the command itself is refused for that alone.
  if (search.includes('all')) return undefined;
  const query = { ...noQuery.value, dryRun: true };
  const asked = { ...arrival, route, query, body: {}, conditions: {}, attempt: undefined };
  const reply = await (isAction(route) ? act(route, asked, running) : command(route, asked, running));
  return reply.problem;
}
