/**
 * Collections: named things in declaration order, immutable, found by name key.
 *
 * The entries are one frozen array; the index from key to position is shared between collections until a name is
 * added or removed. So changing one of a thousand entries copies a thousand pointers and nothing else.
 */
import type { Json } from '../json/value.ts';
import { inspectList, inspectMethod, maxNamesPrinted } from './inspection.ts';
import { nameKey } from './name.ts';
import { maskSecrets } from './secret.ts';
import { latest, initialVersion, type Version } from './version.ts';

/**
 * What every named thing has.
 *
 * @public
 */
export interface Entity {
  /** The name as it was declared. */
  readonly name: string;
  /** The name folded for look-ups; see {@link nameKey}. */
  readonly key: string;
  /** When it last changed. */
  readonly version: Version;
}

/**
 * Named things in declaration order, such as the services of a snapshot. Immutable; only events make the next one.
 *
 * @example
 * ```ts
 * import { createSnapshot } from 'gateway-admin-core';
 *
 * const { services } = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * services.find('SALES')?.name; // => 'Sales'
 * services.find('Stock'); // => undefined
 * Array.from(services, ({ key }) => key); // => ['sales']
 * ```
 *
 * @public
 */
export interface Collection<T extends Entity> extends Iterable<T> {
  /** How many entries there are. */
  readonly size: number;
  /** When anything in it last changed. */
  readonly version: Version;
  /** The entry with this name, compared as names are; `undefined` when there is none. A key is a name, too. */
  find(name: string): T | undefined;
  /** The entries from the one at `offset` on, at most `length` of them. */
  range(offset: number, length: number): readonly T[];
  /**
   * What `JSON.stringify` and test runners show: the size, the version and every entry, with `[redacted]` in the place of
   * hashes and sealed texts. `console.log` shows the size and the first names.
   */
  toJSON(): Json;
}

const noSecrets: ReadonlySet<string> = new Set();

/** What a collection is called where it is printed. */
const kind = 'Collection';

/**
 * The collections of this library: what readers see, and how the next collection is made.
 *
 * @internal
 */
export class IndexedCollection<T extends Entity> implements Collection<T> {
  readonly #entries: readonly T[];
  readonly #positions: ReadonlyMap<string, number>;
  readonly #secrets: ReadonlySet<string>;
  // Not private to the language: test runners compare the entries by the iterator, and this as a property.
  readonly version: Version;

  private constructor(
    entries: readonly T[],
    positions: ReadonlyMap<string, number>,
    secrets: ReadonlySet<string>,
    version: Version,
  ) {
    this.#entries = entries;
    this.#positions = positions;
    this.#secrets = secrets;
    this.version = version;
    Object.freeze(this);
  }

  /**
   * Makes a collection.
   *
   * @param entries - the things, in declaration order
   * @param secrets - the names under which the things store secrets
   * @param version - when the collection last changed; needed when things were removed from it
   * @returns the collection
   * @throws RangeError when two entries have the same key
   */
  static of<T extends Entity>(
    entries: Iterable<T>,
    secrets: ReadonlySet<string> = noSecrets,
    version: Version = initialVersion,
  ): IndexedCollection<T> {
    const frozen = Object.freeze([...entries]);
    const positions = new Map(frozen.map((entity, position) => [entity.key, position]));
    if (positions.size !== frozen.length)
      throw new RangeError('Two entries of a collection have the same key');
    return new IndexedCollection(frozen, positions, secrets, version);
  }

  /** From key to position in declaration order. Shared with the session table, and with nobody else. */
  get positions(): ReadonlyMap<string, number> {
    return this.#positions;
  }

  get size(): number {
    return this.#entries.length;
  }

  find(name: string): T | undefined {
    return this.findByKey(nameKey(name));
  }

  /** The entry with this key. Unlike `find` it does not fold, which counts where a list has a link in each row. */
  findByKey(key: string): T | undefined {
    const position = this.#positions.get(key);
    return position === undefined ? undefined : this.#entries[position];
  }

  range(offset: number, length: number): readonly T[] {
    if (offset === 0 && length >= this.#entries.length) return this.#entries;
    // Filled by index: `slice` of a frozen array is hundreds of times slower on Node 20.
    const part: T[] = [];
    const end = Math.min(offset + length, this.#entries.length);
    for (let position = offset; position < end; position += 1) {
      const entity = this.#entries[position];
      if (entity !== undefined) part.push(entity);
    }
    return part;
  }

  /** This collection with one entry replaced by one of the same key, or added at the end. */
  with(entity: T): IndexedCollection<T> {
    const position = this.#positions.get(entity.key);
    const version = latest(this.version, entity.version);
    if (position === undefined)
      return IndexedCollection.of([...this.#entries, entity], this.#secrets, version);
    // Spread, because `with` of a frozen array is as slow.
    const entries = [...this.#entries];
    entries[position] = entity;
    return new IndexedCollection(Object.freeze(entries), this.#positions, this.#secrets, version);
  }

  /** This collection without the entry of this key, changed at `version`. */
  without(key: string, version: Version): IndexedCollection<T> {
    if (!this.#positions.has(key)) return this;
    return IndexedCollection.of(
      this.#entries.filter((entity) => entity.key !== key),
      this.#secrets,
      latest(this.version, version),
    );
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#entries[Symbol.iterator]();
  }

  // Jest prints a copy that has lost the private fields, but has what the getters of the original gave.
  get toJSON(): () => Json {
    return () =>
      maskSecrets({ size: this.size, version: this.version, entries: this.#entries }, this.#secrets);
  }

  // Vitest would print a copy, too; but not of an object that says what it is.
  get [Symbol.toStringTag](): string {
    return kind;
  }

  [inspectMethod](): string {
    const names = this.range(0, maxNamesPrinted).map(({ name }) => name);
    return inspectList(kind, this.size, names);
  }
}
