/**
 * Names: what may be one, and when two are the same.
 *
 * Names are folded here and nowhere else: paths, links and documents all compare {@link nameKey}.
 */

/** Names that the folding would give back as they are, as most are. */
const foldedAlready = /^[a-z0-9._-]*$/;

/**
 * Gives the key of a name: two names are the same when their keys are equal.
 *
 * Each white-space character counts as a hyphen, upper case as lower case, and composed characters as decomposed
 * ones. Runs of white space are not squeezed, and the language of the process plays no part.
 *
 * @param name - a name as it was declared, or as it came in a path or a link, percent-decoded
 * @returns the key; the key of a key is the key itself
 *
 * @example
 * ```ts
 * import { nameKey } from 'gateway-admin-core';
 *
 * nameKey('Read Write Split'); // => "read-write-split"
 * nameKey('read-write-split'); // => "read-write-split"
 * ```
 *
 * @see Gateway Administration REST Interface, "What the service does", general rule 1; docs/spec-choices.md 1.
 *
 * @public
 */
export function nameKey(name: string): string {
  if (foldedAlready.test(name)) return name;
  return name.normalize('NFC').replace(/\s/g, '-').toLowerCase().normalize('NFC');
}

const maxNameLength = 255;

/** Default-ignorable takes in bidi controls, zero-width spaces and joiners, soft hyphens and fillers alike. */
const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/** What a name must not be: the first row that holds for it gives the sentence. */
const rules: readonly {
  readonly breaks: (name: string) => boolean;
  readonly fault: (name: string) => string;
}[] = [
  { breaks: (name) => name === '', fault: () => 'A name has at least one character.' },
  {
    breaks: (name) => characters(name) > maxNameLength,
    fault: (name) =>
      `A name has at most ${String(maxNameLength)} characters; this one has ${String(characters(name))}.`,
  },
  {
    breaks: (name) => /\p{Cs}/u.test(name),
    fault: () => 'A name is whole characters; this one has half of a pair.',
  },
  {
    breaks: (name) => invisible.test(name),
    fault: (name) =>
      `A name has no control, bidirectional or zero-width characters; this one has ${codePoint(invisible, name)}.`,
  },
  {
    breaks: (name) => /^\s|\s$/.test(name),
    fault: () => 'A name has no white space at its beginning or end.',
  },
  {
    breaks: (name) => name === '.' || name === '..',
    fault: (name) => `"${name}" cannot be a name: no URL path can address it.`,
  },
];

/**
 * Gives a sentence for a person that says why a name cannot be declared. A name that is acceptable may still be
 * taken: whether its key is free is asked elsewhere.
 *
 * @param name - the name as it would be declared
 * @returns the sentence, or nothing when the name is fine; `constructor` and `__proto__` are fine
 *
 * @see docs/spec-choices.md 2; RFC 3986 §5.2.4 for `.` and `..`.
 *
 * @internal
 */
export function nameFault(name: string): string | undefined {
  return rules.find((rule) => rule.breaks(name))?.fault(name);
}

function characters(name: string): number {
  return Array.from(name).length;
}

function codePoint(pattern: RegExp, name: string): string {
  const hex = pattern.exec(name)?.[0].codePointAt(0)?.toString(16) ?? '';
  return `U+${hex.toUpperCase().padStart(4, '0')}`;
}
