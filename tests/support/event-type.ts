/**
 * What holds of the events of each type. The list is written by hand: a table of the sources cannot show its own faults.
 */
import type { AdminEvent, Effect } from 'gateway-admin-core';

interface EventRow {
  /** What makes the event: a transition, a report of the host or a drain that ends, or the runtime by itself. */
  readonly from: 'command' | 'host' | 'runtime';
  /** The effect that an event needs. */
  readonly effect?: Effect['type'];
  /** The event is about this gateway alone. The nodes of a fleet do not share the event. */
  readonly isOfNode?: true;
}

/** A row for each type of event. */
export const eventTypes: Readonly<Record<AdminEvent['type'], EventRow>> = {
  'service.created': { from: 'command', effect: 'service.create' },
  'service.deleted': { from: 'command', effect: 'service.delete' },
  'service.started': { from: 'command', effect: 'service.start' },
  'service.stopped': { from: 'command', effect: 'service.stop' },
  'service.updated': { from: 'command', effect: 'service.update' },
  'service.reported': { from: 'host' },
  'service.drained': { from: 'host' },
  'listener.created': { from: 'command', effect: 'listener.create' },
  'listener.deleted': { from: 'command', effect: 'listener.delete' },
  'server.created': { from: 'command', effect: 'server.create' },
  'server.deleted': { from: 'command', effect: 'server.delete' },
  'server.updated': { from: 'command', effect: 'server.update' },
  'server.reported': { from: 'host' },
  'server.drained': { from: 'host' },
  'monitor.created': { from: 'command', effect: 'monitor.create' },
  'monitor.deleted': { from: 'command', effect: 'monitor.delete' },
  'monitor.started': { from: 'command', effect: 'monitor.start' },
  'monitor.stopped': { from: 'command', effect: 'monitor.stop' },
  'monitor.updated': { from: 'command', effect: 'monitor.update' },
  'monitor.reported': { from: 'host' },
  'filter.created': { from: 'command', effect: 'filter.create' },
  'filter.deleted': { from: 'command', effect: 'filter.delete' },
  'filter.updated': { from: 'command', effect: 'filter.update' },
  'logs.flushed': { from: 'command', effect: 'logs.flush', isOfNode: true },
  'session.opened': { from: 'host' },
  'session.updated': { from: 'host' },
  'session.closed': { from: 'host' },
  'sessions.closed': { from: 'command', effect: 'sessions.close', isOfNode: true },
  'sessions.completed': { from: 'host' },
  'connection.opened': { from: 'host' },
  'connection.updated': { from: 'host' },
  'connection.closed': { from: 'host' },
  'connections.closed': { from: 'command', effect: 'connections.close', isOfNode: true },
  'user.created': { from: 'command' },
  'user.updated': { from: 'command' },
  'user.rehashed': { from: 'command' },
  'user.deleted': { from: 'command' },
  'interface.updated': { from: 'command' },
  'command.failed': { from: 'runtime', isOfNode: true },
};
