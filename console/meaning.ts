/**
 * Meanings: the fields of each kind of resource, and what each act does. The page loads them when a person opens the
 * first resource or dialog.
 */
import { useEffect, useState } from 'preact/hooks';

import { createStore } from './store.ts';
import { text } from './text.ts';

/** A value that a person gives. */
export interface Input {
  readonly name: string;
  readonly label: string;
  /** `links`: those of resources, with commas between. The name is then their collection. */
  readonly type: 'text' | 'long' | 'number' | 'password' | 'choice' | 'links';
  readonly hint?: string;
  /** Whether nothing can be planned without the value. */
  readonly isRequired?: boolean;
  readonly choices?: readonly (readonly [value: string, label: string])[];
}

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
  /** How a form asks for the field. */
  readonly input: Input;
  /** Whether the field is written and never shown. */
  readonly isSecret?: true;
}

/** What things mean. */
export interface Meanings {
  /** The fields, by the collection of the resources. */
  readonly fields: Readonly<Record<string, readonly Field[]>>;
  /** What an act does, by its endpoint. */
  readonly acts: Readonly<Record<string, string>>;
}

/** The name of the file with the meanings. `scripts/console.js` makes the file, and gives its name. */
declare const meaningsFile: string;

let loading: Promise<Meanings> | undefined;

/** Whether the files of this page are gone: the gateway has a new version of it. */
export const isOld = createStore(false);

/** Gives the meanings to a page that has no such file. */
export function giveMeanings(meanings: Meanings): void {
  loading = Promise.resolve(meanings);
}

/** Loads the meanings, once. */
export async function loadMeanings(): Promise<Meanings> {
  loading ??= fetch(new URL(`?file=${meaningsFile}`, location.href)).then((response) => {
    // After an upgrade, the file of this page is gone.
    isOld.set(!response.ok);
    if (!response.ok) throw new Error(text.newVersion);
    return response.json() as Promise<Meanings>;
  });
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** The meanings; none until they are loaded. */
export function useMeanings(): Meanings {
  const [meanings, setMeanings] = useState<Meanings>({ fields: {}, acts: {} });
  useEffect(() => {
    // Without them, everything is shown without meanings.
    loadMeanings().then(setMeanings, () => undefined);
  }, []);
  return meanings;
}
