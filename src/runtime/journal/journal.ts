/**
 * The journal: stores the records that a restart needs. An intent is stored before the host is asked, and a settlement
 * before the client gets the answer.
 */
import type { Json } from '../../json/value.ts';
import { storeUnavailable, type Refusal } from '../command/execution.ts';
import type { Outage } from '../host/outbox.ts';
import { foldKnown } from '../../resources/index.ts';
import type { Entries } from './entries.ts';
import { evolving, LogEnded, type Fold } from './log.ts';
import type { Basis } from './basis.ts';
import { RecordQueue, type Afterwards } from './record-queue.ts';
import type { JournalRecord } from './record.ts';

/** A record, with its use. @internal */
export interface Keeping<T> extends Afterwards<T> {
  readonly record: JournalRecord;
  /** The links of the resources that the record is about. */
  readonly resources: readonly string[];
  /** What a decision rests on; left out if the record is no new decision, and without a coordinator. */
  readonly basis?: Basis | undefined;
}

/**
 * The refusal of a command in an outage of the store.
 *
 * @param done - what earlier parts of the command have done, in a sentence
 * @internal
 */
export function unavailableIn({ error, retryAfterMs }: Outage, done?: string): Refusal {
  return error instanceof LogEnded ? error.refusal(done) : storeUnavailable(retryAfterMs, done);
}

/** The journal of a writer. @internal */
export interface Journal {
  /** Whether there is a store. */
  readonly hasStore: boolean;
  /** The present outage; `undefined` while the store answers. */
  readonly outage: Outage | undefined;
  /**
   * Stores a record.
   *
   * @returns the result of `then`; rejects with `NotKept`, `Overtaken`, `Fenced`, or the error that `then` throws
   */
  keep<T>(keeping: Keeping<T>): Promise<T>;
  /** See {@link RecordQueue}. */
  stopRepeating(): void;
  /** See {@link RecordQueue}. */
  close(): Promise<void>;
}

/**
 * Ends a command in a journal without events. It does not reject: a failure of the store has gone to `onError`.
 *
 * @internal
 */
export async function endWithoutEvents(
  journal: Pick<Journal, 'keep'>,
  { id, resources }: { readonly id: string; readonly resources: readonly string[] },
  revision: number,
): Promise<void> {
  const record = { type: 'settlement', command: id, revision, events: [], last: true } as const;
  await journal.keep({ record, resources, use: 'upkeep', then: () => undefined }).catch(() => undefined);
}

/** The journal of what is kept elsewhere: stores nothing. @internal */
export const noJournal: Journal = Object.freeze({
  hasStore: false,
  outage: undefined,
  keep: <T>({ then }: Keeping<T>) =>
    new Promise<T>((resolve) => {
      resolve(then(evolving));
    }),
  stopRepeating: () => undefined,
  close: () => Promise.resolve(),
});

/** The journal of an interface without a store: the history alone, in memory. @internal */
export function journalInMemory(entries: Entries): Journal {
  return {
    ...noJournal,
    keep: <T>({ record, then }: Keeping<T>) =>
      new Promise<T>((resolve) => {
        resolve(then(foldInto(entries, record)));
        if (record.type === 'settlement' && record.last) entries.end(record.command);
      }),
  };
}

/** Folds events, and notes them as an entry of the command of a record. */
function foldInto(entries: Entries, record: JournalRecord): Fold {
  return (before, events) => {
    if (record.type === 'settlement')
      entries.take({ command: record.command, events, revision: before.revision + 1 });
    return { next: foldKnown(before, events), events };
  };
}

/** The journal of a store. @internal */
export interface OpenedJournal extends Journal, Pick<RecordQueue<unknown>, 'startRepeating' | 'idle'> {}

/** The journal of a store that this interface alone has open. @internal */
export class OwnJournal extends RecordQueue<JournalRecord> implements OpenedJournal {
  keep<T>({ record, ...following }: Keeping<T>): Promise<T> {
    return this.put(record, record as unknown as Json, following);
  }
}
