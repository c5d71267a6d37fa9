/**
 * Secret parameters: the names of parameters whose values are secret.
 *
 * Router options of services, and parameters of servers, listeners, monitors and filters, are maps with free names, so
 * the host declares which names are secret. An entry with such a name is stored sealed, in its own place. Everything
 * that shows a snapshot leaves sealed values out, such as the password of a service. Nothing that reads, writes or
 * redacts a document needs the declared names.
 *
 * The names decide only what may come in. A snapshot carries its names from one change to the next, and an entry with
 * such a name comes in sealed, or not at all. Names are declared when a snapshot is created, and when an interface is
 * created with the snapshot; either place is enough. A name of which the snapshot contains a sealed entry is secret
 * without a declaration. Therefore an option that was forgotten shows no secret.
 */
import type { Named } from '../core/collection.ts';
import { asStored, isEntrySealed, type Fields } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import { undeclaredSecret } from '../core/patch-view.ts';
import { asSealed } from '../core/shape.ts';
import { formatPointer } from '../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Fault } from '../problem.ts';
import { collectionOf, linkOf, type ConfiguredEntity, type State } from './state.ts';

/** The resources of a collection, with their positions in the document and their fields. @internal */
export interface Positioned {
  readonly collection: string;
  readonly fields: Fields;
  readonly entities: Iterable<readonly [position: number, resource: ConfiguredEntity]>;
}

/** A parameter with a secret name that is not sealed. @internal */
export interface PlainSecret {
  /** Link of the resource. */
  readonly resource: string;
  /** Pointer of the parameter, in the document of the snapshot. */
  readonly pointer: string;
  /** The map in which the parameter is. */
  readonly map: string;
  readonly name: string;
}

/**
 * Checks the names that a host declares secret.
 *
 * @throws TypeError for anything but a list of names
 * @internal
 */
export function assertSecretParameters(names: unknown): asserts names is readonly string[] | undefined {
  const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && name.length <= 255;
  if (names === undefined || (Array.isArray(names) && names.every(isName))) return;
  throw new TypeError(
    "The option secretParameters must be a list of names of 1 to 255 characters, such as ['password']",
  );
}

/** Gives the resources of a snapshot with their positions. @internal */
export function positioned(
  snapshot: State,
  collections: readonly (Named<ConfiguredEntity> & Pick<Positioned, 'fields'>)[],
): readonly Positioned[] {
  return collections.map((named) => ({
    ...named,
    entities: Array.from(
      collectionOf(snapshot, named),
      (resource, position) => [position, resource] as const,
    ),
  }));
}

/**
 * Gives the keys of all secret names: of the declared names, and of the names of sealed parameters.
 *
 * @internal
 */
export function secretKeys(resources: readonly Positioned[], declared: readonly string[]): readonly string[] {
  const sealed = entriesIn(resources).filter(({ isSealed }) => isSealed);
  return Object.freeze(
    [...new Set([...declared, ...sealed.map(({ name }) => name)].map(nameKey))].toSorted(),
  );
}

/** Tells whether the name of a parameter is secret in a snapshot. Names are compared by {@link nameKey}. @internal */
export function isSecretIn({
  secretParameters: keys,
}: Pick<State, 'secretParameters'>): (name: string) => boolean {
  if (keys === undefined) return () => false;
  // Composing shortens a text to a quarter at most (U+1F82), and to change the case shortens none. A name that is
  // longer than four times every key has a longer key, and is not worth the work.
  return (name) => keys.some((key) => name.length <= 4 * key.length) && keys.includes(nameKey(name));
}

/** Finds the parameters with secret names that are not sealed. @internal */
export function plainSecrets(
  resources: readonly Positioned[],
  secretParameters: readonly string[],
): readonly PlainSecret[] {
  const isSecret = isSecretIn({ secretParameters });
  if (secretParameters.length === 0) return [];
  return entriesIn(resources)
    .filter(({ name, isSealed }) => !isSealed && isSecret(name))
    .map(({ resource, path, map, name }) => ({ resource, pointer: formatPointer(path), map, name }));
}

/** Gives the fault of a document with such a parameter. The fault names the place, and not the value. @internal */
export function plainFault({ pointer }: Pick<PlainSecret, 'pointer'>): Fault {
  const detail = `is secret, and must not be plain text: write { "sealed": … } ${asSealed}`;
  return { pointer, code: 'validation-failed', detail };
}

/**
 * Gives the faults of the parameters of one entry in the wrong form: secret in plain text, or sealed and not secret.
 *
 * @param entry - the entry as written, which can be wrong in other ways
 * @internal
 */
export function misplacedSecrets(
  fields: Fields,
  entry: Json,
  isSecret: (name: string) => boolean,
): readonly Fault[] {
  return entriesOf(fields, entry, []).flatMap(({ path, name, isSealed }) => {
    const pointer = formatPointer(path);
    if (isSealed === isSecret(name)) return [];
    return isSealed
      ? [{ pointer, code: 'validation-failed' as const, detail: undeclaredSecret }]
      : [plainFault({ pointer })];
  });
}

/** Gives the faults of the parameters of one entry that are secret and in plain text. @internal */
export function plainSecretsIn(
  fields: Fields,
  entry: Json,
  path: Path,
  isSecret: (name: string) => boolean,
): readonly Fault[] {
  return entriesOf(fields, entry, path)
    .filter(({ name, isSealed }) => !isSealed && isSecret(name))
    .map(({ path: place }) => plainFault({ pointer: formatPointer(place) }));
}

/** An entry of a map whose entries can be secret. */
interface MapEntry {
  /** Tokens of the pointer of the entry. */
  readonly path: Path;
  readonly map: string;
  readonly name: string;
  readonly isSealed: boolean;
}

type Path = readonly (string | number)[];

function entriesIn(resources: readonly Positioned[]): readonly (MapEntry & { readonly resource: string })[] {
  return resources.flatMap(({ collection, fields, entities }) => {
    if (!hasMaps(fields)) return [];
    return [...entities].flatMap(([position, resource]) => {
      const { settings, ...rest } = resource;
      const link = linkOf(collection, resource);
      const entry = { ...rest, ...settings } as unknown as Json;
      return entriesOf(fields, entry, [collection, position]).map((each) => ({ resource: link, ...each }));
    });
  });
}

function hasMaps({ all }: Fields): boolean {
  return all.some(
    ({ secretEntries, entries }) =>
      secretEntries !== undefined || (entries !== undefined && hasMaps(entries)),
  );
}

/**
 * The entries of the maps of a resource, and of those in its lists. An entry of a document can have anything in their
 * place.
 */
function entriesOf(fields: Fields, entry: Json, path: Path): readonly MapEntry[] {
  const values = membersOf(entry);
  return fields.all.flatMap((field) => {
    const { name: map, secretEntries, entries } = field;
    if (entries !== undefined) {
      const { [map]: list = [] } = values;
      if (!isArray(list)) return [];
      return list.flatMap((each, at) => entriesOf(entries, each, [...path, map, at]));
    }
    if (secretEntries === undefined) return [];
    return Object.entries(membersOf(asStored(field, values[map] ?? null))).map(([name, value]) => ({
      path: [...path, map, name],
      map,
      name,
      isSealed: isEntrySealed(secretEntries, value),
    }));
  });
}

function membersOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
