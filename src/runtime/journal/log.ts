/**
 * Logs: the records of a journal in their store, and the state that they lead to.
 */
import type { Json } from '../../json/value.ts';
import type { ConfigurationStore } from '../../ports/port.ts';
import { foldKnown, type AdminEvent } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Refusal } from '../command/execution.ts';
import type { StoreCall } from '../instrumentation/instruments.ts';
import type { JournalState } from './journal-state.ts';
import type { JournalRecord } from './record.ts';

/** Makes a call until the store answers. Rejects if the store is lost, or failed calls are not made again. @internal */
export type Ask = <T>(name: StoreCall, call: () => Promise<T>) => Promise<T>;

/** Folds the events of a stored record over a snapshot. Gives the events as they are published. @internal */
export type Fold = (
  before: Snapshot,
  events: readonly AdminEvent[],
) => { readonly next: Snapshot; readonly events: readonly AdminEvent[] };

/** Folds events as they are. Their types were checked when the command was decided, or loaded. @internal */
export const evolving: Fold = (before, events) => ({ next: foldKnown(before, events), events });

/** This process can use the log no more, for a reason that is no failure of the store. @internal */
export class LogEnded extends Error {
  /** Gives the refusal of a command; `done` says what earlier parts of the command have done. */
  readonly refusal: (done?: string) => Refusal;

  constructor(reason: string, refusal: LogEnded['refusal']) {
    super(reason);
    this.refusal = refusal;
  }
}

/** A record on its way into the log. @internal */
export interface Queued<R> {
  readonly record: R;
  /** Whether a call of the store contains the record. The log sets this before the call. */
  isSent: boolean;
  /** The store has the record. */
  readonly kept: (fold: Fold) => void;
  /** The record cannot be stored any more. */
  readonly refused: (error: Error) => void;
}

/** Marks records as sent, and gives them for a call of the store. @internal */
export function markSent<R>(queued: readonly Queued<R>[]): readonly R[] {
  return queued.map((each) => {
    each.isSent = true;
    return each.record;
  });
}

/** A log. @internal */
export interface Log<R> {
  /** Appends records, in order. A record that is neither kept nor refused stays in the queue, and comes again. */
  append(queued: readonly Queued<R>[], ask: Ask): Promise<void>;
  /** Replaces the records by the state that they lead to. Returns whether that was done. */
  compact(ask: Ask): Promise<boolean>;
  /** Disposes of the store. */
  dispose(): Promise<void>;
}

/** The log of a store that this interface alone has open. @internal */
export class OwnLog implements Log<JournalRecord> {
  readonly #store: ConfigurationStore;
  readonly #state: JournalState;
  #position: string;

  /**
   * @param store - the store
   * @param state - the state from the content of the store
   * @param position - the end of the store
   */
  constructor(store: ConfigurationStore, state: JournalState, position: string) {
    this.#store = store;
    this.#state = state;
    this.#position = position;
  }

  async append(queued: readonly Queued<JournalRecord>[], ask: Ask): Promise<void> {
    const records = markSent(queued) as unknown as readonly Json[];
    const expectedPosition = this.#position;
    this.#position = await ask('append', () => this.#store.append(records, { expectedPosition }));
    for (const { record, kept } of queued) {
      this.#state.take(record);
      kept(evolving);
    }
  }

  async compact(ask: Ask): Promise<boolean> {
    const state = this.#state.toState();
    const expectedPosition = this.#position;
    this.#position = await ask('compact', () => this.#store.compact(state, { expectedPosition }));
    return true;
  }

  async dispose(): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}
