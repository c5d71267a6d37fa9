/**
 * The ports: what a host program must or may implement. Types only.
 */
import type { AdminRequest, Principal } from '../http/message.ts';
import type { Json } from '../json/value.ts';
import type { Effect } from '../resources/index.ts';
import type { Telemetry } from '../resources/shared/rendering.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * What comes with every call of the host.
 *
 * @public
 */
export interface EffectContext {
  /** Identifies the command: the same for `apply`, every `inspect` and the undo of each of its effects. */
  readonly commandId: string;
  /** Aborts when the deadline for the effect has passed. */
  readonly signal: AbortSignal;
}

/**
 * The real gateway, as the administration interface sees it: the one port that a host must implement.
 *
 * @public
 */
export interface GatewayPort {
  /**
   * Carries an effect out.
   *
   * Resolve when it is done. Reject with {@link EffectRefused} when nothing was done. Any other rejection means that
   * the outcome is not known, and `inspect` is asked. Finish or undo what was done in part before this settles.
   */
  apply(effect: Effect, context: EffectContext): Promise<void>;
  /**
   * Says whether what the effect asks for is so at this moment. Asked again and again while the outcome is not known,
   * also while `apply` is still at work. After a restart it is asked about the effects that were in flight when the
   * process ended, before {@link openAdmin} has resolved.
   *
   * Look, and change nothing. `in-place` is final: say it only of what nothing will take back any more. `not-in-place`
   * is believed once `apply` has ended: the client is told then that nothing was changed. Reject when you cannot see.
   * What that means for each effect, and for a gateway that is not open yet, is in docs/ports.md.
   */
  inspect(effect: Effect, context: EffectContext): Promise<'in-place' | 'not-in-place'>;
  /** Figures that change by themselves. They override the stored ones when a response is rendered. */
  readonly telemetry?: Telemetry;
}

/**
 * The time.
 *
 * @public
 */
export interface Clock {
  /** The current time, in milliseconds since 1970-01-01T00:00:00Z. May jump. */
  now(): number;
  /**
   * Resolves after so many milliseconds, however the time of day jumps meanwhile: deadlines rest on it. Resolves at once
   * when the signal aborts.
   */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Hashes the passwords of admin users.
 *
 * @public
 */
export interface Hasher {
  /** Hashes a password: NFC-normalised, 1 to 1024 bytes. The result is opaque to everyone but `verify`. */
  hash(password: string): Promise<string>;
  /** Says whether a hash is that of a password. A hash of unknown form is that of none. */
  verify(password: string, hash: string): Promise<boolean>;
}

/**
 * Seals secrets that the host has to read again, such as the password of a service user.
 *
 * @public
 */
export interface SecretSealer {
  /** Whether what was sealed can be opened after a restart of the process. */
  readonly durable: boolean;
  /** Seals a secret. Sealing it again gives another text. */
  seal(secret: string): Promise<string>;
  /** Opens what `seal` made. Rejects when the text was not made with this key, or was changed. */
  open(sealed: string): Promise<string>;
}

/**
 * What a store holds.
 *
 * @public
 */
export interface StoredHistory {
  /** What was last given to `compact`; left out when nothing ever was. */
  readonly state?: Json;
  /** What was appended since, in order. */
  readonly records: readonly Json[];
  /** Where the next record goes. */
  readonly position: string;
  /** What had to be repaired, for the operator; left out when nothing had to be. */
  readonly repaired?: string;
}

/**
 * Keeps the configuration and the admin users. What is kept is plain JSON that the store need not understand; it holds
 * hashes and sealed texts, so keep it as safe as the configuration itself.
 *
 * Only one call is in flight at a time. After a call that rejected there is no other but the disposal: what it was to
 * keep may be there or not.
 *
 * @public
 */
export interface ConfigurationStore {
  /** Whether what was appended outlives the process. */
  readonly durable: boolean;
  /**
   * Gives what is there. Called first, and once in each life of the interface. Rejects when what is there is damaged:
   * nothing is guessed.
   */
  load(): Promise<StoredHistory>;
  /**
   * Appends records in order. Resolves once they are kept as safely as the store ever does.
   *
   * @param records - one record or more. A store that fails in between may keep the first of them
   * @param options - `expectedPosition`: where the records go. A store whose end is elsewhere, because another writer
   *   was faster, rejects with {@link StoreConflictError} and keeps none of them
   * @returns the position of the next record
   */
  append(records: readonly Json[], options: { readonly expectedPosition: string }): Promise<string>;
  /**
   * Puts a state in the place of everything that was appended. Until it is kept, what was there still is.
   *
   * @param state - what the records up to the position amount to
   * @param options - `expectedPosition`: the end of the records. A store whose end is elsewhere rejects with
   *   {@link StoreConflictError} and stays as it was
   * @returns the position of the next record
   */
  compact(state: Json, options: { readonly expectedPosition: string }): Promise<string>;
  /**
   * Releases what the store holds, such as files and locks. Waits for the call that is in flight; from then on every
   * other call rejects. Calling it again changes nothing.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Finds out who asks.
 *
 * @public
 */
export interface Authenticate {
  /**
   * Gives the principal of a request; `undefined` for 401, `throttled` for 429.
   *
   * @param request - the request; its body is not read
   * @param snapshot - the current state, with the admin users
   */
  (request: AdminRequest, snapshot: Snapshot): Promise<Principal | 'throttled' | undefined>;
  /** What `WWW-Authenticate` says with a 401 (RFC 9110 §11.6.1). */
  readonly challenge?: string;
}
