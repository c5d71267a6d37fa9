/**
 * The table of endpoints: the method and the path of each, as data that a client can import alone. Routes take their
 * members from here.
 */

/** One endpoint. @internal */
export interface Endpoint {
  /** `item` reads one resource, `list` reads a list, `command` makes a change. */
  readonly kind: 'item' | 'list' | 'command';
  readonly method: 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  /** Canonical path; a segment that starts with `:` is variable. */
  readonly path: string;
}

/** Every endpoint, by its name. @internal */
export const endpoints = {
  'interface.get': { kind: 'item', method: 'GET', path: '/' },
  'interface.patch': { kind: 'command', method: 'PATCH', path: '/' },
  'services.list': { kind: 'list', method: 'GET', path: '/services' },
  'services.get': { kind: 'item', method: 'GET', path: '/services/:name' },
  'services.patch': { kind: 'command', method: 'PATCH', path: '/services/:name' },
  'services.stop': { kind: 'command', method: 'PUT', path: '/service/:name/stop' },
  'services.start': { kind: 'command', method: 'PUT', path: '/service/:name/start' },
  'services.listeners': { kind: 'list', method: 'GET', path: '/services/:name/listeners' },
  'services.sessions': { kind: 'list', method: 'GET', path: '/services/:name/sessions' },
  'services.closeSessions': { kind: 'command', method: 'DELETE', path: '/services/:name/sessions' },
  'servers.list': { kind: 'list', method: 'GET', path: '/servers' },
  'servers.get': { kind: 'item', method: 'GET', path: '/servers/:name' },
  'servers.patch': { kind: 'command', method: 'PATCH', path: '/servers/:name' },
  'servers.connections': { kind: 'list', method: 'GET', path: '/servers/:name/connections' },
  'servers.closeConnections': { kind: 'command', method: 'DELETE', path: '/servers/:name/connections' },
  'monitors.list': { kind: 'list', method: 'GET', path: '/monitors' },
  'monitors.get': { kind: 'item', method: 'GET', path: '/monitors/:name' },
  'monitors.patch': { kind: 'command', method: 'PATCH', path: '/monitor/:name' },
  'monitors.stop': { kind: 'command', method: 'PUT', path: '/monitor/:name/stop' },
  'monitors.start': { kind: 'command', method: 'PUT', path: '/monitor/:name/start' },
  'gateway.get': { kind: 'item', method: 'GET', path: '/gateway' },
  'gateway.threads': { kind: 'item', method: 'GET', path: '/gateway/threads' },
  'gateway.logs': { kind: 'item', method: 'GET', path: '/gateway/logs' },
  'gateway.flushLogs': { kind: 'command', method: 'POST', path: '/gateway/logs/flush' },
  'gateway.tasks': { kind: 'list', method: 'GET', path: '/gateway/tasks' },
  'gateway.modules': { kind: 'list', method: 'GET', path: '/gateway/modules' },
  'sessions.list': { kind: 'list', method: 'GET', path: '/sessions' },
  'sessions.get': { kind: 'item', method: 'GET', path: '/sessions/:id' },
  'sessions.close': { kind: 'command', method: 'DELETE', path: '/sessions/:id' },
  'sessions.connections': { kind: 'list', method: 'GET', path: '/sessions/:id/connections' },
  'filters.list': { kind: 'list', method: 'GET', path: '/filters' },
  'filters.get': { kind: 'item', method: 'GET', path: '/filters/:name' },
  'filters.patch': { kind: 'command', method: 'PATCH', path: '/filter/:name' },
  'users.list': { kind: 'list', method: 'GET', path: '/users' },
  'users.create': { kind: 'command', method: 'PUT', path: '/users' },
  'users.patch': { kind: 'command', method: 'PATCH', path: '/users/:name' },
  'users.delete': { kind: 'command', method: 'DELETE', path: '/users/:name' },
  'commands.list': { kind: 'list', method: 'GET', path: '/commands' },
  'commands.abandon': { kind: 'command', method: 'DELETE', path: '/commands/:id' },
} as const satisfies Readonly<Record<string, Endpoint>>;

/** The name of an endpoint. @internal */
export type EndpointId = keyof typeof endpoints;

/** The members of a route that the table gives. @internal */
export function endpoint<const Id extends EndpointId>(id: Id): { readonly id: Id } & (typeof endpoints)[Id] {
  return { id, ...endpoints[id] };
}
