/**
 * Health: what the page knows to be wrong, without asking for alerts.
 */
import { linkTo } from 'gateway-admin-core';

import { rowsOf, type Model, type Row } from './model.ts';

/** Whether a server takes new sessions, as far as the page knows. */
function isUp({ status, drain }: Pick<Row<'servers'>, 'status' | 'drain'>): boolean {
  return status.length > 0 && !status.includes('maintenance') && drain === undefined;
}

/** How many of the servers that links name take new sessions; `undefined` while the servers were not read. */
export function upOf(
  { lists }: Pick<Model, 'lists'>,
  links: readonly string[],
): { readonly up: number; readonly of: number } | undefined {
  if (lists.servers === undefined || links.length === 0) return undefined;
  const up = new Set(lists.servers.elements.filter(isUp).map(({ name }) => linkTo('servers', name)));
  return { up: links.filter((link) => up.has(link)).length, of: links.length };
}

/** The number of things that the page shows in red. */
export function wrongIn(model: Pick<Model, 'lists'>): number {
  const services = rowsOf(model, 'services').filter(
    ({ state, servers }) => state === 'failed' || (state === 'started' && upOf(model, servers)?.up === 0),
  );
  const servers = rowsOf(model, 'servers').filter(({ status }) => status.length === 0);
  const monitors = rowsOf(model, 'monitors').filter(({ state }) => state === 'failed');
  const nodes = rowsOf(model, 'fleet').filter(({ alive, behind }) => !alive || behind.length > 0);
  const unknown = rowsOf(model, 'commands').filter(({ outcome }) => outcome === 'unknown');
  return [services, servers, monitors, nodes, unknown].reduce((sum, { length }) => sum + length, 0);
}
