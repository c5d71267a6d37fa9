/**
 * The queue of waiting commands: all of them in order of arrival, and for each resource those that wait for it.
 */

/** What the queue knows of a command. @internal */
export interface Queued {
  /** Lower than that of every command behind it. Given by the queue. */
  place?: number;
  /** The keys of the resources that it waits for; empty before its first decision. Changed by the queue alone. */
  resources: readonly string[];
}

/** The queue of waiting commands. @internal */
export class Queue<T extends Queued> {
  #all = new Set<T>();
  /** The commands that wait for a resource, by its key, in order of arrival. Arrays, because the first one leaves most often. */
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

  /** Adds a command before all others. It takes time in proportion to the length of the queue. */
  addFirst(item: T): void {
    this.#first -= 1;
    item.place = this.#first;
    item.resources = [];
    this.#all = new Set([item, ...this.#all]);
  }

  /** Removes a command. Gives whether it was in the queue. */
  delete(item: T): boolean {
    if (!this.#all.delete(item)) return false;
    this.#leaveLines(item);
    return true;
  }

  clear(): void {
    this.#all.clear();
    this.#lines.clear();
  }

  /** Whether an earlier command waits for a resource. */
  isBehind({ place = 0 }: T, key: string): boolean {
    return (this.#lines.get(key)?.[0]?.place ?? place) < place;
  }

  /** Lets a command wait for resources, in place of those for which it has waited. */
  waitFor(item: T, resources: readonly string[]): void {
    this.#leaveLines(item);
    item.resources = resources;
    for (const key of resources) {
      const line = this.#lines.get(key) ?? [];
      // An earlier command stands at the end only after it was decided anew.
      line.splice(1 + line.findLastIndex((each) => byPlace(each, item) < 0), 0, item);
      this.#lines.set(key, line);
    }
  }

  /** The commands that are the first to wait for one of these resources, in order of arrival. */
  firstFor(keys: readonly string[]): readonly T[] {
    const found = keys.flatMap((key) => this.#lines.get(key)?.[0] ?? []);
    return found.length < 2 ? found : found.toSorted(byPlace);
  }

  #leaveLines(item: T): void {
    for (const key of item.resources) {
      const line = this.#lines.get(key);
      const at = line?.indexOf(item) ?? -1;
      if (at === 0) line?.shift();
      else if (at > 0) line?.splice(at, 1);
      if (line?.length === 0) this.#lines.delete(key);
    }
  }
}

function byPlace({ place: a = 0 }: Queued, { place: b = 0 }: Queued): number {
  return a - b;
}
