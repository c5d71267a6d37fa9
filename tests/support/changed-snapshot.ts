/**
 * A snapshot that has changed: commands and reports about one service, beside things of other kinds that have its name.
 */
import { createSnapshot, evolve, type Snapshot } from 'gateway-admin-core';

import { filter, monitor, server, service, user } from './document-entry.ts';

/**
 * Something of each kind has the name of the service. A session of the service opens, then the service stops, then the
 * session closes, with a revision each.
 */
export function changedSnapshots(): readonly [opened: Snapshot, stopped: Snapshot, closed: Snapshot] {
  const twice = <T extends { readonly name: string }>(entry: T): readonly T[] => [
    entry,
    { ...entry, name: service.name },
  ];
  const before = createSnapshot({
    servers: twice(server),
    services: [service, { ...service, name: 'Stock' }],
    monitors: twice(monitor),
    filters: twice(filter),
    users: twice(user),
  });
  const head = { at: 0, resource: '/services/Sales' };
  const session = { id: 7, state: '', user: '', address: '', service: 'sales', connected: 0 };
  const opened = evolve(before, [{ type: 'session.opened', ...head, ...session }]);
  const stopped = evolve(opened, [
    {
      type: 'service.stopped',
      ...head,
      service: 'sales',
      from: { state: 'started' },
      to: { state: 'stopped' },
    },
  ]);
  const closed = evolve(stopped, [{ type: 'session.closed', ...head, id: 7, connected: 0 }]);
  return [opened, stopped, closed];
}
