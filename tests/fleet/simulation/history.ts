/**
 * Short histories of a fleet: clients set a number of two resources at three nodes, while hints are lost, nodes lose
 * the store, and clients go away. The answers must have an order in which each is right, and no node may go back.
 */
import { patchMonitor, patchService, type Execution, type Snapshot } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';
import { createRandom, createVirtualClock, type Random, type VirtualClock } from 'gateway-admin-core/testing';

import { createWorld, type Node } from '../node.ts';
import { orderOf } from './history-checker.ts';
import { registerOf, type NumberCall } from './register.ts';
import { tagAt } from './shown.ts';

/** What breaks a promise of the store or of a node. */
export type Tooth = (
  store: SharedStore,
  world: { readonly random: Random; readonly clock: VirtualClock },
) => SharedStore;

const leaseMs = 3000;
const steps = 60;

/** A number that clients set. */
const numbers = [
  {
    link: '/services/My-Service',
    patch: patchService,
    name: 'My Service',
    path: '/max_connection',
    thingIn: ({ services }: Snapshot) => services.find('My Service'),
    valueIn: ({ services }: Snapshot) => services.find('My Service')?.settings.max_connection ?? 0,
  },
  {
    link: '/monitors/Main-Monitor',
    patch: patchMonitor,
    name: 'Main Monitor',
    path: '/monitor_interval',
    thingIn: ({ monitors }: Snapshot) => monitors.find('Main Monitor'),
    valueIn: ({ monitors }: Snapshot) => monitors.find('Main Monitor')?.settings.monitor_interval ?? 0,
  },
] as const;

type Numbered = (typeof numbers)[number];

/** What a snapshot shows of a number. */
interface Shown {
  readonly value: number;
  readonly tag: string;
}

function shownIn(snapshot: Snapshot, { link, valueIn }: Numbered): Shown {
  return { value: valueIn(snapshot), tag: tagAt(snapshot, link) ?? '' };
}

/**
 * Plays the history of a seed.
 *
 * @param tooth - breaks a promise; nothing by default
 * @returns what went wrong that must never go wrong
 */
export async function faultsIn(seed: number, tooth: Tooth = (store) => store): Promise<readonly string[]> {
  const history = new History(createRandom(seed), tooth);
  await history.play();
  return history.judge();
}

class History {
  readonly #random: Random;
  readonly #clock = createVirtualClock(undefined, { turns: 32 });
  readonly #tooth: Tooth;
  readonly #nodes: Node[] = [];
  /** When a node gets the store back. */
  readonly #cut = new Map<Node, number>();
  readonly #calls = new Map<Numbered, NumberCall[]>(numbers.map((number) => [number, []]));
  readonly #initial = new Map<Numbered, Shown>();
  readonly #faults = new Set<string>();
  /** What each tag stands for. */
  readonly #values = new Map<Numbered, Map<string, number>>(numbers.map((number) => [number, new Map()]));
  readonly #asking: Promise<void>[] = [];
  #moments = 0;

  constructor(random: Random, tooth: Tooth) {
    this.#random = random;
    this.#tooth = tooth;
  }

  async play(): Promise<void> {
    const [random, clock] = [this.#random, this.#clock];
    const lost = random.pick([0, 0.5, 1]);
    const slowMs = random.pick([50, 400, leaseMs]);
    const wrap = (store: SharedStore): SharedStore => this.#tooth(store, { random, clock });
    const world = createWorld({ clock, wrap, losesHint: () => random.chance(lost) });
    for (const name of ['a', 'b', 'c']) {
      const node = await world.open(name, leaseMs, { limits: { storeDeadlineMs: 8000 } });
      node.gateway.otherwise({ apply: () => clock.sleep(random.below(slowMs)) });
      this.#nodes.push(node);
    }
    await clock.advance(1500);
    for (const node of this.#nodes)
      for (const number of numbers) this.#initial.set(number, this.#read(node, number));
    for (let step = 0; step < steps; step += 1) await this.#step();
    await this.#rest();
  }

  judge(): readonly string[] {
    const disordered = numbers.filter((number) => {
      const calls = this.#calls.get(number) ?? [];
      const { value = 0 } = this.#initial.get(number) ?? {};
      return orderOf(calls, registerOf(value)) === undefined;
    });
    return [...this.#faults, ...disordered.map(({ link }) => `the answers about ${link} have no order`)];
  }

  async #step(): Promise<void> {
    const random = this.#random;
    for (let count = random.below(4); count > 0; count -= 1) this.#asking.push(this.#ask());
    if (random.chance(0.15)) this.#cutOff(random.pick(this.#nodes));
    await this.#clock.advance(random.below(400));
    for (const [node, until] of this.#cut) if (this.#clock.monotonic() >= until) this.#bringBack(node);
    this.#look();
  }

  /** Everybody is waited for, and then the nodes show one number each. */
  async #rest(): Promise<void> {
    for (const node of this.#nodes) this.#bringBack(node);
    await this.#clock.waitFor(Promise.all(this.#asking));
    await this.#clock.advance(9000);
    for (const node of this.#nodes)
      for (const number of numbers) {
        const [askedAt, { value }] = [this.#moment(), this.#read(node, number)];
        this.#note(number, { value, answer: 'read', askedAt, answeredAt: this.#moment() });
      }
    await this.#clock.waitFor(Promise.all(this.#nodes.map(({ admin }) => admin.close())));
  }

  #cutOff(node: Node): void {
    node.cut(true);
    this.#cut.set(node, this.#clock.monotonic() + this.#random.below(3 * leaseMs));
  }

  #bringBack(node: Node): void {
    node.cut(false);
    this.#cut.delete(node);
  }

  /** A client sets a number. */
  async #ask(): Promise<void> {
    const random = this.#random;
    const [number, node] = [random.pick(numbers), random.pick(this.#nodes)];
    const seen = this.#read(random.pick(this.#nodes), number);
    const askedAt = this.#moment();
    const command = {
      value: random.chance(0.2) ? seen.value : 1000 + askedAt,
      ...(random.chance(0.3) ? { test: seen.value } : {}),
      ...(random.chance(0.3) ? { tag: seen.value } : {}),
    };
    const leaves = random.chance(0.05);
    const execution = await this.#execute(node, number, command, seen.tag);
    const asked = { ...command, askedAt };
    const answer = 'problem' in execution ? execution.problem.code : execution.outcome;
    if (leaves || execution.outcome === 'unknown') {
      this.#note(number, { ...asked, answeredAt: Number.POSITIVE_INFINITY });
      return;
    }
    // What a node refuses for another reason has no effect.
    if (!isTelling(answer)) return;
    const answered = { ...asked, answer, answeredAt: this.#moment() };
    if ('snapshot' in execution) {
      this.#see(number, shownIn(execution.snapshot, number));
      this.#read(node, number);
    }
    this.#note(number, answered);
  }

  async #execute(
    { admin }: Node,
    { link, patch, name, path }: Numbered,
    { value, test, tag }: { readonly value: number; readonly test?: number; readonly tag?: number },
    etag: string,
  ): Promise<Execution> {
    const tests = test === undefined ? [] : ([{ op: 'test', path, value: test }] as const);
    const operations = [...tests, { op: 'replace', path, value } as const];
    const condition = tag === undefined ? {} : { ifMatch: { link, etag } };
    return admin.execute((snapshot, context) => patch(snapshot, name, operations, context), condition);
  }

  #look(): void {
    for (const node of this.#nodes) for (const number of numbers) this.#read(node, number);
  }

  #read(node: Node, number: Numbered): Shown {
    const shown = shownIn(node.admin.snapshot, number);
    this.#see(number, shown);
    return shown;
  }

  /** A tag stands for one number, and each number has one tag. */
  #see(number: Numbered, { value, tag }: Shown): void {
    const values = this.#values.get(number);
    const known = values?.get(tag) ?? value;
    values?.set(tag, known);
    if (known !== value)
      this.#faults.add(`${number.link} is shown as ${String(value)} with the tag of ${String(known)}`);
    const another = [...(values ?? [])].find(([other, each]) => each === value && other !== tag);
    if (another !== undefined)
      this.#faults.add(`${number.link} is shown as ${String(value)} with ${tag}, and with ${another[0]}`);
  }

  #note(number: Numbered, call: NumberCall): void {
    this.#calls.get(number)?.push(call);
  }

  #moment(): number {
    this.#moments += 1;
    return this.#moments;
  }
}

const telling = ['accepted', 'unchanged', 'patch-test-failed', 'precondition-failed'] as const;

function isTelling(answer: string): answer is (typeof telling)[number] {
  return (telling as readonly string[]).includes(answer);
}
