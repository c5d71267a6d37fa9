/**
 * The ports: the interfaces that a host program implements. Types only.
 *
 * Only {@link GatewayPort} is required. This folder also contains ready-made implementations of the other ports.
 *
 * The library checks the answer of a port where a wrong answer would let an unknown caller in, would be written to
 * disk, or would end the process. Everything else is the contract, and the library relies on it. A port that throws or
 * rejects never ends the process and never leaves a client without an answer: `onError` gets a HostError.
 */
import type { Context } from '../core/decision.ts';
import type { AdminRequest, Principal } from '../http/message.ts';
import type { PathParameters, Role, Route } from '../http/route.ts';
import type { Json } from '../json/value.ts';
import type { Problem } from '../problem.ts';
import type { Decision, Effect } from '../resources/index.ts';
import type { Note } from '../core/note.ts';
import type { Telemetry } from '../resources/telemetry.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { AuditRecord } from './audit-record.ts';

/**
 * The context of a call to the host.
 *
 * @public
 */
export interface EffectContext {
  /** Id of the command. The same for `apply`, every `inspect` and the undo of each effect of the command. */
  readonly commandId: string;
  /** Aborts when the deadline of the effect has passed. */
  readonly signal: AbortSignal;
}

/**
 * The real gateway: the one port that a host must implement.
 *
 * @see docs/ports.md for the meaning of each effect.
 *
 * @public
 */
export interface GatewayPort {
  /**
   * Applies an effect.
   *
   * Resolve when the effect is applied. Reject with {@link EffectRefusedError} when nothing was done. Any other
   * rejection, or no answer before the deadline, means that the outcome is unknown; the library then calls `inspect`.
   * If the effect was applied in part, complete or undo that part before the promise settles.
   */
  apply(effect: Effect, context: EffectContext): Promise<void>;
  /**
   * Answers whether the state that the effect asks for is in place now.
   *
   * The library calls `inspect` repeatedly while the outcome is unknown, also while `apply` is still running. After a
   * restart the library inspects the effects that were in flight when the process ended; {@link openAdmin} resolves
   * only after that.
   *
   * A start is in place if the gateway wants the service or monitor to run, also if it has failed and the gateway tries
   * again. `inspect` must not change anything. Answer `in-place` only if nothing can remove the state any more, because
   * this answer is final. `not-in-place` counts only after `apply` has settled; the client then learns that nothing was
   * changed. Reject if the host cannot tell.
   */
  inspect(effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'>;
  /**
   * What the gateway can do while it runs, besides everything that needs no word here: `create` and `delete` are the
   * effects of these names, `drain` is the setting of this name. A gateway that can drain gives no new session to a
   * server that drains, reports every session that it accepted before `apply` resolves, and reports `sessions.complete`
   * once it has reported everything that is open. A command that needs what is not listed is refused with
   * `not-supported` before the host is asked. By default, nothing is listed. `create` and `delete` are listed together
   * and first, because each undoes the other.
   */
  readonly supports?: readonly 'drain'[] | readonly ['create', 'delete', ...'drain'[]];
  /**
   * Whether a session ends with its connection to a server, as in a proxy that only carries bytes. To close a
   * connection is then to close its session: plans and answers count it so. If left out, sessions go on without a
   * connection.
   */
  readonly sessionsEnd?: boolean;
  /** Live figures, which override the stored figures in responses. */
  readonly telemetry?: Telemetry;
  /**
   * What this gateway can never have. Asked before the `veto` of the options. `createAdmin`, and `openAdmin` and
   * `openFleet` with an empty store, also ask it about the given configuration, as about a decision that creates all of
   * it.
   */
  readonly veto?: Veto;
  /**
   * The resources that the gateway could not bring to what is wanted, and tries again: each has an alert `node-behind`.
   * Synchronous, and asked at each look at the alerts.
   */
  behind?(): readonly {
    /** Link of the resource. */
    readonly resource: string;
    /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
    readonly since: number;
    /** Why, in a sentence for an operator. */
    readonly reason: string;
  }[];
}

/** A resource that the gateway could not bring to what is wanted. @internal */
export type GatewayLag = ReturnType<NonNullable<GatewayPort['behind']>>[number];

/**
 * The time and the timers.
 *
 * @public
 */
export interface Clock {
  /**
   * The current time, in milliseconds since 1970-01-01T00:00:00Z, in the years 0 to 9999. The time may jump. If the
   * function throws or gives another number, new commands fail before the gateway is asked. Commands in flight settle
   * with the last time that the function has given.
   */
  now(): number;
  /**
   * Milliseconds since any fixed moment. Never goes back and never jumps. The durations of measurements and log lines,
   * and the five minutes of a verified log-in, come from this function, and from `now` if the function is left out.
   */
  monotonic?(): number;
  /**
   * Resolves after the given number of milliseconds, or at once when the signal aborts. Jumps of the time must not
   * change the duration, because deadlines use `sleep`. An answer can depend on a sleep, so a sleep keeps the process
   * alive unless `keepAlive` is `false`.
   */
  sleep(milliseconds: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

/**
 * The options of {@link Clock}.sleep.
 *
 * @public
 */
export interface SleepOptions {
  /**
   * Whether the process must not end during the sleep; `true` if left out. The library gives `false` if no caller waits
   * for the end of the sleep, as between two calls of `inspect` after a 504, or between two heartbeats.
   */
  readonly keepAlive?: boolean;
}

/**
 * A logger of the shape of pino: the fields first, then the message. `console` fits, too.
 *
 * The functions are called as methods of the logger, and at once: a slow function delays the interface. A function that
 * throws or rejects changes nothing, and `onError` gets a `HostError` once for each function. The fields are new
 * objects that nothing else uses. They contain neither passwords nor hashes, sealed texts, headers or bodies.
 *
 * @see docs/observability.md, "What is logged".
 *
 * @public
 */
export interface Logger {
  /** Takes a line for the search of a fault: a command has begun. */
  debug(fields: object, message: string): void;
  /** Takes a line about the normal run. */
  info(fields: object, message: string): void;
  /** Takes a line about something that an operator may have to look at. */
  warn(fields: object, message: string): void;
  /**
   * Takes a line about an error of the host, the store or the library. The field `err` is the error, if there is one.
   */
  error(fields: object, message: string): void;
}

/**
 * Hashes the passwords of admin users.
 *
 * @public
 */
export interface Hasher {
  /**
   * Hashes a password of 1 to 1024 bytes in Unicode form NFC. The result is one line of 1 to 4,096 characters. Only
   * `verify` looks inside the result.
   */
  hash(password: string): Promise<string>;
  /** Answers whether a hash belongs to a password. False for a hash of unknown form. */
  verify(password: string, hash: string): Promise<boolean>;
  /**
   * Whether a hash is cheaper to guess than the hashes of {@link Hasher.hash}. After a log-in with such a hash, the
   * interface replaces the hash by a new one. If left out, or if the function fails, no hash is replaced.
   *
   * `verify` of such a hash must take as long as that of a new hash. Otherwise its duration tells that the user exists.
   */
  needsRehash?(hash: string): boolean;
  /**
   * Whether `verify` understands a hash. If the state that an interface starts with has another hash, the interface is
   * not started, because the user could never log in. If the function fails, the interface is not started either. If
   * left out, no hash is checked.
   */
  knows?(hash: string): boolean;
}

/**
 * Seals secrets that the host must read again, such as the password of a service user.
 *
 * @public
 */
export interface SecretSealer {
  /** Whether a sealed text can be opened after a restart of the process. */
  readonly durable: boolean;
  /** Seals a secret. Each call gives a different text: one line of 1 to 8,192 characters. */
  seal(secret: string): Promise<string>;
  /** Opens a sealed text. Rejects if the text was sealed with another key, or was changed. */
  open(sealed: string): Promise<string>;
}

/**
 * The content of a store.
 *
 * @public
 */
export interface StoredHistory {
  /** The state of the last `compact`; left out if there was none. */
  readonly state?: Json;
  /** The records that were appended since then, in order. */
  readonly records: readonly Json[];
  /** The position of the next record. */
  readonly position: string;
  /** The repair that `load` made, in a sentence for the operator; left out if `load` repaired nothing. */
  readonly repaired?: string;
}

/**
 * Stores the configuration and the admin users as plain JSON. The store need not understand the JSON. The JSON contains
 * password hashes and sealed secrets: protect the store like the configuration itself.
 *
 * The library makes one call at a time. If `append` or `compact` rejects, or does not answer before the deadline
 * (`storeDeadlineMs`), the library makes the same call again, with growing pauses, until the store answers: the same
 * content and the same `expectedPosition`. The store may have stored nothing, a part or all of the failed call; the
 * repeated call must store the content once, and resolve to the position after it. The store recognises a repeated call
 * by its position and its content. Between a failed call and its repetition, the library calls only the disposal.
 *
 * Reject with {@link StoreLostError} if no later call can succeed. Then the library refuses commands until a restart.
 *
 * Readers see the message of the last error in `GET /alerts`: write a sentence for an operator, without secrets.
 *
 * @public
 */
export interface ConfigurationStore {
  /** Whether appended records survive the end of the process. */
  readonly durable: boolean;
  /**
   * Loads the content. The first call in each life of the interface, and called only once. Must reject if the content
   * is damaged, instead of guessing.
   */
  load(): Promise<StoredHistory>;
  /**
   * Appends records in order. Resolves once the records are stored as safely as the store can.
   *
   * @param records - one record or more. A call that fails may have stored the first ones; the same call again must
   *   store only the others
   * @param options - `expectedPosition`: the position of the first record. If the store ends elsewhere, and this is not
   *   a repeated call, another writer has written to the store. Then `append` must reject with {@link
   *   StoreConflictError} and store none of the records
   * @returns the position of the next record
   */
  append(records: readonly Json[], options: { readonly expectedPosition: string }): Promise<string>;
  /**
   * Replaces the stored state and all records by a new state. The old content must stay until the new state is stored.
   *
   * @param state - the state that the present records lead to
   * @param options - `expectedPosition`: the end of the present records. If the store ends elsewhere, and this is not a
   *   repeated call, `compact` must reject with {@link StoreConflictError} and change nothing
   * @returns the position of the next record
   */
  compact(state: Json, options: { readonly expectedPosition: string }): Promise<string>;
  /**
   * Releases files, locks and other resources. Waits for the call in flight. Every later call must reject, except for
   * another disposal, which changes nothing.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A store that several gateway nodes have open at once: one log, in one order that all nodes see.
 *
 * Four promises differ from those of {@link ConfigurationStore}:
 *
 * - After any rejection, the store goes on. After a {@link StoreConflictError} the library reads, and appends again at
 *   the new end. After another rejection it makes the same call again, as with every store.
 * - What a call of `append` has stored is seen by every later `read` of every node.
 * - A position is 1 to 255 visible ASCII characters, because it is sent in headers.
 * - A position names the call that ended there, and not only a number: the same position never stands for different
 *   content, also if the store is set back to an earlier state, and other records follow.
 *
 * `compact` is a step of the same order, with a position of its own. The library makes one call at a time, except for
 * `changed` and `announce`.
 *
 * @beta
 */
export interface SharedStore extends ConfigurationStore {
  /**
   * Where the store reaches its servers. `openFleet` warns if a listener of the gateway itself is among them. Left out
   * if the store has no servers, or does not know.
   */
  readonly addresses?: readonly { readonly host: string; readonly port: number }[];
  /**
   * Gives the records behind a position, from all nodes.
   *
   * @param after - a position that this store has given; from a reader of the history, any text
   * @returns a step for each call, in order; `gone` if no way leads on from the position, because the records were
   *   compacted away, because the store was set back, or because the text is no position. Then the library loads again
   */
  read(after: string): Promise<readonly LogStep[] | 'gone'>;
  /**
   * Waits for a hint that the end of the log has moved. May resolve for nothing, and may never resolve: the library
   * also reads once a second. Rejects while hints cannot be given or heard.
   *
   * @param after - the end that the library knows
   * @param signal - ends the waiting: `changed` then resolves
   */
  changed(after: string, signal: AbortSignal): Promise<void>;
  /**
   * Keeps what a node says of itself, in place of what it said before, and gives what every node says. Need not be
   * durable.
   *
   * @param node - the name of the node
   * @param status - what the node says, as plain JSON; `null` takes the node out
   * @returns what each node says, by name
   */
  announce(node: string, status: Json | null): Promise<ReadonlyMap<string, Json>>;
}

/**
 * What one call has added to a shared store.
 *
 * @beta
 */
export interface LogStep {
  /** The records that the call appended, in order; none if the call was a compaction. */
  readonly records: readonly Json[];
  /** The position that the call gave. */
  readonly position: string;
}

/**
 * Keeps audit records outside the process, such as in a file.
 *
 * The library makes one call at a time. If `append` rejects, the same records come again, in the same order and perhaps
 * with others after them, with growing pauses, until `append` resolves. A sink that may have kept a part of a failed
 * call recognises the records by their `id`, and keeps each one once. In `GET /alerts`, readers see the message of the
 * last error.
 *
 * @beta
 */
export interface AuditSink {
  /**
   * Keeps records in order. Resolves once the records are kept as safely as the sink can.
   *
   * @param records - one record or more; frozen
   * @param context - `signal` aborts at the deadline (`auditDeadlineMs`). The call is not made again before it has
   *   settled, so a sink that waits for another machine must end its waiting then
   */
  append(records: readonly AuditRecord[], context: { readonly signal: AbortSignal }): Promise<void>;
  /** Releases files and other resources. Another disposal changes nothing. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/**
 * Finds the caller of a request.
 *
 * @public
 */
export interface Authenticate {
  /**
   * Gives the caller of a request; `undefined` for 401, `throttled` for 429.
   *
   * @param request - the request; the body is not read
   * @param snapshot - the current state, with the admin users
   * @param verifyPassword - finds the admin user whom a name and a password belong to, as the client wrote them. Every
   *   call costs the same work, whether or not the user exists; a verified log-in is remembered for five minutes
   * @returns the caller; `undefined` if the request does not prove who the caller is; `'throttled'` if too many log-ins
   *   are being checked; `'overloaded'` if the hasher did not answer in time. An answer that needs no waiting can be
   *   given without a promise, which takes less time
   */
  (
    request: AdminRequest,
    snapshot: Snapshot,
    verifyPassword: (
      name: string,
      password: string,
    ) => Promise<Principal | 'throttled' | 'overloaded' | undefined>,
  ):
    | Principal
    | 'throttled'
    | 'overloaded'
    | undefined
    | Promise<Principal | 'throttled' | 'overloaded' | undefined>;
  /**
   * Value of the `WWW-Authenticate` header of a 401 (RFC 9110 §11.6.1). A challenge of Basic or Digest is not sent to
   * the script of a web page, because the browser would ask for a password in place of the page.
   */
  readonly challenge?: string;
  /**
   * Whether no caller has to log in at this state. Left out if every caller always has to log in. If the function
   * throws, or gives no boolean, every caller has to log in.
   */
  isOpen?(snapshot: Snapshot): boolean;
}

/**
 * The host's own rule: sees an accepted decision before anything is done, and returns the problem with which the
 * command is refused, or `undefined` to allow the command.
 *
 * The function is asked in the turn of the command, also for `plan` and dry runs, and can be asked several times for
 * one command. It is synchronous and changes nothing. If it throws, or returns anything else, the command is refused
 * with 500 `internal`. Make the problem with {@link hostProblem} or {@link problem}.
 *
 * @public
 */
export type Veto = (
  decision: Extract<Decision, { readonly outcome: 'accepted' }>,
  context: Context,
) => Problem | undefined;

/**
 * Says what the gateway would do by itself because of a decision, such as closing sessions that are idle for too long.
 * The plan shows the notes beside the numbers of the library: at most 20 notes, whose codes begin with `host-`.
 *
 * The function is asked for each plan, in the turn of the event loop. It is synchronous and changes nothing. If it
 * throws, or answers wrongly, `onError` gets a {@link HostError}, and the plan has the note `gateway-may-close`, where
 * it applies.
 *
 * @public
 */
export type Foresee = (
  decision: Extract<Decision, { readonly outcome: 'accepted' }>,
  snapshot: Snapshot,
) => readonly Note[];

/**
 * Decides whether a caller may use a route: return `true` to allow. Any other value, a promise included, refuses the
 * request with 403 `forbidden`. An async function allows nobody, so `onError` gets an error about the promise. If the
 * function throws, the response is 500 `internal`.
 *
 * The function is called before the resource is looked up, and for a command once more at its turn. Names in
 * `parameters` are given as their key (see `nameKey`), never as the client wrote them: compare them with keys.
 *
 * @public
 */
export interface Authorize {
  /** Decides whether a caller may use a route. */
  (
    principal: Principal | undefined,
    route: Route,
    parameters: PathParameters,
    /** How the route is used. Always given. `dryRun`: the caller only plans, and nothing changes. */
    how?: { readonly dryRun: boolean },
  ): boolean;
  /** The role of a caller, which `GET /` shows; left out if the rule knows no roles. {@link createRoles} has it. */
  roleOf?: (principal: Principal) => Role | undefined;
}
