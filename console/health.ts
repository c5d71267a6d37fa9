/**
 * Health: how each thing is, as far as the page knows without asking for alerts.
 */
import { linkTo } from 'gateway-admin-core';

import { rowsOf, type Collection, type Model, type Row } from './model.ts';
import { text } from './text.ts';

/**
 * How a thing is, the worst first: wrong, on its way or in part, well, stopped by a person. A filter or a user has no
 * state.
 */
export const tones = ['bad', 'warn', 'ok', 'off', 'none'] as const;
export type Tone = (typeof tones)[number];

type State = keyof typeof text.state;

export interface Health {
  readonly tone: Tone;
  /** The state, by which a list can be filtered: a key of the words for it. */
  readonly state: State;
  /** The servers that take no new sessions. */
  readonly lost?: readonly string[];
}

type Lists = Pick<Model, 'lists'>;

/** Whether a server takes new sessions, as far as the page knows. */
function isUp({ status, drain }: Row<'servers'>): boolean {
  return status.length > 0 && !status.includes('maintenance') && drain === undefined;
}

/** The servers of each reading by link: made once, and asked by each row. */
const known = new WeakMap<readonly Row<'servers'>[], ReadonlyMap<string, Row<'servers'>>>();

function serversIn(model: Lists): ReadonlyMap<string, Row<'servers'>> {
  const servers = rowsOf(model, 'servers');
  const byLink = known.get(servers) ?? new Map(servers.map((each) => [linkTo('servers', each.name), each]));
  known.set(servers, byLink);
  return byLink;
}

/** The server at a link; `undefined` if the page does not know it. */
export function serverOf(model: Lists, link: string): Row<'servers'> | undefined {
  return serversIn(model).get(link);
}

/** Whether the server at a link takes new sessions, as far as the page knows. */
export function isUpAt(model: Lists, link: string): boolean {
  const server = serverOf(model, link);
  return server !== undefined && isUp(server);
}

/** Which of the servers that links name take no new sessions; `undefined` while the page does not know. */
export function lostOf(model: Lists, links: readonly string[]): readonly string[] | undefined {
  if (model.lists.servers === undefined || links.length === 0) return undefined;
  return links.filter((link) => !isUpAt(model, link));
}

/** From which share of its limit on a service is nearly full. */
const nearlyFull = 0.9;

/** How a thing is, by its list. */
const healths: { readonly [C in Collection]?: (row: Row<C>, model: Lists) => Health } = {
  services(row, model) {
    const { state, drain, servers, current_connections: count, max_connection: limit = 0 } = row;
    if (state === 'failed') return { tone: 'bad', state: 'failed' };
    if (drain !== undefined) return { tone: 'warn', state: 'draining' };
    if (state !== 'started') return { tone: 'off', state: 'stopped' };
    const lost = lostOf(model, servers) ?? [];
    if (lost.length > 0)
      return lost.length === servers.length
        ? { tone: 'bad', state: 'dark', lost }
        : { tone: 'warn', state: 'half', lost };
    return limit > 0 && count >= nearlyFull * limit
      ? { tone: 'warn', state: 'full' }
      : { tone: 'ok', state: 'started' };
  },
  servers({ status, drain }) {
    if (status.length === 0) return { tone: 'bad', state: 'down' };
    if (drain !== undefined) return { tone: 'warn', state: 'draining' };
    return status.includes('maintenance')
      ? { tone: 'warn', state: 'maintenance' }
      : { tone: 'ok', state: 'running' };
  },
  monitors({ state }) {
    if (state === 'failed') return { tone: 'bad', state: 'failed' };
    return state === 'started' ? { tone: 'ok', state: 'started' } : { tone: 'off', state: 'stopped' };
  },
  fleet({ alive, behind }) {
    if (!alive) return { tone: 'bad', state: 'silent' };
    return behind.length > 0 ? { tone: 'warn', state: 'behind' } : { tone: 'ok', state: 'alive' };
  },
};

/** How a row of a list is. */
export function healthOf(model: Lists, collection: Collection, row: object): Health {
  const find = healths[collection] as ((row: object, model: Lists) => Health) | undefined;
  return find?.(row, model) ?? { tone: 'none', state: 'none' };
}

/** Whether something is wrong with it, or only in part well. */
export function isWrong({ tone }: Pick<Health, 'tone'>): boolean {
  return tone === 'bad' || tone === 'warn';
}

/** The number of things that the page shows in red. */
export function wrongIn(model: Lists): number {
  const red = (Object.keys(healths) as Collection[]).flatMap((collection) =>
    rowsOf(model, collection).filter((row) => healthOf(model, collection, row).tone === 'bad'),
  );
  const unknown = rowsOf(model, 'commands').filter(({ outcome }) => outcome === 'unknown');
  return red.length + unknown.length;
}
