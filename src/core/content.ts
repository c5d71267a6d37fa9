/**
 * Contents: what the first part of an entity tag stands for. That of a resource is the digest of its definition, that
 * of a list the sum of its resources' digests. Equal definitions have equal digests: at every node of a fleet, after a
 * restart, and after an undo. A digest is made when it is first needed, and kept with the definition.
 */
import { sameJson, type Json, type JsonObject } from '../json/value.ts';
import { canonicalText, formatDigest, shortDigest } from './digest.ts';
import { definitionIn, type Fields, type Thing } from './field.ts';
import { linkTo } from './link.ts';
import { nameKey } from './name.ts';

/** What the entity tag of a representation says. @internal */
export interface Validator {
  /** The content: what commands change. */
  readonly content: string;
  /** The revision of the last change of anything that the representation shows. */
  readonly revision: number;
}

/** Which command has made what a link names. */
interface Births {
  of(link: string): string | undefined;
}

/** Where the birth of a member of a resource is. @internal */
export function placeOfMember(link: string, name: string): string {
  return `${link}/${name}`;
}

/** The command that has set a member of a resource, or has made the resource with it. @internal */
export function birthOfMember(births: Births, link: string, name: string): string | undefined {
  return births.of(placeOfMember(link, name)) ?? births.of(link);
}

/** A resource, as far as its digest is concerned. */
type Resource = Thing & { readonly key: string };

/** A digest, and what it was made of. */
interface Known {
  readonly thing: Thing;
  readonly hashes: JsonObject;
  readonly digest: bigint;
  text?: string;
}

/** Gives the digests of the resources of a kind. @internal */
export class Digests {
  readonly #collection: string;
  readonly #fields: Fields;
  /** The names of the members beside the settings. */
  readonly #rest: readonly string[];
  /** The names of the secrets that are stored as hashes. */
  readonly #hashed: readonly string[];
  /** By the settings, which stay the same object while the host sees other things of a resource. */
  readonly #known = new WeakMap<object, Known>();
  /** The sums of parts of lists, by the births that hashes depend on; without hashes, by these digests themselves. */
  readonly #sums = new WeakMap<object, WeakMap<object, bigint>>();

  constructor(collection: string, fields: Fields) {
    this.#collection = collection;
    this.#fields = fields;
    const beside = fields.all.filter(
      ({ setting, derived, seen }) => (setting ?? derived ?? seen) === undefined,
    );
    this.#rest = beside.map(({ name }) => name);
    this.#hashed = fields.all.flatMap(({ name, hashed }) => (hashed === true ? [name] : []));
  }

  /** The digest of a resource. */
  of(thing: Resource, births: Births): bigint {
    return this.#knownOf(thing, births).digest;
  }

  /** The content of a resource, as text. */
  textOf(thing: Resource, births: Births): string {
    const known = this.#knownOf(thing, births);
    return (known.text ??= formatDigest(known.digest));
  }

  #knownOf(thing: Resource, births: Births): Known {
    const hashes = this.#hashed.length === 0 ? noHashes : this.#hashesOf(thing, births);
    const known = this.#known.get(thing.settings);
    const isSame = known !== undefined && (known.thing === thing || this.#isSame(known.thing, thing));
    if (isSame && (hashes === noHashes || sameJson(known.hashes, hashes))) return known;
    const digest = shortDigest(canonicalText({ ...definitionOf(this.#fields, thing), ...hashes }));
    const made = { thing, hashes, digest };
    this.#known.set(thing.settings, made);
    return made;
  }

  /** For each hash, the command that has set the value: a new hash of the same value is the same content. */
  #hashesOf({ key }: Resource, births: Births): JsonObject {
    const link = linkTo(this.#collection, key);
    return Object.fromEntries(this.#hashed.map((name) => [name, birthOfMember(births, link, name) ?? '']));
  }

  /** Where the sums of the parts of a list are kept. */
  sumsBy(births: Births): WeakMap<object, bigint> {
    const key = this.#hashed.length === 0 ? this : births;
    const known = this.#sums.get(key) ?? new WeakMap<object, bigint>();
    this.#sums.set(key, known);
    return known;
  }

  #isSame(one: Thing, other: Thing): boolean {
    const [a, b] = [one, other] as readonly object[] as readonly JsonObject[];
    return this.#rest.every((name) => a?.[name] === b?.[name]);
  }
}

const noHashes: JsonObject = Object.freeze({});

/** The definition of a resource, with the order of its parts left out where it means nothing. */
function definitionOf(fields: Fields, thing: Thing): JsonObject {
  const definition = definitionIn(fields, thing);
  const lists = fields.all.filter(({ name, entries }) => entries !== undefined && name in definition);
  return lists.reduce<JsonObject>(
    (sorted, { name }) => ({ ...sorted, [name]: byName(sorted[name] as readonly JsonObject[]) }),
    definition,
  );
}

/** Sorts things by name, so that the order in which they were declared does not count. @internal */
export function byName<T extends object>(things: readonly T[]): readonly T[] {
  const keyOf = ({ name }: { readonly name?: unknown }): string => nameKey(String(name));
  return things.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** The texts of values that are no resources, such as the attributes of the gateway. */
const texts = new WeakMap<object, string>();

/**
 * The content of a frozen value, as text.
 *
 * @param definition - gives what of the value is content, always the same
 * @internal
 */
export function contentOf<T extends object>(
  value: T,
  definition: (value: T) => Json | object = (whole) => whole,
): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = formatDigest(shortDigest(canonicalText(definition(value) as Json)));
  texts.set(value, text);
  return text;
}
