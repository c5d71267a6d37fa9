/**
 * The audit: one record for each attempt to change something, however the attempt ends.
 */
import { hostRoute } from '../../http/route.ts';
import type { AdminRequest } from '../../http/message.ts';
import type { Problem } from '../../problem.ts';
import type { AuditGap, AuditRecord, HostAttempt } from '../../ports/audit-record.ts';
import { auditUnavailable, type Execution } from '../command/execution.ts';
import type { Outage } from '../host/outbox.ts';
import type { Ground } from '../ground.ts';
import type { Mark } from '../plan/mark.ts';
import type { Command } from '../command/flight.ts';
import { hasLeft } from '../handler/request.ts';
import type { CommandRequest } from '../command/turn.ts';
import { Attempt, failedLogIn, isFailedLogIn, type AttemptLog, type Target } from './attempt.ts';
import { AuditLog, type AuditReadOptions } from './audit-log.ts';
import type { AuditEntry } from './record.ts';
import { SinkQueue } from './sink-queue.ts';
import { Strangers } from './stranger.ts';

/** Keeps the audit records of a running interface. @internal */
export class Audit {
  readonly #log: AuditLog;
  readonly #strangers: Strangers;
  readonly #sink: SinkQueue | undefined;
  readonly #attemptLog: AttemptLog;
  readonly #onError: Ground['onError'];

  /** @param revision - gives the revision of the current snapshot */
  constructor(ground: Ground, revision: () => number) {
    const { auditing, clock, life, limits, onError } = ground;
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
    this.#attemptLog = {
      revision,
      write: (entry) => this.#keep(entry),
      countStranger: (kind, entry) => {
        this.#strangers.note(kind, entry);
      },
    };
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

  /** Begins an attempt. It leaves a record at its end. */
  attempt(request?: AdminRequest, target?: Target, mark?: Mark): Attempt {
    return new Attempt(this.#attemptLog, request, target, mark);
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
    const attempt = this.attempt(undefined, undefined, request.planned?.mark);
    attempt.call('execute', request.actor);
    try {
      const execution = await execute({ ...request, watch: attempt });
      attempt.conclude(execution);
      return execution;
    } catch (error) {
      attempt.fail(hasLeft(request) ? 'closed' : 'internal');
      throw error;
    } finally {
      await attempt.end();
    }
  }

  /** Abandons a command for the host, and leaves a record. */
  async abandon<E extends Execution>(id: string, abandon: (id: string) => Promise<E>): Promise<E> {
    const attempt = this.attempt();
    attempt.call('abandon', undefined);
    attempt.about(id);
    const execution = await abandon(id);
    attempt.conclude(execution);
    await attempt.end();
    return execution;
  }

  /** Leaves the record of an attempt at an endpoint of the host. */
  async record(
    { request, principal, ...ending }: HostAttempt,
    isSecret: (name: string) => boolean,
  ): Promise<void> {
    const attempt = this.attempt(request, { route: hostRoute(request), parameters: {} });
    attempt.identify(principal);
    attempt.tell(ending, isSecret);
    await attempt.end();
  }

  /** Leaves the record of a command of an earlier life. */
  recovered(command: Command, execution: Execution): void {
    const attempt = this.attempt();
    attempt.recover(command, execution);
    void attempt.end();
  }

  /** @throws RangeError when `after` is not the id of a record */
  read(options: AuditReadOptions): AsyncIterableIterator<AuditRecord | AuditGap> {
    return this.#log.read(options);
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
