/**
 * The table of endpoints: the method and the path of each, as data that a client can import alone. Routes take their
 * members from here. For those that change something, a second table says what a person is asked.
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

/**
 * Name of an endpoint that makes a change, such as `services.stop`.
 *
 * @beta
 */
export type CommandId = {
  [Id in EndpointId]: (typeof endpoints)[Id] extends { readonly kind: 'command' } ? Id : never;
}[EndpointId];

/**
 * Name of an act: the endpoint. `interface.hold` is the patch of the interface that begins the read-only mode.
 *
 * @beta
 */
export type ActId = CommandId | 'interface.hold';

/**
 * What a person is asked before an act.
 *
 * @beta
 */
export interface Act {
  /** Whose name the person types in the environment `production`: that of the subject, or that of the gateway. */
  readonly typed: 'subject' | 'gateway' | 'nothing';
  /**
   * Who makes the change in a fleet: all `nodes`, or the `node` that is asked, alone. `fleet` is for a change of the
   * list of nodes.
   */
  readonly scope: 'nodes' | 'node' | 'fleet';
  /** Whether a person is asked everywhere, whatever the plan says. Left out if the plan decides. */
  readonly asks?: true;
  /** How a person asks for the act; left out for an act that needs more than the name of its resource. */
  readonly verb?: Verb;
}

/**
 * The verb of an act that needs the name of its resource alone: the command line has a command with this name, and the
 * page a button.
 *
 * @beta
 */
export interface Verb {
  /** The verb, such as `start`. */
  readonly word: string;
  /** The same in the help of the command line, such as `Starts`. */
  readonly does: string;
  /** A further sentence for the help. */
  readonly note?: string;
  /** The state in which the act would change nothing; left out if there is none. */
  readonly moot?: string;
}

const start: Verb = { word: 'start', does: 'Starts', moot: 'started' };
const stop: Verb = { word: 'stop', does: 'Stops', note: 'Open sessions continue.', moot: 'stopped' };

/**
 * What a person is asked before each act, and how a person asks for it.
 *
 * In the environment `production`, a person types the name of the subject before an act that closes, deletes, stops or
 * drains, and that of the gateway before any other. Nobody types to hold changes off, or to end a drain.
 *
 * @example
 * ```ts
 * import { acts } from 'gateway-admin-core/client';
 *
 * acts['services.stop'].typed; // => 'subject'
 * acts['services.patch'].typed; // => 'gateway'
 * acts['services.resume'].typed; // => 'nothing'
 * ```
 *
 * @beta
 */
export const acts: Readonly<Record<ActId, Act>> = {
  'interface.hold': { typed: 'nothing', scope: 'nodes' },
  'interface.patch': { typed: 'gateway', scope: 'nodes' },
  'services.start': { typed: 'gateway', scope: 'nodes', verb: start },
  'services.stop': { typed: 'subject', scope: 'nodes', verb: stop },
  'services.drain': { typed: 'subject', scope: 'nodes' },
  'services.resume': { typed: 'nothing', scope: 'nodes' },
  'services.patch': { typed: 'gateway', scope: 'nodes' },
  'services.create': { typed: 'gateway', scope: 'nodes' },
  'services.delete': { typed: 'subject', scope: 'nodes' },
  'services.createListener': { typed: 'gateway', scope: 'nodes' },
  'services.deleteListener': { typed: 'subject', scope: 'nodes' },
  'services.closeSessions': { typed: 'subject', scope: 'node' },
  'servers.setMaintenance': { typed: 'gateway', scope: 'nodes' },
  'servers.clearMaintenance': { typed: 'gateway', scope: 'nodes' },
  'servers.drain': { typed: 'subject', scope: 'nodes' },
  'servers.resume': { typed: 'nothing', scope: 'nodes' },
  'servers.patch': { typed: 'gateway', scope: 'nodes' },
  'servers.create': { typed: 'gateway', scope: 'nodes' },
  'servers.delete': { typed: 'subject', scope: 'nodes' },
  'servers.closeConnections': { typed: 'subject', scope: 'node' },
  'monitors.start': { typed: 'gateway', scope: 'nodes', verb: start },
  'monitors.stop': { typed: 'subject', scope: 'nodes', verb: stop },
  'monitors.patch': { typed: 'gateway', scope: 'nodes' },
  'monitors.create': { typed: 'gateway', scope: 'nodes' },
  'monitors.delete': { typed: 'subject', scope: 'nodes' },
  'filters.patch': { typed: 'gateway', scope: 'nodes' },
  'filters.create': { typed: 'gateway', scope: 'nodes' },
  'filters.delete': { typed: 'subject', scope: 'nodes' },
  'sessions.close': { typed: 'subject', scope: 'node' },
  'sessions.closeMany': { typed: 'subject', scope: 'node' },
  'users.create': { typed: 'gateway', scope: 'nodes' },
  'users.patch': { typed: 'gateway', scope: 'nodes' },
  'users.delete': { typed: 'subject', scope: 'nodes' },
  'gateway.flushLogs': { typed: 'gateway', scope: 'node' },
  'commands.abandon': { typed: 'gateway', scope: 'node', asks: true },
  'history.undo': { typed: 'gateway', scope: 'nodes' },
  'history.restore': { typed: 'gateway', scope: 'nodes', asks: true },
  'sequence.send': { typed: 'gateway', scope: 'nodes', asks: true },
  // The name of a document does not say what changes.
  'document.adopt': { typed: 'gateway', scope: 'nodes', asks: true },
  'fleet.retry': { typed: 'gateway', scope: 'node' },
  'fleet.forget': { typed: 'subject', scope: 'fleet', asks: true },
};

/** The members of a route that the table gives. @internal */
export function endpoint<const Id extends EndpointId>(
  id: Id,
): { readonly id: Id } & Pick<(typeof endpoints)[Id], 'kind' | 'method' | 'path'> {
  const { kind, method, path } = endpoints[id];
  return { id, kind, method, path };
}
