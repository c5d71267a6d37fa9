/**
 * The headers with which a node of a fleet answers a command: how far the change has come.
 */
import type { AdminRequest } from '../../http/message.ts';
import { positionOf, type FleetView, type Settled } from '../fleet-view.ts';
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
  { headers, signal }: AdminRequest,
  execution: Settled,
): Promise<Headers> {
  const position = { 'fleet-position': positionOf(view, execution) };
  const waitS = preferredWait(headers['prefer']);
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

/** The seconds of the first preference "wait". A preference that is malformed does not count (RFC 7240 §2). */
function preferredWait(prefer = ''): number | undefined {
  // A comma in a quoted text separates nothing.
  const preferences = prefer.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
  const first = preferences.find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
  const [, seconds, quoted] = /^\s*wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:;|$)/i.exec(first ?? '') ?? [];
  const given = seconds ?? quoted;
  return given === undefined ? undefined : Math.min(Number(given), longestWaitS);
}
