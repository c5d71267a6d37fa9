/**
 * One life of the process: an interface between its clients and the world, until it is closed or dies.
 */
import { isDeepStrictEqual } from 'node:util';

import {
  createSnapshot,
  InvalidDocumentError,
  openAdmin,
  ReportError,
  stopService,
  toDocument,
  type Admin,
  type Effect,
  type AdminEvent,
  type EventGap,
  type HostReport,
  type Monitor,
  type PublishedEvent,
  type Service,
  type Snapshot,
} from 'gateway-admin-core';

import { wholeOf } from '../support/closing.ts';
import { answerOf, answerTo, type Answer, type Asked } from './answer.ts';
import { closeMs, firstMs, limits, turnMs } from './bound.ts';
import { Chronicle } from './chronicle.ts';
import type { Change, Model } from './model.ts';
import { Mortal, type Surroundings } from './mortal.ts';
import type { Attested } from './trail.ts';
import { untruthsIn, type Answered } from './truth.ts';

/** The errors with which a store is lost. */
const isLoss = /^(?:StoreLostError|StoreConflictError)$/;

/** The most effects that a command has, unless it closes many sessions one by one. */
const mostEffects = 8;

/**
 * Opens the interface; `undefined` when the process dies, or the store fails, before it is open.
 *
 * @throws InvalidDocumentError if the store holds a state that no start can read
 */
export async function beginLife(surroundings: Surroundings): Promise<Life | undefined> {
  const mortal = new Mortal(surroundings);
  const { snapshot, sealer, maxEventsKept = 10_000 } = surroundings;
  const errors: unknown[] = [];
  const opening = openAdmin({
    snapshot,
    limits: { ...limits, maxEventsKept },
    gateway: mortal.gateway,
    store: mortal.store,
    clock: mortal.clock,
    ...(sealer === undefined ? {} : { sealer }),
    observe: {
      onError: (error) => errors.push(error),
      ...(mortal.audit === undefined ? {} : { audit: mortal.audit }),
    },
  }).then(
    (admin) => new Life(admin, mortal, errors),
    (error: unknown) => {
      if (error instanceof InvalidDocumentError) throw error;
      return undefined;
    },
  );
  return Promise.race([opening, mortal.death]);
}

/** A command that a client waits for. */
interface Waiting {
  readonly asked: Asked;
  readonly actor: string;
  /** The number of moments, the revision and the time at which the client has asked. */
  readonly from: number;
  readonly revision: number;
  readonly at: number;
  /** The number of answers that all clients had by then. */
  readonly answers: number;
  /** Whether it was told by then that the store is lost. */
  readonly isLate: boolean;
  /** How long the commands before it may take, and it too. */
  readonly bound: number;
  /** When it was decided last, and the effects that it has. */
  decidedAt: number;
  effects: readonly Effect[];
}

/** What was refused while the store might have its intent, and who waited then. */
interface Unkept {
  readonly changes: readonly Change[];
  readonly beside: readonly Waiting[];
}

/** How many effects a command has. A request tells that nobody before its answer. */
function effectsOf({ asked, effects }: Waiting): number {
  return Math.max(effects.length, asked.mostEffects ?? 0);
}

/** A command with its answer, and what the gateway was to be asked for. */
export type Heard = Pick<Waiting, 'asked' | 'actor' | 'at' | 'effects'> & { readonly answer: Answer };

/** The problems with a status from 500 on that a client may get. */
const serverProblems: readonly (string | undefined)[] = [
  'store-unavailable',
  'audit-unavailable',
  'overloaded',
  'closed',
];

/** A running interface, its clients, and a reader of its events. */
export class Life {
  readonly admin: Admin;
  /** What went wrong that must never go wrong. */
  readonly faults: string[];
  readonly death: Promise<undefined>;
  readonly chronicle: Chronicle;
  /** What clients were answered in the order of the answers. */
  readonly attested: Attested[] = [];
  /** Gets every answer. */
  onAnswer: (heard: Heard) => void = () => undefined;
  readonly #mortal: Mortal;
  readonly #waiting = new Set<Waiting>();
  readonly #answered: Answered[] = [];
  /** Operations whose outcome a client was told to wait for. */
  readonly #awaited = new Set<string>();
  /**
   * What was refused because the store did not answer, and would only close besides. The store may have the intent. If
   * the process ends before the store answers, the next start finds that all is closed that was to be closed.
   */
  #unkept: readonly Unkept[] = [];
  #isFollowed = true;
  #isClosing = false;

  /** What went to `onError`. */
  readonly #errors: readonly unknown[];

  constructor(admin: Admin, mortal: Mortal, errors: readonly unknown[]) {
    this.admin = admin;
    this.#errors = errors;
    this.death = mortal.death;
    this.#mortal = mortal;
    this.faults = mortal.faults;
    this.chronicle = new Chronicle(admin.snapshot);
    void this.#follow(admin.events());
  }

  get alive(): boolean {
    return this.#mortal.alive;
  }

  /** Whether readers still get events. An interface that has ended them takes reports, and tells nobody. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Whether the host was told that the store is lost. */
  get isStoreLost(): boolean {
    return this.#errors.some((error) => isLoss.test((error as Error).name));
  }

  /** Whether the host was told that audit records are lost. */
  get isAuditLost(): boolean {
    return this.#errors.some((error) => String(error).includes('audit records are lost'));
  }

  /** The commands of unknown outcome. */
  unknown(): readonly string[] {
    return this.admin.commands().flatMap(({ id, outcome }) => (outcome === 'unknown' ? [id] : []));
  }

  /** Closes the interface, or dies meanwhile. When it has closed, nobody waits any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const begun = this.#mortal.now;
    const effects = [...this.#waiting].reduce((sum, each) => sum + Math.max(1, effectsOf(each)), 0);
    const bound = closeMs(effects, this.unknown().length);
    const hasClosed = await Promise.race([this.admin.close().then(() => true), this.death]);
    if (hasClosed !== true || !this.alive) return;
    for (const { asked } of this.#waiting)
      this.faults.push(`the interface has closed, and ${asked.kind} was not answered before`);
    const took = this.#mortal.now - begun;
    if (took > bound) this.faults.push(`close took ${String(took)} ms, and ${String(bound)} at most`);
  }

  die(): void {
    this.#mortal.die();
  }

  /** A client sends a command and tells the model what it is told. */
  send(asked: Asked, model: Model, actor: string): void {
    const waiting = this.#ask(asked, actor, model.answers);
    this.#waiting.add(waiting);
    const heard = (answer: Answer): void => {
      if (!this.alive) return;
      this.#waiting.delete(waiting);
      this.#hear(waiting, answer, model);
    };
    const failed = (error: unknown): void => {
      if (!this.alive) return;
      this.#waiting.delete(waiting);
      this.faults.push(`${asked.kind} threw ${String(error)}`);
    };
    const { admin } = this;
    const { request } = asked;
    // The client hears the answer itself, not a promise later: then the interface may be closed.
    const { mark, judge } = asked;
    if (request === undefined)
      admin.execute(this.#deciding(waiting), { actor, ...(mark && { mark }) }).then((answer) => {
        if (this.alive) judge?.(answer);
        heard(answerOf(answer));
      }, failed);
    else
      admin.handle({ ...request, principal: { name: actor } }).then((answer) => {
        heard(answerTo(answer));
      }, failed);
  }

  /** A client abandons a command of unknown outcome. Tells whether the command is abandoned. */
  async abandon(id: string): Promise<boolean> {
    try {
      const execution = await this.admin.abandon(id);
      if (!this.alive) return false;
      if (execution.outcome === 'accepted') this.#awaited.delete(id);
      else this.#checkStatus('abandon', answerOf(execution));
      return execution.outcome === 'accepted';
    } catch (error) {
      if (this.alive) this.faults.push(`abandon threw ${String(error)}`);
      return false;
    }
  }

  /** Whoever was not answered cannot know. */
  leave(model: Model): void {
    for (const { asked } of this.#waiting) model.mayHaveHappened(asked.changes);
    for (const { changes } of this.#unkept) model.mayHaveHappened(changes);
    this.#waiting.clear();
  }

  /** Who waits for longer than the deadlines allow. */
  overdue(): readonly string[] {
    const now = this.#mortal.now;
    return [...this.#waiting]
      .filter(({ at, bound }) => now - at > bound)
      .map(
        ({ asked, at, bound }) =>
          `${asked.kind} waits since ${String(now - at)} ms, ${String(bound)} at most`,
      );
  }

  /** The longest time that anybody who waits may still wait. */
  get patienceMs(): number {
    return Math.max(0, ...Array.from(this.#waiting, ({ bound }) => bound)) + 1;
  }

  /** Whether everybody knows what became of their commands, and the gateway owes no answer. */
  get settled(): boolean {
    return this.#waiting.size === 0 && this.#awaited.size === 0 && this.#mortal.asking === 0;
  }

  /** What is wrong once everything has come to rest. */
  unrest(): readonly string[] {
    const unanswered = Array.from(this.#waiting, ({ asked }) => `${asked.kind} was never answered`);
    const untold = Array.from(this.#awaited, (id) => `operation ${id} was never settled by an event`);
    return [...this.faults, ...unanswered, ...untold];
  }

  /**
   * What is wrong with the answer to reports that cannot be true: while no command is in flight, each report that
   * something runs which is stopped is told to `onError`.
   */
  unheeded(): readonly string[] {
    const { admin } = this;
    if (admin.commands().length > 0) return [];
    const { services, monitors } = admin.snapshot;
    const untrue: readonly HostReport[] = [
      ...stopped(services).map(
        (service) => ({ type: 'service.reported', service, state: 'started' }) as const,
      ),
      ...stopped(monitors).map(
        (monitor) => ({ type: 'monitor.reported', monitor, state: 'started' }) as const,
      ),
    ];
    return untrue.flatMap((report) => {
      const before = this.#errors.length;
      admin.report(report);
      return this.#errors.length > before ? [] : [`nobody was told that ${JSON.stringify(report)} is untrue`];
    });
  }

  /** What is wrong with the store: nobody else writes to it, and it works again by itself. */
  async strayStore(): Promise<readonly string[]> {
    const lost = this.#errors.filter((error) => String(error).includes('another writer'));
    const execution = await this.admin.execute((snapshot, context) =>
      stopService(snapshot, 'Nowhere', context),
    );
    const { code } = 'problem' in execution ? execution.problem : { code: execution.outcome };
    // Nobody knows what a list has while a creation or deletion is unknown.
    const isUnknown = this.admin.commands().some(({ resources }) => resources.includes('/services'));
    const expected = isUnknown ? 'command-in-progress' : 'service-not-found';
    return [...lost.map(String), ...(code === expected ? [] : [`a command is answered with ${code}`])];
  }

  /** What is wrong with a store that is lost: no command is possible, and everything else is. */
  async lostStore(): Promise<readonly string[]> {
    const execution = await this.admin.execute((snapshot, context) =>
      stopService(snapshot, 'Nowhere', context),
    );
    const reading = await this.admin.handle({ method: 'GET', target: '/services/Sales', headers: {} });
    const { code, hasRetryAfter } = answerOf(execution);
    const isRefused = code === 'audit-unavailable' || (code === 'store-unavailable' && !hasRetryAfter);
    return [
      ...(isRefused ? [] : [`with a lost store, a command is answered with ${String(code)}`]),
      ...(reading.matched && reading.response.status === 200
        ? []
        : ['with a lost store, nothing can be read']),
    ];
  }

  /** What is wrong with the document of what is shown: another process could not begin with it. */
  brokenLinks(): readonly string[] {
    try {
      createSnapshot(toDocument(this.admin.snapshot));
      return [];
    } catch (error) {
      return [String(error)];
    }
  }

  /** What is wrong with the events, which amount to what is shown, and with the answers, given the events. */
  strayEvents(): readonly string[] {
    const { chronicle, admin } = this;
    const { snapshot, revision } = chronicle.last;
    // As values: an undo puts a member of a drain back behind the others.
    const isSame = isDeepStrictEqual(toDocument(snapshot), toDocument(admin.snapshot));
    return [
      ...chronicle.strays,
      ...this.brokenLinks(),
      ...(isSame ? [] : ['the events do not amount to what is shown']),
      ...(revision === admin.snapshot.revision ? [] : ['a revision has no event']),
      ...this.#answered.flatMap((each) => untruthsIn(each, chronicle, admin.snapshot.epoch)),
    ];
  }

  /** The host was told that its reports name what does not exist. */
  strayReports(): readonly string[] {
    return this.#errors
      .flatMap((error) =>
        error instanceof ReportError ? error.faults.map(({ detail }) => detail) : [String(error)],
      )
      .filter((text) => text.includes('does not exist'));
  }

  #ask(asked: Asked, actor: string, answers: number): Waiting {
    const at = this.#mortal.now;
    const before = [...this.#waiting];
    const longest = Math.max(mostEffects, asked.mostEffects ?? 0, ...before.map(effectsOf));
    return {
      ...{ asked, actor, at, answers, decidedAt: at, effects: [] },
      from: this.chronicle.length,
      revision: this.admin.snapshot.revision,
      isLate: this.isStoreLost,
      bound: firstMs(asked) + (1 + before.length) * turnMs(longest),
    };
  }

  /** The step of a command, which notes when its turn was. */
  #deciding(waiting: Waiting): Asked['step'] {
    return (snapshot, context) => {
      const decision = waiting.asked.step(snapshot, context);
      waiting.decidedAt = this.#mortal.now;
      waiting.effects = wholeOf(decision, snapshot, context).effects;
      return decision;
    };
  }

  #hear(waiting: Waiting, answer: Answer, model: Model): void {
    const { asked, actor, from, at, revision, effects } = waiting;
    const revisions = [revision, this.admin.snapshot.revision] as const;
    this.#answered.push({ asked, actor, answer, from, revisions, times: [at, this.#mortal.clock.now()] });
    if (asked.request?.method !== 'GET') this.attested.push({ actor, ...answer });
    this.#checkTime(waiting);
    this.#checkStatus(asked.kind, answer, waiting);
    this.onAnswer({ ...waiting, answer });
    switch (answer.outcome) {
      case 'accepted':
      case 'unchanged':
      case 'done':
        model.happened(asked.changes, waiting.answers);
        // The store has got the end of what was refused before this was asked.
        if (answer.outcome === 'accepted')
          this.#unkept = this.#unkept.filter(({ beside }) => beside.includes(waiting));
        return;
      case 'unknown':
        this.#hearNothing(answer);
        model.mayHaveHappened(asked.changes);
        return;
      case 'refused':
        if (answer.hasEvents) model.mayHaveHappened(asked.changes);
        else if (answer.code === 'store-unavailable' && effects.length > 0 && effects.every(isClosing))
          this.#unkept = [...this.#unkept, { changes: asked.changes, beside: [...this.#waiting] }];
    }
  }

  #hearNothing({ code, commandId = '' }: Answer): void {
    if (code === 'outcome-unknown') this.#awaited.add(commandId);
    this.#mortal.announced.add(commandId);
  }

  /** Nobody waits longer than the documented deadlines. */
  #checkTime({ asked, at, bound, decidedAt, effects }: Waiting): void {
    const now = this.#mortal.now;
    const isInTime =
      asked.request === undefined ? now - decidedAt <= turnMs(effects.length) : now - at <= bound;
    if (!isInTime)
      this.faults.push(`${asked.kind} was answered ${String(now - decidedAt)} ms after its turn`);
  }

  #checkStatus(kind: string, { status, code, hasRetryAfter, outcome }: Answer, waiting?: Waiting): void {
    if (outcome === 'refused' && status >= 500 && !serverProblems.includes(code))
      this.faults.push(`${kind} was refused with ${String(code)}`);
    if (waiting?.isLate !== true || waiting.asked.request?.method === 'GET') return;
    const isRefused = outcome === 'refused' && serverProblems.includes(code);
    if (!isRefused || (code === 'store-unavailable' && hasRetryAfter))
      this.faults.push(`${kind} was answered with ${code ?? outcome} although the store is lost`);
  }

  async #follow(events: AsyncIterable<PublishedEvent | EventGap>): Promise<void> {
    for await (const item of events) {
      if (item.gap === true) {
        this.faults.push('a reader that keeps up met a gap');
        continue;
      }
      this.chronicle.add(item);
      const { command }: AdminEvent = item.event;
      if (command !== undefined) this.#awaited.delete(command);
    }
    this.#isFollowed = false;
    if (!this.#isClosing) this.faults.push('a reader was ended while the interface runs');
  }
}

function isClosing({ type }: Effect): boolean {
  return type === 'sessions.close' || type === 'connections.close';
}

function stopped(things: Snapshot['services'] | Snapshot['monitors']): readonly string[] {
  return Array.from<Service | Monitor>(things).flatMap(({ key, state }) =>
    state === 'stopped' ? [key] : [],
  );
}
