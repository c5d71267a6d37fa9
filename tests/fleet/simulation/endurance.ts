/**
 * One part of a fleet fails for ever, and nothing else does: what is wrong with the nodes that are left.
 */
import { nameKey, type Snapshot } from 'gateway-admin-core';

import { doubtfulIn, misreportedIn, unanswered, unsettledIn, type Break } from '../../simulation/breakage.ts';
import type { Node, Running } from './node.ts';

/** A node that is dead, a gateway that never answers for one service, the store of all, or a clock that stands. Fleets with audit sinks are others. */
export const fleetParts = ['node', 'gateway', 'store', 'clock'] as const;

/** What fails for ever, and where; a store fails at every node. */
export interface FleetBreak {
  readonly part: (typeof fleetParts)[number] | 'audit';
  readonly broken: Node;
}

/**
 * What should have settled at a node although a part fails.
 *
 * @param living - the nodes that are not dead
 */
export async function unsettledAt(
  node: Node,
  living: readonly Node[],
  drains: readonly string[],
  { part, broken }: FleetBreak,
): Promise<readonly string[]> {
  if (node.running === undefined) return ['it is not open'];
  const { gateway, running } = node;
  const { admin } = running;
  const here: Break = {
    // Each node has its own audit sink.
    part: part === 'audit' && node !== broken ? undefined : part,
    // The clocks of nodes differ.
    brokenAt: Number.POSITIVE_INFINITY,
    drains: drains.map((text) => `/${text}`),
    ...(part === 'node' ? { silent: broken.name } : {}),
    // Without the store, nobody is heard.
    ...(part === 'store' ? {} : { ahead: clocksAround(node, living) }),
  };
  const elsewhere = part === 'gateway' ? doubtfulAt(broken, here) : [];
  const around = { ...here, elsewhere: [...elsewhere, ...inUse(admin)] };
  const [own] = admin.fleet.nodes();
  const behind = (own?.behind ?? [])
    .filter((lag) => !isInUse(lag))
    .filter(({ resource }) => node !== broken || !elsewhere.includes(nameKey(resource)));
  return [
    ...(node.waits ? ['it owes answers'] : []),
    ...behind.map((lag) => `it is behind: ${JSON.stringify(lag)}`),
    ...unsettledIn(admin, gateway, gateway.differences(admin.snapshot), around),
    ...(await misreportedIn(admin, gateway, around)),
  ];
}

/** How far the time of each other node is ahead of that of a node, in milliseconds. */
function clocksAround(node: Node, living: readonly Node[]): Readonly<Record<string, number>> {
  const others = living.filter((each) => each !== node);
  return Object.fromEntries(others.map((other) => [other.name, other.now - node.now]));
}

/** The links of what nobody knows at a node, and of the changes that wait for that. */
function doubtfulAt({ running, gateway }: Node, broken: Break): readonly string[] {
  if (running === undefined) return [];
  const { admin } = running;
  const behind = admin.fleet.nodes()[0]?.behind ?? [];
  const waiting = behind.filter(
    ({ resource, detail = '' }) =>
      admin.commands().some(({ id }) => detail.includes(id)) || isListed(admin.snapshot, nameKey(resource)),
  );
  return [...doubtfulIn(admin, gateway, broken), ...waiting.map(({ resource }) => nameKey(resource))];
}

/** Whether the service for which a broken gateway never answers still lists something: it cannot be deleted as long. */
function isListed({ services }: Snapshot, link: string): boolean {
  const { servers = [], filters = [] } = services.find(unanswered.slice('/services/'.length))?.settings ?? {};
  return [...servers, ...filters].map(nameKey).includes(link);
}

/** The links of what some node cannot delete while clients use it there. */
function inUse({ fleet }: Running['admin']): readonly string[] {
  return fleet
    .nodes()
    .flatMap(({ behind }) => behind.filter(isInUse).map(({ resource }) => nameKey(resource)));
}

/** Whether a node does not follow because clients use there what is to be deleted. */
export function isInUse({ detail = '' }: { readonly detail?: string }): boolean {
  return detail.includes('has open');
}
