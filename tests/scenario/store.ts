/**
 * A store of the scenario: it keeps records in memory, and fails when the scenario says so.
 */
import {
  createMemoryStore,
  StoreLostError,
  type ConfigurationStore,
  type Json,
  type Snapshot,
} from 'gateway-admin-core';
import { createSharedMemory, type SharedStore } from 'gateway-admin-core/fleet';

import type { Step } from '../fleet/simulation/shared-disk.ts';
import { appendTo, compactLog } from '../support/foreign-node.ts';

/** What becomes of a call that writes. */
export const storeWays = [
  'works',
  'rejects',
  'rejects what it keeps',
  'is silent',
  'is silent about what it keeps',
  'breaks off',
  'breaks off after it keeps',
  'is lost',
] as const;
export type StoreWay = (typeof storeWays)[number];

/** The line from a process to the store. */
export class Line {
  /** What becomes of the next calls that write, and of those after them. */
  next: StoreWay[] = [];
  always: StoreWay = 'works';
  /** Whether no call reaches the store. */
  isCut = false;
  /** Whether the process cannot announce itself to the other nodes. */
  isMute = false;

  takeWay(): StoreWay {
    return this.next.shift() ?? this.always;
  }
}

export class FailingStore {
  /** Whether the nodes of a fleet learn at once that others have written something. */
  givesHints = true;
  /** Called after each step of the log. */
  onStep: (step: Step, isShared: boolean) => void = () => undefined;
  /** Called when the shared log was set back, with the steps that are left. */
  onSetBack: (steps: readonly Step[]) => void = () => undefined;
  #steps: readonly Step[] = [];
  readonly #lines = new Map<string, Line>();
  readonly #single = createMemoryStore();
  readonly #shared = createSharedMemory({ losesHint: () => !this.givesHints });
  #setBack: (() => void) | undefined;

  /** The line of a place; without a place, that of all places. */
  line(place = ''): Line {
    const line = this.#lines.get(place) ?? new Line();
    this.#lines.set(place, line);
    return line;
  }

  /** The store as the process at a place sees it. */
  open(place: string | undefined): ConfigurationStore | SharedStore {
    const shared = place === undefined ? undefined : this.#shared.open();
    const store = shared ?? this.#single;
    const line = this.line(place);
    const reached = <T>(call: () => Promise<T>): Promise<T> =>
      line.isCut ? Promise.reject(new Error('The line is cut.')) : call();
    const isShared = shared !== undefined;
    /** Notes a step. The same call again changes nothing. */
    const noted = async (
      kind: Step['kind'],
      records: readonly Json[],
      call: Promise<string>,
    ): Promise<string> => {
      const id = await call;
      if (id === this.#steps.at(-1)?.id) return id;
      const step = { kind, id, count: 0, texts: records.map((record) => JSON.stringify(record)) };
      this.#steps = [...this.#steps, step];
      this.onStep(step, isShared);
      return id;
    };
    const calls = {
      durable: true,
      load: () => reached(() => store.load()),
      append: (...given: Parameters<typeof store.append>) =>
        reached(() => this.#write(line, () => noted('append', given[0], store.append(...given)))),
      compact: (...given: Parameters<typeof store.compact>) =>
        reached(() => this.#write(line, () => noted('compact', [given[0]], store.compact(...given)))),
      [Symbol.asyncDispose]: () => (shared === undefined ? Promise.resolve() : shared[Symbol.asyncDispose]()),
    };
    if (shared === undefined) return calls;
    return {
      ...calls,
      read: (after) => reached(() => shared.read(after)),
      changed: (after, signal) => reached(() => shared.changed(after, signal)),
      announce: (name, status) =>
        line.isMute && status !== null
          ? Promise.reject(new Error('Permission denied.'))
          : reached(() => shared.announce(name, status)),
    };
  }

  /** The end of the shared log. */
  async position(): Promise<string> {
    return (await this.#shared.open().load()).position;
  }

  backUp(): void {
    const [steps, restore] = [this.#steps, this.#shared.backup()];
    if (steps.length === 0) throw new Error('The store has nothing to back up');
    this.#setBack = () => {
      restore();
      this.#steps = steps;
      this.onSetBack(steps);
    };
  }

  setBack(): void {
    if (this.#setBack === undefined) throw new Error('The store has no backup');
    this.#setBack();
  }

  /** Compacts the log, as a node with a snapshot does. */
  compact(snapshot: Snapshot): Promise<void> {
    return compactLog(this.#shared.open(), snapshot);
  }

  /** Appends a record of a node that is not in the scenario. */
  take(record: Json): Promise<void> {
    return appendTo(this.#shared.open(), record);
  }

  async #write(line: Line, write: () => Promise<string>): Promise<string> {
    const [own, all] = [line.takeWay(), this.line()];
    const way = own === 'works' && line !== all ? all.takeWay() : own;
    if (way === 'works') return write();
    if (way.endsWith('keeps')) await write();
    if (way.startsWith('breaks off')) line.isCut = true;
    if (way === 'is lost') throw new StoreLostError('The table is gone.');
    if (way.startsWith('is silent')) return new Promise(() => undefined);
    throw new Error('The store failed.');
  }
}
