/**
 * The node view: what a node shows of the nodes of its fleet.
 */
import type { Behind } from '../resources/command.ts';
import type { FleetLag, FleetNode, NodeClock } from '../resources/fleet.ts';
import type { Agreement } from './agreement.ts';
import type { Members, OwnStatus } from './members.ts';

/** What {@link nodesIn} needs of a node. */
interface ViewingNode {
  readonly node: string;
  readonly members: Members;
  readonly leaseMs: number;
  readonly agreement: Agreement;
}

/** Gives every node of a fleet, the one that shows them first. @internal */
export function nodesIn(own: ViewingNode, status: OwnStatus): readonly FleetNode[] {
  const { node, members } = own;
  const others = Array.from(members.others, ([name, member]) =>
    nodeOf(name, member.status, members.sinceHeard(member), own),
  );
  return [nodeOf(node, status, 0, own), ...others];
}

function nodeOf(
  node: string,
  { version, position, applied, behind, drains }: OwnStatus,
  sinceHeardMs: number,
  { leaseMs, agreement }: ViewingNode,
): FleetNode {
  // By the clock of this node alone: a node that is cut off must not show the others as alive for ever.
  const heard = { alive: sinceHeardMs < leaseMs, seen: Math.floor(sinceHeardMs / 1000) };
  const differs = agreement.differs(node);
  return Object.freeze({ node, version, ...heard, position, applied, behind, drains, differs });
}

/** Gives the clocks of the nodes that live, as far as they are known. @internal */
export function clocksIn({
  members,
  leaseMs,
}: Pick<ViewingNode, 'members' | 'leaseMs'>): readonly NodeClock[] {
  return [...members.others].flatMap(([node, member]) => {
    const aheadMs = members.sinceHeard(member) < leaseMs ? members.aheadBy(member) : undefined;
    return aheadMs === undefined ? [] : [{ node, aheadMs }];
  });
}

/** Gives what a node announces of a resource at which it is behind. @internal */
export function lagOf({ resource, since, problem }: Behind): FleetLag {
  return problem === undefined
    ? { resource, since }
    : { resource, since, code: problem.code, detail: problem.detail };
}
