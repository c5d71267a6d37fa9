/**
 * Inspection: how state prints in a console. A print has names and counts, and fits on one screen for a state of any
 * size.
 *
 * The texts do not use the `inspect` function of Node, because other platforms and test runners call the same method
 * with other arguments.
 */

/** Name of the method that Node, Deno and Bun call to print an object: `util.inspect.custom`. @internal */
export const inspectMethod: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** The largest number of names that are printed for one list. @internal */
export const maxNamesPrinted = 5;

/** The largest number of characters that are printed for one name. */
const maxNameLength = 40;

/**
 * Describes a list in one line: the size, and the names of the first entries.
 *
 * @param kind - the kind of list, such as `Collection`
 * @param size - the number of entries
 * @param names - the names of the first entries; names after the fifth are only counted
 * @internal
 */
export function inspectList(kind: string, size: number, names: readonly string[]): string {
  const shown = names.slice(0, maxNamesPrinted).map(quote);
  const more = size - shown.length;
  const entries = more > 0 ? [...shown, `… ${String(more)} more`] : shown;
  return `${kind}(${String(size)}) [${entries.length === 0 ? '' : ` ${entries.join(', ')} `}]`;
}

/** Quotes a name, and cuts a name that is too long for a line. @internal */
export function quote(name: string): string {
  const text = name.length > maxNameLength ? `${name.slice(0, maxNameLength).toWellFormed()}…` : name;
  return JSON.stringify(text);
}

/**
 * A member for records that are copied by object spread. Spread keeps this member, but would lose the methods of a
 * class. A record with this member prints its plain values, its lists with {@link inspectList}, and its other members
 * by their names.
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
  if (typeof entry === 'string') return entry;
  return typeof entry === 'object' && entry !== null && 'name' in entry ? String(entry.name) : '…';
}
