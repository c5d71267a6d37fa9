/**
 * Counting sessions anew: whether the indexes of a session table say what its sessions say.
 */
import type { Snapshot } from 'gateway-admin-core';

import { sessionsOf } from './internal.ts';

/** A service or server that drains. */
export interface DrainingResource {
  readonly collection: 'services' | 'servers';
  readonly key: string;
}

/** What the indexes of the session table say otherwise than a count of its sessions. */
export function miscounts(snapshot: Snapshot): readonly string[] {
  const { services, servers } = snapshot;
  const sessions = sessionsOf(snapshot);
  const all = [...sessions];
  const wrong: string[] = [];
  const compare = (what: string, said: unknown, counted: unknown): void => {
    const [one, other] = [JSON.stringify(said), JSON.stringify(counted)];
    if (one !== other) wrong.push(`${what}: ${one} instead of ${other}`);
  };
  const ids = all.map(({ id }) => id);
  compare('size', sessions.size, all.length);
  compare(
    'order',
    ids,
    ids.toSorted((a, b) => a - b),
  );
  compare('draining', snapshot.draining, drainsOf(snapshot).length);
  for (const { key } of services) {
    const open = all.filter(({ service }) => service === key);
    compare(`sessions on ${key}`, sessions.countOfService(key), open.length);
    compare(`sessions listed for ${key}`, sessions.rangeOfService(key, 0, Infinity), open);
    compare(`more than ever opened on ${key}`, sessions.totalOfService(key) < open.length, false);
  }
  for (const { key } of servers) {
    const open = all.flatMap(({ id: session, connections }) =>
      connections.filter(({ server }) => server === key).map(({ id }) => ({ session, id })),
    );
    const listed = sessions
      .connectionsOfServer(key, 0, Infinity)
      .map(({ session, connection }) => ({ session: session.id, id: connection.id }));
    compare(`connections to ${key}`, sessions.countOfServer(key), open.length);
    compare(`connections listed for ${key}`, listed, open);
  }
  const total = [...services].reduce((sum, { key }) => sum + sessions.totalOfService(key), 0);
  compare('total', sessions.total, total);
  return wrong;
}

/** What drains, by the settings of every service and server. */
export function drainsOf(snapshot: Snapshot): readonly DrainingResource[] {
  return (['services', 'servers'] as const).flatMap((collection) =>
    [...snapshot[collection]]
      .filter(({ settings }) => 'drain' in settings)
      .map(({ key }) => ({ collection, key })),
  );
}

/** What is left on a service or server, by a walk over all sessions. */
export function countLeft(
  { sessions }: Snapshot,
  { collection, key }: DrainingResource,
): { readonly sessions: number; readonly connections: number } {
  const own = [...sessions].filter(({ service, connections }) =>
    collection === 'services' ? service === key : connections.some(({ server }) => server === key),
  );
  const open = own.flatMap(({ connections }) =>
    connections.filter(({ server }) => collection === 'services' || server === key),
  );
  return { sessions: own.length, connections: open.length };
}
