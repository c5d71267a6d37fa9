/**
 * The secrets that the tables of fields declare.
 */
import { fieldTables, type Fields } from './internal.ts';

/** The names of the fields that are secret, or that are maps with secret entries. */
export const secretFields: ReadonlySet<string> = new Set(
  Object.values(fieldTables).flatMap(({ all }) =>
    all.flatMap(({ name, secret, secretEntries }) => ((secret ?? secretEntries) === undefined ? [] : [name])),
  ),
);

/**
 * The members of an entry that have secrets: each secret of its kind with this text as its stored form, and one secret
 * entry in each map that can have some, beside the other entries of the map.
 */
export function withSecrets(
  kind: string,
  text: string,
  entry: object = {},
): Readonly<Record<string, unknown>> {
  const given = entry as Readonly<Record<string, object>>;
  const sealed = { sealed: text };
  return Object.fromEntries(
    tableOf(kind).all.flatMap(({ name, secret, secretEntries }): readonly [string, object][] => {
      if (secret === true) return [[name, sealed]];
      if (secretEntries === undefined) return [];
      const password = secretEntries === true ? sealed : { [secretEntries]: sealed, configurable: true };
      return [[name, { ...given[name], password }]];
    }),
  );
}

function tableOf(kind: string): Fields {
  const table = fieldTables[kind];
  if (table === undefined) throw new RangeError(`There is no table of the fields of a ${kind}`);
  return table;
}
