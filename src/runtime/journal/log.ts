/**
 * Logs: the records of a journal in their store, and the state that they lead to.
 */
import type { Json } from '../../json/value.ts';
import type { ConfigurationStore } from '../../ports/port.ts';
import type { FleetPlace } from '../../core/decision.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Execution, Refusal } from '../command/execution.ts';
import type { History } from './history.ts';
import type { JournalRecord } from './record.ts';
import type { StoreCall } from '../instrumentation/instruments.ts';

/** Makes a call until the store answers. Rejects if the store is lost, or failed calls are not made again. @internal */
export type Ask = <T>(name: StoreCall, call: () => Promise<T>) => Promise<T>;

/** The place of a stored record. @internal */
export interface Placed {
  /** Gives a snapshot the versions that the record has led to, where several gateways share them, as a given revision. */
  readonly align: (this: void, snapshot: Snapshot, revision: number) => Snapshot;
  /** The place for the events of the record; left out if no other gateway shares them. */
  readonly fleet?: FleetPlace;
}

/** The place of a record that no other gateway has to know. @internal */
export const nowhere: Placed = Object.freeze({ align: (snapshot: Snapshot) => snapshot });

/**
 * A decision cannot be stored, because another node has changed or holds a resource that it rests on. The command is decided
 * again.
 *
 * @internal
 */
export class Overtaken extends Error {
  constructor() {
    super('Another node was faster');
    this.name = 'Overtaken';
  }
}

/** A result cannot be stored, because others have ended its command. @internal */
export class Fenced extends Error {
  /** Gives the answer to the command. */
  readonly answerTo: (commandId: string) => Execution;

  constructor(answerTo: Fenced['answerTo']) {
    super('Others have ended the command');
    this.name = 'Fenced';
    this.answerTo = answerTo;
  }
}

/** This process can use the log no more, for a reason that is no failure of the store. @internal */
export class LogEnded extends Error {
  /** Gives the refusal of a command; `held` says what earlier parts of the command have done. */
  readonly refusal: (held?: string) => Refusal;

  constructor(reason: string, refusal: LogEnded['refusal']) {
    super(reason);
    this.refusal = refusal;
  }
}

/** The link of what all nodes share besides their resources: the read-only mode. @internal */
export const modeLink = '/';

/** What decides whether a caller may change something: the users, and the mode of the interface. @internal */
export const callerLinks: readonly string[] = ['/users', modeLink];

/** What a decision rests on, besides the resources of its record. @internal */
export interface Basis {
  /** The {@link Log.moment} of the decision. */
  readonly since: number;
  /** Links of what else was looked at, such as the users among whom the caller is. */
  readonly links: readonly string[];
}

/** A record for a log. @internal */
export interface Entering {
  readonly record: JournalRecord;
  /** The links of the resources that the record is about. */
  readonly resources: readonly string[];
  /** What a decision rests on; left out if the record is no new decision. */
  readonly basis?: Basis;
}

/**
 * Something that is not stored, but that others may be in the way of: the log is read on first. `objection` is as in
 * {@link Entry}.
 *
 * @internal
 */
export type Look = Pick<Entry, 'objection'>;

/** A record on its way into the log. @internal */
export interface Entry {
  /** The stored form. */
  readonly json: Json;
  /** Why the record can no longer be stored: others were faster. `undefined` if the record can be stored. */
  objection(this: void): Error | undefined;
  /** The place of the record, if the log has met the record among the records that it has read. */
  found(this: void): Placed | undefined;
  /** Takes the stored record into the state. */
  take(this: void): Placed;
  /** The record will not be stored. */
  drop(this: void): void;
}

/** A log. @internal */
export interface Log {
  /** The highest stored revision. */
  readonly revision: number;
  /** The end of the log. */
  readonly position: string;
  /** The place of a change that the log does not have. Left out if no other gateway shares the log. */
  readonly present?: Placed;
  /** Counts what others have changed so far. */
  readonly moment: number;
  /** Makes the entry of a record; a look, or `undefined`, for a record that is not stored. */
  enter(entering: Entering): Entry | Look | undefined;
  append(records: readonly Json[], ask: Ask): Promise<void>;
  /** Replaces the records by the state that they lead to. */
  compact(ask: Ask): Promise<void>;
  /** Takes in what others have appended. Left out if nobody else may append: a conflict then ends the log. */
  follow?(ask: Ask): Promise<void>;
  /** See {@link Journal}. Left out if nobody else can be in the way. */
  obstacleTo?(resources: readonly string[], links: readonly string[]): Refusal | undefined;
  /** Disposes of the store. */
  dispose(): Promise<void>;
}

/** The log of a store that this interface alone has open. @internal */
export class OwnLog implements Log {
  readonly moment = 0;
  readonly #store: ConfigurationStore;
  readonly #history: History;
  #position: string;

  /**
   * @param store - the store
   * @param history - the state from the content of the store
   * @param position - the end of the store
   */
  constructor(store: ConfigurationStore, history: History, position: string) {
    this.#store = store;
    this.#history = history;
    this.#position = position;
  }

  get revision(): number {
    return this.#history.revision;
  }

  get position(): string {
    return this.#position;
  }

  enter({ record }: Entering): Entry {
    return {
      json: record as unknown as Json,
      objection: () => undefined,
      found: () => undefined,
      take: () => {
        this.#history.take(record);
        return nowhere;
      },
      drop: () => undefined,
    };
  }

  async append(records: readonly Json[], ask: Ask): Promise<void> {
    const expectedPosition = this.#position;
    this.#position = await ask('append', () => this.#store.append(records, { expectedPosition }));
  }

  async compact(ask: Ask): Promise<void> {
    const state = this.#history.toState();
    const expectedPosition = this.#position;
    this.#position = await ask('compact', () => this.#store.compact(state, { expectedPosition }));
  }

  async dispose(): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}
