/**
 * Deterministic simulation of a fleet: three nodes with a gateway each, on one disk, in a world in which everything fails
 * that can fail. Everything follows from a seed, so that a fault can be looked at again and again.
 */
import { createSnapshot } from 'gateway-admin-core';
import {
  createRandom,
  createVirtualClock,
  everyFault,
  type GatewayFaults,
  type Random,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { level, restoreShared } from '../../../src/fleet/shared-history.ts';
import { anyCommand, maintenanceCommand, patchOf, type ClientCommand } from '../../simulation/command.ts';
import { document, statuses } from '../../simulation/simulation.ts';
import { judge, versionAt } from './judge.ts';
import { readLedger, recordsIn, unsettledIn } from './ledger.ts';
import { leaseMs, lateMs, Node, type Sent, type Tag } from './node.ts';
import { allRules, SharedDisk, type DiskRules, type Step } from './shared-disk.ts';

const snapshot = createSnapshot(document, { epoch: 'sim' });
const names = ['a', 'b', 'c'];
const steps = 20;

/**
 * Runs the world of a seed.
 *
 * @param rules - the rules of the store; all of them by default
 * @returns what went wrong that must never go wrong
 */
export async function simulate(seed: number, rules: Partial<DiskRules> = {}): Promise<readonly string[]> {
  return new World(createRandom(seed), { ...allRules, ...rules }).run();
}

class World {
  readonly #random: Random;
  readonly #clock: VirtualClock = createVirtualClock(undefined, { turns: 32 });
  readonly #disk: SharedDisk;
  readonly #nodes: readonly Node[];
  readonly #faults: string[] = [];
  readonly #sent: Sent[] = [];
  /** The logs that a set-back has ended. */
  readonly #lost: (readonly Step[])[] = [];
  /** Some worlds are gentle: what only shows when little goes wrong shows there. */
  readonly #roughness: number;
  readonly #silence: Silence;
  readonly #setsBack: boolean;
  #mortality: number;
  /** When a dead node may start again, by its name. */
  readonly #starts = new Map<string, number>();
  /** The end of what holds a node up, by its name. */
  readonly #troubles = new Map<string, { readonly until: number; readonly end: () => void }>();

  constructor(random: Random, rules: DiskRules) {
    this.#random = random;
    this.#roughness = random.pick([0, 0.3, 1]);
    this.#setsBack = random.chance(0.15);
    this.#mortality = 0.001 * this.#roughness;
    this.#disk = new SharedDisk(random, this.#clock, rules);
    const rough = this.#roughness;
    this.#disk.faults = {
      reject: 0.03 * rough,
      never: 0.01 * rough,
      slow: 0.03 * rough,
      lostHint: random.pick([0, 0.5, 1]),
    };
    this.#silence = new Silence(this.#clock);
    this.#disk.onAnnounced = (node) => {
      this.#silence.heard(node);
    };
    this.#disk.onStep = (step) => {
      this.#lookAtEnds(step);
    };
    this.#nodes = names.map((name) => this.#nodeOf(name));
  }

  async run(): Promise<readonly string[]> {
    for (const node of this.#nodes) node.start();
    await this.#clock.advance(500);
    for (let step = 0; step < steps; step += 1) await this.#step();
    await this.#rest();
    return [...new Set([...this.#faults, ...this.#nodes.flatMap(({ faults }) => faults)])];
  }

  #nodeOf(name: string): Node {
    const { below } = this.#random;
    return new Node({
      name,
      snapshot,
      disk: this.#disk,
      clock: this.#clock,
      random: this.#random,
      faults: scaled(this.#roughness),
      mortality: () => this.#mortality,
      skewMs: below(7_200_000),
      onAnswer: (sent) => {
        this.#lookAtRefusal(sent);
      },
    });
  }

  async #step(): Promise<void> {
    const random = this.#random;
    for (let count = random.below(5); count > 0; count -= 1) this.#send();
    if (random.chance(0.3)) this.#traffic();
    if (random.chance(0.5 * this.#roughness)) this.#trouble(random.pick(this.#nodes));
    if (random.chance(0.1)) this.#outage();
    if (random.chance(0.05)) this.#compact();
    if (this.#setsBack && random.chance(0.1)) this.#setBack();
    for (let rest = random.below(1500); rest > 0; rest -= 500) {
      await this.#clock.advance(Math.min(rest, 500));
      this.#endTroubles();
    }
    for (const node of this.#nodes) node.lookAtClock();
  }

  #send(): void {
    const random = this.#random;
    const awake = this.#nodes.filter(({ isAwake }) => isAwake);
    if (awake.length === 0) return;
    const node = random.pick(awake);
    const number = this.#sent.length + 1;
    const command = random.chance(0.1) ? maintenanceCommand(random) : anyCommand(random, number);
    const tag = random.chance(0.3) ? this.#tagFor(command) : undefined;
    const sent: Sent = {
      actor: `client${String(number)}`,
      command,
      node: node.name,
      ...(tag === undefined ? {} : { tag }),
    };
    this.#sent.push(sent);
    node.send(sent);
  }

  /** The tag of what a command is about, as another node shows it. */
  #tagFor({ changes }: ClientCommand): Tag | undefined {
    const [change, another] = changes;
    const [name = ''] = Object.keys(change ?? {})[0]?.split(' ') ?? [];
    const link = links[name];
    const reader = this.#random.pick(this.#nodes).running?.admin;
    if (link === undefined || another !== undefined || reader === undefined) return undefined;
    const { epoch } = reader.snapshot;
    const version = versionAt(reader.snapshot, link) ?? 0;
    return { link, epoch, version };
  }

  /** A gateway goes about its work and reports it. */
  #traffic(): void {
    const random = this.#random;
    const node = random.pick(this.#nodes);
    if (!node.isAwake || node.running === undefined) return;
    const { gateway } = node;
    const happenings = [
      () => gateway.findStatus(random.pick(['db-1', 'db-2']), random.pick(statuses)),
      () => gateway.openSession(random.pick(['Sales', 'Reports'])),
      () => gateway.openConnection(random.below(3), random.pick(['db-1', 'db-2'])),
      () => gateway.closeSession(random.below(3)),
    ];
    node.running.admin.report(random.pick(happenings)());
  }

  /** Something happens to a node. */
  #trouble(node: Node): void {
    const [random, { process }] = [this.#random, node];
    if (process === undefined || process.isDead || this.#troubles.has(node.name)) return;
    const until = this.#clock.monotonic() + random.below(3 * leaseMs);
    const happenings = [
      () => {
        node.kill();
      },
      () => {
        void node.close();
      },
      () => {
        process.pause();
        this.#troubles.set(node.name, {
          until,
          end: () => {
            process.goOn();
          },
        });
      },
      () => {
        process.isCut = true;
        this.#troubles.set(node.name, {
          until,
          end: () => {
            process.isCut = false;
          },
        });
      },
    ];
    random.pick(happenings)();
  }

  /** What is over ends, and who has died starts again. */
  #endTroubles(): void {
    const now = this.#clock.monotonic();
    for (const [name, { until, end }] of this.#troubles) {
      if (now < until) continue;
      this.#troubles.delete(name);
      end();
    }
    for (const node of this.#nodes) this.#raise(node, now);
  }

  #raise(node: Node, now: number): void {
    if (node.process?.isDead !== true) return;
    const random = this.#random;
    const start = this.#starts.get(node.name);
    if (start === undefined) {
      // What the gateway was doing for the dead process ends before the next one begins.
      this.#starts.set(node.name, now + lateMs + random.below(2 * lateMs));
    } else if (now >= start) {
      this.#starts.delete(node.name);
      node.gateway.dropCalls();
      node.start();
    }
  }

  #outage(): void {
    if (this.#disk.isOut) return;
    const milliseconds = this.#random.below(2 * leaseMs);
    this.#disk.fail(milliseconds);
    this.#silence.outage(milliseconds);
    if (this.#random.chance(0.3)) this.#disk.forgetAnnouncements();
  }

  /** A node whose log has grown compacts it. */
  #compact(): void {
    const [first, ...others] = this.#disk.steps;
    if (first === undefined || others.length === 0) return;
    const store = this.#disk.store({ isDead: () => false, isCut: () => false });
    const compaction = async (): Promise<void> => {
      const { position, ...stored } = await store.load();
      await store.compact(restoreShared(stored, snapshot, level).toState(), { expectedPosition: position });
    };
    compaction().catch(() => undefined);
  }

  #setBack(): void {
    const { steps: all } = this.#disk;
    const to = all.length - this.#random.below(6);
    if (to < 2 || to === all.length) return;
    this.#lost.push(all);
    this.#disk.setBack(to);
  }

  /** A node may end only the commands of a node that was silent. */
  #lookAtEnds(step: Step): void {
    for (const record of recordsIn(step))
      if (record.type === 'settlement' && record.why === 'abandoned') {
        const silentMs = this.#silence.longest(record.node);
        if (silentMs < leaseMs - 1000)
          this.#faults.push(
            `${record.command} was ended by others, although ${record.node} was silent for ${String(silentMs)} ms only`,
          );
      }
  }

  /** A 412 says that the resource has changed, or that this node has not seen the version of the tag yet. */
  #lookAtRefusal({ execution, tag, actor, node }: Sent): void {
    const code = execution?.outcome === 'refused' ? execution.problem.code : undefined;
    // After a set-back the versions of the log before count at a node until it has read.
    if (code !== 'precondition-failed' || tag === undefined || this.#lost.length > 0) return;
    const shown = this.#nodes.find(({ name }) => name === node)?.running?.admin.snapshot;
    if (shown === undefined || (versionAt(shown, tag.link) ?? 0) < tag.version) return;
    const ledger = readLedger(this.#disk.steps);
    if (versionAt(ledger.snapshot, tag.link) === tag.version && ledger.snapshot.epoch === tag.epoch)
      this.#faults.push(`${actor} was told that ${tag.link} has changed since ${String(tag.version)}`);
  }

  /** Nothing fails any more, and everybody is waited for: then nothing may be left open, and all must agree. */
  async #rest(): Promise<void> {
    this.#heal();
    await this.#settles(20_000, 9000);
    // What a gateway does not answer stays open until another start.
    const unsettled = unsettledIn(this.#disk.steps).map(({ node }) => node);
    const left = this.#nodes.filter(({ name, unrest }) => unrest !== undefined || unsettled.includes(name));
    await this.#restart(left);
    if (left.length > 0) await this.#settles(200_000, 9000);
    for (const node of this.#nodes)
      if (node.unrest !== undefined)
        this.#faults.push(`${node.name} does not come to rest: it ${node.unrest}`);
    this.#judge();
    if (this.#faults.length === 0) await this.#goOn();
    await this.#clock.waitFor(Promise.all(this.#nodes.map((node) => node.close())));
  }

  #heal(): void {
    this.#mortality = 0;
    this.#disk.faults = { reject: 0, never: 0, slow: 0, lostHint: 0 };
    this.#disk.fail(0);
    this.#silence.endOutage();
    for (const { end } of this.#troubles.values()) end();
    this.#troubles.clear();
    for (const { gateway } of this.#nodes) gateway.otherwise({ apply: 'done', inspect: 'answer' });
  }

  async #settles(withinMs: number, leastMs = 2000): Promise<boolean> {
    for (let passed = 0; passed < withinMs; passed += 1000) {
      await this.#clock.advance(1000);
      this.#endTroubles();
      // Every node reads once a second. A call can fail after two seconds, and is made again after five seconds at the latest.
      if (passed + 1000 >= leastMs && this.#disk.isQuiet && this.#nodes.every((node) => this.#isAtRest(node)))
        return true;
    }
    return false;
  }

  #isAtRest({ unrest, running }: Node): boolean {
    return unrest === undefined && running?.admin.fleet.position === this.#disk.position;
  }

  async #restart(nodes: readonly Node[]): Promise<void> {
    await this.#clock.waitFor(Promise.all(nodes.map((node) => node.close())));
    for (const node of nodes) {
      node.kill();
      this.#starts.set(node.name, this.#clock.monotonic());
    }
  }

  #judge(): void {
    this.#faults.push(
      ...judge({
        steps: this.#disk.steps,
        lost: this.#lost,
        sent: this.#sent,
        nodes: this.#nodes,
        position: this.#disk.position,
      }),
    );
  }

  /** Nothing is held any more: every resource takes a command, and every node a part of them. */
  async #goOn(): Promise<void> {
    const before = this.#sent.length;
    for (const [index, link] of Object.values(links).entries()) {
      const node = this.#nodes[index % this.#nodes.length];
      const number = this.#sent.length + 1;
      const command = patchOf(link.split('/')[2] ?? '', number);
      const sent: Sent = { actor: `client${String(number)}`, command, node: node?.name ?? '' };
      this.#sent.push(sent);
      node?.send(sent);
    }
    await this.#settles(20_000);
    // A patch can give a setting the value that it has.
    const taken: readonly unknown[] = ['accepted', 'unchanged'];
    const failed = this.#sent.slice(before).find(({ execution }) => !taken.includes(execution?.outcome));
    if (failed !== undefined) {
      const { execution, node, actor } = failed;
      this.#faults.push(`at rest, ${actor} at ${node} is answered with ${JSON.stringify(execution)}`);
    }
    this.#judge();
  }
}

/** For how long nodes have not been heard; an outage of the disk for everybody does not count. */
class Silence {
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
    // A shorter one can pass between two beats.
    if (milliseconds >= 2000) this.#outages.push({ from, to: from + milliseconds });
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
    const outMs = this.#outages.map(({ from, to }) => Math.max(0, Math.min(to, now) - Math.max(from, heard)));
    return now - heard - outMs.reduce((sum, each) => sum + each, 0);
  }
}

/** The links of what clients change, by the names in their changes. */
const links: Readonly<Record<string, string>> = {
  sales: '/services/Sales',
  reports: '/services/Reports',
  watch: '/monitors/Watch',
  probe: '/monitors/Probe',
  'db-1': '/servers/db-1',
  'db-2': '/servers/db-2',
  hint: '/filters/Hint',
};

/** Every fault of the gateway, more or less often. */
function scaled(by: number): GatewayFaults {
  const scale = <T extends object>(faults: T): T =>
    Object.fromEntries(Object.entries(faults).map(([name, often]) => [name, Number(often) * by])) as T;
  return { apply: scale(everyFault.apply), inspect: scale(everyFault.inspect) };
}
