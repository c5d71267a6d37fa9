/**
 * What each endpoint takes and gives, as types: most follows from the table of endpoints.
 */
import type { endpoints } from '../http/endpoint.ts';
import type {
  CommandRepresentation,
  ConnectionRepresentation,
  Drain,
  FilterRepresentation,
  GatewayDocument,
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
import type { AlertRepresentation } from '../resources/alert.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import type { HistoryEntryRepresentation } from '../resources/history.ts';
import type { Threads } from '../resources/telemetry.ts';
import type { SessionSearch } from '../resources/session.ts';

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
export interface Command<B = undefined, R = undefined, O = unknown> {
  /** What the endpoint does. */
  readonly kind: 'command';
  /** The body of the request; `undefined` if there is none. */
  readonly body: B;
  /** The body of the answer; `undefined` if there is none. */
  readonly result: R;
  /** The options, besides those of every command. */
  readonly options: O;
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

/** A collection whose resources can be created and deleted. @internal */
type Defined = 'services' | 'servers' | 'monitors' | 'filters';
/** The entry of a resource in a gateway document. @internal */
type Entry<C extends Defined> = NonNullable<GatewayDocument[C]>[number];
/** What a client defines of an entry. Secrets are in plain text, so sealed ones have no place. @internal */
type WithoutSealed<E> = Omit<E, Extract<keyof E, `${string}Sealed`>>;
/** The definition of a new resource. @internal */
type Definition<C extends Defined> = WithoutSealed<Entry<C>>;
/** The definition of a new listener. @internal */
type ListenerDefinition = WithoutSealed<NonNullable<Entry<'services'>['listeners']>[number]>;

/* eslint-disable @typescript-eslint/consistent-type-definitions -- rows of tables, not members to document */
/** The representation of each group: what `list` and `get` give, and the answer of `patch`. @internal */
type Representations = {
  readonly interface: InterfaceRepresentation;
  readonly services: ServiceRepresentation;
  readonly servers: ServerRepresentation;
  readonly monitors: MonitorRepresentation;
  readonly gateway: InstanceRepresentation;
  readonly sessions: SessionRepresentation;
  readonly filters: FilterRepresentation;
  readonly users: UserRepresentation;
  readonly commands: CommandRepresentation;
  readonly alerts: AlertRepresentation;
  readonly history: HistoryEntryRepresentation;
  readonly fleet: FleetNodeRepresentation;
};

/** What the other endpoints with a body in their answer give. What a patch calls `status` is also `state`. @internal */
type Results = {
  readonly 'users.create': undefined;
  readonly 'servers.patch': ServerRepresentation & { readonly state: ServerRepresentation['status'] };
  readonly 'services.listeners': ListenerRepresentation;
  readonly 'services.listener': ListenerRepresentation;
  readonly 'services.createListener': ListenerRepresentation;
  readonly 'services.sessions': string;
  readonly 'servers.connections': ConnectionRepresentation;
  readonly 'gateway.threads': Threads;
  readonly 'gateway.logs': LogsRepresentation;
  readonly 'gateway.tasks': TaskRepresentation;
  readonly 'gateway.modules': Module;
  readonly 'sessions.connections': ConnectionRepresentation;
};

/** The bodies that are no JSON Patch. @internal */
type Bodies = {
  readonly 'services.create': Definition<'services'> & { readonly password?: string };
  readonly 'services.createListener': ListenerDefinition;
  readonly 'services.drain': Pick<Drain, 'timeout' | 'then' | 'reason'>;
  readonly 'servers.create': Definition<'servers'>;
  readonly 'servers.drain': Pick<Drain, 'timeout' | 'then' | 'reason'>;
  readonly 'monitors.create': Definition<'monitors'>;
  readonly 'filters.create': Definition<'filters'>;
  readonly 'users.create': { readonly name: string; readonly password: string };
  readonly 'sequence.send': { readonly commands: readonly SequenceCommand[] };
};

/** The options of lists that do not have those of every list, and those of commands that have more. @internal */
type Options = Readonly<Record<'servers.delete' | 'filters.delete', { readonly detach?: boolean }>> & {
  readonly 'gateway.tasks': object;
  readonly 'sessions.list': Ranged & SessionSearch & { readonly after?: number };
  readonly 'sessions.closeMany': SessionSearch | { readonly all: true };
  readonly 'history.list': Ranged & HistorySearch;
};

/* eslint-enable @typescript-eslint/consistent-type-definitions */
/** A row of a table. @internal */
type Given<Table, Id, Otherwise> = Id extends keyof Table ? Table[Id] : Otherwise;
/** The body of the answer. @internal */
type ResultOf<Id> = Given<
  Results,
  Id,
  Id extends `${infer Group extends keyof Representations}.${'list' | 'get' | 'patch' | 'create'}`
    ? Representations[Group]
    : undefined
>;
/** The body of the request. @internal */
type BodyOf<Id, Method> = Given<Bodies, Id, Method extends 'PATCH' ? readonly Operation[] : undefined>;

/**
 * Every endpoint, by its name: what it takes and what it gives. The kind and the method come from the table of
 * endpoints.
 *
 * @public
 */
export type Endpoints = {
  [Id in EndpointId]: (typeof endpoints)[Id] extends { readonly kind: 'item' | 'probe' }
    ? Item<ResultOf<Id>>
    : (typeof endpoints)[Id] extends { readonly kind: 'list' }
      ? List<ResultOf<Id>, Given<Options, Id, Ranged>>
      : Command<BodyOf<Id, (typeof endpoints)[Id]['method']>, ResultOf<Id>, Given<Options, Id, unknown>>;
};

/**
 * Name of an endpoint that answers once, such as `services.stop`. `Client.events` follows the stream of events.
 *
 * @public
 */
export type EndpointId = Exclude<keyof typeof endpoints, 'events.stream'>;
