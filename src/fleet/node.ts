/**
 * A node of a fleet, from its opening to its end: reads the log, and ends the commands of silent nodes.
 *
 * The order: `open` loads the log, appends the life of this process and starts the interface. Meanwhile `connect`
 * brings the writer, and `begin` announces the node once the commands of the last process are settled; then `run`
 * starts the loops. `end` comes after the last command. What `open` and `connect` set has a `!`: nothing uses it
 * before.
 */
import { unchanged } from '../core/decision.ts';
import type { AdminRequest } from '../http/message.ts';
import { isConflict } from '../ports/port-error.ts';
import type { SharedStore } from '../ports/port.ts';
import { onAbort, backoff, type Pauses } from '../runtime/host/waiting.ts';
import type { Admin } from '../runtime/admin.ts';
import { assertReaderOptions } from '../runtime/host/argument.ts';
import { start } from '../runtime/assembly.ts';
import type { RunningCoordinator } from '../runtime/running.ts';
import type { Execution, Refusal } from '../runtime/command/execution.ts';
import type { Coordinator, Succeeded } from '../runtime/command/coordinator.ts';
import type { Basis } from '../runtime/journal/basis.ts';
import { Entries } from '../runtime/journal/entries.ts';
import { isEmpty } from '../runtime/journal/journal-state.ts';
import { assertUsable } from '../runtime/options.ts';
import { endWithoutEvents, unavailableIn } from '../runtime/journal/journal.ts';
import { drawLife } from '../runtime/journal/life.ts';
import { callInTime, loadInTime } from '../runtime/journal/load.ts';
import type { CompleteOptions } from '../runtime/ground.ts';
import { libraryVersion } from '../runtime/version.ts';
import type { Writer } from '../runtime/command/writer.ts';
import type { RunningFleet } from '../resources/fleet.ts';
import type { Transition } from '../resources/index.ts';
import { withStartTimes } from '../resources/service.ts';
import { declareSecretParameters } from '../resources/document.ts';
import { drainsIn } from '../resources/shared/drain.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { Agreement, type Digest } from './agreement.ts';
import { Announcer } from './announcer.ts';
import { Comparison, type CommonPorts, type Fingerprint } from './fingerprint.ts';
import { Convergence } from './convergence.ts';
import { HintWatch } from './hint-watch.ts';
import { fleetEntries } from './fleet-entries.ts';
import { readHistory, type HistorySource } from './fleet-history.ts';
import { forget, forgetInTime, standingOf, type ForgettingNode } from './forgetting.ts';
import type { Fleet, FleetAdmin, FleetOutcome } from './fleet.ts';
import { beatMs, isNodeName, type Members, type OwnStatus } from './members.ts';
import { format, loadFleetState, type SharedCommand, type FleetState, type Writing } from './fleet-state.ts';
import { foreignCommand, Superseded } from './refusal.ts';
import { fleetHeaders } from './header.ts';
import { clocksIn, lagOf, nodesIn } from './node-view.ts';
import { awaitNodes, positionOf, settleOptions, type Awaiting } from './awaiting-nodes.ts';
import { SharedJournal } from './shared-journal.ts';
import { SharedLog } from './shared-log.ts';
import { aligned, foldAt, type Align } from './aligning.ts';

/** The pauses after hints that came for nothing. */
const vainPauses: Pauses = { firstMs: 1, longestMs: 100 };

/** How often a node loads the log to append its life. */
const mostLoads = 5;

/** The parts of a {@link RunningNode}. @internal */
export interface NodeParts {
  readonly store: SharedStore;
  readonly complete: CompleteOptions;
  readonly members: Members;
  readonly node: string;
  readonly leaseMs: number;
  readonly common: CommonPorts;
}

/** A node from its opening to its end: coordinates its interface with those of the other nodes. @internal */
export class RunningNode implements RunningCoordinator {
  readonly #parts: NodeParts;
  readonly #life = drawLife();
  /** The history of what only this gateway has done. */
  readonly #own = new Entries();
  /** Aborts when the node begins to close: nobody reads on, or waits for other nodes. */
  #closing!: AbortSignal;
  /**
   * Aborts when the node reads and announces nothing any more: the last command has ended, another process runs under
   * the name, or the node closes before it was announced.
   */
  readonly #quiet = new AbortController();
  readonly #announcer: Announcer;
  readonly #hints: HintWatch;
  #isAnnounced = false;
  #log!: SharedLog;
  #journal!: SharedJournal;
  #writer!: Writer;
  readonly #convergence: Convergence;
  /** The commands of an earlier life of this node whose outcome is found out. */
  #recovering: ReadonlySet<string> = new Set();
  /** The last position at which this gateway had followed everything. */
  #applied = '';
  #loops: Promise<unknown> = Promise.resolve();
  readonly #fingerprint: Fingerprint;
  readonly #comparison: Comparison;
  readonly #agreement = new Agreement();
  #digest: Digest | undefined;
  /** Called when the end of the log has moved. */
  readonly #watchers = new Set<() => void>();

  readonly prefix: string;
  readonly headers: Coordinator['headers'];
  readonly surroundings: { readonly fleet: RunningFleet } = {
    fleet: {
      nodes: () => nodesIn({ ...this.#parts, agreement: this.#agreement }, this.#status()),
      clocks: () => clocksIn(this.#parts),
      hintFailure: () => this.#hints.failure,
      announcementFailure: () => this.#announcer.failure,
      retry: () => {
        this.#convergence.retry();
        this.#writer.reconciliation.retry();
      },
      standingOf: (name) => standingOf(name, this.#forgetting()),
      forget: (name) => forgetInTime(name, this.#forgetting()),
    },
  };
  readonly #align: Align = (own, revision, links) => aligned(own, this.#log.snapshot, revision, links);
  /** Another node may have made what this one has made without the log, or against it. */
  readonly fold = foldAt(this.#align);

  constructor(parts: NodeParts, fingerprint: Fingerprint) {
    const { members, node, leaseMs, complete, common } = parts;
    const { clock, onError } = complete;
    this.#parts = parts;
    this.#fingerprint = fingerprint;
    this.prefix = `${node}-${this.#life}`;
    // Several nodes may answer at one address, and sessions and connections are those of the node that answers.
    this.headers = { 'fleet-node': node };
    const deadline = { ...common.deadline, instead: 'The nodes are compared again at the next beat.' };
    this.#comparison = new Comparison({ ...common, deadline, leaseMs, onError });
    this.#convergence = this.#following();
    this.#hints = new HintWatch({ store: parts.store, clock, closed: this.#quiet.signal, onError });
    this.#announcer = new Announcer({
      ...{ members, node, leaseMs, clock, onError },
      status: () => this.#status(),
      canRead: () => this.#journal.outage === undefined,
      closed: this.#quiet.signal,
    });
  }

  async open(): Promise<FleetAdmin> {
    const { complete, node } = this.#parts;
    const { clock, limits, instruments, onError } = complete;
    const records = await this.#load();
    const log = this.#log;
    const deadlineMs = limits.storeDeadlineMs;
    const journal = new SharedJournal({
      ...{ log, clock, deadlineMs, records, instruments, onError },
      own: this.#own,
    });
    this.#journal = journal;
    const { open, abandoned } = log.state.unsettled;
    const isOwn = ({ intent }: SharedCommand): boolean => intent.node === node;
    const unsettled = { open: open.filter(isOwn), abandoned: abandoned.filter(isOwn) };
    const recovering = [...unsettled.open, ...unsettled.abandoned];
    this.#recovering = new Set(recovering.map(({ intent }) => intent.command));
    const history = {
      entries: fleetEntries({ shared: () => this.#log.state.entries, own: this.#own }),
      configuration: () => this.#log.state.snapshot,
    };
    const beginning = { snapshot: this.#ownSnapshot(), journal, unsettled, ...history, coordinator: this };
    const admin = await start(complete, beginning);
    return this.#withFleet(admin);
  }

  connect(writer: Writer, closing: AbortSignal): void {
    this.#writer = writer;
    this.#closing = closing;
    onAbort(closing, () => {
      this.#convergence.close();
      if (!this.#isAnnounced) this.#quiet.abort();
    });
  }

  async begin(): Promise<void> {
    // From now on the table of commands in flight says what this process performs.
    this.#recovering = new Set();
    await this.#announcer.begin();
    this.#isAnnounced = true;
  }

  run(): void {
    this.#loops = Promise.all([this.#read(), this.#beat()]).catch(this.#parts.complete.onError);
  }

  async end(): Promise<void> {
    // The node is heard until its last command has ended: otherwise the others would end that command. From here on, a
    // store that does not answer ends the reading too.
    this.#quiet.abort();
    await this.#loops;
    await this.#announcer.end();
    // What is announced under the name of a superseded process is not its own.
    const { error } = this.#journal.outage ?? {};
    const isOwn = this.#isAnnounced && !(error instanceof Superseded);
    if (isOwn) await this.#parts.members.remove().catch(() => undefined);
  }

  refuseAll(): Refusal | undefined {
    // An outage has a refusal of its own.
    return this.#journal.outage === undefined ? this.#announcer.refusal() : undefined;
  }

  refusalFor(resources: readonly string[], restsOn: readonly string[]): Refusal | undefined {
    const foreign = this.#log.holderOf(resources);
    if (foreign !== undefined) return foreignCommand(foreign.command, foreign.node);
    for (const link of [...resources, ...restsOn]) {
      const obstacle = this.#convergence.refusalAt(link);
      if (obstacle !== undefined) return obstacle;
    }
    return undefined;
  }

  basisOf(restsOn: readonly string[]): Basis {
    return { since: this.#log.moment, links: restsOn };
  }

  async readOn(): Promise<Refusal | 'news' | undefined> {
    const { moment } = this.#log;
    const outage = await this.#journal.readOn();
    if (outage !== undefined) return this.#writer.refuseClosed() ?? unavailableIn(outage);
    return this.#log.moment === moment ? undefined : 'news';
  }

  readonly catchUp: Coordinator['catchUp'] = async (restsOn) => {
    const followed = await this.readOn();
    if (followed !== undefined && followed !== 'news') return followed;
    if (this.refusalFor([], restsOn) === undefined) return undefined;
    const execution = await this.#writer.execute({ transition: nothing, restsOn });
    return execution.outcome === 'refused' ? execution : undefined;
  };

  headersAfter(request: AdminRequest, execution: Succeeded): ReturnType<Coordinator['headersAfter']> {
    const position = positionOf(execution) ?? this.#log.position;
    return fleetHeaders(request, position, (where) => this.#awaitNodes(execution, where));
  }

  /** Waits until the living nodes have come to the end of a command, or the time is over. */
  #awaitNodes(execution: Succeeded, where: Awaiting): Promise<readonly FleetOutcome[]> {
    const change = positionOf(execution) ?? this.#log.position;
    const around = {
      ...this.#parts,
      clock: this.#parts.complete.clock,
      closed: this.#closing,
      hasRead: (position: string) => this.#log.positions.isPast(change, position),
      announce: () => this.#announcer.announce(),
    };
    return awaitNodes(execution, where, around);
  }

  get #writing(): Writing {
    return { node: this.#parts.node, life: this.#life };
  }

  /** Loads the log, and appends the life of this process. Returns the number of records. */
  async #load(): Promise<number> {
    const { store, complete } = this.#parts;
    const { given } = complete;
    for (let loads = 1; ; loads += 1) {
      const { position, ...stored } = await loadInTime(store, complete);
      const isNew = isEmpty(stored);
      if (isNew) assertUsable(complete);
      const state = loadFleetState(stored, given);
      // A name can be secret in the store alone. The given document must not have the plain text of such a parameter.
      declareSecretParameters(given, state.snapshot.secretParameters);
      this.#log = this.#logOf(state, position);
      try {
        await this.#log.appendLife((name, call) => callInTime(name, call, complete), isNew);
        if (store.durable && isNew) complete.instruments?.storeEmpty();
        this.#applied = this.#log.position;
        return stored.records.length;
      } catch (error) {
        // Another node has begun the log, or has compacted it: its configuration is that of the fleet.
        if (!isConflict(error) || loads === mostLoads) throw error;
      }
    }
  }

  #logOf(state: FleetState, position: string): SharedLog {
    const { store, complete } = this.#parts;
    return new SharedLog({
      store,
      align: this.#align,
      onMove: () => {
        for (const watch of this.#watchers) watch();
      },
      writing: this.#writing,
      given: complete.given,
      clock: complete.clock,
      state,
      position,
      performs: (command) =>
        this.#recovering.has(command) || this.#writer.commands().some(({ id }) => id === command),
      onSuperseded: () => {
        // From here on, announcements under this name are those of the other process.
        this.#quiet.abort();
      },
      onChange: (links) => {
        this.#tidy();
        this.#convergence.follow(links);
        this.#announcer.announceSoon();
        this.#writer.retry();
      },
      onError: complete.onError,
    });
  }

  /** The snapshot of this node at its start: what the fleet has. */
  #ownSnapshot(): Snapshot {
    const own = Object.freeze({ ...this.#log.snapshot, epoch: this.#life });
    return withStartTimes(own, this.#parts.complete.clock.now());
  }

  #following(): Convergence {
    const { clock, instruments, onError } = this.#parts.complete;
    return new Convergence({
      fleet: () => this.#log.snapshot,
      own: () => this.#writer.snapshot,
      align: this.#align,
      placeOf: (link) => this.#log.placeOf(link),
      execute: (request) => this.#writer.execute(request),
      onFollowed: (link) => {
        this.#writer.revise((own, revision) => this.#align(own, revision, [link]));
        if (this.#convergence.behind.length === 0) this.#applied = this.#log.position;
        this.#announcer.announceSoon();
        this.#writer.retry();
      },
      clock,
      instruments,
      onError,
    });
  }

  #isQuiet(): boolean {
    return this.#quiet.signal.aborted;
  }

  /** Reads what the others append: after a hint, and once a second. */
  async #read(): Promise<void> {
    const { clock } = this.#parts.complete;
    const { signal } = this.#quiet;
    // The host first opens what the snapshot shows. A change of its gateway before that would be lost in between.
    await clock.sleep(0, signal);
    if (!this.#isQuiet()) this.#convergence.begin();
    let pauses = backoff(vainPauses);
    while (!this.#isQuiet()) {
      const before = this.#log.position;
      const waited = await this.#hints.wait(before);
      if (!this.#isQuiet()) await this.#journal.readToEnd();
      // A lost store is not read again.
      const { outage } = this.#journal;
      if (outage === undefined) {
        this.#announcer.logWasRead();
        this.#hints.logWasRead(waited);
      } else this.#hints.storeIsOut();
      if (outage !== undefined && outage.retryAfterMs === undefined) return;
      // A store may give hints for nothing, one after the other.
      const isVain = waited.isHinted && this.#log.position === before;
      if (isVain) await clock.sleep(pauses.next().value, signal, { keepAlive: false });
      else pauses = backoff(vainPauses);
    }
  }

  /** Once a second: announces this node, and then acts on what it has heard of the others and of its own records. */
  async #beat(): Promise<void> {
    const { complete } = this.#parts;
    while (!this.#isQuiet()) {
      await complete.clock.sleep(beatMs, this.#quiet.signal, { keepAlive: false });
      if (this.#isQuiet()) return;
      try {
        this.#digest = this.#agreement.digestOf(this.#log);
        if (await this.#announcer.beat()) {
          this.#compare();
          this.#comparison.look(this.#parts.members.others);
          this.#endSilent();
        }
        this.#tidy();
      } catch (error) {
        complete.onError(error);
      }
      this.#writer.retry();
    }
  }

  /** Tells the operator of a node that has another configuration. */
  #compare(): void {
    const { members, complete } = this.#parts;
    for (const [name, { status }] of members.others)
      if (status.digest !== undefined && this.#agreement.compare(name, status.digest))
        complete.onError(
          new Error(
            `The node "${name}" has read another configuration than this node out of the same log, up to ` +
              `${this.#log.position}. Compare GET of both nodes, restart the node that is wrong, and report the fault.`,
          ),
        );
  }

  #endSilent(): void {
    const { members, node, leaseMs } = this.#parts;
    for (const { intent } of this.#log.state.unsettled.open) {
      const isSilent = (): boolean => members.countedSilence(intent.node) >= leaseMs;
      if (intent.node !== node && isSilent()) this.#end(intent.command, isSilent);
    }
  }

  #end(command: string, isSilent: () => boolean): void {
    const entry = this.#log.endingOf(command, isSilent);
    if (entry === undefined) return;
    this.#journal.enter(entry, { use: 'upkeep', then: () => undefined }).then(
      () => this.#writer.retry(),
      () => undefined,
    );
  }

  /** Mends what a read, or a record that was given up, can have left. */
  #tidy(): void {
    this.#takeSecretNames();
    if (this.#log.hasLostLife && !this.#isQuiet()) this.#appendLifeAgain();
    this.#endOrphans();
  }

  /** Harm: this node shows what another node has declared secret. */
  #takeSecretNames(): void {
    const { secretParameters } = this.#log.snapshot;
    if (secretParameters === undefined) return;
    this.#writer.revise((snapshot, revision) =>
      snapshot.secretParameters === secretParameters
        ? snapshot
        : Object.freeze({ ...snapshot, secretParameters, revision }),
    );
  }

  /** Harm: a log without the life of this process does not tell a process of the same name that this one is there. */
  #appendLifeAgain(): void {
    const entry = this.#log.lifeAgain();
    this.#journal.enter(entry, { use: 'upkeep', then: () => undefined }).catch(() => undefined);
  }

  /** Harm: what nobody performs holds its resources for ever. What it has left is in the snapshot, and is followed. */
  #endOrphans(): void {
    for (const { intent } of this.#log.orphans) {
      const { command, resources } = intent;
      void endWithoutEvents(this.#journal, { id: command, resources }, 0);
    }
  }

  #status(): OwnStatus {
    return {
      life: this.#life,
      version: libraryVersion,
      format,
      ...this.#fingerprint,
      leaseMs: this.#parts.leaseMs,
      ...(this.#digest === undefined ? {} : { digest: this.#digest }),
      position: this.#log.position,
      applied: this.#convergence.behind.length === 0 ? this.#log.position : this.#applied,
      behind: this.#convergence.behind.map(lagOf),
      drains: [...drainsIn(this.#writer.snapshot)],
    };
  }

  #withFleet(admin: Admin): FleetAdmin {
    return {
      ...admin,
      get snapshot() {
        return admin.snapshot;
      },
      get readOnly() {
        return admin.readOnly;
      },
      fleet: this.#fleet(),
      execute: async (transition, how = {}) => {
        const { settle: wanted, waitMs, ...rest } = settleOptions(how);
        const execution: Execution = await admin.execute(transition, rest);
        const isDone = execution.outcome === 'accepted' || execution.outcome === 'unchanged';
        if (wanted === undefined || !isDone) return execution;
        const { signal } = rest;
        const where = signal === undefined ? { waitMs } : { waitMs, signal };
        return { ...execution, nodes: await this.#awaitNodes(execution, where) };
      },
    };
  }

  #fleet(): Fleet {
    const { node } = this.#parts;
    const { nodes, retry } = this.surroundings.fleet;
    const position = (): string => this.#log.position;
    const snapshot = (): Snapshot => this.#log.snapshot;
    return {
      get position() {
        return position();
      },
      get snapshot() {
        return snapshot();
      },
      nodes,
      retry,
      history: (where = {}) => {
        assertReaderOptions(where, 'history', 'a position of the fleet, which is a string');
        return this.#history(where.after, where.signal);
      },
      forget: async (name) => {
        if (!isNodeName(name)) throw new TypeError('forget takes the name of a node');
        if (name === node) throw new RangeError('A node cannot forget itself: close it');
        await forget(name, this.#forgetting());
      },
    };
  }

  #forgetting(): ForgettingNode {
    return { ...this.#parts, log: this.#log, journal: this.#journal, writer: this.#writer };
  }

  #history(after: string | undefined, signal: AbortSignal | undefined): ReturnType<Fleet['history']> {
    const { store } = this.#parts;
    const source: HistorySource = {
      position: () => this.#log.position,
      read: (at) => this.#journal.inTurn((ask) => ask('read', () => store.read(at))),
      watch: (look) => {
        this.#watchers.add(look);
        return () => this.#watchers.delete(look);
      },
    };
    return readHistory(source, { ...(after === undefined ? {} : { after }), signal: this.#endOf(signal) });
  }

  /** A signal of a caller that also aborts when this node begins to close. */
  #endOf(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing : AbortSignal.any([signal, this.#closing]);
  }
}

/** Changes nothing, and waits for what its request rests on. */
const nothing: Transition = (snapshot) => unchanged(snapshot, []);
