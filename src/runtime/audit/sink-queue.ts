/**
 * The queue to the sink: hands audit records to the sink in order, and keeps the records that the sink has not kept
 * yet.
 *
 * Records go through an outbox, so that many records share one disk write. The outbox is bounded: beyond its bounds,
 * the least important records are dropped, and counted.
 */
import { sizeOf, type Json } from '../../json/value.ts';
import type { AuditRecord } from '../../ports/audit-record.ts';
import type { AuditSink, Clock } from '../../ports/port.ts';
import { beforeDeadline, late, type Deadline } from '../host/waiting.ts';
import { callFailed, HostError } from '../host/host-error.ts';
import { Outbox, portPauses, type Outage } from '../host/outbox.ts';
import type { Limits } from '../limits.ts';

/**
 * Where audit records are kept.
 *
 * @beta
 */
export interface AuditOptions {
  /**
   * Gets every audit record. The interface owns the sink, and disposes of it at `close`. Errors of the sink go to
   * `onError`, and the records are handed over again until the sink keeps them.
   */
  readonly sink: AuditSink;
  /**
   * Whether a command is refused with 503 `audit-unavailable` while the record of an earlier attempt is not kept;
   * `false` by default. If `true`, the answer to a command that was carried out also waits until its record is kept, at
   * most for `auditDeadlineMs`. Failed log-ins never cause a refusal.
   */
  readonly required?: boolean;
}

/** The options of {@link SinkQueue}. @internal */
export interface SinkQueueOptions {
  readonly sink: AuditSink;
  /** Whether commands are refused while a record is not kept. */
  readonly required: boolean;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'maxAuditKept' | 'auditDeadlineMs'>;
  /** Called when the sink has kept a record after records were dropped. */
  readonly onDropped: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * How important a record is. `stranger`: anybody can cause any number of such records. `refused`: nothing was done.
 * `done`: something was done, or may have been done.
 */
const ranks = { stranger: 0, refused: 1, done: 2 } as const;

type Rank = keyof typeof ranks;

/** A record that the sink has not kept yet. */
interface Pending {
  readonly record: AuditRecord;
  readonly rank: Rank;
  /** Approximate size as JSON, in bytes. */
  readonly size: number;
  /** Ends the waiting of the caller. */
  kept: () => void;
  /** Whether the caller was answered before the record was kept. */
  isLate: boolean;
  /** Whether the record is in the present call. */
  isSent: boolean;
}

/** The largest size of the records in one call. A single larger record is still handed over. */
const mostBytesAtOnce = 1024 * 1024;

/** The largest size of all records in the queue. */
const mostBytes = 64 * 1024 * 1024;

/** Hands records to a sink. @internal */
export class SinkQueue {
  readonly #options: SinkQueueOptions;
  readonly #outbox: Outbox<Pending>;
  #bytes = 0;
  #dropped = 0;
  #isClosed = false;

  constructor(options: SinkQueueOptions) {
    this.#options = options;
    const { clock, limits, onError } = options;
    this.#outbox = new Outbox({
      clock,
      deadlineMs: limits.auditDeadlineMs,
      work: () => this.#handOver(),
      wait: async (late, pauseMs, signal) => {
        // A late call is not made again while it is in flight: the sink could keep the records twice.
        const answer = await late.at(-1)?.catch(() => undefined);
        // Nobody waits for the records themselves, so the process may end.
        if (answer === undefined) await clock.sleep(pauseMs, signal, { keepAlive: false });
        return answer;
      },
      lateError: () => this.#lateError('audit.append'),
      onError,
    });
  }

  /** The present outage; `undefined` while the sink answers. */
  get outage(): Outage | undefined {
    return this.#outbox.outage;
  }

  /**
   * The time after which a command can succeed, in milliseconds, if commands are refused now; `undefined` if they are
   * not. Records that strangers can cause never lead to a refusal.
   */
  get retryAfterMs(): number | undefined {
    const { items, outage } = this.#outbox;
    if (!this.#options.required || items.length === 0) return undefined;
    const isKept = ({ rank, isLate }: Pending): boolean =>
      rank === 'stranger' || (outage === undefined && !isLate);
    return items.every(isKept) ? undefined : (outage?.retryAfterMs ?? portPauses.firstMs);
  }

  /**
   * Takes a record.
   *
   * @returns resolves when the caller can be answered: at once, or when the record is kept or the deadline has passed
   */
  async take(record: AuditRecord): Promise<void> {
    if (this.#isClosed) return;
    const size = sizeOf(record as unknown as Json, mostBytes);
    const begun = { kept: () => undefined, isLate: false, isSent: false };
    const pending: Pending = { record, rank: rankOf(record), size, ...begun };
    const isKept = new Promise<void>((resolve) => (pending.kept = resolve));
    this.#add(pending);
    void this.#outbox.work();
    if (!this.#options.required || pending.rank !== 'done') return;
    const { clock, limits } = this.#options;
    const kept = await beforeDeadline(clock, limits.auditDeadlineMs, () => isKept);
    if (kept === late) pending.isLate = true;
  }

  /** Tries once more to hand over the records, and disposes of the sink. Each takes one deadline at most. */
  async close(): Promise<void> {
    const { sink, onError } = this.#options;
    await this.#inTime(() => this.#outbox.close());
    this.#isClosed = true;
    const lost = this.#outbox.items.splice(0).length;
    if (lost > 0) onError(new Error(notKept(lost + this.#dropped)));
    try {
      const disposed = await this.#inTime(async () => sink[Symbol.asyncDispose]?.());
      if (disposed === late) onError(this.#lateError('audit.dispose'));
    } catch (cause) {
      onError(callFailed('audit.dispose', cause, 'The interface closes.'));
    }
  }

  #inTime<T>(call: () => Promise<T>): Promise<T | typeof late> {
    const { clock, limits } = this.#options;
    return beforeDeadline(clock, limits.auditDeadlineMs, call);
  }

  #add(pending: Pending): void {
    const { items } = this.#outbox;
    items.push(pending);
    this.#bytes += pending.size;
    const { maxAuditKept } = this.#options.limits;
    while (items.length > maxAuditKept || this.#bytes > mostBytes) {
      const [victim] = items.splice(this.#leastImportant(), 1);
      if (victim === undefined) return;
      this.#bytes -= victim.size;
      this.#dropped += victim.record.kind === 'dropped' ? victim.record.count : 1;
    }
  }

  /** The position of the record to drop; the end of the queue if no record may be dropped. */
  #leastImportant(): number {
    const { items } = this.#outbox;
    let least = items.length;
    let rank: number = this.#options.required ? ranks.done : ranks.done + 1;
    for (let at = 0; at < items.length && rank > 0; at += 1) {
      const each = items[at];
      if (each === undefined || each.isSent || ranks[each.rank] >= rank) continue;
      [least, rank] = [at, ranks[each.rank]];
    }
    return least;
  }

  /** Hands over the first records. */
  async #handOver(): Promise<void> {
    const batch = await this.#outbox.call((deadline) => this.#append(deadline));
    this.#outbox.items.splice(0, batch.length);
    for (const { size, kept } of batch) {
      this.#bytes -= size;
      kept();
    }
    this.#tellDropped();
  }

  /** Makes a call, which need not have the records of the call before. Gives the records that the sink has kept. */
  async #append({ signal }: Deadline): Promise<readonly Pending[]> {
    const batch = this.#outbox.take(mostBytesAtOnce);
    // The interface was closed during an earlier call.
    if (batch.length === 0) return batch;
    for (const pending of batch) pending.isSent = true;
    const records = batch.map(({ record }) => record);
    try {
      await this.#options.sink.append(records, { signal });
      return batch;
    } catch (cause) {
      for (const pending of batch) pending.isSent = false;
      throw callFailed('audit.append', cause, 'The call is made again until the sink keeps the records.');
    }
  }

  #lateError(call: 'audit.append' | 'audit.dispose'): HostError {
    const { auditDeadlineMs } = this.#options.limits;
    const what = call === 'audit.append' ? 'keep records' : 'be disposed of';
    const message = `The audit sink took longer than ${String(auditDeadlineMs)} ms to ${what}.`;
    return new HostError(message, { call });
  }

  #tellDropped(): void {
    const count = this.#dropped;
    this.#dropped = 0;
    if (count > 0) this.#options.onDropped(count);
  }
}

function rankOf(record: AuditRecord): Rank {
  if (record.kind !== 'write' || record.count !== undefined) return 'stranger';
  // The command of a refusal was begun, unless the refusal is about abandoning the command.
  const isBegun = record.command !== undefined && record.call !== 'abandon';
  return record.outcome === 'refused' && !isBegun ? 'refused' : 'done';
}

function notKept(count: number): string {
  return (
    `The interface was closed while the audit sink did not keep records: ${String(count)} audit records are lost. Repair ` +
    'the sink.'
  );
}
