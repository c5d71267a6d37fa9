/**
 * Collections: immutable lists of named resources in declaration order, with an index by key.
 *
 * An entry has an ordinal number as long as it is there. The index gives the number of a key, and a persistent map
 * gives the entry of a number, in order. A change of one entry of ten thousand copies a few nodes of the map and
 * nothing else.
 */
import type { Json } from '../json/value.ts';
import type { ProblemCode } from '../problem.ts';
import type { Batch } from './batch.ts';
import type { Fields } from './field.ts';
import { inspectList, inspectMethod, maxNamesPrinted } from './inspection.ts';
import { KeyMap } from './key-map.ts';
import { nameKey } from './name.ts';
import { OrderedMap } from './ordered-map.ts';
import { maskSecrets } from './secret.ts';

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
  /** The revision of the last change of anything that the resource shows. */
  readonly revision: number;
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
  /** The revision of the last change of anything that an entry shows. */
  readonly revision: number;
  /**
   * Finds an entry by name or key; `undefined` if there is no such entry. Names are compared as {@link nameKey} says.
   */
  find(name: string): T | undefined;
  /** At most `length` entries, from position `offset` on. */
  range(offset: number, length: number): readonly T[];
  /**
   * The output for `JSON.stringify`: the size, the revision and every entry, with `[redacted]` in place of hashes and
   * sealed texts. `console.log` shows the size and the first names.
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

/** The parts of a collection. */
interface Parts<T extends Entity> {
  readonly entries: OrderedMap<T>;
  readonly index: KeyMap;
  readonly revision: number;
  readonly fields: Fields | undefined;
  readonly isAbsent?: boolean;
}

/** The last index with which an index was compared, and found to need no other order. */
const inOrder = new WeakMap<KeyMap, KeyMap>();

/** The name of the class in printed output. */
const printedName = 'Collection';

/**
 * The implementation of {@link Collection}, with the functions that make the next collection.
 *
 * @internal
 */
export class IndexedCollection<T extends Entity> implements Collection<T> {
  /** The entries by their ordinal numbers. */
  readonly #entries: OrderedMap<T>;
  readonly #index: KeyMap;
  readonly #isAbsent: boolean;
  readonly #fields: Fields | undefined;
  // A plain property, because test runners compare the entries by the iterator and everything else by properties.
  readonly revision: number;

  private constructor({ entries, index, revision, fields, isAbsent = false }: Parts<T>) {
    this.#entries = entries;
    this.#index = index;
    this.#isAbsent = isAbsent;
    this.#fields = fields;
    this.revision = revision;
    Object.freeze(this);
  }

  /**
   * Makes a collection.
   *
   * @param entries - the resources, in declaration order
   * @param fields - the fields of the resources; left out if nobody asks for them
   * @returns the collection
   * @throws RangeError if two entries have the same key
   */
  static of<T extends Entity>(entries: Iterable<T>, fields?: Fields): IndexedCollection<T> {
    return IndexedCollection.#from(entries, 0, fields);
  }

  static #from<T extends Entity>(
    entries: Iterable<T>,
    least: number,
    fields: Fields | undefined,
  ): IndexedCollection<T> {
    const list = [...entries];
    const positions = new Map(list.map((entity, position) => [entity.key, position]));
    if (positions.size !== list.length) throw new RangeError('Two entries of a collection have the same key');
    const revision = list.reduce((most, entry) => Math.max(most, entry.revision), least);
    const byNumber = OrderedMap.from(list.entries());
    return new IndexedCollection({ entries: byNumber, index: KeyMap.of(positions), revision, fields });
  }

  /** Makes the empty collection of a gateway document without the list. The next collection is like any other. */
  static absent<T extends Entity>(fields?: Fields): IndexedCollection<T> {
    const nothing = { entries: OrderedMap.empty<T>(), index: KeyMap.of<number>([]), revision: 0 };
    return new IndexedCollection({ ...nothing, fields, isAbsent: true });
  }

  /** Whether a gateway document has left the list out. Such a document says nothing of the kind. */
  get isAbsent(): boolean {
    return this.#isAbsent;
  }

  /** The position of the entry with a key, in declaration order; `undefined` if there is no such entry. */
  positionOf(key: string): number | undefined {
    const number = this.#index.get(key);
    return number === undefined ? undefined : this.#entries.countBefore(number);
  }

  get size(): number {
    return this.#entries.size;
  }

  find(name: string): T | undefined {
    return this.findByKey(nameKey(name));
  }

  /**
   * Finds an entry by key. Faster than `find`, which folds the name; this matters for lists with a link in each row.
   */
  findByKey(key: string): T | undefined {
    const number = this.#index.get(key);
    return number === undefined ? undefined : this.#entries.get(number);
  }

  range(offset: number, length: number): readonly T[] {
    return this.#entries.values(offset, length);
  }

  /** The entries that an earlier collection does not have, or has as other objects. */
  since(earlier: IndexedCollection<T>): readonly T[] {
    return this.#entries.valuesSince(earlier.#entries);
  }

  /**
   * A copy of this collection in which `entity` replaces the entry with its key, or is added at the end. The
   * collections that a batch makes share what it changes in place: only the last one may be used.
   */
  with(entity: T, batch?: Batch): IndexedCollection<T> {
    const known = this.#index.get(entity.key);
    const number = known ?? (this.#entries.keysAt(this.size - 1, 1)[0] ?? -1) + 1;
    const index = known === undefined ? this.#index.with(entity.key, number) : this.#index;
    return this.#next(this.#entries.set(number, entity, batch), index, entity.revision);
  }

  /** A copy of this collection without the entry of a key, changed at a revision. */
  without(key: string, revision: number): IndexedCollection<T> {
    const number = this.#index.get(key);
    if (number === undefined) return this;
    return this.#next(this.#entries.delete(number), this.#index.without(key), revision);
  }

  #next(entries: OrderedMap<T>, index: KeyMap, changed: number): IndexedCollection<T> {
    const revision = Math.max(this.revision, changed);
    return new IndexedCollection({ entries, index, revision, fields: this.#fields });
  }

  /** The fields of the entries. */
  get fields(): Fields | undefined {
    return this.#fields;
  }

  /** Sums a number of each entry; see {@link OrderedMap.summing}. */
  summing(of: (entity: T) => bigint, known: WeakMap<object, bigint>): Generator<undefined, bigint> {
    return this.#entries.summing(of, known);
  }

  /**
   * This collection in the order of another one with the same keys, changed at a revision; the same object if the order
   * or the keys are equal.
   */
  inOrderOf(other: IndexedCollection<T>, revision: number): IndexedCollection<T> {
    if (inOrder.get(this.#index) === other.#index) return this;
    const own = this.range(0, Infinity);
    const ordered = other.range(0, Infinity).flatMap(({ key }) => this.findByKey(key) ?? []);
    const hasSameKeys = ordered.length === own.length && other.size === own.length;
    if (hasSameKeys && ordered.some((entry, at) => entry !== own[at]))
      return IndexedCollection.#from(ordered, revision, this.#fields);
    inOrder.set(this.#index, other.#index);
    return this;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.range(0, Infinity)[Symbol.iterator]();
  }

  toJSON(): Json {
    const { size, revision } = this;
    return maskSecrets({ size, revision, entries: this.range(0, Infinity) });
  }

  [inspectMethod](): string {
    const names = this.range(0, maxNamesPrinted).map(({ name }) => name);
    return inspectList(printedName, this.size, names);
  }
}
