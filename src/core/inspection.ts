/**
 * Inspection: what a console prints of state. Names and counts, on one screen, whatever the size.
 *
 * The texts are made here and not by `inspect` of Node, because other platforms and test runners call the same method
 * with other arguments.
 */

/** Name of the method by which Node, Deno and Bun let an object say how it prints: `util.inspect.custom`. @internal */
export const inspectMethod: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** How many names are printed of a list. @internal */
export const maxNamesPrinted = 5;

/** How many characters are printed of a name. */
const maxNameLength = 40;

/**
 * One line about a list: its size and what its first entries are called.
 *
 * @param kind - what the list is, such as `Collection`
 * @param size - how many entries it has
 * @param names - the names of the first entries; those after the fifth are only counted
 * @internal
 */
export function inspectList(kind: string, size: number, names: readonly string[]): string {
  const shown = names.slice(0, maxNamesPrinted).map(quote);
  const more = size - shown.length;
  const entries = more > 0 ? [...shown, `… ${String(more)} more`] : shown;
  return `${kind}(${String(size)}) [${entries.length === 0 ? '' : ` ${entries.join(', ')} `}]`;
}

/** A name in quotes, cut where it is too long for a line. @internal */
export function quote(name: string): string {
  const text = name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name;
  return JSON.stringify(text);
}

/**
 * A member for records that are made by spread: spread keeps it, as it keeps no class. The record then prints as its
 * plain values, its lists by {@link inspectList}, and its other members by their names.
 *
 * @internal
 */
export const inspectable: object = Object.freeze({
  [inspectMethod]: Object.freeze(function inspect(this: object): object {
    return Object.fromEntries(
      Object.entries(this).map(([name, part]: [string, unknown]) => [name, brief(part)]),
    );
  }),
});

function brief(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || inspectMethod in part) return part;
  const text = Array.isArray(part)
    ? inspectList('Array', part.length, part.slice(0, maxNamesPrinted).map(nameOf))
    : `{ ${Object.keys(part).slice(0, maxNamesPrinted).join(', ')} }`;
  return { [inspectMethod]: () => text };
}

function nameOf(entry: unknown): string {
  return typeof entry === 'object' && entry !== null && 'name' in entry ? String(entry.name) : '…';
}
