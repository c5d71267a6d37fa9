/**
 * Silence: for how long the nodes of a simulated fleet have not been heard. An outage of the disk for everybody does
 * not count.
 */
import type { VirtualClock } from 'gateway-admin-core/testing';

import { leaseMs } from './node.ts';

export class Silence {
  readonly #clock: VirtualClock;
  readonly #heard = new Map<string, number>();
  /** The silences that ended, by node. */
  readonly #broken = new Map<string, readonly { readonly at: number; readonly silentMs: number }[]>();
  readonly #outages: { readonly from: number; to: number }[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  heard(node: string): void {
    const broken = { at: this.#clock.monotonic(), silentMs: this.of(node) };
    this.#broken.set(node, [...(this.#broken.get(node) ?? []).slice(-10), broken]);
    this.#heard.set(node, this.#clock.monotonic());
  }

  outage(milliseconds: number): void {
    const from = this.#clock.monotonic();
    this.#outages.push({ from, to: from + milliseconds });
  }

  endOutage(): void {
    for (const outage of this.#outages) outage.to = Math.min(outage.to, this.#clock.monotonic());
  }

  /** The longest silence of a node in the last seconds: a record is on its way for as long. */
  longest(node: string): number {
    const since = this.#clock.monotonic() - 2 * leaseMs;
    const broken = (this.#broken.get(node) ?? []).filter(({ at }) => at >= since);
    return Math.max(this.of(node), ...broken.map(({ silentMs }) => silentMs));
  }

  of(node: string): number {
    const [now, heard] = [this.#clock.monotonic(), this.#heard.get(node) ?? 0];
    // A shorter one can pass between two beats, also one that was to be longer.
    const long = this.#outages.filter(({ from, to }) => to - from >= 2000);
    const outMs = long.map(({ from, to }) => Math.max(0, Math.min(to, now) - Math.max(from, heard)));
    return now - heard - outMs.reduce((sum, each) => sum + each, 0);
  }
}
