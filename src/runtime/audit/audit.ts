/**
 * The audit: one record for each attempt to change something, however the attempt ends. The record is made at the end,
 * of what the attempt has left on its way. Without a sink and without a reader, records are made of the commands of an
 * earlier life alone: a reader may go on from there.
 */
import { hostRoute } from '../../http/route.ts';
import type { AdminRequest } from '../../http/message.ts';
import type { Problem } from '../../problem.ts';
import type { AuditGap, AuditRecord, HostAttempt } from '../../ports/audit-record.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { auditUnavailable, type Execution } from '../command/execution.ts';
import type { Ground } from '../ground.ts';
import type { Outage } from '../host/outbox.ts';
import type { Command } from '../command/flight.ts';
import { hasLeft } from '../handler/request.ts';
import type { CommandRequest } from '../command/turn.ts';
import {
  endingBy,
  endingOf,
  entryOf,
  failedLogIn,
  isFailedLogIn,
  type Attempt,
  type Ending,
} from './attempt.ts';
import { AuditLog, type AuditReadOptions } from './audit-log.ts';
import type { AuditEntry } from './record.ts';
import { SinkQueue } from './sink-queue.ts';
import { Strangers } from './stranger.ts';

/** Keeps the audit records of a running interface. @internal */
export class Audit {
  /** Whether there is a sink, or a reader has begun. */
  isWanted: boolean;
  readonly #log: AuditLog;
  readonly #strangers: Strangers;
  readonly #sink: SinkQueue | undefined;
  readonly #snapshot: () => Snapshot;
  readonly #onError: Ground['onError'];

  /** @param snapshot - gives the present snapshot */
  constructor(ground: Ground, snapshot: () => Snapshot) {
    const { auditing, clock, life, limits, onError } = ground;
    this.isWanted = auditing !== undefined;
    this.#snapshot = snapshot;
    this.#onError = onError;
    this.#log = new AuditLog(limits.maxAuditKept, life, clock);
    this.#strangers = new Strangers(clock, (entry) => void this.#keep(entry));
    this.#sink =
      auditing &&
      new SinkQueue({
        ...ground,
        sink: auditing.sink,
        required: auditing.required === true,
        onDropped: (count) => {
          void this.#keep({ kind: 'dropped', count });
        },
      });
  }

  /** The present outage of the sink; `undefined` while it answers, and without a sink. */
  get outage(): Outage | undefined {
    return this.#sink?.outage;
  }

  /** The refusal of every command while records are not kept that must be; `undefined` if commands are possible. */
  refuseAll(): ReturnType<typeof auditUnavailable> | undefined {
    const retryAfterMs = this.#sink?.retryAfterMs;
    return retryAfterMs === undefined ? undefined : auditUnavailable(retryAfterMs);
  }

  /**
   * Leaves the record of an attempt that has ended. A command whose outcome is unknown leaves a second one, once the
   * outcome is known: also for a reader that has begun since.
   *
   * @returns resolves when the caller can be answered; `undefined` if the caller can be answered at once
   */
  record(attempt: Attempt): Promise<void> | undefined {
    const answerable = this.isWanted ? this.#recordNow(attempt) : undefined;
    const { trace } = attempt;
    const tellLate = (execution: Execution): void => {
      if (this.isWanted) void this.#write(attempt, endingBy(execution, this.#snapshot().revision));
    };
    if (trace.late === undefined) trace.onLate = tellLate;
    else tellLate(trace.late);
    return answerable;
  }

  /** Counts a refused request that would change nothing, if its log-in has failed. */
  noteFailedLogIn(request: AdminRequest, code: Problem['code']): void {
    // A program that reads without credentials, as browsers begin, has not tried to log in.
    const hasTried = request.headers['authorization'] !== undefined;
    // The log-in of a client that has disconnected need not have been verified.
    if (hasTried && isFailedLogIn(code) && !hasLeft(request))
      this.#strangers.note('log-in', failedLogIn(request));
  }

  /** Executes a command of the host, and leaves its record. */
  async execute(
    request: CommandRequest,
    execute: (request: CommandRequest) => Promise<Execution>,
  ): Promise<Execution> {
    const { actor, planned } = request;
    const attempt: Attempt = { call: 'execute', mark: planned?.mark, caller: callerOf(actor), trace: {} };
    try {
      attempt.execution = await execute({ ...request, trace: attempt.trace });
      return attempt.execution;
    } catch (error) {
      attempt.code = hasLeft(request) ? 'closed' : 'internal';
      throw error;
    } finally {
      const answerable = this.record(attempt);
      if (answerable !== undefined) await answerable;
    }
  }

  /** Abandons a command for the host, and leaves a record. */
  async abandon<E extends Execution>(id: string, abandon: (id: string) => Promise<E>): Promise<E> {
    const execution = await abandon(id);
    await this.record({ call: 'abandon', about: id, caller: callerOf(undefined), execution, trace: {} });
    return execution;
  }

  /** Leaves the record of an attempt at an endpoint of the host. */
  async recordHost({ request, principal, ...told }: HostAttempt): Promise<void> {
    const target = { route: hostRoute(request), parameters: {} };
    await this.record({ request, target, caller: { principal }, told, trace: {} });
  }

  /** Leaves the record of a command of an earlier life, also for a reader that begins when this life is open. */
  recovered({ id, actor, resources }: Command, execution: Execution): void {
    void this.#recordNow({ about: id, caller: callerOf(actor), execution, trace: { resources } });
  }

  /** @throws RangeError when `after` is not the id of a record */
  read(options: AuditReadOptions): AsyncIterableIterator<AuditRecord | AuditGap> {
    const reader = this.#log.read(options);
    this.isWanted = true;
    return reader;
  }

  /**
   * Hands over the records that the sink has not kept, and ends each reader after the reader has read the records. The
   * attempts must have ended.
   */
  async close(): Promise<void> {
    this.#strangers.close();
    await this.#sink?.close();
    this.#log.close();
  }

  #recordNow(attempt: Attempt): Promise<void> | undefined {
    if (attempt.caller !== undefined)
      return this.#write(attempt, endingOf(attempt, this.#snapshot().revision));
    this.#countStranger(attempt);
    return undefined;
  }

  /** Counts an attempt that was refused before the caller was known. */
  #countStranger(attempt: Attempt): void {
    const { request, target, code: given } = attempt;
    if (given === undefined) return;
    // The log-in of a client that has disconnected need not have been verified.
    const code = hasLeft(request) ? 'closed' : given;
    if (isFailedLogIn(code)) {
      this.#strangers.note('log-in', failedLogIn(request));
      return;
    }
    const { revision } = this.#snapshot();
    const entry = entryOf(attempt, { outcome: 'refused', code, revision }, () => false);
    this.#strangers.note(`${code} ${target?.route.id ?? ''}`, { ...entry, count: 1 });
  }

  #write(attempt: Attempt, ending: Ending): Promise<void> {
    return this.#keep(entryOf(attempt, ending, isSecretIn(this.#snapshot())));
  }

  /**
   * Resolves when the caller of the attempt can be answered. A failure loses the record, and not the answer.
   */
  async #keep(entry: AuditEntry): Promise<void> {
    try {
      const kept = this.#log.append(entry);
      await this.#sink?.take(kept.record);
    } catch (error) {
      this.#onError(error);
    }
  }
}

function callerOf(actor: string | undefined): NonNullable<Attempt['caller']> {
  return { principal: actor === undefined ? undefined : { name: actor } };
}
