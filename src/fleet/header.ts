/**
 * The headers with which a node of a fleet answers a command: how far the change has come.
 */
import type { AdminRequest } from '../http/message.ts';
import { preferenceOf } from '../runtime/handler/prefer.ts';
import type { Headers } from '../runtime/handler/respond.ts';
import type { FleetOutcome } from './fleet.ts';
import type { Awaiting } from './awaiting-nodes.ts';

/** The longest time that a request may wait for the other nodes, in seconds. */
const longestWaitS = 60;

/**
 * Gives the headers for the answer of a command, once the other nodes have followed, if the client prefers to wait.
 *
 * @see RFC 7240 §4.3
 * @internal
 */
export async function fleetHeaders(
  request: AdminRequest,
  position: string,
  awaitNodes: (where: Awaiting) => Promise<readonly FleetOutcome[]>,
): Promise<Headers> {
  const changed = { 'fleet-position': position };
  const { signal } = request;
  const waitS = preferredWait(request);
  if (waitS === undefined) return changed;
  const waiting = { waitMs: waitS * 1000, ...(signal === undefined ? {} : { signal }) };
  const outcomes = await awaitNodes(waiting);
  const named = (wanted: string): string =>
    outcomes.flatMap(({ node, outcome }) => (outcome === wanted ? [node] : [])).join(', ');
  const found = ['applied', 'behind', 'waiting'].map(
    (outcome) => [`fleet-${outcome}`, named(outcome)] as const,
  );
  return {
    ...changed,
    'preference-applied': `wait=${String(waitS)}`,
    ...Object.fromEntries(found.filter(([, names]) => names !== '')),
  };
}

/** The seconds that a client prefers to wait. */
function preferredWait(request: AdminRequest): number | undefined {
  const given = preferenceOf(request, 'wait');
  return given !== undefined && /^\d+$/.test(given) ? Math.min(Number(given), longestWaitS) : undefined;
}
