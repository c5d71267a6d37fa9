/**
 * Collections: immutable lists of named resources in declaration order, with an index by key.
 *
 * The entries are one frozen array. Collections share the index from key to ordinal number: an entry keeps its number as long
 * as it is there, so an entry that comes or goes changes the index in one place. A change of one entry of a thousand copies a
 * thousand pointers and nothing else.
 */
import type { Json } from '../json/value.ts';
import type { ProblemCode } from '../problem.ts';
import type { Batch } from './batch.ts';
import { inspectList, inspectMethod, maxNamesPrinted } from './inspection.ts';
import { KeyMap } from './key-map.ts';
import { nameKey } from './name.ts';
import { maskSecrets } from './secret.ts';
import { latest, initialVersion, type Version } from './version.ts';

/**
 * The members of every named resource.
 *
 * @public
 */
export interface Entity {
  /** The name as declared. */
  readonly name: string;
  /** The name folded for look-ups; see {@link nameKey}. */
  readonly key: string;
  /** The version of the resource. */
  readonly version: Version;
}

/**
 * Named resources in declaration order, such as the services of a snapshot. Immutable: only events make the next
 * collection.
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
  /** The number of entries. */
  readonly size: number;
  /** The version of the last change of any entry. */
  readonly version: Version;
  /**
   * Finds an entry by name or key; `undefined` if there is no such entry. Names are compared as {@link nameKey} says.
   */
  find(name: string): T | undefined;
  /** At most `length` entries, from position `offset` on. */
  range(offset: number, length: number): readonly T[];
  /**
   * The output for `JSON.stringify` and test runners: the size, the version and every entry, with `[redacted]` in place
   * of hashes and sealed texts. `console.log` shows the size and the first names.
   */
  toJSON(): Json;
}

/** The words for one resource that have a problem code for a name without a resource. @internal */
export type Singular = ProblemCode extends infer Code
  ? Code extends `${infer Word}-not-found`
    ? Word
    : never
  : never;

/**
 * The names of a collection. `T` is the type of its resources, which only the compiler reads.
 *
 * @internal
 */
export interface Named<T extends Entity, K extends Singular = Singular> {
  /** The member of a snapshot and of a gateway document, and the first segment of a link: `services`. */
  readonly collection: string;
  /** The word for one resource, also in the types of events and effects: `service`. */
  readonly singular: K;
  /** Never there. */
  readonly resource?: T;
}

/** The entries of a collection, with their index. */
interface Entries<T> {
  readonly entries: T[];
  readonly index: KeyMap;
  readonly ordinals?: readonly number[] | undefined;
}

const noSecrets: ReadonlySet<string> = new Set();

/** The name of the class in printed output. */
const printedName = 'Collection';

/**
 * The implementation of {@link Collection}, with the functions that make the next collection.
 *
 * @internal
 */
export class IndexedCollection<T extends Entity> implements Collection<T> {
  /** Frozen, but for a draft of a batch. */
  readonly #entries: T[];
  /** The ordinal number of each entry, in ascending order; `undefined` while they are the positions. */
  readonly #ordinals: readonly number[] | undefined;
  readonly #index: KeyMap;
  readonly #secrets: ReadonlySet<string>;
  /** The batch that may replace entries in place, until its end. */
  readonly #batch: Batch | undefined;
  // A plain property, because test runners compare the entries by the iterator and everything else by properties.
  version: Version;

  private constructor(
    { entries, index, ordinals }: Entries<T>,
    secrets: ReadonlySet<string>,
    version: Version,
    batch?: Batch,
  ) {
    this.#entries = entries;
    this.#index = index;
    this.#ordinals = ordinals;
    this.#secrets = secrets;
    this.#batch = batch;
    this.version = version;
    if (batch === undefined) this.freeze();
    else batch.add(this);
  }

  /** Freezes the collection, at the end of its batch. */
  freeze(): void {
    Object.freeze(this.#entries);
    Object.freeze(this);
  }

  /**
   * Makes a collection.
   *
   * @param entries - the resources, in declaration order
   * @param secrets - the names of the members that store secrets
   * @param version - the version of the last change, if it is later than that of each entry: an entry was removed
   * @returns the collection
   * @throws RangeError if two entries have the same key
   */
  static of<T extends Entity>(
    entries: Iterable<T>,
    secrets: ReadonlySet<string> = noSecrets,
    version: Version = initialVersion,
  ): IndexedCollection<T> {
    const list = [...entries];
    const positions = new Map(list.map((entity, position) => [entity.key, position]));
    if (positions.size !== list.length) throw new RangeError('Two entries of a collection have the same key');
    const index = KeyMap.of(positions);
    return new IndexedCollection({ entries: list, index }, secrets, latestOf(list, version));
  }

  /** The position of the entry with a key, in declaration order; `undefined` if there is no such entry. */
  positionOf(key: string): number | undefined {
    const ordinal = this.#index.get(key);
    if (ordinal === undefined || this.#ordinals === undefined) return ordinal;
    let [low, high] = [0, this.#ordinals.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordinals[middle] ?? 0) < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get size(): number {
    return this.#entries.length;
  }

  find(name: string): T | undefined {
    return this.findByKey(nameKey(name));
  }

  /**
   * Finds an entry by key. Faster than `find`, which folds the name; this matters for lists with a link in each row.
   */
  findByKey(key: string): T | undefined {
    const position = this.positionOf(key);
    return position === undefined ? undefined : this.#entries[position];
  }

  range(offset: number, length: number): readonly T[] {
    if (offset === 0 && length >= this.#entries.length) return this.#entries;
    // Copied one by one, because `slice` of a frozen array is hundreds of times slower on Node 20.
    const part: T[] = [];
    const end = Math.min(offset + length, this.#entries.length);
    for (let position = offset; position < end; position += 1) {
      const entity = this.#entries[position];
      if (entity !== undefined) part.push(entity);
    }
    return part;
  }

  /**
   * A copy of this collection in which `entity` replaces the entry with its key, or is added at the end. The second entry that
   * a batch replaces is replaced in the copy that the first one has made.
   */
  with(entity: T, batch?: Batch): IndexedCollection<T> {
    const position = this.positionOf(entity.key);
    const version = latest(this.version, entity.version);
    if (position !== undefined && batch !== undefined && batch === this.#batch) {
      this.#entries[position] = entity;
      this.version = version;
      return this;
    }
    if (position !== undefined) {
      // Spread, because `with` of a frozen array is hundreds of times slower on Node 20.
      const entries = [...this.#entries];
      entries[position] = entity;
      return this.#next({ entries, index: this.#index, ordinals: this.#ordinals }, version, batch);
    }
    // Not spread with the entity, because that makes room for half as many again.
    const entries = [...this.#entries].toSpliced(this.size, 0, entity);
    const ordinal = (this.#ordinals?.at(-1) ?? this.size - 1) + 1;
    const index = this.#index.with(entity.key, ordinal);
    return this.#next({ entries, index, ordinals: this.#ordinals && [...this.#ordinals, ordinal] }, version);
  }

  /** A copy of this collection without the entry of a key, changed at `version`. */
  without(key: string, version: Version): IndexedCollection<T> {
    const position = this.positionOf(key);
    if (position === undefined) return this;
    const [entries, ordinals] = [[...this.#entries], [...(this.#ordinals ?? this.#entries.keys())]];
    entries.splice(position, 1);
    ordinals.splice(position, 1);
    return this.#next({ entries, index: this.#index.without(key), ordinals }, latest(this.version, version));
  }

  #next(entries: Entries<T>, version: Version, batch?: Batch): IndexedCollection<T> {
    return new IndexedCollection(entries, this.#secrets, version, batch);
  }

  /** This collection with other versions; the same object if they are equal. */
  revised(
    versionOf: (entity: T) => Version,
    ownVersion: (present: Version) => Version,
  ): IndexedCollection<T> {
    const entries = this.#entries.map((entity) => {
      const next = versionOf(entity);
      return next === entity.version ? entity : Object.freeze({ ...entity, version: next });
    });
    const version = latestOf(entries, ownVersion(this.version));
    const isSame = version === this.version && entries.every((entity, at) => entity === this.#entries[at]);
    return isSame ? this : this.#next({ entries, index: this.#index, ordinals: this.#ordinals }, version);
  }

  /** This collection in the order of another one with the same keys; the same object if the order or the keys are equal. */
  inOrderOf(other: IndexedCollection<T>): IndexedCollection<T> {
    const isSame = this.#entries.every(({ key }, at) => other.positionOf(key) === at);
    const ordered = other.#entries.flatMap(({ key }) => this.findByKey(key) ?? []);
    return isSame || ordered.length !== this.size || other.size !== this.size
      ? this
      : IndexedCollection.of(ordered, this.#secrets, this.version);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#entries[Symbol.iterator]();
  }

  // A getter for Jest, which prints a copy with the values of getters and without the private fields.
  get toJSON(): () => Json {
    return () =>
      maskSecrets({ size: this.size, version: this.version, entries: this.#entries }, this.#secrets);
  }

  // A tag for Vitest, which prints a similar copy of every object without a tag.
  get [Symbol.toStringTag](): string {
    return printedName;
  }

  [inspectMethod](): string {
    const names = this.range(0, maxNamesPrinted).map(({ name }) => name);
    return inspectList(printedName, this.size, names);
  }
}

/** The latest of a version and the versions of all entries; the version itself if none is later. */
function latestOf(entries: readonly Entity[], version: Version): Version {
  let { command, live } = version;
  for (const entry of entries) {
    command = Math.max(command, entry.version.command);
    live = Math.max(live, entry.version.live);
  }
  return command === version.command && live === version.live ? version : Object.freeze({ command, live });
}
