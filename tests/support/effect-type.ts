/**
 * The types of the effects, by hand: whole by its type.
 */
import type { Effect } from 'gateway-admin-core';

const types = {
  'service.start': true,
  'service.stop': true,
  'service.update': true,
  'listener.create': true,
  'listener.delete': true,
  'server.update': true,
  'monitor.start': true,
  'monitor.stop': true,
  'monitor.update': true,
  'logs.flush': true,
  'sessions.close': true,
  'connections.close': true,
  'filter.update': true,
  'server.create': true,
  'server.delete': true,
  'service.create': true,
  'service.delete': true,
  'monitor.create': true,
  'monitor.delete': true,
  'filter.create': true,
  'filter.delete': true,
} satisfies Record<Effect['type'], true>;

/** Every type of effect. */
export const effectTypes = Object.keys(types) as readonly Effect['type'][];
