/**
 * What each endpoint takes and gives, as types: most follows from the table of endpoints.
 */
import type { endpoints } from '../http/endpoint.ts';
import type { GatewayDocument, Module, Operation, Sealed } from '../index.ts';
import type { AlertRepresentation } from '../resources/alert.ts';
import type { CommandRepresentation } from '../resources/command.ts';
import type { ConnectionRepresentation } from '../resources/connection.ts';
import type { DrainOptions } from '../resources/drain.ts';
import type { FilterRepresentation } from '../resources/filter.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import type { InstanceRepresentation } from '../resources/gateway.ts';
import type { HistoryEntryRepresentation } from '../resources/history.ts';
import type { InterfaceRepresentation } from '../resources/interface.ts';
import type { ListenerRepresentation } from '../resources/listener.ts';
import type { LogsRepresentation } from '../resources/log.ts';
import type { MonitorRepresentation } from '../resources/monitor.ts';
import type { ServerRepresentation } from '../resources/server.ts';
import type { ServiceRepresentation } from '../resources/service.ts';
import type { SessionRepresentation, SessionSearch } from '../resources/session.ts';
import type { TaskRepresentation, Threads } from '../resources/telemetry.ts';
import type { UserRepresentation } from '../resources/user.ts';

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
 * The options that find entries of the history. An entry must have all given values.
 *
 * @public
 */
export interface HistorySearch {
  /** Link of a resource that the command has changed, such as `/services/Sales`, or of a collection. */
  readonly resource?: string;
  /** Name of a field that the command has changed, such as `max_connection`. */
  readonly field?: string;
  /** Name of the principal who sent the command. */
  readonly actor?: string;
  /** Type of an event, such as `service.stopped`, or its first word. */
  readonly type?: string;
  /** The earliest time of the settlement, such as `2016-08-29T12:52:31+03:00`. */
  readonly since?: string;
  /** The time before which the command was settled. */
  readonly before?: string;
}

/**
 * The options that say how far a document goes.
 *
 * @public
 */
export interface DocumentExtent {
  /** Whether the resources that the document lacks are deleted, of the kinds that it has. */
  readonly prune?: boolean;
  /** The collections to compare, with commas between them, such as `services,listeners`; all by default. */
  readonly only?: string;
  /** Whether no resource at all may be left. */
  readonly allow_empty?: boolean;
}

/**
 * A command of a sequence, as a request of its own would send the command.
 *
 * @public
 */
export interface SequenceCommand {
  /** The method of the request. */
  readonly method: 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  /** The path of the request, such as `/services/Sales/stop`. */
  readonly path: string;
  /** The body of the request; left out if there is none. */
  readonly body?: unknown;
  /** The entity tag that the resource must have before the first command is made. */
  readonly if_match?: string;
}

/* eslint-disable @typescript-eslint/consistent-type-definitions -- rows of tables, not members to document */
/** The representation of each group: what `list` and `get` give, and the answer of `patch` and `create`. @internal */
type Representations = {
  interface: InterfaceRepresentation;
  services: ServiceRepresentation;
  servers: ServerRepresentation;
  monitors: MonitorRepresentation;
  gateway: InstanceRepresentation;
  sessions: SessionRepresentation;
  filters: FilterRepresentation;
  users: UserRepresentation;
  commands: CommandRepresentation;
  alerts: AlertRepresentation;
  history: HistoryEntryRepresentation;
  fleet: FleetNodeRepresentation;
};

/**
 * What follows neither from the group nor from the table of endpoints: the body of the request, the body of the answer
 * or the element of the list, and the options. @internal
 */
type Own = {
  'services.create': { body: Definition<GatewayDocument['services']> };
  'services.listeners': { result: ListenerRepresentation };
  'services.listener': { result: ListenerRepresentation };
  'services.createListener': {
    body: Definition<NonNullable<GatewayDocument['services']>[number]['listeners']>;
    result: ListenerRepresentation;
  };
  'services.sessions': { result: string };
  // What a patch calls `status` is also `state`.
  'servers.patch': { result: ServerRepresentation & { readonly state: ServerRepresentation['status'] } };
  'servers.delete': { options: { readonly detach?: boolean } };
  'servers.connections': { result: ConnectionRepresentation };
  'gateway.threads': { result: Threads };
  'gateway.logs': { result: LogsRepresentation };
  'gateway.tasks': { result: TaskRepresentation; options: object };
  'gateway.modules': { result: Module };
  'sessions.list': { options: Ranged & SessionSearch & { readonly after?: number } };
  'sessions.closeMany': { options: SessionSearch | { readonly all: true } };
  'sessions.connections': { result: ConnectionRepresentation };
  'filters.delete': { options: { readonly detach?: boolean } };
  'users.create': { body: { readonly name: string; readonly password: string }; result: undefined };
  'sequence.send': { body: { readonly commands: readonly SequenceCommand[] } };
  'document.adopt': { body: Plain<Omit<GatewayDocument, 'users'>>; options: DocumentExtent };
  'history.list': { options: Ranged & HistorySearch };
};

/* eslint-enable @typescript-eslint/consistent-type-definitions */
/** What a client defines of a resource: its entry in a gateway document, with secrets in plain text. @internal */
type Definition<List> = NonNullable<List> extends readonly (infer E)[] ? Plain<E> : never;
/** A type with plain text in the place of each secret. @internal */
type Plain<T> = T extends Sealed ? string : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
/** A member of a row of `Own`. @internal */
type Given<Id, Member, Otherwise> = Id extends keyof Own
  ? Member extends keyof Own[Id]
    ? Own[Id][Member]
    : Otherwise
  : Otherwise;

/**
 * Name of an endpoint that answers once, such as `services.stop`. `Client.events` follows the stream of events.
 *
 * @public
 */
export type EndpointId = Exclude<keyof typeof endpoints, 'events.stream'>;

/**
 * The body of the answer of an endpoint, or one element of its list; `undefined` if the answer has no body.
 *
 * @public
 */
export type ResultOf<Id extends EndpointId> = Given<
  Id,
  'result',
  Id extends `${infer Group extends keyof Representations}.${'list' | 'get' | 'patch' | 'create'}`
    ? Representations[Group]
    : undefined
>;

/** The body of a request to an endpoint; `undefined` for an endpoint without a body. @internal */
export type BodyOf<Id extends EndpointId> = Given<
  Id,
  'body',
  Id extends `${infer Collection extends keyof GatewayDocument}.create`
    ? Definition<GatewayDocument[Collection]>
    : Id extends `${string}.drain`
      ? DrainOptions
      : (typeof endpoints)[Id]['method'] extends 'PATCH'
        ? readonly Operation[]
        : undefined
>;

/** The options of an endpoint, besides those of every list or of every command. @internal */
export type OptionsOf<Id extends EndpointId> = Given<
  Id,
  'options',
  (typeof endpoints)[Id]['kind'] extends 'list' ? Ranged : unknown
>;
