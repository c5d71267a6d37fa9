/**
 * The queue to the sink: hands audit records to the sink in order, and keeps the records that the sink has not kept yet.
 *
 * Records that arrive while the sink is busy go with the next call, so that many records share one disk write. A call that
 * fails is made again, with growing pauses, until the sink keeps its records. The queue is bounded: beyond its bounds, the
 * least important records are dropped, and counted.
 */
import { sizeOf, type Json } from '../../json/value.ts';
import type { AuditRecord } from '../../ports/audit-record.ts';
import type { AuditSink, Clock } from '../../ports/port.ts';
import { beforeDeadline } from '../host/deadline.ts';
import { callFailed, HostError } from '../host/host-error.ts';
import type { Limits } from '../limits.ts';

/**
 * Where audit records are kept.
 *
 * @public
 */
export interface AuditOptions {
  /**
   * Gets every audit record. The interface owns the sink, and disposes of it at `close`. Errors of the sink go to `onError`,
   * and the records are handed over again until the sink keeps them.
   */
  readonly sink: AuditSink;
  /**
   * Whether a command is refused with 503 `audit-unavailable` while the record of an earlier attempt is not kept; `false` by
   * default. If `true`, the answer to a command that was carried out also waits until its record is kept, at most for
   * `auditDeadlineMs`. Failed log-ins never cause a refusal.
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
}

/** The sink does not keep records at present. */
interface Outage {
  /** The pause before the next call, in milliseconds. */
  readonly pauseMs: number;
}

const firstPauseMs = 100;
const longestPauseMs = 5000;

/** The largest size of the records in one call. A single larger record is still handed over. */
const mostBytesAtOnce = 1024 * 1024;

/** The largest size of all records in the queue. */
const mostBytes = 64 * 1024 * 1024;

/** Hands records to a sink. @internal */
export class SinkQueue {
  readonly #options: SinkQueueOptions;
  #pending: Pending[] = [];
  #bytes = 0;
  /** The number of records in the present call, which are the first ones. */
  #sent = 0;
  #dropped = 0;
  #outage: Outage | undefined;
  #emptying: Promise<void> | undefined;
  readonly #closing = new AbortController();
  #isClosed = false;

  constructor(options: SinkQueueOptions) {
    this.#options = options;
  }

  /**
   * The time after which a command can succeed, in milliseconds, if commands are refused now; `undefined` if they are not.
   * Records that strangers can cause never lead to a refusal.
   */
  get retryAfterMs(): number | undefined {
    if (!this.#options.required || this.#pending.length === 0) return undefined;
    const isKept = ({ rank, isLate }: Pending): boolean =>
      rank === 'stranger' || (this.#outage === undefined && !isLate);
    return this.#pending.every(isKept) ? undefined : (this.#outage?.pauseMs ?? firstPauseMs);
  }

  /**
   * Takes a record.
   *
   * @returns resolves when the caller can be answered: at once, or when the record is kept or the deadline has passed
   */
  async take(record: AuditRecord): Promise<void> {
    if (this.#isClosed) return;
    const size = sizeOf(record as unknown as Json, mostBytes);
    const pending: Pending = { record, rank: rankOf(record), size, kept: () => undefined, isLate: false };
    const isKept = new Promise<void>((resolve) => (pending.kept = resolve));
    this.#add(pending);
    this.#emptying ??= this.#empty();
    if (!this.#options.required || pending.rank !== 'done') return;
    const { clock, limits } = this.#options;
    const kept = await beforeDeadline(clock, limits.auditDeadlineMs, () => isKept);
    if (kept === 'late') pending.isLate = true;
  }

  /** Tries once more to hand over the records, and disposes of the sink. Each takes one deadline at most. */
  async close(): Promise<void> {
    const { sink, onError } = this.#options;
    this.#closing.abort();
    await this.#inTime(async () => this.#emptying);
    this.#isClosed = true;
    if (this.#pending.length > 0) onError(new Error(notKept(this.#pending.length + this.#dropped)));
    try {
      const disposed = await this.#inTime(async () => sink[Symbol.asyncDispose]?.());
      if (disposed === 'late') onError(this.#lateError('audit.dispose'));
    } catch (cause) {
      onError(callFailed('audit.dispose', cause, 'The interface closes.'));
    }
  }

  #inTime<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T | 'late'> {
    const { clock, limits } = this.#options;
    return beforeDeadline(clock, limits.auditDeadlineMs, ({ signal }) => call(signal));
  }

  #add(pending: Pending): void {
    this.#pending.push(pending);
    this.#bytes += pending.size;
    const { maxAuditKept } = this.#options.limits;
    while (this.#pending.length > maxAuditKept || this.#bytes > mostBytes) {
      const [victim] = this.#pending.splice(this.#leastImportant(), 1);
      if (victim === undefined) return;
      this.#bytes -= victim.size;
      this.#dropped += victim.record.kind === 'dropped' ? victim.record.count : 1;
    }
  }

  /** The position of the record to drop; the end of the queue if no record may be dropped. */
  #leastImportant(): number {
    let least = this.#pending.length;
    let rank: number = this.#options.required ? ranks.done : ranks.done + 1;
    for (let at = this.#sent; at < this.#pending.length && rank > 0; at += 1) {
      const each = this.#pending[at];
      if (each === undefined || ranks[each.rank] >= rank) continue;
      [least, rank] = [at, ranks[each.rank]];
    }
    return least;
  }

  /** Hands over records until none is left. */
  async #empty(): Promise<void> {
    // Wait one microtask, so that records of the same turn of the event loop go with one call.
    await Promise.resolve();
    const { clock } = this.#options;
    const { signal } = this.#closing;
    for (let pauseMs = firstPauseMs; this.#pending.length > 0 && !this.#isClosed;) {
      // Read before the call: a call that is made after the beginning of the end is the last one.
      const isLast = signal.aborted;
      if (await this.#handOver(pauseMs)) {
        pauseMs = firstPauseMs;
        continue;
      }
      if (isLast) break;
      // Nobody waits for the records themselves, so the process may end.
      await clock.sleep(pauseMs, signal, { keepAlive: false });
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    this.#emptying = undefined;
  }

  /** Hands over the first records. Tells whether the sink has kept them. */
  async #handOver(pauseMs: number): Promise<boolean> {
    let bytes = 0;
    const tooMany = this.#pending.findIndex(({ size }) => (bytes += size) > mostBytesAtOnce);
    this.#sent = tooMany === -1 ? this.#pending.length : Math.max(1, tooMany);
    const batch = this.#pending.slice(0, this.#sent);
    const error = await this.#errorOf(batch, pauseMs);
    this.#sent = 0;
    if (error !== undefined) {
      this.#beginOutage(error, pauseMs);
      return false;
    }
    this.#outage = undefined;
    this.#pending.splice(0, batch.length);
    for (const { size, kept } of batch) {
      this.#bytes -= size;
      kept();
    }
    this.#tellDropped();
    return true;
  }

  /** Makes a call, and gives its error; `undefined` if the sink has kept the records. */
  async #errorOf(batch: readonly Pending[], pauseMs: number): Promise<HostError | undefined> {
    const records = batch.map(({ record }) => record);
    let call: Promise<HostError | undefined> | undefined;
    const answer = await this.#inTime((signal) => (call = this.#append(records, signal)));
    if (answer !== 'late') return answer;
    this.#beginOutage(this.#lateError('audit.append'), pauseMs);
    // The call is not made again while it is in flight: the sink could keep the records twice.
    return call;
  }

  async #append(records: readonly AuditRecord[], signal: AbortSignal): Promise<HostError | undefined> {
    try {
      await this.#options.sink.append(records, { signal });
      return undefined;
    } catch (cause) {
      return callFailed('audit.append', cause, 'The call is made again until the sink keeps the records.');
    }
  }

  #lateError(call: 'audit.append' | 'audit.dispose'): HostError {
    const { auditDeadlineMs } = this.#options.limits;
    const what = call === 'audit.append' ? 'keep records' : 'be disposed of';
    const message = `The audit sink took longer than ${String(auditDeadlineMs)} ms to ${what}.`;
    return new HostError(message, { call });
  }

  #beginOutage(error: HostError, pauseMs: number): void {
    if (this.#outage === undefined) this.#options.onError(error);
    this.#outage = { pauseMs };
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
