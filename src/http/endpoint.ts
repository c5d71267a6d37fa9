/**
 * The table of endpoints: the method and the path of each, as data that a client can import alone. Routes take their
 * members from here.
 */

/** One endpoint. @internal */
export interface Endpoint {
  /**
   * `item` reads one resource, `list` reads a list, `command` makes a change, `stream` follows the events, `probe`
   * answers with its status alone.
   */
  readonly kind: 'item' | 'list' | 'command' | 'stream' | 'probe';
  readonly method: 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  /** Canonical path; a segment that starts with `:` is variable. */
  readonly path: string;
  /** Media type of the body that clients send; left out if there is no body. */
  readonly body?: string | undefined;
}

type Method = Endpoint['method'];

const item = <P extends string>(path: P) => ({ kind: 'item', method: 'GET', path }) as const;
const list = <P extends string>(path: P) => ({ kind: 'list', method: 'GET', path }) as const;
const command = <M extends Method, P extends string, B extends string>(method: M, path: P, body?: B) =>
  ({ kind: 'command', method, path, body }) as const;
const creation = <P extends string>(path: P) => command('POST', path, 'application/json');
const patch = <P extends string>(path: P) => command('PATCH', path, 'application/json-patch+json');

/** Every endpoint, by its name. @internal */
export const endpoints = {
  'interface.get': item('/'),
  'interface.patch': patch('/'),
  'interface.ready': { kind: 'probe', method: 'GET', path: '/ready' } as const,
  'services.list': list('/services'),
  'services.get': item('/services/:name'),
  'services.patch': patch('/services/:name'),
  'services.create': creation('/services'),
  'services.delete': command('DELETE', '/services/:name'),
  'services.stop': command('PUT', '/service/:name/stop'),
  'services.start': command('PUT', '/service/:name/start'),
  'services.drain': command('PUT', '/service/:name/drain', 'application/json'),
  'services.resume': command('PUT', '/service/:name/resume'),
  'services.listeners': list('/services/:name/listeners'),
  'services.listener': item('/services/:name/listeners/:listener'),
  'services.createListener': creation('/services/:name/listeners'),
  'services.deleteListener': command('DELETE', '/services/:name/listeners/:listener'),
  'services.sessions': list('/services/:name/sessions'),
  'services.closeSessions': command('DELETE', '/services/:name/sessions'),
  'servers.list': list('/servers'),
  'servers.get': item('/servers/:name'),
  'servers.patch': patch('/servers/:name'),
  'servers.create': creation('/servers'),
  'servers.delete': command('DELETE', '/servers/:name'),
  'servers.drain': command('PUT', '/server/:name/drain', 'application/json'),
  'servers.resume': command('PUT', '/server/:name/resume'),
  'servers.setMaintenance': command('PUT', '/servers/:name/maintenance'),
  'servers.clearMaintenance': command('DELETE', '/servers/:name/maintenance'),
  'servers.connections': list('/servers/:name/connections'),
  'servers.closeConnections': command('DELETE', '/servers/:name/connections'),
  'monitors.list': list('/monitors'),
  'monitors.get': item('/monitors/:name'),
  'monitors.patch': patch('/monitor/:name'),
  'monitors.create': creation('/monitors'),
  'monitors.delete': command('DELETE', '/monitors/:name'),
  'monitors.stop': command('PUT', '/monitor/:name/stop'),
  'monitors.start': command('PUT', '/monitor/:name/start'),
  'gateway.get': item('/gateway'),
  'gateway.threads': item('/gateway/threads'),
  'gateway.logs': item('/gateway/logs'),
  'gateway.flushLogs': command('POST', '/gateway/logs/flush'),
  'gateway.tasks': list('/gateway/tasks'),
  'gateway.modules': list('/gateway/modules'),
  'sessions.list': list('/sessions'),
  'sessions.get': item('/sessions/:id'),
  'sessions.closeMany': command('DELETE', '/sessions'),
  'sessions.close': command('DELETE', '/sessions/:id'),
  'sessions.connections': list('/sessions/:id/connections'),
  'filters.list': list('/filters'),
  'filters.get': item('/filters/:name'),
  'filters.patch': patch('/filter/:name'),
  'filters.create': creation('/filters'),
  'filters.delete': command('DELETE', '/filters/:name'),
  'fleet.list': list('/fleet'),
  'fleet.retry': command('POST', '/fleet/behind/retry'),
  'fleet.forget': command('DELETE', '/fleet/:node'),
  'users.list': list('/users'),
  'users.create': command('PUT', '/users', 'application/json'),
  'users.patch': patch('/users/:name'),
  'users.delete': command('DELETE', '/users/:name'),
  'sequence.send': command('POST', '/sequence', 'application/json'),
  'document.adopt': command('POST', '/document', 'application/json'),
  'commands.list': list('/commands'),
  'commands.abandon': command('DELETE', '/commands/:id'),
  'alerts.list': list('/alerts'),
  'history.list': list('/history'),
  'history.get': item('/history/:id'),
  'history.undo': command('PUT', '/history/:id/undo'),
  'history.restore': command('PUT', '/history/:id/restore'),
  'events.stream': { kind: 'stream', method: 'GET', path: '/events' } as const,
} satisfies Readonly<Record<string, Endpoint>>;

/** The name of an endpoint. @internal */
export type EndpointId = keyof typeof endpoints;

/** The members of a route that the table gives. @internal */
export function endpoint<const Id extends EndpointId>(
  id: Id,
): { readonly id: Id } & Pick<(typeof endpoints)[Id], 'kind' | 'method' | 'path'> {
  const { kind, method, path } = endpoints[id];
  return { id, kind, method, path };
}
