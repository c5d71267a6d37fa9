/**
 * The state that the records of a journal lead to.
 *
 * The state contains the configuration, the admin users, the settled commands and the commands without an end. It does
 * not contain what the host reports: sessions end with the process, and the host reports everything else again.
 *
 * The writer has a snapshot of its own, with sessions and reports. Both fold the same settlements.
 */
import * as z from 'zod/mini';

import { asObject, deepFreeze, isObject, type Json } from '../../json/value.ts';
import type { StoredHistory } from '../../ports/port.ts';
import { linkKey } from '../../core/link.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { foldKnown } from '../../resources/index.ts';
import { interfaceShape } from '../../resources/mode.ts';
import {
  createSnapshot,
  madeBefore,
  toConfiguration,
  type GatewayDocument,
} from '../../resources/document.ts';
import { BirthTable } from '../../snapshot/birth.ts';
import { IndexedSessionTable } from '../../snapshot/session/table.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { Entries, entryShape } from './entries.ts';
import { isCreation, isDeletion } from './entry-event.ts';
import {
  hasEarlierForm,
  openShape,
  recordShapes,
  natural,
  type Intent,
  type JournalRecord,
} from './record.ts';
import { storedSecretParameters } from './stored-secret.ts';
import { Unsettled, type UnsettledCommands } from './unsettled.ts';

/** The format of states, and of the records behind them. */
const presentFormat = 2;

/** Births in a state. @internal */
export const birthsShape = z.record(z.string(), z.string());

/** The compacted form of the records: the members of {@link JournalState}, as plain JSON. */
const stateShape = z.object({
  format: z.literal(presentFormat),
  /** How many lives there were on the store before that of the state. */
  earlierLives: natural,
  revision: natural,
  document: z.custom<GatewayDocument>((value: unknown) => isObject((value ?? null) as Json)),
  interface: interfaceShape,
  births: birthsShape,
  open: z.readonly(z.array(openShape)),
  /** The abandoned commands without a last settlement. */
  abandoned: z.readonly(z.array(openShape)),
  /** The settled commands. */
  entries: z.readonly(z.array(entryShape)),
  /** The keys of the links of deleted resources. */
  deleted: z.readonly(z.array(z.string())),
});
type State = z.infer<typeof stateShape>;

/** The largest number of deleted resources that are remembered. */
const mostDeleted = 10_000;

/** What a {@link JournalState} begins with, besides the configuration. */
interface Beginning {
  readonly unsettled?: UnsettledCommands<Intent>;
  readonly entries?: Entries;
  readonly deleted?: Iterable<string>;
  readonly earlierLives?: number;
}

/** The state that the records lead to. @internal */
export class JournalState {
  /** The commands without a last settlement. */
  readonly unsettled: Unsettled<Intent>;
  /** The settled commands. */
  readonly entries: Entries;
  /** The keys of the links of deleted resources, in the order of the deletions. A document does not bring them back. */
  readonly deleted: Set<string>;
  /** How many lives there were on the store before this one. */
  readonly earlierLives: number;
  #snapshot: Snapshot;
  #revision: number;

  constructor(
    snapshot: Snapshot,
    { unsettled, entries = new Entries(), deleted = [], earlierLives = 0 }: Beginning = {},
  ) {
    this.earlierLives = earlierLives;
    this.unsettled = new Unsettled(unsettled);
    this.entries = entries;
    this.deleted = new Set(deleted);
    this.#snapshot = snapshot;
    this.#revision = snapshot.revision;
  }

  /** The configuration, with the settled events folded over it. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The highest stored revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Takes in the next record. */
  take(record: JournalRecord): void {
    if (record.type === 'intent') return this.unsettled.begin(record);
    if (record.type === 'abandonment') {
      this.#end(record.command);
      return this.unsettled.abandon(record.command);
    }
    this.#revision = record.revision;
    this.#snapshot = foldKnown(this.#snapshot, record.events);
    this.entries.take({ ...record, revision: record.revision + 1 });
    if (record.last) this.#end(record.command);
    this.unsettled.settle(record);
  }

  #end(command: string): void {
    for (const event of this.entries.end(command)) this.#noteMembership(event);
  }

  #noteMembership(event: EntryEvent): void {
    const key = linkKey(event.resource);
    if (isCreation(event) || isDeletion(event)) this.deleted.delete(key);
    if (!isDeletion(event)) return;
    this.deleted.add(key);
    const [oldest] = this.deleted;
    if (this.deleted.size > mostDeleted && oldest !== undefined) this.deleted.delete(oldest);
  }

  /** Gives the compacted form of all records so far. */
  toState(): Json {
    const { open, abandoned } = this.unsettled;
    const state = {
      format: presentFormat,
      earlierLives: this.earlierLives,
      revision: this.#revision,
      ...storedOf(this.#snapshot),
      interface: this.#snapshot.interface,
      open,
      abandoned,
      entries: this.entries.all,
      deleted: [...this.deleted],
    };
    return state as unknown as Json;
  }
}

/**
 * Reads the content of a store.
 *
 * @param stored - the state and the records of the store
 * @param given - the snapshot of the host. An empty store starts with the configuration of this snapshot. Values that
 *   belong to the process, such as the version of the gateway, are always taken from this snapshot
 * @returns the state, with the number of lives before the next
 * @throws Error if this version cannot read the content
 * @internal
 */
export function loadState(
  { state, records }: Pick<StoredHistory, 'state' | 'records'>,
  given: Snapshot,
): JournalState {
  if (isEmpty({ state, records }))
    return new JournalState(configured(given, { ...given, ...storedOf(given) }));
  const stored = parseState(state);
  const { open, abandoned, entries, deleted } = stored;
  const loaded = new JournalState(configured(given, stored), {
    unsettled: deepFreeze({ open, abandoned }),
    entries: new Entries(entries, { open: open.map(({ intent }) => intent.command) }),
    deleted,
  });
  for (const record of records) takeRecord(loaded, parseRecord(record));
  const { unsettled, snapshot } = loaded;
  const secretParameters = storedSecretParameters(snapshot, unsettled.events);
  const restored = Object.freeze({
    ...snapshot,
    // The events of an earlier life, such as a flush of the logs, say nothing about this process.
    ...processOf(given),
    ...(secretParameters.length === 0 ? {} : { secretParameters }),
    // The events of the last settlement have made a later revision than that of its record.
    revision: loaded.revision + 1,
  });
  return new JournalState(restored, {
    unsettled: deepFreeze({ open: unsettled.open, abandoned: unsettled.abandoned }),
    entries: loaded.entries.without(secretParameters),
    deleted: loaded.deleted,
    earlierLives: stored.earlierLives + 1,
  });
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

/** A snapshot without its sessions, which no store keeps. @internal */
export function withoutSessions(snapshot: Snapshot): Snapshot {
  return Object.freeze({ ...snapshot, sessions: IndexedSessionTable.create(new Map(), new Map()) });
}

/** What a store keeps of a snapshot besides the mode and the revision. @internal */
export function storedOf(snapshot: Snapshot): Pick<State, 'document' | 'births'> {
  return { document: toConfiguration(snapshot), births: snapshot.births.toJSON() };
}

/**
 * The snapshot of a stored document and mode, with everything that belongs to the process from the given snapshot.
 *
 * @internal
 */
export function configured(
  given: Snapshot,
  {
    document,
    interface: own,
    births,
    revision,
  }: Pick<State, 'document' | 'interface' | 'births' | 'revision'>,
): Snapshot {
  const configuration = createSnapshot(document);
  return Object.freeze({
    ...configuration,
    ...processOf(given),
    interface: deepFreeze(own),
    births: BirthTable.from(births),
    revision,
  });
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
}: Snapshot): Pick<
  Snapshot,
  'epoch' | 'secretParameters' | 'gateway' | 'logs' | 'threads' | 'tasks' | 'modules'
> {
  const declared = secretParameters === undefined ? {} : { secretParameters };
  return { epoch, ...declared, gateway, logs, threads, tasks, modules };
}

function parseState(state: Json | undefined): State {
  if (state === undefined) throw unreadable('records without a state before them');
  const { format } = asObject(state);
  const what = `a state of format ${JSON.stringify(format)}`;
  if (isEarlier(format, presentFormat)) throw outdated(`The store contains ${what}`);
  if (format !== presentFormat) throw unreadable(what);
  if (!stateShape.safeParse(state).success)
    throw unreadable('a state in which a member is missing or has the wrong type');
  return state as unknown as State;
}

function parseRecord(record: Json): JournalRecord {
  const { type = null } = asObject(record);
  if (typeof type !== 'string' || !Object.hasOwn(recordShapes, type))
    throw unreadable(`a record of the unknown type ${JSON.stringify(type)}`);
  if (hasEarlierForm(asObject(record))) throw outdated(`The store contains a record of type "${type}"`);
  if (!recordShapes[type as JournalRecord['type']].safeParse(record).success)
    throw unreadable(`a record of type "${type}" in which a member is missing, unknown or of the wrong type`);
  return record as unknown as JournalRecord;
}

function takeRecord(loaded: JournalState, record: JournalRecord): void {
  // Events become part of the snapshot. Intents are not frozen here: most of them are settled by a later record, and
  // freezing them would double the time.
  if (record.type === 'settlement') deepFreeze(record.events);
  try {
    loaded.take(record);
  } catch (error) {
    throw unreadable(`a record of type "${record.type}" that does not fit the state before it`, error);
  }
}

/** Whether a format is of a version before 0.1. @internal */
export function isEarlier(written: unknown, present: number): boolean {
  return typeof written === 'number' && written > 0 && written < present;
}

/** The error for content of a store that a version before 0.1 has written. The content stays as it is. @internal */
export function outdated(what: string): Error {
  return new Error(
    `${what}, ${madeBefore}, and no later version reads it. Start with the gateway document and an empty store.`,
  );
}

function unreadable(what: string, cause?: unknown): Error {
  return new Error(
    `The store contains ${what}, which this version cannot read. Start the version that wrote the store, or restore a ` +
      'backup.',
    { cause },
  );
}
