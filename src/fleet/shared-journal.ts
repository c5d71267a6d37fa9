/**
 * The shared journal of one node: stores the records of the node in the log that all nodes share.
 *
 * One queue orders all calls to the log: records, reads of what others have appended, and other calls. One call runs at
 * a time. Events that concern only this node, such as closed sessions, stay in memory.
 */
import type { Outage } from '../runtime/host/outbox.ts';
import { isConflict } from '../ports/port-error.ts';
import type { Keeping, OpenedJournal } from '../runtime/journal/journal.ts';
import type { Entries } from '../runtime/journal/entries.ts';
import { evolving, type Ask } from '../runtime/journal/log.ts';
import {
  asError,
  NotKept,
  RecordQueue,
  type Afterwards,
  type RecordQueueOptions,
} from '../runtime/journal/record-queue.ts';
import type { JournalRecord } from '../runtime/journal/record.ts';
import { isShared } from './shared-form.ts';
import type { Call, OwnRecord, SharedLog, Work } from './shared-log.ts';

/** The journal of a node. @internal */
export class SharedJournal extends RecordQueue<Work> implements OpenedJournal {
  readonly #log: SharedLog;
  readonly #own: Entries;

  /** @param options - with the entries of what no other node shares, which stay in memory */
  constructor(options: RecordQueueOptions<Work> & { readonly log: SharedLog; readonly own: Entries }) {
    super(options);
    this.#log = options.log;
    this.#own = options.own;
  }

  keep<T>({ then, ...rest }: Keeping<T>): Promise<T> {
    const keeping: Keeping<T> = {
      ...rest,
      then: (fold) => {
        this.#noteOwn(rest.record);
        return then(fold);
      },
    };
    const entry = this.#log.enter(keeping);
    if (entry.kind === 'record') return this.enter(entry, keeping);
    if (entry.kind === 'look') return this.#look(entry, keeping);
    return new Promise((resolve) => resolve(keeping.then(evolving)));
  }

  /** Notes what only this gateway does, such as closing: it is in no log. */
  #noteOwn(record: JournalRecord): void {
    if (record.type !== 'settlement') return;
    const events = record.events.filter((event) => !isShared(event));
    this.#own.take({ ...record, events, revision: this.#log.snapshot.revision });
  }

  /** Stores an entry of the log. */
  enter<T>(entry: OwnRecord, { use, then, onLate }: Afterwards<T>): Promise<T> {
    return this.put(entry, entry.json, { use, then, onLate, onDropped: entry.drop });
  }

  /** Looks whether others are in the way of something that is not stored. */
  async #look<T>({ objection }: Pick<OwnRecord, 'objection'>, { then }: Afterwards<T>): Promise<T> {
    const outage = await this.readOn();
    if (outage !== undefined) throw new NotKept(false, outage);
    const error = objection();
    if (error !== undefined) throw error;
    return then(evolving);
  }

  /**
   * Takes in what others have appended up to now. Does not wait through an outage, which can last for hours.
   *
   * @returns the outage if the store did not answer at some time meanwhile
   */
  async readOn(): Promise<Outage | undefined> {
    try {
      await this.put(this.#read(), undefined, { use: 'before', then: () => undefined });
      return undefined;
    } catch (error) {
      return (error as NotKept).outage;
    }
  }

  /** Takes in what others have appended. Resolves when that and all other work is done, or the journal has ended. */
  async readToEnd(): Promise<void> {
    this.put(this.#read(), undefined, { use: 'result', then: () => undefined }).catch(() => undefined);
    await this.idle();
  }

  /** A read of the log from now on. One read will do for all that wait by then. */
  #read(): Call {
    const log = this.#log;
    const { reads } = log;
    return {
      kind: 'call',
      call: (ask) => log.readOn(ask),
      isDone: () => log.reads > reads,
    };
  }

  /**
   * Makes another call to the log in turn.
   *
   * @returns what the call gives; rejects if the call conflicts with what others have appended, or the journal has
   *   ended
   */
  inTurn<T>(call: (ask: Ask) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isDone = false;
      const work: Call = {
        kind: 'call',
        call: async (ask) => {
          try {
            resolve(await call(ask));
          } catch (error) {
            if (!isConflict(error)) throw error;
            reject(asError(error));
            await this.#log.readOn(ask);
          }
          isDone = true;
        },
        isDone: () => isDone,
      };
      this.put(work, undefined, { use: 'result', then: () => undefined }).catch((error: unknown) => {
        reject(asError(error instanceof NotKept ? error.outage.error : error));
      });
    });
  }
}
