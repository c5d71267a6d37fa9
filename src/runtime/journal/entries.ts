/**
 * Entries: the history, one entry for each settled command that has changed something.
 *
 * An entry stays while it is one of the last 1,000, or has the last change of a member of a resource that exists. So
 * the newest entry about a member tells why the member is as it is. If all entries together are too long for a store,
 * the oldest ones go. Sessions, reports and log-ins never get in.
 */
import * as z from 'zod/mini';

import { beginFold, type EventBase } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import { wholeUpdate } from '../../core/update.ts';
import { difference } from '../../json/diff.ts';
import type { Operation } from '../../json/patch.ts';
import {
  deepFreeze,
  isArray,
  isObject,
  sameJson,
  sizeOf,
  type Json,
  type JsonObject,
} from '../../json/value.ts';
import type { Entry, EntryEvent } from '../../resources/history.ts';
import { eventTable, namedResources, type AdminEvent } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { find, type ConfiguredEntity } from '../../snapshot/state.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { withoutNamed } from '../audit/change.ts';
import {
  changesState,
  isDeletion,
  keyIn,
  kindOf,
  membersOf,
  netOf,
  ownerKey,
  subjectKey,
} from './entry-event.ts';
import { natural } from './record.ts';
import { Standing } from './standing.ts';

/** The shape of an entry in the state of a store. @internal */
export const entryShape = z.object({
  id: z.string(),
  at: z.number(),
  actor: z.exactOptional(z.string()),
  undoes: z.exactOptional(z.string()),
  revision: natural,
  events: z.readonly(z.array(z.looseObject({ type: z.string(), resource: z.string() }))),
});

/** What an entry is made of. @internal */
export interface Settlement {
  /** Id of the command. */
  readonly command: string;
  readonly events: readonly AdminEvent[];
  /** What is kept of each event. */
  readonly kept: readonly EntryEvent[];
  /** The revision that the change has made. */
  readonly revision: number;
}

/** What bounds entries, and which of them are not complete. */
interface EntriesOptions {
  /** The number of last entries that stay. */
  readonly most?: number;
  /** The largest length of all entries together, in characters of JSON; the last entry always stays. */
  readonly mostCharacters?: number;
  /** The ids of the commands that have not ended. */
  readonly open?: Iterable<string>;
}

/** The number of last entries that stay, whatever they have changed. */
const mostRecent = 1000;

/**
 * The largest length of all entries together, in characters of JSON. A store writes them at each compaction, and a file
 * store refuses a state of 256 MiB.
 */
const mostCharacters = 16 * 1024 * 1024;

/** Keeps the entries. @internal */
export class Entries {
  readonly #most: number;
  readonly #mostCharacters: number;
  /** The length of all entries, in characters of JSON. */
  #characters = 0;
  /** The entries that stay for the last change of a member, the oldest one first. */
  readonly #kept = new Map<string, Entry>();
  /** The last entries, the oldest one first. */
  readonly #recent = new Map<string, Entry>();
  /**
   * The entry with the last change of each member, by owner (a service owns its listeners), and by place and member.
   */
  readonly #last = new Map<string, Map<string, string>>();
  /** The number of members of which an entry has the last change. */
  readonly #uses = new Map<string, number>();
  /**
   * The events of commands that have not ended: the gateway can still refuse the rest, and everything is taken back.
   */
  readonly #open = new Map<string, readonly EntryEvent[]>();
  /** The later parts of these commands, until somebody reads the entry: it is made anew once, and not at each part. */
  readonly #unread = new Map<string, Omit<Entry, 'events'> & { readonly events: EntryEvent[] }>();
  /** Made when it is asked for, until an entry changes. */
  #standing: Standing | undefined;

  /** @param entries - the entries to begin with, the oldest one first */
  constructor(entries: readonly Entry[] = [], options: EntriesOptions = {}) {
    const { most = mostRecent, mostCharacters: characters = mostCharacters, open = [] } = options;
    this.#most = most;
    this.#mostCharacters = characters;
    const isOpen = new Set(open);
    for (const entry of deepFreeze(entries)) {
      this.#add(entry, entry.events);
      if (!isOpen.has(entry.id)) this.end(entry.id);
    }
  }

  /** Every entry, the oldest one first. */
  get all(): readonly Entry[] {
    for (const id of this.#unread.keys()) this.#catchUp(id);
    return [...this.#kept.values(), ...this.#recent.values()];
  }

  /**
   * The entries without the plain text of parameters that are secret by now. An entry that lacks a value is not undone.
   */
  without(secretParameters: readonly string[]): Entries {
    if (secretParameters.length === 0) return this;
    const isSecret = isSecretIn({ secretParameters });
    const clean = (event: EntryEvent): EntryEvent => withoutPlain(event, isSecret);
    return new Entries(
      this.all.map((entry) => ({ ...entry, events: entry.events.map(clean) })),
      { most: this.#most, mostCharacters: this.#mostCharacters, open: this.#open.keys() },
    );
  }

  /** Whether an entry is one of the last: every later entry is kept then. */
  isRecent(id: string): boolean {
    return this.#recent.has(id);
  }

  find(id: string): Entry | undefined {
    this.#catchUp(id);
    return this.#stored(id);
  }

  /** What the entries of ended commands say about each other. */
  get standing(): Standing {
    this.#standing ??= new Standing(
      this.all
        .filter(({ id }) => !this.#open.has(id))
        .map((entry) => ({ entry, changes: netOf(entry.events).filter(({ already }) => already !== true) })),
    );
    return this.#standing;
  }

  /** Takes in what was settled. A command that settles in parts has one entry. */
  take({ command: id, events: settled, kept, revision }: Settlement): void {
    const newest = settled.findLast(isChange);
    if (newest === undefined) return;
    const { at, actor, undoes } = newest;
    const named = { ...(actor === undefined ? {} : { actor }), ...(undoes === undefined ? {} : { undoes }) };
    const events = this.#unread.get(id)?.events ?? [];
    for (const event of kept) if (isChange(event)) events.push(event);
    this.#unread.set(id, { id, at, ...named, revision, events });
    // The first part gives the entry its place.
    if (!this.#open.has(id)) this.#catchUp(id);
  }

  /**
   * A command has ended, so what it has changed and not taken back is the last change.
   *
   * @returns what the command has changed
   */
  end(id: string): readonly EntryEvent[] {
    this.#catchUp(id);
    const changes = netOf(this.#open.get(id) ?? []);
    this.#open.delete(id);
    this.#standing = undefined;
    for (const event of changes)
      if (!isDeletion(event)) for (const member of membersOf(event)) this.#note(event, member, id);
      else if (!event.already) this.#forget(event);
    if (!this.#uses.has(id)) this.#drop(this.#kept, id);
    return changes;
  }

  #stored(id: string): Entry | undefined {
    return this.#recent.get(id) ?? this.#kept.get(id);
  }

  #catchUp(id: string): void {
    const unread = this.#unread.get(id);
    if (unread === undefined) return;
    this.#unread.delete(id);
    const { events: own, ...head } = unread;
    const before = this.#stored(id)?.events ?? [];
    this.#add(deepFreeze({ ...head, events: joined(before.concat(own)) }), own);
  }

  #add(entry: Entry, changes: readonly EntryEvent[]): void {
    const { id } = entry;
    this.#open.set(id, (this.#open.get(id) ?? []).concat(changes));
    this.#put(this.#kept.has(id) ? this.#kept : this.#recent, entry);
    const [oldest] = this.#recent.values();
    if (this.#recent.size > this.#most && oldest !== undefined) {
      this.#drop(this.#recent, oldest.id);
      if (this.#uses.has(oldest.id) || this.#open.has(oldest.id)) this.#put(this.#kept, oldest);
    }
    this.#shorten();
  }

  /** Drops the oldest entries while all together are too long. */
  #shorten(): void {
    for (const entries of [this.#kept, this.#recent])
      for (const { id } of entries.values()) {
        if (this.#characters <= this.#mostCharacters || this.#kept.size + this.#recent.size === 1) return;
        this.#drop(entries, id);
      }
  }

  #put(entries: Map<string, Entry>, entry: Entry): void {
    this.#standing = undefined;
    this.#characters += lengthOf(entry) - lengthOf(entries.get(entry.id));
    entries.set(entry.id, entry);
  }

  #drop(entries: Map<string, Entry>, id: string): void {
    this.#standing = undefined;
    this.#characters -= lengthOf(entries.get(id));
    entries.delete(id);
  }

  #note(event: EntryEvent, member: string, id: string): void {
    const [owner, place] = [ownerKey(event), `${subjectKey(event)} ${member}`];
    const members = this.#last.get(owner) ?? new Map<string, string>();
    const before = members.get(place);
    this.#last.set(owner, members.set(place, id));
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    if (before !== undefined) this.#release(before);
  }

  /** The members of a resource that is gone have no reason any more. */
  #forget(event: EntryEvent): void {
    const [link, owner] = [linkKey(event.resource), ownerKey(event)];
    const members = this.#last.get(owner) ?? new Map<string, string>();
    const gone = [...members].filter(
      ([place]) => link === owner || place.startsWith(`${subjectKey(event)} `),
    );
    for (const [place, reason] of gone) {
      members.delete(place);
      this.#release(reason);
    }
    if (members.size === 0) this.#last.delete(owner);
  }

  /** An entry is the reason of a member less. */
  #release(id: string): void {
    const uses = (this.#uses.get(id) ?? 0) - 1;
    if (uses > 0) this.#uses.set(id, uses);
    else {
      this.#uses.delete(id);
      this.#drop(this.#kept, id);
    }
  }
}

/** The length of an entry, in characters of JSON. */
function lengthOf(entry: Entry | undefined): number {
  if (entry === undefined) return 0;
  const own = sizeOf({ ...entry, events: [] }, Infinity);
  return entry.events.reduce((sum, event) => sum + lengthOfEvent(event), own);
}

/** The lengths of events: each part of a command makes an entry with the events of the parts before it. */
const lengths = new WeakMap<EntryEvent, number>();

function lengthOfEvent(event: EntryEvent): number {
  const known = lengths.get(event);
  if (known !== undefined) return known;
  const length = sizeOf(event as unknown as Json, Infinity) + 1;
  lengths.set(event, length);
  return length;
}

/** The events that change nothing: a renewed hash of the same password, and a command that has failed. */
const changesNothing: ReadonlySet<string> = new Set<AdminEvent['type']>(['user.rehashed', 'command.failed']);

function isChange({ type }: Pick<EventBase, 'type'>): boolean {
  return !changesNothing.has(type);
}

/**
 * The members that are not kept: the entry has them, `inverse` has them too, or they are hashes of passwords, which
 * nobody may see.
 */
const leftOut: ReadonlySet<string> = new Set(
  ['at', 'actor', 'undoes', 'command', 'fleet', 'before', 'after', 'passwordHash'].concat(
    'sessions',
    'connections',
  ),
);

/**
 * Folds the events of a record, and gives what is kept of each.
 *
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function foldRecord(
  snapshot: Snapshot,
  events: readonly AdminEvent[],
): { readonly next: Snapshot; readonly kept: readonly EntryEvent[] } {
  const folding = beginFold(eventTable, snapshot);
  const kept = events.map((event) => {
    const before = subjectOf(event, folding.current());
    folding.apply(event);
    return keptOf(event, before, subjectOf(event, folding.current()));
  });
  return { next: folding.finish(), kept };
}

/**
 * Gives the events that change something. If a command that was abandoned settles after later ones, they can have made
 * the same change. What was closed counts with any other change: no life begins with sessions.
 *
 * @throws TypeError for an event of unknown type
 * @internal
 */
export function changesIn(snapshot: Snapshot, events: readonly AdminEvent[]): readonly AdminEvent[] {
  const folding = beginFold(eventTable, snapshot);
  const changes = new Set(
    events.filter((event) => {
      const before = configurationAt(event, folding.current());
      const isChanged = folding.apply(event);
      // The event of a flush has no configured resource to compare.
      return isChanged && (before === undefined || before !== configurationAt(event, folding.current()));
    }),
  );
  if (changes.size === 0) return [];
  return events.filter((event) => changes.has(event) || 'sessions' in event || 'connections' in event);
}

/** What is kept of an event. Of sessions and connections, their number. */
function keptOf(
  event: AdminEvent,
  before: ConfiguredEntity | undefined,
  after: ConfiguredEntity | undefined,
): EntryEvent {
  const members = Object.entries(event).filter(([name]) => !leftOut.has(name));
  const own = Object.fromEntries(members) as unknown as EntryEvent;
  if ('sessions' in event) return { ...own, count: event.sessions.length };
  if ('connections' in event) return { ...own, count: event.connections.length };
  // Not of a listener: a node of a fleet has those of its own document as well, and entries are the same at all nodes.
  if (own.definition !== undefined && before === after) return { ...own, already: true };
  if (before === undefined || after === undefined) return own;
  if (changesState(own)) return isStopped(before) === isStopped(after) ? { ...own, already: true } : own;
  return 'inverse' in event ? { ...own, inverse: inverseOf(event, before, after) } : own;
}

/**
 * The inverse of an update. If a command that was abandoned settles after later ones, other settings than its decision
 * knew were there, or came of it.
 */
function inverseOf(
  event: Extract<AdminEvent, { readonly inverse: object }>,
  present: ConfiguredEntity,
  after: ConfiguredEntity,
): readonly Operation[] {
  const { before, inverse } = event;
  if (before === present.settings && event.after === after.settings) return inverse;
  const { adoption } = namedBy.get(kindOf(event)) ?? {};
  const decided = wholeUpdate<object>(present.settings, event);
  const isAs = (thing: ConfiguredEntity, settings: object): boolean => {
    const known = adoption?.adopted(thing, { ...thing, settings });
    return known !== undefined && sameJson(known as JsonObject, thing.settings as JsonObject);
  };
  return isAs(present, decided.before) && isAs(after, decided.after)
    ? inverse
    : difference(present.settings as JsonObject, after.settings as JsonObject).inverse;
}

function isStopped(thing: ConfiguredEntity & { readonly state?: string }): boolean {
  return thing.state === 'stopped';
}

/**
 * The resource of an event in a snapshot, or the service of a listener; `undefined` if an event names none, or the
 * resource is gone.
 *
 * @internal
 */
export function subjectOf(event: EntryEvent | AdminEvent, snapshot: Snapshot): ConfiguredEntity | undefined {
  const kind = kindOf(event) === 'listener' ? 'service' : kindOf(event);
  const named = namedBy.get(kind);
  return named && find(snapshot, named, keyIn(event, kind));
}

/** The configuration of the subject of an event, as text, without its version and times. @internal */
export function configurationAt(event: EntryEvent | AdminEvent, snapshot: Snapshot): string | undefined {
  const subject = subjectOf(event, snapshot);
  return subject && JSON.stringify({ ...subject, version: 0, started: 0, startAssumed: 0 });
}

/** The named resources, by the first word of their events. */
const namedBy = new Map(namedResources.map((named) => [named.singular as string, named]));

/** The events of an entry: the parts of a teardown are one event. */
function joined(events: readonly EntryEvent[]): readonly EntryEvent[] {
  const all: EntryEvent[] = [];
  for (const event of events) {
    const { type, resource, count: more = 0 } = event;
    const isSame = (each: EntryEvent): boolean => each.type === type && each.resource === resource;
    const at = event.count === undefined ? -1 : all.findIndex(isSame);
    const before = all[at];
    if (before === undefined) all.push(event);
    else all[at] = { ...before, count: (before.count ?? 0) + more };
  }
  return all;
}

/** The maps that clients fill with parameters. Their secret entries are elsewhere, sealed. */
const openMaps: ReadonlySet<string> = new Set(
  namedResources.flatMap(({ fields }) => fields.all.flatMap(({ sealedEntriesOf }) => sealedEntriesOf ?? [])),
);

function withoutPlain(event: EntryEvent, isSecret: (name: string) => boolean): EntryEvent {
  const clean = (operations: readonly Operation[]): readonly Operation[] =>
    operations.map((operation) =>
      openMaps.has(operation.path.split('/', 2)[1] ?? '')
        ? (withoutNamed(operation as unknown as JsonObject, isSecret) as unknown as Operation)
        : operation,
    );
  const { operations, inverse, definition } = event;
  if (definition !== undefined && hasPlain(definition, isSecret)) {
    const { definition: _, ...rest } = event;
    return rest;
  }
  return {
    ...event,
    ...(operations && { operations: clean(operations) }),
    ...(inverse && { inverse: clean(inverse) }),
  };
}

/** Whether a definition, or the definition of a listener in it, has a secret parameter in plain text. */
function hasPlain(definition: Json, isSecret: (name: string) => boolean): boolean {
  if (isArray(definition)) return definition.some((each) => hasPlain(each, isSecret));
  if (!isObject(definition)) return false;
  return Object.entries(definition).some(([name, value]) =>
    openMaps.has(name) && isObject(value) ? Object.keys(value).some(isSecret) : hasPlain(value, isSecret),
  );
}
