/**
 * Deterministic simulation: a world of clients, a failing gateway, a failing disk, and a process that dies between any
 * two steps and is started again. Everything follows from a seed, so that a fault can be looked at again and again.
 */
import {
  nameKey,
  createSnapshot,
  EffectRefusedError,
  type Admin,
  type Effect,
  type GatewayDocument,
  type HostReport,
  type ServerStatusWord,
  type Session,
} from 'gateway-admin-core';
import {
  createRandom,
  createScriptedGateway,
  createVirtualClock,
  everyFault,
  type ApplyWay,
  type GatewayFaults,
  type Random,
  type ScriptedGateway,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';
import { Abandonment } from './abandonment.ts';
import type { Asked } from './answer.ts';
import { Clients } from './asking.ts';
import { Attacher } from './attacher.ts';
import { limits } from './bound.ts';
import { misreportedIn, parts, silence, unsettledIn, type Part } from './breakage.ts';
import { anyCommand, maintenanceCommand, sequenceAfter } from './command.ts';
import { Disk } from './disk.ts';
import { Drainer, unknowable } from './drainer.ts';
import { Founder, type Gone } from './founder.ts';
import { hazardsOf, type Hazards } from './hazard.ts';
import { Historian } from './historian.ts';
import { Ledger } from './ledger.ts';
import { beginLife, type Heard, type Life } from './life.ts';
import { Model } from './model.ts';
import type { Surroundings } from './mortal.ts';
import { Planner } from './planner.ts';
import { Reader } from './reader.ts';
import { nameIn, Sayings } from './saying.ts';
import { Trail } from './trail.ts';
import { WayBack } from './way-back.ts';

/** What every world begins with. */
export const document: GatewayDocument = {
  servers: ['db-1', 'db-2'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  services: ['Sales', 'Reports'].map((name) => ({
    name,
    router: 'readconnroute',
    servers: ['/servers/db-1'],
    max_connection: 1,
  })),
  monitors: ['Watch', 'Probe'].map((name) => ({ name, module: 'pgmon', monitor_interval: 1 })),
  filters: [
    { name: 'Hint', module: 'hintfilter', parameters: { match: { value: '0', configurable: true } } },
  ],
  users: [{ name: 'root', password: { sealed: 'opaque' } }],
};

const snapshot = createSnapshot(document, { epoch: 'sim' });
const steps = 30;

/** The statuses that a monitor finds. Only a running server has a role. */
export const statuses: readonly (readonly ServerStatusWord[])[] = [
  [],
  ['running'],
  ['master', 'running'],
  ['slave', 'running'],
  ['synced', 'running'],
];

/**
 * Runs the world of a seed.
 *
 * @param planned - how likely clients plan, from 0 to 1
 * @param onWay - told at the end what became of the way back
 * @returns what went wrong that must never go wrong
 */
export async function simulate(
  seed: number,
  planned = 0.25,
  onWay: (way: Way) => void = () => undefined,
): Promise<readonly string[]> {
  const world = new World(seed, hazardsOf(createRandom(seed + 2 ** 33)), guestsOf(seed, planned));
  for (let step = 0; step < steps; step += 1) await world.step();
  const faults = await world.end();
  onWay(world.way);
  return faults;
}

/** Whether a world was led back: one in which a part fails for ever has no end to lead back from. */
export type Way = 'led back' | 'without an end';

/**
 * In every fourth world, clients undo and restore; they create and delete; and they drain. Where they create and delete,
 * listeners and the filters of services come and go in four of ten.
 *
 * @param planned - how likely clients plan, from 0 to 1
 */
function guestsOf(seed: number, planned: number): Guests {
  const [planning, undoing] = [createRandom(seed + 2 ** 34), createRandom(seed + 2 ** 35)];
  const [founding, draining] = [createRandom(seed + 2 ** 36), createRandom(seed + 2 ** 37)];
  const silent = createRandom(seed + 2 ** 38);
  const attaching = createRandom(seed + 2 ** 40);
  return {
    planning: planning.chance(planned) ? planning : undefined,
    undoing: undoing.chance(0.25) ? undoing : undefined,
    founding: founding.chance(0.25) ? founding : undefined,
    draining: draining.chance(0.25) ? draining : undefined,
    isSilent: silent.chance(0.25),
    attaching: attaching.chance(0.4) ? attaching : undefined,
  };
}

/** Who acts in some worlds only. */
interface Guests {
  /** Draws what clients create and delete. */
  readonly founding: Random | undefined;
  /** Draws the listeners and the filters of services, where clients create and delete. */
  readonly attaching: Random | undefined;
  /** Draws what clients drain. */
  readonly draining: Random | undefined;
  /** Draws what clients plan. */
  readonly planning: Random | undefined;
  /** Draws what clients undo and restore. */
  readonly undoing: Random | undefined;
  /** Whether the part that fails for ever is the host that is to say that it has reported everything that is open. */
  readonly isSilent: boolean;
}

class World {
  way: Way = 'without an end';
  readonly #random: Random;
  readonly #clock: VirtualClock = createVirtualClock(0);
  readonly #gateway: ScriptedGateway;
  readonly #disk: Disk;
  readonly #model: Model;
  readonly #faults: string[] = [];
  /** Draws the hazards that were added later. */
  readonly #more: Random;
  readonly #sayings: Sayings;
  /** Some worlds are gentle: what only shows when little goes wrong shows there. */
  readonly #roughness: number;
  /** Some gateways report each change once. The others report the whole state, again and again. */
  readonly #repeats: boolean;
  /** How likely the disk fails for seconds while the gateway is asked, from 0 to 1. */
  #outages: number;
  /** The services and monitors whose failure was reported while a start of them was running. */
  readonly #failedMeanwhile = new Set<string>();
  readonly #hazards: Hazards;
  readonly #trail: Trail;
  readonly #clients: Clients;
  readonly #readers: readonly Reader[];
  readonly #abandonment = new Abandonment();
  readonly #planner: Planner | undefined;
  readonly #founder: Founder | undefined;
  readonly #attacher: Attacher | undefined;
  readonly #drainer: Drainer | undefined;
  /** Judges the history. */
  readonly #ledger: Ledger;
  readonly #historian: Historian | undefined;
  /** How likely the sealer never answers, from 0 to 1. */
  #unsealed = 0.3;
  #mortality: number;
  /** When the clock that the process reads has stopped. */
  #stoppedAt: number | undefined;
  #life: Life | undefined;
  #sink: ReturnType<Trail['sink']> | undefined;
  #isHealed = false;
  readonly #isSilent: boolean;
  /** Whether the host never says that it has reported everything that is open. */
  #withholds = false;
  #commands = 0;
  #clientCount = 0;

  constructor(seed: number, hazards: Hazards, guests: Guests) {
    const random = createRandom(seed);
    const more = createRandom(seed + 2 ** 32);
    this.#planner = guests.planning && new Planner(guests.planning, hazards.seals);
    this.#founder = guests.founding ? new Founder(guests.founding) : undefined;
    this.#attacher = this.#founder && guests.attaching && new Attacher(guests.attaching);
    this.#drainer = guests.draining ? new Drainer(guests.draining) : undefined;
    this.#isSilent = guests.isSilent === true;
    this.#random = random;
    this.#more = more;
    this.#hazards = hazards;
    // An answer that waits for its record comes after those of later commands.
    this.#model = new Model(snapshot, hazards.audit !== 'required');
    this.#trail = new Trail(hazards.random, this.#clock);
    this.#clients = new Clients(hazards.random);
    this.#readers = hazards.hasReaders ? [1, 2].map(() => new Reader(hazards.random)) : [];
    this.#sayings = new Sayings(more);
    this.#roughness = random.pick([0, 0.3, 1]);
    this.#repeats = random.chance(0.5);
    this.#outages = random.pick([0, 0, 0.2]);
    this.#mortality = 0.01 * this.#roughness;
    this.#gateway = createScriptedGateway({
      snapshot,
      clock: this.#clock,
      seed: random.below(2 ** 31),
      faults: scaled(this.#roughness),
    });
    this.#disk = new Disk(random, this.#clock);
    this.#disk.faults = { reject: 0.05 * this.#roughness, never: 0.01 * this.#roughness };
    for (const service of ['Sales', 'Reports']) this.#opening(service);
    const ledger = new Ledger(snapshot);
    this.#ledger = ledger;
    this.#historian = guests.undoing === undefined ? undefined : new Historian(guests.undoing, ledger);
    this.#disk.onRecord = (record) => {
      ledger.take(record);
    };
  }

  async step(): Promise<void> {
    const life = await this.#living();
    const chance = this.#random.next();
    if (chance < 0.65) this.#send(life, 1 + this.#random.below(4));
    else if (chance < 0.8) this.#traffic(life);
    else if (chance < 0.82 && this.#roughness > 0) life.die();
    else if (chance < 0.84) await this.#close(life);
    if (this.#life === life && life.alive) await this.#befall(life);
    if (this.#random.chance(0.7)) await this.#clock.advance(this.#random.below(1500));
    if (this.#life !== life || !life.alive) return;
    if (!life.isClosing) this.#faults.push(...(this.#drainer?.early(life.admin, this.#gateway) ?? []));
    this.#faults.push(...life.unheeded(), ...life.overdue());
    if (life.settled) this.#lookAtFailures(life);
    if (this.#founder !== undefined) this.#faults.push(...life.brokenLinks());
    // Not awaited: the world goes on as without the look.
    if (!life.isClosing) void this.#ledger.lookWithin(life.admin);
  }

  /**
   * What is wanted is shown as failed exactly when it has failed, also if the gateway has reported that only once. If
   * no command of an earlier life is open, all else that a gateway reports is shown as reported.
   */
  #lookAtFailures({ admin }: Life): void {
    const isOpen = admin.commands().length > 0;
    const mistaken = this.#differences(admin).filter(
      (text) => failed.test(text) || (!isOpen && told.test(text)),
    );
    if (!this.#repeats) this.#faults.push(...mistaken.filter((text) => !this.#abandonment.isAbout(text)));
  }

  /** What only some worlds have. */
  async #befall(life: Life): Promise<void> {
    const { random, losesStore, isTardy, abandons, audit, hasRequests, seals } = this.#hazards;
    if ((isTardy || abandons) && random.chance(0.4)) this.#gateway.will(this.#tardy());
    if (hasRequests || seals) this.#request(life, random.below(4));
    this.#planSome(life);
    this.#undoSome(life);
    this.#foundSome(life);
    this.#drainSome(life);
    if (abandons && random.chance(0.5)) this.#abandonSome(life);
    for (const reader of this.#readers) reader.step(life.admin);
    if (losesStore && random.chance(0.1)) this.#disk.lose(random.pick(['taken', 'rewritten']));
    // Nobody uses an interface for long whose store is lost.
    if (random.chance(life.isStoreLost ? 0.2 : audit === 'none' ? 0 : 0.1)) await this.#close(life);
  }

  #planSome(life: Life): void {
    if (this.#planner === undefined || life.isClosing) return;
    for (let each = 0; each < 3; each += 1) {
      this.#commands += 1;
      const asked = this.#planner.next(life.admin, this.#commands + 1);
      if (asked !== undefined) this.#ask(life, asked);
      this.#crossPlan(life.admin, this.#planner);
    }
  }

  #foundSome(life: Life): void {
    if (this.#founder === undefined || life.isClosing) return;
    for (let each = 0; each < 3; each += 1) {
      this.#commands += 2;
      for (const asked of this.#founder.next(this.#commands + 1)) this.#ask(life, asked);
      this.#report(life.admin, this.#founder.happenings(this.#gateway));
      this.#report(life.admin, this.#founder.late(this.#goneFrom(life)));
      this.#attachSome(life);
    }
  }

  #attachSome(life: Life): void {
    if (this.#attacher === undefined) return;
    this.#commands += 2;
    for (const asked of this.#attacher.next(this.#commands + 1)) this.#ask(life, asked);
  }

  #drainSome(life: Life): void {
    if (this.#drainer === undefined || life.isClosing) return;
    this.#commands += 1;
    const asked = this.#drainer.next(this.#commands + 1, this.#clock.now());
    if (asked !== undefined) this.#ask(life, asked);
  }

  /** The servers and services that were deleted in the last minute, and neither are there nor come back. */
  #goneFrom({ admin, chronicle }: Life): readonly Gone[] {
    const held = admin.commands().flatMap(({ resources }) => resources.map(nameKey));
    return chronicle.deletedSince(this.#clock.now() - 60_000).flatMap((link) => {
      const [, collection = '', name = ''] = link.split('/');
      if (collection !== 'servers' && collection !== 'services') return [];
      const isThere =
        nameKey(name) in this.#gateway.state[collection] ||
        admin.snapshot[collection].find(name) !== undefined ||
        held.includes(nameKey(link));
      return isThere ? [] : [{ collection, name }];
    });
  }

  /** Something happens between a plan and its command, or between a decision and its effects. */
  #crossPlan(admin: Admin, planner: Planner): void {
    const [gateway, { random }] = [this.#gateway, planner];
    const [service, server] = [random.pick(['Sales', 'Reports']), random.pick(['db-1', 'db-2'])];
    const happenings = {
      client: () => gateway.openSession(service),
      connection: () => gateway.openConnection(random.below(10), server),
      end: () => sessionsOf(admin, service).flatMap(({ id }) => gateway.closeSession(id)),
      disconnect: () => connectionsOf(admin, server).flatMap((place) => gateway.closeConnection(...place)),
      status: () => this.#finding(random, server),
    };
    const what = planner.between();
    if (what !== undefined) this.#report(admin, happenings[what]());
  }

  #undoSome(life: Life): void {
    if (life.isClosing) return;
    const asked = this.#historian?.next();
    if (asked !== undefined) this.#ask(life, asked);
  }

  #request(life: Life, count: number): void {
    for (let each = 0; each < count; each += 1) {
      this.#commands += 1;
      this.#ask(life, this.#clients.next(this.#commands + 1, this.#hazards.seals));
    }
  }

  #abandonSome(life: Life): void {
    for (const id of life.unknown()) {
      const asked = this.#abandonment.of(id);
      if (asked !== undefined && this.#hazards.random.chance(0.7)) void this.#abandon(life, id, asked);
    }
  }

  /** A client abandons a command, and perhaps tries it again as a part of something else. */
  async #abandon(life: Life, id: string, asked: Asked): Promise<void> {
    const { random } = this.#hazards;
    this.#abandonment.add(id);
    const isAbandoned = await life.abandon(id);
    if (!isAbandoned || life.isClosing || random.chance(0.3)) return;
    this.#commands += 1;
    const again = sequenceAfter(random, asked, this.#commands + 1);
    if (again === undefined) return;
    this.#ask(life, again);
    // The process dies in the middle of it.
    if (random.chance(0.3)) this.#dieSoon(life);
  }

  #dieSoon(life: Life): void {
    const delay = this.#hazards.random.below(2 * limits.effectDeadlineMs);
    void this.#clock.sleep(delay).then(() => {
      if (!this.#isHealed && !life.isClosing) life.die();
    });
  }

  /** An answer of the gateway after the deadline: what was asked for is done before or after it, or not. */
  #tardy(): ApplyWay {
    const { random } = this.#hazards;
    const [isDone, isEarly, delay] = [random.chance(0.6), random.chance(0.5), random.below(4000)];
    const error = random.pick([new EffectRefusedError('It is too late.'), new Error('It is too late.')]);
    return async (_effect, _context, perform) => {
      if (this.#isHealed) {
        perform();
        return;
      }
      if (isDone && isEarly) perform();
      await this.#clock.sleep(limits.effectDeadlineMs + 1 + delay);
      if (isDone && !isEarly) perform();
      if (!isDone) throw error;
    };
  }

  /** What the interface shows otherwise than the gateway has it. */
  #differences({ snapshot: shown }: Admin): readonly string[] {
    return [...this.#gateway.differences(shown), ...this.#sayings.mistold(this.#gateway.state, shown)];
  }

  /** What has gone wrong, in the end. */
  async end(): Promise<readonly string[]> {
    await (this.#hazards.heals ? this.#rest() : this.#endure());
    return [
      ...this.#faults,
      ...this.#clients.faults,
      ...this.#trail.faultsFound,
      ...(this.#planner?.faults ?? []),
      ...(this.#founder?.faults ?? []),
      ...(this.#drainer?.faults ?? []),
      ...this.#ledger.faults,
      ...(this.#historian?.faults ?? []),
    ];
  }

  /**
   * Nothing heals: some part is broken for ever. Everybody has an answer within the documented deadlines all the same,
   * and the next process shows nothing that contradicts an answer.
   */
  async #endure(): Promise<void> {
    const { random } = this.#hazards;
    const life = await this.#living();
    this.#send(life, 3);
    const breakages = [
      () => this.#gateway.otherwise({ apply: 'silentBefore', inspect: 'silent' }),
      () => {
        this.#disk.fail(Infinity);
      },
      () => (this.#disk.faults = { reject: 0, never: 1 }),
      () => (this.#trail.faults = 1),
    ];
    for (const breakDown of breakages) if (random.chance(0.5)) breakDown();
    await this.#clock.advance(random.below(500));
    this.#send(life, 3);
    await this.#clock.advance(life.patienceMs);
    if (life.alive) this.#faults.push(...life.overdue());
    await this.#close(life);
    this.#withholds = this.#isSilent;
    const next = await this.#recover();
    if (random.chance(0.5)) await this.#outlast(next);
  }

  /**
   * One part fails for ever, and nothing else does: everything else settles within the documented deadlines, nothing of
   * it is held, and the alerts tell the truth.
   */
  async #outlast(life: Life): Promise<void> {
    const { random, audit } = this.#hazards;
    const others = parts.filter((each) => each !== 'audit' || audit !== 'none');
    const part = this.#withholds ? 'reports' : random.pick(others);
    const brokenAt = this.#clock.now();
    if (part !== 'reports') this.#breakDown(part);
    for (let step = 0; step < 6; step += 1) {
      this.#send(life, 3);
      this.#request(life, 1);
      this.#planSome(life);
      this.#undoSome(life);
      this.#foundSome(life);
      this.#drainSome(life);
      this.#traffic(life);
      await this.#clock.advance(random.below(1500));
    }
    await this.#clock.advance(Math.max(life.patienceMs, outlastMs));
    if (this.#repeats) life.admin.report(this.#statusReports());
    this.#faults.push(
      ...(await this.#unsettled(life, part, brokenAt)).map((text) => `while the ${part} fails, ${text}`),
    );
    await this.#close(life);
    this.#heal();
    this.#withholds = false;
    await this.#living();
  }

  #breakDown(part: (typeof parts)[number]): void {
    const { random } = this.#hazards;
    const breakages = {
      gateway: () => {
        silence(this.#gateway, random);
      },
      store: () => {
        if (random.chance(0.5)) this.#disk.fail(Infinity);
        else this.#disk.faults = { reject: 0, never: 1 };
      },
      audit: () => (this.#trail.isBroken = true),
      clock: () => (this.#stoppedAt = this.#clock.now()),
    };
    breakages[part]();
  }

  /** What should have settled although a part fails. */
  async #unsettled(life: Life, part: Part, brokenAt: number): Promise<readonly string[]> {
    const { admin } = life;
    const now = this.#stoppedAt ?? this.#clock.now();
    const drains = (this.#drainer?.overdue(admin, now) ?? []).map((text) => `/${text}`);
    const broken = { part, brokenAt, drains };
    const differences = this.#differences(admin).filter((text) => !this.#abandonment.isAbout(text));
    return [
      ...life.overdue(),
      ...unsettledIn(admin, this.#gateway, differences, broken),
      ...(await misreportedIn(admin, this.#gateway, broken)),
    ];
  }

  /** Nothing fails any more, and everybody is waited for: then nothing may be left open, and all must agree. */
  async #rest(): Promise<void> {
    const life = await this.#recover();
    await this.#settle();
    if (this.#repeats) life.admin.report(this.#statusReports());
    this.#judge(life);
    await this.#ledger.lookAtRest(life.admin);
    await this.#ledger.lookAtSum(life.admin);
    const before = configuration(life.admin.snapshot);
    await this.#close(life);
    const { admin } = await this.#living();
    const after = configuration(admin.snapshot);
    await this.#ledger.lookAtRest(admin);
    if (JSON.stringify(before) !== JSON.stringify(after))
      this.#faults.push('another start on the same disk shows something else');
    this.way = 'led back';
    const wayBack = new WayBack(admin, this.#clock, this.#ledger);
    await wayBack.walk();
    this.#faults.push(...wayBack.faults);
  }

  /** Nothing fails any more. What the gateway has never answered stays open until another start, which is made. */
  async #recover(): Promise<Life> {
    this.#heal();
    await this.#clock.advance(600_000);
    if (this.#life !== undefined) await this.#finish(this.#life);
    return this.#living();
  }

  #heal(): void {
    this.#isHealed = true;
    this.#stoppedAt = undefined;
    this.#gateway.otherwise({ apply: 'done', inspect: 'answer' });
    this.#disk.fail(0);
    this.#disk.faults = { reject: 0, never: 0 };
    this.#outages = 0;
    this.#trail.faults = 0;
    this.#trail.isBroken = false;
    this.#unsealed = 0;
    this.#mortality = 0;
  }

  /** A store that failed works again by itself, and what it did not keep then is kept now. */
  async #finish(life: Life): Promise<void> {
    if (this.#repeats) life.admin.report(this.#statusReports());
    if (life.alive && life.settled)
      this.#faults.push(...this.#differences(life.admin).filter((text) => !this.#abandonment.isAbout(text)));
    // Before a start looks at every deadline.
    if (life.alive && life.settled && !life.isStoreLost)
      this.#faults.push(...(this.#drainer?.overdue(life.admin, this.#clock.now()) ?? []));
    if (life.alive) this.#faults.push(...life.unheeded(), ...(await this.#storeFaults(life)));
    await this.#close(life);
  }

  async #storeFaults(life: Life): Promise<readonly string[]> {
    if (!life.isStoreLost || !this.#hazards.losesStore) return life.strayStore();
    return life.lostStore();
  }

  #judge(life: Life): void {
    this.#faults.push(...(this.#drainer?.overdue(life.admin, this.#clock.now()) ?? []));
    this.#faults.push(...life.unrest(), ...this.#differences(life.admin), ...this.#lies(life.admin));
  }

  async #settle(): Promise<void> {
    if (!(await this.#clock.runUntilIdle())) this.#faults.push('it does not come to rest');
  }

  #send(life: Life, count: number): void {
    for (let each = 0; each < count; each += 1) {
      this.#commands += 1;
      const command = anyCommand(this.#random, this.#commands + 1);
      const isOther = this.#more.chance(0.1);
      this.#ask(life, isOther ? maintenanceCommand(this.#more) : command);
    }
  }

  #ask(life: Life, asked: Asked): void {
    this.#clientCount += 1;
    const actor = `client-${String(this.#clientCount)}`;
    this.#drainer?.sent(asked, actor);
    life.send(asked, this.#model, actor);
  }

  /** A client remembers what it was answered. */
  #hear(heard: Heard): void {
    const { asked, actor, answer } = heard;
    const { reply, settledAt = heard.at, code } = answer;
    this.#abandonment.hear(heard);
    this.#historian?.hear(heard);
    this.#planner?.hear(heard);
    // What a creation shows has another address.
    const isOwn = asked.request !== undefined && asked.request.method !== 'POST';
    if (isOwn && reply !== undefined) this.#clients.look(asked.request, reply);
    if (this.#hazards.audit !== 'required') return;
    if (code === 'audit-unavailable' && this.#sink?.hasFailed() === false)
      this.#faults.push(`${asked.kind} was refused for the audit records, which were all kept`);
    const isSure = answer.outcome === 'accepted' || answer.outcome === 'unchanged';
    const isInTime = this.#clock.now() - settledAt < limits.auditDeadlineMs;
    if (isSure && isInTime && !this.#trail.has({ actor, ...answer }))
      this.#faults.push(`${asked.kind} of ${actor} was answered before its record was kept`);
  }

  /** The gateway goes about its work and reports it. */
  #traffic({ admin }: Life): void {
    const [gateway, session] = [this.#gateway, this.#random.below(10)];
    const happenings = [
      () => this.#failure(),
      () => this.#opening(this.#random.pick(['Sales', 'Reports'])),
      () => gateway.openConnection(session, this.#random.pick(['db-1', 'db-2'])),
      () => gateway.closeConnection(session, this.#random.below(3)),
      () => gateway.closeSession(session),
    ];
    this.#report(admin, this.#random.pick(happenings)());
    if (this.#more.chance(0.2)) this.#report(admin, this.#finding(this.#more));
  }

  /** Clients of a service come, several of them at times. */
  #opening(service: string): readonly HostReport[] {
    const count = 1 + this.#random.below(4);
    return Array.from({ length: count }, () => this.#gateway.openSession(service)).flat();
  }

  #report(admin: Admin, reports: readonly HostReport[]): void {
    this.#say(admin, this.#sayings.happened(reports, this.#clock.now()));
  }

  #say(admin: Admin, reports: readonly HostReport[]): void {
    for (const report of reports) if (isFailure(report)) this.#failedMeanwhile.add(nameIn(report));
    if (this.#life?.isFollowed !== false) admin.report(reports);
  }

  /** A monitor of the gateway finds the status of a server. */
  #finding(random: Random, server = random.pick(['db-1', 'db-2'])): readonly HostReport[] {
    return this.#gateway.findStatus(server, random.pick(statuses));
  }

  /** What the gateway has to say of the present state. */
  #statusReports(): readonly HostReport[] {
    const reports = this.#gateway.statusReports();
    return this.#sayings.repeated(reports);
  }

  /** A service or monitor fails or recovers. The gateway reports that once and never again. */
  #failure(
    service = this.#random.pick(['Sales', 'Reports']),
    monitor = this.#random.pick(['Watch', 'Probe']),
    random = this.#random,
  ): readonly HostReport[] {
    const gateway = this.#gateway;
    const failures = [
      () => gateway.failService(service),
      () => gateway.failMonitor(monitor),
      () => gateway.recoverService(service),
      () => gateway.recoverMonitor(monitor),
    ];
    return random.pick(failures)();
  }

  /** Something happens while the gateway carries out an effect. */
  #cross(effect: Effect): void {
    if (this.#life?.alive !== true || !this.#random.chance(0.5 * this.#roughness)) return;
    const { service, monitor, server } = effect as Partial<Record<'service' | 'monitor' | 'server', string>>;
    const { services, monitors, servers } = this.#gateway.state;
    const has = (name: string | undefined, things: object): string | undefined =>
      name !== undefined && name in things ? name : undefined;
    this.#report(this.#life.admin, this.#failure(has(service, services), has(monitor, monitors)));
    this.#report(this.#life.admin, this.#finding(this.#more, has(server, servers)));
    // The commands in flight end while nothing can be kept.
    if (this.#random.chance(this.#outages)) this.#disk.fail(this.#random.below(5000));
    if (this.#repeats) this.#say(this.#life.admin, this.#statusReports());
  }

  /** Something happens while a record is stored: before the gateway is asked, or after it has answered. */
  #crossRecord(): void {
    const more = this.#more;
    if (this.#life?.alive !== true || this.#life.isClosing) return;
    if (this.#planner !== undefined) this.#crossPlan(this.#life.admin, this.#planner);
    if (!more.chance(0.3 * this.#roughness)) return;
    const happenings = [() => this.#failure(undefined, undefined, more), () => this.#finding(more)];
    this.#report(this.#life.admin, more.pick(happenings)());
    const worse = more.chance(0.3) ? this.#gateway.statusReports() : [];
    this.#say(this.#life.admin, this.#sayings.worsened(worse));
  }

  /** A gateway that has reported a failure while a start was running must report what the start has led to. */
  #starting(effect: Effect): () => void {
    if (effect.type !== 'service.start' && effect.type !== 'monitor.start') return () => undefined;
    const name = effect.type === 'service.start' ? effect.service : effect.monitor;
    this.#failedMeanwhile.delete(name);
    this.#sayings.begin(name);
    return () => {
      this.#sayings.end(name);
      if (this.#failedMeanwhile.has(name) && this.#life?.alive === true)
        this.#say(
          this.#life.admin,
          this.#statusReports().filter((report) => nameIn(report) === name),
        );
    };
  }

  /** The life that goes on; when there is none, the process is started until it runs. */
  async #living(): Promise<Life> {
    if (this.#life?.alive === true) return this.#life;
    if (this.#life !== undefined) await this.#end(this.#life);
    for (;;) {
      const life = await this.#begin();
      if (life !== undefined) return (this.#life = life);
      await this.#buried();
      await this.#clock.advance(1000);
    }
  }

  async #begin(): Promise<Life | undefined> {
    const before = this.#ledger.shown;
    const beginning = beginLife({
      snapshot,
      gateway: this.#gateway,
      store: this.#disk.store(),
      clock: this.#clock,
      timeOfDay: () => this.#stoppedAt ?? this.#clock.now(),
      random: this.#random,
      mortality: this.#mortality,
      cross: (effect) => {
        this.#cross(effect);
      },
      starting: (effect) => this.#starting(effect),
      storing: () => {
        this.#crossRecord();
      },
      ...this.#hostPorts(),
    });
    const life = await this.#clock.waitFor(beginning);
    if (life?.alive !== true) return undefined;
    void this.#ledger.lookAtBeginning(life.admin, before);
    life.onAnswer = (heard) => {
      this.#hear(heard);
    };
    this.#faults.push(...this.#lies(life.admin));
    this.#faults.push(...(this.#drainer?.early(life.admin, this.#gateway) ?? []));
    this.#sayings.forgetStarts();
    // Sessions and failures are not kept: the host reports those that it has.
    life.admin.report([...this.#gateway.sessionReports(), ...this.#statusReports()]);
    if (!this.#withholds) life.admin.report({ type: 'sessions.complete' });
    return life;
  }

  #lies({ snapshot: shown }: Admin): readonly string[] {
    const lies = this.#model.lies(shown);
    return this.#drainer === undefined ? lies : lies.filter((text) => !unknowable.test(text));
  }

  /** The functions of the host that only some worlds have. */
  #hostPorts(): Pick<Surroundings, 'sealer' | 'audit' | 'maxEventsKept' | 'applying'> {
    const { audit, abandons, seals, maxEventsKept } = this.#hazards;
    this.#sink = this.#trail.sink();
    return {
      maxEventsKept,
      applying: (effect, commandId) => {
        if (abandons) this.#abandonment.note(effect, commandId);
        if (this.#life?.alive !== true) return;
        this.#planner?.note(effect, commandId, this.#life.admin);
        this.#drainer?.note(effect, commandId, this.#life.admin, this.#clock.now());
      },
      ...(audit === 'none' ? {} : { audit: { sink: this.#sink, required: audit === 'required' } }),
      ...(seals
        ? {
            sealer: {
              durable: true,
              seal: (secret) => this.#seal(secret),
              open: (sealed) => Promise.resolve(sealed),
            },
          }
        : {}),
    };
  }

  #seal(secret: string): Promise<string> {
    const { random } = this.#hazards;
    if (random.chance(this.#unsealed)) return new Promise(() => undefined);
    return Promise.resolve(`sealed ${secret}`);
  }

  async #close(life: Life): Promise<void> {
    await this.#clock.waitFor(life.close());
    const isKept = this.#hazards.audit !== 'none' && life.alive && !life.isAuditLost;
    if (isKept) this.#faults.push(...this.#trail.missing(life.attested));
    await this.#end(life);
    this.#life = undefined;
  }

  /** What the dead process had begun ends one way or the other before the next one begins. */
  async #end(life: Life): Promise<void> {
    life.die();
    life.leave(this.#model);
    // Its calls are lost with the connection to the gateway, or take effect all the same.
    if (this.#random.chance(0.5)) this.#gateway.dropCalls();
    await this.#buried();
    const strayReports = life.strayReports().filter((text) => !this.#abandonment.isAbout(text));
    this.#faults.push(...life.faults, ...life.strayEvents(), ...strayReports);
    const { ids } = life.chronicle;
    for (const reader of this.#readers) this.#faults.push(...reader.strays(ids, this.#hazards.maxEventsKept));
    this.#life = undefined;
  }

  async #buried(): Promise<void> {
    await this.#settle();
    this.#disk.tear();
  }
}

/** How long a part fails until the rest is looked at, in milliseconds: longer than a drain may be overdue. */
const outlastMs = 75_000;

/** The sessions of a service that an interface shows. */
function sessionsOf({ snapshot: { sessions } }: Admin, service: string): readonly Session[] {
  return [...sessions].filter((session) => session.service === service.toLowerCase());
}

/** The connections to a server that an interface shows. */
function connectionsOf(
  { snapshot: { sessions } }: Admin,
  server: string,
): readonly [session: number, id: number][] {
  return [...sessions].flatMap(({ id, connections }) =>
    connections.filter((each) => each.server === server).map((each) => [id, each.id] as [number, number]),
  );
}

/** A difference in whether something wanted has failed. */
const failed = /state: the gateway has "(?:started", .*"failed"|failed", .*"started")$/;
/** A difference in the status of a server, or in what the gateway says of a failure or a start. */
const told = /^\/servers\/[^/]*\/settings\/state: |: the gateway has said /;

function isFailure(report: HostReport): boolean {
  return 'state' in report && report.state === 'failed';
}

/** Every fault of the gateway, more or less often. */
function scaled(by: number): GatewayFaults {
  const scale = <T extends object>(faults: T): T =>
    Object.fromEntries(Object.entries(faults).map(([name, often]) => [name, Number(often) * by])) as T;
  return { apply: scale(everyFault.apply), inspect: scale(everyFault.inspect) };
}
