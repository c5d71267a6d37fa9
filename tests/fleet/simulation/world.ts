/**
 * Deterministic simulation of a fleet: three nodes with a gateway each, on one disk, in a world in which everything
 * fails that can fail. Everything follows from a seed, so that a fault can be looked at again and again.
 */
import { createSnapshot, type Snapshot } from 'gateway-admin-core';
import {
  createRandom,
  createVirtualClock,
  everyFault,
  type GatewayFaults,
  type Random,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { loadFleetState } from '../../support/internal.ts';
import { anyCommand, maintenanceCommand, patchOf, type ClientCommand } from '../../simulation/command.ts';
import { silence } from '../../simulation/breakage.ts';
import { Drainer } from '../../simulation/drainer.ts';
import { Founder } from '../../simulation/founder.ts';
import { document, statuses } from '../../simulation/simulation.ts';
import { Trail } from '../../simulation/trail.ts';
import type { FleetCommand, Principal, Sent, Tag } from './answer.ts';
import { restingCommand } from './asking.ts';
import { Chronicle } from './chronicle.ts';
import { fleetParts, isInUse, unsettledAt, type FleetBreak } from './endurance.ts';
import { judge, judgeAnswers } from './judge.ts';
import { recordsIn, unsettledIn } from './ledger.ts';
import { sumFaultsAt, unlikeness } from './likeness.ts';
import { listenerCommand, snapshotOf } from './listening.ts';
import { leaseMs, lateMs, mostMs, Node } from './node.ts';
import { Readings } from './reading.ts';
import { brokenLinks, unresolvedIn } from './resolving.ts';
import { contentAt, passwordAt, tagAt } from './shown.ts';
import { closingCommand, misjudgedIn, modeCommand, userChangedBy } from './standing.ts';
import { allRules, SharedDisk, type DiskRules, type Step } from './shared-disk.ts';
import { Silence } from './silence.ts';
import { strayFrom, untruthOf } from './truth.ts';

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
  const founding = createRandom(seed + 2 ** 36);
  const draining = createRandom(seed + 2 ** 37);
  const enduring = createRandom(seed + 2 ** 38);
  const auditing = createRandom(seed + 2 ** 39);
  const guests = {
    founding: founding.chance(0.5) ? founding : undefined,
    draining: draining.chance(0.25) ? draining : undefined,
    enduring: enduring.chance(0.05) ? enduring : undefined,
    auditing: auditing.chance(0.02) ? auditing : undefined,
  };
  return new World(createRandom(seed), createRandom(seed + 2 ** 32), { ...allRules, ...rules }, guests).run();
}

/** The random sources of what happens in some fleets only. */
interface Guests {
  readonly founding: Random | undefined;
  readonly draining: Random | undefined;
  readonly enduring: Random | undefined;
  readonly auditing: Random | undefined;
}

class World {
  readonly #random: Random;
  /** Draws what readers do, and what clients ask that rests on it. */
  readonly #more: Random;
  readonly #clock: VirtualClock = watched(createVirtualClock(undefined, { turns: 32 }), () => {
    this.#look();
  });
  readonly #disk: SharedDisk;
  readonly #nodes: readonly Node[];
  readonly #faults: string[] = [];
  readonly #sent: Sent[] = [];
  /** The number of requests that are judged by the standing of their callers alone. */
  #acts = 0;
  /** The moment at which somebody was last told that the fleet is read-only. */
  #readOnlyAt = Number.POSITIVE_INFINITY;
  /** The moments of the last changes of users that were acknowledged, by name. */
  readonly #acknowledged = new Map<string, number>();
  readonly #chronicle = new Chronicle();
  readonly #readings: Readings;
  /** Some worlds are gentle: what only shows when little goes wrong shows there. */
  readonly #roughness: number;
  readonly #silence: Silence;
  readonly #setsBack: boolean;
  /** In some fleets, clients create and delete. */
  readonly #founding: { readonly random: Random; readonly founder: Founder } | undefined;
  /** In some fleets, clients drain. */
  readonly #draining: { readonly random: Random; readonly drainer: Drainer } | undefined;
  /** In some fleets, one part fails for ever in the end. */
  readonly #enduring: Random | undefined;
  /** In some fleets, each node has an audit sink, and that of one node fails for ever in the end. */
  readonly #auditing: Random | undefined;
  /** The node that never comes back. */
  #gone: Node | undefined;
  #mortality: number;
  /** When a dead node may start again, by its name. */
  readonly #starts = new Map<string, number>();
  /** The end of what holds a node up, by its name. */
  readonly #troubles = new Map<string, { readonly until: number; readonly end: () => void }>();

  constructor(random: Random, more: Random, rules: DiskRules, { founding, draining, ...guests }: Guests) {
    this.#random = random;
    this.#more = more;
    this.#founding = founding && { random: founding, founder: new Founder(founding, false) };
    this.#draining = draining && { random: draining, drainer: new Drainer(draining) };
    this.#enduring = guests.enduring;
    this.#auditing = guests.auditing;
    this.#readings = new Readings(this.#chronicle, more, { founding, draining });
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
      this.#chronicle.take(step);
      this.#lookAtLinks('the log', this.#chronicle.ledger?.snapshot);
    };
    this.#nodes = names.map((name) => this.#nodeOf(name));
  }

  async run(): Promise<readonly string[]> {
    for (const node of this.#nodes) this.#start(node);
    await this.#clock.advance(500);
    for (let step = 0; step < steps; step += 1) await this.#step();
    await (this.#more.chance(0.1) ? this.#endInTrouble() : this.#rest());
    const nodes = this.#nodes.flatMap(({ faults, trail }) => [...faults, ...(trail?.faultsFound ?? [])]);
    const guests = [this.#founding?.founder, this.#draining?.drainer];
    const brought = guests.flatMap((guest) => guest?.faults ?? []);
    return [...new Set([...this.#faults, ...nodes, ...this.#readings.faults, ...brought])];
  }

  #nodeOf(name: string): Node {
    const skewMs = this.#random.below(7_200_000);
    return new Node({
      name,
      snapshot: snapshotOf(document),
      disk: this.#disk,
      clock: this.#clock,
      random: this.#random,
      faults: scaled(this.#roughness),
      mortality: () => this.#mortality,
      // A deadline is that of the clock of the node that was asked.
      skewMs: this.#draining === undefined ? skewMs : skewMs % 3000,
      audit: this.#auditing && this.#auditOf(this.#auditing),
      onAnswer: (sent) => {
        this.#lookAtAnswer(sent);
      },
      onEffect: (node, effect, commandId) => {
        const admin = node.running?.admin;
        if (admin !== undefined) this.#draining?.drainer.note(effect, commandId, admin, node.now);
      },
    });
  }

  #auditOf(random: Random): { readonly trail: Trail; readonly required: boolean } {
    const trail = new Trail(random, this.#clock);
    trail.faults = 0.3 * this.#roughness;
    return { trail, required: random.chance(0.5) };
  }

  /** Clients read at every node. */
  #look(): void {
    for (const node of this.#nodes) {
      this.#readings.look(node);
      this.#lookAtLinks(node.name, node.running?.admin.snapshot);
      this.#lookAtDrains(node);
    }
  }

  #lookAtDrains({ name, running, gateway }: Node): void {
    if (running === undefined || this.#draining === undefined) return;
    const early = this.#draining.drainer.early(running.admin, gateway);
    this.#faults.push(...early.map((text) => `${name}: ${text}`));
  }

  #lookAtLinks(where: string, snapshot: Snapshot | undefined): void {
    if (snapshot === undefined || this.#founding === undefined) return;
    this.#faults.push(...unresolvedIn(snapshot).map((text) => `${where}: ${text}`));
  }

  async #step(): Promise<void> {
    const random = this.#random;
    for (let count = random.below(5); count > 0; count -= 1) this.#send();
    this.#changeMode();
    this.#found();
    this.#drain();
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
    const usual = random.chance(0.1) ? maintenanceCommand(random) : anyCommand(random, number);
    const command = this.#restingCommand(number) ?? usual;
    const tag = random.chance(0.3) ? this.#tagFor(command) : undefined;
    const sent: Sent = {
      actor: `client${String(number)}`,
      command,
      node: node.name,
      askedAt: this.#chronicle.now,
      isReadOnly: this.#isReadOnly,
      ...(tag === undefined ? {} : { tag }),
      ...(this.#more.chance(0.15) ? { waitMs: this.#more.below(4000) } : {}),
    };
    this.#sent.push(sent);
    node.send(sent);
  }

  /** Clients create and delete at any node, and something happens to what they have created. */
  #found(): void {
    if (this.#founding === undefined) return;
    const { random, founder } = this.#founding;
    for (let count = random.below(4); count > 0; count -= 1) {
      const number = this.#sent.length + 1;
      const makers = [
        () => founder.next(number),
        () => founder.next(number),
        () => [founder.again(number)],
        () => [listenerCommand(random, number)],
      ];
      const commands = random.pick(makers)();
      // Two that meet can meet at two nodes.
      for (const command of commands) this.#sendFrom(random, command);
    }
    const { gateway, isAwake, running } = random.pick(this.#nodes);
    if (isAwake && random.chance(0.6)) running?.admin.report(founder.happenings(gateway));
  }

  /** Clients drain and resume at any node. */
  #drain(): void {
    if (this.#draining === undefined) return;
    const { random, drainer } = this.#draining;
    for (let count = random.below(3); count > 0; count -= 1) {
      const node = this.#pickAwake(random);
      const asked = node && drainer.next(this.#sent.length + 1, node.now);
      if (node !== undefined && asked !== undefined) drainer.sent(asked, this.#sendTo(node, random, asked));
    }
  }

  #sendFrom(random: Random, command: FleetCommand): void {
    const node = this.#pickAwake(random);
    if (node !== undefined) this.#sendTo(node, random, command);
  }

  #pickAwake(random: Random): Node | undefined {
    const awake = this.#nodes.filter(({ isAwake }) => isAwake);
    return awake.length === 0 ? undefined : random.pick(awake);
  }

  /** Gives the name of the client. */
  #sendTo(node: Node, random: Random, command: FleetCommand): string {
    const actor = `client${String(this.#sent.length + 1)}`;
    const sent: Sent = {
      actor,
      command,
      node: node.name,
      askedAt: this.#chronicle.now,
      isReadOnly: this.#isReadOnly,
      ...(random.chance(0.15) ? { waitMs: random.below(4000) } : {}),
    };
    this.#sent.push(sent);
    node.send(sent);
    return actor;
  }

  /** At times, somebody makes the fleet read-only, and somebody ends that soon. */
  #changeMode(): void {
    const [more, isReadOnly] = [this.#more, this.#chronicle.readOnly.at(-1) === true];
    if (!more.chance(isReadOnly ? 0.6 : 0.04)) return;
    const node = more.pick(this.#nodes);
    this.#act(node, modeCommand(!isReadOnly));
  }

  /** Whether somebody was told that the fleet is read-only, and it has been ever since. */
  get #isReadOnly(): boolean {
    const since = this.#chronicle.readOnly.slice(this.#readOnlyAt);
    return since.length > 0 && !since.includes(false);
  }

  /** Somebody sends a request who may have lost the right to: the answer is judged by that. */
  #act(node: Node, command: FleetCommand, as?: Principal): void {
    if (!node.isAwake) return;
    this.#acts += 1;
    const actor = `${as?.name ?? 'operator'}${String(this.#acts)}`;
    const now = { askedAt: this.#chronicle.now, isReadOnly: this.#isReadOnly };
    const head = { actor, command, node: node.name, ...now };
    node.send(as === undefined ? head : { ...head, as });
  }

  /** Those who may do less since an answer act at every node: some nodes do not know yet. */
  #actAfter({ actor, command, answer }: Sent): void {
    const more = this.#more;
    const user = userChangedBy(command);
    const changedAt = this.#chronicle.momentOf(actor);
    if (user !== undefined && changedAt !== undefined) this.#acknowledged.set(user, changedAt);
    const startsReadOnly = answer?.outcome === 'done' && command.mode === true;
    if (startsReadOnly) this.#readOnlyAt = this.#chronicle.now;
    if (user === undefined && !startsReadOnly) return;
    for (const node of this.#nodes) {
      const shown = node.running?.admin.snapshot;
      const as = user === undefined ? undefined : this.#principalAt(shown, user);
      if (shown === undefined || (as === undefined && !startsReadOnly) || !more.chance(0.7)) continue;
      const commands = [
        ...(startsReadOnly ? [] : [modeCommand(false)]),
        closingCommand(more),
        ...Array.from({ length: 3 }, () => restingCommand(more, this.#sent.length + 1, shown)),
      ];
      this.#act(node, more.pick(commands.filter(({ request }) => request !== undefined)), as);
    }
  }

  /** A user as a node knows the user, once a change of the user was acknowledged. */
  #principalAt(shown: Snapshot | undefined, name: string): Principal | undefined {
    const password = shown?.users.find(name) && (passwordAt(shown, name) ?? '');
    const changedAt = this.#acknowledged.get(name);
    return password === undefined || changedAt === undefined ? undefined : { name, password, changedAt };
  }

  /** At times, a command that rests on what a node shows; sent as a request or executed in the process. */
  #restingCommand(number: number): FleetCommand | undefined {
    const more = this.#more;
    const shown = more.pick(this.#nodes).running?.admin.snapshot;
    if (shown === undefined || !more.chance(0.4)) return undefined;
    const { request, ...command } = restingCommand(more, number, shown);
    return request === undefined || more.chance(0.5) ? command : { ...command, request };
  }

  /** The tag of what a command is about, as another node shows it. */
  #tagFor({ changes }: ClientCommand): Tag | undefined {
    const [change, another] = changes;
    const [name = ''] = Object.keys(change ?? {})[0]?.split(' ') ?? [];
    const link = links[name];
    const reader = this.#random.pick(this.#nodes).running?.admin;
    if (link === undefined || another !== undefined || reader === undefined) return undefined;
    const { snapshot } = reader;
    return { link, text: tagAt(snapshot, link) ?? '', content: contentAt(snapshot, link) };
  }

  /** A gateway goes about its work and reports it. */
  #traffic(): void {
    const random = this.#random;
    const node = random.pick(this.#nodes);
    if (!node.isAwake || !node.isReporting || node.running === undefined) return;
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
    for (const node of this.#living) this.#raise(node, now);
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
      this.#start(node);
    }
  }

  #start(node: Node): void {
    node.start();
    if (node.process !== undefined) this.#readings.begin(node.process);
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
      await store.compact(loadFleetState(stored, snapshot).toState(), { expectedPosition: position });
    };
    compaction().catch(() => undefined);
  }

  #setBack(): void {
    const { steps: all } = this.#disk;
    const to = all.length - this.#random.below(6);
    if (to < 2 || to === all.length) return;
    this.#disk.setBack(to);
    this.#chronicle.setBack(this.#disk.steps);
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

  #lookAtAnswer(sent: Sent): void {
    const { answer, node: name } = sent;
    this.#faults.push(...misjudgedIn(sent, this.#chronicle));
    const untruth = this.#sent.includes(sent) ? untruthOf(sent, this.#chronicle) : undefined;
    if (untruth !== undefined) this.#faults.push(untruth);
    this.#actAfter(sent);
    for (const { name, running, isClosing } of this.#nodes) {
      // A node that closes shows its last changes without learning whether their records were kept.
      if (running === undefined || isClosing || answer?.applied.includes(name) !== true) continue;
      this.#faults.push(...strayFrom(sent, { node: name, admin: running.admin }, this.#chronicle));
    }
    const node = this.#nodes.find((each) => each.name === name);
    if (node !== undefined && answer !== undefined) this.#readings.lookAtAnswer(node, sent.command, answer);
  }

  /**
   * Everything still fails, and clients send nothing more: each one gets an answer, and what was acknowledged is there.
   */
  async #endInTrouble(): Promise<void> {
    for (let passed = 0; passed < 2 * mostMs && this.#nodes.some(({ waits }) => waits); passed += 500) {
      if (this.#more.chance(0.1 * this.#roughness)) this.#trouble(this.#more.pick(this.#nodes));
      await this.#clock.advance(500);
      this.#endTroubles();
      for (const node of this.#nodes) node.lookAtClock();
    }
    const { ledger, lost } = this.#chronicle;
    if (ledger !== undefined) this.#faults.push(...judgeAnswers({ ledger, lost, sent: this.#sent }));
    for (const node of this.#nodes) node.kill();
  }

  /** Nothing fails any more, and everybody is waited for: then nothing may be left open, and all must agree. */
  async #rest(): Promise<void> {
    this.#heal();
    await this.#settles(20_000, 9000);
    for (const { name, running } of this.#nodes) {
      const behind = running?.admin.fleet.nodes()[0]?.behind ?? [];
      if (behind.length > 0 && !behind.some(isOfGateway))
        this.#faults.push(`${name} does not follow for no reason: ${JSON.stringify(behind)}`);
    }
    // What a gateway does not answer stays open until another start.
    const unsettled = unsettledIn(this.#disk.steps).map(({ node }) => node);
    const left = this.#nodes.filter(({ name, unrest }) => unrest !== undefined || unsettled.includes(name));
    await this.#restart(left);
    if (left.length > 0) await this.#settles(200_000, 9000);
    for (const node of this.#nodes)
      if (node.unrest !== undefined)
        this.#faults.push(`${node.name} does not come to rest: it ${node.unrest}`);
    if (this.#draining !== undefined) await this.#lookAtDeadlines(this.#draining.drainer);
    this.#judge();
    const open = this.#living.flatMap(({ running }) => running ?? []);
    if (this.#faults.length === 0) this.#faults.push(...(await unlikeness(open)));
    if (this.#faults.length === 0) await this.#lookAtSums();
    if (this.#faults.length === 0) await this.#goOn();
    if (this.#faults.length === 0 && this.#founding !== undefined) await this.#openAgain();
    if (this.#faults.length === 0 && this.#auditing !== undefined)
      await this.#outlast(this.#auditing, 'audit');
    else if (this.#faults.length === 0 && this.#enduring !== undefined)
      await this.#outlast(this.#enduring, this.#enduring.pick(fleetParts));
    await this.#clock.waitFor(Promise.all(this.#living.map((node) => node.close())));
  }

  async #lookAtSums(): Promise<void> {
    for (const { name, running } of this.#living) {
      const faults = running === undefined ? [] : await sumFaultsAt(running, snapshotOf(document));
      this.#faults.push(...faults.map((text) => `${name}: ${text}`));
    }
  }

  /** A minute after a deadline, each node has done what was to be done. */
  async #lookAtDeadlines(drainer: Drainer): Promise<void> {
    await this.#settles(120_000, 75_000);
    for (const { name, running, now } of this.#nodes) {
      const overdue = running === undefined ? [] : drainer.overdue(running.admin, now);
      this.#faults.push(...overdue.map((text) => `${name}: ${text}`));
    }
  }

  #heal(): void {
    this.#mortality = 0;
    this.#disk.faults = { reject: 0, never: 0, slow: 0, lostHint: 0 };
    this.#disk.fail(0);
    this.#silence.endOutage();
    for (const { end } of this.#troubles.values()) end();
    this.#troubles.clear();
    for (const { gateway, trail } of this.#nodes) {
      gateway.otherwise({ apply: 'done', inspect: 'answer' });
      if (trail !== undefined) trail.faults = 0;
    }
  }

  async #settles(withinMs: number, leastMs = 2000): Promise<boolean> {
    for (let passed = 0; passed < withinMs; passed += 1000) {
      await this.#clock.advance(1000);
      this.#endTroubles();
      // Every node reads once a second. A call can fail after two seconds, and is made again after five seconds at the
      // latest.
      if (
        passed + 1000 >= leastMs &&
        this.#disk.isQuiet &&
        this.#living.every((node) => this.#isAtRest(node))
      )
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
    const { ledger, lost } = this.#chronicle;
    if (ledger === undefined) return;
    if (this.#founding !== undefined) this.#lookAtMembership(ledger.snapshot);
    this.#faults.push(
      ...judge({
        ledger,
        lost,
        sent: this.#sent,
        nodes: this.#living,
        ...(this.#gone === undefined ? {} : { gone: this.#gone.name }),
        position: this.#disk.position,
      }),
    );
  }

  /** Another process could begin with the log, and each node has what its document alone gives. */
  #lookAtMembership(snapshot: Snapshot): void {
    this.#faults.push(...brokenLinks(snapshot));
  }

  /**
   * One part fails for ever, and nothing else does: the nodes that are left settle everything else, hold nothing of it,
   * and their alerts tell the truth.
   */
  async #outlast(random: Random, part: FleetBreak['part']): Promise<void> {
    const end: FleetBreak = { part, broken: random.pick(this.#nodes) };
    const before = this.#sent.length;
    for (let count = 0; count < 3; count += 1) this.#send();
    // Commands are in flight.
    await this.#clock.advance(random.below(30));
    this.#breakDown(end, random);
    for (let step = 0; step < 6; step += 1) {
      for (let count = 0; count < 3; count += 1) this.#send();
      this.#found();
      this.#drain();
      this.#traffic();
      await this.#clock.advance(random.below(1500));
    }
    // A store that fails holds up an answer the longest; a try to follow comes at the latest after a minute.
    const milliseconds = end.part === 'store' ? mostMs : 75_000;
    await this.#settles(milliseconds, milliseconds);
    for (const node of this.#living) {
      const drains = node.running && this.#draining?.drainer.overdue(node.running.admin, node.now);
      const left = await this.#clock.waitFor(unsettledAt(node, this.#living, drains ?? [], end));
      this.#faults.push(
        ...left.map((text) => `${node.name}, while the ${end.part} of ${end.broken.name} fails: ${text}`),
      );
    }
    // Each node has its own audit sink.
    const unkept = this.#sent.slice(before).filter(({ answer }) => answer?.code === 'audit-unavailable');
    for (const { actor, node } of unkept)
      if (node !== end.broken.name)
        this.#faults.push(`${node} refuses ${actor} for the sink of another node`);
    const isBehind = this.#living.some(({ unrest }) => unrest !== undefined);
    if (end.part !== 'gateway' && end.part !== 'store' && !isBehind) this.#judge();
  }

  #breakDown({ part, broken }: FleetBreak, random: Random): void {
    const breakages = {
      node: () => {
        this.#gone = broken;
        broken.kill();
      },
      gateway: () => {
        silence(broken.gateway, random);
      },
      store: () => {
        this.#disk.fail(Number.POSITIVE_INFINITY);
        this.#silence.outage(Number.POSITIVE_INFINITY);
      },
      clock: () => {
        broken.stopClock();
      },
      audit: () => {
        if (broken.trail !== undefined) broken.trail.isBroken = true;
      },
    };
    breakages[part]();
  }

  /** The nodes that are not lost for ever. */
  get #living(): readonly Node[] {
    return this.#nodes.filter((node) => node !== this.#gone);
  }

  /** Every node opens again, from the compacted log. */
  async #openAgain(): Promise<void> {
    this.#compact();
    await this.#settles(20_000);
    await this.#restart(this.#nodes);
    await this.#settles(20_000, 9000);
    for (const node of this.#nodes)
      if (node.unrest !== undefined)
        this.#faults.push(`${node.name} does not come to rest again: it ${node.unrest}`);
    this.#judge();
  }

  /** Nothing is held any more: every resource takes a command, and every node a part of them. */
  async #goOn(): Promise<void> {
    const before = this.#sent.length;
    for (const [index, link] of Object.values(links).entries()) {
      const node = this.#nodes[index % this.#nodes.length];
      const number = this.#sent.length + 1;
      const command = patchOf(link.split('/')[2] ?? '', number);
      const askedAt = this.#chronicle.now;
      const sent: Sent = { actor: `client${String(number)}`, command, node: node?.name ?? '', askedAt };
      this.#sent.push(sent);
      node?.send(sent);
    }
    await this.#settles(20_000);
    // A patch can give a setting the value that it has.
    const taken: readonly unknown[] = ['accepted', 'unchanged'];
    const failed = this.#sent.slice(before).find(({ answer }) => !taken.includes(answer?.outcome));
    if (failed !== undefined) {
      const { answer, node, actor } = failed;
      this.#faults.push(`at rest, ${actor} at ${node} is answered with ${answer?.code ?? 'nothing'}`);
    }
    this.#judge();
  }
}

/**
 * A clock that calls a function whenever a sleep has ended. At that moment, nothing else is under way in any process.
 */
function watched(clock: VirtualClock, onWake: () => void): VirtualClock {
  return {
    ...clock,
    get sleeping() {
      return clock.sleeping;
    },
    sleep: async (milliseconds, signal) => {
      const due = clock.monotonic() + milliseconds;
      await clock.sleep(milliseconds, signal);
      if (milliseconds > 0 && clock.monotonic() === due) onWake();
    },
  };
}

/** Whether the reason why a node does not follow lies with its gateway, or with what is open there. */
function isOfGateway({ code, detail = '' }: { readonly code?: string; readonly detail?: string }): boolean {
  const codes = ['effect-refused', 'outcome-unknown', 'partly-done', 'command-in-progress'];
  return code === undefined || codes.includes(code) || isInUse({ detail });
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
