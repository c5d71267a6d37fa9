/**
 * History: what the journal tells, and what it amounts to.
 *
 * It holds the configuration and the users. What the host only reports is not in it: sessions end with the process,
 * and everything else is reported again.
 */
import { deepFreeze, type Json, isObject } from '../json/value.ts';
import type { StoredHistory } from '../ports/port.ts';
import { effectTable, eventTable, evolve, type Effect, type AdminEvent } from '../resources/index.ts';
import { createSnapshot, toDocument, type GatewayDocument } from '../snapshot/document.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { firstOfNextLife } from './life.ts';

/** A command is about to ask something of the host. @internal */
interface Intent {
  readonly type: 'intent';
  /** Identifies the command. */
  readonly command: string;
  /** Links of the resources that others must leave alone until it is settled. */
  readonly resources: readonly string[];
  readonly events: readonly AdminEvent[];
  readonly effects: readonly Effect[];
}

/** Events, as they were recorded. @internal */
interface Settlement {
  readonly type: 'settlement';
  readonly command: string;
  /** The revision of the snapshot when this was written down: the events make a later one. */
  readonly revision: number;
  /** What has happened; empty when nothing has. */
  readonly events: readonly AdminEvent[];
  /** Whether the command ends with it; a long teardown settles in several parts. */
  readonly last: boolean;
}

/** Says how far revisions have come: reports of the host use them up and are not written down. @internal */
interface Mark {
  readonly type: 'mark';
  readonly revision: number;
}

/** @internal */
export type JournalRecord = Intent | Settlement | Mark;

/** A command whose end is not written down. @internal */
export interface OpenCommand {
  readonly intent: Intent;
  /** How many of its parts have settled. */
  readonly settled: number;
}

/** What stands in the place of records: the members of {@link History}, as plain JSON. */
interface State {
  readonly format: 1;
  readonly revision: number;
  readonly document: GatewayDocument;
  readonly open: readonly OpenCommand[];
}

/**
 * What the records amount to so far.
 *
 * @internal
 */
export class History {
  readonly #open: Map<string, OpenCommand>;
  #snapshot: Snapshot;
  #revision: number;

  constructor(snapshot: Snapshot, revision = 0, open: readonly OpenCommand[] = []) {
    this.#snapshot = snapshot;
    this.#revision = revision;
    this.#open = new Map(open.map((command) => [command.intent.command, command]));
  }

  /** The configuration with the recorded events. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The highest revision that is written down. */
  get revision(): number {
    return this.#revision;
  }

  /** The commands whose end is not written down, in the order in which they began. */
  get open(): readonly OpenCommand[] {
    return [...this.#open.values()];
  }

  take(record: JournalRecord): void {
    if (record.type === 'intent') {
      this.#open.set(record.command, { intent: record, settled: 0 });
      return;
    }
    this.#revision = record.revision;
    if (record.type === 'mark') return;
    this.#snapshot = evolve(this.#snapshot, record.events);
    const open = this.#open.get(record.command);
    if (record.last) this.#open.delete(record.command);
    else if (open !== undefined) this.#open.set(record.command, { ...open, settled: open.settled + 1 });
  }

  /** Writes it as what may stand in the place of the records. */
  toState(): Json {
    const document = withoutProcess(toDocument(this.#snapshot));
    const state: State = { format: 1, revision: this.#revision, document, open: this.open };
    return state as unknown as Json;
  }
}

/**
 * Reads what a store holds.
 *
 * @param stored - what the store gave
 * @param given - the snapshot that the host gave: its configuration is where an empty store begins, and what it tells
 *   of the process, such as the version of the gateway, always holds
 * @returns the history, with a revision that no earlier life of the gateway has used
 * @throws Error when the store holds what this version cannot read
 * @internal
 */
export function restore(
  { state, records }: Pick<StoredHistory, 'state' | 'records'>,
  given: Snapshot,
): History {
  if (state === undefined && records.length === 0) return begin(given, toDocument(given), given.revision);
  const { document, revision, open } = parseState(state);
  const history = begin(given, document, revision, deepFreeze(open));
  for (const record of records) takeRecord(history, parseRecord(record));
  const next = firstOfNextLife(history.revision);
  return new History(Object.freeze({ ...history.snapshot, revision: next }), next, deepFreeze(history.open));
}

function begin(
  given: Snapshot,
  document: GatewayDocument,
  revision: number,
  open: readonly OpenCommand[] = [],
): History {
  const { logs, ...kept } = createSnapshot(withoutProcess(document));
  const { epoch, gateway, threads, tasks, modules } = given;
  const flushed = logs.last_flushed === undefined ? {} : { last_flushed: logs.last_flushed };
  const process = {
    epoch,
    gateway,
    threads,
    tasks,
    modules,
    revision,
    logs: Object.freeze({ ...given.logs, ...flushed }),
  };
  return new History(Object.freeze({ ...kept, ...process }), revision, open);
}

/** Leaves out what ends with the process: what tells of it, the sessions, and the counters of what it has seen. */
function withoutProcess(document: GatewayDocument): GatewayDocument {
  const { gateway: _1, threads: _2, tasks: _3, modules: _4, sessions: _5, ...configuration } = document;
  const services = configuration.services?.map(({ total_connections: _seen, ...service }) => service);
  return services === undefined ? configuration : { ...configuration, services };
}

function parseState(state: Json | undefined): State {
  if (state === undefined) throw unreadable('records without a state to begin with');
  const { format, revision, document, open } = membersOf(state);
  if (format !== 1) throw unreadable(`a state of format ${JSON.stringify(format)}`);
  if (!isRevision(revision) || !isObject(document ?? null) || !isList(open, isOpen))
    throw unreadable('a state with members missing or of the wrong type');
  return state as unknown as State;
}

function isOpen(value: Json): boolean {
  const { intent, settled } = membersOf(value);
  const { type, effects } = membersOf(intent);
  if (type !== 'intent' || !recordTable.intent(membersOf(intent))) return false;
  return isRevision(settled) && Number(settled) < (effects as readonly Json[]).length;
}

type Members = Readonly<Record<string, Json | undefined>>;

/** Whether a record of a type has what it needs. */
const recordTable: Readonly<Record<JournalRecord['type'], (members: Members) => boolean>> = {
  intent: ({ command, resources, events, effects }) =>
    typeof command === 'string' &&
    isList(resources, (link) => typeof link === 'string') &&
    areConsistent(events, effects),
  settlement: ({ command, revision, events, last }) =>
    typeof command === 'string' &&
    isRevision(revision) &&
    areKnown(eventTable, events) &&
    typeof last === 'boolean',
  mark: ({ revision }) => isRevision(revision),
};

function parseRecord(record: Json): JournalRecord {
  const members = membersOf(record);
  const { type = null } = members;
  if (typeof type !== 'string' || !Object.hasOwn(recordTable, type))
    throw unreadable(`a record of type ${JSON.stringify(type)}`);
  if (!recordTable[type as JournalRecord['type']](members))
    throw unreadable(`a record of type "${type}" with members missing, unknown, or of the wrong type`);
  return record as unknown as JournalRecord;
}

/** Whether events and effects are of known types, and there is an effect for each event that needs one. @internal */
export function areConsistent(events: unknown, effects: unknown): boolean {
  if (!areKnown(eventTable, events) || !areKnown(effectTable, effects)) return false;
  const needed = (events as readonly AdminEvent[]).filter(
    ({ type }) => eventTable[type].effect !== undefined,
  );
  return needed.length === (effects as readonly Effect[]).length;
}

/** Whether something is a list of events, or of effects, all of them of types that a table knows. */
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
  // Events become part of the snapshot. Most intents are settled by a later record: to freeze them would take as long again.
  if (record.type === 'settlement') deepFreeze(record.events);
  try {
    history.take(record);
  } catch (error) {
    throw unreadable(`a record of type "${record.type}" that makes no sense`, error);
  }
}

function unreadable(what: string, cause?: unknown): Error {
  return new Error(
    `The store holds ${what}, which this version cannot read. Start the version that wrote it, or restore a backup.`,
    { cause },
  );
}
