/**
 * The table of the nodes of a fleet: a line for each node, and below the table why nodes are behind.
 */
import type { FleetLagRepresentation, FleetNodeRepresentation } from '../index.ts';
import { counted, safeText, type Cells } from './output.ts';

/** A table, with what stands below. */
export interface Table {
  readonly header: Cells;
  readonly rows: readonly Cells[];
  /** Lines below the table. */
  readonly below?: readonly string[];
}

/**
 * Makes the table.
 *
 * @param nodes - nodes in the order of the interface, whose first one is the node that was asked
 * @param first - the position of the first of them in the whole list
 */
export function nodeTable(nodes: readonly FleetNodeRepresentation[], first: number): Table {
  const newest = first === 0 ? nodes[0]?.position : undefined;
  return {
    header: ['node', 'state', 'version', 'configuration', 'seen'],
    rows: nodes.map((node) => [
      safeText(node.node),
      node.alive ? 'alive' : 'silent',
      safeText(node.version),
      configurationOf(node, newest),
      agoOf(node.seen),
    ]),
    below: nodes.flatMap(({ node, behind }) =>
      behind.flatMap((lag) => (lag.detail === undefined ? [] : [safeText(`${node}: ${reasonOf(lag)}`)])),
    ),
  };
}

/** How a node stands to the configuration of the fleet, as far as the node that was asked has read it. */
function configurationOf(
  { behind, differs, position }: FleetNodeRepresentation,
  newest: string | undefined,
): string {
  if (differs) return 'differs';
  const refused = behind.filter(({ code }) => code !== undefined);
  if (refused.length > 0) return `behind at ${counted(refused.length, 'resource')}`;
  if (behind.length > 0) return `follows ${counted(behind.length, 'resource')}`;
  return newest === undefined || position === newest ? 'in step' : 'has not read the last change';
}

function reasonOf({ resource, since, detail = '' }: FleetLagRepresentation): string {
  return `${resource} since ${since}: ${detail}`;
}

/** The longest time in seconds and in minutes. */
const [longestS, longestMin] = [120, 120 * 60];

function agoOf(seconds: number): string {
  // An interface of another version may not say it.
  if (!Number.isFinite(seconds)) return '-';
  if (seconds === 0) return 'now';
  if (seconds <= longestS) return `${String(seconds)} s ago`;
  if (seconds <= longestMin) return `${String(Math.floor(seconds / 60))} min ago`;
  return `${String(Math.floor(seconds / 3600))} h ago`;
}
