/**
 * A shared store in memory, for tests, simulations and first steps of a fleet: one content in the process, on which
 * every node opens a store of its own. The content ends with the process.
 */
import { assertMembers } from '../core/member.ts';
import type { Json } from '../json/value.ts';
import type { LogStep, SharedStore, StoredHistory } from './port.ts';
import { StoreConflictError } from './port-error.ts';

/**
 * The options of `createSharedMemory`.
 *
 * @beta
 */
export interface SharedMemoryOptions {
  /** Called for each hint that `changed` would give. If the function answers `true`, the hint is lost. */
  readonly losesHint?: () => boolean;
}

/**
 * The content that several stores share, in memory.
 *
 * @beta
 */
export interface SharedMemory {
  /** Opens a store on the content. Each node opens a store of its own. */
  open(): SharedStore;
  /**
   * Takes a backup of the content.
   *
   * @returns a function that restores the backup, under the stores that are open. The positions that were given since
   *   the backup are then `gone`
   */
  backup(): () => void;
}

/**
 * Creates the content of a fleet in memory. `durable` of its stores is false.
 *
 * The content is kept as JSON texts, and shares no object with the callers. A compaction drops the records before it: a
 * node that has not read them gets `gone`.
 *
 * @param options - faults for tests
 * @returns the content, without a state and without records
 *
 * @example
 * ```ts
 * import { createSharedMemory } from 'gateway-admin-core/fleet';
 *
 * const memory = createSharedMemory();
 * const [one, other] = [memory.open(), memory.open()];
 * const { position } = await one.load();
 * const end = await other.append([{ add: 1 }], { expectedPosition: position });
 *
 * const steps = await one.read(position);
 * steps !== 'gone' && steps[0]?.records; // => [{ add: 1 }]
 * steps !== 'gone' && steps[0]?.position === end; // => true
 * ```
 *
 * @beta
 */
export function createSharedMemory(options: SharedMemoryOptions = {}): SharedMemory {
  assertMembers(options, ['losesHint'], 'option of createSharedMemory');
  const { losesHint = () => false } = options;
  const content = new Content();
  return Object.freeze({
    open: () => new SharedMemoryStore(content, losesHint),
    backup: () => content.backup(),
  });
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

class Content {
  /** The state of the last compaction. */
  state: string | undefined;
  /** The steps since the last compaction. Before them, without its records, the step that nodes may go on from. */
  steps: [Step, ...Step[]] = [stepOf(0, drawId(), [])];
  announced: ReadonlyMap<string, string> = new Map();
  /** Called after each change. */
  readonly watchers = new Set<() => void>();

  get end(): Step {
    return this.steps.at(-1) ?? this.steps[0];
  }

  /** Adds a step, unless the content ends with this very call already. Gives the position behind the step. */
  add(step: { readonly id: string; readonly texts: readonly string[] }, expectedPosition: string): string {
    return this.#settle(step.id, expectedPosition, (count) => {
      this.steps.push(stepOf(count + step.texts.length, step.id, step.texts));
    });
  }

  replace(step: { readonly id: string; readonly state: string }, expectedPosition: string): string {
    return this.#settle(step.id, expectedPosition, (count) => {
      this.state = step.state;
      this.steps = [{ ...this.end, texts: [] }, stepOf(count + 1, step.id, [])];
    });
  }

  backup(): () => void {
    const { state, announced } = this;
    const steps = [...this.steps];
    return () => {
      Object.assign(this, { state, announced, steps: [...steps] });
      this.#tell();
    };
  }

  #settle(id: string, expectedPosition: string, change: (count: number) => void): string {
    const { count, position } = this.end;
    if (position === positionOf(count, id)) return position;
    if (position !== expectedPosition) throw new StoreConflictError(expectedPosition, position);
    change(count);
    this.#tell();
    return this.end.position;
  }

  #tell(): void {
    for (const watch of this.watchers) watch();
  }
}

class SharedMemoryStore implements SharedStore {
  readonly durable = false;
  readonly #content: Content;
  readonly #losesHint: () => boolean;
  /** Ends the waiting calls of `changed`. */
  readonly #waiting = new Set<() => void>();
  #isOpen = true;
  #lastCall = { text: '', id: '' };

  constructor(content: Content, losesHint: () => boolean) {
    this.#content = content;
    this.#losesHint = losesHint;
  }

  async load(): Promise<StoredHistory> {
    const { state, steps, end } = this.#opened();
    const history = { records: recordsOf(steps), position: end.position };
    return Promise.resolve(state === undefined ? history : { state: valueOf(state), ...history });
  }

  async append(
    records: readonly Json[],
    { expectedPosition }: { readonly expectedPosition: string },
  ): Promise<string> {
    const texts = records.map(textOf);
    const id = this.#idOf(['append', expectedPosition, ...texts]);
    return Promise.resolve(this.#opened().add({ id, texts }, expectedPosition));
  }

  async compact(given: Json, { expectedPosition }: { readonly expectedPosition: string }): Promise<string> {
    const state = textOf(given);
    const id = this.#idOf(['compact', expectedPosition, state]);
    return Promise.resolve(this.#opened().replace({ id, state }, expectedPosition));
  }

  async read(after: string): Promise<readonly LogStep[] | 'gone'> {
    const { steps } = this.#opened();
    const index = steps.findLastIndex(({ position }) => position === after);
    const found = steps
      .slice(index + 1)
      .map(({ texts, position }) => ({ records: texts.map(valueOf), position }));
    return Promise.resolve(index === -1 ? 'gone' : found);
  }

  async changed(after: string, signal: AbortSignal): Promise<void> {
    const content = this.#opened();
    const hasHint = (): boolean => content.end.position !== after && !this.#losesHint();
    if (signal.aborted || hasHint()) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        content.watchers.delete(watch);
        this.#waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const watch = (): void => (hasHint() ? end() : undefined);
      content.watchers.add(watch);
      this.#waiting.add(end);
      signal.addEventListener('abort', end);
    });
  }

  async announce(node: string, status: Json | null): Promise<ReadonlyMap<string, Json>> {
    const content = this.#opened();
    const others = [...content.announced].filter(([name]) => name !== node);
    const own: typeof others = status === null ? [] : [[node, textOf(status)]];
    content.announced = new Map([...others, ...own]);
    return Promise.resolve(new Map([...content.announced].map(([name, text]) => [name, valueOf(text)])));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    for (const end of this.#waiting) end();
    return Promise.resolve();
  }

  #opened(): Content {
    if (!this.#isOpen) throw new Error('The store was disposed of. Open another store on the shared memory.');
    return this.#content;
  }

  /** The id of a call: the same as that of the last call if the call is the same again, and otherwise a new one. */
  #idOf(call: readonly string[]): string {
    const text = JSON.stringify(call);
    if (text !== this.#lastCall.text) this.#lastCall = { text, id: drawId() };
    return this.#lastCall.id;
  }
}

function stepOf(count: number, id: string, texts: readonly string[]): Step {
  return { count, position: positionOf(count, id), texts };
}

function positionOf(count: number, id: string): string {
  return `${String(count)}.${id}`;
}

/**
 * Draws the id of a call. Two calls that both end at the same count get different ids, also after a restored backup.
 */
function drawId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function recordsOf(steps: readonly Step[]): readonly Json[] {
  return steps.flatMap(({ texts }) => texts.map(valueOf));
}

function textOf(value: Json): string {
  return JSON.stringify(value);
}

function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
