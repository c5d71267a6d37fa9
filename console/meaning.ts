/**
 * The fields of each kind of resource, for forms and meanings. The page loads them when a person opens the first resource.
 */
import { useEffect, useState } from 'preact/hooks';

export interface Field {
  readonly name: string;
  /** What the field means, with its unit. */
  readonly does: string;
  /** `names`: links, shown as names. `words`: texts. `map`: values by name. */
  readonly type: 'text' | 'number' | 'flag' | 'choice' | 'names' | 'words' | 'map';
  readonly choices?: readonly string[];
  /** What a map has: texts, or parameters of a filter. Left out for numbers, texts and flags. */
  readonly values?: 'texts' | 'parameters';
  /** Whether a patch can change the field. */
  readonly isSettable: boolean;
  /** Whether a definition may have the field, and whether it must. */
  readonly inDefinition?: 'optional' | 'required';
  /** Whether the field is written and never shown. */
  readonly isSecret?: true;
}

/** The fields, by the collection of the resources. */
export type FieldTable = Readonly<Record<string, readonly Field[]>>;

/** The name of the file with the table. `scripts/console.js` makes the file, and gives its name. */
declare const fieldTableFile: string;

let loading: Promise<FieldTable> | undefined;

/** Loads the table, once. */
export async function loadFieldTable(): Promise<FieldTable> {
  loading ??= fetch(new URL(`?file=${fieldTableFile}`, location.href)).then((response) => response.json());
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** The table; empty until it is loaded. */
export function useFieldTable(): FieldTable {
  const [table, setTable] = useState<FieldTable>({});
  useEffect(() => {
    // Without the table, a resource is shown without meanings.
    loadFieldTable().then(setTable, () => undefined);
  }, []);
  return table;
}
