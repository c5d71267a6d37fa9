/**
 * The secrets that the tables of fields declare.
 */
import { fieldTables, type Fields } from './internal.ts';

/** The names under which secrets are stored. */
export const storedSecrets: ReadonlySet<string> = new Set(Object.keys(fieldTables).flatMap(storedBy));

/** Gives every secret of a kind this text as its stored form, and each map of secret entries one of them. */
export function withSecrets(kind: string, text: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    tableOf(kind).all.flatMap(({ secret, sealedEntriesOf, secretMember }) => {
      if (secret === undefined) return [];
      const entry = secretMember === undefined ? text : { [secretMember]: text, configurable: true };
      return [[secret, sealedEntriesOf === undefined ? text : { password: entry }]];
    }),
  );
}

function storedBy(kind: string): readonly string[] {
  return tableOf(kind).all.flatMap(({ secret }) => secret ?? []);
}

function tableOf(kind: string): Fields {
  const table = fieldTables[kind];
  if (table === undefined) throw new RangeError(`There is no table of the fields of a ${kind}`);
  return table;
}
