/**
 * The audit log: gives records their ids, keeps the last records for any number of readers, and lets readers resume.
 */
import type { AuditGap, AuditRecord } from '../../ports/audit-record.ts';
import type { Clock } from '../../ports/port.ts';
import { BoundedLog, type LogView, type Start } from '../read/bounded-log.ts';
import { LateRecord, type AuditEntry } from './record.ts';

/**
 * The options of {@link Admin.audit}.
 *
 * @beta
 */
export interface AuditReadOptions {
  /** Id of the last record that the reader has processed. If left out, reading starts with the next new record. */
  readonly after?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

const view: LogView<LateRecord, AuditRecord | AuditGap> = {
  show: ({ record }) => record,
  gap: (next, missed) => ({
    kind: 'gap',
    ...(next === undefined ? {} : { next: next.id }),
    ...(missed === 0 ? {} : { missed }),
  }),
};

/** Keeps the last records. @internal */
export class AuditLog {
  readonly #log: BoundedLog<LateRecord>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #life: string;

  /**
   * @param capacity - the largest number of kept records
   * @param life - a text that no other life has, so that no id is used twice
   */
  constructor(capacity: number, life: string, clock: Pick<Clock, 'now'>) {
    this.#log = new BoundedLog(capacity, (kept, most) => kept.size(most));
    this.#life = life;
    this.#clock = clock;
  }

  /** Appends the record of an entry. */
  append(entry: AuditEntry): LateRecord {
    const id = `${this.#life}.${String(this.#log.count + 1)}`;
    const kept = new LateRecord(id, this.#clock.now(), entry);
    this.#log.append([kept]);
    return kept;
  }

  /** @throws RangeError when `after` is not the id of a record */
  read({ after, signal }: AuditReadOptions): AsyncIterableIterator<AuditRecord | AuditGap> {
    const start = after === undefined ? { position: this.#log.count, complete: true } : this.#after(after);
    return this.#log.read(start, signal, view);
  }

  /** Ends each reader after the reader has read the records in the log. */
  close(): void {
    this.#log.close();
  }

  #after(id: string): Start {
    const [, life, number] = /^([0-9a-f]+)\.([1-9]\d{0,14})$/.exec(id) ?? [];
    if (number === undefined)
      throw new RangeError('The id of an audit record must have the form <life>.<number>, such as 5f0c.7');
    const { count, oldest } = this.#log;
    const position = Number(number);
    // A number that is higher than the newest one cannot be an id of this life.
    if (life === this.#life && position <= count) return { position, complete: true };
    return { position: oldest, complete: false };
  }
}
