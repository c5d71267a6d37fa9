/**
 * Scope: in a fleet, an act changes what all nodes share, or concerns the node that serves the page alone.
 */
import { acts } from 'gateway-admin-core/client';

import type { Act } from './act.ts';
import { rowsOf, type Model, type Row } from './model.ts';
import { text } from './text.ts';

/** Where an act is done, in words. */
export interface Scope {
  /** Such as `at node one`, or `on all 3 nodes`; empty without a fleet. */
  readonly where: string;
  /** Where what the plan counts is open: ` at node one`; empty without a fleet. */
  readonly counted: string;
  /** What the act means at other nodes. */
  readonly others: readonly string[];
}

type Lists = Pick<Model, 'lists'>;
type Asked = Pick<Act, 'id' | 'row' | 'resources'>;

export function scopeOf(model: Lists, { id, row = id, resources = [] }: Asked): Scope {
  const nodes = rowsOf(model, 'fleet');
  // A node hears itself at once.
  const own = nodes.find(({ seen }) => seen === 0) ?? nodes[0];
  if (own === undefined) return { where: '', counted: '', others: [] };
  const { scope, typed } = acts[row];
  const others = nodes.filter((each) => each !== own);
  const counted = text.scope.counted(own.node);
  if (scope === 'node') {
    // What one node does to a resource is to close what is open there.
    const isClosing = typed === 'subject' && others.length > 0;
    return {
      where: text.scope.one(own.node),
      counted: '',
      others: isClosing ? stayingAt(others, resources) : [],
    };
  }
  if (scope === 'fleet') return { where: text.scope.fleet, counted: '', others: [] };
  const silent = others.filter(({ alive }) => !alive).map(({ node }) => node);
  return {
    where: text.scope.all(nodes.length),
    counted,
    others: silent.length === 0 ? [] : [text.scope.silent(silent)],
  };
}

/** What stays at other nodes: as much of a drain as they have told, and the rest without a number. */
function stayingAt(nodes: readonly Row<'fleet'>[], resources: readonly string[]): readonly string[] {
  const [told, untold] = [new Map<string, string>(), [] as string[]];
  for (const { node, alive, drains } of nodes) {
    const drain = alive ? drains.find((each) => resources.includes(each.resource)) : undefined;
    if (drain === undefined) untold.push(node);
    else told.set(node, text.drain.left(drain.sessions, drain.connections).replace(/ left$/, ''));
  }
  return [
    ...(told.size === 0 ? [] : [text.scope.stay([...told].map(([node, what]) => `${what} at ${node}`))]),
    ...(untold.length === 0 ? [] : [text.scope.unknown(untold)]),
  ];
}

/** What is left of a drain at all nodes that tell, and which ones do not; `undefined` without a fleet. */
export function drainAtNodes(model: Lists, resource: string): string | undefined {
  const nodes = rowsOf(model, 'fleet');
  if (nodes.length < 2) return undefined;
  const heard = nodes.flatMap(({ node, alive, drains }) => {
    const drain = alive ? drains.find((each) => each.resource === resource) : undefined;
    return drain === undefined ? [] : [{ node, ...drain }];
  });
  const sum = (member: 'sessions' | 'connections'): number =>
    heard.reduce((total, each) => total + each[member], 0);
  const silent = nodes
    .filter(({ node }) => !heard.some((each) => each.node === node))
    .map(({ node }) => node);
  const parts = heard.map(
    ({ node, sessions, connections }) => `${String(sessions || connections)} at ${node}`,
  );
  return text.scope.drain(text.drain.left(sum('sessions'), sum('connections')), parts, silent);
}
