/**
 * The ledger: reads the log of a fleet as an auditor would, and says what must never be in it. It shares nothing with
 * the nodes but the fold of events.
 */
import {
  createSnapshot,
  evolve,
  serverStatusWords,
  type AdminEvent,
  type GatewayDocument,
  type Server,
  type Snapshot,
} from 'gateway-admin-core';

import type { Step } from './shared-disk.ts';
import { contentAt } from './shown.ts';

interface Head {
  readonly node: string;
  readonly command: string;
  readonly resources: readonly string[];
  readonly events: readonly AdminEvent[];
}

interface Intent extends Head {
  readonly type: 'intent';
  readonly part: number;
}

/** A record of the log, as an auditor reads it. */
export type LogRecord =
  Intent | (Head & { readonly type: 'settlement'; readonly last: boolean; readonly why?: string });

/** What a log leads to. */
export interface Ledger {
  readonly snapshot: Snapshot;
  /** The intents without an end. */
  readonly open: ReadonlyMap<string, Intent>;
  /** The intents that others have ended. */
  readonly abandoned: ReadonlyMap<string, Intent>;
  /** How often each event was settled, by its text. */
  readonly settled: ReadonlyMap<string, number>;
  /** The actors of the settled events. */
  readonly actors: ReadonlySet<string>;
  /** The actors whose commands have taken back everything. */
  readonly undone: ReadonlySet<string>;
  /** The actors whose commands have ended with nothing. */
  readonly refused: ReadonlySet<string>;
  /** What each command was decided on. */
  readonly decidedOn: ReadonlyMap<string, Snapshot>;
  /** What must never be in a log. */
  readonly faults: readonly string[];
}

/** The read-only modes that some steps have set, in order. One step can set several. */
export function modesIn(steps: readonly Step[]): readonly boolean[] {
  const settled = steps.flatMap(recordsIn).filter(({ type }) => type === 'settlement');
  return settled
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'interface.updated' ? (event.to.read_only ?? []) : []));
}

/** The records of a step that are about commands. */
export function recordsIn({ kind, texts }: Step): readonly LogRecord[] {
  if (kind !== 'append') return [];
  const records = texts.map((text) => JSON.parse(text) as LogRecord | { readonly type: 'life' });
  return records.filter((record) => record.type === 'intent' || record.type === 'settlement');
}

/** The text of an event, without its place. */
export function textOf(event: AdminEvent): string {
  const { fleet: _place, ...rest } = event;
  return JSON.stringify(rest);
}

/** Reads a log from its first state on. */
export function readLedger(steps: readonly Step[]): LedgerReader {
  const reader = new LedgerReader(begunBy(steps[0]));
  for (const step of steps) for (const record of recordsIn(step)) reader.take(record);
  return reader;
}

/** The intents of commands that have not ended, or that others have ended. */
export function unsettledIn(steps: readonly Step[]): readonly Intent[] {
  const unsettled = new Map<string, Intent>();
  for (const record of steps.flatMap(recordsIn)) {
    if (record.type === 'intent') unsettled.set(record.command, record);
    else if (record.last && record.why === undefined) unsettled.delete(record.command);
  }
  return [...unsettled.values()];
}

const begun = new Map<string, Snapshot>();

function begunBy(first: Step | undefined): Snapshot {
  const [text = '{}'] = first?.texts ?? [];
  const { document } = JSON.parse(text) as { document: GatewayDocument };
  const snapshot = begun.get(text) ?? createSnapshot(document);
  begun.set(text, snapshot);
  return snapshot;
}

/** Reads a log record by record. */
export class LedgerReader implements Ledger {
  readonly open = new Map<string, Intent>();
  readonly abandoned = new Map<string, Intent>();
  readonly settled = new Map<string, number>();
  readonly actors = new Set<string>();
  readonly undone = new Set<string>();
  readonly refused = new Set<string>();
  readonly decidedOn = new Map<string, Snapshot>();
  readonly faults: string[] = [];
  /** The commands that have begun; not those that change nothing but the log. */
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  /** The resources that commands have changed, and their actors. */
  readonly #changed = new Map<string, { readonly links: Set<string>; readonly actor: string }>();
  /** The parts of commands that have settled. */
  readonly #parts = new Set<string>();
  snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  take(record: LogRecord): void {
    if (record.type === 'intent') this.#begin(record);
    else this.#settle(record);
  }

  #begin(intent: Intent): void {
    const { command } = intent;
    this.#lookForHolders(intent);
    if (this.#ended.has(command)) this.faults.push(`${command} begins after its end`);
    if (!this.#begun.has(command)) this.decidedOn.set(command, this.snapshot);
    this.#begun.add(command);
    this.open.set(command, intent);
  }

  #lookForHolders({ command, resources }: Head): void {
    for (const other of this.open.values())
      if (other.command !== command && other.resources.some((link) => resources.includes(link)))
        this.faults.push(`${command} begins on ${resources.join()}, which ${other.command} holds`);
  }

  #settle(record: Extract<LogRecord, { readonly type: 'settlement' }>): void {
    const { command, events, last, why } = record;
    const intent = this.open.get(command);
    if (events.length > 0) {
      if (this.#ended.has(command)) this.faults.push(`${command} changes something after its end`);
      else if (!this.#begun.has(command)) this.#change(record);
      this.#finishPart(command, intent);
      let folding = this.snapshot;
      for (const event of events) {
        this.#lookAt(command, folding, event);
        folding = evolve(folding, [event]);
      }
      const last = this.snapshot.revision;
      const revision = last + stepOf(command, last);
      const before = Object.freeze({ ...this.snapshot, revision });
      const next = evolve(before, events);
      this.snapshot = next === before ? Object.freeze({ ...next, revision: revision + 1 }) : next;
    }
    if (!last) return;
    this.#lookForUndone(command);
    if (events.length === 0) for (const { actor } of intent?.events ?? []) this.refused.add(actor ?? '');
    this.#ended.add(command);
    this.open.delete(command);
    if (why === undefined) this.abandoned.delete(command);
    else if (intent !== undefined) this.abandoned.set(command, intent);
  }

  #lookForUndone(command: string): void {
    const { links = [], actor = '' } = this.#changed.get(command) ?? {};
    const before = this.decidedOn.get(command);
    if (before === undefined) return;
    const isUndone = [...links].every((link) => contentAt(before, link) === contentAt(this.snapshot, link));
    if (isUndone) this.undone.add(actor);
  }

  #finishPart(command: string, intent: Intent | undefined): void {
    const part = `${command} ${String(intent?.part ?? 0)}`;
    if (this.#parts.has(part)) this.faults.push(`${command} settles a part twice`);
    this.#parts.add(part);
  }

  /** A change that asks no gateway has no intent. */
  #change(record: Head): void {
    this.#lookForHolders(record);
    if (!record.events.every(({ type }) => /^(?:user|interface)\./.test(type)))
      this.faults.push(`${record.command} changes ${record.resources.join()} without an intent`);
    this.decidedOn.set(record.command, this.snapshot);
  }

  #lookAt(command: string, before: Snapshot, event: AdminEvent): void {
    const text = textOf(event);
    this.settled.set(text, (this.settled.get(text) ?? 0) + 1);
    const { actor, resource } = event;
    if (actor !== undefined) this.actors.add(actor);
    const changed = this.#changed.get(command) ?? { links: new Set(), actor: actor ?? '' };
    changed.links.add(resource);
    this.#changed.set(command, changed);
    const objection = objectionTo(before, event);
    if (objection !== undefined) this.faults.push(`${command} settles ${event.type}, but ${objection}`);
  }
}

/** What an update changes: the members that differ. */
type Update = Readonly<Record<'from' | 'to', Readonly<Record<string, unknown>>>>;

/** Says if an event cannot have been decided on a snapshot. */
function objectionTo(snapshot: Snapshot, event: AdminEvent): string | undefined {
  switch (event.type) {
    case 'service.started':
    case 'service.stopped':
      return stateObjection(snapshot.services.find(event.service)?.state, event.type);
    case 'monitor.started':
    case 'monitor.stopped':
      return stateObjection(snapshot.monitors.find(event.monitor)?.state, event.type);
    case 'service.updated':
      return updateObjection(snapshot.services.find(event.service)?.settings, event);
    case 'monitor.updated':
      return updateObjection(snapshot.monitors.find(event.monitor)?.settings, event);
    case 'server.updated':
      return updateObjection(definedServer(snapshot.servers.find(event.server)), event);
    case 'filter.updated':
      return updateObjection(snapshot.filters.find(event.filter)?.settings, event);
    case 'interface.updated':
      return updateObjection(snapshot.interface.settings, event);
    case 'service.created':
    case 'server.created':
    case 'monitor.created':
    case 'filter.created':
      return isThere(snapshot, event) ? 'the resource exists' : undefined;
    case 'service.deleted':
    case 'server.deleted':
    case 'monitor.deleted':
    case 'filter.deleted':
      return isThere(snapshot, event) ? undefined : 'there is no such resource';
    case 'user.created':
      return snapshot.users.find(event.user) === undefined ? undefined : 'the user exists';
    case 'user.updated':
    case 'user.deleted':
      return snapshot.users.find(event.user) === undefined ? 'there is no such user' : undefined;
    default:
      return undefined;
  }
}

function isThere(snapshot: Snapshot, { resource }: AdminEvent): boolean {
  return contentAt(snapshot, resource) !== undefined;
}

function stateObjection(state: string | undefined, type: string): string | undefined {
  return type.endsWith('.started') === (state === 'stopped') ? undefined : `the state is ${String(state)}`;
}

/** The settings of a server, under the names that an update has. */
function definedServer(server: Server | undefined): object | undefined {
  return server && { ...server.settings, status: server.settings.state };
}

function updateObjection(settings: object | undefined, event: object): string | undefined {
  const { from, to } = event as Update;
  const present = (settings ?? {}) as Readonly<Record<string, unknown>>;
  const stale = Object.keys({ ...from, ...to }).find((member) => {
    const [was, is, then] = [from[member], present[member], to[member]].map(comparable);
    return was !== then && was !== is;
  });
  return stale === undefined
    ? undefined
    : `${stale} is ${JSON.stringify(present[stale])}, not ${JSON.stringify(from[stale])}`;
}

/** Of the words of a status, only that of the administrator is shared. */
function comparable(value: unknown): string {
  const isStatus = Array.isArray(value) && value.every((word) => statusWords.has(String(word)));
  return JSON.stringify(isStatus ? value.includes('maintenance') : value);
}

const statusWords: ReadonlySet<string> = new Set(serverStatusWords);

/**
 * By how much a command raises the revision of the fleet. The formula is that of the stored format, which nodes of every
 * version share: FNV-1a over the id of the command, with the last revision as the seed, and its bits mixed at the end.
 */
function stepOf(command: string, last: number): number {
  let hash = 0x811c9dc5 ^ last;
  for (let at = 0; at < command.length; at += 1) hash = Math.imul(hash ^ command.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) & 0xffff;
}
