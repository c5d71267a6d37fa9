/**
 * The state of a fleet: the records that the nodes share, and the state that these lead to.
 *
 * The fold is the same at every node, so the state at a position is the same at every node. Facts about one gateway are
 * not in it: sessions, what a monitor sees, and what has failed.
 */
import * as z from 'zod/mini';

import { canonicalText } from '../core/digest.ts';
import { deepFreeze, type Json } from '../json/value.ts';
import type { StoredHistory } from '../ports/port.ts';
import type { Entry } from '../resources/history.ts';
import { foldKnown, type AdminEvent } from '../resources/index.ts';
import { interfaceShape } from '../resources/mode.ts';
import { Entries, entryShape } from '../runtime/journal/entries.ts';
import {
  birthsShape,
  configured,
  isEarlier,
  isEmpty,
  outdated,
  storedOf,
} from '../runtime/journal/journal-state.ts';
import { intentMembers, isWhole, natural, settlementMembers, type Open } from '../runtime/journal/record.ts';
import { storedSecretParameters } from '../runtime/journal/stored-secret.ts';
import { Unsettled, type UnsettledCommands } from '../runtime/journal/unsettled.ts';
import type { GatewayDocument } from '../resources/document.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { NodeOutdated } from './refusal.ts';

/**
 * The format of records and states. A version with a new kind of record, event or setting has a new format, and says in
 * its announcements which one it reads: a node cannot follow what it cannot read.
 *
 * @internal
 */
export const format = 3;

const formatShape = z.literal(format);

const head = {
  format: formatShape,
  /** The node that was asked for the change. */
  node: z.string(),
  /** The life of the process that has written the record. */
  life: z.string(),
  command: z.string(),
  resources: z.readonly(z.array(z.string())),
};
/** The principal who has sent the command, for auditors who read the log as a table. */
const actor = z.exactOptional(z.string());

/** A node is about to ask its gateway. No other node uses the resources until the command has ended. */
const intentShape = z.object({ ...head, actor, ...intentMembers }).check(z.refine(isWhole));

/** A command, or a part of one, has ended. */
const settlementShape = z.object({
  ...head,
  actor,
  ...settlementMembers,
  /**
   * `abandoned` if an administrator has abandoned the command, or another node has, because its node was silent: the
   * node then makes the resources as they are shown. `forgotten` if the node will not come back.
   */
  why: z.exactOptional(z.enum(['abandoned', 'forgotten'])),
});

/** The number of a life: when it began by the clock of its node, or one more than the last number if that is higher. */
const lifeNumber = natural;

/** A life: a process of a node has begun. From here on, no earlier process of the node writes. */
const lifeShape = z.object({
  ...head,
  type: z.literal('life'),
  number: lifeNumber,
  /** The names of secret parameters that the process declares. They are secret at every node from here on. */
  secretParameters: z.array(z.string()),
});

/** A node will not come back: the fleet no longer keeps its last life. */
const forgottenShape = z.object({ ...head, type: z.literal('forgotten') });

const recordShape = z.discriminatedUnion('type', [intentShape, settlementShape, lifeShape, forgottenShape]);

/** A record of the log. The format is public API. @internal */
export type SharedRecord = z.infer<typeof recordShape>;

/** A command of a node without an end. @internal */
export type SharedCommand = Open<z.infer<typeof intentShape>>;

/** Whether a value has a list of services, if any. `createSnapshot` checks everything else. */
function isDocument(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && (!('services' in value) || Array.isArray(value.services))
  );
}

const nodeLifeShape = z.object({ node: z.string(), life: z.string(), number: lifeNumber });

/** One process of a node, from its opening to its end. */
type NodeLife = Readonly<z.infer<typeof nodeLifeShape>>;

const commandShape = z.object({
  intent: intentShape,
  settled: natural,
  done: z.optional(settlementMembers.events),
});
const stateShape = z.object({
  format: formatShape,
  revision: natural,
  document: z.custom<GatewayDocument>(isDocument),
  interface: interfaceShape,
  births: birthsShape,
  open: z.array(commandShape),
  abandoned: z.array(commandShape),
  /** The last commands that have ended by themselves: a node may not know yet that its last record was kept. */
  ended: z.array(z.string()),
  /** The number of the last life. */
  begun: natural,
  /** The last life of each node. */
  lives: z.array(nodeLifeShape),
  /** The names of secret parameters, as `nameKey` folds them. */
  secretParameters: z.array(z.string()),
  /** The settled commands. */
  entries: z.array(entryShape),
});

type SharedState = z.infer<typeof stateShape>;

/**
 * The number of ended commands that are kept. Each node has at most one unanswered call, of the records of one turn.
 */
const mostEnded = 1000;

/** What a {@link FleetState} has besides the configuration. */
interface FleetStateParts
  extends
    Partial<UnsettledCommands<SharedCommand['intent']>>,
    Partial<Pick<SharedState, 'ended' | 'begun' | 'lives'>> {
  readonly entries?: readonly Entry[];
}

/** The state that the records lead to. @internal */
export class FleetState {
  readonly #unsettled: Unsettled<SharedCommand['intent']>;
  #snapshot: Snapshot;
  readonly #ended: Set<string>;
  #lastLifeNumber: number;
  readonly #lives: Map<string, NodeLife>;
  #entries: Entries;

  /**
   * @param snapshot - the configuration; its revision is that of the fleet
   */
  constructor(
    snapshot: Snapshot,
    { ended = [], begun: lastLifeNumber = 0, lives = [], entries, ...unsettled }: FleetStateParts = {},
  ) {
    this.#entries = new Entries(entries, { open: unsettled.open?.map(({ intent }) => intent.command) ?? [] });
    this.#lastLifeNumber = lastLifeNumber;
    this.#lives = new Map(lives.map((each) => [each.node, each]));
    this.#snapshot = snapshot;
    this.#ended = new Set(ended);
    this.#unsettled = new Unsettled(unsettled);
  }

  /** What the fleet has: the configuration that every node follows. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  get entries(): Entries {
    return this.#entries;
  }

  /** Whether a command has ended by itself, not long ago. */
  hasEnded(command: string): boolean {
    return this.#ended.has(command);
  }

  /** Whether this state goes on from what a node had read before. After very many commands, that cannot be told. */
  goesOnFrom(before: FleetState): boolean {
    const last = [...before.#ended].at(-1);
    const hasLast = last === undefined || this.#ended.has(last) || this.#ended.size >= mostEnded;
    return hasLast && this.#snapshot.revision >= before.#snapshot.revision;
  }

  /** The commands without an end. Only the fold changes them. */
  get unsettled(): Pick<Unsettled<SharedCommand['intent']>, 'open' | 'abandoned' | 'isOpen' | 'isAbandoned'> {
    return this.#unsettled;
  }

  /** The number of the last life: a later life has a higher one, even if the earlier node was forgotten. */
  get lastLifeNumber(): number {
    return this.#lastLifeNumber;
  }

  /** The last life of a node; `undefined` if no process of the node has begun, or the node was forgotten. */
  lifeOf(node: string): NodeLife | undefined {
    return this.#lives.get(node);
  }

  take(record: SharedRecord): void {
    switch (record.type) {
      case 'life':
        this.#takeLife(record);
        return;
      case 'forgotten':
        this.#lives.delete(record.node);
        return;
      case 'intent':
        this.#unsettled.begin(record);
        return;
      case 'settlement':
        this.#settle(record);
    }
  }

  #takeLife({ node, life, number, secretParameters }: SharedRecord & { type: 'life' }): void {
    this.#lastLifeNumber = Math.max(this.#lastLifeNumber, number);
    this.#lives.set(node, { node, life, number });
    this.declare(secretParameters);
  }

  /** Makes the parameters with these names secret. */
  declare(names: readonly string[]): void {
    const { secretParameters = [] } = this.#snapshot;
    const all = Object.freeze([...new Set([...secretParameters, ...names])].toSorted());
    if (all.length === secretParameters.length) return;
    this.#snapshot = Object.freeze({ ...this.#snapshot, secretParameters: all });
    this.#entries = this.#entries.without(all);
  }

  /**
   * Makes every parameter secret of which there is a sealed value.
   *
   * @throws Error if there is the plain text of a secret parameter
   */
  assertSealed(): void {
    this.declare(storedSecretParameters(this.#snapshot, this.#unsettled.events));
  }

  #settle(record: SharedRecord & { type: 'settlement' }): void {
    if (record.events.length > 0) this.#fold(record);
    if (record.last || record.why === 'abandoned') this.#entries.end(record.command);
    if (record.why === 'abandoned') return this.#unsettled.abandon(record.command);
    this.#unsettled.settle(record);
    if (record.last && record.why === undefined) this.#end(record.command);
  }

  #end(command: string): void {
    this.#ended.add(command);
    const [oldest] = this.#ended;
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** Folds the events of a settlement: one revision, also if they change nothing. */
  #fold({ events: given, command }: Pick<SharedRecord & { type: 'settlement' }, 'events' | 'command'>): void {
    const before = this.#snapshot;
    const next = folded(before, given);
    this.#snapshot = next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next;
    this.#entries.take({ command, events: given, revision: this.#snapshot.revision });
  }

  /** The configuration as text. It is the same at every node at the same position. */
  configuration(): string {
    const { revision, interface: own } = this.#snapshot;
    // A node that has read a state has the members of some objects in another order than one that has folded the
    // records.
    return canonicalText({ revision, interface: own, ...storedOf(this.#snapshot) } as unknown as Json);
  }

  /** Gives the compacted form of all records so far. */
  toState(): Json {
    const { revision, interface: own } = this.#snapshot;
    const state: SharedState = {
      format,
      revision,
      ...storedOf(this.#snapshot),
      interface: own,
      open: [...this.#unsettled.open],
      abandoned: [...this.#unsettled.abandoned],
      ended: [...this.#ended],
      begun: this.#lastLifeNumber,
      lives: [...this.#lives.values()],
      secretParameters: [...(this.#snapshot.secretParameters ?? [])],
      entries: [...this.#entries.all] as SharedState['entries'],
    };
    return state as unknown as Json;
  }
}

/**
 * Reads the content of a shared store.
 *
 * @param stored - the content
 * @param given - the snapshot of the host: the configuration of an empty store, and everything that belongs to this
 *   node
 * @throws NodeOutdated for a later format; Error if nothing can read the content
 * @internal
 */
export function loadFleetState(
  { state, records }: Pick<StoredHistory, 'state' | 'records'>,
  given: Snapshot,
): FleetState {
  if (isEmpty({ state, records })) return new FleetState(firstConfiguration(given));
  const read = z.safeParse(stateShape, state);
  if (!read.success) throw unreadable('a state', state);
  const { secretParameters, ...rest } = deepFreeze(read.data);
  const fleet = new FleetState(configured(given, rest), rest);
  fleet.declare(secretParameters);
  for (const record of records) fleet.take(parseRecord(record));
  fleet.assertSealed();
  return fleet;
}

/**
 * Reads a record.
 *
 * @throws NodeOutdated for a later format; Error if nothing can read the record
 * @internal
 */
export function parseRecord(record: Json): SharedRecord {
  const read = z.safeParse(recordShape, record);
  if (!read.success) throw unreadable('a record', record);
  return read.data;
}

/** The process that writes a record. @internal */
export interface Writing {
  readonly node: string;
  readonly life: string;
}

/** The members that every record has. @internal */
export function headOf({ node, life }: Writing, command: string, resources: readonly string[] = []) {
  return { format, node, life, command, resources } as const;
}

/** The record of the life of a process. @internal */
export function lifeRecord(
  writing: Writing,
  number: number,
  secretParameters: readonly string[],
): SharedRecord & { type: 'life' } {
  const head = headOf(writing, `life ${writing.life}`);
  return { ...head, type: 'life', number, secretParameters: [...secretParameters] };
}

/** The record with which a node takes another one out. @internal */
export function forgottenRecord(node: string, { life }: Writing): SharedRecord {
  return { ...headOf({ node, life }, `forget ${node}`), type: 'forgotten' };
}

/**
 * The record with which a command is abandoned, or ends with a node that is forgotten: its resources are free. The
 * command stays on the list of its node until the gateway is as it is shown.
 *
 * @internal
 */
export function endRecord(
  { intent }: SharedCommand,
  { life }: Writing,
  why: 'abandoned' | 'forgotten',
): SharedRecord {
  const { node, command, resources } = intent;
  return { ...headOf({ node, life }, command, resources), type: 'settlement', events: [], last: true, why };
}

/** The configuration of a fleet whose store is empty: that of the host. */
function firstConfiguration(given: Snapshot): Snapshot {
  return configured(given, { ...given, ...storedOf(given), revision: 0 });
}

/** @throws Error if the events do not fit the configuration before them */
function folded(before: Snapshot, given: readonly AdminEvent[]): Snapshot {
  try {
    return foldKnown(before, deepFreeze(given));
  } catch (cause) {
    throw new Error(
      'The shared store contains a record that does not fit the configuration before it. Restore a backup.',
      { cause },
    );
  }
}

function unreadable(what: string, content: Json | undefined): Error {
  const written = (content as { readonly format?: Json } | null | undefined)?.format;
  if (typeof written === 'number' && written > format) return new NodeOutdated(what, written, format);
  if (isEarlier(written, format))
    return outdated(`The shared store contains ${what} of format ${JSON.stringify(written)}`);
  return new Error(
    `The shared store contains ${what} that this version cannot read. Update this node, or restore a backup.`,
  );
}
