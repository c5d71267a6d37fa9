/**
 * The options of `createGatewayPort`: what a gateway gives for each kind of resource. Types only.
 */
import type { Clock, GatewayPort } from '../ports/port.ts';
import type { FilterSettings } from '../resources/filter.ts';
import type { HostReport } from '../resources/index.ts';
import type { Listener } from '../resources/listener.ts';
import type { MonitorSettings } from '../resources/monitor.ts';
import type { ServerSettings, ServerStatusWord } from '../resources/server.ts';
import type { ServiceSettings } from '../resources/service.ts';
import type { Telemetry } from '../resources/telemetry.ts';
import type { Admin } from '../runtime/admin.ts';

/**
 * A kind of resource that a gateway is brought to.
 *
 * @public
 */
export type Kind = keyof Settings;

/**
 * The settings of each kind. Lists of links are lists of keys.
 *
 * @public
 */
interface Settings {
  /** See {@link ServiceSettings}. */
  readonly service: ServiceSettings;
  /** See {@link ServerSettings}. */
  readonly server: Omit<ServerSettings, 'state'> & {
    /** Whether an administrator has taken the server out of use. Clients write it as a word of `/state`. */
    readonly maintenance: boolean;
  };
  /** See {@link MonitorSettings}. */
  readonly monitor: MonitorSettings;
  /** See {@link FilterSettings}. */
  readonly filter: FilterSettings;
}

/**
 * What every gateway needs of each kind, and no field names.
 *
 * @public
 */
interface Heads {
  /** The listeners have their keys. They are open while the service is started. */
  readonly service: {
    readonly name: string;
    readonly router: string;
    readonly state: 'started' | 'stopped';
    readonly listeners: readonly (Listener & { readonly key: string })[];
  };
  /** `status` is what the monitors have found, for information: no change of it is a reason for a call. */
  readonly server: {
    readonly name: string;
    readonly protocol: string;
    readonly status: readonly ServerStatusWord[];
  };
  /** A monitor looks at its servers while it is started. */
  readonly monitor: {
    readonly name: string;
    readonly module: string;
    readonly state: 'started' | 'stopped';
  };
  /** A filter has its parameters as a field. */
  readonly filter: { readonly name: string; readonly module: string };
}

/**
 * What a gateway can say of each kind, besides the fields.
 *
 * @public
 */
interface Sights {
  /** `listening` has the keys of the listeners that are open. */
  readonly service: { readonly state: 'started' | 'stopped'; readonly listening: readonly string[] };
  /** A server has its fields alone. */
  readonly server: object;
  /** Whether the monitor looks at its servers. */
  readonly monitor: { readonly state: 'started' | 'stopped' };
  /** A filter has its fields alone. */
  readonly filter: object;
}

/**
 * The name of a setting of a kind, such as `max_connection`. The word `maintenance` of the status of a server is the
 * field `maintenance`.
 *
 * @public
 */
export type FieldOf<K extends Kind> = keyof Settings[K] & string;

/**
 * A resource as the gateway must have it: its head, and the fields that the gateway uses. Plain frozen JSON; a secret
 * is `{ sealed }`, to be opened where it is used. Links are keys: `servers` is `['db-1']`. A service that drains is
 * wanted `stopped`.
 *
 * @public
 */
export type Wanted<K extends Kind, F extends FieldOf<K>> = Heads[K] & Pick<Settings[K], F>;

/**
 * A resource as the gateway has it now. A field that is not set is `undefined`.
 *
 * @public
 */
export type Seen<K extends Kind, F extends FieldOf<K>> = Sights[K] & {
  readonly [Name in Exclude<F, 'drain'>]: Settings[K][Name] | undefined;
};

/**
 * What comes with a wanted resource.
 *
 * @public
 */
export interface WantedChange<K extends Kind, F extends FieldOf<K>> {
  /** The key of the resource: see `nameKey`. */
  readonly key: string;
  /** What `apply` has last resolved for; `undefined` if there is no such resource, or if that is not known. */
  readonly before: Wanted<K, F> | undefined;
  /** The names of the members in which the wanted resource and `before` differ; all of them without `before`. */
  readonly members: ReadonlySet<keyof Wanted<K, F>>;
  /** Aborts at the deadline of the command, or after ten seconds without a command. Settle then. */
  readonly signal: AbortSignal;
}

/**
 * One kind of resource: one function and one question.
 *
 * @public
 */
export interface KindOptions<K extends Kind, F extends FieldOf<K>> {
  /**
   * The fields that this gateway uses. A command about another field is refused, in dry runs too. `drain` is listed for
   * services and for servers, or for neither.
   */
  readonly fields: readonly F[];
  /**
   * Brings a resource to what is wanted, from whatever state it is in, also a half-made one. `undefined` is "gone".
   * Called for every change, also at the beginning, and one call at a time for each resource. Resolve when it is done.
   * Throw otherwise: the port then calls again with the state before, so there is nothing to undo. The client reads
   * the message of an error of the system (with `syscall`) or of an `EffectRefusedError`; `observe.onError` of the
   * interface gets any other error.
   */
  apply(wanted: Wanted<K, F> | undefined, change: WantedChange<K, F>): Promise<void> | void;
  /**
   * Gives what the gateway has now; `undefined` for none. Changes nothing. The port compares the answer with what was
   * wanted after each `apply`, and answers `inspect` with it.
   *
   * @param applied - the answer if all is as `apply` has left it; spread it over what the gateway cannot look at
   */
  read(
    key: string,
    applied: Seen<K, F> | undefined,
  ): Seen<K, F> | undefined | Promise<Seen<K, F> | undefined>;
  /**
   * Says why this gateway cannot have a resource, in a sentence; `undefined` if it can. Asked about what a command
   * leads to, an undo included, in dry runs too, and at the beginning; not when a command that has failed is taken
   * back. Synchronous, without effect, and about this resource alone. `veto` is for rules about several.
   */
  refuse?(wanted: Wanted<K, F>, before: Wanted<K, F> | undefined): string | undefined;
}

/**
 * Closes some things. Return at once if that is easier: the port waits for the reports of their ends.
 *
 * @public
 */
export type Closing<T> = (
  list: readonly T[],
  context: { readonly signal: AbortSignal },
) => Promise<void> | void;

/**
 * A session to close. An id may be used again: `connected` is that of the session.
 *
 * @public
 */
export interface ClosedSession {
  /** Id of the session. */
  readonly id: number;
  /** When the session has begun, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
}

/**
 * A connection to close, if it is still on this server.
 *
 * @public
 */
export interface ClosedConnection {
  /** Id of the session. */
  readonly session: number;
  /** When the session has begun, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** Id of the connection. */
  readonly id: number;
  /** The key of the server. */
  readonly server: string;
}

/**
 * The options of `createGatewayPort`. A kind that is left out is refused: the gateway has no such resources.
 *
 * @public
 */
export type GatewayPortOptions<
  S extends FieldOf<'service'>,
  V extends FieldOf<'server'> = never,
  M extends FieldOf<'monitor'> = never,
  F extends FieldOf<'filter'> = never,
> = {
  readonly services: KindOptions<'service', S> & {
    /** The members of a listener that this gateway uses, besides its name and place; none if left out. */
    readonly listenerFields?: readonly Exclude<keyof Listener, 'name' | 'protocol' | 'address' | 'port'>[];
  };
  readonly monitors?: KindOptions<'monitor', M>;
  readonly filters?: KindOptions<'filter', F>;
  /** Closes sessions with all their connections. The port gives those that are still open. */
  readonly closeSessions: Closing<ClosedSession>;
  /** Writes pending messages and reopens the log files. Left out: refused. */
  readonly flushLogs?: (context: { readonly signal: AbortSignal }) => unknown;
  /** Live figures: see {@link Telemetry}. */
  readonly telemetry?: Telemetry;
  /** Ends the gateway, when the port is disposed of. */
  readonly close?: () => unknown;
  /** Gets the errors of the gateway that no command waits for. Left out: the console. */
  readonly onError?: (error: unknown) => void;
  /** The clock of the pauses before a start is tried again; that of the system if left out. */
  readonly clock?: Clock;
} & (
  | { readonly servers?: never }
  /** A session ends with its connection. */
  | {
      readonly servers: KindOptions<'server', V>;
      readonly sessionsEnd: true;
      readonly closeConnections?: never;
    }
  /** A session goes on without a connection. */
  | {
      readonly servers: KindOptions<'server', V>;
      readonly sessionsEnd?: never;
      readonly closeConnections: Closing<ClosedConnection>;
    }
);

/**
 * The port of a gateway, for the option `gateway` of `createAdmin` and `openAdmin`.
 *
 * @public
 */
export interface OpenedGatewayPort extends GatewayPort, AsyncDisposable {
  /**
   * Brings the gateway to the snapshot: each server, filter, monitor and service. What fails is tried again after 1 to
   * 30 seconds. What cannot start, or is not for this gateway, is reported as failed.
   */
  open(admin: Admin): Promise<void>;
  /** Sends reports to the interface. Does nothing before `open`. */
  report(report: HostReport | readonly HostReport[]): void;
}
