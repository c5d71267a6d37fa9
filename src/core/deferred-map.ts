/**
 * An ordered map whose last changes wait in a list until somebody reads.
 *
 * Indexes are changed all the time and seldom read. A change of an ordered map copies a path of nodes; a change that
 * waits is one small object. Changes that go into the tree together copy the path they share once.
 */
import type { OrderedMap } from './ordered-map.ts';

/** Gives the value of a key after a change; `undefined` means no entry. */
type Merge<V, C> = (this: void, value: V | undefined, change: C) => V | undefined;

/** The maximum number of changes that wait. With more, the next reader waits longer, and old snapshots hold more. */
const mostWaiting = 32;

/** A change that waits, behind the earlier changes. A class, for the reason that `ordered-map.ts` says of its nodes. */
class Waiting<C> {
  readonly key: number;
  readonly change: C;
  readonly earlier: Waiting<C> | undefined;
  /** The number of changes that wait, with this one. */
  readonly count: number;

  constructor(key: number, change: C, earlier: Waiting<C> | undefined) {
    this.key = key;
    this.change = change;
    this.earlier = earlier;
    this.count = 1 + (earlier?.count ?? 0);
  }
}

/**
 * An ordered map for many changes and few readers. Only `change` changes the content. To keep the content as it is, make a
 * copy before the change; a copy costs one small object.
 *
 * @internal
 */
export class DeferredMap<V extends NonNullable<unknown>, C> {
  #settled: OrderedMap<V>;
  #waiting: Waiting<C> | undefined;
  readonly #merge: Merge<V, C>;

  constructor(settled: OrderedMap<V>, merge: Merge<V, C>, waiting?: Waiting<C>) {
    this.#settled = settled;
    this.#merge = merge;
    this.#waiting = waiting;
  }

  /** Another map with the same content. */
  copy(): DeferredMap<V, C> {
    return new DeferredMap(this.#settled, this.#merge, this.#waiting);
  }

  /** Changes the value of a key, a safe integer. */
  change(key: number, change: C): void {
    this.#waiting = new Waiting(key, change, this.#waiting);
    if (this.#waiting.count >= mostWaiting) this.#settle();
  }

  /** The content. */
  get content(): OrderedMap<V> {
    if (this.#waiting !== undefined) this.#settle();
    return this.#settled;
  }

  #settle(): void {
    const changes: Waiting<C>[] = [];
    for (let each = this.#waiting; each !== undefined; each = each.earlier) changes.push(each);
    const owner = {};
    let settled = this.#settled;
    for (const { key, change } of changes.toReversed())
      settled = settled.update(key, (value) => this.#merge(value, change), owner);
    this.#settled = settled;
    this.#waiting = undefined;
  }
}
