/**
 * A persistent ordered map: a counted B+ tree with safe integers as keys.
 *
 * A change copies the path from the root to one leaf. The new map shares all other nodes with the old map, and the old
 * map stays valid. Each node has the number of its entries and their total weight, so a position is found as fast as a
 * key.
 *
 * Two rules keep the map fast on Node 20. Nodes are instances of classes, because V8 allocates object literals in the
 * old generation once many were created at start. Arrays inside nodes are never frozen, and `toSpliced` creates them,
 * because such arrays have their exact size and unboxed numbers.
 */

/**
 * Token of a batch of changes, such as a {@link Batch}. A change with a token changes the nodes of earlier changes with
 * that token in place. So only the last map of a batch may be used. Maps made before the batch, or without the token,
 * do not change.
 */
type Owner = object;

/** The weight of a value: an integer, 0 or more, always the same for one value. @internal */
export type Weigh<V> = (this: void, value: V) => number;

/**
 * An entry that overlaps a range of weights, with the part of the entry inside the range.
 *
 * @internal
 */
export interface RangeEntry<V> {
  readonly key: number;
  readonly value: V;
  /** The weight of the entry before the range. */
  readonly start: number;
  /** The weight of the entry up to the end of the range. */
  readonly end: number;
}

/** The maximum number of items of a node. */
const width = 24;

/**
 * A node with fewer items is joined with a neighbour. Less than half of `width`, so that the next change does not
 * split.
 */
const leastWidth = 9;

/**
 * A map from safe integers to values other than `undefined`, ordered by key.
 *
 * @internal
 */
export class OrderedMap<V extends NonNullable<unknown>> implements Iterable<[key: number, value: V]> {
  readonly #root: Node<V>;
  readonly #weigh: Weigh<V>;

  private constructor(root: Node<V>, weigh: Weigh<V>) {
    this.#root = root;
    this.#weigh = weigh;
  }

  /**
   * The empty map. `weigh` gives the weights of this map and of all maps made from it; without `weigh` each weight is
   * 1.
   */
  static empty<V extends NonNullable<unknown>>(weigh: Weigh<V> = one): OrderedMap<V> {
    return new OrderedMap(new Leaf<V>(undefined, 0, [], []), weigh);
  }

  /** A map with the given entries; the last entry of each key counts. */
  static from<V extends NonNullable<unknown>>(entries: Iterable<readonly [number, V]>): OrderedMap<V> {
    const owner = {};
    let map = OrderedMap.empty<V>();
    for (const [key, value] of entries) map = map.set(key, value, owner);
    return map;
  }

  /** The number of entries. */
  get size(): number {
    return this.#root.count;
  }

  /** The total weight of all entries. */
  get weight(): number {
    return this.#root.weight;
  }

  /** The number of nodes on each level of the tree, the root first. For tests that a tree shrinks with its entries. */
  get nodeCounts(): readonly number[] {
    const counts: number[] = [];
    let level: readonly Node<V>[] = [this.#root];
    while (level.length > 0) {
      counts.push(level.length);
      level = level.flatMap((node) => (node instanceof Branch ? node.items : []));
    }
    return counts;
  }

  /** The value of a key. */
  get(key: number): V | undefined {
    let node = this.#root;
    while (node instanceof Branch) node = item(node.items, countUpTo(node.keys, key));
    const count = countUpTo(node.keys, key);
    return count > 0 && item(node.keys, count - 1) === key ? node.items[count - 1] : undefined;
  }

  /** The number of entries before a key. */
  countBefore(key: number): number {
    let [node, before] = [this.#root, 0];
    while (node instanceof Branch) {
      const at = countUpTo(node.keys, key);
      for (let left = 0; left < at; left += 1) before += item(node.items, left).count;
      node = item(node.items, at);
    }
    return before + countUpTo(node.keys, key - 1);
  }

  /** A copy of this map with one entry added or replaced; see {@link OrderedMap.update}. */
  set(key: number, value: V, owner?: Owner): OrderedMap<V> {
    return this.update(key, () => value, owner);
  }

  /** A copy of this map without the entry of a key; see {@link OrderedMap.update}. */
  delete(key: number, owner?: Owner): OrderedMap<V> {
    return this.update(key, () => undefined, owner);
  }

  /**
   * A copy of this map with one entry added, replaced or removed.
   *
   * @param key - a safe integer
   * @param recipe - maps the old value to the new value; `undefined` means no entry
   * @param owner - the batch of the change; if left out, no node is changed in place
   * @returns the new map, or this map if the value stays the same
   * @throws RangeError if the key is not a safe integer
   */
  update(key: number, recipe: (value: V | undefined) => V | undefined, owner?: Owner): OrderedMap<V> {
    if (!Number.isSafeInteger(key)) throw new RangeError(`A key must be a safe integer, not ${String(key)}`);
    const weigh = this.#weigh;
    const change: Edit<V> = { key, recipe, weigh, owner, gain: 0, growth: 0 };
    const root = this.#root.apply(change);
    return root === undefined ? this : new OrderedMap(asRoot(root, change), weigh);
  }

  /**
   * The entries that overlap a range of weights.
   *
   * @param offset - the beginning of the range, 0 or more
   * @param length - the weight of the range; a range beyond the end of the map is cut off
   */
  range(offset: number, length: number): RangeEntry<V>[] {
    const span: Span<V> = { leaves: [], before: 0 };
    this.#root.gather(weightOf, offset, offset + length, span);
    const found: RangeEntry<V>[] = [];
    let skip = span.before;
    let rest = Math.min(length, this.weight - offset);
    for (const { keys, items } of span.leaves) {
      for (let at = 0; at < keys.length && rest > 0; at++) {
        const value = item(items, at);
        const weight = this.#weigh(value);
        const start = Math.min(skip, weight);
        const end = Math.min(weight, start + rest);
        if (end > start) found.push({ key: item(keys, at), value, start, end });
        skip -= start;
        rest -= end - start;
      }
    }
    return found;
  }

  /** The keys of the entries of {@link OrderedMap.range}. */
  keys(offset: number, length: number): number[] {
    if (this.#weigh !== one) return this.range(offset, length).map(({ key }) => key);
    return this.#column(offset, length, ({ keys }) => keys);
  }

  /**
   * The keys of at most `length` entries, from position `offset` on. Each entry is one position, whatever its weight.
   */
  keysAt(offset: number, length: number): number[] {
    return this.#column(offset, length, ({ keys }) => keys);
  }

  /** The values of the entries of {@link OrderedMap.range}. */
  values(offset: number, length: number): V[] {
    if (this.#weigh !== one) return this.range(offset, length).map(({ value }) => value);
    return this.#column(offset, length, ({ items }) => items);
  }

  /**
   * The values that an earlier map does not have under the same keys, in the order of their keys. Nodes that both maps
   * share are passed over, so this takes a time that grows with what has changed.
   */
  valuesSince(earlier: OrderedMap<V>): V[] {
    const found: V[] = [];
    if (this.#root !== earlier.#root) this.#root.gatherSince(earlier.#root, (key) => earlier.get(key), found);
    return found;
  }

  /**
   * Sums a number of each value. A change makes a few nodes anew, so the next sum is made of those that are known.
   * Yields after each leaf that is summed, so that a caller can pause. Not for a map whose batch goes on.
   *
   * @param of - gives the number of a value
   * @param known - the sums of nodes: those of earlier calls with the same numbers
   */
  *summing(of: (value: V) => bigint, known: WeakMap<object, bigint>): Generator<undefined, bigint> {
    return yield* sumOf(this.#root, of, known);
  }

  /** The entries in the order of their keys. */
  *[Symbol.iterator](): Generator<[key: number, value: V], void, undefined> {
    const pending: Node<V>[] = [this.#root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node instanceof Branch) pending.push(...node.items.toReversed());
      else for (const [at, key] of node.keys.entries()) yield [key, item(node.items, at)];
    }
  }

  /** The keys or values in a range of positions. */
  #column<T>(offset: number, length: number, column: (leaf: Leaf<V>) => readonly T[]): T[] {
    const span: Span<V> = { leaves: [], before: 0 };
    this.#root.gather(countOf, offset, offset + length, span);
    // Created with the final length, because growing an array costs more than copying the items.
    const items = new Array<T>(Math.max(Math.min(length, this.size - offset), 0));
    let count = 0;
    let first = span.before;
    for (const part of span.leaves.map(column)) {
      const end = Math.min(part.length, first + items.length - count);
      for (let at = first; at < end; at++) items[count++] = part[at] as T;
      first = 0;
    }
    return items;
  }
}

function* sumOf<V>(
  node: Node<V>,
  of: (value: V) => bigint,
  known: WeakMap<object, bigint>,
): Generator<undefined, bigint> {
  const before = known.get(node);
  if (before !== undefined) return before;
  let sum = 0n;
  if (node instanceof Branch) for (const each of node.items) sum += yield* sumOf(each, of, known);
  else {
    for (const value of node.items) sum += of(value);
    yield;
  }
  known.set(node, sum);
  return sum;
}

/** The leaves that overlap a range, and the measure of the first leaf before the range. */
interface Span<V> {
  readonly leaves: Leaf<V>[];
  before: number;
}

/** A change of one entry, passed down the tree. The leaf sets the result, and the nodes above read it on the way up. */
interface Edit<V> {
  readonly key: number;
  readonly recipe: (value: V | undefined) => V | undefined;
  readonly weigh: Weigh<V>;
  readonly owner: Owner | undefined;
  /** The weight that the change adds to every node above the entry. */
  gain: number;
  /** The number of entries that the change adds to every node above the entry: 1, 0 or -1. */
  growth: number;
}

type Node<V> = Leaf<V> | Branch<V>;

/** The sizes of a node: the number of its entries, and their total weight. */
interface Sizes {
  readonly count: number;
  readonly weight: number;
}

/** The size by which a position is found. */
type Measure = (this: void, sizes: Sizes) => number;

const weightOf: Measure = ({ weight }) => weight;
const countOf: Measure = ({ count }) => count;

/** The common members of leaves and branches. */
class TreeNode<I> {
  owner: Owner | undefined;
  weight: number;
  /** Never changed in place, so that nodes with the same keys can share this array. */
  keys: readonly number[];
  items: I[];

  constructor(owner: Owner | undefined, weight: number, keys: readonly number[], items: I[]) {
    this.owner = owner;
    this.weight = weight;
    this.keys = keys;
    this.items = items;
  }
}

/** Values, each with its key. */
class Leaf<V> extends TreeNode<V> {
  get count(): number {
    return this.keys.length;
  }

  /** This leaf after a change; `undefined` if the value stays the same. */
  apply(change: Edit<V>): Leaf<V> | undefined {
    const { key, recipe, weigh } = change;
    const end = countUpTo(this.keys, key);
    const at = end - 1;
    const before = end > 0 && item(this.keys, at) === key ? item(this.items, at) : undefined;
    const value = recipe(before);
    if (value === before) return undefined;
    if (before !== undefined) {
      change.gain -= weigh(before);
      change.growth -= 1;
    }
    if (value === undefined) {
      return this.revise(change, this.keys.toSpliced(at, 1), this.items.toSpliced(at, 1));
    }
    change.gain += weigh(value);
    change.growth += 1;
    if (before === undefined) {
      return this.revise(change, this.keys.toSpliced(end, 0, key), this.items.toSpliced(end, 0, value));
    }
    const items = isOwn(this, change) ? this.items : this.items.slice();
    items[at] = value;
    return this.revise(change, this.keys, items);
  }

  /** This leaf with other content: changed in place if it belongs to the batch, else a copy. */
  revise(change: Edit<V>, keys: readonly number[], items: V[]): Leaf<V> {
    if (!isOwn(this, change)) return new Leaf(change.owner, this.weight + change.gain, keys, items);
    this.weight += change.gain;
    this.keys = keys;
    this.items = items;
    return this;
  }

  part(start: number, end: number, { owner, weigh }: Edit<V>): Leaf<V> {
    const items = this.items.slice(start, end);
    const weight = items.reduce((sum, value) => sum + weigh(value), 0);
    return new Leaf(owner, weight, this.keys.slice(start, end), items);
  }

  /** The key between the items before a position and the other items. */
  bound(at: number): number {
    return item(this.keys, at);
  }

  concat(right: Node<V>, _bound: number, { owner }: Edit<V>): Leaf<V> {
    // Neighbours have the same class.
    const { weight, keys, items } = right as Leaf<V>;
    return new Leaf(owner, this.weight + weight, this.keys.concat(keys), this.items.concat(items));
  }

  /**
   * Gathers the values that an earlier map does not have.
   *
   * @param before - the node of that map at this place
   * @param find - gives the value of that map under a key
   */
  gatherSince(before: Node<V>, find: (key: number) => V | undefined, found: V[]): void {
    const hasSameKeys = before instanceof Leaf && before.keys === this.keys;
    for (const [at, key] of this.keys.entries()) {
      const value = item(this.items, at);
      if (value !== (hasSameKeys ? before.items[at] : find(key))) found.push(value);
    }
  }

  gather(_measure: Measure, offset: number, _end: number, span: Span<V>): void {
    if (span.leaves.length === 0) span.before = offset;
    span.leaves.push(this);
  }
}

/**
 * Nodes one level down, with a key between every two nodes. The key is greater than all keys to its left, and not
 * greater than any key to its right. The methods without a result change the branch in place: call them only on a
 * branch that was just created or revised.
 */
class Branch<V> extends TreeNode<Node<V>> {
  count: number;

  constructor(owner: Owner | undefined, { count, weight }: Sizes, keys: readonly number[], items: Node<V>[]) {
    super(owner, weight, keys, items);
    this.count = count;
  }

  /** This branch after a change; `undefined` if the value stays the same. */
  apply(change: Edit<V>): Branch<V> | undefined {
    const at = countUpTo(this.keys, change.key);
    const node = item(this.items, at).apply(change);
    if (node === undefined) return undefined;
    const branch = this.revise(change, at, node);
    if (node.items.length > width) branch.divide(at, change);
    else if (node.items.length < leastWidth && change.growth < 0) branch.refill(at, change);
    return branch;
  }

  /** See {@link Leaf.gatherSince}. The node of the earlier map can be on another level. */
  gatherSince(before: Node<V>, find: (key: number) => V | undefined, found: V[]): void {
    const [items, keys] = before instanceof Branch ? [before.items, before.keys] : [[before], []];
    for (const node of this.items) {
      if (items.includes(node)) continue;
      const [key = 0] = node.keys;
      node.gatherSince(item(items, countUpTo(keys, key)), find, found);
    }
  }

  part(start: number, end: number, { owner }: Edit<V>): Branch<V> {
    const items = this.items.slice(start, end);
    const weight = items.reduce((sum, node) => sum + node.weight, 0);
    const count = items.reduce((sum, node) => sum + node.count, 0);
    return new Branch(owner, { weight, count }, this.keys.slice(start, end - 1), items);
  }

  bound(at: number): number {
    return item(this.keys, at - 1);
  }

  concat(right: Node<V>, bound: number, { owner }: Edit<V>): Branch<V> {
    const { weight, count, keys, items } = right as Branch<V>;
    const sum = { weight: this.weight + weight, count: this.count + count };
    return new Branch(owner, sum, this.keys.concat(bound, keys), this.items.concat(items));
  }

  gather(measure: Measure, offset: number, end: number, span: Span<V>): void {
    let start = 0;
    for (const node of this.items) {
      if (start >= end) return;
      const stop = start + measure(node);
      if (stop > offset) node.gather(measure, offset - start, end - start, span);
      start = stop;
    }
  }

  /** This branch with one node replaced: changed in place if it belongs to the batch, else a copy. */
  revise(change: Edit<V>, at: number, node: Node<V>): Branch<V> {
    const { owner, gain, growth } = change;
    const branch = isOwn(this, change) ? this : new Branch(owner, this, this.keys, this.items.slice());
    branch.weight += gain;
    branch.count += growth;
    branch.items[at] = node;
    return branch;
  }

  /** Joins a node that has too few items with a neighbour, or divides their items evenly. */
  refill(at: number, change: Edit<V>): void {
    const left = at === 0 ? 0 : at - 1;
    const right = this.items[left + 1];
    // A single node has no neighbour. Its branch has too few items too, and is joined with another branch.
    if (right === undefined) return;
    const joined = item(this.items, left).concat(right, item(this.keys, left), change);
    this.keys = this.keys.toSpliced(left, 1);
    this.items = this.items.toSpliced(left, 2, joined);
    if (joined.items.length > width) this.divide(left, change);
  }

  divide(at: number, change: Edit<V>): void {
    const node = item(this.items, at);
    const end = node.items.length;
    // New keys are mostly the largest keys, so the left part stays full. This holds for the last node alone: elsewhere,
    // descending keys below a larger key would leave one node for each key.
    const grows = at === this.items.length - 1 && change.growth > 0 && node.keys.at(-1) === change.key;
    const place = grows ? width : end >>> 1;
    this.keys = this.keys.toSpliced(at, 0, node.bound(place));
    this.items = this.items.toSpliced(at, 1, node.part(0, place, change), node.part(place, end, change));
  }
}

/** The default weight. */
function one(): number {
  return 1;
}

/** Whether a node belongs to the batch of a change. Such a node may be changed in place. */
function isOwn<V>(node: Node<V>, { owner }: Edit<V>): boolean {
  return owner !== undefined && node.owner === owner;
}

/** Makes a node the root: adds a level above a node that is too wide, and removes levels with a single node. */
function asRoot<V>(node: Node<V>, change: Edit<V>): Node<V> {
  if (node.items.length > width) {
    const root = new Branch(change.owner, node, [], [node]);
    root.divide(0, change);
    return root;
  }
  let root = node;
  while (root instanceof Branch && root.items.length === 1) root = item(root.items, 0);
  return root;
}

/** The number of keys that are less than or equal to a key. */
function countUpTo(keys: readonly number[], key: number): number {
  let low = 0;
  let high = keys.length;
  // Most new keys are larger than all other keys.
  if (high > 0 && item(keys, high - 1) <= key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (item(keys, middle) <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The item at a position that is known to exist. */
function item<T>(items: readonly T[], at: number): T {
  return items[at] as T;
}
