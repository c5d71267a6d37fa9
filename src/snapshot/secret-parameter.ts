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
import type { Fields } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import { mapEntries, type MapEntry } from '../core/secret-entry.ts';
import type { JsonObject } from '../json/value.ts';
import { collectionOf, linkOf, type ConfiguredEntity, type State } from './state.ts';

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

/** Gives the entries of a snapshot that can be secret, each with the link of its resource. @internal */
export function entriesOf(
  snapshot: State,
  collections: readonly (Named<ConfiguredEntity> & { readonly fields: Fields })[],
): readonly (MapEntry & { readonly resource: string })[] {
  return collections.flatMap((named) =>
    [...collectionOf(snapshot, named)].flatMap((entity, position) => {
      const { settings, ...rest } = entity;
      const resource = linkOf(named.collection, entity);
      const entry = { ...rest, ...settings } as object as JsonObject;
      const entries = mapEntries(named.fields.all, entry, [named.collection, position]);
      return entries.map((each) => ({ ...each, resource }));
    }),
  );
}

/**
 * Gives the keys of all secret names: of the declared names, and of the names of sealed parameters.
 *
 * @internal
 */
export function secretKeys(entries: readonly MapEntry[], declared: readonly string[]): readonly string[] {
  const sealed = entries.filter(({ isSealed }) => isSealed);
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
