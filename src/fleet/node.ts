/**
 * A node of a fleet, from its opening to its end: reads the log, announces itself, and ends the commands of silent nodes.
 */
import { isConflict } from '../ports/port-error.ts';
import type { SharedStore } from '../ports/port.ts';
import type { Admin } from '../runtime/admin.ts';
import { assertReaderOptions } from '../runtime/argument.ts';
import { assemble, loadInTime } from '../runtime/create-admin.ts';
import { beforeDeadline } from '../runtime/deadline.ts';
import { causeText } from '../runtime/host-error.ts';
import { openJournal, type OpenedJournal } from '../runtime/journal.ts';
import { drawLife, drawRevision } from '../runtime/life.ts';
import type { CompleteOptions } from '../runtime/options.ts';
import type { FleetView } from '../runtime/fleet-view.ts';
import { libraryVersion } from '../runtime/version.ts';
import type { Writer } from '../runtime/writer.ts';
import type { FleetLag, FleetNode } from '../resources/fleet.ts';
import { openServices } from '../resources/service.ts';
import { declareSecretParameters } from '../snapshot/document.ts';
import { alignVersions, type Snapshot } from '../snapshot/snapshot.ts';
import { Agreement, type Digest } from './agreement.ts';
import { isNodeName } from './guarded-store.ts';
import { Convergence, type Behind } from './convergence.ts';
import { readHistory, type HistorySource } from './fleet-history.ts';
import type { Fleet, FleetAdmin } from './fleet.ts';
import { announcementMs, beatMs, type Members, type Status } from './members.ts';
import { restoreShared, type SharedHistory } from './shared-history.ts';
import { settle, settleOptions } from './settling.ts';
import { SharedLog } from './shared-log.ts';

/** The longest pause after a hint that came for nothing, in milliseconds. */
const longestPauseMs = 100;

/** The number of beats in which a node looks for another process with its name. */
const firstBeats = 3;

/** The operator is told of this many beats in a row that the store did not take. */
const failuresTold = 3;

/** How often a node tries to begin the log of a new fleet. */
const mostBeginnings = 5;

/** The parts of a {@link RunningNode}. @internal */
export interface NodeParts {
  readonly store: SharedStore;
  readonly complete: CompleteOptions;
  readonly given: Snapshot;
  readonly members: Members;
  readonly node: string;
  readonly leaseMs: number;
  /** The lowest and the highest level of records that this node reads. */
  readonly levels: readonly [lowest: number, highest: number];
  /** A text that all nodes know, sealed with the key of this node; left out without a key. */
  readonly key: string | undefined;
}

/** A node from its opening to its end. @internal */
export class RunningNode {
  readonly #parts: NodeParts;
  readonly #boot = drawLife();
  readonly #closed = new AbortController();
  #log!: SharedLog;
  #journal!: OpenedJournal;
  #writer!: Writer;
  #convergence!: Convergence;
  /** The commands of an earlier life of this node whose outcome is found out. */
  #recovering: ReadonlySet<string> = new Set();
  /** The last position at which this gateway had followed everything. */
  #applied = '';
  #loops: Promise<unknown> = Promise.resolve();
  readonly #agreement = new Agreement();
  #digest: Digest | undefined;
  /** Called when the end of the log has moved. */
  readonly #watchers = new Set<() => void>();
  #willAnnounce = false;
  /** The announcement beside the beats that is under way. */
  #announcing: Promise<void> | undefined;
  readonly #view: FleetView = {
    nodes: () => this.#nodes(),
    position: () => this.#log.position,
    settle: (execution, where) => {
      const { complete, members, node, leaseMs } = this.#parts;
      const { revision } = this.#log.snapshot;
      const announce = (): Promise<void> => this.#announce();
      const { signal: closed } = this.#closed;
      const around = { clock: complete.clock, closed, members, node, leaseMs, revision, announce };
      return settle(execution, where, around);
    },
  };

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  async open(): Promise<FleetAdmin> {
    const { complete, members, node } = this.#parts;
    const { clock, limits, instruments, onError } = complete;
    await this.#load();
    const log = this.#log;
    const journal = openJournal({ log, clock, deadlineMs: limits.storeDeadlineMs, instruments, onError });
    this.#journal = journal;
    const membership = { prefix: `${node}-${this.#boot}`, fleet: this.#view };
    const { admin, writer } = assemble(complete, this.#ownSnapshot(), journal, membership);
    this.#writer = writer;
    this.#convergence = this.#followingOf(writer);
    await this.#recover();
    if (journal.outage !== undefined) {
      await admin.close();
      throw journal.outage.error;
    }
    try {
      await members.announce(this.#status(), 0);
    } catch (error) {
      await admin.close();
      throw error;
    }
    journal.startRepeating();
    instruments.opened(admin.snapshot, { recovered: 0, unknown: admin.commands().length });
    this.#loops = Promise.all([this.#read(), this.#beat()]).catch(complete.onError);
    return this.#withFleet(admin);
  }

  async #load(): Promise<void> {
    const { store, complete, given, node, levels } = this.#parts;
    const [, highest] = levels;
    for (let beginnings = 1; ; beginnings += 1) {
      const { position, repaired, ...stored } = await loadInTime(store, complete);
      if (repaired !== undefined) complete.onError(new Error(repaired));
      const isEmpty = stored.state === undefined && stored.records.length === 0;
      const history = restoreShared(stored, given, highest);
      // A name can be secret in the store alone. The given document must not have the plain text of such a parameter.
      declareSecretParameters(given, history.snapshot.secretParameters);
      this.#log = this.#logOf(history, position, node);
      this.#applied = position;
      if (!isEmpty) return;
      try {
        await this.#begin();
        return;
      } catch (error) {
        // Another node was faster: its configuration is that of the fleet.
        if (!isConflict(error) || beginnings === mostBeginnings) throw error;
      }
    }
  }

  /** Stores the configuration of a new fleet. */
  async #begin(): Promise<void> {
    const { clock, limits } = this.#parts.complete;
    const begun = await beforeDeadline(clock, limits.storeDeadlineMs, () =>
      this.#log.compact((_name, call) => call()),
    );
    if (begun !== 'late') return;
    throw new Error(
      `The shared store did not answer compact() within ${String(limits.storeDeadlineMs)} ms. Check that the database works, ` +
        'and start again.',
    );
  }

  #logOf(history: SharedHistory, position: string, node: string): SharedLog {
    const { store, complete, given, levels } = this.#parts;
    return new SharedLog({
      store,
      highest: levels[1],
      onMove: () => {
        for (const watch of this.#watchers) watch();
      },
      node,
      given,
      history,
      position,
      obstacleTo: (link) => this.#convergence.obstacleTo(link),
      isInFlight: (command) => this.#writer.commands().some(({ id }) => id === command),
      isRecovering: (command) => this.#recovering.has(command),
      onChange: (links) => {
        this.#endOrphans();
        this.#convergence.follow(links);
        this.#announceSoon();
        this.#writer.retry();
      },
      onError: complete.onError,
    });
  }

  /** The snapshot of this node at its start: what the fleet has, at a revision that no other life has used. */
  #ownSnapshot(): Snapshot {
    const revision = drawRevision();
    const fleet = this.#log.snapshot;
    const now = this.#parts.complete.clock.now();
    const commandOf = (collection: 'services', key?: string): number | undefined =>
      key === undefined ? fleet[collection].version.command : fleet[collection].find(key)?.version.command;
    const opened = openServices(Object.freeze({ ...fleet, revision }), now);
    return alignVersions(opened, commandOf as never, () => revision);
  }

  #followingOf(writer: Writer): Convergence {
    const { clock, onError } = this.#parts.complete;
    return new Convergence({
      fleet: () => this.#log.snapshot,
      own: () => writer.snapshot,
      placeOf: (link) => this.#log.placeOf(link),
      execute: (request) => writer.execute(request),
      onFollowed: (link) => {
        writer.align((snapshot, revision) => this.#log.align(snapshot, revision, (each) => each === link));
        if (this.#convergence.behind.length === 0) this.#applied = this.#log.position;
        this.#announceSoon();
        writer.retry();
      },
      clock,
      onError,
    });
  }

  /** Finds out what became of the commands of an earlier life of this node. */
  async #recover(): Promise<void> {
    const { node } = this.#parts;
    const { open, abandoned } = this.#log.history;
    this.#recovering = new Set([...open, ...abandoned].map(({ intent }) => intent.command));
    const own = abandoned.filter(({ intent }) => intent.node === node);
    await Promise.all(own.map((command) => this.#writer.settleAbandoned(command)));
    this.#convergence.follow(own.flatMap(({ intent }) => intent.resources));
    await Promise.all(
      open.filter(({ intent }) => intent.node === node).map((command) => this.#writer.recover(command)),
    );
    // From now on the table of commands in flight says what this process performs.
    this.#recovering = new Set();
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Reads what the others append: after a hint, and once a second. */
  async #read(): Promise<void> {
    const { store, complete } = this.#parts;
    const { clock } = complete;
    // The host first opens what the snapshot shows. A change of its gateway before that would be lost in between.
    await clock.sleep(0, this.#closed.signal);
    if (!this.#isClosed()) this.#convergence.begin();
    let pauseMs = 0;
    while (!this.#isClosed()) {
      const over = new AbortController();
      const stop = (): void => {
        over.abort();
      };
      this.#closed.signal.addEventListener('abort', stop);
      const before = this.#log.position;
      const hint = store.changed(before, over.signal).then(
        () => true,
        () => clock.sleep(beatMs, over.signal).then(() => false),
      );
      const poll = clock.sleep(beatMs, over.signal, { keepAlive: false }).then(() => false);
      const isHinted = await Promise.race([hint, poll]);
      this.#closed.signal.removeEventListener('abort', stop);
      over.abort();
      if (!this.#isClosed()) await this.#journal.follow();
      // A store whose hints come for nothing, one after the other, must not keep the process busy.
      pauseMs = isHinted && this.#log.position === before ? Math.min(2 * pauseMs + 1, longestPauseMs) : 0;
      await clock.sleep(pauseMs, this.#closed.signal);
      // A lost store is not read again, and its hints would come at once.
      const { outage } = this.#journal;
      if (outage !== undefined && outage.retryAfterMs === undefined) return;
    }
  }

  /** Announces this node, and ends the commands of nodes that are silent for too long. */
  async #beat(): Promise<void> {
    const { complete, members } = this.#parts;
    let heardMs = 0;
    let failures = 0;
    for (let beats = 0; !this.#isClosed(); beats += 1) {
      await complete.clock.sleep(beatMs, this.#closed.signal, { keepAlive: false });
      if (this.#isClosed()) return;
      try {
        if (beats < firstBeats && !(await this.#isAlone())) beats = firstBeats;
        this.#digest = this.#agreement.digestOf(this.#log.history);
        // After an outage, nobody counts as silent.
        await members.announce(this.#status(), this.#journal.outage === undefined ? heardMs : 0);
        heardMs = beatMs;
        failures = 0;
        this.#compare();
        this.#endSilent();
        await this.#raiseLevel();
      } catch (error) {
        heardMs = 0;
        failures += 1;
        // The journal tells of a store that answers nothing.
        if (failures === failuresTold && this.#journal.outage === undefined)
          complete.onError(muteError(error));
      }
      this.#writer.retry();
    }
  }

  /** Whether no other process has begun at the same moment under the name of this node. The operator is told of one. */
  async #isAlone(): Promise<boolean> {
    const { members, node, complete } = this.#parts;
    if (!(await members.isShared(this.#boot))) return true;
    complete.onError(
      new Error(
        `Another process runs the node "${node}" of this fleet too, and each ends the commands of the other. Give each ` +
          'process a name of its own, or end the other one.',
      ),
    );
    return false;
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

  /** Lets nodes write what this version can read, once every node can read it. */
  async #raiseLevel(): Promise<void> {
    const { levels, members } = this.#parts;
    const [, highest] = levels;
    const others = [...members.others.values()];
    const canAll = others.every(({ status }) => status.levels[1] >= highest);
    if (!canAll || this.#log.history.level >= highest) return;
    // Another node may have been faster, and the next beat looks again.
    await this.#journal.inTurn((ask) => this.#log.raiseLevel(ask)).catch(() => undefined);
  }

  /** Announces this node before the next beat: others may wait for what it has read or followed. */
  #announceSoon(): void {
    if (this.#willAnnounce) return;
    this.#willAnnounce = true;
    const { complete } = this.#parts;
    const pause = complete.clock.sleep(announcementMs, this.#closed.signal, { keepAlive: false });
    void pause.then(() => {
      this.#willAnnounce = false;
      return this.#isClosed() ? undefined : this.#announce();
    });
  }

  /** Announces this node beside the beats, which alone count the seconds of silence. */
  async #announce(): Promise<void> {
    // After its end, nobody may hear this node again.
    if (this.#isClosed()) return;
    // One at a time, however many requests wait. The beat tells of a store that does not answer.
    this.#announcing ??= this.#parts.members
      .announce(this.#status(), 0)
      .catch(() => undefined)
      .finally(() => (this.#announcing = undefined));
    await this.#announcing;
  }

  #endSilent(): void {
    const { members, node, leaseMs } = this.#parts;
    for (const { intent } of this.#log.history.open)
      if (intent.node !== node && members.silenceOf(intent.node) >= leaseMs) this.#end(intent.command);
  }

  #end(command: string): void {
    const record = { type: 'abandonment', command, revision: 0 } as const;
    const kept = this.#journal.keep({ record, resources: [], use: 'refusal', then: () => undefined });
    kept.then(
      () => this.#writer.retry(),
      () => undefined,
    );
  }

  /** Ends the commands that nobody performs. What their effects have left is in the snapshot, and is followed. */
  #endOrphans(): void {
    for (const { intent } of this.#log.orphans) {
      const { command, resources } = intent;
      const record = { type: 'settlement', command, revision: 0, events: [], last: true } as const;
      this.#journal.keep({ record, resources, use: 'refusal', then: () => undefined }).catch(() => undefined);
    }
  }

  #status(): Omit<Status, 'beat'> {
    return {
      boot: this.#boot,
      version: libraryVersion,
      levels: [...this.#parts.levels],
      ...(this.#parts.key === undefined ? {} : { key: this.#parts.key }),
      ...(this.#digest === undefined ? {} : { digest: this.#digest }),
      revision: this.#log.snapshot.revision,
      position: this.#log.position,
      applied: this.#convergence.behind.length === 0 ? this.#log.position : this.#applied,
      behind: this.#convergence.behind.map(lagOf),
    };
  }

  #withFleet(admin: Admin): FleetAdmin {
    const [execute, close] = [admin.execute.bind(admin), admin.close.bind(admin)];
    let closing: Promise<void> | undefined;
    const closeOnce = (): Promise<void> => (closing ??= this.#close(close));
    // The same object: a first user can be created only with the object that was assembled.
    return Object.assign(admin, {
      fleet: this.#fleet(),
      execute: (async (transition, how = {}) => {
        const { settle: wanted, waitMs, ...rest } = settleOptions(how);
        const execution = await execute(transition, rest);
        const isDone = execution.outcome === 'accepted' || execution.outcome === 'unchanged';
        if (wanted === undefined || !isDone) return execution;
        const { signal } = rest;
        const where = signal === undefined ? { waitMs } : { waitMs, signal };
        return { ...execution, nodes: await this.#view.settle(execution, where) };
      }) satisfies FleetAdmin['execute'],
      close: closeOnce,
      [Symbol.asyncDispose]: closeOnce,
    });
  }

  async #close(close: () => Promise<void>): Promise<void> {
    this.#convergence.close();
    // The node is heard until its last command has ended: otherwise the others would end that command. From here on, a store
    // that does not answer ends the reading too.
    await this.#writer.close();
    this.#closed.abort();
    await this.#loops;
    await this.#announcing;
    await this.#parts.members.remove().catch(() => undefined);
    await close();
  }

  #fleet(): Fleet {
    const { members, node } = this.#parts;
    const position = (): string => this.#log.position;
    const snapshot = (): Snapshot => this.#log.snapshot;
    return {
      get position() {
        return position();
      },
      get snapshot() {
        return snapshot();
      },
      nodes: () => this.#nodes(),
      history: (where = {}) => {
        assertReaderOptions(where, 'history');
        return this.#history(where.after, where.signal);
      },
      forget: async (name) => {
        if (!isNodeName(name)) throw new TypeError('forget takes the name of a node');
        if (name === node) throw new RangeError('A node cannot forget itself: close it');
        await members.remove(name);
        for (const { intent } of this.#log.history.open) if (intent.node === name) this.#end(intent.command);
      },
    };
  }

  #history(after: string | undefined, signal: AbortSignal | undefined): ReturnType<Fleet['history']> {
    const { store, levels } = this.#parts;
    const end = signal === undefined ? this.#closed.signal : AbortSignal.any([signal, this.#closed.signal]);
    const source: HistorySource = {
      highest: levels[1],
      position: () => this.#log.position,
      read: (at) => this.#journal.inTurn((ask) => ask('read', () => store.read(at))),
      moved: (from, until) => this.#moved(from, until),
    };
    return readHistory(source, { ...(after === undefined ? {} : { after }), signal: end });
  }

  /** Resolves when the end of the log is not where it was. */
  async #moved(from: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const watch = (): void => {
        if (this.#log.position === from && !signal.aborted) return;
        this.#watchers.delete(watch);
        signal.removeEventListener('abort', watch);
        resolve();
      };
      this.#watchers.add(watch);
      signal.addEventListener('abort', watch);
      watch();
    });
  }

  #nodes(): readonly FleetNode[] {
    const { members, node, leaseMs } = this.#parts;
    const nodeOf = (
      name: string,
      { version, position, applied, behind }: Omit<Status, 'beat'>,
      alive: boolean,
    ): FleetNode => {
      const differs = this.#agreement.differs(name);
      return Object.freeze({ node: name, version, alive, position, applied, behind, differs });
    };
    const others = Array.from(members.others, ([name, { status, silentMs }]) =>
      nodeOf(name, status, silentMs < leaseMs),
    );
    return [nodeOf(node, this.#status(), true), ...others];
  }
}

function muteError(cause: unknown): Error {
  return new Error(
    'The shared store does not take what this node says of itself, so the other nodes take this one for dead and end its ' +
      `commands. The store says: ${causeText(cause)}.`,
    { cause },
  );
}

function lagOf({ resource, since, problem }: Behind): FleetLag {
  return problem === undefined
    ? { resource, since }
    : { resource, since, code: problem.code, detail: problem.detail };
}
