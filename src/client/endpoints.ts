/**
 * What each endpoint takes and gives, as types: one row for each row of the endpoint table.
 */
import type { endpoints } from '../http/endpoint.ts';
import type {
  CommandRepresentation,
  ConnectionRepresentation,
  FilterRepresentation,
  InstanceRepresentation,
  InterfaceRepresentation,
  ListenerRepresentation,
  LogsRepresentation,
  Module,
  MonitorRepresentation,
  Operation,
  ServerRepresentation,
  ServiceRepresentation,
  SessionRepresentation,
  TaskRepresentation,
  UserRepresentation,
} from '../index.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import type { Threads } from '../resources/telemetry.ts';

/**
 * An endpoint that reads one resource.
 *
 * @public
 */
export interface Item<R> {
  /** What the endpoint does. */
  readonly kind: 'item';
  /** The representation of the resource. */
  readonly result: R;
}

/**
 * An endpoint that reads a list.
 *
 * @public
 */
export interface List<R, O = Ranged> {
  /** What the endpoint does. */
  readonly kind: 'list';
  /** The representation of one element. */
  readonly element: R;
  /** The options, besides `fields` and `signal`. */
  readonly options: O;
}

/**
 * An endpoint that makes a change.
 *
 * @public
 */
export interface Command<B = undefined, R = undefined> {
  /** What the endpoint does. */
  readonly kind: 'command';
  /** The body of the request; `undefined` if there is none. */
  readonly body: B;
  /** The body of the answer; `undefined` if there is none. */
  readonly result: R;
}

/**
 * The option of a list that can give a part of its elements.
 *
 * @public
 */
export interface Ranged {
  /** Positions of the first and the last wanted element, from 0: `[0, 99]` gives the first 100. */
  readonly range?: readonly [first: number, last: number];
}

/**
 * The options that find sessions. A session must have all given values.
 *
 * @public
 */
export interface SessionSearch {
  /** Name of the service of the session. */
  readonly service?: string;
  /** Name of a server to which the session has a connection. */
  readonly server?: string;
  /** Client user name. */
  readonly user?: string;
  /** Client address. */
  readonly address?: string;
}

/** A server as the answer of its patch shows it: `state` is what a patch calls `status`. @internal */
type PatchedServer = ServerRepresentation & { readonly state: ServerRepresentation['status'] };

/** A JSON Patch. @internal */
type Patch = readonly Operation[];

/**
 * Every endpoint, by its name: what it takes and what it gives.
 *
 * @public
 */
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- rows of a table, not members to document
export type Endpoints = {
  'interface.get': Item<InterfaceRepresentation>;
  'interface.patch': Command<Patch, InterfaceRepresentation>;
  'services.list': List<ServiceRepresentation>;
  'services.get': Item<ServiceRepresentation>;
  'services.patch': Command<Patch, ServiceRepresentation>;
  'services.stop': Command;
  'services.start': Command;
  'services.listeners': List<ListenerRepresentation>;
  'services.sessions': List<string>;
  'services.closeSessions': Command;
  'servers.list': List<ServerRepresentation>;
  'servers.get': Item<ServerRepresentation>;
  'servers.patch': Command<Patch, PatchedServer>;
  'servers.connections': List<ConnectionRepresentation>;
  'servers.closeConnections': Command;
  'monitors.list': List<MonitorRepresentation>;
  'monitors.get': Item<MonitorRepresentation>;
  'monitors.patch': Command<Patch, MonitorRepresentation>;
  'monitors.stop': Command;
  'monitors.start': Command;
  'gateway.get': Item<InstanceRepresentation>;
  'gateway.threads': Item<Threads>;
  'gateway.logs': Item<LogsRepresentation>;
  'gateway.flushLogs': Command;
  'gateway.tasks': List<TaskRepresentation, object>;
  'gateway.modules': List<Module>;
  'sessions.list': List<SessionRepresentation, Ranged & SessionSearch>;
  'sessions.get': Item<SessionRepresentation>;
  'sessions.close': Command;
  'sessions.connections': List<ConnectionRepresentation>;
  'filters.list': List<FilterRepresentation>;
  'filters.get': Item<FilterRepresentation>;
  'filters.patch': Command<Patch, FilterRepresentation>;
  'users.list': List<UserRepresentation>;
  'users.create': Command<{ readonly name: string; readonly password: string }>;
  'users.patch': Command<Patch, UserRepresentation>;
  'users.delete': Command;
  'commands.list': List<CommandRepresentation>;
  'commands.abandon': Command;
  'fleet.list': List<FleetNodeRepresentation>;
  'fleet.retry': Command;
  'fleet.forget': Command;
};

/**
 * Name of an endpoint that answers once, such as `services.stop`. `Client.events` follows the stream of events.
 *
 * @public
 */
export type EndpointId = Exclude<keyof typeof endpoints, 'events.stream'>;
