/**
 * An audit sink that outlives the processes that write to it, and fails in the ways that sinks do.
 */
import type { AuditRecord, AuditSink } from 'gateway-admin-core';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

/** What a client was answered, and what its record must say. */
export interface Attested {
  readonly actor: string;
  readonly outcome: string;
  readonly code?: string;
}

/** Keeps records. A call that fails may have kept the records up to any one of them. */
export class Trail {
  /** How likely a call fails, from 0 to 1. */
  faults = 0.3;
  /** Whether no call answers well any more. */
  isBroken = false;
  /** What went wrong that must never go wrong. */
  readonly faultsFound: string[] = [];
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #kept = new Map<string, string>();
  readonly #byActor = new Map<string, AuditRecord[]>();

  constructor(random: Random, clock: VirtualClock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** The sink of one process. Where a call has failed, the next one must bring the same records again. */
  sink(): AuditSink & { readonly hasFailed: () => boolean } {
    let failed: readonly AuditRecord[] = [];
    let hasEverFailed = false;
    const fail = (records: readonly AuditRecord[]): void => {
      failed = records;
      hasEverFailed = true;
    };
    return {
      hasFailed: () => hasEverFailed,
      append: async (records, { signal }) => {
        if (failed.some((record, index) => records[index] !== record))
          this.faultsFound.push('the sink did not get the records of a failed call again');
        failed = [];
        if (!this.isBroken && !this.#random.chance(this.faults)) {
          this.#keep(records);
          return;
        }
        fail(records);
        if (this.#random.chance(0.3)) await this.#tarry(signal);
        this.#keep(records.slice(0, this.#random.below(records.length + 1)));
        if (this.isBroken || this.#random.chance(0.7)) throw new Error('The sink failed');
        this.#keep(records);
        failed = [];
      },
    };
  }

  /** What is missing: an answered attempt has its record, with the answer that the client got. */
  missing(attested: Iterable<Attested>): readonly string[] {
    return [...attested]
      .filter((each) => !this.has(each))
      .map(({ actor, outcome, code = '' }) => `no record says that ${actor} got ${outcome} ${code}`);
  }

  /** Whether the record of an answer is kept. */
  has({ actor, outcome, code }: Attested): boolean {
    const records = this.#byActor.get(actor) ?? [];
    return records.some((each) => {
      if (each.kind !== 'write') return false;
      const isDone = outcome === 'done' && (each.outcome === 'accepted' || each.outcome === 'unchanged');
      return isDone || (each.outcome === outcome && each.code === code);
    });
  }

  #keep(records: readonly AuditRecord[]): void {
    for (const record of records) {
      const text = JSON.stringify(record);
      const before = this.#kept.get(record.id);
      if (before !== undefined && before !== text)
        this.faultsFound.push(`two audit records have the id ${record.id}`);
      this.#kept.set(record.id, text);
      if (before !== undefined || record.kind !== 'write' || record.actor === undefined) continue;
      this.#byActor.set(record.actor, [...(this.#byActor.get(record.actor) ?? []), record]);
    }
  }

  /** Answers only after the deadline. */
  async #tarry(signal: AbortSignal): Promise<void> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await this.#clock.sleep(this.#random.below(2000));
  }
}
