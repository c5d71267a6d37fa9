/**
 * The fields of each kind of resource: `scripts/console.js` makes this module from the descriptions in `openapi.json`.
 */

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

export declare const fieldTable: Readonly<Record<string, readonly Field[]>>;
