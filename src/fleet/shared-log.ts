/**
 * The log that the nodes of a fleet share, as one node sees it: appends with a condition on the end, and reads what the
 * others have appended.
 *
 * The way of a record of this node: `keep` of `shared-journal.ts` calls `enter` here, which makes the stored form and
 * the objection, and `put` queues the entry in `record-queue.ts`. The outbox of the queue calls `append` here until
 * nothing is left. Each time, `isOver` looks at the entries first: `kept` if a read has found the record in the log,
 * `refused` if there is an objection by now. The others go into one call, at the end of the log that this node has
 * read. If another node has moved the end, the call is a conflict: this node reads on, and `append` comes again. A call
 * that fails is made again at the same end. If the store had kept the records all the same, the store says so, or there
 * is a conflict and the read finds them. `kept` folds the events and lets the command go on. `refused` first calls
 * `drop`. If others have ended the command, `drop` calls `onChange`, and this gateway follows the fleet: that takes
 * back what the gateway has done.
 */
import { linkKey } from '../core/link.ts';
import type { FleetPlace } from '../core/decision.ts';
import type { Json } from '../json/value.ts';
import { isConflict, StoreLostError } from '../ports/port-error.ts';
import type { Clock, LogStep, SharedStore } from '../ports/port.ts';
import { Fenced, Overtaken, type Basis } from '../runtime/journal/basis.ts';
import { isEmpty } from '../runtime/journal/journal-state.ts';
import type { Keeping } from '../runtime/journal/journal.ts';
import { evolving, markSent, type Ask, type Fold, type Log, type Queued } from '../runtime/journal/log.ts';
import type { JournalRecord } from '../runtime/journal/record.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { fenced, Superseded } from './refusal.ts';
import {
  endRecord,
  forgottenRecord,
  lifeRecord,
  parseRecord,
  loadFleetState,
  type SharedCommand,
  type FleetState,
  type SharedRecord,
  type Writing,
} from './fleet-state.ts';
import { Positions } from './positions.ts';
import { identityOf, isChange, sharedForm } from './shared-form.ts';
import { foldAt, type Align } from './aligning.ts';
import { Touches } from './touches.ts';

/** Why a record can no longer be stored. `undefined` if the record can be stored. */
type Objection = () => Overtaken | Fenced | undefined;

/** How far a command without an end has come in the log. */
interface Progress {
  /** The part of its last intent. */
  readonly part: number;
  /** How many parts have settled. */
  readonly settled: number;
}

/** A record of this node on its way into the log. @internal */
export interface OwnRecord {
  readonly kind: 'record';
  /** The stored form. */
  readonly json: Json;
  readonly objection: Objection;
  /** How its events are folded, if the log has met the record among the records that it has read. */
  readonly found: () => Fold | undefined;
  /** Takes the stored record into the state. */
  readonly take: () => Fold;
  /** The record will not be stored. */
  readonly drop: () => void;
}

/** Another call to the log. @internal */
export interface Call {
  readonly kind: 'call';
  readonly call: (ask: Ask) => Promise<void>;
  /** Whether the call was made, or is no longer needed. */
  readonly isDone: () => boolean;
}

/** What becomes of a record of the journal: it is stored, or others may be in its way, or neither. */
type Entered =
  OwnRecord | { readonly kind: 'look'; readonly objection: Objection } | { readonly kind: 'nothing' };

/** What is on its way to the log. @internal */
export type Work = OwnRecord | Call;

/** The options of {@link SharedLog}. @internal */
export interface SharedLogOptions {
  readonly store: SharedStore;
  /** This node, and the life of this process. */
  readonly writing: Writing;
  /** The snapshot of the host. */
  readonly given: Snapshot;
  readonly state: FleetState;
  readonly position: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether this process performs a command of its node, or finds out the outcome of one of an earlier life. */
  readonly performs: (command: string) => boolean;
  readonly align: Align;
  /** Called when the end of the log has moved. */
  readonly onMove: () => void;
  /**
   * Gets the resources that other nodes have changed, and those of a record that is dropped because others have ended
   * its command; `undefined` for all resources.
   */
  readonly onChange: (links: readonly string[] | undefined) => void;
  /** Called once when a later process runs under the name of this node. */
  readonly onSuperseded: () => void;
  /** Gets what the operator must know. */
  readonly onError: (error: unknown) => void;
}

/** What the journal enters into the log. */
type Entering = Pick<Keeping<unknown>, 'record' | 'resources' | 'basis'>;

/** How often a process reads on and tries again to append its life to a busy log. */
const mostTries = 1000;

interface Sent {
  readonly record: SharedRecord;
  fold: Fold | undefined;
}

/** The log of a store that several nodes have open. @internal */
export class SharedLog implements Log<Work> {
  readonly #options: SharedLogOptions;
  #state: FleetState;
  readonly positions: Positions;
  /** The records of this node on their way, by identity. */
  readonly #sent = new Map<string, Sent>();
  /** The last part of which this process has made an intent, by command. */
  readonly #parts = new Map<string, number>();
  readonly #touches = new Touches();
  /** The place of the last change of a resource, by the key of its link. */
  readonly #places = new Map<string, FleetPlace>();
  /** The record of the life of this process. */
  #ownLife: SharedRecord & { type: 'life' };
  #reads = 0;
  /** The end of the log at the last conflict. */
  #conflict = '';

  constructor(options: SharedLogOptions) {
    const { state, position, writing } = options;
    this.#options = options;
    this.#state = state;
    this.positions = new Positions(position);
    this.#ownLife = lifeRecord(writing, 0, []);
  }

  get snapshot(): Snapshot {
    return this.#state.snapshot;
  }

  get state(): FleetState {
    return this.#state;
  }

  get position(): string {
    return this.positions.end;
  }

  /** The number of calls so far that show what others have appended. */
  get reads(): number {
    return this.#reads;
  }

  get moment(): number {
    return this.#touches.moment;
  }

  /**
   * Whether the log has lost the life of this process, because the store was set back or the node was forgotten, and
   * does not get it again yet.
   */
  get hasLostLife(): boolean {
    const { node, life } = this.#options.writing;
    return this.#state.lifeOf(node)?.life !== life && !this.#sent.has(identityOf(this.#ownLife));
  }

  /**
   * The open commands of this node that nobody performs: a call of an earlier process has arrived late, or the store
   * was set back to before their end.
   */
  get orphans(): readonly SharedCommand[] {
    return this.#state.unsettled.open.filter(
      ({ intent }) => intent.node === this.#options.writing.node && !this.#isPerformed(intent),
    );
  }

  placeOf(link: string): FleetPlace | undefined {
    return this.#places.get(linkKey(link));
  }

  /** Makes the entry of a record. Before the objection of a `look` is asked for, the log is read on. */
  enter({ record, resources, basis }: Entering): Entered {
    const shared = this.#sharedOf(record, resources);
    if (shared === undefined) {
      // What only this gateway does is in no log, so the log cannot show that its caller was deleted meanwhile.
      return basis === undefined || basis.links.length === 0
        ? { kind: 'nothing' }
        : { kind: 'look', objection: this.#touches.since(basis) };
    }
    const endedByOthers = this.#fencing(shared);
    this.#noteProgress(shared);
    if (basis === undefined) return this.#ownRecordOf(shared, endedByOthers);
    if (record.type !== 'abandonment') return this.#ownRecordOf(shared, this.#overtaking(shared, basis));
    const touched = this.#touches.since(basis);
    return this.#ownRecordOf(shared, () => endedByOthers() ?? touched());
  }

  /**
   * Makes the entry that ends the command of a silent node; `undefined` if the command has no open intent. The entry is
   * dropped if the node is heard again before the entry has its turn.
   */
  endingOf(command: string, isSilent: () => boolean): OwnRecord | undefined {
    const record = this.#abandonmentOf(command);
    if (record === undefined) return undefined;
    const endedByOthers = this.#fencing(record);
    return this.#ownRecordOf(record, () => endedByOthers() ?? (isSilent() ? undefined : new Overtaken()));
  }

  #ownRecordOf(record: SharedRecord, objection: Objection = () => undefined): OwnRecord {
    const sent: Sent = { record, fold: undefined };
    const identity = identityOf(record);
    this.#sent.set(identity, sent);
    return {
      kind: 'record',
      json: record as unknown as Json,
      objection,
      found: () => sent.fold,
      take: () => this.#take(record),
      drop: () => {
        this.#sent.delete(identity);
        this.#parts.delete(record.command);
        if (objection() instanceof Fenced) this.#options.onChange(record.resources);
      },
    };
  }

  /**
   * Appends the life of this process: an earlier process of this node that still runs reads the record, and stops.
   *
   * @param isNew - whether the log is empty
   * @throws StoreConflictError if another node has begun the log, or has compacted it
   */
  async appendLife(ask: Ask, isNew: boolean): Promise<void> {
    const { store, writing, given, clock } = this.#options;
    for (let tried = 0; ; tried += 1) {
      // A set-back takes earlier numbers back, and not the time.
      const number = Math.max(this.#state.lastLifeNumber + 1, clock.now());
      this.#ownLife = lifeRecord(writing, number, given.secretParameters ?? []);
      try {
        if (!isNew) {
          await this.#write([this.#ownLife], ask);
          return;
        }
        this.#state.take(this.#ownLife);
        await this.#compact(ask);
        return;
      } catch (error) {
        // A busy fleet has moved on between the reading and the append.
        const steps =
          isConflict(error) && !isNew && tried < mostTries
            ? await ask('read', () => store.read(this.position))
            : 'gone';
        if (steps === 'gone') throw error;
        this.#takeSteps(steps);
        this.#state.assertSealed();
      }
    }
  }

  /** Makes the entry of the life of this process once more, for a log that has lost the life. */
  lifeAgain(): OwnRecord {
    return this.#ownRecordOf(this.#ownLife);
  }

  async append(queued: readonly Queued<Work>[], ask: Ask): Promise<void> {
    const left = queued.filter((each) => !isOver(each));
    const [first] = left;
    if (first === undefined) return;
    if (first.record.kind === 'call') return first.record.call(ask);
    const entries = left.filter((each): each is Queued<OwnRecord> => each.record.kind === 'record');
    try {
      const records = markSent(entries).map(({ json }) => json);
      await this.#append(records, ask);
    } catch (error) {
      return this.#readOnAfter(error, ask);
    }
    for (const { record, kept } of entries) kept(record.take());
  }

  /** @throws the error, unless it says that others have appended something, which is read */
  async #readOnAfter(error: unknown, ask: Ask): Promise<void> {
    if (!isConflict(error)) throw error;
    await this.readOn(ask);
  }

  async #append(records: readonly Json[], ask: Ask): Promise<void> {
    // No record of others is before these ones, or there is a conflict.
    this.#reads += 1;
    const expectedPosition = this.position;
    this.#moveTo(await ask('append', () => this.#appendAt(records, expectedPosition)));
  }

  /**
   * Appends behind a position. If the store rejects the end that it shows itself, that is no conflict: to read and
   * append again would never end.
   */
  async #appendAt(records: readonly Json[], expectedPosition: string): Promise<string> {
    const { store } = this.#options;
    try {
      return await store.append(records, { expectedPosition });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const isAgain = this.#conflict === expectedPosition;
      this.#conflict = expectedPosition;
      if (!isAgain) throw error;
      const news = await store.read(expectedPosition);
      if (news === 'gone' || news.length > 0) throw error;
      throw new Error(
        `The shared store shows ${expectedPosition} as its end, and rejects an append there. Its records and its end do not ` +
          'fit together: restore both from the same backup.',
        { cause: error },
      );
    }
  }

  async compact(ask: Ask): Promise<boolean> {
    try {
      await this.#compact(ask);
      return true;
    } catch (error) {
      await this.#readOnAfter(error, ask);
      return false;
    }
  }

  async #compact(ask: Ask): Promise<void> {
    const { store } = this.#options;
    const [expectedPosition, state] = [this.position, this.#state.toState()];
    this.#moveTo(await ask('compact', () => store.compact(state, { expectedPosition })));
  }

  /** Appends records without an objection, and takes them. */
  async #write(records: readonly SharedRecord[], ask: Ask): Promise<void> {
    if (records.length === 0) return;
    await this.#append(records as unknown as readonly Json[], ask);
    for (const record of records) this.#take(record);
  }

  /** Whether the log has anything of a node: a life, or a command without an end. */
  knows(node: string): boolean {
    return this.#state.lifeOf(node) !== undefined || this.#commandsOf(node).length > 0;
  }

  /** Ends the commands of a node that will not come back, and its last life. */
  async forget(node: string, ask: Ask): Promise<void> {
    // The node may have begun a command that this one has not read.
    await this.readOn(ask);
    if (!this.knows(node)) return;
    const ends = this.#commandsOf(node).map((command) =>
      endRecord(command, this.#options.writing, 'forgotten'),
    );
    await this.#write([...ends, forgottenRecord(node, this.#options.writing)], ask);
  }

  /** The commands of a node that have no end, or that others have ended. */
  #commandsOf(node: string): readonly SharedCommand[] {
    const { open, abandoned } = this.#state.unsettled;
    return [...open, ...abandoned].filter(({ intent }) => intent.node === node);
  }

  /** Takes in what others have appended. */
  async readOn(ask: Ask): Promise<void> {
    this.#reads += 1;
    const { store, onChange } = this.#options;
    const steps = await ask('read', () => store.read(this.position));
    if (steps === 'gone') return this.#load(ask);
    const links = this.#takeSteps(steps);
    this.#assertLatest();
    if (steps.length > 0) onChange(links);
  }

  /** Takes what others have appended. Returns the links of the resources that were changed. */
  #takeSteps(steps: readonly LogStep[]): readonly string[] {
    const links = new Set<string>();
    for (const { records, position } of steps) {
      // All records of a step are read before one is taken: a step counts as a whole.
      const parsed = records.map(parseRecord);
      this.#moveTo(position);
      for (const record of parsed) {
        const sent = this.#sent.get(identityOf(record));
        const fold = this.#take(record);
        if (sent !== undefined) sent.fold = fold;
        // An abandonment changes nothing. The node of the command meets it at its own settlement, which is dropped.
        else if (isChange(record)) for (const link of record.resources) links.add(link);
      }
    }
    return [...links];
  }

  /** The command that holds one of the resources, and that this process does not perform. */
  holderOf(resources: readonly string[]): SharedRecord | undefined {
    const { open } = this.#state.unsettled;
    if (open.length === 0) return undefined;
    const keys = new Set(resources.map(linkKey));
    return open
      .map(({ intent }) => intent)
      .find(
        (intent) => intent.resources.some((link) => keys.has(linkKey(link))) && !this.#isPerformed(intent),
      );
  }

  async dispose(): Promise<void> {
    await this.#options.store[Symbol.asyncDispose]();
  }

  /** Reads everything again: the log was compacted, or set back. */
  async #load(ask: Ask): Promise<void> {
    const { store, given, onChange, onError } = this.#options;
    const before = this.#state;
    const { position, ...stored } = await ask('load', () => store.load());
    // A record without a state before it could be read by nobody.
    if (isEmpty(stored))
      throw new StoreLostError(
        'The shared store is empty: its content was deleted. Restore a backup, or restart the nodes, and the first ' +
          'one begins the fleet again with its own configuration.',
      );
    this.#state = loadFleetState(stored, given);
    this.positions.jumpTo(position);
    this.#options.onMove();
    this.#touches.touchAll();
    this.#places.clear();
    const goesOn = this.#state.goesOnFrom(before);
    this.#findEnded(before);
    this.#assertLatest();
    if (!goesOn)
      onError(
        new Error(
          `The configuration of the fleet has gone back: the shared store was set back to an earlier state.`,
        ),
      );
    onChange(undefined);
  }

  /**
   * Finds the records of this node that were kept, and were compacted before this node could read them. An append has a
   * condition on the end, and is kept as a whole: such a record came behind `before` and the records sent earlier.
   * Harm without that: a change that the fleet has is appended twice, or answered as one that others have ended.
   *
   * @param before - the last state that this node has read; takes in what is found
   */
  #findEnded(before: FleetState): void {
    const sent = [...this.#sent];
    const last = sent.findLastIndex(([, { record }]) => this.#isStored(record));
    for (const [identity, each] of sent.slice(0, last + 1)) {
      before.take(each.record);
      // The state may no longer show an earlier one: its command was forgotten.
      if (!this.#isStored(each.record)) continue;
      this.#sent.delete(identity);
      each.fold = this.#foldAt(this.#hereFor(each.record));
    }
  }

  #isStored(record: SharedRecord): boolean {
    const { command } = record;
    if (record.type === 'intent') return this.#openOf(command)?.intent.part === record.part;
    if (record.type === 'settlement' && !record.last) {
      const { abandoned } = this.#state.unsettled;
      const begun = this.#openOf(command) ?? abandoned.find(({ intent }) => intent.command === command);
      // A part is settled once.
      return begun?.settled === (this.#parts.get(command) ?? 0) + 1;
    }
    const isEnd = record.type === 'settlement' && record.why === undefined;
    return isEnd && this.#state.hasEnded(command);
  }

  #moveTo(position: string): void {
    this.positions.moveTo(position);
    this.#options.onMove();
  }

  /**
   * Takes a stored record of any node into the state. The node then makes each decision again that rests on what the
   * record changes.
   */
  #take(record: SharedRecord): Fold {
    const { secretParameters } = this.snapshot;
    this.#sent.delete(identityOf(record));
    this.#state.take(record);
    // What was plain text before may be secret now.
    if (this.snapshot.secretParameters !== secretParameters) this.#touches.touchAll();
    const place = this.#hereFor(record);
    const links = isChange(record) ? record.resources : [];
    for (const link of links) this.#places.set(linkKey(link), place);
    this.#touches.touch(links);
    return this.#foldAt(place);
  }

  /** @throws Superseded if a later process runs under the name of this node */
  #assertLatest(): void {
    const { writing, onSuperseded } = this.#options;
    const last = this.#state.lifeOf(writing.node);
    const isLater = last !== undefined && last.number >= this.#ownLife.number && last.life !== writing.life;
    if (!isLater) return;
    onSuperseded();
    throw new Superseded(writing.node);
  }

  /** The place of a record, if the log ends with it now. */
  #hereFor({ node }: SharedRecord): FleetPlace {
    return Object.freeze({ position: this.position, node });
  }

  /**
   * Folds the events of a record.
   *
   * @param place - where the log ended when this node met the record
   */
  #foldAt(place: FleetPlace): Fold {
    return foldAt(this.#options.align, place);
  }

  /** The stored form of a record; `undefined` if no other node has to know. */
  #sharedOf(record: JournalRecord, resources: readonly string[]): SharedRecord | undefined {
    if (record.type === 'abandonment') return this.#abandonmentOf(record.command);
    const shared = sharedForm(record, resources, this.#options.writing);
    if (shared.events.length > 0) return shared;
    const { type, command } = record;
    return type === 'settlement' && (this.#isKnown(command) || this.#isSent(command)) ? shared : undefined;
  }

  /** The record with which this node abandons a command: that of a silent node, or its own for an administrator. */
  #abandonmentOf(command: string): SharedRecord | undefined {
    const open = this.#openOf(command);
    if (open === undefined || this.#isSent(command)) return undefined;
    return endRecord(open, this.#options.writing, 'abandoned');
  }

  #isSent(command: string): boolean {
    return [...this.#sent.values()].some(({ record }) => record.command === command);
  }

  /** Looks whether what a decision rests on was changed since, or other nodes hold its resources. */
  #overtaking({ resources }: Pick<SharedRecord, 'resources'>, { since, links }: Basis): Objection {
    const touched = this.#touches.since({ since, links: [...resources, ...links] });
    return () => touched() ?? (this.holderOf(resources) === undefined ? undefined : new Overtaken());
  }

  /** Looks whether the command of a record that is no new decision is over. Made before the record counts as begun. */
  #fencing(record: SharedRecord): Objection {
    const stands = this.#standing(record);
    return () => (stands() ? undefined : new Fenced(fenced));
  }

  #standing(record: SharedRecord): () => boolean {
    // Harm: the gateway is asked for a later part of a command that others have ended.
    if (record.type === 'intent') return this.#unmoved(record.command);
    const isRefused = record.type === 'settlement' && record.events.length === 0 && record.why === undefined;
    return isRefused ? this.#refusalStanding(record.command) : this.#resultStanding(record.command);
  }

  /**
   * An end without events says that nothing happened. That stays true if others have ended the command, and takes the
   * command off their list. Harm: earlier parts were kept and taken back, a set-back has lost the way back alone, and
   * the end hides that the command is open there.
   */
  #refusalStanding(command: string): () => boolean {
    const [before, own = 0] = [this.#progressOf(command), this.#parts.get(command)];
    if (own === 0) return () => true;
    // A part whose answer got lost can still turn out to be kept: that is no set-back.
    const isThere =
      before === undefined || before.part === own
        ? this.#unmoved(command)
        : () => this.#progressOf(command)?.part === own;
    return () => !this.#state.unsettled.isOpen(command) || isThere();
  }

  /** Harm: the fleet shows a change after others have ended its command, and may have used the resources since. */
  #resultStanding(command: string): () => boolean {
    const isUnmoved = this.#unmoved(command);
    return () => {
      const isIntended = [...this.#sent.values()].some(
        ({ record }) => record.type === 'intent' && record.command === command,
      );
      return isIntended || (this.#state.unsettled.isOpen(command) && isUnmoved());
    };
  }

  /**
   * Looks whether a command is where it was in the log, at the last part of which this process has made an intent: a
   * set-back can have taken away what a later part rests on, also before the record of that part is made.
   */
  #unmoved(command: string): () => boolean {
    const [before, own] = [this.#progressOf(command), this.#parts.get(command)];
    return () => {
      const now = this.#progressOf(command);
      const isSame = now?.part === before?.part && now?.settled === before?.settled;
      return isSame && (own === undefined || now?.part === own);
    };
  }

  /** Notes how far this process has come with a command. */
  #noteProgress(record: SharedRecord): void {
    if (record.type === 'intent') this.#parts.set(record.command, record.part);
    if (record.type === 'settlement' && record.last) this.#parts.delete(record.command);
  }

  #progressOf(command: string): Progress | undefined {
    const open = this.#openOf(command);
    return open && { part: open.intent.part, settled: open.settled };
  }

  #openOf(command: string): SharedCommand | undefined {
    return this.#state.unsettled.open.find(({ intent }) => intent.command === command);
  }

  #isKnown(command: string): boolean {
    return this.#state.unsettled.isOpen(command) || this.#state.unsettled.isAbandoned(command);
  }

  #isPerformed({ node, command }: SharedRecord): boolean {
    const { writing, performs } = this.#options;
    return node === writing.node && (performs(command) || this.#isSent(command));
  }
}

/** Answers what needs no call of the store any more. Returns whether that is so. */
function isOver({ record, kept, refused }: Queued<Work>): boolean {
  if (record.kind === 'call') {
    const isDone = record.isDone();
    if (isDone) kept(evolving);
    return isDone;
  }
  const [fold, objection] = [record.found(), record.objection()];
  if (fold !== undefined) kept(fold);
  else if (objection !== undefined) refused(objection);
  return fold !== undefined || objection !== undefined;
}
