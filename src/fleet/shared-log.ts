/**
 * The log that the nodes of a fleet share, as one node sees it: appends with a condition on the end, and reads what the
 * others have appended.
 */
import type { FleetPlace } from '../core/decision.ts';
import type { Json } from '../json/value.ts';
import { StoreLost } from '../ports/port-error.ts';
import type { SharedStore } from '../ports/port.ts';
import { eventTable, type AdminEvent, type Effect } from '../resources/index.ts';
import { foreignCommand } from '../runtime/execution.ts';
import type { JournalRecord } from '../runtime/history.ts';
import {
  Fenced,
  Overtaken,
  type Ask,
  type Entry,
  type Log,
  type Obstacle,
  type Placed,
} from '../runtime/log.ts';
import { alignVersions, find, linkOf, type Collections, type Snapshot } from '../snapshot/snapshot.ts';
import {
  level,
  levelRecord,
  parseRecord,
  restoreShared,
  type SharedCommand,
  type SharedHistory,
  type SharedRecord,
} from './shared-history.ts';

/** The options of {@link SharedLog}. @internal */
export interface SharedLogOptions {
  readonly store: SharedStore;
  /** The name of this node. */
  readonly node: string;
  /** The snapshot of the host. */
  readonly given: Snapshot;
  readonly history: SharedHistory;
  /** The highest level of records that this node reads. */
  readonly highest: number;
  readonly position: string;
  /** Whether this gateway has not followed the fleet yet at a resource; gives the refusal of commands. */
  readonly obstacleTo: (link: string) => Obstacle | undefined;
  /** Whether a command of this node is in flight in this process. */
  readonly isInFlight: (command: string) => boolean;
  /** Whether this process finds out the outcome of a command of an earlier life. */
  readonly isRecovering: (command: string) => boolean;
  /** Called when the end of the log has moved. */
  readonly onMove: () => void;
  /** Gets the resources that somebody else has changed; `undefined` for all of them. */
  readonly onChange: (links: readonly string[] | undefined) => void;
  /** Gets what the operator must know. */
  readonly onError: (error: unknown) => void;
}

/** A record of this node that is not stored yet. */
interface Sent {
  readonly record: SharedRecord;
  placed: Placed | undefined;
}

/** The log of a store that several nodes have open. @internal */
export class SharedLog implements Log {
  readonly #options: SharedLogOptions;
  #history: SharedHistory;
  #position: string;
  /** The records of this node on their way, by identity. */
  readonly #sent = new Map<string, Sent>();
  /** The fleet revision at which somebody else last changed a resource, by link. */
  readonly #touched = new Map<string, number>();
  /** The place of the last change of a resource, by link. */
  readonly #places = new Map<string, FleetPlace>();
  /** Counts the times that the log was loaded again. */
  #loads = 0;

  constructor(options: SharedLogOptions) {
    this.#options = options;
    this.#history = options.history;
    this.#position = options.position;
  }

  get snapshot(): Snapshot {
    return this.#history.snapshot;
  }

  get history(): SharedHistory {
    return this.#history;
  }

  get position(): string {
    return this.#position;
  }

  /** Revisions of a node are not kept: its events name the log. */
  get revision(): number {
    return Number.POSITIVE_INFINITY;
  }

  /**
   * The open commands of this node that nobody performs: a call of an earlier process has arrived late, or the store was set
   * back to before their end.
   */
  get orphans(): readonly SharedCommand[] {
    return this.#history.open.filter(
      ({ intent }) => intent.node === this.#options.node && !this.#isPerformed(intent),
    );
  }

  /** The place of the last change of a resource. */
  placeOf(link: string): FleetPlace | undefined {
    return this.#places.get(link);
  }

  enter(record: JournalRecord, resources: readonly string[], isChange: boolean): Entry | undefined {
    const shared = this.#sharedOf(record, resources);
    if (shared === undefined) return undefined;
    const sent: Sent = { record: shared, placed: undefined };
    const identity = identityOf(shared);
    // An intent and a change rest on a decision that was just made.
    const isDecision = isChange || shared.type === 'intent';
    const objectionTo = isDecision ? this.#overtaking(shared) : this.#fencing(shared);
    this.#sent.set(identity, sent);
    return {
      json: shared as unknown as Json,
      objection: objectionTo,
      found: () => sent.placed,
      take: () => this.#take(shared),
      drop: () => {
        this.#sent.delete(identity);
        // What the gateway has done for a command that others have ended is taken back.
        if (objectionTo() instanceof Fenced) this.#options.onChange(shared.resources);
      },
    };
  }

  async append(records: readonly Json[], ask: Ask): Promise<void> {
    const { store } = this.#options;
    const expectedPosition = this.#position;
    this.#move(await ask('append', () => store.append(records, { expectedPosition })));
  }

  async compact(ask: Ask): Promise<void> {
    const { store } = this.#options;
    const [expectedPosition, state] = [this.#position, this.#history.toState()];
    this.#move(await ask('compact', () => store.compact(state, { expectedPosition })));
  }

  /** Lets nodes write records of the highest level that this node reads. */
  async raiseLevel(ask: Ask): Promise<void> {
    const { highest, node } = this.#options;
    const record = levelRecord(highest, node);
    await this.append([record as unknown as Json], ask);
    this.#take(record);
  }

  /** Ends the commands of a node that will not come back. */
  async forget(node: string, ask: Ask): Promise<void> {
    const { open, abandoned } = this.#history;
    const records = [...open, ...abandoned]
      .filter(({ intent }) => intent.node === node)
      .map((command) => endOf(command, 'forgotten'));
    if (records.length === 0) return;
    await this.append(records as unknown as readonly Json[], ask);
    for (const record of records) this.#take(record);
  }

  async follow(ask: Ask): Promise<void> {
    const { store } = this.#options;
    const steps = await ask('read', () => store.read(this.#position));
    if (steps === 'gone') return this.#load(ask);
    const links = new Set<string>();
    for (const { records, position } of steps) {
      // All records of a step are read before one is taken: a step counts as a whole.
      const parsed = records.map((record) => parseRecord(record, this.#options.highest));
      this.#move(position);
      for (const record of parsed) {
        const sent = this.#sent.get(identityOf(record));
        const placed = this.#take(record);
        if (sent !== undefined) sent.placed = placed;
        else if (record.type === 'settlement' && record.events.length > 0)
          for (const link of record.resources) links.add(link);
      }
    }
    if (steps.length > 0) this.#options.onChange([...links]);
  }

  obstacleTo(resources: readonly string[]): Obstacle | undefined {
    const foreign = this.#holderOf(resources);
    if (foreign !== undefined) return foreignCommand(foreign.command, foreign.node);
    for (const link of resources) {
      const obstacle = this.#options.obstacleTo(link);
      if (obstacle !== undefined) return obstacle;
    }
    return undefined;
  }

  async dispose(): Promise<void> {
    await this.#options.store[Symbol.asyncDispose]();
  }

  /** Reads everything again: the log was compacted, or set back. */
  async #load(ask: Ask): Promise<void> {
    const { store, given, highest, onChange, onError } = this.#options;
    const before = this.#history;
    const { position, ...stored } = await ask('load', () => store.load());
    // A record without a state before it could be read by nobody.
    if (stored.state === undefined && stored.records.length === 0)
      throw new StoreLost(
        'The shared store is empty: somebody has deleted its content. Restore a backup, or restart the nodes, and the first ' +
          'one begins the fleet again with its own configuration.',
      );
    this.#history = restoreShared(stored, given, highest);
    this.#move(position);
    this.#loads += 1;
    // Both are about the log before: its revisions can come again.
    this.#touched.clear();
    this.#places.clear();
    this.#findEnded();
    if (!this.#history.goesOnFrom(before))
      onError(
        new Error(
          `The configuration of the fleet has gone back: the shared store was set back to an earlier state.`,
        ),
      );
    onChange(undefined);
  }

  /** Finds the records of this node that were kept, and were compacted before this node could read them. */
  #findEnded(): void {
    for (const [identity, sent] of this.#sent) {
      const { record } = sent;
      if (record.type !== 'settlement' || record.why !== undefined || !this.#history.hasEnded(record.command))
        continue;
      this.#sent.delete(identity);
      sent.placed = this.#placed(record);
    }
  }

  #move(position: string): void {
    this.#position = position;
    this.#options.onMove();
  }

  /** Takes a stored record into the state, and gives its place. */
  #take(record: SharedRecord): Placed {
    this.#sent.delete(identityOf(record));
    this.#history.take(record);
    const placed = this.#placed(record);
    if (record.type === 'settlement' && record.events.length > 0) {
      for (const link of record.resources) {
        this.#places.set(link, placed.fleet);
        if (record.node !== this.#options.node) this.#touched.set(link, this.snapshot.revision);
      }
    }
    return placed;
  }

  /** The place of a record that ends where the log ends now. */
  #placed({ node, resources }: SharedRecord): Required<Placed> {
    const fleet: FleetPlace = Object.freeze({ position: this.#position, node });
    const links = new Set(resources);
    return {
      fleet,
      align: (snapshot, revision) => this.align(snapshot, revision, (link) => links.has(link)),
    };
  }

  /** Gives resources of a snapshot the command versions that they have in the fleet. */
  align(snapshot: Snapshot, revision: number, isMeant: (link: string) => boolean): Snapshot {
    const { snapshot: fleet } = this.#history;
    const commandOf = (collection: keyof Collections, key?: string): number | undefined => {
      // A list changes with what is in it.
      if (key === undefined) return fleet[collection].version.command;
      const entity = find(fleet, collection, key);
      if (entity === undefined) return undefined;
      return isMeant(linkOf(collection, entity)) || isMeant(`/${collection}`)
        ? entity.version.command
        : undefined;
    };
    const aligned = alignVersions(snapshot, commandOf, () => revision);
    return aligned === snapshot || aligned.revision === revision
      ? aligned
      : Object.freeze({ ...aligned, revision });
  }

  /** The stored form of a record; `undefined` if no other node has to know. */
  #sharedOf(record: JournalRecord, resources: readonly string[]): SharedRecord | undefined {
    const { node } = this.#options;
    const head = { level, node, resources: resources.filter(isSharedLink) };
    if (record.type === 'mark') return undefined;
    if (record.type === 'abandonment') return this.#abandonmentOf(record.command);
    if (record.type === 'intent') {
      const { events, effects } = sharedPart(record.events, record.effects);
      if (events.length === 0) return undefined;
      const { command, part, of } = record;
      const [own, asked] = [[...events], [...effects]];
      return { ...head, ...actorOf(events), type: 'intent', command, part, of, events: own, effects: asked };
    }
    const { command, last } = record;
    // Later changes rest on the end that others gave to an abandoned command of an earlier life.
    const isOver = this.#history.isAbandoned(command) && !this.#options.isInFlight(command);
    const events = isOver ? [] : sharedPart(record.events, []).events;
    if (events.length === 0 && !this.#isKnown(command) && !this.#isSent(command)) return undefined;
    return { ...head, ...actorOf(events), type: 'settlement', command, events: [...events], last };
  }

  /** The record with which this node ends the command of a silent node. */
  #abandonmentOf(command: string): SharedRecord | undefined {
    const open = this.#history.open.find(({ intent }) => intent.command === command);
    if (open === undefined || this.#isSent(command)) return undefined;
    return endOf(open, 'abandoned');
  }

  #isSent(command: string): boolean {
    return [...this.#sent.values()].some(({ record }) => record.command === command);
  }

  /** Looks whether others have changed, or hold, what a decision rests on. */
  #overtaking({ resources }: SharedRecord): () => Error | undefined {
    const [{ revision }, loads] = [this.snapshot, this.#loads];
    return () => {
      const isTouched = resources.some((link) => (this.#touched.get(link) ?? 0) > revision);
      const isOvertaken = isTouched || loads !== this.#loads || this.#holderOf(resources) !== undefined;
      return isOvertaken ? new Overtaken() : undefined;
    };
  }

  /** Looks whether others have ended the command of a result. */
  #fencing(record: SharedRecord): () => Error | undefined {
    const { command } = record;
    // Nothing happened: that stays true if others have ended the command. It also takes the command off their list.
    if (record.type === 'settlement' && record.events.length === 0 && record.why === undefined)
      return () => undefined;
    return () => {
      const isIntended = [...this.#sent.values()].some(
        ({ record }) => record.type === 'intent' && record.command === command,
      );
      return this.#history.isOpen(command) || isIntended ? undefined : new Fenced();
    };
  }

  #isKnown(command: string): boolean {
    return this.#history.isOpen(command) || this.#history.isAbandoned(command);
  }

  /** The command that holds one of the resources, and that this process does not perform. */
  #holderOf(resources: readonly string[]): SharedRecord | undefined {
    return this.#history.open
      .map(({ intent }) => intent)
      .find(
        (intent) => intent.resources.some((link) => resources.includes(link)) && !this.#isPerformed(intent),
      );
  }

  #isPerformed({ node, command }: SharedRecord): boolean {
    const { node: own, isInFlight, isRecovering } = this.#options;
    return node === own && (isInFlight(command) || isRecovering(command) || this.#isSent(command));
  }
}

/** Whether the nodes share what a link names. The logs, sessions and connections are each node's own. */
function isSharedLink(link: string): boolean {
  return /^\/(?:users|(?:servers|services|monitors|filters)\/[^/]+)$/.test(link);
}

/** The record with which a node ends the command of another one. */
function endOf(
  { intent: { node, command, resources } }: SharedCommand,
  why: 'abandoned' | 'forgotten',
): SharedRecord {
  return { level, node, resources, type: 'settlement', command, events: [], last: true, why };
}

function actorOf([first]: readonly AdminEvent[]): { readonly actor?: string } {
  return first?.actor === undefined ? {} : { actor: first.actor };
}

/** What tells a record from every other. */
function identityOf(record: SharedRecord): string {
  const { type, command } = record;
  const end = type === 'settlement' ? `${String(record.last)} ${record.why ?? ''}` : '';
  return `${type} ${command} ${type === 'intent' ? String(record.part) : end}`;
}

/** The events that the other nodes share, and their effects. */
function sharedPart(
  events: readonly AdminEvent[],
  effects: readonly Effect[],
): { readonly events: readonly AdminEvent[]; readonly effects: readonly Effect[] } {
  const left = [...effects];
  const shared = { events: [] as AdminEvent[], effects: [] as Effect[] };
  for (const event of events) {
    const { scope, effect } = eventTable[event.type];
    const own = effect === undefined ? undefined : left.shift();
    if (scope === 'node') continue;
    shared.events.push(event);
    if (own !== undefined) shared.effects.push(own);
  }
  return shared;
}
