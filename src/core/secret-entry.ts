/**
 * Secret entries: the entries of maps with free names, of which the host declares some secret. An entry with a secret
 * name is sealed, and no other entry is.
 */
import { formatPointer } from '../json/pointer.ts';
import { asObject, isArray, type Json } from '../json/value.ts';
import type { Fault } from '../problem.ts';
import { asStored, isEntrySealed, type Field } from './field.ts';
import { asSealed } from './shape.ts';

/** An entry of a map whose entries can be secret. @internal */
export interface MapEntry {
  /** Tokens of the pointer of the entry. */
  readonly path: Path;
  readonly map: string;
  readonly name: string;
  readonly value: Json;
  readonly isSealed: boolean;
}

type Path = readonly (string | number)[];
type MapField = Pick<Field, 'name' | 'secretEntries' | 'entries' | 'accepts'>;

/**
 * The entries of the maps of a resource, and of those in its lists. An entry of a document can have anything in their
 * place.
 *
 * @internal
 */
export function mapEntries(
  fields: readonly MapField[],
  resource: Json,
  path: Path = [],
): readonly MapEntry[] {
  const values = asObject(resource);
  return fields.flatMap((field): readonly MapEntry[] => {
    const { name: map, secretEntries, entries } = field;
    const { [map]: given = null } = values;
    if (entries !== undefined && isArray(given))
      return given.flatMap((each, at) => mapEntries(entries.all, each, [...path, map, at]));
    if (secretEntries === undefined) return [];
    return Object.entries(asObject(asStored(field, given))).map(([name, value]) => ({
      path: [...path, map, name],
      ...{ map, name, value, isSealed: isEntrySealed(secretEntries, value) },
    }));
  });
}

/** Gives the faults of the entries in the wrong form: secret in plain text, or sealed and not secret. @internal */
export function misplacedFaults(
  entries: readonly MapEntry[],
  isSecret: (name: string) => boolean,
): readonly Fault[] {
  return entries
    .filter(({ name, isSealed }) => isSealed !== isSecret(name))
    .map(({ path, isSealed }) => ({
      pointer: formatPointer(path),
      code: 'validation-failed',
      detail: isSealed ? undeclaredSecret : plainSecret,
    }));
}

const undeclaredSecret =
  'is sealed, and is not declared secret here; start the interface with this name in secretParameters';
const plainSecret = `is secret, and must not be plain text: write { "sealed": … } ${asSealed}`;
