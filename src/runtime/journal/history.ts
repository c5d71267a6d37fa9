/**
 * History: the records of the journal, and the state that they lead to.
 *
 * The history contains the configuration and the admin users. It does not contain what the host reports: sessions end
 * with the process, and the host reports everything else again.
 */
import { keepFields } from '../../core/field.ts';
import { deepFreeze, type Json, isObject } from '../../json/value.ts';
import type { StoredHistory } from '../../ports/port.ts';
import {
  collectionFields,
  effectTable,
  eventTable,
  evolveRecord,
  type Effect,
  type AdminEvent,
} from '../../resources/index.ts';
import { createSnapshot, toDocument, type GatewayDocument } from '../../snapshot/document.ts';
import { IndexedSessionTable } from '../../snapshot/session-table.ts';
import type { Collections, Snapshot } from '../../snapshot/snapshot.ts';
import { firstOfNextLife } from './life.ts';
import { storedSecretParameters } from './stored-secret.ts';

/** A command, or a part of one, is about to ask the host for effects. @internal */
interface Intent {
  readonly type: 'intent';
  /** Id of the command. */
  readonly command: string;
  /** Links of the resources that no other command may use until the command is settled. */
  readonly resources: readonly string[];
  /** The part of the command, from 0 on. A long teardown has an intent for each part, another command has one part. */
  readonly part: number;
  /** The number of parts. */
  readonly of: number;
  readonly events: readonly AdminEvent[];
  readonly effects: readonly Effect[];
}

/** A command, or a part of one, has ended. @internal */
interface Settlement {
  readonly type: 'settlement';
  /** Id of the command. */
  readonly command: string;
  /** The revision of the snapshot when the record was written. The events make a later revision. */
  readonly revision: number;
  /** The events that happened; empty if nothing happened. */
  readonly events: readonly AdminEvent[];
  /** Whether the command ends here. A long teardown settles in several parts. */
  readonly last: boolean;
}

/** Stores a revision. Needed because reports use up revisions and are not journaled. @internal */
interface Mark {
  readonly type: 'mark';
  readonly revision: number;
}

/** A command of unknown outcome was abandoned: its resources are free, and the next life inspects it once. @internal */
interface Abandonment {
  readonly type: 'abandonment';
  /** Id of the command. */
  readonly command: string;
  readonly revision: number;
}

/** One record of the journal. The format is public API: later versions must read it. @internal */
export type JournalRecord = Intent | Settlement | Mark | Abandonment;

/** A command with an intent and without a last settlement. @internal */
export interface OpenCommand {
  /** The last intent. */
  readonly intent: Intent;
  /** The number of settled parts. If the number is greater than the part of the intent, no part is in flight. */
  readonly settled: number;
}

/** The commands without a last settlement. @internal */
export type UnsettledCommands = Pick<History, 'open' | 'abandoned'>;

const noneUnsettled: UnsettledCommands = { open: [], abandoned: [] };

function byId(commands: readonly OpenCommand[]): Map<string, OpenCommand> {
  return new Map(commands.map((command) => [command.intent.command, command]));
}

/** The compacted form of the records: the members of {@link History}, as plain JSON. */
interface State {
  readonly format: 1;
  readonly revision: number;
  readonly document: GatewayDocument;
  readonly open: readonly OpenCommand[];
  /** The abandoned commands without a last settlement; earlier versions have no such member. */
  readonly abandoned?: readonly OpenCommand[];
}

/**
 * The state that the records lead to.
 *
 * @internal
 */
export class History {
  readonly #open: Map<string, OpenCommand>;
  readonly #abandoned: Map<string, OpenCommand>;
  #snapshot: Snapshot;
  #revision: number;

  constructor(snapshot: Snapshot, revision = 0, { open, abandoned }: UnsettledCommands = noneUnsettled) {
    this.#snapshot = snapshot;
    this.#revision = revision;
    this.#open = byId(open);
    this.#abandoned = byId(abandoned);
  }

  /** The configuration, with the settled events folded over it. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The highest stored revision. */
  get revision(): number {
    return this.#revision;
  }

  /** The open commands, in the order in which they started. */
  get open(): readonly OpenCommand[] {
    return [...this.#open.values()];
  }

  /** The abandoned commands that are not settled yet, in the order in which they were abandoned. */
  get abandoned(): readonly OpenCommand[] {
    return [...this.#abandoned.values()];
  }

  /** Takes in the next record. */
  take(record: JournalRecord): void {
    if (record.type === 'intent') {
      this.#open.set(record.command, { intent: record, settled: record.part });
      return;
    }
    this.#revision = record.revision;
    if (record.type === 'mark') return;
    if (record.type === 'abandonment') return this.#abandon(record.command);
    this.#snapshot = evolveRecord(this.#snapshot, record.events);
    const open = this.#open.get(record.command);
    if (record.last) for (const commands of [this.#open, this.#abandoned]) commands.delete(record.command);
    else if (open !== undefined) this.#open.set(record.command, { ...open, settled: open.settled + 1 });
  }

  #abandon(id: string): void {
    const command = this.#open.get(id);
    if (command === undefined) return;
    this.#open.delete(id);
    this.#abandoned.set(id, command);
  }

  /** Gives the compacted form of all records so far. */
  toState(): Json {
    const document = withoutProcess(toDocument(this.#snapshot));
    const { open, abandoned } = this;
    const state: State = { format: 1, revision: this.#revision, document, open, abandoned };
    return state as unknown as Json;
  }
}

/**
 * Reads the content of a store.
 *
 * @param stored - the content of the store
 * @param given - the snapshot of the host. An empty store starts with the configuration of this snapshot. Values that
 *   belong to the process, such as the version of the gateway, are always taken from this snapshot
 * @returns the history, with a revision that no earlier life has used
 * @throws Error if this version cannot read the content
 * @internal
 */
export function restore(
  { state, records }: Pick<StoredHistory, 'state' | 'records'>,
  given: Snapshot,
): History {
  if (isEmpty({ state, records })) return begin(given, toDocument(withoutSessions(given)), given.revision);
  const { document, revision, open, abandoned = [] } = parseState(state);
  const history = begin(given, document, revision, deepFreeze({ open, abandoned }));
  for (const record of records) takeRecord(history, parseRecord(record));
  const next = firstOfNextLife(history.revision);
  const inFlight = [...history.open, ...history.abandoned].map(({ intent }) => intent.events);
  const secretParameters = storedSecretParameters(history.snapshot, inFlight);
  return new History(
    Object.freeze({
      ...history.snapshot,
      // The events of an earlier life, such as a flush of the logs, say nothing about this process.
      ...processOf(given),
      ...(secretParameters.length === 0 ? {} : { secretParameters }),
      revision: next,
    }),
    next,
    deepFreeze(unsettledIn(history)),
  );
}

/** Whether a store has no content, so that the configuration begins with the document. @internal */
export function isEmpty({
  state,
  records,
}: {
  readonly state?: Json | undefined;
  readonly records: readonly Json[];
}): boolean {
  return state === undefined && records.length === 0;
}

/** Sessions are not kept. Without this step, a million sessions would be written and then left out. */
function withoutSessions(snapshot: Snapshot): Snapshot {
  return Object.freeze({ ...snapshot, sessions: IndexedSessionTable.create(new Map(), new Map()) });
}

function begin(
  given: Snapshot,
  document: GatewayDocument,
  revision: number,
  unsettled?: UnsettledCommands,
): History {
  return new History(configured(given, document, revision), revision, unsettled);
}

/** The snapshot of a stored document, with everything that belongs to the process from the given one. @internal */
export function configured(given: Snapshot, document: GatewayDocument, revision: number): Snapshot {
  return Object.freeze({ ...createSnapshot(withoutProcess(document)), ...processOf(given), revision });
}

/** What belongs to the process, and is always taken from the given snapshot. */
function processOf({
  epoch,
  gateway,
  logs,
  threads,
  tasks,
  modules,
  secretParameters,
}: Snapshot): Omit<Snapshot, keyof Collections | 'sessions' | 'revision'> {
  const declared = secretParameters === undefined ? {} : { secretParameters };
  return { epoch, ...declared, gateway, logs, threads, tasks, modules };
}

/** Leaves out everything that ends with the process: what the host says, sees, counts and does in one life. @internal */
export function withoutProcess(document: GatewayDocument): GatewayDocument {
  const {
    gateway: _1,
    threads: _2,
    tasks: _3,
    modules: _4,
    sessions: _5,
    logs: _6,
    ...configuration
  } = document;
  const kept = Object.entries(collectionFields).flatMap(([member, fields]) => {
    const entries = configuration[member as keyof Collections];
    // A value that is no list stays, so that `createSnapshot` refuses the value.
    return Array.isArray(entries)
      ? [[member, entries.map((entry: object) => keepFields(fields, entry))] as const]
      : [];
  });
  return { ...configuration, ...Object.fromEntries(kept) };
}

function parseState(state: Json | undefined): State {
  if (state === undefined) throw unreadable('records without a state before them');
  const { format, revision, document, open, abandoned = [] } = membersOf(state);
  if (format !== 1) throw unreadable(`a state of format ${JSON.stringify(format)}`);
  if (
    !isRevision(revision) ||
    !isObject(document ?? null) ||
    !isList(open, isOpen) ||
    !isList(abandoned, isOpen)
  )
    throw unreadable('a state in which a member is missing or has the wrong type');
  return state as unknown as State;
}

function isOpen(value: Json): boolean {
  const { intent, settled } = membersOf(value);
  const { type, part } = membersOf(intent);
  if (type !== 'intent' || !recordTable.intent(membersOf(intent))) return false;
  return settled === part || settled === Number(part) + 1;
}

type Members = Readonly<Record<string, Json | undefined>>;

function unsettledIn({ open, abandoned }: History): UnsettledCommands {
  return { open, abandoned };
}

/** Checks the members of a record, by type. */
const recordTable: Readonly<Record<JournalRecord['type'], (members: Members) => boolean>> = {
  intent: ({ command, resources, part, of, events, effects }) =>
    typeof command === 'string' &&
    isRevision(part) &&
    isRevision(of) &&
    Number(part) < Number(of) &&
    isList(resources, (link) => typeof link === 'string') &&
    areConsistent(events, effects),
  settlement: ({ command, revision, events, last }) =>
    typeof command === 'string' &&
    isRevision(revision) &&
    areKnown(eventTable, events) &&
    typeof last === 'boolean',
  mark: ({ revision }) => isRevision(revision),
  abandonment: ({ command, revision }) => typeof command === 'string' && isRevision(revision),
};

function parseRecord(record: Json): JournalRecord {
  const members = membersOf(record);
  const { type = null } = members;
  if (typeof type !== 'string' || !Object.hasOwn(recordTable, type))
    throw unreadable(`a record of the unknown type ${JSON.stringify(type)}`);
  if (!recordTable[type as JournalRecord['type']](members))
    throw unreadable(`a record of type "${type}" in which a member is missing, unknown or of the wrong type`);
  return record as unknown as JournalRecord;
}

/**
 * Whether there is an event, all events and effects have known types, and each event that needs an effect has one.
 *
 * @internal
 */
export function areConsistent(events: unknown, effects: unknown): boolean {
  if (!areKnown(eventTable, events) || !areKnown(effectTable, effects)) return false;
  const needed = (events as readonly AdminEvent[]).filter(
    ({ type }) => eventTable[type].effect !== undefined,
  );
  const isAnEvent = (events as readonly AdminEvent[]).length > 0;
  return isAnEvent && needed.length === (effects as readonly Effect[]).length;
}

/** Whether a value is a list whose elements all have a type from the table. */
function areKnown(table: object, things: unknown): boolean {
  const isKnown = (thing: unknown): boolean =>
    Object.hasOwn(table, String((thing as { type?: unknown } | null)?.type));
  return Array.isArray(things) && things.every(isKnown);
}

function membersOf(value: Json | undefined): Members {
  return value !== undefined && isObject(value) ? value : {};
}

function isList(value: Json | undefined, isItem: (item: Json) => boolean): boolean {
  return Array.isArray(value) && (value as readonly Json[]).every(isItem);
}

function isRevision(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function takeRecord(history: History, record: JournalRecord): void {
  // Events become part of the snapshot. Intents are not frozen here: most of them are settled by a later record, and
  // freezing them would double the time.
  if (record.type === 'settlement') deepFreeze(record.events);
  try {
    history.take(record);
  } catch (error) {
    throw unreadable(`a record of type "${record.type}" that does not fit the state before it`, error);
  }
}

function unreadable(what: string, cause?: unknown): Error {
  return new Error(
    `The store contains ${what}, which this version cannot read. Start the version that wrote the store, or restore a ` +
      'backup.',
    { cause },
  );
}
