/**
 * The queue of waiting commands: all of them in order of arrival, and for each resource those that wait for it.
 */

/** What the queue knows of a command. @internal */
export interface QueueItem {
  /** The place in the order of arrival. Given by the queue. */
  place: number;
  /** The keys of the resources for which the command waits; empty before its first decision. Set by the queue. */
  resources: readonly string[];
}

/** The queue of waiting commands. @internal */
export class Queue<T extends QueueItem> {
  #all = new Set<T>();
  /** The commands that wait for a resource, by its key, in order of arrival. Mostly the first one leaves. */
  readonly #lines = new Map<string, T[]>();
  /** The places of the first and of the last command that ever came. */
  #first = 0;
  #last = 0;

  get size(): number {
    return this.#all.size;
  }

  has(item: T): boolean {
    return this.#all.has(item);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#all.values();
  }

  add(item: T): void {
    this.#last += 1;
    item.place = this.#last;
    this.#all.add(item);
  }

  /** Adds a command before all others. This takes time in proportion to the length of the queue. */
  addFirst(item: T): void {
    this.#first -= 1;
    item.place = this.#first;
    item.resources = [];
    this.#all = new Set([item, ...this.#all]);
  }

  /** Removes a command, which keeps the keys of its resources. Gives whether the command was in the queue. */
  delete(item: T): boolean {
    if (!this.#all.delete(item)) return false;
    this.#leaveLines(item);
    return true;
  }

  clear(): void {
    this.#all.clear();
    this.#lines.clear();
  }

  /** Lets a command wait for other resources than before. A command that has left waits for none. */
  waitFor(item: T, resources: readonly string[]): void {
    if (!this.#all.has(item)) return;
    this.#leaveLines(item);
    item.resources = resources;
    for (const key of new Set(resources)) {
      const line = this.#lines.get(key);
      if (line === undefined) this.#lines.set(key, [item]);
      else insert(line, item);
    }
  }

  /** The command that waits first for a resource. */
  firstFor(key: string): T | undefined {
    return this.#lines.get(key)?.[0];
  }

  #leaveLines(item: T): void {
    for (const key of item.resources) {
      const line = this.#lines.get(key) ?? [];
      const at = line.indexOf(item);
      // A long array loses its first item at once by `shift` alone.
      if (at === 0) line.shift();
      else if (at > 0) line.splice(at, 1);
      if (line.length === 0) this.#lines.delete(key);
    }
  }
}

/** Inserts a command into a list in order of arrival, once. Most commands come last. @internal */
export function insert<T extends QueueItem>(list: T[], item: T): void {
  const before = list.findLastIndex(({ place }) => place <= item.place);
  if (list[before] !== item) list.splice(before + 1, 0, item);
}
