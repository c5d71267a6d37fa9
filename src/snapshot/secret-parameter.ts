/**
 * Secret parameters: the names of parameters whose values are secret.
 *
 * Router options of services, and parameters of servers, listeners, monitors and filters, are maps with free names, so
 * the host declares which names are secret. An entry with such a name is stored sealed, in a second map beside the
 * first one, such as `parametersSealed` beside `parameters`. Everything that shows a snapshot leaves the second map
 * out, as it leaves out the sealed password of a service. Nothing that reads, writes or redacts a document needs the
 * declared names.
 *
 * The names decide only what may come in. A snapshot carries its names from one change to the next, and an entry with
 * such a name comes in sealed, or not at all. Names are declared when a snapshot is created, and when an interface is
 * created with the snapshot; either place is enough. A name of which the snapshot contains a sealed entry is secret
 * without a declaration. Therefore an option that was forgotten shows no secret.
 */
import type { Named } from '../core/collection.ts';
import { asStored, type Fields } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import { undeclaredSecret } from '../core/patch-view.ts';
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
  /** The map in which the sealed parameter belongs. */
  readonly storedAs: string;
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
  const sealed = mapsIn(resources).flatMap((each) => Object.keys(each.sealed));
  return Object.freeze([...new Set([...declared, ...sealed].map(nameKey))].toSorted());
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
  return mapsIn(resources).flatMap(({ resource, path, map, storedAs, open }) =>
    Object.keys(open)
      .filter(isSecret)
      .map((name) => ({ resource, pointer: formatPointer([...path, name]), map, storedAs, name })),
  );
}

/** Gives the fault of a document with such a parameter. The fault names the place, and not the value. @internal */
export function plainFault({ pointer, storedAs }: Pick<PlainSecret, 'pointer' | 'storedAs'>): Fault {
  const detail = `is secret, and must not be plain text: put the output of gateway-admin seal into ${storedAs}`;
  return { pointer, code: 'validation-failed', detail };
}

/**
 * Gives the faults of the parameters of one entry that are in the wrong map: secret in plain text, or sealed and not
 * secret.
 *
 * @param entry - the entry as written, which can be wrong in other ways
 * @internal
 */
export function misplacedSecrets(
  fields: Fields,
  entry: Json,
  isSecret: (name: string) => boolean,
): readonly Fault[] {
  return [
    ...plainSecretsIn(fields, entry, [], isSecret),
    ...mapsOf(fields, entry, []).flatMap(({ path, storedAs, sealed }) =>
      Object.keys(sealed)
        .filter((name) => !isSecret(name))
        .map((name) => ({
          pointer: formatPointer([...path.slice(0, -1), storedAs, name]),
          code: 'validation-failed' as const,
          detail: undeclaredSecret,
        })),
    ),
  ];
}

/** Gives the faults of the parameters of one entry that are secret and in plain text. @internal */
export function plainSecretsIn(
  fields: Fields,
  entry: Json,
  path: Path,
  isSecret: (name: string) => boolean,
): readonly Fault[] {
  return mapsOf(fields, entry, path).flatMap(({ path: place, storedAs, open }) =>
    Object.keys(open)
      .filter(isSecret)
      .map((name) => plainFault({ pointer: formatPointer([...place, name]), storedAs })),
  );
}

/** A map of a resource, with the map of its sealed entries. */
interface MapPair {
  readonly resource: string;
  /** Tokens of the pointer of the map. */
  readonly path: Path;
  readonly map: string;
  readonly storedAs: string;
  readonly open: object;
  readonly sealed: object;
}

type Path = readonly (string | number)[];

function mapsIn(resources: readonly Positioned[]): readonly MapPair[] {
  return resources.flatMap(({ collection, fields, entities }) => {
    if (!hasMaps(fields)) return [];
    return [...entities].flatMap(([position, resource]) => {
      const { settings, ...rest } = resource;
      const link = linkOf(collection, resource);
      return mapsOf(fields, { ...rest, ...settings } as unknown as Json, [collection, position]).map(
        (pair) => ({
          resource: link,
          ...pair,
        }),
      );
    });
  });
}

function hasMaps({ all }: Fields): boolean {
  return all.some(
    ({ sealedEntriesOf, entries }) =>
      sealedEntriesOf !== undefined || (entries !== undefined && hasMaps(entries)),
  );
}

/** The maps of a resource, and of the entries in its lists. An entry of a document can have anything in their place. */
function mapsOf(fields: Fields, entry: Json, path: Path): readonly Omit<MapPair, 'resource'>[] {
  const values = membersOf(entry);
  return fields.all.flatMap(({ storedName: storedAs, sealedEntriesOf: map, entries }) => {
    if (entries !== undefined) {
      const { [storedAs]: list = [] } = values;
      if (!isArray(list)) return [];
      return list.flatMap((each, at) => mapsOf(entries, each, [...path, storedAs, at]));
    }
    if (map === undefined) return [];
    const open = membersOf(asStored(fields, map, values[map]));
    return [{ path: [...path, map], map, storedAs, open, sealed: membersOf(values[storedAs]) }];
  });
}

function membersOf(value: Json | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}
