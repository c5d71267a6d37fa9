/**
 * A disk that outlives the processes that write to it, and fails in the ways that disks do.
 */
import type { ConfigurationStore, Json, StoredHistory } from 'gateway-admin-core';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

/** How often something goes wrong, from 0 to 1. */
export interface DiskFaults {
  /** A call rejects; what it was to keep is there in full, in part, or not at all. */
  readonly reject: number;
  /** A call is never answered; what it was to keep is there in full, in part, or not at all. */
  readonly never: number;
}

interface Content {
  readonly state?: string;
  readonly records: readonly string[];
  /** How often it was put together. */
  readonly generation: number;
}

type Change = (content: Content) => Content;

/** Keeps texts. A change takes a while; when the process dies meanwhile, a part of it may be there. */
export class Disk {
  faults: DiskFaults = { reject: 0, never: 0 };
  readonly #random: Random;
  readonly #clock: VirtualClock;
  #content: Content = { records: [], generation: 0 };
  /** What the process is writing at this moment, as all that it may leave behind. */
  #writing: readonly Change[] = [];

  constructor(random: Random, clock: VirtualClock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** What a process sees of it. Durable: that is the point of a disk. */
  store(): ConfigurationStore {
    return {
      durable: true,
      load: () => Promise.resolve(this.#history()),
      append: (records, { expectedPosition }) => {
        const texts = records.map((record) => JSON.stringify(record));
        const keep = (count: number): Change => {
          return ({ records: before, ...content }) => ({
            ...content,
            records: [...before, ...texts.slice(0, count)],
          });
        };
        return this.#write(
          expectedPosition,
          Array.from({ length: texts.length + 1 }, (_, count) => keep(count)),
        );
      },
      compact: (state, { expectedPosition }) => {
        const text = JSON.stringify(state);
        const replace: Change = ({ generation }) => ({
          state: text,
          records: [],
          generation: generation + 1,
        });
        return this.#write(expectedPosition, [(content) => content, replace]);
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  /** The process that writes has died: any part of what it was writing may be there. */
  tear(): void {
    if (this.#writing.length > 0) this.#content = this.#random.pick(this.#writing)(this.#content);
    this.#writing = [];
  }

  #history(): StoredHistory {
    const { state, records } = this.#content;
    const rest = { records: records.map(valueOf), position: this.#position() };
    return state === undefined ? rest : { state: valueOf(state), ...rest };
  }

  #position(): string {
    return `${String(this.#content.generation)}.${String(this.#content.records.length)}`;
  }

  /** @param changes - what may come of it, from nothing to all */
  async #write(expected: string, changes: readonly Change[]): Promise<string> {
    if (expected !== this.#position()) throw new Error(`Expected ${expected}, and it is ${this.#position()}`);
    this.#writing = changes;
    if (this.#random.chance(0.5)) await this.#clock.sleep(this.#random.below(20));
    // The process has died meanwhile, and another may be writing.
    if (this.#writing !== changes) return new Promise(() => undefined);
    if (this.#random.chance(this.faults.never)) return new Promise(() => undefined);
    const failing = this.#random.chance(this.faults.reject);
    const change = failing ? this.#random.pick(changes) : changes.at(-1);
    this.#content = change?.(this.#content) ?? this.#content;
    this.#writing = [];
    if (failing) throw new Error('The disk failed');
    return this.#position();
  }
}

function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
