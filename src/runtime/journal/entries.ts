/**
 * Entries: the history, one entry for each settled command that has changed something.
 *
 * An entry stays while it is one of the last 1,000, or has the last change of a member of a resource that exists. So
 * the newest entry about a member tells why the member is as it is. If all entries together are too long for a store,
 * the oldest ones go. Sessions, reports and log-ins never get in.
 */
import * as z from 'zod/mini';

import type { EventBase } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import { oncePer } from '../../core/once-per.ts';
import { hasSecret } from '../../core/secret.ts';
import type { Operation } from '../../json/patch.ts';
import { parsePointer } from '../../json/pointer.ts';
import { deepFreeze, isArray, isObject, sizeOf, type Json, type JsonObject } from '../../json/value.ts';
import type { Entry, EntryEvent } from '../../resources/history.ts';
import { namedResources, type AdminEvent } from '../../resources/index.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { entryEventOf } from './entry-fold.ts';
import { isDeletion, membersOf, netOf, ownerKey, subjectKey } from './entry-event.ts';
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
  /** The parts of these commands that came since the entry was read last. A reader makes the entry, not each part. */
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
  take({ command: id, events: settled, revision }: Settlement): void {
    const newest = settled.findLast(isChange);
    if (newest === undefined) return;
    const { at, actor, undoes } = newest;
    const named = { ...(actor === undefined ? {} : { actor }), ...(undoes === undefined ? {} : { undoes }) };
    const events = this.#unread.get(id)?.events ?? [];
    for (const event of settled) if (isChange(event)) events.push(entryEventOf(event));
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
      else this.#forget(event);
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
    this.#add(deepFreeze({ ...head, events: counted(before.concat(own)) }), own);
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
const lengthOfEvent = oncePer((event: EntryEvent) => sizeOf(event as unknown as Json, Infinity) + 1);

/** The events that change nothing: a renewed hash of the same password, and a command that has failed. */
const changesNothing: ReadonlySet<string> = new Set<AdminEvent['type']>(['user.rehashed', 'command.failed']);

function isChange({ type }: Pick<EventBase, 'type'>): boolean {
  return !changesNothing.has(type);
}

/** The events of an entry: the parts of a teardown are one event. */
function counted(events: readonly EntryEvent[]): readonly EntryEvent[] {
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

const secretiveFields = namedResources.flatMap(({ fields }) =>
  fields.all.filter(({ secretEntries }) => secretEntries !== undefined),
);

/** The maps that clients fill with parameters. */
const openMaps: ReadonlySet<string> = new Set(secretiveFields.map(({ name }) => name));

/** The members of a parameter that are secret with its name, such as the value, and not whether it is configurable. */
const secretMembers: ReadonlySet<unknown> = new Set(
  secretiveFields.map(({ secretEntries }) => secretEntries),
);

type IsPlain = (name: string, value: Json) => boolean;

function withoutPlain(event: EntryEvent, isSecret: (name: string) => boolean): EntryEvent {
  const isPlain: IsPlain = (name, value) => isSecret(name) && !hasSecret(value);
  const clean = (operations: readonly Operation[]): readonly Operation[] =>
    operations.map((operation) => withoutPlainValue(operation, isPlain));
  const { operations, from, to } = event;
  return {
    ...event,
    ...(operations && { operations: clean(operations) }),
    ...(from && { from: withoutPlainParts(from, isPlain) as JsonObject }),
    ...(to && { to: withoutPlainParts(to, isPlain) as JsonObject }),
  };
}

/** An operation without a value that is plain text. Of the value for a whole map, such entries are left out. */
function withoutPlainValue(operation: Operation, isPlain: IsPlain): Operation {
  if (!('value' in operation)) return operation;
  const { value, ...rest } = operation;
  const [map = '', name, member] = parsePointer(operation.path) ?? [];
  if (!openMaps.has(map)) return operation;
  if (name === undefined) {
    if (!isObject(value)) return operation;
    const entries = Object.entries(value).filter((entry) => !isPlain(...entry));
    return { ...operation, value: Object.fromEntries(entries) };
  }
  const isWhole = member === undefined || secretMembers.has(member);
  return isWhole && isPlain(name, value) ? (rest as Operation) : operation;
}

/** Members, also those of a listener in them, with `null` in the place of each secret parameter in plain text. */
function withoutPlainParts(members: Json, isPlain: IsPlain): Json {
  if (isArray(members)) return members.map((each) => withoutPlainParts(each, isPlain));
  if (!isObject(members)) return members;
  const part = ([name, value]: readonly [string, Json]): [string, Json] =>
    openMaps.has(name) && isObject(value)
      ? [
          name,
          Object.fromEntries(
            Object.entries(value).map((each) => [each[0], isPlain(...each) ? null : each[1]]),
          ),
        ]
      : [name, withoutPlainParts(value, isPlain)];
  return Object.fromEntries(Object.entries(members).map(part));
}
