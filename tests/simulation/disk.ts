/**
 * A disk that outlives the processes that write to it, and fails in the ways that disks do.
 */
import {
  StoreConflictError,
  StoreLostError,
  type ConfigurationStore,
  type Json,
  type StoredHistory,
} from 'gateway-admin-core';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

/** How often something goes wrong, from 0 to 1. */
export interface DiskFaults {
  /** A call rejects; what it was to keep is there in full, in part, or not at all. */
  readonly reject: number;
  /** A call is never answered; what it was to keep gets there at some time in full, in part, or not at all. */
  readonly never: number;
}

interface Content {
  readonly state?: string;
  readonly records: readonly string[];
  /** How often it was put together. */
  readonly generation: number;
}

type Change = (content: Content) => Content;

/** A call that writes: what may come of it now, from nothing to all; throws when another has written there. */
type Write = () => readonly Change[];

/** What one process has of the disk. */
interface Handle {
  /** Why the process can use the disk no more. */
  lost?: StoreLostError;
}

/**
 * Keeps texts. A change takes a while; when the process dies meanwhile, a part of it may be there. A call that failed
 * may come again: it is known by its position and its content, and what is missing of it is added.
 */
export class Disk {
  faults: DiskFaults = { reject: 0, never: 0 };
  /** Gets every record that is there, once, whether or not the process has an answer. */
  onRecord: (record: Json) => void = () => undefined;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  #failsUntil = 0;
  #content: Content = { records: [], generation: 0 };
  /** What the newest process has of it. */
  #handle: Handle = {};
  /** What the process is writing at this moment. */
  readonly #writing = new Set<Write>();

  constructor(random: Random, clock: VirtualClock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** What a process sees of it. Durable: that is the point of a disk. */
  store(): ConfigurationStore {
    const handle: Handle = {};
    this.#handle = handle;
    const write = (call: Write): Promise<string> =>
      this.#write(() => {
        if (handle.lost !== undefined) throw handle.lost;
        return call();
      });
    return {
      durable: true,
      load: () => Promise.resolve(this.#history()),
      append: (records, { expectedPosition }) => {
        const texts = records.map((record) => JSON.stringify(record));
        return write(() => this.#appends(texts, expectedPosition));
      },
      compact: (state, { expectedPosition }) => {
        const text = JSON.stringify(state);
        return write(() => this.#compactions(text, expectedPosition));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  /** Every call that writes rejects for a time. */
  fail(milliseconds: number): void {
    this.#failsUntil = this.#clock.now() + milliseconds;
  }

  /**
   * The process that writes can write no more: the store says so, or another program has written there the same
   * content.
   */
  lose(how: 'taken' | 'rewritten'): void {
    if (how === 'taken') this.#handle.lost = new StoreLostError('Another program has taken the disk.');
    else this.#content = { ...this.#content, generation: this.#content.generation + 1 };
  }

  /** The process that writes has died: any part of what it was writing may be there. */
  tear(): void {
    for (const write of this.#writing) this.#leavePart(write);
    this.#writing.clear();
  }

  #history(): StoredHistory {
    const { state, records } = this.#content;
    const rest = { records: records.map(valueOf), position: this.#position() };
    return state === undefined ? rest : { state: valueOf(state), ...rest };
  }

  #position(count = this.#content.records.length): string {
    return `${String(this.#content.generation)}.${String(count)}`;
  }

  #appends(texts: readonly string[], expected: string): readonly Change[] {
    const { records } = this.#content;
    const first = Number(expected.split('.')[1]);
    const there = records.slice(first);
    const isOwn = there.length <= texts.length && there.every((text, index) => text === texts[index]);
    if (this.#position(first) !== expected || first > records.length || !isOwn)
      throw new StoreConflictError(expected, this.#position());
    return Array.from({ length: texts.length - there.length + 1 }, (_, more) => (content) => ({
      ...content,
      records: [...content.records, ...texts.slice(there.length, there.length + more)],
    }));
  }

  #compactions(text: string, expected: string): readonly Change[] {
    const { state, records, generation } = this.#content;
    const isThere =
      state === text && records.length === 0 && expected.startsWith(`${String(generation - 1)}.`);
    if (isThere) return [(content) => content];
    if (expected !== this.#position()) throw new StoreConflictError(expected, this.#position());
    const replace: Change = () => ({ state: text, records: [], generation: generation + 1 });
    return [(content) => content, replace];
  }

  async #write(write: Write): Promise<string> {
    write();
    this.#writing.add(write);
    if (this.#random.chance(0.5)) await this.#clock.sleep(this.#random.below(20));
    if (this.#random.chance(this.faults.never)) return this.#hang(write);
    // The process has died meanwhile, and another may be writing.
    if (!this.#writing.delete(write)) return new Promise(() => undefined);
    if (this.#clock.now() < this.#failsUntil || this.#random.chance(this.faults.reject)) {
      this.#leavePart(write);
      throw new Error('The disk failed');
    }
    this.#make(write().at(-1));
    return this.#position();
  }

  #make(change: Change = (content) => content): void {
    const { records } = this.#content;
    this.#content = change(this.#content);
    for (const text of this.#content.records.slice(records.length)) this.onRecord(valueOf(text));
  }

  /** Never answers. What was to be written may get there while the same call comes again, or long after that. */
  async #hang(write: Write): Promise<never> {
    await this.#clock.sleep(this.#random.below(20_000));
    if (this.#writing.delete(write)) this.#leavePart(write);
    return new Promise(() => undefined);
  }

  #leavePart(write: Write): void {
    try {
      this.#make(this.#random.pick(write()));
    } catch {
      // Others have written there meanwhile.
    }
  }
}

function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
