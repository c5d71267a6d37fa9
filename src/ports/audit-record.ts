/**
 * Audit records: who tried to change what, and the outcome. Types only.
 */
import type { HostRequest, Principal } from '../http/message.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { HostProblemCode, ProblemCode } from '../problem.ts';

/**
 * One audit record: plain JSON, distinguished by `kind`. No record contains a password, a password hash, a sealed text
 * or the body of a request.
 *
 * @see docs/embedding.md, "Keep audit records".
 *
 * @beta
 */
export type AuditRecord = WriteRecord | FailedLogInRecord | DroppedRecord;

/**
 * The members of every audit record.
 *
 * @beta
 */
export interface AuditRecordBase {
  /** `<life>.<number>`: no other record of any run of the interface has the same id. Numbers go up by one. */
  readonly id: string;
  /** The time of the outcome in UTC, such as `2016-08-29T09:52:31.250+00:00`. */
  readonly time: string;
}

/**
 * The record of an attempt to change something. A dry run is no attempt.
 *
 * A command whose outcome was `unknown` leaves a second record with the same `command` when the outcome is known.
 *
 * @beta
 */
export interface WriteRecord extends AuditRecordBase {
  /** Says that something was to be changed. */
  readonly kind: 'write';
  /**
   * Where the request came from: `peer` of the request, cut after 255 characters. Left out if the request did not say
   * so, and for a command that the host program sent.
   */
  readonly peer?: string;
  /** Name of the caller, cut after 255 characters; left out if the caller is not known. */
  readonly actor?: string;
  /** The endpoint of the request; left out for a command that the host program sent. */
  readonly route?: AuditedRoute;
  /** The function with which the host program sent the command; left out for a request. */
  readonly call?: 'execute' | 'abandon';
  /** Links of the resources that the decision rests on, at most 100; left out if nothing was decided. */
  readonly resources?: readonly string[];
  /** The mark of the plan that the command was to carry out. */
  readonly mark?: string;
  /** Id of the command that was begun, which its events have too, or of the command that the host program abandons. */
  readonly command?: string;
  /**
   * `accepted`: the change was made. `unchanged`: the state was already as requested. `refused`: `code` says why.
   * `unknown`: the gateway or the store did not answer in time.
   */
  readonly outcome: 'accepted' | 'unchanged' | 'refused' | 'unknown';
  /** The code of the problem, for `refused` and `unknown`. */
  readonly code?: ProblemCode | HostProblemCode;
  /** The revision of the snapshot after the outcome. */
  readonly revision: number;
  /** What the command has closed; left out if it has closed nothing. */
  readonly closed?: {
    /** The number of sessions. */
    readonly sessions: number;
    /** The number of backend connections, including the connections of the closed sessions. */
    readonly connections: number;
  };
  /**
   * What was to be changed; left out if the attempt ended before that was known.
   *
   * - For a decided command, an item for each event, with its type, its resource and its JSON Patch operations, and the
   *   number of its sessions or connections as `count`. With a mark, that number is known only at the end, as `closed`.
   * - For a changed read-only mode, its operations.
   * - Otherwise what the request asked for: the operations without their values, the commands of a sequence, or the
   *   name of what was to be created.
   *
   * A change of more than 64 KiB is shown by the types and resources of its first 100 items.
   */
  readonly change?: readonly Json[];
  /**
   * The number of attempts that this record stands for. Only for attempts that were refused before the caller was
   * known: they are recorded at most once a second for each peer, endpoint and problem.
   */
  readonly count?: number;
  /** Present if the attempts of several peers are in one record, because there were too many peers. */
  readonly several?: true;
}

/**
 * The endpoint of an attempt.
 *
 * @beta
 */
export interface AuditedRoute {
  /** Stable name of the endpoint, such as `services.patch`. */
  readonly id: string;
  /** Method. */
  readonly method: string;
  /** The canonical path with the key of each name, such as `/services/read-write`; cut after 1,024 characters. */
  readonly path: string;
}

/**
 * The record of failed log-ins: requests with wrong credentials, and commands without credentials. The names that were
 * tried are not recorded, because people type passwords into the field for the name.
 *
 * @beta
 */
export interface FailedLogInRecord extends AuditRecordBase {
  /** Says that log-ins failed. */
  readonly kind: 'failed-log-in';
  /** Where the requests came from, as in a record of the kind `write`. */
  readonly peer?: string;
  /** The number of failed log-ins that this record stands for. A peer gets at most one record a second. */
  readonly count: number;
  /** Present if the log-ins of several peers are in one record, because there were too many peers. */
  readonly several?: true;
}

/**
 * The record of records that did not reach the sink, because the sink did not keep records for too long. Records of
 * what was done are dropped last, and never if the sink is required.
 *
 * @beta
 */
export interface DroppedRecord extends AuditRecordBase {
  /** Says that records were dropped. */
  readonly kind: 'dropped';
  /** The number of dropped records. */
  readonly count: number;
}

/**
 * The item that a reader of audit records gets in place of missing records. The reader was too slow, or resumed after a
 * record that is no longer kept.
 *
 * @beta
 */
export interface AuditGap {
  /** Tells a gap from a record. */
  readonly kind: 'gap';
  /** Id of the record after the gap; left out if there is no such record yet. */
  readonly next?: string;
  /** The number of missing records; left out if the number is not known. */
  readonly missed?: number;
}

/**
 * An attempt at an endpoint of the host, for its audit record.
 *
 * @beta
 */
export interface HostAttempt {
  /** The request, for the method, the path and the peer. */
  readonly request: HostRequest;
  /** The caller, as {@link Admin.guard} has given it. */
  readonly principal?: Principal | undefined;
  /** How the attempt has ended. */
  readonly outcome: WriteRecord['outcome'];
  /** The code of the problem, if the attempt was refused. */
  readonly code?: HostProblemCode;
  /** Links of the resources of the attempt, at most 100. */
  readonly resources?: readonly string[];
  /** What was to be changed, as objects of plain JSON. */
  readonly change?: readonly JsonObject[];
}
