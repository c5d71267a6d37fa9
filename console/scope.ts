/**
 * Scope: in a fleet, an act changes what all nodes share, or concerns the node that serves the page alone.
 */
import type { Act } from './act.ts';
import { rowsOf, type Model } from './model.ts';
import { text } from './text.ts';

/** The acts that one node does alone: their sessions, connections and logs are its own. */
const ofOneNode: readonly Act['id'][] = [
  'services.closeSessions',
  'servers.closeConnections',
  'sessions.close',
  'sessions.closeMany',
  'gateway.flushLogs',
  'fleet.retry',
];

/** Where an act is done, in words; empty without a fleet. */
export function scopeOf(model: Pick<Model, 'lists'>, { id }: Pick<Act, 'id'>): string {
  const nodes = rowsOf(model, 'fleet');
  if (nodes.length === 0) return '';
  if (!ofOneNode.includes(id)) return text.scope.all(nodes.length);
  // A node hears itself at once.
  return text.scope.one(nodes.find(({ seen }) => seen === 0)?.node ?? '', nodes.length - 1);
}
