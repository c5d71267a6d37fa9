/**
 * Names: the rules for a name, and the key that decides whether two names are the same.
 *
 * Names are folded here and nowhere else. Paths, links and documents all compare the result of {@link nameKey}.
 */

import { assertText } from '../json/value.ts';
import { hasLongRun, normalForm } from './text.ts';

/** Names that fold as a whole: ASCII without white space. Most names are of this kind. */
const plainName = /^[!-~]{0,1024}$/;

/** The longest name that is folded, in UTF-16 units. 255 letters fit, decomposed into four units each. */
const maxFoldedLength = 1024;

/**
 * Gives the key of a name. Two names are the same if their keys are equal.
 *
 * A white-space character counts as a hyphen, letters that differ only in case count as the same letter, and a
 * decomposed character counts as the composed one. Each white-space character gives one hyphen, also in a run. The
 * locale of the process has no influence. A text of more than 1,024 UTF-16 units is no name, and is given back
 * unchanged. In a text with more than 30 combining marks in a row, a decomposed character does not count as the
 * composed one.
 *
 * @param name - a name as declared, or a percent-decoded name from a path or a link
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
  assertText(name, 'name');
  if (plainName.test(name)) return name.toLowerCase();
  if (name.length > maxFoldedLength) return name;
  const key = normalForm(foldCase(normalForm(name).replace(/\s/g, '-')));
  // To fold U+0345 into a letter ends a run of marks. The text is normalised after all, and can have another key.
  return key === name || !hasLongRun(name) ? key : nameKey(key);
}

/**
 * Upper case joins the two small forms of a letter such as the Greek sigma. The first lower case is for the capital
 * sharp s (U+1E9E), which upper case alone would leave apart from the small one.
 */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/** Longest name, in code points. @internal */
export const maxNameLength = 255;

/** "Default-ignorable" includes bidi controls, zero-width spaces and joiners, soft hyphens and fillers. */
const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/** The rules for a name. The first rule that a name breaks gives the message. */
const rules: readonly {
  readonly breaks: (name: string) => boolean;
  readonly fault: (name: string) => string;
}[] = [
  { breaks: (name) => name === '', fault: () => 'must have at least one character' },
  {
    breaks: (name) => characters(name) > maxNameLength,
    fault: (name) =>
      `must have at most ${String(maxNameLength)} characters, and has ${String(characters(name))}`,
  },
  {
    breaks: (name) => /\p{Cs}/u.test(name),
    fault: () => 'must not contain half of a surrogate pair',
  },
  {
    breaks: (name) => invisible.test(name),
    fault: (name) =>
      `must not contain control, bidirectional or zero-width characters, and contains ${codePoint(invisible, name)}`,
  },
  {
    breaks: (name) => /^\s|\s$/.test(name),
    fault: () => 'must not begin or end with white space',
  },
  {
    breaks: (name) => name === '.' || name === '..',
    fault: (name) => `must not be "${name}": no URL path can name such a resource`,
  },
];

/**
 * Explains why a name cannot be declared.
 *
 * An acceptable name may still be taken: the caller checks whether another resource has the same key.
 *
 * @param name - the name to declare
 * @returns the message, which goes on from the place of the name; `undefined` if the name is acceptable, as
 *   `constructor` and `__proto__` are
 *
 * @see docs/spec-choices.md 2; RFC 3986 §5.2.4 for `.` and `..`.
 *
 * @internal
 */
export function nameFault(name: string): string | undefined {
  return rules.find((rule) => rule.breaks(name))?.fault(name);
}

/** The number of code points. A list of them would take time and memory for a text of many megabytes. */
function characters(name: string): number {
  let count = 0;
  for (let at = 0; at < name.length; at += (name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

function codePoint(pattern: RegExp, name: string): string {
  const hex = pattern.exec(name)?.[0].codePointAt(0)?.toString(16) ?? '';
  return `U+${hex.toUpperCase().padStart(4, '0')}`;
}
