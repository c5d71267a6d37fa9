/**
 * The audit: one record for each attempt to change something, however the attempt ends.
 */
import type { AuditGap, AuditRecord } from '../../ports/audit-record.ts';
import type { Clock } from '../../ports/port.ts';
import type { Execution } from '../execution.ts';
import type { Limits } from '../limits.ts';
import type { Command, CommandRequest } from '../turn.ts';
import { Attempt, type Execute } from './attempt.ts';
import { AuditLog, type AuditReadOptions } from './audit-log.ts';
import { Strangers } from './stranger.ts';

/** The options of {@link Audit}. @internal */
export interface AuditOptions {
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'maxAuditKept'>;
  /** The revision of the current snapshot. */
  readonly revision: () => number;
}

/** Keeps the audit records of a running interface. @internal */
export class Audit {
  readonly #log: AuditLog;
  readonly #strangers: Strangers;
  readonly #revision: () => number;

  constructor({ clock, limits, revision }: AuditOptions) {
    this.#log = new AuditLog(limits.maxAuditKept, clock);
    this.#strangers = new Strangers(clock, (entry) => this.#log.append(entry));
    this.#revision = revision;
  }

  /** Begins an attempt. It leaves a record at its end. */
  attempt(): Attempt {
    return new Attempt({
      revision: this.#revision,
      write: (entry) => {
        this.#log.append(entry);
        return Promise.resolve();
      },
      countStranger: (kind, entry) => {
        this.#strangers.note(kind, entry);
      },
    });
  }

  /** Executes a command of the host, and leaves its record. */
  async execute(request: CommandRequest, execute: Execute): Promise<Execution> {
    const attempt = this.attempt();
    attempt.call('execute', request.actor);
    try {
      return await attempt.execute(request, execute);
    } catch (error) {
      attempt.fail(request.signal?.aborted === true ? 'closed' : 'internal');
      throw error;
    } finally {
      await attempt.end();
    }
  }

  /** Abandons a command for the host, and leaves a record. */
  async abandon<E extends Execution>(id: string, abandon: (id: string) => Promise<E>): Promise<E> {
    const attempt = this.attempt();
    attempt.call('abandon', undefined);
    const execution = await abandon(id);
    attempt.conclude(id, execution);
    await attempt.end();
    return execution;
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

  /** Ends each reader after the reader has read the records. */
  close(): void {
    this.#strangers.close();
    this.#log.close();
  }
}
