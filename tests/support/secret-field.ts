/**
 * The secrets that the tables of fields declare.
 */
import { secretNames } from '../../src/core/field.ts';
import { fieldTables } from '../../src/resources/index.ts';

/** The names under which secrets are stored. */
export const storedSecrets: ReadonlySet<string> = new Set(Object.keys(fieldTables).flatMap(storedBy));

/** Gives every secret of a kind this text as its stored form. */
export function withSecrets(kind: string, text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(storedBy(kind).map((stored) => [stored, text]));
}

function storedBy(kind: string): readonly string[] {
  const table = fieldTables[kind];
  if (table === undefined) throw new RangeError(`There is no table of the fields of a ${kind}`);
  return secretNames(table).map(({ stored }) => stored);
}
