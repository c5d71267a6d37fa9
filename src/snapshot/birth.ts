/**
 * Births: which command has made what there is. A name can be used again, and a resource can be made again as it was; a
 * birth comes once. Births are kept beside the definitions, and no document has them. In the tag
 * of a user, the birth of the password stands for the password.
 */
import type { EventBase } from '../core/decision.ts';
import { inspectList, inspectMethod } from '../core/inspection.ts';
import { KeyMap } from '../core/key-map.ts';
import { linkKey, ownerOf } from '../core/link.ts';

type StoredBirths = Readonly<Record<string, string>>;

/**
 * The commands that have made the resources of a snapshot, with the functions that make the next births. Never changes.
 *
 * @internal
 */
export class BirthTable {
  static readonly none = new BirthTable(KeyMap.of<StoredBirths>([]));

  /** By the key of the link of the owner: the births of a service and its listeners. */
  readonly #births: KeyMap<StoredBirths>;

  private constructor(births: KeyMap<StoredBirths>) {
    this.#births = births;
    Object.freeze(this);
  }

  static from(stored: StoredBirths): BirthTable {
    const births = new Map<string, Record<string, string>>();
    for (const [key, command] of Object.entries(stored)) {
      const owner = ownerOf(key);
      const ofOwner = births.get(owner) ?? {};
      ofOwner[key] = command;
      births.set(owner, ofOwner);
    }
    return new BirthTable(KeyMap.of(births));
  }

  of(link: string): string | undefined {
    const key = linkKey(link);
    return this.#births.get(ownerOf(key))?.[key];
  }

  /** The births after an event that makes its resource. A decision has no command yet. */
  with({ resource, command }: EventBase): BirthTable {
    if (command === undefined) return this.without(resource);
    const key = linkKey(resource);
    const owner = ownerOf(key);
    return new BirthTable(this.#births.with(owner, { ...this.#births.get(owner), [key]: command }));
  }

  /** The births after the end of a resource and of what belongs to it. */
  without(link: string): BirthTable {
    const key = linkKey(link);
    const owner = ownerOf(key);
    const { [key]: gone, ...rest } = this.#births.get(owner) ?? {};
    if (key === owner) return this.#births.has(owner) ? new BirthTable(this.#births.without(owner)) : this;
    return gone === undefined ? this : new BirthTable(this.#births.with(owner, rest));
  }

  /** These births, with those of another table for a resource and what belongs to it. */
  taking(other: BirthTable, link: string): BirthTable {
    const owner = ownerOf(linkKey(link));
    const [own, wanted] = [this.#births.get(owner), other.#births.get(owner)];
    if (own === wanted) return this;
    return new BirthTable(
      wanted === undefined ? this.#births.without(owner) : this.#births.with(owner, wanted),
    );
  }

  toJSON(): StoredBirths {
    return Object.fromEntries(Array.from(this.#births).flatMap(([, births]) => Object.entries(births)));
  }

  [inspectMethod](): string {
    const links = Object.keys(this.toJSON());
    return inspectList('Births', links.length, links);
  }
}
