/**
 * Standing: which entries were undone, and which later entries are in the way of an undo.
 *
 * An entry and its undo cancel each other: for an entry before both, neither has happened. For an entry between them,
 * the undo is a change.
 */
import { linkKey } from '../../core/link.ts';
import type { Entry, EntryEvent } from '../../resources/history.ts';
import { isDeletion, membersOf, ownerKey, subjectKey } from './entry-event.ts';

/** An entry whose command has ended, with what the command has changed. @internal */
export interface EndedEntry {
  readonly entry: Entry;
  /** The events that have changed something, and that the command has not taken back itself. */
  readonly changes: readonly EntryEvent[];
}

/** How entries stand to each other. @internal */
export class Standing {
  readonly #entries: readonly Entry[];
  /** The places of the entries, by id. */
  readonly #places: ReadonlyMap<string, number>;
  /** The entry that has undone another one, by the id of the other one. */
  readonly #undoes = new Map<string, Entry>();
  /** The places of the standing entries that have changed a member of a resource, the oldest one first. */
  readonly #changes = new Map<string, number[]>();
  /** The places of the standing entries that have deleted a resource, the oldest one first, by the key of the link. */
  readonly #deletions = new Map<string, number[]>();

  /** @param ended - the entries, the oldest one first */
  constructor(ended: readonly EndedEntry[]) {
    this.#entries = ended.map(({ entry }) => entry);
    this.#places = new Map(this.#entries.map(({ id }, at) => [id, at]));
    // The newest one first, because an undo can have been undone.
    for (const { entry, changes } of ended.toReversed()) {
      const { id, undoes } = entry;
      if (undoes === undefined || changes.length === 0) continue;
      if (!this.#undoes.has(id) && !this.#undoes.has(undoes)) this.#undoes.set(undoes, entry);
    }
    for (const [at, { entry, changes }] of ended.entries())
      // An entry that was undone is in the way of no undo.
      if (!this.#undoes.has(entry.id))
        for (const event of changes)
          if (isDeletion(event)) push(this.#deletions, linkKey(event.resource), at);
          else for (const member of membersOf(event)) push(this.#changes, memberKey(event, member), at);
  }

  /** The entry that has undone an entry; `undefined` if none has, or if that one was undone itself. */
  undoneBy({ id }: Pick<Entry, 'id'>): Entry | undefined {
    return this.#undoes.get(id);
  }

  /** The last standing entry that has changed a member of the resource of an event; `undefined` if none is kept. */
  lastChangeOf(event: EntryEvent, member: string): Entry | undefined {
    const at = this.#changes.get(memberKey(event, member))?.at(-1);
    return at === undefined ? undefined : this.#entries[at];
  }

  /**
   * The last entry after another one that has changed a member of the resource of an event.
   *
   * @param counts - tests whether a later entry counts; by default each one does
   */
  changeAfter(
    entry: Entry,
    event: EntryEvent,
    member: string,
    counts?: (later: Entry) => boolean,
  ): Entry | undefined {
    return this.#lastAfter(entry, this.#changes.get(memberKey(event, member)), counts);
  }

  /** The last entry after another one that has deleted the resource of an event, or the owner of the resource. */
  deletionAfter(entry: Entry, event: EntryEvent): Entry | undefined {
    const own = this.#lastAfter(entry, this.#deletions.get(linkKey(event.resource)));
    const owner = this.#lastAfter(entry, this.#deletions.get(ownerKey(event)));
    return this.#placeOf(own) > this.#placeOf(owner) ? own : owner;
  }

  #lastAfter(
    entry: Entry,
    places: readonly number[] = [],
    counts: (later: Entry) => boolean = () => true,
  ): Entry | undefined {
    const since = this.#placeOf(entry);
    const isInTheWay = (place: number): boolean => {
      const later = this.#entries[place];
      return later !== undefined && !this.#hasUndoneSince(place, since) && counts(later);
    };
    const at = places.findLast((place) => place <= since || isInTheWay(place));
    return at === undefined || at <= since ? undefined : this.#entries[at];
  }

  /** Whether the entry at a place has undone what came after an earlier place. */
  #hasUndoneSince(place: number, since: number): boolean {
    const undone = this.#entries[place]?.undoes;
    return undone !== undefined && (this.#places.get(undone) ?? -1) > since;
  }

  #placeOf(entry: Entry | undefined): number {
    return this.#places.get(entry?.id ?? '') ?? -1;
  }
}

function memberKey(event: EntryEvent, member: string): string {
  return `${subjectKey(event)} ${member}`;
}

function push(lists: Map<string, number[]>, key: string, place: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [place]);
  else list.push(place);
}
