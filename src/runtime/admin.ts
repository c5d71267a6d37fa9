/**
 * The public types of a running administration interface: its options and its methods. `assembly.ts` makes the
 * interface, for `createAdmin`, `openAdmin` and `openFleet`.
 */
import type {
  Authenticate,
  Authorize,
  Clock,
  GatewayPort,
  Hasher,
  Logger,
  SecretSealer,
  Foresee,
  Veto,
} from '../ports/port.ts';
import type { AdminRequest, AdminResponse, HostRequest, Principal } from '../http/message.ts';
import type { Role } from '../http/route.ts';
import type { AuditGap, AuditRecord, HostAttempt } from '../ports/audit-record.ts';
import type { AlertRepresentation } from '../resources/alert.ts';
import type { CommandInFlight } from '../resources/command.ts';
import type { HostReport, Transition } from '../resources/index.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { AuditReadOptions } from './audit/audit-log.ts';
import type { AuditOptions } from './audit/sink-queue.ts';
import type { EventGap, EventsOptions, PublishedEvent } from './read/event-log.ts';
import type { Execution } from './command/execution.ts';
import type { Handled } from './handler/handler.ts';
import type { Measurement } from './instrumentation/measurement.ts';
import type { Limits } from './limits.ts';
import type { Plan, PlanRefusal } from './plan/plan.ts';

/**
 * The options of {@link createAdmin} and {@link openAdmin}. Only `snapshot` and `gateway` are required.
 *
 * @public
 */
export interface AdminOptions {
  /**
   * The initial state; see {@link createSnapshot}. If a store is not empty, the stored configuration is used instead,
   * and `onError` gets a {@link DifferingDocumentError} if the two differ. The instance, threads, tasks, modules and
   * log targets belong to the process, and always come from this snapshot. With a store, sessions never come from this
   * snapshot.
   */
  readonly snapshot: Snapshot;
  /** The real gateway. */
  readonly gateway: GatewayPort;
  /** The clock; the system clock by default. */
  readonly clock?: Clock;
  /** The time zone of times in responses: an IANA name, or an offset such as `+03:00`. UTC by default. */
  readonly timeZone?: string;
  /** Hashes passwords; PBKDF2-SHA-256 by default. */
  readonly hasher?: Hasher;
  /** Seals secrets. By default the key is random and ends with the process. */
  readonly sealer?: SecretSealer;
  /**
   * Names of secret parameters, such as `['password']`. A router option of a service, or a parameter of a server,
   * monitor or filter, with such a name is sealed when a client sends the value, and is never shown. Names are compared
   * by {@link nameKey}, so `Password` is such a name too. Names that are secret in the snapshot stay secret. None by
   * default.
   */
  readonly secretParameters?: readonly string[];
  /**
   * The host's own rule: sees every accepted decision before anything is done, in `execute`, `handle`, `plan` and dry
   * runs alike, and refuses with a problem. By default every accepted decision is carried out.
   */
  readonly veto?: Veto;
  /**
   * Says what the gateway would do by itself because of a decision, such as closing sessions that are idle for too
   * long: at most 20 notes, whose codes begin with `host-`. Only plans ask. If the function throws or answers wrongly,
   * `onError` gets a {@link HostError}, and the plan has the note `gateway-may-close`, where it applies.
   */
  readonly foresee?: Foresee;
  /** The name of this gateway, which `GET /` and the command line show, such as `eu-1`. At most 255 characters. */
  readonly name?: string;
  /** The environment of this gateway, such as `production`. At most 255 characters. */
  readonly environment?: string;
  /** Who may do what, and from where. By default every caller on this machine may use every endpoint. */
  readonly access?: {
    /**
     * Finds the caller of a request. By default no request needs a log-in. If the option is given, the last admin user
     * cannot be deleted.
     */
    readonly authenticate?: Authenticate;
    /** Decides whether a caller may use an endpoint. By default every caller may use every endpoint. */
    readonly authorize?: Authorize;
    /**
     * Origins of web pages that may read and send commands, such as `https://console.example`: browsers get the headers
     * of CORS. A page of the interface's own origin always may. Also needed behind a proxy that changes the header
     * `Host`. None by default.
     */
    readonly allowedOrigins?: readonly string[];
    /**
     * Names in the header `Host` under which the interface may be reached while nobody has to log in, such as
     * `gateway.example` or `gateway.example:8989`. IP addresses, `localhost` and `*.localhost` are always allowed.
     * None by default.
     */
    readonly allowedHosts?: readonly string[];
    /**
     * Checks the password of an admin user, in addition to the built-in rules. Returns the objection in a sentence, or
     * `undefined` to accept the password. The function is synchronous. If the function throws, or returns another
     * value, the response is 500 `internal`.
     */
    readonly passwordPolicy?: (password: string) => string | undefined;
  };
  /** What the program gets to see of the work of the interface. */
  readonly observe?: {
    /**
     * Gets every error that no client gets: a {@link HostError} for each failure, wrong answer and late answer of the
     * gateway port and of other functions of the host, a {@link ReportError} for each malformed report, a
     * {@link DifferingDocumentError} if the store has another configuration than the given snapshot, failures of the
     * store, and unexpected errors. Failures of functions that are called for each request, line or figure come once
     * for each function: those of telemetry, of the logger, of `onMeasurement`, of `isOpen`, and of the timers of the
     * clock. By default, and without a `logger`, the console gets every error.
     */
    readonly onError?: (error: unknown) => void;
    /**
     * Gets a line for each command, for each request that fails by a fault of the host, and for each error of
     * `onError`. Fits `pino()`. Silent by default.
     */
    readonly logger?: Logger;
    /**
     * Gets every measurement: durations of requests, commands, effects and calls of the store, counts and queue
     * lengths. Called at once, so the function must be fast. If it throws, nothing else changes. By default nothing is
     * measured.
     */
    readonly onMeasurement?: (measurement: Measurement) => void;
    /** Keeps the audit records outside the process. By default readers of {@link Admin.audit} alone get the records. */
    readonly audit?: AuditOptions;
  };
  /** The limits that differ from {@link defaultLimits}. */
  readonly limits?: Partial<Limits>;
}

/**
 * The options of {@link Admin.execute}.
 *
 * @public
 */
export interface ExecuteOptions {
  /** Name of the principal who sends the command, for the events. */
  readonly actor?: string;
  /** Refuses the command with `precondition-failed` unless the resource at this link still has this entity tag. */
  readonly ifMatch?: {
    /** Link of the resource, such as `/services/sales`. */
    readonly link: string;
    /** The entity tag, or `*`, in the syntax of `If-Match` (RFC 9110 §13.1.1). */
    readonly etag: string;
  };
  /**
   * The mark of a plan: the command does what that plan showed, or is refused with `precondition-failed`. Sessions and
   * connections that have opened since the plan stay open.
   */
  readonly mark?: string;
  /** Cancels the command if it has not started, and `execute` rejects. A started command runs to completion. */
  readonly signal?: AbortSignal;
}

/**
 * A running administration interface.
 *
 * @public
 */
export interface Admin {
  /** The current state. */
  readonly snapshot: Snapshot;
  /** The limits in use: the given ones, and the defaults for the others. */
  readonly limits: Limits;
  /**
   * Whether requests that would change the configuration are refused with 403 `read-only`; dry runs go on. `PATCH /`
   * and {@link patchInterface} change the mode, a store keeps it, and `GET /` shows who has begun it, when and why.
   *
   * A command of a request that waits for its turn is refused at its turn. A started command runs to completion, and
   * reports are folded as always. {@link Admin.execute}, {@link Admin.plan} and {@link Admin.abandon} work in both
   * modes, because the program that calls them knows the mode and may need the calm for its own changes.
   */
  readonly readOnly: boolean;
  /**
   * Answers a request. Never rejects, also not for a value that is no request: the response then names the fault, as
   * 400 `header-invalid` for the headers and as 500 `internal` for anything else.
   */
  handle(request: AdminRequest): Promise<Handled>;
  /**
   * Executes a command: decides, asks the host for the effects, and settles.
   *
   * With `ifMatch`, a missing resource (404) or a different entity tag (412) is refused before the transition decides.
   * The promise rejects only in these cases:
   *
   * - The transition throws, or returns no valid decision (TypeError).
   * - `signal` cancels the command.
   * - The link in `ifMatch` is not the link of a resource (RangeError).
   * - An argument has a wrong type (TypeError).
   */
  execute(transition: Transition, options?: ExecuteOptions): Promise<Execution>;
  /**
   * Returns what {@link Admin.execute} would do now, or why it would refuse. Changes nothing, and does not ask the
   * host.
   *
   * @throws the error that the transition throws, or the RangeError or TypeError of {@link Admin.execute}
   */
  plan(transition: Transition, options?: Omit<ExecuteOptions, 'signal'>): Plan | PlanRefusal;
  /**
   * Creates the first admin user. The password, in plain text, is checked and hashed as by `PUT /users`.
   *
   * Refused with `user-exists` if there is a user, also if that user was created a moment before. Refused with
   * `password-unacceptable` or `validation-failed` if the password or the name is not acceptable.
   *
   * @throws TypeError if the user is not an object
   *
   * @example
   * ```ts
   * import { createAdmin, createBasicAuthentication, createSnapshot } from 'gateway-admin-core';
   *
   * const admin = createAdmin({
   *   snapshot: createSnapshot({}),
   *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
   *   access: { authenticate: createBasicAuthentication() },
   * });
   * (await admin.createFirstUser({ name: 'ada', password: 'correct horse' })).outcome; // => 'accepted'
   * (await admin.createFirstUser({ name: 'eve', password: 'battery staple' })).outcome; // => 'refused'
   * ```
   *
   * @see docs/first-user.md; docs/spec-choices.md 32.
   */
  createFirstUser(user: { readonly name: string; readonly password: string }): Promise<Execution>;
  /** What is wrong now, the errors first: each alert of `GET /alerts`, and those past its limit. */
  alerts(): readonly AlertRepresentation[];
  /** The commands in flight, in the order of their turns. */
  commands(): readonly CommandInFlight[];
  /**
   * Abandons a command of unknown outcome: the command has not happened. No further part of it is begun, its resources
   * are free again, and no event follows.
   *
   * If the host answers later, the answer goes to `onError`. Then, or at the next start of an interface with a store,
   * the resources are made as the snapshot shows them: the host is asked with `inspect`, and with `apply` for the rest.
   * Refused with `command-not-found`, with `command-not-abandonable` while the outcome is not unknown, or with
   * `store-unavailable`.
   *
   * @throws TypeError if the id is not a string
   */
  abandon(commandId: string): Promise<Execution>;
  /**
   * Folds reports of the host over the snapshot at once, without a queue. Never throws: faults in reports go to
   * `onError`.
   */
  report(report: HostReport | readonly HostReport[]): void;
  /**
   * Follows the events in order, from now on or after a given event.
   *
   * @throws RangeError if `after` is not an event id
   * @throws TypeError if an option has a wrong type
   */
  events(options?: EventsOptions): AsyncIterableIterator<PublishedEvent | EventGap>;
  /**
   * Decides whether a request to an endpoint of the host may go on, as {@link Admin.handle} decides for its own
   * endpoints: the origin, the log-in, `authorize`, and the read-only mode for every method but `GET` and `HEAD`. Never
   * rejects for what a request contains. A refused attempt leaves its audit record; record an admitted one with
   * `audit.record`.
   *
   * `authorize` gets a route with the id `host`, the path of the request, and the given role.
   *
   * @param request - the request to the endpoint of the host; the body is not read
   * @param role - the least role that may use the endpoint
   * @returns the caller, `undefined` if nobody has to log in; or the response to send
   * @throws TypeError if the role is unknown
   */
  guard(
    request: HostRequest,
    role: Role,
  ): Promise<
    | { readonly admitted: true; readonly principal: Principal | undefined }
    | { readonly admitted: false; readonly response: AdminResponse }
  >;
  /** The audit records. */
  readonly audit: {
    /**
     * Follows the audit records in order, from now on or after a given record: one for each attempt to change
     * something, and failed log-ins. Without a sink, records are made from the first call on.
     *
     * @throws RangeError if `after` is not the id of an audit record
     * @throws TypeError if an option has a wrong type
     */
    (options?: AuditReadOptions): AsyncIterableIterator<AuditRecord | AuditGap>;
    /**
     * Leaves the record of an attempt at an endpoint of the host, with `host` as the id of the route. Secrets are
     * redacted from `change`.
     *
     * @returns resolves when the client can be answered: at once, or when a required sink has the record
     * @throws TypeError if a member has a wrong type
     * @throws Error after {@link Admin.close}
     */
    record(this: void, attempt: HostAttempt): Promise<void>;
  };
  /**
   * Refuses waiting commands and later ones. Resolves when every started command has ended, and every earlier call of
   * {@link Admin.handle}, {@link Admin.execute} and {@link Admin.abandon} has its answer.
   */
  close(): Promise<void>;
  /** The same as {@link Admin.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
