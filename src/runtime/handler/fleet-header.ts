/**
 * The headers with which a node of a fleet answers a command: how far the change has come.
 */
import type { AdminRequest } from '../../http/message.ts';
import { positionOf, type FleetView, type Settled } from '../fleet-view.ts';
import { preferenceOf } from './prefer.ts';
import type { Headers } from './respond.ts';

/** The longest time that a request may wait for the other nodes, in seconds. */
const longestWaitS = 60;

/**
 * Gives the headers for the answer of a command, once the other nodes have followed, if the client prefers to wait.
 *
 * @see RFC 7240 §4.3
 * @internal
 */
export async function fleetHeaders(
  view: FleetView,
  request: AdminRequest,
  execution: Settled,
): Promise<Headers> {
  const position = { 'fleet-position': positionOf(view, execution) };
  const { signal } = request;
  const waitS = preferredWait(request);
  if (waitS === undefined) return position;
  const waiting = { waitMs: waitS * 1000, ...(signal === undefined ? {} : { signal }) };
  const outcomes = await view.settle(execution, waiting);
  const named = (wanted: string): string =>
    outcomes.flatMap(({ node, outcome }) => (outcome === wanted ? [node] : [])).join(', ');
  const found = ['applied', 'behind', 'waiting'].map(
    (outcome) => [`fleet-${outcome}`, named(outcome)] as const,
  );
  return {
    ...position,
    'preference-applied': `wait=${String(waitS)}`,
    ...Object.fromEntries(found.filter(([, names]) => names !== '')),
  };
}

/** The seconds that a client prefers to wait. */
function preferredWait(request: AdminRequest): number | undefined {
  const given = preferenceOf(request, 'wait');
  return given !== undefined && /^\d+$/.test(given) ? Math.min(Number(given), longestWaitS) : undefined;
}
