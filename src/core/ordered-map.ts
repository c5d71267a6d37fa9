/**
 * An ordered map that never changes: a counted B+ tree, keyed by safe integers.
 *
 * A change copies the path from the root to one leaf and shares all else, so every map stays valid for ever at little
 * cost. Each node knows the weight of what is below it, so a place in the order is found as fast as a key.
 *
 * What keeps it fast on Node 20: nodes are instances of classes, because object literals are put into the old
 * generation once many were made at start; arrays inside nodes are never frozen, and are made by `toSpliced`, which
 * gives them their exact size and keeps numbers unboxed.
 */

/**
 * Token of a batch: what was made under it is changed in place by later changes under it. So of the maps of a batch
 * only the last may be used; maps made before, or without the token, stay as they are.
 *
 * @internal
 */
export type Owner = object;

/** Makes a token that is like no other. @internal */
export function createOwner(): Owner {
  return {};
}

/** How much of the order a value takes up: an integer, zero or more, always the same for one value. @internal */
export type Weigh<V> = (this: void, value: V) => number;

/**
 * An entry that a range of weights touches, and the part of it that lies inside.
 *
 * @internal
 */
export interface RangeEntry<V> {
  readonly key: number;
  readonly value: V;
  /** Weight of the entry that lies before the range. */
  readonly start: number;
  /** Weight of the entry up to the end of the range. */
  readonly end: number;
}

/** The most entries of a node. */
const width = 24;

/** Below it a node is joined with a neighbour. Less than half, so that one entry more or less does not split again. */
const leastWidth = 9;

/**
 * A map from safe integers to values other than `undefined`, ordered by key.
 *
 * @internal
 */
export class OrderedMap<V extends NonNullable<unknown>> implements Iterable<[key: number, value: V]> {
  readonly #root: Node<V>;
  readonly #size: number;
  readonly #weigh: Weigh<V>;

  private constructor(root: Node<V>, size: number, weigh: Weigh<V>) {
    this.#root = root;
    this.#size = size;
    this.#weigh = weigh;
  }

  /** The map without entries. Its descendants are weighed by `weigh`; left out, each entry weighs 1. */
  static empty<V extends NonNullable<unknown>>(weigh: Weigh<V> = one): OrderedMap<V> {
    return new OrderedMap(new Leaf<V>(undefined, 0, [], []), 0, weigh);
  }

  /** The map with these entries; of two with the same key the later counts. */
  static from<V extends NonNullable<unknown>>(entries: Iterable<readonly [number, V]>): OrderedMap<V> {
    const owner = createOwner();
    let map = OrderedMap.empty<V>();
    for (const [key, value] of entries) map = map.set(key, value, owner);
    return map;
  }

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** What all entries weigh together. */
  get weight(): number {
    return this.#root.weight;
  }

  /** The number of nodes on each level of the tree, the root first. Tests see by it that a tree shrinks with its entries. */
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

  /** Whether there is an entry for a key. */
  has(key: number): boolean {
    return this.get(key) !== undefined;
  }

  /** This map with one entry added or replaced; see {@link OrderedMap.update}. */
  set(key: number, value: V, owner?: Owner): OrderedMap<V> {
    return this.update(key, () => value, owner);
  }

  /** This map without the entry of a key; see {@link OrderedMap.update}. */
  delete(key: number, owner?: Owner): OrderedMap<V> {
    return this.update(key, () => undefined, owner);
  }

  /**
   * This map with one entry added, replaced or taken away.
   *
   * @param key - a safe integer
   * @param recipe - gives the new value for the old one; `undefined` on either side is no entry
   * @param owner - the batch to which the change belongs; left out, nothing is changed in place
   * @returns the new map, or this one when the value stays the same
   * @throws RangeError when the key is not a safe integer
   */
  update(key: number, recipe: (value: V | undefined) => V | undefined, owner?: Owner): OrderedMap<V> {
    if (!Number.isSafeInteger(key)) throw new RangeError(`A key must be a safe integer, not ${String(key)}`);
    const before = this.get(key);
    const value = recipe(before);
    if (value === before) return this;
    const weigh = this.#weigh;
    const gain = (value === undefined ? 0 : weigh(value)) - (before === undefined ? 0 : weigh(before));
    const change = { key, value, gain, weigh, owner };
    const size = this.#size + Number(value !== undefined) - Number(before !== undefined);
    return new OrderedMap(asRoot(this.#root.apply(change), change), size, weigh);
  }

  /** The entry that covers a place in the order of weights; with weights of 1, the entry at this position. */
  at(offset: number): [key: number, value: V] | undefined {
    const [entry] = this.range(offset, 1);
    return entry && [entry.key, entry.value];
  }

  /**
   * The entries that a range of weights touches.
   *
   * @param offset - where the range begins, 0 or more
   * @param length - how much weight it spans; less is found at the end of the map
   */
  range(offset: number, length: number): RangeEntry<V>[] {
    const span: Span<V> = { leaves: [], before: 0 };
    this.#root.gather(offset, offset + length, span);
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

  /** The keys of the entries that {@link OrderedMap.range} gives. */
  keys(offset: number, length: number): number[] {
    if (this.#weigh !== one) return this.range(offset, length).map(({ key }) => key);
    return this.#column(offset, length, ({ keys }) => keys);
  }

  /** The values of the entries that {@link OrderedMap.range} gives. */
  values(offset: number, length: number): V[] {
    if (this.#weigh !== one) return this.range(offset, length).map(({ value }) => value);
    return this.#column(offset, length, ({ items }) => items);
  }

  /** The entries in the order of their keys. */
  *[Symbol.iterator](): Generator<[key: number, value: V], void, undefined> {
    const pending: Node<V>[] = [this.#root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node instanceof Branch) pending.push(...node.items.toReversed());
      else for (const [at, key] of node.keys.entries()) yield [key, item(node.items, at)];
    }
  }

  /** What leaves hold in a range of positions. */
  #column<T>(offset: number, length: number, column: (leaf: Leaf<V>) => readonly T[]): T[] {
    const span: Span<V> = { leaves: [], before: 0 };
    this.#root.gather(offset, offset + length, span);
    // With its final length, because to grow costs more than to copy.
    const items = new Array<T>(Math.max(Math.min(length, this.weight - offset), 0));
    let count = 0;
    let first = span.before;
    for (const part of span.leaves.map(column)) {
      const end = Math.min(part.length, first + items.length - count);
      for (let at = first; at < end; at++) items[count++] = item(part, at);
      first = 0;
    }
    return items;
  }
}

/** The leaves that a range touches, and how much weight of the first one lies before it. */
interface Span<V> {
  readonly leaves: Leaf<V>[];
  before: number;
}

/** A change of one entry, as it travels down the tree. */
interface Change<V> {
  readonly key: number;
  /** The new value; `undefined` takes away the entry that is there. */
  readonly value: V | undefined;
  /** What the change adds to the weight of every node above the entry. */
  readonly gain: number;
  readonly weigh: Weigh<V>;
  readonly owner: Owner | undefined;
}

type Node<V> = Leaf<V> | Branch<V>;

/** What leaves and branches have in common. */
class Part<I> {
  owner: Owner | undefined;
  weight: number;
  /** Never changed in place, so that nodes with the same keys can share them. */
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
class Leaf<V> extends Part<V> {
  apply(change: Change<V>): Leaf<V> {
    const { key, value } = change;
    const end = countUpTo(this.keys, key);
    const start = end > 0 && item(this.keys, end - 1) === key ? end - 1 : end;
    if (value === undefined) {
      return this.revise(change, this.keys.toSpliced(start, 1), this.items.toSpliced(start, 1));
    }
    if (start === end) {
      return this.revise(change, this.keys.toSpliced(end, 0, key), this.items.toSpliced(end, 0, value));
    }
    const items = isOwn(this, change) ? this.items : this.items.slice();
    items[start] = value;
    return this.revise(change, this.keys, items);
  }

  /** This leaf with other content, in place if it belongs to the batch. */
  revise(change: Change<V>, keys: readonly number[], items: V[]): Leaf<V> {
    if (!isOwn(this, change)) return new Leaf(change.owner, this.weight + change.gain, keys, items);
    this.weight += change.gain;
    this.keys = keys;
    this.items = items;
    return this;
  }

  part(start: number, end: number, { owner, weigh }: Change<V>): Leaf<V> {
    const items = this.items.slice(start, end);
    const weight = items.reduce((sum, value) => sum + weigh(value), 0);
    return new Leaf(owner, weight, this.keys.slice(start, end), items);
  }

  /** The key that divides the items before a place from the others. */
  bound(at: number): number {
    return item(this.keys, at);
  }

  concat(right: Node<V>, _bound: number, { owner }: Change<V>): Leaf<V> {
    // Neighbours are of one class.
    const { weight, keys, items } = right as Leaf<V>;
    return new Leaf(owner, this.weight + weight, this.keys.concat(keys), this.items.concat(items));
  }

  gather(offset: number, _end: number, span: Span<V>): void {
    if (span.leaves.length === 0) span.before = offset;
    span.leaves.push(this);
  }
}

/**
 * Nodes one level down, with a key between each two: above all keys to its left, not above any to its right. Methods
 * without a result work in place: they are for a branch that was just made or revised.
 */
class Branch<V> extends Part<Node<V>> {
  apply(change: Change<V>): Branch<V> {
    const at = countUpTo(this.keys, change.key);
    const node = item(this.items, at).apply(change);
    const branch = this.revise(change, at, node);
    if (node.items.length > width) branch.divide(at, change);
    else if (node.items.length < leastWidth && change.value === undefined) branch.refill(at, change);
    return branch;
  }

  part(start: number, end: number, { owner }: Change<V>): Branch<V> {
    const items = this.items.slice(start, end);
    const weight = items.reduce((sum, node) => sum + node.weight, 0);
    return new Branch(owner, weight, this.keys.slice(start, end - 1), items);
  }

  bound(at: number): number {
    return item(this.keys, at - 1);
  }

  concat(right: Node<V>, bound: number, { owner }: Change<V>): Branch<V> {
    const { weight, keys, items } = right as Branch<V>;
    return new Branch(owner, this.weight + weight, this.keys.concat(bound, keys), this.items.concat(items));
  }

  gather(offset: number, end: number, span: Span<V>): void {
    let start = 0;
    for (const node of this.items) {
      if (start >= end) return;
      const stop = start + node.weight;
      if (stop > offset) node.gather(offset - start, end - start, span);
      start = stop;
    }
  }

  /** This branch with one node replaced, in place if it belongs to the batch. */
  revise(change: Change<V>, at: number, node: Node<V>): Branch<V> {
    const { owner, gain } = change;
    const own = isOwn(this, change);
    const branch = own ? this : new Branch(owner, this.weight, this.keys, this.items.slice());
    branch.weight += gain;
    branch.items[at] = node;
    return branch;
  }

  /** Makes one node of a node that has become narrow and a neighbour, or evens them out. */
  refill(at: number, change: Change<V>): void {
    const left = at === 0 ? 0 : at - 1;
    const right = this.items[left + 1];
    // Alone, it stays as it is: the branch is narrow too, and will be joined itself.
    if (right === undefined) return;
    const joined = item(this.items, left).concat(right, item(this.keys, left), change);
    this.keys = this.keys.toSpliced(left, 1);
    this.items = this.items.toSpliced(left, 2, joined);
    if (joined.items.length > width) this.divide(left, change);
  }

  divide(at: number, change: Change<V>): void {
    const node = item(this.items, at);
    const end = node.items.length;
    // Keys mostly grow: then the left part stays full. Only for the last node, or descending keys below a higher one
    // would leave a node for each of them.
    const grows =
      at === this.items.length - 1 && change.value !== undefined && node.keys.at(-1) === change.key;
    const place = grows ? width : end >>> 1;
    this.keys = this.keys.toSpliced(at, 0, node.bound(place));
    this.items = this.items.toSpliced(at, 1, node.part(0, place, change), node.part(place, end, change));
  }
}

/** The default weigher. */
function one(): number {
  return 1;
}

/** Whether a node belongs to the batch of a change, so that it may be changed in place. */
function isOwn<V>(node: Node<V>, { owner }: Change<V>): boolean {
  return owner !== undefined && node.owner === owner;
}

/** What becomes of a node at the top: a level more when it is too wide, and none that leaves no choice. */
function asRoot<V>(node: Node<V>, change: Change<V>): Node<V> {
  if (node.items.length > width) {
    const root = new Branch(change.owner, node.weight, [], [node]);
    root.divide(0, change);
    return root;
  }
  let root = node;
  while (root instanceof Branch && root.items.length === 1) root = item(root.items, 0);
  return root;
}

/** How many keys are not above a key. */
function countUpTo(keys: readonly number[], key: number): number {
  let low = 0;
  let high = keys.length;
  // Most new keys are larger than all others.
  if (high > 0 && item(keys, high - 1) <= key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (item(keys, middle) <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An item that is known to exist. */
function item<T>(items: readonly T[], at: number): T {
  return items[at] as T;
}
