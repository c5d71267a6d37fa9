/**
 * An audit sink of the scenario: it keeps each record once, and fails when the scenario says so.
 */
import type { AuditRecord, AuditSink } from 'gateway-admin-core';

export class Sink implements AuditSink {
  /** What becomes of the next calls. */
  way: 'works' | 'rejects' | 'is silent' = 'works';
  readonly #kept = new Set<string>();
  readonly #onKept: (record: AuditRecord) => void;
  readonly #onDisposal: () => void;

  constructor(onKept: (record: AuditRecord) => void, onDisposal: () => void) {
    this.#onKept = onKept;
    this.#onDisposal = onDisposal;
  }

  append: AuditSink['append'] = (records) => {
    if (this.way === 'rejects') return Promise.reject(new Error('The disk is full.'));
    if (this.way === 'is silent') return new Promise(() => undefined);
    for (const record of records) {
      if (!this.#kept.has(record.id)) this.#onKept(record);
      this.#kept.add(record.id);
    }
    return Promise.resolve();
  };

  [Symbol.asyncDispose] = (): Promise<void> => {
    this.#onDisposal();
    return Promise.resolve();
  };
}
