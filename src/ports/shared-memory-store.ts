/**
 * A shared store in memory, for tests, simulations and first steps of a fleet: one content in the process, on which
 * every node opens a store of its own. The content ends with the process.
 */
import { assertMembers } from '../core/member.ts';
import { MemoryContent, openContent, textOf, valueOf } from './memory-store.ts';
import type { SharedStore } from './port.ts';

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
  const content = new SharedContent();
  return Object.freeze({
    open: () => openShared(content, losesHint),
    backup: () => content.backup(),
  });
}

/** What the nodes share: a content whose positions no other one has, and what the nodes say of themselves. */
class SharedContent extends MemoryContent {
  announced: ReadonlyMap<string, string> = new Map();

  constructor() {
    const [drawn = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    super(`${drawn.toString(36)}-`);
  }

  backup(): () => void {
    const { state, announced } = this;
    const steps = [...this.steps];
    return () => {
      Object.assign(this, { state, announced, steps: [...steps] });
      this.tell();
    };
  }
}

function openShared(content: SharedContent, losesHint: () => boolean): SharedStore {
  const { store, assertOpen } = openContent(content, 'Open another store on the shared memory.');
  /** Ends the waiting calls of `changed`. */
  const waiting = new Set<() => void>();
  return {
    ...store,
    async load() {
      assertOpen();
      return store.load();
    },
    async read(after) {
      assertOpen();
      const { steps } = content;
      const index = steps.findLastIndex(({ position }) => position === after);
      const found = steps
        .slice(index + 1)
        .map(({ texts, position }) => ({ records: texts.map(valueOf), position }));
      return Promise.resolve(index === -1 ? 'gone' : found);
    },
    async changed(after, signal) {
      assertOpen();
      const hasHint = (): boolean => content.end.position !== after && !losesHint();
      if (signal.aborted || hasHint()) return;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          content.watchers.delete(watch);
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const watch = (): void => (hasHint() ? end() : undefined);
        content.watchers.add(watch);
        waiting.add(end);
        signal.addEventListener('abort', end);
      });
    },
    async announce(node, status) {
      assertOpen();
      const others = [...content.announced].filter(([name]) => name !== node);
      const own: typeof others = status === null ? [] : [[node, textOf(status)]];
      content.announced = new Map([...others, ...own]);
      return Promise.resolve(new Map([...content.announced].map(([name, text]) => [name, valueOf(text)])));
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      for (const end of waiting) end();
    },
  };
}
