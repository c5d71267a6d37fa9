/**
 * Stores in memory, for tests, simulations and first steps. Their content ends with the process.
 */
import { assertObject, type Json } from '../json/value.ts';
import type { ConfigurationStore, StoredHistory } from './port.ts';
import { StoreConflictError } from './port-error.ts';

/**
 * Creates a store in memory. `durable` is false.
 *
 * The store simulates a disk that outlives the interfaces that use the disk: after a disposal the store refuses every
 * call until `load` opens it again. If two interfaces use the store at once, the second one to write gets a
 * {@link StoreConflictError}, as with a shared database. The store keeps JSON texts and shares no object with its
 * callers.
 *
 * @param history - the initial content: a state, records, or both; empty if left out
 * @returns the store
 *
 * @example
 * ```ts
 * import { createMemoryStore } from 'gateway-admin-core';
 *
 * const store = createMemoryStore({ state: { count: 1 } });
 * const { position } = await store.load();
 * await store.append([{ add: 1 }, { add: 2 }], { expectedPosition: position });
 * await store[Symbol.asyncDispose]();
 *
 * const { state, records } = await store.load();
 * state; // => { count: 1 }
 * records; // => [{ add: 1 }, { add: 2 }]
 * ```
 *
 * @public
 */
export function createMemoryStore(
  history: Partial<Pick<StoredHistory, 'state' | 'records'>> = {},
): ConfigurationStore {
  assertObject(history, 'history');
  const content = new MemoryContent('', history);
  return Object.freeze(openContent(content, 'Call load() to use the store again.').store);
}

/** A call that changed the content. */
interface Step {
  /** The number of records and compactions up to here. */
  readonly count: number;
  /** The end of the call: the count, and the id of the call. */
  readonly position: string;
  /** The records that the call appended. */
  readonly texts: readonly string[];
}

/** What stores in memory contain, as JSON texts. @internal */
export class MemoryContent {
  /** The state of the last compaction. */
  state: string | undefined;
  /** The steps since the last compaction. Before them, without its records, the step that nodes may go on from. */
  steps: [Step, ...Step[]];
  /** Called after each change. */
  readonly watchers = new Set<() => void>();
  readonly #name: string;
  #calls = 0;

  /** @param name - begins the id of each call; the positions of contents with different names differ */
  constructor(name: string, { state, records = [] }: Partial<StoredHistory> = {}) {
    this.#name = name;
    this.state = state === undefined ? undefined : textOf(state);
    this.steps = [this.#step(records.length, records.map(textOf))];
  }

  get end(): Step {
    return this.steps.at(-1) ?? this.steps[0];
  }

  append(texts: readonly string[]): void {
    this.steps.push(this.#step(this.end.count + texts.length, texts));
    this.tell();
  }

  compact([state]: readonly string[]): void {
    this.state = state;
    this.steps = [{ ...this.end, texts: [] }, this.#step(this.end.count + 1, [])];
    this.tell();
  }

  tell(): void {
    for (const watch of this.watchers) watch();
  }

  /** No two calls have the same id, also if one comes after a backup that was taken before the other. */
  #step(count: number, texts: readonly string[]): Step {
    const position = `${String(count)}.${this.#name}${String(this.#calls)}`;
    this.#calls += 1;
    return { count, position, texts };
  }
}

/** A store on a content. @internal */
export interface MemoryClient {
  readonly store: ConfigurationStore;
  /** @throws Error if the store was disposed of */
  readonly assertOpen: () => void;
}

/**
 * Opens a store on a content.
 *
 * @param advice - what to do once the store was disposed of, in a sentence
 * @internal
 */
export function openContent(content: MemoryContent, advice: string): MemoryClient {
  let isOpen = true;
  let last: { readonly call: readonly string[]; readonly position: string } = { call: [], position: '' };
  const assertOpen = (): void => {
    if (!isOpen) throw new Error(`The store in memory was disposed of. ${advice}`);
  };
  /** Makes a call, unless the content ends with this very call of this store already. */
  const settle = (name: 'append' | 'compact', texts: readonly string[], expectedPosition: string): string => {
    assertOpen();
    const { position } = content.end;
    const call = [name, expectedPosition, ...texts];
    if (position !== expectedPosition) {
      if (position === last.position && isSameCall(call, last.call)) return position;
      throw new StoreConflictError(expectedPosition, position);
    }
    content[name](texts);
    last = { call, position: content.end.position };
    return last.position;
  };
  const store: ConfigurationStore = {
    durable: false,
    async load() {
      isOpen = true;
      const { state, steps, end } = content;
      const before = state === undefined ? {} : { state: valueOf(state) };
      const records = steps.flatMap(({ texts }) => texts.map(valueOf));
      return Promise.resolve({ ...before, records, position: end.position });
    },
    async append(added, { expectedPosition }) {
      // Every record is serialised before the first one is stored, so a failure stores none.
      return Promise.resolve(settle('append', added.map(textOf), expectedPosition));
    },
    async compact(state, { expectedPosition }) {
      return Promise.resolve(settle('compact', [textOf(state)], expectedPosition));
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      return Promise.resolve();
    },
  };
  return { store, assertOpen };
}

function isSameCall(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}

/** Gives the text of a value, as a content keeps it. @internal */
export function textOf(value: Json): string {
  return JSON.stringify(value);
}

/** Gives the value of a text of {@link textOf}. @internal */
export function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
