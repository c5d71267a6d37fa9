/**
 * An ordered map whose last changes wait in a list until somebody reads.
 *
 * Indexes are changed all the time and seldom read. A change of an ordered map copies a path of nodes; a change that
 * waits is one small object. Changes that go into the tree together copy the path they share once.
 */
import type { OrderedMap } from './ordered-map.ts';

/** Gives the value of a key after a change; `undefined` means no entry. */
type Merge<V, C> = (this: void, value: V | undefined, change: C) => V | undefined;

/** With the change that makes the number of all changes a multiple of this, the changes no longer wait. */
const interval = 32;

/** A change that waits, behind the earlier changes. A class, for the reason that `ordered-map.ts` says of its nodes. */
class Waiting<C> {
  readonly key: number;
  readonly change: C;
  readonly earlier: Waiting<C> | undefined;

  constructor(key: number, change: C, earlier: Waiting<C> | undefined) {
    this.key = key;
    this.change = change;
    this.earlier = earlier;
  }
}

/**
 * An ordered map for many changes and few readers. Only `change` changes the content. To keep the content as it is,
 * make a copy before the change; a copy costs one small object.
 *
 * @internal
 */
export class DeferredMap<V extends NonNullable<unknown>, C> {
  #settled: OrderedMap<V>;
  #waiting: Waiting<C> | undefined;
  #changes: number;
  readonly #merge: Merge<V, C>;

  /**
   * @param settled - the content
   * @param merge - applies a change to the value of a key
   * @param changes - the number at which the counting of changes begins. Maps that change in step must begin at
   *   different numbers, so that not all of them settle in one turn of the event loop
   */
  constructor(settled: OrderedMap<V>, merge: Merge<V, C>, changes: number, waiting?: Waiting<C>) {
    this.#settled = settled;
    this.#merge = merge;
    this.#changes = changes;
    this.#waiting = waiting;
  }

  /** Another map with the same content. */
  copy(): DeferredMap<V, C> {
    return new DeferredMap(this.#settled, this.#merge, this.#changes, this.#waiting);
  }

  /** Changes the value of a key, a safe integer. For `owner` see {@link OrderedMap.update}. */
  change(key: number, change: C, owner: object | undefined): void {
    this.#waiting = new Waiting(key, change, this.#waiting);
    this.#changes += 1;
    if (this.#changes % interval === 0) this.#settle(owner);
  }

  /** The content. */
  get content(): OrderedMap<V> {
    if (this.#waiting !== undefined) this.#settle();
    return this.#settled;
  }

  #settle(owner: object = {}): void {
    const changes: Waiting<C>[] = [];
    for (let each = this.#waiting; each !== undefined; each = each.earlier) changes.push(each);
    let settled = this.#settled;
    for (const { key, change } of changes.toReversed())
      settled = settled.update(key, (value) => this.#merge(value, change), owner);
    this.#settled = settled;
    this.#waiting = undefined;
  }
}
