/**
 * A persistent map from texts to values, made for few changes of many entries. The next map shares the entries, and
 * keeps its changes beside them. After many changes, the entries are copied.
 */

/** The largest number of changes beside the entries. Each change copies the changes before it. */
const mostChanges = 128;

/**
 * A map from texts to values. Never changes: a change gives another map.
 *
 * @internal
 */
export class KeyMap<V extends NonNullable<unknown> = number> implements Iterable<
  readonly [key: string, value: V]
> {
  readonly #entries: ReadonlyMap<string, V>;
  /** The values of the changed entries; `undefined` for an entry that is gone. */
  readonly #changes: ReadonlyMap<string, V | undefined>;

  private constructor(entries: ReadonlyMap<string, V>, changes: ReadonlyMap<string, V | undefined> = none) {
    this.#entries = entries;
    this.#changes = changes;
  }

  static of<V extends NonNullable<unknown>>(entries: Iterable<readonly [key: string, value: V]>): KeyMap<V> {
    return new KeyMap<V>(new Map(entries));
  }

  get(key: string): V | undefined {
    // Most maps have no changes.
    return this.#changes.size > 0 && this.#changes.has(key) ? this.#changes.get(key) : this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  with(key: string, value: V): KeyMap<V> {
    return this.#withChange(key, value);
  }

  without(key: string): KeyMap<V> {
    return this.has(key) ? this.#withChange(key, undefined) : this;
  }

  *[Symbol.iterator](): Generator<readonly [key: string, value: V], void, undefined> {
    for (const entry of this.#entries) if (!this.#changes.has(entry[0])) yield entry;
    for (const [key, value] of this.#changes) if (value !== undefined) yield [key, value];
  }

  #withChange(key: string, value: V | undefined): KeyMap<V> {
    const changes = new Map(this.#changes);
    // An entry that comes again is the last one.
    changes.delete(key);
    changes.set(key, value);
    return changes.size > mostChanges ? this.#flattened(changes) : new KeyMap(this.#entries, changes);
  }

  #flattened(changes: ReadonlyMap<string, V | undefined>): KeyMap<V> {
    const entries = new Map(this.#entries);
    for (const [key, value] of changes) {
      entries.delete(key);
      if (value !== undefined) entries.set(key, value);
    }
    return new KeyMap(entries);
  }
}

const none: ReadonlyMap<string, undefined> = new Map<string, undefined>();
